//! What is drawn: the pictures of the selected matrix, and for each the cells in view and its
//! surroundings.

use std::sync::Arc;

use ecolor::Color32;
use sparsescope_core::experiment::LoadedValues;
use sparsescope_core::record::MatrixRecord;

use super::difference::Other;
use super::draw::{around, caption, legend, numbering_words, size_words};
use super::frame::Frame;
use super::place::Place;
use super::ranks::Ranks;
use super::shade::Shade;
use super::written::READABLE;
use super::{difference, image, written};
use crate::figure::ColorImage;
use crate::figure::Figure;
use crate::meshes;
use crate::model::{Model, display_name, matrix_key};
use crate::picture::{Cells, Picture};
use crate::state::{Mesh, Numbering, SpyState, Theme, ViewState};
use crate::views::view::{none_shown, selected};

/// Points along a side of the grid shown if the structure of the selected matrix is not known.
const SIDE: u32 = 16;

/// What the view is about.
pub struct Subject<'a> {
    /// `None` for a grid in place of a matrix.
    pub record: Option<&'a MatrixRecord>,
    pub name: String,
    /// Its pictures.
    pub shown: Vec<Shown>,
    /// What is said above them.
    pub note: Option<String>,
}

/// One of the pictures drawn.
pub struct Shown {
    pub picture: Arc<Picture>,
    /// The matrix's key and the ordering's id.
    pub key: String,
    /// Name of the matrix, or of both matrices compared.
    pub(in crate::views) name: String,
    /// The ordering or the difference; empty for the matrix by itself in file order.
    pub caption: String,
    /// The matrix to compare with.
    pub other: Option<Other>,
    /// The ranks of a run.
    pub ranks: Option<Ranks>,
}

/// The selected matrix and its picture, or why there is none.
fn of_selected<'a>(
    model: &'a Model,
    state: &ViewState,
) -> Result<(&'a MatrixRecord, Arc<Picture>), String> {
    let record = selected(model, state).ok_or_else(|| none_shown(model, "matrix"))?;
    let picture = match (model.picture(&matrix_key(record)), state.spy.numbering) {
        (Ok(picture), Numbering::Stored) => Ok(picture),
        // Without a picture, or to be renumbered.
        _ => model.whole(record),
    };
    let picture = picture.map_err(|why| format!("Cannot show {}: {why}.", display_name(record)))?;
    if picture.pyramid.rows() == 0 || picture.pyramid.cols() == 0 {
        let (rows, cols) = (picture.pyramid.rows(), picture.pyramid.cols());
        return Err(format!("{} has {rows} rows and {cols} columns.", display_name(record)));
    }
    Ok((record, picture))
}

/// The selected matrix with its pictures, or a grid if its structure is not known; an error says why
/// there is nothing to draw. Without `wait`, an empty one means that a picture is being computed.
pub fn subject<'a>(model: &'a Model, state: &ViewState, wait: bool) -> Result<Subject<'a>, String> {
    let (record, picture, note) = match of_selected(model, state) {
        Ok((record, picture)) => (Some(record), picture, None),
        Err(why) => {
            let grid = || LoadedValues::Real(Arc::new(meshes::matrix(Mesh::Five, SIDE)));
            let picture = model.own_picture("structure grid".into(), || Picture::of(&grid()))?;
            (None, picture, Some(format!("{why} This is a small grid instead.")))
        }
    };
    let name =
        record.map_or_else(|| format!("{SIDE} × {SIDE} points, 5-point stencil"), display_name);
    let own_key = record.map_or_else(|| "structure grid".to_owned(), matrix_key);
    let numbering = state.spy.numbering;
    let mut shown = Vec::new();
    if numbering != Numbering::Rcm {
        let other = match record {
            Some(_) => difference::other(model, state)?,
            None => None,
        };
        let caption = match (numbering, &other) {
            (Numbering::Both, _) => numbering_words("As stored", &picture),
            (_, Some(other)) => format!("{name} and {}", other.name),
            _ => String::new(),
        };
        let name = if other.is_some() { caption.clone() } else { name.clone() };
        let made = if picture.recipe.is_some() { "-made" } else { "" };
        let key = format!("{own_key}{made}");
        // The owner of row j owns column j, which requires a square matrix.
        let is_square = picture.pyramid.rows() == picture.pyramid.cols();
        let ranks = record.and_then(|record| Ranks::of(model, state, record));
        let ranks = ranks.filter(|_| is_square && other.is_none());
        shown.push(Shown { picture: picture.clone(), key, name, caption, other, ranks });
    }
    if numbering != Numbering::Stored {
        let renumbered = match wait {
            true => Some(picture.renumbered()),
            false => picture.renumbered_soon(),
        };
        let renumbered = renumbered.ok_or_else(String::new)?.as_ref();
        let picture =
            renumbered.map_err(|why| format!("{name} cannot be reordered. {why}"))?.clone();
        let caption = numbering_words("Reverse Cuthill–McKee", &picture);
        let key = format!("{own_key}-{}", Numbering::Rcm.id());
        let name = name.clone();
        shown.push(Shown { picture, key, name, caption, other: None, ranks: None });
    }
    Ok(Subject { record, name, shown, note })
}

