//! Journals: read or refused; what is read is written as a bundle and read again as the same. No
//! checksum stands before a journal's contents, so this is the way to what bundles hold.
#![no_main]

use std::path::Path;

use libfuzzer_sys::fuzz_target;
use sparsescope_core::bundle::{Bundle, Journal, Limits};

fuzz_target!(|data: &[u8]| {
    let recovered = Journal::recover_from(data, Path::new("journal"), &Limits::default());
    let Ok(bundle) = recovered else { return };
    let bytes = bundle.to_bytes().expect("what is read can be written");
    let again = Bundle::read(&bytes, &Limits::default()).expect("what is written can be read");
    assert_eq!(again, bundle);
});
