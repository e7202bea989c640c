//! The fonts of figures: the window's light face and a semibold one, with the widths of their letters.

/// The light face, reduced to the characters of the interface; `web/fonts/subset.py` made both.
pub static LIGHT_FACE: &[u8] =
    include_bytes!("../../fonts/Ubuntu-Light-derivative-Sparsescope.ttf");

/// The semibold face, reduced to the characters of titles and numbers.
pub static SEMIBOLD: &[u8] = include_bytes!("../../fonts/Ubuntu-Medium-derivative-Sparsescope.ttf");

/// Width of a text in the light face, for layout.
pub fn text_width(text: &str, size: f32) -> f32 {
    width(&LIGHT, text, size)
}

/// Width of a text in the semibold face.
pub fn strong_width(text: &str, size: f32) -> f32 {
    width(&STRONG, text, size)
}

fn width(widths: &[u16; 95], text: &str, size: f32) -> f32 {
    let of = |letter: char| {
        let place = (letter as usize).checked_sub(0x20);
        place.and_then(|place| widths.get(place)).copied().unwrap_or(OTHERS)
    };
    let sum: u32 = text.chars().map(|letter| u32::from(of(letter))).sum();
    sum as f32 * size / 1000.0
}

/// Width of letters that the tables lack, in thousandths of the size.
const OTHERS: u16 = 600;

/// Widths of the letters from space to `~` in thousandths of the size.
#[rustfmt::skip]
const LIGHT: [u16; 95] = [
    228, 274, 392, 653, 564, 831, 648, 240, 310, 310, 472, 564, 246, 282, 246, 359, 564, 564,
    564, 564, 564, 564, 564, 564, 564, 564, 246, 246, 564, 564, 564, 380, 940, 641, 630, 609,
    702, 555, 520, 658, 692, 248, 487, 599, 502, 865, 709, 774, 592, 774, 618, 517, 548, 680,
    624, 921, 608, 569, 560, 310, 359, 310, 564, 490, 376, 509, 583, 460, 583, 548, 376, 573,
    569, 237, 237, 495, 255, 863, 569, 582, 583, 583, 374, 428, 387, 569, 480, 775, 499, 474,
    455, 319, 262, 319, 564,
];

/// The same for the semibold face.
#[rustfmt::skip]
const STRONG: [u16; 95] = [
    233, 306, 457, 671, 568, 897, 684, 260, 339, 339, 482, 568, 268, 315, 266, 416, 568, 568,
    568, 568, 568, 568, 568, 568, 568, 568, 266, 264, 568, 568, 568, 424, 971, 684, 657, 638,
    726, 586, 551, 683, 719, 292, 513, 651, 534, 884, 740, 782, 623, 782, 640, 540, 579, 703,
    683, 938, 657, 625, 588, 346, 416, 346, 568, 500, 392, 534, 596, 472, 596, 571, 400, 586,
    582, 276, 275, 551, 297, 865, 585, 598, 596, 596, 403, 457, 418, 583, 526, 780, 529, 519,
    484, 348, 300, 348, 568,
];
