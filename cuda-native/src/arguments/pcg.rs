//! Arguments of the kernels of conjugate gradients.

use super::*;

arguments! {
    /// y = A·x in CSR by tiles, and with·y.
    CsrTilesSolver<'a, real T from V, offset O> of CsrAdaptive [
        csr_adaptive_solver_128x4, csr_adaptive_solver_128x6, csr_adaptive_solver_256x4,
        csr_adaptive_solver_256x6, csr_adaptive_solver_512x4
    ] (
        plan: Reads<'a, u32>, row_ptr: Reads<'a, O>, col: Reads<'a, u32>, val: Reads<'a, V>,
        x: Reads<'a, T>, y: Writes<'a, T>, part_sum: Writes<'a, T>, arrived: Writes<'a, u32>,
        purpose: u32, with: Reads<'a, T>, parts: Writes<'a, T>, counts: Writes<'a, u32>,
        numbers: Writes<'a, T>, words: Reads<'a, u32>
    )

    /// y = A·x in column-major HLL, and with·y; `near` is the number of windows where columns are
    /// stored as distances: those in a row's first slots, whose number is in the upper half of its
    /// length, count from `base` + row, the others from 65 536 further. In the kernels of codes, `val`
    /// has `distinct` values, and slots have the codes of theirs. In the kernel of fours, four of a row
    /// are adjacent, and a code's top bit tells between windows. Each kernel ignores the arrays that its
    /// form does not have.
    HllColumnMajorSolver<'a> of HllSolver [
        hll_column_major_solver, hll_coded_solver, hll_fours_solver
    ] (
        rows: u32, lanes: u32, offsets: Reads<'a, u64>, row_len: Reads<'a, u32>, near: u32,
        base: u32, col: Reads<'a, u32>, distance: Reads<'a, u16>,
        distinct: u32, codes: Reads<'a, u8>, val: Reads<'a, f64>, x: Reads<'a, f64>,
        y: Writes<'a, f64>, purpose: u32, with: Reads<'a, f64>, parts: Writes<'a, f64>,
        counts: Writes<'a, u32>, numbers: Writes<'a, f64>, words: Reads<'a, u32>
    )

    /// The distances of columns from the start of their window, and the number of a row's in the
    /// low window, above its length.
    HllDistances<'a> of HllSolver [hll_distances] (
        rows: u32, offsets: Reads<'a, u64>, row_len: Writes<'a, u32>, base: u32,
        col: Reads<'a, u32>, distance: Writes<'a, u16>
    )

    /// y = A·x in ELLPACK, each row up to its own length.
    EllSolver<'a, real T> of Ell [ell_column_major_solver] (
        rows: u32, row_len: Reads<'a, u32>, col: Reads<'a, u32>, val: Reads<'a, T>,
        x: Reads<'a, T>, y: Writes<'a, T>, words: Reads<'a, u32>
    )

    /// y ← y + A·x in COO, except the carries of spans.
    CooSegmentedSolver<'a, real T> of Coo [coo_segmented_solver] (
        entries: u64, span: u64, row: Reads<'a, u32>, col: Reads<'a, u32>, val: Reads<'a, T>,
        x: Reads<'a, T>, y: Writes<'a, T>, carry_row: Writes<'a, u32>,
        carry_sum: Writes<'a, T>, words: Reads<'a, u32>
    )

    /// y ← y + the carries of spans.
    CooCarrySolver<'a, real T> of Coo [coo_carry_solver] (
        spans: u64, carry_row: Reads<'a, u32>, carry_sum: Reads<'a, T>, y: Writes<'a, T>,
        words: Reads<'a, u32>
    )

    /// Widths, multiples of a number, and offsets of column-major hacks whose rows lie in their own
    /// order; the first kernel uses no `offsets`, the second no `row_ptr`.
    PlanHacks<'a, offset O> of CsrSetup [csr_setup_widths, csr_setup_offsets] (
        rows: u32, hack_size: u32, multiple: u32, row_ptr: Reads<'a, O>,
        max_nzr: Writes<'a, u32>, sums: Writes<'a, u64>, offsets: Writes<'a, u64>
    )

    /// Minimum and maximum distance of columns from their rows, plus 2³², and whether any row has a
    /// length of more than 16 bits; other rows come `before` these.
    CsrRange<'a, offset O> of CsrSetup [csr_setup_range] (
        rows: u32, before: u32, row_ptr: Reads<'a, O>, col: Reads<'a, u32>,
        range: Writes<'a, u64>
    )

    /// Distinct values, numbered after 0, and where each is in a hash table.
    CsrDistinct<'a, offset O> of CsrSetup [csr_setup_distinct] (
        rows: u32, apart: u64, row_ptr: Reads<'a, O>, val: Reads<'a, f64>, capacity: u32,
        keys: Writes<'a, u64>, index: Writes<'a, u32>, distinct: Writes<'a, f64>,
        count: Writes<'a, u32>
    )

    /// Column-major hacks, with distances in `near` windows unless it is 0, and with codes from that
    /// table of the `distinct` values if there are any. A warp has shared memory for `room` nonzeros.
    /// The kernel ignores the arrays that this form does not have.
    CsrHacks<'a, offset O> of CsrSetup [csr_setup_hacks] (
        rows: u32, room: u32, row_ptr: Reads<'a, O>, csr_col: Reads<'a, u32>,
        csr_val: Reads<'a, f64>, offsets: Reads<'a, u64>, near: u32, base: u32, capacity: u32,
        keys: Reads<'a, u64>, index: Reads<'a, u32>, distinct: u32, missing: Writes<'a, u32>,
        row_len: Writes<'a, u32>, col: Writes<'a, u32>, distance: Writes<'a, u16>,
        codes: Writes<'a, u8>, val: Writes<'a, f64>
    )

    /// The reciprocals of the diagonal.
    Reciprocals<'a, offset O> of CsrSetup [csr_setup_reciprocals] (
        rows: u32, row_ptr: Reads<'a, O>, col: Reads<'a, u32>, val: Reads<'a, f64>,
        inverse: Writes<'a, f64>
    )

    /// r = b and ‖b‖.
    PcgBegin<'a> of Pcg [pcg_begin] (
        n: u32, span: u32, tol: f64, b: Reads<'a, f64>, r: Writes<'a, f64>,
        parts: Writes<'a, f64>, counts: Writes<'a, u32>, numbers: Writes<'a, f64>
    )

    /// α from the parts of p·q, and r −= α·q; leaves parts of r·r and of r·z.
    PcgReduce<'a> of Pcg [pcg_reduce] (
        n: u32, span: u32, is_first: u32, form: u32, inverse: Reads<'a, f64>, q: Reads<'a, f64>,
        r: Writes<'a, f64>, product_parts: u32, product: Reads<'a, f64>, residual: Writes<'a, f64>,
        residual_counts: Writes<'a, u32>, scaled: Writes<'a, f64>,
        scaled_counts: Writes<'a, u32>, numbers: Writes<'a, f64>, words: Writes<'a, u32>,
        told: Writes<'a, f64>
    )

    /// ‖r‖ and β from the parts of r·r and of r·z, where there are any; x += α·p, p = z + β·p.
    PcgAdvance<'a> of Pcg [pcg_advance] (
        n: u32, span: u32, form: u32, most: u32, inverse: Reads<'a, f64>, z: Reads<'a, f64>,
        x: Writes<'a, f64>, p: Writes<'a, f64>, residual_parts: u32, residual: Reads<'a, f64>,
        scaled_parts: u32, scaled: Reads<'a, f64>, numbers: Writes<'a, f64>,
        words: Writes<'a, u32>, told: Writes<'a, f64>
    )

    /// a·b.
    PcgDot<'a> of Pcg [pcg_dot] (
        n: u32, span: u32, purpose: u32, a: Reads<'a, f64>, b: Reads<'a, f64>,
        parts: Writes<'a, f64>, counts: Writes<'a, u32>, numbers: Writes<'a, f64>,
        words: Reads<'a, u32>
    )

    /// Adds the last update to x.
    PcgFinish<'a> of Pcg [pcg_finish] (
        n: u32, span: u32, p: Reads<'a, f64>, x: Writes<'a, f64>, numbers: Reads<'a, f64>
    )

    /// z = D⁻¹·r.
    PcgScale<'a> of Pcg [pcg_scale] (
        n: u32, span: u32, inverse: Reads<'a, f64>, r: Reads<'a, f64>, z: Writes<'a, f64>
    )

    /// r = b and a GPU's share of b·b.
    PcgShareBegin<'a> of Pcg [pcg_share_begin] (
        n: u32, span: u32, b: Reads<'a, f64>, r: Writes<'a, f64>, parts: Writes<'a, f64>,
        counts: Writes<'a, u32>, shares: Writes<'a, f64>
    )

    /// r −= α·q and a GPU's shares of r·r and r·z.
    PcgShareReduce<'a> of Pcg [pcg_share_reduce] (
        n: u32, span: u32, is_first: u32, form: u32, inverse: Reads<'a, f64>, q: Reads<'a, f64>,
        r: Writes<'a, f64>, parts: Writes<'a, f64>, counts: Writes<'a, u32>,
        numbers: Reads<'a, f64>, words: Reads<'a, u32>, shares: Writes<'a, f64>
    )

    /// Computes scalars from the totals.
    PcgConclude<'a> of Pcg [pcg_conclude] (
        at: u32, most: u32, tol: f64, totals: Reads<'a, f64>,
        numbers: Writes<'a, f64>, words: Writes<'a, u32>, told: Writes<'a, f64>
    )

    /// Elements of x that other GPUs need.
    HaloPack<'a> of Halo [halo_pack] (
        n: u32, list: Reads<'a, u32>, x: Reads<'a, f64>, out: Writes<'a, f64>
    )
}
