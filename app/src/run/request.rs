//! What to measure, and the command for it.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use sparsescope_core::bundle::journal_path;
use sparsescope_core::experiment::{MatrixSource, select_kernels};
use sparsescope_core::kernel::{DeviceKind, KernelDescriptor, kernels};
use sparsescope_core::record::{GpuAbsence, Operation};

use crate::cli::gpu;

/// Allowed numbers of samples.
pub(super) const RUNS: std::ops::RangeInclusive<u32> = 1..=1000;

/// Everything that the run panel offers.
#[derive(Clone, Debug)]
pub struct Request {
    /// Files, `gen:…` and `suite:…`.
    pub matrices: Vec<String>,
    /// A whole suite in addition, by name.
    pub suite: Option<&'static str>,
    /// Ids of the selected kernels.
    pub kernels: BTreeSet<&'static str>,
    /// Patterns of kernel ids, separated by commas; if there are any, they override the selection.
    pub pattern: String,
    /// Thread counts, separated by commas; empty for the default.
    pub threads: String,
    /// Threads per block of GPU kernels, separated by commas; empty for the default.
    pub blocks: String,
    /// Why GPU kernels are not offered; none if they are.
    pub no_gpu: Option<GpuAbsence>,
    /// Precisions of the values.
    pub precisions: Precisions,
    /// Timed samples of each run.
    pub runs: u32,
    /// Also measure with flushed caches.
    pub cold: bool,
    /// The folder for the bundle.
    pub folder: PathBuf,
}

/// Precisions that can be selected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Precisions {
    /// f64.
    Double,
    /// f32.
    Single,
    /// Each kernel in both.
    Both,
}

impl Precisions {
    /// The command-line argument; none for the default.
    fn argument(self) -> Option<&'static str> {
        match self {
            Self::Double => None,
            Self::Single => Some("f32"),
            Self::Both => Some("f64,f32"),
        }
    }
}

impl Default for Request {
    /// The suite `mini` on every device of this machine.
    fn default() -> Self {
        let mut request = Self {
            matrices: Vec::new(),
            suite: Some("mini"),
            kernels: BTreeSet::new(),
            pattern: String::new(),
            threads: String::new(),
            blocks: String::new(),
            no_gpu: gpu::count().err(),
            precisions: Precisions::Double,
            runs: 20,
            cold: false,
            folder: std::env::current_dir().unwrap_or_else(|_| std::env::temp_dir()),
        };
        request.kernels = request.offered().map(|kernel| kernel.id).collect();
        request
    }
}

/// The device and format in a kernel's id, e.g. `cpu/csr`.
pub(super) fn family(kernel: &KernelDescriptor) -> &'static str {
    kernel.id.rsplit_once('/').map_or(kernel.id, |(family, _)| family)
}

/// Splits text at commas.
fn between_commas(text: &str) -> Vec<String> {
    let parts = text.split(',').map(str::trim).filter(|part| !part.is_empty());
    parts.map(str::to_owned).collect()
}

