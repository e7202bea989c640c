//! The thesis's elimination: one block per system, in shared memory.

use sparsescope_core::experiment::PrepareError;

use super::operands::{Asked, Sized};
use crate::arguments::{DenseGauss, Reads, Writes};
use crate::launch::{Launch, Shape, Step};
use crate::refusal::refused;

/// Layout of [A|b] of n rows in shared memory, and how the threads of a block traverse it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Plan {
    /// Numbers from one column to the next: odd, so that adjacent columns begin in different banks.
    stride: u32,
    shared_bytes: u64,
    block: u32,
    /// Threads along a column, and columns processed at a time.
    down: u32,
    across: u32,
}

impl Plan {
    /// With blocks of this many threads, or about three per column, as in the thesis: n + 1 times a
    /// number found for each n.
    fn of(n: u32, block: Option<u32>) -> Self {
        let columns = n.saturating_add(1);
        let usual = || (columns.saturating_mul(4) / 32 * 32).clamp(32, 1024);
        let block = block.unwrap_or_else(usual);
        let down = (block / columns).clamp(1, n);
        let (stride, across) = (n | 1, (block / down).min(columns));
        let shared_bytes = 8 * u64::from(stride) * u64::from(columns);
        Self { stride, shared_bytes, block, down, across }
    }
}

/// Binds the kernel to systems that fit in shared memory, one per block.
pub(super) fn bind(systems: &Sized<'_>, block: Option<u32>) -> Result<Asked, PrepareError> {
    let plan = Plan::of(systems.n, block);
    let most = systems.device.properties().shared_per_block;
    let bytes = u32::try_from(plan.shared_bytes).ok().filter(|&bytes| bytes <= most);
    let shared_bytes = bytes.ok_or_else(|| {
        let (n, needed) = (systems.n, plan.shared_bytes);
        PrepareError::Refused(format!(
            "a system of {n} unknowns needs {needed} bytes of shared memory, but a block on this \
            GPU has at most {most}"
        ))
    })?;
    let (given, b) = systems.right();
    let arguments = DenseGauss {
        systems: systems.systems,
        n: systems.n,
        given,
        stride: plan.stride,
        down: plan.down,
        across: plan.across,
        a: Reads(systems.a),
        b,
        x: Writes(&systems.place.x),
        flagged: Writes(&systems.place.flagged),
    };
    let shape = Shape { grid: systems.systems.into(), block: plan.block, shared_bytes };
    // SAFETY: a block has n × n numbers of its system to read, n of b where given, n + 1 columns of
    // shared memory, and n numbers and a flag to write; it has at least `down` × `across` threads.
    let launch = unsafe {
        Launch::new(systems.device, "dense_gauss_shared", shape, &arguments).map_err(refused)?
    };
    Ok(Asked { steps: vec![Step::Launch(launch)], ..Asked::default() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_go_through_all_columns_and_shared_memory_holds_them() {
        for n in 1..=600 {
            for block in [None, Some(32), Some(96), Some(1024)] {
                let Plan { stride, shared_bytes, block, down, across } = Plan::of(n, block);
                assert!(block.is_multiple_of(32) && (32..=1024).contains(&block), "{n} {block}");
                assert!((1..=n).contains(&down) && (1..=n + 1).contains(&across), "{n} {block}");
                assert!(down * across <= block, "{n} {block}");
                assert!(stride >= n && stride % 2 == 1);
                assert_eq!(shared_bytes, 8 * u64::from(stride) * u64::from(n + 1));
            }
        }
        // The thesis's 28 unknowns, and the maximum that fits into 227 KiB.
        assert_eq!((Plan::of(28, None).block, Plan::of(28, None).shared_bytes), (96, 6728));
        assert!(Plan::of(169, None).shared_bytes <= 227 << 10);
        assert!(Plan::of(170, None).shared_bytes > 227 << 10);
    }
}
