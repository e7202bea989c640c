//! Splits a plan into parts that several processes run without communication: the same plan has the same
//! parts everywhere.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use std::ops::Range;

use super::configuration::{Configuration, Key, Temperature};
use sparsescope_matrix::order;

/// What one part runs on one subject.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Portion {
    /// Index of the subject in the plan.
    pub subject: usize,
    /// The units of the plan to run, in order.
    pub units: Vec<Range<usize>>,
}

impl Portion {
    fn has(&self, unit: usize) -> bool {
        self.units.iter().any(|range| range.contains(&unit))
    }
}

/// The unit of each configuration. Configurations that differ only in threads or caches form one unit, which
/// is never split, because they are compared with one another. The thread counts to try depend on the
/// machine; the units do not.
#[derive(Clone, Debug)]
pub struct Units {
    of: Vec<usize>,
    count: usize,
}

impl Units {
    /// The units of a plan's configurations, numbered in order.
    pub fn among(configurations: &[Configuration]) -> Self {
        let mut known: BTreeMap<Key, usize> = BTreeMap::new();
        let unit = |c: &Configuration| {
            let alike = Configuration { threads: 1, temperature: Temperature::Hot, ..c.clone() };
            let next = known.len();
            *known.entry(alike.key()).or_insert(next)
        };
        let of = configurations.iter().map(unit).collect();
        Self { of, count: known.len() }
    }

    /// Number of units.
    pub fn count(&self) -> usize {
        self.count
    }

    /// The indices of a portion's configurations in the plan.
    pub fn places(&self, portion: &Portion) -> impl Iterator<Item = usize> {
        let has = |unit: usize| portion.has(unit);
        self.of.iter().enumerate().filter(move |(_, unit)| has(**unit)).map(|(place, _)| place)
    }

    /// The indices of the configurations in any of the portions.
    pub fn places_of_any(&self, portions: &[Portion]) -> impl Iterator<Item = usize> {
        let has = |unit: usize| portions.iter().any(|portion| portion.has(unit));
        self.of.iter().enumerate().filter(move |(_, unit)| has(**unit)).map(|(place, _)| place)
    }

    /// Everything, in one part.
    pub fn whole(&self, subjects: usize) -> Vec<Portion> {
        let all = |subject| Portion { subject, units: std::iter::once(0..self.count).collect() };
        (0..subjects).map(all).collect()
    }
}

/// A subject, or some of its units, assigned to one part. Ordered by cost, then from the end of the plan.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Piece {
    cost: u128,
    subject: Reverse<usize>,
    start: Reverse<usize>,
    end: usize,
}

/// Maximum load of a part, in eighths of its share, so that a subject need not be split.
const MOST_EIGHTHS: u128 = 9;

