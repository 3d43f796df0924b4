//! What the waterfall makes of the time before responses that come late.

use crate::handmade::{Address, Handmade};
use txop_air::report::Report;

const STATION: Address = [2, 0, 0, 0, 0, 1];
const ACCESS_POINT: Address = [2, 0, 0, 0, 0, 2];
/// MPDUs, each with its ACK, 10 ms from one to the next.
const MPDUS: u64 = 100;
/// A late ACK begins so long after SIFS.
const LATE_US: u64 = 40;

/// What the MPDUs are sent with.
#[derive(Clone, Copy)]
enum Phy {
    /// 24 Mb/s: never more than one MPDU in a PPDU.
    Ofdm,
    /// MCS 3, 20 MHz: with subframes that were not captured, perhaps.
    Ht,
}

impl Phy {
    /// TSFT at the first bit and rate, 5,180 MHz.
    fn radiotap(self, at_us: u64) -> Vec<u8> {
        let (present, rate, mcs): (u32, u8, &[u8]) = match self {
            Self::Ofdm => (0x0f, 48, &[]),
            Self::Ht => (0x0f | 1 << 19, 0, &[0x27, 0x00, 3]),
        };
        let mut header = vec![0, 0, 22 + mcs.len() as u8, 0];
        header.extend(if mcs.is_empty() { present } else { present & !(1 << 2) }.to_le_bytes());
        header.extend(at_us.to_le_bytes());
        header.extend([0, rate]);
        header.extend(5_180u16.to_le_bytes());
        header.extend([0x40, 0x01]);
        header.extend(mcs);
        header
    }

    /// Time on the air of so many bytes: preamble, then SERVICE field and tail with them in symbols of 4 us.
    fn air_us(self, bytes: u64) -> u64 {
        let (preamble_us, bits) = match self {
            Self::Ofdm => (20, 96),
            Self::Ht => (36, 104),
        };
        preamble_us + (16 + 6 + 8 * bytes).div_ceil(bits) * 4
    }
}

/// Every `one_in`-th ACK is late.
fn report(phy: Phy, one_in: u64) -> Report {
    let mut capture = Handmade::on(5_180);
    for n in 0..MPDUS {
        let begin_us = n * 10_000;
        capture.behind(phy.radiotap(begin_us), 0x0108, [ACCESS_POINT, STATION, ACCESS_POINT], &[0; 1_000]);
        let late_us = if n % one_in == one_in - 1 { LATE_US } else { 0 };
        // MAC header and FCS have 28 bytes.
        let mut ack = Phy::Ofdm.radiotap(begin_us + phy.air_us(1_028) + 16 + late_us);
        ack.extend([0xd4, 0, 0, 0]);
        ack.extend(STATION);
        capture.same_instant();
        capture.raw(ack);
    }
    capture.report()
}

/// Time given to a cause in the waterfall of the station, us.
fn us(report: &Report, cause: &str) -> f64 {
    let row = report.waterfalls.iter().find(|row| row.ta == "02:00:00:00:00:01").expect("a waterfall");
    row.steps.iter().find(|step| step.cause == cause).expect("a cause").us
}

/// What ten late ACKs add, us: damaged or uncaptured; idle and spaces.
fn added(phy: Phy) -> (f64, f64) {
    let (in_time, late) = (report(phy, MPDUS + 1), report(phy, 10));
    let more = |cause| us(&late, cause) - us(&in_time, cause);
    (more("damaged"), more("idle") + more("ifs_backoff"))
}

#[test]
fn before_the_late_ack_of_a_single_mpdu_the_channel_is_idle() {
    let (damaged, idle) = added(Phy::Ofdm);
    // The capture ends with a late one; the others take their time from the pause behind them.
    assert!(damaged == 0.0 && (idle - LATE_US as f64).abs() < 1.0, "{damaged}, {idle}");
}

#[test]
fn before_the_late_ack_of_an_aggregate_subframes_may_be_missing() {
    let (damaged, idle) = added(Phy::Ht);
    // A slot is allowed beside SIFS.
    let missing = 10.0 * (LATE_US - 9) as f64;
    assert!((damaged - missing).abs() < 1.0 && (idle - LATE_US as f64 + missing).abs() < 1.0, "{damaged}, {idle}");
}