impl Request {
    /// The kernels that can be selected: those of the panel's operation and of the available devices, which run with
    /// default parameters.
    pub(super) fn offered(&self) -> impl Iterator<Item = &'static KernelDescriptor> {
        let devices = self.devices();
        let of_devices = move |kernel: &&KernelDescriptor| devices.contains(&kernel.device);
        kernels(Operation::Spmv).iter().filter(of_devices).filter(|kernel| kernel.takes_defaults())
    }

    /// Their families, in kernel order.
    pub(super) fn families(&self) -> Vec<&'static str> {
        let mut families: Vec<&str> = Vec::new();
        for kernel in self.offered() {
            if !families.contains(&family(kernel)) {
                families.push(family(kernel));
            }
        }
        families
    }

    fn devices(&self) -> &'static [DeviceKind] {
        match self.no_gpu {
            None => &[DeviceKind::Cpu, DeviceKind::Cuda],
            Some(_) => &[DeviceKind::Cpu],
        }
    }

    /// Adds a matrix by name; fails with what is wrong with the name. The first one replaces the suite, which
    /// can be selected again.
    pub fn add(&mut self, text: &str) -> Result<(), String> {
        let text = text.trim();
        if text.is_empty() {
            return Ok(());
        }
        let source = MatrixSource::parse(text).map_err(|error| error.to_string())?;
        if let MatrixSource::File(path, _) = &source
            && !path.is_file()
        {
            return Err(format!("there is no file `{text}`"));
        }
        // A file name must not be taken for an option.
        let text = if text.starts_with('-') { format!("./{text}") } else { text.to_owned() };
        if self.matrices.is_empty() {
            self.suite = None;
        }
        if !self.matrices.contains(&text) {
            self.matrices.push(text);
        }
        Ok(())
    }

    /// The kernels that would run.
    pub fn selected(&self) -> Result<BTreeSet<&'static str>, String> {
        let patterns = crate::patterns::split(&self.pattern);
        if patterns.is_empty() {
            return Ok(self.kernels.clone());
        }
        let found = select_kernels(Operation::Spmv, self.devices(), &patterns);
        let found = found.map_err(|error| error.to_string())?;
        Ok(found.into_iter().map(|kernel| kernel.id).collect())
    }

    /// The arguments of `sparsescope` that measure this into `output`, or why there are none.
    pub fn arguments(&self, output: &Path) -> Result<Vec<String>, String> {
        let mut arguments = vec!["bench".to_owned()];
        if self.matrices.is_empty() && self.suite.is_none() {
            return Err("Choose a suite or add a matrix.".into());
        }
        arguments.extend(self.matrices.iter().cloned());
        let mut option = |name: &str, value: String| arguments.extend([name.to_owned(), value]);
        if let Some(suite) = self.suite {
            option("--suite", suite.to_owned());
        }
        if let Some(kernels) = self.kernel_patterns()? {
            option("--kernels", kernels.join(","));
        }
        let threads = between_commas(&self.threads);
        let good = |text: &String| matches!(text.parse(), Ok(1..=4096_u32));
        if let Some(bad) = threads.iter().find(|text| !good(text)) {
            return Err(format!("Threads: expected numbers from 1 to 4096, found `{bad}`."));
        }
        if !threads.is_empty() {
            option("--threads", threads.join(","));
        }
        let blocks = between_commas(&self.blocks);
        let good = |text: &String| {
            text.parse()
                .is_ok_and(|size: u32| (32..=1024).contains(&size) && size.is_multiple_of(32))
        };
        if let Some(bad) = blocks.iter().find(|text| !good(text)) {
            return Err(format!(
                "Threads per block: expected multiples of 32 up to 1024, found `{bad}`."
            ));
        }
        if !blocks.is_empty() {
            option("--block-sizes", blocks.join(","));
        }
        if let Some(precisions) = self.precisions.argument() {
            option("--precision", precisions.to_owned());
        }
        option("--runs", self.runs.to_string());
        let output = output.to_str().ok_or("The folder's name is not Unicode.")?;
        option("-o", output.to_owned());
        if self.cold {
            arguments.push("--cold".into());
        }
        Ok(arguments)
    }

    /// `None` for all kernels; a complete family becomes one pattern.
    fn kernel_patterns(&self) -> Result<Option<Vec<String>>, String> {
        let selected = self.selected()?;
        let patterns = crate::patterns::split(&self.pattern);
        if !patterns.is_empty() {
            return Ok(Some(patterns));
        }
        if selected.is_empty() {
            return Err("Choose a kernel.".into());
        }
        if self.offered().all(|kernel| selected.contains(kernel.id)) {
            return Ok(None);
        }
        let mut patterns = Vec::new();
        for name in self.families() {
            let members = self.offered().filter(|kernel| family(kernel) == name);
            let members: Vec<&str> = members.map(|kernel| kernel.id).collect();
            if members.iter().all(|id| selected.contains(id)) {
                patterns.push(format!("{name}/*"));
            } else {
                let ids = members.into_iter().filter(|id| selected.contains(id));
                patterns.extend(ids.map(str::to_owned));
            }
        }
        Ok(Some(patterns))
    }

    /// A new file in the folder, named after the time; never one that exists or is being written.
    pub fn output(&self) -> PathBuf {
        let stamp = crate::utc::stamp();
        let named = |end: String| self.folder.join(format!("sparsescope-{stamp}{end}.zip"));
        let names = std::iter::once(String::new()).chain((2..1000).map(|k| format!("-{k}")));
        let taken = |path: &Path| path.symlink_metadata().is_ok();
        let free = |path: &PathBuf| !taken(path) && !taken(&journal_path(path));
        names.map(named).find(free).unwrap_or_else(|| named("-more".into()))
    }
}

/// The command as typed in a terminal.
pub(super) fn command_line(arguments: &[String]) -> String {
    let mut line = "sparsescope".to_owned();
    for argument in arguments {
        line.push(' ');
        line.push_str(&quoted(argument));
    }
    line
}

fn quoted(argument: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./:,=+@%".contains(c);
    if !argument.is_empty() && argument.chars().all(is_plain) {
        argument.to_owned()
    } else if cfg!(windows) {
        format!("\"{argument}\"")
    } else {
        format!("'{}'", argument.replace('\'', r"'\''"))
    }
}
