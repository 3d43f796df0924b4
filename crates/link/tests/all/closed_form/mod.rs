//! Closed forms that the link is compared with: how saturated stations share a medium.
//!
//! - Bianchi, "Performance analysis of the IEEE 802.11 distributed coordination function", IEEE JSAC 18(3), 2000: the
//!   throughput of saturated stations that contend.
//! - Høiland-Jørgensen, Kazior, Täht, Hurtig, Brunstrom, "Ending the Anomaly", USENIX ATC 2017: the throughput of the
//!   stations of one access point, from the aggregates that they are sent.

/// Saturated stations of one access category that all hear each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Contenders {
    /// How many, 1 or more.
    pub stations: u32,
    /// Smallest contention window, slots (15: a backoff of 0 to 15 slots).
    pub cw_min: u32,
    /// Largest contention window, slots; it is doubled (plus 1) after each collision until it is that.
    pub cw_max: u32,
}

/// What contenders do at random.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Attempts {
    /// Probability that a station sends in a slot.
    pub attempt: f64,
    /// Probability that what it sends collides.
    pub collision: f64,
}

impl Contenders {
    /// Attempts per slot, by Bianchi's Markov chain without a retry limit (his equations 7 and 9).
    pub fn attempts(&self) -> Attempts {
        let window = f64::from(self.cw_min) + 1.0;
        let stages = ((f64::from(self.cw_max) + 1.0) / window).log2().round().max(0.0) as i32;
        let collision = |attempt: f64| 1.0 - (1.0 - attempt).powi(self.stations.saturating_sub(1) as i32);
        let attempt = |collision: f64| {
            let doublings: f64 = (0..stages).map(|stage| (2.0 * collision).powi(stage)).sum();
            2.0 / (1.0 + window + collision * window * doublings)
        };
        // The more one sends the more collide, and the more collide the less one sends: one crossing.
        let (mut low, mut high) = (0.0, 1.0);
        for _ in 0..100 {
            let middle = (low + high) / 2.0;
            if attempt(collision(middle)) > middle {
                low = middle;
            } else {
                high = middle;
            }
        }
        Attempts { attempt: low, collision: collision(low) }
    }

    /// Throughput of all of them together, Mbit/s (Bianchi's equation 13).
    pub fn throughput_mbit_s(&self, exchange: &Exchange, after_success: AfterSuccess) -> f64 {
        let Attempts { attempt, .. } = self.attempts();
        let others = (1.0 - attempt).powi(self.stations.saturating_sub(1) as i32);
        let idle = others * (1.0 - attempt);
        let success = f64::from(self.stations) * attempt * others;
        let (payload_bits, success_us) = match after_success {
            AfterSuccess::WaitsAsAll => (exchange.payload_bits, exchange.success_us),
            AfterSuccess::MayGoOn => {
                let no_backoff = 1.0 / (f64::from(self.cw_min) + 1.0);
                (
                    exchange.payload_bits / (1.0 - no_backoff),
                    exchange.success_us / (1.0 - no_backoff) + exchange.slot_us,
                )
            }
        };
        let mean_us = idle * exchange.slot_us + success * success_us + (1.0 - idle - success) * exchange.collision_us;
        success * payload_bits / mean_us
    }
}

/// Who may send in the slot that follows an exchange.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AfterSuccess {
    /// All, as in Bianchi's paper: every station counts a slot down after every exchange.
    #[default]
    WaitsAsAll,
    /// Only the one that has just sent, when it draws a backoff of 0; the others resume in the slot after. The tables that
    /// ns-3 is checked with (`src/wifi/examples/reference`) are made so.
    MayGoOn,
}

/// How long an exchange takes, from the slot boundary at which it begins to where the next slot begins.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Exchange {
    /// Payload that it carries.
    pub payload_bits: f64,
    /// Without other senders, µs.
    pub success_us: f64,
    /// When another station sends too, µs.
    pub collision_us: f64,
    /// A slot, µs.
    pub slot_us: f64,
}

/// What stations wait for after a collision.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AfterCollision {
    /// DIFS or AIFS.
    Ifs,
    /// As long as the response would have taken, and then DIFS or AIFS (EIFS, or the timeout of who has sent).
    Eifs,
}

/// The gaps of an [`Exchange`], µs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Gaps {
    /// SIFS.
    pub sifs_us: f64,
    /// DIFS, or AIFS of the access category.
    pub ifs_us: f64,
    /// A slot.
    pub slot_us: f64,
}

