//! Lines of hacks: the j-th nonzeros of a hack's rows, and whether their columns lie close enough
//! together for 16 bits.

/// In place of a base: the columns of the line are stored in 32 bits. No column has this number.
pub const WIDE: u32 = u32::MAX;

/// The columns of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Span {
    /// The smallest.
    least: u32,
    /// The largest.
    most: u32,
    entries: u32,
}

impl Span {
    /// The column that 16-bit distances count from, or [`WIDE`].
    pub(super) fn base(self) -> u32 {
        match self.most - self.least <= u32::from(u16::MAX) {
            true => self.least,
            false => WIDE,
        }
    }
}

/// Writes the lines of a hack to `spans`, given the ascending columns of each of its rows.
pub(super) fn spans<'r>(rows: impl Iterator<Item = &'r [u32]>, spans: &mut Vec<Span>) {
    spans.clear();
    for row in rows {
        for (span, &c) in spans.iter_mut().zip(row) {
            span.least = span.least.min(c);
            span.most = span.most.max(c);
            span.entries += 1;
        }
        let more = row.get(spans.len()..).unwrap_or_default();
        spans.extend(more.iter().map(|&c| Span { least: c, most: c, entries: 1 }));
    }
}

/// Counts of lines and nonzeros, and of those stored in 32 bits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Lines {
    /// Number of lines.
    pub lines: u64,
    /// Lines whose columns do not fit in 16 bits.
    pub wide: u64,
    /// Nonzeros in all lines.
    pub entries: u64,
    /// Nonzeros in the wide lines.
    pub wide_entries: u64,
}

impl Lines {
    /// The lines of one hack, given the ascending columns of each of its rows. No matrix is needed:
    /// the rows of a generator suffice.
    pub fn of_hack<'r>(rows: impl Iterator<Item = &'r [u32]>) -> Self {
        let mut all = Vec::new();
        spans(rows, &mut all);
        Self::of(&all)
    }

    pub(super) fn of(spans: &[Span]) -> Self {
        let entries = |spans: &mut dyn Iterator<Item = &Span>| {
            spans.map(|span| u64::from(span.entries)).sum::<u64>()
        };
        let is_wide = |span: &&Span| span.base() == WIDE;
        Self {
            lines: spans.len() as u64,
            wide: spans.iter().filter(is_wide).count() as u64,
            entries: entries(&mut spans.iter()),
            wide_entries: entries(&mut spans.iter().filter(is_wide)),
        }
    }

    /// The sum of both.
    pub fn join(self, other: Self) -> Self {
        Self {
            lines: self.lines + other.lines,
            wide: self.wide + other.wide,
            entries: self.entries + other.entries,
            wide_entries: self.wide_entries + other.wide_entries,
        }
    }

    /// Share of the nonzeros whose column takes 16 bits; 1 if there are none.
    pub fn narrow_share(self) -> f64 {
        match self.entries {
            0 => 1.0,
            entries => 1.0 - self.wide_entries as f64 / entries as f64,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_fits_where_its_columns_lie_less_than_65536_apart() {
        let fits = |columns: [u32; 3]| {
            let rows: Vec<[u32; 1]> = columns.map(|c| [c]).to_vec();
            Lines::of_hack(rows.iter().map(|row| &row[..])).wide == 0
        };
        assert!(fits([7, 65_542, 8]));
        assert!(!fits([7, 65_543, 8]));
        assert!(fits([u32::MAX - 1; 3]));
        // Rows of three, one and zero nonzeros: the second and third lines have one nonzero each.
        let rows: [&[u32]; 3] = [&[0, 1, 70_000], &[70_000], &[]];
        let lines = Lines::of_hack(rows.into_iter());
        assert_eq!(lines, Lines { lines: 3, wide: 1, entries: 4, wide_entries: 2 });
        assert_eq!(lines.join(lines).narrow_share(), 0.5);
    }
}
