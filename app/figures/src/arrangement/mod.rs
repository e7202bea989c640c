//! The arrangement of the views: groups of tabs, side by side or stacked. Its text form is one word
//! of a link, e.g. `h(60:chart,40:v(spy,t2(runs,matrix)))`: `h` is side by side, `v` stacked, `t`
//! tabs (with the number of the active one); shares are percentages, given where they differ.

mod part;
mod word;

use serde::{Deserialize, Serialize};

pub use part::{Group, Part};

/// An arrangement; the default is one group with every view in its usual order.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "String", into = "String")]
pub struct Arrangement(Option<Part>);

impl Arrangement {
    /// Parses what [`text`](Self::text) writes; returns `None` for anything else.
    pub fn parse(text: &str) -> Option<Self> {
        if text.is_empty() {
            return Some(Self::default());
        }
        let part = word::read(text)?;
        let mut views = part.views();
        let count = views.len();
        sparsescope_core::order::sort(&mut views);
        views.dedup();
        (views.len() == count).then_some(Self(Some(part)))
    }

    /// The arrangement as one word; empty for the default.
    pub fn text(&self) -> String {
        self.0.as_ref().map(word::of).unwrap_or_default()
    }

    /// The arrangement of `all` views, with `focus` active in its group. An arrangement that names
    /// a view outside `all` counts as the default.
    pub fn part(&self, all: &[&str], focus: &str) -> Part {
        let known = self.0.as_ref().filter(|p| p.views().iter().all(|view| all.contains(view)));
        let mut part = known.cloned().unwrap_or_else(|| {
            let views = all.iter().map(|view| (*view).to_owned()).collect();
            Part::Group(Group { views, front: 0 })
        });
        part.bring_to_front(focus);
        part
    }

    /// The inverse of [`part`](Self::part).
    pub fn of(mut part: Part, all: &[&str], focus: &str) -> Self {
        if matches!(&part, Part::Group(group) if group.views == all) {
            return Self::default();
        }
        if let Some(group) = part.group_of(focus) {
            group.front = 0;
        }
        Self(Some(part))
    }

    /// Moves the focus from one view to another, which joins the group of the first if it is not
    /// shown yet.
    #[must_use]
    pub fn follow(&self, all: &[&str], from: &str, to: &str) -> Self {
        let mut part = self.part(all, from);
        if part.group_of(to).is_none() {
            let group = match part.group_of(from).is_some() {
                true => part.group_of(from),
                false => Some(part.first_group()),
            };
            group.into_iter().for_each(|group| group.views.push(to.to_owned()));
        }
        part.bring_to_front(to);
        Self::of(part, all, to)
    }

    /// Moves the view out of its group into a half of that group's area, right or below. Does
    /// nothing if the view is alone.
    #[must_use]
    pub fn split(&self, all: &[&str], focus: &str, view: &str, down: bool) -> Self {
        let mut part = self.part(all, focus);
        part.split(view, down);
        Self::of(part, all, focus)
    }

    /// Removes the group of this view; its views join the nearest group.
    #[must_use]
    pub fn join(&self, all: &[&str], focus: &str, view: &str) -> Self {
        let mut part = self.part(all, focus);
        part.join(view);
        part.bring_to_front(focus);
        Self::of(part, all, focus)
    }
}

impl From<String> for Arrangement {
    fn from(text: String) -> Self {
        Self::parse(&text).unwrap_or_default()
    }
}

