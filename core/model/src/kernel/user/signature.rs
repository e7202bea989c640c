//! The launchable functions of a source, and whether they have the parameters of a family.

use super::error::UserKernelError;
use super::family::{ArgumentType, UserFamily};
use sparsescope_record::Precision;

/// What marks a function that can be launched by its name.
const LAUNCHED: &str = "__global__";

/// A function that can be launched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Function {
    pub(super) name: String,
    pub(super) values: ValueType,
}

/// How a function names the type of its values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ValueType {
    /// `real`: the precision that it is built for.
    Real,
    Double,
    Float,
}

impl ValueType {
    const ALL: [(&'static str, Self); 3] =
        [("real", Self::Real), ("double", Self::Double), ("float", Self::Float)];

    pub(super) fn precisions(self) -> &'static [Precision] {
        match self {
            Self::Real => &Precision::UNIFORM,
            Self::Double => &[Precision::F64],
            Self::Float => &[Precision::F32],
        }
    }
}

/// A function as written: its name, line number and parameters.
struct Written<'a> {
    name: &'a str,
    line: usize,
    parameters: Vec<&'a str>,
}

/// The functions of a source that can be launched by name and take the parameters of the family.
pub(super) fn functions(
    file: &str,
    text: &str,
    family: UserFamily,
) -> Result<Vec<Function>, UserKernelError> {
    let code = without_comments(text);
    let functions: Vec<Function> =
        written(&code).map(|one| one.checked(file, family)).collect::<Result<_, _>>()?;
    match functions.is_empty() {
        true => Err(UserKernelError::NoFunction { file: file.to_owned() }),
        false => Ok(functions),
    }
}

/// The code with comments replaced by spaces; line numbers stay the same.
fn without_comments(text: &str) -> String {
    let mut code = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(['/', '"']) {
        let (before, from) = rest.split_at(at);
        code += before;
        let end = match from.get(..2) {
            Some("//") => from.find('\n').unwrap_or(from.len()),
            Some("/*") => from.find("*/").map_or(from.len(), |end| end + 2),
            _ if from.starts_with('"') => {
                // A string literal, in which slashes do not start comments.
                let (text, after) = from.split_at(text_length(from));
                code += text;
                rest = after;
                continue;
            }
            _ => {
                code.push('/');
                rest = &from[1..];
                continue;
            }
        };
        code.extend(from[..end].chars().map(|c| if c == '\n' { '\n' } else { ' ' }));
        rest = &from[end..];
    }
    code + rest
}

/// Length in bytes of the string literal at the start of `code`; it ends with its line at the
/// latest.
fn text_length(code: &str) -> usize {
    let mut is_escaped = false;
    for (at, byte) in code.bytes().enumerate().skip(1) {
        match byte {
            b'\n' => return at,
            _ if is_escaped => is_escaped = false,
            b'\\' => is_escaped = true,
            b'"' => return at + 1,
            _ => {}
        }
    }
    code.len()
}

/// The functions after `extern "C" __global__`, in order.
fn written(code: &str) -> impl Iterator<Item = Written<'_>> {
    code.match_indices(LAUNCHED).filter_map(move |(at, _)| {
        let before = code[..at].trim_end().strip_suffix("\"C\"")?.trim_end();
        before.ends_with("extern").then_some(())?;
        let mut rest = code[at + LAUNCHED.len()..].trim_start();
        loop {
            let (word, after) = word(rest);
            rest = after.trim_start();
            match word {
                "" => return None,
                "void" => {}
                "__launch_bounds__" => rest = inside(rest)?.1.trim_start(),
                name => {
                    let start = code.len() - after.len();
                    let line = 1 + code[..start].matches('\n').count();
                    let (list, _) = inside(rest)?;
                    let parameters = list.split(',').map(str::trim).collect();
                    return Some(Written { name, line, parameters });
                }
            }
        }
    })
}

/// The word at the start of a text, and the rest.
fn word(text: &str) -> (&str, &str) {
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
    text.split_at(text.find(|c| !is_part(c)).unwrap_or(text.len()))
}

/// The content of the parentheses at the start of a text, and the rest.
fn inside(text: &str) -> Option<(&str, &str)> {
    text.strip_prefix('(')?.split_once(')')
}

impl Written<'_> {
    /// The function, if its parameters are those of the family.
    fn checked(&self, file: &str, family: UserFamily) -> Result<Function, UserKernelError> {
        let (file, line, function) = (file.to_owned(), self.line, self.name.to_owned());
        let expected = family.parameters();
        let found = match self.parameters[..] {
            ["" | "void"] => 0,
            ref some => some.len(),
        };
        if found != expected.len() {
            let list = expected.iter().map(|(of, name)| format!("{} {name}", of.as_str()));
            let list = list.collect::<Vec<_>>().join(", ");
            let expected = format!("{}: {list}", expected.len());
            let family = family.as_str();
            return Err(UserKernelError::Count { file, line, function, found, family, expected });
        }
        let mut values = None;
        for (place, (text, &(of, name))) in self.parameters.iter().zip(expected).enumerate() {
            let type_name = type_of(text);
            let value = value_type(&type_name, of);
            if value.is_none() && type_name != of.as_str() {
                return Err(UserKernelError::Parameter {
                    file,
                    line,
                    function,
                    place: place + 1,
                    found: text.split_whitespace().collect::<Vec<_>>().join(" "),
                    family,
                    expected: format!("{} {name}", of.as_str()),
                });
            }
            if values.is_some() && value.is_some() && values != value {
                return Err(UserKernelError::Mixed { file, line, function });
            }
            values = values.or(value);
        }
        Ok(Function { name: function, values: values.unwrap_or(ValueType::Real) })
    }
}

/// The type of a parameter, normalised: `const u32*` for `u32 const *__restrict__ col`.
fn type_of(parameter: &str) -> String {
    let (before, is_pointer) = match parameter.split_once('*') {
        Some((before, _)) => (before, true),
        // The last word is the name.
        None => {
            (parameter.trim_end_matches(|c: char| c.is_ascii_alphanumeric() || c == '_'), false)
        }
    };
    let is_const = |word: &&str| *word == "const";
    let words: Vec<&str> = before.split_whitespace().collect();
    let plain: Vec<&str> = words.iter().copied().filter(|word| !is_const(word)).collect();
    let plain = match plain.join(" ").as_str() {
        "unsigned" | "unsigned int" | "uint32_t" => "u32".to_owned(),
        "unsigned long long" | "unsigned long long int" | "uint64_t" => "u64".to_owned(),
        other => other.to_owned(),
    };
    match (is_pointer, words.iter().any(is_const)) {
        (true, true) => format!("const {plain}*"),
        (true, false) => format!("{plain}*"),
        (false, _) => plain,
    }
}

/// How a type names values, if the parameter is one of values.
fn value_type(type_name: &str, expected: ArgumentType) -> Option<ValueType> {
    let element = match expected {
        ArgumentType::Values => type_name.strip_prefix("const ")?,
        ArgumentType::Result => type_name,
        _ => return None,
    };
    let element = element.strip_suffix('*')?;
    ValueType::ALL.iter().find(|(name, _)| *name == element).map(|&(_, values)| values)
}
