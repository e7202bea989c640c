//! Which parameters have an effect, given the others.

use std::collections::BTreeMap;

use super::descriptor::KernelDescriptor;
use super::parameter::{Parameter, Parameters};

impl KernelDescriptor {
    /// The parameters without those that have no effect given the others: only one preconditioner
    /// has a pattern, and only some patterns have a power.
    pub fn in_effect(&self, all: &Parameters) -> Parameters {
        if self.allowed(Parameter::Preconditioner).is_none() {
            return all.clone();
        }
        let in_effect = all.iter().filter(|(parameter, _)| has_effect(*parameter, all));
        in_effect.fold(Parameters::default(), |some, (of, value)| some.with(of, value))
    }

    /// The value, by name, of each parameter that the kernel lists and that has an effect, defaults
    /// included.
    pub fn in_force(&self, all: &Parameters) -> BTreeMap<String, String> {
        let is_solver = self.allowed(Parameter::Preconditioner).is_some();
        let listed = self.parameters.iter().map(|&(parameter, _)| parameter);
        let in_effect = listed.filter(|&parameter| !is_solver || has_effect(parameter, all));
        in_effect.filter_map(|of| Some((of.name().to_owned(), all.get(of)?))).collect()
    }
}

/// Whether a parameter has an effect in a solver with these values.
fn has_effect(parameter: Parameter, all: &Parameters) -> bool {
    let is = |parameter, word: &str| all.get(parameter).as_deref() == Some(word);
    let has_factor = is(Parameter::Preconditioner, "fsai");
    let is_adaptive = is(Parameter::Pattern, "adaptive");
    match parameter {
        Parameter::Pattern
        | Parameter::Postfilter
        | Parameter::Merge
        | Parameter::Shift
        | Parameter::SetUp
        | Parameter::FormatG => has_factor,
        Parameter::Power | Parameter::Prefilter => has_factor && !is_adaptive,
        Parameter::Steps | Parameter::PerStep | Parameter::Gain => has_factor && is_adaptive,
        Parameter::MergeBlock => has_factor && !is(Parameter::Merge, "off"),
        Parameter::HybWidth => {
            is(Parameter::FormatA, "hyb") || has_factor && is(Parameter::FormatG, "hyb")
        }
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::kernel;

    fn of(values: &[(Parameter, &str)]) -> String {
        let all =
            values.iter().fold(Parameters::default(), |all, (of, value)| all.with(*of, value));
        kernel("cpu/pcg/serial").unwrap().in_effect(&all).to_string()
    }

    #[test]
    fn what_changes_nothing_is_left_out() {
        use Parameter::{
            FormatG, HybWidth, Merge, MergeBlock, Pattern, Power, Preconditioner, Steps, Tolerance,
        };
        let jacobi = [(Preconditioner, "jacobi"), (Power, "3"), (Merge, "1"), (Tolerance, "1e-6")];
        assert_eq!(of(&jacobi), "precond=jacobi, tol=1e-6");
        assert_eq!(of(&[(Power, "3"), (Steps, "9"), (MergeBlock, "all")]), "power=3");
        let adaptive = [(Pattern, "adaptive"), (Power, "3"), (Steps, "9")];
        assert_eq!(of(&adaptive), "pattern=adaptive, steps=9");
        assert_eq!(of(&[(Merge, "1.05"), (MergeBlock, "all")]), "merge=1.05, merge_block=all");
        assert_eq!(of(&[(HybWidth, "3")]), "");
        assert_eq!(of(&[(HybWidth, "3"), (FormatG, "hyb")]), "hyb_width=3, format_g=hyb");
        let width = Parameters::default().with(HybWidth, "3");
        assert_eq!(kernel("cpu/hyb/serial").unwrap().in_effect(&width), width);
    }
}
