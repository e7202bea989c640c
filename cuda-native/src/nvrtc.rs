//! NVIDIA's run-time compiler (NVRTC): source in, machine code (CUBIN) out. It needs no GPU.

use std::ffi::{CStr, CString, c_char, c_int};
use std::path::{Path, PathBuf};
use std::ptr;

use libloading::Library;
use sparsescope_core::record::GpuAbsence;

use crate::library::{function_table, load, open};

type Program = *mut std::ffi::c_void;

function_table! {
    /// The NVRTC functions used; each returns 0 on success.
    Functions {
        nvrtcVersion(*mut c_int, *mut c_int) -> c_int;
        nvrtcGetErrorString(c_int) -> *const c_char;
        nvrtcGetNumSupportedArchs(*mut c_int) -> c_int;
        nvrtcGetSupportedArchs(*mut c_int) -> c_int;
        nvrtcCreateProgram(
            *mut Program, *const c_char, *const c_char, c_int, *const *const c_char,
            *const *const c_char
        ) -> c_int;
        nvrtcCompileProgram(Program, c_int, *const *const c_char) -> c_int;
        nvrtcDestroyProgram(*mut Program) -> c_int;
        nvrtcGetCUBINSize(Program, *mut usize) -> c_int;
        nvrtcGetCUBIN(Program, *mut c_char) -> c_int;
        nvrtcGetProgramLogSize(Program, *mut usize) -> c_int;
        nvrtcGetProgramLog(Program, *mut c_char) -> c_int;
    }
}

/// A loaded compiler.
pub struct Nvrtc {
    functions: Functions,
    version: (i32, i32),
    architectures: Vec<u32>,
}

/// Why a source was not compiled.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CompileError {
    /// The source has an error.
    #[error("{file} does not compile{}: {log}", shown(.line))]
    Source {
        /// Name of the source.
        file: String,
        /// The source line of the first message.
        line: Option<String>,
        /// What the compiler printed.
        log: String,
    },
    /// The compiler does not support this device.
    #[error("NVRTC {version} supports compute capabilities {known}, not {asked}")]
    Architecture {
        /// Version of the compiler.
        version: String,
        /// Supported compute capabilities.
        known: String,
        /// Capability of the device, `9.0`.
        asked: String,
    },
    /// The compiler itself failed.
    #[error("NVRTC failed on {file}: {call} returned {status}")]
    Compiler {
        /// Name of the source.
        file: String,
        /// The function that failed.
        call: &'static str,
        /// The status it returned.
        status: String,
    },
}

fn shown(line: &Option<String>) -> String {
    line.as_ref().map_or(String::new(), |line| format!(" at `{line}`"))
}

/// NVRTC's status for an error in the source.
const COMPILATION_FAILED: c_int = 6;

impl Nvrtc {
    /// Loads a compiler: of the newest CUDA version that the driver supports, since an older driver
    /// may not load newer code (`driver_version` in CUDA's encoding: 13000 is 13.0).
    pub fn find(driver_version: Option<i32>) -> Result<Self, GpuAbsence> {
        let names: &[&str] = match (cfg!(windows), driver_version.unwrap_or(i32::MAX) >= 13000) {
            (false, true) => &["libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so"],
            (false, false) => &["libnvrtc.so.12"],
            (true, true) => &["nvrtc64_130_0.dll", "nvrtc64_120_0.dll"],
            (true, false) => &["nvrtc64_120_0.dll"],
        };
        let (library, path) = open(names, "cuda_nvrtc").map_err(GpuAbsence::NvrtcMissing)?;
        Self::of(library, &path).map_err(GpuAbsence::NvrtcMissing)
    }

    /// The compiler in this file.
    pub fn load(path: PathBuf) -> Result<Self, String> {
        Self::of(load(&path)?, &path)
    }

    fn of(library: Library, path: &Path) -> Result<Self, String> {
        let in_file = |why: String| format!("{}: {why}", path.display());
        let functions = Functions::new(library).map_err(in_file)?;
        let (mut major, mut minor, mut count) = (0, 0, 0);
        // SAFETY: the pointers are valid for the calls; the second array has the length that the
        // library requested.
        let (status, architectures) = unsafe {
            let mut status = (functions.nvrtcVersion)(&mut major, &mut minor);
            if status == 0 {
                status = (functions.nvrtcGetNumSupportedArchs)(&mut count);
            }
            let mut architectures: Vec<c_int> = vec![0; usize::try_from(count).unwrap_or(0)];
            if status == 0 {
                status = (functions.nvrtcGetSupportedArchs)(architectures.as_mut_ptr());
            }
            (status, architectures)
        };
        if status != 0 || architectures.is_empty() {
            return Err(in_file(format!("cannot be initialized (status {status})")));
        }
        let architectures = architectures.into_iter().filter_map(|a| a.try_into().ok()).collect();
        Ok(Self { functions, version: (major, minor), architectures })
    }

    /// Major and minor version.
    pub fn version(&self) -> (i32, i32) {
        self.version
    }

    /// `13.0`.
    pub fn version_name(&self) -> String {
        format!("{}.{}", self.version.0, self.version.1)
    }

    /// The supported architectures, ascending: 90 is sm_90.
    pub fn architectures(&self) -> &[u32] {
        &self.architectures
    }

