//! Who has the turn: the two lists of DRR++ (RFC 8290, section 4.2), in which those that have just become busy come before
//! those that have been.

use std::collections::VecDeque;

/// The lists. Who is in them is known by number, and is in one of them once.
#[derive(Clone, Debug, Default)]
pub(crate) struct Turns {
    new: VecDeque<u32>,
    old: VecDeque<u32>,
}

impl Turns {
    /// The one that has the turn.
    pub(crate) fn head(&self) -> Option<u32> {
        self.new.front().or_else(|| self.old.front()).copied()
    }

    /// It has become busy: its turn comes after those of others that have just become busy.
    pub(crate) fn join(&mut self, number: u32) {
        self.new.push_back(number);
    }

    /// It has become busy, and has to wait like all others.
    pub(crate) fn join_at_back(&mut self, number: u32) {
        self.old.push_back(number);
    }

    /// The head has had its share of this round.
    pub(crate) fn rotate(&mut self) {
        if let Some(number) = self.new.pop_front().or_else(|| self.old.pop_front()) {
            self.old.push_back(number);
        }
    }

    /// The head has nothing left. So that it cannot have priority again at once by coming back, it must first wait for a
    /// round of those that have been busy, if there are any. `true`: it has left the lists.
    pub(crate) fn emptied(&mut self) -> bool {
        match self.new.pop_front() {
            Some(number) if !self.old.is_empty() => {
                self.old.push_back(number);
                false
            }
            Some(_) => true,
            None => self.old.pop_front().is_some(),
        }
    }

    /// All that take part.
    pub(crate) fn iter(&self) -> impl Iterator<Item = u32> + '_ {
        self.new.iter().chain(&self.old).copied()
    }
}
