//! A third station on the channel, with an access point of its own: what it takes of the air is not there for others.

use wire::ieee80211::body::LLC_SNAP;
use wire::ieee80211::{FrameControl, Header, MacAddr, QosControl, Seq};
use wire::ip::ETHERTYPE_IPV4;
use wire::phy::{AccessCategory, Bandwidth, EdcaParameters, Mode};

use super::{Outcome, Ppdu, Protection, Reception, Response, Station, Tuned};

/// Payload of a frame: a full-sized packet.
const PACKET_BYTES: usize = 1_500;
/// Packets that wait at most; more are dropped.
const WAITING_MAX: u64 = 100;
/// How often a frame is sent at most: dot11ShortRetryLimit's default and the first time.
const ATTEMPTS: u8 = 8;
/// 54 Mbit/s: the fastest that any network of this band since 802.11g understands.
const RATE_500KBPS: u8 = 108;
/// Locally administered.
const ADDRESS: MacAddr = MacAddr([2, 0, 0, 0, 0x4e, 1]);
const ITS_AP: MacAddr = MacAddr([2, 0, 0, 0, 0x4e, 2]);

/// A station that sends packets to its own access point at a given rate.
#[derive(Debug, serde::Serialize, serde::Deserialize)]
pub struct Neighbour {
    interval_ns: u64,
    /// When the next packet comes.
    next_ns: u64,
    waiting: u64,
    since_ns: u64,
    sequence: u16,
    attempts: u8,
    tuned: Option<Tuned>,
}

impl Neighbour {
    /// Offers this many Mbit/s of 1500-byte packets.
    pub fn new(mbit_s: f64) -> Self {
        let interval_ns = (PACKET_BYTES as f64 * 8_000.0 / mbit_s.clamp(0.001, 1_000.0)) as u64;
        Self { interval_ns, next_ns: 0, waiting: 0, since_ns: 0, sequence: 0, attempts: 0, tuned: None }
    }

    /// Takes the packets that have come by `now_ns`. The neighbour is where the access point is.
    pub(super) fn arrive(&mut self, now_ns: u64, tuned: Option<Tuned>) {
        self.tuned = tuned;
        if self.next_ns == 0 {
            self.next_ns = now_ns + self.interval_ns;
        }
        while self.next_ns <= now_ns {
            if self.waiting == 0 {
                self.since_ns = self.next_ns;
            }
            let behind = (now_ns - self.next_ns) / self.interval_ns;
            // Those that find no room are skipped at once: the clock may have jumped.
            let taken = (behind + 1).min((WAITING_MAX - self.waiting).max(1));
            self.waiting = (self.waiting + taken).min(WAITING_MAX);
            self.next_ns += self.interval_ns * if self.waiting == WAITING_MAX { behind + 1 } else { taken };
        }
    }

    /// When something of its own happens next.
    pub(super) fn next_ns(&self) -> Option<u64> {
        (self.waiting == 0 && self.next_ns > 0).then_some(self.next_ns)
    }
}

impl Station for Neighbour {
    fn tuned(&self) -> Option<Tuned> {
        self.tuned
    }

    fn ready_since(&self) -> Option<u64> {
        (self.waiting > 0 && self.tuned.is_some()).then_some(self.since_ns)
    }

    fn access(&self) -> EdcaParameters {
        EdcaParameters::default_for(AccessCategory::BestEffort)
    }

    fn begin(&mut self, _now_ns: u64, _function: usize) -> Option<Ppdu> {
        let mode = Mode::Ofdm { rate_500kbps: RATE_500KBPS, bandwidth: Bandwidth::Mhz20 };
        let fc = FrameControl::default().with_to_ds(true).with_retry(self.attempts > 0);
        let qos = Some(QosControl::new(AccessCategory::BestEffort.tid()));
        let mut mpdu = Vec::new();
        Header::data(fc, [ITS_AP, ADDRESS, ITS_AP], Seq::new(self.sequence), qos).emit(&mut mpdu);
        mpdu.extend(LLC_SNAP);
        mpdu.extend(ETHERTYPE_IPV4.to_be_bytes());
        mpdu.resize(mpdu.len() + PACKET_BYTES, 0);
        let (protection, response) = (Protection::None, Response::Ack);
        Some(Ppdu { mode, mpdus: vec![mpdu], aggregated: false, protection, response })
    }

    fn ended(&mut self, now_ns: u64, _ppdu: Ppdu, outcome: &Outcome) {
        self.attempts += 1;
        if self.attempts >= ATTEMPTS || outcome.acknowledged.iter().all(|&it| it) {
            self.waiting = self.waiting.saturating_sub(1);
            self.since_ns = now_ns;
            self.attempts = 0;
            self.sequence = (self.sequence + 1) & 0x0fff;
        }
    }

    fn receive(&mut self, _now_ns: u64, _mpdu: &[u8], _reception: &Reception) -> bool {
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packets_come_at_the_rate_and_wait_within_bounds() {
        // 12 Mbit/s: one packet in a millisecond.
        let mut neighbour = Neighbour::new(12.0);
        neighbour.arrive(1_000, Tuned::channel(6));
        assert_eq!((neighbour.ready_since(), neighbour.next_ns()), (None, Some(1_001_000)));
        neighbour.arrive(3_500_000, Tuned::channel(6));
        assert_eq!((neighbour.waiting, neighbour.ready_since()), (3, Some(1_001_000)));
        neighbour.arrive(3_600_000_000_000, Tuned::channel(6));
        assert_eq!(neighbour.waiting, WAITING_MAX);
        assert!(neighbour.next_ns > 3_600_000_000_000 && neighbour.next_ns <= 3_600_001_001_000);
        neighbour.arrive(3_600_000_000_000, None);
        assert_eq!(neighbour.ready_since(), None);
    }

    #[test]
    fn a_frame_is_tried_eight_times() {
        let mut neighbour = Neighbour::new(12.0);
        neighbour.arrive(1, Tuned::channel(6));
        neighbour.arrive(2_500_000, Tuned::channel(6));
        for attempt in 0..ATTEMPTS {
            let ppdu = neighbour.begin(0, 0).expect("a packet");
            assert_eq!(ppdu.mpdus[0][1] & 0x08 != 0, attempt > 0);
            assert_eq!(neighbour.waiting, 2);
            neighbour.ended(7, ppdu, &Outcome { acknowledged: vec![false], sent: true });
        }
        assert_eq!((neighbour.waiting, neighbour.sequence, neighbour.attempts), (1, 1, 0));
    }
}
