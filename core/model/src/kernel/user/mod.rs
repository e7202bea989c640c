//! Kernels that users provide as CUDA files: the header of such a file, the parameters of its
//! functions, and the descriptors made from them. Nothing here runs or builds a source;
//! `docs/your-own-kernel.md` describes the files.

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
