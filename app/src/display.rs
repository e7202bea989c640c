//! Whether a window can open here.

/// Whether the environment names a display. On systems other than Windows and macOS, one of two variables
/// does.
pub(crate) fn is_there() -> bool {
    is_named(|name| std::env::var_os(name).is_some_and(|value| !value.is_empty()))
}

/// The same, given which variables are set.
fn is_named(set: impl Fn(&str) -> bool) -> bool {
    let needs_name = cfg!(all(unix, not(target_os = "macos")));
    !needs_name || set("DISPLAY") || set("WAYLAND_DISPLAY")
}

#[cfg(test)]
mod tests {
    use super::is_named;

    #[test]
    #[cfg(all(unix, not(target_os = "macos")))]
    fn either_variable_names_a_display() {
        assert!(is_named(|name| name == "DISPLAY") && is_named(|name| name == "WAYLAND_DISPLAY"));
        assert!(!is_named(|_| false));
    }
}
