//! Work on many elements at once: rayon's iterators, and in the page, which has one thread, the
//! same calls one element after the other. What rayon needs to share work among threads would make
//! the page's program 3 % larger.

#[cfg(any(target_family = "wasm", test))]
mod sequential;

#[cfg(not(target_family = "wasm"))]
pub(crate) use rayon::{current_num_threads, join, prelude::*};
#[cfg(target_family = "wasm")]
pub(crate) use sequential::*;
