//! Rules that pick candidates for the fastest kernel from the structure of a matrix.

use std::cmp::Ordering::Equal;
use std::collections::BTreeSet;

use super::candidate::{ADAPTIVE, BY_LANES, Candidate, SERIAL, candidate};
use super::expected::{GpuTraits, Traits, expected_s};
use super::part::part;
use sparsescope_matrix::matrix::{
    BSR_MIN_FILL, Bsr, CompactEstimate, Csr, DEFAULT_SIGMA, FormatSize, FormatSpec, Order,
    Precision, Scalar, ValueCoding,
};
use sparsescope_matrix::order;
use sparsescope_model::kernel::parameters::{BSR_BLOCK, HACK_SIZE, SIGMA, SPILL, VALUES};
use sparsescope_model::kernel::{Format, FormatParams, LaneShape, Parameters};

/// Rows whose diagonals are counted first, before those of all rows.
const ROWS_OF_DIAGONALS: usize = 256;

/// Maximum slots per nonzero of HLL.
const MOST_PADDING: f64 = 1.5;

/// Slots per nonzero up to which the rows of HLL need no sorting.
const LITTLE_PADDING: f64 = 1.1;

/// Slots per nonzero from which HLL is also tried with sorted rows on the CPU.
const SOME_PADDING: f64 = 1.02;

/// Longest row, and bytes, up to which ELLPACK is tried on a GPU. Each thread reads a row of its own, a few
/// sectors; the CPU converts the matrix, which takes long for larger ones.
const SHORT_ROW: usize = 8;
const SMALL_BYTES: u64 = 32 << 20;

/// Size of a compact format relative to CSR from which it is not worth decoding.
const COMPACT_SHARE: f64 = 0.95;

/// The kernels to try on `a` with this number of threads: the serial one first, the others ordered by the
/// bytes that they move.
pub(in crate::experiment) fn on_processor<T: Scalar>(
    a: &Csr<T>,
    threads: usize,
    compact: bool,
) -> Vec<Candidate> {
    let csr = a.minimal_bytes();
    let plain = |id| candidate(id, Parameters::default(), csr);
    let mut found: Vec<Candidate> = plain(SERIAL).into_iter().collect();
    if a.nnz() == 0 {
        return found;
    }
    found.extend(plain("cpu/csr/simd"));
    if threads > 1 {
        found.extend(plain("cpu/csr/nnz"));
        // A row that is a large part of a thread's share has to be split.
        let is_long = a.max_row_len() as f64 * 4.0 > a.nnz() as f64 / threads as f64;
        found.extend(is_long.then(|| plain("cpu/csr/merge")).flatten());
    }
    let mut others = Vec::new();
    others.extend(diagonals(a, "cpu/dia/rows"));
    others.extend(blocks(a, "cpu/bsr/rows"));
    let hll = hacks(a, &[("32", 1), ("32", DEFAULT_SIGMA), ("8", DEFAULT_SIGMA)]);
    let sorted = hll.as_ref().and_then(|hll| sorted_too(a, hll));
    others.extend(hll.iter().chain(&sorted).filter_map(|(parameters, size)| {
        candidate("cpu/hll/simd", parameters.clone(), size.minimal_bytes)
    }));
    if compact {
        let ids = Compacts { csr: Some("cpu/csr/compact"), hll: "cpu/hll/compact" };
        others.extend(compacts(a, ids, hll.map(|(parameters, _)| parameters), 0));
        if let Some((parameters, _)) = sorted {
            others.extend(compacts(a, Compacts { csr: None, ..ids }, Some(parameters), 0));
        }
    }
    order::sort_by(&mut others, |one, other| one.rank().total_cmp(&other.rank()));
    found.extend(others);
    found
}

/// Minimal bytes that one SpMV in CSR moves, whose values a precision may store in fewer bytes than `a` here.
pub fn csr_bytes<T: Scalar>(a: &Csr<T>, precision: Precision) -> u64 {
    a.minimal_bytes() - a.nnz() as u64 * narrower::<T>(precision)
}

/// Bytes that a precision saves per value of a matrix of T.
fn narrower<T: Scalar>(precision: Precision) -> u64 {
    T::BYTES as u64 - precision.values().bytes()
}

