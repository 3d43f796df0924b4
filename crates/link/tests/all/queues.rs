//! What holds for every kind of queue, whatever is done to it.

use std::collections::HashMap;

use proptest::prelude::*;
use txop_link::engine::{AccessCategory, DropCause, Packet};
use txop_link::queue::{
    AirtimeDiscipline, AirtimeSettings, AqlSettings, ControlLaw, DeviceQueueSettings, FifoSettings, FqCodelSettings,
    FqMacSettings, MacQueueSettings, QueueKind, Queueing, Scheduler,
};

const PEERS: usize = 3;

/// The number with which, for [`SEED`], every flow of this test has a queue of its own.
const MANY_FLOWS: u32 = 16_384;
const SEED: u64 = 7;

#[derive(Clone, Debug)]
struct Numbered {
    number: u64,
    flow: u32,
    bytes: usize,
    ecn_capable: bool,
}

impl Packet for Numbered {
    fn size_bytes(&self) -> usize {
        self.bytes
    }

    fn flow(&self) -> u32 {
        self.flow
    }

    fn mark_congestion(&mut self) -> bool {
        self.ecn_capable
    }

    fn write_bytes(&self, _out: &mut Vec<u8>, _limit: usize) {}
}

/// What can be done to queues. Peers go beyond those there are.
#[derive(Clone, Debug)]
enum Step {
    Wait(u32),
    Enqueue { peer: usize, category: usize, flow: u32, bytes: usize, ecn: bool, packets: u8 },
    Turn { category: usize, max_bytes: usize, packets: u8, airtime_us: u32 },
    Dequeue { peer: usize, category: usize, max_bytes: usize },
    Complete { peer: usize, category: usize, estimated_us: u32, airtime_us: u32 },
    Receive { peer: usize, category: usize, airtime_us: u32 },
    Release { peer: usize, category: usize, packets: usize },
    Retries { peer: usize, category: usize, waiting: bool },
    Pass { peer: usize, category: usize },
    Expect { peer: usize, kbit_s: u32 },
}

fn step() -> impl Strategy<Value = Step> {
    let peer = || 0..PEERS + 1;
    // Best effort and voice.
    let category = || prop_oneof![3 => Just(1usize), 1 => Just(3)];
    let bytes = || prop_oneof![Just(40usize), Just(1500), 0..3000usize];
    let us = || prop_oneof![5 => 0..10_000u32, 1 => any::<u32>()];
    prop_oneof![
        3 => prop_oneof![0..2_000_000u32, 0..300_000_000u32].prop_map(Step::Wait),
        8 => (peer(), category(), 0..6u32, bytes(), any::<bool>(), 1..20u8)
            .prop_map(|(peer, category, flow, bytes, ecn, packets)| Step::Enqueue { peer, category, flow, bytes, ecn, packets }),
        8 => (category(), bytes(), 1..10u8, 0..6_000u32)
            .prop_map(|(category, max_bytes, packets, airtime_us)| Step::Turn { category, max_bytes, packets, airtime_us }),
        2 => (peer(), category(), bytes()).prop_map(|(peer, category, max_bytes)| Step::Dequeue { peer, category, max_bytes }),
        2 => (peer(), category(), us(), us())
            .prop_map(|(peer, category, estimated_us, airtime_us)| Step::Complete { peer, category, estimated_us, airtime_us }),
        1 => (peer(), category(), us()).prop_map(|(peer, category, airtime_us)| Step::Receive { peer, category, airtime_us }),
        2 => (peer(), category(), 0..30usize).prop_map(|(peer, category, packets)| Step::Release { peer, category, packets }),
        1 => (peer(), category(), any::<bool>()).prop_map(|(peer, category, waiting)| Step::Retries { peer, category, waiting }),
        1 => (peer(), category()).prop_map(|(peer, category)| Step::Pass { peer, category }),
        1 => (peer(), 0..20_000u32).prop_map(|(peer, kbit_s)| Step::Expect { peer, kbit_s }),
    ]
}

