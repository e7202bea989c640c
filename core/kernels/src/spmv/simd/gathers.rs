//! Whether kernels that gather x use AVX-512: on some CPUs its gathers take longer than loads of single elements.

use std::hint::black_box;
use std::sync::OnceLock;
use std::time::Duration;
use web_time::Instant;

use super::lanes::Lanes;
use super::level::{Level, Loop, run};

/// Elements gathered per try: enough for clocks that tick every 100 ns. They and their columns fit in any L1 cache.
const COLUMNS: usize = 4096;

/// Tries at each level. All of them take about 0.2 ms: a CPU that raises its voltage for wide vectors may slow down
/// other instructions for some tens of microseconds.
const TRIES: usize = 32;

impl Level {
    /// The level for kernels that gather x: that of the machine, or AVX2, which loads each element of x on its own, if
    /// AVX-512 gathers slowly. Measured once, in f64, which decides for f32, too; both give correct results.
    pub fn for_gathers() -> Self {
        static FOUND: OnceLock<Level> = OnceLock::new();
        *FOUND.get_or_init(|| chosen(Self::of_machine(), shortest))
    }
}

/// The level for gathers, given the machine's and a function that measures the time of the same gathers with AVX-512
/// and with AVX2.
fn chosen(widest: Level, measure: impl FnOnce() -> [Duration; 2]) -> Level {
    if widest != Level::Avx512 {
        return widest;
    }
    let [wide, narrow] = measure();
    if 2 * wide > 3 * narrow { Level::Avx2 } else { widest }
}

/// The least times of several tries with AVX-512 and with AVX2, in turn, so that disturbances affect both.
fn shortest() -> [Duration; 2] {
    let x = [1.0; 512];
    let col: [u32; COLUMNS] = std::array::from_fn(|k| (k * 389 % x.len()) as u32);
    let try_at = |level| run::<f64, _>(level, Try { x: &x, col: &col });
    let tries = (0..TRIES).map(|_| [Level::Avx512, Level::Avx2].map(try_at));
    tries.fold([Duration::MAX; 2], |least, new| [least[0].min(new[0]), least[1].min(new[1])])
}

/// Gathers from x, timed. Each column is below the length of x.
struct Try<'a> {
    x: &'a [f64; 512],
    col: &'a [u32; COLUMNS],
}

impl Loop<f64> for Try<'_> {
    type Output = Duration;

    #[inline(always)]
    unsafe fn run<L: Lanes<Value = f64>>(self) -> Duration {
        let start = Instant::now();
        let Self { x, col } = black_box(self);
        // SAFETY: x has an element for each column, and each chunk has the columns of four vectors. The caller
        // guarantees the instructions.
        let sum = unsafe {
            let mut sums = [L::zero(); 4];
            for col in col.chunks_exact(4 * L::LANES) {
                for (k, sum) in sums.iter_mut().enumerate() {
                    let x = L::gather(x.as_ptr(), col.as_ptr().add(k * L::LANES));
                    *sum = L::add(*sum, x);
                }
            }
            L::sum(L::add(L::add(sums[0], sums[1]), L::add(sums[2], sums[3])))
        };
        black_box(sum);
        start.elapsed()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn avx2_is_chosen_only_instead_of_avx_512_that_gathers_slowly() {
        let times = |wide, narrow| move || [wide, narrow].map(Duration::from_nanos);
        let given = |wide, narrow| chosen(Level::Avx512, times(wide, narrow));
        assert_eq!(given(1100, 340), Level::Avx2);
        assert_eq!(given(301, 200), Level::Avx2);
        assert_eq!(given(300, 200), Level::Avx512);
        assert_eq!(given(240, 300), Level::Avx512);
        // A clock too coarse to see either.
        assert_eq!(given(0, 0), Level::Avx512);
        for level in [Level::Avx2, Level::Neon, Level::Portable] {
            assert_eq!(chosen(level, || unreachable!("it has no other choice")), level);
        }
    }

    #[test]
    fn the_level_for_gathers_is_here_and_never_above_that_of_the_machine() {
        let place = |level: Level| Level::ALL.into_iter().position(|other| other == level);
        let (found, machine) = (Level::for_gathers(), Level::of_machine());
        assert!(found.is_here() && place(found) >= place(machine), "{found:?} {machine:?}");
        assert_eq!(Level::for_gathers(), found);
    }
}
