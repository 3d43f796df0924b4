//! Frames that are in a capture twice: same header, length and time; of two interfaces that captured the same; or all again behind the rest.

use crate::calibrate::is_real;
use crate::frame::Frame;

/// Frames of one instant looked back at for duplicates.
const MAX_INSTANT: usize = 64;

/// The frames with a sequence number that have the latest capture time, or the latest hardware stamp.
#[derive(Debug, Default)]
pub struct Latest {
    /// Hardware stamps tell instants apart: a frame with the same one and the same header is the same frame, whatever the
    /// capture clock says.
    by_stamp: bool,
    stamp_us: Option<u64>,
    time_ns: Option<i64>,
    /// The first of them, until there is another one to compare it with: mostly there is none.
    first: Option<Marks>,
    frames: Vec<u32>,
}

impl Latest {
    /// `by_stamp`: the hardware stamps of the capture are its clock.
    pub fn new(by_stamp: bool) -> Self {
        Self { by_stamp, ..Self::default() }
    }

    /// Was the same frame captured at the same time before? Frames without a sequence number are not looked at: one ACK
    /// is like another. A frame that is sent again has another time, or where clocks are coarse at least the retry bit.
    #[inline]
    pub fn has(&mut self, frame: &Frame) -> bool {
        let (Some(time_ns), Some(sequence)) = (frame.time_ns, frame.header.sequence) else { return false };
        let marks = Marks::of(frame, sequence);
        let stamp_us = frame.radio.tsft_us.filter(|us| self.by_stamp && is_real(*us));
        if self.time_ns != Some(time_ns) && (stamp_us.is_none() || self.stamp_us != stamp_us) {
            (self.time_ns, self.stamp_us) = (Some(time_ns), stamp_us);
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

/// Frames remembered to find those that another interface captures as well.
const MAX_ECHOES: usize = 1_024;
/// Clocks of two interfaces of one machine, or of two machines that keep the time, differ by less; a sender's sequence number comes again
/// after 4,096 frames, which take longer.
const ECHO_NS: i64 = 1_000_000_000;

/// The latest frames of all interfaces, where there are several.
#[derive(Debug, Default)]
pub struct Echoes {
    /// By the marks of the frame: what was captured there last.
    slots: Vec<Option<Echo>>,
}

#[derive(Clone, Copy, Debug)]
struct Echo {
    mixed: u32,
    interface: u32,
    time_ns: i64,
}

impl Echoes {
    /// Did another interface capture this frame just before? First attempts with a sequence number only: one ACK is like
    /// another, and of two retries each interface may have heard one.
    pub fn has(&mut self, frame: &Frame) -> bool {
        let (Some(time_ns), Some(sequence)) = (frame.time_ns, frame.header.sequence) else { return false };
        if frame.header.fc.retry() || !frame.usable() {
            return false;
        }
        if self.slots.is_empty() {
            self.slots = vec![None; MAX_ECHOES];
        }
        let mixed = Marks::of(frame, sequence).of_any(frame).mixed();
        let this = Echo { mixed, interface: frame.interface, time_ns };
        let Some(slot) = self.slots.get_mut(mixed as usize % MAX_ECHOES) else { return false };
        let is_echo = |before: &Echo| {
            before.mixed == mixed
                && before.interface != this.interface
                && time_ns.saturating_sub(before.time_ns).saturating_abs() < ECHO_NS
        };
        slot.replace(this).as_ref().is_some_and(is_echo)
    }
}

/// Frames remembered of the beginning.
pub const BEGINNING: usize = 16;

/// The first frames with a sequence number. Where they come again later, with the same times, the capture was appended to itself.
#[derive(Debug, Default)]
pub struct Beginning {
    frames: Vec<(i64, u32)>,
    latest_ns: i64,
}

impl Beginning {
    /// Is it one of the first frames again, on whatever interface, behind all of them?
    #[inline]
    pub fn has(&mut self, frame: &Frame) -> bool {
        let (Some(time_ns), Some(sequence)) = (frame.time_ns, frame.header.sequence) else { return false };
        if self.frames.len() == BEGINNING && time_ns > self.latest_ns {
            return false;
        }
        self.has_early(frame, time_ns, sequence)
    }

    #[cold]
    fn has_early(&mut self, frame: &Frame, time_ns: i64, sequence: u16) -> bool {
        let this = (time_ns, Marks::of(frame, sequence).of_any(frame).mixed());
        if self.frames.len() < BEGINNING {
            self.latest_ns = self.latest_ns.max(time_ns);
            self.frames.push(this);
            return false;
        }
        self.frames.contains(&this)
    }
}

/// A number that tells a frame from others of its interface, whenever it comes; `None` without a sequence number.
pub fn mark(frame: &Frame) -> Option<u32> {
    Some(Marks::of(frame, frame.header.sequence?).of_any(frame).mixed())
}

/// What two captures of the same frame have in common: interface, header, TID, length and TSFT.
#[derive(Clone, Copy, Debug)]
struct Marks([u64; 4]);

impl Marks {
    #[inline]
    fn of(frame: &Frame, sequence: u16) -> Self {
        let header = &frame.header;
        let fields = u64::from(header.fc.0) << 48
            | u64::from(sequence) << 32
            | u64::from(header.fragment.unwrap_or(0)) << 28
            | u64::from(header.qos.map_or(0, |qos| qos.tid())) << 16
            | u64::from(frame.mpdu_len & 0xffff);
        let sender = header.addr2.unwrap_or_default().as_u64();
        // An address leaves 16 bits.
        let interface = u64::from(frame.interface & 0xffff) << 48;
        Self([sender | interface, header.addr1.as_u64(), fields, frame.radio.tsft_us.unwrap_or(0)])
    }

    /// The same for any interface, as each has a clock of its own, on one channel.
    fn of_any(self, frame: &Frame) -> Self {
        let [sender, receiver, fields, _] = self.0;
        let frequency_mhz = u64::from(frame.radio.frequency_mhz.unwrap_or(0));
        Self([sender & 0xffff_ffff_ffff, receiver, fields, frequency_mhz])
    }

    /// The same number for the same marks; for others, all but always another one.
    fn mixed(self) -> u32 {
        let mixed = self
            .0
            .into_iter()
            .fold(0u64, |mixed, next| (mixed ^ next).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29));
        (mixed ^ mixed >> 32) as u32
    }
}
