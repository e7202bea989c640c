//! What tells runs of one kernel apart besides its settings: another precision, another product.

use super::run::Run;

/// Parameters that say what is computed; they are recorded only where it is not the plain operation.
const OTHERWISE: [&str; 2] = ["op", "scale"];

impl Run {
    /// The kernel as run, with its variant: `cpu/csr/serial (f32)`.
    pub fn kernel_and_precision(&self) -> String {
        self.kernel_as_run() + &self.variant()
    }

    /// The precision unless it is f64, and what is computed unless it is the plain operation, in parentheses
    /// after a space: ` (f32, op t)`. Empty if there is nothing to say.
    pub fn variant(&self) -> String {
        let precision = (self.precision != "f64").then(|| self.precision.clone());
        let otherwise =
            OTHERWISE.iter().filter_map(|name| Some(format!("{name} {}", self.params.get(*name)?)));
        let words: Vec<String> = precision.into_iter().chain(otherwise).collect();
        match words.is_empty() {
            true => String::new(),
            false => format!(" ({})", words.join(", ")),
        }
    }

    /// The number of columns of X of a product with several vectors, Y = A·X; `None` for all other runs.
    pub fn vectors(&self) -> Option<u32> {
        self.params.get("vectors")?.parse().ok()
    }

    /// Whether it computes its operation as such: y = A·x, neither with the transpose nor scaled.
    pub fn is_plain(&self) -> bool {
        !OTHERWISE.iter().any(|name| self.params.contains_key(*name))
    }
}

/// `, k = 8`, to follow the name of a matrix that is multiplied by k vectors; empty for `None`.
pub fn and_vectors(k: Option<u32>) -> String {
    k.map(|k| format!(", k = {k}")).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_variant_names_the_precision_and_what_is_computed_unless_usual() {
        let variant = |precision: &str, params: &[(&str, &str)]| {
            let params = params.iter().map(|(name, value)| ((*name).into(), (*value).into()));
            let run = Run {
                kernel: "cpu/csr/rows".into(),
                precision: precision.into(),
                params: params.collect(),
                ..Run::default()
            };
            (run.kernel_and_precision(), run.is_plain())
        };
        let named = |name: &str, plain: bool| (name.to_owned(), plain);
        assert_eq!(variant("f64", &[("vectors", "8")]), named("cpu/csr/rows", true));
        assert_eq!(variant("f32", &[]), named("cpu/csr/rows (f32)", true));
        assert_eq!(variant("f64", &[("op", "t")]), named("cpu/csr/rows (op t)", false));
        let all = [("op", "t"), ("scale", "2:0.5")];
        assert_eq!(variant("f32", &all), named("cpu/csr/rows (f32, op t, scale 2:0.5)", false));
    }
}