/// A matrix to show instead of the grid: the selected one if it can be generated, else the largest
/// whose structure is known or can be generated.
pub fn offered<'a>(model: &'a Model, state: &ViewState) -> Option<&'a MatrixRecord> {
    let all = model.matrices(&state.filter);
    let all = || all.iter().rev().map(|matrix| matrix.record);
    let asked = |record: &&MatrixRecord| model.can_be_asked_for(record);
    let known = all().find(|record| is_known(model, record));
    selected(model, state).filter(asked).or(known).or_else(|| all().find(asked))
}

/// Returns whether the structure of a matrix is in a bundle, or it can be generated unasked.
pub fn is_known(model: &Model, record: &MatrixRecord) -> bool {
    model.holds(record, "spy.json") || model.has_values(record)
}

impl Shown {
    /// A matrix by itself, in file order.
    pub(in crate::views) fn alone(picture: Arc<Picture>, key: String, name: String) -> Self {
        Self { picture, key, name, caption: String::new(), other: None, ranks: None }
    }

    /// Rows and columns.
    fn shape(&self) -> (usize, usize) {
        (self.picture.pyramid.rows(), self.picture.pyramid.cols())
    }

    /// The finest cells available for all matrices compared; `None` if the matrices are available.
    fn finest(&self) -> Option<u32> {
        let other = self.other.as_ref().map(|other| &other.picture);
        [Some(&self.picture), other].into_iter().flatten().filter_map(|of| of.finest()).max()
    }
}

/// Rows in view at maximum zoom, down to single nonzeros.
const HANDFUL: f64 = 5.0;

/// Rows in view at maximum zoom, in an area of this height: a handful, or enough that the finest
/// cells are not larger than necessary.
fn closest(finest: Option<u32>, height: f32) -> f64 {
    match finest {
        None => HANDFUL,
        Some(shift) => f64::from(height / READABLE) * (1_u64 << shift.min(62)) as f64,
    }
}

/// What is drawn at a given size.
pub struct Scene<'a> {
    pub(in crate::views) frame: Frame,
    pub place: Place,
    /// The finest cells available, of 2^shift rows and columns; `None` if the matrix itself is
    /// available.
    pub finest: Option<u32>,
    pub cells: Cells<'a>,
    /// Cells of the same rows and columns of the matrix to compare with.
    pub other: Option<Cells<'a>>,
    pub shade: Shade,
}

impl<'a> Scene<'a> {
    pub fn new(
        shown: &'a Shown,
        size: emath::Vec2,
        pixels: f32,
        state: &ViewState,
    ) -> Option<Self> {
        let frame = Frame::new(size, shown.shape(), &state.spy);
        Self::framed(shown, frame, pixels, &state.spy, state.theme)
    }

