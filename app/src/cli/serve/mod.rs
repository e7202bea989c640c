//! `sparsescope serve`: the web viewer and bundles on 127.0.0.1, for browsers on this machine or, through a
//! forwarded port, on the user's.

mod http;
mod site;

use std::collections::VecDeque;
use std::fs::File;
use std::io::{Read, Write};
use std::net::{Ipv4Addr, Shutdown, TcpListener, TcpStream};
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use anyhow::{Context, bail};

use super::args::ServeArgs;
use super::interrupt::Interrupt;
use super::outcome::Outcome;
use super::output::print;
use super::viewer;
use http::{Request, Status, send_head};
use site::{Found, Site};

/// Timeout for a connection's request and for each piece of the answer.
const PATIENCE: Duration = Duration::from_secs(10);
const PATIENT_BYTES: u64 = 1 << 20;

/// Maximum duration of an answer, whatever its size.
const LONGEST: Duration = Duration::from_secs(3600);

/// Maximum number of connections; one more closes the oldest.
const CONNECTIONS: usize = 64;

/// Interval at which Ctrl-C is polled.
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
        "From another machine: run `ssh -L {port}:127.0.0.1:{port} THIS_MACHINE` there and open the same address."
    );
    eprintln!("Press Ctrl-C to stop.");
    // Accepts connections until the process ends, when main returns.
    let accept = move || accept(&listener, &Arc::new(site));
    std::thread::Builder::new().spawn(accept).context("cannot accept connections")?;
    while !interrupt.raised() {
        std::thread::sleep(WATCH);
    }
    Ok(Outcome::Interrupted)
}

/// Checks that a file can be read, before anybody opens it in a browser.
fn check_file(path: &Path) -> anyhow::Result<()> {
    let file = File::open(path).with_context(|| format!("cannot open {}", path.display()))?;
    if file.metadata()?.is_dir() {
        bail!("cannot open {}: it is a folder", path.display());
    }
    Ok(())
}

/// The open connections, the oldest first.
type Open = Mutex<VecDeque<Arc<TcpStream>>>;

fn lock(open: &Open) -> MutexGuard<'_, VecDeque<Arc<TcpStream>>> {
    open.lock().unwrap_or_else(PoisonError::into_inner)
}

fn accept(listener: &TcpListener, site: &Arc<Site>) {
    let open = Arc::<Open>::default();
    for stream in listener.incoming() {
        // The client gave up; the next one may not have.
        let Ok(stream) = stream else { continue };
        let stream = Arc::new(stream);
        let mut connections = lock(&open);
        // An idle client must not lock others out.
        if connections.len() >= CONNECTIONS
            && let Some(oldest) = connections.pop_front()
        {
            let _ = oldest.shutdown(Shutdown::Both);
        }
        connections.push_back(Arc::clone(&stream));
        drop(connections);
        let (site, others) = (Arc::clone(site), Arc::clone(&open));
        let serve = move || {
            // Nobody is left to notify when a browser hangs up.
            let _ = answer(&stream, &site);
            lock(&others).retain(|other| !Arc::ptr_eq(other, &stream));
        };
        if std::thread::Builder::new().spawn(serve).is_err() {
            // The connection ends here; a later one may reuse its thread.
            lock(&open).pop_back();
        }
    }
}

/// A connection with a deadline for all reads and writes, however slowly data arrives.
struct Until<'s> {
    stream: &'s TcpStream,
    end: Instant,
}

impl<'s> Until<'s> {
    /// A deadline for a request, or for an answer of this size in bytes.
    fn of(stream: &'s TcpStream, bytes: u64) -> Self {
        let times = u32::try_from(1 + bytes / PATIENT_BYTES).unwrap_or(u32::MAX);
        Self { stream, end: Instant::now() + PATIENCE.saturating_mul(times).min(LONGEST) }
    }

