//! Which series of a chart are drawn in colour, and the order of its legend: with many series, only
//! those that matter have a colour, and the others are thin and grey.

use std::collections::{BTreeMap, HashSet};

use sparsescope_core::kernel::KernelName;

use super::looks::format_of;
use super::plot::{Form, Plot, Series};

/// Up to this many series are drawn in colour.
const MOST: usize = 6;
/// With fewer winners, the next best have colours, too.
const LEAST: usize = 3;

/// The series of a plot.
pub(super) struct Bold<'p> {
    /// Their names, best first.
    pub(super) order: Vec<&'p str>,
    /// Those in colour.
    pub(super) names: HashSet<&'p str>,
}

impl<'p> Bold<'p> {
    /// Chooses among the series of a plot; `run` is the number of the selected run.
    pub(super) fn of(plot: &'p Plot<'_>, run: Option<usize>) -> Self {
        // The parts of a bar are in order already, and all have a colour.
        if plot.ordered || matches!(plot.form, Form::Bars | Form::Cells | Form::Strokes) {
            let order = plot.names();
            return Self { names: order.iter().copied().collect(), order };
        }
        let order = best_first(plot);
        let isolated = !plot.hidden.is_empty();
        // One of several lines that coincide is enough.
        let lines: Vec<&str> = match plot.form {
            Form::Lines | Form::Steps => {
                coinciding(plot, &order).into_iter().filter_map(|of| of.first().copied()).collect()
            }
            _ => order.clone(),
        };
        let names = match lines.len() {
            _ if isolated => plot.series.keys().map(|(_, name, _)| name.as_str()).collect(),
            0..=MOST => lines.into_iter().chain(selected(plot, run)).collect(),
            _ => chosen(plot, &lines, run),
        };
        Self { order, names }
    }
}

/// The names of the series in groups whose lines coincide.
fn coinciding<'p>(plot: &'p Plot<'_>, names: &[&'p str]) -> Vec<Vec<&'p str>> {
    let line = |name: &str| -> Vec<(usize, [u64; 2])> {
        let own = plot.all().filter(|((_, of, _), _)| of == name);
        let points = own.flat_map(|((.., bundle), series)| {
            let bundle = *bundle;
            series.points.iter().map(move |point| (bundle, point.at.map(f64::to_bits)))
        });
        points.collect()
    };
    let mut groups: Vec<(_, Vec<&str>)> = Vec::new();
    for &name in names {
        let own = line(name);
        match groups.iter_mut().find(|(of, _)| *of == own) {
            Some((_, group)) => group.push(name),
            None => groups.push((own, vec![name])),
        }
    }
    groups.into_iter().map(|(_, group)| group).collect()
}

/// Says which series have a line in common.
pub(super) fn coinciding_words(plot: &Plot<'_>) -> String {
    let groups = coinciding(plot, &plot.names()).into_iter();
    let words = groups.filter_map(|group| match group.as_slice() {
        [] | [_] => None,
        [one, other] => Some(format!("{one} and {other} share a line. ")),
        [first, .., last] => {
            Some(format!("{} kernels, {first} to {last}, share a line. ", group.len()))
        }
    });
    words.collect()
}

/// The series that hold the selected run.
fn selected<'p>(plot: &'p Plot<'_>, run: Option<usize>) -> impl Iterator<Item = &'p str> {
    let is_it = move |number: usize| Some(number) == run;
    let holds = move |series: &Series<'_>| {
        series.points.iter().any(|point| point.run.is_some_and(|run| is_it(run.index)))
    };
    plot.series
        .iter()
        .filter(move |(_, series)| run.is_some() && holds(series))
        .map(|((_, name, _), _)| name.as_str())
}

/// The median; `None` of an empty list.
fn median(mut values: Vec<f64>) -> Option<f64> {
    values.sort_unstable_by(f64::total_cmp);
    values.get(values.len() / 2).copied()
}

/// The number by which a series is ordered: the last one of a line, the marked one of steps, else
/// the median.
fn standing(plot: &Plot<'_>, series: &Series<'_>) -> Option<f64> {
    let mut points = series.points.iter();
    match plot.form {
        Form::Lines | Form::Curves => points.next_back().map(|point| plot.value(point)),
        Form::Steps => points.find(|point| !point.label.is_empty()).map(|point| plot.value(point)),
        _ => median(points.map(|point| plot.value(point)).collect()),
    }
}

/// The names of all series, best first; the same names while some are hidden.
fn best_first<'p>(plot: &'p Plot<'_>) -> Vec<&'p str> {
    let sign = if plot.lower_is_better() { -1.0 } else { 1.0 };
    let mut values: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
    for ((_, name, _), series) in plot.all() {
        values.entry(name).or_default().extend(standing(plot, series));
    }
    let mut order: Vec<(&str, f64)> = plot
        .names()
        .into_iter()
        .map(|name| {
            let of = values.remove(name).and_then(median);
            (name, of.map_or(f64::NEG_INFINITY, |value| sign * value))
        })
        .collect();
    sparsescope_core::order::sort_by(&mut order, |a, b| b.1.total_cmp(&a.1));
    order.into_iter().map(|(name, _)| name).collect()
}

