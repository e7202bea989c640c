//! Describes what a kernel that runs another has chosen.

use sparsescope_core::record::Choice;

use super::table::seconds;

/// The chosen kernel, why, and the cost of the choice.
pub(super) fn sentence(kernel: &str, choice: &Choice) -> String {
    let named = choice.named().map_or_else(String::new, |(named, expected)| {
        format!(" Expected before the trial: {} in {}.", named.words(), seconds(expected))
    });
    let Choice { why, statistics_s, conversion_s, plan_s, trial_s, .. } = choice;
    let [all, statistics, conversions, trial] =
        [choice.seconds(), *statistics_s, *conversion_s, plan_s + trial_s].map(seconds);
    format!(
        "{kernel} runs {}: {why}. Choosing took {all}: statistics {statistics}, conversions \
         {conversions}, setup and trial {trial}.{named}",
        choice.words()
    )
}

#[cfg(test)]
mod tests {
    use sparsescope_core::record::Tried;

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
        let tried = |kernel: &str, expected_s| Tried {
            kernel: kernel.into(),
            expected_s: Some(expected_s),
            ..Tried::default()
        };
        let tried = vec![tried("cpu/csr/simd", 3e-5), tried("cpu/dia/rows", 2e-5)];
        let expected = Choice { tried, ..choice.clone() };
        let told = sentence("cuda/spmv/auto", &expected);
        assert!(
            told.ends_with(" ms. Expected before the trial: cpu/dia/rows in 20.0 us."),
            "{told}"
        );
        assert_eq!(
            sentence("cpu/spmv/auto", &choice),
            "cpu/spmv/auto runs cpu/hll/simd, hack_size=8: 2.00 times as fast as cpu/csr/serial in the trial. \
             Choosing took 9.00 ms: statistics 1.00 ms, conversions 5.00 ms, setup and trial 3.00 ms."
        );
    }
}