    /// The same as compute capabilities: `9.0`.
    fn capabilities(&self) -> Vec<String> {
        self.architectures.iter().map(|a| format!("{}.{}", a / 10, a % 10)).collect()
    }

    /// The architecture to compile for on a device of this capability: machine code for one minor
    /// version runs on later ones of the same major version.
    pub fn architecture_for(&self, major: u32, minor: u32) -> Result<u32, CompileError> {
        let fits = |&&a: &&u32| a / 10 == major && a % 10 <= minor;
        let best = self.architectures.iter().filter(fits).max();
        best.copied().ok_or_else(|| CompileError::Architecture {
            version: self.version_name(),
            known: self.capabilities().join(", "),
            asked: format!("{major}.{minor}"),
        })
    }

    /// Compiles a source with a prelude before it, both with the names used in messages.
    pub fn compile(
        &self,
        prelude: (&str, &str),
        (file, source): (&str, &str),
        options: &[String],
    ) -> Result<Vec<u8>, CompileError> {
        let failed = |call: &'static str, status: c_int| {
            let status = self.status_name(status);
            CompileError::Compiler { file: file.to_owned(), call, status }
        };
        let text = |text: &str| CString::new(text).map_err(|_| failed("a zero byte", 4));
        let code = format!("{}\n#line 1 \"{file}\"\n{source}", prelude.1);
        let (name, code) = (text(prelude.0)?, text(&code)?);
        let options = options.iter().map(|o| text(o)).collect::<Result<Vec<_>, _>>()?;
        let options: Vec<*const c_char> = options.iter().map(|o| o.as_ptr()).collect();
        let program = OpenProgram::new(&self.functions, &code, &name)
            .map_err(|status| failed("nvrtcCreateProgram", status))?;
        // SAFETY: the program is open; the options live until the end of the call.
        let status = unsafe {
            let count = options.len() as c_int;
            (self.functions.nvrtcCompileProgram)(program.program, count, options.as_ptr())
        };
        if status == COMPILATION_FAILED {
            let log = program.log();
            let line = first_line_named(&log, &[prelude, (file, source)]);
            return Err(CompileError::Source { file: file.to_owned(), line, log });
        }
        if status != 0 {
            return Err(failed("nvrtcCompileProgram", status));
        }
        program.cubin().map_err(|status| failed("nvrtcGetCUBIN", status))
    }

    fn status_name(&self, status: c_int) -> String {
        // SAFETY: the library returns a constant string for any number.
        let text = unsafe { (self.functions.nvrtcGetErrorString)(status) };
        if text.is_null() {
            return format!("status {status}");
        }
        // SAFETY: not null, and NUL-terminated.
        unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned()
    }
}

/// The source line named by the first message (`file(12): error: …`).
fn first_line_named(log: &str, sources: &[(&str, &str)]) -> Option<String> {
    let error = log.lines().find(|line| line.contains("): error"))?;
    let (file, rest) = error.split_once('(')?;
    let (number, _) = rest.split_once(')')?;
    let (_, source) = sources.iter().find(|(name, _)| *name == file)?;
    let line = source.lines().nth(number.parse::<usize>().ok()?.checked_sub(1)?)?;
    Some(line.trim().to_owned())
}

/// A program of the compiler, closed when dropped.
struct OpenProgram<'n> {
    functions: &'n Functions,
    program: Program,
}

impl<'n> OpenProgram<'n> {
    fn new(functions: &'n Functions, code: &CStr, name: &CStr) -> Result<Self, c_int> {
        let mut program: Program = ptr::null_mut();
        // SAFETY: both strings are NUL-terminated and are copied; there are no headers.
        let status = unsafe {
            let (code, name) = (code.as_ptr(), name.as_ptr());
            (functions.nvrtcCreateProgram)(&mut program, code, name, 0, ptr::null(), ptr::null())
        };
        if status == 0 { Ok(Self { functions, program }) } else { Err(status) }
    }

    fn log(&self) -> String {
        let bytes =
            self.bytes(self.functions.nvrtcGetProgramLogSize, self.functions.nvrtcGetProgramLog);
        let bytes = bytes.unwrap_or_default();
        String::from_utf8_lossy(&bytes).trim_end_matches('\0').trim().to_owned()
    }

    fn cubin(&self) -> Result<Vec<u8>, c_int> {
        self.bytes(self.functions.nvrtcGetCUBINSize, self.functions.nvrtcGetCUBIN)
    }

    /// The bytes returned by a pair of functions for size and contents.
    fn bytes(
        &self,
        size: unsafe extern "C" fn(Program, *mut usize) -> c_int,
        contents: unsafe extern "C" fn(Program, *mut c_char) -> c_int,
    ) -> Result<Vec<u8>, c_int> {
        let mut length = 0;
        // SAFETY: the program is open and the pointer valid.
        let status = unsafe { size(self.program, &mut length) };
        if status != 0 {
            return Err(status);
        }
        let mut bytes = vec![0u8; length];
        // SAFETY: the buffer has the length that the library requested.
        let status = unsafe { contents(self.program, bytes.as_mut_ptr().cast()) };
        if status == 0 { Ok(bytes) } else { Err(status) }
    }
}

impl Drop for OpenProgram<'_> {
    fn drop(&mut self) {
        // SAFETY: the program is open and closed only here. A failure only leaks it.
        let _ = unsafe { (self.functions.nvrtcDestroyProgram)(&mut self.program) };
    }
}
