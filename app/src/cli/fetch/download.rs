//! Downloads one file over HTTP: resumes where the connection broke off and retries where that may help.

use std::io::Read;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, SendError, SyncSender};
use std::time::{Duration, Instant};

use ureq::typestate::WithoutBody;
use ureq::{Agent, RequestBuilder};

use super::archive::Part;
use super::collection::Collection;
use super::failure::Failure;

/// Timeout for connecting and for each piece of an answer.
const PATIENCE: Duration = Duration::from_secs(20);
/// Maximum number of tries without a new byte.
const TRIES: u32 = 4;
/// Maximum number of tries in all: a server that sends a little each time must end too.
const ALL_TRIES: u32 = 40;
/// The wait after the first failure; it doubles with each.
const FIRST_WAIT: Duration = Duration::from_millis(500);
/// Maximum size of an index.
const INDEX_BYTES: usize = 32 << 20;
/// Maximum number of bytes passed on at a time.
const BLOCK: usize = 64 << 10;
/// Interval at which Ctrl-C is polled while the server is silent.
const BETWEEN_LOOKS: Duration = Duration::from_millis(50);

/// Shows the bytes done and, if known, the total.
type Tell<'t> = &'t mut dyn FnMut(u64, Option<u64>);

/// A client of the collection's server.
pub(super) struct Client<'c> {
    agent: Agent,
    /// Maximum size of a file in bytes.
    most: u64,
    cancel: &'c AtomicBool,
}

impl<'c> Client<'c> {
    pub(super) fn new(collection: &Collection, most: u64, cancel: &'c AtomicBool) -> Self {
        let config = Agent::config_builder()
            .http_status_as_error(false)
            .https_only(collection.is_encrypted())
            .timeout_connect(Some(PATIENCE))
            .timeout_recv_response(Some(PATIENCE))
            .timeout_per_read(Some(PATIENCE))
            // No content encoding: ranges count the bytes of the file itself.
            .accept_encoding("identity")
            .user_agent(concat!("sparsescope/", env!("CARGO_PKG_VERSION")))
            .build();
        Self { agent: config.into(), most, cancel }
    }

    /// Maximum size of a file in bytes.
    pub(super) fn most(&self) -> u64 {
        self.most
    }

    pub(super) fn cancel(&self) -> &AtomicBool {
        self.cancel
    }

    fn check(&self) -> Result<(), Failure> {
        if self.cancel.load(Ordering::Relaxed) { Err(Failure::Cancelled) } else { Ok(()) }
    }

    /// Downloads a text file.
    pub(super) fn text(&self, url: &str) -> Result<String, Failure> {
        let mut tries = 0;
        loop {
            tries += 1;
            match self.text_once(url) {
                Err(Failure::Broken(why)) => self.wait(tries, &why)?,
                ended => return ended,
            }
        }
    }

    fn text_once(&self, url: &str) -> Result<String, Failure> {
        let mut answer = self.ask(url, 0)?;
        expect_file(url, &answer.head)?;
        let mut text = Vec::new();
        while let Some(block) = self.block(url, &mut answer)? {
            text.extend_from_slice(&block);
            if text.len() > INDEX_BYTES {
                return Err(Failure::Refused(format!(
                    "{url}: the index has more than {INDEX_BYTES} bytes"
                )));
            }
        }
        Ok(String::from_utf8_lossy(&text).into_owned())
    }

    /// Requests the file at `url` from byte `start`. A separate thread waits for the server, so that Ctrl-C
    /// works meanwhile.
    fn ask(&self, url: &str, start: u64) -> Result<Answer, Failure> {
        let mut request = self.agent.get(url);
        if start > 0 {
            request = request.header("Range", format!("bytes={start}-"));
        }
        let (say, hear) = mpsc::sync_channel(4);
        let talk = move || {
            // If nobody listens any more, there is nothing to report.
            let _ = answer(request, &say);
        };
        std::thread::Builder::new()
            .spawn(talk)
            .map_err(|error| Failure::Refused(format!("{url}: cannot start a thread: {error}")))?;
        let mut answer = Answer { head: Head::default(), hear };
        match self.hear(url, &mut answer)? {
            Message::Head(head) => Ok(Answer { head, ..answer }),
            Message::Block(_) => Err(broken(url, "the response has no header")),
        }
    }

