//! Where a GPU kernel counts the points that it keeps.

/// Where a GPU kernel counts the points that it keeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Counting {
    /// On the device: each thread that keeps its point adds 1 to one counter.
    Device,
    /// On the CPU, after the result has been copied.
    Host,
}

impl Counting {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Device, Self::Host];

    /// The word on the command line and in files.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Device => "device",
            Self::Host => "host",
        }
    }
}
