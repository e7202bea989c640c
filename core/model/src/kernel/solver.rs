//! The parameters of solvers.

use super::parameter::{About, Alias, Group, Param, Parameters, Values};
use super::right_side::RightSide;
use super::set_up::SetUpBy;

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

/// How the pattern of a factorised sparse approximate inverse is chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PatternKind {
    /// Lower triangles of the pattern so far times A, up to a power (the thesis).
    Recursive,
    /// The lower triangle of a power of A.
    Power,
    /// Each row grows by the positions that help most.
    Adaptive,
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
const SOLVER: About = About { commands: &["bench", "solve"], ..About::OPTION };
/// Of a factorised sparse approximate inverse, whatever its pattern.
const FSAI: About = About { has_effect: has_factor, ..SOLVER };
/// Of a pattern that is a power, or follows from powers.
const OF_POWERS: About = About { has_effect: |all| has_factor(all) && !is_adaptive(all), ..SOLVER };
/// Of a pattern that grows.
const ADAPTIVE: About = About { has_effect: |all| has_factor(all) && is_adaptive(all), ..SOLVER };

pub(super) fn has_factor(all: &Parameters) -> bool {
    all.get(&PRECOND) == Applied::Fsai
}

fn is_adaptive(all: &Parameters) -> bool {
    all.get(&PATTERN) == PatternKind::Adaptive
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
        rank: 10,
        name: "precond",
        flag: "precond",
        placeholder: "WORD,...",
        help: "Preconditioner: none, jacobi, symgs or fsai",
        more: "symgs is a symmetric Gauss-Seidel sweep, fsai a factorized sparse approximate \
            inverse.",
        is_main: true,
        ..SOLVER
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
        rank: 24,
        name: "tol",
        flag: "tol",
        placeholder: "T,...",
        help: "Stop at this relative residual |b - A x| / |b|",
        more: "This is a residual, not a bound on the error of x; --tol of `spmv` and `symgs` is \
            an error bound.",
        is_main: true,
        ..SOLVER
    },
};

/// Maximum number of iterations.
pub static MAX_ITER: Param<usize> = Param {
    usual: 10_000,
    values: Values::Text(|text| whole(text, u32::MAX).map(|n| n as usize), |n| Some(n.to_string())),
    about: About {
        rank: 25,
        name: "max_iter",
        flag: "max-iter",
        help: "Maximum number of iterations",
        is_main: true,
        ..SOLVER
    },
};

/// The power of A whose lower triangle is the pattern.
pub static POWER: Param<u32> = Param {
    usual: 2,
    values: Values::Text(|text| whole(text, 64), |n| Some(n.to_string())),
    about: About {
        rank: 12,
        name: "power",
        flag: "power",
        placeholder: "K,...",
        help: "FSAI: power of A whose lower triangle is the pattern",
        ..OF_POWERS
    },
};

/// Nonzeros of A below this size relative to the diagonal are left out of the pattern.
pub static PREFILTER: Param<f64> = Param {
    usual: 0.0,
    values: Values::Text(not_negative, decimal),
    about: About {
        rank: 13,
        name: "prefilter",
        flag: "prefilter",
        placeholder: "D,...",
        help: "FSAI: leave nonzeros of A with a_ij^2 <= D a_ii a_jj out of the pattern",
        ..OF_POWERS
    },
};

/// Nonzeros of the factor below this size relative to their row are dropped.
pub static POSTFILTER: Param<f64> = Param {
    usual: 0.0,
    values: Values::Text(not_negative, decimal),
    about: About {
        rank: 14,
        name: "postfilter",
        flag: "postfilter",
        placeholder: "T,...",
        help: "FSAI: drop nonzeros of G with g_ij^2 <= T times the sum of squares of their row; 0 \
            drops none",
        ..FSAI
    },
};

/// Rounds of growth of an adaptive pattern.
pub static STEPS: Param<u32> = Param {
    usual: 5,
    values: Values::Text(|text| whole(text, 1_000), |n| Some(n.to_string())),
    about: About {
        rank: 15,
        name: "steps",
        flag: "steps",
        help: "FSAI, adaptive pattern: maximum number of rounds in which a row grows",
        ..ADAPTIVE
    },
};

/// Nonzeros added to a row per round.
pub static PER_STEP: Param<u32> = Param {
    usual: 3,
    values: Values::Text(|text| whole(text, 1_000), |n| Some(n.to_string())),
    about: About {
        rank: 16,
        name: "per_step",
        flag: "per-step",
        help: "FSAI, adaptive pattern: nonzeros added to a row per round",
        ..ADAPTIVE
    },
};