/// The kernels to try on a GPU, ordered by expected time where its copy bandwidth is known; otherwise the one on CSR
/// first, the others ordered by the bytes that they move. Only those on CSR and compact HLL store values in fewer bits
/// than vectors.
pub fn on_gpu<T: Scalar>(
    a: &Csr<T>,
    compact: bool,
    precision: Precision,
    gpu: GpuTraits,
) -> Vec<Candidate> {
    let plain = |id| candidate(id, Parameters::default(), csr_bytes(a, precision));
    let mut found: Vec<Candidate> = plain(ADAPTIVE).into_iter().collect();
    found.extend(has_few_even_rows(a).then(|| plain(BY_LANES)).flatten());
    if a.nnz() > 0 && Precision::UNIFORM.contains(&precision) {
        found.extend(formats_on_gpu(a, compact));
    } else if a.nnz() > 0 {
        found.extend(
            ["cuda/csr/warp-shuffle", "cuda/csr/thread-per-row"].into_iter().filter_map(plain),
        );
        if compact {
            found.extend(compact_on_gpu(a, hacks_on_gpu(a), narrower::<T>(precision)));
        }
    }
    for candidate in &mut found {
        candidate.block = candidate.kernel.takes.block.then_some(BLOCK);
    }
    if let Some(copy) = gpu.copy {
        let traits = Traits::of(a, gpu).storing(precision);
        for candidate in &mut found {
            candidate.expected_s = Some(expected_s(candidate, &traits, copy));
        }
        order::sort_by(&mut found, |one, other| {
            one.expected_s.partial_cmp(&other.expected_s).unwrap_or(Equal)
        });
    }
    found
}

/// Whether lanes that share each row are worth a trial.
fn has_few_even_rows<T: Scalar>(a: &Csr<T>) -> bool {
    a.nnz() > 0 && LaneShape::suits(a.rows(), a.nnz(), a.max_row_len())
}

/// Candidates on other formats than CSR, ordered by the bytes that they move.
fn formats_on_gpu<T: Scalar>(a: &Csr<T>, compact: bool) -> Vec<Candidate> {
    let mut others = Vec::new();
    others.extend(diagonals(a, "cuda/dia/thread-per-row"));
    others.extend(blocks(a, "cuda/bsr/warp"));
    others.extend(equal_rows(a));
    let (in_order, sorted, sorting_pays) = hacks_on_gpu(a);
    let of = |id, hll: &Hacks| candidate(id, hll.0.clone(), hll.1.minimal_bytes);
    others.extend(
        in_order.iter().filter(is_whole).filter_map(|hll| of("cuda/hll/column-major", hll)),
    );
    if sorting_pays || !in_order.iter().any(|hll| is_whole(&hll)) {
        others.extend(sorted.iter().filter_map(|hll| of("cuda/hll/sigma", hll)));
    }
    if compact {
        others.extend(compact_on_gpu(a, (in_order, sorted, sorting_pays), 0));
    }
    order::sort_by(&mut others, |one, other| one.minimal_bytes.cmp(&other.minimal_bytes));
    others
}

/// A layout of HLL, and its size.
type Hacks = (Parameters, FormatSize);

/// HLL with rows in order, and with sorted rows; and whether sorting reduces padding enough.
type HacksOnGpu = (Option<Hacks>, Option<Hacks>, bool);

fn hacks_on_gpu<T: Scalar>(a: &Csr<T>) -> HacksOnGpu {
    let in_order = hacks(a, &[("32", 1)]);
    let sorted = hacks(a, &[("32", DEFAULT_SIGMA)]);
    let padding = |hll: &Option<Hacks>| match hll {
        Some((_, size)) => size.padding,
        None => f64::INFINITY,
    };
    let sorting_pays = padding(&sorted) * SORTING < padding(&in_order);
    (in_order, sorted, sorting_pays)
}

/// Whether a layout has no rows apart.
fn is_whole((parameters, _): &&Hacks) -> bool {
    parameters.get(&SPILL).is_none()
}

/// Compact HLL in a layout without rows apart, in the precision that saves `narrower` bytes per value.
fn compact_on_gpu<T: Scalar>(
    a: &Csr<T>,
    (in_order, sorted, sorting_pays): HacksOnGpu,
    narrower: u64,
) -> Vec<Candidate> {
    let ids = Compacts { csr: None, hll: "cuda/hll/compact" };
    let hll = if sorting_pays { sorted } else { in_order };
    let whole = hll.filter(|hll| is_whole(&hll));
    compacts(a, ids, whole.map(|(parameters, _)| parameters), narrower)
}

