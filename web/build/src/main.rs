//! `cargo web`: builds the page into `web/dist`, a folder that any file server can serve.
//!
//! ```text
//! cargo build ─► bindgen ─► wasm-opt, terser ─► content-hashed files, notices, example, compressed copies
//! ```
//!
//! Everything is written next to `dist` and renamed at the end, so that `dist` is always a complete page.

mod cargo;
mod compile;
mod compress;
mod dist;
mod landing;
mod notices;
mod optimise;
mod page;
mod sizes;

use std::env;
use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context, bail};
use clap::Parser;

use dist::Dist;

/// Build the Sparsescope page into web/dist
#[derive(Debug, Parser)]
#[command(name = "cargo web", version)]
struct Args {
    /// Quick build: debug profile, no wasm-opt or terser, no size limit
    #[arg(long)]
    dev: bool,
    /// Skip wasm-opt and terser, which need npm
    #[arg(long)]
    no_opt: bool,
    /// Serve the page after the build
    #[arg(long)]
    serve: bool,
    /// Port of --serve [default: a free one]
    #[arg(long, requires = "serve")]
    port: Option<u16>,
    /// Record the sizes that later builds are compared with
    #[arg(long, conflicts_with_all = ["dev", "no_opt"])]
    record: bool,
    /// Do not build the page; print the licences of the crates in a release's program for this target
    #[arg(long, value_name = "TARGET", exclusive = true)]
    notices: Option<String>,
}

fn main() -> ExitCode {
    match run(&Args::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(args: &Args) -> anyhow::Result<()> {
    // Of this clone: several may share a build folder, and with it this program.
    let folder = env::var_os("CARGO_MANIFEST_DIR")
        .context("CARGO_MANIFEST_DIR is not set: run `cargo web`, which sets it")?;
    let web = Path::new(&folder).parent().context("web/build has no parent")?;
    let root = web.parent().context("web has no parent")?;
    if let Some(target) = &args.notices {
        print!("{}", notices::collect(root, notices::PROGRAM, target)?);
        return Ok(());
    }
    eprintln!("building the viewer ({})", if args.dev { "debug" } else { "release" });
    let compiled = compile::run(root, args.dev)?;
    // wasm-opt orders functions by their names and then removes these.
    let named = args.dev || !args.no_opt;
    let (program, glue) = compile::bind(&compiled, args.dev, named)?;
    let program = if args.dev || args.no_opt { program } else { optimise::run(web, program)? };
    let notices = notices::collect(root, notices::PAGE, compile::TARGET)?;
    let minified: page::Minified = if args.dev || args.no_opt {
        Box::new(|script| Ok(script.to_owned()))
    } else {
        let web = web.to_owned();
        Box::new(move |script| optimise::minify(&web, script))
    };
    let page = page::Page { program, glue, notices, minified };

    let dist = Dist::beside(&web.join("dist"))?;
    let sizes = page.write(&web.join("page"), &root.join("app"), &dist, args.dev)?;
    println!("{}", sizes.table(&sizes::Sizes::recorded(web)?));
    // A build without wasm-opt is for experiments.
    if !args.dev && !args.no_opt {
        sizes.check()?;
    }
    dist.publish()?;
    if args.record {
        sizes.record(web)?;
    }
    if args.serve { serve(root, &web.join("dist"), args.port) } else { Ok(()) }
}

/// Runs `sparsescope serve`, built without its window.
fn serve(root: &Path, dist: &Path, port: Option<u16>) -> anyhow::Result<()> {
    let mut command = cargo::command();
    command.args([
        "run",
        "--quiet",
        "--package",
        "sparsescope",
        "--no-default-features",
        "--",
        "serve",
    ]);
    command.current_dir(root).env("SPARSESCOPE_WEB", dist);
    if let Some(port) = port {
        command.args(["--port", &port.to_string()]);
    }
    let status = command.status().context("cannot run cargo")?;
    if !status.success() {
        bail!("`sparsescope serve` exited with {status}");
    }
    Ok(())
}
