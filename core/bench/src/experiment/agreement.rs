//! Decisions of all ranks that measure together, so that none waits for a call that another leaves out.

/// Every rank calls the same methods in the same order, and none while an execution is timed.
pub trait Agreement: Sync {
    /// Whether it is true on any rank.
    fn any(&self, own: bool) -> bool;

    /// The largest of all ranks' numbers.
    fn max(&self, own: f64) -> f64;

    /// The smallest of all ranks' numbers.
    fn min(&self, own: u64) -> u64;

    /// The numbers of the first rank.
    fn of_first(&self, own: Vec<u32>) -> Vec<u32>;

    /// The objection of the first rank that has one; `None` if no rank objects.
    fn objection(&self, own: Option<String>) -> Option<String>;

    /// Waits until all ranks have arrived.
    fn barrier(&self);
}

/// The agreement of a single rank with itself.
#[derive(Clone, Copy, Debug)]
pub struct Alone;

impl Agreement for Alone {
    fn any(&self, own: bool) -> bool {
        own
    }

    fn max(&self, own: f64) -> f64 {
        own
    }

    fn min(&self, own: u64) -> u64 {
        own
    }

    fn of_first(&self, own: Vec<u32>) -> Vec<u32> {
        own
    }

    fn objection(&self, own: Option<String>) -> Option<String> {
        own
    }

    fn barrier(&self) {}
}

/// A failure that only this rank knows, for which the others may be waiting.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct OwnFailure(pub String);

/// The rank's own result if all ranks succeeded; otherwise, on all ranks, the error of the first that failed.
pub fn agreed<T, E: ToString>(ranks: &dyn Agreement, own: Result<T, E>) -> Result<T, String> {
    let (own, why) = match own {
        Ok(own) => (Some(own), None),
        Err(error) => (None, Some(error.to_string())),
    };
    match (ranks.objection(why), own) {
        (None, Some(own)) => Ok(own),
        (why, _) => Err(why.unwrap_or_default()),
    }
}
