//! The ranks of an SpMV or a solve, over the matrix: the rows of each rank, the external columns it
//! needs, and the communication between ranks.

use std::ops::Range;

use emath::{Rect, pos2};
use sparsescope_core::record::{Distributed, MatrixRecord};

use super::axes::digits;
use super::frame::TYPE;
use super::marked::{MARKED, outline};
use super::place::Place;
use crate::figure::{Anchor, Figure, area, elided, text_width};
use crate::model::{Model, RunOf, balance, bytes, count, matrix_key};
use crate::picture::Cells;
use crate::state::ViewState;
use crate::theme::{Ink, blend, heat_color};

/// Narrower bands, in points, are shaded without a line of their own.
const THIN: f32 = 2.0;

/// The ranks of a run on the selected matrix.
#[derive(Clone, Debug)]
pub struct Ranks {
    /// The run's kernel.
    name: String,
    shared: Distributed,
    /// The rank whose columns are highlighted.
    lit: Option<usize>,
}

impl Ranks {
    /// The ranks of the selected run, else of the fastest run with ranks on this matrix, with
    /// several if possible; `None` if they are not to be shown.
    pub(super) fn of(model: &Model, state: &ViewState, record: &MatrixRecord) -> Option<Self> {
        if !state.spy.ranks {
            return None;
        }
        let key = matrix_key(record);
        let shared = |run: &RunOf<'_>| run.key() == key && run.run.distributed.is_some();
        let chosen = state.run.and_then(|number| model.run(number)).filter(shared);
        let fastest = || {
            let runs = model.runs(&state.filter).into_iter().filter(shared);
            let is_shared = |run: &RunOf<'_>| {
                run.run.distributed.as_ref().is_some_and(|shared| shared.ranks.len() > 1)
            };
            runs.reduce(|best, run| match (is_shared(&best), is_shared(&run)) {
                (true, false) => best,
                (false, true) => run,
                _ => {
                    if run.beats(&best) {
                        run
                    } else {
                        best
                    }
                }
            })
        };
        let run = chosen.or_else(fastest)?;
        let shared = run.run.distributed.clone()?;
        let lit =
            state.spy.rank.map(|rank| rank as usize).filter(|rank| *rank < shared.ranks.len());
        Some(Self { name: run.run.kernel_and_precision(), shared, lit })
    }

    /// The maximum number of ranks of any run of the open bundles.
    pub fn most(model: &Model) -> u32 {
        let runs = model.bundles().iter().flat_map(|open| &open.bundle.runs);
        let ranks = runs.filter_map(|run| Some(run.distributed.as_ref()?.ranks.len()));
        ranks.max().map_or(0, |most| u32::try_from(most).unwrap_or(u32::MAX))
    }

    fn rows(&self, rank: usize) -> Option<Range<u64>> {
        let rank = self.shared.ranks.get(rank)?;
        Some(rank.first_row..rank.first_row.saturating_add(rank.rows))
    }

    /// Lines between the bands, with the ranks' numbers if there is space, and the columns of the
    /// highlighted rank.
    pub(super) fn draw(&self, figure: &mut Figure, place: &Place, cells: &Cells<'_>, ink: Ink) {
        let covered = place.covered();
        if let Some(band) = self.lit.and_then(|rank| self.rows(rank)) {
            let [top, bottom] = [band.start, band.end]
                .map(|row| place.y(row as f64).clamp(covered.min.y, covered.max.y));
            for columns in halo(cells, place, &band) {
                let [left, right] = [columns.start, columns.end]
                    .map(|col| place.x(col as f64).clamp(covered.min.x, covered.max.x));
                let right = right.max(left + 0.75);
                figure.rect(area(left, top, right, bottom), MARKED.gamma_multiply(0.35));
                figure.rect(area(left, covered.min.y - 3.0, right, covered.min.y), MARKED);
            }
            outline(figure, area(covered.min.x, top, covered.max.x, bottom.max(top + 1.0)), MARKED);
        }
        let mut taken = f32::NEG_INFINITY;
        for rank in 0..self.shared.ranks.len() {
            let Some(rows) = self.rows(rank) else { continue };
            let [first, end] = [rows.start, rows.end].map(|row| place.y(row as f64));
            if rank > 0 && first > covered.min.y && first < covered.max.y && end - first > THIN {
                let (from, to) = (pos2(covered.min.x, first), pos2(covered.max.x, first));
                figure.line(from, to, 2.5, ink.paper);
                figure.line(from, to, 1.5, ink.text);
            }
            let (first, end) = (first.max(covered.min.y), end.min(covered.max.y));
            let middle = (first + end) * 0.5;
            if end - first > 4.0 && middle - taken > TYPE + 4.0 && covered.width() > 120.0 {
                let label = format!("rank {rank}");
                let width = text_width(&label, TYPE) + 8.0;
                let right = covered.max.x - 3.0;
                figure.rect(area(right - width, middle - 8.0, right, middle + 8.0), ink.paper);
                figure.text(pos2(right - 4.0, middle), Anchor::End, TYPE, ink.text, &label);
                taken = middle;
            }
        }
    }

    /// The bytes sent from each rank to each other one, as a square of cells in `room`: the darker,
    /// the more.
    pub(super) fn heat(&self, figure: &mut Figure, room: Rect, ink: Ink) {
        let ranks = self.shared.ranks.len();
        let side = room.width().min(room.height() - 24.0).max(0.0);
        let square = area(room.min.x, room.min.y, room.min.x + side, room.min.y + side);
        let most = self.shared.pairs.iter().map(|pair| pair.bytes).max().unwrap_or(0);
        for (above, line) in [(33.0, "Bytes sent"), (13.0, "row to column")] {
            let at = pos2(room.min.x, room.min.y - above);
            figure.text(at, Anchor::Start, TYPE, ink.text, line);
        }
        figure.rect(square, blend(ink.grid, ink.paper, 0.5));
        let cell = side / ranks.max(1) as f32;
        for pair in &self.shared.pairs {
            let corner = square.min + emath::vec2(pair.to as f32, pair.from as f32) * cell;
            let gap = if cell > 6.0 { 1.0 } else { 0.0 };
            let rect = area(corner.x, corner.y, corner.x + cell - gap, corner.y + cell - gap);
            figure.rect(rect, heat_color(pair.bytes as f64 / most.max(1) as f64, ink.paper));
        }
        outline(figure, square, ink.weak);
        let foot = pos2(square.min.x, square.max.y + 13.0);
        let words = elided(&format!("max {}", bytes(most)), room.width(), TYPE);
        figure.text(foot, Anchor::Start, TYPE, ink.weak, &words);
    }

    /// Describes the ranks, in a sentence without its full stop.
    pub fn words(&self) -> String {
        let Self { name, shared, .. } = self;
        let mut words = format!(
            "{name} on {} rank{} ({}): {}, {} sent per SpMV",
            shared.ranks.len(),
            if shared.ranks.len() == 1 { "" } else { "s" },
            shared.transport,
            balance(shared),
            bytes(shared.bytes())
        );
        let lit = self.lit.and_then(|rank| Some((rank, shared.ranks.get(rank)?, self.rows(rank)?)));
        if let Some((rank, share, rows)) = lit {
            let last = rows.end.saturating_sub(1);
            words += &match share.rows {
                0 => format!("; rank {rank} has no rows"),
                _ => format!(
                    "; rank {rank} has rows {} to {} and needs {} column{} from others",
                    digits(rows.start),
                    digits(last),
                    count(share.halo),
                    if share.halo == 1 { "" } else { "s" }
                ),
            };
        }
        words
    }
}

