//! A figure as PNG: its SVG, rendered with the window's font, so that every machine produces the
//! same picture.

use std::sync::{Arc, LazyLock};

use ecolor::Color32;
use epaint_default_fonts::{EGUI_ICONS, HACK_REGULAR, UBUNTU_LIGHT};
use resvg::{tiny_skia, usvg};

use super::print::{scale_of, set_resolution};
use super::svg::size_of;
use super::{ColorImage, Print, SEMIBOLD};

/// The reason why a PNG could not be made.
#[derive(Debug, thiserror::Error)]
pub enum PngError {
    /// The SVG is invalid.
    #[error("the figure is not valid SVG: {0}")]
    Svg(#[from] usvg::Error),
    /// Out of memory, or an empty size.
    #[error("cannot draw a figure of {0} × {1} pixels")]
    Size(u32, u32),
    /// The pixels could not be written.
    #[error("cannot encode the pixels: {0}")]
    Encoding(String),
}

/// Fonts of the figures.
static FONTS: LazyLock<Arc<usvg::fontdb::Database>> = LazyLock::new(|| {
    let mut fonts = usvg::fontdb::Database::new();
    for font in [HACK_REGULAR, UBUNTU_LIGHT, EGUI_ICONS] {
        fonts.load_font_data(font.to_vec());
    }
    for id in fonts.load_font_source(usvg::fontdb::Source::Binary(Arc::new(SEMIBOLD))) {
        // Its own name, which the licence asks for, is not that of the family.
        if let Some(mut face) = fonts.face(id).cloned() {
            fonts.remove_face(id);
            face.families.iter_mut().for_each(|(name, _)| "Ubuntu".clone_into(name));
            face.weight = usvg::fontdb::Weight::SEMIBOLD;
            fonts.push_face_info(face);
        }
    }
    fonts.set_sans_serif_family("Ubuntu");
    Arc::new(fonts)
});

/// Renders a figure as a PNG file, at a size on paper if one is wanted.
///
/// # Errors
/// If the SVG is invalid or the image too large.
pub fn file(svg: &str, print: Option<Print>) -> Result<Vec<u8>, PngError> {
    let width = size_of(svg).map_or(0.0, |[width, _]| width);
    let mut png = render(svg, scale_of(print, width))?;
    if print.is_some() {
        set_resolution(&mut png);
    }
    Ok(png)
}

/// Renders the SVG as PNG, with `scale` pixels per point.
pub fn render(svg: &str, scale: f32) -> Result<Vec<u8>, PngError> {
    draw(svg, scale)?.encode_png().map_err(|error| PngError::Encoding(error.to_string()))
}

/// Renders the SVG as an image for the screen, with `scale` pixels per point.
pub fn image(svg: &str, scale: f32) -> Result<ColorImage, PngError> {
    let drawn = draw(svg, scale)?;
    let color = |pixel: &tiny_skia::PremultipliedColorU8| {
        Color32::from_rgba_premultiplied(pixel.red(), pixel.green(), pixel.blue(), pixel.alpha())
    };
    let size = [drawn.width(), drawn.height()].map(|side| side as usize);
    Ok(ColorImage::new(size, drawn.pixels().iter().map(color).collect()))
}

fn draw(svg: &str, scale: f32) -> Result<tiny_skia::Pixmap, PngError> {
    let options =
        usvg::Options { fontdb: FONTS.clone(), font_family: "Ubuntu".into(), ..Default::default() };
    let tree = usvg::Tree::from_str(svg, &options)?;
    let size = tree.size();
    let (width, height) =
        ((size.width() * scale).ceil() as u32, (size.height() * scale).ceil() as u32);
    let mut pixels = tiny_skia::Pixmap::new(width, height).ok_or(PngError::Size(width, height))?;
    resvg::render(&tree, tiny_skia::Transform::from_scale(scale, scale), &mut pixels.as_mut());
    Ok(pixels)
}

#[cfg(test)]
mod tests {
    use emath::{pos2, vec2};

    use super::*;
    use crate::figure::{Anchor, Figure, Provenance, Shape, area, pixels_of};

    fn decode(png: &[u8]) -> (u32, u32, Vec<u8>) {
        let decoder = png::Decoder::new(std::io::Cursor::new(png));
        let mut reader = decoder.read_info().unwrap();
        let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
        let info = reader.next_frame(&mut pixels).unwrap();
        (info.width, info.height, pixels)
    }

    #[test]
    fn a_width_on_paper_has_300_pixels_an_inch() {
        let figure = Figure::new(vec2(400.0, 200.0), Color32::WHITE);
        let svg = figure.to_svg("t", &Provenance::default());
        let size = |print| {
            let bytes = file(&svg, print).unwrap();
            let reader = png::Decoder::new(std::io::Cursor::new(&bytes)).read_info().unwrap();
            let info = reader.info();
            assert_eq!(pixels_of(&svg, print), Some([info.width, info.height]), "as in the page");
            (info.width, info.height, info.pixel_dims.map(|per_metre| per_metre.xppu))
        };
        assert_eq!(size(None), (800, 400, None));
        let (width, height, resolution) = size(Some(Print { width_mm: 50.8, type_pt: 8.0 }));
        assert!(width.abs_diff(600) <= 1 && height.abs_diff(300) <= 1, "{width} x {height}");
        assert_eq!(resolution, Some(11_811), "300 pixels an inch");
    }

    #[test]
    fn shapes_images_and_text_reach_the_pixels() {
        let mut figure = Figure::new(vec2(60.0, 40.0), Color32::WHITE);
        let cells = ColorImage::new([2, 1], vec![Color32::RED, Color32::BLUE]);
        let rect = area(0.0, 0.0, 20.0, 10.0);
        figure.shapes.push(Shape::Image { rect, pixels: Arc::new(cells) });
        figure.rect(area(40.0, 0.0, 60.0, 10.0), Color32::GREEN);
        figure.text(pos2(30.0, 25.0), Anchor::Middle, 14.0, Color32::BLACK, "mean");
        let svg = figure.to_svg("t", &Provenance::default());
        let (width, height, pixels) = decode(&render(&svg, 2.0).unwrap());
        assert_eq!((width, height), (120, 80), "two pixels a point, no foot without provenance");
        let at = |x: u32, y: u32| {
            let from = ((y * width + x) * 4) as usize;
            [pixels[from], pixels[from + 1], pixels[from + 2]]
        };
        assert_eq!(at(18, 10), [255, 0, 0], "enlarged without smoothing");
        assert_eq!(at(22, 10), [0, 0, 255]);
        assert_eq!(at(100, 10), [0, 255, 0]);
        let screen = image(&svg, 2.0).unwrap();
        assert_eq!((screen.size, screen.pixels[100 + 10 * 120]), ([120, 80], Color32::GREEN));
        let dark = (0..120).flat_map(|x| (40..60).map(move |y| (x, y)));
        let dark = dark.filter(|(x, y)| at(*x, *y)[0] < 128).count();
        assert!(dark > 30, "{dark} pixels of text");
    }
}
