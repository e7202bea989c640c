//! What a run records about its kernel if that is not built in.

use super::header::grid_of;
use crate::kernel::kernel;
use crate::kernel::mapping::Mapping;
use sparsescope_record::Run;

/// How the kernel of a run assigns work to workers: from its descriptor or, for a user kernel, from
/// the run's record; `None` if neither is known here.
pub fn mapping_of(run: &Run) -> Option<Mapping> {
    match &run.source {
        Some(source) => grid_of(&source.mapping).map(Mapping::Grid),
        None => kernel(&run.kernel).map(|kernel| kernel.mapping),
    }
}
