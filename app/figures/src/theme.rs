//! Colours and fonts. Series use the colour-blind-safe palette of Okabe and Ito, and each has its
//! own mark: colour is never the only distinction.

use ecolor::Color32;

use crate::state::Theme;

/// The three sizes of type: what explains, what is read, what is the headline.
pub const SMALL: f32 = 12.0;
/// Text and numbers.
pub const BODY: f32 = 14.0;
/// A headline.
pub const TITLE: f32 = 20.0;

/// Space between things that belong together; all other spaces are multiples of it.
pub const SPACE: f32 = 8.0;

/// Okabe and Ito's palette without black and yellow, each invisible on one of the backgrounds, plus
/// violet and brown for what is drawn less often.
const SERIES: [Color32; 8] = [
    Color32::from_rgb(0, 114, 178),
    Color32::from_rgb(230, 159, 0),
    Color32::from_rgb(0, 158, 115),
    Color32::from_rgb(213, 94, 0),
    Color32::from_rgb(204, 121, 167),
    Color32::from_rgb(86, 180, 233),
    Color32::from_rgb(148, 103, 189),
    Color32::from_rgb(150, 108, 60),
];

/// Colour of a vendor's sliced ELLPACK, which is drawn beside HLL.
const SLICED: Color32 = Color32::from_rgb(140, 140, 20);

/// Colour of a vendor's SpMV with a plan, on CSR.
const PLANNED: Color32 = Color32::from_rgb(160, 30, 90);

/// Colour of an SpMV by A' that reads the CSR of A.
const TRANSPOSED: Color32 = Color32::from_rgb(20, 90, 100);

/// Colour of an SpMV whose lanes share the rows of CSR.
const SHARED: Color32 = Color32::from_rgb(70, 70, 150);

/// The formats in the order of their colours; others are grey.
const FORMATS: [&str; 11] =
    ["csr", "coo", "hll", "ell", "hyb", "dense", "bsr", "dia", "op", "transposed", "lanes"];

/// Colour of a format and its variants (`hll-…`), in every view.
pub fn format_color(format: &str) -> Color32 {
    match format.split('-').next() {
        Some("sell") => SLICED,
        Some("op") => PLANNED,
        Some("transposed") => TRANSPOSED,
        Some("lanes") => SHARED,
        _ => family_place(format)
            .and_then(|place| SERIES.get(place))
            .copied()
            .unwrap_or(Color32::GRAY),
    }
}

/// A format's family: cuSPARSE's sliced ELLPACK belongs to HLL, whose marks it shares.
pub(crate) fn family_of(format: &str) -> &str {
    match format.split('-').next().unwrap_or(format) {
        "sell" => "hll",
        family => family,
    }
}

/// Index of a format's family among the known ones.
pub(crate) fn family_place(format: &str) -> Option<usize> {
    let family = family_of(format);
    FORMATS.iter().position(|known| *known == family)
}

/// Whether a format has a colour of its own.
pub(crate) fn has_color(format: &str) -> bool {
    family_place(format).is_some()
}

/// The colour of the `index`-th item of an ordered list; colours repeat.
pub(crate) fn series(index: usize) -> Color32 {
    SERIES.get(index % SERIES.len()).copied().unwrap_or(Color32::GRAY)
}

/// Colours of a figure's parts other than series.
#[derive(Clone, Copy, Debug)]
pub struct Ink {
    /// Text and axes.
    pub text: Color32,
    /// Secondary text.
    pub weak: Color32,
    /// Grid lines.
    pub grid: Color32,
    /// Background.
    pub paper: Color32,
    /// What can be clicked, and what is selected.
    pub accent: Color32,
    /// The outline of what wins.
    pub winner: Color32,
    /// Names of a vendor's kernels.
    pub vendor: Color32,
}

