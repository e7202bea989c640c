//! Shared by the kernels that choose another one: the candidates for a matrix, and the reason for a choice.

mod candidate;
mod expected;
mod part;
mod rules;

use sparsescope_record::Choice;

pub(in crate::experiment) use candidate::SERIAL;
pub use candidate::{ADAPTIVE, Candidate};
pub use expected::{GpuTraits, Traits, expected_s};
pub(in crate::experiment) use rules::on_processor;
pub use rules::{csr_bytes, on_gpu};

/// Explains in a sentence why the candidate at `place` was chosen; `usual` is the kernel that it is compared
/// with, and `csr` the bytes that an SpMV in CSR moves.
pub fn why(choice: &Choice, place: usize, usual: &str, csr: u64) -> String {
    let timed = || {
        choice.tried.iter().enumerate().filter_map(|(place, one)| Some((place, one, one.least_s?)))
    };
    let count = timed().count();
    let Some((_, chosen, least)) = timed().find(|&(here, ..)| here == place) else {
        return "no other kernel could be tried".to_owned();
    };
    if count < 2 {
        return match choice.tried.len() {
            1 => "no other kernel suits this matrix".to_owned(),
            _ => "no other kernel could be tried".to_owned(),
        };
    }
    let others = || timed().filter(|&(here, ..)| here != place).map(|(_, one, s)| (one, s));
    let next = others().min_by(|a, b| a.1.total_cmp(&b.1));
    let times = |other: f64| other / least.max(f64::MIN_POSITIVE);
    let plain = others().find(|(one, _)| one.kernel == usual);
    let mut words = match plain {
        Some((_, plain)) => format!("{:.2} times as fast as {usual} in the trial", times(plain)),
        None => "no other kernel was clearly faster in the trial".to_owned(),
    };
    if let Some((one, next)) = next.filter(|(one, _)| one.kernel != usual) {
        words += &format!(", {:.2} times as fast as {}", times(next), one.words());
    }
    words += &format!(", {count} kernels tried");
    if chosen.minimal_bytes != csr && csr > 0 {
        let share = 100.0 * chosen.minimal_bytes as f64 / csr as f64;
        words += &format!("; moves {share:.0} % of the bytes of an SpMV in CSR");
    }
    words
}
