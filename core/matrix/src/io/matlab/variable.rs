//! The variables of a MATLAB or HDF5 file, and the choice among them.

use crate::io::IoError;
use crate::io::error::{quoted, shown};

/// What a variable is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::io) enum Class {
    Sparse,
    Full,
    Struct,
    /// Text, cells, objects.
    Other,
}

/// A variable and the bytes that hold it.
#[derive(Debug)]
pub(in crate::io) struct Variable<'a> {
    pub(in crate::io) name: String,
    pub(in crate::io) class: Class,
    /// Rows and columns, if it has two dimensions.
    pub(in crate::io) size: Option<(u64, u64)>,
    pub(in crate::io) stored: &'a [u8],
    pub(in crate::io) is_packed: bool,
}

impl Variable<'_> {
    pub(in crate::io) fn is_numeric(&self) -> bool {
        matches!(self.class, Class::Sparse | Class::Full) && self.size.is_some()
    }
}

/// A variable, the fields that lead to the matrix in it, and what to tell the user about the choice.
#[derive(Debug)]
pub(in crate::io) struct Choice<'f, 'a> {
    pub(in crate::io) variable: &'f Variable<'a>,
    pub(in crate::io) path: Vec<&'f str>,
    pub(in crate::io) warning: Option<String>,
}

/// Names in a message: the first few.
pub(in crate::io) fn list(variables: &[&Variable<'_>]) -> String {
    const MOST: usize = 5;
    let first: Vec<String> =
        variables.iter().take(MOST).map(|variable| shown(variable.name.as_bytes())).collect();
    match variables.len().saturating_sub(MOST) {
        0 if first.is_empty() => "no variable".to_owned(),
        0 => first.join(", "),
        more => format!("{} and {more} more", first.join(", ")),
    }
}

/// The variable with the matrix: the one that is `wanted`, else the only sparse one, else the field `A` of the
/// struct `Problem` as in the SuiteSparse collection, else the only full matrix.
pub(in crate::io) fn choose<'f, 'a>(
    variables: &'f [Variable<'a>],
    wanted: Option<&'f str>,
) -> Result<Choice<'f, 'a>, IoError> {
    let of = |keep: &dyn Fn(&Variable<'_>) -> bool| -> Vec<&'f Variable<'a>> {
        variables.iter().filter(|variable| keep(variable)).collect()
    };
    let find = |name: &str| variables.iter().find(|variable| variable.name == name);
    if let Some(wanted) = wanted {
        let mut path = Vec::new();
        let variable = find(wanted).or_else(|| {
            let mut words = wanted.split('.');
            let first = words.next().and_then(find);
            path = words.collect();
            first
        });
        let variable = variable.ok_or_else(|| {
            let (wanted, found) = (quoted(wanted.as_bytes()), list(&of(&|_| true)));
            IoError::Stored(format!("expected the variable {wanted}, found {found}"))
        })?;
        return Ok(Choice { variable, path, warning: None });
    }
    let is_matrix = |variable: &Variable<'_>| {
        variable.class == Class::Full
            && variable.size.is_some_and(|(rows, cols)| rows > 1 && cols > 1)
    };
    let sparse = of(&|variable| variable.class == Class::Sparse);
    let full = of(&is_matrix);
    let problem = find("Problem").filter(|variable| variable.class == Class::Struct);
    let (variable, path) = match (sparse.as_slice(), problem, full.as_slice()) {
        ([one], ..) => (*one, Vec::new()),
        (_, Some(problem), _) => (problem, vec!["A"]),
        ([], None, [one]) => (*one, Vec::new()),
        ([], None, []) => {
            let found = list(&of(&|_| true));
            let hint = match variables.iter().any(|variable| variable.class == Class::Struct) {
                true => "; choose a field of a struct with --variable NAME.FIELD",
                false => "",
            };
            return Err(IoError::Stored(format!(
                "expected a sparse or full matrix in the file, found {found}{hint}"
            )));
        }
        ([], None, several) | (several, None, _) => {
            return Err(IoError::Stored(format!(
                "expected one matrix in the file, found {}; choose one with --variable NAME",
                list(several)
            )));
        }
    };
    let others = of(&|other| !std::ptr::addr_eq(other, variable));
    let warning = (!others.is_empty()).then(|| {
        let fields: String = path.iter().map(|field| format!(".{field}")).collect();
        let name = shown(variable.name.as_bytes());
        format!("read variable {name}{fields}; the file also has {}", list(&others))
    });
    Ok(Choice { variable, path, warning })
}

/// The only vector, or with `any_size` the only matrix or vector. A single number counts only if there is
/// nothing else.
pub(in crate::io) fn only_vector<'f, 'a>(
    variables: &'f [Variable<'a>],
    any_size: bool,
) -> Result<&'f Variable<'a>, IoError> {
    let of = |single: bool| -> Vec<&'f Variable<'a>> {
        let fits = |(rows, cols): (u64, u64)| {
            ((rows, cols) == (1, 1)) == single && (any_size || rows == 1 || cols == 1)
        };
        let keep =
            |variable: &&Variable<'_>| variable.is_numeric() && variable.size.is_some_and(fits);
        variables.iter().filter(keep).collect()
    };
    let mut found = of(false);
    if found.is_empty() {
        found = of(true);
    }
    match *found {
        [one] => Ok(one),
        [] => {
            let found = list(&variables.iter().collect::<Vec<_>>());
            Err(IoError::Stored(format!("expected a vector in the file, found {found}")))
        }
        _ => {
            let found = list(&found);
            Err(IoError::Stored(format!("expected one vector in the file, found {found}")))
        }
    }
}
