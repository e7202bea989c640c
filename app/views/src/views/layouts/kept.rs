//! Caches the kernels that are followed.

use std::sync::Arc;

use egui::{Context, Id};
use sparsescope_core::matrix::Csr;
use sparsescope_figures::state::LayoutsState;
use sparsescope_figures::views::layouts::walk::{Kept, Walk};

/// Number of cached kernels: the two that are followed, and those of the step before.
const KEPT: usize = 4;

#[derive(Clone)]
struct Known {
    a: Arc<Csr<f64>>,
    key: (u32, u32, u32, u32),
    id: String,
    walk: Kept,
}

/// The kernel with this id on the matrix, built once for as long as none of its inputs change.
pub(super) fn kept(context: &Context, a: &Arc<Csr<f64>>, state: &LayoutsState, id: &str) -> Kept {
    let place = Id::unique("layouts: kernels followed");
    let key = (state.hack, state.sigma, state.block, state.threads);
    let all: Arc<Vec<Known>> = context.data(|data| data.get_temp(place)).unwrap_or_default();
    let same = |known: &&Known| known.id == id && known.key == key && known.a == *a;
    if let Some(known) = all.iter().find(same) {
        return known.walk.clone();
    }
    let walk = Walk::of(a, state, id).map(Arc::new);
    let known = Known { a: a.clone(), key, id: id.into(), walk: walk.clone() };
    let others = all.iter().rev().take(KEPT - 1).rev().cloned();
    let all: Vec<Known> = others.chain([known]).collect();
    context.data_mut(|data| data.insert_temp(place, Arc::new(all)));
    walk
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kernel_is_gone_through_once_for_every_state_that_changes_it() {
        let context = Context::default();
        let entries = [(0, 0, 1.0), (0, 2, 2.0), (1, 1, 3.0), (2, 0, 4.0), (2, 2, 5.0)];
        let a = Arc::new(Csr::from_triplets(3, 3, &entries).unwrap());
        let id = "cuda/csr/thread-per-row";
        let mut state = LayoutsState::default();
        let first = kept(&context, &a, &state, id).unwrap();
        state.step = 2;
        let again = Arc::new((*a).clone());
        assert!(Arc::ptr_eq(&first, &kept(&context, &again, &state, id).unwrap()));
        state.block = 64;
        assert!(!Arc::ptr_eq(&first, &kept(&context, &a, &state, id).unwrap()));
    }
}
