//! Launchers of users' kernels: those of our kernels with the same arguments, which launch the
//! user's function (see [`Operands`](super::Operands)).

use sparsescope_core::kernel::{KernelDescriptor, UserFamily};

use super::launchers::Bind;
use super::ours;
use crate::value::DeviceReal;

/// The launcher of a user's kernel; `None` for all others.
pub(crate) fn user_launcher<T: DeviceReal>(kernel: &KernelDescriptor) -> Option<&'static Bind<T>> {
    Some(match kernel.user?.family() {
        UserFamily::Csr => &const { Bind::Kernel(ours::csr) },
        UserFamily::Ell | UserFamily::EllColumnMajor => &const { Bind::Kernel(ours::ell) },
        UserFamily::Hll | UserFamily::HllColumnMajor => &const { Bind::Kernel(ours::hll) },
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arguments::{Arguments, Csr, EllOfLengths, EllOfWidth, Hll};

    /// Parameters of a family as set by `common.cuh` and the build options, for f64 and narrow
    /// offsets.
    fn parameters(family: UserFamily) -> Vec<(String, &'static str)> {
        let resolved = |name: &str| name.replace("real", "double").replace("offset", "u32");
        family.parameters().iter().map(|&(of, name)| (resolved(of.as_str()), name)).collect()
    }

    #[test]
    fn the_parameters_of_a_family_are_the_arguments_that_its_launcher_binds() {
        assert_eq!(parameters(UserFamily::Csr), Csr::<f64, f64, u32>::parameters());
        assert_eq!(parameters(UserFamily::Ell), EllOfWidth::<f64>::parameters());
        assert_eq!(parameters(UserFamily::EllColumnMajor), EllOfLengths::<f64>::parameters());
        for family in [UserFamily::Hll, UserFamily::HllColumnMajor] {
            assert_eq!(parameters(family), Hll::<f64>::parameters());
        }
        // Ours uses row lengths exactly if they are passed.
        assert!(UserFamily::ALL.iter().all(|family| {
            let lengths = family.parameters().iter().any(|(_, name)| *name == "row_len");
            let has_padding = *family != UserFamily::Csr;
            family.multiplies_padding() == (has_padding && !lengths)
        }));
    }
}
