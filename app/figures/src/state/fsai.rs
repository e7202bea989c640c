//! Settings of the view of a preconditioner's setup: which matrix, how the pattern is computed and
//! filtered, and which row's system is shown.

use serde::{Deserialize, Serialize};

/// The view of a factorised sparse approximate inverse.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct FsaiState {
    /// Which matrix.
    pub of: FsaiOf,
    /// How the pattern is computed.
    pub rule: PatternWord,
    /// Its power, 1 to [`MOST_POWER`].
    pub power: u32,
    /// δ: threshold of the prefilter, applied before the pattern is computed.
    pub prefilter: f64,
    /// τ: threshold of the postfilter, applied to G.
    pub postfilter: f64,
    /// α, if rows with similar patterns are merged into one system; at least 1.
    pub merge: Option<f64>,
    /// The stage of the setup shown.
    pub stage: Stage,
    /// The row whose system is shown.
    pub row: Option<u32>,
    /// The parts drawn, as words of [`PARTS`], comma-separated; empty for all.
    pub parts: String,
}

/// The parts that can be drawn: the patterns, the system of a row, sentences.
pub const PARTS: [&str; 3] = ["patterns", "gather", "words"];
/// Maximum power of a pattern.
pub const MOST_POWER: u32 = 3;
/// Maximum α.
pub const MOST_MERGING: f64 = 4.0;

choice! {
    /// How the pattern is computed.
    PatternWord:
    /// Low(S·Ã), repeatedly.
    #[default]
    Recursive "recursive" "recursive",
    /// Low(Ã^k), including paths above the diagonal.
    Power "power" "power",
    /// The most promising positions, row by row.
    Adaptive "adaptive" "adaptive",
}

choice! {
    /// The stage of the setup.
    Stage:
    /// The matrix.
    Matrix "matrix" "A: the matrix",
    /// After the prefilter.
    Filtered "filtered" "Ã: after the prefilter",
    /// The pattern.
    Pattern "pattern" "S: the pattern",
    /// The factor and all earlier stages.
    #[default]
    Factor "factor" "G: the factor",
}

choice! {
    /// A matrix generated for the view: a diffusion problem on a grid with Dirichlet boundary.
    Mesh:
    /// A square, each point coupled with 4 neighbours.
    #[default]
    Five "grid5" "Square, 5 points",
    /// A square, with the diagonal neighbours.
    Nine "grid9" "Square, 9 points",
    /// A cube.
    Seven "grid7" "Cube, 7 points",
    /// A square with weaker coupling in one direction.
    Weak "weak5" "Square, anisotropic",
    /// A square of two materials.
    Jump "jump5" "Square, two materials",
}

/// A mesh with this number of points per side.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct MeshOf {
    /// How its points are coupled.
    pub mesh: Mesh,
    /// Points per side.
    pub side: u32,
}

impl Mesh {
    /// Maximum number of points per side.
    pub fn most_side(self) -> u32 {
        if self == Self::Seven { 16 } else { 64 }
    }
}

/// Which matrix is shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum FsaiOf {
    /// The selected one.
    #[default]
    Selected,
    /// The small matrix of the memory layouts.
    Small,
    /// The matrix of a mesh.
    Mesh(MeshOf),
}

impl FsaiOf {
    /// Id in a link.
    pub(crate) fn text(self) -> String {
        match self {
            Self::Selected => String::new(),
            Self::Small => "small".into(),
            Self::Mesh(MeshOf { mesh, side }) => format!("{}x{side}", mesh.id()),
        }
    }

    fn parse(text: &str) -> Option<Self> {
        match text {
            "" => return Some(Self::Selected),
            "small" => return Some(Self::Small),
            _ => {}
        }
        let (mesh, side) = text.split_once('x')?;
        let mesh = Mesh::from_id(mesh)?;
        let side = side.parse().ok().filter(|side| (1..=mesh.most_side()).contains(side))?;
        Some(Self::Mesh(MeshOf { mesh, side }))
    }
}

impl Default for FsaiState {
    fn default() -> Self {
        Self {
            of: FsaiOf::default(),
            rule: PatternWord::default(),
            power: 2,
            prefilter: 0.0,
            postfilter: 0.0,
            merge: None,
            stage: Stage::default(),
            row: None,
            parts: String::new(),
        }
    }
}

