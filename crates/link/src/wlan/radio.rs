//! A radio with its queues: what it is to send, to whom, and what it has received from whom.

use std::collections::VecDeque;

use crate::engine::{AccessCategory, HostId, Packet};
use crate::queue::Scheduler;
use crate::wlan::carried::Carried;
use crate::wlan::counters::DirectionCounters;
use crate::wlan::host::Host;
use crate::wlan::originator::{Originator, Terms};
use crate::wlan::phy::RateId;
use crate::wlan::rate::{Chain, RateControl};
use crate::wlan::recipient::Recipient;
use crate::wlan::settings::Station;
use medium::ErrorRates;

/// The host that a radio has the number of.
pub(crate) const fn host(radio: usize) -> HostId {
    HostId(radio as u16)
}

/// The queues of a radio: asked for with the number of its host and of those it can send to.
pub(crate) type Queue<P> = Box<dyn Scheduler<Carried<P>>>;

/// A PPDU that was made.
#[derive(Clone, Debug)]
pub(crate) struct Made {
    pub(crate) peer: usize,
    /// A Block Ack request that begins with this number, instead of data.
    pub(crate) request: Option<u16>,
    /// Sequence numbers of its MPDUs.
    pub(crate) sequences: Vec<u16>,
    pub(crate) psdu_len: usize,
    pub(crate) ampdu: bool,
    pub(crate) chain: Chain,
    /// The rate that the rate control gave: with stepwise rates of retries the chain may begin below it.
    pub(crate) given: RateId,
    /// Attempts so far.
    pub(crate) attempts: u32,
    /// Its time on the air, as given to the queues.
    pub(crate) estimated_us: u32,
}

/// What one category of a radio has under way.
#[derive(Clone, Debug, Default)]
pub(crate) struct Lane {
    /// PPDUs that were made, the first of them on the air or the next to go.
    pub(crate) made: VecDeque<Made>,
    /// How many peers have something to be sent again.
    pub(crate) again: usize,
    /// The queues had nothing to give when they were last asked.
    pub(crate) starved: bool,
    /// Packets in the queues.
    pub(crate) backlog: usize,
}

/// What a radio and one other have to do with each other.
#[derive(Clone, Debug)]
pub(crate) struct Peer<P> {
    /// The other radio, and this one among its peers.
    pub(crate) radio: usize,
    pub(crate) mirror: usize,
    /// QoS data, to it.
    pub(crate) qos: bool,
    /// A-MPDUs under Block Ack, to it and from it.
    pub(crate) session_to: bool,
    pub(crate) session_from: bool,
    pub(crate) rates: RateControl,
    pub(crate) mpdu_error_rate: f64,
    /// Error rates of what is sent to it.
    pub(crate) errors: ErrorRates,
    pub(crate) originators: [Option<Box<Originator<Carried<P>>>>; 4],
    pub(crate) recipients: [Option<Box<Recipient<Carried<P>>>>; 4],
    pub(crate) counts: DirectionCounters,
}

/// Voice is not aggregated: Linux begins no Block Ack session for it.
const fn aggregates(category: AccessCategory) -> bool {
    !matches!(category, AccessCategory::Voice)
}

impl<P: Packet> Peer<P> {
    /// A-MPDUs of that category, to it.
    pub(crate) const fn session(&self, category: AccessCategory) -> bool {
        self.session_to && aggregates(category)
    }

    pub(crate) fn originator(&mut self, category: AccessCategory, settings: &Station) -> &mut Originator<Carried<P>> {
        let terms = Terms {
            session: self.session(category),
            retry_limit: u32::from(settings.retry_limit),
            count_unanswered: settings.count_unanswered,
            request_unanswered: settings.request_unanswered,
        };
        self.originators[category.priority()].get_or_insert_with(|| Box::new(Originator::new(terms)))
    }

    pub(crate) fn recipient(&mut self, category: AccessCategory) -> &mut Recipient<Carried<P>> {
        let session = self.session_from && aggregates(category);
        self.recipients[category.priority()].get_or_insert_with(|| Box::new(Recipient::new(session)))
    }
}

/// One radio.
pub(crate) struct Radio<P> {
    pub(crate) settings: Station,
    /// QoS: without it everything is best effort.
    pub(crate) qos: bool,
    pub(crate) queue: Box<dyn Scheduler<Carried<P>>>,
    pub(crate) lanes: [Lane; 4],
    pub(crate) peers: Vec<Peer<P>>,
    pub(crate) host: Host<Carried<P>>,
    /// Longest time that the medium is kept, by category; 0: one exchange.
    pub(crate) txop_ns: [u64; 4],
    /// Sum of what was estimated for the PPDUs that were made, µs.
    pub(crate) hardware_us: u64,
}

impl<P: Packet> Radio<P> {
    /// The category that a packet of that category for that peer is sent in.
    pub(crate) fn lane(&self, peer: usize, category: AccessCategory) -> AccessCategory {
        if self.qos && self.peers.get(peer).is_some_and(|peer| peer.qos) {
            category
        } else {
            AccessCategory::BestEffort
        }
    }

    /// Tells the queues whether there is something to be sent again to a peer.
    pub(crate) fn tell_again(&mut self, now_ns: u64, peer: usize, category: AccessCategory) {
        let originator = self.peers[peer].originator(category, &self.settings);
        let again = originator.has_again();
        if again == std::mem::replace(&mut originator.told_again, again) {
            return;
        }
        let lane = &mut self.lanes[category.priority()];
        if again {
            lane.again += 1;
        } else {
            lane.again -= 1;
        }
        self.queue.retries(now_ns, peer, category, again);
    }

    /// Packets that wait in the queues.
    pub(crate) fn backlog(&self) -> usize {
        self.lanes.iter().map(|lane| lane.backlog).sum()
    }

    /// There may be something to send in that category.
    pub(crate) fn is_ready(&self, category: AccessCategory) -> bool {
        let lane = &self.lanes[category.priority()];
        !lane.made.is_empty() || (!lane.starved && (lane.again > 0 || lane.backlog > 0))
    }
}
