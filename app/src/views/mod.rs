//! The views. Each is one file with a [`View`] in it and one line in [`VIEWS`]; none knows another,
//! all draw from (bundles, state) and change nothing but the state.

pub(crate) mod charts;
pub(crate) mod layouts;
mod matrix;
mod predicted;
mod runs;
pub mod spy;
mod view;

use crate::state::ViewState;
pub use view::View;
pub(crate) use view::{kept, nothing, provenance, record_provenance, selected};

/// Every view, in the order of the tabs.
pub const VIEWS: &[View] =
    &[charts::VIEW, runs::VIEW, matrix::VIEW, spy::VIEW, layouts::VIEW, predicted::VIEW];

/// The view in front; the first where the state names none that exists.
pub(crate) fn current(state: &ViewState) -> Option<&'static View> {
    VIEWS.iter().find(|view| view.id == state.view).or(VIEWS.first())
}

/// Whether a lesson takes the place of this view's settings and of what lies around the views.
pub(crate) fn teaches(view: &View, state: &ViewState) -> bool {
    needs_no_bundle(view) && state.layouts.lesson.is_some()
}

/// Whether there is something to see when no bundle is open.
pub(crate) fn needs_no_bundle(view: &View) -> bool {
    view.id == layouts::VIEW.id
}
