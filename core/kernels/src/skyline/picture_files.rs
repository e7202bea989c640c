//! The picture of a point set as files of a bundle: `points.json` is the header; `points.0.bin`,
//! `points.1.bin`, … hold the content, split into parts of at most 1 MiB.
//!
//! The content starts with the smallest and largest coordinate of each axis as little-endian `f32`. The
//! points shown follow as unsigned LEB128 numbers: unless all are shown, for each the number of points since
//! the previous one; then for each 0 if it is a skyline point, otherwise 1 + the place of one that dominates
//! it. Then come the coordinates of each axis as `f32`, split into four parts: the most significant bytes of
//! all, and so on. Last, again as LEB128, for each density the number of nonempty cells, and for each of
//! these the number of empty cells since the previous one and its number of points.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::picture::{Axis, BOUNDS, CELLS, Density, PointsPicture, pairs};
use sparsescope_matrix::order;
use sparsescope_matrix::packed::{self, put, take};

const HEADER: &str = "points.json";
const CONTENT: &str = "points.0.bin";

/// Maximum size of a part. Larger files must not compress to almost nothing, which identical points would.
const PART: usize = packed::SMALL;

/// Why the picture of a point set in a bundle cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PointsPictureError {
    /// One of the files is missing.
    #[error("the picture of the points has no file {0}")]
    Missing(&'static str),
    /// `points.json` is invalid.
    #[error("invalid points.json: {0}")]
    Header(String),
    /// `points.*.bin` do not match `points.json`.
    #[error("points.*.bin do not match points.json: {0}")]
    Content(&'static str),
}

use PointsPictureError::Content;

/// `points.json`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Header {
    /// Points in the set.
    points: u64,
    /// Dimensions of the set.
    dimensions: u64,
    /// Skyline points in the set.
    kept: u64,
    /// Points shown.
    shown: u64,
    /// Skyline points shown.
    kept_shown: u64,
    /// Dimensions shown, the first ones of the set.
    axes: u64,
    /// Number of coordinates beyond the range of `f32`.
    clamped: u64,
    /// Cells along each edge of the densities; 0 if there are none.
    density_cells: u64,
}

impl PointsPicture {
    /// The files for a bundle; densities have as many cells as fit into `budget` bytes after compression (a
    /// single cell if none do). No files for a budget of 0.
    pub fn to_files(&self, budget: u64) -> BTreeMap<String, Vec<u8>> {
        if budget == 0 {
            return BTreeMap::new();
        }
        let (density_cells, densities) = self.densities_within(budget);
        let header = Header {
            points: self.points.into(),
            dimensions: self.dimensions.into(),
            kept: self.kept.into(),
            shown: self.indices.len() as u64,
            kept_shown: self.kept_shown() as u64,
            axes: self.axes.len() as u64,
            clamped: self.clamped,
            density_cells,
        };
        let mut content = Vec::new();
        for axis in &self.axes {
            content.extend([axis.least, axis.greatest].iter().flat_map(|end| end.to_le_bytes()));
        }
        if !self.is_whole() {
            let mut next = 0;
            for &i in &self.indices {
                put(&mut content, u64::from(i) - next);
                next = u64::from(i) + 1;
            }
        }
        for place in 0..self.dominators.len() {
            put(&mut content, self.dominator(place).map_or(0, |by| by as u64 + 1));
        }
        for axis in &self.axes {
            for byte in 0..4 {
                content.extend(
                    axis.values.iter().filter_map(|value| value.to_be_bytes().get(byte).copied()),
                );
            }
        }
        content.extend(densities);
        let header = serde_json::to_vec_pretty(&header).expect("integers are JSON"); // invariant
        // There is always a first part: a set has at least one dimension.
        let parts = content.chunks(PART).map(<[u8]>::to_vec);
        let parts = parts.enumerate().map(|(k, part)| (part_name(k), part));
        order::map(parts.chain([(HEADER.to_owned(), header)]))
    }

    /// The densities with as many cells as fit into `budget` bytes: cells along an edge, and content.
    fn densities_within(&self, budget: u64) -> (u64, Vec<u8>) {
        let mut densities = self.densities.clone();
        loop {
            let mut content = Vec::new();
            densities.iter().for_each(|density| encode(&mut content, density));
            let coarser: Vec<Density> = densities.iter().filter_map(Density::coarser).collect();
            if coarser.is_empty() || packed::deflated_len(&content) <= budget {
                return (densities.first().map_or(0, |density| density.cells as u64), content);
            }
            densities = coarser;
        }
    }

