//! What a chart is.

use sparsescope_core::record::Operation;

use super::plot::{Data, Plot};

/// One chart.
pub struct Chart {
    /// Word in a link.
    pub id: &'static str,
    /// Where the chooser offers it.
    pub group: Group,
    pub name: &'static str,
    /// What it shows, in one sentence.
    pub sentence: &'static str,
    /// Why there is nothing to draw, when there is nothing.
    pub(super) nothing: &'static str,
    pub data: for<'a> fn(&Data<'a>) -> Plot<'a>,
    /// What it can be about, if it offers a choice.
    pub of: Option<fn(&Data<'_>) -> Vec<String>>,
    /// The operations whose runs it can draw.
    pub(super) operations: Operations,
}

/// What a chart is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Group {
    /// Which is faster.
    Compare,
    /// What threads and blocks bring.
    Scaling,
    /// How far it is from what the machine can do.
    Limits,
    /// What a format costs beside its products.
    Cost,
    /// What was measured, each number.
    Raw,
}

impl Group {
    pub const ALL: [Self; 5] = [Self::Compare, Self::Scaling, Self::Limits, Self::Cost, Self::Raw];

    /// Name shown to people.
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

/// Which operations a chart is for.
#[derive(Clone, Copy, Debug)]
pub(super) enum Operations {
    /// Every operation, also those that the program does not know.
    Any,
    /// These.
    Only(&'static [Operation]),
}

impl Chart {
    /// Whether it can draw runs of an operation.
    pub(super) fn is_for(&self, operation: &str) -> bool {
        match self.operations {
            Operations::Any => true,
            Operations::Only(list) => list.iter().any(|one| one.as_str() == operation),
        }
    }
}
