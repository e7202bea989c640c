//! Everything known about a run, as names and values in groups.

use sparsescope_core::dense::Flagged;
use sparsescope_core::record::{Costs, Rounding};

use crate::model::{
    RunOf, bytes, count, joules, origin_name, origin_source, seconds, significant, small,
};

/// Facts that belong together.
#[derive(Clone, Debug, PartialEq)]
pub struct Group {
    pub title: &'static str,
    pub facts: Vec<Fact>,
}

/// A name and a value.
#[derive(Clone, Debug, PartialEq)]
pub struct Fact {
    pub name: &'static str,
    pub value: String,
    /// An explanation.
    pub hint: String,
}

fn fact(name: &'static str, value: impl Into<String>) -> Fact {
    Fact { name, value: value.into(), hint: String::new() }
}

/// The facts about a run, without empty groups. The systems of its batch that are not positive
/// definite are given, because finding them takes long.
pub fn groups(run: &RunOf<'_>, flagged: Option<&Flagged>) -> Vec<Group> {
    let costs = &run.run.costs;
    let all = [
        ("Setting", setting(run)),
        ("Time", time(run)),
        ("Energy", energy(run)),
        ("Solve", solve(run)),
        ("Check", check(run, flagged)),
        ("Costs", times(costs)),
        ("Choice", choice(costs)),
        ("Prediction", predicted(costs)),
    ];
    let groups = all.into_iter().map(|(title, facts)| Group { title, facts });
    groups.filter(|group| !group.facts.is_empty()).collect()
}

fn setting(run: &RunOf<'_>) -> Vec<Fact> {
    let of = run.run;
    let mut facts = vec![
        fact("Setting", run.setting()),
        fact("Caches", if of.hot { "warm" } else { "flushed before each sample" }),
        fact("Precision", &of.precision),
        fact("Device", &of.device),
        fact("Bundle", run.bundle.label()),
    ];
    facts.extend(of.origin.iter().map(|word| Fact {
        hint: origin_source(word).unwrap_or_default().to_owned(),
        ..fact("Origin", origin_name(word))
    }));
    if let Some(source) = &of.source {
        let is_there = run.bundle.bundle.source_text(source).is_some();
        let words = if is_there { "in the bundle" } else { "not in the bundle" };
        let digits = source.short_sha256();
        facts.extend([
            fact("Source", format!("{}, SHA-256 {digits}…", source.file)),
            fact("Mapping", format!("{} over {}", source.mapping, source.family)),
            fact("Source text", words),
        ]);
    }
    facts.retain(|fact| !fact.value.is_empty());
    facts
}

fn time(run: &RunOf<'_>) -> Vec<Fact> {
    let Some(figures) = run.figures() else { return Vec::new() };
    let of = run.run;
    let mut facts = vec![
        fact("Median", format!("{} per {}", seconds(figures.median_s), run.word())),
        fact("Quartiles", format!("{} to {}", seconds(figures.q1_s), seconds(figures.q3_s))),
        fact("Samples", format!("{}, each of {}", of.samples.len(), of.repetitions)),
    ];
    let bandwidth = |gbs: f64| fact("Bandwidth", format!("at least {} GB/s", significant(gbs)));
    facts.extend(run.gbs().map(bandwidth));
    let share = |share: f64| fact("% of copy", format!("{share:.0} % of the copy bandwidth"));
    facts.extend(run.pct_copy().map(share));
    facts.extend(figures.speedup.map(|s| fact("Speed-up", format!("{}×", significant(s)))));
    facts
}

