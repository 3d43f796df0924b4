//! No peer: a channel with the chip alone.

use wire::phy::{AccessCategory, EdcaParameters};

use super::statistics::PeerStatistics;
use super::Peers;
use crate::air::{Outcome, Ppdu, Reception, Station, Tuned};

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

    fn begin(&mut self, _now_ns: u64) -> Option<Ppdu> {
        None
    }

    fn ended(&mut self, _now_ns: u64, _ppdu: Ppdu, _outcome: &Outcome) {}

    fn receive(&mut self, _now_ns: u64, _mpdu: &[u8], _reception: &Reception) -> bool {
        false
    }
}
