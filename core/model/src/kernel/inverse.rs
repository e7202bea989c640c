//! The parameters of factorised sparse approximate inverses.

use super::number::{decimal, not_negative, number, plain, whole};
use super::parameter::{About, Param, Parameters, Values};
use super::set_up::SetUpBy;
use super::solver::{SOLVER, has_factor};

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

/// Options of any pattern.
const FSAI: About = About { has_effect: has_factor, ..SOLVER };
/// Options of patterns that follow from powers of A.
const POWERS: About = About { has_effect: |all| has_factor(all) && !is_adaptive(all), ..SOLVER };
/// Options of patterns that grow.
const ADAPTIVE: About = About { has_effect: |all| has_factor(all) && is_adaptive(all), ..SOLVER };

fn is_adaptive(all: &Parameters) -> bool {
    all.get(&PATTERN) == PatternKind::Adaptive
}

/// How the pattern is chosen.
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
        has_effect: has_factor,
        ..About::OPTION
            .named(11, "pattern", "pattern")
            .described("HOW,...", "FSAI: pattern of G: recursive, power or adaptive")
    },
};

/// The power of A whose lower triangle is the pattern.
pub static POWER: Param<u32> = Param {
    usual: 2,
    values: Values::Text(|text| whole(text, 64), plain),
    about: POWERS
        .named(12, "power", "power")
        .described("K,...", "FSAI: power of A whose lower triangle is the pattern"),
};

/// Nonzeros of A below this size relative to the diagonal are left out of the pattern.
pub static PREFILTER: Param<f64> = Param {
    usual: 0.0,
    values: Values::Text(not_negative, decimal),
    about: POWERS.named(13, "prefilter", "prefilter").signed("δ").described(
        "D,...",
        "FSAI: leave nonzeros of A with a_ij^2 <= D a_ii a_jj out of the pattern",
    ),
};

/// Nonzeros of the factor below this size relative to their row are dropped.
pub static POSTFILTER: Param<f64> = Param {
    usual: 0.0,
    values: Values::Text(not_negative, decimal),
    about: FSAI.named(14, "postfilter", "postfilter").signed("τ").described(
        "T,...",
        "FSAI: drop nonzeros of G with g_ij^2 <= T times the sum of squares of their row; 0 drops \
        none",
    ),
};

/// Rounds of growth of an adaptive pattern.
pub static STEPS: Param<u32> = Param {
    usual: 5,
    values: Values::Text(|text| whole(text, 1_000), plain),
    about: ADAPTIVE.named(15, "steps", "steps").signed("steps").described(
        "N,...",
        "FSAI, adaptive pattern: maximum number of rounds in which a row grows",
    ),
};

/// Nonzeros added to a row per round.
pub static PER_STEP: Param<u32> = Param {
    usual: 3,
    values: Values::Text(|text| whole(text, 1_000), plain),
    about: ADAPTIVE
        .named(16, "per_step", "per-step")
        .signed("per step")
        .described("N,...", "FSAI, adaptive pattern: nonzeros added to a row per round"),
};

/// Minimum relative improvement of a row in a round for another round to follow.
pub static GAIN: Param<f64> = Param {
    usual: 0.001,
    values: Values::Text(not_negative, decimal),
    about: ADAPTIVE.named(17, "gain", "gain").signed("gain").described(
        "S,...",
        "FSAI, adaptive pattern: stop when a round improves a row by less than this fraction",
    ),
};

/// How much extra work rows may add by sharing a dense system; `None` (`off`) to give each row its own.
pub static MERGE: Param<Option<f64>> = Param {
    usual: None,
    values: Values::Text(
        |text| match (text, number(text, 1.0)) {
            ("off", _) => Ok(None),
            (_, Some(alpha)) => Ok(Some(alpha)),
            (_, None) => Err("a number of at least 1, or off".to_owned()),
        },
        |alpha| alpha.map_or_else(|| Some("off".to_owned()), decimal),
    ),
    about: FSAI.named(18, "merge", "merge").signed("α").described(
        "A,...",
        "FSAI: merge rows with similar patterns if their shared dense system costs at most A times \
        the separate ones (A >= 1), or off",
    ),
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
        |rows| rows.map_or_else(|| Some("all".to_owned()), plain),
    ),
    about: About {
        has_effect: |all| has_factor(all) && all.get(&MERGE).is_some(),
        ..SOLVER.named(19, "merge_block", "merge-block").signed("block").described(
            "ROWS,...",
            "FSAI: rows per block in which --merge looks for similar rows, or all",
        )
    },
};

/// What is added to the diagonals of the dense systems, relative to them.
pub static SHIFT: Param<f64> = Param {
    usual: 0.0,
    values: Values::Text(not_negative, decimal),
    about: FSAI.named(20, "shift", "shift").signed("shift").described(
        "S,...",
        "FSAI: shift of the diagonals of the dense systems, for a matrix that is barely positive \
        definite",
    ),
};

/// What sets up an inverse that a GPU applies.
pub static SET_UP: Param<SetUpBy> = Param {
    usual: SetUpBy::Device,
    values: Values::Words(&SetUpBy::ALL, SetUpBy::as_str),
    about: About {
        more: "With split, the CPU gathers the dense systems and the GPU solves them.",
        ..FSAI.named(21, "set_up", "set-up").signed("setup").described(
            "WHO,...",
            "FSAI on a GPU: where the setup runs: device, processor (the CPU) or split",
        )
    },
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn off_and_all_are_no_numbers() {
        let usual = Parameters::default();
        assert_eq!((usual.get(&MERGE), usual.get(&MERGE_BLOCK)), (None, Some(8192)));
        let set = usual.with(MERGE.id(), "1.05").with(MERGE_BLOCK.id(), "all");
        assert_eq!((set.get(&MERGE), set.get(&MERGE_BLOCK)), (Some(1.05), None));
        for (text, written) in [("1.050", "1.05"), ("1E+10", "1e10"), ("off", "off")] {
            assert_eq!(MERGE.id().value(text), Ok(written.to_owned()));
        }
        for wrong in ["0.9", "-1", "nan", "on"] {
            let error = MERGE.id().value(wrong).unwrap_err();
            assert_eq!(error.expected, "a number of at least 1, or off");
        }
        assert_eq!(MERGE_BLOCK.id().value("09"), Ok("9".to_owned()));
        let error = MERGE_BLOCK.id().value("0").unwrap_err();
        assert_eq!(error.expected, "a whole number of at least 1, or all");
    }
}
