//! The tabs of a group of views: names without boxes, the active one underlined. Names move closer together
//! where space is short, and scroll where it is too short for all.

use egui::{
    Align2, Color32, FontId, Id, Response, Role, Sense, Stroke, StrokeKind, Ui, WidgetInfo, vec2,
};
use egui_tiles::{TabState, Tabs, TileId};
use sparsescope_figures::theme::{BODY, blend};
use sparsescope_figures::views::View;

use crate::style;

/// Height of the names and the line below them.
pub(super) const TAB_BAR: f32 = 32.0;
/// Space before the first tab.
pub(super) const LEFT: f32 = 4.0;
/// Minimum and maximum space on each side of a name.
const PAD: (f32, f32) = (4.0, 12.0);
/// The minimum on a phone, where even the shortest name has the width of a finger.
const PAD_OF_PHONE: f32 = 8.0;
/// Space between views of any operation and views of one.
const GAP: f32 = 17.0;
/// Frames until the bar knows the size of its tabs and has its arrows.
const SETTLES: u8 = 4;

/// The tabs of one group.
#[derive(Default)]
pub(super) struct Bar {
    /// Space on each side of a name.
    pad: f32,
    /// The tab with a gap before it.
    gap: Option<TileId>,
    /// Width for the tabs.
    room: f32,
    /// Width of all tabs.
    all: f32,
    /// Left and right side of the active tab.
    active: Option<(f32, f32)>,
}

/// How a tab looks.
pub(super) struct Look<'a> {
    pub(super) name: &'a str,
    pub(super) state: &'a TabState,
    /// The view has the keyboard.
    pub(super) focused: bool,
    /// The view has nothing to show.
    pub(super) empty: bool,
}

fn light() -> FontId {
    FontId::proportional(BODY)
}

/// The width of a name, whether it is active or not.
fn width(ui: &Ui, name: &str) -> f32 {
    let of = |font| ui.painter().layout_no_wrap(name.to_owned(), font, Color32::PLACEHOLDER);
    of(light()).size().x.max(of(style::strong(ui.ctx(), BODY)).size().x)
}

/// Width of the arrows on both sides.
fn arrows(ui: &Ui) -> f32 {
    2.0 * (TAB_BAR.max(ui.spacing().interact_size.y) + ui.spacing().item_spacing.x)
}

impl Bar {
    /// Measures the tabs for the space that is left, and draws the line below them.
    pub(super) fn of(ui: &Ui, tabs: &Tabs, view: impl Fn(TileId) -> Option<&'static View>) -> Self {
        let place = ui.max_rect();
        let line = ui.visuals().widgets.noninteractive.bg_stroke;
        ui.painter().hline(place.x_range(), place.bottom() - 0.5, line);

        let room = ui.available_width() - LEFT;
        let views: Vec<(TileId, Option<&View>)> =
            tabs.children.iter().map(|tile| (*tile, view(*tile))).collect();
        let of_one = |view: Option<&View>| view.is_some_and(|view| view.of_operation);
        let mut pairs = views.iter().zip(views.iter().skip(1));
        let border = pairs.find(|((_, one), (_, next))| !of_one(*one) && of_one(*next));
        let gap = border.map(|(_, (tile, _))| *tile);
        let widths: Vec<f32> =
            views.iter().map(|(_, view)| view.map_or(0.0, |view| width(ui, view.name))).collect();
        let names: f32 = widths.iter().sum();
        let gaps = if gap.is_some() { GAP } else { 0.0 };
        let sides = 2.0 * widths.len().max(1) as f32;
        let least = if style::is_phone(ui.ctx()) { PAD_OF_PHONE } else { PAD.0 };
        let pad = ((room - names - gaps - 0.5) / sides).clamp(least, PAD.1);

        let (mut all, mut active) = (0.0, None);
        for ((tile, _), width) in views.iter().zip(widths) {
            if gap == Some(*tile) {
                all += GAP;
            }
            let to = all + width + 2.0 * pad;
            if tabs.active == Some(*tile) {
                active = Some((all, to));
            }
            all = to;
        }
        Self { pad, gap, room, all, active }
    }

