//! Arguments of the kernels that set up factorised sparse approximate inverses.

use super::*;

arguments! {
    /// Counts the nonzeros up to the diagonals of A; extracts the diagonals.
    FsaiLower<'a, offset O> of FsaiPattern [fsai_pattern_lower] (
        rows: u32, on_diagonal: f64, row_ptr: Reads<'a, O>, col: Reads<'a, u32>,
        val: Reads<'a, f64>, low: Writes<'a, u32>, diagonal: Writes<'a, f64>
    )

    /// Nonzeros that the prefilter keeps.
    FsaiKept<'a, offset O> of FsaiPattern [fsai_pattern_kept] (
        rows: u32, delta: f64, write: u32, row_ptr: Reads<'a, O>, col: Reads<'a, u32>,
        val: Reads<'a, f64>, diagonal: Reads<'a, f64>, len: Writes<'a, u32>,
        kept: Writes<'a, u32>
    )

    /// The sum of numbers.
    FsaiTotal<'a> of FsaiOrder [fsai_order_total] (
        n: u32, numbers: Reads<'a, u32>, total: Writes<'a, u64>
    )

    /// Rows with the same columns as the previous one.
    FsaiSame<'a, offset O> of FsaiPattern [fsai_pattern_same] (
        rows: u32, row_ptr: Reads<'a, O>, len: Reads<'a, u32>, col: Reads<'a, u32>,
        same: Writes<'a, u8>
    )

    /// The lower triangle as a pattern.
    FsaiFirst<'a, offset O> of FsaiPattern [fsai_pattern_first] (
        rows: u32, fill: u32, row_ptr: Reads<'a, O>, len: Reads<'a, u32>, col: Reads<'a, u32>,
        ptr: Reads<'a, u32>, found: Writes<'a, u32>, out: Writes<'a, u32>
    )

    /// Patterns of powers in shared memory.
    FsaiReach<'a, offset O> of FsaiPattern [fsai_pattern_reach, fsai_pattern_reach_wide] (
        rows: u32, listed: u32, power: u32, climbing: u32, fill: u32, list: Reads<'a, u32>,
        row_ptr: Reads<'a, O>, len: Reads<'a, u32>, col: Reads<'a, u32>, same: Reads<'a, u8>,
        ptr: Reads<'a, u32>, found: Writes<'a, u32>, out: Writes<'a, u32>, left: Writes<'a, u32>,
        lefts: Writes<'a, u32>
    )

    /// The same for rows that do not fit there.
    FsaiReachLong<'a, offset O> of FsaiPattern [fsai_pattern_reach_long] (
        rows: u32, longs: u32, power: u32, climbing: u32, fill: u32, list: Reads<'a, u32>,
        row_ptr: Reads<'a, O>, len: Reads<'a, u32>, col: Reads<'a, u32>, ptr: Reads<'a, u32>,
        found: Writes<'a, u32>, out: Writes<'a, u32>, bits: Writes<'a, u32>,
        reached: Writes<'a, u32>
    )

    /// The group that each row joins or opens.
    FsaiGroupFind<'a> of FsaiGroup [fsai_group_find] (
        rows: u32, block_rows: u32, alpha: f64, ptr: Reads<'a, u32>, col: Reads<'a, u32>,
        marks: Writes<'a, u16>, opener: Writes<'a, u32>, begin: Writes<'a, u32>,
        len: Writes<'a, u32>, unions: Writes<'a, u32>
    )

    /// Marks the rows that open a group.
    FsaiGroupOpens<'a> of FsaiGroup [fsai_group_opens] (
        rows: u32, opener: Reads<'a, u32>, opens: Writes<'a, u32>
    )

    /// Numbers the groups.
    FsaiGroupNumber<'a> of FsaiGroup [fsai_group_number] (
        rows: u32, opener: Reads<'a, u32>, rank: Reads<'a, u32>, begin: Reads<'a, u32>,
        len: Reads<'a, u32>, group: Writes<'a, u32>, sys_begin: Writes<'a, u32>,
        sys_len: Writes<'a, u32>
    )

    /// Sorts the columns of unions.
    FsaiGroupSort<'a> of FsaiGroup [fsai_group_sort] (
        groups: u32, sys_begin: Reads<'a, u32>, sys_len: Reads<'a, u32>, unions: Writes<'a, u32>
    )

    /// Places of rows in their group's union.
    FsaiGroupPlace<'a> of FsaiGroup [fsai_group_place] (
        rows: u32, member: Reads<'a, u32>, group: Reads<'a, u32>, sys_begin: Reads<'a, u32>,
        sys_len: Reads<'a, u32>, unions: Reads<'a, u32>, place: Writes<'a, u32>,
        lengths: Writes<'a, u32>
    )

    /// Dense systems in shared memory and registers.
    FsaiSolve<'a, offset O> of FsaiSolve [
        fsai_solve_8, fsai_solve_16, fsai_solve_24, fsai_solve_32, fsai_solve_48, fsai_solve_64,
        fsai_solve_96, fsai_solve_112, fsai_solve_128, fsai_solve_160, fsai_solve_208
    ] (
        first: u32, systems: u32, gathered: u32, on_diagonal: f64, queue: Reads<'a, u32>,
        sys_begin: Reads<'a, u32>, sys_len: Reads<'a, u32>, sys_col: Reads<'a, u32>,
        row_ptr: Reads<'a, O>, low: Reads<'a, u32>, col: Reads<'a, u32>, val: Reads<'a, f64>,
        dense_ptr: Reads<'a, u64>, dense: Reads<'a, f64>, merged: u32,
        member_ptr: Reads<'a, u32>, member: Reads<'a, u32>, place: Reads<'a, u32>,
        g_ptr: Reads<'a, u32>, g_col: Writes<'a, u32>, g_val: Writes<'a, f64>,
        failed: Writes<'a, u32>
    )

    /// Dense systems in global memory.
    FsaiLong<'a, offset O> of FsaiLong [fsai_long_solve] (
        first: u32, systems: u32, gathered: u32, on_diagonal: f64, queue: Reads<'a, u32>,
        sys_begin: Reads<'a, u32>, sys_len: Reads<'a, u32>, sys_col: Reads<'a, u32>,
        row_ptr: Reads<'a, O>, low: Reads<'a, u32>, col: Reads<'a, u32>, val: Reads<'a, f64>,
        dense_ptr: Reads<'a, u64>, dense: Reads<'a, f64>, merged: u32,
        member_ptr: Reads<'a, u32>, member: Reads<'a, u32>, place: Reads<'a, u32>,
        g_ptr: Reads<'a, u32>, g_col: Writes<'a, u32>, g_val: Writes<'a, f64>,
        failed: Writes<'a, u32>, space: Writes<'a, f64>, stride: u64
    )

    /// Classifies systems by size.
    FsaiClass<'a> of FsaiOrder [fsai_order_class] (
        systems: u32, classes: u32, sys_len: Reads<'a, u32>, bounds: Reads<'a, u32>,
        key: Writes<'a, u32>, facts: Writes<'a, u64>
    )

    /// Drops entries that are small relative to their row.
    FsaiDrop<'a, offset O> of FsaiFilter [fsai_filter_drop] (
        rows: u32, tau: f64, on_diagonal: f64, g_ptr: Reads<'a, u32>, g_col: Reads<'a, u32>,
        g_val: Reads<'a, f64>, row_ptr: Reads<'a, O>, low: Reads<'a, u32>, col: Reads<'a, u32>,
        val: Reads<'a, f64>, kept: Writes<'a, u8>, len: Writes<'a, u32>, root: Writes<'a, f64>
    )

    /// Copies the entries that are kept.
    FsaiKeep<'a> of FsaiOrder [fsai_order_keep] (
        rows: u32, g_ptr: Reads<'a, u32>, g_col: Reads<'a, u32>, g_val: Reads<'a, f64>,
        kept: Reads<'a, u8>, root: Reads<'a, f64>, ptr: Reads<'a, u32>, out_col: Writes<'a, u32>,
        out_val: Writes<'a, f64>
    )

    /// The row of each entry.
    FsaiRows<'a> of FsaiOrder [fsai_order_rows] (
        rows: u32, g_ptr: Reads<'a, u32>, row_of: Writes<'a, u32>
    )

    /// Entries in the order of the transpose.
    FsaiTranspose<'a> of FsaiOrder [fsai_order_transpose] (
        entries: u32, order: Reads<'a, u32>, row_of: Reads<'a, u32>, g_val: Reads<'a, f64>,
        out_col: Writes<'a, u32>, out_val: Writes<'a, f64>
    )
}
