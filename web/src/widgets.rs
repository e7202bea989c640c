//! The widget tree: egui's accessibility output for each frame, stored for the page, whose canvas has no
//! elements that a screen reader or a test could find.

use std::collections::HashMap;

use egui::accesskit::{self, Action, Node, NodeId, Role, Toggled, TreeUpdate};
use serde_json::{Map, Value, json};

/// Keeps the tree of the last frame.
#[derive(Default)]
pub(crate) struct Widgets {
    tree: Option<TreeUpdate>,
}

impl egui::Plugin for Widgets {
    fn debug_name(&self) -> &'static str {
        "widgets"
    }

    fn output_hook(&mut self, _: &egui::Context, output: &mut egui::FullOutput) {
        if let Some(tree) = output.platform_output.accesskit_update.take() {
            self.tree = Some(tree);
        }
    }
}

impl Widgets {
    /// The widgets with content or an action, in reading order, as a JSON list. A `rect` is left, top, width
    /// and height in pixels of the page, `scale` pixels per point; `in` is the id of the group, table, row or
    /// list of tabs around a widget.
    pub(crate) fn to_json(&self, scale: f32) -> String {
        let Some(tree) = &self.tree else { return "[]".into() };
        let nodes = tree.nodes.iter().map(|(id, node)| (*id, node)).collect();
        let mut walk = Walk { nodes, found: Vec::new() };
        if let Some(root) = &tree.tree {
            walk.visit(root.root, None);
        }
        walk.fill_rows();
        let list = walk.found.iter().map(|found| walk.describe(found, tree.focus, scale));
        Value::Array(list.collect()).to_string()
    }
}

/// A widget of the list.
struct Found<'a> {
    id: NodeId,
    node: &'a Node,
    role: &'static str,
    /// The container around it.
    around: Option<NodeId>,
}

struct Walk<'a> {
    nodes: HashMap<NodeId, &'a Node>,
    found: Vec<Found<'a>>,
}

impl<'a> Walk<'a> {
    /// Lists a node and those below it.
    fn visit(&mut self, id: NodeId, around: Option<NodeId>) {
        let Some(node) = self.nodes.get(&id).copied() else { return };
        let mut inside = around;
        if let Some(role) = self.role(node) {
            // The headings of a table are not among its rows.
            let is_heading = self.is_table(around) && role != "row";
            let around = around.filter(|_| !is_heading);
            self.found.push(Found { id, node, role, around });
            if matches!(role, "tablist" | "table") || node.role() == Role::Group {
                inside = Some(id);
            }
        }
        for child in node.children() {
            self.visit(*child, inside);
        }
    }

    fn is_table(&self, id: Option<NodeId>) -> bool {
        id.and_then(|id| self.nodes.get(&id)).is_some_and(|node| node.role() == Role::Table)
    }

