//! Selects the preconditioners to draw if there are more than fit into a chart.

use std::collections::BTreeMap;

use crate::model::RunOf;

/// Maximum number of preconditioners that can be distinguished at a glance.
const MOST: usize = 8;
/// Those before FSAI in the order of preconditioners: they have no parameters, and are always
/// drawn.
const PLAIN: usize = 3;

/// The solves with the preconditioners that reach a solution first, and a text with the number of
/// others; other runs are unchanged.
pub(in crate::views::charts) fn few<'a>(runs: Vec<RunOf<'a>>) -> (Vec<RunOf<'a>>, String) {
    let mut methods: BTreeMap<String, (bool, f64)> = BTreeMap::new();
    for run in runs.iter().filter(|run| run.solved().is_some()) {
        let time_s = run.whole_solve_s().unwrap_or(f64::INFINITY);
        let found = methods.entry(run.method()).or_insert((run.method_order() >= PLAIN, time_s));
        found.1 = found.1.min(time_s);
    }
    if methods.len() <= MOST {
        return (runs, String::new());
    }
    let mut order: Vec<(String, (bool, f64))> = methods.into_iter().collect();
    sparsescope_core::order::sort_by(&mut order, |(_, a), (_, b)| {
        a.0.cmp(&b.0).then(a.1.total_cmp(&b.1))
    });
    let others = order.split_off(MOST.min(order.len()));
    let is_kept = |run: &RunOf<'_>| {
        let method = run.solved().map(|_| run.method());
        method.is_none_or(|method| order.iter().any(|(name, _)| *name == method))
    };
    let runs = runs.into_iter().filter(is_kept).collect();
    let note = format!("{} slower preconditioners are not drawn. ", others.len());
    (runs, note)
}
