//! A figure as PDF with its fonts: its SVG, whose lines are drawn one by one.

mod face;
mod file;
mod text;

use std::fmt::Write as _;

use base64::prelude::{BASE64_STANDARD, Engine as _};

use super::Print;
use super::svg::{STRONG, size_of};
use file::File;
use text::{Fonts, hex};

/// Points for each unit of a figure without a size on paper: those of CSS.
const POINTS: f32 = 0.75;
/// From the end of a quarter of a circle to its control point, in radii.
const ROUND: f32 = 0.552_285;
/// The directions of the ends of a circle's quarters.
const TURN: [(f32, f32); 5] = [(1.0, 0.0), (0.0, 1.0), (-1.0, 0.0), (0.0, -1.0), (1.0, 0.0)];
/// Width of outlines.
const OUTLINE: f32 = 1.5;

/// A figure written by [`Figure::to_svg`](super::Figure::to_svg) as a PDF of one page, at a size on paper if
/// one is wanted.
pub fn file(svg: &str, print: Option<Print>) -> Vec<u8> {
    let [width, height] = size_of(svg).unwrap_or([1.0, 1.0]);
    let scale = print.map_or(POINTS, |print| print.points(width));
    let mut page = Page {
        // Down is the direction of y in figures.
        content: format!("{scale:.5} 0 0 -{scale:.5} 0 {:.3} cm\n", height * scale),
        paper: None,
        fonts: Fonts::new(),
        file: File::new(),
        images: String::new(),
    };
    svg.lines().for_each(|line| page.draw(line));
    let Page { content, fonts, mut file, images, .. } = page;
    let fonts = fonts.write(&mut file);
    let content = file.add_stream("", content.as_bytes());
    let [width, height] = [width * scale, height * scale];
    let page = format!(
        "/Type /Page /MediaBox [0 0 {width:.3} {height:.3}] /Contents {content} 0 R \
         /Resources << /Font << {fonts}>> /XObject << {images}>> >>"
    );
    let of = |tag: &str| {
        let (_, after) = svg.split_once(&format!("<{tag}>")).unwrap_or_default();
        hex(&unescape(after.split('<').next().unwrap_or_default()))
    };
    let info = format!(
        "/Title {} /Subject {} /Creator (Sparsescope) /Producer (Sparsescope)",
        of("title"),
        of("desc")
    );
    file.finish(&page, &info)
}

/// A page that is being drawn.
struct Page {
    /// The drawing.
    content: String,
    /// Colour of the background.
    paper: Option<[u8; 3]>,
    fonts: Fonts,
    file: File,
    /// Names and numbers of the images.
    images: String,
}

impl Page {
    /// Draws the shape of a line; other lines are ignored. Writing to a `String` cannot fail.
    fn draw(&mut self, line: &str) {
        let given = |name: &str| attribute(line, name).and_then(|value| value.parse::<f32>().ok());
        let number = |name: &str| given(name).unwrap_or(0.0);
        let kind = line.split(' ').next().unwrap_or_default();
        if matches!(kind, "<rect" | "<polygon" | "<circle" | "<text")
            && let Some(fill) = color(line, "fill", self.paper)
        {
            self.paper = self.paper.or(Some(fill));
            let _ = writeln!(self.content, "{} rg", ink(fill));
        }
        if let Some(stroke) = color(line, "stroke", self.paper) {
            let width = given("stroke-width").unwrap_or(OUTLINE);
            let _ = writeln!(self.content, "{} RG {width} w", ink(stroke));
        }
        let (x, y, width, height) = (number("x"), number("y"), number("width"), number("height"));
        match kind {
            "<rect" => {
                let _ = writeln!(self.content, "{x} {y} {width} {height} re f");
            }
            "<polyline" => self.path(line, "S"),
            "<polygon" => self.path(line, "b"),
            "<circle" => self.circle([number("cx"), number("cy")], number("r")),
            "<image" => {
                let of = attribute(line, "href").and_then(|data| data.split_once(";base64,"));
                let pixels = of.and_then(|(_, data)| pixels(data, self.paper));
                let Some((size, pixels)) = pixels else { return };
                let image = self.file.add_stream(
                    &format!(
                        "/Type /XObject /Subtype /Image /Width {} /Height {} /ColorSpace /DeviceRGB \
                         /BitsPerComponent 8 /Interpolate false ",
                        size[0], size[1]
                    ),
                    &pixels,
                );
                let _ = write!(self.images, "/I{image} {image} 0 R ");
                let foot = y + height;
                let _ =
                    writeln!(self.content, "q {width} 0 0 -{height} {x} {foot} cm /I{image} Do Q");
            }
            "<text" => self.text(line, [x, y], number("font-size")),
            _ => {}
        }
    }

