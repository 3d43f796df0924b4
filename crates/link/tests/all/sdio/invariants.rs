//! What holds for all settings and all traffic.

use proptest::prelude::*;
use txop_link::engine::{HostId, Link, Offer, Packet, Sink};
use txop_link::sdio::{Hif, Interrupts, PowerSave, ProcessRuns, SdioLink, SdioSettings, NEAR_HOST};

use super::flow::Sized;

#[derive(Clone, Debug, Default, PartialEq)]
struct Seen {
    delivered: Vec<(u64, HostId, u64)>,
    freed: Vec<(u64, HostId, u64)>,
}

impl Sink<Sized> for Seen {
    fn deliver(&mut self, at_ns: u64, to: HostId, packet: Sized) {
        self.delivered.push((at_ns, to, packet.tag));
    }

    fn freed(&mut self, at_ns: u64, from: HostId, packet: &Sized) {
        assert!(packet.size_bytes() > 0);
        self.freed.push((at_ns, from, packet.tag));
    }
}

type Offers = Vec<(u64, bool, usize)>;

fn run(settings: &SdioSettings, offers: &Offers, fine: bool) -> (Seen, Vec<u64>, SdioLink<Sized>) {
    let mut link = SdioLink::new(settings.clone()).expect("settings");
    let (mut seen, mut accepted, mut now_ns) = (Seen::default(), Vec::new(), 0);
    let queued = |link: &SdioLink<Sized>| link.queued(NEAR_HOST) + link.queued(HostId::SERVER);
    for (tag, &(gap_ns, is_up, size)) in offers.iter().enumerate() {
        now_ns += gap_ns;
        while let Some(next_ns) = link.next_event().filter(|&ns| fine && ns <= now_ns) {
            link.advance(next_ns, &mut seen);
        }
        link.advance(now_ns, &mut seen);
        let (from, to) = if is_up { (NEAR_HOST, HostId::SERVER) } else { (HostId::SERVER, NEAR_HOST) };
        if link.offer(now_ns, from, to, Sized { size, tag: tag as u64 }) == Offer::Accepted {
            accepted.push(tag as u64);
        }
        assert_eq!(accepted.len(), seen.delivered.len() + queued(&link));
    }
    // Polling and beacons go on forever.
    while queued(&link) > 0 {
        link.advance(link.next_event().expect("packets are under way"), &mut seen);
    }
    (seen, accepted, link)
}

fn any_settings() -> impl Strategy<Value = SdioSettings> {
    let interrupts = prop::sample::select(vec![Interrupts::Polling, Interrupts::Sdio, Interrupts::Single]);
    let host = (interrupts, any::<bool>(), any::<bool>(), prop::sample::select(vec![100u32, 250, 1_000]), 1u32..20);
    let bus = (1u32..50, any::<bool>(), 1u32..600, any::<bool>());
    let card = (1u32..6, 1u32..6, 1u32..4);
    let radio = (1u32..60, 0u32..2_000, 1u32..20, prop::option::of((0.0f64..0.5, 0u32..20_000)));
    let messages = (1u32..9, 1u32..9, any::<bool>(), any::<bool>(), 1u32..9, 0u32..2, any::<bool>());
    (host, bus, card, radio, messages, any::<u64>()).prop_map(|(host, bus, card, radio, messages, seed)| {
        let mut settings = SdioSettings { seed, ..SdioSettings::default() };
        settings.host.interrupts = host.0;
        settings.host.hif = if host.1 { Hif::Synchronous } else { Hif::Asynchronous };
        (settings.host.pio, settings.host.hz, settings.host.queue_packets) = (host.2, host.3, host.4);
        (settings.bus.clock_mhz, settings.bus.width) = (f64::from(bus.0), if bus.1 { 1 } else { 4 });
        (settings.bus.block_bytes, settings.bus.pads_to_blocks) = (bus.2, bus.3);
        (settings.card.receive_frames, settings.card.send_frames, settings.card.frames_per_interrupt) = card;
        (settings.radio.mbit_s, settings.radio.queue_packets) = (f64::from(radio.0), radio.2);
        settings.radio.downlink_overhead_us = f64::from(radio.1);
        (settings.card.read_bundle, settings.card.write_bundle) = (messages.0, messages.1);
        (settings.card.reports_credits, settings.host.rereads_status) = (messages.2, messages.3);
        (settings.radio.frames_per_turn, settings.host.late_ticks) = (messages.4, messages.5);
        settings.host.process_runs = if messages.6 { ProcessRuns::AfterService } else { ProcessRuns::AfterCommand };
        settings.radio.power_save = radio.3.map(|(missed_beacon_rate, awake_us)| PowerSave {
            missed_beacon_rate,
            awake_us,
            ..PowerSave::default()
        });
        settings
    })
}

