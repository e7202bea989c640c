//! `sparsescope fetch`: downloads matrices of the SuiteSparse collection into the folder where `suite:` and
//! the next fetch look for them.

mod archive;
mod collection;
mod download;
mod failure;

use std::path::PathBuf;

use anyhow::{Context, bail};
use sparsescope_core::experiment::{matrix_cache, matrix_file};

use super::args::FetchArgs;
use super::interrupt::Interrupt;
use super::outcome::{Outcome, sentence};
use super::output::say_written;
use super::progress::Progress;
use super::values::MAX_SIZE;
use archive::{Archive, Part};
use collection::Collection;
pub(super) use collection::Name;
use download::Client;
use failure::Failure;

/// Maximum ratio of the decompressed size to the largest allowed archive.
const MOST_RATIO: u64 = 16;

pub(super) fn run(args: &FetchArgs, interrupt: &Interrupt, quiet: bool) -> anyhow::Result<Outcome> {
    let names = args.names.iter().map(|name| Name::parse(name)).collect::<Result<Vec<_>, _>>()?;
    let folder = match &args.folder {
        Some(folder) => folder.clone(),
        None => matrix_cache().context("there is no cache folder; set one with --folder")?,
    };
    let mut fetcher = Fetcher::new(folder, args.max_size, interrupt, quiet)?;
    let mut failed = 0;
    for name in &names {
        let path = fetcher.archive(name).path().to_owned();
        match fetcher.fetch(name, args.force) {
            Ok(Some(bytes)) => {
                let megabytes = bytes as f64 / 1e6;
                say_written(&path, quiet, &format!("{megabytes:.1} MB, checked"));
            }
            Ok(None) => say_written(&path, quiet, "already downloaded"),
            Err(error) if interrupt.raised() => return Err(error),
            Err(error) => {
                eprintln!("error: {name}: {}", sentence(&error));
                failed += 1;
            }
        }
    }
    Ok(if failed == 0 { Outcome::Success } else { Outcome::Incomplete })
}

/// The file of each matrix of the collection: from one of the folders that `suite:` searches, or downloaded
/// into the cache. Each is downloaded once, however many processes ask for it at the same time.
pub(super) fn files(
    names: &[Name],
    interrupt: &Interrupt,
    quiet: bool,
) -> anyhow::Result<Vec<PathBuf>> {
    let mut fetcher = None;
    let mut files = Vec::new();
    for name in names {
        if let Some(file) = matrix_file(&name.name) {
            files.push(file);
            continue;
        }
        let fetcher = match &mut fetcher {
            Some(fetcher) => fetcher,
            None => {
                let folder = matrix_cache().context("there is no cache folder for downloads")?;
                fetcher.insert(Fetcher::new(folder, MAX_SIZE, interrupt, quiet)?)
            }
        };
        fetcher.fetch(name, false).with_context(|| format!("cannot fetch {name}"))?;
        files.push(fetcher.archive(name).path().to_owned());
    }
    Ok(files)
}

/// Downloads from a collection into a folder.
struct Fetcher<'i> {
    folder: PathBuf,
    collection: Collection,
    client: Client<'i>,
    /// The collection's index, once it was requested.
    index: Option<String>,
    quiet: bool,
}

impl<'i> Fetcher<'i> {
    fn new(
        folder: PathBuf,
        max_size: u64,
        interrupt: &'i Interrupt,
        quiet: bool,
    ) -> anyhow::Result<Self> {
        let collection = Collection::from_environment()?;
        if collection.is_encrypted() && !cfg!(feature = "fetch") {
            bail!(
                "this build has no TLS for {}; run `cargo window fetch …` from the sources, or build with `--features fetch`",
                collection.address()
            );
        }
        std::fs::create_dir_all(&folder)
            .with_context(|| format!("cannot create the folder {}", folder.display()))?;
        let client = Client::new(&collection, max_size, interrupt.flag());
        Ok(Self { folder, collection, client, index: None, quiet })
    }

    /// The archive of a matrix, whether it exists or not.
    fn archive(&self, name: &Name) -> Archive {
        Archive::new(&self.folder, &name.name)
    }

    /// Downloads an archive into the folder, even if it exists when `anew` is set; returns its size in bytes,
    /// or nothing if it existed.
    fn fetch(&mut self, name: &Name, anew: bool) -> anyhow::Result<Option<u64>> {
        let archive = self.archive(name);
        if archive.is_complete() && !anew {
            return Ok(None);
        }
        let mut shown = Progress::new(self.quiet);
        let done = self.download(name, &archive, anew, &mut shown);
        shown.finish();
        done
    }

    /// Downloads one archive and checks it. A partial download is resumed; a file that fails the check is
    /// downloaded again once.
    fn download(
        &mut self,
        name: &Name,
        archive: &Archive,
        anew: bool,
        shown: &mut Progress,
    ) -> anyhow::Result<Option<u64>> {
        let Self { collection, client, index, .. } = self;
        let mut waiting =
            || shown.set(0.0, &format!("{name}: waiting for another process to download it"));
        let Some(mut part) = archive.part(anew, client.cancel(), &mut waiting)? else {
            return Ok(None);
        };
        let done = complete(name, (collection, client), index, &mut part, shown);
        // An empty partial file is useless.
        if done.is_err() && part.len()? == 0 {
            part.remove()?;
        }
        done?;
        part.finish().map(Some)
    }
}

/// Downloads what a partial file lacks, and checks the whole.
fn complete(
    name: &Name,
    (collection, client): (&Collection, &Client<'_>),
    index: &mut Option<String>,
    part: &mut Part,
    shown: &mut Progress,
) -> anyhow::Result<()> {
    let group = match &name.group {
        Some(group) => group.clone(),
        None => {
            shown.set(0.0, "reading the collection's index");
            let index = match index {
                Some(index) => index,
                None => index.insert(client.text(&collection.index_url())?),
            };
            collection::group_of(index, &name.name)?
        }
    };
    let url = collection.archive_url(&group, &name.name);
    let continued = part.len()? > 0;
    let mut tell = |done: u64, total: Option<u64>| {
        let share = total.map_or(0.0, |total| done as f64 / total.max(1) as f64);
        let of = total.map_or(String::new(), |total| format!(" of {:.1}", total as f64 / 1e6));
        shown.set(share, &format!("{name}: {:.1}{of} MB", done as f64 / 1e6));
    };
    client.download(&url, part, &mut tell)?;
    let most = client.most().saturating_mul(MOST_RATIO);
    let checked = match part.check(most, client.cancel()) {
        // The partial file may be from another file, or the file newer.
        Err(Failure::Damaged(_)) if continued => {
            part.clear()?;
            client.download(&url, part, &mut tell)?;
            part.check(most, client.cancel())
        }
        checked => checked,
    };
    if let Err(Failure::Damaged(why)) = checked {
        part.clear()?;
        bail!("{url}: the archive is damaged: {why}");
    }
    Ok(checked?)
}
