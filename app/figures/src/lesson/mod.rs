//! Lessons: steps that a teacher shows, in the view of memory layouts or any other. A lesson is a
//! file (`docs/lessons.md` describes the format); [`Lesson::read`] reads it.

mod fill;
mod read;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use crate::state::{FsaiOf, LAYOUTS, LevelsOf, ViewState};
pub(crate) use fill::fill;
pub use read::{LessonError, MOST_BYTES, is_lesson};

/// A lesson.
#[derive(Clone, Debug, PartialEq)]
pub struct Lesson {
    /// Id in a link.
    pub id: String,
    /// Language of the lesson, as a tag like `en`.
    pub language: String,
    /// Its name.
    pub title: String,
    /// The steps in order; at least one.
    pub steps: Vec<Step>,
}

/// One step of a lesson.
#[derive(Clone, Debug, PartialEq)]
pub struct Step {
    /// Its title.
    pub title: String,
    /// Paragraphs.
    pub text: Vec<String>,
    /// The question for the class.
    pub ask: Option<String>,
    /// The choices offered.
    pub choices: Vec<String>,
    /// Index of the right choice.
    pub right: Option<usize>,
    /// Paragraphs that are hidden until the answer is revealed.
    pub answer: Vec<String>,
    /// The view state shown.
    pub show: ViewState,
    /// The view state shown with the answer, if it differs.
    pub then: Option<ViewState>,
}

impl Step {
    /// Returns whether the step has something to reveal.
    pub fn hides(&self) -> bool {
        !self.answer.is_empty()
    }
}

/// A move through a lesson.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Move {
    /// Reveal the answer, or go to the next step if it is revealed already.
    Forward,
    /// Undo the last forward move.
    Back,
    /// Go to the next step, whether or not the answer is revealed.
    Next,
    /// Go to the previous step.
    Previous,
    /// Reveal the answer.
    Reveal,
}

impl Lesson {
    /// The step at this index; the last one for every index beyond it.
    pub fn step(&self, page: u32) -> Option<&Step> {
        self.steps.get(page as usize).or(self.steps.last())
    }

    /// The view state of a step, with or without the answer.
    fn shown(&self, page: u32, told: bool) -> Option<&ViewState> {
        let step = self.step(page)?;
        Some(step.then.as_ref().filter(|_| told).unwrap_or(&step.show))
    }

    /// Id of the view that this lesson shows at the state's step.
    pub fn view(&self, state: &ViewState) -> Option<&str> {
        let (_, page) = state.layouts.lesson.as_ref()?;
        self.shown(*page, state.layouts.told).map(|shown| shown.view.as_str())
    }

    /// Shows a step, with or without the answer, as the lesson defines it. Theme, zoom, filters and
    /// the settings of views that the step does not show stay.
    pub fn show(&self, page: u32, told: bool, state: &mut ViewState) {
        let page = page.min(self.steps.len().saturating_sub(1) as u32);
        let Some(step) = self.step(page) else { return };
        let told = told && step.hides();
        let Some(shown) = self.shown(page, told) else { return };
        let lesson = Some((self.id.clone(), page));
        let same = state.layouts.lesson == lesson;
        let guess = state.layouts.guess.filter(|_| same);
        let tools = state.layouts.tools;
        state.view.clone_from(&shown.view);
        if shown.view != LAYOUTS && !(same && told && step.then.is_none()) {
            let ViewState { theme, zoom, matrix, arrangement, .. } = state.clone();
            let mut layouts = std::mem::take(&mut state.layouts);
            if shown.levels.of == LevelsOf::Small || shown.fsai.of == FsaiOf::Small {
                layouts.small.clone_from(&shown.layouts.small);
            }
            *state = ViewState { theme, zoom, matrix, arrangement, layouts, ..shown.clone() };
        }
        if shown.matrix.is_some() {
            state.matrix.clone_from(&shown.matrix);
        }
        // If the answer has no state of its own, the changes made by the class stay.
        if shown.view == LAYOUTS && !(same && told && step.then.is_none()) {
            state.layouts = shown.layouts.clone();
        }
        let layouts = &mut state.layouts;
        (layouts.lesson, layouts.told, layouts.guess, layouts.tools) = (lesson, told, guess, tools);
    }

    /// Moves from the current step.
    pub fn go(&self, to: Move, state: &mut ViewState) {
        let Some((_, page)) = state.layouts.lesson else { return };
        let page = page.min(self.steps.len().saturating_sub(1) as u32);
        let hides = self.step(page).is_some_and(Step::hides);
        let told = state.layouts.told && hides;
        let last = page as usize + 1 >= self.steps.len();
        match to {
            Move::Forward if hides && !told => self.show(page, true, state),
            Move::Forward | Move::Next if !last => self.show(page + 1, false, state),
            Move::Back if told => self.show(page, false, state),
            Move::Back if page > 0 => self.show(page - 1, true, state),
            Move::Previous if page > 0 => self.show(page - 1, false, state),
            Move::Reveal if hides && !told => self.show(page, true, state),
            _ => {}
        }
    }
}

/// The available lessons: the built-in ones, then those that were opened.
#[derive(Clone, Debug)]
pub struct Lessons(Vec<Arc<Lesson>>);

impl Lessons {
    /// Every lesson.
    pub fn iter(&self) -> impl Iterator<Item = &Arc<Lesson>> {
        self.0.iter()
    }

    /// The lesson with this id.
    pub fn get(&self, id: &str) -> Option<&Arc<Lesson>> {
        self.iter().find(|lesson| lesson.id == id)
    }

    /// Adds a lesson, replacing the one with the same id.
    pub fn add(&mut self, lesson: Lesson) {
        let lesson = Arc::new(lesson);
        match self.0.iter_mut().find(|other| other.id == lesson.id) {
            Some(other) => *other = lesson,
            None => self.0.push(lesson),
        }
    }
}

impl Default for Lessons {
    /// The web page loads the built-in lessons from a separate file, not from its WebAssembly.
    #[cfg(target_family = "wasm")]
    fn default() -> Self {
        Self(Vec::new())
    }

    #[cfg(not(target_family = "wasm"))]
    fn default() -> Self {
        let lessons = BUILT_IN.iter().map(|text| Lesson::read(text.as_bytes()));
        Self(lessons.flatten().map(Arc::new).collect())
    }
}

/// The built-in lessons, in teaching order.
#[cfg(not(target_family = "wasm"))]
const BUILT_IN: [&str; 13] = [
    include_str!("../../../lessons/1-csr-hll.json"),
    include_str!("../../../lessons/2-coalescing.json"),
    include_str!("../../../lessons/3-padding.json"),
    include_str!("../../../lessons/4-dense-row.json"),
    include_str!("../../../lessons/5-warp-per-row.json"),
    include_str!("../../../lessons/6-balance.json"),
    include_str!("../../../lessons/7-gauss-seidel.json"),
    include_str!("../../../lessons/8-skyline.json"),
    include_str!("../../../lessons/9-preconditioner.json"),
    include_str!("../../../lessons/10-own-kernel.json"),
    include_str!("../../../lessons/11-own-gpu.json"),
    include_str!("../../../lessons/12-bank-conflicts.json"),
    include_str!("../../../lessons/13-many-vectors.json"),
];
