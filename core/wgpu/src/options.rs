//! Options of a backend besides its device.

/// The clock that times executions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ClockChoice {
    /// The device's timestamps where it has them, else the wall clock.
    #[default]
    Best,
    /// Timestamps rounded down to multiples of this many nanoseconds, as browsers do.
    Rounded(u64),
    /// The wall clock around submissions.
    Wall,
}

/// How a backend is opened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// Check every index in kernels, as browsers do, and zero workgroup memory first. Without it, kernels
    /// rely on the checked formats.
    pub checks: bool,
    /// The clock that times executions.
    pub clock: ClockChoice,
}
