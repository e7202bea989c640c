//! Rows merged into groups that share one dense system (the thesis, section 6.1): a group's columns are the
//! union of its rows' patterns.

use super::Cancelled;
use super::error::Stop;
use super::parameters::{MERGE_CAP, MERGE_WINDOW, Merging};
use super::pattern::{Pattern, joined};
use super::workers::in_order;
use sparsescope_matrix::memory::{MemoryLimit, zeroed};

/// Groups of rows, in the order in which they were opened.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Groups {
    /// Where the columns of each group begin and end.
    union_ptr: Vec<usize>,
    union: Vec<u32>,
    /// Where the rows of each group begin and end.
    member_ptr: Vec<usize>,
    member: Vec<u32>,
    /// For each of these rows, the place of its diagonal in the group's columns.
    place: Vec<u32>,
}

impl Groups {
    /// Groups the rows of a pattern. Each thread needs the bytes of one mark per column.
    pub(super) fn of(
        pattern: &Pattern,
        merging: Merging,
        limit: MemoryLimit,
        cancelled: &Cancelled<'_>,
    ) -> Result<Self, Stop> {
        let rows = pattern.rows();
        let threads = rayon::current_num_threads() as u128;
        let most = 2 * threads * rows as u128 + 8 * pattern.entries() as u128 + 32 * rows as u128;
        limit.check("groups of rows", most)?;
        let block = merging.block.unwrap_or(rows).max(1);
        let blocks = (0..rows).step_by(block).map(|first| first..rows.min(first + block));
        let scratch = || zeroed(0u16, rows);
        let parts = in_order(blocks, cancelled, scratch, |marks, block| {
            let mut window = Window::new(pattern, marks, merging.alpha);
            for i in block {
                if i % 256 == 0 && cancelled() {
                    return Err(Stop::Cancelled);
                }
                window.take(i);
            }
            Ok(window.groups())
        })?;
        let mut all = Self { union_ptr: vec![0], member_ptr: vec![0], ..Self::default() };
        let (mut unions, mut members, mut places) = (Vec::new(), Vec::new(), Vec::new());
        for part in parts {
            let ends = |to: &mut Vec<usize>, ptr: &[usize]| {
                let before = to.last().copied().unwrap_or(0);
                to.extend(ptr[1..].iter().map(|end| before + end));
            };
            ends(&mut all.union_ptr, &part.union_ptr);
            ends(&mut all.member_ptr, &part.member_ptr);
            unions.push(part.union);
            members.push(part.member);
            places.push(part.place);
        }
        all.union = joined(0, unions, cancelled)?;
        all.member = joined(0, members, cancelled)?;
        all.place = joined(0, places, cancelled)?;
        Ok(all)
    }

    pub(super) fn count(&self) -> usize {
        self.union_ptr.len() - 1
    }

    /// The columns of a group, ascending.
    pub(super) fn union(&self, group: usize) -> &[u32] {
        &self.union[self.union_ptr[group]..self.union_ptr[group + 1]]
    }

    /// The rows of a group, ascending, and the places of their diagonals in its columns.
    pub(super) fn members(&self, group: usize) -> (&[u32], &[u32]) {
        let range = self.member_ptr[group]..self.member_ptr[group + 1];
        (&self.member[range.clone()], &self.place[range])
    }
}

/// A group, open or closed.
struct Group {
    union: Vec<u32>,
    members: Vec<u32>,
}

/// The groups of a block, and which of them are open.
struct Window<'p> {
    pattern: &'p Pattern,
    /// For each column, a bit per open group that contains it.
    marks: &'p mut [u16],
    alpha: f64,
    groups: Vec<Group>,
    /// Open groups and their bits, oldest first.
    open: Vec<(usize, u32)>,
}

fn cube(value: usize) -> i64 {
    (value as i64).pow(3)
}

impl<'p> Window<'p> {
    fn new(pattern: &'p Pattern, marks: &'p mut [u16], alpha: f64) -> Self {
        Self { pattern, marks, alpha, groups: Vec::new(), open: Vec::new() }
    }

    /// Adds row `i` to the open group that saves most, or opens a new one.
    fn take(&mut self, i: usize) {
        let row = self.pattern.row(i);
        match self.best(row) {
            Some(at) => self.join(at, i),
            None => self.begin(i),
        }
    }

    /// The open group that saves most, by its place among the open ones; the last opened among equals. None
    /// if even that saves nothing or would grow too large.
    fn best(&self, row: &[u32]) -> Option<usize> {
        let d = row.len();
        if d > MERGE_CAP {
            return None;
        }
        let mut common = [0u16; 16];
        for &c in row {
            let mark = self.marks[c as usize];
            for (bit, common) in common.iter_mut().enumerate() {
                *common += u16::from(mark & (1 << bit) != 0);
            }
        }
        let grown = |&(group, bit): &(usize, u32)| {
            let u = self.groups[group].union.len();
            (u, u + d - common[bit as usize] as usize)
        };
        let saved = |open: &(usize, u32)| {
            let (u, grown) = grown(open);
            cube(u) + cube(d) - cube(grown)
        };
        let (at, open) = self.open.iter().enumerate().max_by_key(|(_, open)| saved(open))?;
        let (u, grown) = grown(open);
        let pays = (cube(grown) as f64) < self.alpha * (cube(u) + cube(d)) as f64;
        (pays && grown <= MERGE_CAP).then_some(at)
    }

    fn join(&mut self, at: usize, i: usize) {
        let (group, bit) = self.open[at];
        let Group { union, members } = &mut self.groups[group];
        for &c in self.pattern.row(i) {
            let mark = &mut self.marks[c as usize];
            if *mark & (1 << bit) == 0 {
                *mark |= 1 << bit;
                union.push(c);
            }
        }
        members.push(i as u32);
        if union.len() >= MERGE_CAP {
            self.close(at);
        }
    }

    fn begin(&mut self, i: usize) {
        let union = self.pattern.row(i).to_vec();
        let full = union.len() >= MERGE_CAP;
        self.groups.push(Group { union, members: vec![i as u32] });
        if full {
            return;
        }
        if self.open.len() == MERGE_WINDOW {
            self.close(0);
        }
        let free = |bit: &u32| self.open.iter().all(|(_, taken)| taken != bit);
        let bit = (0..16).find(free).expect("a window has fewer groups than bits"); // invariant
        for &c in self.pattern.row(i) {
            self.marks[c as usize] |= 1 << bit;
        }
        self.open.push((self.groups.len() - 1, bit));
    }

    fn close(&mut self, at: usize) {
        let (group, bit) = self.open.remove(at);
        for &c in &self.groups[group].union {
            self.marks[c as usize] &= !(1 << bit);
        }
    }

    /// Returns all groups and clears all marks.
    fn groups(mut self) -> Groups {
        while !self.open.is_empty() {
            self.close(0);
        }
        let mut all = Groups { union_ptr: vec![0], member_ptr: vec![0], ..Groups::default() };
        for Group { mut union, members } in self.groups {
            union.sort_unstable();
            let start = all.union.len();
            all.union.extend_from_slice(&union);
            let mut place = 0;
            for &i in &members {
                // Both are ascending.
                place += union[place..].partition_point(|&c| c < i);
                all.place.push(place as u32);
            }
            all.member.extend_from_slice(&members);
            all.union_ptr.push(start + union.len());
            all.member_ptr.push(all.member.len());
        }
        all
    }
}
