//! Lessons: what a teacher shows step by step, in the view of memory layouts or in any other. A lesson is a file,
//! `docs/lessons.md` says how one is written; [`Lesson::read`] reads it.

mod fill;
mod read;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use crate::state::{FsaiOf, LevelsOf, ViewState};
pub(crate) use fill::fill;
pub use read::{LessonError, MOST_BYTES, is_lesson};

/// Word of the view that steps show where they name none.
pub const LAYOUTS: &str = "layouts";

/// A lesson.
#[derive(Clone, Debug, PartialEq)]
pub struct Lesson {
    /// Word in a link.
    pub id: String,
    /// The language that it is written in, as a tag like `en`.
    pub language: String,
    /// Its name.
    pub title: String,
    /// One after the other; at least one.
    pub steps: Vec<Step>,
}

/// One step of a lesson.
#[derive(Clone, Debug, PartialEq)]
pub struct Step {
    /// Its name.
    pub title: String,
    /// Paragraphs.
    pub text: Vec<String>,
    /// What the class is to predict.
    pub ask: Option<String>,
    /// What it may choose from.
    pub choices: Vec<String>,
    /// The right one, from 0.
    pub right: Option<usize>,
    /// Paragraphs that are hidden until the class asks for them.
    pub answer: Vec<String>,
    /// What is shown.
    pub show: ViewState,
    /// What is shown with the answer, if something else.
    pub then: Option<ViewState>,
}

impl Step {
    /// Whether something is to be revealed.
    pub fn hides(&self) -> bool {
        !self.answer.is_empty()
    }
}

/// A move through a lesson.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Move {
    /// The answer, or the next step where it is told already.
    Forward,
    /// What was before that.
    Back,
    /// The next step, told or not.
    Next,
    /// The step before.
    Previous,
    /// The answer.
    Reveal,
}

impl Lesson {
    /// The step of this number, the last one for all after it.
    pub fn step(&self, page: u32) -> Option<&Step> {
        self.steps.get(page as usize).or(self.steps.last())
    }

    /// What a step shows, told or not.
    fn shown(&self, page: u32, told: bool) -> Option<&ViewState> {
        let step = self.step(page)?;
        Some(step.then.as_ref().filter(|_| told).unwrap_or(&step.show))
    }

    /// Word of the view that is shown in this state, whose lesson this is.
    pub fn view(&self, state: &ViewState) -> Option<&str> {
        let (_, page) = state.layouts.lesson.as_ref()?;
        self.shown(*page, state.layouts.told).map(|shown| shown.view.as_str())
    }

    /// Shows a step, told or not, as the lesson has it; theme and zoom stay, and so do filters and
    /// the settings of views that it does not show.
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
        // Without another picture for the answer, what the class has changed stays.
        if shown.view == LAYOUTS && !(same && told && step.then.is_none()) {
            state.layouts = shown.layouts.clone();
        }
        let layouts = &mut state.layouts;
        (layouts.lesson, layouts.told, layouts.guess, layouts.tools) = (lesson, told, guess, tools);
    }

    /// Goes from what is shown somewhere else.
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

/// The lessons that can be chosen: those that come with the program, then those that were opened.
#[derive(Clone, Debug)]
pub struct Lessons(Vec<Arc<Lesson>>);

impl Lessons {
    /// Every lesson.
    pub fn iter(&self) -> impl Iterator<Item = &Arc<Lesson>> {
        self.0.iter()
    }

    /// The lesson of this id.
    pub fn get(&self, id: &str) -> Option<&Arc<Lesson>> {
        self.iter().find(|lesson| lesson.id == id)
    }

    /// Takes up a lesson, in the place of the one with its id if there is one.
    pub fn add(&mut self, lesson: Lesson) {
        let lesson = Arc::new(lesson);
        match self.0.iter_mut().find(|other| other.id == lesson.id) {
            Some(other) => *other = lesson,
            None => self.0.push(lesson),
        }
    }
}

impl Default for Lessons {
    /// The page has those that come with the program in its own file, not in its WebAssembly.
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

/// The lessons that come with the program, in the order in which they are taught.
#[cfg(not(target_family = "wasm"))]
const BUILT_IN: [&str; 11] = [
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
];
