//! Sorts, and maps and sets of what an iterator yields, for short lists. The standard library's sort takes 6 kB of
//! a program for each type and order, and collecting into a `BTreeMap` or `BTreeSet` sorts.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};

/// Sorts a short list; the sort is stable. One instance of the standard library's sort serves every type.
pub fn sort_by<T>(items: &mut [T], mut compare: impl FnMut(&T, &T) -> Ordering) {
    let mut order: Vec<usize> = (0..items.len()).collect();
    sort_places(&mut order, &mut |a, b| match (items.get(a), items.get(b)) {
        (Some(one), Some(other)) => compare(one, other),
        _ => Ordering::Equal,
    });
    move_to(&mut order, &mut |a, b| items.swap(a, b));
}

/// Sorts a short list.
pub fn sort<T: Ord>(items: &mut [T]) {
    sort_by(items, T::cmp);
}

fn sort_places(order: &mut [usize], compare: &mut dyn FnMut(usize, usize) -> Ordering) {
    order.sort_by(|&a, &b| compare(a, b));
}

/// Swaps items until the one from `order[k]` is at k, for each k.
fn move_to(order: &mut [usize], swap: &mut dyn FnMut(usize, usize)) {
    for first in 0..order.len() {
        let mut at = first;
        while let Some(from) = order.get_mut(at).map(|from| std::mem::replace(from, at)) {
            if from == first {
                break;
            }
            swap(at, from);
            at = from;
        }
    }
}

/// A map of the pairs; of those with one key the last remains.
pub fn map<K: Ord, V>(pairs: impl IntoIterator<Item = (K, V)>) -> BTreeMap<K, V> {
    let mut map = BTreeMap::new();
    map.extend(pairs);
    map
}

/// The set of the items.
pub fn set<T: Ord>(items: impl IntoIterator<Item = T>) -> BTreeSet<T> {
    let mut set = BTreeSet::new();
    set.extend(items);
    set
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_sorted_as_by_the_standard_library() {
        for count in [0u32, 1, 2, 3, 7, 40, 200] {
            let items: Vec<(u32, String)> =
                (0..count).map(|k| (k * 7919 % 13, format!("item {k}"))).collect();
            let (mut ours, mut theirs) = (items.clone(), items);
            sort_by(&mut ours, |a, b| a.0.cmp(&b.0));
            theirs.sort_by_key(|item| item.0);
            assert_eq!(ours, theirs);
            sort(&mut ours);
            theirs.sort();
            assert_eq!(ours, theirs);
        }
    }

    #[test]
    fn maps_and_sets_are_those_that_are_collected() {
        let pairs = || (0..50).map(|k| (k * 7 % 11, k));
        assert_eq!(map(pairs()), pairs().collect::<BTreeMap<_, _>>());
        let keys = || pairs().map(|(key, _)| key);
        assert_eq!(set(keys()), keys().collect::<BTreeSet<_>>());
    }
}
