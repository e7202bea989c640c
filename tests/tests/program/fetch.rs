//! Downloads from a server that works, fails, or is not the collection.

use sha2::{Digest, Sha256};
use sparsescope_tests::{Program, Ran, Reply, Server};

use crate::common::program;

/// Like the collection's index: two other lines, then one line per matrix.
const INDEX: &str = "3\n31-Oct-2023 18:12:37\n\
    Gleich,road,20000,20000,1,1,0,0,1,1,1,road network,1\nA,twin,1,1,1\nB,twin,1,1,1\n";

/// The server's file: gzip data of some 100 kB.
fn served(p: &Program) -> Vec<u8> {
    p.succeed(&["generate", "random?m=3000&row=9", "-o", "served.mtx.gz"]);
    let bytes = std::fs::read(p.path("served.mtx.gz")).unwrap();
    std::fs::remove_file(p.path("served.mtx.gz")).unwrap();
    assert!(bytes.len() > 40_000, "{} bytes", bytes.len());
    bytes
}

fn command(p: &Program, server: &Server, args: &[&str]) -> std::process::Command {
    let all = [&["fetch", "--folder", "cache"], args].concat();
    let mut command = p.command(&all);
    command.env("SPARSESCOPE_COLLECTION", server.address());
    command.env("NO_PROXY", "127.0.0.1").env("no_proxy", "127.0.0.1");
    command
}

fn fetch(p: &Program, server: &Server, args: &[&str]) -> Ran {
    Ran::of(command(p, server, args).output().unwrap())
}

