//! What the bus does: one transfer at a time, or one each way at super speed.

use crate::engine::{Packet, Sink};
use crate::modem::aggregate::{Frame, Slot};
use crate::modem::link::{Flight, ModemLink, Transfer, NEAR_HOST};

impl<P: Packet> ModemLink<P> {
    pub(super) fn begin_out(&mut self, at_ns: u64) {
        let Some(flight) = self.flights.front() else { return };
        self.occupy(at_ns, 0, flight.frame.len, None);
        self.last_was_in = false;
    }

    pub(super) fn begin_in(&mut self, at_ns: u64) {
        let Some(id) = self.in_urbs.pop_front() else { return };
        let (packets, len) = self.waiting.take();
        self.occupy(at_ns, self.in_lane(), len, Some((id, packets, len)));
        self.last_was_in = true;
    }

    pub(super) fn occupy(&mut self, at_ns: u64, lane: usize, len: usize, inbound: Option<(u64, Vec<P>, usize)>) {
        let bus_ns = self.settings.usb.bus_ns(len as u32);
        self.counters.bus_busy_ns += bus_ns;
        self.lanes[lane] = Some(Transfer { end_ns: at_ns + bus_ns, inbound });
    }

    pub(super) fn end_transfer(&mut self, at_ns: u64, lane: usize, sink: &mut impl Sink<P>) {
        let Some(transfer) = self.lanes[lane].take() else { return };
        let Some((id, packets, len)) = transfer.inbound else {
            self.end_out(at_ns, sink);
            return;
        };
        self.counters.downlink.urb(len, packets.len(), 0);
        if sink.wants_bus() {
            self.records.complete_in(at_ns, id, self.waiting.encoding(), &packets, len, sink);
        }
        let done_ns = self.host_ns(at_ns);
        self.returned.push_back((done_ns, packets));
    }

    pub(super) fn end_out(&mut self, at_ns: u64, sink: &mut impl Sink<P>) {
        let Some(Flight { id, frame, .. }) = self.flights.pop_front() else { return };
        self.counters.uplink.urb(frame.len, frame.slots.len(), frame.padding);
        self.records.complete_out(at_ns, id, frame.len, sink);
        for slot in frame.slots.iter().filter(|slot| !slot.is_copied) {
            sink.freed(at_ns, NEAR_HOST, &slot.packet);
        }
        let device = &self.settings.device;
        let is_too_much = device.uplink_max_datagrams.is_some_and(|most| frame.slots.len() > most as usize)
            || device.uplink_max_bytes.is_some_and(|most| frame.len > most as usize);
        let slots = frame.slots.into_iter().map(|slot| Slot { is_copied: true, ..slot }).collect();
        self.held.push_back(Frame { slots, ..frame });
        if is_too_much {
            self.crash(at_ns, sink);
        }
    }
}
