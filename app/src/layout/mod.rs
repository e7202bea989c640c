//! How the views are arranged: groups of tabs, beside and below one another. As text it is one
//! word of a link, e.g. `h(60:chart,40:v(spy,t2(runs,matrix)))`: `h` beside, `v` below, `t` tabs
//! (with the number of the one in front), shares in percent where they differ.

mod word;

use serde::{Deserialize, Serialize};

/// An arrangement; the default is one group with every view in its usual order.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "String", into = "String")]
pub struct Layout(Option<Part>);

/// A part of the centre.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Part {
    /// Views behind one another.
    Group(Group),
    /// Parts beside one another, or below.
    Split {
        /// Below one another.
        down: bool,
        /// Share in percent and part; at least two.
        parts: Vec<(u8, Part)>,
    },
}

/// Views behind one another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Group {
    /// Ids in the order of the tabs; at least one.
    pub views: Vec<String>,
    /// Place of the one in front. In a [`Layout`], 0 in the group that has the focused view: that
    /// one is in front.
    pub front: usize,
}

impl Group {
    fn has(&self, view: &str) -> bool {
        self.place(view).is_some()
    }

    fn place(&self, view: &str) -> Option<usize> {
        self.views.iter().position(|known| known == view)
    }

    /// The view in front.
    pub fn shown(&self) -> &str {
        self.views.get(self.front).or(self.views.first()).map_or("", String::as_str)
    }
}

impl Layout {
    /// Reads what [`text`](Self::text) writes; `None` for anything else.
    pub fn parse(text: &str) -> Option<Self> {
        if text.is_empty() {
            return Some(Self::default());
        }
        let part = word::read(text)?;
        let mut views = part.views();
        let count = views.len();
        views.sort_unstable();
        views.dedup();
        (views.len() == count).then_some(Self(Some(part)))
    }

    /// As one word; empty for the default.
    pub fn text(&self) -> String {
        self.0.as_ref().map(word::of).unwrap_or_default()
    }

    /// The arrangement of `all` views, of which `focus` is in front of its group. A layout that
    /// names a view that is not among them counts as the default.
    pub fn part(&self, all: &[&str], focus: &str) -> Part {
        let known = self.0.as_ref().filter(|p| p.views().iter().all(|view| all.contains(view)));
        let mut part = known.cloned().unwrap_or_else(|| {
            let views = all.iter().map(|view| (*view).to_owned()).collect();
            Part::Group(Group { views, front: 0 })
        });
        part.bring_to_front(focus);
        part
    }

    /// What [`part`](Self::part) gives back as `part`.
    pub fn of(mut part: Part, all: &[&str], focus: &str) -> Self {
        if matches!(&part, Part::Group(group) if group.views == all) {
            return Self::default();
        }
        if let Some(group) = part.group_of(focus) {
            group.front = 0;
        }
        Self(Some(part))
    }

    /// The focus moves from one view to another, which joins the group of the first when it is
    /// nowhere yet.
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

    /// The view leaves its group for a half of that group's place, right or down. Nothing changes
    /// when it is alone.
    #[must_use]
    pub fn split(&self, all: &[&str], focus: &str, view: &str, down: bool) -> Self {
        let mut part = self.part(all, focus);
        part.split(view, down);
        Self::of(part, all, focus)
    }

    /// The group of this view goes, its views join the group nearest to it.
    #[must_use]
    pub fn join(&self, all: &[&str], focus: &str, view: &str) -> Self {
        let mut part = self.part(all, focus);
        part.join(view);
        part.bring_to_front(focus);
        Self::of(part, all, focus)
    }
}

impl From<String> for Layout {
    fn from(text: String) -> Self {
        Self::parse(&text).unwrap_or_default()
    }
}

impl From<Layout> for String {
    fn from(layout: Layout) -> Self {
        layout.text()
    }
}

impl Part {
    /// Parts beside or below one another, in proportion to these shares.
    pub fn split_of(down: bool, parts: Vec<(f32, Part)>) -> Option<Self> {
        let sum: f32 = parts.iter().map(|(share, _)| share).sum();
        let percent = |share: f32| (share / sum.max(f32::MIN_POSITIVE) * 100.0).round();
        let mut parts: Vec<(u8, Self)> = parts
            .into_iter()
            .map(|(share, part)| (percent(share).clamp(1.0, 100.0) as u8, part))
            .collect();
        match parts.len() {
            0 | 1 => parts.pop().map(|(_, part)| part),
            _ => Some(Self::Split { down, parts }),
        }
    }

    /// Every view in it.
    pub fn views(&self) -> Vec<&str> {
        self.groups().into_iter().flat_map(|group| &group.views).map(String::as_str).collect()
    }

    /// Every group in it.
    pub fn groups(&self) -> Vec<&Group> {
        match self {
            Self::Group(group) => vec![group],
            Self::Split { parts, .. } => parts.iter().flat_map(|(_, part)| part.groups()).collect(),
        }
    }

    /// The group that has this view.
    pub fn group_of(&mut self, view: &str) -> Option<&mut Group> {
        match self {
            Self::Group(group) => group.has(view).then_some(group),
            Self::Split { parts, .. } => parts.iter_mut().find_map(|(_, part)| part.group_of(view)),
        }
    }

