//! Numbers of nonzeros from A to G as bars.

use emath::{Vec2, pos2, vec2};

use super::colors::Colors;
use crate::figure::{Anchor, Figure, area, text_width};
use crate::model::significant;
use crate::set_up::{Part, SetUp};
use crate::state::Stage;
use crate::views::spy::{TYPE, index};

const LEFT: f32 = 2.0;
const TOP: f32 = 30.0;
/// A bar with its text above.
const LINE: f32 = 40.0;
const BAR: f32 = 13.0;

/// The bars in a figure of this width; those of later stages are omitted.
pub fn figure(set_up: &SetUp, stage: Stage, colors: &Colors, width: f32) -> Figure {
    let ink = colors.ink;
    let counts = &set_up.counts;
    let mut bars = vec![("A, the matrix", counts.matrix, Part::Filtered)];
    let later = [
        (Stage::Filtered, "Ã, after the prefilter", counts.filtered, Part::Filtered),
        (Stage::Pattern, "S, the pattern: diagonal and below", counts.pattern, Part::Kept),
        (Stage::Factor, "S after merging", counts.before, Part::Merged),
        (Stage::Factor, "G, after the postfilter", counts.factor, Part::Kept),
    ];
    let so_far = Stage::ALL.iter().position(|of| *of == stage).unwrap_or(0);
    for (of, name, count, part) in later {
        let is_told = part != Part::Merged || set_up.asked.merge.is_some();
        if is_told && Stage::ALL.iter().position(|stage| *stage == of).unwrap_or(0) <= so_far {
            bars.push((name, count, part));
        }
    }
    let size: Vec2 = vec2(width, TOP + LINE * bars.len() as f32 + 4.0);
    let mut figure = Figure::new(size, ink.paper);
    figure.text(pos2(LEFT, 12.0), Anchor::Start, TYPE, ink.text, "Nonzeros, relative to A");
    let most = bars.iter().map(|(_, count, _)| *count).max().unwrap_or(1).max(1) as f32;
    let room = (width - 2.0 * LEFT).min(420.0);
    for (k, (name, count, part)) in bars.into_iter().enumerate() {
        let y = TOP + LINE * k as f32;
        let share = count as f64 / counts.matrix.max(1) as f64;
        let number = match k {
            0 => index(count),
            _ => format!("{} ({}×)", index(count), significant(share)),
        };
        let name = crate::figure::elided(name, room - text_width(&number, TYPE) - 10.0, TYPE);
        figure.text(pos2(LEFT, y + 8.0), Anchor::Start, TYPE, ink.weak, &name);
        figure.text(pos2(LEFT + room, y + 8.0), Anchor::End, TYPE, ink.text, &number);
        let long = room * count as f32 / most;
        figure.rect(area(LEFT, y + 17.0, LEFT + room, y + 17.0 + BAR), ink.grid);
        figure.rect(area(LEFT, y + 17.0, LEFT + long, y + 17.0 + BAR), colors.part(part));
    }
    figure
}
