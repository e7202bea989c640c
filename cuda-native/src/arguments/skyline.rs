//! Arguments of the skyline kernels.

use super::*;

arguments! {
    /// One thread per point, compared with all others.
    SkylinePoints<'a> of Skyline [skyline_row_major, skyline_coalesced] (
        points: u32, dimensions: u32, counting: u32, x: Reads<'a, f64>, kept: Writes<'a, u8>,
        count: Writes<'a, u32>, comparisons: Writes<'a, u64>
    )

    /// The same with each thread's own point in its own array.
    SkylineLocalPoints<'a> of SkylineLocal [
        skyline_row_major_local, skyline_coalesced_local, skyline_coalesced_registers
    ] (
        points: u32, dimensions: u32, counting: u32, x: Reads<'a, f64>, kept: Writes<'a, u8>,
        count: Writes<'a, u32>, comparisons: Writes<'a, u64>
    )

    /// Transposes points so that each dimension is contiguous.
    SkylineTranspose<'a> of Skyline [skyline_transpose] (
        points: u32, dimensions: u32, across: u32, rows: Reads<'a, f64>, columns: Writes<'a, f64>
    )

    /// Thresholds of each dimension from a sample.
    SkylineSample<'a> of SkylinePlan [skyline_plan_sample] (
        points: u32, dimensions: u32, listed: u32, bits: u32, list: Reads<'a, u32>,
        count: Reads<'a, u32>, x: Reads<'a, f64>, thresholds: Writes<'a, f64>,
        distinct: Writes<'a, u32>, range: Writes<'a, f64>
    )

    /// The dimensions that have steps.
    SkylineChoose<'a> of SkylinePlan [skyline_plan_choose] (
        dimensions: u32, distinct: Reads<'a, u32>, chosen: Writes<'a, u32>
    )

    /// A score for each point.
    SkylineScore<'a> of SkylinePlan [skyline_plan_score] (
        points: u32, dimensions: u32, used: u32, x: Reads<'a, f64>, chosen: Reads<'a, u32>,
        range: Reads<'a, f64>, score: Writes<'a, u32>, scores: Writes<'a, u32>
    )

    /// The score of the last champion.
    SkylineCut<'a> of SkylinePlan [skyline_plan_cut] (
        champions: u32, scores: Reads<'a, u32>, cut: Writes<'a, u32>
    )

    /// The points with the best scores.
    SkylineChampions<'a> of SkylinePlan [skyline_plan_champions] (
        points: u32, champions: u32, score: Reads<'a, u32>, cut: Reads<'a, u32>,
        tails: Writes<'a, u32>, champion: Writes<'a, u32>
    )

    /// Where the points of each key begin.
    SkylineStarts<'a> of SkylinePlan [skyline_plan_starts] (
        keys: Reads<'a, u32>, starts: Writes<'a, u32>
    )

    /// Points in the order of their keys.
    SkylineOrder<'a> of SkylinePlan [skyline_plan_order] (
        room: u32, groups: u32, count: Reads<'a, u32>, list: Reads<'a, u32>, key: Reads<'a, u32>,
        steps: Reads<'a, u32>, starts: Writes<'a, u32>, order: Writes<'a, u32>,
        key_out: Writes<'a, u32>, steps_out: Writes<'a, u32>
    )

    /// The bits of tiles of points.
    SkylineTiles<'a> of SkylinePlan [skyline_plan_tiles] (
        room: u32, groups: u32, bits: u32, listed: u32, count: Reads<'a, u32>,
        steps: Reads<'a, u32>, tiles: Writes<'a, Uint4>, boxes: Writes<'a, u32>
    )

    /// Which survivors are kept.
    SkylineKeep<'a> of SkylinePlan [skyline_plan_keep] (
        count: Reads<'a, u32>, survivor: Reads<'a, u32>, equal: Reads<'a, u32>,
        dominated: Reads<'a, u8>, kept: Writes<'a, u8>, keeps: Writes<'a, u32>
    )

    /// The steps and keys of points.
    SkylineSteps<'a> of SkylineFast [skyline_fast_steps] (
        room: u32, dimensions: u32, used: u32, groups: u32, bits: u32, listed: u32,
        count: Reads<'a, u32>, list: Reads<'a, u32>, x: Reads<'a, f64>, chosen: Reads<'a, u32>,
        thresholds: Reads<'a, f64>, steps: Writes<'a, u32>, key: Writes<'a, u32>,
        keys: Writes<'a, u32>
    )

    /// Points that survive the champions.
    SkylineFilter<'a> of SkylineFast [skyline_fast_filter] (
        points: u32, dimensions: u32, used: u32, groups: u32, bits: u32, champions: u32,
        x: Reads<'a, f64>, chosen: Reads<'a, u32>, thresholds: Reads<'a, f64>,
        champion: Reads<'a, u32>, tiles: Reads<'a, Uint4>, survivor: Writes<'a, u32>,
        survivors: Writes<'a, u32>, comparisons: Writes<'a, u64>
    )

    /// Merges equal survivors.
    SkylineEquals<'a> of SkylineFast [skyline_fast_equals] (
        dimensions: u32, used: u32, slots: u32, chosen: Reads<'a, u32>, x: Reads<'a, f64>,
        survivors: Reads<'a, u32>, survivor: Reads<'a, u32>, slot: Writes<'a, u32>,
        equal: Writes<'a, u32>, single: Writes<'a, u32>, singles: Writes<'a, u32>
    )

    /// Points in order against the tiles before them.
    SkylineSweep<'a> of SkylineFast [skyline_fast] (
        room: u32, dimensions: u32, groups: u32, bits: u32, count: Reads<'a, u32>,
        x: Reads<'a, f64>, order: Reads<'a, u32>, key: Reads<'a, u32>, steps: Reads<'a, u32>,
        tiles: Reads<'a, Uint4>, boxes: Reads<'a, u32>, dominated: Writes<'a, u8>,
        next: Writes<'a, u32>, comparisons: Writes<'a, u64>
    )
}
