//! Parameters that a plan may vary: their names, the values that they accept, and sets of values.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use super::counting::Counting;
use super::format::FormatParams;
use super::right_side::RightSide;
use super::set_up::SetUpBy;
use super::solver;
use sparsescope_kernels::dense::Rhs;
use sparsescope_kernels::symgs::Mode;
use sparsescope_matrix::matrix::{BSR_BLOCKS, DEFAULT_HACK_SIZE, HACK_SIZES, ValueCoding};

/// Values of switches.
const ON: &str = "on";
const OFF: &str = "off";

/// A kernel parameter other than threads, block size and precision.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Parameter {
    /// Rows per hack (HLL).
    HackSize,
    /// Rows per window in which HLL sorts rows by length; 1 for no sorting.
    Sigma,
    /// HLL spills rows longer than this to CSR.
    Spill,
    /// Width of HYB's ELLPACK part.
    HybWidth,
    /// Block size of BSR.
    BsrBlock,
    /// Minimum fill in percent for BSR and DIA.
    MinFill,
    /// How compact formats store values: unchanged, or as 8-bit or 16-bit codes.
    Values,
    /// Whether a kernel that picks another one may pick compact formats.
    Compact,
    /// Right-hand side of each row update in a Gauss–Seidel sweep.
    Mode,
    /// Where a GPU kernel counts the points that it keeps.
    Counting,
    /// Preconditioner of conjugate gradients.
    Preconditioner,
    /// How the pattern of a factorised sparse approximate inverse is chosen.
    Pattern,
    /// The power of A whose lower triangle is that pattern.
    Power,
    /// Nonzeros of A below this size relative to the diagonal are left out of the pattern.
    Prefilter,
    /// Nonzeros of the factor below this size relative to their row are dropped.
    Postfilter,
    /// Rounds of growth of an adaptive pattern.
    Steps,
    /// Nonzeros added to a row per round.
    PerStep,
    /// Minimum relative improvement of a row in a round for another round to follow.
    Gain,
    /// How much extra work rows may add by sharing a dense system; `off` to give each row its own.
    Merge,
    /// Rows among which rows that can share a system are searched; `all` for all rows.
    MergeBlock,
    /// What is added to the diagonals of the dense systems, relative to them.
    Shift,
    /// What sets up an inverse that a GPU applies.
    SetUp,
    /// Format of A in a solver.
    FormatA,
    /// Format of the factor in a solver.
    FormatG,
    /// Relative residual at which a solver stops.
    Tolerance,
    /// Maximum number of iterations.
    MaxIterations,
    /// The right-hand side of a system.
    RightSide,
    /// Initial guess of a solver.
    Start,
    /// Right-hand sides of dense systems.
    Rhs,
    /// Which conjugate gradient iteration several ranks run.
    Cg,
    /// GPUs that share a matrix.
    Ranks,
}

/// Which values of a parameter a kernel accepts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Allowed {
    /// All values of the parameter.
    Any,
    /// Only these; none if the list is empty.
    Only(&'static [&'static str]),
}

impl Allowed {
    /// Whether `value` is allowed.
    pub fn contains(self, value: &str) -> bool {
        match self {
            Self::Any => true,
            Self::Only(values) => values.contains(&value),
        }
    }
}

/// A value that a parameter does not accept.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{parameter} is `{found}`: expected {expected}")]
pub struct ParameterError {
    /// Name of the parameter.
    pub parameter: &'static str,
    /// The value given.
    pub found: String,
    /// The values that it accepts.
    pub expected: String,
}

impl Parameter {
    /// All of them, in the order by which runs are sorted.
    pub const ALL: [Self; 31] = [
        Self::HackSize,
        Self::Sigma,
        Self::Spill,
        Self::HybWidth,
        Self::BsrBlock,
        Self::MinFill,
        Self::Values,
        Self::Compact,
        Self::Mode,
        Self::Counting,
        Self::Preconditioner,
        Self::Pattern,
        Self::Power,
        Self::Prefilter,
        Self::Postfilter,
        Self::Steps,
        Self::PerStep,
        Self::Gain,
        Self::Merge,
        Self::MergeBlock,
        Self::Shift,
        Self::SetUp,
        Self::FormatA,
        Self::FormatG,
        Self::Tolerance,
        Self::MaxIterations,
        Self::RightSide,
        Self::Start,
        Self::Rhs,
        Self::Cg,
        Self::Ranks,
    ];

