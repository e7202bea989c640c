//! Explains the time of a skyline: the number of comparisons, the cost of one, and the overhead of
//! a GPU.

use sparsescope_core::kernel::{Mapping, Version, kernel};

use super::{Reason, WORTHWHILE, percent};
use crate::model::{RunOf, bytes, count, extent, seconds, significant};

impl RunOf<'_> {
    /// The start of the sentence, and the reasons.
    pub(super) fn skyline(&self, median_s: f64, launch: f64) -> (String, Vec<Reason>) {
        let run = self.run;
        let made = run.work.map_or(0, |work| work.comparisons);
        if made == 0 {
            return (format!("Takes {} per skyline", seconds(median_s)), self.around());
        }
        let mut sentence = format!("Makes {} comparisons", count(made));
        let share = extent(self.subject)
            .filter(|[points, _]| *points > 1)
            .map(|[points, _]| made as f64 / (points as f64 * (points - 1) as f64));
        if let Some(share) = share {
            sentence += &format!(", {} % of N·(N − 1)", significant(share * 100.0));
        }
        let made = made as f64;
        let mut reasons = self.around();
        if run.is_on_cpu() {
            let each_s = median_s * f64::from(run.threads) / made;
            sentence += &format!(", {} of thread time each", seconds(each_s));
            let speedup = run.figures.as_ref().and_then(|figures| figures.speedup);
            if let Some(speedup) = speedup.filter(|_| run.threads > 1) {
                let (threads, times) = (run.threads, significant(speedup));
                let text = format!("{threads} threads are {times} times as fast as the reference");
                reasons.push((0.5, text));
            }
        } else {
            sentence += &format!(", {} per second", count((made / median_s) as u64));
            reasons.push((launch, format!("launch latency is {} of its time", percent(launch))));
            reasons.extend(self.on_multiprocessors());
        }
        reasons.extend(share.and_then(|share| self.spared(share)));
        (sentence, reasons)
    }

    /// Why the kernel made fewer than all comparisons.
    fn spared(&self, share: f64) -> Option<Reason> {
        let text = match kernel(&self.run.kernel)?.mapping {
            Mapping::Serial | Mapping::OwnPoints => {
                "a point is skipped as soon as another dominates it"
            }
            Mapping::Marks => "points marked by any thread are skipped",
            Mapping::Sorted => "points are compared with the best points first",
            _ => return None,
        };
        Some((0.8 * (1.0 - share), text.to_owned()))
    }

    /// How well a kernel with a single launch uses the multiprocessors.
    fn on_multiprocessors(&self) -> Vec<Reason> {
        let run = self.run;
        let mut reasons = Vec::new();
        let [launch] = &run.costs.launches[..] else { return reasons };
        if launch.local_bytes > 0 {
            let size = bytes(launch.local_bytes);
            let version = kernel(&run.kernel).and_then(|kernel| kernel.version);
            let text = match matches!(version, Some(Version::Way { is_local: true, .. })) {
                true => format!(
                    "each thread keeps its own point in {size} of local memory, which adds traffic"
                ),
                false => format!("each thread uses {size} of local memory"),
            };
            reasons.push((0.85, text));
        }
        let block = run.block.map_or_else(String::new, |block| format!(" of {block}"));
        let share = percent(launch.occupancy);
        let text = format!("its blocks{block} fill {share} of a multiprocessor's threads");
        reasons.push((1.0 - launch.occupancy, text));
        let processors = self.gpu().and_then(|gpu| gpu.details.get("multiprocessors"));
        let processors = processors.and_then(|count| count.parse::<f64>().ok());
        if let Some((processors, [points, _])) = processors.zip(extent(self.subject)) {
            let text =
                format!("{} threads cannot fill {processors} multiprocessors", count(points));
            reasons.push((1.0 - points as f64 / (processors * WORTHWHILE), text));
        }
        reasons
    }

    /// The share of transferring the points to a GPU and the result back.
    fn around(&self) -> Vec<Reason> {
        let Some(total) = self.total().filter(|_| !self.run.is_on_cpu()) else {
            return Vec::new();
        };
        let (share, whole) = (total.around_s() / total.whole_s(), seconds(total.whole_s()));
        let text = format!("transfers and allocation take {} of {whole} in total", percent(share));
        vec![(share, text)]
    }
}

#[cfg(test)]
mod tests {
    use sparsescope_core::record::{LaunchCost, Run};

    use crate::model::skylines::{add_set, bundle, model, on_gpu, run};
    use crate::state::Filter;

    /// The sentence for a run on 100 001 points in ten dimensions.
    fn why(kernel: &str, setting: (u32, Option<u32>), change: impl Fn(Run) -> Run) -> String {
        let mut bundle = bundle();
        let set = add_set(&mut bundle, "test", "rbox 100001 d D10", [100_001, 10]);
        bundle.runs.push(change(run(&set, kernel, setting, 2.0, 2_500_025_000)));
        let filter = Filter { operation: "skyline".into(), ..Filter::default() };
        model(&bundle).runs(&filter)[0].why()
    }

    fn launched(run: Run, occupancy: f64, local_bytes: u64) -> Run {
        let launch = LaunchCost { occupancy, local_bytes, ..LaunchCost::default() };
        let mut run = on_gpu(run, 1.5, 0.5);
        run.costs.launches = vec![launch];
        run
    }

    #[test]
    fn a_processors_skyline_tells_what_a_comparison_takes_and_why_they_are_few() {
        assert_eq!(
            why("cpu/skyline/serial", (1, None), |run| run),
            "Makes 2.50 G comparisons, 25 % of N·(N − 1), 0.800 ns of thread time each: a point is skipped as soon as another dominates it."
        );
        let faster = |mut run: Run| {
            run.figures.as_mut().unwrap().set_serial(12.0, Some(4));
            run
        };
        assert_eq!(
            why("cpu/skyline/shared-marks", (4, None), faster),
            "Makes 2.50 G comparisons, 25 % of N·(N − 1), 3.20 ns of thread time each: points marked by any thread are skipped and 4 threads are 6 times as fast as the reference."
        );
    }

    #[test]
    fn a_gpus_skyline_tells_local_memory_occupancy_and_transfers_and_only_what_is_recorded() {
        let plain = why("cuda/skyline/coalesced", (1, Some(32)), |run| run);
        assert_eq!(
            plain,
            "Makes 2.50 G comparisons, 25 % of N·(N − 1), 1.25 G per second: a point is skipped as soon as another dominates it."
        );
        let local =
            why("cuda/skyline/coalesced-local", (1, Some(32)), |run| launched(run, 0.25, 128));
        assert_eq!(
            local,
            "Makes 2.50 G comparisons, 25 % of N·(N − 1), 1.25 G per second: each thread keeps its own point in 128 B of local memory, which adds traffic, its blocks of 32 fill 25 % of a multiprocessor's threads and a point is skipped as soon as another dominates it."
        );
        let full = why("cuda/skyline/coalesced", (1, Some(64)), |run| launched(run, 1.0, 0));
        assert!(full.ends_with("a point is skipped as soon as another dominates it and transfers and allocation take 50 % of 4 s in total."), "{full}");
    }
}
