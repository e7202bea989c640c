//! The page's services for measuring.

use std::pin::Pin;

use sparsescope_core::experiment::Interruptions;
use sparsescope_core::record::Producer;
use sparsescope_wgpu::WgpuBackend;

/// A future result.
pub type Later<T> = Pin<Box<dyn Future<Output = T>>>;

/// Runs measurements beside drawing.
pub trait Host {
    /// Runs this to its end beside drawing.
    fn spawn(&self, work: Later<()>);

    /// Completes once input and drawing have had their turn.
    fn turn(&self) -> Later<()>;

    /// Completes once the page is visible; at once if it is.
    fn seen(&self) -> Later<()>;

    /// Whether the page is hidden.
    fn is_hidden(&self) -> bool;

    /// Opens the GPU, or says in a sentence why there is none. Samples during which one of `interruptions` is
    /// reported are repeated.
    fn open_gpu(&self, interruptions: Interruptions) -> Later<Result<WgpuBackend, String>>;

    /// The program as named in the bundles that it writes.
    fn producer(&self) -> Producer;

    /// The browser and its version.
    fn browser(&self) -> String;

    /// The current time in UTC, in whole seconds, as in RFC 3339.
    fn now(&self) -> String;
}
