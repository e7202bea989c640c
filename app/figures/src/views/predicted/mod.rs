//! The layout model's predictions against the measurements, for all runs.

mod draw;
mod points;
#[cfg(test)]
mod tests;
mod view;

pub use draw::{HEIGHT, figure};
pub use points::{Point, WITHOUT, made, points, to_predict, why_not};
pub use view::VIEW;
