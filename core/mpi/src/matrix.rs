//! A distributed matrix: partitioned by rows, described, and with the reference for checks.

use std::cell::RefCell;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use super::agreed::agreed;
use super::links;
use super::numbering::Numbering;
use super::plan::planned;
use super::world::World;
use sparsescope_bench::experiment::Elements;
use sparsescope_bench::measure::{IntegerVector, integer_range};
use sparsescope_kernels::gate::{Reference, RowErrors};
use sparsescope_matrix::distributed::{BlockCounts, ExchangePlan, LocalMatrix, Partition, Rows};
use sparsescope_matrix::matrix::{IdentityStream, RowLengths, Statistics, nnz_class};
use sparsescope_matrix::memory::MemoryLimit;
use sparsescope_record::{Check, Link, MatrixRecord, PairTraffic, Reordered, Source, matrix_id};

/// A rank's part of a matrix, with what all ranks know about the whole.
pub struct SharedMatrix {
    local: LocalMatrix,
    plan: ExchangePlan,
    /// Own elements of x, in the local order.
    x: Vec<f64>,
    reference: Reference,
    partition: Partition,
    cols: u64,
    nnz: u64,
    pairs: Vec<PairTraffic>,
    links: Vec<Link>,
    plan_seconds: f64,
    reduction_seconds: f64,
    numbering: Option<Numbering>,
    record: Option<MatrixRecord>,
    seed: u64,
}

/// Origin of a matrix, for its record.
pub struct About {
    /// Display name.
    pub name: String,
    /// Generated, or a stand-in.
    pub source: Source,
    /// Its recipe.
    pub generator: Option<String>,
    /// Kind of values in the file; `real` where there is none.
    pub field: &'static str,
    /// Symmetry that the file declares; `general` where there is none.
    pub symmetry: &'static str,
    /// How its rows and columns were reordered.
    pub numbering: Option<Numbering>,
}

/// Partitions the rows into parts of about equal numbers of nonzeros, one per rank; each rank counts a share
/// of the rows.
pub fn equal_entries(
    world: &World,
    source: &dyn Rows,
    cancel: &AtomicBool,
) -> Result<Partition, String> {
    let (rows, ranks) = (source.rows(), world.ranks());
    let share = BlockCounts::share(rows, ranks, world.rank());
    let counted = agreed(world, BlockCounts::count(source, ranks, share, cancel))?;
    let counts = world.all_lists(&counted).concat();
    let counts = BlockCounts::new(rows, BlockCounts::block_of(rows, ranks), counts);
    Ok(Partition::equal_entries(&counts, ranks))
}

impl SharedMatrix {
    /// Distributes the rows of a matrix, with x being the integer vector of `seed`. Every rank requests only
    /// its own rows from `source`. `begun` is when reading or generating the matrix began. Fails on all ranks
    /// together, with a sentence.
    pub fn new(
        world: &World,
        (source, by_rows): (&dyn Rows, &Partition),
        (mut about, begun): (About, Instant),
        seed: u64,
        limit: MemoryLimit,
        cancel: &AtomicBool,
    ) -> Result<Self, String> {
        let (rows, cols) = (source.rows(), source.cols());
        let by_cols = match rows == cols {
            true => by_rows.clone(),
            false => Partition::equal_rows(cols, world.ranks()),
        };
        let local = LocalMatrix::new(source, world.rank(), by_rows, &by_cols, limit, cancel);
        let local = agreed(world, local)?;

        let start = Instant::now();
        let plan = planned(world, &local)?;
        let plan_seconds = world.max(start.elapsed().as_secs_f64());
        let pairs = links::traffic(world, plan.bytes_sent(size_of::<f64>()));

        let x = local.localised(&integer_range(local.cols(), seed));
        let first = local.rows().start;
        let reference = Reference::of_terms(local.own_rows(), first, |i, terms| {
            with_row(|row| {
                source.row(first + i as u64, row);
                with_elements(seed, |x| {
                    terms.extend(row.iter().map(|&(column, value)| (value, x.at(column))));
                });
            });
        });

        let nnz = world.sum(local.entries());
        let mut both_ways: Vec<(u32, u32)> =
            pairs.iter().map(|pair| (pair.from.min(pair.to), pair.from.max(pair.to))).collect();
        both_ways.sort_unstable();
        both_ways.dedup();
        let links = links::measured(world, &both_ways);
        let reduction_seconds = links::reduction(world);
        let mut shared = Self {
            local,
            plan,
            x,
            reference,
            partition: by_rows.clone(),
            cols,
            nnz,
            pairs,
            links,
            plan_seconds,
            reduction_seconds,
            numbering: about.numbering.take(),
            record: None,
            seed,
        };
        let read_seconds = begun.elapsed().as_secs_f64();
        shared.record = shared.described(world, source, about, read_seconds);
        Ok(shared)
    }

