//! Parallel work on many elements, with rayon's interface. Rayon instantiates some fifty functions for each
//! of its loops. Here all loops share a single rayon loop over parts of the elements, which compiles in a
//! fraction of the time and costs a few microseconds more at run time, so measured code uses rayon itself. In
//! the browser page, which has one thread, elements are processed in order.

mod elements;
mod source;
mod threads;

pub use elements::{IntoElements, Slices};
pub use threads::{current_num_threads, join, lock, on_each_thread};

#[cfg(test)]
mod tests {
    use rayon::ThreadPoolBuilder;

    /// Every call, written once and compiled with rayon's methods and with ours.
    macro_rules! calls {
        ($numbers:expr) => {{
            let numbers: &[u64] = $numbers;
            let mut sorted = numbers.to_vec();
            sorted.par_sort_unstable();
            let mut chunks = sorted.clone();
            let lines = chunks.par_chunks_mut(7).zip(numbers.par_chunks(7)).enumerate();
            lines.for_each(|(k, (line, other))| line[0] = k as u64 + other[0]);
            chunks.par_chunks_mut(3).for_each_init(|| 5, |state, line| line[0] += *state);
            let mut halves = vec![0; numbers.len() / 2];
            let pairs = chunks.clone().into_par_iter().zip(&mut halves).with_min_len(8);
            pairs.for_each(|(number, half)| *half = number / 2);
            let doubled: Vec<String> =
                numbers.par_iter().with_min_len(8).map(|n| (n * 2).to_string()).collect();
            let count = 0..numbers.len();
            let started: Vec<usize> =
                count.clone().into_par_iter().map_init(|| 3, |state, k| k + *state).collect();
            let texts = numbers.par_iter().map(|n| n.to_string());
            (
                (sorted, chunks, halves, doubled, started),
                texts.reduce(String::new, |a, b| a + &b),
                numbers.par_iter().all(|n| *n < 1009),
                numbers.par_iter().all(|n| *n < 900),
                numbers.par_iter().map(|n| *n).max(),
                numbers.par_iter().position_first(|n| *n > 900),
                numbers.par_iter().position_first(|n| *n > 5000),
                count.clone().into_par_iter().find_first(|k| numbers[*k] > 900),
                count.into_par_iter().find_map_first(|k| numbers[k].checked_sub(1000)),
            )
        }};
    }

    #[test]
    #[cfg_attr(target_family = "wasm", ignore = "starts threads")]
    fn each_call_gives_what_rayon_gives_for_any_number_of_threads() {
        for length in [0, 1, 2, 63, 1000] {
            let numbers: Vec<u64> = (0..length).map(|k| k * 7919 % 1009).collect();
            let of_rayon = {
                use rayon::prelude::*;
                calls!(&numbers)
            };
            for threads in [1, 3] {
                let pool = ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
                let ours = pool.install(|| {
                    use super::{IntoElements as _, Slices as _};
                    calls!(&numbers)
                });
                assert_eq!(ours, of_rayon, "{length} numbers, {threads} threads");
            }
            assert_eq!(super::join(|| 1, || 2), rayon::join(|| 1, || 2));
        }
    }

    #[test]
    #[cfg_attr(target_family = "wasm", ignore = "starts threads")]
    fn a_panic_in_a_part_reaches_the_caller() {
        use super::IntoElements as _;
        let work = || {
            let made = (0..100).into_par_iter().map(|k| {
                assert_ne!(k, 70, "seventy");
                k.to_string()
            });
            made.collect()
        };
        let panic = std::panic::catch_unwind(work).unwrap_err();
        assert!(panic.downcast_ref::<String>().is_some_and(|text| text.contains("seventy")));
    }
}
