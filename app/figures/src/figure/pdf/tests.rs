use std::io::Read as _;
use std::sync::Arc;

use ecolor::Color32;
use emath::{pos2, vec2};
use flate2::read::ZlibDecoder;

use super::*;
use crate::figure::{
    Anchor, ColorImage, Figure, LIGHT_FACE, Mark, Provenance, SEMIBOLD, Shape, area, text_width,
};

/// A figure with every shape.
fn figure() -> Figure {
    let mut figure = Figure::new(vec2(200.0, 100.0), Color32::WHITE);
    figure.rect(area(10.0, 20.0, 40.0, 50.0), Color32::from_rgb(255, 0, 0));
    figure.line(pos2(0.0, 0.0), pos2(5.0, 5.0), 2.0, Color32::BLACK);
    figure.mark(pos2(9.0, 9.0), Mark::Circle, 3.0, Color32::WHITE, Color32::BLACK);
    figure.mark(pos2(9.0, 9.0), Mark::Square, 3.0, Color32::WHITE, Color32::BLACK);
    let cells = ColorImage::new([2, 1], vec![Color32::RED, Color32::BLUE]);
    let rect = area(60.0, 0.0, 80.0, 10.0);
    figure.shapes.push(Shape::Image { rect, pixels: Arc::new(cells) });
    figure.text(pos2(100.0, 50.0), Anchor::Middle, 14.0, Color32::BLACK, "a < b");
    figure.strong(pos2(100.0, 70.0), Anchor::Start, 14.0, Color32::BLACK, "Best \u{2192} \u{5b57}");
    figure.text_upwards(pos2(8.0, 90.0), 12.0, Color32::BLACK, "up");
    let turn = std::f32::consts::FRAC_PI_6;
    figure.text_turned(pos2(20.0, 60.0), turn, 12.0, Color32::BLACK, "up");
    figure
}

fn written(print: Option<Print>) -> Vec<u8> {
    let from = Provenance { sources: vec!["golden: 0123".into()], stand_in: false };
    file(&figure().to_svg("Rates & more", &from), print)
}

/// The position of a text in bytes.
fn find(bytes: &[u8], text: &str) -> Option<usize> {
    bytes.windows(text.len()).position(|part| part == text.as_bytes())
}

/// The objects that the table at the end of the file refers to.
fn objects(pdf: &[u8]) -> Vec<&[u8]> {
    let text = String::from_utf8_lossy(&pdf[pdf.len() - 200..]).into_owned();
    let start = text.split("startxref\n").nth(1).unwrap().lines().next().unwrap();
    let table = std::str::from_utf8(&pdf[start.parse::<usize>().unwrap()..]).unwrap();
    let mut lines = table.lines();
    assert_eq!(lines.next(), Some("xref"));
    let size: usize = lines.next().unwrap().strip_prefix("0 ").unwrap().parse().unwrap();
    assert_eq!(lines.next(), Some("0000000000 65535 f "));
    assert!(table.contains(&format!("/Size {size} ")));
    let object = |(number, line): (usize, &str)| {
        assert_eq!(line.len() + 1, 20, "a line of the table has 20 bytes");
        let at: usize = line.strip_suffix(" 00000 n ").unwrap().parse().unwrap();
        let body = pdf[at..].strip_prefix(format!("{number} 0 obj\n").as_bytes()).unwrap();
        &body[..find(body, "\nendobj").unwrap()]
    };
    (1..size).zip(lines).map(object).collect()
}

/// The text of an object before its stream, and the unpacked stream.
fn parts(object: &[u8]) -> (String, Vec<u8>) {
    let Some(at) = find(object, "\nstream\n") else {
        return (String::from_utf8(object.to_vec()).unwrap(), Vec::new());
    };
    let head = String::from_utf8(object[..at].to_vec()).unwrap();
    let length = head.split("/Length ").nth(1).unwrap().split(' ').next().unwrap();
    let data = &object[at + 8..];
    let length: usize = length.parse().unwrap();
    assert_eq!(&data[length..], b"\nendstream", "{head}");
    let mut unpacked = Vec::new();
    ZlibDecoder::new(&data[..length]).read_to_end(&mut unpacked).unwrap();
    (head, unpacked)
}

