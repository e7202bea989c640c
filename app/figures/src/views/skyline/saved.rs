//! The scatter plot as a saved figure, and as a small one for notebooks.

use std::sync::Arc;

use ecolor::Color32;
use emath::{Vec2, vec2};

use super::drawing::Drawing;
use super::pairs::Pairs;
use super::sheet::Told;
use super::subject::Subject;
use crate::cloud::Cloud;
use crate::figure::{Anchor, Figure, Provenance, Shape, area};
use crate::state::ViewState;
use crate::views::spy::index;

/// Maximum number of points that a saved figure draws as shapes; more are an image.
const SHAPES: usize = 2000;

/// The size of a small figure, in points.
const SMALL: Vec2 = vec2(600.0, 480.0);
/// Its pixels per point, tried in this order.
const SMALL_PIXELS: [f32; 3] = [2.0, 1.0, 0.5];
/// Maximum number of points that it draws as shapes, of some hundred bytes each.
const SMALL_SHAPES: usize = 300;

/// The points in their first two dimensions, as SVG of at most `most` bytes; nothing if there are no points, or if it
/// needs more.
pub fn small(cloud: &Arc<Cloud>, most: usize) -> Option<String> {
    let picture = &cloud.picture;
    let last = picture.axes.len().checked_sub(1).filter(|_| picture.points > 0)?;
    let (name, axes) = (cloud.names(), [0, last.min(1)]);
    let subject = Subject { key: String::new(), name, cloud: Arc::clone(cloud), axes, note: None };
    let state = ViewState::default();
    let told = Told::at_once(&subject, &state);
    let [kept, points] = [picture.kept, picture.points].map(|count| index(count as usize));
    let title = format!("Skyline: {kept} of {points} points");
    SMALL_PIXELS.into_iter().find_map(|pixels| {
        let figure = scatter(&told, (SMALL, pixels), SMALL_SHAPES);
        Some(figure.to_svg(&title, &Provenance::default())).filter(|svg| svg.len() <= most)
    })
}

/// The whole scatter plot in a size, with this many pixels per point in its image, which it has if there are more than
/// `most_shapes` points.
fn scatter(told: &Told<'_>, (size, pixels): (Vec2, f32), most_shapes: usize) -> Figure {
    let frame = told.frame(size);
    let mut figure = told.under(&frame);
    let shapes = told.looks.drawn <= most_shapes;
    let image = Drawing::new((frame.plot, frame.marks), pixels, !shapes).at_once(told);
    if image.pixels.iter().any(|pixel| *pixel != Color32::TRANSPARENT) {
        let rect = frame.plot.area();
        figure.shapes.push(Shape::Image { rect, pixels: Arc::new(image) });
    }
    if shapes {
        told.shapes(&mut figure, &frame);
    }
    figure.shapes.extend(told.over(&frame, None).shapes);
    figure
}

/// The same as a saved figure.
pub(super) fn whole(told: &Told<'_>) -> Figure {
    let mut whole = scatter(told, (vec2(700.0, 640.0), 2.0), SHAPES);
    let dimensions = told.subject.cloud.picture.axes.len();
    if let Some(pairs) =
        Pairs::new(dimensions, vec2(620.0, 620.0)).filter(|_| told.state.skyline.pairs)
    {
        whole.put_beside(pairs.saved(told, 2.0));
    }
    let words = [told.step_words(), told.part_words(), told.selected_words()];
    let words: Vec<String> = words.into_iter().flatten().collect();
    let ink = told.inks.ink;
    let mut text = Figure::new(vec2(700.0, 20.0 * words.len() as f32), ink.paper);
    for (line, words) in words.iter().enumerate() {
        let at = area(10.0, 20.0 * line as f32, 10.0, 20.0 * line as f32 + 16.0).center();
        text.text(at, Anchor::Start, 13.0, ink.text, words);
    }
    whole.put_below(text);
    whole
}

#[cfg(test)]
mod tests {
    use sparsescope_core::io::points::Column;

    use super::*;
    use crate::state::Recipe;

    fn columns() -> Vec<Column> {
        let column =
            |number, name: &str, minimized| Column { number, name: Some(name.into()), minimized };
        vec![column(1, "price", true), column(2, "stars", false)]
    }

    /// Where a text begins, or its middle, from the left.
    fn left(svg: &str, text: &str) -> f32 {
        let end = format!(">{text}</text>");
        let line = svg.lines().find(|line| line.ends_with(&end)).unwrap();
        line.split('"').nth(1).unwrap().parse().unwrap()
    }

    #[test]
    fn columns_have_their_names_and_values_and_the_better_ones_are_to_the_right() {
        let points = [vec![-100.0, 4.0], vec![-80.0, 3.0], vec![-120.0, 4.0], vec![-90.0, 2.0]];
        let cloud = Cloud::few(&points).unwrap();
        let named = Arc::new(Cloud::of_columns(cloud.picture.clone(), columns()));
        let svg = small(&named, 60_000).unwrap();
        for text in
            ["price: smaller is better", "stars: larger is better", "price, stars: 4 points"]
        {
            assert!(svg.contains(text), "{text}: {svg}");
        }
        assert!(
            svg.contains("<title>Skyline: 2 of 4 points</title>") && !svg.contains(">-"),
            "{svg}"
        );
        assert!(left(&svg, "80") > left(&svg, "120"), "{svg}");
        let svg = small(&Arc::new(cloud), 60_000).unwrap();
        assert!(svg.contains(">dimension 1<") && left(&svg, "-80") > left(&svg, "-120"), "{svg}");
    }

    #[test]
    fn many_points_have_as_many_pixels_as_fit_and_no_points_have_no_figure() {
        let of = |n, d| Cloud::made(&Recipe { n, d, ..Recipe::default() }).unwrap();
        for (n, d) in [(300, 2), (301, 3), (10_000, 1), (10_000, 4)] {
            let svg = small(&Arc::new(of(n, d)), 60_000).unwrap();
            assert_eq!((svg.len() <= 60_000, svg.contains("<image")), (true, n > 300), "{n}, {d}");
        }
        assert_eq!(small(&Arc::new(of(300, 2)), 500), None);
        assert_eq!(small(&Arc::new(Cloud::few(&[]).unwrap()), 60_000), None);
    }
}
