//! Which receivers of a queue something can be sent to, and which come first.

use std::collections::VecDeque;

/// The receivers of one access category.
#[derive(Clone, Debug)]
pub(super) struct Receivers {
    /// Those to whom something must be sent again, those first that have waited longest: it is ahead of all that waits.
    retrying: VecDeque<usize>,
    /// By peer: nothing can be sent to it now.
    passed: Vec<bool>,
}

impl Receivers {
    /// For `peers` receivers, to all of whom something can be sent.
    pub(super) fn new(peers: usize) -> Self {
        Self { retrying: VecDeque::new(), passed: vec![false; peers] }
    }

    /// Something can be sent to this peer; not to one beyond them.
    pub(super) fn is_open(&self, peer: usize) -> bool {
        self.passed.get(peer).is_some_and(|passed| !passed)
    }

    /// Passes a peer over, or no longer.
    pub(super) fn set_passed(&mut self, peer: usize, passed: bool) {
        if let Some(of_peer) = self.passed.get_mut(peer) {
            *of_peer = passed;
        }
    }

    /// Whether something waits to be sent again to a peer, which is then not passed over.
    pub(super) fn set_retrying(&mut self, peer: usize, waiting: bool) {
        if !waiting {
            self.retrying.retain(|&other| other != peer);
        } else if peer < self.passed.len() && !self.retrying.contains(&peer) {
            self.retrying.push_back(peer);
        }
        self.set_passed(peer, false);
    }

    /// The first to whom something must be sent again, and can be.
    pub(super) fn first_retrying(&self) -> Option<usize> {
        self.retrying.iter().copied().find(|&peer| self.is_open(peer))
    }
}
