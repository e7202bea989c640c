//! What a run tells of its kernel where that is not one of the program's own.

use super::header::grid_of;
use crate::kernel::kernel;
use crate::kernel::mapping::Mapping;
use crate::record::Run;

/// How the kernel of a run gives work to workers: as its descriptor says, or, for a user's kernel, as the run
/// records it; nothing where neither is known here.
pub fn mapping_of(run: &Run) -> Option<Mapping> {
    match &run.source {
        Some(source) => grid_of(&source.mapping).map(Mapping::Grid),
        None => kernel(&run.kernel).map(|kernel| kernel.mapping),
    }
}
