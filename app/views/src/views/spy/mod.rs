//! The picture of a matrix's structure on screen.

mod difference;
mod fields;
#[cfg(any(feature = "gpu", feature = "webgl"))]
pub mod gpu;
mod paint;
mod settings;
mod steer;
#[cfg(test)]
mod tests;
mod view;

pub(super) use fields::choose;
pub(super) use paint::{paint_cells, paint_image, texels};
pub(super) use steer::steer;
pub(super) use view::SCREEN;
