//! Nothing on screen moves by itself, and no frame is drawn without a reason.

use std::time::Duration;

use egui::{Context, FullOutput, RawInput, Rect, ViewportId, pos2, vec2};
use sparsescope_figures::views::VIEWS;

use super::*;

const EXAMPLE: &[u8] = include_bytes!("../../../example/cpu.zip");

/// A bundle with predictions, which the example lacks.
const PREDICTED: &[u8] = include_bytes!("../../../../tests/golden/bundle-1.2.zip");

/// Frames until values measured during drawing, such as the width of settings, are known.
const SETTLES: usize = 8;
const FRAMES: usize = 60;

/// A frame without input, a quarter of a second after the last one.
fn frame_of(context: &Context, app: &mut App, frame: usize) -> FullOutput {
    let input = RawInput {
        screen_rect: Some(Rect::from_min_size(pos2(0.0, 0.0), vec2(1100.0, 700.0))),
        time: Some(0.25 * frame as f64),
        ..RawInput::default()
    };
    let mut drawn = context.run_ui(input, |ui| app.ui(ui));
    drawn.textures_delta.clear();
    drawn
}

/// The rectangle and the clip rectangle of everything drawn in a frame.
fn places(context: &Context, app: &mut App, frame: usize) -> Vec<[Rect; 2]> {
    let drawn = frame_of(context, app, frame);
    drawn.shapes.iter().map(|of| [of.clip_rect, of.shape.visual_bounding_rect()]).collect()
}

/// Whether they differ by more than the remainder of smooth scrolling.
fn are_apart(one: Rect, other: Rect) -> bool {
    [one.min - other.min, one.max - other.max].iter().any(|by| by.length() > 0.01)
}

/// The states of each view and of a lesson.
fn shown() -> Vec<String> {
    let of_view = |id: &str| match id {
        "levels" => "levels-of=grid9x8;path=true;level=3",
        "preconditioner" => "fsai-of=grid5x7;fsai-row=9",
        "skyline" => "points-of=2,5/3,4/4,1/5,5",
        _ => "",
    };
    let views = VIEWS.iter().map(|view| format!("view={};{}", view.id, of_view(view.id)));
    views.chain(["view=layouts;lesson=csr-hll,4".to_owned()]).collect()
}

fn stays_still(theme: Theme) {
    let (context, mut app) = (Context::default(), App::new());
    app.open_bytes("example.zip", EXAMPLE);
    app.open_bytes("predicted.zip", PREDICTED);
    let mut frame = 0;
    for shown in shown() {
        for present in [false, true] {
            let state = format!("v1;{shown};theme={};present={present}", theme.id());
            app.set_state(ViewState::from_fragment(&state).unwrap());
            let mut next = || {
                frame += 1;
                places(&context, &mut app, frame)
            };
            (0..SETTLES).for_each(|_| drop(next()));
            let settled = next();
            assert!(settled.len() > 10, "{state}");
            for later in 1..=FRAMES {
                let now = next();
                assert_eq!(now.len(), settled.len(), "{state}: {later} frames later");
                let moved = now.iter().zip(&settled).find(|(now, before)| {
                    now.iter().zip(*before).any(|(now, before)| are_apart(*now, *before))
                });
                assert_eq!(moved, None, "{state}: {later} frames later");
            }
        }
    }
}

#[test]
fn no_view_moves_by_itself_on_light() {
    stays_still(Theme::Light);
}

#[test]
fn no_view_moves_by_itself_on_dark() {
    stays_still(Theme::Dark);
}

#[test]
fn no_view_moves_by_itself_on_a_projector() {
    stays_still(Theme::Projector);
}

/// How long the next frame can wait once the app rests.
fn delay(context: &Context, app: &mut App, frame: &mut usize) -> Duration {
    let mut delay = Duration::ZERO;
    for _ in 0..2 * SETTLES {
        *frame += 1;
        let drawn = frame_of(context, app, *frame);
        delay = drawn.viewport_output[&ViewportId::ROOT].repaint_delay;
    }
    delay
}

#[test]
fn no_view_asks_for_another_frame_once_it_rests() {
    const LEAST: Duration = Duration::from_secs(5);
    let (context, mut app) = (Context::default(), App::new());
    app.open_bytes("example.zip", EXAMPLE);
    app.open_bytes("predicted.zip", PREDICTED);
    let mut frame = 0;
    for shown in shown() {
        let state = format!("v1;{shown};theme=light");
        app.set_state(ViewState::from_fragment(&state).unwrap());
        let delay = delay(&context, &mut app, &mut frame);
        assert!(delay >= LEAST, "{state}: {delay:?}");
    }
    // Nor does the cursor in a text field.
    app.set_state(ViewState::from_fragment("v1;view=runs;theme=light").unwrap());
    app.focus_search = true;
    let delay = delay(&context, &mut app, &mut frame);
    assert!(context.text_edit_focused());
    assert!(delay >= LEAST, "{delay:?}");
}
