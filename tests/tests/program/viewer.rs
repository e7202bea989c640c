//! `serve` and `export --html`, with a small viewer in place of the built one.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::Stdio;

use sparsescope_tests::{Killed, Program};

const EXAMPLE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../app/example/cpu.zip");
const PAGE: &str = "<html>\n<!-- sparsescope:bundles -->\n<script>run()</script></html>\n";

/// The program in a folder with a bundle and a viewer.
fn program() -> Program {
    let p = crate::common::program();
    std::fs::copy(EXAMPLE, p.path("a b.zip")).unwrap();
    std::fs::create_dir_all(p.path("web/dist/examples")).unwrap();
    p.write("web/dist/index.html", "the page");
    p.write("web/dist/standalone.html", PAGE);
    p.write("web/dist/viewer-0.wasm", "plain");
    p.write("web/dist/viewer-0.wasm.br", "brotli");
    p
}

/// A running server, stopped with the test.
struct Server {
    child: Killed,
    address: String,
}

impl Server {
    fn start(p: &Program, args: &[&str]) -> Self {
        let mut command = p.command(&[&["serve"], args].concat());
        command.env_remove("SPARSESCOPE_WEB").stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = Killed(command.spawn().unwrap());
        let mut address = String::new();
        BufReader::new(child.0.stdout.take().unwrap()).read_line(&mut address).unwrap();
        Self { child, address: address.trim_end().to_owned() }
    }

    fn port(&self) -> &str {
        let rest = self.address.strip_prefix("http://127.0.0.1:").unwrap();
        rest.split('/').next().unwrap()
    }

    /// Sends a request line and headers; returns head and body of the answer.
    fn ask(&self, request: &str) -> (String, String) {
        let mut stream = TcpStream::connect(format!("127.0.0.1:{}", self.port())).unwrap();
        write!(stream, "{request}\r\n\r\n").unwrap();
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).unwrap();
        let answer = String::from_utf8_lossy(&answer).into_owned();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        (head.to_owned(), body.to_owned())
    }

    fn get(&self, path: &str) -> (String, String) {
        self.ask(&format!("GET {path} HTTP/1.1\r\nHost: localhost:{}", self.port()))
    }
}

#[test]
fn the_viewer_and_the_bundles_are_served_at_the_address_that_is_printed() {
    let p = program();
    let server = Server::start(&p, &["a b.zip"]);
    assert!(server.address.ends_with("/?bundle=bundles/1/a%2520b.zip"), "{}", server.address);
    let (head, body) = server.get("/?bundle=bundles/1/a%2520b.zip");
    assert!(head.starts_with("HTTP/1.1 200 OK\r\n") && body == "the page", "{head}");
    assert!(head.contains("\r\nContent-Type: text/html"), "{head}");

    let (head, _) = server.get("/bundles/1/a%20b.zip");
    let bytes = std::fs::metadata(EXAMPLE).unwrap().len();
    assert!(head.contains(&format!("\r\nContent-Length: {bytes}\r\n")), "{head}");

    let host = format!("Host: 127.0.0.1:{}", server.port());
    let (head, body) = server.ask(&format!("HEAD /viewer-0.wasm HTTP/1.1\r\n{host}"));
    assert!(head.contains("Content-Length: 5\r\n") && body.is_empty(), "{head}");
    let packed =
        server.ask(&format!("GET /viewer-0.wasm HTTP/1.1\r\n{host}\r\nAccept-Encoding: br"));
    assert!(packed.0.contains("\r\nContent-Encoding: br") && packed.1 == "brotli", "{packed:?}");
    assert!(packed.0.contains("application/wasm"), "{packed:?}");
}

#[test]
fn nothing_else_is_served() {
    let p = program();
    p.write("secret", "secret");
    let server = Server::start(&p, &["a b.zip"]);
    let paths = [
        "/../../secret",
        "/%2e%2e/%2e%2e/secret",
        "/secret",
        "/bundles/1/../../secret",
        "/bundles/2/a%20b.zip",
        "/..\\..\\secret",
        "/a%20b.zip",
        "/%00",
    ];
    for path in paths {
        let (head, body) = server.get(path);
        assert!(head.starts_with("HTTP/1.1 404 ") && !body.contains("secret"), "{path}: {head}");
    }
    let host = format!("Host: 127.0.0.1:{}", server.port());
    for method in ["POST", "PUT", "DELETE", "OPTIONS"] {
        let (head, _) = server.ask(&format!("{method} / HTTP/1.1\r\n{host}"));
        assert!(
            head.starts_with("HTTP/1.1 405 ") && head.contains("\r\nAllow: GET, HEAD"),
            "{head}"
        );
    }
    // DNS rebinding: a page from elsewhere whose name resolves to this machine.
    let (head, body) = server.ask("GET / HTTP/1.1\r\nHost: evil.example");
    assert!(head.starts_with("HTTP/1.1 403 ") && !body.contains("the page"), "{head}");
    assert!(server.ask("nonsense").0.starts_with("HTTP/1.1 400 "));
    // The server still works after all that.
    assert!(server.get("/").0.starts_with("HTTP/1.1 200 "));
}

