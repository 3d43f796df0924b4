//! tshark's cells.

use std::path::Path;
use std::process::Command;

use crate::columns::COLUMNS;

/// Columns that decide how to read a frame, and explain differences.
const EXTRA: [&str; 2] = ["wlan.fcs", "_ws.malformed"];

/// tshark's cells for every frame of a file.
pub struct Table {
    rows: Vec<Vec<String>>,
}

/// Cells of one frame.
pub struct Row<'a>(&'a [String]);

/// Whether tshark can be run.
pub fn is_installed() -> bool {
    let found = Command::new("tshark").arg("--version").output().is_ok_and(|output| output.status.success());
    if !found {
        eprintln!("SKIPPED: tshark is not installed");
    }
    found
}

fn names() -> impl Iterator<Item = &'static str> {
    COLUMNS.iter().map(|column| column.name).chain(EXTRA)
}

impl Table {
    /// Runs tshark over a capture. All values of a frame are in one cell, with commas between.
    pub fn read(path: &Path) -> Self {
        let mut command = Command::new("tshark");
        command.arg("-n").arg("-r").arg(path).args(["-T", "fields", "-E", "occurrence=a", "-E", "aggregator=,"]);
        for name in names() {
            command.args(["-e", name]);
        }
        let output = command.output().expect("tshark runs");
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(!errors.contains("aren't valid"), "{errors}");
        let lines = String::from_utf8_lossy(&output.stdout).into_owned();
        Self { rows: lines.lines().map(|line| line.split('\t').map(str::to_owned).collect()).collect() }
    }

    /// Frames.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// One frame, from 0.
    pub fn row(&self, index: usize) -> Row<'_> {
        Row(&self.rows[index])
    }
}

impl Row<'_> {
    /// The cell of a column by its place in [`COLUMNS`]; empty when tshark shows nothing.
    pub fn column(&self, index: usize) -> &str {
        self.0.get(index).map_or("", String::as_str)
    }

    /// The cell of a column by its name.
    pub fn named(&self, name: &str) -> &str {
        self.column(COLUMNS.iter().position(|column| column.name == name).expect("a requested column"))
    }

    /// The cell of one of the extra columns.
    pub fn extra(&self, name: &str) -> &str {
        let index = EXTRA.iter().position(|known| *known == name).expect("a requested column");
        self.column(COLUMNS.len() + index)
    }
}
