//! Results of other programs as bundles.

mod ginkgo;

pub use ginkgo::is_known_by_name;
