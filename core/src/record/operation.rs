//! What kernels compute, in words.

/// What a kernel computes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// y = A·x.
    Spmv,
}

impl Operation {
    /// The word used on the command line and in files.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Spmv => "spmv",
        }
    }
}
