//! Ways to damage a file.

use std::io::{Cursor, Read, Write};

use proptest::prelude::*;
use proptest::sample::Index;

/// One way to damage a file.
#[derive(Clone, Debug)]
pub(super) enum Mutation {
    Set(Index, u8),
    Flip(Index, u8),
    Cut(Index),
    Remove(Index, usize),
    Repeat(Index, usize),
    Insert(Index, &'static [u8]),
    SwapLines(Index, Index),
}

/// Text that has tripped readers.
const TOKENS: [&[u8]; 28] = [
    b"0",
    b"-1",
    b"1",
    b"4294967295",
    b"4294967296",
    b"18446744073709551615",
    b"99999999999999999999",
    b"1e400",
    b"-0",
    b"nan",
    b"-inf",
    b"1D5",
    b"1.",
    b".5",
    b"+",
    b"%",
    b"%%MatrixMarket",
    b"\n",
    b"\r\n",
    b"\t",
    b" ",
    b"\0",
    b"\xff\xfe",
    b"symmetric",
    b"hermitian",
    b"complex",
    b"array",
    b"1 1 1\n",
];

pub(super) fn mutation() -> impl Strategy<Value = Mutation> {
    let at = any::<Index>;
    prop_oneof![
        (at(), any::<u8>()).prop_map(|(at, byte)| Mutation::Set(at, byte)),
        (at(), 1u8..).prop_map(|(at, mask)| Mutation::Flip(at, mask)),
        at().prop_map(Mutation::Cut),
        (at(), 1usize..40).prop_map(|(at, n)| Mutation::Remove(at, n)),
        (at(), 1usize..40).prop_map(|(at, n)| Mutation::Repeat(at, n)),
        (at(), prop::sample::select(&TOKENS[..]))
            .prop_map(|(at, token)| Mutation::Insert(at, token)),
        (at(), at()).prop_map(|(one, other)| Mutation::SwapLines(one, other)),
    ]
}

pub(super) fn mutated(start: &[u8], mutations: &[Mutation]) -> Vec<u8> {
    let mut bytes = start.to_vec();
    for mutation in mutations {
        if bytes.is_empty() {
            break;
        }
        let length = bytes.len();
        match mutation {
            Mutation::Set(at, byte) => bytes[at.index(length)] = *byte,
            Mutation::Flip(at, mask) => bytes[at.index(length)] ^= mask,
            Mutation::Cut(at) => bytes.truncate(at.index(length)),
            Mutation::Remove(at, n) => {
                let at = at.index(length);
                bytes.drain(at..length.min(at + n));
            }
            Mutation::Repeat(at, n) => {
                let at = at.index(length);
                let copy = bytes[at..length.min(at + n)].to_vec();
                bytes.splice(at..at, copy);
            }
            Mutation::Insert(at, token) => {
                let at = at.index(length + 1);
                bytes.splice(at..at, token.iter().copied());
            }
            Mutation::SwapLines(one, other) => {
                let mut lines: Vec<Vec<u8>> =
                    bytes.split_inclusive(|b| *b == b'\n').map(<[u8]>::to_vec).collect();
                let (one, other) = (one.index(lines.len()), other.index(lines.len()));
                lines.swap(one, other);
                bytes = lines.concat();
            }
        }
    }
    bytes
}

/// The archive with one of its members broken, and checksums that match.
pub(super) fn repacked(archive: &[u8], at: Index, mutations: &[Mutation]) -> Vec<u8> {
    let mut old = zip::ZipArchive::new(Cursor::new(archive)).unwrap();
    let mut new = zip::ZipWriter::new(Cursor::new(Vec::new()));
    let broken = at.index(old.len());
    for k in 0..old.len() {
        let mut member = old.by_index(k).unwrap();
        let name = member.name().unwrap().into_owned();
        let mut content = Vec::new();
        member.read_to_end(&mut content).unwrap();
        if k == broken {
            content = mutated(&content, mutations);
        }
        new.start_file(name, zip::write::SimpleFileOptions::default()).unwrap();
        new.write_all(&content).unwrap();
    }
    new.finish().unwrap().into_inner()
}
