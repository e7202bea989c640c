//! All parameters by name.

pub use super::dense::RHS;
pub use super::format::{BSR_BLOCK, COMPACT, HACK_SIZE, HYB_WIDTH, MIN_FILL, SIGMA, SPILL, VALUES};
pub use super::inverse::{
    GAIN, MERGE, MERGE_BLOCK, PATTERN, PER_STEP, POSTFILTER, POWER, PREFILTER, SET_UP, SHIFT, STEPS,
};
use super::parameter::Parameter;
pub use super::ranks::{CG, RANKS};
pub use super::scaled::{OP, SCALE};
pub use super::skyline::COUNTING;
pub use super::solver::{FORMAT_A, FORMAT_G, MAX_ITER, PRECOND, RIGHT_SIDE, START, TOL};
pub use super::spmm::VECTORS;
pub use super::symgs::MODE;

impl Parameter {
    /// All of them, in the order in which help lists them.
    pub const ALL: [Self; 34] = [
        HACK_SIZE.id(),
        SIGMA.id(),
        SPILL.id(),
        HYB_WIDTH.id(),
        BSR_BLOCK.id(),
        MIN_FILL.id(),
        VALUES.id(),
        COMPACT.id(),
        OP.id(),
        SCALE.id(),
        MODE.id(),
        VECTORS.id(),
        COUNTING.id(),
        PRECOND.id(),
        TOL.id(),
        MAX_ITER.id(),
        POWER.id(),
        PREFILTER.id(),
        POSTFILTER.id(),
        STEPS.id(),
        PER_STEP.id(),
        GAIN.id(),
        MERGE.id(),
        MERGE_BLOCK.id(),
        SHIFT.id(),
        SET_UP.id(),
        FORMAT_A.id(),
        FORMAT_G.id(),
        CG.id(),
        PATTERN.id(),
        RIGHT_SIDE.id(),
        START.id(),
        RHS.id(),
        RANKS.id(),
    ];

    /// The parameter with this name.
    pub fn of(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|parameter| parameter.name() == name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::Parameters;

    #[test]
    fn the_order_of_runs_stays() {
        let mut all = Parameter::ALL;
        all.sort();
        let names = all.map(Parameter::name);
        assert_eq!(
            names.join(" "),
            "hack_size sigma spill hyb_width bsr_block min_fill values compact mode counting \
            precond pattern power prefilter postfilter steps per_step gain merge merge_block shift \
            set_up format_a format_g tol max_iter b x0 rhs cg ranks vectors op scale"
        );
        for (k, pair) in all.windows(2).enumerate() {
            assert!(pair[0] < pair[1], "rank {k} occurs twice");
        }
    }

    #[test]
    fn values_are_checked_and_errors_say_what_was_expected() {
        let error = |parameter: Parameter, text| parameter.value(text).unwrap_err().to_string();
        assert_eq!(HACK_SIZE.id().value("8"), Ok("8".to_owned()));
        assert_eq!(SIGMA.id().value("0"), Ok("1".to_owned()));
        for (parameter, text, expected) in [
            (HACK_SIZE.id(), "7", "hack_size is `7`: expected a power of two from 4 to 256"),
            (BSR_BLOCK.id(), "9", "bsr_block is `9`: expected a number from 2 to 8"),
            (MIN_FILL.id(), "101", "min_fill is `101`: expected a percentage from 0 to 100"),
            (VECTORS.id(), "0", "vectors is `0`: expected a whole number from 1 to 1024"),
            (RANKS.id(), "0", "ranks is `0`: expected a number of GPUs of at least 1"),
            (MODE.id(), "soft", "mode is `soft`: expected smoother or standard"),
            (COUNTING.id(), "gpu", "counting is `gpu`: expected device or host"),
            (SET_UP.id(), "host", "set_up is `host`: expected device or split or processor"),
            (COMPACT.id(), "no", "compact is `no`: expected on or off"),
            (VALUES.id(), "32", "values is `32`: expected auto or plain or 8 or 16"),
        ] {
            assert_eq!(error(parameter, text), expected);
        }
        for wrong in ["", "-1", "3.5", "99999999999", "many"] {
            for parameter in [HYB_WIDTH.id(), HACK_SIZE.id(), RANKS.id()] {
                let error = error(parameter, wrong);
                assert!(error.ends_with("expected a whole number"), "{error}");
            }
        }
        assert_eq!(MODE.id().value("smoother"), Ok("smoother".to_owned()));
    }

    #[test]
    fn a_default_is_the_same_given_or_not() {
        let given = Parameters::default().with(HACK_SIZE.id(), "32").with(SIGMA.id(), "1");
        assert_eq!(given, Parameters::default());
        assert_eq!(given.text(HACK_SIZE.id()).as_deref(), Some("32"));
        let eight = given.with(HACK_SIZE.id(), "8");
        assert_eq!((eight.format().hack_size, eight.to_string()), (8, "hack_size=8".to_owned()));
        assert_eq!(eight.with(HACK_SIZE.id(), "32"), Parameters::default());
        for parameter in Parameter::ALL {
            let usual = parameter.default();
            let accepted = usual.as_deref().map(|usual| parameter.value(usual).unwrap());
            assert_eq!(accepted, usual, "{}", parameter.name());
        }
    }

    #[test]
    fn names_are_found_again() {
        for parameter in Parameter::ALL {
            assert_eq!(Parameter::of(parameter.name()), Some(parameter));
        }
        assert_eq!(Parameter::of("color"), None);
    }
}
