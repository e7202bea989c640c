//! `sparsescope devices`: this machine, measured.

use std::fmt::Write;

use sparsescope_core::measure::{Devices, cpu, default_thread_counts};
use sparsescope_core::memory::gigabytes;
use sparsescope_core::record::{Cpu, Gpu, GpuAbsence};
use sparsescope_core::spmv::simd::Level;

use super::args::DevicesArgs;
use super::interrupt::Interrupt;
use super::outcome::Outcome;
use super::output::{print, print_json};
use super::table::{counted, render, table, three_digits};
use super::{adapter, gpu};

pub(super) fn run(args: &DevicesArgs, interrupt: &Interrupt) -> anyhow::Result<Outcome> {
    let threads = match args.threads.as_slice() {
        [] => default_thread_counts(cpu().logical),
        given => given.to_vec(),
    };
    let mut devices = Devices::measure(&threads, interrupt.flag())?;
    match gpus("cuda", gpu::count(), gpu::open) {
        Ok(mut gpus) => {
            gpus.extend(together(gpus.len()));
            (devices.gpus, devices.gpus_absent) = (gpus, None);
        }
        Err(absence) => devices.gpus_absent = Some(absence.to_string()),
    }
    match gpus("wgpu", adapter::count(), adapter::open) {
        Ok(gpus) => devices.gpus.extend(gpus),
        // The reason for the missing device is printed once.
        Err(GpuAbsence::Disabled | GpuAbsence::NoWgpu) => {}
        Err(absence) => {
            let others = devices.gpus_absent.take().map(|why| format!("{why}; "));
            devices.gpus_absent = Some(format!("{}{absence}", others.unwrap_or_default()));
        }
    }
    if args.json {
        print_json(&devices)?;
    } else {
        print(&describe(&devices)?)?;
    }
    Ok(Outcome::Success)
}

/// Every GPU of a backend, measured, with its name on the command line.
fn gpus(
    backend: &str,
    count: Result<usize, GpuAbsence>,
    open: impl Fn(usize) -> Result<gpu::Gpu, GpuAbsence>,
) -> Result<Vec<Gpu>, GpuAbsence> {
    let mut all = Vec::new();
    for device in 0..count? {
        let mut described = open(device)?.describe();
        if let Some(gpu) = &mut described {
            gpu.details
                .insert("chosen by".to_owned(), format!("--backend {backend} --device {device}"));
        }
        all.extend(described);
    }
    Ok(all)
}

/// What this many GPUs send to one another, if there are several and NCCL.
fn together(count: usize) -> Option<Gpu> {
    if count < 2 {
        return None;
    }
    match gpu::several() {
        Ok(several) => several.describe(),
        Err(absence) => {
            eprintln!("note: {absence}");
            None
        }
    }
}

fn describe(devices: &Devices) -> Result<String, std::fmt::Error> {
    let cpu = &devices.cpu;
    let mut out = String::new();
    writeln!(out, "CPU         {} ({})", cpu.model, cpu.architecture)?;
    let on = |cores: u32| format!(" on {}", counted(cores as usize, "core", "cores"));
    let cores = cpu.physical.map_or(String::new(), on);
    writeln!(out, "threads     {}{cores}", cpu.logical)?;
    let instructions = instructions(cpu, Level::of_machine(), Level::for_gathers());
    writeln!(out, "SIMD        {instructions}")?;
    for cache in &cpu.caches {
        let shared = match cache.shared_by {
            Some(1) | None => String::new(),
            Some(n) => format!(", shared by {n} threads"),
        };
        let size = gigabytes(cache.bytes);
        writeln!(out, "cache       L{} {}: {size}{shared}", cache.level, cache.kind)?;
    }
    if let Some(governor) = &cpu.governor {
        writeln!(out, "governor    {governor}")?;
    }
    writeln!(out, "memory      {}", gigabytes(devices.memory_bytes))?;
    writeln!(out, "system      {}\n", devices.os)?;
    let headings = ["threads", "copy GB/s", "triad GB/s", "read GB/s", "array size"];
    let mut bandwidth = table(&headings, &[0, 1, 2, 3, 4]);
    for b in &devices.bandwidth {
        let gbs = |rate: f64| three_digits(rate / 1e9);
        let row = [gbs(b.copy), gbs(b.triad), gbs(b.read), gigabytes(b.array_bytes)];
        bandwidth.add_row([b.threads.to_string()].into_iter().chain(row));
    }
    out.push_str(&render(&bandwidth));
    writeln!(out)?;
    for gpu in &devices.gpus {
        let is_software = gpu.details.get("kind").is_some_and(|kind| kind.starts_with("software"));
        let label = if is_software { "no GPU      " } else { "GPU         " };
        writeln!(out, "{label}{}", gpu.model)?;
        if let Some(copy) = gpu.copy {
            writeln!(out, "            copy {} GB/s", three_digits(copy / 1e9))?;
        }
        for (name, value) in &gpu.details {
            writeln!(out, "            {name} {value}")?;
        }
    }
    if let Some(reason) = &devices.gpus_absent {
        writeln!(out, "GPU         none: {reason}")?;
    }
    Ok(out)
}

/// The SIMD extensions of a CPU, and on a line of its own which are used instead of slow gathers.
fn instructions(cpu: &Cpu, widest: Level, for_gathers: Level) -> String {
    let mut text = cpu.simd.join(" ");
    if for_gathers != widest {
        let [widest, used] = [widest, for_gathers].map(Level::as_str);
        text += &format!("\n            {widest} gathers slowly: kernels that gather x use {used}");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slow_gathers_are_named_after_the_extensions() {
        let cpu = Cpu { simd: vec!["avx2".to_owned(), "avx512f".to_owned()], ..Cpu::default() };
        let usual = instructions(&cpu, Level::Avx512, Level::Avx512);
        assert_eq!(usual, "avx2 avx512f");
        let slow = instructions(&cpu, Level::Avx512, Level::Avx2);
        let expected = "\n            avx512 gathers slowly: kernels that gather x use avx2";
        assert_eq!(slow.strip_prefix(&usual), Some(expected));
    }
}