    /// Reads what [`to_files`](Self::to_files) wrote; nothing if there are no such files. The files are
    /// untrusted: everything is checked, sizes before allocating.
    pub fn from_files(
        files: &BTreeMap<String, Vec<u8>>,
    ) -> Result<Option<Self>, PointsPictureError> {
        let header = match (files.get(HEADER), files.contains_key(CONTENT)) {
            (None, false) => return Ok(None),
            (None, true) => return Err(PointsPictureError::Missing(HEADER)),
            (Some(_), false) => return Err(PointsPictureError::Missing(CONTENT)),
            (Some(header), true) => header,
        };
        let header: Header = serde_json::from_slice(header)
            .map_err(|error| PointsPictureError::Header(error.to_string()))?;
        let sizes = header.sizes().map_err(|what| PointsPictureError::Header(what.to_owned()))?;
        let parts = (0..).map_while(|k| files.get(&part_name(k)));
        let content: Vec<u8> = parts.flatten().copied().collect();
        let bytes = &mut content.as_slice();
        let ends = decode_ends(bytes, sizes.axes)?;
        let indices = decode_indices(bytes, &sizes)?;
        let dominators = decode_dominators(bytes, &sizes)?;
        let mut axes = Vec::with_capacity(sizes.axes);
        for [least, greatest] in ends {
            axes.push(Axis { least, greatest, values: decode_values(bytes, sizes.shown)? });
        }
        check_values(&axes, &dominators)?;
        let mut densities = Vec::new();
        if sizes.density_cells > 0 {
            for _ in pairs(sizes.axes) {
                densities.push(decode_density(bytes, &sizes)?);
            }
        }
        if !bytes.is_empty() {
            return Err(Content("unexpected data at the end"));
        }
        let Sizes { points, dimensions, kept, .. } = sizes;
        let clamped = header.clamped;
        let picture =
            Self { points, dimensions, kept, clamped, indices, dominators, axes, densities };
        Ok(Some(picture))
    }
}

/// The sizes in a header, once checked.
struct Sizes {
    points: u32,
    dimensions: u32,
    kept: u32,
    shown: usize,
    kept_shown: usize,
    axes: usize,
    density_cells: usize,
}

impl Header {
    /// Returns the sizes if they are possible; otherwise what is wrong.
    fn sizes(&self) -> Result<Sizes, &'static str> {
        let small = |n: u64| u32::try_from(n).map_err(|_| "the set is too large");
        let [points, dimensions, kept] =
            [small(self.points)?, small(self.dimensions)?, small(self.kept)?];
        let Self { shown, kept_shown, axes, density_cells: cells, .. } = *self;
        if kept > points || (kept == 0) != (points == 0) {
            return Err("the skyline is empty or larger than the set");
        }
        let dropped_shown =
            shown.checked_sub(kept_shown).ok_or("more skyline points than points shown")?;
        if kept_shown > u64::from(kept) || dropped_shown > u64::from(points - kept) {
            return Err("more points are shown than the set has");
        }
        if shown > (BOUNDS.whole.max(BOUNDS.kept + BOUNDS.dropped)) as u64 {
            return Err("more points are shown than a picture may have");
        }
        let most = (BOUNDS.coordinates as u64 / self.points.max(1)).max(BOUNDS.dimensions as u64);
        if !(1..=most.min(self.dimensions)).contains(&axes) {
            return Err("no axes, or more axes than a picture may have");
        }
        if self.clamped > self.points * axes {
            return Err("more coordinates are clamped than the set has");
        }
        let is_size = cells == 0 || cells.is_power_of_two() && cells <= CELLS as u64;
        if !is_size || cells > 0 && axes > BOUNDS.dimensions as u64 {
            return Err("more or finer densities than a picture may have");
        }
        Ok(Sizes {
            points,
            dimensions,
            kept,
            shown: shown as usize,
            kept_shown: kept_shown as usize,
            axes: axes as usize,
            density_cells: cells as usize,
        })
    }
}

fn part_name(k: usize) -> String {
    format!("points.{k}.bin")
}

fn number(bytes: &mut &[u8]) -> Result<u64, PointsPictureError> {
    take(bytes).map_err(Content)
}

/// Takes `len` bytes.
fn take_bytes<'b>(bytes: &mut &'b [u8], len: usize) -> Result<&'b [u8], PointsPictureError> {
    let (taken, rest) = bytes.split_at_checked(len).ok_or(Content("it ends too early"))?;
    *bytes = rest;
    Ok(taken)
}

