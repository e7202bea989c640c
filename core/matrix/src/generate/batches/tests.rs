//! Tests of the batch generator.

use super::*;
use crate::generate::{points_suite_entry, suite_entry};
use crate::matrix::Batch;
use crate::memory::MemoryLimit;

fn make(spec: &str) -> Batch {
    let spec = BatchSpec::parse(spec).unwrap();
    generate_batch(&spec, MemoryLimit::unlimited(), &false.into()).unwrap()
}

#[test]
fn matrices_are_those_that_the_formula_gives_in_another_language() {
    // ChaCha8 (the seed as the key's first 64 bits, the matrix number as the stream, 53 of each 64-bit
    // word's bits) and the formula in Python, summed in column order, hashed with hashlib.
    let batch = make("spd-batch?n=5&count=7&bad=3&seed=11");
    assert_eq!(
        batch.identity(&|| false).unwrap(),
        "6f3416482bc122fc1d50dfb1cebe587730489ba21a451b93d9404d586ad08da2"
    );
}

#[test]
#[cfg_attr(target_family = "wasm", ignore = "starts threads")]
fn the_same_matrices_come_out_for_any_number_of_threads_and_the_seed_decides() {
    let with = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| make("spd-batch?n=9&count=50"))
    };
    let batch = with(1);
    assert_eq!(batch, with(3));
    assert_ne!(batch, make("spd-batch?n=9&count=50&seed=43"));
    // A larger batch begins with the matrices of a smaller one.
    let fewer = make("spd-batch?n=9&count=20");
    assert!((0..20).all(|s| fewer.view().matrix(s) == batch.view().matrix(s)));
}

#[test]
fn one_matrix_of_so_many_and_no_other_has_a_corner_of_minus_one() {
    let (good, some) = (make("spd-batch?n=4&count=10"), make("spd-batch?n=4&count=10&bad=4"));
    for s in 0..10 {
        let (good, some) = (good.view().matrix(s), some.view().matrix(s));
        let is_bad = s == 3 || s == 7;
        assert_eq!(good[..15], some[..15], "{s}");
        assert_eq!(some[15], if is_bad { -1.0 } else { good[15] }, "{s}");
        // The quadratic form of the identity plus a square: at least 1 wherever a coordinate is 1.
        assert!((0..4).all(|i| good[i * 5] >= 1.0), "{s}");
    }
}

#[test]
fn recipes_read_back_and_say_what_is_wrong_with_them() {
    let spec = BatchSpec::parse("gen:spd-batch?count=20k&n=28&bad=0&seed=42").unwrap();
    assert_eq!(spec.to_string(), "gen:spd-batch?n=28&count=20000");
    assert_eq!((spec.extent().systems, spec.extent().bytes()), (20_000, 8 * 28 * 28 * 20_000));
    let error = |spec: &str| BatchSpec::parse(spec).unwrap_err().to_string();
    assert_eq!(error("spd-batch?n=0&count=1"), "n is `0`, expected an integer from 1 to 512");
    assert_eq!(
        error("spd-bach?n=1"),
        "unknown generator `spd-bach` (did you mean `spd-batch`?), expected one of: spd-batch"
    );
    assert!(error("spd-batch?n=8").contains("needs the key `count`"));
    assert!(error("spd-batch?n=3&count=0").starts_with("count is `0`, expected an integer from 1"));
    assert_eq!(
        error("spd-batch?n=3&count=9&bad=10"),
        "bad is `10`, expected an integer from 0 to 9"
    );
    assert!(BatchSpec::parse("spd-batch?n=3&count=9&bad=9").is_ok());
}

#[test]
fn what_does_not_fit_is_refused_with_its_bytes_and_a_wish_to_stop_is_heeded() {
    let spec = BatchSpec::parse("spd-batch?n=500&count=1M").unwrap();
    let error = generate_batch(&spec, MemoryLimit::bytes(1 << 40), &false.into()).unwrap_err();
    let expected = "gen:spd-batch?n=500&count=1000000 needs 2000000000000 bytes (2000.0 GB)";
    assert!(error.to_string().starts_with(expected), "{error}");
    let spec = BatchSpec::parse("spd-batch?n=50&count=100").unwrap();
    let stopped = generate_batch(&spec, MemoryLimit::unlimited(), &true.into()).unwrap_err();
    assert!(stopped.is_cancelled());
}

#[test]
fn suites_have_recipes_that_are_understood_and_names_of_their_own() {
    let mut names: Vec<&str> = Vec::new();
    for entry in batch_suites().iter().flat_map(|suite| suite.entries) {
        let spec = BatchSpec::parse(entry.spec).unwrap();
        assert_eq!(spec.to_string(), format!("gen:{}", entry.spec));
        assert!(spec.extent().bytes() < 1_000_000_000, "{entry:?}");
        assert!(suite_entry(entry.name).is_none() && points_suite_entry(entry.name).is_none());
        assert_eq!(batch_suite_entry(entry.name).unwrap().spec, entry.spec);
        names.push(entry.name);
    }
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), 21 + 18);
}