impl From<Arrangement> for String {
    fn from(arrangement: Arrangement) -> Self {
        arrangement.text()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const ALL: [&str; 4] = ["chart", "runs", "matrix", "spy"];

    fn arrangement(text: &str) -> Arrangement {
        Arrangement::parse(text).unwrap()
    }

    #[test]
    fn a_word_is_read_and_written_unchanged() {
        for text in [
            "",
            "chart",
            "t(runs,chart)",
            "h(chart,v(spy,runs))",
            "h(60:chart,40:v(spy,t2(runs,matrix)))",
            "v(chart,runs,matrix)",
        ] {
            assert_eq!(arrangement(text).text(), text);
        }
    }

    #[test]
    fn what_is_no_arrangement_is_refused() {
        let deep = "h(a,".repeat(40);
        let long = format!("t({})", ["a"; 2000].join(","));
        for text in [
            "h",
            "h(",
            "h()",
            "h(chart)",
            "h(chart,)",
            "h(chart,runs",
            "h(chart,runs))",
            "q(a,b)",
            "t(chart)",
            "t3(a,b)",
            "t0(a,b)",
            "h(chart,chart)",
            "h(0:a,5:b)",
            "h(50:a,b)",
            "é",
            "h(a,b) ",
            &deep,
            &long,
        ] {
            // A lone letter is a view's name; whether that view exists is checked later.
            assert_eq!(Arrangement::parse(text).is_some(), text == "h", "{text}");
        }
    }

    #[test]
    fn an_unknown_view_makes_the_default_of_the_arrangement() {
        let default = Arrangement::default().part(&ALL, "runs");
        assert_eq!(default.views(), ALL);
        assert_eq!(arrangement("h(chart,new)").part(&ALL, "runs"), default);
        assert_eq!(default.groups()[0].shown(), "runs");
    }

    #[test]
    fn following_brings_to_front_and_adds_what_is_missing() {
        let split = arrangement("h(t(chart,spy),runs)");
        assert_eq!(split.follow(&ALL, "chart", "runs").text(), "h(t(chart,spy),runs)");
        assert_eq!(split.follow(&ALL, "spy", "runs").text(), "h(t2(chart,spy),runs)");
        assert_eq!(split.follow(&ALL, "runs", "matrix").text(), "h(t(chart,spy),t(runs,matrix))");
        assert_eq!(Arrangement::default().follow(&ALL, "chart", "spy"), Arrangement::default());
    }

    #[test]
    fn splitting_and_joining_move_whole_views_and_lose_none() {
        let split = Arrangement::default().split(&ALL, "spy", "spy", false);
        assert_eq!(split.text(), "h(t3(chart,runs,matrix),spy)");
        let again = split.split(&ALL, "runs", "runs", false);
        assert_eq!(again.text(), "h(25:t2(chart,matrix),25:runs,50:spy)");
        let down = split.split(&ALL, "chart", "chart", true);
        assert_eq!(down.text(), "h(v(t(runs,matrix),chart),spy)");
        assert_eq!(split.split(&ALL, "spy", "spy", true), split, "alone, it stays");
        assert_eq!(split.join(&ALL, "spy", "spy"), Arrangement::default());
        assert_eq!(down.join(&ALL, "chart", "chart").text(), "h(t(runs,matrix,chart),spy)");
        assert_eq!(Arrangement::default().join(&ALL, "chart", "chart"), Arrangement::default());
    }

    fn part() -> impl Strategy<Value = Part> {
        let group = |views: Vec<u8>, front: usize| {
            let views: Vec<String> = views.into_iter().map(|v| format!("v-{v}")).collect();
            let front = front % views.len();
            Part::Group(Group { views, front })
        };
        let leaf = (prop::collection::vec(any::<u8>(), 1..3), 0_usize..3)
            .prop_map(move |(views, front)| group(views, front));
        leaf.prop_recursive(3, 12, 3, |inner| {
            let parts = prop::collection::vec((0.01_f32..9.0, inner), 2..4);
            (any::<bool>(), parts).prop_filter_map("two parts", |(d, p)| Part::split_of(d, p))
        })
    }

    proptest! {
        #[test]
        fn any_arrangement_comes_back_from_its_word(part in part()) {
            let mut views = part.views();
            let count = views.len();
            views.sort_unstable();
            views.dedup();
            prop_assume!(views.len() == count);
            let arrangement = Arrangement(Some(part));
            prop_assert_eq!(Arrangement::parse(&arrangement.text()), Some(arrangement));
        }

        #[test]
        fn no_word_upsets_the_reader(text in "[hvt0-9a-c:,()-]{0,40}|.{0,20}") {
            if let Some(read) = Arrangement::parse(&text) {
                prop_assert_eq!(Arrangement::parse(&read.text()), Some(read.clone()));
                for view in ALL {
                    let moved = read.follow(&ALL, "chart", view).split(&ALL, view, view, true);
                    prop_assert!(moved.part(&ALL, view).views().contains(&view));
                }
            }
        }
    }
}
