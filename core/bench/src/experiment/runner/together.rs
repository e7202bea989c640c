//! What all ranks decide together: what runs, in which groups, when to stop, and what has failed.

use std::collections::BTreeMap;
use std::sync::atomic::Ordering;

use super::Runner;
use crate::experiment::agreement::{OwnFailure, agreed};
use crate::experiment::backend::{Backend, Prepared};
use crate::experiment::configuration::{Configuration, Key};
use crate::experiment::error::PrepareError;
use crate::experiment::problem::Problem;
use crate::experiment::task::Watch;
use sparsescope_matrix::memory::MemoryLimit;
use sparsescope_matrix::order;
use sparsescope_model::kernel::DeviceKind;
use sparsescope_record::{Run, Verdict};

impl Runner<'_> {
    /// The configurations without a run so far, which the first rank knows.
    pub(super) fn remaining(
        &self,
        configurations: &[Configuration],
        measured: &[Run],
    ) -> Vec<Configuration> {
        let known = order::set(measured.iter().map(Key::of));
        let is_left = |one: &Configuration| {
            let threads = self.threads(one);
            !known.contains(&Configuration { threads, ..one.clone() }.key())
        };
        let places = (0u32..).zip(configurations);
        let left = places.filter(|(_, one)| is_left(one)).map(|(place, _)| place);
        let left = self.agreement.of_first(left.collect());
        left.iter().filter_map(|&place| configurations.get(place as usize).cloned()).collect()
    }

    /// Consecutive configurations whose arrays together stay within `memory` and that of their device; a configuration
    /// that exceeds it alone forms a group that will be refused.
    pub(super) fn groups(
        &self,
        problem: &dyn Problem,
        configurations: Vec<Configuration>,
        memory: MemoryLimit,
    ) -> Vec<Vec<Configuration>> {
        let room =
            |&(device, backend): &(DeviceKind, &dyn Backend)| Some((device, backend.room()?));
        let rooms: Vec<(DeviceKind, u64)> = self.backends.iter().filter_map(room).collect();
        let mut groups: Vec<Vec<Configuration>> = Vec::new();
        let mut resident: BTreeMap<String, u64> = BTreeMap::new();
        for configuration in configurations {
            let arrays = problem.resident(&configuration, memory);
            let new = arrays.iter().filter(|array| !resident.contains_key(&array.name));
            let (new, there): (u64, u64) =
                (new.map(|array| array.bytes).sum(), resident.values().sum());
            let of_device = rooms.iter().find(|(device, _)| *device == configuration.kernel.device);
            let most = of_device.map_or(memory.get(), |&(_, room)| room.min(memory.get()));
            let overfull = new > 0 && there.saturating_add(new) > most;
            let overfull = self.agreement.any(overfull);
            if overfull {
                resident.clear();
            }
            resident.extend(arrays.into_iter().map(|array| (array.name, array.bytes)));
            match groups.last_mut() {
                Some(group) if !overfull => group.push(configuration),
                _ => groups.push(vec![configuration]),
            }
        }
        groups
    }

    /// Whether any rank was cancelled.
    pub(super) fn cancelled(&self) -> bool {
        self.agreement.any(self.cancel.load(Ordering::Relaxed))
    }

    /// The watch of an execution in step with the other ranks.
    pub(super) fn watch<'w>(&'w self, tell: &'w (dyn Fn(f64) + Sync)) -> Watch<'w> {
        Watch::new(self.cancel, tell).agreeing(self.agreement)
    }

    /// The rank's own result if all ranks succeeded; otherwise, on all ranks, refused if any rank refuses and
    /// else unsupported, with the reason of the first rank that has one.
    pub(super) fn met<T>(&self, own: Result<T, PrepareError>) -> Result<T, (Verdict, String)> {
        let refuses = matches!(own, Err(PrepareError::Refused(_) | PrepareError::NotDefinite(_)));
        let is_refused = self.agreement.any(refuses);
        let verdict = if is_refused { Verdict::Refused } else { Verdict::Unsupported };
        agreed(self.agreement, own).map_err(|reason| (verdict, reason))
    }

    /// The same for a call of a prepared kernel. Fails with a reason known to this rank only.
    pub(super) fn together<T, E: ToString>(
        &self,
        prepared: &dyn Prepared,
        own: Result<T, E>,
    ) -> Result<Result<T, String>, OwnFailure> {
        match prepared.own_failure().filter(|_| own.is_err()) {
            Some(failure) => Err(failure),
            None => Ok(agreed(self.agreement, own)),
        }
    }
}