impl FsaiState {
    pub(super) fn fields(&self) -> [(&'static str, String); 9] {
        [
            ("fsai-of", self.of.text()),
            ("fsai-pattern", self.rule.id().into()),
            ("fsai-power", self.power.to_string()),
            ("fsai-delta", self.prefilter.to_string()),
            ("fsai-tau", self.postfilter.to_string()),
            ("fsai-merge", self.merge.map(|alpha| alpha.to_string()).unwrap_or_default()),
            ("fsai-stage", self.stage.id().into()),
            ("fsai-row", self.row.map(|row| row.to_string()).unwrap_or_default()),
            ("fsai-shown", self.parts.clone()),
        ]
    }

    /// Sets a value if the key is one of these and the value is valid.
    pub(super) fn set(&mut self, key: &str, value: &str) {
        let number = |range: std::ops::RangeInclusive<f64>| {
            value.parse::<f64>().ok().filter(|number| range.contains(number))
        };
        match key {
            "fsai-of" => self.of = FsaiOf::parse(value).unwrap_or(self.of),
            "fsai-pattern" => self.rule = PatternWord::from_id(value).unwrap_or(self.rule),
            "fsai-power" => {
                let power = value.parse().ok().filter(|power| (1..=MOST_POWER).contains(power));
                self.power = power.unwrap_or(self.power);
            }
            "fsai-delta" => self.prefilter = number(0.0..=1.0).unwrap_or(self.prefilter),
            "fsai-tau" => self.postfilter = number(0.0..=1.0).unwrap_or(self.postfilter),
            "fsai-merge" => self.merge = number(1.0..=MOST_MERGING),
            "fsai-stage" => self.stage = Stage::from_id(value).unwrap_or(self.stage),
            "fsai-row" => self.row = value.parse().ok(),
            "fsai-shown" if value.is_empty() || value.split(',').all(|w| PARTS.contains(&w)) => {
                self.parts = value.into();
            }
            _ => {}
        }
    }

    /// Called when another matrix is selected.
    pub fn leave_selected(&mut self) {
        if self.of == FsaiOf::Selected {
            self.row = None;
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
    use crate::state::ViewState;

    pub(in crate::state) fn state() -> impl Strategy<Value = FsaiState> {
        let mesh = (prop::sample::select(Mesh::ALL.to_vec()), 1..=16_u32);
        let mesh = mesh.prop_map(|(mesh, side)| FsaiOf::Mesh(MeshOf { mesh, side }));
        let of = prop_oneof![Just(FsaiOf::Selected), Just(FsaiOf::Small), mesh];
        let rule = prop::sample::select(PatternWord::ALL.to_vec());
        let filters = (0.0..=1.0_f64, 0.0..=1.0_f64, prop::option::of(1.0..=MOST_MERGING));
        let stage = prop::sample::select(Stage::ALL.to_vec());
        let parts = prop::sample::subsequence(PARTS.to_vec(), 0..=PARTS.len());
        let parts = parts.prop_map(|parts| parts.join(","));
        (of, rule, 1..=MOST_POWER, filters, stage, any::<Option<u32>>(), parts).prop_map(
            |(of, rule, power, (prefilter, postfilter, merge), stage, row, parts)| FsaiState {
                of,
                rule,
                power,
                prefilter,
                postfilter,
                merge,
                stage,
                row,
                parts,
            },
        )
    }

    #[test]
    fn meshes_are_read_as_they_are_written_and_others_are_none() {
        for text in ["", "small", "grid5x8", "grid7x16", "jump5x64"] {
            assert_eq!(FsaiOf::parse(text).map(FsaiOf::text).as_deref(), Some(text));
        }
        for nonsense in ["grid", "grid7x17", "grid5x0", "grid5x65", "grid5x", "large", "x8"] {
            assert_eq!(FsaiOf::parse(nonsense), None, "{nonsense}");
        }
    }

    #[test]
    fn a_link_says_which_of_its_words_means_nothing() {
        for wrong in [
            "fsai-of=grid5x0",
            "fsai-pattern=magic",
            "fsai-power=4",
            "fsai-delta=-1",
            "fsai-tau=nan",
            "fsai-merge=0.5",
            "fsai-stage=end",
            "fsai-row=x",
            "fsai-shown=pink",
        ] {
            let link = format!("v1;view=preconditioner;{wrong}");
            assert_eq!(ViewState::not_understood(&link), Some(wrong));
            let state = ViewState::from_fragment(&link).unwrap();
            assert_eq!(state.fsai, FsaiState::default(), "{wrong}");
        }
    }
}