/// Threads per block of the GPU kernels.
const BLOCK: u32 = 256;

/// Reduction of padding that makes sorting rows worthwhile: sorting scatters reads of x and writes of y.
const SORTING: f64 = 1.05;

/// DIA, if its diagonals move fewer bytes than CSR.
fn diagonals<T: Scalar>(a: &Csr<T>, id: &str) -> Option<Candidate> {
    let bytes = |slots: u128| slots * T::BYTES as u128;
    let rows = a.rows() as u128;
    let most = u128::from(a.bytes()) / bytes(rows).max(1);
    let step = a.rows().div_ceil(ROWS_OF_DIAGONALS).max(1) | 1;
    let seen: BTreeSet<i64> = (0..a.rows())
        .step_by(step)
        .flat_map(|i| a.row(i).0.iter().map(move |&c| i64::from(c) - i as i64))
        .collect();
    if seen.len() as u128 > most {
        return None;
    }
    let size = Format::Dia.with(&FormatParams::default()).size(a).ok()?;
    let fewer = size.minimal_bytes < a.minimal_bytes();
    fewer.then(|| candidate(id, Parameters::default(), size.minimal_bytes)).flatten()
}

/// BSR with the block edge that suits sampled parts of the matrix, if its blocks are full enough in the whole
/// matrix.
fn blocks<T: Scalar>(a: &Csr<T>, id: &str) -> Option<Candidate> {
    let part = part(a);
    let (block, _) = Bsr::choose(part.as_ref().unwrap_or(a), None, BSR_MIN_FILL).ok()?;
    let params = FormatParams { bsr_block: Some(block), ..FormatParams::default() };
    let size = Format::Bsr.with(&params).size(a).ok()?;
    let parameters = Parameters::default().with(BSR_BLOCK.id(), &block.to_string());
    candidate(id, parameters, size.minimal_bytes)
}

/// ELLPACK of a small matrix with short rows of nearly the same length.
fn equal_rows<T: Scalar>(a: &Csr<T>) -> Option<Candidate> {
    let size = Format::Ell(Order::RowMajor).with(&FormatParams::default()).size(a).ok()?;
    let suits =
        a.max_row_len() <= SHORT_ROW && size.padding <= MOST_PADDING && size.bytes <= SMALL_BYTES;
    let id = "cuda/ell/thread-per-row";
    suits.then(|| candidate(id, Parameters::default(), size.minimal_bytes)).flatten()
}

/// HLL in the first layout with little padding: rows in order, sorted, or in smaller hacks; rows far longer
/// than the others are stored apart. `layouts` lists hack sizes and windows in order of preference.
fn hacks<T: Scalar>(a: &Csr<T>, layouts: &[(&str, usize)]) -> Option<Hacks> {
    let mean = a.nnz() as f64 / a.rows().max(1) as f64;
    let most = (4.0 * mean).ceil() as usize + 32;
    let apart = (a.max_row_len() > 4 * most).then_some(most);
    let mut best: Option<Hacks> = None;
    for &(hack_size, sigma) in layouts {
        let mut parameters = Parameters::default()
            .with(HACK_SIZE.id(), hack_size)
            .with(SIGMA.id(), &sigma.to_string());
        if let Some(most) = apart {
            parameters = parameters.with(SPILL.id(), &most.to_string());
        }
        let spec = Format::Hll(Order::ColumnMajor).with(&parameters.format());
        let Ok(size) = spec.size(a) else { continue };
        let padding = size.padding;
        if best.as_ref().is_none_or(|(_, least)| padding < least.padding) {
            best = Some((parameters, size));
        }
        if padding <= LITTLE_PADDING {
            break;
        }
    }
    best.filter(|(_, size)| size.padding <= MOST_PADDING)
}

/// HLL with sorted rows, if the layout found has rows in order with some padding, of which sorting leaves less.
fn sorted_too<T: Scalar>(a: &Csr<T>, (parameters, size): &Hacks) -> Option<Hacks> {
    if parameters.get(&SIGMA) > 1 || size.padding <= SOME_PADDING {
        return None;
    }
    hacks(a, &[("32", DEFAULT_SIGMA)]).filter(|(_, sorted)| sorted.padding < size.padding)
}

/// Ids of the kernels on compact formats.
#[derive(Clone, Copy)]
struct Compacts {
    csr: Option<&'static str>,
    hll: &'static str,
}

