//! Describes what a kernel that runs another has chosen.

use sparsescope_core::record::Choice;

use super::table::seconds;

/// The chosen kernel, why, and the cost of the choice.
pub(super) fn sentence(kernel: &str, choice: &Choice) -> String {
    let Choice { why, statistics_s, conversion_s, plan_s, trial_s, .. } = choice;
    let [all, statistics, conversions, trial] =
        [choice.seconds(), *statistics_s, *conversion_s, plan_s + trial_s].map(seconds);
    format!(
        "{kernel} runs {}: {why}; setup took {all} (statistics {statistics}, conversions {conversions}, \
         trial {trial})",
        choice.words()
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sentence_names_the_kernel_the_reason_and_the_cost() {
        let choice = Choice {
            kernel: "cpu/hll/simd".into(),
            params: [("hack_size".into(), "8".into())].into(),
            why: "2.00 times as fast as cpu/csr/serial in the trial".into(),
            statistics_s: 1e-3,
            conversion_s: 5e-3,
            plan_s: 1e-3,
            trial_s: 2e-3,
            tried: Vec::new(),
        };
        assert_eq!(
            sentence("cpu/spmv/auto", &choice),
            "cpu/spmv/auto runs cpu/hll/simd, hack_size=8: 2.00 times as fast as cpu/csr/serial in the trial; \
             setup took 9.00 ms (statistics 1.00 ms, conversions 5.00 ms, trial 3.00 ms)"
        );
    }
}
