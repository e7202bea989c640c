//! Kernels that users bring as files of CUDA: the header of such a file, its functions' parameters, and the
//! descriptors that follow from them. Nothing here runs or builds a source; `docs/your-own-kernel.md` says
//! what a file looks like.

mod describe;
mod error;
mod family;
mod header;
mod runs;
mod sharing;
mod signature;
mod source;
#[cfg(test)]
mod tests;

pub use describe::user_kernels;
pub use error::UserKernelError;
pub use family::{ArgumentType, UserFamily};
pub use runs::mapping_of;
pub use sharing::SharedBytes;
pub use source::{UserKernel, UserSource, is_user_id};
