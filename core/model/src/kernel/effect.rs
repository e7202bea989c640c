//! Which parameters have an effect, given the others.

use std::collections::BTreeMap;

use super::descriptor::KernelDescriptor;
use super::format::VALUES;
use super::parameter::{Parameter, Parameters};
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
    /// included except those of silent parameters, and of `values` in solvers.
    pub fn in_force(&self, all: &Parameters) -> BTreeMap<String, String> {
        let is_solver = self.allowed(PRECOND.id()).is_some();
        let listed = self.parameters.iter().map(|&(parameter, _)| parameter);
        let in_effect = listed.filter(|of| !is_solver || (of.about().has_effect)(all));
        // Solves of older bundles do not have `values`: their keys stay.
        let is_silent = |of: Parameter| of.about().is_silent || is_solver && of == VALUES.id();
        let text = |of: Parameter| {
            let is_said = |text: &String| !is_silent(of) || of.default().as_ref() != Some(text);
            all.text(of).filter(is_said)
        };
        in_effect.filter_map(|of| Some((of.name().to_owned(), text(of)?))).collect()
    }
}

impl KernelDescriptor {
    /// The value, by name, of each silent parameter in force: what is computed, where that is not
    /// the default.
    pub fn computed(&self, all: &Parameters) -> BTreeMap<String, String> {
        let is_silent = |name: &str| Parameter::of(name).is_some_and(|of| of.about().is_silent);
        self.in_force(all).into_iter().filter(|(name, _)| is_silent(name)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::kernel;

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
        let in_hll = [("values", "plain"), ("format_a", "hll")];
        assert_eq!(of(&in_hll[..1]), "");
        assert_eq!(of(&in_hll), "values=plain, format_a=hll");
        let width = Parameters::default().with(Parameter::of("hyb_width").unwrap(), "3");
        assert_eq!(kernel("cpu/hyb/serial").unwrap().in_effect(&width), width);
    }

    #[test]
    fn solves_record_the_coding_of_values_only_where_it_is_not_the_default() {
        let values = |id: &str, how: &str| {
            let all = [("format_a", "hll"), ("values", how)].into_iter();
            let all = all.fold(Parameters::default(), |all, (name, value)| {
                all.with(Parameter::of(name).unwrap(), value)
            });
            kernel(id).unwrap().in_force(&all).remove("values")
        };
        assert_eq!(values("cuda/pcg/device", "auto"), None);
        assert_eq!(values("cuda/pcg/device", "plain").as_deref(), Some("plain"));
        assert_eq!(values("cuda/hll/compact", "auto").as_deref(), Some("auto"));
    }

    #[test]
    fn silent_parameters_are_in_force_where_they_are_not_the_default() {
        let serial = kernel("cpu/csr/serial").unwrap();
        assert!(serial.in_force(&Parameters::default()).is_empty());
        let transposed = Parameters::default().with(Parameter::of("op").unwrap(), "t");
        let in_force: Vec<_> = serial.in_force(&transposed).into_iter().collect();
        assert_eq!(in_force, [("op".to_owned(), "t".to_owned())]);
        let hacks = kernel("cpu/hll/serial").unwrap();
        assert_eq!(hacks.in_force(&transposed).len(), 3); // with the hack size and sigma
        assert_eq!(hacks.computed(&transposed), serial.in_force(&transposed));
    }
}
