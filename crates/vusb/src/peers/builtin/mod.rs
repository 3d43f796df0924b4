//! An access point of its own: an open 802.11n network, and a TAP device behind it.
//!
//! For what hostapd is too real for: faults, speed, exact control. A script ([`script`]) says what it does on purpose.

mod block_ack;
mod data;
mod director;
mod elements;
mod ethernet;
mod events;
mod management;
pub mod script;
pub mod settings;
mod sleep;
crate::state!(Builtin {
    director, queue, done, later, authenticated, client, agreements, reorders, last, sleep, ampdu_verdict, late, switch,
    next_beacon_ns, stranger_ns, sequence, data_sequence, counters,
} made { settings, wired });

#[cfg(test)]
mod tests;

use std::os::fd::RawFd;

use medium::Reorder;
use wire::ieee80211::{FrameKind, FrameType, HtCapabilities, MacAddr, Mpdu};
use wire::phy::{Bandwidth, EdcaParameters, Mode, RateSet};

use super::agreements::Agreements;
use super::queue::{Done, Queue, Queued};
use super::statistics::{ApCounters, BuiltinStatistics, PeerStatistics};
use super::Peers;
use crate::air::{Outcome, Ppdu, Reception, Station, Tuned};
use crate::device::Source;
use crate::state::{Reader, State, StateError, Writer};
use crate::wired::Wired;
use block_ack::LateBlockAck;
use director::{Director, Verdict};
use elements::{Moment, BEACON_INTERVAL_TU, RATES};
use script::Event;
pub use settings::{BuiltinSettings, More, Network};
use sleep::Sleep;

const BEACON_INTERVAL_NS: u64 = BEACON_INTERVAL_TU as u64 * 1_024_000;
/// Frames that wait at most; the TAP is not read while this many do.
const QUEUE_MAX: usize = 128;
/// Its address: locally administered, "txop".
const ADDRESS: MacAddr = MacAddr([0x02, 0x74, 0x78, 0x6f, 0x70, 0x00]);
/// TIDs of data, and one more for management frames.
const SEQUENCES: usize = 17;

const ONE_MBIT_S: Mode = Mode::Dsss { rate_500kbps: 2, short_preamble: Some(false) };

/// The Ethernet frames of one MPDU.
type Frames = Vec<Vec<u8>>;

/// The station that is associated.
#[derive(serde::Serialize, serde::Deserialize)]
struct Client {
    address: MacAddr,
    /// It has HT, and so QoS.
    ht: Option<HtCapabilities>,
    /// It was asked for a Block Ack agreement.
    asked: bool,
}

/// The access point.
pub struct Builtin {
    settings: BuiltinSettings,
    wired: Box<dyn Wired>,
    director: Director,
    queue: Queue,
    done: Vec<Done>,
    /// Answers that come later, and when.
    later: Vec<(u64, Queued)>,
    authenticated: Option<MacAddr>,
    client: Option<Client>,
    agreements: Agreements,
    /// By TID; the Ethernet frames of each MPDU.
    reorders: [Option<Reorder<Frames>>; 16],
    /// Sequence control of the last frame of each TID.
    last: [Option<u16>; SEQUENCES],
    sleep: Sleep,
    /// What happens to the A-MPDU that arrives.
    ampdu_verdict: Verdict,
    late: Option<LateBlockAck>,
    /// Channel, and beacons until the network goes there.
    switch: Option<(u8, u8)>,
    next_beacon_ns: u64,
    /// When a station that is not associated was last notified of that.
    stranger_ns: Option<u64>,
    sequence: u16,
    data_sequence: u16,
    counters: ApCounters,
}

impl Builtin {
    /// `wired`: its wired end.
    pub fn with(settings: BuiltinSettings, script: Vec<Event>, wired: Box<dyn Wired>) -> Self {
        Self {
            settings,
            wired,
            director: Director::new(script),
            queue: Queue::default(),
            done: Vec::new(),
            later: Vec::new(),
            authenticated: None,
            client: None,
            agreements: Agreements::default(),
            reorders: [const { None }; 16],
            last: [None; SEQUENCES],
            sleep: Sleep::default(),
            ampdu_verdict: Verdict::Usual,
            late: None,
            switch: None,
            next_beacon_ns: 0,
            stranger_ns: None,
            sequence: 0,
            data_sequence: 0,
            counters: ApCounters::default(),
        }
    }

    /// What it has done.
    pub const fn counters(&self) -> &ApCounters {
        &self.counters
    }

    fn next_sequence(&mut self) -> u16 {
        self.sequence = (self.sequence + 1) & 0x0fff;
        self.sequence
    }

    /// Queues a frame, or keeps it while the station sleeps.
    fn push(&mut self, frame: Queued) {
        let mpdu = frame.frame();
        let for_client = self.client.as_ref().is_some_and(|client| mpdu.receiver() == Some(client.address));
        // Data, and of management frames those that answer nothing (11.2.3.2).
        let parts_or_acts = [FrameKind::Disassociation, FrameKind::Deauthentication, FrameKind::Action];
        let waits = mpdu.is_data() || mpdu.kind().is_some_and(|kind| parts_or_acts.contains(&kind));
        if self.queue.len() + self.sleep.len() >= 2 * QUEUE_MAX {
            // Only a flood of requests comes to this: data from the wire wait there.
            self.counters.dropped += 1;
        } else if self.sleep.asleep && waits && (for_client || frame.is_group()) {
            self.counters.kept += 1;
            self.sleep.keep(frame);
        } else {
            self.queue.push(frame);
        }
    }