fn energy(run: &RunOf<'_>) -> Vec<Fact> {
    let Some(energy) = &run.run.energy else {
        let reason = run.run.no_energy.iter();
        return reason.map(|reason| fact("Energy", format!("not measured: {reason}"))).collect();
    };
    let [least, most] = energy.extremes().map(joules);
    let restores = if energy.restores { ", with restoring its input" } else { "" };
    let mut facts = vec![
        fact("Energy", format!("{} per {}{restores}", joules(energy.joules), run.word())),
        fact("Windows", format!("{}, from {least} to {most}", energy.windows.len())),
        fact("Power", format!("{} W", significant(energy.watts))),
        fact(
            "Idle power",
            format!("{} W, before the first kernel", significant(energy.idle_watts)),
        ),
        fact("Read", format!("{}, for {}", energy.method, seconds(energy.seconds))),
    ];
    let rate = |rate: f64| fact("Efficiency", format!("{} GFLOPS/W", significant(rate)));
    facts.extend(run.run.gflops_per_watt().map(rate));
    facts
}

fn check(run: &RunOf<'_>, flagged: Option<&Flagged>) -> Vec<Fact> {
    let check = &run.run.check;
    let mut facts = vec![fact("Check", run.verdict())];
    facts.extend(run.run.reason().map(|reason| fact("Reason", reason)));
    let worst = |worst: f64| {
        let row = check.row.map(|row| format!(" (row {row})")).unwrap_or_default();
        let name = if run.matrix().is_some() { "Worst row" } else { "Worst system" };
        fact(name, format!("{} of its bound{row}", significant(worst)))
    };
    facts.extend(check.worst.map(worst));
    facts.extend(check.rel_err.map(|error| fact("Relative error", small(error))));
    facts.extend(check.rounding.map(|Rounding { max, norm, bound }| Fact {
        hint: "Largest difference from the result in f64, from the values before they were rounded, \
               over its largest element, and the most that rounding allows; norm of the difference \
               over the norm of the result in f64"
            .into(),
        ..fact(
            "Error against f64",
            format!("max {} of at most {}, norm {}", small(max), small(bound), small(norm)),
        )
    }));
    facts.extend(check.s_paper.map(|s| Fact {
        hint: "Sum of the differences of at least 1e-10 from the reference, divided by the number of \
               rows: s of the CSR/HLL report by Martorelli and Cortese"
            .into(),
        ..fact("s (CSR/HLL report)", small(s))
    }));
    facts.extend(flagged.map(|flagged| fact("Not positive definite", words_of(flagged))));
    facts
}

/// The systems that are not positive definite, as text.
fn words_of(flagged: &Flagged) -> String {
    const MOST: usize = 8;
    let (some, all) = (flagged.flagged, flagged.systems);
    let numbers: Vec<String> = flagged.numbers.iter().take(MOST).map(u64::to_string).collect();
    let more = if some > MOST as u64 { ", ..." } else { "" };
    match some {
        0 => format!("none of {all} systems"),
        _ => format!("{some} of {all} systems: {}{more} (0-based)", numbers.join(", ")),
    }
}

fn solve(run: &RunOf<'_>) -> Vec<Fact> {
    let Some(solve) = run.solved() else { return Vec::new() };
    let mut facts =
        vec![fact("Outcome", &solve.ended), fact("Iterations", solve.iterations.to_string())];
    // A kernel library's solve has only the residual that is computed from its x.
    let residuals = [
        ("Residual", solve.residual, "by the recurrence"),
        ("True residual", solve.true_residual, "computed from x"),
    ];
    facts.extend(residuals.into_iter().filter_map(|(name, residual, how)| {
        Some(fact(name, format!("{}, {how}", small(residual?))))
    }));
    facts.push(fact("Setup", seconds(solve.setup_s)));
    let phases =
        solve.phases.iter().map(|phase| format!("{} {}", phase.name, seconds(phase.seconds)));
    let phases: Vec<String> = phases.collect();
    facts.extend((!phases.is_empty()).then(|| fact("Phases", phases.join(", "))));
    facts.extend(solve.sizes.map(|sizes| {
        let [entries, systems, largest] = [sizes.factor, sizes.systems, sizes.largest].map(count);
        let words = format!("{entries} nonzeros, {systems} dense systems of up to {largest} rows");
        fact("Factor", words)
    }));
    facts.extend(run.density().map(|density| fact("nnz(G) / nnz(A)", significant(density))));
    facts.extend(solve.spectrum.map(|spectrum| {
        let kappa = significant(spectrum.condition);
        fact("Condition", format!("κ ≥ {kappa}, from {} iterations", spectrum.steps))
    }));
    facts
}

