//! MPDUs grouped to the PPDUs that carried them.

use wire::ieee80211::{FrameControl, FrameKind, MacAddr};
use wire::phy::{Allocation, Band, Mode, SigB};

use crate::calibrate::{Grouping, StampMeaning};
use crate::clock::Position;
use crate::decode::Batch;
use crate::frame::{is_real, AckedTid, Detail, Fcs, Frame};
use crate::times::Times;

/// MPDUs of one PPDU that are kept; 802.11ax allows 256, 802.11be 1024.
const MAX_MPDUS: usize = 1024;

/// Users of one PPDU that are put together; HE has 74, EHT 144 (26-tone units of the whole band).
const MAX_USERS: usize = 148;

/// Frames further apart do not share a PPDU (5.484 ms at the most, and room for coarse clocks).
const LONGEST_PPDU_NS: i64 = 20_000_000;

/// One MPDU inside a PPDU.
#[derive(Clone, Copy, Debug)]
pub struct Mpdu {
    /// Frame control.
    pub fc: FrameControl,
    /// FCS state.
    pub fcs: Fcs,
    /// Length with FCS, bytes.
    pub len: u32,
    /// Bytes above LLC.
    pub payload_len: u32,
    /// Sequence number.
    pub sequence: Option<u16>,
    /// TID of QoS data.
    pub tid: Option<u8>,
    /// Asks for an immediate response: no QoS, or ack policy Normal (implicit Block Ack inside an A-MPDU).
    pub asks: bool,
    /// See [`Frame::amsdu_subframes`].
    pub amsdu_subframes: u16,
    /// It was captured before, and this is a retry.
    pub repeats: bool,
}

/// Body of a control frame that the accounting needs.
#[derive(Clone, Debug)]
pub enum Control {
    /// No body.
    None,
    /// Block Ack.
    BlockAck(Vec<AckedTid>),
    /// Block Ack request.
    Request(Vec<u8>),
}

/// One transmission on the air.
#[derive(Clone, Debug)]
pub struct Ppdu {
    /// Row of its (TA, RA) and the generation of the table for which it holds.
    pub link: Option<(u32, u32)>,
    /// Record number of its first frame.
    pub number: u64,
    /// Transmitter, of a frame that is not damaged.
    pub ta: Option<MacAddr>,
    /// Receiver, likewise.
    pub ra: MacAddr,
    /// Kind of the first usable frame.
    pub kind: FrameKind,
    /// Frame control of the first usable frame.
    pub fc: FrameControl,
    /// Modulation.
    pub mode: Mode,
    /// Units and users of the whole PPDU, where the header states them.
    pub allocation: Option<Allocation>,
    /// HE-SIG-B, as far as the header states it.
    pub sig_b: SigB,
    /// Channel.
    pub frequency_mhz: Option<u16>,
    /// Signal of its first frame, dBm.
    pub signal_dbm: Option<i8>,
    /// For how long its first frame reserves the medium, µs; `None`: it does not say.
    pub reserved_us: Option<u16>,
    /// The capturing machine sent it itself.
    pub own: bool,
    /// Every frame in it is damaged.
    pub all_bad: bool,
    /// MPDUs in order.
    pub mpdus: Vec<Mpdu>,
    /// PSDU bytes (A-MPDU delimiters and padding included).
    pub psdu_len: u32,
    /// Belongs to an A-MPDU as far as the header says.
    pub is_ampdu: bool,
    /// The last subframe of the A-MPDU was seen (or it is not an A-MPDU).
    pub saw_last: bool,
    /// The duration comes from L-SIG and does not depend on having captured every subframe.
    pub exact_duration: bool,
    /// Time on the air, ns; `None` when the mode does not show it.
    pub duration_ns: Option<i64>,
    /// Time that the captured MPDUs alone take in this mode, ns.
    pub explained_ns: Option<i64>,
    /// The receiver stamps each MPDU of an A-MPDU by itself: the stamp of the first one captured is not that of the PPDU.
    pub own_stamps: bool,
    /// Half-width of its uncertainty, ns.
    pub uncertainty_ns: i64,
    /// Time before the first PSDU bit, ns.
    pub preamble_ns: i64,
    /// Start on the timeline, ns.
    pub start_ns: i64,
    /// The start comes from a calibrated stamp.
    pub exact_start: bool,
    /// Body.
    pub control: Control,
    /// Where it carries frames of several users that were captured: what all of them have together.
    pub whole: Option<Whole>,
    group: Group,
}

