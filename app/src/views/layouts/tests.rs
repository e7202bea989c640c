//! Lessons in the view.

use std::sync::Arc;

use super::numbers::Texts;
use crate::lesson::Lessons;

#[test]
#[ignore = "prints"]
fn print() {
    for lesson in Lessons::default().iter() {
        println!("=== {}", lesson.title);
        for step in &lesson.steps {
            match Texts::of(step, None) {
                Ok(texts) => println!("## {}\n{:?}\nQ {:?}\n{:?} right {:?}\nA {:?}\n", step.title, texts.text, texts.ask, texts.choices, step.right, texts.answer),
                Err(why) => println!("!! {} {why}", step.title),
            }
        }
    }
    let _ = Arc::new(1);
}
