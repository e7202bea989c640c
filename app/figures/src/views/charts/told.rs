//! Values that runs recorded step by step, and the time of a step.

use sparsescope_core::record::{History, Run, Series};

use crate::model::RunOf;

/// The recorded series of a run with this name and step.
pub(super) fn told<'a>(run: &'a Run, step: &str, name: &str) -> Option<&'a Series> {
    let History { step: usual, series } = run.history.as_ref()?;
    let is_asked = |of: &&Series| of.name == name && of.step.as_ref().unwrap_or(usual) == step;
    series.iter().find(is_asked)
}

/// Median seconds of one symmetric sweep; an execution may be several.
pub(super) fn time(run: &RunOf<'_>) -> Option<f64> {
    let median_s = run.run.figures.as_ref()?.median_s;
    let sweeps = run.run.work.map_or(1, |work| work.iterations.max(1));
    Some(median_s / sweeps as f64)
}

/// Each value with its index; long series are thinned to the minimum and maximum of intervals, at
/// most `most` values.
pub(super) fn thinned(values: &[f64], most: usize) -> Vec<(usize, f64)> {
    let each = values.len().div_ceil(most / 2).max(1);
    if values.len() <= most {
        return values.iter().copied().enumerate().collect();
    }
    let mut found = Vec::new();
    for (chunk, of) in values.chunks(each).enumerate() {
        let place = |(k, value): (usize, &f64)| (chunk * each + k, *value);
        let by = |a: &(usize, f64), b: &(usize, f64)| a.1.total_cmp(&b.1);
        let (least, most) = (
            of.iter().enumerate().map(place).min_by(by),
            of.iter().enumerate().map(place).max_by(by),
        );
        let (Some(least), Some(most)) = (least, most) else { continue };
        found.push(if least.0 <= most.0 { least } else { most });
        if least.0 != most.0 {
            found.push(if least.0 <= most.0 { most } else { least });
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thinned_values_keep_their_places_and_every_peak_and_dip() {
        let values: Vec<f64> = (0..5000).map(|k| f64::from((k * 37) % 1001)).collect();
        let thin = thinned(&values, 400);
        assert!(thin.len() <= 402 && thin.is_sorted_by(|a, b| a.0 < b.0), "{}", thin.len());
        assert!(thin.iter().all(|(place, value)| values[*place] == *value));
        let extreme = |of: &mut dyn Iterator<Item = f64>| {
            of.fold((f64::MAX, 0.0_f64), |(l, m), v| (l.min(v), m.max(v)))
        };
        assert_eq!(extreme(&mut thin.iter().map(|at| at.1)), extreme(&mut values.iter().copied()));
        assert_eq!(thinned(&values[..3], 400).len(), 3);
    }
}
