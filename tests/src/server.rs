//! A web server for tests, on 127.0.0.1, whose answers the test defines, including wrong ones.

use std::io::{BufRead, BufReader, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

/// A request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Asked {
    /// Path and query.
    pub path: String,
    /// The `N` of `Range: bytes=N-`.
    pub from: Option<u64>,
}

/// An answer; the connection is closed after it.
#[derive(Clone, Debug)]
pub struct Reply {
    status: u16,
    headers: Vec<(&'static str, String)>,
    body: Vec<u8>,
    /// The `Content-Length` if it differs from the body's.
    length: Option<u64>,
    hangs: bool,
}

impl Reply {
    /// Status 200 and the whole `body`.
    pub fn whole(body: &[u8]) -> Self {
        Self { status: 200, headers: Vec::new(), body: body.to_vec(), length: None, hangs: false }
    }

    /// A status without a body.
    pub fn status(status: u16) -> Self {
        Self { status, ..Self::whole(&[]) }
    }

    /// Status 206 and `body` from byte `from` on; 416 if it is shorter.
    pub fn range(body: &[u8], from: u64) -> Self {
        let total = body.len();
        match body.get(from as usize..).filter(|rest| !rest.is_empty()) {
            Some(rest) => Self { status: 206, ..Self::whole(rest) }
                .header("Content-Range", format!("bytes {from}-{}/{total}", total - 1)),
            None => Self::status(416).header("Content-Range", format!("bytes */{total}")),
        }
    }

    /// Adds a header.
    pub fn header(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.headers.push((name, value.into()));
        self
    }

    /// Sends only this many bytes, but announces the same number as before.
    pub fn cut_after(mut self, bytes: usize) -> Self {
        self.length = Some(self.length.unwrap_or(self.body.len() as u64));
        self.body.truncate(bytes);
        self
    }

    /// Announces a different number of bytes.
    pub fn announcing(self, bytes: u64) -> Self {
        Self { length: Some(bytes), ..self }
    }

    /// Keeps the connection open without sending, until the server ends.
    pub fn then_hang(self) -> Self {
        Self { hangs: true, ..self }
    }
}

/// A server that runs until it is dropped.
pub struct Server {
    port: u16,
    asked: Arc<Mutex<Vec<Asked>>>,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Server {
    /// Answers each request with the result of `answer`, which also gets the number of earlier requests.
    ///
    /// # Panics
    /// If it cannot listen.
    pub fn start(answer: impl Fn(&Asked, usize) -> Reply + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a free port"); // invariant of tests
        let port = listener.local_addr().expect("an address").port(); // invariant of tests
        let asked: Arc<Mutex<Vec<Asked>>> = Arc::default();
        let stop: Arc<AtomicBool> = Arc::default();
        let (log, stopped, answer) = (Arc::clone(&asked), Arc::clone(&stop), Arc::new(answer));
        let thread = std::thread::spawn(move || {
            for connection in listener.incoming().flatten() {
                if stopped.load(Ordering::Relaxed) {
                    return;
                }
                let (log, stopped) = (Arc::clone(&log), Arc::clone(&stopped));
                let answer = Arc::clone(&answer);
                std::thread::spawn(move || {
                    let Some(asked) = read_request(&connection) else { return };
                    let before = {
                        let mut log = log.lock().unwrap_or_else(PoisonError::into_inner);
                        log.push(asked.clone());
                        log.len() - 1
                    };
                    let reply = answer(&asked, before);
                    // The client may have closed the connection.
                    let _ = send(&connection, &reply);
                    while reply.hangs && !stopped.load(Ordering::Relaxed) {
                        std::thread::sleep(Duration::from_millis(10));
                    }
                });
            }
        });
        Self { port, asked, stop, thread: Some(thread) }
    }

    /// `http://127.0.0.1:PORT`.
    pub fn address(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// All requests so far.
    pub fn asked(&self) -> Vec<Asked> {
        self.asked.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        // Wakes the thread that waits for connections.
        let _ = TcpStream::connect((Ipv4Addr::LOCALHOST, self.port));
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn read_request(connection: &TcpStream) -> Option<Asked> {
    let mut lines = BufReader::new(connection).lines();
    let path = lines.next()?.ok()?.split(' ').nth(1)?.to_owned();
    let mut from = None;
    for line in lines {
        let line = line.ok()?.to_ascii_lowercase();
        if line.is_empty() {
            break;
        }
        if let Some(range) = line.strip_prefix("range: bytes=") {
            from = range.trim_end_matches('-').parse().ok();
        }
    }
    Some(Asked { path, from })
}

fn send(mut connection: &TcpStream, reply: &Reply) -> std::io::Result<()> {
    let length = reply.length.unwrap_or(reply.body.len() as u64);
    let mut head =
        format!("HTTP/1.1 {} -\r\nContent-Length: {length}\r\nConnection: close\r\n", reply.status);
    for (name, value) in &reply.headers {
        head += &format!("{name}: {value}\r\n");
    }
    connection.write_all(head.as_bytes())?;
    connection.write_all(b"\r\n")?;
    connection.write_all(&reply.body)?;
    connection.flush()
}
