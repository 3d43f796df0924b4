//! Who sends when, and what comes of it.

use serde::Serialize;
use wire::phy::{Band, Bandwidth, EdcaParameters, Timing};

use super::channel::{ChannelSettings, Tuned};
use super::exchange::{self, Slice, Timeline};
use super::recorder::{AirFrame, AirRecorder};
use super::{Outcome, Ppdu, Protection, Reception, Response, Station};
use crate::rng::Rng;

/// 2.4 GHz with short slots.
const TIMING: Timing = Timing::new(Band::Ghz2_4, Bandwidth::Mhz20, true);
/// Frame control of control frames.
const RTS: u8 = 0xb4;
const CTS: u8 = 0xc4;
const ACK: u8 = 0xd4;
const BLOCK_ACK: u8 = 0x94;

/// What was sent from one side.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct SideCounters {
    /// PPDUs, control frames not counted.
    pub ppdus: u64,
    /// MPDUs in them.
    pub mpdus: u64,
    /// MPDUs with the retry bit.
    pub retries: u64,
    /// MPDUs that were acknowledged.
    pub acknowledged: u64,
    /// A-MPDUs.
    pub ampdus: u64,
    /// RTS frames.
    pub rts: u64,
    /// CTS to itself.
    pub cts_to_self: u64,
    /// Time that its exchanges took, from the first preamble to the end of the response.
    pub airtime_ns: u64,
    /// Bytes of MPDUs that were acknowledged or needed no acknowledgement, without frame check sequence.
    pub bytes: u64,
}

/// What happened on the air.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct AirCounters {
    /// From the chip.
    pub chip: SideCounters,
    /// From the access point.
    pub ap: SideCounters,
    /// Both began in the same slot.
    pub collisions: u64,
    /// MPDUs that noise or the given loss destroyed.
    pub lost: u64,
}

/// One side's contention.
#[derive(Clone, Copy, Debug, Default)]
struct Contention {
    /// Slots left to wait; `None`: drawn when there is something to send.
    backoff: Option<u32>,
    failures: u8,
}

/// An exchange under way.
struct Busy {
    end_ns: u64,
    transmissions: Vec<Transmission>,
}

struct Transmission {
    side: usize,
    start_ns: u64,
    ppdu: Ppdu,
    timeline: Timeline,
    collided: bool,
    /// The PPDU follows its protection: nobody kept the receiver from answering RTS.
    data_sent: bool,
    /// For each MPDU that has ended: whether it was destroyed, and whether the receiver answers for it.
    lost: Vec<bool>,
    accepted: Vec<bool>,
}

impl Transmission {
    /// When the next MPDU ends that the other side may receive: MPDUs of an A-MPDU one after the other.
    fn next_mpdu_ns(&self) -> Option<u64> {
        let next = self.lost.len();
        if self.collided || !self.data_sent || next >= self.ppdu.mpdus.len() {
            return None;
        }
        let Slice { start_ns, end_ns, mode } = self.timeline.data;
        let preamble_ns = u64::from(mode.preamble_ns().unwrap_or(0));
        let data_ns = (end_ns - start_ns).saturating_sub(preamble_ns);
        let (upto, all) = (self.ppdu.mpdus.get(..=next).unwrap_or_default(), &self.ppdu.mpdus);
        let bytes = |mpdus: &[Vec<u8>]| mpdus.iter().map(|mpdu| mpdu.len() as u64 + 8).sum::<u64>();
        let at_ns = start_ns + preamble_ns + data_ns * bytes(upto) / bytes(all).max(1);
        Some(self.start_ns + at_ns.min(end_ns))
    }
}

/// The channel between a chip (side 0) and an access point (side 1).
pub struct Medium {
    settings: ChannelSettings,
    /// Noise at the beginning.
    noise_dbm: i8,
    rng: Rng,
    contention: [Contention; 2],
    /// Since when nobody sends.
    idle_since_ns: u64,
    busy: Option<Busy>,
    counters: AirCounters,
    recorder: Option<AirRecorder>,
    ampdu_reference: u32,
}

