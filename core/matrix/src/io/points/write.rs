//! Writes points to files.

use std::io::Write;

use super::binary;
use super::columns::{Chosen, Column};
use super::dialect::is_name;
use crate::io::{IoError, Progress, foreign};
use crate::matrix::PointsView;
use crate::parallel::*;

/// The form in which points are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PointsForm {
    /// Text: a line with D, one with N, then one per point; the shortest decimals that read back as the
    /// same numbers.
    Exact,
    /// Like [`Exact`](Self::Exact), with six digits after the decimal point, as the paper's programs
    /// print.
    Paper,
    /// CSV: one line per point, with the same decimals, separated by commas.
    Csv,
    /// The binary form.
    Binary,
}

/// Coordinates formatted by one thread at a time.
const CHUNK: usize = 1 << 14;

/// Chunks between two writes.
const CHUNKS: usize = 32;

/// Writes the points as CSV with a header line of names, which is omitted if it would not be recognized
/// as such.
pub fn write_table(
    points: PointsView<'_>,
    names: &[String],
    out: &mut dyn Write,
    progress: Progress<'_>,
) -> Result<(), IoError> {
    if names.len() == points.dimensions() && names.iter().all(|name| is_name(name.as_bytes())) {
        // Outside quotes only commas may separate.
        let plain = names.iter().all(|name| !name.contains([';', '\t', ' ']));
        let mut line =
            if plain { names_line(names, csv::QuoteStyle::Necessary)? } else { Vec::new() };
        // A name may begin like a file in another form.
        if !plain || binary::is_meant(&line) || foreign::refuse(&line, "points").is_err() {
            line = names_line(names, csv::QuoteStyle::Always)?;
        }
        out.write_all(&line).map_err(failed)?;
    }
    write(points, PointsForm::Csv, out, progress)
}

/// Writes the points as CSV with a header line, each with its row in the file, from 1, and its name before
/// its coordinates. `indices` are the places of the points in the file, from 0.
pub fn write_with_ids(
    points: PointsView<'_>,
    indices: &[u32],
    chosen: &Chosen,
    out: &mut dyn Write,
    progress: Progress<'_>,
) -> Result<(), IoError> {
    let not_csv = |error: csv::Error| failed(error.into());
    let name = |column: &Column| {
        column.name.clone().unwrap_or_else(|| format!("column {}", column.number))
    };
    let columns: Vec<String> = chosen.id.iter().chain(&chosen.compared).map(name).collect();
    let ids = indices.iter().filter_map(|&index| chosen.ids.get(index as usize));
    // Outside quotes only commas may separate.
    let is_plain = |word: &String| !word.contains([';', '\t']);
    let style = match columns.iter().chain(ids).all(is_plain) {
        true => csv::QuoteStyle::Necessary,
        false => csv::QuoteStyle::NonNumeric,
    };
    let mut writer = csv::WriterBuilder::new().quote_style(style).from_writer(out);
    writer.write_record(std::iter::once("row".to_owned()).chain(columns)).map_err(not_csv)?;
    for (place, &index) in indices.iter().enumerate() {
        if place.is_multiple_of(CHUNK) {
            progress.check()?;
        }
        let id = chosen.ids.get(index as usize).cloned();
        let number = |value: &f64| zmij::Buffer::new().format(*value).to_owned();
        let coordinates = points.point(place).iter().map(number);
        let row = std::iter::once((u64::from(index) + 1).to_string());
        writer.write_record(row.chain(id).chain(coordinates)).map_err(not_csv)?;
    }
    writer.flush().map_err(failed)
}

/// A line of CSV with these names.
fn names_line(names: &[String], style: csv::QuoteStyle) -> Result<Vec<u8>, IoError> {
    let mut line = csv::WriterBuilder::new().quote_style(style).from_writer(Vec::new());
    line.write_record(names).map_err(|error| failed(error.into()))?;
    line.into_inner().map_err(|error| failed(error.into_error()))
}

fn failed(error: std::io::Error) -> IoError {
    IoError::System { doing: "write", error }
}

/// Writes the points. Fails if there are none to write as CSV, which would not contain D.
pub fn write(
    points: PointsView<'_>,
    form: PointsForm,
    out: &mut dyn Write,
    progress: Progress<'_>,
) -> Result<(), IoError> {
    let (d, n) = (points.dimensions(), points.len());
    if n == 0 && form == PointsForm::Csv {
        let why = format!(
            "cannot write 0 points in {d} dimensions as CSV, which does not record the dimensions: use text (.txt)"
        );
        return Err(IoError::Points(why));
    }
    let header = match form {
        PointsForm::Csv => Vec::new(),
        PointsForm::Exact | PointsForm::Paper => format!("{d}\n{n}\n").into_bytes(),
        PointsForm::Binary => {
            let too_many =
                |_| IoError::Points(format!("expected at most 4294967295 dimensions, found {d}"));
            binary::header(u32::try_from(d).map_err(too_many)?, n as u64)
        }
    };
    let put = |out: &mut dyn Write, bytes: &[u8]| -> Result<(), IoError> {
        progress.check()?;
        out.write_all(bytes).map_err(failed)?;
        progress.advance(bytes.len());
        Ok(())
    };
    put(out, &header)?;
    // Without points there may be any number of dimensions.
    let chunk = CHUNK.div_ceil(d).saturating_mul(d);
    for wave in points.coordinates().chunks(chunk.saturating_mul(CHUNKS)) {
        let texts: Vec<Vec<u8>> =
            wave.par_chunks(chunk).map(|coordinates| text(coordinates, d, form)).collect();
        texts.iter().try_for_each(|text| put(out, text))?;
    }
    Ok(())
}

/// Formats whole points of D coordinates each.
fn text(coordinates: &[f64], d: usize, form: PointsForm) -> Vec<u8> {
    let mut text = Vec::with_capacity(coordinates.len() * 20);
    if form == PointsForm::Binary {
        coordinates.iter().for_each(|value| text.extend(value.to_le_bytes()));
        return text;
    }
    for point in coordinates.chunks(d) {
        for (k, &value) in point.iter().enumerate() {
            if k > 0 {
                text.push(if form == PointsForm::Csv { b',' } else { b' ' });
            }
            match form {
                PointsForm::Paper => text.extend(format!("{value:.6}").as_bytes()),
                // Not finite: inf, -inf.
                _ => text.extend(zmij::Buffer::new().format(value).as_bytes()),
            }
        }
        text.push(b'\n');
    }
    text
}
