//! The state that a link restores: view, selection, filters, sorting, theme and zoom. Widgets hold
//! none of it. Its text form is the fragment of the page's address.

use serde::{Deserialize, Serialize};
use sparsescope_core::record::Operation;

/// An enum with an id for links and a display name.
macro_rules! choice {
    ($(#[$doc:meta])* $type:ident: $($(#[$item_doc:meta])* $item:ident $id:literal $name:literal,)*) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
        #[serde(rename_all = "lowercase")]
        pub enum $type {
            $($(#[$item_doc])* $item,)*
        }

        impl $type {
            /// Every choice, in display order.
            pub const ALL: &[Self] = &[$(Self::$item),*];

            /// Id in a link.
            pub fn id(self) -> &'static str {
                match self { $(Self::$item => $id,)* }
            }

            /// Display name.
            pub fn name(self) -> &'static str {
                match self { $(Self::$item => $name,)* }
            }

            fn from_id(id: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|choice| choice.id() == id)
            }
        }
    };
}

pub mod best;
pub mod charts;
pub mod fsai;
mod history;
pub mod layouts;
pub mod levels;
mod link;
mod ranking;
pub mod skyline;
pub mod spy;

use crate::arrangement::Arrangement;
use best::BEST;
pub use best::{BestState, Form};
pub use charts::ChartState;
pub use fsai::{FsaiOf, FsaiState, Mesh, MeshOf, PatternWord, Stage};
pub use history::History;
pub use layouts::{Example, LAYOUTS, LayoutsState, Pattern, Small};
pub use levels::{Grid, LevelsOf, LevelsState, Order};
pub use ranking::{RankBy, Ranking};
pub use skyline::{Algorithm, PointsKind, PointsOf, Recipe, SkylineState};
pub use spy::{At, ColorMap, Numbering, Saved, Scale, Split, SpyState};

/// Everything that determines the views, apart from the bundles.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ViewState {
    /// Id of the active view.
    pub view: String,
    /// The arrangement of the views.
    #[serde(rename = "layout")]
    pub arrangement: Arrangement,
    /// Key of the selected matrix ([`matrix_key`](crate::model::matrix_key)), if any.
    pub matrix: Option<String>,
    /// Number of the selected run, counted over all bundles in order, if any.
    pub run: Option<usize>,
    /// Key of the selected run in links; empty if none, or if only its number is known
    /// ([`Model::settle_run`](crate::model::Model::settle_run)).
    pub run_key: String,
    /// Keys of the runs shown beside the selected one.
    pub beside: Vec<String>,
    /// Which matrices and runs are shown.
    pub filter: Filter,
    /// Id of the column that the table is sorted by.
    pub sort: String,
    /// Descending order.
    pub descending: bool,
    /// The runs are grouped by matrix.
    pub grouped: bool,
    /// Logarithmic value axes.
    pub log: bool,
    /// List all kernels of a matrix, not only the best.
    pub all_kernels: bool,
    /// Ids of the columns of the table of runs, comma-separated; empty for the default.
    pub columns: String,
    /// The view of winners.
    pub best: BestState,
    /// The view of charts.
    pub charts: ChartState,
    /// The view of the structure.
    pub spy: SpyState,
    /// The view of memory layouts.
    pub layouts: LayoutsState,
    /// The view of dependency levels.
    pub levels: LevelsState,
    /// The view of skylines (Pareto fronts).
    pub skyline: SkylineState,
    /// The view of a preconditioner's setup.
    pub fsai: FsaiState,
    /// Show only the active view and one line of its settings, for an audience.
    pub present: bool,
    /// Colours and font size.
    pub theme: Theme,
    /// Scale of the interface; 1 is the default.
    pub zoom: f32,
}

/// Which matrices and runs are shown. An empty text matches everything.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Filter {
    /// `spmv`, …: runs of different operations are never shown together, except when this is empty.
    pub operation: String,
    /// Substring of a matrix's name, case-insensitive.
    pub search: String,
    /// Size class of nnz, e.g. `100k-500k`.
    pub nnz_class: String,
    /// Class of the variation of row lengths, e.g. `0.1-0.5`.
    pub variance: String,
    /// Class of the bandwidth in percent of the rows, e.g. `1-10%`.
    pub band: String,
    /// Kernel id.
    pub kernel: String,
    /// `cpu` or `cuda`.
    pub backend: String,
    /// `paper:000`, `ours`, `vendor`, …
    pub origin: String,
    /// The number of columns of X of products with several vectors; `None` passes all of them.
    pub vectors: Option<u32>,
}