/// A PPDU to or from several users, which is in the capture once for each of them. Each of these has the part of the whole's
/// time that its resource unit is of the units of all of them, one behind the other, so that the time counts once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Whole {
    /// Start on the timeline, ns.
    pub start_ns: i64,
    /// Duration, ns; `None` when no header gives it.
    pub duration_ns: Option<i64>,
    /// This is the first of its users.
    pub is_first: bool,
}

#[derive(Clone, Copy, Debug, Default)]
struct Group {
    reference: Option<u32>,
    stamp_us: Option<u64>,
    at: Position,
    tsft_ns: i64,
    /// The latest MPDU, which is not the first, has another stamp than the first.
    differs: bool,
}

impl Ppdu {
    fn empty() -> Self {
        Self {
            link: None,
            number: 0,
            ta: None,
            ra: MacAddr::ZERO,
            kind: FrameControl(0).kind(),
            fc: FrameControl(0),
            mode: Mode::Unknown,
            allocation: None,
            sig_b: SigB::default(),
            frequency_mhz: None,
            signal_dbm: None,
            reserved_us: None,
            own: false,
            all_bad: true,
            mpdus: Vec::new(),
            psdu_len: 0,
            is_ampdu: false,
            saw_last: true,
            exact_duration: false,
            duration_ns: None,
            explained_ns: None,
            own_stamps: false,
            uncertainty_ns: 0,
            preamble_ns: 0,
            start_ns: 0,
            exact_start: false,
            control: Control::None,
            whole: None,
            group: Group::default(),
        }
    }

    /// How long it was on the air, whoever else was in it, ns.
    pub fn air_ns(&self) -> Option<i64> {
        self.whole.map_or(self.duration_ns, |whole| whole.duration_ns)
    }

    /// Takes over what all its frames have in common.
    #[inline]
    fn describe(&mut self, frame: &Frame) {
        self.ra = frame.header.receiver();
        self.ta = frame.ta();
        self.kind = frame.header.fc.kind();
        self.fc = frame.header.fc;
        self.own = frame.radio.own_transmission;
        self.mode = frame.radio.mode;
        self.allocation = frame.radio.allocation;
        self.sig_b = frame.radio.sig_b;
    }

    /// The hardware stamp that all its parts have.
    pub fn stamp_us(&self) -> Option<u64> {
        self.group.stamp_us.filter(|us| !matches!(us, 0 | &u64::MAX))
    }

    /// End on the timeline (start, when the duration is not known).
    pub fn end_ns(&self) -> i64 {
        self.start_ns + self.duration_ns.unwrap_or(0)
    }

    /// Band of the channel.
    pub fn band(&self) -> Option<Band> {
        self.frequency_mhz.and_then(Band::from_frequency_mhz)
    }

    /// The same PPDU, had it been sent in another mode at the same time.
    pub fn at_mode(&self, mode: Mode) -> Self {
        let duration = mode.duration(self.psdu_len as usize, self.band()).map(|air| air.ns as i64);
        Self {
            mode,
            duration_ns: duration.or(self.duration_ns),
            preamble_ns: mode.preamble_ns().map_or(self.preamble_ns, i64::from),
            ..self.clone()
        }
    }

    /// Bytes an MPDU takes in the PSDU: with delimiter and padding inside an A-MPDU.
    pub fn psdu_share(&self, index: usize) -> u32 {
        let Some(mpdu) = self.mpdus.get(index) else { return 0 };
        if !self.is_ampdu {
            return mpdu.len;
        }
        let padding = if index + 1 < self.mpdus.len() { (4 - mpdu.len % 4) % 4 } else { 0 };
        mpdu.len.saturating_add(4 + padding)
    }

    /// Usable data MPDUs.
    pub fn data_mpdus(&self) -> impl Iterator<Item = &Mpdu> {
        self.mpdus.iter().filter(|m| m.fc.carries_data() && m.fcs != Fcs::Bad)
    }
}

