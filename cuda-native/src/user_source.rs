//! Builds the sources of users' kernels. They are built and run only because the user named their
//! files; no source comes from anywhere else.

use sparsescope_core::kernel::{KernelDescriptor, UserSource};
use sparsescope_core::matrix::Precision;

use crate::cache::KernelCache;
use crate::kernels::{COMMON, Family, Variant};
use crate::nvrtc::{CompileError, Nvrtc};

/// The variant of a family with the same options as a user's source.
const fn variant(precision: Precision, offset_bits: u32) -> Variant {
    let (width, scale) = (Variant::NO_WIDTH, Variant::NO_SCALE);
    Variant { family: Family::Csr, precision, offset_bits, width, scale }
}

/// Suppresses warnings about declarations in `common.cuh` that a user's file does not use.
const OF_COMMON: &str = "--diag-suppress=177";

/// Machine code of a user's source for an architecture (90 is sm_90), from the cache if present.
pub(crate) fn build(
    source: &UserSource,
    like: Variant,
    (nvrtc, cache): (&Nvrtc, &KernelCache),
    architecture: u32,
) -> Result<Vec<u8>, CompileError> {
    let mut options = variant(like.precision, like.offset_bits).options(architecture);
    options.push(OF_COMMON.to_owned());
    let UserSource { file, text, .. } = source;
    let (version, told) = (nvrtc.version_name(), options.join(" "));
    // The file name appears in messages and in profilers.
    let key: [&str; 5] = [&version, &told, COMMON.1, file, text];
    cache.get_or_make(&key, || nvrtc.compile(COMMON, (file, text), &options))
}

/// Builds a user's kernel in each of its precisions, and with both widths of offsets, for the
/// newest architecture that the compiler knows: errors in a source are found without a GPU, too.
/// Other kernels are ignored.
pub fn check_user_kernel(
    kernel: &KernelDescriptor,
    nvrtc: &Nvrtc,
    cache: &KernelCache,
) -> Result<(), CompileError> {
    let Some(&architecture) = nvrtc.architectures().last() else { return Ok(()) };
    check_for(kernel, (nvrtc, cache), architecture)
}

/// The same for one architecture.
pub(crate) fn check_for(
    kernel: &KernelDescriptor,
    tools: (&Nvrtc, &KernelCache),
    architecture: u32,
) -> Result<(), CompileError> {
    let Some(user) = kernel.user else { return Ok(()) };
    for &precision in kernel.precisions {
        for offset_bits in [32, 64] {
            build(user.source, variant(precision, offset_bits), tools, architecture)?;
        }
    }
    Ok(())
}