impl Filter {
    /// Matches everything, whatever its operation.
    pub fn everything() -> Self {
        let none = String::new;
        Self {
            operation: none(),
            search: none(),
            nnz_class: none(),
            variance: none(),
            band: none(),
            kernel: none(),
            backend: none(),
            origin: none(),
            vectors: None,
        }
    }

    /// Every run of an operation.
    pub fn all_of(operation: &str) -> Self {
        Self { operation: operation.to_owned(), ..Self::everything() }
    }
}

/// Links without an operation show SpMV.
impl Default for Filter {
    fn default() -> Self {
        Self::all_of(Operation::Spmv.as_str())
    }
}

/// Colours and font size.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Theme {
    /// Dark on white.
    #[default]
    Light,
    /// Light on near-black.
    Dark,
    /// Black on white in large type, for a lecture room.
    Projector,
}

impl Theme {
    /// Every theme, in display order.
    pub const ALL: [Self; 3] = [Self::Light, Self::Dark, Self::Projector];

    /// Id in a link.
    pub fn id(self) -> &'static str {
        match self {
            Self::Light => "light",
            Self::Dark => "dark",
            Self::Projector => "projector",
        }
    }
}

/// Maximum number of runs shown side by side.
pub const MOST_BESIDE: usize = 4;

/// Range of valid scales.
pub const ZOOM: std::ops::RangeInclusive<f32> = 0.5..=3.0;

impl Default for ViewState {
    fn default() -> Self {
        Self {
            view: BEST.into(),
            arrangement: Arrangement::default(),
            matrix: None,
            run: None,
            run_key: String::new(),
            beside: Vec::new(),
            filter: Filter::default(),
            sort: "gflops".into(),
            descending: true,
            grouped: false,
            log: true,
            all_kernels: false,
            columns: String::new(),
            best: BestState::default(),
            charts: ChartState::default(),
            spy: SpyState::default(),
            layouts: LayoutsState::default(),
            levels: LevelsState::default(),
            skyline: SkylineState::default(),
            fsai: FsaiState::default(),
            present: false,
            theme: Theme::default(),
            zoom: 1.0,
        }
    }
}

impl ViewState {
    /// Returns whether both select the same run, or none.
    pub fn is_on_run_of(&self, other: &Self) -> bool {
        self.run_key == other.run_key || (self.run.is_some() && self.run == other.run)
    }

    /// Selects a run. With `beside`, the run selected before stays beside it; a run that is already
    /// there goes away.
    pub fn select_run(&mut self, number: usize, key: String, beside: bool) {
        if beside && self.beside.contains(&key) {
            self.beside.retain(|kept| *kept != key);
            return;
        }
        if beside && self.run.is_some() && self.run != Some(number) {
            self.keep_beside();
        }
        (self.run, self.run_key) = (Some(number), key);
    }

    /// Keeps the selected run beside those selected next, in place of the oldest if there are too
    /// many.
    pub fn keep_beside(&mut self) {
        if self.run_key.is_empty() || self.beside.contains(&self.run_key) {
            return;
        }
        self.beside.push(self.run_key.clone());
        let surplus = (self.beside.len() + 1).saturating_sub(MOST_BESIDE);
        self.beside.drain(..surplus);
    }

    /// Selects no run.
    pub fn forget_run(&mut self) {
        self.run = None;
        self.run_key.clear();
        self.beside.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn up_to_four_runs_stand_side_by_side_and_the_oldest_goes_first() {
        let mut state = ViewState::default();
        let key = |number: usize| format!("{number}{number}-b");
        for number in 0..6 {
            state.select_run(number, key(number), number != 5);
        }
        assert_eq!(state.beside, [key(1), key(2), key(3)]);
        assert_eq!((state.run, state.run_key.as_str()), (Some(5), "55-b"));
        state.select_run(2, key(2), true);
        assert_eq!(state.beside, [key(1), key(3)]);
        assert_eq!(state.run, Some(5), "what goes away leaves the selection");
        state.forget_run();
        assert_eq!(state, ViewState::default());
    }
}