/// Minimum relative improvement of a row in a round for another round to follow.
pub static GAIN: Param<f64> = Param {
    usual: 0.001,
    values: Values::Text(not_negative, decimal),
    about: About {
        rank: 17,
        name: "gain",
        flag: "gain",
        placeholder: "S,...",
        help: "FSAI, adaptive pattern: stop when a round improves a row by less than this fraction",
        ..ADAPTIVE
    },
};

/// How much extra work rows may add by sharing a dense system; `None` (`off`) to give each row its own.
pub static MERGE: Param<Option<f64>> = Param {
    usual: None,
    values: Values::Text(
        |text| match text {
            "off" => Ok(None),
            _ => number(text, 1.0)
                .map(Some)
                .ok_or_else(|| "a number of at least 1, or off".to_owned()),
        },
        |alpha| alpha.map_or_else(|| Some("off".to_owned()), decimal),
    ),
    about: About {
        rank: 18,
        name: "merge",
        flag: "merge",
        placeholder: "A,...",
        help: "FSAI: merge rows with similar patterns if their shared dense system costs at most A \
            times the separate ones (A >= 1), or off",
        ..FSAI
    },
};

/// Rows among which rows that can share a system are searched; `None` (`all`) for all rows.
pub static MERGE_BLOCK: Param<Option<usize>> = Param {
    usual: Some(8192),
    values: Values::Text(
        |text| match (text, whole(text, u32::MAX)) {
            ("all", _) => Ok(None),
            (_, Ok(rows)) => Ok(Some(rows as usize)),
            (_, Err(_)) => Err("a whole number of at least 1, or all".to_owned()),
        },
        |rows| Some(rows.map_or_else(|| "all".to_owned(), |rows| rows.to_string())),
    ),
    about: About {
        rank: 19,
        name: "merge_block",
        flag: "merge-block",
        placeholder: "ROWS,...",
        help: "FSAI: rows per block in which --merge looks for similar rows, or all",
        has_effect: |all| has_factor(all) && all.get(&MERGE).is_some(),
        ..SOLVER
    },
};

/// What is added to the diagonals of the dense systems, relative to them.
pub static SHIFT: Param<f64> = Param {
    usual: 0.0,
    values: Values::Text(not_negative, decimal),
    about: About {
        rank: 20,
        name: "shift",
        flag: "shift",
        placeholder: "S,...",
        help: "FSAI: shift of the diagonals of the dense systems, for a matrix that is barely \
            positive definite",
        ..FSAI
    },
};

