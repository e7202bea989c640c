//! Compact HLL as the warps of a GPU load it: the slots of a row in groups of four.

use super::coded::{Coded, in_pieces};
use super::hll::CompactHll;
use super::lines::WIDE;
use crate::matrix::{FormatError, Scalar};
use crate::memory::zeroed;
use crate::parallel::*;

/// Rows per hack: one per lane of a warp.
const ROWS: usize = 32;

/// Lines a group.
const LINES: usize = 4;

/// Slots a group.
const SLOTS: usize = ROWS * LINES;

/// The distance that marks a slot without a nonzero.
pub const NO_SLOT: u16 = u16::MAX;

/// The slots of compact HLL with hacks of 32 rows, four lines per group, so that a lane loads four slots
/// of its row at once. Slot j of row r of group g lies at 4·(32·g + r) + j of `low` and of codes or values.
/// Rows have the positions of the source matrix; rows kept apart are not included.
///
/// Where a line of a group is wide, or a distance as large as [`NO_SLOT`], the whole group has 32-bit
/// columns: the first of its bases is [`WIDE`], the second its number among such groups, `low` holds the
/// lower halves and `high` the upper ones. An empty slot has [`NO_SLOT`] in each.
#[derive(Clone, Debug, PartialEq)]
pub struct Fours<T = f64> {
    group_ptr: Vec<u32>,
    base: Vec<u32>,
    low: Vec<u16>,
    high: Vec<u16>,
    values: Coded<T>,
}

/// A slot of a hack that holds a nonzero.
struct Entry {
    line: usize,
    row: usize,
    col: u32,
}

impl<T: Scalar> Fours<T> {
    /// Regroups the slots of `a`. Fails when its hacks have another size, or when the number of groups
    /// does not fit in 32 bits.
    pub fn of(a: &CompactHll<T>) -> Result<Self, FormatError> {
        let shape = a.shape();
        if shape.hack_size() != ROWS {
            return Err(FormatError::Invariant(format!(
                "groups of four slots need a hack size of {ROWS}, found {}",
                shape.hack_size()
            )));
        }
        let groups = |h: usize| (shape.max_nzr()[h] as usize).div_ceil(LINES);
        let mut end = 0u64;
        let mut group_ptr = vec![0];
        for h in 0..shape.hacks() {
            end += groups(h) as u64;
            let counted = u32::try_from(end);
            let too_many = |_| FormatError::Invariant(format!("more than {} groups", u32::MAX));
            group_ptr.push(counted.map_err(too_many)?);
        }
        // Flags of the wide groups of each hack; then the number of wide groups before it.
        let wide: Vec<Vec<bool>> =
            (0..shape.hacks()).into_par_iter().map(|h| wide_groups(a, h, groups(h))).collect();
        let mut wide_before = vec![0u64];
        let mut count = 0;
        for of_hack in &wide {
            count += of_hack.iter().filter(|&&wide| wide).count() as u64;
            wide_before.push(count);
        }
        let all = end as usize;
        let mut base = zeroed(0u32, all * LINES);
        let mut low = vec![NO_SLOT; all * SLOTS];
        let mut high = vec![NO_SLOT; count as usize * SLOTS];
        {
            let each = |slots: usize| group_ptr.iter().map(move |&g| u64::from(g) * slots as u64);
            let of_high = wide_before.iter().map(|&w| w * SLOTS as u64);
            let hacks = in_pieces(&mut base, each(LINES))
                .into_par_iter()
                .zip(in_pieces(&mut low, each(SLOTS)))
                .zip(in_pieces(&mut high, of_high))
                .enumerate();
            hacks.for_each(|(h, ((base, low), high))| {
                let mut numbers = wide_before[h] as u32..;
                let first = numbers.start;
                let number: Vec<Option<u32>> =
                    wide[h].iter().map(|&w| if w { numbers.next() } else { None }).collect();
                for (g, number) in number.iter().enumerate() {
                    if let Some(number) = number {
                        base[g * LINES] = WIDE;
                        base[g * LINES + 1] = *number;
                    }
                }
                let line = lines(a, h);
                for (j, &of_line) in a.base()[line].iter().enumerate() {
                    if number[j / LINES].is_none() {
                        base[j] = of_line;
                    }
                }
                entries(a, h, |Entry { line, row, col }| {
                    let (g, j) = (line / LINES, line % LINES);
                    let slot = ROWS * LINES * g + LINES * row + j;
                    match number[g] {
                        Some(number) => {
                            low[slot] = col as u16;
                            let in_group = slot - g * SLOTS;
                            high[(number - first) as usize * SLOTS + in_group] = (col >> 16) as u16;
                        }
                        None => low[slot] = (col - base[line]) as u16,
                    }
                });
            });
        }
        let values = match a.values() {
            Coded::Plain(values) => Coded::Plain(regrouped(a, &group_ptr, values, T::ZERO)),
            Coded::Byte { codes, table } => {
                let codes = regrouped(a, &group_ptr, codes, 0);
                Coded::Byte { codes, table: table.clone() }
            }
            Coded::Short { codes, table } => {
                let codes = regrouped(a, &group_ptr, codes, 0);
                Coded::Short { codes, table: table.clone() }
            }
        };
        Ok(Self { group_ptr, base, low, high, values })
    }

