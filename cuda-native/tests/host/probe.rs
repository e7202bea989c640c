//! The probe against missing, broken or old drivers: small libraries that behave like such drivers,
//! each in its own process.

use std::path::Path;
use std::process::Command;

use sparsescope_cuda::{DRIVER_SYMBOLS, probe};

const CHILD: &str = "SPARSESCOPE_PROBE_CHILD";

/// Runs in the child: prints the probe's result.
#[test]
fn child() {
    if std::env::var_os(CHILD).is_some() {
        match probe() {
            Ok(found) => println!("\nprobe: {} devices, {}", found.devices, found.version_name()),
            Err(absence) => println!("\nprobe: {absence}"),
        }
    }
}

/// A driver library: every function succeeds, except as the case says.
struct Driver {
    version: i32,
    init: i32,
    devices: i32,
    without: &'static [&'static str],
}

const WORKING: Driver = Driver { version: 13000, init: 0, devices: 2, without: &[] };

impl Driver {
    fn source(&self) -> String {
        let Self { version, init, devices, without } = self;
        let mut source = String::new();
        for symbol in DRIVER_SYMBOLS.iter().filter(|symbol| !without.contains(symbol)) {
            source += &match *symbol {
                "cuDriverGetVersion" => {
                    format!("int {symbol}(int* v) {{ *v = {version}; return 0; }}\n")
                }
                "cuInit" => format!("int {symbol}(unsigned f) {{ return {init}; }}\n"),
                "cuDeviceGetCount" => {
                    format!("int {symbol}(int* n) {{ *n = {devices}; return 0; }}\n")
                }
                "cuGetErrorName" | "cuGetErrorString" => {
                    format!("int {symbol}(int e, const char** s) {{ *s = \"OOPS\"; return 0; }}\n")
                }
                _ => format!("int {symbol}(void) {{ return 0; }}\n"),
            };
        }
        source
    }

    /// Builds it under both names that the program may load.
    fn build(&self, folder: &Path) {
        let source = folder.join("driver.c");
        std::fs::write(&source, self.source()).unwrap();
        for name in ["libcuda.so", "libcuda.so.1"] {
            let mut cc = Command::new("cc");
            cc.args(["-shared", "-fPIC", "-o"]).arg(folder.join(name)).arg(&source);
            assert!(cc.status().unwrap().success());
        }
    }
}

/// The probe's result if `libraries` is searched first.
fn probed(libraries: &Path, gpu: &str) -> String {
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "probe::child", "--nocapture", "--test-threads=1"])
        .env("LD_LIBRARY_PATH", libraries)
        .env("SPARSESCOPE_GPU", gpu)
        .env(CHILD, "1")
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{text}{}", String::from_utf8_lossy(&output.stderr));
    let line = text.lines().find_map(|line| line.strip_prefix("probe: "));
    line.unwrap_or_else(|| panic!("no answer: {text}")).to_owned()
}

fn probed_with(driver: &Driver) -> String {
    let folder = tempfile::tempdir().unwrap();
    driver.build(folder.path());
    probed(folder.path(), "on")
}

#[test]
fn a_driver_that_works_is_found_with_any_number_of_devices() {
    assert_eq!(probed_with(&WORKING), "2 devices, 13.0");
    assert_eq!(probed_with(&Driver { version: 12040, devices: 9, ..WORKING }), "9 devices, 12.4");
}

#[test]
fn each_way_to_have_no_gpu_is_told_apart() {
    let stub = probed_with(&Driver { init: 34, ..WORKING });
    assert!(stub.contains("is a stub"), "{stub}");

    let none = "the NVIDIA driver found no GPU";
    assert_eq!(probed_with(&Driver { devices: 0, ..WORKING }), none);
    assert_eq!(probed_with(&Driver { init: 100, ..WORKING }), none);

    let old = probed_with(&Driver { version: 11080, ..WORKING });
    assert_eq!(old, "the NVIDIA driver supports CUDA 11.8, expected 12.0 or newer");

    let lacking = probed_with(&Driver { without: &["cuGraphUpload"], ..WORKING });
    assert!(lacking.ends_with("it has no function cuGraphUpload"), "{lacking}");

    let empty = probed_with(&Driver { without: DRIVER_SYMBOLS, ..WORKING });
    assert!(empty.contains("does not report its version"), "{empty}");

    let mismatch = probed_with(&Driver { init: 803, ..WORKING });
    assert!(mismatch.contains("cuInit returned OOPS"), "{mismatch}");
}

#[test]
fn a_file_that_is_no_library_counts_as_no_driver() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["libcuda.so", "libcuda.so.1"] {
        std::fs::write(folder.path().join(name), "no library").unwrap();
    }
    // Where a real driver is installed, the loader falls back to that one.
    let said = probed(folder.path(), "on");
    assert!(said.contains("no NVIDIA driver was found") || said.contains("devices"), "{said}");
}

#[test]
fn gpus_can_be_turned_off_before_the_driver_is_touched() {
    let folder = tempfile::tempdir().unwrap();
    WORKING.build(folder.path());
    assert_eq!(probed(folder.path(), "off"), "GPUs are turned off by SPARSESCOPE_GPU=off");
}
