//! The memory accesses in one step of a kernel.

use std::ops::Range;

use sparsescope_core::layout::Array;

/// The memory accesses in one step.
#[derive(Default)]
pub(super) struct Moment {
    pub(super) touches: Vec<Touch>,
    /// Cells that are transferred together, as ranges of an array.
    pub(super) blocks: Vec<(Array, Range<u64>)>,
    /// The position of the kernel, then a line for each request.
    pub(super) words: Vec<String>,
}

/// Cells that are read or written together, and by which lanes or threads.
pub(super) struct Touch {
    pub(super) array: Array,
    /// Consecutive elements, usually a single one.
    pub(super) elements: Range<u64>,
    pub(super) who: Vec<usize>,
}

impl Moment {
    /// Adds elements, and the number of the lane or thread that accesses them.
    pub(super) fn touch(&mut self, array: Array, elements: Range<u64>, who: usize) {
        let same = |touch: &&mut Touch| touch.array == array && touch.elements == elements;
        match self.touches.iter_mut().find(same) {
            Some(touch) if touch.who.contains(&who) => {}
            Some(touch) => touch.who.push(who),
            None => self.touches.push(Touch { array, elements, who: vec![who] }),
        }
    }

    /// Adds the cells that are transferred together with one cell, `cells` at a time.
    pub(super) fn block(&mut self, array: Array, index: u64, cells: u64) {
        let first = index / cells * cells;
        let range = (array, first..first + cells);
        if !self.blocks.contains(&range) {
            self.blocks.push(range);
        }
    }
}
