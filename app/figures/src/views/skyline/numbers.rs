//! Numbers of a skyline for the texts of lessons.

use super::subject::Subject;
use crate::model::Model;
use crate::state::ViewState;
use crate::views::spy::{digits, index};

/// Questions of lessons about the points shown, and about the algorithm and its step.
const ASKED: [&str; 11] = [
    "name",
    "points",
    "dimensions",
    "kept",
    "dominated",
    "pairs",
    "comparisons",
    "step",
    "compared",
    "so-far",
    "decided",
];

/// Returns whether this question exists for this view; settings may follow after `;`.
pub fn is_known(asked: &str) -> bool {
    ASKED.contains(&asked.split(';').next().unwrap_or_default())
}

/// The answer for this state.
pub fn number(asked: &str, model: &Model, state: &ViewState) -> Result<String, String> {
    let subject = Subject::of(model, state)?;
    let picture = &subject.cloud.picture;
    let (points, kept) = (picture.points as usize, picture.kept as usize);
    match asked {
        "name" => return Ok(subject.name),
        "points" => return Ok(index(points)),
        "dimensions" => return Ok(index(picture.dimensions as usize)),
        "kept" => return Ok(index(kept)),
        "dominated" => return Ok(index(points - kept)),
        // Ordered pairs of different points.
        "pairs" => {
            let points = u64::from(picture.points);
            return Ok(digits(points * points.saturating_sub(1)));
        }
        _ => {}
    }
    let walk = subject.walk(state);
    let done = (state.skyline.step.unwrap_or(0) as usize).min(walk.count());
    Ok(match asked {
        "comparisons" => digits(walk.all_comparisons()),
        "step" => index(done + 1),
        "compared" => digits(walk.step(done).map_or(0, |step| u64::from(step.comparisons))),
        "so-far" => digits(walk.comparisons(done)),
        "decided" => index(walk.decided(done)),
        _ => return Err("there is no such number".into()),
    })
}
