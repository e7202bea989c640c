//! The view on the screen: the patterns, the row's system or the bars, the sentences.

use emath::{pos2, vec2};

use super::gather::Dense;
use super::sheet::Told;
use super::{bars, numbers};
use crate::figure::{Anchor, Figure};
use crate::state::ViewState;

/// The same as a saved figure.
pub(super) fn saved(told: &Told<'_>, state: &ViewState) -> Figure {
    let ink = told.colors.ink;
    let mut whole = Figure::new(vec2(0.0, 0.0), ink.paper);
    if state.fsai.shows("patterns") {
        whole.put_below(told.saved(vec2(700.0, 760.0), 2.0, state));
    }
    if state.fsai.shows("gather") {
        whole.put_below(match &told.gathered {
            Some(of) => {
                Dense::new(of, None, (&told.colors, state.theme), vec2(700.0, 520.0)).figure
            }
            None => bars::figure(told.set_up, told.stage, &told.colors, 700.0),
        });
    }
    let mut words = numbers::words(told.set_up, state.fsai.row);
    words.retain(|_| state.fsai.shows("words"));
    let mut text = Figure::new(vec2(700.0, 12.0 + 20.0 * words.len() as f32), ink.paper);
    for (line, words) in words.iter().enumerate() {
        let at = pos2(10.0, 10.0 + 20.0 * line as f32);
        text.text(at, Anchor::Start, 13.0, ink.text, words);
    }
    whole.put_below(text);
    whole
}