    /// First group of each hack, and the number of groups.
    pub fn group_ptr(&self) -> &[u32] {
        &self.group_ptr
    }

    /// Four per group: the column that the distances of a line count from.
    pub fn base(&self) -> &[u32] {
        &self.base
    }

    /// Distance from the base of each slot, or the lower half of its column.
    pub fn low(&self) -> &[u16] {
        &self.low
    }

    /// The upper half of the column of each slot of wide groups.
    pub fn high(&self) -> &[u16] {
        &self.high
    }

    /// The value of each slot.
    pub fn values(&self) -> &Coded<T> {
        &self.values
    }

    /// Whether the columns of a group take 32 bits.
    pub fn is_wide(&self, group: usize) -> bool {
        self.base[group * LINES] == WIDE
    }

    /// Column and value of slot `j` of row `r` of a group; `None` if the slot is empty.
    pub fn entry(&self, group: usize, r: usize, j: usize) -> Option<(u32, T)> {
        let slot = SLOTS * group + LINES * r + j;
        let low = self.low[slot];
        let col = match self.is_wide(group) {
            true => {
                let number = self.base[group * LINES + 1] as usize;
                let upper = self.high[number * SLOTS + LINES * r + j];
                let col = u32::from(upper) << 16 | u32::from(low);
                (col != u32::MAX).then_some(col)?
            }
            false => (low != NO_SLOT).then(|| self.base[group * LINES + j] + u32::from(low))?,
        };
        Some((col, self.values.get(slot)))
    }

    /// Bytes of all arrays; an SpMV reads all of them.
    pub fn bytes(&self) -> u64 {
        4 * (self.group_ptr.len() + self.base.len()) as u64
            + 2 * (self.low.len() + self.high.len()) as u64
            + self.values.bytes()
    }
}

/// The lines of a hack.
fn lines<T: Scalar>(a: &CompactHll<T>, h: usize) -> std::ops::Range<usize> {
    let offsets = a.shape().offsets();
    offsets[h] as usize / ROWS..offsets[h + 1] as usize / ROWS
}

/// Calls `with` with each nonzero of a hack.
fn entries<T: Scalar>(a: &CompactHll<T>, h: usize, mut with: impl FnMut(Entry)) {
    let rows = a.shape().hack_rows(h);
    let mut wide = a.wide_before(h);
    for (line, at) in lines(a, h).enumerate() {
        let base = a.base()[at];
        for (row, &length) in a.row_len()[rows.clone()].iter().enumerate() {
            if line < length as usize {
                let low = u32::from(a.low()[at * ROWS + row]);
                let col = match base {
                    WIDE => u32::from(a.high()[wide * ROWS + row]) << 16 | low,
                    base => base + low,
                };
                with(Entry { line, row, col });
            }
        }
        wide += usize::from(base == WIDE);
    }
}

/// Which groups of a hack need 32-bit columns.
fn wide_groups<T: Scalar>(a: &CompactHll<T>, h: usize, groups: usize) -> Vec<bool> {
    let mut wide = vec![false; groups];
    let base = &a.base()[lines(a, h)];
    for (line, &base) in base.iter().enumerate() {
        wide[line / LINES] |= base == WIDE;
    }
    entries(a, h, |Entry { line, col, .. }| {
        let base = base[line];
        wide[line / LINES] |= base != WIDE && col - base == u32::from(NO_SLOT);
    });
    wide
}

