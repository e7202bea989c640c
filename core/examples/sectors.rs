//! Prints the sectors that the model predicts for every kernel on a grid, launch by launch, to be
//! held against `l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum` of Nsight Compute:
//! `cargo run -p sparsescope-core --example sectors -- MATRIX [BLOCK [SIGMA]]`, MATRIX being a file or a
//! recipe such as `gen:poisson2d?n=300` and SIGMA the window in which kernels sort rows that take them so.

use std::error::Error;
use std::time::Instant;

use sparsescope_core::experiment::{LoadedValues, MatrixSource};
use sparsescope_core::io::Progress;
use sparsescope_core::kernel::parameters::SIGMA;
use sparsescope_core::kernel::{
    Allowed, DeviceKind, FormatParams, KernelDescriptor, Mapping, all_kernels,
};
use sparsescope_core::layout::{LaunchKind, Loops, Schedule, Traffic};
use sparsescope_core::memory::MemoryLimit;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let matrix = arguments.next().ok_or("which matrix? give a file or a recipe")?;
    let block: u32 = arguments.next().map_or(Ok(128), |block| block.parse())?;
    let sigma: usize = arguments.next().map_or(Ok(1), |sigma| sigma.parse())?;
    let limit = MemoryLimit::of_machine();
    let source = MatrixSource::parse(&matrix)?;
    let read = source.load_values(limit, Progress::none(), &false.into())?;
    let LoadedValues::Real(a) = read.values else { return Err("a complex matrix".into()) };
    eprintln!("{matrix}: {} x {}, {} entries", a.rows(), a.cols(), a.nnz());
    println!("kernel,block,launch,array,load_requests,load_sectors,store_sectors");
    let on_gpu = |k: &&'static KernelDescriptor| {
        k.device == DeviceKind::Cuda && matches!(k.mapping, Mapping::Grid(_))
    };
    for kernel in all_kernels().filter(on_gpu) {
        let Some(format) = kernel.format() else { continue };
        let sorts = kernel.allowed(SIGMA.id()) == Some(Allowed::Any);
        let sigma = if sorts { sigma } else { 1 };
        let params = FormatParams { sigma, ..FormatParams::default() };
        let format = match format.with(&params).build(&a, limit) {
            Ok(format) => format,
            Err(error) => {
                eprintln!("{}: {error}", kernel.id);
                continue;
            }
        };
        let schedule = match Schedule::new(kernel, &format, block, Loops::AsCompiled) {
            Ok(schedule) => schedule,
            Err(error) => {
                eprintln!("{}: {error}", kernel.id);
                continue;
            }
        };
        let start = Instant::now();
        let traffic = Traffic::of(&schedule);
        eprintln!("{}: {:.2} s", kernel.id, start.elapsed().as_secs_f64());
        for launch in &traffic.launches {
            let line = |array: &str, loads: [u64; 2], stores: u64| {
                let kind = match launch.launch.kind {
                    LaunchKind::Rows => "Rows",
                    LaunchKind::Spans => "Spans",
                    LaunchKind::Carry => "Carry",
                };
                let [requests, sectors] = loads;
                println!("{},{block},{kind},{array},{requests},{sectors},{stores}", kernel.id);
            };
            for a in &launch.arrays {
                line(a.array.as_str(), [a.loads.requests, a.loads.sectors], a.stores.sectors);
            }
            let loads = launch.loads();
            line("all", [loads.requests, loads.sectors], launch.stores().sectors);
        }
    }
    Ok(())
}
