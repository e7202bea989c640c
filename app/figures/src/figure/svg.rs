//! A figure as SVG, with the source of its numbers.

use std::fmt::Write as _;

use base64::prelude::{BASE64_STANDARD, Engine as _};
use ecolor::Color32;
use emath::Pos2;

use super::print::scale_of;
use super::{Anchor, Figure, LIGHT_FACE, Print, SEMIBOLD, Shape, wrapped};
use crate::figure::ColorImage;

/// The source of a figure's numbers: a line under the figure, and the file's description.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Provenance {
    /// One per bundle: label, device, date, start of its SHA-256.
    pub sources: Vec<String>,
    /// Some matrices are stand-ins for real ones.
    pub stand_in: bool,
}

impl Provenance {
    /// One line per source.
    pub fn lines(&self) -> Vec<String> {
        let mut lines = self.sources.clone();
        if self.stand_in {
            lines.push("contains STAND-INS: generated matrices in place of real ones".into());
        }
        lines
    }
}

/// Height of a line of provenance, and the size of its type.
const LINE: f32 = 14.0;
const CAPTION: f32 = 10.0;
/// Lines of provenance are not broken to less than this.
const NARROW: f32 = 200.0;
/// The faces of figures; other machines replace them by similar ones if the file does not have them.
const FAMILIES: &str = "Sparsescope, Ubuntu, Helvetica, Arial, sans-serif";
/// The attribute of text in the semibold face.
pub(super) const STRONG: &str = " font-weight=\"600\"";

impl Figure {
    /// The figure as an SVG document, provenance below it.
    pub fn to_svg(&self, title: &str, provenance: &Provenance) -> String {
        let sources = provenance.lines();
        let broken = |line: &String| wrapped(line, (self.size.x - 16.0).max(NARROW), CAPTION);
        let lines: Vec<String> = sources.iter().flat_map(broken).collect();
        let below = if lines.is_empty() { 0.0 } else { LINE * (lines.len() as f32 + 0.5) };
        let height = self.size.y + below;
        let size = [self.size.x, height];
        let mut out = head(size.map(|side| side.to_string()), size);
        let _ = write!(
            out,
            "\n<title>{}</title>\n<desc>{}</desc>\n\
             <rect width=\"{}\" height=\"{height}\" fill=\"{}\"/>\n",
            escape(title),
            escape(&sources.join("; ")),
            self.size.x,
            color(self.paper),
        );
        for shape in &self.shapes {
            write_shape(&mut out, shape);
        }
        let mut y = self.size.y + LINE * 0.5;
        for text in lines {
            let pos = emath::pos2(8.0, y);
            let color = Color32::from_gray(128);
            write_shape(
                &mut out,
                &Shape::Text {
                    pos,
                    anchor: Anchor::Start,
                    size: CAPTION,
                    color,
                    strong: false,
                    text,
                },
            );
            y += LINE;
        }
        out.push_str("</svg>\n");
        out
    }
}

/// The opening tag: the extent with its unit, and the size in the figure's own units.
fn head([width, height]: [String; 2], [w, h]: [f32; 2]) -> String {
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
         viewBox=\"0 0 {w} {h}\" font-family=\"{FAMILIES}\">"
    )
}

/// The size of a figure written by [`Figure::to_svg`].
pub(super) fn size_of(svg: &str) -> Option<[f32; 2]> {
    let (_, after) = svg.split_once(" viewBox=\"0 0 ")?;
    let (size, _) = after.split_once('"')?;
    let (width, height) = size.split_once(' ')?;
    Some([width.parse().ok()?, height.parse().ok()?])
}

/// Width and height in pixels of a figure written by [`Figure::to_svg`] as PNG: two pixels to a point, or 300 to
/// an inch on paper.
pub fn pixels_of(svg: &str, print: Option<Print>) -> Option<[u32; 2]> {
    let size @ [width, _] = size_of(svg)?;
    let scale = scale_of(print, width);
    Some(size.map(|side| (side * scale).ceil() as u32))
}

