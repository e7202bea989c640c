//! Finds the matrix in a file: what each program stores of it, and the choice among several.

use hdf5_pure::{AttrValue, Group};

use super::dataset::{Data, Source, Values, told, word};
use crate::io::error::quoted;
use crate::io::matlab::array::{Array, Places, fault};
use crate::io::matlab::variable::{Class, Variable, choose, list, only_vector};
use crate::io::{Field, IoError};
use crate::matrix::Extent;

/// A matrix in the file.
pub(super) struct Found {
    name: String,
    rows: u64,
    cols: u64,
    /// Whether values are stored row by row.
    by_row: bool,
    is_logical: bool,
    /// `None` for an empty matrix of MATLAB, which has neither values nor their places.
    values: Option<Data>,
    /// For a sparse matrix where each line begins, and the place of each value along its line.
    places: Option<(Data, Option<Data>)>,
}

impl Found {
    fn lines(&self) -> u64 {
        if self.by_row { self.rows } else { self.cols }
    }

    pub(super) fn extent(&self, source: &mut Source<'_>) -> Result<Extent, IoError> {
        let (rows, cols) = (self.rows, self.cols);
        let Some((pointers, places)) = &self.places else {
            return Ok(Extent { rows, cols, entries: rows.saturating_mul(cols), estimated: true });
        };
        let last = source.values(pointers)?.real().index(self.lines());
        let found = match (places, &self.values) {
            (Some(places), Some(values)) => places.count().min(values.count()),
            _ => 0,
        };
        match last.filter(|last| *last <= found) {
            Some(entries) => Ok(Extent { rows, cols, entries, estimated: false }),
            None => Err(fault(
                &self.name,
                &format!(
                    "expected a pointer to at most {found} values after the last row or column, found another or none"
                ),
            )),
        }
    }
}

/// A matrix and its numbers in memory.
pub(super) struct Held {
    name: String,
    rows: u64,
    cols: u64,
    by_row: bool,
    field: Field,
    /// Places and pointers of a sparse matrix.
    places: Option<(Values, Values)>,
    values: Values,
}

impl Held {
    pub(super) fn read(found: &Found, source: &mut Source<'_>) -> Result<Self, IoError> {
        let mut read = |data: Option<&Data>| match data {
            Some(data) => source.values(data),
            None => Ok(Values::none()),
        };
        let values = read(found.values.as_ref())?;
        let places = match &found.places {
            Some((pointers, places)) => Some((read(places.as_ref())?, read(Some(pointers))?)),
            None => None,
        };
        let field = match found.values.as_ref().map(|data| data.kind) {
            _ if found.is_logical => Field::Pattern,
            Some(kind) if kind.is_logical => Field::Pattern,
            Some(kind) if !kind.is_float() => Field::Integer,
            _ => Field::Real,
        };
        let Found { name, rows, cols, by_row, .. } = found;
        let (name, rows, cols, by_row) = (name.clone(), *rows, *cols, *by_row);
        Ok(Self { name, rows, cols, by_row, field, places, values })
    }

    pub(super) fn bytes(&self) -> u64 {
        let places = self.places.as_ref();
        self.values.bytes() + places.map_or(0, |(places, begin)| places.bytes() + begin.bytes())
    }

    pub(super) fn array(&self) -> Array<'_> {
        let places = match &self.places {
            None => Places::Full,
            Some((places, begin)) => Places::Columns { row: places.real(), begin: begin.real() },
        };
        Array {
            name: &self.name,
            rows: self.rows,
            cols: self.cols,
            field: self.field,
            by_row: self.by_row,
            places,
            real: self.values.real(),
            imaginary: self.values.imaginary(),
        }
    }
}

