//! Shares what only one rank knows, above all an error, with all ranks before they continue.

use super::world::World;

/// The rank's own result if all ranks succeeded; otherwise, on all ranks, the error of the first that failed.
pub fn agreed<T, E: ToString>(world: &World, own: Result<T, E>) -> Result<T, String> {
    let (own, why) = match own {
        Ok(own) => (Some(own), None),
        Err(error) => (None, Some(error.to_string())),
    };
    match (world.objection(why), own) {
        (None, Some(own)) => Ok(own),
        (why, _) => Err(why.unwrap_or_default()),
    }
}
