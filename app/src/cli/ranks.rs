//! Whether an MPI launcher started this process as one of several ranks.

use super::args::Command;

/// Variables in which launchers give each rank the number of ranks: Open MPI; MPICH, Intel MPI and Slurm's
/// PMI-2; MVAPICH.
const SIZES: [&str; 3] = ["OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "MV2_COMM_WORLD_SIZE"];

/// The number of ranks that a launcher started; nothing if there was no launcher.
pub(super) fn launched() -> Option<usize> {
    let size = |name: &&str| std::env::var(name).ok()?.parse().ok();
    SIZES.iter().find_map(size)
}

/// Variables that hold the rank's own number.
const NUMBERS: [&str; 3] = ["OMPI_COMM_WORLD_RANK", "PMI_RANK", "MV2_COMM_WORLD_RANK"];

/// Whether this is the rank that prints for all, or the only process.
pub(super) fn speaks() -> bool {
    NUMBERS.iter().find_map(|name| std::env::var(name).ok()).is_none_or(|number| number == "0")
}

/// Whether all ranks compute one result of this command together. Other commands run on each rank separately,
/// and so does a part of a plan, which belongs to one rank.
pub(super) fn is_shared(command: &Command) -> bool {
    match command {
        Command::Bench(args) => args.shard.is_none(),
        Command::Spmv(_) | Command::Solve(_) => true,
        _ => false,
    }
}

/// Why several ranks cannot run such a command, if this build has no MPI.
#[cfg(not(feature = "mpi"))]
pub(super) fn refusal(command: &Command) -> Option<String> {
    let ranks = launched().filter(|&ranks| ranks > 1 && is_shared(command))?;
    Some(format!(
        "{ranks} ranks were started, but this build has no MPI; build one with \
         `cargo build --release --features mpi`, which needs `mpicc` and libclang"
    ))
}