/// What sets up an inverse that a GPU applies.
pub static SET_UP: Param<SetUpBy> = Param {
    usual: SetUpBy::Device,
    values: Values::Words(&SetUpBy::ALL, SetUpBy::as_str),
    about: About {
        rank: 21,
        name: "set_up",
        flag: "set-up",
        placeholder: "WHO,...",
        help: "FSAI on a GPU: where the setup runs: device, processor (the CPU) or split",
        more: "With split, the CPU gathers the dense systems and the GPU solves them.",
        ..FSAI
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
    placeholder: "FORMAT,...",
    otherwise: "--format",
    group: Group::Formats,
    ..SOLVER
};

/// Format of A in a solver.
pub static FORMAT_A: Param<SolverFormat> = Param {
    usual: SolverFormat::Csr,
    values: FORMATS,
    about: About {
        rank: 22,
        name: "format_a",
        flag: "format-a",
        help: "Solver: format of A",
        ..FORMAT
    },
};

/// Format of the factor in a solver.
pub static FORMAT_G: Param<SolverFormat> = Param {
    usual: SolverFormat::Csr,
    values: FORMATS,
    about: About {
        rank: 23,
        name: "format_g",
        flag: "format-g",
        help: "Solver: format of G",
        has_effect: has_factor,
        ..FORMAT
    },
};

/// How the pattern of a factorised sparse approximate inverse is chosen.
pub static PATTERN: Param<PatternKind> = Param {
    usual: PatternKind::Recursive,
    values: Values::Words(
        &[PatternKind::Recursive, PatternKind::Power, PatternKind::Adaptive],
        |kind| match kind {
            PatternKind::Recursive => "recursive",
            PatternKind::Power => "power",
            PatternKind::Adaptive => "adaptive",
        },
    ),
    about: About {
        rank: 11,
        name: "pattern",
        flag: "pattern",
        placeholder: "HOW,...",
        help: "FSAI: pattern of G: recursive, power or adaptive",
        commands: &["bench"],
        ..FSAI
    },
};

/// The right-hand side of a system.
pub static RIGHT_SIDE: Param<RightSide> = Param {
    usual: RightSide::TimesOnes,
    values: Values::Text(
        |text| RightSide::of(text).ok_or_else(|| RightSide::WORDS.to_owned()),
        |side| Some(side.to_string()),
    ),
    about: About {
        rank: 26,
        name: "b",
        flag: "b",
        placeholder: "WORD,...",
        help: "Right-hand side of solves: a1 (A times a vector of ones), ones, or range[:SEED] (A \
            times a random vector)",
        commands: &["bench"],
        ..SOLVER
    },
};

/// Initial guess of a solver.
pub static START: Param<Guess> = Param {
    usual: Guess::Zero,
    values: Values::Words(&[Guess::Zero, Guess::Preconditioned], |guess| match guess {
        Guess::Zero => "zero",
        Guess::Preconditioned => "precond",
    }),
    about: About {
        rank: 27,
        name: "x0",
        flag: "x0",
        placeholder: "WORD,...",
        help: "Initial guess of solves: zero, or precond (the preconditioned b)",
        commands: &["bench"],
        ..SOLVER
    },
};

/// An integer from 1 to `most`; otherwise what was expected.
fn whole(text: &str, most: u32) -> Result<u32, String> {
    let number = text.parse().ok().filter(|n| (1..=most).contains(n));
    number.ok_or_else(|| format!("a whole number from 1 to {most}"))
}

/// A finite number of at least `least`.
fn number(text: &str, least: f64) -> Option<f64> {
    text.parse().ok().filter(|x: &f64| x.is_finite() && *x >= least)
}

fn not_negative(text: &str) -> Result<f64, String> {
    number(text, 0.0).ok_or_else(|| "a number of at least 0".to_owned())
}

/// The shortest digits that read back as the number: the same for all its spellings.
fn decimal(number: f64) -> Option<String> {
    let is_plain = number == 0.0 || (1e-3..1e6).contains(&number);
    Some(if is_plain { (number + 0.0).to_string() } else { format!("{number:e}") })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_is_written_in_one_way() {
        for (text, expected) in [
            ("1", "1"),
            ("1.0", "1"),
            ("1.050", "1.05"),
            ("1E+10", "1e10"),
            ("12345678", "1.2345678e7"),
            ("off", "off"),
        ] {
            assert_eq!(MERGE.id().value(text), Ok(expected.to_owned()), "{text}");
        }
        for wrong in ["-1", "0.9", "inf", "nan", "", "on"] {
            let error = MERGE.id().value(wrong).unwrap_err();
            assert_eq!(error.expected, "a number of at least 1, or off");
        }
        for (text, expected) in [
            ("0", "0"),
            ("-0.0", "0"),
            ("1E-10", "1e-10"),
            ("0.0000000001", "1e-10"),
            (".001", "0.001"),
        ] {
            assert_eq!(PREFILTER.id().value(text), Ok(expected.to_owned()), "{text}");
        }
        assert_eq!(SHIFT.id().value("-1").unwrap_err().expected, "a number of at least 0");
        assert_eq!(TOL.id().value("0").unwrap_err().expected, "a number greater than 0");
    }

    #[test]
    fn words_and_whole_numbers_say_what_they_expect() {
        assert_eq!(START.id().value("zero"), Ok("zero".to_owned()));
        assert_eq!(START.id().value("one").unwrap_err().expected, "zero or precond");
        let power = POWER.id();
        assert_eq!((power.value("09"), power.value("0").is_err()), (Ok("9".to_owned()), true));
        assert_eq!(power.value("65").unwrap_err().expected, "a whole number from 1 to 64");
        assert_eq!(MERGE_BLOCK.id().value("all"), Ok("all".to_owned()));
        let error = MERGE_BLOCK.id().value("0").unwrap_err();
        assert_eq!(error.expected, "a whole number of at least 1, or all");
        assert_eq!(RIGHT_SIDE.id().value("range"), Ok("range:42".to_owned()));
        let error = RIGHT_SIDE.id().value("b.mtx").unwrap_err();
        assert_eq!(error.expected, "a1, ones or range[:SEED]");
    }

    #[test]
    fn values_have_their_types() {
        let usual = Parameters::default();
        assert_eq!((usual.get(&TOL), usual.get(&MAX_ITER)), (1e-10, 10_000));
        assert_eq!((usual.get(&MERGE), usual.get(&MERGE_BLOCK)), (None, Some(8192)));
        let set = usual.with(MERGE.id(), "1.05").with(MERGE_BLOCK.id(), "all");
        assert_eq!((set.get(&MERGE), set.get(&MERGE_BLOCK)), (Some(1.05), None));
        assert_eq!(set.with(PRECOND.id(), "jacobi").get(&PRECOND), Applied::Jacobi);
    }
}
