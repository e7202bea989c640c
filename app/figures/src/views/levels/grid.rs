//! The points of a grid in the colours of their rows.

use emath::{Rect, Vec2, pos2};

use super::colors::{Colors, DONE, NOW};
use super::front::Front;
use crate::figure::{Anchor, Figure, area, text_width};
use crate::state::Grid;
use crate::theme::text_on;
use crate::views::spy::TYPE;

/// Space around the points.
const MARGIN: f32 = 12.0;
const TOP: f32 = 30.0;
/// Minimum size of the figure.
pub const LEAST_SIZE: Vec2 = Vec2::splat(180.0);
/// Minimum side of a point with its level written in it.
const READABLE: f32 = 17.0;

/// Each point with its level; done, being computed, or waiting if a sweep is stepped through.
pub(super) fn figure(
    grid: Grid,
    front: &Front<'_>,
    step: Option<usize>,
    path: &[u32],
    colors: &Colors,
    size: Vec2,
) -> Figure {
    let ink = colors.ink;
    let side = grid.side.max(1);
    let room = (size.x - 2.0 * MARGIN).min(size.y - TOP - MARGIN).max(60.0);
    let point = (room / side as f32).min(44.0);
    let all = point * side as f32;
    let corner = pos2(MARGIN, TOP);
    let mut figure = Figure::new(Vec2::new(size.x, TOP + all + MARGIN), ink.paper);
    let title = "Grid points and their levels";
    let title = if colors.are_apart() { "Grid points and their colours" } else { title };
    let title = crate::figure::elided(title, size.x - 2.0 * MARGIN, TYPE);
    figure.text(pos2(MARGIN, 12.0), Anchor::Start, TYPE, ink.text, &title);
    let gap = if point > 8.0 { 1.0 } else { 0.0 };
    let mut numbers = Vec::new();
    for (row, place) in front.wave.places.iter().enumerate() {
        let [level, ..] = *place;
        let (y, x) = (row as u32 / side, row as u32 % side);
        let at = corner + Vec2::new(x as f32, y as f32) * point;
        let inside = area(at.x, at.y, at.x + point - gap, at.y + point - gap);
        let color = match step {
            None => colors.level(level),
            Some(step) if (level as usize) < step => DONE,
            Some(step) if level as usize == step => NOW,
            Some(_) => colors.waiting(),
        };
        let is_now = step == Some(level as usize);
        if is_now {
            figure.rect(inside, ink.text);
        }
        figure.rect(inside.shrink(if is_now { point * 0.08 } else { 0.0 }), color);
        numbers.push((inside.center(), color, level));
    }
    let center =
        |row: u32| corner + Vec2::new((row % side) as f32 + 0.5, (row / side) as f32 + 0.5) * point;
    let points: Vec<_> = path.iter().map(|row| center(*row)).collect();
    if points.len() > 1 {
        for (width, color) in [(3.5, ink.paper), (1.6, ink.text)] {
            figure.shapes.push(crate::figure::Shape::Line { points: points.clone(), width, color });
        }
    }
    if point >= READABLE {
        let size = (point * 0.6).min(TYPE);
        for (at, color, level) in numbers {
            let text = level.to_string();
            if points.len() > 1 {
                // The path ends at the number.
                let width = (text_width(&text, size) + 4.0).min(point - gap);
                let behind = Vec2::new(width, size + 2.0);
                figure.rect(Rect::from_center_size(at, behind), color);
            }
            figure.text(at, Anchor::Middle, size, text_on(color), &text);
        }
    }
    figure
}
