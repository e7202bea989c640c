//! Settings of the view of memory layouts: a small matrix, how HLL stores it, the highlighted
//! nonzero, the kernel that is stepped through, and the lesson.

use serde::{Deserialize, Serialize};
use sparsescope_core::matrix::{Csr, examples};

/// Id of the view in links.
pub const LAYOUTS: &str = "layouts";

/// Maximum rows and columns of a matrix that is drawn slot by slot.
pub const MOST: usize = 16;

/// Maximum window of sorted rows.
const MOST_SIGMA: u32 = 64;

/// Maximum number of CPU threads that are stepped through.
pub const MOST_THREADS: u32 = 8;

/// The view of memory layouts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct LayoutsState {
    /// The small matrix.
    pub small: Small,
    /// First row and column, if the small matrix is a part of the selected one.
    pub from: (u32, u32),
    /// Rows per hack.
    pub hack: u32,
    /// Rows per window that HLL sorts by length; 1 for no sorting.
    pub sigma: u32,
    /// Row and column of the highlighted nonzero.
    pub pick: Option<(u32, u32)>,
    /// Ids of the formats whose arrays are shown, comma-separated; empty for all.
    pub formats: String,
    /// Id of the kernel that is stepped through, empty for none.
    pub walk: String,
    /// A second kernel next to it.
    pub beside: String,
    /// Threads per block.
    pub block: u32,
    /// CPU threads.
    pub threads: u32,
    /// The current step.
    pub step: u32,
    /// Id of the lesson and its page, from 0.
    pub lesson: Option<(String, u32)>,
    /// Index of the class's choice.
    pub guess: Option<u32>,
    /// Show the answer to the lesson's question.
    pub told: bool,
    /// Show the view's settings even during a lesson or on a projector.
    pub tools: bool,
}

/// Which small matrix.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Small {
    /// An example of the papers, by name.
    Example(Example),
    /// The selected matrix, or a part of it.
    Selected,
    /// A drawn one.
    Drawn(Pattern),
}

/// The papers' examples.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Example {
    /// 5 × 5, of the Tor Vergata and Cranfield papers.
    Five,
    /// 4 × 4, of the thesis's chapter on formats.
    Four,
    /// 8 × 8 with rows of different lengths, of the first lesson.
    Eight,
}

/// The pattern of [`Example::Eight`].
const EIGHT: &str = "8x0,1/1/0,2,5/3/2,4/1,3,4,5,6,7/6/0,7";

/// Rows, columns, and the columns of each row's nonzeros in ascending order. The values are 1, 2, …
/// row by row.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pattern {
    cols: usize,
    rows: Vec<Vec<u32>>,
}

impl Pattern {
    /// A pattern without nonzeros; sides from 1 to [`MOST`].
    pub fn empty(rows: usize, cols: usize) -> Self {
        let side = |n: usize| n.clamp(1, MOST);
        Self { cols: side(cols), rows: vec![Vec::new(); side(rows)] }
    }

    /// The pattern of these nonzeros; those outside are ignored.
    pub fn of(rows: usize, cols: usize, entries: impl IntoIterator<Item = (usize, usize)>) -> Self {
        let mut pattern = Self::empty(rows, cols);
        for (i, j) in entries {
            if !pattern.has(i, j) {
                pattern.toggle(i, j);
            }
        }
        pattern
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.rows.len()
    }

    /// Number of columns.
    pub fn cols(&self) -> usize {
        self.cols
    }

    /// Returns whether (i, j) is a nonzero.
    pub fn has(&self, i: usize, j: usize) -> bool {
        self.rows.get(i).is_some_and(|row| row.iter().any(|&col| col as usize == j))
    }

    /// Adds or removes the nonzero (i, j), if it lies inside.
    pub fn toggle(&mut self, i: usize, j: usize) {
        let inside = j < self.cols;
        if let (Some(row), true) = (self.rows.get_mut(i), inside) {
            match row.binary_search(&(j as u32)) {
                Ok(place) => drop(row.remove(place)),
                Err(place) => row.insert(place, j as u32),
            }
        }
    }