#[test]
fn clients_that_say_nothing_keep_nobody_out() {
    let p = program();
    let server = Server::start(&p, &["a b.zip"]);
    let address = format!("127.0.0.1:{}", server.port());
    let mut silent: Vec<TcpStream> =
        (0..100).map(|_| TcpStream::connect(&address).unwrap()).collect();
    for stream in &mut silent[50..] {
        stream.write_all(b"GET / HTTP/1.1\r\nHost").unwrap();
    }
    let begun = std::time::Instant::now();
    for _ in 0..10 {
        assert_eq!(server.get("/").1, "the page");
    }
    assert!(begun.elapsed().as_secs() < 8, "{:?}", begun.elapsed());
    // The oldest connection was closed, not the newest.
    let patience = Some(std::time::Duration::from_secs(9));
    silent[0].set_read_timeout(patience).unwrap();
    let ended = silent[0].read(&mut [0]);
    assert!(!ended.is_err_and(|error| error.kind() == std::io::ErrorKind::WouldBlock));
    let youngest = silent.last_mut().unwrap();
    write!(youngest, ": {address}\r\n\r\n").unwrap();
    let mut answer = String::new();
    youngest.read_to_string(&mut answer).unwrap();
    assert!(answer.ends_with("the page"), "{answer}");
}

#[cfg(unix)]
#[test]
fn ctrl_c_ends_the_server() {
    let p = program();
    let mut server = Server::start(&p, &[]);
    assert!(server.address.ends_with('/'), "without a bundle the page shows its example");
    crate::common::signal(&server.child.0, "-INT");
    assert_eq!(server.child.0.wait().unwrap().code(), Some(130));
}

#[test]
fn without_the_viewer_the_sentence_names_what_builds_it() {
    let p = crate::common::program();
    std::fs::copy(EXAMPLE, p.path("b.zip")).unwrap();
    // The other files are not written, either.
    let export = ["export", "b.zip", "--csv", "b.csv", "--svg", "b.svg", "--html", "b.html"];
    for args in [&["serve", "b.zip"][..], &export] {
        for variable in ["", "elsewhere"] {
            let ran = p.command(args).env("SPARSESCOPE_WEB", variable).output().unwrap();
            let error = String::from_utf8_lossy(&ran.stderr);
            assert_eq!(ran.status.code(), Some(1), "{error}");
            assert!(error.starts_with("error: ") && error.contains("`cargo web`"), "{error}");
            assert_eq!(error.lines().count(), 1, "{error}");
        }
    }
    assert_eq!(p.files(), ["b.zip"]);
}

#[test]
fn serve_fails_before_it_starts_when_a_bundle_is_missing_or_the_port_is_taken() {
    let p = program();
    assert!(p.fail(1, &["serve", "none.zip"]).contains("cannot open none.zip"));
    assert!(p.fail(1, &["serve", "web"]).contains("folder"));
    let server = Server::start(&p, &[]);
    let error = p.fail(1, &["serve", "--port", server.port()]);
    assert!(error.contains(&format!("port {} of 127.0.0.1", server.port())), "{error}");
}

#[test]
fn an_exported_page_holds_the_viewer_and_every_bundle() {
    let p = program();
    std::fs::copy(EXAMPLE, p.path("c\"d.zip")).unwrap();
    p.succeed(&["export", "a b.zip", "c\"d.zip", "--html", "out.html"]);
    let html = std::fs::read_to_string(p.path("out.html")).unwrap();
    let (before, after) = PAGE.split_once("<!-- sparsescope:bundles -->").unwrap();
    assert!(html.starts_with(before) && html.ends_with(after), "{html:.200}");
    let bundles: Vec<&str> = html.split("data-bundle=\"").skip(1).collect();
    assert!(bundles.len() == 2 && bundles[0].starts_with("a b.zip\">UEsD"), "{html:.200}"); // "PK\3"
    assert!(bundles[1].starts_with("c&quot;d.zip\">"), "{html:.200}");
}

#[test]
fn a_lesson_goes_into_the_page_like_a_bundle_and_a_wrong_one_is_refused() {
    let p = program();
    let lesson = include_str!("../../../app/lessons/1-csr-hll.json");
    p.write("own.json", lesson);
    p.write("wrong.json", lesson.replace("{rows}", "{rooms}"));
    p.succeed(&["export", "own.json", "a b.zip", "--html", "out.html"]);
    let html = std::fs::read_to_string(p.path("out.html")).unwrap();
    assert!(
        html.contains("data-bundle=\"own.json\">") && html.contains("data-bundle=\"a b.zip\">")
    );
    let error = p.fail(1, &["export", "wrong.json", "--html", "none.html"]);
    assert!(error.contains("wrong.json: step 1: `{rooms}`: there is no such number"), "{error}");
    assert!(!p.files().contains(&"none.html".to_owned()));
}

#[test]
fn an_exported_page_is_whole_or_not_there() {
    let p = program();
    p.write("broken.zip", "no zip");
    p.write("there.html", "there");
    assert!(
        p.fail(1, &["export", "a b.zip", "broken.zip", "--html", "out.html"])
            .contains("broken.zip")
    );
    assert!(p.fail(1, &["export", "a b.zip", "--html", "there.html"]).contains("--force"));
    assert!(
        p.fail(2, &["export", "a b.zip", "a b.zip", "--csv", "out.csv"]).contains("one bundle")
    );
    p.write("web/dist/standalone.html", "no place for bundles");
    assert!(p.fail(1, &["export", "a b.zip", "--html", "out.html"]).contains("`cargo web`"));
    p.write("web/dist/standalone.html", PAGE);
    assert_eq!(p.files(), ["a b.zip", "broken.zip", "there.html", "web"]);
    p.succeed(&["export", "a b.zip", "--html", "there.html", "--force"]);
    assert_ne!(std::fs::read(p.path("there.html")).unwrap(), b"there");
}
