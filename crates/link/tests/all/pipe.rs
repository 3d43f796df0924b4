//! The pipe: nothing comes out that did not go in, in order, in time, and every buffer is freed once.

use proptest::prelude::*;
use txop_link::engine::{DropCause, HostId, Link, Offer, Packet, Sink};
use txop_link::{Pipe, PipeSettings, PipeUp};

#[derive(Clone, Debug, PartialEq)]
struct Numbered(u64, usize);

impl Packet for Numbered {
    fn size_bytes(&self) -> usize {
        self.1
    }

    fn write_bytes(&self, _out: &mut Vec<u8>, _limit: usize) {}
}

#[derive(Default)]
struct Log {
    delivered: Vec<(u64, HostId, u64)>,
    freed: Vec<u64>,
    dropped: Vec<u64>,
}

impl Sink<Numbered> for Log {
    fn deliver(&mut self, at_ns: u64, to: HostId, packet: Numbered) {
        self.delivered.push((at_ns, to, packet.0));
    }

    fn freed(&mut self, _at_ns: u64, _from: HostId, packet: &Numbered) {
        self.freed.push(packet.0);
    }

    fn dropped(&mut self, _at_ns: u64, _from: HostId, packet: &Numbered, cause: DropCause) {
        assert_eq!(cause, DropCause::RetryLimit);
        self.dropped.push(packet.0);
    }
}

#[test]
fn rate_delay_and_queue() {
    let settings = PipeSettings {
        rate_mbit_s: Some(12.0),
        delay_ms: 5.0,
        queue_packets: 2,
        up: Some(PipeUp { rate_mbit_s: Some(1.2), ..PipeUp::default() }),
        ..PipeSettings::default()
    };
    let mut pipe = Pipe::new(settings).unwrap();
    let (server, station) = (HostId(0), HostId(1));
    // One is being sent and two wait; the fourth is dropped.
    for number in 0..4 {
        let offer = pipe.offer(1_000, server, station, Numbered(number, 1500));
        let full = Offer::Dropped(DropCause::QueueFull);
        assert_eq!(offer, if number < 3 { Offer::Accepted } else { full });
    }
    assert_eq!(pipe.offer(1_000, station, server, Numbered(9, 150)), Offer::Accepted);
    let mut log = Log::default();
    while let Some(at_ns) = pipe.next_event() {
        pipe.advance(at_ns, &mut log);
    }
    // A millisecond each at 12 Mbit/s; 150 bytes at 1.2 Mbit/s as well.
    let at = |ms: u64| 1_000 + ms * 1_000_000;
    let mut want = vec![(at(6), station, 0), (at(6), server, 9), (at(7), station, 1), (at(8), station, 2)];
    want.sort_unstable();
    log.delivered.sort_unstable();
    assert_eq!(log.delivered, want);
}

#[test]
fn impossible_settings_are_refused_by_name() {
    let refused = |settings: PipeSettings| Pipe::<Numbered>::new(settings).unwrap_err().key;
    let ok = PipeSettings::default();
    assert_eq!(refused(PipeSettings { stations: 0, ..ok }), "pipe.stations");
    assert_eq!(refused(PipeSettings { rate_mbit_s: Some(0.0), ..ok }), "pipe.rate_mbit_s");
    assert_eq!(refused(PipeSettings { rate_mbit_s: Some(f64::NAN), ..ok }), "pipe.rate_mbit_s");
    assert_eq!(refused(PipeSettings { delay_ms: -1.0, ..ok }), "pipe.delay_ms");
    assert_eq!(refused(PipeSettings { loss: 1.5, ..ok }), "pipe.loss");
    let up = PipeUp { loss: Some(-0.1), ..PipeUp::default() };
    assert_eq!(refused(PipeSettings { up: Some(up), ..ok }), "pipe.up.loss");
}

proptest! {
    #[test]
    fn what_comes_out_went_in(
        rate in prop::option::of(0.1f64..1000.0),
        delay_ms in 0.0f64..20.0,
        queue_packets in 1u32..20,
        loss in prop_oneof![Just(0.0), 0.0f64..0.5],
        packets in prop::collection::vec((0u64..2_000_000, 0u16..4, 0u16..4, 1usize..1500), 1..100),
    ) {
        let settings = PipeSettings { stations: 3, rate_mbit_s: rate, delay_ms, queue_packets, loss, ..PipeSettings::default() };
        let mut pipe = Pipe::new(settings).unwrap();
        let mut log = Log::default();
        let (mut now_ns, mut accepted, mut of) = (0, Vec::new(), Vec::new());
        for (i, (gap_ns, from, to, size)) in packets.into_iter().enumerate() {
            now_ns += gap_ns;
            // In one go, as a link must allow it.
            pipe.advance(now_ns, &mut log);
            of.push((HostId(from), HostId(to), now_ns));
            if pipe.offer(now_ns, HostId(from), HostId(to), Numbered(i as u64, size)) == Offer::Accepted {
                accepted.push(i as u64);
            }
        }
        while let Some(at_ns) = pipe.next_event() {
            pipe.advance(at_ns, &mut log);
        }
        let mut freed = log.freed.clone();
        freed.sort_unstable();
        prop_assert_eq!(&freed, &accepted);
        let mut ended: Vec<u64> = log.delivered.iter().map(|d| d.2).chain(log.dropped.iter().copied()).collect();
        ended.sort_unstable();
        prop_assert_eq!(&ended, &accepted);
        let mut last = [0; 4];
        for &(at_ns, to, number) in &log.delivered {
            let (_, wanted, sent_ns) = of[number as usize];
            prop_assert_eq!(to, wanted);
            prop_assert!(at_ns >= sent_ns + (delay_ms * 1e6) as u64);
            prop_assert!(at_ns >= last[to.index()], "to one host in the order of their times");
            last[to.index()] = at_ns;
        }
    }
}
