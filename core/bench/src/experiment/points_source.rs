//! Sources of points: a file, a generator or a suite.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use super::input_file::InputFile;
use super::operations::SkylineProblem;
use super::other_source::{LoadedOther, OtherSource, record};
use super::source::{SourceError, unread};
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

    /// Sets the meaning of the file's first line.
    pub fn with_header(mut self, header: HeaderLine) -> Self {
        self.set_header(header);
        self
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
                    open_points(path, (*header, columns), limit, progress)
                        .map_err(|error| unread(path, error, in_suite))?;
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

/// The name of a point set of a suite.
fn in_suite(name: &str) -> Option<&'static str> {
    points_suite_entry(name).map(|entry| entry.name)
}

impl OtherSource for PointsSource {
    fn origin(&self) -> Source {
        match self {
            Self::File(..) => Source::Real,
            Self::Generated(_) | Self::Suite(_) => Source::Generated,
        }
    }

    /// Display name: the file name without its extension, the name of the suite entry, or the parameters of
    /// the generator.
    fn name(&self) -> String {
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

    fn recipe(&self) -> Option<String> {
        match self {
            Self::File(..) => None,
            Self::Generated(spec) => Some(spec.to_string()),
            Self::Suite(entry) => Some(match entry.recipe {
                PointsRecipe::Generated(spec) => spec.to_owned(),
                PointsRecipe::Rbox { arguments, .. } => format!("rbox {arguments}"),
            }),
        }
    }

    fn cost(&self) -> Result<u64, SourceError> {
        let PointsExtent { points, dimensions, .. } = match self {
            Self::File(path, header) => {
                open_points_extent(path, *header).map_err(|error| unread(path, error, in_suite))?
            }
            Self::Generated(spec) => spec.extent(),
            Self::Suite(entry) => entry.extent()?,
        };
        Ok(points.saturating_mul(dimensions))
    }

    fn file(&self) -> Option<&Path> {
        match self {
            Self::File(file, _) => Some(file),
            Self::Generated(_) | Self::Suite(_) => None,
        }
    }

    fn input(&mut self) -> Option<&mut InputFile> {
        match self {
            Self::File(file, _) => Some(file),
            Self::Generated(_) | Self::Suite(_) => None,
        }
    }

    fn set_header(&mut self, header: HeaderLine) {
        if let Self::File(_, meaning) = self {
            *meaning = header;
        }
    }

    fn subject(
        &self,
        limit: MemoryLimit,
        progress: Progress<'_>,
        cancel: &AtomicBool,
    ) -> Result<LoadedOther, SourceError> {
        let begun = Instant::now();
        let (points, taken) = self.load(limit, progress, cancel)?;
        let read_seconds = Some(begun.elapsed().as_secs_f64());
        let sizes = [("points", points.len()), ("dimensions", points.dimensions())];
        let record = record(self, "points", points.identity(), &sizes, read_seconds);
        let problem = Box::new(SkylineProblem::new(Arc::new(points)));
        let taken = taken.filter(|taken| taken.form == "csv");
        Ok(LoadedOther { folder: "skyline", record, problem, taken })
    }

    fn boxed(&self) -> Box<dyn OtherSource> {
        Box::new(self.clone())
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