    /// The rank's rows.
    pub fn local(&self) -> &LocalMatrix {
        &self.local
    }

    /// Nonzeros of the whole matrix.
    pub fn nnz(&self) -> u64 {
        self.nnz
    }

    /// Which rank owns which rows.
    pub fn partition(&self) -> &Partition {
        &self.partition
    }

    /// Columns of the whole matrix.
    pub fn cols(&self) -> u64 {
        self.cols
    }

    /// How its rows and columns were reordered.
    pub fn numbering(&self) -> Option<&Numbering> {
        self.numbering.as_ref()
    }

    /// The matrix's record in a bundle, on rank 0.
    pub fn record(&self) -> Option<&MatrixRecord> {
        self.record.as_ref()
    }

    pub(super) fn plan(&self) -> &ExchangePlan {
        &self.plan
    }

    pub(super) fn x(&self) -> &[f64] {
        &self.x
    }

    /// x by index range.
    pub(super) fn elements(&self) -> Elements {
        let seed = self.seed;
        Arc::new(move |places| integer_range(places, seed))
    }

    /// The verdict over all ranks' parts of y, with this rank's in the order of the whole matrix.
    pub(super) fn check(&self, world: &World, y: &[f64]) -> Check {
        let own = self.reference.errors(y).to_words();
        let all = world.all_lists(&own).into_iter().filter_map(|words| words.try_into().ok());
        all.map(RowErrors::from_words).fold(RowErrors::default(), RowErrors::join).check()
    }

    pub(super) fn pairs(&self) -> &[PairTraffic] {
        &self.pairs
    }

    pub(super) fn links(&self) -> &[Link] {
        &self.links
    }

    pub(super) fn plan_seconds(&self) -> f64 {
        self.plan_seconds
    }

    pub(super) fn reduction_seconds(&self) -> f64 {
        self.reduction_seconds
    }

    /// Identity and statistics, as far as they can be computed without holding the matrix; rank 0 receives
    /// all of its bytes, piece by piece, and keeps the lengths of the rows.
    fn described(
        &self,
        world: &World,
        source: &dyn Rows,
        about: About,
        read_seconds: f64,
    ) -> Option<MatrixRecord> {
        let (rows, cols, nnz) = (source.rows(), source.cols(), self.nnz);
        let own = self.local.rows();
        let mut stream = IdentityStream::new(rows, cols, nnz);
        let lengths = world.gathered(&self.row_lengths());
        let mut end = 0;
        for length in lengths.iter().flatten() {
            end += u64::from(*length);
            stream.offset(end);
        }
        let (mut lower, mut upper, mut profile, mut diagonal) = (0, 0, 0, 0);
        let mut old = Structure::default();
        world.to_first::<u32>(
            |give| {
                in_pieces(
                    source,
                    own.clone(),
                    |i, row, piece| {
                        for &(column, _) in row {
                            lower = lower.max(i.saturating_sub(column));
                            upper = upper.max(column.saturating_sub(i));
                            diagonal += u64::from(column == i);
                            piece.push(column as u32);
                        }
                        if let Some(numbering) = &self.numbering {
                            old.add(numbering.order(), i, row);
                        }
                        profile += row.first().map_or(0, |&(first, _)| i.saturating_sub(first));
                    },
                    give,
                );
            },
            &mut |columns| columns.iter().for_each(|&column| stream.column(column)),
        );
        world.to_first::<f64>(
            |give| {
                let push = |_, row: &[(u64, f64)], piece: &mut Vec<f64>| {
                    piece.extend(row.iter().map(|&(_, value)| value));
                };
                in_pieces(source, own.clone(), push, give);
            },
            &mut |values| values.iter().for_each(|&value| stream.value(value)),
        );
        let (lower, upper) = (world.most(lower), world.most(upper));
        let (profile, diagonal) = (world.sum(profile), world.sum(diagonal));
        let reordered = self.numbering.as_ref().map(|numbering| Reordered {
            by: numbering.by().to_owned(),
            lower_bandwidth: world.most(old.lower),
            upper_bandwidth: world.most(old.upper),
            profile: world.sum(old.profile),
        });
        let name = match &reordered {
            Some(Reordered { by, .. }) => format!("{}-{by}", about.name),
            None => about.name,
        };
        let (lengths, sha256) = (lengths?, stream.finish());
        let cells = rows as f64 * cols as f64;
        Some(MatrixRecord {
            id: matrix_id(&name, &sha256),
            name,
            source: about.source,
            generator: about.generator,
            reordered,
            sha256,
            field: about.field.to_owned(),
            symmetry: about.symmetry.to_owned(),
            read_seconds,
            statistics: Statistics {
                rows,
                cols,
                nnz,
                density: if cells == 0.0 { 0.0 } else { nnz as f64 / cells },
                nnz_class: nnz_class(nnz).to_owned(),
                row: RowLengths::of(&lengths),
                lower_bandwidth: lower,
                upper_bandwidth: upper,
                profile,
                diagonal,
                ..Statistics::default()
            },
        })
    }

