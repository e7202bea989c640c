//! Sources of points: a file, a generator or a suite.

use std::fmt;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;

use super::input_file::InputFile;
use super::source::SourceError;
use sparsescope_matrix::generate::{
    PointsEntry, PointsRecipe, PointsSpec, generate_points, points_suite_entry,
};
use sparsescope_matrix::io::points::{Chosen, Columns, HeaderLine, PointsTaken, rbox};
use sparsescope_matrix::io::{Progress, open_points, open_points_extent};
use sparsescope_matrix::matrix::{Points, PointsExtent};
use sparsescope_matrix::memory::MemoryLimit;
use sparsescope_record::{Source, matrix_name};

/// Points as the user specifies them.
#[derive(Clone, Debug)]
pub enum PointsSource {
    /// A file, and the meaning of its first line if it is CSV.
    File(InputFile, HeaderLine),
    /// Output of a generator.
    Generated(PointsSpec),
    /// An entry of a suite.
    Suite(&'static PointsEntry),
}

impl PointsSource {
    /// Parses a path, `gen:points-…` or `suite:…`. Does not check that a path exists.
    pub fn parse(text: &str) -> Result<Self, SourceError> {
        if let Some(name) = text.strip_prefix("suite:") {
            let unknown = || SourceError::UnknownPoints(name.to_owned());
            return points_suite_entry(name).map(Self::Suite).ok_or_else(unknown);
        }
        match text.starts_with("gen:") {
            true => Ok(Self::Generated(PointsSpec::parse(text)?)),
            false => Ok(Self::File(PathBuf::from(text).into(), HeaderLine::Find)),
        }
    }

    /// Whether the points are a user's or generated.
    pub fn origin(&self) -> Source {
        match self {
            Self::File(..) => Source::Real,
            Self::Generated(_) | Self::Suite(_) => Source::Generated,
        }
    }

    /// Display name: the file name without its extension, the name of the suite entry, or the parameters of
    /// the generator.
    pub fn name(&self) -> String {
        match self {
            Self::File(file, _) => file.name(|name| {
                let name = matrix_name(name);
                let endings = [".txt", ".csv", ".points"];
                endings.iter().find_map(|ending| name.strip_suffix(ending)).unwrap_or(name)
            }),
            Self::Generated(spec) => spec.to_string().trim_start_matches("gen:").to_owned(),
            Self::Suite(entry) => entry.name.to_owned(),
        }
    }

    /// The generator's recipe, if there is one.
    pub fn recipe(&self) -> Option<String> {
        match self {
            Self::File(..) => None,
            Self::Generated(spec) => Some(spec.to_string()),
            Self::Suite(entry) => Some(match entry.recipe {
                PointsRecipe::Generated(spec) => spec.to_owned(),
                PointsRecipe::Rbox { arguments, .. } => format!("rbox {arguments}"),
            }),
        }
    }

    /// Number of points and dimensions, without reading or generating them. Fails if a file cannot be opened
    /// or holds no points.
    pub fn probe(&self) -> Result<PointsExtent, SourceError> {
        Ok(match self {
            Self::File(path, header) => open_points_extent(path, *header)?,
            Self::Generated(spec) => spec.extent(),
            Self::Suite(entry) => entry.extent()?,
        })
    }

    /// Sets the meaning of the file's first line.
    pub fn with_header(self, header: HeaderLine) -> Self {
        match self {
            Self::File(path, _) => Self::File(path, header),
            other => other,
        }
    }

    /// Reads or generates the points, and reports which parts of a file were used. `limit` bounds the memory
    /// allocated.
    pub fn load(
        &self,
        limit: MemoryLimit,
        progress: Progress<'_>,
        cancel: &AtomicBool,
    ) -> Result<(Points, Option<PointsTaken>), SourceError> {
        let loaded = self.load_columns(&Columns::default(), limit, progress, cancel)?;
        Ok((loaded.0, loaded.2))
    }

    /// Like [`load`](Self::load), for some of the columns.
    pub fn load_columns(
        &self,
        columns: &Columns,
        limit: MemoryLimit,
        progress: Progress<'_>,
        cancel: &AtomicBool,
    ) -> Result<(Points, Chosen, Option<PointsTaken>), SourceError> {
        let generated = |spec: &PointsSpec| generate_points(spec, limit, cancel);
        let points = match self {
            Self::File(path, header) => {
                let progress = progress.cancelled_by(cancel);
                let (points, taken, chosen) =
                    open_points(path, (*header, columns), limit, progress)?;
                return Ok((points, chosen, Some(taken)));
            }
            Self::Generated(spec) => generated(spec)?,
            Self::Suite(entry) => match entry.recipe {
                PointsRecipe::Generated(spec) => generated(&PointsSpec::parse(spec)?)?,
                PointsRecipe::Rbox { arguments, .. } => {
                    rbox(arguments, limit, progress.cancelled_by(cancel))?
                }
            },
        };
        let (points, chosen) = columns.of(points, limit)?;
        Ok((points, chosen, None))
    }
}

impl fmt::Display for PointsSource {
    /// Formats it as the user writes it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(path, _) => path.display().fmt(f),
            Self::Generated(spec) => spec.fmt(f),
            Self::Suite(entry) => write!(f, "suite:{}", entry.name),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_a_generator_and_an_entry_are_told_apart_and_named() {
        let named = |text: &str| {
            let source = PointsSource::parse(text).unwrap();
            (source.name(), source.origin(), source.recipe(), source.to_string())
        };
        let file = named("somewhere/hotels.csv.gz");
        assert_eq!(file, ("hotels".into(), Source::Real, None, "somewhere/hotels.csv.gz".into()));
        let spec = "gen:points-independent?n=10&d=2";
        let made = named(spec);
        assert_eq!((made.0.as_str(), made.1), ("points-independent?n=10&d=2", Source::Generated));
        assert_eq!((made.2.as_deref(), made.3.as_str()), (Some(spec), spec));
        let test = named("suite:test3");
        assert_eq!((test.0.as_str(), test.2.as_deref()), ("test3", Some("rbox 100000 d D10")));
        let unknown = PointsSource::parse("suite:none").unwrap_err().to_string();
        assert!(unknown.contains("`none`"), "{unknown}");
    }
}
