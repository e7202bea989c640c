//! The rows of a matrix stored level by level or colour by colour, and sweeps over them.

use super::levels::{Direction, LevelSets, Levels};
use super::pass::{Pass, Update};
use super::rows::{Columns, OrderedRows, Source};
use super::run::run;
use super::steps::{GRAIN, Sharing};
use super::vector::Shared;
use super::{Coloring, Diagonal, Mode, OperandError, ZeroStart};
use sparsescope_matrix::matrix::{Csr, Real, prefetch};
use sparsescope_matrix::memory::{MemoryLimit, zeroed};
use sparsescope_matrix::parallel::*;

/// What parallel sweeps over one matrix need: built once, then only followed. The elements of b and x are
/// stored in the order in which the ascending sweep computes them; [`to_order`](Self::to_order) and
/// [`from_order`](Self::from_order) permute vectors there and back.
#[derive(Clone, Debug)]
pub struct Schedule<T> {
    /// Row that the element at each place belongs to.
    order: Vec<u32>,
    /// Place of each row's element.
    places: Vec<u32>,
    rows: OrderedRows<T>,
    backward: Backward<T>,
    groups: [usize; 2],
    workers: usize,
}

/// Working memory of sweeps, allocated on demand and kept for the next call.
#[derive(Clone, Debug, Default)]
pub struct Workspace<T> {
    /// The second vector, for structures that need one.
    other: Vec<T>,
    /// The sum of each row before its diagonal.
    sums: Vec<T>,
}

/// How the descending sweep runs.
#[derive(Clone, Debug)]
enum Backward<T> {
    /// The ascending one in reverse: every row is computed before the rows of the columns before its
    /// diagonal, and after those of the columns after it. Values that a row still needs are then never
    /// overwritten, and one vector is enough.
    Mirrored,
    /// In an order of its own, from one vector into another.
    Own(Box<OrderedRows<T>>),
}

impl<T: Real> Schedule<T> {
    /// Level scheduling (Anderson and Saad, 1989): the rows of a level in parallel, level after level. The
    /// result is bitwise identical to that of [`serial`](super::serial).
    ///
    /// The rows of a level are ordered like the rows that they wait for, so that what they read is close
    /// together as well. If the structure is symmetric or triangular, the levels serve both sweeps; otherwise
    /// the rows are stored a second time, in the order of the descending sweep.
    ///
    /// For `workers` workers. Fails before allocating if that needs more than `limit`.
    pub fn levels(
        levels: LevelSets<'_, T>,
        workers: usize,
        limit: MemoryLimit,
    ) -> Result<Self, OperandError> {
        Self::levels_in(levels, Sharing { workers, grain: GRAIN }, limit)
    }

    pub(super) fn levels_in(
        levels: LevelSets<'_, T>,
        sharing: Sharing,
        limit: MemoryLimit,
    ) -> Result<Self, OperandError> {
        let LevelSets { a, diagonal, forward, backward } = levels;
        let copies = if backward.is_some() { 2 } else { 1 };
        let needed = copies * OrderedRows::bytes_for(a) + 32 * a.rows() as u128;
        limit.check("the rows level by level", needed)?;
        let (order, places) = followed(a, diagonal, &forward);
        let source = Source { a, diagonal, places: &places, columns: Columns::AsInMatrix };
        let rows = OrderedRows::new(&source, &order, None, forward.groups().ptr(), sharing);
        let mut groups = [forward.groups().len(); 2];
        drop(forward);
        let backward = match backward {
            None => Backward::Mirrored,
            Some(levels) => {
                groups[1] = levels.groups().len();
                let mut order = levels.groups().rows().to_vec();
                for group in levels.groups().ptr().windows(2) {
                    let level = &mut order[group[0] as usize..group[1] as usize];
                    level.sort_unstable_by_key(|&i| places[i as usize]);
                }
                let place = order.par_iter().map(|&i| places[i as usize]).collect();
                let ptr = levels.groups().ptr();
                let rows = OrderedRows::new(&source, &order, Some(place), ptr, sharing);
                Backward::Own(Box::new(rows))
            }
        };
        Ok(Self { order, places, rows, backward, groups, workers: sharing.workers })
    }

