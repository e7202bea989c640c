//! Reads a journal that another process is writing as it grows, each line once.

use std::fs::File;
use std::io::{BufRead, BufReader, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use super::file::io;
use super::journal::{read_header, read_line};
use crate::{Bundle, BundleError, Limits};

/// Follows the journal of a measurement. It remembers how many whole lines it has read, and starts
/// over if the file was replaced or has become shorter.
#[derive(Debug)]
pub struct Follower {
    path: PathBuf,
    limits: Limits,
    /// Bytes and number of whole lines read.
    read: (u64, u64),
    /// The first line, by which a replaced file is recognised.
    first: Vec<u8>,
    bundle: Option<Bundle>,
    /// Number of runs that were checked.
    checked: usize,
}

impl Follower {
    /// Follows the journal at this path, which may not exist yet.
    pub fn new(path: &Path, limits: Limits) -> Self {
        let path = path.to_owned();
        Self { path, limits, read: (0, 0), first: Vec::new(), bundle: None, checked: 0 }
    }

    /// Reads the new lines and returns whether there were any. An unfinished last line is left for
    /// the next call.
    ///
    /// # Errors
    /// The file cannot be read, is over the limits, or holds what no journal may hold. The next
    /// call then reads it from the beginning.
    pub fn read(&mut self) -> Result<bool, BundleError> {
        let read = self.read_new();
        if read.is_err() {
            self.begin_anew();
        }
        read
    }

    /// The results so far; `None` before the first line is read.
    pub fn bundle(&self) -> Option<&Bundle> {
        self.bundle.as_ref()
    }

    fn begin_anew(&mut self) {
        (self.read, self.bundle, self.checked) = ((0, 0), None, 0);
        self.first.clear();
    }

    fn read_new(&mut self) -> Result<bool, BundleError> {
        let failed = || io("read", &self.path);
        let mut file = File::open(&self.path).map_err(failed())?;
        let length = file.metadata().map_err(failed())?.len();
        let mut first = vec![0; self.first.len()];
        let is_same =
            length >= self.read.0 && file.read_exact(&mut first).is_ok() && first == self.first;
        if !is_same {
            self.begin_anew();
        }
        file.seek(SeekFrom::Start(self.read.0)).map_err(io("read", &self.path))?;
        let mut reader = BufReader::new(file.take(self.limits.total_bytes.saturating_add(1)));
        let (mut line, mut grown) = (Vec::new(), false);
        loop {
            line.clear();
            reader.read_until(b'\n', &mut line).map_err(io("read", &self.path))?;
            if !line.ends_with(b"\n") {
                break;
            }
            let (bytes, number) = (self.read.0 + line.len() as u64, self.read.1 + 1);
            self.limits.check("the journal", bytes, "bytes", self.limits.total_bytes)?;
            self.limits.check("the journal", number, "lines", self.limits.runs)?;
            match &mut self.bundle {
                None => self.bundle = Some(read_header(&line).map_err(|error| at(error, number))?),
                Some(bundle) => read_line(&line, bundle).map_err(|error| at(error, number))?,
            }
            if number == 1 {
                self.first.clone_from(&line);
            }
            (self.read, grown) = ((bytes, number), true);
        }
        if let Some(bundle) = self.bundle.as_mut().filter(|_| grown) {
            bundle.rate_old_runs();
            bundle.check_from(self.checked)?;
            self.checked = bundle.runs.len();
        }
        Ok(grown)
    }
}

/// Sets the line number of the error.
fn at(error: BundleError, number: u64) -> BundleError {
    match error {
        BundleError::Journal { detail, .. } => BundleError::Journal { line: number, detail },
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;
    use crate::{Journal, Record, journal_path, sample};

    /// A journal with a header and matrices, to which runs are appended.
    fn begun() -> (tempfile::TempDir, PathBuf, Bundle, Journal) {
        let folder = tempfile::tempdir().unwrap();
        let output = folder.path().join("b.zip");
        let whole = sample::bundle();
        let begun = Bundle { runs: Vec::new(), complete: false, ..whole.clone() };
        let journal = Journal::create(&output, &begun, false).unwrap();
        (folder, journal_path(&output), whole, journal)
    }

    #[test]
    fn each_line_is_read_once_and_only_when_it_is_whole() {
        let (_folder, path, whole, mut journal) = begun();
        let mut follower = Follower::new(&path, Limits::default());
        assert!(follower.read().unwrap());
        assert_eq!(follower.bundle().unwrap().runs.len(), 0);
        for (done, run) in whole.runs.iter().enumerate() {
            assert!(!follower.read().unwrap(), "nothing is new");
            journal.append(Record::Run(run)).unwrap();
            assert!(follower.read().unwrap());
            let read = follower.bundle().unwrap();
            assert_eq!(read.runs[..], whole.runs[..=done]);
        }
        let before = std::fs::read(&path).unwrap();
        let mut file = std::fs::OpenOptions::new().append(true).open(&path).unwrap();
        file.write_all(b"{\"run\":").unwrap();
        assert!(!follower.read().unwrap(), "half a line waits for its end");
        // Gives the same result as reading it all at once.
        std::fs::write(&path, before).unwrap();
        let recovered = Journal::recover(&path, &Limits::default()).unwrap();
        assert_eq!(*follower.bundle().unwrap(), recovered);
    }

    #[test]
    fn another_file_is_read_from_its_beginning_and_a_wrong_run_is_an_error() {
        let (_folder, path, whole, mut journal) = begun();
        let mut follower = Follower::new(&path, Limits::default());
        journal.append(Record::Run(&whole.runs[0])).unwrap();
        follower.read().unwrap();
        // Replaced by a journal with a different header, of any length.
        let text = std::fs::read_to_string(&path).unwrap();
        let other = text.replacen(&whole.created, "2031-01-01T00:00:00Z", 1);
        std::fs::write(&path, &other).unwrap();
        assert!(follower.read().unwrap());
        assert_eq!(follower.bundle().unwrap().created, "2031-01-01T00:00:00Z");
        assert_eq!(follower.bundle().unwrap().runs.len(), 1);
        // Truncated.
        let header = other.lines().next().unwrap();
        std::fs::write(&path, format!("{header}\n")).unwrap();
        assert!(follower.read().unwrap());
        assert_eq!(follower.bundle().unwrap().runs.len(), 0);
        // A run on a matrix that does not exist.
        std::fs::write(&path, &other).unwrap();
        follower.read().unwrap();
        let mut lost = whole.runs[0].clone();
        lost.matrix = "nowhere".into();
        journal.append(Record::Run(&lost)).unwrap();
        drop(journal);
        let appended = format!("{other}{}", {
            let text = std::fs::read_to_string(&path).unwrap();
            text.lines().last().unwrap().replace(&whole.runs[0].matrix, "nowhere") + "\n"
        });
        std::fs::write(&path, appended).unwrap();
        assert!(follower.read().is_err());
    }
}
