//! The state as text: the fragment of the page's address.

use std::fmt::Write as _;

use super::best::{BEST, BestState};
use super::{
    Example, FsaiOf, LAYOUTS, LayoutsState, LevelsOf, MOST_BESIDE, Small, Theme, ViewState, ZOOM,
};
use crate::arrangement::Arrangement;
use crate::percent::{self, decode};

/// Key of the form of the winners.
const FORM: &str = "as";

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
            ("vectors", filter.vectors.map(|k| k.to_string()).unwrap_or_default()),
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
            "vectors" => self.filter.vectors = value.parse().ok(),
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

/// Leaves characters that every reader of an address accepts unchanged.
fn encode(text: &str) -> String {
    percent::encode(text, b"/:,()")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::{
        Filter, Form, RankBy, Ranking, best, charts, fsai, layouts, levels, skyline, spy,
    };
    use super::*;

    fn state() -> impl Strategy<Value = ViewState> {
        let text = ".{0,12}";
        let view = prop_oneof![Just(BEST.to_owned()), text];
        let filter = (".{1,12}", [text; 7], any::<Option<u32>>());
        let filter = filter.prop_map(|(operation, texts, vectors)| {
            let [search, nnz_class, variance, band, kernel, backend, origin] = texts;
            Filter {
                operation,
                search,
                nnz_class,
                variance,
                band,
                kernel,
                backend,
                origin,
                vectors,
            }
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
        let ranking =
            (prop::sample::select(RankBy::ALL.to_vec()), prop::option::of(1e-15..=1.0_f64));
        let ranking = ranking.prop_map(|(by, max_error)| Ranking { by, max_error });
        let winners = (text, text, form, any::<(bool, bool)>(), ranking).prop_map(
            |(over, by, form, (down, unfolded), ranking)| BestState {
                over,
                form,
                by,
                down,
                unfolded,
                ranking,
            },
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
}
