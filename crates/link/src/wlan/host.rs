//! The host and its bus: a server that takes its time for each packet, up or down, one after the other.

use std::collections::VecDeque;

/// Which way a packet goes through the host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    /// To the radio.
    Down,
    /// From the radio.
    Up,
}

/// Packets that wait for the host, the first of them in its hands.
#[derive(Clone, Debug)]
pub(crate) struct Host<P> {
    cost_ns: u64,
    jobs: VecDeque<(Way, P)>,
    down: usize,
    /// When the first job is done.
    done_ns: u64,
}

impl<P> Host<P> {
    pub(crate) fn new(cost_us: f64) -> Self {
        Self { cost_ns: (cost_us * 1_000.0) as u64, jobs: VecDeque::new(), down: 0, done_ns: 0 }
    }

    /// Whether packets pass at once.
    pub(crate) const fn is_free(&self) -> bool {
        self.cost_ns == 0
    }

    /// Packets waiting.
    pub(crate) fn waiting(&self, way: Way) -> usize {
        match way {
            Way::Down => self.down,
            Way::Up => self.jobs.len() - self.down,
        }
    }

    /// Takes a packet. True when it was idle: [`Self::next_ns`] is new.
    pub(crate) fn push(&mut self, now_ns: u64, way: Way, packet: P) -> bool {
        let was_idle = self.jobs.is_empty();
        if was_idle {
            self.done_ns = now_ns + self.cost_ns;
        }
        self.down += usize::from(way == Way::Down);
        self.jobs.push_back((way, packet));
        was_idle
    }

    /// When the first job is done.
    pub(crate) fn next_ns(&self) -> Option<u64> {
        (!self.jobs.is_empty()).then_some(self.done_ns)
    }

    /// The packet that is done at [`Self::next_ns`].
    pub(crate) fn pop(&mut self) -> Option<(Way, P)> {
        let (way, packet) = self.jobs.pop_front()?;
        self.down -= usize::from(way == Way::Down);
        self.done_ns += self.cost_ns;
        Some((way, packet))
    }
}
