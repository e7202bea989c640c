//! The start page of the window: three cards with pictures, opening and measuring, more examples. The web
//! page has its own in HTML, with the same words and pictures.

use std::collections::BTreeMap;
use std::fmt;

use egui::{
    Align, Button, Color32, CursorIcon, Frame, Label, Layout, Margin, Rect, Response, RichText,
    Role, ScrollArea, Sense, Stroke, StrokeKind, TextStyle, TextWrapMode, TextureHandle,
    TextureOptions, Ui, UiBuilder, WidgetInfo, pos2, vec2,
};
use sparsescope_figures::figure::png;
use sparsescope_figures::landing::{Card, Door, Landing};
use sparsescope_figures::model::Model;
use sparsescope_figures::state::{Theme, ViewState};
use sparsescope_figures::theme::{BODY, Ink, SPACE, TITLE};

use super::action::Action;
use crate::style;

/// Below this width the cards are stacked.
const BESIDE: f32 = 760.0;
/// Maximum width of all cards together.
const WIDEST: f32 = 1160.0;
/// Maximum width of a card.
const CARD: f32 = 372.0;
/// Height of a picture relative to its width.
const ASPECT: f32 = 250.0 / 372.0;
/// Around the words on a card.
const MARGIN: f32 = 16.0;
/// Pixels per point of the pictures.
const PIXELS: f32 = 2.0;

/// The words, the pictures as SVG by name, for light and dark themes, and their textures.
pub(super) struct Start {
    words: Landing,
    pictures: BTreeMap<&'static str, [&'static str; 2]>,
    drawn: BTreeMap<(String, bool), Option<TextureHandle>>,
}

impl fmt::Debug for Start {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Start").field("words", &self.words).finish_non_exhaustive()
    }
}

impl Start {
    pub(super) fn new(words: Landing, pictures: &[(&'static str, [&'static str; 2])]) -> Self {
        Self { words, pictures: pictures.iter().copied().collect(), drawn: BTreeMap::new() }
    }

    /// Draws the page; returns what to open. Requested actions go to `asked`; of those offered, the first opens
    /// files and the second measures.
    pub(super) fn show(
        &mut self,
        ui: &mut Ui,
        actions: &[Action],
        model: &Model,
        state: &ViewState,
        asked: &mut Vec<Action>,
    ) -> Option<Door> {
        let ink = state.theme.ink();
        ScrollArea::vertical()
            .auto_shrink(false)
            .show(ui, |ui| {
                let whole = ui.available_rect_before_wrap();
                let aside = ((whole.width() - WIDEST) * 0.5).max(SPACE * 2.0);
                let inside = whole.shrink2(vec2(aside, 0.0));
                ui.scope_builder(UiBuilder::new().max_rect(inside), |ui| {
                    ui.add_space(SPACE * 4.0);
                    let title = style::strong(ui.ctx(), TITLE);
                    ui.label(RichText::new(&self.words.headline).font(title));
                    ui.label(RichText::new(&self.words.sentence).color(ink.weak));
                    ui.add_space(SPACE * 3.0);
                    let card = self.cards(ui, state.theme);
                    ui.add_space(SPACE * 3.0);
                    self.files(ui, actions, ink, asked);
                    ui.add_space(SPACE * 3.0);
                    card.or(self.more(ui, model))
                })
                .inner
            })
            .inner
    }

    fn cards(&mut self, ui: &mut Ui, theme: Theme) -> Option<Door> {
        let mut chosen = None;
        let cards = self.words.cards.clone();
        let mut draw = |ui: &mut Ui, card: &Card| {
            let picture = self.picture(ui, &card.picture, theme == Theme::Dark);
            let height = text_height(ui, &cards);
            if show_card(ui, card, picture.as_ref(), theme.ink(), height).clicked() {
                chosen = Some(card.opens.clone());
            }
        };
        if ui.available_width() >= BESIDE {
            ui.scope(|ui| {
                ui.spacing_mut().item_spacing.x = SPACE * 3.0;
                ui.columns(cards.len().max(1), |columns| {
                    columns.iter_mut().zip(&cards).for_each(|(ui, card)| draw(ui, card));
                });
            });
        } else {
            for card in &cards {
                draw(ui, card);
                ui.add_space(SPACE * 2.0);
            }
        }
        chosen
    }

    /// The texture of a picture; none if it cannot be drawn.
    fn picture(&mut self, ui: &Ui, name: &str, dark: bool) -> Option<TextureHandle> {
        let svg =
            self.pictures.get(name).map(|[light, other]| if dark { *other } else { *light })?;
        let drawn = self.drawn.entry((name.to_owned(), dark)).or_insert_with(|| {
            let image = png::image(svg, PIXELS).ok()?;
            let image = egui::ColorImage::new(image.size, image.pixels);
            Some(ui.ctx().load_texture(name, image, TextureOptions::LINEAR))
        });
        drawn.clone()
    }

    fn files(&self, ui: &mut Ui, actions: &[Action], ink: Ink, asked: &mut Vec<Action>) {
        let [open, measure] = [actions.first(), actions.get(1)];
        ui.horizontal_wrapped(|ui| {
            let text = RichText::new(&self.words.open).color(ink.paper);
            let button = Button::new(text).fill(ink.accent).min_size(vec2(80.0, 32.0));
            press(ui, button, open, asked);
            ui.label(&self.words.drop);
            let text = RichText::new(&self.words.measure).color(ink.accent);
            press(ui, Button::new(text).frame(false), measure, asked);
        });
    }

    /// More examples, and the lessons.
    fn more(&self, ui: &mut Ui, model: &Model) -> Option<Door> {
        let lessons = model.lessons.iter().map(|lesson| Door {
            action: lesson.title.clone(),
            example: None,
            link: format!("v1;lesson={},0", lesson.id),
        });
        let lessons: Vec<Door> = lessons.collect();
        let mut chosen = None;
        for (title, doors) in [("More examples", &self.words.more), ("Lessons", &lessons)] {
            ui.horizontal_wrapped(|ui| {
                ui.weak(title);
                ui.spacing_mut().item_spacing.x = SPACE * 2.0;
                ui.style_mut().wrap_mode = Some(TextWrapMode::Extend);
                for door in doors {
                    if ui.link(&door.action).clicked() {
                        chosen = Some(door.clone());
                    }
                }
            });
            ui.add_space(SPACE);
        }
        chosen
    }
}