    /// The group at the top left.
    pub fn first_group(&mut self) -> &mut Group {
        match self {
            Self::Group(group) => group,
            Self::Split { parts, .. } => {
                let first = parts.first_mut().expect("a split has two parts or more"); // invariant
                first.1.first_group()
            }
        }
    }

    fn bring_to_front(&mut self, view: &str) {
        if let Some(group) = self.group_of(view) {
            group.front = group.place(view).unwrap_or_default();
        }
    }

    fn split(&mut self, view: &str, down: bool) {
        match self {
            Self::Group(group) => {
                if let Some(place) = group.place(view).filter(|_| group.views.len() > 1) {
                    let view = group.views.remove(place);
                    group.front = group.front.min(group.views.len() - 1);
                    let old = Self::Group(group.clone());
                    let new = Self::Group(Group { views: vec![view], front: 0 });
                    *self = Self::Split { down, parts: vec![(50, old), (50, new)] };
                }
            }
            Self::Split { down: along, parts } => {
                let holds = |(_, part): &(u8, Self)| part.views().contains(&view);
                let Some(place) = parts.iter().position(holds) else { return };
                let Some((share, part)) = parts.get_mut(place) else { return };
                part.split(view, down);
                // A row within a row is one row.
                if let Self::Split { down: inner, parts: halves } = part
                    && inner == along
                    && halves.len() == 2
                {
                    let half = (*share / 2).max(1);
                    let halves: Vec<_> =
                        std::mem::take(halves).into_iter().map(|(_, part)| (half, part)).collect();
                    parts.splice(place..=place, halves);
                }
            }
        }
    }

    /// The views of this view's group go to the part before it, or after it, and so does its place.
    fn join(&mut self, view: &str) {
        let Self::Split { parts, .. } = self else { return };
        let holds = |(_, part): &(u8, Self)| part.views().contains(&view);
        let Some(place) = parts.iter().position(holds) else { return };
        if let Some((_, inner @ Self::Split { .. })) = parts.get_mut(place) {
            return inner.join(view);
        }
        let (share, part) = parts.remove(place);
        if let (Some((heirs, heir)), Self::Group(group)) =
            (parts.get_mut(place.saturating_sub(1)), part)
        {
            *heirs = heirs.saturating_add(share).min(100);
            heir.first_group().views.extend(group.views);
        }
        if let [(_, only)] = parts.as_slice() {
            *self = only.clone();
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const ALL: [&str; 4] = ["chart", "runs", "matrix", "spy"];

    fn layout(text: &str) -> Layout {
        Layout::parse(text).unwrap()
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
            assert_eq!(layout(text).text(), text);
        }
    }

    #[test]
    fn what_is_no_layout_is_refused() {
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
            // A lone letter is a view's name; whether there is such a view is asked later.
            assert_eq!(Layout::parse(text).is_some(), text == "h", "{text}");
        }
    }

    #[test]
    fn an_unknown_view_makes_the_default_of_the_layout() {
        let default = Layout::default().part(&ALL, "runs");
        assert_eq!(default.views(), ALL);
        assert_eq!(layout("h(chart,new)").part(&ALL, "runs"), default);
        assert_eq!(default.groups()[0].shown(), "runs");
    }

    #[test]
    fn following_brings_to_front_and_adds_what_is_missing() {
        let split = layout("h(t(chart,spy),runs)");
        assert_eq!(split.follow(&ALL, "chart", "runs").text(), "h(t(chart,spy),runs)");
        assert_eq!(split.follow(&ALL, "spy", "runs").text(), "h(t2(chart,spy),runs)");
        assert_eq!(split.follow(&ALL, "runs", "matrix").text(), "h(t(chart,spy),t(runs,matrix))");
        assert_eq!(Layout::default().follow(&ALL, "chart", "spy"), Layout::default());
    }

    #[test]
    fn splitting_and_joining_move_whole_views_and_lose_none() {
        let split = Layout::default().split(&ALL, "spy", "spy", false);
        assert_eq!(split.text(), "h(t3(chart,runs,matrix),spy)");
        let again = split.split(&ALL, "runs", "runs", false);
        assert_eq!(again.text(), "h(25:t2(chart,matrix),25:runs,50:spy)");
        let down = split.split(&ALL, "chart", "chart", true);
        assert_eq!(down.text(), "h(v(t(runs,matrix),chart),spy)");
        assert_eq!(split.split(&ALL, "spy", "spy", true), split, "alone, it stays");
        assert_eq!(split.join(&ALL, "spy", "spy"), Layout::default());
        assert_eq!(down.join(&ALL, "chart", "chart").text(), "h(t(runs,matrix,chart),spy)");
        assert_eq!(Layout::default().join(&ALL, "chart", "chart"), Layout::default());
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
            let layout = Layout(Some(part));
            prop_assert_eq!(Layout::parse(&layout.text()), Some(layout));
        }

        #[test]
        fn no_word_upsets_the_reader(text in "[hvt0-9a-c:,()-]{0,40}|.{0,20}") {
            if let Some(layout) = Layout::parse(&text) {
                prop_assert_eq!(Layout::parse(&layout.text()), Some(layout.clone()));
                for view in ALL {
                    let moved = layout.follow(&ALL, "chart", view).split(&ALL, view, view, true);
                    prop_assert!(moved.part(&ALL, view).views().contains(&view));
                }
            }
        }
    }
}
