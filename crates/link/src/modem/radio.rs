//! One direction of the cell: packets served one after the other at a granted rate, which may wander, then a delay.

use std::collections::VecDeque;

use crate::engine::Packet;
use random::Walk;

/// See the module.
#[derive(Clone, Debug)]
pub(crate) struct Radio<P> {
    grant: Grant,
    delay_ns: u64,
    subframe_ns: u64,
    request_ns: u64,
    /// When everything that was given to it has been sent.
    free_ns: u64,
    on_way: VecDeque<OnWay<P>>,
}

/// What the scheduler of the cell grants, Mbit/s.
#[derive(Clone, Debug)]
pub(crate) enum Grant {
    /// Always the same.
    Steady(f64),
    /// More or less, as a cell with other users or a changing channel has it.
    Wandering(Box<Walk>),
}

impl Grant {
    fn ns_per_byte(&mut self, at_ns: u64) -> f64 {
        8_000.0
            / match self {
                Self::Steady(mbit_s) => *mbit_s,
                Self::Wandering(walk) => walk.at(at_ns),
            }
    }
}

#[derive(Clone, Debug)]
struct OnWay<P> {
    sent_ns: u64,
    due_ns: u64,
    packet: P,
}

impl<P: Packet> Radio<P> {
    /// `request_us`: what a packet waits for that finds nothing else to be sent.
    pub(crate) fn new(grant: Grant, delay_us: u32, subframe_us: u32, request_us: u32) -> Self {
        Self {
            grant,
            delay_ns: u64::from(delay_us) * 1_000,
            subframe_ns: u64::from(subframe_us) * 1_000,
            request_ns: u64::from(request_us) * 1_000,
            free_ns: 0,
            on_way: VecDeque::new(),
        }
    }

    /// Time on the air of what waits, ns.
    pub(crate) fn backlog_ns(&self, now_ns: u64) -> u64 {
        self.free_ns.saturating_sub(now_ns)
    }

    /// Packets that have not been sent to the end.
    pub(crate) fn waiting(&self, now_ns: u64) -> usize {
        self.on_way.len() - self.on_way.partition_point(|on_way| on_way.sent_ns <= now_ns)
    }

    /// Packets in it, those under way included.
    pub(crate) fn packets(&self) -> usize {
        self.on_way.len()
    }

    pub(crate) fn send(&mut self, now_ns: u64, packet: P) {
        let start_ns = if self.free_ns <= now_ns { now_ns + self.request_ns } else { self.free_ns };
        // A packet is sent at the rate that is granted when its transmission begins.
        self.free_ns = start_ns + (packet.size_bytes() as f64 * self.grant.ns_per_byte(start_ns)) as u64;
        let sent_ns = match self.subframe_ns {
            0 => self.free_ns,
            subframe_ns => self.free_ns.next_multiple_of(subframe_ns),
        };
        self.on_way.push_back(OnWay { sent_ns: self.free_ns, due_ns: sent_ns + self.delay_ns, packet });
    }

    pub(crate) fn next_ns(&self) -> Option<u64> {
        self.on_way.front().map(|on_way| on_way.due_ns)
    }

    pub(crate) fn arrive(&mut self) -> Option<P> {
        self.on_way.pop_front().map(|on_way| on_way.packet)
    }

    /// Gives up what has not been sent to the end.
    pub(crate) fn give_up_unsent(&mut self, now_ns: u64) -> Vec<P> {
        self.free_ns = self.free_ns.min(now_ns);
        let sent = self.on_way.len() - self.waiting(now_ns);
        self.on_way.drain(sent..).map(|on_way| on_way.packet).collect()
    }

    /// Gives up everything.
    pub(crate) fn give_up(&mut self, now_ns: u64) -> Vec<P> {
        self.free_ns = self.free_ns.min(now_ns);
        self.on_way.drain(..).map(|on_way| on_way.packet).collect()
    }
}
