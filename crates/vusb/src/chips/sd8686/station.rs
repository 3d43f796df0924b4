//! The firmware as a station on the air.

use wire::ieee80211::{FrameKind, FrameType, MacAddr, Mpdu};
use wire::phy::{EdcaParameters, RateSet};

use super::firmware::Firmware;
use crate::air::{Outcome, Ppdu, Reception, Station, Tuned};
use crate::chips::station_frames;
use crate::peers::queue::{Queue, Queued};

impl Firmware {
    /// A management frame.
    pub(super) fn management(&mut self, now_ns: u64, kind: FrameKind, to: MacAddr, body: &[u8]) -> Queued {
        let sequence = self.next_sequence();
        station_frames::management(now_ns, kind, (self.address, to), sequence, body)
    }

    fn management_received(&mut self, now_ns: u64, mpdu: &[u8], reception: &Reception) {
        let frame = Mpdu::new(mpdu);
        let (Some(from), Some(fc)) = (frame.transmitter(), frame.frame_control()) else { return };
        let body = frame.management_body();
        match fc.kind() {
            FrameKind::Beacon | FrameKind::ProbeResponse => self.network_heard(now_ns, from, body, reception),
            _ if frame.receiver() == Some(self.address) || frame.is_group() => self.answered(now_ns, from, fc, body),
            _ => {}
        }
    }

    /// What it sends from where it is.
    fn sending(&self) -> &Queue {
        if self.scan.is_some() {
            &self.probes
        } else {
            &self.queue
        }
    }
}

impl Station for Firmware {
    fn tuned(&self) -> Option<Tuned> {
        match &self.scan {
            _ if !self.running => None,
            Some(scan) => scan.tuned(),
            None => self.home,
        }
    }

    fn ready_since(&self) -> Option<u64> {
        self.sending().ready_since()
    }

    fn access(&self) -> EdcaParameters {
        self.sending().access()
    }

    fn access_function(&self) -> usize {
        self.sending().access_function()
    }

    fn begin(&mut self, _now_ns: u64, _function: usize) -> Option<Ppdu> {
        let queue = if self.scan.is_some() { &mut self.probes } else { &mut self.queue };
        queue.begin(0, 1)
    }

    fn ended(&mut self, _now_ns: u64, ppdu: Ppdu, outcome: &Outcome) {
        let first = Mpdu::new(ppdu.mpdus.first().map_or(&[][..], Vec::as_slice));
        if first.kind() == Some(FrameKind::ProbeRequest) {
            return self.probes.ended(outcome, &mut self.done);
        }
        self.tx.retries += u64::from(first.is_data() && first.retry());
        self.queue.ended(outcome, &mut self.done);
    }

    fn receive(&mut self, now_ns: u64, mpdu: &[u8], reception: &Reception) -> bool {
        let frame = Mpdu::new(mpdu);
        let to_us = frame.receiver() == Some(self.address);
        if !to_us && !frame.is_group() {
            return false;
        }
        match frame.frame_type() {
            Some(FrameType::Management) => {
                self.management_received(now_ns, mpdu, reception);
                to_us
            }
            Some(FrameType::Data) => self.data_received(mpdu, reception) && to_us,
            _ => false,
        }
    }

    fn basic_rates(&self) -> Option<RateSet> {
        self.network.as_ref().and_then(|network| network.basic)
    }
}
