//! The picture of a matrix's structure, from all of it to single entries.

mod axes;
mod difference;
mod draw;
mod fields;
mod frame;
#[cfg(any(feature = "gpu", feature = "webgl"))]
pub mod gpu;
mod image;
mod marked;
mod overlay;
mod paint;
mod place;
mod ranks;
mod scene;
mod settings;
mod shade;
mod steer;
#[cfg(test)]
mod tests;
mod view;
mod written;

pub(super) use axes::{axes, digits, index};
pub(super) use draw::caption;
pub(super) use fields::choose;
pub(super) use frame::{Around, Frame, GAP, STRIP, TYPE};
pub(super) use marked::outline;
pub(super) use paint::{paint_cells, paint_image};
pub(super) use place::Place;
pub(super) use scene::{Scene, Shown};
#[cfg(test)]
pub(super) use shade::Shade;
pub(super) use steer::steer;
pub(super) use view::VIEW;
