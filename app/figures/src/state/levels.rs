//! Settings of the view of dependency levels, and the step of the sweep.

use serde::{Deserialize, Serialize};

/// The view of levels.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct LevelsState {
    /// Which matrix.
    pub of: LevelsOf,
    /// The order in which rows are computed.
    pub order: Order,
    /// Draw the colouring next to a sweep.
    pub beside: bool,
    /// Number of levels done, if the sweep is stepped through; `None` shows all levels at once.
    pub step: Option<u32>,
    /// Draw the longest chain of dependent rows.
    pub path: bool,
    /// The parts drawn, as words of [`PARTS`], comma-separated; empty for all.
    pub parts: String,
}

/// The parts that can be drawn: the matrix, the points of a grid, the histogram of widths,
/// sentences.
pub const PARTS: [&str; 4] = ["matrix", "points", "widths", "words"];

choice! {
    /// The order in which a sweep computes rows.
    Order:
    /// Ascending, in dependency levels.
    #[default]
    Forward "forward" "forward sweep",
    /// Descending, in dependency levels.
    Backward "backward" "backward sweep",
    /// Colour by colour.
    Colors "colours" "colours",
}

/// Which matrix is shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LevelsOf {
    /// The selected one.
    #[default]
    Selected,
    /// The small matrix of the memory layouts.
    Small,
    /// The matrix of a grid.
    Grid(Grid),
}

/// A square grid of points, numbered row by row, each coupled with its neighbours.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Grid {
    /// Include diagonal neighbours: a 9-point stencil instead of 5 points.
    pub diagonal: bool,
    /// Points per side.
    pub side: u32,
}

/// Maximum points per side of a grid.
pub const MOST_SIDE: u32 = 64;

impl LevelsOf {
    /// Id in a link.
    pub(crate) fn text(self) -> String {
        match self {
            Self::Selected => String::new(),
            Self::Small => "small".into(),
            Self::Grid(grid) => format!("grid{}x{}", grid.points(), grid.side),
        }
    }

    fn parse(text: &str) -> Option<Self> {
        match text {
            "" => return Some(Self::Selected),
            "small" => return Some(Self::Small),
            _ => {}
        }
        let (points, side) = text.strip_prefix("grid")?.split_once('x')?;
        let diagonal = match points {
            "5" => false,
            "9" => true,
            _ => return None,
        };
        let side = side.parse().ok().filter(|side| (1..=MOST_SIDE).contains(side))?;
        Some(Self::Grid(Grid { diagonal, side }))
    }
}

impl Grid {
    /// Points of the stencil.
    pub fn points(self) -> u32 {
        if self.diagonal { 9 } else { 5 }
    }
}

impl LevelsState {
    pub(super) fn fields(&self) -> [(&'static str, String); 6] {
        [
            ("levels-of", self.of.text()),
            ("levels", self.order.id().into()),
            ("colouring", self.beside.to_string()),
            ("level", self.step.map(|step| step.to_string()).unwrap_or_default()),
            ("path", self.path.to_string()),
            ("parts-shown", self.parts.clone()),
        ]
    }

    /// Sets a value if the key is one of these and the value is valid.
    pub(super) fn set(&mut self, key: &str, value: &str) {
        match key {
            "levels-of" => self.of = LevelsOf::parse(value).unwrap_or(self.of),
            "levels" => self.order = Order::from_id(value).unwrap_or(self.order),
            "colouring" => self.beside = value == "true",
            "level" => self.step = value.parse().ok(),
            "path" => self.path = value == "true",
            "parts-shown" if value.is_empty() || value.split(',').all(|w| PARTS.contains(&w)) => {
                self.parts = value.into();
            }
            _ => {}
        }
    }

    /// Returns whether a part is drawn.
    pub fn shows(&self, part: &str) -> bool {
        self.parts.is_empty() || self.parts.split(',').any(|shown| shown == part)
    }
}

#[cfg(test)]
pub(super) mod tests {
    use proptest::prelude::*;

    use super::*;

    pub(in crate::state) fn state() -> impl Strategy<Value = LevelsState> {
        let grid = (any::<bool>(), 1..=MOST_SIDE);
        let grid = grid.prop_map(|(diagonal, side)| LevelsOf::Grid(Grid { diagonal, side }));
        let of = prop_oneof![Just(LevelsOf::Selected), Just(LevelsOf::Small), grid];
        let order = prop::sample::select(Order::ALL.to_vec());
        let parts = prop::sample::subsequence(PARTS.to_vec(), 0..=PARTS.len());
        let parts = parts.prop_map(|parts| parts.join(","));
        let step = prop::option::of(any::<u32>());
        (of, order, any::<(bool, bool)>(), step, parts).prop_map(
            |(of, order, (beside, path), step, parts)| LevelsState {
                of,
                order,
                beside,
                step,
                path,
                parts,
            },
        )
    }

    #[test]
    fn grids_are_read_as_they_are_written_and_others_are_none() {
        for text in ["", "small", "grid5x8", "grid9x64"] {
            assert_eq!(LevelsOf::parse(text).map(LevelsOf::text).as_deref(), Some(text));
        }
        for nonsense in ["grid", "grid7x8", "grid5x0", "grid5x65", "grid5x", "large"] {
            assert_eq!(LevelsOf::parse(nonsense), None, "{nonsense}");
        }
        let mut state = LevelsState::default();
        for (key, value) in [("parts-shown", "matrix,pink"), ("levels", "up"), ("level", "x")] {
            state.set(key, value);
        }
        assert_eq!(state, LevelsState::default());
    }
}
