//! The state that a link restores: view, selection, filters, sorting, theme and zoom. Widgets hold
//! none of it. Its text form is the fragment of the page's address.

use std::fmt::Write as _;

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
pub mod layouts;
pub mod levels;
pub mod skyline;
pub mod spy;

use crate::arrangement::Arrangement;
use crate::percent::{self, decode};
use best::BEST;
pub use best::{BestState, Form};
pub use charts::ChartState;
pub use fsai::{FsaiOf, FsaiState, Mesh, MeshOf, PatternWord, Stage};
pub use layouts::{Example, LAYOUTS, LayoutsState, Pattern, Small};
pub use levels::{Grid, LevelsOf, LevelsState, Order};
pub use skyline::{Algorithm, PointsKind, PointsOf, Recipe, SkylineState};
pub use spy::{At, ColorMap, Numbering, Scale, Split, SpyState};

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
    /// The defaults of links: the charts, as since the first version.
    fn implied() -> Self {
        Self { view: "chart".into(), ..Self::default() }
    }

    /// The state as `v1;key=value;…`, percent-encoded; defaults are omitted. A link to the view of
    /// winners always names its form: without one, it is a link of an older version.
    pub fn to_fragment(&self) -> String {
        let mut text = "v1".to_owned();
        let mut implied = Self::implied();
        implied.layouts.small = self.implied_small();
        for ((key, value), (_, usual)) in self.fields().into_iter().zip(implied.fields()) {
            if value != usual || (key == FORM && self.shows_winners()) {
                let _ = write!(text, ";{key}={}", encode(&value)); // infallible
            }
        }
        text
    }

    /// Parses what [`to_fragment`](Self::to_fragment) writes, with or without a leading `#`.
    /// Ignores unknown keys and invalid values; returns `None` for another version.
    pub fn from_fragment(text: &str) -> Option<Self> {
        let mut implied = Self::implied();
        let read = Self::implied().with_fragment(text)?;
        implied.layouts.small = read.implied_small();
        let mut keys = text.split(';').filter_map(|part| Some(part.split_once('=')?.0));
        if read.shows_winners() && !keys.any(|key| key == FORM) {
            implied.best = BestState::of_old_links();
        }
        implied.with_fragment(text)
    }

    /// Whether the view of winners is shown.
    fn shows_winners(&self) -> bool {
        self.view == BEST || self.arrangement.text().contains(BEST)
    }

    /// The small matrix of a link that names none: if the link is about it, the 5 × 5 example, as since the
    /// first version; else the example of a fresh view.
    fn implied_small(&self) -> Small {
        let is_about_it = self.view == LAYOUTS
            || self.layouts.is_changed()
            || self.arrangement.text().contains(LAYOUTS)
            || self.levels.of == LevelsOf::Small
            || self.fsai.of == FsaiOf::Small;
        match is_about_it {
            true => Small::Example(Example::Five),
            false => LayoutsState::default().small,
        }
    }

    /// This state with the settings of a fragment applied; `None` for another version.
    pub fn with_fragment(self, text: &str) -> Option<Self> {
        let mut parts = text.trim_start_matches('#').split(';');
        if parts.next() != Some("v1") {
            return None;
        }
        let mut state = self;
        for (key, value) in parts.filter_map(|part| part.split_once('=')) {
            if let Some(value) = decode(value) {
                state.set(key, value);
            }
        }
        Some(state)
    }

    /// The first part of a fragment that [`from_fragment`](Self::from_fragment) ignores, for people
    /// who write fragments by hand.
    pub fn not_understood(text: &str) -> Option<&str> {
        text.trim_start_matches('#').split(';').skip(1).find(|part| {
            let Some((key, value)) = part.split_once('=') else { return true };
            let mut state = Self::implied();
            let fields = state.fields();
            let Some((_, usual)) = fields.iter().find(|(known, _)| *known == key) else {
                return true;
            };
            let Some(value) = decode(value) else { return true };
            // A value equal to the default is understood, too.
            let ok = value == *usual;
            state.set(key, value);
            !ok && state.fields() == fields
        })
    }

    /// The selected run in a link: its key, or its number while the key is not known.
    fn run_word(&self) -> String {
        match (self.run_key.as_str(), self.run) {
            ("", Some(number)) => number.to_string(),
            (key, _) => key.to_owned(),
        }
    }

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

    fn fields(&self) -> Vec<(&'static str, String)> {
        let filter = &self.filter;
        let mut fields = vec![
            ("view", self.view.clone()),
            ("layout", self.arrangement.text()),
            ("matrix", self.matrix.clone().unwrap_or_default()),
            ("run", self.run_word()),
            ("runs", self.beside.join(",")),
            ("operation", filter.operation.clone()),
            ("search", filter.search.clone()),
            ("class", filter.nnz_class.clone()),
            ("variance", filter.variance.clone()),
            ("band", filter.band.clone()),
            ("kernel", filter.kernel.clone()),
            ("backend", filter.backend.clone()),
            ("origin", filter.origin.clone()),
            ("sort", self.sort.clone()),
            ("descending", self.descending.to_string()),
            ("group", if self.grouped { "matrix" } else { "" }.to_owned()),
            ("log", self.log.to_string()),
            ("kernels", self.all_kernels.to_string()),
        ];
        fields.push(("columns", self.columns.clone()));
        fields.extend(self.best.fields());
        fields.extend(self.charts.fields());
        fields.extend(self.spy.fields());
        fields.extend(self.layouts.fields());
        fields.extend(self.levels.fields());
        fields.extend(self.skyline.fields());
        fields.extend(self.fsai.fields());
        fields.push(("present", self.present.to_string()));
        fields.extend([("theme", self.theme.id().into()), ("zoom", self.zoom.to_string())]);
        fields
    }

    fn set(&mut self, key: &str, value: String) {
        let truth = value == "true";
        match key {
            "view" => self.view = value,
            "layout" => self.arrangement = Arrangement::parse(&value).unwrap_or_default(),
            "matrix" => self.matrix = (!value.is_empty()).then_some(value),
            "run" => match value.parse() {
                Ok(number) => (self.run, self.run_key) = (Some(number), String::new()),
                Err(_) => (self.run, self.run_key) = (None, value),
            },
            "runs" => {
                let keys = value.split(',').filter(|key| !key.is_empty());
                self.beside = keys.take(MOST_BESIDE).map(str::to_owned).collect();
            }
            "operation" if !value.is_empty() => self.filter.operation = value,
            "search" => self.filter.search = value,
            "class" => self.filter.nnz_class = value,
            "variance" => self.filter.variance = value,
            "band" => self.filter.band = value,
            "kernel" => self.filter.kernel = value,
            "backend" => self.filter.backend = value,
            "origin" => self.filter.origin = value,
            "sort" => self.sort = value,
            "descending" => self.descending = truth,
            "group" => self.grouped = value == "matrix",
            "log" => self.log = truth,
            "kernels" => self.all_kernels = truth,
            "present" => self.present = truth,
            "theme" => {
                if let Some(theme) = Theme::ALL.into_iter().find(|theme| theme.id() == value) {
                    self.theme = theme;
                }
            }
            "zoom" => {
                if let Some(zoom) = value.parse().ok().filter(|zoom| ZOOM.contains(zoom)) {
                    self.zoom = zoom;
                }
            }
            "columns" => self.columns = value,
            _ => {
                self.best.set(key, &value);
                self.charts.set(key, &value);
                self.spy.set(key, &value);
                self.layouts.set(key, &value);
                self.levels.set(key, &value);
                self.skyline.set(key, &value);
                self.fsai.set(key, &value);
            }
        }
    }
}

