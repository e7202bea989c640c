//! Assigns kernels to system sizes.

/// Systems of at most `most` unknowns, and the kernel for them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Class {
    pub(super) most: u32,
    pub(super) function: &'static str,
    /// Threads per block.
    pub(super) block: u32,
    /// Systems per block.
    pub(super) systems: u32,
}

const fn class(most: u32, function: &'static str, block: u32, systems: u32) -> Class {
    Class { most, function, block, systems }
}

/// Some lanes per system up to 32 unknowns, then one block each. The sizes are those of the
/// kernels' registers.
const CLASSES: [Class; 11] = [
    class(8, "fsai_solve_8", 128, 16),
    class(16, "fsai_solve_16", 128, 8),
    class(24, "fsai_solve_24", 128, 4),
    class(32, "fsai_solve_32", 128, 4),
    class(48, "fsai_solve_48", 64, 1),
    class(64, "fsai_solve_64", 64, 1),
    class(96, "fsai_solve_96", 256, 1),
    class(112, "fsai_solve_112", 256, 1),
    class(128, "fsai_solve_128", 256, 1),
    class(160, "fsai_solve_160", 256, 1),
    class(208, "fsai_solve_208", 256, 1),
];

/// Maximum bytes of shared memory that blocks use besides the systems.
const BESIDE: u64 = 8 << 10;

/// Numbers in a packed triangle of m rows.
pub(super) fn packed(m: u64) -> u64 {
    m * (m + 1) / 2
}

impl Class {
    /// Bytes of dynamic shared memory per block.
    pub(super) fn shared_bytes(self) -> u32 {
        if self.systems > 1 { 0 } else { 8 * packed(self.most.into()) as u32 }
    }
}

/// The classes whose blocks need at most this many bytes of shared memory; larger systems are
/// solved in global memory.
pub(super) fn classes(shared_bytes: u64) -> &'static [Class] {
    let fits = |class: &&Class| u64::from(class.shared_bytes()) + BESIDE <= shared_bytes;
    let count = CLASSES.iter().take_while(fits).count();
    CLASSES.get(..count).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arguments::{Arguments, FsaiSolve};

    #[test]
    fn classes_ascend_and_each_has_a_kernel_of_its_size() {
        assert!(CLASSES.is_sorted_by(|a, b| a.most < b.most));
        let functions: Vec<_> = CLASSES.iter().map(|class| class.function).collect();
        assert_eq!(functions, FsaiSolve::<'_, u32>::FUNCTIONS);
        for class in CLASSES {
            assert_eq!(class.function, format!("fsai_solve_{}", class.most));
            assert_eq!(class.block % 32, 0);
            // Merged groups have at most 200 columns.
            assert!(class.most <= 208);
        }
    }

    #[test]
    fn a_device_takes_the_classes_that_its_shared_memory_holds() {
        let most = |bytes| classes(bytes).last().map(|class| class.most);
        assert_eq!(most(232_448), Some(208));
        assert_eq!(most(101_376), Some(128));
        assert_eq!(most(65_536), Some(112));
        assert_eq!(most(49_152), Some(96));
        assert_eq!(most(0), None);
    }
}
