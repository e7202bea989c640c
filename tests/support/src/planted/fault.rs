//! Possible faults in a result, and the check that catches each.

/// A fault in a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// Zeros; for points, none are kept.
    Zeros,
    /// The result of another input.
    Stale,
    /// Its last element is missing.
    LastLost,
    /// One element is off by three bounds; by one bit where results must be exact, by one point for skylines.
    ThreeBounds,
    /// One element is NaN; for points, one that does not exist.
    NotANumber,
    /// The result of the transposed matrix, or of points with reversed coordinates.
    Transposed,
    /// The input is returned unchanged.
    Input,
    /// Right only in the first execution.
    RightOnce,
    /// Right in every execution except the timed ones.
    WrongInSamples,
    /// Right in the first execution and in the timed ones, wrong afterwards.
    WrongAfterwards,
}

/// The check that catches a fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CaughtBy {
    /// The check of the first execution.
    First,
    /// The check of the last sample's result.
    Samples,
    /// The check of the execution after the samples.
    Afterwards,
}

impl Fault {
    /// All faults.
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

    /// Its description.
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
}

impl CaughtBy {
    /// Its description.
    pub fn words(self) -> &'static str {
        match self {
            Self::First => "first execution",
            Self::Samples => "what the samples left",
            Self::Afterwards => "execution after the samples",
        }
    }
}
