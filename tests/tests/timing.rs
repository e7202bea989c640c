//! Limits on running times: each of these tests runs alone.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use sparsescope_core::bundle::{Bundle, Limits};
use sparsescope_core::measure::{CacheFlusher, CacheSizes, cpu, pool};
use sparsescope_core::memory::MemoryLimit;
use sparsescope_core::record::Run;
use sparsescope_test_support::{Need, is_required, skip};
use sparsescope_tests::Program;

const PROGRAM: &str = env!("CARGO_BIN_EXE_sparsescope-under-test");

/// Runs on matrices, of several kernels.
const GOLDEN: &[u8] = include_bytes!("../golden/bundle-1.9.zip");

/// Held by the running test: Cargo runs one test program after another, but the tests of one in parallel.
fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Seconds to follow `steps` links, each load depending on the one before it.
fn chase(links: &[u32], steps: usize) -> f64 {
    let start = Instant::now();
    let end = (0..steps).fold(0_u32, |at, _| links[at as usize]);
    std::hint::black_box(end);
    start.elapsed().as_secs_f64()
}

#[test]
fn after_a_flush_data_must_come_from_memory_again() {
    if !is_required(Need::Quiet) {
        skip!(Need::Quiet, "nobody says that this machine does nothing else");
    }
    let _alone = alone();
    // 256 KiB in lines of 64 bytes, visited in an order that no prefetcher follows (a full
    // period of a linear congruential generator modulo a power of two).
    let lines = 1_u32 << 12;
    let mut links = vec![0_u32; lines as usize * 16];
    let mut at = 0_u32;
    for _ in 0..lines {
        let next = (at.wrapping_mul(1_664_525).wrapping_add(1_013_904_223)) % lines;
        links[at as usize * 16] = next * 16;
        at = next;
    }
    let flusher = CacheFlusher::new(CacheSizes::of(&cpu()), MemoryLimit::of_machine()).unwrap();
    // All on one thread, whose core's private caches hold the chain.
    let (mut hot, mut cold) = (Vec::new(), Vec::new());
    pool(1).unwrap().install(|| {
        for _ in 0..15 {
            chase(&links, lines as usize);
            hot.push(chase(&links, lines as usize));
            flusher.flush();
            cold.push(chase(&links, lines as usize));
        }
    });
    let median = |times: &mut Vec<f64>| {
        times.sort_by(f64::total_cmp);
        times[times.len() / 2]
    };
    let (hot, cold) = (median(&mut hot), median(&mut cold));
    assert!(cold > 3.0 * hot, "cold {cold} s, hot {hot} s");
}

/// A bundle of `matrices` matrices with 15 runs each, of the kinds in the golden one.
fn wide(matrices: usize) -> Bundle {
    let mut bundle = Bundle::read(GOLDEN, &Limits::default()).unwrap();
    let folder = bundle.matrices[0].clone();
    let is_timed = |run: &&Run| {
        run.figures.is_some() && run.history.is_none() && run.matrix == folder.record.id
    };
    let runs: Vec<_> = bundle.runs.iter().filter(is_timed).cloned().collect();
    assert!(!runs.is_empty());
    bundle.matrices.clear();
    bundle.runs.clear();
    bundle.plan = None;
    for k in 0..matrices {
        let mut folder = folder.clone();
        folder.files.clear();
        let id = format!("matrix-{k}");
        folder.record.name.clone_from(&id);
        // Only the first digits of a key matter.
        folder.record.sha256 = format!("{k:016x}{}", "0".repeat(48));
        folder.record.id.clone_from(&id);
        bundle.matrices.push(folder);
        for r in 0..15 {
            let mut run = runs[r % runs.len()].clone();
            run.matrix.clone_from(&id);
            run.threads += 100 * (r / runs.len()) as u32;
            bundle.runs.push(run);
        }
    }
    bundle
}

/// The time of the slowest of a report, a table, a comparison and a merge of such a bundle, each the best of
/// `tries`.
fn longest(p: &Program, matrices: usize, tries: usize) -> Duration {
    let mut bundle = wide(matrices);
    bundle.save(&p.path("a.zip"), true).unwrap();
    bundle.environments[0].os.push('x');
    bundle.save(&p.path("b.zip"), true).unwrap();
    let commands = [
        &["export", "a.zip", "--report", "r.html", "--force"][..],
        &["export", "a.zip", "--csv", "a.csv", "--force"],
        &["compare", "a.zip", "b.zip", "--all"],
        &["merge", "a.zip", "b.zip", "-o", "m.zip", "--force", "--prefer", "last"],
    ];
    let times = commands.map(|args| {
        let once = || {
            let started = Instant::now();
            p.succeed(args);
            started.elapsed()
        };
        let best = std::iter::repeat_with(once).take(tries).min().unwrap_or_default();
        eprintln!("{matrices} matrices, {}: {:.2} s", args[0], best.as_secs_f64());
        best
    });
    times.into_iter().max().unwrap_or_default()
}

#[test]
fn four_times_the_bundle_does_not_take_sixteen_times_as_long() {
    let _alone = alone();
    let p = Program::new(PROGRAM);
    let (one, four) = (longest(&p, 60, 3), longest(&p, 240, 3));
    assert!(four < one * 12, "{one:?}, {four:?}");
}

/// In a release build: `cargo test --release -p sparsescope-tests --test timing -- --ignored --nocapture`.
#[test]
#[ignore = "takes a minute, and a release build"]
fn four_thousand_matrices_are_reported_in_five_seconds() {
    let _alone = alone();
    let p = Program::new(PROGRAM);
    let took = longest(&p, 4000, 1);
    assert!(took < Duration::from_secs(5), "{took:?}");
}