    /// The name in files, such as `hack_size`.
    pub fn name(self) -> &'static str {
        match self {
            Self::HackSize => "hack_size",
            Self::Sigma => "sigma",
            Self::Spill => "spill",
            Self::HybWidth => "hyb_width",
            Self::BsrBlock => "bsr_block",
            Self::MinFill => "min_fill",
            Self::Values => "values",
            Self::Compact => "compact",
            Self::Mode => "mode",
            Self::Counting => "counting",
            Self::Preconditioner => "precond",
            Self::Pattern => "pattern",
            Self::Power => "power",
            Self::Prefilter => "prefilter",
            Self::Postfilter => "postfilter",
            Self::Steps => "steps",
            Self::PerStep => "per_step",
            Self::Gain => "gain",
            Self::Merge => "merge",
            Self::MergeBlock => "merge_block",
            Self::Shift => "shift",
            Self::SetUp => "set_up",
            Self::FormatA => "format_a",
            Self::FormatG => "format_g",
            Self::Tolerance => "tol",
            Self::MaxIterations => "max_iter",
            Self::RightSide => "b",
            Self::Start => "x0",
            Self::Rhs => "rhs",
            Self::Cg => "cg",
            Self::Ranks => "ranks",
        }
    }

    /// The parameter with this name.
    pub fn of(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|parameter| parameter.name() == name)
    }

    /// The default value; `None` for parameters that then depend on the matrix or are not in force.
    pub fn default(self) -> Option<String> {
        match self {
            Self::HackSize => Some(DEFAULT_HACK_SIZE.to_string()),
            Self::Sigma => Some("1".to_owned()),
            Self::Values => Some(ValueCoding::Auto.as_str().to_owned()),
            Self::Compact => Some(ON.to_owned()),
            Self::Mode => Some(Mode::Standard.as_str().to_owned()),
            Self::Counting => Some(Counting::Device.as_str().to_owned()),
            Self::SetUp => Some(SetUpBy::Device.as_str().to_owned()),
            Self::Rhs => Some(Rhs::LastUnit.as_str().to_owned()),
            Self::Ranks => Some("1".to_owned()),
            _ => self.of_solver().map(|(usual, _)| usual.to_owned()),
        }
    }

    /// The words that it accepts, unless it accepts numbers.
    fn words(self) -> Option<Vec<&'static str>> {
        match self {
            Self::Values => Some(ValueCoding::ALL.map(ValueCoding::as_str).into()),
            Self::Compact => Some(vec![ON, OFF]),
            Self::Mode => Some(Mode::ALL.map(Mode::as_str).into()),
            Self::Counting => Some(Counting::ALL.map(Counting::as_str).into()),
            Self::SetUp => Some(SetUpBy::ALL.map(SetUpBy::as_str).into()),
            Self::Rhs => Some(Rhs::ALL.map(Rhs::as_str).into()),
            _ => None,
        }
    }

    /// The default and the accepted values of a solver parameter; `None` for others.
    fn of_solver(self) -> Option<(&'static str, solver::Takes)> {
        use solver::Takes::{Number, Whole, WholeOr, Words};
        Some(match self {
            Self::Preconditioner => ("fsai", Words(&["none", "jacobi", "symgs", "fsai"])),
            Self::Pattern => ("recursive", Words(&["recursive", "power", "adaptive"])),
            Self::Power => ("2", Whole { most: 64 }),
            Self::Prefilter | Self::Postfilter | Self::Shift => {
                ("0", Number { least: 0.0, or: "" })
            }
            Self::Steps => ("5", Whole { most: 1_000 }),
            Self::PerStep => ("3", Whole { most: 1_000 }),
            Self::Gain => ("0.001", Number { least: 0.0, or: "" }),
            Self::Merge => ("off", Number { least: 1.0, or: "off" }),
            Self::MergeBlock => ("8192", WholeOr("all")),
            Self::FormatA | Self::FormatG => ("csr", Words(&["csr", "hyb", "hll"])),
            Self::Tolerance => ("1e-10", Number { least: f64::MIN_POSITIVE, or: "" }),
            Self::MaxIterations => ("10000", Whole { most: u32::MAX }),
            Self::RightSide => ("a1", solver::Takes::RightSide),
            Self::Start => ("zero", Words(&["zero", "precond"])),
            Self::Cg => ("classic", Words(&["classic", "single", "pipelined"])),
            _ => return None,
        })
    }

    /// A value as written in files, or what is wrong with it.
    pub fn value(self, text: &str) -> Result<String, ParameterError> {
        let wrong = |expected: String| ParameterError {
            parameter: self.name(),
            found: text.to_owned(),
            expected,
        };
        if let Some(known) = self.words() {
            return match known.contains(&text) {
                true => Ok(text.to_owned()),
                false => Err(wrong(known.join(" or "))),
            };
        }
        if let Some((_, takes)) = self.of_solver() {
            return takes.value(text).map_err(wrong);
        }
        let Ok(number) = text.parse::<u32>() else {
            return Err(wrong("a whole number".to_owned()));
        };
        let size = number as usize;
        let fits = match self {
            Self::HackSize => HACK_SIZES.contains(&size),
            Self::BsrBlock => BSR_BLOCKS.contains(&size),
            Self::MinFill => number <= 100,
            Self::Ranks => number >= 1,
            // Words and solver values were checked above.
            _ => true,
        };
        match (fits, self) {
            (false, Self::HackSize) => {
                let [least, .., most] = HACK_SIZES;
                Err(wrong(format!("a power of two from {least} to {most}")))
            }
            (false, Self::BsrBlock) => {
                let (least, most) = (BSR_BLOCKS.start(), BSR_BLOCKS.end());
                Err(wrong(format!("a number from {least} to {most}")))
            }
            (false, Self::Ranks) => Err(wrong("a number of GPUs of at least 1".to_owned())),
            (false, _) => Err(wrong("a percentage from 0 to 100".to_owned())),
            // Windows of zero rows or one row both mean no sorting.
            (true, Self::Sigma) => Ok(number.max(1).to_string()),
            (true, _) => Ok(number.to_string()),
        }
    }
}