/// Settings with limits small enough to be met.
fn queueing() -> impl Strategy<Value = Queueing> {
    let kind = prop_oneof![
        Just(QueueKind::Fifo),
        Just(QueueKind::FqCodel),
        Just(QueueKind::FqMac),
        Just(QueueKind::Airtime),
        Just(QueueKind::Airtime)
    ];
    let law = prop_oneof![Just(ControlLaw::Rfc8289), Just(ControlLaw::Linux)];
    let discipline = prop_oneof![Just(AirtimeDiscipline::Ath9k), Just(AirtimeDiscipline::Mac80211)];
    let flows = prop_oneof![1..8u32, Just(MANY_FLOWS)];
    let device = proptest::option::of(
        (1..8u32, 1..20u32).prop_map(|(frames, transfers)| DeviceQueueSettings { frames, transfers }),
    );
    (kind, law, discipline, 1..60u32, flows, 256..3_000u32, any::<[bool; 3]>(), 1..200_000u64, device).prop_map(
        |(kind, law, discipline, packets, flows, quantum_bytes, [on, ecn, sparse_stations], memory_bytes, device)| {
            Queueing {
                kind,
                fifo: FifoSettings { packets },
                fq_codel: FqCodelSettings {
                    packets,
                    flows,
                    quantum_bytes,
                    law,
                    ecn,
                    memory_bytes,
                    drop_batch: 1 + packets / 4,
                    ..FqCodelSettings::default()
                },
                mac_queue: MacQueueSettings { packets: 1 + packets / 3, counts_in_flight: on },
                fq_mac: FqMacSettings {
                    packets,
                    flows,
                    quantum_bytes,
                    law,
                    ecn,
                    memory_bytes,
                    slow_station_kbit_s: 3_000,
                    ..FqMacSettings::default()
                },
                airtime: AirtimeSettings { discipline, sparse_stations, ..AirtimeSettings::default() },
                aql: AqlSettings { on, ..AqlSettings::default() },
                device,
            }
        },
    )
}

/// Queues, and who is in them.
struct Watched {
    queues: Box<dyn Scheduler<Numbered>>,
    now_ns: u64,
    /// Flows keep their order. mac80211's flows do not always when they meet in a queue with another station's: they go to
    /// another queue then, and back to the first when it is free again.
    in_order: bool,
    offered: u64,
    taken: Vec<u64>,
    dropped: Vec<(Numbered, DropCause)>,
    /// The last one that was taken, by flow.
    last: HashMap<u32, u64>,
}

impl Watched {
    fn enqueue(&mut self, peer: usize, category: usize, flow: u32, bytes: usize, ecn_capable: bool) {
        // Whom it is for is part of what makes a flow.
        let flow = flow + 8 * (4 * peer + category) as u32;
        let packet = Numbered { number: self.offered, flow, bytes, ecn_capable };
        self.offered += 1;
        self.queues.enqueue(self.now_ns, peer, AccessCategory::BY_PRIORITY[category], packet, &mut self.dropped);
    }

    fn dequeue(&mut self, peer: usize, category: usize, max_bytes: usize) -> bool {
        let of = AccessCategory::BY_PRIORITY[category];
        let Some(packet) = self.queues.dequeue(self.now_ns, peer, of, max_bytes, &mut self.dropped) else {
            return false;
        };
        assert!(packet.bytes <= max_bytes && peer < PEERS);
        let last = self.last.insert(packet.flow, packet.number);
        assert!(!self.in_order || last < Some(packet.number), "the packets of a flow keep their order");
        self.taken.push(packet.number);
        true
    }

    fn turn(&mut self, category: usize, max_bytes: usize, packets: u8, airtime_us: u32) {
        let of = AccessCategory::BY_PRIORITY[category];
        let Some(peer) = self.queues.next(self.now_ns, of) else { return };
        assert!(peer < PEERS);
        assert_eq!(self.queues.next(self.now_ns, of), Some(peer), "asked again at once");
        let taken = (0..packets).take_while(|_| self.dequeue(peer, category, max_bytes)).count();
        if taken > 0 {
            self.queues.put_on_air_queue(peer, of, airtime_us);
            self.queues.completed(self.now_ns, peer, of, airtime_us, airtime_us);
            self.queues.released(self.now_ns, peer, of, taken, &mut self.dropped);
        }
    }

