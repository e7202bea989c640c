//! Which parameters have an effect, given the others.

use std::collections::BTreeMap;

use super::descriptor::KernelDescriptor;
use super::parameter::Parameters;
use super::solver::PRECOND;

impl KernelDescriptor {
    /// The parameters without those that have no effect given the others: only one preconditioner
    /// has a pattern, and only some patterns have a power.
    pub fn in_effect(&self, all: &Parameters) -> Parameters {
        if self.allowed(PRECOND.id()).is_none() {
            return all.clone();
        }
        let in_effect = all.iter().filter(|(of, _)| (of.about().has_effect)(all));
        in_effect.fold(Parameters::default(), |some, (of, value)| some.with(of, value))
    }

    /// The value, by name, of each parameter that the kernel lists and that has an effect, defaults
    /// included.
    pub fn in_force(&self, all: &Parameters) -> BTreeMap<String, String> {
        let is_solver = self.allowed(PRECOND.id()).is_some();
        let listed = self.parameters.iter().map(|&(parameter, _)| parameter);
        let in_effect = listed.filter(|of| !is_solver || (of.about().has_effect)(all));
        in_effect.filter_map(|of| Some((of.name().to_owned(), all.text(of)?))).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::kernel;
    use crate::kernel::parameter::Parameter;

    fn of(values: &[(&str, &str)]) -> String {
        let all = values.iter().fold(Parameters::default(), |all, (name, value)| {
            all.with(Parameter::of(name).unwrap(), value)
        });
        kernel("cpu/pcg/serial").unwrap().in_effect(&all).to_string()
    }

    #[test]
    fn what_changes_nothing_is_left_out() {
        let jacobi = [("precond", "jacobi"), ("power", "3"), ("merge", "1"), ("tol", "1e-6")];
        assert_eq!(of(&jacobi), "precond=jacobi, tol=1e-6");
        assert_eq!(of(&[("power", "3"), ("steps", "9"), ("merge_block", "all")]), "power=3");
        let adaptive = [("pattern", "adaptive"), ("power", "3"), ("steps", "9")];
        assert_eq!(of(&adaptive), "pattern=adaptive, steps=9");
        let merging = "merge=1.05, merge_block=all";
        assert_eq!(of(&[("merge", "1.05"), ("merge_block", "all")]), merging);
        assert_eq!(of(&[("hyb_width", "3")]), "");
        let in_hyb = [("hyb_width", "3"), ("format_g", "hyb")];
        assert_eq!(of(&in_hyb), "hyb_width=3, format_g=hyb");
        assert_eq!(of(&[("precond", "none"), in_hyb[0], in_hyb[1]]), "precond=none");
        let width = Parameters::default().with(Parameter::of("hyb_width").unwrap(), "3");
        assert_eq!(kernel("cpu/hyb/serial").unwrap().in_effect(&width), width);
    }
}
