//! Groups of tabs, side by side or stacked.

/// A part of the central area.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Part {
    /// Tabs, of which one is visible.
    Group(Group),
    /// Parts side by side or stacked.
    Split {
        /// Stacked.
        down: bool,
        /// Share in percent, and the part; at least two.
        parts: Vec<(u8, Part)>,
    },
}

/// Tabs, of which one is visible.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Group {
    /// Ids in the order of the tabs; at least one.
    pub views: Vec<String>,
    /// Index of the active tab. In an [`Arrangement`](super::Arrangement), 0 in the group that
    /// holds the focused view, which is always active.
    pub front: usize,
}

impl Group {
    fn has(&self, view: &str) -> bool {
        self.place(view).is_some()
    }

    fn place(&self, view: &str) -> Option<usize> {
        self.views.iter().position(|known| known == view)
    }

    /// The active view.
    pub fn shown(&self) -> &str {
        self.views.get(self.front).or(self.views.first()).map_or("", String::as_str)
    }
}

impl Part {
    /// Parts side by side or stacked, in proportion to these shares.
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

    pub(super) fn bring_to_front(&mut self, view: &str) {
        if let Some(group) = self.group_of(view) {
            group.front = group.place(view).unwrap_or_default();
        }
    }

    pub(super) fn split(&mut self, view: &str, down: bool) {
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

    /// Moves the views of this view's group, and its area, to the part before it or after it.
    pub(super) fn join(&mut self, view: &str) {
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
