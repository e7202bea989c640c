//! What views say about the runs of an operation.

use sparsescope_core::record::Operation;

/// How the winners on several subjects are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Winners {
    /// As suits their number.
    ByNumber,
    /// As bars.
    Bars,
    /// In the chart with this id, over size: the subjects differ in little else.
    Chart(&'static str),
}

/// The steps of a run that records its residuals.
pub(crate) struct Steps {
    /// The word for one in files.
    pub(crate) one: &'static str,
    /// The word for several.
    pub(crate) several: &'static str,
    /// The title of an axis with their time.
    pub(crate) time: &'static str,
    /// Their time starts after a setup.
    pub(crate) after_setup: bool,
}

static SWEEPS: Steps = Steps {
    one: "sweep",
    several: "symmetric sweeps",
    time: "milliseconds (sweeps × median time)",
    after_setup: false,
};

static ITERATIONS: Steps = Steps {
    one: "iteration",
    several: "iterations",
    time: "milliseconds: setup, then iterations × mean time",
    after_setup: true,
};

/// What views say about the runs of an operation.
pub(crate) struct Presentation {
    pub(crate) winners: Winners,
    pub(crate) steps: &'static Steps,
    /// Speed is explained by the comparisons made, not by the bytes moved.
    pub(crate) compares: bool,
}

/// Of operations that are not in the table, and of those that this program does not know.
static USUAL: Presentation =
    Presentation { winners: Winners::ByNumber, steps: &SWEEPS, compares: false };

static TABLE: [(Operation, Presentation); 3] = [
    (
        Operation::Skyline,
        Presentation { winners: Winners::Chart("time-points"), steps: &SWEEPS, compares: true },
    ),
    (
        Operation::Solve,
        Presentation { winners: Winners::Bars, steps: &ITERATIONS, compares: false },
    ),
    (
        Operation::BatchedDense,
        Presentation { winners: Winners::Chart("time-unknowns"), steps: &SWEEPS, compares: false },
    ),
];

/// What views say about the runs of the operation with this word.
pub(crate) fn presentation(word: &str) -> &'static Presentation {
    let row = TABLE.iter().find(|(operation, _)| operation.as_str() == word);
    row.map_or(&USUAL, |(_, presentation)| presentation)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::views::charts::list::ids_for;

    #[test]
    fn the_chart_of_winners_is_one_of_the_operation() {
        for (operation, presentation) in &TABLE {
            if let Winners::Chart(chart) = presentation.winners {
                assert!(ids_for(operation.as_str()).any(|id| id == chart), "{chart}");
            }
        }
        assert_eq!(presentation("fft").winners, Winners::ByNumber);
    }
}
