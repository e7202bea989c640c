//! Parameters that a plan may vary: what describes one, and sets of their values.

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::fmt;
use std::hash::{Hash, Hasher};

/// A kernel parameter other than threads, block size and precision, with values of type `T`.
pub struct Param<T: 'static> {
    pub(super) about: About,
    /// The default value.
    pub(super) usual: T,
    pub(super) values: Values<T>,
}

/// The values of a parameter, and how they are read and written.
pub(super) enum Values<T: 'static> {
    /// One of these, each a word.
    Words(&'static [T], fn(T) -> &'static str),
    /// What the first function reads, which otherwise returns what was expected. The second writes a value as
    /// in files; `None` for a default that depends on the matrix or is not in force.
    Text(fn(&str) -> Result<T, String>, fn(T) -> Option<String>),
}

/// What is known about a parameter, whatever the type of its values.
pub struct About {
    /// Place among all parameters by which runs are sorted and units numbered: shards and resumed bundles
    /// depend on it, so it never changes.
    pub rank: u8,
    /// Name in files, such as `hack_size`.
    pub name: &'static str,
    /// Its option, without dashes.
    pub flag: &'static str,
    /// Other options that set it.
    pub aliases: &'static [Alias],
    /// Placeholder of a list of values.
    pub placeholder: &'static str,
    /// One sentence, without the default.
    pub help: &'static str,
    /// More sentences; may be empty.
    pub more: &'static str,
    /// What happens by default, if the default value does not say it; may be empty.
    pub otherwise: &'static str,
    /// The group of options that lists it.
    pub group: Group,
    /// Whether the command that is about it lists it among its main options.
    pub is_main: bool,
    /// The commands that take its values and nothing else. A command that also takes a file, as `solve` does
    /// for b, declares the option itself.
    pub commands: &'static [&'static str],
    /// Its sign in the description of a preconditioner; empty if that does not name it.
    pub sign: &'static str,
    /// Whether runs leave it out where it has its default.
    pub is_silent: bool,
    /// Whether it has an effect in a solver with these values.
    pub has_effect: fn(&Parameters) -> bool,
}

impl About {
    /// An option of `bench` for a solver's parameter that always has an effect.
    pub(super) const OPTION: Self = Self {
        rank: 0,
        name: "",
        flag: "",
        aliases: &[],
        placeholder: "",
        help: "",
        more: "",
        otherwise: "",
        group: Group::Solver,
        is_main: false,
        commands: &["bench"],
        sign: "",
        is_silent: false,
        has_effect: |_| true,
    };

    /// The same with a rank, a name in files and an option.
    pub(super) const fn named(self, rank: u8, name: &'static str, flag: &'static str) -> Self {
        Self { rank, name, flag, ..self }
    }

    /// The same with a placeholder of its values and a sentence.
    pub(super) const fn described(self, placeholder: &'static str, help: &'static str) -> Self {
        Self { placeholder, help, ..self }
    }

    /// The same with a sign in the description of a preconditioner.
    pub(super) const fn signed(self, sign: &'static str) -> Self {
        Self { sign, ..self }
    }
}

/// Another option that sets a parameter.
pub struct Alias {
    /// The option, without dashes.
    pub flag: &'static str,
    /// The value that it stands for; if `None`, it takes values, which those of the parameter's own option
    /// replace.
    pub value: Option<&'static str>,
    /// One sentence.
    pub help: &'static str,
}

/// A group of options.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Group {
    /// Of kernels.
    Kernels,
    /// Of formats.
    Formats,
    /// Of solvers.
    Solver,
    /// Of several GPUs and ranks.
    Ranks,
}

/// A parameter with values of any type. They are compared by rank.
#[derive(Clone, Copy)]
pub struct Parameter(&'static dyn Erased);

/// What the type of the values has no part in.
trait Erased: Sync {
    fn about(&self) -> &About;
    fn value(&self, text: &str) -> Result<String, String>;
    fn usual(&self) -> Option<String>;
}

/// Which values of a parameter a kernel accepts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Allowed {
    /// All values of the parameter.
    Any,
    /// Only these; none if the list is empty.
    Only(&'static [&'static str]),
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

impl Allowed {
    /// Whether `value` is allowed.
    pub fn contains(self, value: &str) -> bool {
        match self {
            Self::Any => true,
            Self::Only(values) => values.contains(&value),
        }
    }
}

impl<T: Copy + Sync + 'static> Param<T> {
    /// The parameter without the type of its values.
    pub const fn id(&'static self) -> Parameter {
        Parameter(self)
    }

    /// The parameter in the list of a kernel that accepts all values.
    pub(super) const fn any(&'static self) -> (Parameter, Allowed) {
        (self.id(), Allowed::Any)
    }

    /// The parameter in the list of a kernel that accepts only these values.
    pub(super) const fn only(
        &'static self,
        values: &'static [&'static str],
    ) -> (Parameter, Allowed) {
        (self.id(), Allowed::Only(values))
    }

    fn read(&self, text: &str) -> Result<T, String> {
        match self.values {
            Values::Words(all, word) => {
                let known = all.iter().copied().find(|&value| word(value) == text);
                let words = || all.iter().map(|&value| word(value)).collect::<Vec<_>>();
                known.ok_or_else(|| words().join(" or "))
            }
            Values::Text(read, _) => read(text),
        }
    }

    fn written(&self, value: T) -> Option<String> {
        match self.values {
            Values::Words(_, word) => Some(word(value).to_owned()),
            Values::Text(_, written) => written(value),
        }
    }
}

impl<T: Copy + Sync + 'static> Erased for Param<T> {
    fn about(&self) -> &About {
        &self.about
    }

    fn value(&self, text: &str) -> Result<String, String> {
        let value = self.read(text)?;
        Ok(self.written(value).unwrap_or_else(|| text.to_owned()))
    }

    fn usual(&self) -> Option<String> {
        self.written(self.usual)
    }
}

impl Parameter {
    /// What is known about it.
    pub fn about(self) -> &'static About {
        self.0.about()
    }

    /// The name in files, such as `hack_size`.
    pub fn name(self) -> &'static str {
        self.about().name
    }

    /// The default value; `None` for parameters that then depend on the matrix or are not in force.
    pub fn default(self) -> Option<String> {
        self.0.usual()
    }

    /// A value as written in files, or what is wrong with it.
    pub fn value(self, text: &str) -> Result<String, ParameterError> {
        self.0.value(text).map_err(|expected| ParameterError {
            parameter: self.name(),
            found: text.to_owned(),
            expected,
        })
    }
}

impl fmt::Debug for Parameter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl PartialEq for Parameter {
    fn eq(&self, other: &Self) -> bool {
        self.about().rank == other.about().rank
    }
}

impl Eq for Parameter {}

impl PartialOrd for Parameter {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Parameter {
    fn cmp(&self, other: &Self) -> Ordering {
        self.about().rank.cmp(&other.about().rank)
    }
}

impl Hash for Parameter {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.about().rank.hash(state);
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
    pub fn get<T: Copy + Sync + 'static>(&self, parameter: &'static Param<T>) -> T {
        let set = self.0.get(&parameter.id());
        set.and_then(|text| parameter.read(text).ok()).unwrap_or(parameter.usual)
    }

    /// The value of a parameter as in files, or its default if none is set; `None` if that depends on the
    /// matrix or is not in force.
    pub fn text(&self, parameter: Parameter) -> Option<String> {
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