impl Medium {
    /// A free medium.
    pub fn new(settings: ChannelSettings, seed: u64, recorder: Option<AirRecorder>) -> Self {
        Self {
            settings,
            noise_dbm: settings.noise_dbm,
            rng: Rng::new(seed),
            contention: [Contention::default(); 2],
            idle_since_ns: 0,
            busy: None,
            counters: AirCounters::default(),
            recorder,
            ampdu_reference: 0,
        }
    }

    /// What happened so far.
    pub const fn counters(&self) -> &AirCounters {
        &self.counters
    }

    /// How good the channel is from now on.
    pub fn set_loss(&mut self, loss: f64) {
        self.settings.loss = loss;
    }

    /// How loud the noise is from now on; `None`: as at the beginning.
    pub fn set_noise(&mut self, dbm: Option<i8>) {
        self.settings.noise_dbm = dbm.unwrap_or(self.noise_dbm);
    }

    /// Writes the capture out.
    ///
    /// # Errors
    /// Those of its file.
    pub fn finish(&mut self) -> std::io::Result<()> {
        self.recorder.as_mut().map_or(Ok(()), AirRecorder::finish)
    }

    /// When something happens next.
    pub fn next_event(&self, chip: &dyn Station, ap: &dyn Station) -> Option<u64> {
        match &self.busy {
            Some(busy) => busy.transmissions.iter().filter_map(Transmission::next_mpdu_ns).min().or(Some(busy.end_ns)),
            None => [chip, ap].iter().enumerate().filter_map(|(side, station)| self.access_ns(side, *station)).min(),
        }
    }

    /// Lets everything happen that is due by `now_ns`.
    pub fn advance(&mut self, now_ns: u64, chip: &mut dyn Station, ap: &mut dyn Station) {
        loop {
            if self.deliver(now_ns, chip, ap) {
                continue;
            }
            if let Some(busy) = self.busy.take_if(|busy| busy.end_ns <= now_ns) {
                self.idle_since_ns = busy.end_ns;
                for transmission in busy.transmissions {
                    self.end(transmission, busy.end_ns, chip, ap);
                }
                continue;
            }
            if self.busy.is_some() {
                return;
            }
            for (side, station) in [&*chip, &*ap].into_iter().enumerate() {
                self.draw(side, station);
            }
            let access = [self.access_ns(0, chip), self.access_ns(1, ap)];
            let Some(start_ns) = access.iter().flatten().min().copied().filter(|&at| at <= now_ns) else { return };
            self.begin(start_ns, access, chip, ap);
        }
    }

    fn draw(&mut self, side: usize, station: &dyn Station) {
        let Some(contention) = self.contention.get_mut(side) else { return };
        if contention.backoff.is_none() && station.ready_since().is_some() {
            let EdcaParameters { ecw_min, ecw_max, .. } = station.access();
            let exponent = ecw_min.saturating_add(contention.failures).min(ecw_max.max(ecw_min)).min(15);
            contention.backoff = Some(self.rng.up_to((1 << exponent) - 1));
        }
    }

    /// When this side may send, if nobody else does before.
    fn access_ns(&self, side: usize, station: &dyn Station) -> Option<u64> {
        let ready_ns = station.ready_since()?;
        let contention = self.contention.get(side)?;
        let slots = u64::from(contention.backoff.unwrap_or(0));
        let aifs_ns = u64::from(station.access().aifs_ns(&TIMING));
        let at_ns = self.idle_since_ns + aifs_ns + slots * u64::from(TIMING.slot_ns);
        // Who becomes ready on a medium that has been idle for that long sends at once.
        Some(at_ns.max(ready_ns))
    }