/// Values of some parameters, one each; the others have their defaults.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Parameters(BTreeMap<Parameter, String>);

impl Parameters {
    /// Sets `parameter` to `value`, which [`Parameter::value`] has accepted. A default is not
    /// stored: setting it changes nothing.
    pub fn with(mut self, parameter: Parameter, value: &str) -> Self {
        match parameter.default().as_deref() == Some(value) {
            true => self.0.remove(&parameter),
            false => self.0.insert(parameter, value.to_owned()),
        };
        self
    }

    /// The value of a parameter, or its default if none is set.
    pub fn get(&self, parameter: Parameter) -> Option<String> {
        self.0.get(&parameter).cloned().or_else(|| parameter.default())
    }

    /// The values other than defaults by name, as in files.
    pub fn names(&self) -> BTreeMap<String, String> {
        self.0
            .iter()
            .map(|(parameter, value)| (parameter.name().to_owned(), value.clone()))
            .collect()
    }

    /// The values other than defaults.
    pub fn iter(&self) -> impl Iterator<Item = (Parameter, &str)> {
        self.0.iter().map(|(&parameter, value)| (parameter, value.as_str()))
    }

    /// Right-hand side of each row update in a sweep.
    pub fn mode(&self) -> Mode {
        let word = self.get(Parameter::Mode).unwrap_or_default();
        let named = Mode::ALL.into_iter().find(|mode| mode.as_str() == word);
        named.expect("a mode is checked when it is set, and has a default") // invariant
    }

    /// Where a GPU kernel counts the points that it keeps.
    pub fn counting(&self) -> Counting {
        let word = self.get(Parameter::Counting).unwrap_or_default();
        let named = Counting::ALL.into_iter().find(|counting| counting.as_str() == word);
        named.expect("where is checked when it is set, and has a default") // invariant
    }

    /// What sets up an inverse that a GPU applies.
    pub fn set_up(&self) -> SetUpBy {
        let word = self.get(Parameter::SetUp).unwrap_or_default();
        let named = SetUpBy::ALL.into_iter().find(|by| by.as_str() == word);
        named.expect("who is checked when it is set, and has a default") // invariant
    }

    /// The right-hand side of a system.
    pub fn right_side(&self) -> RightSide {
        let word = self.get(Parameter::RightSide).unwrap_or_default();
        RightSide::of(&word).expect("the word is checked when it is set, and has a default") // invariant
    }

    /// The number that a parameter has; `None` if it has a word.
    pub fn number<N: FromStr>(&self, parameter: Parameter) -> Option<N> {
        self.get(parameter).and_then(|value| value.parse().ok())
    }

    /// The right-hand sides of dense systems.
    pub fn rhs(&self) -> Rhs {
        let word = self.get(Parameter::Rhs).unwrap_or_default();
        let named = Rhs::ALL.into_iter().find(|rhs| rhs.as_str() == word);
        named.expect("a right-hand side is checked when it is set, and has a default") // invariant
    }

    /// Whether a kernel that picks another one may pick compact formats.
    pub fn compact(&self) -> bool {
        self.get(Parameter::Compact).as_deref() == Some(ON)
    }

