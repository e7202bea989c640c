//! Settings of the picture of a matrix.

use serde::{Deserialize, Serialize};

/// The part of the matrix in view, its colours, and the overlays.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct SpyState {
    /// The part in view; `None` for the whole matrix.
    pub at: Option<At>,
    /// Scale rows and columns independently, so that any matrix fills the picture.
    pub stretch: bool,
    /// Mapping from counts to colours.
    pub scale: Scale,
    /// The colour map.
    pub map: ColorMap,
    /// Number of threads whose rows are marked; 0 for none.
    pub parts: u32,
    /// How the rows are divided among the threads.
    pub split: Split,
    /// Rows per hack for showing padding; 0 for none.
    pub hack: u32,
    /// The ordering of rows and columns.
    pub numbering: Numbering,
    /// Key of a matrix of the same size to compare with; empty for none.
    pub against: String,
    /// Mark the ranks that shared the selected run.
    pub ranks: bool,
    /// Index of the rank whose external columns are highlighted.
    pub rank: Option<u32>,
    /// Size of a saved figure if not the usual one; not part of a link.
    #[serde(skip)]
    pub saved: Option<Saved>,
}

/// Size of a saved figure.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Saved {
    /// Width and height of the figure, in points.
    pub size: [f32; 2],
    /// Pixels per point of the cells.
    pub pixels: f32,
}

/// A part of a matrix: the rows and columns around a point. Rows and columns count from 0; the
/// position (i, j) covers [i, i + 1) × [j, j + 1).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct At {
    /// Row at the centre.
    pub row: f64,
    /// Column at the centre.
    pub col: f64,
    /// Rows from the top to the bottom of the picture.
    pub rows: f64,
}

/// Maximum number of marked threads.
pub const MOST_PARTS: u32 = 256;

/// Maximum rows per hack.
pub const MOST_HACK: u32 = 1 << 16;

choice! {
    /// Mapping from the count of a cell to the colour map.
    Scale:
    /// By the logarithm of the count.
    #[default]
    Log "log" "logarithmic",
    /// By the count.
    Linear "linear" "linear",
    /// By the fraction of nonempty cells that hold fewer.
    Percentile "percentile" "percentile",
}

choice! {
    /// Colour map, from few nonzeros to many.
    ColorMap:
    /// One hue, from the background to the foreground colour.
    #[default]
    Blues "blues" "Blues",
    /// Purple, green, yellow.
    Viridis "viridis" "Viridis",
    /// Blue, grey, yellow.
    Cividis "cividis" "Cividis",
    /// Black, red, light yellow.
    Inferno "inferno" "Inferno",
    /// Every nonempty cell in the same colour.
    Ink "ink" "Ink, no shading",
}

choice! {
    /// How rows are divided among threads.
    Split:
    /// Equal numbers of rows.
    #[default]
    Rows "rows" "equal rows",
    /// Approximately equal numbers of nonzeros, whole rows.
    Entries "entries" "equal nonzeros",
}

choice! {
    /// The ordering of rows and columns.
    Numbering:
    /// The order of the matrix's file.
    #[default]
    Stored "stored" "as stored",
    /// Reordered by reverse Cuthill–McKee.
    Rcm "rcm" "reverse Cuthill–McKee",
    /// Both, side by side.
    Both "both" "before and after RCM",
}

impl At {
    pub(super) fn text(self) -> String {
        format!("{},{},{}", self.row, self.col, self.rows)
    }

    pub(super) fn parse(text: &str) -> Option<Self> {
        let mut numbers = text.split(',').map(|part| part.parse::<f64>().ok());
        let mut next = || numbers.next()?.filter(|number| number.is_finite());
        let at = Self { row: next()?, col: next()?, rows: next()? };
        (at.rows > 0.0 && numbers.next().is_none()).then_some(at)
    }
}

impl SpyState {
    pub(super) fn fields(&self) -> [(&'static str, String); 11] {
        [
            ("at", self.at.map(At::text).unwrap_or_default()),
            ("stretch", self.stretch.to_string()),
            ("scale", self.scale.id().into()),
            ("map", self.map.id().into()),
            ("parts", self.parts.to_string()),
            ("split", self.split.id().into()),
            ("hack", self.hack.to_string()),
            ("numbering", self.numbering.id().into()),
            ("against", self.against.clone()),
            ("ranks", self.ranks.to_string()),
            ("rank", self.rank.map(|rank| rank.to_string()).unwrap_or_default()),
        ]
    }

    /// Ignores invalid values and other keys.
    pub(super) fn set(&mut self, key: &str, value: &str) {
        let number = |most: u32| value.parse::<u32>().ok().filter(|number| *number <= most);
        match key {
            "at" => self.at = At::parse(value),
            "stretch" => self.stretch = value == "true",
            "scale" => self.scale = Scale::from_id(value).unwrap_or(self.scale),
            "map" => self.map = ColorMap::from_id(value).unwrap_or(self.map),
            "parts" => self.parts = number(MOST_PARTS).unwrap_or(self.parts),
            "split" => self.split = Split::from_id(value).unwrap_or(self.split),
            "hack" => self.hack = number(MOST_HACK).unwrap_or(self.hack),
            "against" => self.against = value.into(),
            "ranks" => self.ranks = value == "true",
            "rank" => self.rank = number(u32::MAX),
            "numbering" => {
                self.numbering = Numbering::from_id(value).unwrap_or(self.numbering);
            }
            _ => {}
        }
    }
}

#[cfg(test)]
pub(super) mod tests {
    use proptest::prelude::*;

    use super::*;

    pub(crate) fn state() -> impl Strategy<Value = SpyState> {
        let at = (-1e9..1e9, -1e9..1e9, 1e-3..1e9_f64);
        let at = prop::option::of(at.prop_map(|(row, col, rows)| At { row, col, rows }));
        let scale = prop::sample::select(Scale::ALL.to_vec());
        let map = prop::sample::select(ColorMap::ALL.to_vec());
        let split = prop::sample::select(Split::ALL.to_vec());
        let numbering = prop::sample::select(Numbering::ALL.to_vec());
        let hack = 0..=MOST_HACK;
        let against = "[0-9a-f-]{0,20}";
        let ranks = (any::<bool>(), prop::option::of(any::<u32>()));
        (at, any::<bool>(), scale, map, 0..=MOST_PARTS, split, hack, numbering, against, ranks)
            .prop_map(
                |(
                    at,
                    stretch,
                    scale,
                    map,
                    parts,
                    split,
                    hack,
                    numbering,
                    against,
                    (ranks, rank),
                )| SpyState {
                    ranks,
                    rank,
                    at,
                    stretch,
                    scale,
                    map,
                    parts,
                    split,
                    hack,
                    numbering,
                    against,
                    saved: None,
                },
            )
    }

    #[test]
    fn a_part_that_is_none_is_the_whole_matrix() {
        for nonsense in ["", "1,2", "1,2,3,4", "1,2,0", "1,NaN,3", "1,2,inf", "a,b,c"] {
            assert_eq!(At::parse(nonsense), None, "{nonsense}");
        }
        assert_eq!(At::parse("1.5,-2,3"), Some(At { row: 1.5, col: -2.0, rows: 3.0 }));
    }

    #[test]
    fn numbers_that_would_be_too_much_are_passed_over() {
        let mut state = SpyState::default();
        for (key, value) in [("parts", "257"), ("hack", "99999999"), ("map", "pink"), ("x", "1")] {
            state.set(key, value);
        }
        assert_eq!(state, SpyState::default());
    }
}