    /// The same in a frame.
    pub(in crate::views) fn framed(
        shown: &'a Shown,
        frame: Frame,
        pixels: f32,
        spy: &SpyState,
        theme: Theme,
    ) -> Option<Self> {
        let (picture, shape) = (&shown.picture, shown.shape());
        let finest = shown.finest();
        let closest = closest(finest, frame.area.height());
        let place = Place::new(frame.area, shape, spy.at, spy.stretch, closest);
        let per_pixel = place.per_point() / f64::from(pixels);
        let of = |picture: &'a Picture, per_pixel| {
            picture.cells(per_pixel, &place.rows(), &place.cols())
        };
        let mut cells = of(picture, per_pixel)?;
        let mut other = match &shown.other {
            Some(other) => Some(of(&other.picture, per_pixel)?),
            None => None,
        };
        // The finest cells that both have.
        let finer = |other: &Cells<'_>| other.shift() != cells.shift();
        if let Some(at_hand) = other.as_ref().filter(|other| finer(other)) {
            let shift = at_hand.shift().max(cells.shift());
            let per_pixel = (1_u64 << shift.min(62)) as f64;
            cells = of(picture, per_pixel)?;
            other = shown.other.as_ref().and_then(|other| of(&other.picture, per_pixel));
        }
        let shade = Shade::new(spy.scale, spy.map, theme, picture.spread(&cells));
        Some(Self { frame, place, finest, cells, other, shade })
    }

    /// The cells in view as an image.
    pub fn image(&self, pixels: f32) -> ColorImage {
        let (mut here, mut there) = (Vec::new(), Vec::new());
        image::paint(self.cells.shift(), &self.place, pixels, |line, first, colors| {
            here.resize(colors.len(), 0);
            self.cells.line(line, first, &mut here);
            let Some(other) = &self.other else {
                colors.iter_mut().zip(&here).for_each(|(c, n)| *c = self.shade.color(*n));
                return;
            };
            there.resize(colors.len(), 0);
            other.line(line, first, &mut there);
            for (color, (here, there)) in colors.iter_mut().zip(here.iter().zip(&there)) {
                *color = difference::color(&self.shade, *here, *there);
            }
        })
    }

    /// Everything except the cells.
    pub fn figure(&self, shown: &Shown, state: &ViewState, paper: Color32) -> Figure {
        let mut figure = Figure::new(self.frame.size(), paper);
        let numbering = if shown.other.is_some() { "" } else { &shown.caption };
        let size = if shown.other.is_some() { String::new() } else { size_words(&shown.picture) };
        caption(&mut figure, &shown.name, &[&size, numbering], state.theme.ink());
        let of = (&*shown.picture, &self.cells, shown.ranks.as_ref());
        around(&mut figure, &self.frame, &self.place, of, &state.spy, state.theme);
        if shown.other.is_none() {
            written::values(&mut figure, &self.place, &shown.picture, &self.cells, &self.shade);
        }
        let ink = state.theme.ink();
        match &shown.other {
            None => legend(&mut figure, &self.frame, &self.cells, &self.shade, ink),
            Some(other) => {
                let names = (other.here.as_str(), other.name.as_str());
                difference::legend(&mut figure, &self.frame, names, &self.cells, ink);
            }
        }
        figure
    }
}

#[cfg(test)]
mod tests {
    use emath::vec2;
    use sparsescope_core::matrix::Csr;

    use super::*;
    use crate::figure::Shape;
    use crate::state::At;

    /// The diagonal of 9000 × 9000, whose finest level has cells of 4 × 4.
    fn diagonal() -> Picture {
        let t: Vec<_> = (0..9000).map(|i| (i, i, 1.0)).collect();
        Picture::of(&LoadedValues::Real(Arc::new(Csr::from_triplets(9000, 9000, &t).unwrap())))
    }

    fn shown(picture: Picture, other: Option<Picture>) -> Shown {
        let other = other.map(|picture| Other {
            picture: Arc::new(picture),
            name: String::new(),
            here: String::new(),
        });
        let (key, name, caption) = (String::new(), "diagonal".to_owned(), String::new());
        Shown { picture: Arc::new(picture), key, name, caption, other, ranks: None }
    }