    /// Scrolls so that the active tab is seen, whenever another one becomes active or the space changes.
    pub(super) fn scroll_to_active(&self, ui: &Ui, id: TileId, tabs: &Tabs, offset: &mut f32) {
        let Some((from, to)) = self.active.filter(|_| self.all > self.room) else { return };
        let key = ui.scope_id().with(("scrolled to the active tab", id));
        let seen = ui.data(|data| data.get_temp::<(Option<TileId>, f32, u8)>(key));
        let same = seen
            .filter(|(active, room, _)| *active == tabs.active && (room - self.room).abs() < 0.5);
        let frames = same.map_or(0, |(_, _, frames)| frames);
        if frames == SETTLES {
            return;
        }
        let wanted = visible(*offset, (from, to), self.room - arrows(ui));
        if (wanted - *offset).abs() > 0.5 {
            *offset = wanted;
            ui.ctx().request_repaint();
        }
        ui.data_mut(|data| data.insert_temp(key, (tabs.active, self.room, frames + 1)));
    }

    /// Draws a tab.
    pub(super) fn tab(
        &self,
        ui: &mut Ui,
        id: Id,
        tile: TileId,
        look: &Look<'_>,
        sense: Sense,
    ) -> Response {
        let height = ui.available_height();
        if self.gap == Some(tile) {
            let (_, gap) = ui.allocate_space(vec2(GAP, height));
            let line = ui.visuals().widgets.noninteractive.bg_stroke;
            ui.painter().vline(gap.center().x, gap.shrink(10.0).y_range(), line);
        }
        let (_, rect) = ui.allocate_space(vec2(width(ui, look.name) + 2.0 * self.pad, height));
        let tab = ui.interact(rect, id, sense);
        let active = look.state.active;
        tab.widget_info(|| WidgetInfo::selected(Role::Tab, ui.is_enabled(), active, look.name));
        if ui.is_rect_visible(rect) && !look.state.is_being_dragged {
            self.paint(ui, look, &tab);
        }
        tab
    }

    fn paint(&self, ui: &Ui, look: &Look<'_>, tab: &Response) {
        let (visuals, painter, active) = (ui.visuals(), ui.painter(), look.state.active);
        let weak = visuals.weak_text_color();
        let color = match look.empty {
            _ if active || tab.hovered() => visuals.text_color(),
            true => blend(weak, visuals.panel_fill, 0.45),
            false => weak,
        };
        let font = if active { style::strong(ui.ctx(), BODY) } else { light() };
        let name = painter.layout_no_wrap(look.name.to_owned(), font, Color32::PLACEHOLDER);
        let place = Align2::CENTER_CENTER.align_size_within_rect(name.size(), tab.rect);
        painter.galley(place.min, name, color);
        if active {
            let line = if look.focused { visuals.hyperlink_color } else { weak };
            let under = tab.rect.shrink2(vec2(self.pad, 1.0));
            painter.hline(under.x_range(), under.bottom(), Stroke::new(2.0, line));
        }
        if tab.has_focus() {
            let ring = style::focus_ring(visuals.hyperlink_color);
            painter.rect_stroke(tab.rect.shrink(3.0), 4.0, ring, StrokeKind::Inside);
        }
    }
}

/// The offset nearest to this one at which the part from one place to another is within `room`.
fn visible(offset: f32, (from, to): (f32, f32), room: f32) -> f32 {
    offset.max(to - room).min(from).max(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tabs_scroll_only_as_far_as_the_active_one_needs() {
        assert_eq!(visible(0.0, (300.0, 360.0), 400.0), 0.0, "seen already");
        assert_eq!(visible(0.0, (500.0, 560.0), 400.0), 160.0, "its right side at the right");
        assert_eq!(visible(300.0, (120.0, 180.0), 400.0), 120.0, "its left side at the left");
        assert_eq!(visible(0.0, (500.0, 560.0), 40.0), 500.0, "from its beginning if it is wider");
    }
}
