//! Who sets up the preconditioner of a solver on a GPU.

/// Where a factorised sparse approximate inverse is set up that a GPU applies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum SetUpBy {
    /// All on the device.
    Device,
    /// The processor gathers the dense systems, the device solves them (the thesis).
    Split,
    /// All on the processor, which copies the factor to the device.
    Processor,
}

impl SetUpBy {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Device, Self::Split, Self::Processor];

    /// The word used on the command line and in files.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Device => "device",
            Self::Split => "split",
            Self::Processor => "processor",
        }
    }
}
