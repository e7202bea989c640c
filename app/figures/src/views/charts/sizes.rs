//! Bytes and padding of the formats.

use sparsescope_core::matrix::FormatSize;

use super::looks::{format_of, format_of_run};
use super::plot::{Data, Plot, Point, Scale};
use crate::model::{RunOf, bytes, display_name};

/// Bytes of the slots of a format that hold no nonzero.
fn padding_of(size: &FormatSize, nnz: u64) -> u64 {
    let padding = size.slots.saturating_sub(nnz);
    if size.format.contains("-compact") {
        // The size of a slot depends on its column and the encoding of values: use the average.
        return (size.bytes as f64 * padding as f64 / size.slots.max(1) as f64) as u64;
    }
    // BSR and DIA store no column per slot.
    let slot = if ["bsr", "dia"].contains(&size.format.as_str()) { 8 } else { 12 };
    padding.saturating_mul(slot)
}

/// Bytes of padding that a run moves; `None` if its format has other parameters than the matrix's
/// statistics.
pub(super) fn padding_bytes(run: &RunOf<'_>) -> Option<u64> {
    let of = &run.matrix()?.statistics;
    let format = format_of_run(run.run);
    let is_same = |size: &&FormatSize| {
        format_of(&size.format) == format && size.minimal_bytes == run.run.costs.minimal_bytes
    };
    of.formats.iter().find(is_same).map(|size| padding_of(size, of.nnz))
}

pub(super) fn bytes_of_formats<'a>(data: &Data<'a>) -> Plot<'a> {
    let mut plot = Plot::rows(Scale::new("bytes per nonzero", data.state.log).lower());
    for matrix in data.model.matrices(&data.state.filter) {
        let of = &matrix.record.statistics;
        if of.nnz == 0 {
            continue;
        }
        let row = plot.row(|| display_name(matrix.record), matrix.key);
        for size in &of.formats {
            let padding = padding_of(size, of.nnz).min(size.bytes);
            let [useful, whole] =
                [size.bytes - padding, size.bytes].map(|bytes| bytes as f64 / of.nnz as f64);
            let mut text = format!("{} in total", bytes(size.bytes));
            if padding > 0 {
                text += &format!(", {} of it padding", bytes(padding));
            }
            plot.add(
                0,
                &size.format,
                None,
                Point {
                    at: [useful, row],
                    range: (padding > 0).then_some([useful, whole]),
                    subject: Some(matrix.record.into()),
                    text: text + ".",
                    ..Point::default()
                },
            );
        }
    }
    plot
}