/// Columns in view, outside the band's own, in which the band's rows have nonzeros: the owner of
/// row j owns column j. As accurate as the cells are fine.
fn halo(cells: &Cells<'_>, place: &Place, band: &Range<u64>) -> Vec<Range<usize>> {
    let shift = cells.shift();
    let (rows, cols) = (place.rows(), place.cols());
    let [first, end] = [band.start, band.end].map(|row| usize::try_from(row).unwrap_or(usize::MAX));
    let (top, bottom) = (first.max(rows.start), end.min(rows.end));
    if top >= bottom || cols.is_empty() {
        return Vec::new();
    }
    let cell_of = |span: Range<usize>| span.start >> shift..((span.end - 1) >> shift) + 1;
    let columns = cell_of(cols);
    let mut sums = vec![0_u64; columns.len()];
    let mut line = vec![0; columns.len()];
    for row in cell_of(top..bottom) {
        cells.line(row, columns.start, &mut line);
        sums.iter_mut().zip(&line).for_each(|(sum, entries)| *sum += entries);
    }
    let mut found: Vec<Range<usize>> = Vec::new();
    for (column, sum) in columns.zip(sums) {
        let from = column << shift;
        let to = from.saturating_add(1 << shift);
        if sum == 0 || (from < end && to > first) {
            continue;
        }
        match found.last_mut() {
            Some(last) if last.end == from => last.end = to,
            _ => found.push(from..to),
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use sparsescope_core::experiment::LoadedValues;
    use sparsescope_core::matrix::Csr;
    use sparsescope_core::matrix::Statistics;
    use sparsescope_core::record::{PairTraffic, RankShare};
    use sparsescope_core::spy::{Pyramid, RowProfile, to_files};

    use super::*;
    use crate::picture::Picture;
    use crate::views::spy::VIEW;
    use crate::why::tests::{model_with, run};

    /// A chain of 1000 on two ranks, each of which needs one column of the other.
    fn halves() -> Model {
        let n = 1000;
        let near = |i: usize| [i.saturating_sub(1), i, (i + 1).min(n - 1)];
        let mut entries: Vec<_> = (0..n).flat_map(|i| near(i).map(|j| (i, j, 1.0))).collect();
        entries.dedup();
        let a = Csr::from_triplets(n, n, &entries).unwrap();
        let (mut run, _, environment) = run("cpu/csr/serial");
        let rank = |first_row| RankShare {
            first_row,
            rows: 500,
            interior_rows: 499,
            entries: 1499,
            halo: 1,
            ..RankShare::default()
        };
        let pair = |from, to, bytes| PairTraffic { from, to, bytes, messages: 1 };
        run.distributed = Some(Distributed {
            transport: "mpi".into(),
            ranks: vec![rank(0), rank(500)],
            pairs: vec![pair(0, 1, 8), pair(1, 0, 16)],
            ..Distributed::default()
        });
        let nnz = a.nnz() as u64;
        let statistics = Statistics { rows: 1000, cols: 1000, nnz, ..Statistics::default() };
        let files = to_files(&Pyramid::of(&a), &RowProfile::of(&a), 1 << 20);
        model_with(vec![run], statistics, environment, files)
    }

    #[test]
    fn ranks_are_bands_with_the_bytes_beside_them_where_they_are_asked_for() {
        let model = halves();
        let svg = |link: &str| {
            let state = ViewState::from_fragment(link).unwrap();
            (VIEW.svg.unwrap())(&model, &state)
        };
        let shown = svg("v1;view=spy;ranks=true;rank=1");
        for text in ["rank 0", "rank 1", "Bytes sent", "max 16"] {
            assert!(shown.contains(text), "{text}");
        }
        assert!(!shown.contains("Nonzeros per row"), "the bytes are in the place of row lengths");
        let usual = svg("v1;view=spy");
        assert!(!usual.contains("rank 1") && usual.contains("Nonzeros per row"));

        let state = ViewState::from_fragment("v1;view=spy;ranks=true;rank=1").unwrap();
        let record = &model.bundles()[0].bundle.matrices[0].record;
        let words = Ranks::of(&model, &state, record).unwrap().words();
        assert!(words.contains("on 2 ranks (mpi)") && words.contains("24 B sent"), "{words}");
        assert!(
            words.ends_with("rank 1 has rows 500 to 999 and needs 1 column from others"),
            "{words}"
        );
    }

    #[test]
    fn the_halo_of_a_band_are_the_columns_of_its_entries_that_others_own() {
        // Row i has nonzeros at i, i + 3 and (i + 50) % 100.
        let n = 100;
        let entries = (0..n).flat_map(|i| [(i, i), (i, (i + 3) % n), (i, (i + 50) % n)]);
        let t: Vec<_> = entries.map(|(i, j)| (i, j, 1.0)).collect();
        let picture =
            Picture::of(&LoadedValues::Real(Arc::new(Csr::from_triplets(n, n, &t).unwrap())));
        let whole = area(0.0, 0.0, 400.0, 400.0);
        let place = Place::new(whole, (n, n), None, false, 5.0);
        let cells = picture.cells(place.per_point(), &place.rows(), &place.cols()).unwrap();
        assert_eq!(cells.shift(), 0, "single entries");
        // Rows 20 to 29 own columns 20 to 29, and need 30, 31, 32 and 70 to 79 of the others.
        assert_eq!(halo(&cells, &place, &(20..30)), [30..33, 70..80]);
        assert_eq!(halo(&cells, &place, &(0..100)), [0..0; 0]);
        assert_eq!(halo(&cells, &place, &(40..40)), [0..0; 0]);
    }
}
