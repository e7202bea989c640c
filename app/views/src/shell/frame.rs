//! The panels around the views, and where the details of a run are.

use egui::{
    Align, Area, CentralPanel, Frame, Id, Key, Layout, Order, Panel, Rect, RichText, Ui, UiBuilder,
};
use sparsescope_figures::theme::{BODY, SPACE};
use sparsescope_figures::views::{View, current, needs_no_bundle, teaches};

use super::bar::{Now, WITH_SIDE};
use super::dock::Dock;
use super::{App, bar, keys, pane, side};
use crate::style;
use crate::views::details;

/// Height of the bar above a presented view.
const LINE: f32 = 40.0;
/// Minimum width of the views for a run's details on the right; below it they are below the views.
const WITH_DETAILS: f32 = 1500.0;
/// Maximum width at which the details cover the lower part of the views.
const SHEET: f32 = 420.0;
/// Share of the views' height that these details leave.
const ABOVE_SHEET: f32 = 0.45;

impl App {
    pub(super) fn frame(&mut self, ui: &mut Ui) {
        keys::views(ui, &mut self.state);
        self.focus_search |= keys::search(ui);
        let possible = self.bar.possible(self.lesson().is_some());
        self.bar.asked.extend(keys::actions(ui, &possible));
        self.state.present ^= keys::pressed(ui, Key::P);
        if keys::pressed(ui, Key::B) {
            self.bar.shows_side = Some(!self.side_shown(ui.available_width()));
        }
        self.bar.lists_keys ^= keys::pressed(ui, keys::LIST);
        keys::list(ui.ctx(), &possible, &mut self.bar.lists_keys);
        if self.focus_search && !self.state.present {
            self.bar.shows_side = Some(true); // the field is there
        }
        if self.state.present
            && let Some(view) = current(&self.state)
        {
            return self.present(ui, view);
        }
        // A class needs the space.
        let teaches =
            current(&self.state).is_some_and(|view| teaches(view, &self.model, &self.state));
        let width = ui.available_width();
        let now = Now {
            teaches,
            side: self.side_shown(width),
            can_go_back: !self.history.is_empty(),
            can_redo: self.history.can_go_forward(),
            starts: self.starts(),
            has_gpu_example: self.has_gpu_example(),
        };
        Panel::top("top").show(ui, |ui| self.bar.show(ui, &mut self.state, now));
        self.messages(ui);
        let side = |app: &mut Self, ui: &mut Ui| {
            app.keep_run(|app| {
                side::show(ui, &mut app.model, &mut app.state, &mut app.focus_search);
            });
        };
        if self.side_shown(width) && width < WITH_SIDE {
            let before = (self.state.matrix.clone(), self.state.view.clone());
            CentralPanel::default().show(ui, |ui| side(self, ui));
            if before != (self.state.matrix.clone(), self.state.view.clone()) {
                self.bar.shows_side = Some(false); // to show what was chosen
            }
            return;
        } else if self.side_shown(width) && !teaches && !self.home {
            let panel = Panel::left("side").default_size(250.0).size_range(200.0..=420.0);
            panel.show(ui, |ui| side(self, ui));
        }
        // The last bundle may have been closed in the panel.
        if self.starts() {
            return self.start_page(ui);
        }
        self.centre(ui, None, !teaches);
        for failure in std::mem::take(&mut self.saved.failures) {
            self.notify(failure);
        }
        for copied in std::mem::take(&mut self.saved.copied) {
            self.confirm(copied);
        }
    }

    /// All views, or only this one, and the details of the selected run beside, below or over them if there is
    /// space for them.
    fn centre(&mut self, ui: &mut Ui, only: Option<&View>, has_space: bool) {
        let detailed = has_space && details::is_shown(&self.model, &self.state);
        let whole = ui.available_rect_before_wrap();
        let in_sheet = detailed && whole.width() < SHEET;
        let (above, below) = whole.split_top_bottom_at_fraction(ABOVE_SHEET);
        if detailed && !in_sheet {
            self.details(ui);
        }
        let frame = Frame::central_panel(ui.style()).inner_margin(0);
        CentralPanel::default().frame(frame).show(ui, |ui| {
            if in_sheet {
                ui.shrink_clip_rect(above); // a selected row has to be above the sheet
            }
            let (model, state, saved) = (&self.model, &mut self.state, &mut self.saved);
            match only {
                Some(view) => pane::show(ui, view, model, state, saved, pane::Purpose::Audience),
                None => Dock::show(&mut self.dock, ui, model, state, saved),
            }
        });
        if in_sheet {
            self.sheet(ui, below);
        }
    }

