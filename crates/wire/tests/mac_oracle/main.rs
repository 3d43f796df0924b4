//! Every 802.11 frame of every real capture, field by field, against tshark: MAC header, Block Ack, management.

#[allow(dead_code)] // this test needs only the reader
#[path = "../radio_decode/captures.rs"]
mod captures;
mod columns;
mod eht;
mod exceptions;
mod frame;
mod tshark;

use std::collections::BTreeMap;
use std::path::Path;

use frame::Frame;

/// What came out of comparing some captures.
#[derive(Default)]
struct Outcome {
    /// Frames compared.
    frames: usize,
    /// Damaged ones: only their MAC headers are compared, for what follows is noise that each reader guesses at in
    /// its own way.
    damaged: usize,
    /// Values that both sides stated, by field.
    compared: BTreeMap<&'static str, usize>,
    /// Explained differences, by explanation.
    explained: BTreeMap<&'static str, usize>,
    /// Unexplained differences: how often, and the first one.
    differences: BTreeMap<&'static str, (usize, String)>,
}

impl Outcome {
    fn compare(&mut self, path: &Path) {
        let name = path.file_name().expect("a file").to_string_lossy().into_owned();
        let Some(records) = captures::records(path) else { return };
        let table = tshark::Table::read(path);
        // A file that is cut in its last record: tshark stops where the other reader does.
        assert!(table.len() == records.len(), "{name}: {} records, tshark {}", records.len(), table.len());
        for (index, (link, record)) in records.iter().enumerate() {
            let row = table.row(index);
            let Some(frame) = Frame::read(*link, record, &row, name.starts_with("SIM_")) else { continue };
            self.frames += 1;
            if let Some(why) = exceptions::skip(&frame) {
                *self.explained.entry(why).or_default() += 1;
                continue;
            }
            self.damaged += usize::from(frame.damaged);
            let wanted = if frame.damaged { columns::HEADER_COLUMNS } else { columns::COLUMNS.len() };
            for (place, column) in columns::COLUMNS.iter().enumerate().take(wanted) {
                let theirs = row.column(place);
                let ours = (column.ours)(&frame);
                let Some(difference) = column.difference(theirs, ours) else {
                    *self.compared.entry(column.name).or_default() += usize::from(!theirs.is_empty());
                    continue;
                };
                match exceptions::explain(&frame, &row, column.name, theirs) {
                    Some(why) => *self.explained.entry(why).or_default() += 1,
                    None => {
                        let text = || format!("{name} frame {}: {difference}", index + 1);
                        self.differences.entry(column.name).or_insert_with(|| (0, text())).0 += 1;
                    }
                }
            }
        }
    }

    fn add(mut self, other: Self) -> Self {
        self.frames += other.frames;
        self.damaged += other.damaged;
        for (what, count) in other.compared {
            *self.compared.entry(what).or_default() += count;
        }
        for (what, count) in other.explained {
            *self.explained.entry(what).or_default() += count;
        }
        for (what, (count, first)) in other.differences {
            self.differences.entry(what).or_insert((0, first)).0 += count;
        }
        self
    }
}

#[test]
fn every_mac_header_and_body_of_the_real_captures_agrees_with_tshark() {
    let files = corpus::some(corpus::files("wlan"));
    if files.is_empty() || !tshark::is_installed() {
        return;
    }
    let outcome = captures::compare_all(files, Outcome::compare, Outcome::add);
    let damaged = outcome.damaged;
    println!(
        "{} frames ({damaged} damaged), {} values compared:",
        outcome.frames,
        outcome.compared.values().sum::<usize>()
    );
    for (what, count) in &outcome.compared {
        println!("{count:7} {what}");
    }
    println!("explained differences:");
    for (what, count) in &outcome.explained {
        println!("{count:7} {what}");
    }
    for (what, (count, first)) in &outcome.differences {
        println!("{count:7} UNEXPLAINED {what}: {first}");
    }
    assert!(outcome.differences.is_empty(), "{} fields differ", outcome.differences.len());
    assert!(outcome.frames > 0, "no capture with 802.11 frames was found");
}
