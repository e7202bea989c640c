//! Messages to the user: confirmations disappear by themselves, errors stay until they are dismissed.

use std::time::Duration;

use egui::{Panel, Ui};

use crate::style::live_label;

/// Maximum number of messages shown at a time.
const MOST: usize = 3;
/// Seconds that a confirmation stays.
const STAYS: f64 = 8.0;

/// The messages, oldest first.
#[derive(Debug, Default)]
pub(super) struct Notices(Vec<Notice>);

#[derive(Debug)]
struct Notice {
    sentence: String,
    /// Only a confirmation.
    confirms: bool,
    /// When a confirmation disappears, in seconds, once it was visible.
    until: Option<f64>,
}

impl Notices {
    /// Shows a message, unless it is already shown.
    pub(super) fn tell(&mut self, sentence: String, confirms: bool) {
        if self.0.iter().all(|notice| notice.sentence != sentence) {
            self.0.push(Notice { sentence, confirms, until: None });
        }
    }

    /// The messages shown.
    #[cfg(test)]
    pub(super) fn sentences(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(|notice| notice.sentence.as_str())
    }

    /// Removes all messages.
    pub(super) fn clear(&mut self) {
        self.0.clear();
    }

    /// Draws the messages above what follows.
    pub(super) fn show(&mut self, ui: &mut Ui) {
        let now = ui.input(|input| input.time);
        self.0.retain(|notice| notice.until.is_none_or(|until| until > now));
        for notice in self.0.iter_mut().filter(|notice| notice.confirms) {
            let until = *notice.until.get_or_insert(now + STAYS);
            let left = Duration::try_from_secs_f64(until - now).unwrap_or_default();
            ui.ctx().request_repaint_after(left);
        }
        if !self.0.is_empty() {
            Panel::top("notices").show(ui, |ui| self.lines(ui));
        }
    }

    fn lines(&mut self, ui: &mut Ui) {
        let (mut dismissed, mut all) = (None, false);
        let more = self.0.len().saturating_sub(MOST);
        if self.0.len() > 1 {
            ui.horizontal(|ui| {
                all = ui.button("Dismiss all").clicked();
                if more > 0 {
                    ui.weak(format!("{more} more below"));
                }
            });
        }
        for (index, notice) in self.0.iter().enumerate().take(MOST) {
            ui.horizontal_wrapped(|ui| {
                live_label(ui, &notice.sentence);
                if ui.button("Dismiss").clicked() {
                    dismissed = Some(index);
                }
            });
        }
        if all {
            self.clear();
        } else if let Some(index) = dismissed {
            self.0.remove(index);
        }
    }
}