/// Key of the form of the winners.
const FORM: &str = "as";

/// Leaves characters that every reader of an address accepts unchanged.
fn encode(text: &str) -> String {
    percent::encode(text, b"/:,()")
}

/// The undo history, newest state last, and what was undone.
#[derive(Debug, Default)]
pub struct History {
    past: Vec<ViewState>,
    undone: Vec<ViewState>,
    typing: bool,
}

/// Maximum number of undo steps.
const DEPTH: usize = 200;

impl History {
    /// Records `before` if `after` differs; what was undone is forgotten. Consecutive letters typed into the search count as one
    /// change, and so do moves in the picture of a matrix or a point set, changes of τ and other
    /// filter thresholds, and steps through the levels of a sweep, an algorithm or the rows of a
    /// setup.
    pub fn record(&mut self, before: &ViewState, after: &ViewState) {
        if before == after {
            return;
        }
        self.undone.clear();
        let mut retyped = before.clone();
        retyped.filter.search.clone_from(&after.filter.search);
        retyped.spy.at = after.spy.at;
        retyped.charts.tau = after.charts.tau;
        retyped.levels.step = after.levels.step;
        (retyped.skyline.at, retyped.skyline.step) = (after.skyline.at, after.skyline.step);
        let (typed, now) = (&mut retyped.fsai, &after.fsai);
        (typed.prefilter, typed.postfilter, typed.row) = (now.prefilter, now.postfilter, now.row);
        if typed.merge.is_some() && now.merge.is_some() {
            typed.merge = now.merge;
        }
        let typing = retyped == *after;
        if !(typing && self.typing) {
            if self.past.len() == DEPTH {
                self.past.remove(0);
            }
            self.past.push(before.clone());
        }
        self.typing = typing;
    }