/// The kernel it runs in its place, why, and the cost of finding it.
fn choice(costs: &Costs) -> Vec<Fact> {
    let Some(choice) = &costs.choice else { return Vec::new() };
    let mut facts = vec![fact("Chosen kernel", choice.words()), fact("Because", &choice.why)];
    let parts = choice.times().map(|(name, s)| {
        let name = match name {
            "statistics_s" => "statistics",
            "conversion_s" => "conversions",
            "plan_s" => "plans",
            _ => "trial",
        };
        format!("{name} {}", seconds(s))
    });
    facts.push(fact("Choosing", format!("{}: {}", seconds(choice.seconds()), parts.join(", "))));
    let products = costs.break_even.map(|products| count(products.max(0.0) as u64));
    facts.extend(products.map(|products| fact("Pays off", format!("after {products} SpMVs"))));
    for tried in &choice.tried {
        let told = match (tried.least_s, &tried.left_out) {
            (Some(least), _) => {
                let expected = tried.expected_s.map(|s| format!(", expected {}", seconds(s)));
                let expected = expected.unwrap_or_default();
                format!("{}: {}{expected}", tried.words(), seconds(least))
            }
            (None, Some(why)) => format!("{}: not tried, {why}", tried.words()),
            (None, None) => continue,
        };
        facts.push(fact("Tried", told));
    }
    facts
}

fn times(costs: &Costs) -> Vec<Fact> {
    let known = [
        ("Conversion", Some(costs.conversion_s).filter(|s| *s > 0.0)),
        ("Plan", Some(costs.plan_s).filter(|s| *s > 0.0)),
        ("Upload", costs.upload_s),
        ("Allocation", costs.allocate_s),
        ("Download", costs.download_s),
        ("Empty kernel launch", costs.launch_s),
        ("Launched as a graph", costs.graph_s),
    ];
    let known = known.into_iter();
    let mut facts: Vec<Fact> =
        known.filter_map(|(name, s)| Some(fact(name, seconds(s?)))).collect();
    facts.extend((costs.format_bytes > 0).then(|| fact("Format", bytes(costs.format_bytes))));
    facts
}

fn predicted(costs: &Costs) -> Vec<Fact> {
    let mut facts = Vec::new();
    if let Some(predicted) = &costs.predicted {
        let percent = |share: f64| format!("{:.0} %", share * 100.0);
        let known = [
            ("Sectors loaded", predicted.load_sectors.map(count)),
            ("Useful", predicted.efficiency().map(percent)),
            ("Idle lanes", predicted.idle_share.map(percent)),
            ("In cache lines", predicted.line_bytes.map(bytes)),
        ];
        facts.extend(known.into_iter().filter_map(|(name, value)| Some(fact(name, value?))));
    }
    facts.extend(costs.launches.iter().map(|launch| {
        let words = format!(
            "{}: {} registers, {} of shared memory, occupancy {:.0} %",
            launch.function,
            launch.registers,
            bytes(launch.shared_bytes),
            launch.occupancy * 100.0
        );
        fact("Launch", words)
    }));
    facts
}

#[cfg(test)]
mod tests {
    use sparsescope_core::record::{Energy, Work};

    use super::*;
    use crate::model::solved;
    use crate::why::tests;