/// Groups frames to PPDUs.
#[derive(Debug)]
pub struct Assembler {
    current: Ppdu,
    open: bool,
    grouping: Grouping,
    meaning: StampMeaning,
    calibrated: bool,
    times: Times,
    /// The MPDUs of an A-MPDU were seen to have a stamp each.
    stamps_each: bool,
    /// Other users of the PPDU that is open.
    others: Vec<Ppdu>,
}

impl Assembler {
    /// `calibrated`: the meaning of the stamps was inferred, not assumed.
    pub fn new(grouping: Grouping, meaning: StampMeaning, calibrated: bool) -> Self {
        Self {
            current: Ppdu::empty(),
            open: false,
            grouping,
            meaning,
            calibrated,
            times: Times::default(),
            stamps_each: false,
            others: Vec::new(),
        }
    }

    /// Does `frame` ride in the open PPDU?
    fn belongs(&self, frame: &Frame, at: &Position) -> bool {
        let open = &self.current;
        if !self.open || open.mpdus.len() >= MAX_MPDUS || !frame.radio.mode.can_aggregate() {
            return false;
        }
        if open.frequency_mhz != frame.radio.frequency_mhz || !open.mode.can_aggregate() {
            return false;
        }
        let reference = frame.radio.ampdu.map(|ampdu| ampdu.reference);
        let together = match self.grouping {
            Grouping::Reference => {
                reference.is_some() && reference == open.group.reference
                    // A reference that comes back later is another A-MPDU.
                    && (at.ns - open.group.at.ns).abs() < LONGEST_PPDU_NS
            }
            Grouping::EqualTsft => {
                let stamp = frame.radio.tsft_us;
                // Some drivers stamp only the first subframe (0 after it) or only the last (all ones before it).
                let same = match (stamp, open.group.stamp_us) {
                    (None, _) | (_, None) => false,
                    (Some(0), Some(group)) => group != 0,
                    (Some(_), Some(u64::MAX)) => true,
                    (stamp, group) => stamp == group,
                };
                same && (at.ns - open.group.at.ns).abs() < LONGEST_PPDU_NS
            }
            Grouping::None => false,
        };
        together && (!frame.usable() || open.all_bad || (frame.ta() == open.ta && frame.header.receiver() == open.ra))
    }

    /// Takes a frame. When it does not belong to the open PPDU, that one is complete and `done` is called with it.
    pub fn push(&mut self, frame: &Frame, batch: &Batch, at: Position, done: &mut dyn FnMut(&Ppdu)) {
        if !self.belongs(frame, &at) {
            if self.is_of_another_user(frame, &at) {
                self.turn_to(frame, batch, at);
            } else {
                self.finish(done);
                self.begin(frame, batch, at);
            }
        }
        self.add(frame, at);
    }

    /// Does `frame` ride in the open PPDU in another user's part of it? Downlink has one transmitter, trigger-based uplink one
    /// receiver; the stamp is that of the PPDU.
    fn is_of_another_user(&self, frame: &Frame, at: &Position) -> bool {
        let open = &self.current;
        if !frame.radio.mode.is_to_several() || !self.open || !open.mode.is_to_several() {
            return false;
        }
        let stamp = frame.radio.tsft_us.filter(|us| !matches!(us, 0 | &u64::MAX));
        let is_same_end =
            if open.mode.is_trigger_based() { frame.header.receiver() == open.ra } else { frame.ta() == open.ta };
        frame.usable()
            && !open.all_bad
            && is_same_end
            && frame.radio.mode.is_trigger_based() == open.mode.is_trigger_based()
            && open.frequency_mhz == frame.radio.frequency_mhz
            && stamp.is_some()
            && stamp == open.group.stamp_us
            && (at.ns - open.group.at.ns).abs() < LONGEST_PPDU_NS
            && self.others.len() < MAX_USERS
    }

    /// Puts the open part aside for that of another user, which may be there already.
    #[cold]
    fn turn_to(&mut self, frame: &Frame, batch: &Batch, at: Position) {
        let ends = (frame.ta(), frame.header.receiver());
        let is_it = |ppdu: &Ppdu| (ppdu.ta, ppdu.ra) == ends && ppdu.mpdus.len() < MAX_MPDUS;
        match self.others.iter_mut().find(|other| is_it(other)) {
            Some(other) => std::mem::swap(other, &mut self.current),
            None => {
                self.others.push(std::mem::replace(&mut self.current, Ppdu::empty()));
                self.begin(frame, batch, at);
            }
        }
    }

