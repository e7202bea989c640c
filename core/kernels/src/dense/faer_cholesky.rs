//! Dense Cholesky factorisation by the faer library, one system after another.

use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::cholesky::llt::{factor, solve};
use faer::{MatMut, MatRef, Par, Spec};

use super::batched::by_chunks;
use super::systems::{Solutions, Systems};

/// Work space of a thread.
struct Room {
    matrix: Vec<f64>,
    stack: MemBuffer,
}

/// `vendor/faer/cholesky`. Each thread copies, factors and solves its own systems with the library's LLᵀ,
/// which itself runs on one thread. A system that the library finds not positive definite is flagged. Returns
/// false once `cancelled` does. Panics unless `found` has the size of these systems.
pub fn faer_cholesky(
    systems: Systems<'_>,
    found: &mut Solutions,
    cancelled: &(dyn Fn() -> bool + Sync),
) -> bool {
    let n = systems.unknowns();
    let settings: Spec<factor::LltParams, f64> = Spec::default();
    let room = || {
        let factor = factor::cholesky_in_place_scratch::<f64>(n, Par::Seq, settings);
        let solve = solve::solve_in_place_scratch::<f64>(n, 1, Par::Seq);
        Room { matrix: vec![0.0; n * n], stack: MemBuffer::new(factor.or(solve)) }
    };
    by_chunks(systems, found, cancelled, room, |room, first, x, flagged| {
        for (k, (x, flag)) in x.chunks_mut(n).zip(flagged).enumerate() {
            room.matrix.copy_from_slice(systems.matrix(first + k));
            systems.copy_right(first + k, x);
            let stack = MemStack::new(&mut room.stack);
            // For a symmetric matrix, row-major and column-major are the same.
            let a = MatMut::from_column_major_slice_mut(&mut room.matrix, n, n);
            let none = factor::LltRegularization::default();
            *flag = factor::cholesky_in_place(a, none, Par::Seq, stack, settings).is_err();
            match *flag {
                true => x.fill(f64::NAN),
                false => {
                    let l = MatRef::from_column_major_slice(&room.matrix, n, n);
                    let x = MatMut::from_column_major_slice_mut(x, n, 1);
                    solve::solve_in_place(l, x, Par::Seq, MemStack::new(&mut room.stack));
                }
            }
        }
    })
}
