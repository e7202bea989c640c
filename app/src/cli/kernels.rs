//! `sparsescope kernels`: lists every kernel.

use serde::Serialize;
use sparsescope_core::experiment::{Availability, Backend, CpuBackend};
use sparsescope_core::kernel::{DeviceKind, KernelDescriptor, all_kernels, distributed_kernels};
use sparsescope_core::record::{GpuAbsence, Operation, Precision};

use super::adapter;
use super::args::KernelsArgs;
use super::gpu::{self, Gpu};
use super::outcome::Outcome;
use super::output::{print, print_json};
use super::table::{render, table};

/// One element of the JSON array of `kernels`.
#[derive(Serialize)]
struct Kernel {
    id: &'static str,
    operation: &'static str,
    format: &'static str,
    device: &'static str,
    mapping: &'static str,
    origin: Vec<String>,
    needs_finite_x: bool,
    available: bool,
    reason: Option<String>,
    precisions: &'static [Precision],
}

impl Kernel {
    fn of(
        k: &KernelDescriptor,
        cpu: &CpuBackend,
        gpu: &Result<Gpu, GpuAbsence>,
        several: &Result<Gpu, GpuAbsence>,
        adapter: &Result<Gpu, GpuAbsence>,
    ) -> Self {
        let availability = match k.device {
            DeviceKind::Cpu => cpu.availability(k),
            DeviceKind::Ranks => on_ranks(),
            DeviceKind::Cuda => gpu::availability(gpu, k),
            DeviceKind::Nccl => gpu::availability(several, k),
            DeviceKind::Wgpu => adapter::availability(adapter, k),
        };
        let reason = match availability {
            Availability::Available => None,
            Availability::Missing(reason) => Some(reason),
        };
        Self {
            id: k.id,
            operation: k.operation.as_str(),
            format: k.what(),
            device: k.device.as_str(),
            mapping: k.summary,
            origin: k.origin_names(),
            needs_finite_x: k.needs.finite_x,
            available: reason.is_none(),
            reason,
            precisions: k.precisions,
        }
    }
}

/// Kernels of several ranks run wherever `mpirun` starts ranks of a build with MPI.
fn on_ranks() -> Availability {
    match cfg!(feature = "mpi") {
        true => Availability::Available,
        false => Availability::Missing("this build has no MPI (`--features mpi`)".to_owned()),
    }
}

pub(super) fn run(args: &KernelsArgs) -> anyhow::Result<Outcome> {
    let cpu = CpuBackend::new();
    let (gpu, several) = (gpu::open(args.gpu.device), gpu::several());
    let adapter = adapter::open(args.gpu.device);
    let kernels: Vec<Kernel> = all_kernels()
        .chain(Operation::ALL.iter().flat_map(|&operation| distributed_kernels(operation)))
        .map(|k| Kernel::of(k, &cpu, &gpu, &several, &adapter))
        .collect();
    if args.json {
        print_json(&kernels)?;
        return Ok(Outcome::Success);
    }
    let mut list = table(&["kernel", "operation", "origin", "here", "mapping"], &[]);
    for k in kernels {
        let here = k.reason.map_or("yes".to_owned(), |reason| format!("no: {reason}"));
        list.add_row([k.id, k.operation, &k.origin.join(" "), &here, k.mapping]);
    }
    print(&render(&list))?;
    Ok(Outcome::Success)
}
