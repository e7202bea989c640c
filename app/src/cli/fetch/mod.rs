//! `sparsescope fetch`: matrices of the SuiteSparse collection, into the folder where `suite:` and
//! the next fetch look for them.

mod archive;
mod collection;
mod download;
mod failure;

use anyhow::{Context, bail};
use sparsescope_core::experiment::matrix_cache;

use super::Outcome;
use super::args::FetchArgs;
use super::interrupt::Interrupt;
use super::progress::Progress;
use archive::Archive;
use collection::{Collection, Name};
use download::Client;
use failure::Failure;

pub(super) fn run(args: &FetchArgs, interrupt: &Interrupt, quiet: bool) -> anyhow::Result<Outcome> {
    let names = args.names.iter().map(|name| Name::parse(name)).collect::<Result<Vec<_>, _>>()?;
    let folder = match &args.folder {
        Some(folder) => folder.clone(),
        None => matrix_cache().context("there is no cache folder; name one with --folder")?,
    };
    std::fs::create_dir_all(&folder)
        .with_context(|| format!("cannot make the folder {}", folder.display()))?;
    let collection = Collection::from_environment()?;
    if collection.is_encrypted() && !cfg!(feature = "fetch") {
        bail!(
            "this build has no encryption for {}; `cargo window fetch …` in its sources has (`--features fetch`)",
            collection.address()
        );
    }
    let client = Client::new(&collection, interrupt.flag());
    let mut index = None;
    let mut failed = 0;
    for name in &names {
        let archive = Archive::new(&folder, &name.name);
        if archive.is_complete() && !args.force {
            eprintln!("{}: there already", archive.path().display());
            continue;
        }
        let mut shown = Progress::new(quiet);
        let done = fetch(name, &archive, &collection, &client, &mut index, &mut shown);
        shown.finish();
        match done {
            Ok(bytes) => {
                let megabytes = bytes as f64 / 1e6;
                eprintln!("{}: {megabytes:.1} MB, checked", archive.path().display());
            }
            Err(error) if interrupt.raised() => return Err(error),
            Err(error) => {
                eprintln!("error: {name}: {error:#}");
                failed += 1;
            }
        }
    }
    Ok(if failed == 0 { Outcome::Success } else { Outcome::Incomplete })
}

/// Downloads one archive and checks it. What a broken connection left is continued; what does not
/// pass the check is fetched anew once.
fn fetch(
    name: &Name,
    archive: &Archive,
    collection: &Collection,
    client: &Client<'_>,
    index: &mut Option<String>,
    shown: &mut Progress,
) -> anyhow::Result<u64> {
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
    let mut part = archive.part()?;
    let continued = part.len()? > 0;
    let mut tell = |done: u64, total: Option<u64>| {
        let share = total.map_or(0.0, |total| done as f64 / total.max(1) as f64);
        let of = total.map_or(String::new(), |total| format!(" of {:.1}", total as f64 / 1e6));
        shown.set(share, &format!("{name}: {:.1}{of} MB", done as f64 / 1e6));
    };
    if let Err(error) = client.download(&url, &mut part, &mut tell) {
        if part.len()? == 0 {
            part.remove()?;
        }
        return Err(error.into());
    }
    let checked = match part.check(client.cancel()) {
        // The beginning may have been another file's, or the file a newer one.
        Err(Failure::Damaged(_)) if continued => {
            part.clear()?;
            client.download(&url, &mut part, &mut tell)?;
            part.check(client.cancel())
        }
        checked => checked,
    };
    if let Err(Failure::Damaged(why)) = checked {
        part.remove()?;
        bail!("what {url} sent is no intact archive: {why}");
    }
    checked?;
    part.finish()
}
