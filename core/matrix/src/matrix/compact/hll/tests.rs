//! Tests of compact HLL.

use super::*;
use crate::matrix::examples;

fn layout(hack_size: usize) -> HllLayout {
    HllLayout::plain(hack_size, Order::ColumnMajor)
}

fn made(a: &Csr, hack_size: usize, coding: ValueCoding) -> CompactHll {
    CompactHll::from_csr(a, layout(hack_size), coding, MemoryLimit::unlimited()).unwrap()
}

#[test]
fn the_papers_example_has_its_bases_and_distances() {
    let a = made(&examples::five_by_five(), 4, ValueCoding::Plain);
    // Columns of the lines: 0 1 1 2, 1 2 2 3, then 3 and 4 alone.
    assert_eq!(a.base(), [0, 1, 3, 4]);
    assert_eq!(a.low(), [0, 1, 1, 2, 0, 1, 1, 2, 0, 0, 0, 0, 0, 0, 0, 0]);
    assert_eq!((a.high().len(), a.wide_lines()), (0, 0));
    assert_eq!((a.shortest(), a.row_len()), (&[2, 0][..], &[2, 2, 2, 2, 2][..]));
    // Slots, bases, offsets, widths, shortest rows, the length of the one row in the ragged hack, y and x.
    let moved = 16 * (8 + 2) + 4 * 4 + 8 * 3 + 4 * 2 + 4 * 2 + 4 + 8 * 5 + 8 * 5;
    assert_eq!(a.minimal_bytes(), moved);
    assert_eq!(a.bytes(), moved - 4 - 8 * 10 + 4 * 5);
    assert_eq!(a.to_csr(), examples::five_by_five());
    let coded = made(&examples::five_by_five(), 4, ValueCoding::Byte);
    assert_eq!((coded.values().as_str(), coded.values().distinct()), ("8", Some(6)));
    assert_eq!(coded.to_csr(), examples::five_by_five());
}

#[test]
fn columns_65536_apart_keep_their_line_in_32_bits_and_no_other() {
    // Lines of the first hack: columns 0 1 2 3, then 9 9 9 and 70 000, then the last columns.
    let (n, last) = (200_000, 199_999);
    let mut entries: Vec<_> = (0..4usize).map(|i| (i, i, 1.0 + i as f64)).collect();
    entries.extend((0..3).map(|i| (i, 9, 2.0)));
    entries.extend([(3, 70_000, 3.0), (0, last, 4.0), (3, last - 7, 5.0), (6, last, 6.0)]);
    let a = Csr::from_triplets(7, n, &entries).unwrap();
    let compact = made(&a, 4, ValueCoding::Auto);
    assert_eq!(compact.base(), [0, WIDE, last as u32 - 7, last as u32]);
    assert_eq!(compact.high(), [0, 0, 0, 1]);
    assert_eq!((compact.wide_before(0), compact.wide_before(1), compact.wide_before(2)), (0, 1, 1));
    assert_eq!(compact.to_csr(), a);
    let plan = HllPlan::new(&a, layout(4), ValueCoding::Auto).unwrap();
    assert_eq!(plan.lines(), Lines { lines: 4, wide: 1, entries: 11, wide_entries: 4 });
    assert_eq!((plan.bytes(), plan.slots()), (u128::from(compact.bytes()), 16));
}

#[test]
fn every_bit_of_a_value_survives() {
    let nan = |payload: u64| f64::from_bits(f64::NAN.to_bits() | payload);
    let values = [0.0, -0.0, nan(1), nan(77), f64::NEG_INFINITY, 5e-324, 1.0, -0.0];
    let entries: Vec<_> = values.iter().enumerate().map(|(i, &v)| (i, i * i % 8, v)).collect();
    let a = Csr::from_triplets(8, 8, &entries).unwrap();
    for coding in ValueCoding::ALL {
        let back = made(&a, 4, coding).to_csr();
        let bits = |a: &Csr| a.val().iter().map(|v| v.to_bits()).collect::<Vec<_>>();
        assert_eq!((bits(&back), back.col()), (bits(&a), a.col()));
    }
}