    fn begin(&mut self, start_ns: u64, access: [Option<u64>; 2], chip: &mut dyn Station, ap: &mut dyn Station) {
        let mut transmissions = Vec::new();
        for side in 0..2 {
            let station: &mut dyn Station = if side == 0 { chip } else { ap };
            let Some(contention) = self.contention.get_mut(side) else { continue };
            // Within one slot of each other neither has heard the other.
            let starts = access.get(side).copied().flatten().is_some_and(|at| at <= start_ns);
            if starts {
                contention.backoff = None;
                if let Some(ppdu) = station.begin(start_ns) {
                    let timeline = exchange::timeline(&ppdu, station.basic_rates().as_ref());
                    let (lost, accepted) = (Vec::new(), Vec::new());
                    let data_sent = true;
                    transmissions.push(Transmission {
                        side,
                        start_ns,
                        ppdu,
                        timeline,
                        collided: false,
                        data_sent,
                        lost,
                        accepted,
                    });
                }
            } else if let Some(backoff) = &mut contention.backoff {
                // The other side keeps the slots that it has not waited.
                let aifs_ns = u64::from(station.access().aifs_ns(&TIMING));
                let waited_ns = start_ns.saturating_sub(self.idle_since_ns + aifs_ns);
                *backoff = backoff.saturating_sub((waited_ns / u64::from(TIMING.slot_ns)) as u32);
            }
        }
        let collided = transmissions.len() > 1;
        self.counters.collisions += u64::from(collided);
        let reached = hears(chip, ap);
        let mut end_ns = start_ns;
        for transmission in &mut transmissions {
            let Transmission { ppdu, timeline, .. } = transmission;
            set_durations(ppdu, timeline);
            // RTS that nobody answers: nothing follows.
            let protected = matches!(ppdu.protection, Protection::Rts(_));
            transmission.data_sent = !protected || reached && !collided;
            transmission.collided = collided;
            let whole = transmission.data_sent && !collided;
            let length_ns = if whole { timeline.end_ns } else { unanswered_ns(timeline) };
            end_ns = end_ns.max(start_ns + length_ns);
        }
        if transmissions.is_empty() {
            // Nothing to send after all.
            self.idle_since_ns = self.idle_since_ns.max(start_ns);
            return;
        }
        self.busy = Some(Busy { end_ns, transmissions });
    }

    /// Lets the next MPDU arrive, if it has ended by now.
    fn deliver(&mut self, now_ns: u64, chip: &mut dyn Station, ap: &mut dyn Station) -> bool {
        let Some(busy) = &mut self.busy else { return false };
        let Some(transmission) = busy.transmissions.first_mut() else { return false };
        let Some(at_ns) = transmission.next_mpdu_ns().filter(|&at_ns| at_ns <= now_ns) else { return false };
        let reached = hears(chip, ap);
        let (sender, receiver): (&dyn Station, &mut dyn Station) =
            if transmission.side == 0 { (chip, ap) } else { (ap, chip) };
        let next = transmission.lost.len();
        let Some(mpdu) = transmission.ppdu.mpdus.get(next) else { return false };
        let mode = transmission.ppdu.mode;
        let lost = self.settings.loses(&mut self.rng, &mode, mpdu.len() + exchange::FCS_LEN);
        self.counters.lost += u64::from(lost);
        let mut accepted = false;
        if let Some(tuned) = sender.tuned().filter(|_| reached && !lost) {
            let ampdu = transmission.ppdu.aggregated.then_some(next == 0);
            let reception = Reception { mode, ampdu, tuned, signal_dbm: self.settings.signal_dbm };
            accepted = receiver.receive(at_ns, mpdu, &reception);
        }
        transmission.lost.push(lost);
        transmission.accepted.push(accepted);
        true
    }

