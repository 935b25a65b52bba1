//! Manifests, read from their files and cut between resources, so that all cores have something to do.

use std::fs;
use std::path::{Path, PathBuf};

use rayon::prelude::*;

/// How many bytes a piece has at least, unless its section ends before.
const PIECE: usize = 64 * 1024;

/// Some resources of one kind: a mapping that is indented by two.
#[derive(Clone, Copy, Debug)]
pub struct Piece<'t> {
    pub kind: &'t str,
    pub text: &'t str,
}

/// The texts of all manifests beneath a folder.
pub fn read(folder: &Path) -> Vec<String> {
    let mut paths = Vec::new();
    find(folder, &mut paths);
    paths.par_iter().map(|path| fs::read_to_string(path).expect("a manifest")).collect()
}

fn find(folder: &Path, into: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry")) {
        if entry.file_type().expect("a type").is_dir() {
            find(&entry.path(), into);
        } else {
            into.push(entry.path());
        }
    }
}

/// The pieces of a manifest: each section begins at the margin, each of its resources at the third column.
pub fn pieces(text: &str) -> Vec<Piece<'_>> {
    let mut pieces = Vec::new();
    let (mut kind, mut begin, mut at) = ("", 0, 0);
    for line in text.split_inclusive('\n') {
        let is_section = !line.starts_with([' ', '#', '\n']);
        let is_resource = line.starts_with("  ") && !line[2..].starts_with([' ', '-', '#', '\n']);
        if (is_section || (is_resource && at - begin >= PIECE)) && at > begin {
            pieces.push(Piece { kind, text: &text[begin..at] });
            begin = at;
        }
        at += line.len();
        if is_section {
            (kind, begin) = (line.trim_end().trim_end_matches(':'), at);
        }
    }
    if at > begin {
        pieces.push(Piece { kind, text: &text[begin..at] });
    }
    pieces
}
