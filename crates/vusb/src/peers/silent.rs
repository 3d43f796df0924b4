//! No peer: a channel with the chip alone.

use wire::phy::{AccessCategory, EdcaParameters};

use super::statistics::PeerStatistics;
use super::Peers;
use crate::air::{Outcome, Ppdu, Reception, Station, Tuned};
use crate::state::{Reader, State, StateError, Writer};

/// An access point that is not there.
#[derive(Clone, Copy, Debug, Default)]
pub struct Silent;

impl Peers for Silent {
    fn stations(&self) -> Vec<&dyn Station> {
        vec![self]
    }

    fn stations_mut(&mut self) -> Vec<&mut dyn Station> {
        vec![self]
    }

    fn statistics(&self) -> PeerStatistics {
        PeerStatistics::default()
    }

    fn save_state(&self, to: &mut Writer) -> Result<(), StateError> {
        self.save(to)
    }

    fn restore_state(&mut self, from: &mut Reader<'_>) -> Result<(), StateError> {
        self.restore(from)
    }
}

impl Station for Silent {
    fn tuned(&self) -> Option<Tuned> {
        None
    }

    fn ready_since(&self) -> Option<u64> {
        None
    }

    fn access(&self) -> EdcaParameters {
        EdcaParameters::default_for(AccessCategory::BestEffort)
    }

    fn begin(&mut self, _now_ns: u64, _function: usize) -> Option<Ppdu> {
        None
    }

    fn ended(&mut self, _now_ns: u64, _ppdu: Ppdu, _outcome: &Outcome) {}

    fn receive(&mut self, _now_ns: u64, _mpdu: &[u8], _reception: &Reception) -> bool {
        false
    }
}

crate::state!(Silent {});
