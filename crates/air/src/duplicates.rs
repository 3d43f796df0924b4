//! Frames that are in a capture twice: same header, length and time.

use crate::frame::Frame;

/// Frames of one instant looked back at for duplicates.
const MAX_INSTANT: usize = 64;

/// The frames with a sequence number that have the latest capture time.
#[derive(Debug, Default)]
pub struct Latest {
    time_ns: Option<i64>,
    /// The first of them, until there is another one to compare it with: mostly there is none.
    first: Option<Marks>,
    frames: Vec<u32>,
}

impl Latest {
    /// Was the same frame captured at the same time before? Frames without a sequence number are not looked at: one ACK
    /// is like another. A frame that is sent again has another time, or where clocks are coarse at least the retry bit.
    #[inline]
    pub fn has(&mut self, frame: &Frame) -> bool {
        let (Some(time_ns), Some(sequence)) = (frame.time_ns, frame.header.sequence) else { return false };
        let marks = Marks::of(frame, sequence);
        if self.time_ns != Some(time_ns) {
            self.time_ns = Some(time_ns);
            self.first = Some(marks);
            self.frames.clear();
            return false;
        }
        if let Some(first) = self.first.take() {
            self.frames.push(first.mixed());
        }
        let this = marks.mixed();
        if self.frames.iter().fold(false, |found, other| found | (*other == this)) {
            return true;
        }
        if self.frames.len() < MAX_INSTANT {
            self.frames.push(this);
        }
        false
    }
}

/// What two captures of the same frame have in common: header, length and TSFT.
#[derive(Clone, Copy, Debug)]
struct Marks([u64; 4]);

impl Marks {
    #[inline]
    fn of(frame: &Frame, sequence: u16) -> Self {
        let header = &frame.header;
        let fields = u64::from(header.fc.0) << 48
            | u64::from(sequence) << 32
            | u64::from(header.fragment.unwrap_or(0)) << 28
            | u64::from(frame.mpdu_len & 0xffff);
        let sender = header.addr2.unwrap_or_default().as_u64();
        Self([sender, header.addr1.as_u64(), fields, frame.radio.tsft_us.unwrap_or(0)])
    }

    /// The same number for the same marks; for others, all but always another one.
    fn mixed(self) -> u32 {
        let mixed = self
            .0
            .into_iter()
            .reduce(|mixed, next| (mixed ^ next).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29))
            .unwrap_or(0);
        (mixed ^ mixed >> 32) as u32
    }
}