/// A button for an action, if it is offered.
fn press(ui: &mut Ui, button: Button<'_>, action: Option<&Action>, asked: &mut Vec<Action>) {
    let Some(action) = action else { return };
    let hint = format!("{} ({})", action.hint, action.key.name());
    if ui.add(button).on_hover_text(hint).clicked() {
        asked.push(*action);
    }
}

/// The height of the longest text of the cards, so that cards side by side are equally high.
fn text_height(ui: &Ui, cards: &[Card]) -> f32 {
    let width = ui.available_width().min(CARD) - 2.0 * MARGIN;
    let font = TextStyle::Body.resolve(ui.style());
    let of = |card: &Card| {
        let text = ui.painter().layout(card.text.clone(), font.clone(), Color32::WHITE, width);
        text.size().y
    };
    cards.iter().map(of).fold(0.0, f32::max)
}

/// A card as one button, with its text in this height.
fn show_card(
    ui: &mut Ui,
    card: &Card,
    picture: Option<&TextureHandle>,
    ink: Ink,
    height: f32,
) -> Response {
    let width = ui.available_width().min(CARD);
    let inside = Frame::new().show(ui, |ui| {
        ui.set_width(width);
        ui.with_layout(Layout::top_down(Align::Min), |ui| {
            if let Some(picture) = picture {
                let size = vec2(width, width * ASPECT);
                let (rect, _) = ui.allocate_exact_size(size, Sense::hover());
                let whole = Rect::from_min_max(pos2(0.0, 0.0), pos2(1.0, 1.0));
                ui.painter().image(picture.id(), rect, whole, Color32::WHITE);
            }
            Frame::new().inner_margin(Margin::from(MARGIN)).show(ui, |ui| {
                let strong = style::strong(ui.ctx(), BODY);
                let line = |text: RichText| Label::new(text).selectable(false);
                ui.add(line(RichText::new(&card.title).font(strong.clone())));
                let text = ui.add(line(RichText::new(&card.text).color(ink.weak)));
                ui.add_space((height - text.rect.height()).max(0.0));
                ui.add(line(RichText::new(&card.opens.action).font(strong).color(ink.accent)));
            });
        });
    });
    let rect = inside.response.rect;
    let card_id = ui.scope_id().with(&card.title);
    let response =
        ui.interact(rect, card_id, Sense::click()).on_hover_cursor(CursorIcon::PointingHand);
    let name = format!("{}: {}", card.title, card.opens.action);
    response.widget_info(|| WidgetInfo::labeled(Role::Button, true, &name));
    let pointed = response.hovered() || response.has_focus();
    let stroke =
        Stroke::new(if pointed { 2.0 } else { 1.0 }, if pointed { ink.accent } else { ink.grid });
    ui.painter().rect_stroke(rect, 8.0, stroke, StrokeKind::Inside);
    response
}