/// A figure written by [`Figure::to_svg`], as a file of its own: with its fonts, so that it looks the
/// same everywhere, and with a size on paper if one is wanted.
pub fn for_file(svg: &str, print: Option<Print>) -> String {
    let (Some((_, rest)), Some(size)) = (svg.split_once('\n'), size_of(svg)) else {
        return svg.to_owned();
    };
    let extent = match print {
        Some(print) => print.extent_mm(size).map(|side| format!("{side:.2}mm")),
        None => size.map(|side| side.to_string()),
    };
    let faces = [("400", LIGHT_FACE), ("600", SEMIBOLD)];
    let faces = faces.into_iter().filter(|(weight, _)| *weight == "400" || rest.contains(STRONG));
    let faces: String = faces
        .map(|(weight, data)| {
            format!(
                "@font-face{{font-family:Sparsescope;font-weight:{weight};\
                 src:url(data:font/ttf;base64,{})}}",
                BASE64_STANDARD.encode(data)
            )
        })
        .collect();
    format!("{}\n<style>{faces}</style>\n{rest}", head(extent, size))
}

/// Writing to a `String` cannot fail, so the results are ignored.
fn write_shape(out: &mut String, shape: &Shape) {
    let _ = match shape {
        Shape::Rect { rect, fill } => writeln!(
            out,
            "<rect x=\"{:.2}\" y=\"{:.2}\" width=\"{:.2}\" height=\"{:.2}\" fill=\"{}\"/>",
            rect.min.x,
            rect.min.y,
            rect.width(),
            rect.height(),
            color(*fill)
        ),
        Shape::Line { points, width, color: ink } => writeln!(
            out,
            "<polyline points=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"{width}\"/>",
            coordinates(points),
            color(*ink)
        ),
        Shape::Polygon { points, fill, stroke } => writeln!(
            out,
            "<polygon points=\"{}\" fill=\"{}\" stroke=\"{}\" stroke-width=\"1.5\"/>",
            coordinates(points),
            color(*fill),
            color(*stroke)
        ),
        Shape::Circle { center, radius, fill, stroke } => writeln!(
            out,
            "<circle cx=\"{:.2}\" cy=\"{:.2}\" r=\"{radius}\" fill=\"{}\" stroke=\"{}\" stroke-width=\"1.5\"/>",
            center.x,
            center.y,
            color(*fill),
            color(*stroke)
        ),
        Shape::Image { rect, pixels } => writeln!(
            out,
            "<image x=\"{:.2}\" y=\"{:.2}\" width=\"{:.2}\" height=\"{:.2}\" \
             preserveAspectRatio=\"none\" style=\"image-rendering:pixelated\" \
             href=\"data:image/png;base64,{}\"/>",
            rect.min.x,
            rect.min.y,
            rect.width(),
            rect.height(),
            BASE64_STANDARD.encode(png_of(pixels))
        ),
        Shape::Text { pos, anchor, size, color: ink, strong, text } => writeln!(
            out,
            "<text x=\"{:.2}\" y=\"{:.2}\" font-size=\"{size}\"{} text-anchor=\"{}\" fill=\"{}\">{}</text>",
            pos.x,
            pos.y + size * 0.36,
            if *strong { STRONG } else { "" },
            match anchor {
                Anchor::Start => "start",
                Anchor::Middle => "middle",
                Anchor::End => "end",
            },
            color(*ink),
            escape(text)
        ),
        Shape::Turned { pos, angle, size, color: ink, text } => writeln!(
            out,
            "<text transform=\"translate({:.2} {:.2}) rotate({})\" font-size=\"{size}\" fill=\"{}\">{}</text>",
            pos.x - angle.sin() * size * 0.36,
            pos.y + angle.cos() * size * 0.36,
            (angle.to_degrees() * 100.0).round() / 100.0,
            color(*ink),
            escape(text)
        ),
    };
}

/// The pixels as a PNG file; empty for an empty image.
fn png_of(image: &ColorImage) -> Vec<u8> {
    let [width, height] = image.size.map(|side| u32::try_from(side).unwrap_or(0));
    let bytes: Vec<u8> =
        image.pixels.iter().flat_map(|pixel| pixel.to_srgba_unmultiplied()).collect();
    let mut out = Vec::new();
    let mut encoder = ::png::Encoder::new(&mut out, width, height);
    encoder.set_color(::png::ColorType::Rgba);
    encoder.set_depth(::png::BitDepth::Eight);
    let written = encoder.write_header().and_then(|mut writer| writer.write_image_data(&bytes));
    match written {
        Ok(()) => out,
        Err(_) => Vec::new(),
    }
}

fn coordinates(points: &[Pos2]) -> String {
    let points: Vec<String> = points.iter().map(|p| format!("{:.2},{:.2}", p.x, p.y)).collect();
    points.join(" ")
}

/// A colour as `#rrggbb`, or as `#rrggbbaa` if something shows through.
fn color(color: Color32) -> String {
    let [r, g, b, alpha] = color.to_srgba_unmultiplied();
    let opaque = format!("#{r:02x}{g:02x}{b:02x}");
    if alpha == u8::MAX { opaque } else { format!("{opaque}{alpha:02x}") }
}