    /// The next bytes of an answer; `None` at its end.
    fn block(&self, url: &str, answer: &mut Answer) -> Result<Option<Vec<u8>>, Failure> {
        match self.hear(url, answer)? {
            Message::Block(block) if block.is_empty() => Ok(None),
            Message::Block(block) => Ok(Some(block)),
            Message::Head(_) => Err(broken(url, "the response has two headers")),
        }
    }

    fn hear(&self, url: &str, answer: &mut Answer) -> Result<Message, Failure> {
        loop {
            self.check()?;
            match answer.hear.recv_timeout(BETWEEN_LOOKS) {
                Ok(Ok(message)) => return Ok(message),
                Ok(Err(why)) => return Err(broken(url, &why)),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => {
                    return Err(broken(url, "the connection closed"));
                }
            }
        }
    }

    /// Appends to `part` what it lacks of the file at `url`.
    pub(super) fn download(
        &self,
        url: &str,
        part: &mut Part,
        tell: Tell<'_>,
    ) -> Result<(), Failure> {
        let (mut tries, mut without_progress) = (0, 0);
        loop {
            let before = part.len()?;
            match self.download_once(url, part, tell) {
                Err(Failure::Broken(why)) => {
                    tries += 1;
                    without_progress = if part.len()? > before { 1 } else { without_progress + 1 };
                    self.wait(without_progress.max(tries / (ALL_TRIES / TRIES)), &why)?;
                }
                ended => return ended,
            }
        }
    }

    /// Fails if a file is larger than allowed.
    fn expect_room(&self, url: &str, bytes: u64) -> Result<(), Failure> {
        let most = self.most;
        match bytes <= most {
            true => Ok(()),
            false => Err(Failure::Refused(format!(
                "{url}: expected at most {most} bytes, found {bytes} or more; use --max-size to allow more"
            ))),
        }
    }

    /// Waits before the next try, or fails after too many.
    fn wait(&self, tries: u32, why: &str) -> Result<(), Failure> {
        self.check()?;
        if tries >= TRIES {
            return Err(Failure::Refused(format!("{why} (tried {tries} times)")));
        }
        let until = Instant::now() + FIRST_WAIT * 2u32.pow(tries.saturating_sub(1));
        while Instant::now() < until {
            self.check()?;
            std::thread::sleep(Duration::from_millis(20));
        }
        Ok(())
    }

    fn download_once(&self, url: &str, part: &mut Part, tell: Tell<'_>) -> Result<(), Failure> {
        self.check()?;
        let start = part.len()?;
        let mut answer = self.ask(url, start)?;
        let Head { status, range, length } = answer.head;
        let total = match (status, range) {
            (206, Some(range)) if range.start == Some(start) => range.total,
            // The part is complete, or too long.
            (416, Some(ContentRange { total: Some(total), .. })) if total == start => return Ok(()),
            (416 | 206, _) if start > 0 => {
                part.clear()?;
                return Err(Failure::Broken(format!(
                    "{url}: the file on the server does not continue at byte {start}"
                )));
            }
            _ => {
                expect_file(url, &answer.head)?;
                // The server starts over.
                part.clear()?;
                length
            }
        };
        self.expect_room(url, total.unwrap_or(0))?;
        let mut done = part.len()?;
        while let Some(block) = self.block(url, &mut answer)? {
            if done == 0 && !is_gzip(&block) {
                return Err(not_gzip(url, &block));
            }
            done += block.len() as u64;
            if let Err(too_large) = self.expect_room(url, done) {
                part.clear()?;
                return Err(too_large);
            }
            part.append(&block)?;
            tell(done, total);
        }
        match total {
            Some(total) if done != total => Err(Failure::Broken(format!(
                "{url}: the connection closed after {done} of {total} bytes"
            ))),
            _ => Ok(()),
        }
    }
}

