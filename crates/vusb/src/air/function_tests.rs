//! Several channel access functions of a station, and exchanges of one TXOP.

use wire::phy::{Bandwidth, EdcaParameters, Mode};

use super::{ChannelSettings, Contender, Medium, Outcome, Ppdu, Protection, Reception, Response, Station, Tuned};

/// Sends what its functions are given; all have the same parameters.
#[derive(Default)]
struct Several {
    outboxes: [Vec<Ppdu>; 5],
    ecw_min: u8,
    txop_limit_ns: Option<u64>,
    /// Function and time of each turn.
    turns: Vec<(usize, u64)>,
    /// The same of each exchange that followed in the TXOP.
    followed: Vec<(usize, u64)>,
}

impl Station for Several {
    fn tuned(&self) -> Option<Tuned> {
        Some(Tuned { frequency_mhz: 5_180, width: Bandwidth::Mhz20 })
    }
    fn ready_since(&self) -> Option<u64> {
        None
    }
    fn access(&self) -> EdcaParameters {
        EdcaParameters { aifsn: 3, ecw_min: self.ecw_min, ecw_max: 10, txop_limit_32us: 0 }
    }
    fn contenders(&self, visit: &mut dyn FnMut(Contender)) {
        for (function, outbox) in self.outboxes.iter().enumerate() {
            if !outbox.is_empty() {
                visit(Contender { function, since_ns: 0, access: self.access(), retry_limit: 7 });
            }
        }
    }
    fn begin(&mut self, now_ns: u64, function: usize) -> Option<Ppdu> {
        self.turns.push((function, now_ns));
        self.outboxes[function].pop()
    }
    fn txop_limit_ns(&self, _function: usize) -> Option<u64> {
        self.txop_limit_ns
    }
    fn go_on(&mut self, now_ns: u64, function: usize, fits: &mut dyn FnMut(&Ppdu) -> bool) -> Option<Ppdu> {
        if !self.outboxes[function].last().is_some_and(fits) {
            return None;
        }
        self.followed.push((function, now_ns));
        self.outboxes[function].pop()
    }
    fn ended(&mut self, _now_ns: u64, _ppdu: Ppdu, outcome: &Outcome) {
        assert_eq!(outcome.acknowledged, [true]);
    }
    fn receive(&mut self, _now_ns: u64, _mpdu: &[u8], _reception: &Reception) -> bool {
        true
    }
}

/// An exchange of 100 us in 5 GHz: see `band_tests`.
fn ppdu() -> Ppdu {
    let mut mpdu = vec![0; 100];
    (mpdu[0], mpdu[4], mpdu[10]) = (0x88, 2, 2);
    let mode = Mode::from_legacy_rate(48, Some(false)).unwrap();
    Ppdu { mode, mpdus: vec![mpdu], aggregated: false, protection: Protection::None, response: Response::Ack }
}

fn send_all(chip: &mut Several) {
    let (mut peer, mut medium) = (Several::default(), Medium::new(ChannelSettings::default(), 1, None));
    while let Some(next_ns) = medium.next_event(chip, &[&peer]) {
        medium.advance(next_ns, chip, &mut [&mut peer]);
    }
    assert_eq!(medium.counters().collisions, 0);
}

/// A TXOP of 250 us holds two exchanges, SIFS apart (16 us). Another backoff follows.
#[test]
fn a_txop_has_as_many_exchanges_as_fit_whole() {
    let mut chip = Several { ecw_min: 4, txop_limit_ns: Some(250_000), ..Several::default() };
    chip.outboxes[1] = vec![ppdu(); 5];
    send_all(&mut chip);
    let (turns, followed) = (&chip.turns, &chip.followed);
    assert_eq!((turns.len(), followed.len()), (3, 2));
    for at in 0..2 {
        assert_eq!(followed[at].1 - turns[at].1, 116_000);
        assert!(turns[at + 1].1 - followed[at].1 >= 100_000 + 16_000 + 3 * 9_000, "SIFS and AIFSN before the backoff");
    }
}

/// With the turn at the same time the function with the higher number sends; the other one draws from a longer window.
#[test]
fn functions_of_a_station_do_not_collide_on_the_air() {
    let mut chip = Several::default();
    (chip.outboxes[1], chip.outboxes[3]) = (vec![ppdu(); 3], vec![ppdu(); 3]);
    send_all(&mut chip);
    assert_eq!(chip.turns.len(), 6);
    assert_eq!((chip.turns[0].0, chip.followed.len()), (3, 0));
    assert!(chip.turns.windows(2).all(|pair| pair[1].1 >= pair[0].1 + 100_000 + 16_000 + 3 * 9_000));
}
