//! What sets up the preconditioner of a solver on a GPU.

/// Where the factorised sparse approximate inverse that a GPU applies is set up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum SetUpBy {
    /// Entirely on the device.
    Device,
    /// The CPU gathers the dense systems, the device solves them (the thesis).
    Split,
    /// Entirely on the CPU, which copies the factor to the device.
    Processor,
}

impl SetUpBy {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Device, Self::Split, Self::Processor];

    /// The word on the command line and in files.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Device => "device",
            Self::Split => "split",
            Self::Processor => "processor",
        }
    }
}