/// Text from a bundle, sanitised: markup escaped, characters that XML forbids removed.
pub fn escape(text: &str) -> String {
    let mut out = String::new();
    for character in text.chars() {
        match character {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            c if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') => {}
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use emath::{pos2, vec2};

    use super::*;
    use crate::figure::Mark;

    #[test]
    fn a_name_cannot_smuggle_markup_into_the_svg() {
        let mut figure = Figure::new(vec2(100.0, 50.0), Color32::WHITE);
        let hostile = "<script>\u{1}\"&";
        figure.text(pos2(1.0, 2.0), Anchor::End, 12.0, Color32::BLACK, hostile);
        let sources = Provenance { sources: vec![hostile.into()], stand_in: true };
        let svg = figure.to_svg(hostile, &sources);
        assert!(!svg.contains("<script") && svg.contains("&lt;script&gt;&quot;&amp;"));
        assert!(svg.contains("STAND-INS"));
    }

    #[test]
    fn a_file_has_the_faces_that_it_uses_and_a_size_on_paper() {
        let mut figure = Figure::new(vec2(400.0, 100.0), Color32::WHITE);
        figure.text(pos2(1.0, 2.0), Anchor::Start, 14.0, Color32::BLACK, "light");
        let svg = figure.to_svg("t", &Provenance::default());
        assert_eq!(size_of(&svg), Some([400.0, 100.0]));
        let file = for_file(&svg, None);
        assert!(file.starts_with("<svg ") && file.contains(" width=\"400\" height=\"100\""));
        assert_eq!(file.matches("@font-face").count(), 1, "the semibold face is not used");
        figure.strong(pos2(1.0, 20.0), Anchor::Start, 14.0, Color32::BLACK, "bold");
        let print = Print { width_mm: 85.0, type_pt: 8.0 };
        let file = for_file(&figure.to_svg("t", &Provenance::default()), Some(print));
        assert_eq!(file.matches("@font-face").count(), 2);
        assert!(file.contains(" width=\"85.00mm\" height=\"21.25mm\" viewBox=\"0 0 400 100\""));
        assert!(file.contains(">light</text>") && file.ends_with("</svg>\n"));
    }

    #[test]
    fn long_lines_of_provenance_are_broken_to_the_width() {
        let figure = Figure::new(vec2(320.0, 50.0), Color32::WHITE);
        let words = "word ".repeat(40);
        let source = words.trim_end();
        let from = Provenance { sources: vec![source.into()], stand_in: false };
        let svg = figure.to_svg("t", &from);
        assert!(svg.contains(&format!("<desc>{source}</desc>")), "whole in the description");
        let texts = svg.lines().filter(|line| line.starts_with("<text"));
        let shown: Vec<&str> =
            texts.filter_map(|line| line.split('>').nth(1)?.strip_suffix("</text")).collect();
        assert!(shown.len() > 1 && shown.join(" ") == source, "{shown:?}");
        let fits = |line: &&str| crate::figure::text_width(line, CAPTION) <= 304.0;
        assert!(shown.iter().all(fits), "{shown:?}");
    }

    #[test]
    fn every_shape_is_written_in_order() {
        let mut figure = Figure::new(vec2(100.0, 50.0), Color32::WHITE);
        figure.rect(crate::figure::area(1.0, 2.0, 4.0, 8.0), Color32::from_rgb(1, 2, 255));
        figure.line(pos2(0.0, 0.0), pos2(5.0, 5.0), 1.0, Color32::BLACK);
        figure.mark(pos2(9.0, 9.0), Mark::Circle, 3.0, Color32::TRANSPARENT, Color32::BLACK);
        figure.mark(pos2(9.0, 9.0), Mark::Square, 3.0, Color32::WHITE, Color32::BLACK);
        let svg = figure.to_svg("t", &Provenance::default());
        let found: Vec<_> =
            ["width=\"3.00\" height=\"6.00\" fill=\"#0102ff\"", "<polyline", "<circle", "<polygon"]
                .map(|part| svg.find(part))
                .into();
        assert!(found.iter().all(Option::is_some) && found.is_sorted(), "{svg}");
        assert!(svg.contains("r=\"3\" fill=\"#00000000\" stroke=\"#000000\""), "{svg}");
        assert_eq!(color(Color32::from_rgba_unmultiplied(255, 0, 0, 51)), "#ff000033");
    }
}
