//! Rates of retries: those of the rate control's chain, or one rate lower with each try.

use txop_link::{
    AccessCategory, Counters, HostId, Link, Medium, Packet, RateControl, RetryRates, Scenario, Sink, Station, WlanLink,
};

#[derive(Clone)]
struct Datagram;

impl Packet for Datagram {
    fn size_bytes(&self) -> usize {
        1_500
    }

    fn write_bytes(&self, out: &mut Vec<u8>, limit: usize) {
        out.resize(out.len() + limit.min(1_500), 0);
    }
}

struct Discard;

impl Sink<Datagram> for Discard {
    fn deliver(&mut self, _at_ns: u64, _to: HostId, _packet: Datagram) {}
}

/// A saturated access point and one station, for 2 s.
fn down(retry_rates: RetryRates, rate_control: RateControl, mpdu_error_rate: f64) -> Counters {
    let ap = Station {
        short_gi: false,
        retry_limit: 15,
        count_unanswered: true,
        mpdu_error_rate,
        retry_rates,
        rate_control,
        ..Station::default()
    };
    let medium = Medium { beacons: false, ..Medium::default() };
    let mut link = WlanLink::new(Scenario { seed: 1, ap, medium, ..Scenario::default() }).expect("a scenario");
    for tick in 0..2_000_000 / 150 {
        let now_ns = tick * 150_000;
        link.advance(now_ns, &mut Discard);
        let _ = link.offer(now_ns, HostId(0), HostId(1), Datagram);
    }
    link.counters()
}

fn us_per_mpdu(counters: &Counters) -> f64 {
    let row = counters.stations[0].down.categories.of(AccessCategory::BestEffort);
    row.airtime_ns as f64 / row.mpdus as f64 / 1e3
}

#[test]
fn what_is_sent_again_takes_its_aggregate_one_rate_down() {
    let [chain, stepwise] = [RetryRates::Chain, RetryRates::Stepwise].map(|rates| down(rates, RateControl::Fixed, 0.1));
    let (fast, slow) = (us_per_mpdu(&chain), us_per_mpdu(&stepwise));
    // 1,538 bytes at MCS 7 take 189 µs, at MCS 6 210 and at MCS 5 237; nearly every PPDU has something of the one before.
    assert!((189.0..200.0).contains(&fast) && (205.0..245.0).contains(&slow), "{fast:.1} {slow:.1}");
    assert!(stepwise.stations[0].down.given_up == 0 && stepwise.stations[0].down.retries > 100, "{stepwise:?}");
}

#[test]
fn without_losses_both_are_the_same() {
    let [chain, stepwise] = [RetryRates::Chain, RetryRates::Stepwise].map(|rates| down(rates, RateControl::Fixed, 0.0));
    assert_eq!(chain.stations[0].down, stepwise.stations[0].down);
}

/// Frames that only went down with an older one count as lost at the rate above, so that it looks worse than it is.
#[test]
fn rate_control_takes_what_went_down_for_lost() {
    let [chain, stepwise] =
        [RetryRates::Chain, RetryRates::Stepwise].map(|rates| us_per_mpdu(&down(rates, RateControl::MinstrelHt, 0.1)));
    let pinned = us_per_mpdu(&down(RetryRates::Stepwise, RateControl::Fixed, 0.1));
    assert!(chain < 200.0 && stepwise > pinned, "{chain:.1} {stepwise:.1} {pinned:.1}");
}