    fn value<'a>(groups: &'a [Group], name: &str) -> Option<&'a str> {
        let mut facts = groups.iter().flat_map(|group| &group.facts);
        facts.find(|fact| fact.name == name).map(|fact| fact.value.as_str())
    }

    #[test]
    fn facts_stand_in_groups_and_origins_are_named() {
        let (mut run, statistics, environment) = tests::run("cuda/csr/thread-per-row");
        run.origin = vec!["paper:000".into(), "someone".into()];
        run.check.s_paper = Some(0.0);
        let model = tests::model(vec![run], statistics, environment);
        let groups = groups(&model.run(0).unwrap(), None);
        let titles: Vec<&str> = groups.iter().map(|group| group.title).collect();
        assert_eq!(titles, ["Setting", "Time", "Check", "Costs"]);
        assert_eq!(value(&groups, "Median"), Some("1 ms per SpMV"));
        assert_eq!(value(&groups, "% of copy"), Some("25 % of the copy bandwidth"));
        assert_eq!(value(&groups, "Format"), Some("12 MB"));
        assert_eq!(value(&groups, "s (CSR/HLL report)"), Some("0"));
        let origins = groups[0].facts.iter().filter(|fact| fact.name == "Origin");
        let origins: Vec<_> =
            origins.map(|fact| (fact.value.as_str(), fact.hint.is_empty())).collect();
        let expected = [("CSR/HLL report (Martorelli, Cortese)", false), ("someone", true)];
        assert_eq!(origins, expected);
    }

    #[test]
    fn an_energy_tells_its_spread_and_the_idle_power_and_a_missing_one_why() {
        let (mut run, statistics, environment) = tests::run("cuda/csr/thread-per-row");
        let refused = "this GPU reports neither its energy nor its power";
        run.no_energy = Some(refused.into());
        let model = tests::model(vec![run.clone()], statistics.clone(), environment.clone());
        let words = format!("not measured: {refused}");
        assert_eq!(value(&groups(&model.run(0).unwrap(), None), "Energy"), Some(words.as_str()));
        run.no_energy = None;
        run.energy = Some(Energy {
            joules: 0.5,
            windows: vec![0.4, 0.6],
            method: "counter".into(),
            watts: 500.0,
            idle_watts: 70.0,
            seconds: 5.6,
            restores: false,
        });
        run.work = Some(Work { flops: 1_600_000, ..Work::default() });
        let model = tests::model(vec![run], statistics, environment);
        let groups = groups(&model.run(0).unwrap(), None);
        assert_eq!(value(&groups, "Energy"), Some("500 mJ per SpMV"));
        assert_eq!(value(&groups, "Windows"), Some("2, from 400 mJ to 600 mJ"));
        assert_eq!(value(&groups, "Idle power"), Some("70 W, before the first kernel"));
        // 1.6 million operations for half a joule.
        assert_eq!(value(&groups, "Efficiency"), Some("0.00320 GFLOPS/W"));
    }

    #[test]
    fn a_solve_tells_both_residuals_and_the_phases_of_its_setup() {
        let phases = [("pattern", 1.0), ("values", 80.0)];
        let mut run = solved::run(solved::SERIAL, &[], 40, &phases);
        let model = solved::model(vec![run.clone()]);
        let groups = groups(&model.run(0).unwrap(), None);
        assert_eq!(value(&groups, "Residual"), Some("1.0e-10, by the recurrence"));
        assert_eq!(value(&groups, "True residual"), Some("2.0e-10, computed from x"));
        assert_eq!(value(&groups, "Phases"), Some("pattern 1 ms, values 80 ms"));
        assert_eq!(value(&groups, "Condition"), Some("κ ≥ 4, from 40 iterations"));
        // A kernel library reports none by the recurrence.
        run.solve.as_mut().unwrap().residual = None;
        let model = solved::model(vec![run]);
        let groups = super::groups(&model.run(0).unwrap(), None);
        assert_eq!(value(&groups, "Residual"), None);
        assert_eq!(value(&groups, "True residual"), Some("2.0e-10, computed from x"));
    }
}
