//! The size of what a visitor downloads, and its changes.

use std::fmt::Write as _;
use std::path::Path;

use anyhow::{Context, bail};
use serde_json::{Value, json};

/// Maximum size of program and scripts with brotli.
const MOST: usize = 1_800_000;

/// The file with the sizes of an earlier build.
const FILE: &str = "sizes.json";

/// Sizes in bytes: uncompressed, with gzip and with brotli.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Sizes {
    /// The WebAssembly.
    pub(crate) program: [usize; 3],
    /// The JavaScript.
    pub(crate) scripts: [usize; 3],
}

impl Sizes {
    fn total(&self) -> [usize; 3] {
        std::array::from_fn(|i| self.program[i] + self.scripts[i])
    }

    /// A table, with the change from `before`.
    pub(crate) fn table(&self, before: &Self) -> String {
        let rows = [
            ("WebAssembly", self.program, before.program),
            ("JavaScript", self.scripts, before.scripts),
            ("together", self.total(), before.total()),
        ];
        let mut text = format!(
            "{:14}{:>12}{:>12}{:>12}{:>18}\n",
            "bytes", "raw", "gzip", "brotli", "brotli, change"
        );
        for (name, [raw, gzip, brotli], [.., was]) in rows {
            let change =
                if was == 0 { "-".into() } else { format!("{:+}", brotli as i64 - was as i64) };
            let _ = writeln!(text, "{name:14}{raw:>12}{gzip:>12}{brotli:>12}{change:>18}"); // a String takes everything
        }
        text
    }

    /// Fails above the limit.
    pub(crate) fn check(&self) -> anyhow::Result<()> {
        let [.., brotli] = self.total();
        if brotli > MOST {
            bail!("the viewer has {brotli} bytes with brotli, more than the limit of {MOST}");
        }
        Ok(())
    }

    /// The recorded sizes; zeros if there are none.
    pub(crate) fn recorded(web: &Path) -> anyhow::Result<Self> {
        let path = web.join(FILE);
        if !path.exists() {
            return Ok(Self::default());
        }
        let text = std::fs::read_to_string(&path)
            .with_context(|| format!("cannot read {}", path.display()))?;
        let value: Value = serde_json::from_str(&text)
            .with_context(|| format!("{} is not JSON", path.display()))?;
        let sizes = |name: &str| {
            ["raw", "gzip", "brotli"]
                .map(|form| value[name][form].as_u64().and_then(|n| n.try_into().ok()).unwrap_or(0))
        };
        Ok(Self { program: sizes("program"), scripts: sizes("scripts") })
    }

    /// Records the sizes.
    pub(crate) fn record(&self, web: &Path) -> anyhow::Result<()> {
        let sizes =
            |[raw, gzip, brotli]: [usize; 3]| json!({"raw": raw, "gzip": gzip, "brotli": brotli});
        let value = json!({"program": sizes(self.program), "scripts": sizes(self.scripts)});
        let path = web.join(FILE);
        std::fs::write(&path, format!("{value:#}\n"))
            .with_context(|| format!("cannot write {}", path.display()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_limit_counts_program_and_scripts_together() {
        let sizes = |program, scripts| Sizes { program: [0, 0, program], scripts: [0, 0, scripts] };
        assert!(sizes(1_700_000, 100_000).check().is_ok());
        let error = sizes(1_700_000, 100_001).check().unwrap_err().to_string();
        assert_eq!(
            error,
            "the viewer has 1800001 bytes with brotli, more than the limit of 1800000"
        );
    }

    #[test]
    fn recorded_sizes_come_back_and_changes_are_shown() {
        let folder = tempfile::tempdir().unwrap();
        let before = Sizes { program: [30, 20, 10], scripts: [6, 5, 4] };
        assert_eq!(Sizes::recorded(folder.path()).unwrap(), Sizes::default());
        before.record(folder.path()).unwrap();
        assert_eq!(Sizes::recorded(folder.path()).unwrap(), before);
        let table = Sizes { program: [30, 20, 7], scripts: [6, 5, 9] }.table(&before);
        let last = table.lines().map(|line| line.split_whitespace().last().unwrap());
        assert_eq!(last.collect::<Vec<_>>(), ["change", "-3", "+5", "+2"]);
    }
}