    /// Tells the row of the link of the frame just pushed, and whether the link saw it before.
    pub fn note_link(&mut self, frame: &Frame, row: u32, generation: u32, repeats: bool) {
        let ppdu = &mut self.current;
        if let Some(mpdu) = ppdu.mpdus.last_mut().filter(|mpdu| mpdu.fcs != Fcs::Bad) {
            mpdu.repeats = repeats;
        }
        if ppdu.link.is_none() && (frame.usable() || ppdu.all_bad) && ppdu.ra == frame.header.receiver() {
            ppdu.link = (ppdu.ta == frame.ta()).then_some((row, generation));
        }
    }

    /// Completes the open PPDU.
    pub fn finish(&mut self, done: &mut dyn FnMut(&Ppdu)) {
        if self.open {
            self.open = false;
            if self.others.is_empty() {
                self.close();
                done(&self.current);
            } else {
                self.finish_users(done);
            }
        }
    }

    /// Completes the parts of all users, and gives each its part of the time.
    #[cold]
    fn finish_users(&mut self, done: &mut dyn FnMut(&Ppdu)) {
        self.others.push(std::mem::replace(&mut self.current, Ppdu::empty()));
        let mut users = std::mem::take(&mut self.others);
        users.sort_by_key(|user| user.number);
        for user in &mut users {
            std::mem::swap(user, &mut self.current);
            self.close();
            std::mem::swap(user, &mut self.current);
        }
        let duration_ns = users.iter().filter_map(|user| user.duration_ns).max();
        let start_ns = users.iter().map(|user| user.start_ns).min().unwrap_or(0);
        let tones: Option<Vec<i64>> = users.iter().map(|user| user.mode.unit_tones().map(i64::from)).collect();
        let weights = tones.unwrap_or_else(|| vec![1; users.len()]);
        let all = weights.iter().sum::<i64>().max(1);
        let mut before = 0;
        for (index, (user, weight)) in users.iter_mut().zip(weights).enumerate() {
            user.whole = Some(Whole { start_ns, duration_ns, is_first: index == 0 });
            if let Some(whole_ns) = duration_ns {
                let place = |tones: i64| (i128::from(whole_ns) * i128::from(tones) / i128::from(all)) as i64;
                let (from, to) = (place(before), place(before + weight));
                user.start_ns = start_ns + from;
                user.duration_ns = Some(to - from);
                // All stations receive the preamble, too.
                user.preamble_ns = (i128::from(user.preamble_ns) * i128::from(weight) / i128::from(all)) as i64;
                user.exact_start |= user.group.at.exact && self.calibrated;
            }
            before += weight;
            done(user);
        }
    }

    fn begin(&mut self, frame: &Frame, batch: &Batch, at: Position) {
        self.open = true;
        let is_ampdu = frame.radio.ampdu.is_some() && !matches!(self.grouping, Grouping::None);
        let control = match batch.details.get(frame.detail as usize) {
            Some(Detail::BlockAck(ack)) => Control::BlockAck(ack.clone()),
            Some(Detail::BlockAckReq(request)) => Control::Request(request.clone()),
            _ => Control::None,
        };
        let group = Group {
            reference: frame.radio.ampdu.map(|ampdu| ampdu.reference),
            stamp_us: frame.radio.tsft_us,
            at,
            tsft_ns: at.ns,
            differs: false,
        };
        let ppdu = &mut self.current;
        ppdu.mpdus.clear();
        ppdu.link = None;
        ppdu.number = frame.number;
        ppdu.frequency_mhz = frame.radio.frequency_mhz;
        ppdu.signal_dbm = frame.radio.signal_dbm;
        // With bit 15, the field is an association identifier (IEEE 802.11-2020, 9.2.4.2).
        ppdu.reserved_us = Some(frame.header.duration_id).filter(|us| *us < 1 << 15);
        ppdu.all_bad = true;
        if !frame.usable() {
            // `add` takes note of a usable one.
            ppdu.describe(frame);
        }
        ppdu.psdu_len = 0;
        ppdu.is_ampdu = is_ampdu;
        ppdu.saw_last = !is_ampdu;
        ppdu.exact_duration = false;
        ppdu.duration_ns = None;
        ppdu.explained_ns = None;
        ppdu.uncertainty_ns = 0;
        ppdu.preamble_ns = 0;
        ppdu.start_ns = 0;
        ppdu.exact_start = false;
        ppdu.control = control;
        ppdu.whole = None;
        ppdu.group = group;
    }