    fn end(&mut self, transmission: Transmission, end_ns: u64, chip: &mut dyn Station, ap: &mut dyn Station) {
        let Transmission { side, start_ns, ppdu, timeline, collided, data_sent, mut lost, mut accepted } = transmission;
        let sender: &mut dyn Station = if side == 0 { chip } else { ap };
        let tuned = sender.tuned().unwrap_or(Tuned { frequency_mhz: 2412, wide: false });
        let count = ppdu.mpdus.len();
        lost.resize(count, collided);
        accepted.resize(count, false);
        let answered = accepted.iter().any(|&it| it);
        let response_arrives =
            answered && !timeline.response.is_some_and(|slice| self.settings.loses(&mut self.rng, &slice.mode, 32));
        let acknowledged: Vec<bool> = match ppdu.response {
            Response::None => vec![true; count],
            _ => accepted.iter().map(|&it| it && response_arrives).collect(),
        };
        self.count(side, &ppdu, &timeline, data_sent, &acknowledged);
        self.record(start_ns, &ppdu, &timeline, tuned, &Seen { data_sent, collided, lost, accepted });
        let success = acknowledged.iter().any(|&it| it);
        if let Some(contention) = self.contention.get_mut(side) {
            contention.failures = if success { 0 } else { contention.failures.saturating_add(1) };
        }
        sender.ended(end_ns, ppdu, &Outcome { acknowledged });
    }

    fn count(&mut self, side: usize, ppdu: &Ppdu, timeline: &Timeline, data_sent: bool, acknowledged: &[bool]) {
        let counters = if side == 0 { &mut self.counters.chip } else { &mut self.counters.ap };
        counters.rts += u64::from(matches!(ppdu.protection, Protection::Rts(_)));
        counters.cts_to_self += u64::from(matches!(ppdu.protection, Protection::CtsToSelf(_)));
        if !data_sent {
            counters.airtime_ns += unanswered_ns(timeline);
            return;
        }
        counters.airtime_ns += timeline.end_ns;
        counters.ppdus += 1;
        counters.ampdus += u64::from(ppdu.aggregated);
        for (mpdu, &acknowledged) in ppdu.mpdus.iter().zip(acknowledged) {
            counters.mpdus += 1;
            counters.retries += u64::from(mpdu.get(1).is_some_and(|flags| flags & 0x08 != 0));
            if acknowledged {
                counters.acknowledged += u64::from(ppdu.response != Response::None);
                counters.bytes += mpdu.len() as u64;
            }
        }
    }

    fn record(&mut self, start_ns: u64, ppdu: &Ppdu, timeline: &Timeline, tuned: Tuned, seen: &Seen) {
        let Some(recorder) = &mut self.recorder else { return };
        let ChannelSettings { signal_dbm, noise_dbm, .. } = self.settings;
        let mut write = |slice: Slice, ampdu: Option<(u32, bool)>, damaged: bool, bytes: &[u8]| {
            recorder.frame(&AirFrame {
                start_ns: start_ns + slice.start_ns,
                mode: slice.mode,
                frequency_mhz: tuned.frequency_mhz,
                signal_dbm,
                noise_dbm,
                ampdu,
                damaged,
                bytes,
            });
        };
        let Some(first) = ppdu.mpdus.first() else { return };
        let address = |at: usize| first.get(at..at + 6).and_then(<[u8]>::first_chunk::<6>).copied().unwrap_or_default();
        let (receiver, transmitter) = (address(4), address(10));
        // Duration of the frame that ends at `end`: to the end of the last frame, in whole microseconds.
        let rest = |end: u64| {
            let last = timeline.response.map_or(timeline.data.end_ns, |slice| slice.end_ns);
            last.saturating_sub(end).div_ceil(1_000).min(32_767) as u16
        };
        if let Some(slice) = timeline.protection {
            let to = if timeline.cts.is_some() { receiver } else { transmitter };
            let kind = if timeline.cts.is_some() { RTS } else { CTS };
            let mut bytes = control(kind, rest(slice.end_ns), to);
            if kind == RTS {
                bytes.extend(transmitter);
            }
            write(slice, None, seen.collided, &bytes);
        }
        if let Some(slice) = timeline.cts.filter(|_| seen.data_sent) {
            write(slice, None, false, &control(CTS, rest(slice.end_ns), transmitter));
        }
        if !seen.data_sent {
            return;
        }
        if ppdu.aggregated {
            self.ampdu_reference = self.ampdu_reference.wrapping_add(1);
        }
        let last = ppdu.mpdus.len() - 1;
        for (at, mpdu) in ppdu.mpdus.iter().enumerate() {
            let ampdu = ppdu.aggregated.then_some((self.ampdu_reference, at == last));
            write(timeline.data, ampdu, seen.lost.get(at).copied().unwrap_or(false), mpdu);
        }
        if let Some(slice) = timeline.response.filter(|_| seen.accepted.iter().any(|&it| it)) {
            let mut bytes = control(if ppdu.response == Response::BlockAck { BLOCK_ACK } else { ACK }, 0, transmitter);
            if ppdu.response == Response::BlockAck {
                bytes.extend(receiver);
                bytes.extend(block_ack(&ppdu.mpdus, &seen.accepted));
            }
            write(slice, None, false, &bytes);
        }
    }
}