/// Splits a plan of subjects into `parts`; `costs` are the costs per unit of each subject. Subjects go, in
/// descending order of cost, to the part with the lowest load so far (R. L. Graham, *Bounds on
/// multiprocessing timing anomalies*, SIAM J. Appl. Math. 17, 1969). A subject that would raise its part
/// above 9/8 of the mean is split: the part takes as many units as it lacks, and the rest is queued again. A
/// part lists its portions in the order of the plan; some parts are empty if there are more parts than units.
pub fn split(costs: &[u64], units: usize, parts: u32) -> Vec<Vec<Portion>> {
    // A subject of zero cost still has to be run.
    let unit_cost = |subject: usize| u128::from(costs.get(subject).copied().unwrap_or(1).max(1));
    let piece = |subject: usize, Range { start, end }: Range<usize>| Piece {
        cost: end.saturating_sub(start) as u128 * unit_cost(subject),
        subject: Reverse(subject),
        start: Reverse(start),
        end,
    };
    let mut pieces: BinaryHeap<Piece> =
        (0..costs.len()).filter(|_| units > 0).map(|subject| piece(subject, 0..units)).collect();
    let total: u128 = pieces.iter().map(|piece| piece.cost).sum();
    let mean = total / u128::from(parts.max(1));

    let mut loads: BinaryHeap<Reverse<(u128, u32)>> = (0..parts).map(|k| Reverse((0, k))).collect();
    let mut given: BTreeMap<(u32, usize), Vec<Range<usize>>> = BTreeMap::new();
    while let Some(Piece { cost, subject: Reverse(subject), start: Reverse(start), end }) =
        pieces.pop()
    {
        let Some(Reverse((load, part))) = loads.pop() else { break };
        let mut taken = start..end;
        if taken.len() > 1 && (load + cost) * 8 > total * MOST_EIGHTHS / u128::from(parts) {
            let lacking = mean.saturating_sub(load) / unit_cost(subject);
            let fitting = usize::try_from(lacking).unwrap_or(end).clamp(1, taken.len() - 1);
            taken.end = start + fitting;
            pieces.push(piece(subject, taken.end..end));
        }
        loads.push(Reverse((load + taken.len() as u128 * unit_cost(subject), part)));
        given.entry((part, subject)).or_default().push(taken);
    }
    let mut split = vec![Vec::new(); parts as usize];
    for ((part, subject), mut units) in given {
        order::sort_by(&mut units, |a, b| a.start.cmp(&b.start));
        if let Some(portions) = split.get_mut(part as usize) {
            portions.push(Portion { subject, units });
        }
    }
    split
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::{Settings, select_kernels};
    use sparsescope_model::kernel::DeviceKind;
    use sparsescope_record::{Operation, Precision};

    /// Asserts that every unit of every subject occurs exactly once; returns the cost of each part.
    fn loads(costs: &[u64], units: usize, parts: u32) -> Vec<u64> {
        let split = split(costs, units, parts);
        assert_eq!(split.len(), parts as usize);
        let mut seen = vec![vec![0; units]; costs.len()];
        let mut loads = Vec::new();
        for part in &split {
            assert!(part.is_sorted_by_key(|portion| portion.subject));
            let mut load = 0;
            for Portion { subject, units } in part {
                for unit in units.iter().cloned().flatten() {
                    seen[*subject][unit] += 1;
                    load += costs[*subject];
                }
            }
            loads.push(load);
        }
        assert!(seen.iter().flatten().all(|&times| times == 1), "{seen:?}");
        loads
    }

    #[test]
    fn every_run_is_in_exactly_one_part_and_no_part_has_much_more_than_its_share() {
        // The part with the lowest load is not above the mean before it is given one more unit.
        let mut state = 7u64;
        let mut random = |most: u64| {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (state >> 33) % most + 1
        };
        for _ in 0..200 {
            let costs: Vec<u64> = (0..random(12)).map(|_| 1 + random(1000).pow(2)).collect();
            let (units, parts) = (random(30) as usize, random(9) as u32);
            let loads = loads(&costs, units, parts);
            let mean = costs.iter().sum::<u64>() as f64 * units as f64 / f64::from(parts);
            let unit = *costs.iter().max().unwrap() as f64;
            let most = *loads.iter().max().unwrap() as f64;
            assert!(
                most <= (9.0 / 8.0 * mean).max(mean + unit),
                "{costs:?}, {units} units: {loads:?}"
            );
        }
    }

    #[test]
    fn subjects_stay_whole_unless_a_part_would_have_too_much() {
        let whole = |part: &[Portion]| {
            part.iter().all(|p| p.units.iter().cloned().eq(std::iter::once(0..6)))
        };
        assert!(split(&[5, 4, 3, 3, 3], 6, 2).iter().all(|part| whole(part)));
        assert_eq!(loads(&[5, 4, 3, 3, 3], 6, 2), [8 * 6, 10 * 6]);
        // One subject is half of everything, over four parts: it fills two parts, and one of the three others
        // is split.
        let parts = split(&[60, 20, 20, 20], 6, 4);
        let of_large: Vec<usize> =
            parts.iter().filter(|part| part.iter().any(|p| p.subject == 0)).map(Vec::len).collect();
        assert_eq!(of_large, [1, 1]);
        assert_eq!(loads(&[60, 20, 20, 20], 6, 4), [180, 180, 180, 180]);
        // Three equal subjects over four parts: a quarter of each is split off, and these form the fourth
        // part.
        assert_eq!(loads(&[1, 1, 1], 4, 4), [3, 3, 3, 3]);
    }

    #[test]
    fn more_parts_than_pieces_leave_some_empty() {
        assert_eq!(loads(&[9], 2, 4), [9, 9, 0, 0]);
        assert_eq!(loads(&[], 2, 2), [0, 0]);
        assert_eq!(loads(&[0, 0], 1, 2), [0, 0]);
        assert_eq!(split(&[0, 0], 1, 2).iter().map(Vec::len).collect::<Vec<_>>(), [1, 1]);
    }

    #[test]
    fn threads_and_caches_are_never_parted_and_do_not_change_the_split() {
        let mut kernels = select_kernels(Operation::Spmv, &[DeviceKind::Cpu], &[]).unwrap();
        kernels.retain(|kernel| kernel.takes_defaults());
        let with = |threads: &[u32], cold| Settings {
            runs: 1,
            until: None,
            warmup: 0,
            threads: threads.to_vec(),
            blocks: Vec::new(),
            cold,
            energy: false,
            seed: 1,
            precisions: vec![Precision::F64],
            parameters: Default::default(),
        };
        let here = Configuration::all(&kernels, &with(&[1, 2], false));
        let there = Configuration::all(&kernels, &with(&[1, 2, 4, 8], true));
        let (units, others) = (Units::among(&here), Units::among(&there));
        assert_eq!((units.count(), others.count()), (kernels.len(), kernels.len()));
        let portion = Portion { subject: 0, units: vec![0..1, 3..5] };
        let ids = |configurations: &[Configuration], units: &Units| {
            let places = units.places(&portion);
            let mut ids: Vec<&str> = places.map(|place| configurations[place].kernel.id).collect();
            ids.dedup();
            ids
        };
        assert_eq!(ids(&here, &units), ids(&there, &others));
        assert_eq!(ids(&here, &units), [0, 3, 4].map(|k| kernels[k].id));
        let all: Vec<usize> = (0..here.len()).collect();
        assert_eq!(units.places_of_any(&units.whole(2)).collect::<Vec<_>>(), all);
        assert_eq!(units.places(&units.whole(1)[0]).count(), here.len());
    }
}
