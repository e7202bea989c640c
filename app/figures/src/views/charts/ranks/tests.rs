//! Several ranks: times, traffic and scaling, each against an independent calculation.

use sparsescope_core::bundle::Bundle;
use sparsescope_core::record::{Distributed, PairTraffic, RankShare};

use crate::model::{Model, count};
use crate::state::ViewState;
use crate::views::charts::plot::Data;
use crate::views::charts::tests::{NNZ, bundle, drawn, model_of, run, serial};
use crate::views::charts::view::{plot, svg};

/// A chain of `ranks` ranks: each sends 8 bytes to its neighbours, and rank k waits k microseconds.
fn chain(ranks: u32) -> Distributed {
    let rank = |k: u32| RankShare {
        rows: 10,
        interior_rows: 8,
        entries: 100 + u64::from(k),
        halo: 2,
        computing_s: 5e-6,
        packing_s: 1e-6,
        waiting_s: f64::from(k) * 1e-6,
        ..RankShare::default()
    };
    let pair =
        |from: u32, to: u32| PairTraffic { from, to, bytes: 8 * u64::from(from + 1), messages: 1 };
    let there = (1..ranks).map(|k| pair(k - 1, k));
    let back = (1..ranks).map(|k| pair(k, k - 1));
    Distributed {
        transport: "mpi".into(),
        partition: "entries".into(),
        threads: 1,
        ranks: (0..ranks).map(rank).collect(),
        pairs: there.chain(back).collect(),
        ..Distributed::default()
    }
}

/// One kernel: the small matrix on 1, 2 and 4 ranks, 1, 1.8 and 3 times as fast as the reference;
/// the middle one, with as many nonzeros per rank, on `GROWN` ranks at 8/10 of the rate per rank.
fn shared() -> Model {
    let mut all: Bundle = bundle("ranks", 1.0);
    all.runs.clear();
    let grown = (NNZ[1] / NNZ[0]) as u32;
    let steps = [(0, 1, 1.0), (0, 2, 1.8), (0, 4, 3.0), (1, grown, 0.8 * f64::from(grown))];
    for (index, ranks, times) in steps {
        // `run` is relative to the reference, which takes 1 ns per nonzero.
        let mut run = run(index, "mpi/csr/halo", (ranks, None), times);
        run.distributed = Some(chain(ranks));
        all.runs.push(run);
    }
    model_of(all)
}

fn state(chart: &str, of: &str) -> ViewState {
    ViewState::from_fragment(&format!("v1;search=small;chart={chart};of={of}")).unwrap()
}

/// Names and positions must be equal, values up to rounding.
fn is_drawn(found: Vec<(String, String, f64)>, expected: &[(&str, &str, f64)]) {
    let is = |found: &(String, String, f64), (name, at, value): &(&str, &str, f64)| {
        (found.0.as_str(), found.1.as_str()) == (*name, *at) && (found.2 - value).abs() < 1e-9
    };
    let alike = found.len() == expected.len() && found.iter().zip(expected).all(|(f, e)| is(f, e));
    assert!(alike, "{found:?}\nexpected {expected:?}");
}

#[test]
fn the_bars_of_the_fastest_run_are_its_ranks_times_one_after_another() {
    let (model, state) = (shared(), state("rank-times", ""));
    let bars = drawn(&model, &state);
    let of = |part: &str| -> Vec<f64> {
        bars.iter().filter(|(name, ..)| name == part).map(|(.., value)| *value).collect()
    };
    let near = |found: Vec<f64>, expected: [f64; 4]| {
        assert!(found.iter().zip(expected).all(|(f, e)| (f - e).abs() < 1e-12), "{found:?}");
        assert_eq!(found.len(), 4, "of four ranks, the most");
    };
    near(of("computing"), [5e-3; 4]);
    near(of("packing"), [1e-3; 4]);
    near(of("waiting"), [0.0, 1e-3, 2e-3, 3e-3]);
    let data = Data::of(&model, &state);
    let plot = plot(&data);
    let ends = |part: &str| -> Vec<[f64; 2]> {
        plot.points().filter(|(name, ..)| *name == part).filter_map(|(.., p)| p.range).collect()
    };
    assert!(ends("waiting").iter().zip(ends("packing")).all(|(w, p)| w[0] == p[1]));
    // (100 + 101 + 102 + 103) / 4 = 101.5.
    assert!(plot.note.contains("1.01 times the mean number of nonzeros"), "{}", plot.note);
}

