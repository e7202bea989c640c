//! What only one rank knows, an error above all, all agree on before they go on.

use super::world::World;

/// A result that all ranks have, or a sentence of the first that has none, on all ranks.
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
