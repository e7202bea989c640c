//! The widget tree: egui's accessibility output for each frame, stored for the page, whose canvas has no
//! elements that a screen reader or a test could find.

use std::collections::HashMap;

use egui::accesskit::{Action, Node, NodeId, Role, Toggled, TreeUpdate};
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
    /// and height in pixels of the page, `scale` pixels per point.
    pub(crate) fn to_json(&self, scale: f32) -> String {
        let mut list = Vec::new();
        if let Some(tree) = &self.tree {
            let nodes = tree.nodes.iter().map(|(id, node)| (*id, node)).collect();
            if let Some(root) = &tree.tree {
                collect(&nodes, root.root, Some(tree.focus), scale, &mut list);
            }
        }
        Value::Array(list).to_string()
    }
}

fn collect(
    nodes: &HashMap<NodeId, &Node>,
    id: NodeId,
    focus: Option<NodeId>,
    scale: f32,
    list: &mut Vec<Value>,
) {
    let Some(node) = nodes.get(&id) else { return };
    if let Some(widget) = describe(nodes, id, node, focus, scale) {
        list.push(widget);
    }
    for child in node.children() {
        collect(nodes, *child, focus, scale, list);
    }
}

fn describe(
    nodes: &HashMap<NodeId, &Node>,
    id: NodeId,
    node: &Node,
    focus: Option<NodeId>,
    scale: f32,
) -> Option<Value> {
    // Containers, and the single lines of a text that is in the tree as a whole.
    if matches!(node.role(), Role::Unknown | Role::GenericContainer | Role::Window | Role::TextRun)
    {
        return None;
    }
    // A label's text is its value.
    let is_label = node.role() == Role::Label;
    let label = node.label().or_else(|| node.value().filter(|_| is_label)).map(str::to_owned);
    let name = label.or_else(|| named_by(nodes, node)).unwrap_or_default();
    let value = match node.numeric_value() {
        Some(number) => Some(json!(number)),
        None => node.value().filter(|_| !is_label).map(Value::from),
    };
    let mut widget = Map::new();
    widget.insert("id".into(), id.0.to_string().into());
    widget.insert("role".into(), aria_role(node.role()).into());
    widget.insert("name".into(), name.into());
    widget.insert("value".into(), value.unwrap_or_default());
    widget.insert("rect".into(), rect(node, scale));
    if node.is_disabled() {
        widget.insert("disabled".into(), true.into());
    }
    if let Some(toggled) = node.toggled() {
        widget.insert("checked".into(), (toggled == Toggled::True).into());
    }
    if node.supports_action(Action::Click) {
        widget.insert("clicks".into(), true.into());
    }
    if focus == Some(id) {
        widget.insert("focused".into(), true.into());
    }
    Some(Value::Object(widget))
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