/// How often each series is the best one: of a row, a matrix or a position along x. Intervals count
/// if they exclude the guide, and steps begin with their share of wins.
fn wins<'p>(plot: &'p Plot<'_>) -> BTreeMap<&'p str, f64> {
    let mut wins: BTreeMap<&str, f64> = BTreeMap::new();
    let mut add = |name: &'p str, count: f64| *wins.entry(name).or_default() += count;
    match plot.form {
        Form::Steps => plot.all().for_each(|((_, name, _), series)| {
            add(name.as_str(), series.points.first().map_or(0.0, |point| point.at[1]));
        }),
        Form::Intervals => plot.all().for_each(|((_, name, _), series)| {
            let sure = series.points.iter().filter(|point| plot.is_sure(point));
            add(name.as_str(), sure.count() as f64);
        }),
        _ => best_of_each_place(plot).for_each(|name| add(name, 1.0)),
    }
    wins.retain(|_, count| *count > 0.0);
    wins
}

/// The series with the best value in every place where there are several.
fn best_of_each_place<'p>(plot: &'p Plot<'_>) -> impl Iterator<Item = &'p str> {
    let sign = if plot.lower_is_better() { -1.0 } else { 1.0 };
    // By place: the best value, its series, and whether there are others.
    let mut best: BTreeMap<(String, u64, usize), (f64, &str, bool)> = BTreeMap::new();
    for ((_, name, bundle), series) in plot.all() {
        let name = name.as_str();
        for point in &series.points {
            let subject = point.subject.filter(|_| plot.rows.is_none() && plot.form == Form::Marks);
            let place = match (subject, &plot.rows) {
                (Some(subject), _) => (crate::model::subject_key(subject), 0, *bundle),
                (None, Some(_)) => (String::new(), point.at[1].to_bits(), *bundle),
                (None, None) => (String::new(), point.at[0].to_bits(), *bundle),
            };
            let value = sign * plot.value(point);
            let found = best.entry(place).or_insert((value, name, false));
            found.2 |= found.1 != name;
            if value > found.0 {
                (found.0, found.1) = (value, name);
            }
        }
    }
    best.into_values().filter(|(.., contested)| *contested).map(|(_, name, _)| name)
}

fn is_csr(name: &str) -> bool {
    format_of(name) == "csr"
}

fn is_vendor(name: &str) -> bool {
    KernelName::of(name).is_vendors() || ["sell", "op"].contains(&name)
}

