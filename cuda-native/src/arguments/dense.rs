//! Arguments of the kernels for batches of dense systems.

use super::*;

arguments! {
    /// One block per system, in shared memory.
    DenseGauss<'a> of Dense [dense_gauss_shared] (
        systems: u32, n: u32, given: u32, stride: u32, down: u32, across: u32,
        a: Reads<'a, f64>, b: Reads<'a, f64>, x: Writes<'a, f64>, flagged: Writes<'a, u8>
    )

    /// A library's status for each system.
    DenseLibraryFlags<'a> of Dense [dense_library_flags] (
        systems: u32, n: u32, signs: u32, info: Reads<'a, u32>, factors: Reads<'a, f64>,
        x: Writes<'a, f64>, flagged: Writes<'a, u8>
    )

    /// A square of threads per system, in registers.
    DenseCholesky<'a> of DenseCholesky [
        dense_cholesky_4, dense_cholesky_8, dense_cholesky_12, dense_cholesky_16,
        dense_cholesky_20, dense_cholesky_24, dense_cholesky_28, dense_cholesky_32,
        dense_cholesky_40, dense_cholesky_48, dense_cholesky_56, dense_cholesky_64,
        dense_cholesky_72, dense_cholesky_80, dense_cholesky_96, dense_cholesky_112,
        dense_cholesky_128, dense_cholesky_160, dense_cholesky_208
    ] (
        systems: u32, n: u32, given: u32, a: Reads<'a, f64>, b: Reads<'a, f64>,
        x: Writes<'a, f64>, flagged: Writes<'a, u8>
    )

    /// One block per system, in panels.
    DenseBlocked<'a> of DenseBlocked [dense_cholesky_blocked] (
        systems: u32, n: u32, given: u32, a: Reads<'a, f64>, b: Reads<'a, f64>,
        workspace: Writes<'a, f64>, x: Writes<'a, f64>, flagged: Writes<'a, u8>
    )
}