    /// Makes the next change a separate one, even if it continues typing.
    pub fn settle(&mut self) {
        self.typing = false;
    }

    /// The state before the last change; `now` is the one shown.
    pub fn back(&mut self, now: &ViewState) -> Option<ViewState> {
        self.typing = false;
        let state = self.past.pop()?;
        self.undone.push(now.clone());
        Some(state)
    }

    /// The state before the last step back; `now` is the one shown.
    pub fn forward(&mut self, now: &ViewState) -> Option<ViewState> {
        self.typing = false;
        let state = self.undone.pop()?;
        self.past.push(now.clone());
        Some(state)
    }

    /// Settles the recorded states whose selected run is known by its number only. Must be called
    /// before numbers change.
    pub fn settle_numbers(&mut self, settle: impl Fn(&mut ViewState)) {
        self.states().filter(|state| state.run_key.is_empty()).for_each(settle);
    }

    /// Clears the number of the selected run in all recorded states, because numbers changed. Its
    /// key remains; a number without one is that of a run that is not open yet.
    pub fn forget_numbers(&mut self) {
        self.states().filter(|state| !state.run_key.is_empty()).for_each(|state| state.run = None);
    }

    fn states(&mut self) -> impl Iterator<Item = &mut ViewState> {
        self.past.iter_mut().chain(&mut self.undone)
    }

    /// Returns whether there is nothing to undo.
    pub fn is_empty(&self) -> bool {
        self.past.is_empty()
    }

