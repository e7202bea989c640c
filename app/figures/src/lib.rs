//! What Sparsescope shows, independent of the window: the opened bundles ([`model`]), the state of
//! views ([`state`]), and each view ([`views`]) as a pure function of the two that returns a table
//! and a figure.

#![cfg_attr(not(test), deny(clippy::indexing_slicing))]

pub mod arrangement;
mod cloud;
pub mod figure;
pub mod landing;
pub mod lesson;
pub mod meshes;
pub mod model;
mod operation;
pub mod percent;
pub mod picture;
pub mod set_up;
pub mod state;
pub mod theme;
pub mod thumbs;
mod trial;
pub mod views;
pub mod waves;
mod why;
pub mod written;
