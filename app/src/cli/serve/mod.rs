//! `sparsescope serve`: the web viewer and bundles on 127.0.0.1, for the browsers of this machine
//! and, through a forwarded port, of the one in front of the user.

mod http;
mod site;

use std::fs::File;
use std::io::{Read as _, Write as _};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use anyhow::{Context, bail};

use super::args::ServeArgs;
use super::interrupt::Interrupt;
use super::outcome::Outcome;
use super::output::print;
use super::viewer;
use http::{Request, Status, send_head};
use site::{Found, Site};

/// How long a connection may say or take nothing.
const PATIENCE: Duration = Duration::from_secs(10);

/// Connections at a time.
const CONNECTIONS: usize = 64;

/// How often Ctrl-C is looked for.
const WATCH: Duration = Duration::from_millis(50);

pub(super) fn run(args: &ServeArgs, interrupt: &Interrupt) -> anyhow::Result<Outcome> {
    let viewer = viewer::find()?;
    for bundle in &args.bundles {
        check_file(bundle)?;
    }
    let site = Site::new(viewer, &args.bundles);
    let port = args.port.unwrap_or(0);
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port))
        .with_context(|| format!("cannot listen on port {port} of 127.0.0.1"))?;
    let port = listener.local_addr().context("the listener has no address")?.port();
    print(&format!("http://127.0.0.1:{port}/{}\n", site.query()))?;
    eprintln!(
        "From another machine: ssh -L {port}:127.0.0.1:{port} THIS_MACHINE, then the same address there."
    );
    eprintln!("Ctrl-C ends it.");
    // Waits for connections until the process ends, which is what main returns for.
    std::thread::spawn(move || accept(&listener, &Arc::new(site)));
    while !interrupt.raised() {
        std::thread::sleep(WATCH);
    }
    Ok(Outcome::Interrupted)
}

/// A file that can be read, said before anybody looks for it in a browser.
fn check_file(path: &Path) -> anyhow::Result<()> {
    let file = File::open(path).with_context(|| format!("cannot open {}", path.display()))?;
    if file.metadata()?.is_dir() {
        bail!("cannot open {}: it is a folder", path.display());
    }
    Ok(())
}

fn accept(listener: &TcpListener, site: &Arc<Site>) {
    let open = Arc::new(AtomicUsize::new(0));
    for stream in listener.incoming() {
        // A visitor that gave up; the next one may not have.
        let Ok(stream) = stream else { continue };
        if open.fetch_add(1, Ordering::Relaxed) >= CONNECTIONS {
            open.fetch_sub(1, Ordering::Relaxed);
            continue;
        }
        let (site, open) = (Arc::clone(site), Arc::clone(&open));
        std::thread::spawn(move || {
            // Nobody is left to tell when a browser hangs up.
            let _ = answer(&stream, &site);
            open.fetch_sub(1, Ordering::Relaxed);
        });
    }
}

fn answer(mut stream: &TcpStream, site: &Site) -> std::io::Result<()> {
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.set_write_timeout(Some(PATIENCE))?;
    let Some(request) = Request::read(stream) else {
        return refuse(
            stream,
            Status::BadRequest,
            "This is no request that the server understands.",
        );
    };
    if !request.is_local() {
        return refuse(
            stream,
            Status::Forbidden,
            "The server answers to 127.0.0.1 and localhost alone.",
        );
    }
    if !["GET", "HEAD"].contains(&request.method.as_str()) {
        return refuse(stream, Status::MethodNotAllowed, "The server knows GET and HEAD.");
    }
    let Some(found) = site.find(&request) else {
        return refuse(stream, Status::NotFound, "There is no such file.");
    };
    match File::open(&found.path).and_then(|file| Ok((file.metadata()?.len(), file))) {
        Ok((bytes, file)) => {
            let keep = if found.keeps { "max-age=31536000, immutable" } else { "no-cache" };
            send_head(&mut stream, Status::Ok, found.kind, bytes, &headers(&found, keep))?;
            if request.method == "GET" {
                // As many as announced, should the file grow meanwhile.
                std::io::copy(&mut file.take(bytes), &mut stream)?;
            }
            stream.flush()
        }
        Err(error) => refuse(stream, Status::Failed, &format!("The file cannot be read: {error}.")),
    }
}

fn headers<'a>(found: &Found, keep: &'a str) -> Vec<(&'static str, &'a str)> {
    let mut headers = vec![("Cache-Control", keep), ("Vary", "Accept-Encoding")];
    headers.extend(found.encoding.map(|encoding| ("Content-Encoding", encoding)));
    headers
}

fn refuse(mut stream: &TcpStream, status: Status, sentence: &str) -> std::io::Result<()> {
    let allow: &[_] =
        if status == Status::MethodNotAllowed { &[("Allow", "GET, HEAD")] } else { &[] };
    send_head(&mut stream, status, "text/plain; charset=utf-8", sentence.len() as u64, allow)?;
    stream.write_all(sentence.as_bytes())
}
