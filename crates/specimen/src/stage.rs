//! From a scene to its file and truth.

use std::io::{self, Write};

use wire::ieee80211::MacAddr;

use crate::airtime::Air;
use crate::engine::Engine;
use crate::join::{Join, Session};
use crate::ledger::BlockAckLedger;
use crate::originator::Sender;
use crate::scene::{AmpduReference, Joining, Node, Offered, Scene};
use crate::truth::{AggregationTruth, BlockAckTruth, EventTruth, FlowTruth, TimingTruth, Truth, TRUTH_VERSION};

fn invalid(what: impl Into<String>) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, what.into())
}

/// Plays `scene`, writes its capture to `out`, and returns what really happened.
///
/// Give a `BufWriter` where writes are dear.
///
/// # Errors
/// `InvalidInput` for a scene that contradicts itself (a flow between two stations, a mode that does not exist, an
/// index out of range, no time); otherwise those of `out`.
pub fn write(scene: &Scene, out: impl Write) -> io::Result<Truth> {
    let air = Air::new(scene.frequency_mhz)?;
    check(scene, &air)?;
    let addresses: Vec<MacAddr> =
        std::iter::once(scene.bss.address).chain(scene.stations.iter().map(|s| s.address)).collect();
    let senders = senders(scene, &addresses);
    let joins = joins(scene, &senders);
    let mut engine = Engine::new(scene, air, senders, joins, out)?;
    engine.run()?;
    engine.receiver.flush()?;

    let Engine { receiver, medium, exchanges, senders, .. } = engine;
    let totals = receiver.totals;
    let mut census = receiver.census.finish();
    let airtime = medium.finish(&mut census.stations);
    let (mut flows, mut block_acks, mut aggregation) = (Vec::new(), Vec::new(), Vec::new());
    for sender in senders {
        let agreed = sender.wants_session();
        let account = sender.ledger.finish();
        flows.push(FlowTruth {
            transmissions: account.transmissions,
            retransmissions: account.retransmissions,
            mpdus: account.mpdus,
            ..sender.truth.clone()
        });
        if sender.aggregation.ppdus > 0 {
            aggregation.push(AggregationTruth {
                ta: account.originator.clone(),
                ra: account.recipient.clone(),
                tid: sender.tid,
                ..sender.aggregation
            });
        }
        if agreed {
            block_acks.push(BlockAckTruth { dropped: sender.truth.dropped, ..account });
        }
    }
    let sniffer = &scene.sniffer;
    Ok(Truth {
        format: "txop-specimen",
        version: TRUTH_VERSION,
        seed: scene.seed,
        frames: totals.frames,
        bad_fcs: totals.bad_fcs,
        damaged: totals.damaged,
        damaged_unflagged: totals.damaged_unflagged,
        not_captured: totals.not_captured,
        cut_frames: totals.cut_frames,
        captured_bytes: totals.captured_bytes,
        first_time_unix_ns: totals.first_ns,
        span_ns: totals.first_ns.map_or(0, |first| totals.last_ns - first),
        timing: TimingTruth {
            stamp_meaning: sniffer.tsft.then(|| sniffer.stamp.name()),
            ampdu_reference: match scene.output.link {
                crate::Link::Radiotap | crate::Link::Ppi => sniffer.ampdu_reference.name(),
                _ => AmpduReference::Absent.name(),
            },
            control_rates_believable: sniffer.rates.then_some(!sniffer.false_control_rates),
        },
        stations: census.stations,
        links: census.links,
        ghosts: census.ghosts,
        ghosts_not_listed: census.ghosts_not_listed,
        exchanges: exchanges.finish(&addresses),
        block_acks,
        aggregation,
        airtime,
        flows,
        events: events(scene, &addresses),
    })
}

/// Number of a node: the access point is 0.
const fn number(node: Node) -> usize {
    match node {
        Node::Ap => 0,
        Node::Station(index) => index + 1,
    }
}