/// The compact formats that move fewer bytes, with most of their columns in 16 bits: one with values in the
/// smallest coding, and one with plain values, which takes less decoding. A precision may save `narrower` bytes per
/// value; codes must then have fewer bits than values, and are requested by name.
fn compacts<T: Scalar>(
    a: &Csr<T>,
    ids: Compacts,
    hll: Option<Parameters>,
    narrower: u64,
) -> Vec<Candidate> {
    let csr = a.minimal_bytes() - a.nnz() as u64 * narrower;
    let pays = |bytes: u64, narrow: f64| {
        let fewer = (bytes as f64) < COMPACT_SHARE * csr as f64;
        fewer && narrow > 0.5
    };
    let parameters = hll.clone().unwrap_or_default();
    let mut found = Vec::new();
    for coding in [ValueCoding::Auto, ValueCoding::Plain] {
        let FormatSpec::HllCompact(layout, _) = Format::HllCompact.with(&parameters.format())
        else {
            break;
        };
        let Ok(estimate) = CompactEstimate::sampled(a, layout, coding) else { break };
        let coded = |parameters: Parameters| match (coding, estimate.code_bits) {
            (ValueCoding::Auto, Some(bits)) if narrower > 0 => {
                parameters.with(VALUES.id(), &bits.to_string())
            }
            (ValueCoding::Auto, _) => parameters,
            (other, _) => parameters.with(VALUES.id(), other.as_str()),
        };
        let (hll_bytes, is_smaller) = match estimate.code_bits {
            Some(bits) => (estimate.hll_bytes, u64::from(bits) < 8 * (T::BYTES as u64 - narrower)),
            None => (estimate.hll_bytes - estimate.hll_slots * narrower, true),
        };
        let pays_in_csr = pays(estimate.csr_bytes, estimate.csr_narrow);
        if let Some(id) = ids.csr.filter(|_| coding == ValueCoding::Auto && pays_in_csr) {
            found.extend(candidate(id, Parameters::default(), estimate.csr_bytes));
        }
        if hll.is_some() && is_smaller && pays(hll_bytes, estimate.hll_narrow) {
            let found_here = candidate(ids.hll, coded(parameters.clone()), hll_bytes);
            let is_coded = estimate.code_bits.is_some();
            found.extend(found_here.map(|candidate| Candidate { is_coded, ..candidate }));
        }
        // Without codes both are the same.
        if estimate.code_bits.is_none() {
            break;
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    const GPU: GpuTraits = GpuTraits { copy: None, multiprocessors: 132, shared_bytes: 0 };

    fn ids(a: &Csr, threads: usize, compact: bool) -> Vec<&'static str> {
        on_processor(a, threads, compact).iter().map(|candidate| candidate.kernel.id).collect()
    }

    fn made(m: usize, n: usize, entries: impl Iterator<Item = (usize, usize, f64)>) -> Csr {
        Csr::from_triplets(m, n, &entries.collect::<Vec<_>>()).unwrap()
    }

    #[test]
    fn short_rows_of_nearly_the_same_length_are_tried_in_ellpack_on_a_gpu() {
        // `m` rows of 3 or 4 nonzeros, and one of `longest`.
        let rows = |m: usize, longest: usize| {
            let length = move |i: usize| if i == 5 { longest } else { 3 + i % 2 };
            let row = move |i: usize| (0..length(i)).map(move |k| (i, (i * 31 + k * 997) % m, 1.0));
            made(m, m, (0..m).flat_map(row))
        };
        let offered = |a: &Csr| {
            let found = on_gpu(a, true, Precision::F64, GPU);
            found.iter().any(|one| one.kernel.id == "cuda/ell/thread-per-row")
        };
        assert!(offered(&rows(20_000, 4)));
        assert!(!offered(&rows(20_000, 8)), "slots are twice the nonzeros");
        assert!(!offered(&made(9, 99, (0..90).map(|k| (k / 10, k, 1.0)))), "rows of 10");
        assert!(!offered(&rows(900_000, 4)), "43 MB");
        assert!(!offered(&made(3, 3, std::iter::empty())));
    }

    #[test]
    fn a_few_even_rows_are_tried_with_lanes_that_share_each() {
        // `m` rows of 4 nonzeros, and one of `longest`.
        let rows = |m: usize, longest: usize| {
            let length = move |i: usize| if i == 5 { longest } else { 4 };
            made(m, m, (0..m).flat_map(|i| (0..length(i)).map(move |k| (i, (i + k) % m, 1.0))))
        };
        let tried = |a: &Csr| {
            Precision::ALL.map(|precision| {
                let found = on_gpu(a, true, precision, GPU);
                found.iter().any(|one| one.kernel.id == BY_LANES)
            })
        };
        assert_eq!(tried(&rows(9_000, 32)), [true; 5]);
        assert_eq!(tried(&rows(9_000, 40)), [false; 5], "a row of ten times the mean");
        assert_eq!(tried(&made(3, 3, std::iter::empty())), [false; 5]);
        assert!(!has_few_even_rows(&rows(1_100_000, 4)), "4.4 M nonzeros");
    }

    #[test]
    fn compact_hacks_are_tried_in_every_precision_with_codes_of_fewer_bits_than_values() {
        // Rows of eight nonzeros side by side, with this many values.
        let rows = |distinct: usize| {
            let row =
                move |i: usize| (0..8).map(move |k| (i, i + k, ((8 * i + k) % distinct) as f64));
            made(30_000, 30_007, (0..30_000).flat_map(row))
        };
        let tried = |a: &Csr, compact: bool| {
            Precision::ALL.map(|precision| {
                let found = match precision.in_f64() {
                    true => on_gpu(a, compact, precision, GPU),
                    false => on_gpu(&a.map(|value| value as f32), compact, precision, GPU),
                };
                let of_id = found.iter().filter(|one| one.kernel.id == "cuda/hll/compact");
                let coding = |one: &Candidate| {
                    let named = one.parameters.names().get("values").cloned();
                    named.unwrap_or_default()
                };
                let all: BTreeSet<String> = of_id.map(coding).collect();
                all.into_iter().collect::<Vec<_>>().join(" ")
            })
        };
        // Precision::ALL: f64, f32, and values of 4, 2 and 2 bytes.
        assert_eq!(tried(&rows(5), true), [" plain", " plain", "8 plain", "8 plain", "8 plain"]);
        assert_eq!(tried(&rows(300), true), [" plain", " plain", "16 plain", "plain", "plain"]);
        assert_eq!(tried(&rows(300), false), [""; 5]);
        // Without codes, there is nothing to name.
        let distinct = rows(usize::MAX);
        let found = on_gpu(&distinct, true, Precision::F32F64, GPU);
        let compact = found.iter().find(|one| one.kernel.id == "cuda/hll/compact").unwrap();
        assert!(!compact.is_coded && compact.parameters.get(&VALUES) == ValueCoding::Auto);
        let whole = on_gpu(&distinct, true, Precision::F64, GPU);
        let bytes = whole.iter().find(|one| one.kernel.id == "cuda/hll/compact").unwrap();
        // The last of 938 hacks has 16 rows.
        assert_eq!(bytes.minimal_bytes - compact.minimal_bytes, 4 * 8 * 32 * 938);
    }

    #[test]
    fn values_in_fewer_bits_are_tried_on_kernels_that_take_them_with_the_bytes_that_they_have() {
        let a = made(9, 9, (0..81).map(|k| (k / 9, k % 9, 1.0)));
        for precision in Precision::ALL {
            let found = on_gpu(&a, true, precision, GpuTraits { copy: Some(1e12), ..GPU });
            assert!(found.len() > 1 && found.iter().any(|one| one.kernel.id == ADAPTIVE));
            assert!(found.iter().all(|one| one.kernel.precisions.contains(&precision)));
        }
        let saved = a.minimal_bytes() - csr_bytes(&a, Precision::F32F64);
        assert_eq!(saved, 4 * a.nnz() as u64);
        let single = a.map(|value| value as f32);
        let saved = single.minimal_bytes() - csr_bytes(&single, Precision::Bf16F32);
        assert_eq!(saved, 2 * a.nnz() as u64);
    }

    #[test]
    fn rows_of_slightly_different_lengths_are_tried_in_order_and_sorted() {
        // Rows of `least` nonzeros, and up to `more` more, side by side.
        let rows = |least: usize, more: usize| {
            let row = move |i: usize| (0..least + i % (more + 1)).map(move |k| (i, i + k, 1.0));
            made(4096, 4200, (0..4096).flat_map(row))
        };
        let sigmas = |a: &Csr, id: &str| {
            let found = on_processor(a, 1, true);
            let of_id = found.iter().filter(|one| one.kernel.id == id);
            of_id.map(|one| one.parameters.get(&SIGMA)).collect::<Vec<_>>()
        };
        // 5 % of padding: sorting saves 12 bytes per row and takes 4.
        let slightly = rows(19, 2);
        assert_eq!(sigmas(&slightly, "cpu/hll/simd"), [DEFAULT_SIGMA, 1]);
        let compact: BTreeSet<usize> = sigmas(&slightly, "cpu/hll/compact").into_iter().collect();
        assert_eq!(compact, BTreeSet::from([1, DEFAULT_SIGMA]));
        let in_csr = on_processor(&slightly, 1, true);
        assert_eq!(in_csr.iter().filter(|one| one.kernel.id == "cpu/csr/compact").count(), 1);
        // No padding; 1 %; and 50 %.
        assert_eq!(sigmas(&rows(20, 0), "cpu/hll/simd"), [1]);
        assert_eq!(sigmas(&rows(60, 1), "cpu/hll/simd"), [1]);
        assert_eq!(sigmas(&rows(1, 2), "cpu/hll/simd"), [DEFAULT_SIGMA]);
    }

    #[test]
    fn the_structure_says_what_is_tried() {
        // Three diagonals of two values: every format that has fewer bytes.
        let band = |m: usize, value: fn(usize, usize) -> f64| {
            let row =
                move |i: usize| (i.max(1) - 1..(i + 2).min(m)).map(move |j| (i, j, value(i, j)));
            made(m, m, (0..m).flat_map(row))
        };
        let few = band(20_000, |i, j| if i == j { 2.0 } else { -1.0 });
        let of_few = ids(&few, 1, true);
        assert_eq!(of_few[..2], [SERIAL, "cpu/csr/simd"]);
        for id in ["cpu/dia/rows", "cpu/hll/simd", "cpu/csr/compact", "cpu/hll/compact"] {
            assert!(of_few.contains(&id), "{id} of {of_few:?}");
        }
        assert!(!of_few.contains(&"cpu/bsr/rows") && !of_few.contains(&"cpu/csr/nnz"));
        let plain = ids(&few, 2, false);
        assert!(plain.contains(&"cpu/csr/nnz") && !plain.contains(&"cpu/csr/merge"));
        assert!(plain.iter().all(|id| !id.ends_with("/compact")), "{plain:?}");

        // Dense blocks of 3 x 3, too many diagonals.
        let block = |k: usize| {
            let at = move |s: usize| (3 * k + s / 3, (3 * k * 7919) % 30_000 / 3 * 3 + s % 3);
            (0..9).map(move |s| (at(s).0, at(s).1, (k * 9 + s) as f64))
        };
        let blocks = made(30_000, 30_000, (0..10_000).flat_map(block));
        let of_blocks = on_processor(&blocks, 1, true);
        let bsr = of_blocks.iter().find(|one| one.kernel.id == "cpu/bsr/rows").unwrap();
        assert_eq!(bsr.parameters.get(&BSR_BLOCK), Some(3));
        assert!(!ids(&blocks, 1, true).contains(&"cpu/dia/rows"));

        // One row has nearly all nonzeros.
        let long =
            made(2_000, 2_000, (0..2_000).flat_map(|i| [(i, i, 1.0), (7, (i + 9) % 2_000, 0.5)]));
        assert!(ids(&long, 2, true).contains(&"cpu/csr/merge"));
        let hll = on_processor(&long, 2, false);
        let hll = hll.iter().find(|one| one.kernel.id == "cpu/hll/simd").unwrap();
        assert!(hll.parameters.get(&SPILL).is_some());

        // Far columns and distinct values: no format is compact, so none has fewer bytes.
        let far = |i: usize| {
            (0..4).map(move |k| (i, (i * 7 + k * 150_001) % 600_000, (4 * i + k) as f64))
        };
        let far = made(100_000, 600_000, (0..100_000).flat_map(far));
        assert!(!ids(&far, 1, true).contains(&"cpu/csr/compact"), "{:?}", ids(&far, 1, true));

        let empty = made(3, 3, std::iter::empty());
        assert_eq!(ids(&empty, 4, true), [SERIAL]);
        assert_eq!(ids(&made(0, 0, std::iter::empty()), 4, true), [SERIAL]);
    }
}