fn cached(p: &Program) -> Vec<String> {
    let Ok(entries) = std::fs::read_dir(p.path("cache")) else { return Vec::new() };
    let mut names: Vec<String> =
        entries.flatten().map(|e| e.file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

/// Checks that the archive is there and complete, with its digest and no other file.
fn is_whole(p: &Program, expected: &[u8]) {
    assert_eq!(cached(p), ["road.tar.gz", "road.tar.gz.sha256"]);
    assert!(std::fs::read(p.path("cache/road.tar.gz")).unwrap() == expected, "other bytes");
    let hex: String = Sha256::digest(expected).iter().map(|b| format!("{b:02x}")).collect();
    let digest = std::fs::read_to_string(p.path("cache/road.tar.gz.sha256")).unwrap();
    assert_eq!(digest, format!("{hex}  road.tar.gz\n"));
}

fn failed(ran: &Ran, sentence: &str) {
    assert_eq!(ran.code, Some(1), "{}", ran.err);
    assert!(ran.err.contains("error: ") && ran.err.contains(sentence), "{}", ran.err);
}

#[test]
fn a_name_is_looked_up_fetched_checked_and_not_fetched_again() {
    let p = program();
    let file = served(&p);
    let answers = file.clone();
    let server = Server::start(move |asked, _| match asked.path.as_str() {
        "/files/ssstats.csv" => Reply::whole(INDEX.as_bytes()),
        "/MM/Gleich/road.tar.gz" => Reply::whole(&answers),
        _ => Reply::status(404),
    });
    let ran = fetch(&p, &server, &["road"]);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    is_whole(&p, &file);
    assert_eq!(p.json(&["info", "cache/road.tar.gz", "--json"])["rows"], 3000);
    let asked = server.asked().len();
    let again = fetch(&p, &server, &["road", "Gleich/road"]);
    assert!(again.code == Some(0) && again.err.contains("already downloaded"), "{}", again.err);
    assert_eq!(server.asked().len(), asked);

    failed(&fetch(&p, &server, &["twin"]), "A/twin, B/twin");
    failed(&fetch(&p, &server, &["raod"]), "did you mean Gleich/road?");
    let ran = fetch(&p, &server, &["Gleich/none", "Gleich/road"]);
    failed(&ran, "the server has no such file");
    let tries = server.asked().iter().filter(|a| a.path.ends_with("none.tar.gz")).count();
    assert_eq!((tries, cached(&p).len()), (1, 2), "nothing is tried again or left behind");
}

/// The folder is the one that `suite:` searches.
#[cfg(target_os = "linux")]
#[test]
fn a_suites_matrix_is_real_once_it_was_fetched() {
    let p = program();
    let file = served(&p);
    let server = Server::start(move |_, _| Reply::whole(&file));
    let with_cache = |args: &[&str]| {
        let mut command = p.command(args);
        command.env("XDG_CACHE_HOME", p.path("cache")).env_remove("SPARSESCOPE_MATRICES");
        command.env("SPARSESCOPE_COLLECTION", server.address());
        let ran = Ran::of(command.env("NO_PROXY", "127.0.0.1").output().unwrap());
        assert_eq!(ran.code, Some(0), "{}", ran.err);
        ran
    };
    let stand_in = |ran: &Ran| {
        let info: serde_json::Value = serde_json::from_str(&ran.out).unwrap();
        (info["stand_in"].clone(), info["rows"].clone())
    };
    let before = with_cache(&["info", "suite:cage4", "--json"]);
    assert_eq!(stand_in(&before), (true.into(), 9.into()));
    with_cache(&["fetch", "vanHeukelum/cage4"]);
    let after = with_cache(&["info", "suite:cage4", "--json"]);
    assert_eq!(stand_in(&after), (false.into(), 3000.into()));
    assert!(after.out.contains("the published cage4 is 9 x 9"), "{}", after.out);
}

#[test]
fn a_broken_connection_is_continued_where_it_broke() {
    let p = program();
    let file = served(&p);
    let answers = file.clone();
    let server = Server::start(move |asked, before| match (asked.from, before) {
        (None, 0) => Reply::whole(&answers).cut_after(10_000),
        (Some(from), 1) => Reply::range(&answers, from).cut_after(5_000),
        (_, 2) => Reply::status(503),
        (Some(from), _) => Reply::range(&answers, from),
        _ => Reply::status(404),
    });
    let ran = fetch(&p, &server, &["Gleich/road"]);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    is_whole(&p, &file);
    let from: Vec<Option<u64>> = server.asked().iter().map(|asked| asked.from).collect();
    assert_eq!(from, [None, Some(10_000), Some(15_000), Some(15_000)]);
}

#[test]
fn a_server_without_ranges_begins_anew() {
    let p = program();
    let file = served(&p);
    let answers = file.clone();
    let server = Server::start(move |_, before| match before {
        0 => Reply::whole(&answers).cut_after(10_000),
        _ => Reply::whole(&answers),
    });
    assert_eq!(fetch(&p, &server, &["Gleich/road"]).code, Some(0));
    is_whole(&p, &file);
}

#[test]
fn a_web_page_instead_of_a_file_is_called_one() {
    let p = program();
    let page = b"<!DOCTYPE html><html>Sorry</html>";
    let server = Server::start(move |_, _| Reply::whole(page));
    failed(&fetch(&p, &server, &["Gleich/road"]), "expected a gzip file, found a web page");
    assert_eq!((server.asked().len(), cached(&p).len()), (1, 0));
}

#[test]
fn wrong_lengths_are_noticed() {
    let p = program();
    let file = served(&p);
    let (short, long) = (file.clone(), file.clone());
    // Half of the file, announced as all of it: only the gzip data reveals it.
    let half = file.len() / 2;
    let server = Server::start(move |_, _| Reply::whole(&short[..half]));
    failed(&fetch(&p, &server, &["Gleich/road"]), "the archive is damaged");
    assert_eq!(cached(&p), [""; 0]);
    // All of the file, announced as longer: the server has nothing to add, and the file is intact.
    let server = Server::start(move |asked, _| match asked.from {
        None => Reply::whole(&long).announcing(long.len() as u64 + 100),
        Some(from) => Reply::range(&long, from),
    });
    let ran = fetch(&p, &server, &["Gleich/road"]);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    is_whole(&p, &file);
}

#[test]
fn what_does_not_fit_its_beginning_is_fetched_anew() {
    let p = program();
    let file = served(&p);
    let answers = file.clone();
    let server = Server::start(move |asked, _| match asked.from {
        Some(from) => Reply::range(&answers, from),
        None => Reply::whole(&answers),
    });
    std::fs::create_dir(p.path("cache")).unwrap();
    // The beginning of another file: only the data after the header reveals it.
    let mut other = file[..5_000].to_vec();
    other[1_000..].reverse();
    for beginning in [&file[..100], &other, &vec![1; file.len() + 5]] {
        std::fs::write(p.path("cache/road.tar.gz.part"), beginning).unwrap();
        let ran = fetch(&p, &server, &["Gleich/road", "--force"]);
        assert_eq!(ran.code, Some(0), "{}", ran.err);
        is_whole(&p, &file);
    }
}

#[test]
fn a_server_in_trouble_is_asked_a_few_times_and_no_more() {
    let p = program();
    let server = Server::start(|_, _| Reply::status(500));
    failed(&fetch(&p, &server, &["Gleich/road"]), "status 500 (tried 4 times)");
    assert_eq!((server.asked().len(), cached(&p).len()), (4, 0));
}

#[test]
fn names_and_addresses_that_are_none_are_usage_errors() {
    let p = program();
    let server = Server::start(|_, _| Reply::status(404));
    for bad in ["../x", "a/b/c", "a b"] {
        let ran = fetch(&p, &server, &[bad]);
        assert_eq!(ran.code, Some(2), "{bad}: {}", ran.err);
    }
    let mut command = command(&p, &server, &["Gleich/road"]);
    let ran = Ran::of(command.env("SPARSESCOPE_COLLECTION", "ftp://x").output().unwrap());
    assert!(ran.code == Some(2) && ran.err.contains("http or https"), "{}", ran.err);
    assert_eq!(server.asked(), []);
    assert_eq!(p.files(), [""; 0], "not even the folder");
}

#[cfg(target_os = "linux")]
#[test]
fn the_reason_of_the_system_is_said_once() {
    let p = program();
    let file = served(&p);
    let server = Server::start(move |_, _| Reply::whole(&file));
    // It can be opened, but takes no bytes.
    std::fs::create_dir(p.path("cache")).unwrap();
    std::os::unix::fs::symlink("/dev/full", p.path("cache/road.tar.gz.part")).unwrap();
    let ran = fetch(&p, &server, &["Gleich/road"]);
    failed(&ran, "error: Gleich/road: cannot write the file: ");
    assert_eq!(ran.err.matches("os error").count(), 1, "{}", ran.err);
}

#[cfg(unix)]
#[test]
fn ctrl_c_keeps_the_part_and_the_next_fetch_continues_it() {
    let p = program();
    let file = served(&p);
    let answers = file.clone();
    let server = Server::start(move |asked, _| match asked.from {
        None => Reply::whole(&answers).cut_after(20_000).then_hang(),
        Some(from) => Reply::range(&answers, from),
    });
    let mut child =
        command(&p, &server, &["Gleich/road"]).stderr(std::process::Stdio::null()).spawn().unwrap();
    let part = p.path("cache/road.tar.gz.part");
    let started = std::time::Instant::now();
    while part.metadata().map_or(0, |meta| meta.len()) < 20_000 {
        assert!(started.elapsed().as_secs() < 60, "nothing arrived");
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    crate::common::signal(&child, "-INT");
    assert_eq!(child.wait().unwrap().code(), Some(130));
    assert_eq!(std::fs::read(&part).unwrap(), file[..20_000]);
    assert_eq!(fetch(&p, &server, &["Gleich/road"]).code, Some(0));
    is_whole(&p, &file);
    assert_eq!(server.asked().last().unwrap().from, Some(20_000));
}

#[test]
fn more_than_is_allowed_is_neither_downloaded_nor_decompressed() {
    let p = program();
    let file = served(&p);
    p.write("zeros", vec![0; 64 << 20]);
    let mut gzip = std::process::Command::new("gzip");
    let bomb = gzip.args(["-c", "zeros"]).current_dir(p.folder()).output().unwrap().stdout;
    assert!(bomb.len() > 1_000 && bomb.len() < 100_000, "{} bytes", bomb.len());
    let size = file.len();
    let server = Server::start(move |asked, _| match asked.path.as_str() {
        "/MM/A/bomb.tar.gz" => Reply::whole(&bomb),
        _ => Reply::whole(&file),
    });
    let ran = fetch(&p, &server, &["Gleich/road", "--max-size", "40k"]);
    failed(&ran, &format!("expected at most 40000 bytes, found {size}"));
    assert_eq!(cached(&p), [""; 0], "nothing is left");
    let ran = fetch(&p, &server, &["A/bomb", "--max-size", "100k"]);
    failed(&ran, "it decompresses to more than 1600000 bytes");
    assert_eq!(cached(&p), [""; 0], "nothing is left");
    let ran = fetch(&p, &server, &["Gleich/road", "--max-size", &size.to_string()]);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
}
