//! What may be asked of a backend beside its device.

/// Which clock times executions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ClockChoice {
    /// The device's timestamps where it has them, else the wall clock.
    #[default]
    Best,
    /// Timestamps rounded down to so many nanoseconds, as browsers do.
    Rounded(u64),
    /// The wall clock around submissions.
    Wall,
}

/// How a backend is opened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// Check every index in kernels, as browsers do, and zero workgroup memory before them. Without, kernels
    /// read what the checked formats say.
    pub checks: bool,
    /// Which clock times executions.
    pub clock: ClockChoice,
}
