//! Our own Cholesky factorisation: in registers up to 208 rows, otherwise in panels.

use super::operands::{Asked, Sized};
use crate::arguments::{DenseBlocked, DenseCholesky, Reads, Writes};
use crate::buffer::Buffer;
use crate::device::DeviceError;
use crate::launch::{Launch, Shape, Step};

/// A function for systems of up to `rows` rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Class {
    rows: u32,
    function: &'static str,
    /// Threads that share a system.
    threads: u32,
    /// Threads per block.
    block: u32,
}

const fn class(rows: u32, function: &'static str, side: u32, block: u32) -> Class {
    Class { rows, function, threads: side * side, block }
}

/// Sorted by rows. `side` is that of the square of threads in the function's template.
#[rustfmt::skip]
const CLASSES: [Class; 19] = [
    class(4, "dense_cholesky_4", 2, 64),
    class(8, "dense_cholesky_8", 2, 64),
    class(12, "dense_cholesky_12", 4, 64),
    class(16, "dense_cholesky_16", 4, 64),
    class(20, "dense_cholesky_20", 4, 64),
    class(24, "dense_cholesky_24", 4, 64),
    class(28, "dense_cholesky_28", 4, 64),
    class(32, "dense_cholesky_32", 4, 64),
    class(40, "dense_cholesky_40", 4, 64),
    class(48, "dense_cholesky_48", 4, 64),
    class(56, "dense_cholesky_56", 8, 64),
    class(64, "dense_cholesky_64", 8, 64),
    class(72, "dense_cholesky_72", 8, 64),
    class(80, "dense_cholesky_80", 8, 64),
    class(96, "dense_cholesky_96", 8, 64),
    class(112, "dense_cholesky_112", 16, 256),
    class(128, "dense_cholesky_128", 16, 256),
    class(160, "dense_cholesky_160", 16, 256),
    class(208, "dense_cholesky_208", 16, 256),
];

impl Class {
    /// The narrowest one for this many rows, if a block has `most` bytes of shared memory.
    fn of(rows: u32, most: u32) -> Option<Self> {
        let class = CLASSES.into_iter().find(|class| class.rows >= rows)?;
        (class.shared_bytes(rows) <= most).then_some(class)
    }

    /// Systems per block.
    fn systems(self) -> u32 {
        self.block / self.threads
    }

    /// Bytes of the triangles of a block's systems with this many rows.
    fn shared_bytes(self, rows: u32) -> u32 {
        8 * self.systems() * (rows * (rows + 1) / 2)
    }
}

/// Threads per block of the panel kernel.
const BLOCKED: u32 = 256;

/// Its blocks per multiprocessor: as many as registers and shared memory hold on small devices.
const BLOCKS_EACH: u32 = 2;

/// Binds the kernel to systems of any size.
pub(super) fn bind(systems: &Sized<'_>) -> Result<Asked, DeviceError> {
    // Given right-hand sides are one more row.
    let rows = systems.n.saturating_add(systems.b.is_some().into());
    match Class::of(rows, systems.device.properties().shared_per_block) {
        Some(class) => in_registers(systems, class, rows),
        None => in_panels(systems, rows),
    }
}

fn in_registers(systems: &Sized<'_>, class: Class, rows: u32) -> Result<Asked, DeviceError> {
    let (given, b) = systems.right();
    let arguments = DenseCholesky {
        systems: systems.systems,
        n: systems.n,
        given,
        a: Reads(systems.a),
        b,
        x: Writes(&systems.place.x),
        flagged: Writes(&systems.place.flagged),
    };
    let grid = systems.systems.div_ceil(class.systems()).into();
    let shape = Shape { grid, block: class.block, shared_bytes: class.shared_bytes(rows) };
    // SAFETY: the class takes this many rows; each system has n × n numbers, n of b where given, a
    // triangle of its rows in shared memory, and n numbers and a flag to write. Threads beyond the
    // last system read the last one's and write nothing.
    let launch = unsafe { Launch::new(systems.device, class.function, shape, &arguments)? };
    Ok(Asked { steps: vec![Step::Launch(launch)], ..Asked::default() })
}

fn in_panels(systems: &Sized<'_>, rows: u32) -> Result<Asked, DeviceError> {
    let most = systems.device.properties().multiprocessors.max(1) * BLOCKS_EACH;
    let blocks = systems.systems.min(most);
    let each = (u64::from(rows) + 1) * u64::from(systems.n);
    let numbers = usize::try_from(each.saturating_mul(blocks.into())).unwrap_or(usize::MAX);
    let workspace = Buffer::unset(systems.device, "the factors of a batch", numbers)?;
    let (given, b) = systems.right();
    let arguments = DenseBlocked {
        systems: systems.systems,
        n: systems.n,
        given,
        a: Reads(systems.a),
        b,
        workspace: Writes(&workspace),
        x: Writes(&systems.place.x),
        flagged: Writes(&systems.place.flagged),
    };
    let shape = Shape { grid: blocks.into(), block: BLOCKED, shared_bytes: 0 };
    // SAFETY: each block has a factor of `rows` × n numbers and n inverse pivots; each system n × n numbers,
    // n of b where given, and n numbers and a flag to write.
    let launch =
        unsafe { Launch::new(systems.device, "dense_cholesky_blocked", shape, &arguments)? };
    let (workspace_bytes, spent) = (workspace.bytes(), workspace.spent());
    let steps = vec![Step::Launch(launch)];
    Ok(Asked { steps, workspace_bytes, spent, ..Asked::default() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arguments::Arguments;

    #[test]
    fn classes_are_the_functions_and_each_has_the_side_and_rows_of_its_template() {
        let functions: Vec<_> = CLASSES.iter().map(|class| class.function).collect();
        assert_eq!(functions, DenseCholesky::FUNCTIONS);
        let (_, source) = crate::Family::DenseCholesky.source();
        for Class { rows, function, threads, block } in CLASSES {
            let (_, body) = source.split_once(&format!(" {function}(")).unwrap();
            let side = threads.isqrt();
            let (_, call) = body.split_once("solve<").unwrap();
            assert!(call.starts_with(&format!("{side}, {}>(", rows / side)), "{function}");
            assert_eq!((side * side, rows % side, block % threads), (threads, 0, 0), "{function}");
            let bounds = format!("__launch_bounds__({block}) {function}(");
            assert!(source.contains(&bounds), "{bounds}");
        }
        assert!(CLASSES.is_sorted_by(|one, next| one.rows < next.rows));
    }

    #[test]
    fn the_narrowest_class_is_taken_that_shared_memory_has_room_for() {
        let function = |rows, most| Class::of(rows, most).map(|class| class.function);
        assert_eq!(function(1, 227 << 10), Some("dense_cholesky_4"));
        assert_eq!(function(28, 227 << 10), Some("dense_cholesky_28"));
        assert_eq!(function(29, 227 << 10), Some("dense_cholesky_32"));
        assert_eq!(function(77, 227 << 10), Some("dense_cholesky_80"));
        assert_eq!(function(208, 227 << 10), Some("dense_cholesky_208"));
        assert_eq!(function(209, 227 << 10), None);
        // 156 · 157 / 2 numbers are 97 968 bytes; 99 KiB are 101 376.
        assert_eq!(function(156, 99 << 10), Some("dense_cholesky_160"));
        assert_eq!(function(159, 99 << 10), None);
        for rows in 1..=108 {
            assert!(function(rows, 48 << 10).is_some(), "{rows}");
        }
    }
}
