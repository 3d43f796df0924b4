#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]
#![deny(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic, clippy::unreachable)]

use std::env::var_os;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    let beside = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/captures");
    var_os("TXOP_CAPTURES").map_or_else(beside, PathBuf::from)
}

/// A file or folder by its path in the corpus; `None`, said loudly, where there is none.
pub fn find(path: &str) -> Option<PathBuf> {
    let found = root().join(path);
    if found.exists() {
        return Some(found);
    }
    eprintln!("SKIPPED: no {} (set TXOP_CAPTURES)", found.display());
    None
}

/// The files of a folder of it, by name; none, said loudly, where there is no such folder.
pub fn files(folder: &str) -> Vec<PathBuf> {
    let entries = find(folder).and_then(|folder| folder.read_dir().ok());
    let mut files: Vec<PathBuf> = entries.into_iter().flatten().flatten().map(|entry| entry.path()).collect();
    files.sort();
    files
}

/// Every sixth of them, for the fast tests; all where `TXOP_EVERY_CAPTURE` is set (the slow tests).
pub fn some(files: Vec<PathBuf>) -> Vec<PathBuf> {
    if var_os("TXOP_EVERY_CAPTURE").is_some() {
        return files;
    }
    println!("every sixth of {} captures (TXOP_EVERY_CAPTURE=1: all)", files.len());
    files.into_iter().step_by(6).collect()
}