    /// The role in ARIA of a widget, or of the list around tabs. Other containers have none, nor have the single
    /// lines of a text that is in the tree as a whole, nor scroll bars: what gets the focus is scrolled into view.
    fn role(&self, node: &Node) -> Option<&'static str> {
        let is_tab = |id: &NodeId| self.nodes.get(id).is_some_and(|node| node.role() == Role::Tab);
        match node.role() {
            _ if node.children().iter().any(is_tab) => Some("tablist"),
            Role::Group if node.children().is_empty() => None,
            Role::Unknown | Role::GenericContainer | Role::Window => None,
            Role::TextRun | Role::ScrollBar => None,
            role => Some(aria_role(role)),
        }
    }

    /// The texts within a row's rectangle become its cells.
    fn fill_rows(&mut self) {
        let rows = self.found.iter().filter(|found| found.role == "row");
        let rows: Vec<_> = rows.filter_map(|row| Some((row.id, row.node.bounds()?))).collect();
        for text in self.found.iter_mut().filter(|found| found.role == "text") {
            let Some(bounds) = text.node.bounds() else { continue };
            let (x, y) = ((bounds.x0 + bounds.x1) * 0.5, (bounds.y0 + bounds.y1) * 0.5);
            let has = |row: &accesskit::Rect| {
                (row.x0..row.x1).contains(&x) && (row.y0..row.y1).contains(&y)
            };
            if let Some((row, _)) = rows.iter().find(|(_, row)| has(row)) {
                text.around = Some(*row);
            }
        }
    }

    fn describe(&self, found: &Found<'_>, focus: NodeId, scale: f32) -> Value {
        let Found { id, node, role, around } = found;
        // A label's text is its value.
        let is_label = node.role() == Role::Label;
        let label = node.label().or_else(|| node.value().filter(|_| is_label)).map(str::to_owned);
        let views = || (*role == "tablist").then(|| "Views".to_owned());
        let name = label.or_else(|| named_by(&self.nodes, node)).or_else(views).unwrap_or_default();
        let value = match node.numeric_value() {
            Some(number) => Some(json!(number)),
            None => node.value().filter(|_| !is_label).map(Value::from),
        };
        let mut widget = Map::new();
        let mut set = |key: &str, value: Value| drop(widget.insert(key.into(), value));
        set("id", id.0.to_string().into());
        set("role", (*role).into());
        set("name", name.as_str().into());
        set("value", value.unwrap_or_default());
        set("rect", rect(node, scale));
        if let Some(around) = around {
            set("in", around.0.to_string().into());
        }
        if let Some(description) = node.description().filter(|text| !name.contains(*text)) {
            set("description", description.into());
        }
        for (key, count) in [("rows", node.row_count()), ("columns", node.column_count())] {
            if let Some(count) = count {
                set(key, count.into());
            }
        }
        if let Some(index) = node.row_index() {
            set("row", (index + 1).into());
        }
        if node.live().is_some() {
            set("live", true.into());
        }
        if node.is_disabled() {
            set("disabled", true.into());
        }
        if let Some(toggled) = node.toggled() {
            set("checked", (toggled == Toggled::True).into());
        }
        for (key, action) in [("clicks", Action::Click), ("focusable", Action::Focus)] {
            if node.supports_action(action) {
                set(key, true.into());
            }
        }
        if focus == *id {
            set("focused", true.into());
        }
        Value::Object(widget)
    }
}

/// The text of the labels for a widget without its own name.
fn named_by(nodes: &HashMap<NodeId, &Node>, node: &Node) -> Option<String> {
    let texts: Vec<&str> = node
        .labelled_by()
        .iter()
        .filter_map(|id| nodes.get(id))
        .filter_map(|label| label.value().or_else(|| label.label()))
        .collect();
    (!texts.is_empty()).then(|| texts.join(" "))
}

fn rect(node: &Node, scale: f32) -> Value {
    let Some(bounds) = node.bounds() else { return Value::Null };
    let pixels = |points: f64| (points * f64::from(scale) * 10.0).round() / 10.0;
    json!([
        pixels(bounds.x0),
        pixels(bounds.y0),
        pixels(bounds.x1 - bounds.x0),
        pixels(bounds.y1 - bounds.y0)
    ])
}

/// The role's name in ARIA, if there is one.
fn aria_role(role: Role) -> &'static str {
    match role {
        Role::Button | Role::DefaultButton | Role::DisclosureTriangle => "button",
        Role::CheckBox => "checkbox",
        Role::RadioButton => "radio",
        Role::RadioGroup => "radiogroup",
        Role::Link => "link",
        Role::Slider => "slider",
        Role::SpinButton => "spinbutton",
        Role::TextInput | Role::MultilineTextInput | Role::PasswordInput => "textbox",
        Role::SearchInput => "searchbox",
        Role::ComboBox | Role::EditableComboBox => "combobox",
        Role::Tab => "tab",
        Role::MenuItem => "menuitem",
        Role::Image => "img",
        Role::Note => "note",
        Role::ProgressIndicator => "progressbar",
        Role::Heading => "heading",
        Role::Table => "table",
        Role::Row => "row",
        Role::Cell => "cell",
        Role::ColumnHeader => "columnheader",
        Role::ListItem => "listitem",
        Role::Splitter => "separator",
        Role::Label => "text",
        _ => "group",
    }
}