    fn add(&mut self, frame: &Frame, at: Position) {
        let ppdu = &mut self.current;
        if ppdu.group.stamp_us == Some(u64::MAX) && frame.radio.tsft_us != Some(u64::MAX) {
            // The one real stamp of this PPDU.
            ppdu.group = Group { stamp_us: frame.radio.tsft_us, at, tsft_ns: at.ns, ..ppdu.group };
        }
        let fc = frame.header.fc;
        if frame.usable() && ppdu.all_bad {
            ppdu.all_bad = false;
            ppdu.link = None;
            ppdu.describe(frame);
        } else if frame.usable() && frame.radio.mode.rate_range_kbps() > ppdu.mode.rate_range_kbps() {
            // Some receivers report a low legacy rate for single subframes: the highest rate is the true one.
            ppdu.mode = frame.radio.mode;
        }
        if let Some(ampdu) = frame.radio.ampdu {
            ppdu.saw_last |= ampdu.is_last == Some(true);
        }
        if !ppdu.mpdus.is_empty() {
            ppdu.is_ampdu = true;
            // Only the last MPDU of an A-MPDU may have a stamp of its own where they have one stamp.
            self.stamps_each |= ppdu.group.differs;
            let stamp_us = frame.radio.tsft_us.filter(|us| is_real(*us));
            ppdu.group.differs = stamp_us.is_some() && stamp_us != ppdu.group.stamp_us;
        }
        let qos = frame.header.qos;
        ppdu.mpdus.push(Mpdu {
            fc,
            fcs: if frame.usable() { frame.fcs } else { Fcs::Bad },
            len: frame.mpdu_len,
            payload_len: frame.payload_len,
            sequence: frame.header.sequence,
            tid: qos.map(|qos| qos.tid()),
            asks: qos.is_none_or(|qos| matches!(qos.ack_policy(), wire::ieee80211::AckPolicy::Normal)),
            amsdu_subframes: frame.amsdu_subframes,
            repeats: fc.retry(),
        });
        if let (Some(l_sig), None) = (frame.radio.l_sig.and_then(|l_sig| l_sig.length), ppdu.duration_ns) {
            ppdu.duration_ns = wire::phy::l_sig_duration_ns(l_sig, &frame.radio.mode).map(i64::from);
            ppdu.exact_duration = ppdu.duration_ns.is_some();
        }
    }

    /// Computes length, duration and position once every MPDU is there.
    fn close(&mut self) {
        let ppdu = &mut self.current;
        ppdu.psdu_len = if ppdu.is_ampdu {
            wire::phy::ampdu_psdu_len(ppdu.mpdus.iter().map(|m| m.len as usize)) as u32
        } else {
            ppdu.mpdus.first().map_or(0, |m| m.len)
        };
        let times = self.times.of(ppdu.mode, ppdu.psdu_len, ppdu.frequency_mhz);
        ppdu.preamble_ns = times.preamble_ns;
        ppdu.explained_ns = times.duration_ns;
        ppdu.own_stamps = self.stamps_each;
        if let (None, Some(duration_ns)) = (ppdu.duration_ns, times.duration_ns) {
            ppdu.duration_ns = Some(duration_ns);
            ppdu.uncertainty_ns = times.uncertainty_ns;
        }
        let at = ppdu.group.at;
        ppdu.exact_start = at.exact && self.calibrated && ppdu.duration_ns.is_some();
        let duration = ppdu.duration_ns.unwrap_or(0);
        ppdu.start_ns = match (at.exact, self.meaning) {
            (true, StampMeaning::FirstMpduBit) => ppdu.group.tsft_ns - ppdu.preamble_ns,
            (true, StampMeaning::PpduStart) => ppdu.group.tsft_ns,
            (true, StampMeaning::PpduEnd) => ppdu.group.tsft_ns - duration,
            // The capture clock is read after reception.
            (false, _) => ppdu.group.at.ns - duration,
        };
    }
}
