//! Who gathers the dense systems of a preconditioner that a GPU sets up.

/// How a GPU's kernel sets up a factorised sparse approximate inverse.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum SetUpBy {
    /// All on the device.
    Device,
    /// The processor gathers the dense systems, the device solves them (the thesis).
    Split,
}

impl SetUpBy {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Device, Self::Split];

    /// The word used on the command line and in files.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Device => "device",
            Self::Split => "split",
        }
    }
}
