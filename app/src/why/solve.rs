//! Why a solve takes as long as it does: the iterations, what one of them costs, and the set-up beside them.

use sparsescope_core::record::Solve;

use super::{Reason, percent};
use crate::model::{RunOf, count, seconds, significant};

impl RunOf<'_> {
    /// The beginning of the sentence, and the reasons.
    pub(super) fn solve(&self, solve: &Solve, median_s: f64) -> (String, Vec<Reason>) {
        let each_s = median_s / solve.iterations.max(1) as f64;
        let iterations = count(solve.iterations);
        let sentence = format!(
            "Takes {} a solve, {iterations} iterations of {}",
            seconds(median_s),
            seconds(each_s)
        );
        let mut reasons = Vec::new();
        let setup = solve.setup_s / (solve.setup_s + median_s);
        let largest = solve.phases.iter().max_by(|a, b| a.seconds.total_cmp(&b.seconds));
        if let Some(phase) = largest.filter(|_| setup.is_finite()) {
            let (share, whole) = (percent(phase.seconds / solve.setup_s), seconds(solve.setup_s));
            let text = format!("its set-up takes {whole} once, {share} of that for {}", phase.name);
            reasons.push((setup, text));
        }
        if let (Some(sizes), Some(matrix)) = (&solve.sizes, self.matrix()) {
            let entries = sizes.factor as f64 / matrix.statistics.nnz.max(1) as f64;
            let share = 2.0 * entries / (1.0 + 2.0 * entries);
            let text = format!(
                "the factor has {} times the entries of A and is applied twice",
                significant(entries)
            );
            reasons.push((share, text));
        }
        (sentence, reasons)
    }
}