#[test]
fn sorted_rows_and_rows_kept_apart_come_back() {
    let lengths = [1, 1, 1, 9, 1, 1, 1, 9, 0, 3];
    let rows = lengths.iter().enumerate();
    let entries: Vec<_> =
        rows.flat_map(|(i, &l)| (0..l).map(move |j| (i, j, (i * 10 + j) as f64))).collect();
    let a = Csr::from_triplets(10, 9, &entries).unwrap();
    for (sigma, spill, coding) in [
        (8, None, ValueCoding::Plain),
        (1, Some(8), ValueCoding::Auto),
        (10, Some(2), ValueCoding::Short),
    ] {
        let layout = HllLayout { sigma, spill, ..layout(4) };
        let compact = CompactHll::from_csr(&a, layout, coding, MemoryLimit::unlimited()).unwrap();
        assert_eq!(compact.to_csr(), a);
        let plan = HllPlan::new(&a, layout, coding).unwrap();
        assert_eq!(plan.bytes(), u128::from(compact.bytes()));
        assert_eq!(plan.minimal_bytes(9), u128::from(compact.minimal_bytes()));
    }
}

#[test]
fn what_needs_more_bytes_than_there_are_is_refused_with_their_number() {
    let a = examples::five_by_five();
    let needed = made(&a, 4, ValueCoding::Plain).bytes();
    let limit = MemoryLimit::bytes(needed - 1);
    let error = CompactHll::from_csr(&a, layout(4), ValueCoding::Plain, limit).unwrap_err();
    assert!(error.to_string().contains(&format!("{needed} bytes")), "{error}");
    assert!(CompactHll::from_csr(&a, layout(5), ValueCoding::Plain, limit).is_err());
}

#[test]
fn arrays_that_break_the_invariants_are_refused() {
    let good = made(&examples::five_by_five(), 4, ValueCoding::Plain);
    let build = |base: &[u32], low: &[u16], high: &[u16], values: &Coded<f64>| {
        let arrays = (base.to_vec(), low.to_vec(), high.to_vec());
        let (order, len) = (RowOrder::identity(5), good.row_len().to_vec());
        CompactHll::try_new(4, order, len, arrays, values.clone(), good.tail().clone())
    };
    let (base, low, values) = (good.base(), good.low(), good.values());
    assert_eq!(build(base, low, &[], values).as_ref(), Ok(&good));
    assert!(build(&base[1..], low, &[], values).is_err(), "a base too few");
    assert!(build(base, &low[1..], &[], values).is_err(), "a slot too few");
    assert!(build(base, low, &[0; 4], values).is_err(), "upper halves without a wide line");
    let wide = [WIDE, 1, 3, 4];
    assert!(build(&wide, low, &[], values).is_err(), "no upper halves");
    assert!(build(&wide, low, &[0; 4], values).is_ok());
    assert!(build(&wide, low, &[0, 0, 0, 1], values).is_err(), "column past the last");
    let low_with = |k: usize, to: u16| {
        let mut low = low.to_vec();
        low[k] = to;
        low
    };
    assert!(build(base, &low_with(3, 5), &[], values).is_err(), "column past the last");
    assert!(build(&[1, 1, 3, 4], low, &[], values).is_err(), "columns repeat");
    assert!(build(base, &low_with(15, 1), &[], values).is_err(), "a distance in a blank slot");
    let Coded::Plain(plain) = values else { panic!("values as they are") };
    let mut spoiled = plain.clone();
    spoiled[15] = -0.0;
    assert!(build(base, low, &[], &Coded::Plain(spoiled)).is_err(), "a value in a blank slot");
    assert!(build(base, low, &[], &Coded::Plain(plain[1..].to_vec())).is_err(), "too few values");
    let coded = |codes: Vec<u16>, table: Vec<f64>| Coded::Short { codes, table };
    assert!(build(base, low, &[], &coded(vec![0; 16], vec![1.0])).is_ok());
    assert!(build(base, low, &[], &coded(vec![0; 16], vec![])).is_err(), "no such code");
    assert!(build(base, low, &[], &coded(vec![0; 16], vec![1.0, 1.0])).is_err(), "twice the same");
}
