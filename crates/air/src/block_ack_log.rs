//! Every Block Ack as a row, to look at them one by one.

use std::fmt::Write;

use wire::ieee80211::{Bitmap, MacAddr};

use crate::frame::{AckedTid, Frame};
use crate::micros::us;
use crate::report;

/// Rows kept; a window of the capture shows the others.
const MAX_ROWS: usize = 50_000;

#[derive(Clone, Copy, Debug)]
struct Row {
    number: u64,
    at_ns: i64,
    recipient: Option<MacAddr>,
    originator: MacAddr,
    /// `None`: of a kind with TIDs that are not read.
    acked: Option<Acked>,
}

/// What one Block Ack says of one TID. Bitmaps of up to 256 bits are kept whole, which all but 802.11be's are.
#[derive(Clone, Copy, Debug)]
struct Acked {
    tid: u8,
    start: u16,
    len: u16,
    ones: u16,
    words: [u64; 4],
}

impl Acked {
    fn new(acked: &AckedTid) -> Self {
        let Bitmap { bits, len } = acked.bitmap;
        let [a, b, c, d, ..] = bits;
        let ones = acked.bitmap.count_ones() as u16;
        Self { tid: acked.tid, start: acked.start, len, ones, words: [a, b, c, d] }
    }

    /// The octets as they were sent, in hexadecimal; `None` when they are not kept.
    fn octets(&self) -> Option<String> {
        let octets = usize::from(self.len / 8);
        let words = self.words.map(u64::to_le_bytes);
        (octets <= words.len() * 8).then(|| {
            words.iter().flatten().take(octets).fold(String::with_capacity(2 * octets), |mut text, octet| {
                let _ = write!(text, "{octet:02x}");
                text
            })
        })
    }
}

/// The Block Acks of a capture.
#[derive(Debug, Default)]
pub struct BlockAckLog {
    frames: u64,
    rows: Vec<Row>,
    rows_left_out: u64,
}

impl BlockAckLog {
    /// Records a Block Ack that is not known to be damaged. `tids`: what it says of each TID that could be read.
    pub fn frame(&mut self, frame: &Frame, tids: &[AckedTid], at_ns: i64) {
        self.frames += 1;
        let row = Row {
            number: frame.number,
            at_ns,
            recipient: frame.ta(),
            originator: frame.header.receiver(),
            acked: None,
        };
        if tids.is_empty() {
            self.push(row);
        }
        for acked in tids {
            self.push(Row { acked: Some(Acked::new(acked)), ..row });
        }
    }

    fn push(&mut self, row: Row) {
        if self.rows.len() < MAX_ROWS {
            self.rows.push(row);
        } else {
            self.rows_left_out += 1;
        }
    }

    /// The rows, in the order of the file.
    pub fn report(&self) -> report::BlockAckLog {
        let rows = self.rows.iter().map(|row| report::BlockAckRow {
            number: row.number,
            at_us: us(row.at_ns),
            recipient: row.recipient.map(|recipient| recipient.to_string()),
            originator: row.originator.to_string(),
            tid: row.acked.map(|acked| acked.tid),
            start: row.acked.map(|acked| acked.start),
            bits: row.acked.map(|acked| acked.len),
            acknowledged: row.acked.map(|acked| acked.ones),
            bitmap: row.acked.and_then(|acked| acked.octets()),
        });
        report::BlockAckLog { frames: self.frames, rows: rows.collect(), rows_left_out: self.rows_left_out }
    }
}
