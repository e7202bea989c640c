//! Checks whether conjugate gradients can solve with a distributed matrix.

use crate::agreed::agreed;
use crate::world::World;
use sparsescope_kernels::pcg::{NotSpd, SYMMETRY};
use sparsescope_matrix::distributed::{LocalMatrix, Partition};

/// Words per nonzero whose mirror another rank owns: its row there, its column there, the value.
const WORDS: usize = 3;

/// Checks the nonzeros as [`pcg::check_spd`](sparsescope_kernels::pcg::check_spd) does for the matrix of a single process:
/// square, finite, a positive diagonal, symmetric. Nonzeros in columns of other ranks are sent to their
/// owners, who compare them once all rows are valid on their own. Fails on all ranks together, and names the
/// first offending row.
pub(crate) fn check_spd(
    world: &World,
    local: &LocalMatrix,
    partition: &Partition,
    cols: u64,
) -> Result<(), String> {
    if partition.rows() != cols {
        let (rows, cols) = (partition.rows() as usize, cols as usize);
        return Err(NotSpd::NotSquare { rows, cols }.to_string());
    }
    let mut row = Vec::new();
    let mut largest = 0.0f64;
    let finite = local.rows().try_for_each(|i| {
        local.global_entries(i, &mut row);
        largest = row.iter().fold(largest, |most, (_, value)| most.max(value.abs()));
        let wrong = row.iter().find(|(_, value)| !value.is_finite());
        wrong.map_or(Ok(()), |&(col, value)| {
            Err(NotSpd::NotFinite { row: i as usize, col: col as usize, value })
        })
    });
    said(world, finite)?;
    let most = SYMMETRY * world.max(largest);

    let mut lists = vec![Vec::new(); world.ranks()];
    let own = local.rows();
    let mut mirror = Vec::new();
    let at_home = own.clone().try_for_each(|i| {
        local.global_entries(i, &mut row);
        match row.binary_search_by_key(&i, |&(column, _)| column) {
            Err(_) => return Err(NotSpd::MissingDiagonal { row: i as usize }),
            Ok(at) if row[at].1 <= 0.0 => {
                return Err(NotSpd::Diagonal { row: i as usize, value: row[at].1 });
            }
            Ok(_) => {}
        }
        for &(column, value) in &row {
            if !own.contains(&column) {
                lists[partition.owner(column)].extend([column, i, value.to_bits()]);
                continue;
            }
            local.global_entries(column, &mut mirror);
            if let Some((row, col, value, mirrored)) = differs((i, column, value), &mirror, most) {
                let (row, col) = (row as usize, col as usize);
                return Err(NotSpd::NotSymmetric { row, col, value, mirrored });
            }
        }
        Ok(())
    });
    said(world, at_home)?;
    let lists: Vec<(usize, &[u64])> = lists.iter().map(Vec::as_slice).enumerate().collect();
    let mirrored = world.exchange(&lists)?;
    let abroad = mirrored.iter().flat_map(|list| list.chunks_exact(WORDS)).filter_map(|entry| {
        let [i, column, bits] = *entry else { return None };
        local.global_entries(i, &mut mirror);
        // The nonzero is in row `column`, its mirror is this rank's: each pair is compared from both sides.
        differs((column, i, f64::from_bits(bits)), &mirror, most)
    });
    let first = abroad.min_by_key(|&(row, col, ..)| (row, col));
    let own = first.map_or(vec![], |(row, col, value, mirrored)| {
        vec![row, col, value.to_bits(), mirrored.to_bits()]
    });
    match world.all_lists(&own).into_iter().filter(|found| !found.is_empty()).min() {
        None => Ok(()),
        Some(found) => Err(NotSpd::NotSymmetric {
            row: found[0] as usize,
            col: found[1] as usize,
            value: f64::from_bits(found[2]),
            mirrored: f64::from_bits(found[3]),
        }
        .to_string()),
    }
}

/// An error if a nonzero (row, column, value) and its mirror, which is in the row of its column, differ by
/// more than `most`.
fn differs(
    (row, col, value): (u64, u64, f64),
    mirror: &[(u64, f64)],
    most: f64,
) -> Option<(u64, u64, f64, f64)> {
    let at = mirror.binary_search_by_key(&row, |&(column, _)| column);
    let mirrored = at.map_or(0.0, |at| mirror[at].1);
    ((value - mirrored).abs() > most).then_some((row, col, value, mirrored))
}

/// The same error on all ranks, without the rank: the row is enough.
fn said(world: &World, own: Result<(), NotSpd>) -> Result<(), String> {
    agreed(world, own).map_err(|text| match text.split_once(": ") {
        Some((rank, rest)) if rank.starts_with("rank ") => rest.to_owned(),
        _ => text,
    })
}
