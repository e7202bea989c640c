//! What no screen reader can name, for the tests.

use egui::accesskit::{Action, Role};
use egui_kittest::Node;
use egui_kittest::kittest::NodeT as _;

/// What can be clicked or focused without saying what it is.
pub(crate) fn nameless(root: Node<'_>) -> Vec<String> {
    // Text is its own name, and what a scroll bar does its role says.
    const SPEAKING: [Role; 3] = [Role::Label, Role::GenericContainer, Role::ScrollBar];
    root.children_recursive()
        .filter(|node| {
            let node = node.accesskit_node();
            let data = node.data();
            let acts = data.supports_action(Action::Click) || data.supports_action(Action::Focus);
            let silent = node.label().is_none_or(|name| name.is_empty());
            acts && silent && !SPEAKING.contains(&data.role())
        })
        .map(|node| format!("{:?} {:?}", node.accesskit_node().role(), node.rect()))
        .collect()
}
