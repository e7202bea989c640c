//! The structure of a matrix as a small grey tile.

use std::ops::Range;
use std::sync::Arc;

use sparsescope_core::spy::{Level, coarse_from_files};

use crate::figure::ColorImage;
use crate::model::Model;
use crate::state::Theme;
use crate::theme::blend;

/// Darkness of a pixel with few nonzeros: a single one must be visible.
const LIGHTEST: f32 = 0.35;

/// The darkest pixel of a tile without empty pixels is lighter by this: a full matrix is not a black square.
const FULL: f32 = 0.45;

/// The structure of a matrix, `side` pixels along each edge: darker where nonzeros are denser. `None` if the
/// matrix is not open, or only its name and statistics are known.
pub fn of(model: &Model, key: &str, side: usize, theme: Theme) -> Option<Arc<ColorImage>> {
    let side = side.max(2);
    let statistics = &model.matrix(key)?.statistics;
    let matrix =
        [statistics.rows, statistics.cols].map(|n| usize::try_from(n).unwrap_or(usize::MAX));
    let draw = |level: &Level| Arc::new(tile(level, matrix, side, theme));
    let folders = model.folders(key);
    if let Some(picture) = folders.iter().find_map(|(open, _)| open.picture.as_ref()) {
        return picture.coarse(side).map(draw);
    }
    let level = folders.iter().find_map(|(_, folder)| coarse_from_files(&folder.files, side).ok());
    level.as_ref().map(draw)
}

/// Draws a level of a matrix of [rows, columns], centred on a square.
fn tile(level: &Level, matrix: [usize; 2], side: usize, theme: Theme) -> ColorImage {
    let ink = theme.ink();
    let longest = level.rows().max(level.cols()).max(1);
    // At least one pixel, however flat the matrix is.
    let [height, width] = [level.rows(), level.cols()].map(|n| (n * side / longest).clamp(1, side));
    let densities = densities(level, matrix, [height, width]);
    let mut filled: Vec<f32> = densities.iter().copied().filter(|density| *density > 0.0).collect();
    filled.sort_unstable_by(f32::total_cmp);
    let darkest = 1.0 - FULL * filled.len() as f32 / densities.len().max(1) as f32;
    let shade = |density: f32| {
        if density <= 0.0 {
            return ink.paper;
        }
        // The middle of those that are equally dense.
        let below = filled.partition_point(|other| *other < density);
        let upto = filled.partition_point(|other| *other <= density);
        let rank = (below + upto) as f32 / (2 * filled.len()) as f32;
        blend(ink.paper, ink.text, LIGHTEST + (darkest - LIGHTEST) * rank)
    };
    let mut image = ColorImage::filled([side, side], ink.paper);
    let (top, left) = ((side - height) / 2, (side - width) / 2);
    let lines = image.pixels.chunks_exact_mut(side).skip(top);
    for (to, from) in lines.zip(densities.chunks_exact(width)) {
        to.iter_mut().skip(left).zip(from).for_each(|(to, density)| *to = shade(*density));
    }
    image
}

/// The share of nonzeros in the densest cell of each pixel, row by row.
fn densities(level: &Level, [rows, cols]: [usize; 2], [height, width]: [usize; 2]) -> Vec<f32> {
    let covered = |cell: usize, of: usize| level.span(cell, of).len().max(1) as f32;
    let mut densities = vec![0.0_f32; width * height];
    let mut line = vec![0; level.cols()];
    for (y, to) in densities.chunks_exact_mut(width).enumerate() {
        for row in cells_of(y, level.rows(), height) {
            level.line(row, 0, &mut line);
            let high = covered(row, rows);
            for (x, most) in to.iter_mut().enumerate() {
                for col in cells_of(x, level.cols(), width) {
                    let count = line.get(col).copied().unwrap_or(0);
                    *most = most.max(count as f32 / (high * covered(col, cols)));
                }
            }
        }
    }
    densities
}

