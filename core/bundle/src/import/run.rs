//! What all imported runs share: whether their times are valid, and the figures from these.

use sparsescope_record::{Figures, Operation, Run, Verdict, Work};

/// Largest recorded relative error for which a time is imported: several thousand roundings.
const TOLERANCE: [(&str, f64); 2] = [("f64", 1e-12), ("f32", 1e-5)];

/// Whether a run is valid, or how its check ended and why.
pub(super) type Judgement = Result<(), (Verdict, String)>;

/// Not run, for a reason in one sentence.
pub(super) fn not_run(reason: impl Into<String>) -> Judgement {
    Err((Verdict::Unsupported, reason.into()))
}

/// Whether a relative error that `by` recorded is small enough.
pub(super) fn tolerated(by: &str, error: f64, precision: &str) -> Judgement {
    let most = TOLERANCE.iter().find(|(name, _)| *name == precision).map_or(0.0, |(_, most)| *most);
    if error > most {
        let reason = format!("{by} recorded a relative error of {error:e}, more than {most:e}");
        return Err((Verdict::Fail, reason));
    }
    Ok(())
}

/// Sets the verdict of a run and what follows from its samples on a matrix of `nnz` nonzeros, 0 if
/// unknown. It keeps no samples unless it passed.
pub(super) fn judged(mut run: Run, nnz: u64, judgement: Judgement) -> Run {
    let figures = Figures::from_samples(&run.samples, 2.0 * nnz as f64, run.costs.minimal_bytes);
    let judgement = judgement.and_then(|()| match figures {
        Some(_) => Ok(()),
        None => not_run("the file has no positive time for it"),
    });
    (run.figures, run.work, run.metric) = (None, None, None);
    match judgement {
        Ok(()) => {
            run.check.verdict = Verdict::Pass;
            if nnz > 0 {
                let work = Work { flops: nnz.saturating_mul(2), ..Work::default() };
                let rate = |of: &Figures| Operation::Spmv.metric(&work, of.median_s);
                (run.metric, run.work) = (figures.as_ref().map(rate), Some(work));
            }
            run.figures = figures;
        }
        Err((verdict, reason)) => {
            (run.check.verdict, run.check.reason) = (verdict, Some(reason));
            run.samples.clear();
        }
    }
    run
}

/// A name as part of a kernel id.
pub(super) fn word(name: &str) -> String {
    let safe = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '_' };
    name.chars().take(48).map(safe).collect()
}
