//! As much of HTTP/1.1 as a file server for one person's browser needs: reads a request's head, sends a
//! response, one request per connection.

use std::io::{BufRead as _, BufReader, Read, Write};

use sparsescope_figures::percent;

/// Maximum size of a request's head.
const HEAD_BYTES: u64 = 16 << 10;

/// A parsed request.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Request {
    /// `GET`, `HEAD`, …
    pub(super) method: String,
    /// The decoded path with its leading `/`, without the query.
    pub(super) path: String,
    /// The host and port that the client believes it talks to.
    pub(super) host: Option<String>,
    /// The content encodings that it accepts.
    pub(super) encodings: String,
}

/// Response statuses in use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Status {
    Ok,
    BadRequest,
    Forbidden,
    NotFound,
    MethodNotAllowed,
    Failed,
}

impl Status {
    fn line(self) -> &'static str {
        match self {
            Self::Ok => "200 OK",
            Self::BadRequest => "400 Bad Request",
            Self::Forbidden => "403 Forbidden",
            Self::NotFound => "404 Not Found",
            Self::MethodNotAllowed => "405 Method Not Allowed",
            Self::Failed => "500 Internal Server Error",
        }
    }
}

impl Request {
    /// Reads the head of a request; `None` if it is not one.
    pub(super) fn read(stream: impl Read) -> Option<Self> {
        let mut lines = BufReader::new(stream.take(HEAD_BYTES)).lines();
        let first = lines.next()?.ok()?;
        let [method, target, version] = first.split(' ').collect::<Vec<_>>()[..] else {
            return None;
        };
        let path = target.split(['?', '#']).next().unwrap_or_default();
        if !version.starts_with("HTTP/1.") || !path.starts_with('/') {
            return None;
        }
        let mut request =
            Self { method: method.into(), path: percent::decode(path)?, ..Self::default() };
        for line in lines {
            let line = line.ok()?;
            if line.is_empty() {
                return Some(request);
            }
            let (name, value) = line.split_once(':')?;
            match name.to_ascii_lowercase().as_str() {
                // Two host headers are an attack.
                "host" if request.host.is_some() => return None,
                "host" => request.host = Some(value.trim().to_owned()),
                "accept-encoding" => request.encodings = value.to_ascii_lowercase(),
                _ => {}
            }
        }
        None
    }

    /// Whether the request addresses this machine by a local name. With DNS rebinding, a page from elsewhere
    /// would use its own name instead.
    pub(super) fn is_local(&self) -> bool {
        let host = self.host.as_deref().unwrap_or_default();
        let name = match host.rsplit_once(':') {
            Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => name,
            _ => host,
        };
        ["127.0.0.1", "localhost", "[::1]"].iter().any(|own| name.eq_ignore_ascii_case(own))
    }

    /// Whether it accepts this encoding: `br`, `gzip`.
    pub(super) fn takes(&self, encoding: &str) -> bool {
        self.encodings.split(',').any(|part| {
            let mut words = part.split(';').map(str::trim);
            let refused = |word: &str| {
                word.strip_prefix("q=")
                    .and_then(|q| q.parse::<f32>().ok())
                    .is_some_and(|q| q <= 0.0)
            };
            words.next() == Some(encoding) && !words.any(refused)
        })
    }
}

/// Sends the head of a response with a body of `bytes` bytes.
pub(super) fn send_head(
    out: &mut impl Write,
    status: Status,
    kind: &str,
    bytes: u64,
    more: &[(&str, &str)],
) -> std::io::Result<()> {
    let mut head = format!(
        "HTTP/1.1 {}\r\nContent-Type: {kind}\r\nContent-Length: {bytes}\r\n\
         Connection: close\r\nX-Content-Type-Options: nosniff\r\n\
         Cross-Origin-Resource-Policy: same-origin\r\n",
        status.line()
    );
    for (name, value) in more {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    head.push_str("\r\n");
    out.write_all(head.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(head: &str) -> Option<Request> {
        Request::read(head.replace('\n', "\r\n").as_bytes())
    }

    #[test]
    fn a_request_is_read_up_to_the_empty_line() {
        let request =
            read("GET /a%20b?c=d HTTP/1.1\nHost: localhost:80\nACCEPT-Encoding: gzip, br\n\nbody");
        let request = request.unwrap();
        assert_eq!((request.method.as_str(), request.path.as_str()), ("GET", "/a b"));
        assert!(request.is_local() && request.takes("br") && request.takes("gzip"));
        assert!(!request.takes("zstd"));
    }

    #[test]
    fn what_is_no_request_is_refused() {
        for head in [
            "",
            "GET /\n\n",
            "GET http://a/ HTTP/1.1\n\n",
            "GET / HTTP/2\n\n",
            "GET /%f HTTP/1.1\n\n",
            "GET /%ff HTTP/1.1\n\n",
            "GET / HTTP/1.1\nHost: a",
            "GET / HTTP/1.1\nno colon\n\n",
            "GET / HTTP/1.1\nHost: localhost\nHost: evil.example\n\n",
            &format!("GET / HTTP/1.1\nA: {}\n\n", "a".repeat(20_000)),
        ] {
            assert_eq!(read(head), None, "{head}");
        }
    }

    #[test]
    fn only_this_machines_own_names_are_local() {
        let local =
            |host: &str| read(&format!("GET / HTTP/1.1\nHost: {host}\n\n")).unwrap().is_local();
        for host in ["127.0.0.1", "127.0.0.1:8080", "LocalHost:1", "[::1]:80", "[::1]"] {
            assert!(local(host), "{host}");
        }
        for host in [
            "evil.example",
            "127.0.0.1.evil.example:80",
            "localhost.evil.example",
            "",
            "127.0.0.1:80x",
        ] {
            assert!(!local(host), "{host}");
        }
        assert!(!read("GET / HTTP/1.1\n\n").unwrap().is_local());
    }

    #[test]
    fn a_refused_encoding_is_not_taken() {
        let request = Request { encodings: "br;q=0, gzip;q=0.5".into(), ..Request::default() };
        assert!(!request.takes("br") && request.takes("gzip"));
    }
}