#[test]
fn every_object_is_where_the_table_says_and_as_long_as_it_says() {
    let pdf = written(None);
    assert!(pdf.starts_with(b"%PDF-1.7\n") && pdf.ends_with(b"%%EOF\n"));
    let objects: Vec<_> = objects(&pdf).into_iter().map(parts).collect();
    let with = |text: &str| objects.iter().filter(|(head, _)| head.contains(text)).count();
    assert_eq!([with("/Type /Catalog"), with("/Type /Pages"), with("/Subtype /Image")], [1, 1, 1]);
    assert_eq!([with("/Subtype /Type0"), with("/FontFile2")], [2, 2]);
    let utf16 = |text: &str| text.encode_utf16().map(|c| format!("{c:04x}")).collect::<String>();
    let info =
        format!("/Title <feff{}> /Subject <feff{}>", utf16("Rates & more"), utf16("golden: 0123"));
    assert_eq!(with(&info), 1);
    for face in [LIGHT_FACE, SEMIBOLD] {
        assert!(objects.iter().any(|(_, stream)| stream == face), "the whole face");
    }
    let image = objects.iter().find(|(head, _)| head.contains("/Subtype /Image")).unwrap();
    assert!(image.0.contains("/Width 2 /Height 1"));
    assert_eq!(image.1, [255, 0, 0, 0, 0, 255]);
}

#[test]
fn the_page_has_its_size_on_paper() {
    let page = |print| {
        let pdf = written(print);
        let all: Vec<_> = objects(&pdf).into_iter().map(parts).collect();
        let page = all.into_iter().find(|(head, _)| head.contains("/Type /Page ")).unwrap().0;
        let size = page.split("/MediaBox [0 0 ").nth(1).unwrap().split(']').next().unwrap();
        size.split(' ').next().unwrap().parse::<f32>().unwrap()
    };
    assert_eq!(page(None), 150.0);
    let wide = page(Some(Print { width_mm: 25.4, type_pt: 8.0 }));
    assert!((wide - 72.0).abs() < 0.01, "{wide}");
}

#[test]
fn shapes_and_text_are_drawn_where_the_figure_has_them() {
    let pdf = written(None);
    let all: Vec<_> = objects(&pdf).into_iter().map(parts).collect();
    let texts = all.iter().map(|(_, stream)| String::from_utf8_lossy(stream).into_owned());
    let texts: Vec<String> = texts.collect();
    let drawn = texts.iter().find(|text| text.starts_with("0.75000 0 0 ")).unwrap();
    for part in [
        "1.000 0.000 0.000 rg\n10.00 20.00 30.00 30.00 re f",
        "0.00 0.00 m\n5.00 5.00 l\nS",
        "20.00 0 0 -10.00 60.00 10.00 cm",
        "BT 0 -1 -1 0 12.32 90.00 Tm",
        "BT 0.866 0.5 0.5 -0.866 17.84 63.74 Tm",
    ] {
        let part = part.replace(".00", "");
        assert!(drawn.replace(".00", "").contains(&part), "{part} in {drawn}");
    }
    // Half of the text's width left of its middle.
    let left = 100.0 - text_width("a < b", 14.0) * 0.5;
    let found = drawn.lines().find(|line| line.starts_with("BT 1 0 0 -1 ")).unwrap();
    let at: f32 = found.split(' ').nth(5).unwrap().parse().unwrap();
    assert!((at - left).abs() < 0.1, "{found}");
    // Each glyph maps back to its character; one that no face has is a question mark.
    let maps: String = texts.iter().filter(|text| text.contains("beginbfchar")).cloned().collect();
    for letter in "a<bBest?up".chars() {
        let code = format!("> <{:04x}>\n", u32::from(letter));
        assert!(maps.contains(&code), "{letter}");
    }
}
