//! The points on screen: while a new image of them is drawn, the last one is moved and scaled.

use std::sync::Arc;
use std::time::Duration;

use egui::mutex::Mutex;
use egui::{Color32, Rect, TextureHandle, TextureOptions, Ui, pos2};
use sparsescope_figures::figure::ColorImage;
use sparsescope_figures::model::Model;
use sparsescope_figures::state::{SkylineState, Theme};
use sparsescope_figures::views::skyline::drawing::Drawing;
use sparsescope_figures::views::skyline::marks::Marks;
use sparsescope_figures::views::skyline::plot::Plot;
use sparsescope_figures::views::skyline::sheet::Told;
use web_time::Instant;

use crate::views::spy::texels;

/// Drawing time per frame while the last image is visible.
const IN_A_FRAME: Duration = Duration::from_millis(6);

/// The inputs of an image of the points, except the visible part.
#[derive(Clone, PartialEq)]
struct Source {
    key: String,
    revision: u64,
    axes: [usize; 2],
    skyline: SkylineState,
    theme: Theme,
    pixels: f32,
}

/// The images of a source.
struct Drawn {
    source: Source,
    /// The plot shown on the texture.
    plot: Option<Plot>,
    /// The next image, unfinished.
    next: Option<Drawing>,
}

/// The state kept from frame to frame.
#[derive(Default)]
struct Shown {
    drawn: Option<Drawn>,
    texture: Option<TextureHandle>,
}

impl Drawn {
    /// Draws the requested image or a part of it; passes every finished image to `finish`. Returns whether
    /// the last one is the requested image.
    fn go_on(
        &mut self,
        told: &Told<'_>,
        (wanted, marks): (&Plot, Marks),
        is_late: &mut dyn FnMut() -> bool,
        finish: &mut dyn FnMut(ColorImage),
    ) -> bool {
        while self.plot.as_ref() != Some(wanted) {
            // An image is finished even if another part is requested by then: otherwise none would be while a
            // hand moves.
            let pixels = self.source.pixels;
            let begun = self.next.take();
            let mut next = begun.unwrap_or_else(|| Drawing::new((*wanted, marks), pixels, true));
            if !next.go_on(told, is_late) {
                self.next = Some(next);
                return false;
            }
            self.plot = Some(*next.plot());
            finish(next.image());
            if is_late() {
                break;
            }
        }
        self.plot.as_ref() == Some(wanted)
    }
}

/// The position on the requested plot of an image of another part of the points.
fn moved(from: &Plot, to: &Plot) -> Rect {
    let [left, low] = from.values(from.area().left_bottom());
    let [right, high] = from.values(from.area().right_top());
    Rect::from_min_max(pos2(to.x(left), to.y(high)), pos2(to.x(right), to.y(low)))
}

/// Paints the points of a plot at this position on screen.
pub(super) fn show(
    ui: &Ui,
    model: &Model,
    told: &Told<'_>,
    (plot, marks): (&Plot, Marks),
    place: Rect,
) {
    let side = place.size().max_elem().max(1.0);
    let most = ui.input(|input| input.max_texture_side) as f32 / side;
    // The visible part and the highlighted point do not change the source.
    let skyline = SkylineState { at: None, point: None, ..told.state.skyline.clone() };
    let source = Source {
        key: told.subject.key.clone(),
        revision: model.revision(),
        axes: told.subject.axes,
        skyline,
        theme: told.state.theme,
        pixels: ui.ctx().pixels_per_point().min(most),
    };
    let id = ui.scope_id().with("points");
    let shown = ui.data_mut(|data| data.get_temp_mut_or_default::<Arc<Mutex<Shown>>>(id).clone());
    let Shown { drawn, texture } = &mut *shown.lock();
    let drawn = match drawn.take().filter(|drawn| drawn.source == source) {
        Some(of) => drawn.insert(of),
        None => drawn.insert(Drawn { source, plot: None, next: None }),
    };
    // If no earlier image is visible, everything is drawn at once.
    let wait = drawn.plot.as_ref().is_some_and(|from| moved(from, plot).intersects(plot.area()));
    let start = Instant::now();
    let mut is_late = || wait && start.elapsed() > IN_A_FRAME;
    let is_exact = drawn.go_on(told, (plot, marks), &mut is_late, &mut |image| {
        let options = TextureOptions::NEAREST;
        match texture {
            // In place.
            Some(texture) if texture.size() == image.size => {
                texture.set_partial([0, 0], texels(image), options);
            }
            _ => *texture = Some(ui.ctx().load_texture("points", texels(image), options)),
        }
    });
    if !is_exact {
        ui.ctx().request_repaint();
    }
    if let (Some(texture), Some(from)) = (texture, &drawn.plot) {
        let by = place.min - plot.area().min;
        let rect = if is_exact { place } else { moved(from, plot).translate(by) };
        let whole = Rect::from_min_max(pos2(0.0, 0.0), pos2(1.0, 1.0));
        let painter = ui.painter().with_clip_rect(place.intersect(ui.clip_rect()));
        painter.image(texture.id(), rect, whole, Color32::WHITE);
    }
}

