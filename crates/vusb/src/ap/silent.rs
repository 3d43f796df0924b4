//! Nobody: a channel on which only the chip is.

use std::os::fd::RawFd;

use wire::phy::{AccessCategory, EdcaParameters};

use super::AccessPoint;
use crate::air::{Outcome, Ppdu, Reception, Station, Tuned};
use crate::device::Source;

/// An access point that is not there.
#[derive(Clone, Copy, Debug, Default)]
pub struct Silent;

impl AccessPoint for Silent {
    fn station(&self) -> &dyn Station {
        self
    }

    fn as_station(&mut self) -> &mut dyn Station {
        self
    }

    fn advance(&mut self, _now_ns: u64) {}

    fn next_event(&self) -> Option<u64> {
        None
    }

    fn sources(&self, _sources: &mut Vec<Source>) {}

    fn readable(&mut self, _now_ns: u64, _fd: RawFd) {}

    fn statistics(&self) -> serde_json::Value {
        serde_json::json!({ "kind": "none" })
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