    fn go(&mut self, step: &Step) {
        match *step {
            Step::Wait(ns) => self.now_ns += u64::from(ns),
            Step::Enqueue { peer, category, flow, bytes, ecn, packets } => {
                (0..packets).for_each(|_| self.enqueue(peer, category, flow, bytes, ecn));
            }
            Step::Turn { category, max_bytes, packets, airtime_us } => {
                self.turn(category, max_bytes, packets, airtime_us);
            }
            Step::Dequeue { peer, category, max_bytes } => {
                self.dequeue(peer, category, max_bytes);
            }
            Step::Complete { peer, category, estimated_us, airtime_us } => {
                let of = AccessCategory::BY_PRIORITY[category];
                self.queues.completed(self.now_ns, peer, of, estimated_us, airtime_us);
            }
            Step::Receive { peer, category, airtime_us } => {
                self.queues.received(self.now_ns, peer, AccessCategory::BY_PRIORITY[category], airtime_us);
            }
            Step::Release { peer, category, packets } => {
                let of = AccessCategory::BY_PRIORITY[category];
                self.queues.released(self.now_ns, peer, of, packets, &mut self.dropped);
            }
            Step::Retries { peer, category, waiting } => {
                self.queues.retries(self.now_ns, peer, AccessCategory::BY_PRIORITY[category], waiting);
            }
            Step::Pass { peer, category } => self.queues.pass(peer, AccessCategory::BY_PRIORITY[category]),
            Step::Expect { peer, kbit_s } => self.queues.expect_throughput(peer, kbit_s),
        }
        let gone = self.taken.len() + self.dropped.len();
        assert_eq!(self.offered as usize, gone + self.queues.backlog_packets(), "after {step:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 160, ..ProptestConfig::default() })]

    /// Every packet comes out once or is dropped once, packets of a flow keep their order, and nothing panics or hangs.
    #[test]
    fn nothing_is_lost_doubled_or_reordered(
        settings in queueing(),
        steps in proptest::collection::vec(step(), 1..150),
    ) {
        prop_assert_eq!(settings.check("queueing"), Ok(()));
        let queues = settings.queues(PEERS, SEED);
        let mut watched = Watched {
            queues,
            now_ns: 0,
            in_order: matches!(settings.kind, QueueKind::Fifo | QueueKind::FqCodel)
                || settings.fq_mac.flows == MANY_FLOWS,
            offered: 0,
            taken: Vec::new(),
            dropped: Vec::new(),
            last: HashMap::new(),
        };
        steps.iter().for_each(|step| watched.go(step));
        // Nothing under way any more: everything that waits can be sent.
        for category in [1, 3] {
            for peer in 0..PEERS {
                let of = AccessCategory::BY_PRIORITY[category];
                watched.queues.retries(watched.now_ns, peer, of, false);
                watched.queues.completed(watched.now_ns, peer, of, u32::MAX, 0);
                watched.go(&Step::Release { peer, category, packets: usize::MAX });
            }
            while watched.queues.next(watched.now_ns, AccessCategory::BY_PRIORITY[category]).is_some() {
                let before = watched.queues.backlog_packets();
                watched.turn(category, usize::MAX, 3, 1_000);
                prop_assert!(watched.queues.backlog_packets() < before, "a turn moves something");
            }
        }
        prop_assert_eq!(watched.queues.backlog_packets(), 0);
        let mut numbers: Vec<u64> = watched.dropped.iter().map(|(packet, _)| packet.number).collect();
        numbers.extend(&watched.taken);
        numbers.sort_unstable();
        prop_assert!(numbers.into_iter().eq(0..watched.offered));
    }
}