/// What is selected, those that win most often, the best of CSR and the vendor's best; if nothing
/// wins, the best ones.
fn chosen<'p>(plot: &'p Plot<'_>, order: &[&'p str], run: Option<usize>) -> HashSet<&'p str> {
    let wins = wins(plot);
    let of = |name: &str| wins.get(name).copied().unwrap_or(0.0);
    let mut winners = order.to_vec();
    winners.retain(|name| wins.is_empty() || wins.contains_key(name));
    sparsescope_core::order::sort_by(&mut winners, |a, b| of(b).total_cmp(&of(a)));
    let mut chosen: HashSet<&str> = selected(plot, run).collect();
    let kinds = [is_csr as fn(&str) -> bool, is_vendor];
    let lacking = |chosen: &HashSet<&'p str>, more: Option<&'p str>| -> Vec<&'p str> {
        let lacks = |kind: &fn(&str) -> bool| !chosen.iter().copied().chain(more).any(kind);
        let kinds = kinds.iter().filter(|kind| lacks(kind));
        kinds.filter_map(|kind| order.iter().copied().find(|name| kind(name))).collect()
    };
    for name in winners {
        if chosen.len() + 1 + lacking(&chosen, Some(name)).len() <= MOST {
            chosen.insert(name);
        }
    }
    chosen.extend(lacking(&chosen, None));
    let lacks = LEAST.saturating_sub(chosen.len());
    let more: Vec<&str> =
        order.iter().copied().filter(|name| !chosen.contains(name)).take(lacks).collect();
    chosen.extend(more);
    chosen
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::views::charts::plot::{Point, Scale};

    /// A chart with these values of each series in its rows.
    fn rows(of: &[(&str, &[f64])]) -> Plot<'static> {
        let mut plot = Plot::rows(Scale::new("GFLOPS", true));
        for (name, values) in of {
            for (row, value) in values.iter().enumerate() {
                let row = plot.row(|| row.to_string(), &row.to_string());
                plot.add(0, name, None, Point { at: [*value, row], ..Point::default() });
            }
        }
        plot
    }

    const MANY: [(&str, &[f64]); 10] = [
        ("cpu/csr/serial", &[2.0, 2.0, 2.0]),
        ("cpu/hll/a", &[9.0, 9.0, 1.0]),
        ("cpu/hll/b", &[8.0, 8.0, 9.5]),
        ("cpu/hll/c", &[7.0, 7.0, 7.0]),
        ("cpu/csr/nnz", &[3.0, 3.0, 3.0]),
        ("vendor/mkl/csr", &[1.0, 1.0, 1.0]),
        ("cpu/ell/a", &[1.1, 1.1, 1.1]),
        ("cpu/ell/b", &[1.2, 1.2, 1.2]),
        ("cpu/ell/c", &[1.3, 1.3, 1.3]),
        ("cpu/ell/d", &[1.4, 1.4, 1.4]),
    ];

    fn sorted<'p>(bold: &Bold<'p>) -> Vec<&'p str> {
        let mut names: Vec<&str> = bold.names.iter().copied().collect();
        names.sort_unstable();
        names
    }

    #[test]
    fn of_many_series_those_that_win_somewhere_csr_and_the_vendors_best_have_colour() {
        let plot = rows(&MANY);
        let bold = Bold::of(&plot, None);
        let expected = ["cpu/csr/nnz", "cpu/hll/a", "cpu/hll/b", "vendor/mkl/csr"];
        assert_eq!(sorted(&bold), expected);
        let few = rows(&MANY[3..9]);
        assert_eq!(Bold::of(&few, None).names.len(), 6, "few series are all in colour");
        let mut ordered = rows(&MANY);
        ordered.ordered = true;
        let bold = Bold::of(&ordered, None);
        assert_eq!((bold.names.len(), bold.order), (MANY.len(), ordered.names()));
    }

    #[test]
    fn of_lines_that_coincide_one_has_colour() {
        let mut plot = Plot::plane(Scale::new("threads", false), Scale::new("%", false));
        plot.form = Form::Lines;
        // Ten at the top, one below them and one that ends lower.
        let of = |k: usize| match k {
            10 => [50.0, 75.0],
            11 => [50.0, 62.0],
            _ => [50.0, 100.0],
        };
        for k in 0..12 {
            for (x, y) in [32.0, 64.0].into_iter().zip(of(k)) {
                plot.add(
                    0,
                    &format!("cuda/hll/{k:02}"),
                    None,
                    Point { at: [x, y], ..Point::default() },
                );
            }
        }
        let expected = ["cuda/hll/00", "cuda/hll/10", "cuda/hll/11"];
        assert_eq!(sorted(&Bold::of(&plot, None)), expected);
        let words = "10 kernels, cuda/hll/00 to cuda/hll/09, share a line. ";
        assert_eq!(coinciding_words(&plot), words);
    }

    #[test]
    fn winners_leave_room_for_csr_and_the_vendor() {
        let names: Vec<String> = (0..9).map(|k| format!("cpu/hll/{k}")).collect();
        // Each wins a row of its own.
        let values: Vec<[f64; 9]> =
            (0..9).map(|k| std::array::from_fn(|row| if row == k { 5.0 } else { 1.0 })).collect();
        let mut of: Vec<(&str, &[f64])> =
            names.iter().zip(&values).map(|(name, values)| (name.as_str(), &values[..])).collect();
        of.extend([("cpu/csr/serial", &[0.1][..]), ("vendor/cusparse/coo", &[0.2][..])]);
        let plot = rows(&of);
        let bold = sorted(&Bold::of(&plot, None)).join(" ");
        assert_eq!(bold.split(' ').count(), MOST, "{bold}");
        assert!(bold.contains("cpu/csr/serial") && bold.contains("vendor/cusparse/coo"), "{bold}");
    }

    #[test]
    fn the_legend_is_in_the_order_of_the_values_and_stays_so_when_some_are_isolated() {
        let mut plot = rows(&MANY);
        let first: Vec<String> = Bold::of(&plot, None).order.iter().map(|n| (*n).into()).collect();
        assert_eq!(first[..4], ["cpu/hll/a", "cpu/hll/b", "cpu/hll/c", "cpu/csr/nnz"]);
        assert_eq!(first.last().map(String::as_str), Some("vendor/mkl/csr"));
        plot.isolate("cpu/ell/a,cpu/csr/nnz");
        let bold = Bold::of(&plot, None);
        assert_eq!(bold.order, first);
        assert_eq!(sorted(&bold), ["cpu/csr/nnz", "cpu/ell/a"]);
        assert_eq!(plot.points().count(), 6);
        let mut times = rows(&MANY);
        times.x = Scale::new("ns", true).lower();
        assert_eq!(Bold::of(&times, None).order.first(), Some(&"vendor/mkl/csr"));
    }
}
