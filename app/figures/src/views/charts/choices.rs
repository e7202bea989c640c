//! What kernels that choose another kernel predicted before any trial, and what the trial measured.

use std::collections::BTreeSet;

use super::plot::{Data, Guide, Plot, Point, Scale};
use crate::model::seconds;

/// A kernel is as good as the fastest if it takes at most this factor longer.
const AS_GOOD: f64 = 1.1;

/// Microseconds per second.
const MICRO: f64 = 1e6;

pub(super) fn expected<'a>(data: &Data<'a>) -> Plot<'a> {
    let axis = |what: &str| Scale::new(format!("microseconds {what}"), data.state.log).lower();
    let mut plot =
        Plot::plane(axis("expected from the matrix alone"), axis("measured in the trial"));
    let (mut known, mut ends) = (BTreeSet::new(), [f64::INFINITY, 0.0_f64]);
    let (mut all, mut good) = (0, 0);
    for run in &data.runs {
        let Some(choice) = &run.run.costs.choice else { continue };
        // Runs that differ only in settings irrelevant to the trial are represented by one.
        let of = run.run;
        if !known.insert((run.bundle.series, run.key(), &of.device, &of.precision, choice.words()))
        {
            continue;
        }
        let measured = || choice.tried.iter().filter_map(|tried| Some((tried, tried.least_s?)));
        let least = measured().map(|(_, least)| least).fold(f64::INFINITY, f64::min);
        let Some((named, _)) = choice.named() else { continue };
        all += 1;
        good += usize::from(named.least_s.is_some_and(|s| s <= AS_GOOD * least));
        for (tried, s) in measured() {
            let Some(expected) = tried.expected_s else { continue };
            let [x, y] = [expected, s].map(|s| s * MICRO);
            ends = [ends[0].min(x).min(y), ends[1].max(x).max(y)];
            let mut point = Point::of(run, x, y);
            let is_named = if tried == named { " Expected to be the fastest." } else { "" };
            let [expected, measured] = [expected, s].map(seconds);
            point.text =
                format!("{}: expected {expected}, measured {measured}.{is_named}", tried.words());
            plot.add(0, &tried.kernel, Some(run.bundle), point);
        }
    }
    if ends[1] > 0.0 {
        plot.guides.push(Guide { ends: ends.map(|end| [end, end]), name: "as expected".into() });
        plot.note = format!(
            "The expected kernel was the fastest tried, or within 10 % of it, in {good} of {all} choices."
        );
    }
    plot
}

#[cfg(test)]
mod tests {
    use sparsescope_core::record::{Choice, Tried};

    use super::super::tests::{bundle, drawn, model_of, state};
    use super::*;

    #[test]
    fn what_was_tried_is_drawn_and_the_kernels_named_are_counted() {
        let tried = |kernel: &str, expected_s, least_s| Tried {
            kernel: kernel.into(),
            expected_s,
            least_s,
            ..Tried::default()
        };
        let mut one = bundle("a", 1.0);
        one.runs[0].costs.choice = Some(Choice {
            kernel: "cuda/hll/sigma".into(),
            tried: vec![
                tried("cuda/hll/sigma", Some(4e-6), Some(5e-6)),
                tried("cuda/csr/adaptive", Some(3e-6), Some(5.4e-6)),
                tried("cuda/bsr/warp", Some(9e-6), None),
                tried("cuda/hll/compact", None, Some(7e-6)),
            ],
            ..Choice::default()
        });
        let model = model_of(one);
        let state = state("expected");
        let close = |found: &[(String, String, f64)], expected: [(&str, f64, f64); 2]| {
            found.len() == 2
                && found.iter().zip(expected).all(|((kernel, x, y), (of, expected, least))| {
                    let x: f64 = x.parse().unwrap();
                    kernel == of && (x - expected).abs() < 1e-9 && (y - least).abs() < 1e-9
                })
        };
        let found = drawn(&model, &state);
        let expected = [("cuda/csr/adaptive", 3.0, 5.4), ("cuda/hll/sigma", 4.0, 5.0)];
        assert!(close(&found, expected), "{found:?}");
        let plot = super::expected(&Data::of(&model, &state));
        assert!(plot.note.ends_with("in 1 of 1 choices."), "{}", plot.note);
    }
}