#[cfg(test)]
mod tests {
    use sparsescope_figures::figure::area;
    use sparsescope_figures::state::{At, ViewState};
    use sparsescope_figures::views::skyline::subject::Subject;

    use super::*;

    #[test]
    fn the_image_that_a_hand_leaves_is_the_one_drawn_at_once() {
        let link = "v1;view=skyline;points-of=points-sphere?n=9000&d=3";
        let state = ViewState::from_fragment(link).unwrap();
        let subject = Subject::of(&Model::default(), &state).unwrap();
        let told = Told::at_once(&subject, &state);
        let place = area(40.0, 20.0, 340.0, 320.0);
        let plot = |at| Plot::new(place, &subject.cloud.picture, subject.axes, at);
        let source = Source {
            key: String::new(),
            revision: 0,
            axes: subject.axes,
            skyline: state.skyline.clone(),
            theme: state.theme,
            pixels: 2.0,
        };
        let mut drawn = Drawn { source, plot: None, next: None };
        let mut images: Vec<ColorImage> = Vec::new();
        // A frame has time for only a part.
        let mut frame = |wanted: &Plot| {
            drawn
                .go_on(&told, (wanted, Marks::Small), &mut || true, &mut |image| images.push(image))
        };
        let at = |k: u32| {
            Some(At { row: 300.0 + f64::from(k), col: 600.0, rows: 700.0 / f64::from(k + 1) })
        };
        for k in 0..40 {
            assert!(!frame(&plot(at(k))), "a hand that moves is never at rest");
        }
        let last = plot(at(40));
        let frames = (0..100).take_while(|_| !frame(&last)).count();
        assert!((3..50).contains(&frames), "{frames} frames");
        assert!(images.len() > 3, "there is something to see while it moves");
        let expected = Drawing::new((last, Marks::Small), 2.0, true).at_once(&told);
        assert!(images.last() == Some(&expected), "the same to the pixel");
        assert!(images.windows(2).all(|pair| pair[0] != pair[1]), "{} images", images.len());
    }

    #[test]
    fn the_last_image_lies_where_its_points_are() {
        let link = "v1;view=skyline;points-of=0,0/1,3/4,1";
        let state = ViewState::from_fragment(link).unwrap();
        let subject = Subject::of(&Model::default(), &state).unwrap();
        let plot = |at| {
            let place = area(40.0, 20.0, 340.0, 220.0);
            Plot::new(place, &subject.cloud.picture, subject.axes, at)
        };
        let [from, to] = [400.0, 150.0].map(|rows| plot(Some(At { row: 500.0, col: 450.0, rows })));
        let rect = moved(&from, &to);
        for point in [[0.5, 1.5], [1.0, 1.0], [2.5, 2.0]] {
            let share = (from.at(point) - from.area().min) / from.area().size();
            let there = rect.min + share * rect.size();
            assert!((there - to.at(point)).length() < 0.01, "{there} {}", to.at(point));
        }
        assert_eq!(moved(&to, &to), to.area());
    }
}