/// The matrix that is wanted: a path with `/`, or with `.` for those used to MATLAB. Otherwise `X` of AnnData,
/// or the choice of MATLAB files; with what to tell the user about it.
pub(super) fn find(
    source: &mut Source<'_>,
    wanted: Option<&str>,
) -> Result<(Found, Option<String>), IoError> {
    if let Some(wanted) = wanted {
        for path in [wanted.to_owned(), wanted.replace('.', "/")] {
            if let Some(found) = at(source, &path)? {
                return Ok((found, None));
            }
        }
        let variables = variables(source)?;
        let (wanted, found) =
            (quoted(wanted.as_bytes()), list(&variables.iter().collect::<Vec<_>>()));
        return Err(IoError::Stored(format!("expected a matrix at {wanted}, found {found}")));
    }
    let file = &source.file;
    let has = |name: &str| file.group(name).is_ok() || file.dataset(name).is_ok();
    let is_anndata = ["obs", "var"].into_iter().all(has);
    if is_anndata && let Some(found) = at(source, "X")? {
        return Ok((found, None));
    }
    let variables = variables(source)?;
    let choice = choose(&variables, None)?;
    let path = [&[choice.variable.name.as_str()][..], choice.path.as_slice()].concat().join("/");
    match at(source, &path)? {
        Some(found) => Ok((found, choice.warning)),
        None => Err(fault(&path, "expected a matrix, found none")),
    }
}

/// The only vector or, with `any_size`, the only array.
pub(super) fn find_vector(source: &mut Source<'_>, any_size: bool) -> Result<Found, IoError> {
    let variables = variables(source)?;
    let name = &only_vector(&variables, any_size)?.name;
    at(source, name)?.ok_or_else(|| fault(name, "expected a vector, found none"))
}

/// What has the first of these names at the top of the file, else in the struct `Problem`.
pub(super) fn find_companion(
    source: &mut Source<'_>,
    names: &[&str],
) -> Result<Option<Found>, IoError> {
    for group in ["", "Problem/"] {
        for name in names {
            let found = at(source, &format!("{group}{name}"))?;
            if found.is_some() {
                return Ok(found);
            }
        }
    }
    Ok(None)
}