/// The status and headers of an answer.
#[derive(Clone, Copy, Debug, Default)]
struct Head {
    status: u16,
    range: Option<ContentRange>,
    length: Option<u64>,
}

/// A part of an answer; an empty block ends it.
enum Message {
    Head(Head),
    Block(Vec<u8>),
}

/// An answer as it comes.
struct Answer {
    head: Head,
    hear: Receiver<Result<Message, String>>,
}

/// Sends a request and passes on the answer until nobody listens.
fn answer(
    request: RequestBuilder<WithoutBody>,
    say: &SyncSender<Result<Message, String>>,
) -> Result<(), SendError<Result<Message, String>>> {
    let response = match request.call() {
        Ok(response) => response,
        Err(error) => return say.send(Err(error.to_string())),
    };
    let header = |name: &str| response.headers().get(name).and_then(|value| value.to_str().ok());
    say.send(Ok(Message::Head(Head {
        status: response.status().as_u16(),
        range: header("content-range").and_then(ContentRange::parse),
        length: header("content-length").and_then(|length| length.trim().parse().ok()),
    })))?;
    let mut body = response.into_body().into_reader();
    loop {
        let mut block = vec![0; BLOCK];
        match body.read(&mut block) {
            Ok(read) => {
                block.truncate(read);
                say.send(Ok(Message::Block(block)))?;
                if read == 0 {
                    return Ok(());
                }
            }
            Err(error) => return say.send(Err(error.to_string())),
        }
    }
}

fn broken(url: &str, why: &str) -> Failure {
    Failure::Broken(format!("{url}: {why}"))
}

/// Whether data begins as gzip; the first block may hold only one of the two magic bytes.
fn is_gzip(start: &[u8]) -> bool {
    start.iter().zip([0x1f, 0x8b]).all(|(found, expected)| *found == expected)
}

fn not_gzip(url: &str, start: &[u8]) -> Failure {
    let what = match start.trim_ascii_start().first() {
        Some(b'<') => "a web page",
        _ => "something else",
    };
    Failure::Refused(format!("{url}: expected a gzip file, found {what}"))
}

/// Fails on any status but 200; a server error may go away on the next try.
fn expect_file(url: &str, head: &Head) -> Result<(), Failure> {
    match head.status {
        200 => Ok(()),
        404 | 410 => Err(Failure::Refused(format!("{url}: the server has no such file"))),
        status @ (408 | 425 | 429 | 500..=599) => {
            Err(Failure::Broken(format!("{url}: the server answered with status {status}")))
        }
        status => Err(Failure::Refused(format!("{url}: the server answered with status {status}"))),
    }
}

/// `Content-Range: bytes START-END/TOTAL`, or `bytes */TOTAL`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct ContentRange {
    start: Option<u64>,
    total: Option<u64>,
}

impl ContentRange {
    fn parse(text: &str) -> Option<Self> {
        let (range, total) = text.trim().strip_prefix("bytes")?.trim_start().split_once('/')?;
        let start = range.split_once('-').and_then(|(start, _)| start.trim().parse().ok());
        Some(Self { start, total: total.trim().parse().ok() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn content_ranges_are_understood() {
        let range = |start, total| Some(ContentRange { start, total });
        assert_eq!(ContentRange::parse("bytes 7-99/100"), range(Some(7), Some(100)));
        assert_eq!(ContentRange::parse("bytes 7-99/*"), range(Some(7), None));
        assert_eq!(ContentRange::parse("bytes */100"), range(None, Some(100)));
        assert_eq!(ContentRange::parse("lines 1-2/3"), None);
    }

    #[test]
    fn gzip_is_known_by_as_much_as_there_is_of_its_mark() {
        assert!(is_gzip(&[0x1f]) && is_gzip(&[0x1f, 0x8b, 8]));
        assert!(!is_gzip(b"<!DOCTYPE") && !is_gzip(&[0x1f, 0x8c]));
    }
}