    /// Returns whether a step back can be redone.
    pub fn can_go_forward(&self) -> bool {
        !self.undone.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn state() -> impl Strategy<Value = ViewState> {
        let text = ".{0,12}";
        let view = prop_oneof![Just(BEST.to_owned()), text];
        let filter = (".{1,12}", [text; 7]).prop_map(|(operation, texts)| {
            let [search, nnz_class, variance, band, kernel, backend, origin] = texts;
            Filter { operation, search, nnz_class, variance, band, kernel, backend, origin }
        });
        let theme = prop::sample::select(Theme::ALL.to_vec());
        let matrix = prop::option::of(".{1,12}");
        let key = "[0-9a-f]{3}-[0-9a-f]{2}";
        let run = prop_oneof![
            any::<Option<usize>>().prop_map(|run| (run, String::new())),
            key.prop_map(|key| (None, key)),
        ];
        let run = (run, prop::collection::vec(key, 0..=MOST_BESIDE));
        let form = prop::sample::select(best::Form::ALL.to_vec());
        let winners = (text, text, form, any::<(bool, bool)>()).prop_map(
            |(over, by, form, (down, unfolded))| BestState { over, form, by, down, unfolded },
        );
        let drawn = (
            winners,
            charts::tests::state(),
            spy::tests::state(),
            layouts::tests::state(),
            (levels::tests::state(), skyline::tests::state(), fsai::tests::state()),
        );
        let word = "[a-z]{1,3}|h\\([1-9]:[a-c],[1-9]:t2\\([d-f],[g-i]\\)\\)";
        let arrangement = word.prop_map(|word| Arrangement::parse(&word).unwrap());
        let place = (view, arrangement);
        let order = (text, any::<(bool, bool, bool, bool, bool)>(), text);
        (place, matrix, run, filter, order, drawn, theme, ZOOM).prop_map(
            |(
                (view, arrangement),
                matrix,
                ((run, run_key), beside),
                filter,
                (sort, (descending, grouped, log, all_kernels, present), columns),
                (best, charts, spy, layouts, (levels, skyline, fsai)),
                theme,
                zoom,
            )| {
                ViewState {
                    view,
                    arrangement,
                    matrix,
                    run,
                    run_key,
                    beside,
                    filter,
                    sort,
                    descending,
                    grouped,
                    log,
                    all_kernels,
                    columns,
                    best,
                    charts,
                    spy,
                    layouts,
                    levels,
                    skyline,
                    fsai,
                    present,
                    theme,
                    zoom,
                }
            },
        )
    }

    proptest! {
        #[test]
        fn any_state_comes_back_from_its_fragment(state in state()) {
            let text = state.to_fragment();
            prop_assert!(text.is_ascii() && !text.contains([' ', '#', '"', '<']));
            prop_assert_eq!(ViewState::from_fragment(&text), Some(state));
        }

        #[test]
        fn no_text_upsets_the_reader(text in ".{0,40}") {
            let _ = ViewState::from_fragment(&text);
            let read = ViewState::from_fragment(&format!("v1;{text}"));
            prop_assert!(read.is_some());
        }
    }

    #[test]
    fn unknown_keys_and_nonsense_are_passed_over() {
        let read = ViewState::from_fragment("#v1;new=1;zoom=1e9;theme=pink;search=a%3Bb;view=%G1");
        let mut expected = ViewState::implied();
        expected.filter.search = "a;b".into();
        assert_eq!(read, Some(expected));
        assert_eq!(ViewState::from_fragment("v2;view=runs"), None);
        assert_eq!(ViewState::default().to_fragment(), "v1;view=best;as=auto");
        // The meaning of links since the first version.
        assert_eq!(ViewState::from_fragment("v1").unwrap().view, "chart");
    }

    #[test]
    fn a_link_about_the_small_matrix_that_names_none_means_the_one_of_the_first_version() {
        let small = |link: &str| ViewState::from_fragment(link).unwrap().layouts.small;
        let five = Small::Example(Example::Five);
        for link in
            ["view=layouts", "pick=2,1", "view=levels;levels-of=small", "layout=h(spy,layouts)"]
        {
            assert_eq!(small(&format!("v1;{link}")), five, "{link}");
        }
        let eight = Small::Example(Example::Eight);
        assert_eq!(small("v1;view=spy"), eight);
        let fresh = ViewState { view: "layouts".into(), ..ViewState::default() };
        assert_eq!(fresh.to_fragment(), "v1;view=layouts;small=eight");
        assert_eq!(small(&fresh.to_fragment()), eight);
        assert_eq!(small("v1;view=layouts;small=five"), five);
    }

    #[test]
    fn a_link_to_the_winners_that_names_no_form_means_what_it_meant_in_older_versions() {
        let best = |link: &str| ViewState::from_fragment(&format!("v1;{link}")).unwrap().best;
        let old = BestState::of_old_links();
        assert_eq!((old.over.as_str(), old.form, old.unfolded), ("serial", Form::List, true));
        assert_eq!(best("view=best"), old);
        assert_eq!(best("layout=h(spy,best)"), old);
        assert_eq!(best("view=best;heat=true"), BestState { form: Form::Heat, ..old.clone() });
        assert_eq!(best("view=best;over=vendor"), BestState { over: "vendor".into(), ..old });
        for link in ["view=best;as=auto", "view=chart", "view=runs;layout=h(spy,runs)"] {
            assert_eq!(best(link), BestState::default(), "{link}");
        }
        let of_old = ViewState::from_fragment("v1;view=best;by=lead").unwrap();
        assert_eq!(of_old.to_fragment(), "v1;view=best;over=serial;as=list;by=lead;launch=open");
    }

    #[test]
    fn back_undoes_changes_and_typing_counts_as_one() {
        let mut history = History::default();
        let first = ViewState::default();
        let mut now = first.clone();
        for typed in ["f", "fe", "fem"] {
            let before = now.clone();
            now.filter.search = typed.into();
            history.record(&before, &now);
        }
        let searched = now.clone();
        now.view = "runs".into();
        history.record(&searched, &now);
        history.record(&now, &now);
        assert_eq!(history.back(&now), Some(searched.clone()));
        assert_eq!(history.back(&searched), Some(first));
        assert!(history.is_empty());
    }

    #[test]
    fn forward_redoes_what_back_undid_until_something_else_changes() {
        let mut history = History::default();
        let at = |view: &str| ViewState { view: view.into(), ..ViewState::default() };
        let (one, two, three) = (at("best"), at("runs"), at("matrix"));
        history.record(&one, &two);
        history.record(&two, &three);
        assert_eq!(history.forward(&three), None);
        assert_eq!(history.back(&three), Some(two.clone()));
        assert_eq!(history.back(&two), Some(one.clone()));
        assert_eq!(history.back(&one), None);
        assert_eq!(history.forward(&one), Some(two.clone()));
        assert!(history.can_go_forward());
        assert_eq!(history.forward(&two), Some(three.clone()));
        assert!(!history.can_go_forward());
        assert_eq!(history.back(&three), Some(two.clone()), "the way back is the same");
        history.record(&two, &two);
        assert!(history.can_go_forward(), "nothing has changed");
        history.record(&two, &at("spy"));
        assert_eq!(history.forward(&at("spy")), None);
        assert_eq!(history.back(&at("spy")), Some(two));
        assert_eq!(history.back(&three), Some(one));
    }

    #[test]
    fn recorded_runs_are_known_by_their_keys_once_numbers_change() {
        let on = |run: Option<usize>, key: &str| ViewState {
            run,
            run_key: key.into(),
            ..ViewState::default()
        };
        let mut history = History::default();
        // By its number in a link, by its number in a link to a bundle that is not open, by both.
        let [first, waiting, both] = [on(Some(0), ""), on(Some(9), ""), on(Some(1), "b-b")];
        history.record(&first, &waiting);
        history.record(&waiting, &both);
        history.record(&both, &on(None, ""));
        history.settle_numbers(|state| {
            if state.run == Some(0) {
                state.run_key = "a-a".into();
            }
        });
        history.forget_numbers();
        assert_eq!(history.back(&on(None, "")), Some(on(None, "b-b")));
        assert_eq!(history.back(&both), Some(waiting.clone()));
        assert_eq!(history.back(&waiting), Some(on(None, "a-a")), "no longer its number");
    }

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
