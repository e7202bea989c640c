//! The legend of nonzeros, in lines that wrap.

use ecolor::Color32;
use emath::{Pos2, pos2};

use super::colors::{Colors, Look};
use crate::figure::{Anchor, Figure, area, text_width};
use crate::set_up::{Cell, Part, SetUp};
use crate::state::{PatternWord, Stage};
use crate::views::spy::{TYPE, index, outline};

/// Height of a line.
pub(super) const LINE: f32 = 19.0;
/// From the left end of a symbol to its text, and between texts.
const SIGN: f32 = 20.0;
const APART: f32 = 16.0;

/// Symbols and texts, each with the left middle of its line.
pub(super) struct Legend(Vec<(Look, Pos2, String)>);

/// The items drawn at a stage.
pub(super) fn items(set_up: &SetUp, stage: Stage, colors: &Colors) -> Vec<(Look, String)> {
    let mut items = Vec::new();
    let counts = &set_up.counts;
    let adaptive = set_up.asked.rule == PatternWord::Adaptive;
    let mut add = |part: Part, dropped: bool, words: &str, count: usize| {
        let in_a = part <= Part::Kept;
        let in_filtered = in_a && part != Part::Left;
        let cell = Cell { col: 0, part, in_a, in_filtered, dropped };
        if let Some(look) = colors.look(&cell, stage).filter(|_| count > 0) {
            items.push((look, format!("{words}: {}", index(count))));
        }
    };
    let left = counts.matrix - counts.filtered;
    match stage {
        Stage::Matrix => add(Part::Kept, false, "nonzeros of A", counts.matrix),
        Stage::Filtered => {
            add(Part::Kept, false, "nonzeros of Ã", counts.filtered);
            add(Part::Left, false, "dropped by the prefilter", left);
        }
        Stage::Pattern | Stage::Factor => {
            let merged = stage == Stage::Factor;
            let kept = counts.of(Part::Kept);
            let rest = match merged {
                true => counts.of(Part::Filtered),
                false => counts.filtered - kept,
            };
            add(Part::Kept, false, "in A and the pattern", kept);
            let second = if adaptive { "selected, not in A" } else { "added by power 2" };
            add(Part::Second, false, second, counts.of(Part::Second));
            add(Part::Third, false, "added by power 3", counts.of(Part::Third));
            if merged {
                add(Part::Merged, false, "added by merging", counts.of(Part::Merged));
            }
            let words = if adaptive { "only in A" } else { "above the diagonal" };
            add(Part::Filtered, false, words, rest);
            let left = if merged { counts.of(Part::Left) } else { left };
            add(Part::Left, false, "dropped by the prefilter", left);
            if merged {
                let dropped = counts.before - counts.factor;
                add(Part::Kept, true, "hollow: dropped by the postfilter", dropped);
            }
        }
    }
    items
}

impl Legend {
    /// Arranged in lines of at most this width.
    pub(super) fn new(items: Vec<(Look, String)>, room: f32) -> Self {
        let mut at = pos2(0.0, LINE * 0.5);
        let mut placed = Vec::new();
        for (look, text) in items {
            let wide = SIGN + text_width(&text, TYPE);
            if at.x > 0.0 && at.x + wide > room {
                at = pos2(0.0, at.y + LINE);
            }
            placed.push((look, at, text));
            at.x += wide + APART;
        }
        Self(placed)
    }

    /// Height of all lines.
    pub(super) fn height(&self) -> f32 {
        self.0.last().map_or(0.0, |(_, at, _)| at.y + LINE * 0.5)
    }

    /// Draws it with its top left corner at `corner`.
    pub(super) fn draw(&self, figure: &mut Figure, corner: Pos2, ink: Color32) {
        for (look, at, text) in &self.0 {
            let at = *at + corner.to_vec2();
            let cell = area(at.x, at.y - 6.0, at.x + 12.0, at.y + 6.0);
            let square = cell.shrink(12.0 * look.inset);
            match look.hollow {
                true => {
                    outline(figure, square.shrink(0.5), look.color);
                    outline(figure, square.shrink(1.5), look.color);
                }
                false => figure.rect(square, look.color),
            }
            figure.text(pos2(at.x + SIGN, at.y), Anchor::Start, TYPE, ink, text);
        }
    }
}
