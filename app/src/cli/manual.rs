//! `sparsescope completions` and `sparsescope man`: completion scripts and man pages, made from the arguments.

use anyhow::Context;
use clap::Command;
use clap_mangen::Man;

use super::args::{Cli, CompletionsArgs, ManArgs};
use super::help::with_subcommands;
use super::outcome::Outcome;
use super::output::{check_free, keep, print, say_written};

pub(super) fn completions(args: &CompletionsArgs) -> anyhow::Result<Outcome> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::program(), "sparsescope", &mut script);
    print(&String::from_utf8_lossy(&script))?;
    Ok(Outcome::Success)
}

pub(super) fn run(args: &ManArgs, quiet: bool) -> anyhow::Result<Outcome> {
    let mut program = Cli::program().disable_help_subcommand(true);
    program.build();
    let Some(folder) = &args.folder else {
        let (_, text) = page(&program)?;
        print(&String::from_utf8_lossy(&text))?;
        return Ok(Outcome::Success);
    };
    std::fs::create_dir_all(folder)
        .with_context(|| format!("cannot create the folder {}", folder.display()))?;
    let pages: Vec<(String, Vec<u8>)> =
        with_subcommands(&program).into_iter().map(page).collect::<anyhow::Result<_>>()?;
    // None is written unless all can be.
    for (name, _) in &pages {
        check_free(&folder.join(name), args.force)?;
    }
    for (name, text) in &pages {
        keep(&folder.join(name), args.force, text)?;
    }
    say_written(folder, quiet, &format!("{} man pages", pages.len()));
    Ok(Outcome::Success)
}

/// The man page of a command, with the name of its file.
fn page(command: &Command) -> anyhow::Result<(String, Vec<u8>)> {
    let page = Man::new(command.clone());
    let mut text = Vec::new();
    page.render(&mut text).context("cannot write the man page")?;
    Ok((page.get_filename(), text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_command_has_a_man_page_that_describes_all_its_options() {
        let folder = tempfile::tempdir().unwrap();
        let args = |force| ManArgs { folder: Some(folder.path().join("man1")), force };
        assert_eq!(run(&args(false), true).unwrap(), Outcome::Success);
        let read = |name: &str| std::fs::read_to_string(folder.path().join("man1").join(name));
        let bench = read("sparsescope-bench.1").unwrap();
        // One that `-h` lists, and one that it does not.
        assert!(bench.contains("Timed samples per run"), "{bench}");
        assert!(bench.contains("Rows per hack of HLL"), "{bench}");
        assert!(read("sparsescope.1").unwrap().contains("sparsescope\\-man(1)"));
        assert!(read("sparsescope-track-check.1").unwrap().contains("Smallest change that counts"));
        assert!(run(&args(false), true).is_err());
        assert!(run(&args(true), true).is_ok());
    }
}