    /// Multicolour Gauss–Seidel: the rows of a colour in parallel, colours ascending, then descending. The
    /// result is bitwise identical to that of [`serial`](super::serial) for the matrix whose rows and columns
    /// are renumbered in this [`order`](Self::order), which is another iteration.
    ///
    /// For `workers` workers. Panics if `diagonal` and `colors` are not those of `a`. Fails before allocating
    /// if that needs more than `limit`.
    pub fn colored(
        a: &Csr<T>,
        diagonal: &Diagonal,
        colors: &Coloring,
        workers: usize,
        limit: MemoryLimit,
    ) -> Result<Self, OperandError> {
        Self::colored_in(a, diagonal, colors, Sharing { workers, grain: GRAIN }, limit)
    }

    pub(super) fn colored_in(
        a: &Csr<T>,
        diagonal: &Diagonal,
        colors: &Coloring,
        sharing: Sharing,
        limit: MemoryLimit,
    ) -> Result<Self, OperandError> {
        assert!(diagonal.is_of(a), "the diagonal is the matrix's");
        assert!(colors.is_proper(a), "the colours are those of the matrix");
        let needed = OrderedRows::bytes_for(a) + 24 * a.rows() as u128;
        limit.check("the rows by colour", needed)?;
        let order = colors.groups().rows().to_vec();
        let mut places = zeroed(0u32, order.len());
        for (place, &i) in order.iter().enumerate() {
            places[i as usize] = place as u32;
        }
        let source = Source { a, diagonal, places: &places, columns: Columns::ByPlace };
        let rows = OrderedRows::new(&source, &order, None, colors.groups().ptr(), sharing);
        let groups = [colors.groups().len(); 2];
        let workers = sharing.workers;
        Ok(Self { order, places, rows, backward: Backward::Mirrored, groups, workers })
    }

    /// Row that the element at each place belongs to.
    pub fn order(&self) -> &[u32] {
        &self.order
    }

    /// Number of groups of independent rows, levels or colours, of the ascending and of the descending sweep.
    pub fn groups(&self) -> [usize; 2] {
        self.groups
    }

    /// Bytes of the rows, the order and the steps.
    pub fn bytes(&self) -> u64 {
        let own = match &self.backward {
            Backward::Mirrored => 0,
            Backward::Own(own) => own.bytes(),
        };
        8 * self.order.len() as u64 + self.rows.bytes() + own
    }

    /// Permutes a vector into this order. Panics unless both have one element per row.
    pub fn to_order(&self, natural: &[T], ordered: &mut [T]) {
        gather(&self.order, natural, ordered);
    }

    /// Permutes a vector back into the matrix's order. Panics unless both have one element per row.
    pub fn from_order(&self, ordered: &[T], natural: &mut [T]) {
        gather(&self.places, ordered, natural);
    }

    /// Runs `sweeps` pairs of a sweep over the rows in ascending order and one in descending order. `b` and x
    /// are in order; `b` is read only in [`Mode::Standard`].
    ///
    /// In standard mode the descending sweep starts each sum with the ascending one's sum before the
    /// diagonal, since it would subtract the same products from the same number. It may skip the rows that
    /// the ascending sweep ended with, since their values would not change.
    ///
    /// b and x have n elements; panics otherwise.
    pub fn symgs(
        &self,
        mode: Mode,
        b: &[T],
        x: &mut [T],
        workspace: &mut Workspace<T>,
        sweeps: usize,
    ) {
        let updates = match mode {
            Mode::Smoother => [Update::Smooth; 2],
            Mode::Standard => [Update::Solve, Update::Finish],
        };
        self.sweep(updates, b, x, workspace, sweeps);
    }

    /// Computes z = M⁻¹·r in the given form; r and z are in order, and the previous content of z is not read.
    /// The exact form starts its descending sums as [`symgs`](Self::symgs) does, and so reads each nonzero
    /// once, like the other form.
    ///
    /// r and z have n elements; panics otherwise.
    pub fn zero_start(&self, form: ZeroStart, r: &[T], z: &mut [T], workspace: &mut Workspace<T>) {
        let descending = match form {
            ZeroStart::Exact => Update::Finish,
            ZeroStart::Half => Update::SolveUpper,
        };
        self.sweep([Update::SolveLower, descending], r, z, workspace, 1);
    }

