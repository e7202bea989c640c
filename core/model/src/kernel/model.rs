//! What the layout model needs to know about a kernel besides its mapping.

/// How the compiler splits a loop of n steps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Unrolling {
    /// Not split.
    #[default]
    None,
    /// n mod 4 single steps, then all blocks of 16 that fit, then 8, then 4.
    RestFirst,
    /// All blocks of 16 that fit, then 8, then 4, then n mod 4 single steps.
    RestLast,
    /// All blocks of 4 that fit, then n mod 4 single steps.
    FoursRestLast,
}

/// Number of parts of a split loop.
pub(crate) const PARTS: usize = 4;

impl Unrolling {
    /// The steps of each part of a loop of `steps`, in order; they add up to `steps`.
    #[inline]
    pub fn cut(self, steps: u64) -> [u64; PARTS] {
        let (rest, sixteens, eight, four) = (steps % 4, steps / 16 * 16, steps & 8, steps & 4);
        match self {
            Self::None => [steps, 0, 0, 0],
            Self::RestFirst => [rest, sixteens, eight, four],
            Self::RestLast => [sixteens, eight, four, rest],
            Self::FoursRestLast => [steps - rest, rest, 0, 0],
        }
    }
}

/// How the layout model follows a kernel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Model {
    /// How the compiler splits its inner loop on a GPU.
    pub unrolling: Unrolling,
    /// Its blocks keep the first elements of x in shared memory.
    pub keeps_x: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_the_whole_loop() {
        use Unrolling::{FoursRestLast, None, RestFirst, RestLast};
        for unrolling in [None, RestFirst, RestLast, FoursRestLast] {
            for steps in 0..200 {
                assert_eq!(unrolling.cut(steps).iter().sum::<u64>(), steps, "{unrolling:?}");
            }
        }
        assert_eq!(RestFirst.cut(47), [3, 32, 8, 4]);
        assert_eq!(RestLast.cut(47), [32, 8, 4, 3]);
        assert_eq!(FoursRestLast.cut(47), [44, 3, 0, 0]);
    }
}
