//! The picture of a matrix's structure, from all of it to single entries.

mod axes;
mod difference;
mod draw;
mod fields;
mod frame;
#[cfg(any(feature = "gpu", feature = "webgl"))]
pub mod gpu;
mod image;
mod overlay;
mod paint;
mod place;
mod scene;
mod settings;
mod shade;
mod steer;
#[cfg(test)]
mod tests;
mod view;
mod written;

pub(super) use view::VIEW;
