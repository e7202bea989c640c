//! The look of the interface in each theme.

use std::sync::Arc;

use egui::{Color32, Context, FontData, FontFamily, FontId, Stroke, TextStyle, Visuals};
use sparsescope_figures::figure::SEMIBOLD;
use sparsescope_figures::state::Theme;
use sparsescope_figures::theme::{BODY, SMALL, TITLE};

/// The name of the semibold face and its family.
const STRONG: &str = "semibold";

fn family() -> FontFamily {
    FontFamily::Name(STRONG.into())
}

fn is_loaded(context: &Context) -> bool {
    context.fonts(|fonts| fonts.definitions().families.contains_key(&family()))
}

/// Adds the semibold face to the fonts, of which other characters are taken. It is there from the next frame
/// on.
fn load(context: &Context) {
    let mut all = context.fonts(|fonts| fonts.definitions().clone());
    all.font_data.insert(STRONG.into(), Arc::new(FontData::from_static(SEMIBOLD)));
    let others = all.families.get(&FontFamily::Proportional).cloned().unwrap_or_default();
    let faces = std::iter::once(STRONG.to_owned()).chain(others).collect();
    all.families.insert(family(), faces);
    context.set_fonts(all);
}

/// The semibold face at this size, for titles, winners and names; the usual face before it is there.
pub(crate) fn strong(context: &Context, size: f32) -> FontId {
    match is_loaded(context) {
        true => FontId::new(size, family()),
        false => FontId::proportional(size),
    }
}

/// Applies the theme to the whole interface, scaled by `zoom`.
pub(crate) fn apply(theme: Theme, context: &Context, zoom: f32) {
    if !is_loaded(context) {
        load(context);
    }
    let (ink, dark) = (theme.ink(), theme == Theme::Dark);
    let mut visuals = if dark { Visuals::dark() } else { Visuals::light() };
    visuals.panel_fill = ink.paper;
    visuals.window_fill = ink.paper;
    visuals.override_text_color = Some(ink.text);
    visuals.weak_text_color = Some(ink.weak);
    visuals.hyperlink_color = ink.accent;
    visuals.faint_bg_color = if dark { Color32::from_gray(31) } else { Color32::from_gray(246) };
    visuals.extreme_bg_color = if dark { Color32::from_gray(10) } else { Color32::from_gray(232) };
    visuals.selection.bg_fill =
        if dark { Color32::from_rgb(22, 74, 110) } else { Color32::from_rgb(196, 224, 243) };
    visuals.selection.stroke = Stroke::new(1.5, visuals.hyperlink_color);
    visuals.text_cursor.blink = false; // each blink would be a frame
    context.set_theme(if dark { egui::Theme::Dark } else { egui::Theme::Light });
    context.all_styles_mut(|style| {
        style.visuals = visuals.clone();
        style.spacing.item_spacing = egui::vec2(8.0, 6.0);
        style.spacing.button_padding = egui::vec2(8.0, 4.0);
        let mut size = |text_style, size| {
            style.text_styles.insert(text_style, FontId::proportional(size));
        };
        size(TextStyle::Body, BODY);
        size(TextStyle::Button, BODY);
        size(TextStyle::Small, SMALL);
        size(TextStyle::Heading, TITLE);
    });
    context.set_zoom_factor(theme.scale() * zoom);
}