    /// Every nonzero, row by row.
    pub fn entries(&self) -> impl Iterator<Item = (usize, usize)> + '_ {
        let rows = self.rows.iter().enumerate();
        rows.flat_map(|(i, row)| row.iter().map(move |&j| (i, j as usize)))
    }

    /// The same nonzeros with other dimensions.
    pub fn resized(&self, rows: usize, cols: usize) -> Self {
        let (rows, cols) = (rows.clamp(1, MOST), cols.clamp(1, MOST));
        Self::of(rows, cols, self.entries().filter(|&(i, j)| i < rows && j < cols))
    }

    fn matrix(&self) -> Csr<f64> {
        let numbered = self.entries().enumerate();
        let entries: Vec<_> = numbered.map(|(k, (i, j))| (i, j, (k + 1) as f64)).collect();
        Csr::from_triplets(self.rows(), self.cols(), &entries)
            .expect("a pattern's entries lie inside it") // invariant
    }

    /// `COLSx` and each row's columns: `4x0,1/1//3` has four columns and four rows, one of them
    /// empty.
    fn text(&self) -> String {
        let row = |row: &Vec<u32>| row.iter().map(u32::to_string).collect::<Vec<_>>().join(",");
        format!("{}x{}", self.cols, self.rows.iter().map(row).collect::<Vec<_>>().join("/"))
    }

    fn parse(text: &str) -> Option<Self> {
        let (cols, rows) = text.split_once('x')?;
        let cols = cols.parse::<usize>().ok().filter(|cols| (1..=MOST).contains(cols))?;
        let rows: Vec<&str> = rows.split('/').collect();
        if rows.len() > MOST {
            return None;
        }
        let mut pattern = Self::empty(rows.len(), cols);
        for (i, row) in rows.into_iter().enumerate() {
            for col in row.split(',').filter(|col| !col.is_empty()) {
                let j = col.parse::<usize>().ok().filter(|&j| j < cols)?;
                if !pattern.has(i, j) {
                    pattern.toggle(i, j);
                }
            }
        }
        Some(pattern)
    }
}

impl Small {
    /// The matrix; `None` for the selected one, which is not part of the state.
    pub(crate) fn matrix(&self) -> Option<Csr<f64>> {
        Some(match self {
            Self::Example(Example::Five) => examples::five_by_five(),
            Self::Example(Example::Four) => examples::four_by_four(),
            Self::Example(Example::Eight) => Pattern::parse(EIGHT)?.matrix(),
            Self::Drawn(pattern) => pattern.matrix(),
            Self::Selected => return None,
        })
    }

    /// Id in a link.
    pub(crate) fn text(&self) -> String {
        match self {
            Self::Example(Example::Five) => "five".into(),
            Self::Example(Example::Four) => "four".into(),
            Self::Example(Example::Eight) => "eight".into(),
            Self::Selected => "selected".into(),
            Self::Drawn(pattern) => pattern.text(),
        }
    }

    fn parse(text: &str) -> Option<Self> {
        match text {
            "five" => Some(Self::Example(Example::Five)),
            "four" => Some(Self::Example(Example::Four)),
            "eight" => Some(Self::Example(Example::Eight)),
            "selected" => Some(Self::Selected),
            _ => Pattern::parse(text).map(Self::Drawn),
        }
    }
}

impl Default for LayoutsState {
    fn default() -> Self {
        Self {
            small: Small::Example(Example::Eight),
            from: (0, 0),
            hack: 4,
            sigma: 1,
            pick: None,
            formats: String::new(),
            walk: String::new(),
            beside: String::new(),
            block: 32,
            threads: 4,
            step: 0,
            lesson: None,
            guess: None,
            told: false,
            tools: false,
        }
    }
}

/// Two numbers separated by a comma.
fn pair(text: &str) -> Option<(u32, u32)> {
    let (one, other) = text.split_once(',')?;
    Some((one.parse().ok()?, other.parse().ok()?))
}

