//! Two matrices of the same size in one picture: which of them has more nonzeros in each cell.

use std::cmp::Ordering;
use std::sync::Arc;

use ecolor::Color32;
use sparsescope_core::record::MatrixRecord;

use super::draw::swatches;
use super::frame::Frame;
use super::shade::Shade;
use crate::figure::Figure;
use crate::model::{Model, display_name};
use crate::picture::{Cells, Picture};
use crate::state::{Numbering, ViewState};
use crate::theme::Ink;
use crate::views::view::selected;

/// The matrix to compare with.
pub struct Other {
    pub(super) picture: Arc<Picture>,
    pub name: String,
    /// Name of the selected matrix.
    pub(super) here: String,
}

/// More nonzeros in the selected matrix, equal numbers, more in the other; safe for all kinds of
/// colour vision.
const COLORS: [Color32; 3] = [
    Color32::from_rgb(0, 114, 178),
    Color32::from_rgb(128, 128, 128),
    Color32::from_rgb(213, 94, 0),
];

/// The open matrices of the same size as the selected one, by key and name.
pub fn others(model: &Model, state: &ViewState) -> Vec<(String, String)> {
    let Some(record) = selected(model, state) else { return Vec::new() };
    let size = |record: &MatrixRecord| (record.statistics.rows, record.statistics.cols);
    let own = crate::model::matrix_key(record);
    let all = model.matrices(&crate::state::Filter::everything()).into_iter();
    all.filter(|other| other.key != own && size(other.record) == size(record))
        .map(|other| (other.key.to_owned(), display_name(other.record)))
        .collect()
}

/// The matrix that the selected one is compared with, if any.
pub(super) fn other(model: &Model, state: &ViewState) -> Result<Option<Other>, String> {
    let against = &state.spy.against;
    if against.is_empty() || state.spy.numbering != Numbering::Stored {
        return Ok(None);
    }
    let Some((key, name)) = others(model, state).into_iter().find(|(key, _)| key == against) else {
        return Ok(None);
    };
    let picture = model.picture(&key).map_err(|why| format!("Cannot show {name}: {why}."))?;
    let here = selected(model, state).map_or_else(String::new, display_name);
    Ok(Some(Other { picture, name, here }))
}

/// Colour of a cell with these numbers of nonzeros: the larger the difference, the stronger.
pub(super) fn color(shade: &Shade, here: u64, there: u64) -> Color32 {
    let [more, equal, fewer] = COLORS;
    let (color, strength) = match here.cmp(&there) {
        Ordering::Equal if here == 0 => return shade.empty,
        Ordering::Equal => (equal, 0.6),
        Ordering::Greater => (more, shade.position((here - there) as f32)),
        Ordering::Less => (fewer, shade.position((there - here) as f32)),
    };
    let strength = if here == there { strength } else { 0.5 + 0.5 * strength.clamp(0.0, 1.0) };
    shade.empty.lerp_to_gamma(color, strength)
}

/// The legend of the colours.
pub(super) fn legend(
    figure: &mut Figure,
    frame: &Frame,
    (here, there): (&str, &str),
    cells: &Cells<'_>,
    ink: Ink,
) {
    let words = [format!("more in {here}"), "equal".to_owned(), format!("more in {there}")];
    let items: Vec<_> = COLORS.into_iter().zip(words).collect();
    swatches(figure, frame, &items, cells, ink);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::picture::Spread;
    use crate::state::{ColorMap, Scale, Theme};

    #[test]
    fn colours_say_which_holds_more_and_empty_cells_are_empty() {
        let spread = Spread { max: 100, quantiles: [1.0; 16] };
        let shade = Shade::new(Scale::Log, ColorMap::Blues, Theme::Light, spread);
        assert_eq!(color(&shade, 0, 0), shade.empty);
        assert_eq!(color(&shade, 100, 0), COLORS[0]);
        assert_eq!(color(&shade, 0, 100), COLORS[2]);
        assert_eq!(color(&shade, 3, 2), color(&shade, 1, 0));
        let all = [color(&shade, 1, 0), color(&shade, 1, 1), color(&shade, 0, 1)];
        assert!(all[0] != all[1] && all[1] != all[2] && all[0] != all[2], "{all:?}");
    }
}