impl Exchange {
    /// A PPDU of `data_us` and its response of `response_us`.
    pub fn new(payload_bits: f64, data_us: f64, response_us: f64, gaps: Gaps, after_collision: AfterCollision) -> Self {
        let success_us = data_us + gaps.sifs_us + response_us + gaps.ifs_us;
        let collision_us = match after_collision {
            AfterCollision::Ifs => data_us + gaps.ifs_us,
            AfterCollision::Eifs => success_us,
        };
        Self { payload_bits, success_us, collision_us, slot_us: gaps.slot_us }
    }

    /// Throughput of a station that is alone, Mbit/s: each exchange comes after half the contention window on average.
    pub fn throughput_alone_mbit_s(&self, cw_min: u32) -> f64 {
        self.payload_bits / (self.success_us + f64::from(cw_min) / 2.0 * self.slot_us)
    }
}

/// A station of an access point, as "Ending the Anomaly" sees it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Served {
    /// Mean size of the aggregates it is sent, headers, delimiters, FCS and padding included, bytes.
    pub aggregate_bytes: f64,
    /// PHY rate, Mbit/s.
    pub rate_mbit_s: f64,
}

/// How an access point shares its medium.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sharing {
    /// Each station gets as many aggregates.
    Aggregates,
    /// Each station gets as much airtime.
    Airtime,
}

/// What a station gets.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Share {
    /// Part of the airtime, 0 to 1.
    pub airtime: f64,
    /// Throughput if it had all the airtime, Mbit/s.
    pub alone_mbit_s: f64,
    /// Throughput, Mbit/s.
    pub mbit_s: f64,
}

/// Constants of the paper, for 5 GHz: PHY header, DIFS, SIFS and mean backoff, µs, and the Block Ack, bytes.
const PAPER_PHY_US: f64 = 32.0;
const PAPER_DIFS_US: f64 = 34.0;
const PAPER_SIFS_US: f64 = 16.0;
const PAPER_BACKOFF_US: f64 = 9.0 * 15.0 / 2.0;
const PAPER_BLOCK_ACK_BYTES: f64 = 58.0;

/// Bytes that a packet of that many bytes takes in an aggregate: delimiter, MAC header and FCS with it, padded to four.
pub fn subframe_bytes(packet_bytes: f64) -> f64 {
    ((packet_bytes + 4.0 + 34.0 + 4.0) / 4.0).ceil() * 4.0
}

impl Served {
    /// Time on the air of an aggregate, µs.
    fn data_us(&self) -> f64 {
        PAPER_PHY_US + 8.0 * self.aggregate_bytes / self.rate_mbit_s
    }

    /// All that comes with it, µs.
    fn overhead_us(&self) -> f64 {
        let block_ack_us = PAPER_SIFS_US + 8.0 * PAPER_BLOCK_ACK_BYTES / self.rate_mbit_s;
        PAPER_DIFS_US + PAPER_SIFS_US + block_ack_us + PAPER_BACKOFF_US
    }
}

