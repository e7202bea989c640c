//! Settings of the view of a skyline (Pareto front): which points, which two dimensions, the zoom,
//! and the step of an algorithm.

use serde::{Deserialize, Serialize};
use sparsescope_core::generate::{DEFAULT_SEED, PointsSpec};

use super::At;

/// The view of a skyline.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct SkylineState {
    /// Which points.
    pub of: PointsOf,
    /// The dimensions on the horizontal and the vertical axis.
    pub axes: [u32; 2],
    /// The part of the plot in view, in thousandths of the plot from its top left corner; `None`
    /// for the whole plot.
    pub at: Option<At>,
    /// Draw the staircase; `None` draws it only in two dimensions.
    pub staircase: Option<bool>,
    /// Draw dominated points, too.
    pub dropped: bool,
    /// Draw all pairs of dimensions next to the plot, if there are several.
    pub pairs: bool,
    /// Hide which points are on the skyline.
    pub alike: bool,
    /// The algorithm that is stepped through.
    pub algorithm: Algorithm,
    /// Number of steps done, if the algorithm is stepped through.
    pub step: Option<u32>,
    /// Index of the selected point in its set.
    pub point: Option<u32>,
}

choice! {
    /// An algorithm that computes a skyline.
    Algorithm:
    /// Compare each point with all others until one dominates it.
    #[default]
    OwnPoints "own-points" "own points",
    /// Each point marks those that it dominates; marked points are skipped.
    SharedMarks "shared-marks" "shared marks",
    /// In order of descending sums, compare each point with the skyline so far.
    Sorted "sorted" "sorted by sum",
}

choice! {
    /// A kind of generated points.
    PointsKind:
    /// Uniform in the unit cube.
    #[default]
    Independent "points-independent" "independent",
    /// Near the cube's diagonal.
    Correlated "points-correlated" "correlated",
    /// Good in some dimensions and bad in others.
    Anticorrelated "points-anticorrelated" "anti-correlated",
    /// On the surface of the unit ball.
    Sphere "points-sphere" "on a sphere",
}

/// Which points are shown.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PointsOf {
    /// The selected set.
    #[default]
    Selected,
    /// Points of a recipe.
    Made(Recipe),
    /// A few points, all with the same number of coordinates.
    Few(Vec<Vec<f32>>),
}

/// Points of a generator.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Recipe {
    /// Their distribution.
    pub kind: PointsKind,
    /// Number of points.
    pub n: u64,
    /// Coordinates per point.
    pub d: u64,
    /// Seed of the random numbers.
    pub seed: u64,
}

/// Maximum number of points, and of coordinates per point, in a link.
const MOST_FEW: usize = 64;
const MOST_FEW_DIMENSIONS: usize = 8;

impl Default for Recipe {
    fn default() -> Self {
        Self { kind: PointsKind::Anticorrelated, n: 200, d: 2, seed: DEFAULT_SEED }
    }
}

impl Recipe {
    /// `points-sphere?n=100&d=3`, the syntax of generators.
    pub fn text(&self) -> String {
        let Self { kind, n, d, seed } = self;
        let seed = if *seed == DEFAULT_SEED { String::new() } else { format!("&seed={seed}") };
        format!("{}?n={n}&d={d}{seed}", kind.id())
    }

    fn parse(text: &str) -> Option<Self> {
        let spec = PointsSpec::parse(text).ok()?;
        let (extent, text) = (spec.extent(), spec.to_string());
        let (kind, _) = text.strip_prefix("gen:")?.split_once('?')?;
        let seed = text.split_once("seed=").map(|(_, seed)| seed.parse().ok());
        let seed = seed.unwrap_or(Some(DEFAULT_SEED))?;
        let kind = PointsKind::from_id(kind)?;
        Some(Self { kind, n: extent.points, d: extent.dimensions, seed })
    }
}

impl PointsOf {
    /// The text in a link: empty, a recipe, or `2,5/3,4/4,1`.
    pub fn text(&self) -> String {
        let of_point = |point: &Vec<f32>| {
            let numbers: Vec<String> = point.iter().map(f32::to_string).collect();
            numbers.join(",")
        };
        match self {
            Self::Selected => String::new(),
            Self::Made(recipe) => recipe.text(),
            Self::Few(points) => points.iter().map(of_point).collect::<Vec<_>>().join("/"),
        }
    }

    fn parse(text: &str) -> Option<Self> {
        if text.is_empty() {
            return Some(Self::Selected);
        }
        if text.starts_with(|c: char| c.is_ascii_alphabetic()) {
            return Recipe::parse(text).map(Self::Made);
        }
        let number = |text: &str| text.parse::<f32>().ok().filter(|number| number.is_finite());
        let point = |text: &str| text.split(',').map(number).collect::<Option<Vec<f32>>>();
        let points = text.split('/').map(point).collect::<Option<Vec<_>>>()?;
        let wide = points.first()?.len();
        let fits = points.len() <= MOST_FEW && wide <= MOST_FEW_DIMENSIONS;
        (fits && points.iter().all(|point| point.len() == wide)).then_some(Self::Few(points))
    }
}

impl Default for SkylineState {
    fn default() -> Self {
        Self {
            of: PointsOf::default(),
            axes: [0, 1],
            at: None,
            staircase: None,
            dropped: true,
            pairs: true,
            alike: false,
            algorithm: Algorithm::default(),
            step: None,
            point: None,
        }
    }
}

