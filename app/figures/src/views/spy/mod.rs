//! The picture of a matrix's structure, from the whole matrix to single nonzeros.

pub mod axes;
pub mod difference;
pub mod draw;
pub mod frame;
mod image;
mod marked;
mod overlay;
pub mod place;
pub mod ranks;
pub mod scene;
pub mod shade;
mod view;
mod written;

pub use axes::{axes, digits, index};
pub(super) use draw::caption;
pub(super) use frame::{Around, Frame, GAP, STRIP, TYPE};
pub(super) use marked::outline;
pub use place::Place;
pub use scene::{Scene, Shown};
#[cfg(test)]
pub(super) use shade::Shade;
pub use view::VIEW;