/// What each of the stations of an access point gets that sends packets of `packet_bytes` to all of them all the time, without
/// losses.
pub fn shares(stations: &[Served], packet_bytes: f64, sharing: Sharing) -> Vec<Share> {
    let all_us: f64 = stations.iter().map(Served::data_us).sum();
    let share = |station: &Served| {
        let airtime = match sharing {
            Sharing::Aggregates => station.data_us() / all_us,
            Sharing::Airtime => 1.0 / stations.len() as f64,
        };
        let payload_bits = 8.0 * packet_bytes * station.aggregate_bytes / subframe_bytes(packet_bytes);
        let alone_mbit_s = payload_bits / (station.data_us() + station.overhead_us());
        Share { airtime, alone_mbit_s, mbit_s: airtime * alone_mbit_s }
    };
    stations.iter().map(share).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use wire::phy::{ampdu_psdu_len, Bandwidth, Ht, Mode};

    const STATIONS: [u32; 6] = [5, 10, 15, 20, 30, 50];

    fn assert_row(name: &str, computed: impl Fn(u32) -> f64, expected: [f64; 6], tolerance: f64) {
        for (stations, expected) in STATIONS.into_iter().zip(expected) {
            let computed = computed(stations);
            let off = (computed / expected - 1.0).abs();
            assert!(off < tolerance, "{name}, {stations} stations: {computed} and not {expected}");
        }
    }

    /// Normalised throughputs with the parameters of Bianchi's paper (8184 bits at 1 Mbit/s), computed independently in
    /// Python from the closed sum of his equation 7.
    #[test]
    fn bianchi_with_his_own_parameters() {
        let (header, payload, ack, delay) = (272.0 + 128.0, 8184.0, 112.0 + 128.0, 1.0);
        let basic = Exchange {
            payload_bits: payload,
            success_us: header + payload + 28.0 + delay + ack + 128.0 + delay,
            collision_us: header + payload + 128.0 + delay,
            slot_us: 50.0,
        };
        let (rts, cts) = (160.0 + 128.0, 112.0 + 128.0);
        let with_rts = Exchange {
            success_us: rts + 28.0 + delay + cts + 28.0 + delay + basic.success_us,
            collision_us: rts + 128.0 + delay,
            ..basic
        };
        for (name, exchange, cw_min, stages, expected) in [
            ("W=32, m=3", basic, 31, 3, [0.8097, 0.7532, 0.7117, 0.6788, 0.6273, 0.5529]),
            ("W=32, m=5", basic, 31, 5, [0.8102, 0.7579, 0.7231, 0.6975, 0.6603, 0.6109]),
            ("W=128, m=3", basic, 127, 3, [0.8250, 0.8263, 0.8130, 0.7981, 0.7702, 0.7252]),
            ("RTS, W=32, m=3", with_rts, 31, 3, [0.8342, 0.8371, 0.8367, 0.8356, 0.8329, 0.8270]),
        ] {
            let cw_max = ((cw_min + 1) << stages) - 1;
            let of = |stations| Contenders { stations, cw_min, cw_max };
            let computed = |stations| of(stations).throughput_mbit_s(&exchange, AfterSuccess::WaitsAsAll);
            assert_row(name, computed, expected, 1e-4);
        }
    }

    /// The tables in ns-3's `src/wifi/examples/reference` (bianchi_11g_*.txt, bianchi_11b_*.txt; 1500 bytes), which a script
    /// with a grid for the attempt probability has made: they are true to 0.1 %.
    #[test]
    fn bianchi_as_ns3_checks_itself_with() {
        let symbols = |bytes: f64, bits: f64| 20.0 + 4.0 * ((16.0 + 6.0 + 8.0 * bytes) / bits).ceil();
        let ofdm = |data_bits: f64, ack_bits: f64, after| {
            let gaps = Gaps { sifs_us: 16.0, ifs_us: 34.0, slot_us: 9.0 };
            // 24 + 4 bytes of the MAC, and the 6 that the script counts for the layer above.
            Exchange::new(12_000.0, symbols(1534.0, data_bits), symbols(14.0, ack_bits), gaps, after)
        };
        let dsss = |data_us, ack_us, after| {
            Exchange::new(12_000.0, data_us, ack_us, Gaps { sifs_us: 10.0, ifs_us: 50.0, slot_us: 20.0 }, after)
        };
        use AfterCollision::{Eifs, Ifs};
        for (name, exchange, cw_min, expected) in [
            ("54 DIFS", ofdm(216.0, 96.0, Ifs), 15, [29.832, 28.152, 27.095, 26.293, 25.143, 23.562]),
            ("54 EIFS", ofdm(216.0, 96.0, Eifs), 15, [29.286, 27.376, 26.208, 25.333, 24.094, 22.416]),
            ("24 DIFS", ofdm(96.0, 96.0, Ifs), 15, [16.247, 15.143, 14.490, 14.007, 13.329, 12.414]),
            ("6 DIFS", ofdm(24.0, 24.0, Ifs), 15, [4.709, 4.345, 4.140, 3.990, 3.782, 3.507]),
            ("6 EIFS", ofdm(24.0, 24.0, Eifs), 15, [4.690, 4.320, 4.111, 3.959, 3.749, 3.471]),
            ("11 DIFS", dsss(1310.0, 248.0, Ifs), 31, [6.4734, 6.1774, 5.9553, 5.7819, 5.5289, 5.1745]),
            ("11 EIFS", dsss(1310.0, 248.0, Eifs), 31, [6.3821, 6.0269, 5.7718, 5.5765, 5.2958, 4.9103]),
            ("1 DIFS", dsss(12_480.0, 304.0, Ifs), 31, [0.8437, 0.7861, 0.7496, 0.7226, 0.6847, 0.6336]),
            ("1 EIFS", dsss(12_480.0, 304.0, Eifs), 31, [0.8418, 0.7831, 0.7460, 0.7186, 0.6802, 0.6285]),
        ] {
            let of = |stations| Contenders { stations, cw_min, cw_max: 1023 };
            let computed = |stations| of(stations).throughput_mbit_s(&exchange, AfterSuccess::MayGoOn);
            assert_row(name, computed, expected, 1.1e-3);
        }
    }

    /// A-MPDUs of MCS 7 at 20 MHz: 28 MPDUs of 1472 bytes of UDP fill 5.36 ms. ns-3 3.44 gives 51.2 (5 stations), 46.1 (10)
    /// and 42.4 (20), 59.61 for one.
    #[test]
    fn bianchi_with_aggregates() {
        let mode = Mode::Ht(Ht {
            mcs: 7,
            bandwidth: Bandwidth::Mhz20,
            short_gi: Some(false),
            greenfield: Some(false),
            ldpc: Some(false),
            stbc: Some(0),
            ness: 0,
        });
        let ofdm24 = Mode::Ofdm { rate_500kbps: 48, bandwidth: Bandwidth::Mhz20 };
        let us = |mode: &Mode, bytes| mode.duration(bytes, None).expect("a duration").ns as f64 / 1e3;
        let gaps = Gaps { sifs_us: 16.0, ifs_us: 43.0, slot_us: 9.0 };
        let exchange = |mpdus: usize| {
            let (psdu, response) =
                if mpdus == 1 { (1538, 14) } else { (ampdu_psdu_len(std::iter::repeat_n(1538, mpdus)), 32) };
            let payload_bits = 8.0 * 1472.0 * mpdus as f64;
            Exchange::new(payload_bits, us(&mode, psdu), us(&ofdm24, response), gaps, AfterCollision::Eifs)
        };
        for (mpdus, expected) in [(28, [59.75, 51.13, 46.79, 42.66]), (1, [30.79, 29.95, 27.87, 25.67])] {
            for (stations, expected) in [1, 5, 10, 20].into_iter().zip(expected) {
                let contenders = Contenders { stations, cw_min: 15, cw_max: 1023 };
                let computed = contenders.throughput_mbit_s(&exchange(mpdus), AfterSuccess::WaitsAsAll);
                assert!((computed - expected).abs() < 0.006, "{mpdus} MPDUs, {stations} stations: {computed}");
            }
        }
        assert!((exchange(28).throughput_alone_mbit_s(15) - 59.75).abs() < 0.005);
        let collision = Contenders { stations: 20, cw_min: 15, cw_max: 1023 }.attempts().collision;
        assert!((collision - 0.481).abs() < 5e-4, "{collision}");
    }

    /// The model's columns of the paper's table 1: two stations at 144.4 Mbit/s and one at 7.2, with the aggregates that were measured.
    #[test]
    fn the_anomaly_and_its_end() {
        let stations = |bytes: [f64; 3]| {
            let rates = [144.4, 144.4, 7.2];
            [0, 1, 2].map(|index| Served { aggregate_bytes: bytes[index], rate_mbit_s: rates[index] })
        };
        for (sharing, bytes, airtime, alone, mbit_s) in [
            (
                Sharing::Aggregates,
                [6892.0, 7833.0, 2914.0],
                [0.100, 0.112, 0.788],
                [97.3, 101.0, 6.5],
                [9.7, 11.3, 5.1],
            ),
            (Sharing::Airtime, [28_434.0, 28_557.0, 2914.0], [1.0 / 3.0; 3], [126.7, 126.8, 6.5], [42.2, 42.3, 2.2]),
        ] {
            for (index, share) in shares(&stations(bytes), 1500.0, sharing).into_iter().enumerate() {
                assert!((share.airtime - airtime[index]).abs() < 0.0006, "{sharing:?} {share:?}");
                assert!((share.alone_mbit_s - alone[index]).abs() < 0.1, "{sharing:?} {share:?}");
                assert!((share.mbit_s - mbit_s[index]).abs() < 0.1, "{sharing:?} {share:?}");
            }
        }
        assert_eq!(subframe_bytes(1500.0), 1544.0);
    }
}
