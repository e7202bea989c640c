//! Where a GPU's kernel counts what it keeps.

/// Where the points that a GPU's kernel keeps are counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Counting {
    /// On the device: each thread whose point is kept adds 1 to one number.
    Device,
    /// On the processor, when the result has been copied.
    Host,
}

impl Counting {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Device, Self::Host];

    /// The word used on the command line and in files.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Device => "device",
            Self::Host => "host",
        }
    }
}
