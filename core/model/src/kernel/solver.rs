//! The parameters of solvers: preconditioner, formats, system and stopping criteria.

use super::number::{decimal, number, plain, whole};
use super::parameter::{About, Alias, Group, Param, Parameters, Values};
use super::right_side::RightSide;

/// The preconditioner applied to the residual.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Applied {
    /// None.
    None,
    /// The reciprocals of the diagonal.
    Jacobi,
    /// A symmetric Gauss–Seidel sweep from zero.
    Symgs,
    /// A factorised sparse approximate inverse.
    Fsai,
}

/// Format of a matrix in a solver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SolverFormat {
    /// Compressed sparse rows.
    Csr,
    /// ELLPACK plus COO.
    Hyb,
    /// Hacked ELLPACK.
    Hll,
}

/// Initial guess of a solver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Guess {
    /// 0.
    Zero,
    /// The preconditioned right-hand side.
    Preconditioned,
}

/// Options of `solve` and `bench`.
pub(super) const SOLVER: About = About { commands: &["bench", "solve"], ..About::OPTION };

/// Whether there is a factorised sparse approximate inverse.
pub(super) fn has_factor(all: &Parameters) -> bool {
    all.get(&PRECOND) == Applied::Fsai
}

/// Preconditioner of conjugate gradients.
pub static PRECOND: Param<Applied> = Param {
    usual: Applied::Fsai,
    values: Values::Words(
        &[Applied::None, Applied::Jacobi, Applied::Symgs, Applied::Fsai],
        |applied| match applied {
            Applied::None => "none",
            Applied::Jacobi => "jacobi",
            Applied::Symgs => "symgs",
            Applied::Fsai => "fsai",
        },
    ),
    about: About {
        more: "symgs is a symmetric Gauss–Seidel sweep, fsai a factorised sparse approximate \
            inverse.",
        is_main: true,
        ..SOLVER
            .named(10, "precond", "precond")
            .described("WORD,...", "Preconditioner: none, jacobi, symgs or fsai")
    },
};

/// Relative residual at which a solver stops.
pub static TOL: Param<f64> = Param {
    usual: 1e-10,
    values: Values::Text(
        |text| number(text, f64::MIN_POSITIVE).ok_or_else(|| "a number greater than 0".to_owned()),
        decimal,
    ),
    about: About {
        more: "This is a residual, not a bound on the error of x; --tol of `spmv` and `symgs` is \
            an error bound.",
        is_main: true,
        ..SOLVER
            .named(24, "tol", "tol")
            .described("T,...", "Stop at this relative residual |b - A x| / |b|")
    },
};

/// Maximum number of iterations.
pub static MAX_ITER: Param<usize> = Param {
    usual: 10_000,
    values: Values::Text(|text| whole(text, u32::MAX).map(|n| n as usize), plain),
    about: About {
        is_main: true,
        ..SOLVER
            .named(25, "max_iter", "max-iter")
            .described("N,...", "Maximum number of iterations")
    },
};

const FORMATS: Values<SolverFormat> = Values::Words(
    &[SolverFormat::Csr, SolverFormat::Hyb, SolverFormat::Hll],
    |format| match format {
        SolverFormat::Csr => "csr",
        SolverFormat::Hyb => "hyb",
        SolverFormat::Hll => "hll",
    },
);

/// Options of the formats in a solver.
const FORMAT: About = About {
    aliases: &[Alias {
        flag: "format",
        value: None,
        help: "Solver: format of A and G: csr, hyb or hll",
    }],
    otherwise: "--format",
    group: Group::Formats,
    ..SOLVER
};

/// Format of A in a solver.
pub static FORMAT_A: Param<SolverFormat> = Param {
    usual: SolverFormat::Csr,
    values: FORMATS,
    about: FORMAT.named(22, "format_a", "format-a").described("FORMAT,...", "Solver: format of A"),
};

/// Format of the factor in a solver.
pub static FORMAT_G: Param<SolverFormat> = Param {
    usual: SolverFormat::Csr,
    values: FORMATS,
    about: About {
        has_effect: has_factor,
        ..FORMAT.named(23, "format_g", "format-g").described("FORMAT,...", "Solver: format of G")
    },
};

/// The right-hand side of a system.
pub static RIGHT_SIDE: Param<RightSide> = Param {
    usual: RightSide::TimesOnes,
    values: Values::Text(
        |text| RightSide::of(text).ok_or_else(|| RightSide::WORDS.to_owned()),
        plain,
    ),
    about: About::OPTION.named(26, "b", "b").described(
        "WORD,...",
        "Right-hand side of solves: a1 (A times a vector of ones), ones, or range[:SEED] (A times \
        a random vector)",
    ),
};

/// Initial guess of a solver.
pub static START: Param<Guess> = Param {
    usual: Guess::Zero,
    values: Values::Words(&[Guess::Zero, Guess::Preconditioned], |guess| match guess {
        Guess::Zero => "zero",
        Guess::Preconditioned => "precond",
    }),
    about: About::OPTION
        .named(27, "x0", "x0")
        .described("WORD,...", "Initial guess of solves: zero, or precond (the preconditioned b)"),
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_have_their_types_and_errors_say_what_was_expected() {
        let usual = Parameters::default();
        assert_eq!((usual.get(&TOL), usual.get(&MAX_ITER)), (1e-10, 10_000));
        assert_eq!(
            (usual.get(&START), usual.get(&RIGHT_SIDE)),
            (Guess::Zero, RightSide::TimesOnes)
        );
        let jacobi = usual.with(PRECOND.id(), "jacobi").with(FORMAT_A.id(), "hll");
        assert_eq!(jacobi.get(&PRECOND), Applied::Jacobi);
        assert_eq!(
            (jacobi.get(&FORMAT_A), jacobi.get(&FORMAT_G)),
            (SolverFormat::Hll, SolverFormat::Csr)
        );
        assert_eq!(RIGHT_SIDE.id().value("range"), Ok("range:42".to_owned()));
        for (parameter, wrong, expected) in [
            (TOL.id(), "0", "a number greater than 0"),
            (START.id(), "one", "zero or precond"),
            (MAX_ITER.id(), "0", "a whole number from 1 to 4294967295"),
            (RIGHT_SIDE.id(), "b.mtx", "a1, ones or range[:SEED]"),
        ] {
            assert_eq!(parameter.value(wrong).unwrap_err().expected, expected);
        }
    }
}