    /// Nonzeros per row, in the order of the whole matrix.
    fn row_lengths(&self) -> Vec<u32> {
        let of = |part: &Arc<sparsescope_matrix::matrix::Csr>| {
            (0..part.rows()).map(|i| part.row_len(i) as u32).collect::<Vec<u32>>()
        };
        let local = [of(self.local.interior()), of(self.local.boundary())].concat();
        self.local.in_global_order(&local)
    }
}

/// Structure before rows and columns were reordered.
#[derive(Default)]
struct Structure {
    lower: u64,
    upper: u64,
    profile: u64,
}

impl Structure {
    /// Adds row i with these columns, given by their new numbers.
    fn add(&mut self, order: &[u32], i: u64, row: &[(u64, f64)]) {
        let old = |number: u64| u64::from(order[number as usize]);
        let (i, columns) = (old(i), || row.iter().map(|&(column, _)| old(column)));
        for column in columns() {
            self.lower = self.lower.max(i.saturating_sub(column));
            self.upper = self.upper.max(column.saturating_sub(i));
        }
        self.profile += columns().min().map_or(0, |first| i.saturating_sub(first));
    }
}

/// Elements per piece.
const PIECE: usize = 1 << 18;

/// Iterates over rows in order and passes on what `push` appends for each, piece by piece.
fn in_pieces<T>(
    source: &dyn Rows,
    rows: std::ops::Range<u64>,
    mut push: impl FnMut(u64, &[(u64, f64)], &mut Vec<T>),
    give: &mut dyn FnMut(&[T]),
) {
    let (mut row, mut piece) = (Vec::new(), Vec::with_capacity(PIECE));
    for i in rows {
        source.row(i, &mut row);
        push(i, &row, &mut piece);
        if piece.len() >= PIECE {
            give(&piece);
            piece.clear();
        }
    }
    give(&piece);
}

/// Lends this thread's row buffer.
fn with_row(work: impl FnOnce(&mut Vec<(u64, f64)>)) {
    thread_local! {
        static ROW: RefCell<Vec<(u64, f64)>> = const { RefCell::new(Vec::new()) };
    }
    ROW.with_borrow_mut(work);
}

/// Lends this thread's elements of x for a seed.
fn with_elements(seed: u64, work: impl FnOnce(&mut IntegerVector)) {
    thread_local! {
        static ELEMENTS: RefCell<Option<(u64, IntegerVector)>> = const { RefCell::new(None) };
    }
    ELEMENTS.with_borrow_mut(|kept| {
        if kept.as_ref().is_none_or(|(of, _)| *of != seed) {
            *kept = Some((seed, IntegerVector::new(seed)));
        }
        if let Some((_, elements)) = kept {
            work(elements);
        }
    });
}
