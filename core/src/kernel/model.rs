//! What the layout model has to know of a kernel beside its mapping.

/// How a loop of n steps is cut.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Unrolling {
    /// Not at all.
    #[default]
    None,
    /// n mod 4 single steps, then as many 16 as there are, then 8, then 4.
    RestFirst,
    /// As many 16 as there are, then 8, then 4, then n mod 4 single steps.
    RestLast,
    /// As many 4 as there are, then n mod 4 single steps.
    FoursRestLast,
}

/// Parts of a cut loop.
pub(crate) const PARTS: usize = 4;

impl Unrolling {
    /// Steps of each part of a loop of `steps`; together they are all steps, in order.
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
    /// How the compiler cuts its inner loop, on a GPU.
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