    fn path(&mut self, line: &str, paint: &str) {
        let points = attribute(line, "points").unwrap_or_default();
        for (place, point) in points.split(' ').enumerate() {
            let step = if place == 0 { "m" } else { "l" };
            let _ = writeln!(self.content, "{} {step}", point.replace(',', " "));
        }
        let _ = writeln!(self.content, "{paint}");
    }

    fn circle(&mut self, [x, y]: [f32; 2], r: f32) {
        let c = r * ROUND;
        let _ = writeln!(self.content, "{:.3} {y:.3} m", x + r);
        for ((fx, fy), (tx, ty)) in TURN.into_iter().zip(TURN.into_iter().skip(1)) {
            let at = [
                x + r * fx + c * tx,
                y + r * fy + c * ty,
                x + r * tx + c * fx,
                y + r * ty + c * fy,
                x + r * tx,
                y + r * ty,
            ];
            let at: String = at.iter().map(|value| format!("{value:.3} ")).collect();
            let _ = writeln!(self.content, "{at}c");
        }
        let _ = writeln!(self.content, "b");
    }

    fn text(&mut self, line: &str, [x, y]: [f32; 2], size: f32) {
        let Some((tag, rest)) = line.split_once('>') else { return };
        let text = unescape(rest.strip_suffix("</text>").unwrap_or(rest));
        let (shown, width) = self.fonts.show(&text, tag.contains(STRONG), size);
        let shift = match attribute(tag, "text-anchor") {
            Some("middle") => width * 0.5,
            Some("end") => width,
            _ => 0.0,
        };
        // The matrix of the text turns y upwards again.
        let turned = attribute(tag, "transform").and_then(turn);
        let at = match turned {
            Some((at, angle)) => {
                // Adding zero turns -0 into 0.
                let short = |value: f32| (value * 1e4).round() / 1e4 + 0.0;
                let (sin, cos) = angle.sin_cos();
                format!("{0} {1} {1} {2} {at}", short(cos), short(sin), short(-cos))
            }
            None => format!("1 0 0 -1 {:.3} {y}", x - shift),
        };
        let _ = writeln!(self.content, "BT {at} Tm {shown}ET");
    }
}

/// The value of an attribute.
fn attribute<'l>(line: &'l str, name: &str) -> Option<&'l str> {
    let (_, after) = line.split_once(&format!(" {name}=\""))?;
    after.split_once('"').map(|(value, _)| value)
}

/// The position and the angle of `translate(x y) rotate(degrees)`.
fn turn(transform: &str) -> Option<(&str, f32)> {
    let (at, angle) = transform.strip_prefix("translate(")?.split_once(") rotate(")?;
    Some((at, angle.strip_suffix(')')?.parse::<f32>().ok()?.to_radians()))
}

/// A colour of the form `#rrggbb` or `#rrggbbaa`, the latter over the background.
fn color(line: &str, name: &str, paper: Option<[u8; 3]>) -> Option<[u8; 3]> {
    let digits = attribute(line, name)?.strip_prefix('#')?;
    let part = |from: usize| u8::from_str_radix(digits.get(from..from + 2)?, 16).ok();
    let (paper, alpha) = (paper.unwrap_or([255; 3]), part(6).unwrap_or(u8::MAX));
    let [r, g, b] = paper;
    Some([over(part(0)?, r, alpha), over(part(2)?, g, alpha), over(part(4)?, b, alpha)])
}

/// A part of a colour over that of the background.
fn over(part: u8, paper: u8, alpha: u8) -> u8 {
    let [part, paper, alpha] = [part, paper, alpha].map(u16::from);
    // At most 255.
    ((part * alpha + paper * (255 - alpha)) / 255) as u8
}

/// The text that [`escape`](super::escape) escaped.
fn unescape(text: &str) -> String {
    let signs = [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&amp;", "&")];
    signs.into_iter().fold(text.to_owned(), |text, (name, sign)| text.replace(name, sign))
}

fn ink(color: [u8; 3]) -> String {
    let [r, g, b] = color.map(|part| f32::from(part) / 255.0);
    format!("{r:.3} {g:.3} {b:.3}")
}

/// The size of a PNG and its pixels over the background, three bytes each.
fn pixels(data: &str, paper: Option<[u8; 3]>) -> Option<([u32; 2], Vec<u8>)> {
    let bytes = BASE64_STANDARD.decode(data).ok()?;
    let mut reader = ::png::Decoder::new(std::io::Cursor::new(bytes)).read_info().ok()?;
    let mut rgba = vec![0; reader.output_buffer_size()?];
    let info = reader.next_frame(&mut rgba).ok()?;
    let paper = paper.unwrap_or([255; 3]);
    let mut pixels = Vec::with_capacity(rgba.len() / 4 * 3);
    for pixel in rgba.chunks_exact(4) {
        let [r, g, b, alpha] = *pixel else { continue };
        for (part, paper) in [r, g, b].into_iter().zip(paper) {
            pixels.push(over(part, paper, alpha));
        }
    }
    Some(([info.width, info.height], pixels))
}

#[cfg(test)]
mod tests;
