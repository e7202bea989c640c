//! What the page does for measuring.

use std::pin::Pin;

use sparsescope_core::experiment::Interruptions;
use sparsescope_core::record::Producer;
use sparsescope_wgpu::WgpuBackend;

/// What comes later.
pub type Later<T> = Pin<Box<dyn Future<Output = T>>>;

/// Whoever measures beside drawing.
pub trait Host {
    /// Does this beside drawing, to its end.
    fn spawn(&self, work: Later<()>);

    /// Ends once input and drawing have had their turn.
    fn turn(&self) -> Later<()>;

    /// Ends once somebody sees the page; at once where somebody does.
    fn seen(&self) -> Later<()>;

    /// Whether nobody sees the page.
    fn is_hidden(&self) -> bool;

    /// Opens the GPU, or says in a sentence why there is none. Samples during which one of `interruptions` is
    /// told are taken anew.
    fn open_gpu(&self, interruptions: Interruptions) -> Later<Result<WgpuBackend, String>>;

    /// The program, as the bundles that it writes name it.
    fn producer(&self) -> Producer;

    /// The browser and its version.
    fn browser(&self) -> String;

    /// Now, in UTC and whole seconds, as RFC 3339 has it.
    fn now(&self) -> String;
}