#[test]
fn a_cell_is_what_one_rank_sends_another_and_the_table_has_its_bytes() {
    let (model, state) = (shared(), state("traffic", ""));
    let cells = drawn(&model, &state);
    let at: Vec<(&str, f64)> = cells.iter().map(|(_, row, to)| (row.as_str(), *to)).collect();
    let mut expected = vec![
        ("rank 0", 1.0),
        ("rank 1", 2.0),
        ("rank 2", 3.0),
        ("rank 1", 0.0),
        ("rank 2", 1.0),
        ("rank 3", 2.0),
    ];
    let mut found = at.clone();
    let order = |a: &(&str, f64), b: &(&str, f64)| a.partial_cmp(b).unwrap();
    found.sort_by(order);
    expected.sort_by(order);
    assert_eq!(found, expected);
    let data = Data::of(&model, &state);
    let plot = plot(&data);
    let table = plot.table();
    let bytes = table[0].iter().position(|name| name == "bytes").unwrap();
    let sum: f64 = table[1..].iter().map(|line| line[bytes].parse::<f64>().unwrap()).sum();
    // Rank k sends 8 (k + 1) bytes to each neighbour; the outer ranks have one neighbour.
    assert_eq!(sum, f64::from(8 * (1 + 2 * 2 + 2 * 3 + 4)));
    assert!(plot.note.contains("in 6 messages per SpMV"), "{}", plot.note);
    let svg = svg(&model, &state);
    assert!(svg.contains("receiving rank"));
    let [last, beyond] = [">3</text>", ">4</text>"].map(|tick| svg.contains(tick));
    assert!(last && !beyond, "four columns, each with its rank");
}

#[test]
fn strong_scaling_is_over_the_fewest_ranks_on_the_same_matrix() {
    let model = shared();
    let name = "mpi/csr/halo on small";
    let at =
        |values: [f64; 3]| [(name, "1", values[0]), (name, "2", values[1]), (name, "4", values[2])];
    is_drawn(drawn(&model, &state("strong-scaling", "")), &at([1.0, 1.8, 3.0]));
    is_drawn(drawn(&model, &state("strong-scaling", "efficiency")), &at([1.0, 0.9, 0.75]));
    let ms = |times: f64| serial(0) * 1e3 / times;
    is_drawn(drawn(&model, &state("strong-scaling", "time")), &at([ms(1.0), ms(1.8), ms(3.0)]));
    let state = state("strong-scaling", "");
    let data = Data::of(&model, &state);
    let plot = plot(&data);
    assert!(plot.note.ends_with("on 4 ranks, 75 %."), "{}", plot.note);
    assert_eq!(plot.guides[0].ends, [[1.0, 1.0], [4.0, 4.0]]);
}

#[test]
fn weak_scaling_compares_matrices_with_as_many_entries_a_rank() {
    let model = shared();
    let grown = NNZ[1] / NNZ[0];
    let name = format!("mpi/csr/halo, {} nonzeros per rank", count(1000));
    let (name, at) = (name.as_str(), grown.to_string());
    let all = ViewState::from_fragment("v1;chart=weak-scaling").unwrap();
    is_drawn(drawn(&model, &all), &[(name, "1", 1.0), (name, &at, 0.8)]);
    // With the large matrix alone there is nothing to compare on the small one.
    assert_eq!(drawn(&model, &state("weak-scaling", "")), []);
}
