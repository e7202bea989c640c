//! Sorting with small code: one instance of the standard library's sort serves every type of the
//! views; otherwise each would add four kilobytes to the WebAssembly.

use std::cmp::Ordering;

/// Sorts `items`; the sort is stable.
pub(crate) fn sort_by<T>(items: &mut Vec<T>, mut compare: impl FnMut(&T, &T) -> Ordering) {
    let mut order: Vec<usize> = (0..items.len()).collect();
    sort_places(&mut order, &mut |a, b| match (items.get(a), items.get(b)) {
        (Some(one), Some(other)) => compare(one, other),
        _ => Ordering::Equal,
    });
    let mut taken: Vec<Option<T>> = items.drain(..).map(Some).collect();
    items.extend(order.into_iter().filter_map(|place| taken.get_mut(place)?.take()));
}

fn sort_places(order: &mut [usize], compare: &mut dyn FnMut(usize, usize) -> Ordering) {
    order.sort_by(|&a, &b| compare(a, b));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_sorts_as_the_standard_library_does() {
        let items: Vec<(u32, String)> =
            (0..200).map(|k| (k * 7919 % 13, format!("item {k}"))).collect();
        let (mut ours, mut theirs) = (items.clone(), items);
        sort_by(&mut ours, |a, b| a.0.cmp(&b.0));
        theirs.sort_by_key(|item| item.0);
        assert_eq!(ours, theirs);
        let mut none: Vec<u8> = Vec::new();
        sort_by(&mut none, u8::cmp);
        assert!(none.is_empty());
    }
}
