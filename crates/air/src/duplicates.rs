//! Frames that are in a capture twice: same header, length and time; of two interfaces that captured the same; or all again behind the rest.

use crate::frame::{is_real, Frame};

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
/// Channels of 2.4 GHz that do not overlap are this far apart (IEEE 802.11-2020, 15.4.4.3).
const APART_MHZ: u16 = 25;

/// A frame as it is remembered.
#[derive(Clone, Copy, Debug)]
struct Sighting {
    mixed: u32,
    interface: u32,
    frequency_mhz: Option<u16>,
    time_ns: i64,
    number: u64,
    /// Hardware stamp.
    stamp_us: Option<u64>,
}

impl Sighting {
    /// Channels so far apart that no receiver on one of them receives a frame on the other.
    fn is_out_of_reach(self, other: &Self) -> bool {
        self.frequency_mhz.zip(other.frequency_mhz).is_some_and(|(one, two)| one.abs_diff(two) >= APART_MHZ)
    }
}

/// First attempts with a sequence number: one ACK is like another, and of two retries each interface may have received one.
#[derive(Debug, Default)]
struct Recent {
    /// By the marks of the frame: what was captured there last.
    slots: Vec<Option<Sighting>>,
}

impl Recent {
    /// Remembers `frame`; gives the latest one with its marks, whatever interface captured it, and this one.
    fn replace(&mut self, frame: &Frame) -> Option<(Sighting, Sighting)> {
        let (time_ns, sequence) = frame.time_ns.zip(frame.header.sequence)?;
        if frame.header.fc.retry() || !frame.usable() {
            return None;
        }
        if self.slots.is_empty() {
            self.slots = vec![None; MAX_ECHOES];
        }
        let mixed = Marks::of(frame, sequence).of_any().mixed();
        let (interface, frequency_mhz, number) = (frame.interface, frame.radio.frequency_mhz, frame.number);
        let stamp_us = frame.radio.tsft_us.filter(|us| is_real(*us));
        let this = Sighting { mixed, interface, frequency_mhz, time_ns, number, stamp_us };
        let before = self.slots.get_mut(mixed as usize % MAX_ECHOES)?.replace(this)?;
        (before.mixed == mixed).then_some((before, this))
    }
}

/// The latest frames of all interfaces, where there are several.
#[derive(Debug, Default)]
pub struct Echoes(Recent);

impl Echoes {
    /// Did another interface capture this frame just before?
    pub fn has(&mut self, frame: &Frame) -> bool {
        self.0.replace(frame).is_some_and(|(before, this)| {
            before.interface != this.interface
                && !before.is_out_of_reach(&this)
                && this.time_ns.saturating_sub(before.time_ns).saturating_abs() < ECHO_NS
        })
    }
}

/// A sender that repeats an MPDU sets its retry bit (IEEE 802.11-2020, 9.2.4.1.6), and its numbers come again after 4,096 frames.
const SOON_NS: i64 = 500_000_000;
const SOON_RECORDS: u64 = 1_024;

/// The latest frames with data, to find copies that have a later time.
#[derive(Debug, Default)]
pub struct Copies(Recent);

impl Copies {
    /// Did the interface capture this first attempt just before, or with the same hardware stamp?
    #[inline]
    pub fn has(&mut self, frame: &Frame) -> bool {
        if !frame.header.fc.carries_data() || frame.radio.own_transmission {
            return false;
        }
        self.0.replace(frame).is_some_and(|(before, this)| {
            let passed_ns = this.time_ns.saturating_sub(before.time_ns);
            let is_soon = passed_ns < SOON_NS && this.number.wrapping_sub(before.number) < SOON_RECORDS;
            let has_its_stamp = this.stamp_us.is_some() && this.stamp_us == before.stamp_us;
            before.interface == this.interface && passed_ns > 0 && (is_soon || has_its_stamp)
        })
    }
}

/// Frames remembered of the beginning.
pub const BEGINNING: usize = 16;

/// The first frames with a sequence number that differ. Where they come again later, with the same times, the capture was appended to itself.
#[derive(Debug, Default)]
pub struct Beginning {
    /// Time, marks, and whether it came again.
    frames: Vec<(i64, u32, bool)>,
    latest_ns: i64,
}

impl Beginning {
    /// Is it one of the first frames again, for the first time, on whatever interface, behind all of them?
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
        let mixed = Marks::of(frame, sequence).of_any().mixed();
        let is_whole = self.frames.len() == BEGINNING;
        let known = self.frames.iter_mut().find(|(time, marks, _)| (*time, *marks) == (time_ns, mixed));
        match known {
            Some((.., again)) => is_whole && !std::mem::replace(again, true),
            None if is_whole => false,
            None => {
                self.latest_ns = self.latest_ns.max(time_ns);
                self.frames.push((time_ns, mixed, false));
                false
            }
        }
    }
}

/// A number that distinguishes a frame from others of its interface, whenever it comes; `None` without a sequence number.
pub fn mark(frame: &Frame) -> Option<u32> {
    Some(Marks::of(frame, frame.header.sequence?).of_any().mixed())
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

    /// The same for any interface, as each has a clock of its own.
    fn of_any(self) -> Self {
        let [sender, receiver, fields, _] = self.0;
        Self([sender & 0xffff_ffff_ffff, receiver, fields, 0])
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
