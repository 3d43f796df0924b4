//! HyStart: when slow start has found the capacity (Ha and Rhee, "Taming the elephants: New TCP slow start", Computer
//! Networks 55, 2011), with the constants of Linux' `net/ipv4/tcp_cubic.c`.

use super::congestion::Ack;

/// It does not look before the window has as many segments.
const LOW_WINDOW: f64 = 16.0;
/// RTT samples of a round that are looked at.
const SAMPLES: u32 = 8;
/// ACKs that are not further apart belong to one train.
const TRAIN_SPACING_NS: u64 = 2_000_000;
/// The delay of a round must grow by an eighth of the least delay, within these bounds.
const DELAY_GROWTH_NS: (u64, u64) = (4_000_000, 16_000_000);

/// State of one slow start.
#[derive(Clone, Debug, Default)]
pub(crate) struct HyStart {
    round: Option<Round>,
}

#[derive(Clone, Copy, Debug)]
struct Round {
    began_ns: u64,
    /// The round ends when this segment is acknowledged.
    end: u64,
    last_ack_ns: u64,
    samples: u32,
    rtt_ns: u64,
}

impl HyStart {
    /// Whether slow start should end.
    pub(crate) fn on_ack(&mut self, ack: &Ack, cwnd: f64) -> bool {
        let begin =
            Round { began_ns: ack.now_ns, end: ack.next, last_ack_ns: ack.now_ns, samples: 0, rtt_ns: u64::MAX };
        let round = self.round.get_or_insert(begin);
        if ack.una > round.end {
            *round = begin;
        }
        let (Some(rtt_ns), Some(min_ns)) = (ack.rtt_ns, ack.min_rtt_ns) else { return false };
        if cwnd < LOW_WINDOW {
            return false;
        }
        // The train of ACKs is as long as half of the path: as much is under way as fits. A millisecond at most is put on
        // top for what ACKs of large bursts are late.
        if ack.now_ns - round.last_ack_ns <= TRAIN_SPACING_NS {
            round.last_ack_ns = ack.now_ns;
            let burst_ns = ack.pacing_rate.map_or(0.0, |rate| 4.0 * 65_536.0 * 1e9 / rate).min(1e6) as u64;
            if ack.now_ns - round.began_ns > (min_ns + burst_ns) / 2 {
                return true;
            }
        }
        round.rtt_ns = round.rtt_ns.min(rtt_ns);
        if round.samples < SAMPLES {
            round.samples += 1;
            return false;
        }
        round.rtt_ns > min_ns + (min_ns / 8).clamp(DELAY_GROWTH_NS.0, DELAY_GROWTH_NS.1)
    }
}