/// The stored value of each slot, at its place in the groups; `blank` elsewhere.
fn regrouped<T: Scalar, U: Copy + Send + Sync>(
    a: &CompactHll<T>,
    group_ptr: &[u32],
    stored: &[U],
    blank: U,
) -> Vec<U> {
    let groups = group_ptr.last().map_or(0, |&groups| groups as usize);
    let mut all = zeroed(blank, groups * SLOTS);
    let bounds = group_ptr.iter().map(|&g| u64::from(g) * SLOTS as u64);
    in_pieces(&mut all, bounds).into_par_iter().enumerate().for_each(|(h, piece)| {
        for (line, at) in lines(a, h).enumerate() {
            for r in 0..ROWS {
                piece[SLOTS * (line / LINES) + LINES * r + line % LINES] = stored[at * ROWS + r];
            }
        }
    });
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matrix::{Csr, HllLayout, Order, ValueCoding};
    use crate::memory::MemoryLimit;

    /// Checks that every nonzero of every row is found again, in order.
    fn holds(a: &Csr, layout: HllLayout, coding: ValueCoding) -> Fours {
        let compact = CompactHll::from_csr(a, layout, coding, MemoryLimit::unlimited()).unwrap();
        let fours = Fours::of(&compact).unwrap();
        for p in 0..compact.shape().rows() {
            let (h, r) = (p / ROWS, p % ROWS);
            let groups = fours.group_ptr()[h] as usize..fours.group_ptr()[h + 1] as usize;
            let slots = groups.flat_map(|g| (0..LINES).map(move |j| (g, j)));
            let found: Vec<_> = slots.filter_map(|(g, j)| fours.entry(g, r, j)).collect();
            let (col, val) = a.row(compact.row_order().row_at(p));
            assert_eq!(found.iter().map(|one| one.0).collect::<Vec<_>>(), col, "row {p}");
            let bits = |val: &mut dyn Iterator<Item = f64>| -> Vec<u64> {
                val.map(f64::to_bits).collect()
            };
            let expected = bits(&mut val.iter().copied());
            assert_eq!(bits(&mut found.iter().map(|one| one.1)), expected, "row {p}");
        }
        fours
    }

    /// Rows of 0 to 11 nonzeros, near and far, including columns 65 535 and 131 072 apart.
    fn mixed() -> Csr {
        let row = |i: usize| {
            let near = (0..i % 10).map(move |j| (i, i + 3 * j, (j % 5) as f64 - 2.0));
            let far = (i % 70 == 9).then_some((i, 65_535 + i, f64::NAN));
            near.chain(far).chain((i % 50 == 7).then_some((i, 190_000, f64::INFINITY)))
        };
        let exactly = [(300, 0, 1.0), (301, 65_535, 2.0), (300, 131_072, -0.0)];
        let all: Vec<_> = (0..290).flat_map(row).chain(exactly).collect();
        Csr::from_triplets(333, 200_000, &all).unwrap()
    }

    #[test]
    fn slots_are_found_again_whatever_they_hold() {
        let a = mixed();
        for sigma in [1, 128] {
            let plain = HllLayout::plain(32, Order::ColumnMajor);
            let layout = HllLayout { sigma, ..plain };
            for coding in [ValueCoding::Plain, ValueCoding::Byte, ValueCoding::Short] {
                let fours = holds(&a, layout, coding);
                let wide = (0..fours.base().len() / LINES).filter(|&g| fours.is_wide(g)).count();
                assert!(wide > 0 && wide < fours.base().len() / LINES);
                assert_eq!(fours.high().len(), wide * SLOTS);
            }
        }
    }

    #[test]
    fn a_distance_that_marks_no_slot_makes_its_group_wide() {
        let of = |far: usize| {
            let a = Csr::from_triplets(2, 70_000, &[(0, 5, 1.0), (1, 5 + far, 2.0)]).unwrap();
            let layout = HllLayout::plain(32, Order::ColumnMajor);
            holds(&a, layout, ValueCoding::Plain).is_wide(0)
        };
        assert_eq!([65_534, 65_535, 65_536].map(of), [false, true, true]);
    }

    #[test]
    fn hacks_of_another_size_are_refused_and_no_rows_have_no_groups() {
        let a = mixed();
        let of = |size: usize, a: &Csr| {
            let layout = HllLayout::plain(size, Order::ColumnMajor);
            let limit = MemoryLimit::unlimited();
            Fours::of(&CompactHll::from_csr(a, layout, ValueCoding::Auto, limit).unwrap())
        };
        let error = of(8, &a).unwrap_err().to_string();
        assert!(error.contains("a hack size of 32, found 8"), "{error}");
        let none = of(32, &Csr::from_triplets(0, 3, &[]).unwrap()).unwrap();
        assert_eq!((none.group_ptr(), none.base().len()), (&[0][..], 0));
    }
}
