//! How the checks of a bundle ended: wrong results and kernels that failed, the counts, and the reasons.

use sparsescope_core::bundle::Bundle;
use sparsescope_core::record::{Run, Verdict};

use super::reasons::grouped;
use crate::cli::table::{capitalised, count, counted, wrapped};

/// What is wrong, in capitals: results, and kernels without one.
pub(super) const WRONG: [&str; 2] = ["WRONG RESULT", "KERNEL FAILED"];

/// How many reasons of skipped runs are shown.
const MOST_REASONS: usize = 3;

fn is_wrong(run: &Run) -> bool {
    run.has_failed() && run.failure().is_none()
}

/// Wrong results, kernels that failed, the counts, and the reasons of runs that do not rank. Without `all`, only the
/// most frequent reasons of skipped runs.
pub(super) fn ended(bundle: &Bundle, all: bool, room: Option<usize>) -> String {
    let subjects = if bundle.subjects.is_empty() { "matrices" } else { "subjects" };
    let mut text = String::new();
    type Wanted = fn(&Run) -> bool;
    let no_result: Wanted = |run| run.failure().is_some();
    let worst: [Wanted; 2] = [is_wrong, no_result];
    for (words, wanted) in WRONG.into_iter().zip(worst) {
        for group in grouped(bundle, wanted) {
            let start = format!("{words}: {} x ", group.runs);
            text += &wrapped(&start, &group.words(subjects), "  ", room);
        }
    }
    let passed = bundle.runs.iter().filter(|run| run.check.verdict == Verdict::Pass).count();
    let mut counts = format!(
        "{} on {}: {passed} passed the check",
        counted(bundle.runs.len(), "run", "runs"),
        match bundle.subjects.len() {
            0 => counted(bundle.matrices.len(), "matrix", "matrices"),
            _ => counted(bundle.all_subjects().count(), "subject", "subjects"),
        },
    );
    let mut reasons = String::new();
    let kinds: [(&str, Wanted); 6] = [
        ("wrong", is_wrong),
        ("failed", no_result),
        ("not converged", |run| run.check.verdict == Verdict::Fail && !run.has_failed()),
        ("limited by rounding, not ranked", |run| run.check.limited_by_rounding),
        ("undecided", |run| run.check.undecided),
        ("skipped", |run| !run.check.was_run()),
    ];
    for (words, wanted) in kinds {
        let groups = grouped(bundle, wanted);
        let runs: usize = groups.iter().map(|group| group.runs).sum();
        if runs == 0 {
            continue;
        }
        counts += &match words.starts_with("limited") {
            true => format!(" ({runs} {words})"),
            false => format!(", {} {words}", count(runs as u64)),
        };
        if ["wrong", "failed"].contains(&words) {
            continue; // Shown above.
        }
        reasons += &format!("{}:\n", capitalised(words));
        let shown = if all || words != "skipped" { groups.len() } else { MOST_REASONS };
        for group in groups.iter().take(shown) {
            let start = format!("  {} x ", group.runs);
            reasons += &wrapped(&start, &group.words(subjects), "    ", room);
        }
        let hidden = groups.get(shown..).unwrap_or_default();
        if !hidden.is_empty() {
            let runs: usize = hidden.iter().map(|group| group.runs).sum();
            let others = counted(hidden.len(), "other reason", "other reasons");
            reasons += &format!("  {runs} more for {others} (--all lists them)\n");
        }
    }
    text += &wrapped("", &format!("{counts}."), "", room);
    text + &reasons
}

#[cfg(test)]
mod tests {
    use sparsescope_core::record::{Check, Producer};

    use super::*;

    #[test]
    fn wrong_results_come_first_and_all_of_them_and_a_few_reasons_of_skipped_runs() {
        let producer = Producer { name: "test".into(), version: String::new(), revision: None };
        let mut bundle = Bundle::new(producer, String::new());
        let mut add = |kernel: &str, verdict, reason: &str| {
            let check = Check { verdict, reason: Some(reason.into()), ..Check::default() };
            bundle.runs.push(Run { kernel: kernel.into(), check, ..Run::default() });
        };
        for kernel in ["a", "b", "c", "d", "e"] {
            add(kernel, Verdict::Fail, &format!("row 4 is off in {kernel}"));
            add(kernel, Verdict::Refused, &format!("there is no {kernel}"));
        }
        add("a", Verdict::Refused, "there is no a");
        let text = ended(&bundle, false, None);
        let wrong: Vec<&str> =
            text.lines().take_while(|line| line.starts_with("WRONG RESULT: 1 x ")).collect();
        assert_eq!(wrong.len(), 5, "{text}");
        assert!(wrong[0].contains("a on : row 4 is off in a"), "{text}");
        let counts = "11 runs on 0 matrices: 0 passed the check, 5 wrong, 6 skipped.\nSkipped:\n";
        assert!(text.contains(counts), "{text}");
        assert!(text.contains("  2 x a on : there is no a\n"), "{text}");
        assert!(text.ends_with("  2 more for 2 other reasons (--all lists them)\n"), "{text}");
        assert_eq!(ended(&bundle, true, None).lines().count(), 5 + 2 + 5);
    }

    #[test]
    fn a_kernel_that_failed_is_no_wrong_result_and_is_named_once() {
        let producer = Producer { name: "test".into(), version: String::new(), revision: None };
        let mut bundle = Bundle::new(producer, String::new());
        for (kernel, reason) in [("a", "a failed: it crashed"), ("b", "row 4 is wrong")] {
            let reason = Some(reason.to_owned());
            let check = Check { verdict: Verdict::Fail, reason, ..Check::default() };
            bundle.runs.push(Run { kernel: kernel.into(), check, ..Run::default() });
        }
        let expected = "WRONG RESULT: 1 x b on : row 4 is wrong\n\
                        KERNEL FAILED: 1 x a on : it crashed\n\
                        2 runs on 0 matrices: 0 passed the check, 1 wrong, 1 failed.\n";
        assert_eq!(ended(&bundle, false, None), expected);
    }
}