    fn sweep(
        &self,
        updates: [Update; 2],
        b: &[T],
        x: &mut [T],
        workspace: &mut Workspace<T>,
        rounds: usize,
    ) {
        let n = self.order.len();
        assert_eq!(b.len(), n, "the right-hand side has one element a row");
        assert_eq!(x.len(), n, "x has one element a row");
        if updates[0] != Update::Smooth {
            fit(&mut workspace.sums, n);
        }
        let rows = &self.rows;
        let (x, sums) = (Shared::new(x), Shared::new(&mut workspace.sums));
        let (sweep, update, reversed, skipped) = (Direction::Forward, updates[0], false, 0);
        let mut forward = Pass { rows, reversed, skipped, update, sweep, b, sums, old: x, new: x };
        let (sweep, update) = (Direction::Backward, updates[1]);
        let backward = match &self.backward {
            Backward::Mirrored => {
                let skipped = if update == Update::Finish { rows.steps().last_alone() } else { 0 };
                Pass { reversed: true, skipped, update, sweep, ..forward }
            }
            Backward::Own(rows) => {
                fit(&mut workspace.other, n);
                forward.new = Shared::new(&mut workspace.other);
                Pass { rows, update, sweep, old: forward.new, new: x, ..forward }
            }
        };
        // SAFETY: b and the vectors that are used have n elements, and are borrowed until this returns;
        // columns and places are below n, and no two rows have the same place (`OrderedRows::new`). The rows
        // of a group read no element that another of them writes: in `new`, because rows of a level wait for
        // none of their own level, and if `old` is the same vector, because `is_mirrored` or the colouring
        // found no nonzero within a group.
        unsafe { run(&[forward, backward], rounds, self.workers) };
    }
}

/// Rows that a worker processes at a time; fewer are not worth sharing.
const CHUNK: usize = 1 << 14;

/// Prefetch distance in rows, for accesses that the hardware prefetcher cannot predict.
const AHEAD: usize = 24;

/// The rows level by level, those of a level in the order of the last row that each waits for, and the place
/// of each.
fn followed<T: Real>(a: &Csr<T>, diagonal: &Diagonal, levels: &Levels) -> (Vec<u32>, Vec<u32>) {
    let mut order = levels.groups().rows().to_vec();
    let mut places = zeroed(0u32, order.len());
    let mut keys: Vec<u64> = Vec::new();
    let waits_for = |i: u32| {
        let before = diagonal.before()[i as usize] as usize;
        &a.row(i as usize).0[..before]
    };
    for group in levels.groups().ptr().windows(2) {
        let level = &mut order[group[0] as usize..group[1] as usize];
        keys.clear();
        keys.resize(level.len(), 0);
        let find = |(rows, keys): (&[u32], &mut [u64])| {
            for (k, (&i, key)) in rows.iter().zip(keys).enumerate() {
                for &c in rows.get(k + AHEAD).map_or(&[][..], |&i| waits_for(i)) {
                    prefetch(&places[c as usize]);
                }
                let last = waits_for(i).iter().map(|&c| places[c as usize]).max().unwrap_or(0);
                *key = u64::from(last) << 32 | u64::from(i);
            }
        };
        if level.len() <= CHUNK {
            find((&*level, &mut keys[..]));
            keys.sort_unstable();
        } else {
            level.par_chunks(CHUNK).zip(keys.par_chunks_mut(CHUNK)).for_each(find);
            keys.par_sort_unstable();
        }
        let shared = Shared::new(&mut places);
        let put = |(first, (rows, keys)): (usize, (&mut [u32], &[u64]))| {
            for (k, (row, &key)) in rows.iter_mut().zip(keys).enumerate() {
                if let Some(&key) = keys.get(k + AHEAD) {
                    shared.prefetch(key as u32 as usize);
                }
                *row = key as u32;
                // SAFETY: `places` has one element per row and stays alive; no row is twice in the level.
                unsafe { shared.put(*row as usize, group[0] + (first * CHUNK + k) as u32) };
            }
        };
        if level.len() <= CHUNK {
            put((0, (level, &keys[..])));
        } else {
            level.par_chunks_mut(CHUNK).zip(keys.par_chunks(CHUNK)).enumerate().for_each(put);
        }
    }
    (order, places)
}

/// Resizes the vector to `n` elements with unspecified values.
fn fit<T: Real>(vector: &mut Vec<T>, n: usize) {
    if vector.len() != n {
        *vector = zeroed(T::ZERO, n);
    }
}

/// to[k] = from[at[k]].
fn gather<T: Real>(at: &[u32], from: &[T], to: &mut [T]) {
    assert_eq!((from.len(), to.len()), (at.len(), at.len()), "a vector has one element a row");
    to.par_chunks_mut(CHUNK).zip(at.par_chunks(CHUNK)).for_each(|(to, at)| {
        for (e, (to, &k)) in to.iter_mut().zip(at).enumerate() {
            if let Some(&k) = at.get(e + AHEAD) {
                prefetch(from.as_ptr().wrapping_add(k as usize));
            }
            *to = from[k as usize];
        }
    });
}
