//! Widgets without an accessible name, for the tests.

use egui::accesskit::{Action, Role};
use egui_kittest::Node;
use egui_kittest::kittest::NodeT as _;

/// The widgets that can be clicked or focused but have no accessible name; a sign is none.
pub(crate) fn nameless(root: Node<'_>) -> Vec<String> {
    // A text is its own name, and a scroll bar's role is enough.
    const SPEAKING: [Role; 3] = [Role::Label, Role::GenericContainer, Role::ScrollBar];
    root.children_recursive()
        .filter(|node| {
            let node = node.accesskit_node();
            let data = node.data();
            let acts = data.supports_action(Action::Click) || data.supports_action(Action::Focus);
            let silent = node.label().is_none_or(|name| !name.contains(char::is_alphanumeric));
            acts && silent && !SPEAKING.contains(&data.role())
        })
        .map(|node| format!("{:?} {:?}", node.accesskit_node().role(), node.rect()))
        .collect()
}
