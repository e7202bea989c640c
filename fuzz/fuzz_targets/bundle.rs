//! Result bundles: read or refused; what is read is written and read again as the same.
#![no_main]

use libfuzzer_sys::fuzz_target;
use sparsescope_core::bundle::{Bundle, Limits};

fuzz_target!(|data: &[u8]| {
    // A small zip may decompress to half a gigabyte within the usual limits.
    let limits = Limits { entry_bytes: 1 << 20, total_bytes: 4 << 20, ..Limits::default() };
    let Ok(bundle) = Bundle::read(data, &limits) else { return };
    let again = bundle.to_bytes().ok().and_then(|b| Bundle::read(&b, &Limits::default()).ok());
    assert_eq!(again, Some(bundle));
});