    /// How compact formats store values.
    fn values(&self) -> ValueCoding {
        let word = self.get(Parameter::Values).unwrap_or_default();
        let named = ValueCoding::ALL.into_iter().find(|coding| coding.as_str() == word);
        named.expect("how is checked when it is set, and has a default") // invariant
    }

    /// The parameters of formats.
    pub fn format(&self) -> FormatParams {
        let number = |parameter| self.number::<usize>(parameter);
        let usual = FormatParams::default();
        FormatParams {
            hack_size: number(Parameter::HackSize).unwrap_or(usual.hack_size),
            sigma: number(Parameter::Sigma).unwrap_or(usual.sigma),
            spill: number(Parameter::Spill),
            hyb_width: number(Parameter::HybWidth),
            bsr_block: number(Parameter::BsrBlock),
            min_fill: number(Parameter::MinFill).and_then(|value| u32::try_from(value).ok()),
            values: self.values(),
        }
    }
}

impl fmt::Display for Parameters {
    /// Writes `hack_size=8, sigma=256`; nothing if all have their defaults.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (k, (parameter, value)) in self.iter().enumerate() {
            let comma = if k > 0 { ", " } else { "" };
            write!(f, "{comma}{}={value}", parameter.name())?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_checked_and_told_with_what_was_expected() {
        assert_eq!(Parameter::HackSize.value("8"), Ok("8".to_owned()));
        assert_eq!(Parameter::Sigma.value("0"), Ok("1".to_owned()));
        let error = Parameter::HackSize.value("7").unwrap_err().to_string();
        assert_eq!(error, "hack_size is `7`: expected a power of two from 4 to 256");
        let error = Parameter::BsrBlock.value("9").unwrap_err().to_string();
        assert_eq!(error, "bsr_block is `9`: expected a number from 2 to 8");
        for wrong in ["", "-1", "3.5", "99999999999", "many"] {
            let error = Parameter::HybWidth.value(wrong).unwrap_err().to_string();
            assert!(error.ends_with("expected a whole number"), "{error}");
        }
        assert!(Parameter::MinFill.value("101").is_err());
        let error = Parameter::Ranks.value("0").unwrap_err().to_string();
        assert_eq!(error, "ranks is `0`: expected a number of GPUs of at least 1");
        assert_eq!(Parameter::Mode.value("smoother"), Ok("smoother".to_owned()));
        let error = Parameter::Mode.value("soft").unwrap_err().to_string();
        assert_eq!(error, "mode is `soft`: expected smoother or standard");
        let error = Parameter::Counting.value("gpu").unwrap_err().to_string();
        assert_eq!(error, "counting is `gpu`: expected device or host");
        let error = Parameter::SetUp.value("host").unwrap_err().to_string();
        assert_eq!(error, "set_up is `host`: expected device or split or processor");
        let error = Parameter::Compact.value("no").unwrap_err().to_string();
        assert_eq!(error, "compact is `no`: expected on or off");
        let error = Parameter::Values.value("32").unwrap_err().to_string();
        assert_eq!(error, "values is `32`: expected auto or plain or 8 or 16");
    }

    #[test]
    fn a_default_is_the_same_given_or_not() {
        let given =
            Parameters::default().with(Parameter::HackSize, "32").with(Parameter::Sigma, "1");
        assert_eq!(given, Parameters::default());
        assert_eq!(given.get(Parameter::HackSize).as_deref(), Some("32"));
        let eight = given.with(Parameter::HackSize, "8");
        assert_eq!((eight.format().hack_size, eight.to_string()), (8, "hack_size=8".to_owned()));
        assert_eq!(eight.with(Parameter::HackSize, "32"), Parameters::default());
    }

    #[test]
    fn words_name_what_is_in_force() {
        let usual = Parameters::default();
        assert_eq!((usual.mode(), usual.counting()), (Mode::Standard, Counting::Device));
        assert_eq!(usual.set_up(), SetUpBy::Device);
        assert_eq!(usual.clone().with(Parameter::SetUp, "split").set_up(), SetUpBy::Split);
        let other = usual.with(Parameter::Mode, "smoother").with(Parameter::Counting, "host");
        assert_eq!((other.mode(), other.counting()), (Mode::Smoother, Counting::Host));
        assert_eq!(other.to_string(), "mode=smoother, counting=host");
    }

    #[test]
    fn names_are_found_again() {
        for parameter in Parameter::ALL {
            assert_eq!(Parameter::of(parameter.name()), Some(parameter));
        }
        assert_eq!(Parameter::of("color"), None);
    }
}