impl Theme {
    /// Display name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Light => "Light",
            Self::Dark => "Dark",
            Self::Projector => "Projector",
        }
    }

    /// Its colours of text, lines and background.
    pub fn ink(self) -> Ink {
        match self {
            Self::Light => Ink {
                text: Color32::from_gray(25),
                weak: Color32::from_gray(95),
                grid: Color32::from_gray(222),
                paper: Color32::WHITE,
                accent: Color32::from_rgb(0, 90, 150),
                winner: Color32::from_rgb(200, 120, 0),
                vendor: Color32::from_rgb(140, 84, 0),
            },
            Self::Dark => Ink {
                text: Color32::from_gray(235),
                weak: Color32::from_gray(170),
                grid: Color32::from_gray(62),
                paper: Color32::from_gray(24),
                accent: Color32::from_rgb(120, 190, 245),
                winner: Color32::from_rgb(245, 180, 60),
                vendor: Color32::from_rgb(235, 175, 90),
            },
            Self::Projector => Ink {
                text: Color32::BLACK,
                weak: Color32::from_gray(50),
                grid: Color32::from_gray(190),
                paper: Color32::WHITE,
                accent: Color32::from_rgb(0, 70, 130),
                winner: Color32::from_rgb(190, 100, 0),
                vendor: Color32::from_rgb(120, 66, 0),
            },
        }
    }

    /// Scale of the interface relative to the default.
    pub fn scale(self) -> f32 {
        if self == Self::Projector { 1.5 } else { 1.0 }
    }

    /// Minimum font size that is legible from the last row, in points of the interface: 14 pixels
    /// of a projector. Other themes may use smaller fonts.
    pub(crate) fn least_type(self) -> f32 {
        if self == Self::Projector { 14.0 / self.scale() } else { 7.0 }
    }
}

/// Black or white, whichever has the higher contrast with a colour, as defined by WCAG 2.
pub(crate) fn text_on(color: Color32) -> Color32 {
    let color = ecolor::Rgba::from(color);
    // Contrast with black is (luminance + 0.05) / 0.05, with white 1.05 / (luminance + 0.05).
    let luminance = 0.2126 * color.r() + 0.7152 * color.g() + 0.0722 * color.b() + 0.05;
    if luminance * luminance > 1.05 * 0.05 { Color32::BLACK } else { Color32::WHITE }
}

/// How marks of bundles are filled, by bundle number.
const FILLINGS: [&str; 3] = ["full", "hollow", "pale"];

/// The name of the filling of a bundle's marks: the same in every view while the bundle is open.
pub(crate) fn filling_word(bundle: usize) -> &'static str {
    FILLINGS.get(bundle % FILLINGS.len()).unwrap_or(&"full")
}

/// The fill colour of a bundle's marks of this colour.
pub fn filling(color: Color32, bundle: usize, paper: Color32) -> Color32 {
    match bundle % FILLINGS.len() {
        0 => color,
        1 => paper,
        _ => blend(color, paper, 0.6),
    }
}

/// A fraction of the maximum as a colour, from close to the background to orange.
pub(crate) fn heat_color(share: f64, paper: Color32) -> Color32 {
    let strength = 0.15 + 0.85 * share.clamp(0.0, 1.0) as f32;
    blend(Color32::from_rgb(213, 94, 0), paper, 1.0 - strength)
}

/// Blends two colours; `share` is the weight of the second.
pub fn blend(one: Color32, other: Color32, share: f32) -> Color32 {
    let channel = |a: u8, b: u8| (f32::from(a) * (1.0 - share) + f32::from(b) * share) as u8;
    Color32::from_rgb(
        channel(one.r(), other.r()),
        channel(one.g(), other.g()),
        channel(one.b(), other.b()),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_format_has_a_colour_of_its_own() {
        let mut colors: Vec<Color32> = FORMATS.iter().map(|format| format_color(format)).collect();
        colors.push(format_color("sell"));
        assert_eq!(format_color("sell-c32"), format_color("sell"));
        colors.sort_unstable_by_key(|color| color.to_array());
        colors.dedup();
        assert_eq!(colors.len(), FORMATS.len() + 1);
    }

    #[test]
    fn text_is_black_on_light_colours_and_white_on_dark_ones() {
        let (white, black) = (Color32::WHITE, Color32::BLACK);
        // Okabe and Ito's yellow, sky blue and orange; their blue, and the darkest of the blues.
        let light = [(240, 228, 66), (86, 180, 233), (230, 159, 0), (119, 119, 119)];
        for (r, g, b) in light {
            assert_eq!(text_on(Color32::from_rgb(r, g, b)), black, "{r} {g} {b}");
        }
        for (r, g, b) in [(0, 90, 150), (8, 48, 107), (116, 116, 116)] {
            assert_eq!(text_on(Color32::from_rgb(r, g, b)), white, "{r} {g} {b}");
        }
    }
}