    fn left(&self) -> std::io::Result<Option<Duration>> {
        match self.end.saturating_duration_since(Instant::now()) {
            Duration::ZERO => Err(std::io::ErrorKind::TimedOut.into()),
            left => Ok(Some(left.min(PATIENCE))),
        }
    }
}

impl Read for Until<'_> {
    fn read(&mut self, bytes: &mut [u8]) -> std::io::Result<usize> {
        self.stream.set_read_timeout(self.left()?)?;
        self.stream.read(bytes)
    }
}

impl Write for Until<'_> {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.stream.set_write_timeout(self.left()?)?;
        self.stream.write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.stream.flush()
    }
}

fn answer(stream: &TcpStream, site: &Site) -> std::io::Result<()> {
    let Some(request) = Request::read(Until::of(stream, 0)) else {
        return refuse(stream, Status::BadRequest, "The server does not understand this request.");
    };
    if !request.is_local() {
        return refuse(
            stream,
            Status::Forbidden,
            "The server only answers requests to 127.0.0.1 and localhost.",
        );
    }
    if !["GET", "HEAD"].contains(&request.method.as_str()) {
        return refuse(stream, Status::MethodNotAllowed, "The server supports only GET and HEAD.");
    }
    let Some(found) = site.find(&request) else {
        return refuse(stream, Status::NotFound, "No such file.");
    };
    match File::open(&found.path).and_then(|file| Ok((file.metadata()?.len(), file))) {
        Ok((bytes, file)) => {
            let keep = if found.keeps { "max-age=31536000, immutable" } else { "no-cache" };
            let mut out = Until::of(stream, bytes);
            send_head(&mut out, Status::Ok, found.kind, bytes, &headers(&found, keep))?;
            if request.method == "GET" {
                // As many bytes as announced, even if the file grows meanwhile.
                std::io::copy(&mut file.take(bytes), &mut out)?;
            }
            out.flush()
        }
        Err(error) => refuse(stream, Status::Failed, &format!("The file cannot be read: {error}.")),
    }
}

fn headers<'a>(found: &Found, keep: &'a str) -> Vec<(&'static str, &'a str)> {
    let mut headers = vec![("Cache-Control", keep), ("Vary", "Accept-Encoding")];
    headers.extend(found.encoding.map(|encoding| ("Content-Encoding", encoding)));
    headers
}

fn refuse(stream: &TcpStream, status: Status, sentence: &str) -> std::io::Result<()> {
    let mut out = Until::of(stream, 0);
    let allow: &[_] =
        if status == Status::MethodNotAllowed { &[("Allow", "GET, HEAD")] } else { &[] };
    send_head(&mut out, status, "text/plain; charset=utf-8", sentence.len() as u64, allow)?;
    out.write_all(sentence.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_connection_that_trickles_is_read_until_its_time_is_over() {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let mut slow = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (stream, _) = listener.accept().unwrap();
        std::thread::scope(|scope| {
            // Sends a byte now and then, until the server hangs up.
            scope.spawn(move || {
                while slow.write_all(b"a").is_ok() {
                    std::thread::sleep(Duration::from_millis(5));
                }
            });
            let end = Instant::now() + Duration::from_millis(200);
            let mut until = Until { stream: &stream, end };
            let error = until.read_to_end(&mut Vec::new()).unwrap_err();
            let timed_out = [std::io::ErrorKind::TimedOut, std::io::ErrorKind::WouldBlock];
            assert!(timed_out.contains(&error.kind()), "{error}");
            assert!(Instant::now() >= end);
            stream.shutdown(Shutdown::Both).unwrap();
            drop(stream);
        });
    }

    #[test]
    fn a_large_answer_may_take_longer_but_not_for_ever() {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let stream = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let left = |bytes: u64| {
            Until::of(&stream, bytes).end.saturating_duration_since(Instant::now()).as_secs_f64()
        };
        assert!((9.0..=10.0).contains(&left(0)) && (29.0..=30.0).contains(&left(2 << 20)));
        assert!((3599.0..=3600.0).contains(&left(u64::MAX)));
    }
}