    /// Points per cell at maximum zoom, rows per cell, and whether that is the maximum.
    fn closest_look(shown: &Shown) -> (f64, usize, bool) {
        let mut state = ViewState::default();
        state.spy.at = Some(At { row: 4500.5, col: 4500.5, rows: 1e-3 });
        let scene = Scene::new(shown, vec2(900.0, 700.0), 1.0, &state).unwrap();
        let rows = 1 << scene.cells.shift();
        (rows as f64 / scene.place.per_point(), rows, scene.place.is_closest())
    }

    #[test]
    fn the_closest_look_is_at_a_handful_of_entries_or_at_the_finest_cells_of_a_bundle() {
        let bundled = || {
            let mut picture = diagonal();
            picture.values = None;
            picture
        };
        let (points, rows, is_closest) = closest_look(&shown(diagonal(), None));
        assert!(rows == 1 && is_closest && points > 100.0, "{points}");
        for shown in [shown(bundled(), None), shown(diagonal(), Some(bundled()))] {
            let (points, rows, is_closest) = closest_look(&shown);
            assert!(rows == 4 && is_closest && (points - 48.0).abs() < 0.01, "{points}, {rows}");
        }
        let whole = shown(bundled(), None);
        let scene = Scene::new(&whole, vec2(900.0, 700.0), 1.0, &ViewState::default()).unwrap();
        assert!(!scene.place.is_closest());
    }

    #[test]
    fn a_grid_stands_in_for_a_structure_that_is_not_known_and_a_matrix_is_offered() {
        let mut model = Model::default();
        model.open("solvers.zip", include_bytes!("../../../../example/solvers.zip")).unwrap();
        let state = ViewState::default();
        let of = subject(&model, &state, true).unwrap();
        assert!(of.record.is_none() && of.name.starts_with("16 × 16 points"));
        // The diagonal, and 15 · 16 neighbours along each axis, both ways.
        assert_eq!(of.shown[0].picture.pyramid.entries(), 256 + 4 * 240);
        let why = "Cannot show Emilia_grande (stand-in): the bundle has no picture of this matrix. \
                   This is a small grid instead.";
        assert_eq!(of.note.as_deref(), Some(why));
        // The largest of at most ten million nonzeros, or the selected one.
        assert_eq!(offered(&model, &state).unwrap().name, "Cubo_4");
        let search = ViewState::from_fragment("v1;search=stencil7").unwrap();
        assert_eq!(offered(&model, &search).unwrap().name, "stencil7?n=96");
        let mut known = Model::default();
        known.open("gpu.zip", include_bytes!("../../../../example/gpu.zip")).unwrap();
        let of = subject(&known, &state, true).unwrap();
        assert!(
            of.record.is_some_and(|record| record.name == "Cube_Coup_dt0") && of.note.is_none()
        );
    }

    #[test]
    fn the_name_and_the_size_of_the_matrix_stand_in_the_figure_above_everything_else() {
        let (shown, state) = (shown(diagonal(), None), ViewState::default());
        let scene = Scene::new(&shown, vec2(900.0, 700.0), 1.0, &state).unwrap();
        let figure = scene.figure(&shown, &state, Color32::WHITE);
        let texts = figure.shapes.iter().filter_map(|shape| match shape {
            Shape::Text { pos, size, text, .. } => Some((pos.y + size * 0.5, text.as_str())),
            _ => None,
        });
        let mut texts: Vec<_> = texts.collect();
        texts.sort_by(|a, b| a.0.total_cmp(&b.0));
        assert_eq!(texts[0].1, "diagonal");
        assert!(texts[1].0 - texts[0].0 > 12.0, "{texts:?}");
        assert_eq!(texts[1].1, "9\u{202f}000 × 9\u{202f}000, 9 k nonzeros, 1 per row");
    }
}