/// What happened to the frames of an exchange.
struct Seen {
    data_sent: bool,
    collided: bool,
    lost: Vec<bool>,
    accepted: Vec<bool>,
}

/// Whether the two sides are on one channel.
fn hears(chip: &dyn Station, ap: &dyn Station) -> bool {
    match (chip.tuned(), ap.tuned()) {
        (Some(chip), Some(ap)) => chip.frequency_mhz == ap.frequency_mhz,
        _ => false,
    }
}

/// How long the medium is in use when the first frame that needs an answer gets none: to its end, and until the sender
/// stops waiting (SIFS, a slot and the start of a PPDU: 10.3.2.11).
fn unanswered_ns(timeline: &Timeline) -> u64 {
    let first = match (timeline.cts, timeline.protection) {
        (Some(_), Some(rts)) => rts,
        _ => timeline.data,
    };
    first.end_ns + exchange::gap_ns(&first.mode) + u64::from(TIMING.slot_ns) + 20_000
}

/// Duration fields of the MPDUs: until their response has ended. The number of a PS-Poll, and of frames of which the
/// receiver is a group, stays.
fn set_durations(ppdu: &mut Ppdu, timeline: &Timeline) {
    let Some(response) = timeline.response else { return };
    let duration = response.end_ns.saturating_sub(timeline.data.end_ns).div_ceil(1_000).min(32_767) as u16;
    for mpdu in &mut ppdu.mpdus {
        let is_ps_poll = mpdu.first() == Some(&0xa4);
        if let Some(field) = mpdu.get_mut(2..4).filter(|_| !is_ps_poll) {
            field.copy_from_slice(&duration.to_le_bytes());
        }
    }
}

fn control(kind: u8, duration: u16, to: [u8; 6]) -> Vec<u8> {
    let mut bytes = vec![kind, 0];
    bytes.extend(duration.to_le_bytes());
    bytes.extend(to);
    bytes
}

/// Control, starting sequence and bitmap of a compressed Block Ack for these MPDUs.
fn block_ack(mpdus: &[Vec<u8>], accepted: &[bool]) -> Vec<u8> {
    let sequence = |mpdu: &Vec<u8>| mpdu.get(22..24).map_or(0, |b| u16::from_le_bytes([b[0], b[1]]) >> 4);
    let start = mpdus.first().map_or(0, sequence);
    let tid = mpdus.first().and_then(|mpdu| mpdu.get(24)).map_or(0, |qos| qos & 0x0f);
    let mut bitmap = 0u64;
    for (mpdu, _) in mpdus.iter().zip(accepted).filter(|(_, &accepted)| accepted) {
        let offset = sequence(mpdu).wrapping_sub(start) & 0x0fff;
        if offset < 64 {
            bitmap |= 1 << offset;
        }
    }
    let mut bytes = (0x0004u16 | u16::from(tid) << 12).to_le_bytes().to_vec();
    bytes.extend((start << 4).to_le_bytes());
    bytes.extend(bitmap.to_le_bytes());
    bytes
}

/// Contention parameters of frames that must go first (AC_VO).
pub const URGENT: EdcaParameters = EdcaParameters::default_for(wire::phy::AccessCategory::Voice);
