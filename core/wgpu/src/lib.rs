//! Sparsescope's wgpu crate: the kernels of `kernels/*.wgsl` and the backend that runs them on any GPU with
//! Vulkan, Metal or Direct3D 12, and on a browser's WebGPU in the page. Only `native.rs` blocks: all other
//! code awaits the device's answers as futures, so that the page can poll again later.

#![deny(clippy::indexing_slicing, clippy::string_slice)]
#![cfg_attr(
    target_family = "wasm",
    allow(
        clippy::arc_with_non_send_sync,
        reason = "the page has one thread; natively they are shared"
    )
)]

mod answer;
mod arrays;
mod backend;
mod buffer;
mod clock;
mod device;
mod error;
mod families;
mod grid;
mod kernels;
mod launchers;
mod machine;
mod memory;
mod names;
#[cfg(not(target_family = "wasm"))]
mod native;
mod operands;
mod options;
mod page;
mod prepared;
mod record;
mod sampling;
mod source;

pub use backend::WgpuBackend;
#[cfg(not(target_family = "wasm"))]
pub use native::count;
pub use options::{ClockChoice, Options};
pub use page::{PageDevice, Teller};
