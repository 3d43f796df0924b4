//! Times of an exchange in both bands, and a change from one to the other.

use wire::phy::{AccessCategory, Bandwidth, EdcaParameters, Mode};

use super::rates::vht;
use super::{ChannelSettings, Medium, Outcome, Ppdu, Protection, Reception, Response, Station, Tuned};

/// Sends what it is given, and answers what it hears.
struct End {
    tuned: Tuned,
    outbox: Vec<Ppdu>,
    began_ns: u64,
    lasted_ns: Vec<u64>,
}

impl Station for End {
    fn tuned(&self) -> Option<Tuned> {
        Some(self.tuned)
    }
    fn ready_since(&self) -> Option<u64> {
        (!self.outbox.is_empty()).then_some(self.began_ns)
    }
    fn access(&self) -> EdcaParameters {
        EdcaParameters::default_for(AccessCategory::BestEffort)
    }
    fn begin(&mut self, now_ns: u64, _function: usize) -> Option<Ppdu> {
        self.began_ns = now_ns;
        self.outbox.pop()
    }
    fn ended(&mut self, now_ns: u64, _ppdu: Ppdu, outcome: &Outcome) {
        assert_eq!(outcome.acknowledged, [true]);
        self.lasted_ns.push(now_ns - self.began_ns);
    }
    fn receive(&mut self, _now_ns: u64, _mpdu: &[u8], _reception: &Reception) -> bool {
        true
    }
}

fn at(frequency_mhz: u16) -> End {
    let tuned = Tuned { frequency_mhz, width: Bandwidth::Mhz20 };
    End { tuned, outbox: Vec::new(), began_ns: 0, lasted_ns: Vec::new() }
}

/// How long an exchange of one MPDU of 100 bytes and its acknowledgement lasts, µs.
fn exchange_us(medium: &mut Medium, chip: &mut End, peer: &mut End, mode: Mode) -> u64 {
    let mut mpdu = vec![0; 100];
    (mpdu[0], mpdu[4], mpdu[10]) = (0x88, 2, 2);
    let (protection, response) = (Protection::None, Response::Ack);
    chip.outbox.push(Ppdu { mode, mpdus: vec![mpdu], aggregated: false, protection, response });
    let before = chip.lasted_ns.len();
    while chip.lasted_ns.len() == before {
        let next_ns = medium.next_event(chip, &[peer]).expect("it waits to send");
        medium.advance(next_ns, chip, &mut [peer]);
    }
    chip.lasted_ns[before] / 1_000
}

#[test]
fn exchanges_last_as_long_as_the_band_has_it() {
    let (mut chip, mut peer) = (at(5_180), at(5_180));
    let mut medium = Medium::new(ChannelSettings::default(), 1, None);
    let ofdm = Mode::from_legacy_rate(48, Some(false)).unwrap();
    // 24 Mbit/s: 20 us and 9 symbols for 104 bytes with FCS, 2 for an acknowledgement; SIFS is 16 us.
    assert_eq!(exchange_us(&mut medium, &mut chip, &mut peer, ofdm), 56 + 16 + 28);
    // VHT MCS 0: 40 us, and 35 symbols for 108 bytes: one MPDU is an A-MPDU, with a delimiter (without: 33). The answer at 6 Mbit/s.
    let vht = vht(0, Bandwidth::Mhz20, false);
    assert_eq!(exchange_us(&mut medium, &mut chip, &mut peer, vht), 180 + 16 + 44);
    // To 2.4 GHz: SIFS is 10 us, and 6 us of signal extension follow a PPDU of OFDM, but none of DSSS.
    (chip.tuned, peer.tuned) = (at(2_437).tuned, at(2_437).tuned);
    assert_eq!(exchange_us(&mut medium, &mut chip, &mut peer, ofdm), 56 + 6 + 10 + 28);
    let dsss = Mode::from_legacy_rate(22, Some(false)).unwrap();
    assert_eq!(exchange_us(&mut medium, &mut chip, &mut peer, dsss), 268 + 10 + 203);
    // And back.
    (chip.tuned, peer.tuned) = (at(5_745).tuned, at(5_745).tuned);
    assert_eq!(exchange_us(&mut medium, &mut chip, &mut peer, ofdm), 56 + 16 + 28);
}