    /// Whether the start page is shown.
    fn starts(&self) -> bool {
        let empty = self.model.bundles().is_empty()
            && current(&self.state).is_none_or(|view| !needs_no_bundle(view, &self.state));
        empty || self.home
    }

    /// Whether the side panel is shown at this width.
    fn side_shown(&self, width: f32) -> bool {
        self.bar.side_shown(width, !self.model.bundles().is_empty())
    }

    fn messages(&mut self, ui: &mut Ui) {
        self.notices.show(ui);
        self.openings.show(ui);
        self.tell_missing(ui);
    }

    /// The view in front, below one bar: its name, its settings, the way out of the presentation.
    fn present(&mut self, ui: &mut Ui, view: &'static View) {
        // The content takes the panel's full height, which must not depend on the last frame.
        let line = ui.spacing().interact_size.y.max(LINE);
        Panel::top("presents").exact_size(line).show(ui, |ui| {
            ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
                style::without_frames(ui);
                let hint = keys::hint(ui, "Back to all views", "P");
                if ui.button("End presentation").on_hover_text(hint).clicked() {
                    self.state.present = false;
                }
                bar::zoom(ui, &mut self.state);
                let teaches = teaches(view, &self.model, &self.state);
                if !teaches {
                    pane::more(ui, view, &self.model, &mut self.state, false);
                }
                ui.with_layout(Layout::left_to_right(Align::Center), |ui| {
                    ui.label(RichText::new(view.name).font(style::strong(ui.ctx(), BODY)));
                    ui.add_space(SPACE);
                    if !teaches {
                        pane::settings(ui, view, &self.model, &mut self.state);
                    }
                });
            });
        });
        self.messages(ui);
        self.centre(ui, Some(view), false);
    }

    /// The view in front alone, for a page around this one.
    pub(super) fn alone(&mut self, ui: &mut Ui) {
        let Some(view) = current(&self.state) else { return };
        let teaches = teaches(view, &self.model, &self.state);
        self.messages(ui);
        self.centre(ui, Some(view), !teaches);
        if !teaches {
            self.state.view = view.id.into(); // there is no way back from another view
        }
    }

    /// The details of the selected run: on the right if there is much space, else below.
    fn details(&mut self, ui: &mut Ui) {
        let (model, state) = (&self.model, &mut self.state);
        let frame = Frame::side_top_panel(ui.style()).inner_margin(12);
        if ui.available_width() >= WITH_DETAILS {
            let panel = Panel::right("details").default_size(380.0).size_range(300.0..=640.0);
            panel.frame(frame).show(ui, |ui| details::show(ui, model, state));
        } else {
            let most = ui.available_height() * 0.5;
            let panel = Panel::bottom("details below").default_size(most * 0.8).max_size(most);
            panel.frame(frame).resizable(true).show(ui, |ui| details::show(ui, model, state));
        }
    }

    /// The details of the selected run over the lower part of the views.
    fn sheet(&mut self, ui: &Ui, rect: Rect) {
        const MARGIN: f32 = 12.0;
        let (model, state) = (&self.model, &mut self.state);
        let line = ui.visuals().widgets.noninteractive.bg_stroke;
        let sheet = Area::new(Id::unique("details sheet")).order(Order::Middle).fade_in(false);
        sheet.fixed_pos(rect.min).show(ui.ctx(), |ui| {
            ui.painter().rect_filled(rect, 0.0, ui.visuals().panel_fill);
            ui.painter().hline(rect.x_range(), rect.top(), line);
            ui.expand_to_include_rect(rect); // nothing below it takes its clicks
            let inner = UiBuilder::new().max_rect(rect.shrink(MARGIN));
            ui.scope_builder(inner, |ui| details::show(ui, model, state));
        });
    }

    /// Reports that the selected subject or run is not open here.
    fn tell_missing(&mut self, ui: &mut Ui) {
        let (model, state) = (&self.model, &mut self.state);
        let has_subject = state.matrix.as_ref().is_none_or(|key| model.subject(key).is_some());
        let has_run = match state.run {
            Some(number) => model.run(number).is_some(),
            None => state.run_key.is_empty(),
        };
        if model.bundles().is_empty() || (has_subject && has_run) {
            return;
        }
        let (sentence, other) = match has_subject {
            true => ("The run in this link is not open here: drop its bundle.", "Select no run"),
            false => (
                "The matrix in this link is not open here: drop its file or its bundle.",
                "Show another matrix",
            ),
        };
        Panel::top("missing").show(ui, |ui| {
            ui.horizontal_wrapped(|ui| {
                ui.label(sentence);
                if ui.button(other).clicked() {
                    match has_subject {
                        true => (state.run, state.run_key) = (None, String::new()),
                        false => state.matrix = None,
                    }
                }
            });
        });
    }
}