/// What is at the top of the file. MATLAB keeps the values of cells in groups that begin with `#`.
fn variables(source: &mut Source<'_>) -> Result<Vec<Variable<'static>>, IoError> {
    let root = source.file.root();
    let groups = told(root.groups())?.into_iter().map(|name| (name, true));
    let datasets = told(root.datasets())?.into_iter().map(|name| (name, false));
    let mut variables = Vec::new();
    for (name, is_group) in groups.chain(datasets).filter(|(name, _)| !name.starts_with('#')) {
        let found = at(source, &name)?;
        let size = found.as_ref().map(|found| (found.rows, found.cols));
        let class = match found.map(|found| found.places.is_some()) {
            Some(true) => Class::Sparse,
            Some(false) => Class::Full,
            None if is_group && has_fields(source, &name)? => Class::Struct,
            None => Class::Other,
        };
        variables.push(Variable { name, class, size, stored: &[], is_packed: false });
    }
    Ok(variables)
}

/// Whether a group without a matrix has fields. Octave keeps texts, cells and single numbers in groups, too.
fn has_fields(source: &Source<'_>, name: &str) -> Result<bool, IoError> {
    let group = told(source.file.group(name))?;
    Ok(octave_type(&group)?.is_none_or(|kind| kind.ends_with("struct")))
}

/// The matrix at this path; `None` if something else or nothing is there.
fn at(source: &mut Source<'_>, path: &str) -> Result<Option<Found>, IoError> {
    match at_place(source, path, path)? {
        // Octave keeps the fields of a struct in a group of their own.
        None if path.contains('/') => at_place(source, path, &path.replace('/', "/value/")),
        found => Ok(found),
    }
}

/// The matrix of this name at this place.
fn at_place(source: &mut Source<'_>, name: &str, place: &str) -> Result<Option<Found>, IoError> {
    if let Ok(group) = source.file.group(place) {
        return sparse(source, name, &group);
    }
    let Ok(dataset) = source.file.dataset(place) else { return Ok(None) };
    let Some(data) = Data::of(name.to_owned(), dataset)? else { return Ok(None) };
    match data.class()?.as_deref() {
        Some("char") => Ok(None),
        class => Ok(dense(data, class.is_none(), class == Some("logical"))),
    }
}

/// The dense matrix in a dataset of two dimensions, which programs that store it column by column exchange; one
/// dimension is a column.
fn dense(data: Data, by_row: bool, is_logical: bool) -> Option<Found> {
    let (rows, cols) = match *data.shape.as_slice() {
        [outer, inner] if by_row => (outer, inner),
        [outer, inner] => (inner, outer),
        // MATLAB stores the sizes of an empty array so.
        [length] if by_row => (length, 1),
        _ => return None,
    };
    let name = data.name.clone();
    Some(Found { name, rows, cols, by_row, is_logical, values: Some(data), places: None })
}

/// The matrix in a group.
fn sparse(source: &mut Source<'_>, name: &str, group: &Group) -> Result<Option<Found>, IoError> {
    let attributes = told(group.attrs())?;
    let word = |key: &str| attributes.get(key).and_then(AttrValue::as_str);
    let data = |group: &Group, key: &str| {
        Data::numbers(format!("{name}/{key}"), told(group.dataset(key))?)
    };
    let [places, begin] = match attributes.contains_key("MATLAB_sparse") {
        true => ["ir", "jc"],
        false => ["indices", "indptr"],
    };
    let has = told(group.datasets())?;
    let has = |key: &str| has.iter().any(|name| name == key);
    if let Some(rows) = attributes.get("MATLAB_sparse") {
        let pointers = data(group, begin)?;
        let cols = pointers.count().saturating_sub(1);
        let rows = rows.as_u64().ok_or_else(|| {
            fault(name, "expected a number of rows in the attribute MATLAB_sparse, found none")
        })?;
        let (places, values) = match has(places) || has("data") {
            true => (Some(data(group, places)?), Some(data(group, "data")?)),
            false => (None, None),
        };
        let (name, is_logical) = (name.to_owned(), word("MATLAB_class") == Some("logical"));
        let places = Some((pointers, places));
        return Ok(Some(Found { name, rows, cols, by_row: false, is_logical, values, places }));
    }
    if has("type")
        && let Some(found) = octave(source, name, group)?
    {
        return Ok(Some(found));
    }
    if !["data", places, begin].into_iter().all(has) {
        return Ok(None);
    }
    let by_row = match word("encoding-type").or_else(|| word("h5sparse_format")) {
        Some("csr_matrix" | "csr") => true,
        // The columns of 10x are cells.
        Some("csc_matrix" | "csc") | None => false,
        Some(other) => {
            let found = quoted(other.as_bytes());
            return Err(fault(name, &format!("expected csr_matrix or csc_matrix, found {found}")));
        }
    };
    let shape = attributes.get("shape").or_else(|| attributes.get("h5sparse_shape"));
    let shape = match shape.and_then(AttrValue::to_u64s) {
        None if has("shape") => source.sizes(&data(group, "shape")?)?,
        shape => shape.unwrap_or_default(),
    };
    let [rows, cols] = *shape else {
        return Err(fault(name, &format!("expected a shape of 2 sizes, found {}", shape.len())));
    };
    let values = Some(data(group, "data")?);
    let places = Some((data(group, begin)?, Some(data(group, places)?)));
    let (name, is_logical) = (name.to_owned(), false);
    Ok(Some(Found { name, rows, cols, by_row, is_logical, values, places }))
}

/// What Octave says that a group is, such as `sparse bool matrix`; `None` for the groups of other programs.
fn octave_type(group: &Group) -> Result<Option<String>, IoError> {
    group.dataset("type").map_or(Ok(None), |dataset| word(&dataset))
}

/// The matrix in a group as Octave writes it.
fn octave(source: &mut Source<'_>, name: &str, group: &Group) -> Result<Option<Found>, IoError> {
    // The characters of a text are numbers.
    let Some(kind) = octave_type(group)?.filter(|kind| !kind.ends_with("string")) else {
        return Ok(None);
    };
    let is_logical = kind.contains("bool");
    if let Ok(dataset) = group.dataset("value") {
        let data = Data::of(name.to_owned(), dataset)?;
        return Ok(data.and_then(|data| dense(data, false, is_logical)));
    }
    let Ok(group) = group.group("value") else { return Ok(None) };
    let has = told(group.datasets())?;
    if !["nr", "nc", "ridx", "cidx", "data"].iter().all(|key| has.iter().any(|name| name == key)) {
        return Ok(None);
    }
    let data = |key: &str| Data::numbers(format!("{name}/{key}"), told(group.dataset(key))?);
    let mut size = |key: &str| {
        let sizes = source.sizes(&data(key)?)?;
        sizes.first().copied().ok_or_else(|| fault(name, "expected a size, found none"))
    };
    let (rows, cols) = (size("nr")?, size("nc")?);
    let values = Some(data("data")?);
    let places = Some((data("cidx")?, Some(data("ridx")?)));
    let (name, by_row) = (name.to_owned(), false);
    Ok(Some(Found { name, rows, cols, by_row, is_logical, values, places }))
}
