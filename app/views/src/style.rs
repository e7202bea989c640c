//! The look of the interface in each theme.

use egui::{Color32, Context, FontId, Stroke, TextStyle, Visuals};
use sparsescope_figures::state::Theme;

/// Applies the theme to the whole interface, scaled by `zoom`.
pub(crate) fn apply(theme: Theme, context: &Context, zoom: f32) {
    let (ink, dark) = (theme.ink(), theme == Theme::Dark);
    let mut visuals = if dark { Visuals::dark() } else { Visuals::light() };
    visuals.panel_fill = ink.paper;
    visuals.window_fill = ink.paper;
    visuals.override_text_color = Some(ink.text);
    visuals.weak_text_color = Some(ink.weak);
    visuals.hyperlink_color =
        if dark { Color32::from_rgb(120, 190, 245) } else { Color32::from_rgb(0, 90, 150) };
    visuals.faint_bg_color = if dark { Color32::from_gray(31) } else { Color32::from_gray(246) };
    visuals.extreme_bg_color = if dark { Color32::from_gray(10) } else { Color32::from_gray(232) };
    visuals.selection.bg_fill =
        if dark { Color32::from_rgb(22, 74, 110) } else { Color32::from_rgb(196, 224, 243) };
    visuals.selection.stroke = Stroke::new(1.5, visuals.hyperlink_color);
    context.set_theme(if dark { egui::Theme::Dark } else { egui::Theme::Light });
    context.all_styles_mut(|style| {
        style.visuals = visuals.clone();
        style.spacing.item_spacing = egui::vec2(8.0, 6.0);
        style.spacing.button_padding = egui::vec2(8.0, 4.0);
        let mut size = |text_style, size| {
            style.text_styles.insert(text_style, FontId::proportional(size));
        };
        size(TextStyle::Body, 14.0);
        size(TextStyle::Button, 14.0);
        size(TextStyle::Small, 12.0);
        size(TextStyle::Heading, 20.0);
    });
    context.set_zoom_factor(theme.scale() * zoom);
}