fn any_offers() -> impl Strategy<Value = Offers> {
    let gap = prop_oneof![4 => 0u64..3_000_000, 2 => Just(0u64), 1 => 0u64..150_000_000];
    prop::collection::vec((gap, any::<bool>(), prop_oneof![Just(52usize), Just(1_500)]), 1..80)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, ..ProptestConfig::default() })]

    #[test]
    fn nothing_is_lost_and_order_is_kept(settings in any_settings(), offers in any_offers()) {
        let (seen, accepted, link) = run(&settings, &offers, true);
        let sorted = |tags: &[(u64, HostId, u64)]| {
            let mut tags: Vec<u64> = tags.iter().map(|tag| tag.2).collect();
            tags.sort_unstable();
            tags
        };
        prop_assert_eq!(&sorted(&seen.delivered), &accepted);
        prop_assert_eq!(&sorted(&seen.freed), &accepted);
        for host in [HostId::SERVER, NEAR_HOST] {
            let to: Vec<_> = seen.delivered.iter().filter(|d| d.1 == host).collect();
            prop_assert!(to.windows(2).all(|pair| pair[0].0 <= pair[1].0 && pair[0].2 < pair[1].2));
        }
        let counters = link.counters();
        let (up, down) = (counters.uplink, counters.downlink);
        prop_assert_eq!(up.packets_offered, up.packets_delivered + up.queue_full);
        prop_assert_eq!(down.packets_offered, down.packets_delivered + down.queue_full);
        prop_assert!(counters.polls_found <= counters.polls && counters.polls_found <= counters.services);
    }

    /// A process that runs only after a service is not woken more often, and nothing else changes.
    #[test]
    fn a_process_that_runs_later_is_woken_less_often(settings in any_settings(), offers in any_offers()) {
        let seen = |process_runs| {
            let mut settings = settings.clone();
            settings.host.process_runs = process_runs;
            let (seen, _, link) = run(&settings, &offers, true);
            let mut at: Vec<u64> = seen.delivered.iter().filter(|d| d.1 == NEAR_HOST).map(|d| d.0).collect();
            at.dedup();
            let up: Vec<_> = seen.delivered.into_iter().filter(|d| d.1 == HostId::SERVER).collect();
            (at.len(), up, link.counters().commands)
        };
        let (command, service) = (seen(ProcessRuns::AfterCommand), seen(ProcessRuns::AfterService));
        prop_assert!(service.0 <= command.0);
        prop_assert_eq!(service.1, command.1);
    }

    /// What may go together takes no more commands.
    #[test]
    fn bundles_save_commands(settings in any_settings(), frames in 1usize..60) {
        let offers: Offers = (0..frames).map(|_| (0, true, 1_500)).collect();
        let commands = |write_bundle| {
            let mut settings = settings.clone();
            settings.card.write_bundle = write_bundle;
            settings.host.interrupts = Interrupts::Single;
            settings.card.reports_credits = false;
            settings.bus.pads_to_blocks = true;
            run(&settings, &offers, true).2.counters().commands
        };
        prop_assert!(commands(8) <= commands(1));
    }

    /// Whoever drives it, in small steps or large ones.
    #[test]
    fn the_same_offers_give_the_same_events(settings in any_settings(), offers in any_offers()) {
        let (fine, _, fine_link) = run(&settings, &offers, true);
        let (coarse, _, coarse_link) = run(&settings, &offers, false);
        prop_assert_eq!(fine, coarse);
        prop_assert_eq!(fine_link.counters(), coarse_link.counters());
    }
}