/// The smallest and largest coordinate of each axis.
fn decode_ends(bytes: &mut &[u8], axes: usize) -> Result<Vec<[f32; 2]>, PointsPictureError> {
    let (ends, _) = take_bytes(bytes, 8 * axes)?.as_chunks::<4>();
    let ends: Vec<f32> = ends.iter().map(|&end| f32::from_le_bytes(end)).collect();
    let (ends, _) = ends.as_chunks::<2>();
    match ends
        .iter()
        .all(|[least, greatest]| least.is_finite() && greatest.is_finite() && least <= greatest)
    {
        true => Ok(ends.to_vec()),
        false => Err(Content("invalid ends of an axis")),
    }
}

fn decode_indices(bytes: &mut &[u8], sizes: &Sizes) -> Result<Vec<u32>, PointsPictureError> {
    if sizes.shown == sizes.points as usize {
        return Ok((0..sizes.points).collect());
    }
    let mut indices = Vec::with_capacity(sizes.shown);
    let mut next = 0u64;
    for _ in 0..sizes.shown {
        let i = next.checked_add(number(bytes)?).filter(|&i| i < u64::from(sizes.points));
        let i = i.ok_or(Content("a point is not in the set"))?;
        indices.push(i as u32);
        next = i + 1;
    }
    Ok(indices)
}

fn decode_dominators(bytes: &mut &[u8], sizes: &Sizes) -> Result<Vec<u32>, PointsPictureError> {
    let mut dominators = Vec::with_capacity(sizes.shown);
    for place in 0..sizes.shown as u64 {
        let by = number(bytes)?.checked_sub(1).unwrap_or(place);
        dominators
            .push(u32::try_from(by).map_err(|_| Content("a point's dominator is out of range"))?);
    }
    let is_kept = |place: u32| dominators.get(place as usize) == Some(&place);
    if !dominators.iter().all(|&by| is_kept(by)) {
        return Err(Content("a point's dominator is not in the skyline"));
    }
    let kept = (0..sizes.shown as u32).filter(|&place| is_kept(place)).count();
    if kept != sizes.kept_shown {
        return Err(Content("the number of skyline points does not match"));
    }
    Ok(dominators)
}

fn decode_values(bytes: &mut &[u8], len: usize) -> Result<Vec<f32>, PointsPictureError> {
    let mut bits = vec![0u32; len];
    for _ in 0..4 {
        let part = take_bytes(bytes, len)?;
        bits.iter_mut().zip(part).for_each(|(bits, &byte)| *bits = *bits << 8 | u32::from(byte));
    }
    Ok(bits.into_iter().map(f32::from_bits).collect())
}

/// Checks that coordinates lie between the ends of their axes and that dominators are nowhere smaller, which
/// rounding preserves.
fn check_values(axes: &[Axis], dominators: &[u32]) -> Result<(), PointsPictureError> {
    for Axis { least, greatest, values } in axes {
        if !values.iter().all(|value| (least..=greatest).contains(&value)) {
            return Err(Content("a point is outside the axes"));
        }
        let reaches = |(value, &by): (&f32, &u32)| values.get(by as usize) >= Some(value);
        if !values.iter().zip(dominators).all(reaches) {
            return Err(Content("a point's dominator does not dominate it"));
        }
    }
    Ok(())
}

fn encode(out: &mut Vec<u8>, density: &Density) {
    let filled = || density.counts.iter().enumerate().filter(|(_, count)| **count > 0);
    put(out, filled().count() as u64);
    let mut next = 0;
    for (place, &count) in filled() {
        put(out, (place - next) as u64);
        put(out, count.into());
        next = place + 1;
    }
}

fn decode_density(bytes: &mut &[u8], sizes: &Sizes) -> Result<Density, PointsPictureError> {
    let cells = sizes.density_cells;
    let mut counts = vec![0u32; cells * cells];
    let filled = number(bytes)?;
    let (mut next, mut left) = (0u64, sizes.points);
    for _ in 0..filled {
        let place = next.checked_add(number(bytes)?).and_then(|place| usize::try_from(place).ok());
        let place = place.ok_or(Content("a cell is outside the axes"))?;
        let cell = counts.get_mut(place).ok_or(Content("a cell is outside the axes"))?;
        let count = u32::try_from(number(bytes)?).ok().filter(|&count| 0 < count && count <= left);
        *cell = count.ok_or(Content("the counts do not add up to the points"))?;
        left -= *cell;
        next = place as u64 + 1;
    }
    match left {
        0 => Ok(Density { cells, counts }),
        _ => Err(Content("the counts do not add up to the points")),
    }
}
