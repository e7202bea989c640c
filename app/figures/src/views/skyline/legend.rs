//! The legend of marks and lines, below the plot.

use ecolor::Color32;
use emath::{Pos2, pos2, vec2};

use super::look::{Inks, Look, Looks};
use super::marks::Marks;
use super::subject::Subject;
use crate::figure::{Anchor, Mark};
use crate::figure::{Figure, area, text_width};
use crate::state::{SkylineState, ViewState};
use crate::views::spy::{TYPE, index};

/// Height of a line.
const LINE: f32 = 19.0;
/// Space for a symbol before its text.
const SIGN: f32 = 18.0;

/// The symbol before a text.
#[derive(Clone, Copy)]
pub(super) enum Sign {
    Look(Look),
    Ring,
    Line,
    Dense,
    None,
}

/// Texts with their symbols, in lines that wrap.
pub(super) struct Legend(Vec<(Sign, Pos2, String)>);

impl Legend {
    pub(super) fn new(items: Vec<(Sign, String)>, room: f32) -> Self {
        let mut placed = Vec::new();
        let mut at = Pos2::ZERO;
        for (sign, text) in items {
            let wide = SIGN + text_width(&text, TYPE) + 14.0;
            if at.x > 0.0 && at.x + wide > room {
                at = pos2(0.0, at.y + LINE);
            }
            let mut sign = sign;
            for line in wrapped(&text, room - SIGN) {
                placed.push((std::mem::replace(&mut sign, Sign::None), at, line));
                at.y += LINE;
            }
            at = pos2(if wide > room { room } else { at.x + wide }, at.y - LINE);
        }
        Self(placed)
    }

    pub(super) fn height(&self) -> f32 {
        self.0.last().map_or(0.0, |(_, at, _)| at.y + LINE)
    }

    pub(super) fn draw(&self, figure: &mut Figure, corner: Pos2, inks: &Inks, marks: Marks) {
        for (sign, at, text) in &self.0 {
            let at = corner + at.to_vec2() + vec2(0.0, LINE * 0.5);
            let middle = at + vec2(6.0, 0.0);
            match sign {
                Sign::Look(look) => example(figure, middle, *look, inks, marks),
                Sign::Ring => {
                    figure.mark(middle, Mark::Circle, 6.0, Color32::TRANSPARENT, inks.now)
                }
                Sign::Line => {
                    figure.line(at + vec2(-1.0, 0.0), at + vec2(13.0, 0.0), 2.0, inks.kept);
                }
                Sign::Dense => {
                    for k in 0..4_u8 {
                        let x = at.x + 3.5 * f32::from(k);
                        let share = f32::from(k) / 3.0;
                        let fill = inks.density(share);
                        figure.rect(area(x, at.y - 6.0, x + 3.5, at.y + 6.0), fill);
                    }
                }
                Sign::None => {}
            }
            let at = at + vec2(SIGN, 0.0);
            figure.text(at, Anchor::Start, TYPE, inks.ink.text, text);
        }
    }
}

/// An example of a look: one mark, or several if they are small.
fn example(figure: &mut Figure, middle: Pos2, look: Look, inks: &Inks, marks: Marks) {
    let few = [vec2(-4.0, 2.0), vec2(0.0, -3.0), vec2(4.0, 1.0)].map(|by| middle + by);
    match marks {
        _ if look == Look::Now => mark(figure, middle, look, 4.0, inks),
        Marks::Shapes(_) => mark(figure, middle, look, 4.0, inks),
        Marks::Small => few.into_iter().for_each(|at| mark(figure, at, look, 1.6, inks)),
        Marks::Dots => few.into_iter().for_each(|at| {
            figure.rect(area(at.x - 1.0, at.y - 1.0, at.x + 1.0, at.y + 1.0), inks.of(look));
        }),
    }
}