impl SkylineState {
    pub(super) fn fields(&self) -> [(&'static str, String); 10] {
        let number = |number: Option<u32>| number.map(|n| n.to_string()).unwrap_or_default();
        let [x, y] = self.axes;
        [
            ("points-of", self.of.text()),
            ("dimensions", format!("{x},{y}")),
            ("points-at", self.at.map(At::text).unwrap_or_default()),
            ("staircase", self.staircase.map(|on| on.to_string()).unwrap_or_default()),
            ("dropped", self.dropped.to_string()),
            ("pairs", self.pairs.to_string()),
            ("alike", self.alike.to_string()),
            ("algorithm", self.algorithm.id().into()),
            ("points-step", number(self.step)),
            ("point", number(self.point)),
        ]
    }

    /// Sets a value if the key is one of these and the value is valid.
    pub(super) fn set(&mut self, key: &str, value: &str) {
        let truth = || value.parse().ok();
        match key {
            "points-of" => {
                if let Some(of) = PointsOf::parse(value) {
                    self.of = of;
                }
            }
            "dimensions" => {
                let pair = value.split_once(',').map(|(x, y)| (x.parse(), y.parse()));
                if let Some((Ok(x), Ok(y))) = pair {
                    self.axes = [x, y];
                }
            }
            "points-at" => self.at = At::parse(value),
            "staircase" => self.staircase = truth(),
            "dropped" => self.dropped = truth().unwrap_or(self.dropped),
            "pairs" => self.pairs = truth().unwrap_or(self.pairs),
            "alike" => self.alike = truth().unwrap_or(self.alike),
            "algorithm" => self.algorithm = Algorithm::from_id(value).unwrap_or(self.algorithm),
            "points-step" => self.step = value.parse().ok(),
            "point" => self.point = value.parse().ok(),
            _ => {}
        }
    }

    /// Shows other points, and resets the settings that only apply to the current set.
    pub fn show(&mut self, of: PointsOf) {
        if self.of != of {
            (self.of, self.at, self.step, self.point) = (of, None, None, None);
        }
    }

    /// Called when another set is selected.
    pub fn leave_selected(&mut self) {
        if self.of == PointsOf::Selected {
            (self.at, self.step, self.point) = (None, None, None);
        }
    }
}

#[cfg(test)]
pub(super) mod tests {
    use proptest::prelude::*;
    use sparsescope_core::generate::points_kinds;

    use super::*;
    use crate::state::ViewState;

    fn of() -> impl Strategy<Value = PointsOf> {
        let kind = prop::sample::select(PointsKind::ALL.to_vec());
        let made = (kind, 0..100_000u64, 1..=32u64, 0..1000u64)
            .prop_map(|(kind, n, d, seed)| PointsOf::Made(Recipe { kind, n, d, seed }));
        let few = (1..=MOST_FEW_DIMENSIONS).prop_flat_map(|d| {
            let point = prop::collection::vec(-1e30_f32..1e30, d);
            prop::collection::vec(point, 1..=8)
        });
        prop_oneof![Just(PointsOf::Selected), made, few.prop_map(PointsOf::Few)]
    }

    pub(in crate::state) fn state() -> impl Strategy<Value = SkylineState> {
        let at = (-1e4..1e4, -1e4..1e4, 1e-3..1e3_f64);
        let at = prop::option::of(at.prop_map(|(row, col, rows)| At { row, col, rows }));
        let algorithm = prop::sample::select(Algorithm::ALL.to_vec());
        let shown = any::<(Option<bool>, bool, bool, bool)>();
        let numbers = any::<(Option<u32>, Option<u32>, [u32; 2])>();
        (of(), at, shown, algorithm, numbers).prop_map(
            |(of, at, (staircase, dropped, pairs, alike), algorithm, (step, point, axes))| {
                SkylineState {
                    of,
                    axes,
                    at,
                    staircase,
                    dropped,
                    pairs,
                    alike,
                    algorithm,
                    step,
                    point,
                }
            },
        )
    }

    #[test]
    fn points_are_read_as_they_are_written_and_others_are_none() {
        for text in
            ["", "2,5/3,4", "-0.5", "points-sphere?n=9&d=3", "points-correlated?n=9&d=3&seed=7"]
        {
            assert_eq!(PointsOf::parse(text).map(|of| of.text()).as_deref(), Some(text));
        }
        assert_eq!(
            PointsOf::parse("gen:points-independent?n=1e3&d=2"),
            PointsOf::parse("points-independent?n=1000&d=2&seed=42")
        );
        let many = ["1"; MOST_FEW + 1].join("/");
        let wide = ["1"; MOST_FEW_DIMENSIONS + 1].join(",");
        for nonsense in [
            "1,2/3",
            "1,nan",
            "1,inf",
            "1,",
            "/",
            "points-sphere?n=9",
            "points-pink?n=9&d=3",
            &many,
            &wide,
        ] {
            assert_eq!(PointsOf::parse(nonsense), None, "{nonsense}");
        }
    }

    #[test]
    fn a_link_says_which_of_its_words_means_nothing() {
        for wrong in [
            "points-of=2,5/3",
            "points-of=points-sphere?n=9&d=0",
            "dimensions=1",
            "points-at=1,2",
            "staircase=perhaps",
            "algorithm=magic",
            "points-step=x",
            "point=-1",
        ] {
            let link = format!("v1;view=skyline;{wrong}");
            assert_eq!(ViewState::not_understood(&link), Some(wrong));
            let state = ViewState::from_fragment(&link).unwrap();
            assert_eq!(state.skyline, SkylineState::default(), "{wrong}");
        }
        let link = "v1;view=skyline;points-of=points-sphere?n=9&d=3;dimensions=2,0;point=4";
        assert_eq!(ViewState::not_understood(link), None);
    }

    #[test]
    fn kinds_of_points_are_those_of_the_generators() {
        let kinds: Vec<&str> = points_kinds().iter().map(|kind| kind.name).collect();
        let offered: Vec<&str> = PointsKind::ALL.iter().map(|kind| kind.id()).collect();
        assert_eq!(offered, kinds);
    }
}