fn check(scene: &Scene, air: &Air) -> io::Result<()> {
    if !(scene.seconds > 0.0 && scene.seconds < 1e8) {
        return Err(invalid(format!("a scene of {} s cannot be played", scene.seconds)));
    }
    let count = scene.stations.len() + 1;
    for (index, flow) in scene.flows.iter().enumerate() {
        let (from, to) = (number(flow.from), number(flow.to));
        if from >= count || to >= count || (from == 0) == (to == 0) {
            return Err(invalid(format!("flow {index} does not run between the access point and a station")));
        }
        if flow.tid > 7 || flow.payload_bytes.0 > flow.payload_bytes.1 || flow.payload_bytes.1 > 7900 {
            return Err(invalid(format!("flow {index} has an impossible TID or payload")));
        }
        if matches!(flow.offered, Offered::TcpAcksOf(of) if of >= scene.flows.len()) {
            return Err(invalid(format!("flow {index} acknowledges a flow that does not exist")));
        }
        let twin = scene.flows[..index].iter().any(|f| (f.from, f.to, f.tid) == (flow.from, flow.to, flow.tid));
        if twin {
            return Err(invalid(format!("flow {index} has the ends and the TID of another")));
        }
        for &(mode, _) in &flow.rates.modes {
            air.check(mode)?;
            if flow.aggregation.is_some() && !mode.can_aggregate() {
                return Err(invalid(format!("flow {index} aggregates at {}", mode.label())));
            }
        }
        if flow.aggregation.is_some() && flow.rates.modes.is_empty() {
            return Err(invalid(format!("flow {index} aggregates without a rate for it")));
        }
    }
    Ok(())
}

fn senders<'a>(scene: &'a Scene, addresses: &[MacAddr]) -> Vec<Sender<'a>> {
    // The numbers of TID 0 begin with the two EAPOL frames of either direction.
    let eapol = if scene.bss.protected { 2 } else { 0 };
    scene
        .flows
        .iter()
        .map(|flow| {
            let (from, to) = (number(flow.from), number(flow.to));
            let tid = scene.stations[from.max(to) - 1].qos.then_some(flow.tid);
            let (ta, ra) = (addresses[from].to_string(), addresses[to].to_string());
            let ledger = BlockAckLedger::new(BlockAckTruth {
                originator: ta.clone(),
                recipient: ra.clone(),
                tid: flow.tid,
                window: flow.aggregation.map_or(0, |a| a.window),
                ..BlockAckTruth::default()
            });
            let direction = if from == 0 { "downlink" } else { "uplink" };
            let truth = FlowTruth { ta, ra, direction, ..FlowTruth::default() };
            Sender::new(flow, (from, to), tid, if flow.tid == 0 { eapol } else { 0 }, ledger, truth)
        })
        .collect()
}

fn joins(scene: &Scene, senders: &[Sender<'_>]) -> Vec<Join> {
    (1..=scene.stations.len())
        .map(|station| {
            let sessions: Vec<Session> = senders
                .iter()
                .enumerate()
                .filter(|(_, sender)| sender.wants_session() && (sender.from == station || sender.to == station))
                .map(|(flow, sender)| Session {
                    flow,
                    originator: sender.from,
                    recipient: sender.to,
                    tid: sender.tid.unwrap_or(0),
                    window: sender.plan.aggregation.map_or(0, |a| a.window),
                    first_seq: sender.next_seq,
                })
                .collect();
            let joining = scene.stations.get(station - 1).map_or(Joining::Joins, |station| station.joining);
            Join::new(station, scene.bss.protected, joining, &sessions)
        })
        .collect()
}

fn events(scene: &Scene, addresses: &[MacAddr]) -> Vec<EventTruth> {
    let mut events = Vec::new();
    for flow in &scene.flows {
        let mut add = |kind, from_s: f64, to_s: f64| {
            events.push(EventTruth {
                kind,
                ta: addresses[number(flow.from)].to_string(),
                ra: addresses[number(flow.to)].to_string(),
                start_us: from_s * 1e6,
                end_us: to_s * 1e6,
            });
        };
        for &(from_s, to_s) in &flow.silent {
            add("dropout", from_s, to_s);
        }
        for burst in &flow.bursts {
            add("retry-burst", burst.from_s, burst.to_s);
        }
    }
    events
}
