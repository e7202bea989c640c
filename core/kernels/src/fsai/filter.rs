//! The postfilter: drops small nonzeros of G and rescales the rows so that diag(G·A·Gᵀ) = 1 still holds.

use super::Cancelled;
use super::error::Stop;
use super::pattern::joined;
use super::system::Lower;
use super::workers::in_order;
use sparsescope_matrix::matrix::{Csr, RowPtr};
use sparsescope_matrix::memory::{MemoryLimit, zeroed};

/// Rows filtered by one task.
const CHUNK: usize = 128;

/// Which nonzeros before the diagonal are dropped.
#[derive(Clone, Copy)]
pub(super) enum Drops<'g> {
    /// Those with g_ij² ≤ τ·Σ_k g_ik².
    Small(f64),
    /// Those that are not in this matrix.
    Absent(&'g Csr),
}

impl Drops<'_> {
    /// Whether each nonzero of row `i` is kept; the last one is the diagonal.
    fn kept(self, i: usize, (col, val): (&[u32], &[f64]), kept: &mut Vec<bool>) {
        kept.clear();
        match self {
            Self::Small(tau) => {
                // A power of two, so that squares neither overflow nor lose bits.
                let most = val.iter().fold(0.0f64, |most, v| most.max(v.abs()));
                let scale = f64::from_bits((most.to_bits() & (0x7ff << 52)).max(1 << 52));
                let squared = |v: &f64| (v / scale) * (v / scale);
                let bound = tau * val.iter().map(squared).sum::<f64>();
                kept.extend(val.iter().map(|v| squared(v) > bound));
            }
            Self::Absent(g) => {
                let mut old = g.row(i).0.iter().peekable();
                kept.extend(col.iter().map(|c| {
                    while old.next_if(|&old| old < c).is_some() {}
                    old.peek() == Some(&c)
                }));
            }
        }
        if let Some(diagonal) = kept.last_mut() {
            *diagonal = true;
        }
    }
}

/// The filtered G. With d the dropped part of a row g, g·A·gᵀ = 1 becomes 1 + d·A·dᵀ, because (A·gᵀ)_j = 0
/// wherever d has nonzeros; the row is divided by the root of this.
pub(super) fn filtered(
    lower: &Lower<'_>,
    g: &Csr,
    drops: Drops<'_>,
    limit: MemoryLimit,
    cancelled: &Cancelled<'_>,
) -> Result<Csr, Stop> {
    let rows = g.rows();
    let threads = rayon::current_num_threads() as u128;
    let bytes = threads * 8 * lower.rows() as u128 + 2 * u128::from(g.bytes());
    limit.check("the filtered factor", bytes)?;
    let chunks = (0..rows).step_by(CHUNK).map(|first| first..rows.min(first + CHUNK));
    let scratch = || (zeroed(0.0f64, lower.rows()), Vec::new());
    let parts = in_order(chunks, cancelled, scratch, |(dropped, kept), chunk| {
        let (mut lengths, mut cols, mut vals) = (Vec::with_capacity(chunk.len()), vec![], vec![]);
        for i in chunk {
            let (col, val) = g.row(i);
            drops.kept(i, (col, val), kept);
            let entries = || col.iter().zip(val).zip(kept.iter());
            let lost =
                || entries().filter(|(_, kept)| !**kept).map(|((&c, &v), _)| (c as usize, v));
            for (c, v) in lost() {
                dropped[c] = v;
            }
            let mut energy = 0.0;
            for (c, v) in lost() {
                energy += v * product(lower, c, dropped);
            }
            for (c, _) in lost() {
                dropped[c] = 0.0;
            }
            let scale = (1.0 + energy).sqrt();
            let before = cols.len();
            for ((&c, &v), _) in entries().filter(|(_, kept)| **kept) {
                cols.push(c);
                vals.push(v / scale);
            }
            lengths.push(cols.len() - before);
        }
        Ok((lengths, cols, vals))
    })?;
    let lengths: Vec<usize> = parts.iter().flat_map(|(lengths, ..)| lengths).copied().collect();
    let row_ptr = RowPtr::from_lengths(lengths.into_iter());
    let (cols, vals): (Vec<_>, Vec<_>) = parts.into_iter().map(|(_, col, val)| (col, val)).unzip();
    let (col, val) = (joined(0, cols, cancelled)?, joined(0.0, vals, cancelled)?);
    Ok(Csr::try_new(rows, g.cols(), row_ptr, col, val)?)
}

/// a_jj·d_j + 2·Σ a_jc·d_c over c < j: multiplied by d_j and summed over j, this gives d·A·dᵀ.
fn product(lower: &Lower<'_>, j: usize, d: &[f64]) -> f64 {
    let (col, val) = lower.row(j);
    let before = col.len() - usize::from(col.last() == Some(&(j as u32)));
    let below = col[..before].iter().zip(val).map(|(&c, v)| v * d[c as usize]);
    2.0 * below.sum::<f64>() + lower.diagonal(j) * d[j]
}