    fn forget_client(&mut self) {
        self.client = None;
        self.authenticated = None;
        self.agreements = Agreements::default();
        self.reorders = [const { None }; 16];
        self.last = [None; SEQUENCES];
        self.sleep.forget();
        self.queue.take_data();
        self.late = None;
    }

    fn beacon(&mut self, now_ns: u64) {
        if let Some((channel, 0)) = self.switch {
            self.settings.channel = channel;
            self.switch = None;
        }
        let (dtim_count, group) = self.sleep.beacon(self.settings.more.dtim_period);
        if self.director.beacons(now_ns) {
            let moment =
                Moment { dtim_count, group_kept: !group.is_empty(), kept: self.sleep.keeps(), switch: self.switch };
            let body = elements::beacon(&self.settings, now_ns, Some(moment));
            self.manage(now_ns, FrameKind::Beacon, MacAddr::BROADCAST, &body);
            self.counters.beacons += 1;
        }
        if let Some((_, left)) = &mut self.switch {
            *left = left.saturating_sub(1);
        }
        for frame in group {
            self.queue.push(frame);
        }
    }
}

impl Peers for Builtin {
    fn stations(&self) -> Vec<&dyn Station> {
        vec![self]
    }

    fn stations_mut(&mut self) -> Vec<&mut dyn Station> {
        vec![self]
    }

    fn advance(&mut self, now_ns: u64) {
        for moment in self.director.due(now_ns) {
            self.carry_out(now_ns, &moment);
        }
        if now_ns >= self.next_beacon_ns {
            self.next_beacon_ns = (now_ns / BEACON_INTERVAL_NS + 1) * BEACON_INTERVAL_NS;
            self.beacon(now_ns);
        }
        let (due, later) = std::mem::take(&mut self.later).into_iter().partition(|(at_ns, _)| *at_ns <= now_ns);
        self.later = later;
        for (_, frame) in due {
            self.push(frame);
        }
        if self.late.is_some_and(|late| late.due_ns <= now_ns) {
            self.send_late(now_ns);
        }
        let mut out = Vec::new();
        for reorder in self.reorders.iter_mut().flatten() {
            if reorder.gap_ends_ns().is_some_and(|at_ns| at_ns <= now_ns) {
                reorder.skip_gap(now_ns, &mut out);
            }
        }
        self.hand_on(out);
    }

    fn flush(&mut self, now_ns: u64) {
        let lost: Vec<u64> = self.done.iter().filter(|done| !done.acknowledged).map(|done| done.cookie).collect();
        self.counters.given_up += lost.len() as u64;
        self.done.clear();
        if let Some(&cookie) = lost.last() {
            self.given_up(now_ns, cookie);
        }
    }

    fn next_event(&self) -> Option<u64> {
        let later = self.later.iter().map(|(at_ns, _)| *at_ns);
        let reorders = self.reorders.iter().flatten().filter_map(Reorder::gap_ends_ns);
        let others = [self.director.next_event(), self.late.map(|late| late.due_ns), Some(self.next_beacon_ns)];
        later.chain(reorders).chain(others.into_iter().flatten()).min()
    }

    fn sources(&self, sources: &mut Vec<Source>) {
        let wanted = self.queue.len() + self.sleep.len() < QUEUE_MAX;
        sources.extend(self.wired.fd().map(|fd| Source { fd, wanted }));
    }

    fn readable(&mut self, now_ns: u64, _fd: RawFd) {
        while self.queue.len() + self.sleep.len() < QUEUE_MAX {
            let Some(ethernet) = self.wired.receive() else { return };
            self.ethernet_received(now_ns, &ethernet);
        }
    }

    fn statistics(&self) -> PeerStatistics {
        PeerStatistics::Builtin(BuiltinStatistics {
            kind: "builtin",
            wire: self.counters,
            associated: self.client.is_some(),
            channel: self.settings.channel,
            script: self.director.statistics(),
        })
    }

    fn save_state(&self, to: &mut Writer) -> Result<(), StateError> {
        self.save(to)
    }

    fn restore_state(&mut self, from: &mut Reader<'_>) -> Result<(), StateError> {
        self.restore(from)
    }
}

impl Station for Builtin {
    fn tuned(&self) -> Option<Tuned> {
        let width = if self.settings.wide { Bandwidth::Mhz40 } else { Bandwidth::Mhz20 };
        Tuned::channel(self.settings.channel).map(|tuned| Tuned { width, ..tuned })
    }

    fn ready_since(&self) -> Option<u64> {
        self.queue.ready_since()
    }

    fn access(&self) -> EdcaParameters {
        self.queue.access()
    }

    fn access_function(&self) -> usize {
        self.queue.access_function()
    }

    fn begin(&mut self, _now_ns: u64, _function: usize) -> Option<Ppdu> {
        self.queue.begin(self.agreements.down, self.agreements.down_window)
    }

    fn ended(&mut self, _now_ns: u64, _ppdu: Ppdu, outcome: &Outcome) {
        self.queue.ended(outcome, &mut self.done);
    }

    fn receive(&mut self, now_ns: u64, mpdu: &[u8], reception: &Reception) -> bool {
        let frame = Mpdu::new(mpdu);
        let to_us = frame.receiver() == Some(ADDRESS);
        if self.settings.more.strict_agreements && reception.ampdu.is_some() && !self.agreements.covers(mpdu) {
            return false;
        }
        match frame.frame_type() {
            Some(FrameType::Management) => self.manage_received(now_ns, mpdu, to_us) && to_us,
            Some(FrameType::Control) => to_us && self.control_received(now_ns, &frame),
            Some(FrameType::Data) => to_us && self.data_received(now_ns, mpdu, reception),
            _ => false,
        }
    }

    fn basic_rates(&self) -> Option<RateSet> {
        Some(RateSet::basic_of(&RATES))
    }
}