impl LayoutsState {
    pub(crate) fn fields(&self) -> [(&'static str, String); 15] {
        let pick = self.pick.map(|(i, j)| format!("{i},{j}"));
        let lesson = self.lesson.as_ref().map(|(id, page)| format!("{id},{page}"));
        [
            ("small", self.small.text()),
            ("from", format!("{},{}", self.from.0, self.from.1)),
            ("rows-a-hack", self.hack.to_string()),
            ("sigma", self.sigma.to_string()),
            ("pick", pick.unwrap_or_default()),
            ("formats", self.formats.clone()),
            ("walk", self.walk.clone()),
            ("beside", self.beside.clone()),
            ("block", self.block.to_string()),
            ("cpu-threads", self.threads.to_string()),
            ("step", self.step.to_string()),
            ("lesson", lesson.unwrap_or_default()),
            ("guess", self.guess.map(|guess| guess.to_string()).unwrap_or_default()),
            ("told", self.told.to_string()),
            ("tools", self.tools.to_string()),
        ]
    }

    /// Returns whether anything but the small matrix differs from the default.
    pub(super) fn is_changed(&self) -> bool {
        let usual = Self::default();
        Self { small: usual.small.clone(), ..self.clone() } != usual
    }

    /// Sets a value if the key is one of these and the value is valid.
    pub(crate) fn set(&mut self, key: &str, value: &str) {
        let number = || value.parse::<u32>().ok();
        let hacks = sparsescope_core::matrix::HACK_SIZES;
        match key {
            "small" => self.small = Small::parse(value).unwrap_or_else(|| self.small.clone()),
            "from" => self.from = pair(value).unwrap_or(self.from),
            "rows-a-hack" => {
                let known = number().filter(|hack| hacks.contains(&(*hack as usize)));
                self.hack = known.unwrap_or(self.hack);
            }
            "sigma" => {
                let known = number().filter(|sigma| (1..=MOST_SIGMA).contains(sigma));
                self.sigma = known.unwrap_or(self.sigma);
            }
            "pick" => self.pick = pair(value),
            "formats" => self.formats = value.into(),
            "walk" => self.walk = value.into(),
            "beside" => self.beside = value.into(),
            "block" => {
                let known =
                    number().filter(|block| (1..=1024).contains(block) && block.is_multiple_of(32));
                self.block = known.unwrap_or(self.block);
            }
            "cpu-threads" => {
                let known = number().filter(|threads| (1..=MOST_THREADS).contains(threads));
                self.threads = known.unwrap_or(self.threads);
            }
            "step" => self.step = number().unwrap_or(self.step),
            "lesson" => {
                let parts = value.rsplit_once(',');
                self.lesson =
                    parts.and_then(|(id, page)| Some((id.to_owned(), page.parse().ok()?)));
            }
            "guess" => self.guess = number(),
            "told" => self.told = value == "true",
            "tools" => self.tools = value == "true",
            _ => {}
        }
    }
}

#[cfg(test)]
pub(super) mod tests {
    use proptest::prelude::*;
    use sparsescope_core::matrix::HACK_SIZES;

    use super::*;

    pub(crate) fn state() -> impl Strategy<Value = LayoutsState> {
        let drawn = prop::collection::vec((0..9usize, 0..7usize), 0..20)
            .prop_map(|entries| Small::Drawn(Pattern::of(9, 7, entries)));
        let examples = [Example::Five, Example::Four, Example::Eight].map(Small::Example).to_vec();
        let small = prop_oneof![prop::sample::select(examples), Just(Small::Selected), drawn];
        let pick = prop::option::of(any::<(u32, u32)>());
        let lesson = prop::option::of(("[a-z-]{1,9}", any::<u32>()));
        let hack = prop::sample::select(HACK_SIZES.map(|hack| hack as u32).to_vec());
        let names = ("[a-z/-]{0,20}", "[a-z/-]{0,20}", "[a-z,-]{0,20}");
        let numbers = (1..=32u32, 1..=MOST_THREADS, any::<u32>(), any::<(bool, bool)>());
        let lesson = (lesson, prop::option::of(any::<u32>()));
        ((small, any::<(u32, u32)>(), hack, 1..=MOST_SIGMA), pick, names, numbers, lesson).prop_map(
            |(
                (small, from, hack, sigma),
                pick,
                (walk, beside, formats),
                (blocks, threads, step, (told, tools)),
                (lesson, guess),
            )| LayoutsState {
                small,
                from,
                hack,
                sigma,
                pick,
                formats,
                walk,
                beside,
                block: blocks * 32,
                threads,
                step,
                lesson,
                guess,
                told,
                tools,
            },
        )
    }

    #[test]
    fn what_is_drawn_has_values_in_the_order_of_rows() {
        let a = Pattern::of(3, 4, [(2, 0), (0, 3), (0, 1)]).matrix();
        assert_eq!((a.rows(), a.cols()), (3, 4));
        assert_eq!((a.col(), a.val()), (&[1, 3, 0][..], &[1.0, 2.0, 3.0][..]));
    }

    #[test]
    fn the_example_of_a_fresh_view_has_rows_of_different_lengths() {
        let a = LayoutsState::default().small.matrix().unwrap();
        assert_eq!((a.rows(), a.cols(), a.nnz()), (8, 8, 18));
        let lengths: Vec<usize> = (0..8).map(|i| a.row(i).0.len()).collect();
        assert_eq!(lengths, [2, 1, 3, 1, 2, 6, 1, 2]);
    }

    #[test]
    fn patterns_are_read_as_they_are_written_and_nonsense_is_none() {
        let pattern = Pattern::of(4, 4, [(0, 1), (0, 0), (3, 3), (1, 1), (1, 9)]);
        assert_eq!(pattern.text(), "4x0,1/1//3");
        assert_eq!(Pattern::parse("4x0,1/1//3"), Some(pattern.clone()));
        assert_eq!(pattern.resized(2, 1).text(), "1x0/");
        for nonsense in
            ["", "4", "0x", "17x0", "4x4", "4x-1", "2x0/0/0/0/0/0/0/0/0/0/0/0/0/0/0/0/0"]
        {
            assert_eq!(Pattern::parse(nonsense), None, "{nonsense}");
        }
    }
}
