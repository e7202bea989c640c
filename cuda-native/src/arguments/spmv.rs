//! Arguments of our own SpMV and SpMM kernels.

use super::*;

arguments! {
    /// y = A·x in CSR by tiles.
    CsrTiles<'a, real T from V, offset O> of CsrAdaptive [
        csr_adaptive_128x4, csr_adaptive_128x6, csr_adaptive_256x4, csr_adaptive_256x6,
        csr_adaptive_512x4
    ] (
        plan: Reads<'a, u32>, row_ptr: Reads<'a, O>, col: Reads<'a, u32>, val: Reads<'a, V>,
        x: Reads<'a, T>, y: Writes<'a, T>, part_sum: Writes<'a, T>, arrived: Writes<'a, u32>
    )

    /// y = A·x in CSR by windows of columns.
    CsrWindows<'a, real T from V> of CsrWindows [
        csr_adaptive_windows_512x32, csr_adaptive_windows_1024x16
    ] (
        width: u32, cols: u32, blocks: Reads<'a, u32>, pieces: Reads<'a, u32>,
        groups: Reads<'a, u32>, part_ptr: Reads<'a, u32>, col: Reads<'a, u32>, val: Reads<'a, V>,
        x: Reads<'a, T>, y: Writes<'a, T>, part_sum: Writes<'a, T>, arrived: Writes<'a, u32>
    )

    /// y = A·x in CSR by bands of rows.
    CsrBands<'a, real T from V> of CsrWindows [
        csr_adaptive_bands_1024x4, csr_adaptive_bands_1024x8
    ] (
        width: u32, bands: Reads<'a, u32>, tiles: Reads<'a, u32>, parts: Reads<'a, u32>,
        near: Reads<'a, u16>, ends: Reads<'a, u16>, col: Reads<'a, u32>, val: Reads<'a, V>,
        x: Reads<'a, T>, y: Writes<'a, T>, part_sum: Writes<'a, T>, arrived: Writes<'a, u32>
    )

    /// y = A·x in column-major HLL, each row up to its own length.
    HllColumnMajor<'a, real T> of HllColumnMajor [hll_column_major] (
        rows: u32, hack_size: u32, lanes: u32, offsets: Reads<'a, u64>, row_len: Reads<'a, u32>,
        col: Reads<'a, u32>, val: Reads<'a, T>, x: Reads<'a, T>, y: Writes<'a, T>
    )

    /// The same with rows in another order, and some kept apart.
    HllSigma<'a, real T> of HllColumnMajor [hll_sigma] (
        in_hacks: u32, apart: u32, hack_size: u32, lanes: u32, offsets: Reads<'a, u64>,
        row_len: Reads<'a, u32>, row_of: Reads<'a, u32>, col: Reads<'a, u32>, val: Reads<'a, T>,
        tail_ptr: Reads<'a, u64>, tail_col: Reads<'a, u32>, tail_val: Reads<'a, T>,
        x: Reads<'a, T>, y: Writes<'a, T>
    )

    /// y = A·x in compact HLL, values uncompressed.
    HllCompactPlain<'a, real T from V> of HllCompact [hll_compact_plain] (
        in_hacks: u32, permuted: u32, row_of: Reads<'a, u32>, group_ptr: Reads<'a, u32>,
        base: Reads<'a, u32>, low: Reads<'a, u16>, high: Reads<'a, u16>, val: Reads<'a, V>,
        x: Reads<'a, T>, y: Writes<'a, T>
    )

    /// The same with 8-bit codes; the functions with codes read no values, so that they have these
    /// arguments in the variants for any stored values.
    HllCompactByte<'a, real T> of HllCompact [hll_compact_byte] (
        in_hacks: u32, permuted: u32, row_of: Reads<'a, u32>, group_ptr: Reads<'a, u32>,
        base: Reads<'a, u32>, low: Reads<'a, u16>, high: Reads<'a, u16>, codes: Reads<'a, u8>,
        distinct: u32, dictionary: Reads<'a, T>, x: Reads<'a, T>, y: Writes<'a, T>
    )

    /// The same with 16-bit codes.
    HllCompactShort<'a, real T> of HllCompact [hll_compact_short] (
        in_hacks: u32, permuted: u32, row_of: Reads<'a, u32>, group_ptr: Reads<'a, u32>,
        base: Reads<'a, u32>, low: Reads<'a, u16>, high: Reads<'a, u16>, codes: Reads<'a, u16>,
        dictionary: Reads<'a, T>, x: Reads<'a, T>, y: Writes<'a, T>
    )

    /// y = A·x in BSR.
    BsrWarp<'a, real T, offset O> of Bsr [
        bsr_warp_2, bsr_warp_3, bsr_warp_4, bsr_warp_5, bsr_warp_6, bsr_warp_7, bsr_warp_8
    ] (
        rows: u32, cols: u32, row_ptr: Reads<'a, O>, col: Reads<'a, u32>, val: Reads<'a, T>,
        x: Reads<'a, T>, y: Writes<'a, T>
    )

    /// y = A·x in diagonals.
    Dia<'a, real T> of Dia [dia_thread_per_row] (
        rows: u32, cols: u64, diagonals: u32, offsets: Reads<'a, u64>, val: Reads<'a, T>,
        x: Reads<'a, T>, y: Writes<'a, T>
    )

    /// Y = A·X in CSR.
    Spmm<'a, real T from V, offset O> of Spmm [
        spmm_row_split_1, spmm_row_split_2, spmm_row_split_4, spmm_row_split_ahead_2,
        spmm_row_split_ahead_4, spmm_row_split_two_packs, spmm_row_split_halves,
        spmm_row_split_quarters
    ] (
        rows: u32, columns: u32, row_ptr: Reads<'a, O>, col: Reads<'a, u32>, val: Reads<'a, V>,
        x: Reads<'a, T>, y: Writes<'a, T>
    )

    /// The same, with nonzeros in shared memory.
    SpmmStaged<'a, real T from V, offset O> of Spmm [spmm_row_split_staged] (
        rows: u32, columns: u32, at_once: u32, row_ptr: Reads<'a, O>, col: Reads<'a, u32>,
        val: Reads<'a, V>, x: Reads<'a, T>, y: Writes<'a, T>
    )

    /// The same by groups of rows with the same columns.
    SpmmEqual<'a, real T from V, offset O> of Spmm [
        spmm_row_split_equal_2, spmm_row_split_equal_3
    ] (
        groups: u32, columns: u32, first_row: Reads<'a, u32>, row_ptr: Reads<'a, O>,
        col: Reads<'a, u32>, val: Reads<'a, V>, x: Reads<'a, T>, y: Writes<'a, T>
    )

    /// The same with long rows in parts.
    SpmmLong<'a, real T from V, offset O> of Spmm [
        spmm_row_split_long_1, spmm_row_split_long_2, spmm_row_split_long_4
    ] (
        rows: u32, columns: u32, longest: u32, of_part: u32, parts: u32, width: u32,
        plan: Reads<'a, u32>, row_ptr: Reads<'a, O>, col: Reads<'a, u32>, val: Reads<'a, V>,
        x: Reads<'a, T>, y: Writes<'a, T>, carry: Writes<'a, T>, arrived: Writes<'a, u32>
    )

    /// Y = A·X in CSR by pieces of the merge path, except the carries of blocks.
    SpmmMerge<'a, real T from V, offset O> of Spmm [spmm_merge_1, spmm_merge_2, spmm_merge_4] (
        rows: u32, columns: u32, width: u32, steps: u32, pieces: u64, first_row: Reads<'a, u32>,
        row_ptr: Reads<'a, O>, col: Reads<'a, u32>, val: Reads<'a, V>, x: Reads<'a, T>,
        y: Writes<'a, T>, carry: Writes<'a, T>
    )

    /// Y ← Y + the carries of blocks; it reads no value of the matrix, so that it has these arguments
    /// in the variants for any stored values.
    SpmmMergeCarry<'a, real T, offset O> of Spmm [
        spmm_merge_carry_1, spmm_merge_carry_2, spmm_merge_carry_4
    ] (
        columns: u32, at_once: u32, steps: u32, pieces: u64, first_row: Reads<'a, u32>,
        row_ptr: Reads<'a, O>, carry: Reads<'a, T>, y: Writes<'a, T>
    )

    /// Y = A·X in BSR.
    SpmmBsr<'a, real T from V, offset O> of SpmmBsr [spmm_bsr_1, spmm_bsr_2, spmm_bsr_4] (
        rows: u32, cols: u32, columns: u32, row_ptr: Reads<'a, O>, col: Reads<'a, u32>,
        val: Reads<'a, V>, x: Reads<'a, T>, y: Writes<'a, T>
    )

    /// Y = A·X in column-major HLL.
    SpmmHll<'a, real T> of SpmmHll [spmm_hll_1, spmm_hll_2, spmm_hll_4] (
        rows: u32, columns: u32, hack_size: u32, permuted: u32, offsets: Reads<'a, u64>,
        row_len: Reads<'a, u32>, row_of: Reads<'a, u32>, col: Reads<'a, u32>, val: Reads<'a, T>,
        x: Reads<'a, T>, y: Writes<'a, T>
    )

    /// CSR into column-major hacks.
    ConvertHll<'a, real T, offset O> of Convert [convert_hll] (
        in_hacks: u32, stored: u32, hack_size: u32, permuted: u32, room: u32,
        row_of: Reads<'a, u32>, row_ptr: Reads<'a, O>, csr_col: Reads<'a, u32>,
        csr_val: Reads<'a, T>, offsets: Reads<'a, u64>, max_nzr: Reads<'a, u32>,
        row_len: Writes<'a, u32>, col: Writes<'a, u32>, val: Writes<'a, T>
    )

    /// CSR in the order of its transpose.
    ConvertTransposed<'a, real T, offset O> of Convert [convert_transposed] (
        entries: u32, rows: u32, row_ptr: Reads<'a, O>, order: Reads<'a, u32>,
        csr_val: Reads<'a, T>, col: Writes<'a, u32>, val: Writes<'a, T>
    )
}
