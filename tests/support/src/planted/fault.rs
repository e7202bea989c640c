//! What may be wrong with a result, and which check catches it.

use sparsescope_core::record::Operation;

/// What is wrong with a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// Zeros; of points, none.
    Zeros,
    /// The result of another input.
    Stale,
    /// Its last element is missing.
    LastLost,
    /// One element is off by three bounds; by one bit where all bits count, one point where all points do.
    ThreeBounds,
    /// One element is NaN; of points, one that there is not.
    NotANumber,
    /// The result of the transposed matrix, or of points whose coordinates lie the other way round.
    Transposed,
    /// What goes in comes out.
    Input,
    /// Right in the first execution only.
    RightOnce,
    /// Right in every execution but those that are timed.
    WrongInSamples,
    /// Right in the first execution and in those that are timed, wrong after them.
    WrongAfterwards,
}

/// The check that catches a fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CaughtBy {
    /// That of the first execution.
    First,
    /// That of what the last sample left.
    Samples,
    /// That of the execution after the samples.
    Afterwards,
}

impl Fault {
    /// All of them.
    pub const ALL: [Self; 10] = [
        Self::Zeros,
        Self::Stale,
        Self::LastLost,
        Self::ThreeBounds,
        Self::NotANumber,
        Self::Transposed,
        Self::Input,
        Self::RightOnce,
        Self::WrongInSamples,
        Self::WrongAfterwards,
    ];

    /// It in words.
    pub fn words(self) -> &'static str {
        match self {
            Self::Zeros => "zeros",
            Self::Stale => "the result of another input",
            Self::LastLost => "last element lost",
            Self::ThreeBounds => "one element off by 3 bounds",
            Self::NotANumber => "one NaN",
            Self::Transposed => "transposed",
            Self::Input => "input for output",
            Self::RightOnce => "right in the first execution only",
            Self::WrongInSamples => "wrong in the samples",
            Self::WrongAfterwards => "wrong after the samples",
        }
    }

    /// The check that catches it.
    pub fn caught_by(self) -> CaughtBy {
        match self {
            Self::Zeros | Self::Stale | Self::LastLost | Self::ThreeBounds => CaughtBy::First,
            Self::NotANumber | Self::Transposed | Self::Input => CaughtBy::First,
            Self::RightOnce | Self::WrongInSamples => CaughtBy::Samples,
            Self::WrongAfterwards => CaughtBy::Afterwards,
        }
    }

    /// Why it is no fault of an operation.
    pub fn is_none_of(self, operation: Operation) -> Option<&'static str> {
        match (self, operation) {
            (Self::Transposed, Operation::Solve) => Some("A is symmetric"),
            (Self::Transposed, Operation::BatchedDense) => Some("every A is symmetric"),
            _ => None,
        }
    }
}

impl CaughtBy {
    /// It in words.
    pub fn words(self) -> &'static str {
        match self {
            Self::First => "first execution",
            Self::Samples => "what the samples left",
            Self::Afterwards => "execution after the samples",
        }
    }
}