/// The cells in a pixel: each is in one pixel, unless there are fewer cells than pixels.
fn cells_of(pixel: usize, cells: usize, pixels: usize) -> Range<usize> {
    let first = pixel * cells / pixels;
    first..((pixel + 1) * cells / pixels).max(first + 1)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use ecolor::Color32;
    use sparsescope_core::experiment::LoadedValues;
    use sparsescope_core::matrix::{Csr, Statistics};
    use sparsescope_core::spy::to_files;

    use super::*;
    use crate::model::matrix_key;
    use crate::picture::Picture;
    use crate::state::Filter;
    use crate::why;

    const SIDE: usize = 40;

    fn picture(rows: usize, cols: usize, at: impl IntoIterator<Item = (usize, usize)>) -> Picture {
        let t: Vec<_> = at.into_iter().map(|(i, j)| (i, j, 1.0)).collect();
        let a = Csr::from_triplets(rows, cols, &t).unwrap();
        Picture::of(&LoadedValues::Real(Arc::new(a)))
    }

    /// A bundle with this picture's files.
    fn bundle(picture: &Picture, files: BTreeMap<String, Vec<u8>>) -> Model {
        let (rows, cols) = (picture.pyramid.rows() as u64, picture.pyramid.cols() as u64);
        let statistics = Statistics { rows, cols, ..Statistics::default() };
        let (_, _, environment) = why::tests::run("cpu/csr/nnz");
        why::tests::model_with(Vec::new(), statistics, environment, files)
    }

    fn key(model: &Model) -> String {
        model.matrices(&Filter::everything())[0].key.to_owned()
    }

    fn tile_of(picture: &Picture, theme: Theme) -> Arc<ColorImage> {
        let files = to_files(&picture.pyramid, &picture.profile, 1 << 20);
        let model = bundle(picture, files);
        of(&model, &key(&model), SIDE, theme).unwrap()
    }

    #[test]
    fn a_full_matrix_is_neither_paper_nor_ink() {
        let full = picture(64, 64, (0..64 * 64).map(|k| (k / 64, k % 64)));
        let ink = Theme::Light.ink();
        let image = tile_of(&full, Theme::Light);
        assert_eq!(image.size, [SIDE, SIDE]);
        let diagonal = tile_of(&picture(64, 64, (0..64).map(|k| (k, k))), Theme::Light);
        for pixel in &image.pixels {
            assert!(pixel.r() < ink.paper.r(), "nonzeros are everywhere");
            assert!(pixel.r() > diagonal.pixels[0].r(), "lighter than the diagonal alone");
        }
    }

    #[test]
    fn denser_parts_are_darker_up_to_the_ink() {
        let dense = (0..20 * 1000).map(|k| (k / 1000, k % 1000));
        let sparse = (20..1000).map(|i| (i, i));
        let image = tile_of(&picture(1000, 1000, dense.chain(sparse)), Theme::Light);
        let (ink, pixel) = (Theme::Light.ink(), |x: usize, y: usize| image.pixels[y * SIDE + x]);
        assert!(pixel(30, 0).r() < pixel(30, 30).r(), "a dense row and a diagonal");
        assert!(pixel(30, 30).r() < ink.paper.r());
        assert_eq!(pixel(30, 20), ink.paper);
    }

    #[test]
    fn a_diagonal_is_one_in_every_theme_and_size() {
        for n in [8, 64, 1000, 5000] {
            let diagonal = picture(n, n, (0..n).map(|k| (k, k)));
            for theme in Theme::ALL {
                let image = tile_of(&diagonal, theme);
                let paper = theme.ink().paper;
                for k in 0..SIDE * SIDE {
                    let (i, j) = (k / SIDE, k % SIDE);
                    let is_on_it = if n < SIDE { i * n / SIDE == j * n / SIDE } else { i == j };
                    assert_eq!(image.pixels[k] != paper, is_on_it, "{n}, {theme:?}: {i}, {j}");
                }
            }
        }
    }

    #[test]
    fn a_few_nonzeros_of_a_large_matrix_are_seen() {
        let at = [(0, 9_999), (5_000, 200), (9_999, 5_000)];
        let image = tile_of(&picture(10_000, 10_000, at), Theme::Light);
        let paper = Theme::Light.ink().paper;
        let seen: Vec<Color32> = image.pixels.iter().copied().filter(|p| *p != paper).collect();
        assert_eq!(seen.len(), at.len());
        assert!(seen.iter().all(|pixel| paper.r() - pixel.r() > 75), "{seen:?}");
    }

    #[test]
    fn a_flat_matrix_is_a_line_across_the_middle() {
        let image = tile_of(&picture(10, 1000, (0..1000).map(|j| (j % 10, j))), Theme::Light);
        let paper = Theme::Light.ink().paper;
        let lines = image.pixels.chunks(SIDE).enumerate();
        let filled: Vec<usize> =
            lines.filter(|(_, line)| line.iter().all(|p| *p != paper)).map(|(y, _)| y).collect();
        assert_eq!(filled, [(SIDE - 1) / 2]);
        let all = image.pixels.iter().filter(|pixel| **pixel != paper).count();
        assert_eq!(all, SIDE, "the rest is paper");
    }

    #[test]
    fn a_matrix_opened_as_a_file_looks_like_that_of_a_bundle() {
        let scattered = picture(9000, 9000, (0..9000).map(|i| (i, i * 7 % 9000)));
        let expected = tile_of(&scattered, Theme::Light);
        let other = bundle(&scattered, BTreeMap::new());
        let record = other.matrices(&Filter::everything())[0].record.clone();
        let (mut model, key) = (Model::default(), matrix_key(&record));
        model.add_matrix("a.mtx", record, Arc::new(scattered));
        assert_eq!(of(&model, &key, SIDE, Theme::Light), Some(expected));
    }

    #[test]
    fn there_is_none_of_an_unknown_matrix_or_of_one_without_a_picture() {
        let model = bundle(&picture(5, 5, [(1, 1)]), BTreeMap::new());
        assert_eq!(of(&model, "00ff-real", SIDE, Theme::Light), None);
        assert_eq!(of(&model, &key(&model), SIDE, Theme::Light), None);
    }
}