/// A point as a shape; `radius` is that of a dominated point.
pub(super) fn mark(figure: &mut Figure, at: Pos2, look: Look, radius: f32, inks: &Inks) {
    let ((mark, times, filled), color) = (look.form(), inks.of(look));
    // The same size as its pixels: marks are drawn inside a circle, squares around one.
    let radius = radius * times * if mark == Mark::Circle { 1.0 } else { 0.85 };
    figure.mark(at, mark, radius, if filled { color } else { inks.ink.paper }, color);
}

/// The text in lines of at most this width, broken between words.
fn wrapped(text: &str, room: f32) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split(' ') {
        let Some(line) = lines.last_mut() else { break };
        let longer = if line.is_empty() { word.to_owned() } else { format!("{line} {word}") };
        match line.is_empty() || text_width(&longer, TYPE) <= room {
            true => *line = longer,
            false => lines.push(word.to_owned()),
        }
    }
    lines
}

/// The items drawn for a point set.
pub(super) fn items(
    subject: &Subject,
    looks: &Looks,
    state: &ViewState,
    with_line: bool,
) -> Vec<(Sign, String)> {
    let SkylineState { dropped, alike, step, .. } = state.skyline;
    let picture = &subject.cloud.picture;
    let number = |of: usize| index(of);
    let (points, kept) = (picture.points as usize, picture.kept as usize);
    let mut items: Vec<(Sign, String)> = Vec::new();
    let mut add = |sign, text: String| items.push((sign, text));
    if step.is_some() {
        let has = |look| looks.of.contains(&look);
        for (look, words) in [
            (Look::Now, "current"),
            (Look::Kept, "on the skyline"),
            (Look::Dropped, "dominated"),
            (Look::Waiting, "undecided"),
        ] {
            if has(look) {
                add(Sign::Look(look), words.into());
            }
        }
        if !looks.compared.is_empty() {
            add(Sign::Ring, "compared in this step".into());
        }
    } else if alike {
        add(Sign::Look(Look::Waiting), format!("{} points", number(points)));
    } else {
        let shown = subject.cloud.kept_shown;
        let drawn = match shown < kept {
            true => format!(", a sample of {} drawn", number(shown)),
            false => String::new(),
        };
        add(
            Sign::Look(Look::Kept),
            format!("skyline: {} of {}{drawn}", number(kept), number(points)),
        );
        let (shown, all) = (picture.indices.len() - shown, points - kept);
        let drawn = match shown < all {
            true => format!(", a sample of {} drawn", number(shown)),
            false => String::new(),
        };
        if dropped && all > 0 {
            add(Sign::Look(Look::Dropped), format!("dominated: {}{drawn}", number(all)));
        }
        if !picture.densities.is_empty() {
            add(Sign::Dense, "density of all points, low to high".into());
        }
    }
    if with_line {
        let text = match picture.dimensions {
            0..=2 => "staircase: everything below it is dominated",
            _ => {
                "staircase in these two dimensions: skyline points below it are better in other dimensions"
            }
        };
        add(Sign::Line, text.into());
    }
    if picture.clamped > 0 {
        let text = format!(
            "{} coordinates beyond single precision, drawn at the edge",
            number(usize::try_from(picture.clamped).unwrap_or(usize::MAX))
        );
        add(Sign::None, text);
    }
    items
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_stand_in_lines_that_end_inside_and_none_is_lost() {
        let long = "a sentence of many words that has to be broken more than once to fit";
        let items = [
            (Sign::Ring, "short".to_owned()),
            (Sign::Line, long.to_owned()),
            (Sign::None, "another".to_owned()),
        ];
        for room in [120.0, 200.0, 900.0] {
            let Legend(placed) =
                Legend::new(items.iter().map(|(sign, text)| (*sign, text.clone())).collect(), room);
            for (_, at, text) in &placed {
                assert!(at.x + SIGN + text_width(text, TYPE) <= room + 0.1, "{room}: {text}");
            }
            let all: Vec<&str> = placed.iter().map(|(.., text)| text.as_str()).collect();
            assert_eq!(all.join(" "), format!("short {long} another"));
            let signs = placed.iter().filter(|(sign, ..)| !matches!(sign, Sign::None)).count();
            assert_eq!(signs, 2);
        }
    }
}
