//! Families of generated subjects: those whose recipes differ only in size.

/// A recipe without these keys, its name first: `gen:poisson2d?n=64` is `poisson2d` without `n`,
/// `fem-hex?n=9&dof=3` is `fem-hex dof=3`.
pub(super) fn family(recipe: &str, sizes: &[&str]) -> String {
    let recipe = recipe.strip_prefix("gen:").unwrap_or(recipe);
    let (name, pairs) = recipe.split_once('?').unwrap_or((recipe, ""));
    let is_size = |pair: &str| {
        let key = pair.split('=').next().unwrap_or_default();
        key.is_empty() || sizes.contains(&key)
    };
    let others = pairs.split('&').filter(|pair| !is_size(pair));
    others.fold(name.to_owned(), |family, pair| format!("{family} {pair}"))
}

#[cfg(test)]
mod tests {
    use super::family;

    #[test]
    fn recipes_that_differ_in_size_alone_are_one_family() {
        for (recipe, expected) in [
            ("gen:poisson2d?n=64", "poisson2d"),
            ("poisson2d", "poisson2d"),
            ("fem-hex?n=9&dof=3", "fem-hex dof=3"),
            ("fem-hex?dof=3&n=24", "fem-hex dof=3"),
            ("random?m=10&n=20&nnz=30&seed=7", "random seed=7"),
        ] {
            assert_eq!(family(recipe, &["n", "m", "nnz"]), expected);
        }
    }
}
