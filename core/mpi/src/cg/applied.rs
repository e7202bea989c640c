//! Preconditioners whose rows are distributed over the ranks.

use rayon::prelude::*;

use super::factor::Factors;
use super::vectors::BLOCK;
use crate::product::Spent;
use sparsescope_matrix::distributed::LocalMatrix;

/// z = K⁻¹·r.
pub(super) enum Applied {
    /// z = r.
    None,
    /// The reciprocals of the diagonal.
    Jacobi(Vec<f64>),
    /// z = Gᵀ·(G·r).
    Fsai(Box<Factors>),
}

impl Applied {
    /// The reciprocals of the diagonal, which has already been checked.
    pub(super) fn jacobi(local: &LocalMatrix) -> Self {
        let inside = local.interior().rows();
        let diagonal = |i: usize| {
            let (col, val) = match i.checked_sub(inside) {
                Some(boundary) => local.boundary().row(boundary),
                None => local.interior().row(i),
            };
            col.binary_search(&(i as u32)).map_or(f64::NAN, |at| val[at])
        };
        Self::Jacobi((0..local.own_rows()).map(|i| 1.0 / diagonal(i)).collect())
    }

    /// z = K⁻¹·r on the rank's rows; all ranks call it together.
    pub(super) fn apply(&mut self, r: &[f64], z: &mut [f64]) -> Spent {
        match self {
            Self::None => z.copy_from_slice(r),
            Self::Jacobi(inverse) => {
                let blocks =
                    (z.par_chunks_mut(BLOCK), inverse.par_chunks(BLOCK), r.par_chunks(BLOCK));
                blocks.into_par_iter().for_each(|(z, inverse, r)| {
                    z.iter_mut().zip(inverse).zip(r).for_each(|((z, d), r)| *z = d * r);
                });
            }
            Self::Fsai(factors) => return factors.apply(r, z),
        }
        Spent::default()
    }
}
