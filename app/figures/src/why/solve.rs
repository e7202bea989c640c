//! Explains the time of a solve: the iterations, the cost of one, and the setup.

use sparsescope_core::record::{Run, Solve};

use super::{Reason, percent};
use crate::model::{RunOf, count, seconds, significant};

/// The end of a solve that needs no mention.
const CONVERGED: &str = "converged";
/// Parameters of the system and the tolerance.
const SYSTEM: [&str; 3] = ["b", "x0", "tol"];

impl RunOf<'_> {
    /// The start of the sentence, and the reasons.
    pub(super) fn solve(&self, solve: &Solve, median_s: f64) -> (String, Vec<Reason>) {
        let whole = seconds(median_s);
        let sentence = match self.iteration_s() {
            Some(each_s) => {
                let (iterations, each) = (count(solve.iterations), seconds(each_s));
                format!("Takes {whole} per solve, {iterations} iterations of {each}")
            }
            None => format!("Takes {whole} per solve without iterating"),
        };
        let mut reasons: Vec<Reason> = self.bought(solve).into_iter().collect();
        if solve.converged && solve.ended != CONVERGED {
            reasons.push((1.0, solve.ended.clone()));
        }
        let setup = solve.setup_s / (solve.setup_s + median_s);
        let largest = solve.phases.iter().max_by(|a, b| a.seconds.total_cmp(&b.seconds));
        if let Some(phase) = largest.filter(|_| setup.is_finite()) {
            let (share, whole) = (percent(phase.seconds / solve.setup_s), seconds(solve.setup_s));
            let text = format!("its setup takes {whole} once, {share} of that for {}", phase.name);
            reasons.push((setup, text));
        }
        if let (Some(sizes), Some(matrix)) = (&solve.sizes, self.matrix()) {
            let entries = sizes.factor as f64 / matrix.statistics.nnz.max(1) as f64;
            let share = 2.0 * entries / (1.0 + 2.0 * entries);
            let text = format!(
                "the factor has {} times the nonzeros of A and is applied twice",
                significant(entries)
            );
            reasons.push((share, text));
        }
        (sentence, reasons)
    }

    /// The iterations that its preconditioner saves relative to a simpler one in the same bundle.
    fn bought(&self, solve: &Solve) -> Option<Reason> {
        let of = |run: &Run| SYSTEM.map(|name| run.params.get(name).cloned());
        let plainer = |precond: &str| {
            let is_it = |run: &&Run| {
                run.operation == self.run.operation
                    && run.params.get("precond").is_some_and(|word| word == precond)
                    && of(run) == of(self.run)
                    && run.ranks()
            };
            self.param("precond").filter(|own| *own != precond && *own != "none")?;
            let found = self.bundle.runs_on(&self.run.matrix).filter(is_it);
            let solve = found.filter_map(|run| run.solve.as_ref()).find(|solve| solve.converged)?;
            Some(solve.iterations as f64)
        };
        let known = [("jacobi", "Jacobi"), ("none", "no preconditioner")];
        let (others, words) =
            known.iter().find_map(|(precond, words)| Some((plainer(precond)?, words)))?;
        let times = others / solve.iterations.max(1) as f64;
        let text = format!("{words} takes {} times as many iterations", significant(times));
        Some((1.0 - 1.0 / times, text))
    }
}
