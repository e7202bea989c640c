//! What a chart is.

use sparsescope_core::record::Operation;

use super::plot::{Data, Plot};

/// One chart.
pub struct Chart {
    /// Id in a link.
    pub id: &'static str,
    /// Its group in the chooser.
    pub group: Group,
    pub name: &'static str,
    /// What it shows, in one sentence.
    pub sentence: &'static str,
    /// The message if there is nothing to draw.
    pub(super) nothing: &'static str,
    pub data: for<'a> fn(&Data<'a>) -> Plot<'a>,
    /// The options for its subject, if it offers a choice.
    pub of: Option<fn(&Data<'_>) -> Vec<String>>,
    /// The operations whose runs it can draw.
    pub(super) operations: Operations,
}

/// The question that a chart answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Group {
    /// Which kernel is faster.
    Compare,
    /// The effect of threads and blocks.
    Scaling,
    /// How close it is to the machine's limits.
    Limits,
    /// The cost of a format apart from SpMV.
    Cost,
    /// Every measured number.
    Raw,
}

impl Group {
    pub const ALL: [Self; 5] = [Self::Compare, Self::Scaling, Self::Limits, Self::Cost, Self::Raw];

    /// Display name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Compare => "Compare",
            Self::Scaling => "Scaling",
            Self::Limits => "Limits",
            Self::Cost => "Cost",
            Self::Raw => "Raw",
        }
    }
}

/// The operations that a chart supports.
#[derive(Clone, Copy, Debug)]
pub(super) enum Operations {
    /// Every operation, including unknown ones.
    Any,
    /// These.
    Only(&'static [Operation]),
}

impl Chart {
    /// Returns whether it can draw runs of an operation.
    pub(super) fn is_for(&self, operation: &str) -> bool {
        match self.operations {
            Operations::Any => true,
            Operations::Only(list) => list.iter().any(|one| one.as_str() == operation),
        }
    }
}
