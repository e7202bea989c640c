//! The current time in UTC as text.

use std::time::SystemTime;

/// The current time in whole seconds, such as `2026-11-27T03:01:00Z`.
pub(crate) fn now() -> String {
    humantime::format_rfc3339_seconds(SystemTime::now()).to_string()
}

/// The current time for names of files, such as `20261127-030100`.
pub(crate) fn stamp() -> String {
    for_file_name(&now())
}

/// A time for names of files: `20261127-030100` from `2026-11-27T03:01:00Z`.
pub(crate) fn for_file_name(time: &str) -> String {
    time.replace(['-', ':', 'Z'], "").replace('T', "-")
}
