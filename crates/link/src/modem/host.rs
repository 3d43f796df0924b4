//! What the host's driver does: packets become URBs, and URBs packets.

use crate::engine::{DropCause, Packet, Sink};
use crate::modem::aggregate::Frame;
use crate::modem::link::{Flight, ModemLink, NEAR_HOST};

impl<P: Packet> ModemLink<P> {
    /// What was offered at the near host goes to its driver.
    pub(super) fn take_in(&mut self, at_ns: u64, sink: &mut impl Sink<P>) {
        let Some(packet) = self.ingress.pop_front() else { return };
        let before = self.ready.len();
        if let Err((packet, cause)) = self.aggregator.push(at_ns, packet, &mut self.ready) {
            sink.freed(at_ns, NEAR_HOST, &packet);
            self.lose(at_ns, NEAR_HOST, packet, cause, sink);
            return;
        }
        // The packet is the last of what is being filled, or it has just become the last of a transfer.
        let slot = self.aggregator.slots().last().or_else(|| {
            let flushed = self.ready.iter().skip(before).last();
            flushed.and_then(|frame| frame.slots.last())
        });
        if let Some(slot) = slot.filter(|slot| slot.is_copied) {
            sink.freed(at_ns, NEAR_HOST, &slot.packet);
        }
    }

    /// The interface's queue drops what it has no room for.
    pub(super) fn limit_queue(&mut self, at_ns: u64, sink: &mut impl Sink<P>) {
        if self.aggregator.is_below_queue() {
            return;
        }
        let room = self.settings.driver.queue_packets as usize + self.tx_urbs.saturating_sub(self.flights.len());
        while self.ready.len() > room {
            let Some(frame) = self.ready.pop_back() else { return };
            self.lose_frame(at_ns, frame, DropCause::QueueFull, sink);
        }
    }

    /// What the URB costs the host; when that is done.
    pub(super) fn host_ns(&mut self, at_ns: u64) -> u64 {
        let cost_ns = (self.settings.usb.host_us_per_urb * 1_000.0) as u64;
        self.counters.host_busy_ns += cost_ns;
        self.host_free_ns = self.host_free_ns.max(at_ns) + cost_ns;
        self.host_free_ns
    }

    pub(super) fn submit(&mut self, at_ns: u64, frame: Frame<P>, sink: &mut impl Sink<P>) {
        self.counters.tx_reasons.count(frame.reason);
        let id = self.records.next_id();
        if sink.wants_bus() {
            let packets = frame.slots.iter().map(|slot| &slot.packet);
            self.records.submit_out(at_ns, id, &self.encoding, packets, frame.len, sink);
        }
        let ready_ns = self.host_ns(at_ns);
        self.flights.push_back(Flight { id, ready_ns, frame });
        let most = &mut self.counters.uplink.urbs_in_flight_max;
        *most = (*most).max(self.flights.len() as u64);
    }

    /// The host is done with an IN URB.
    pub(super) fn hand_up(&mut self, at_ns: u64, sink: &mut impl Sink<P>) {
        let Some((_, packets)) = self.returned.pop_front() else { return };
        for packet in packets {
            self.counters.downlink.packets_delivered += 1;
            self.counters.downlink.bytes_delivered += packet.size_bytes() as u64;
            sink.deliver(at_ns, NEAR_HOST, packet);
        }
        if self.down_until_ns.is_none() && self.is_started {
            self.submit_in(at_ns, sink);
        }
    }

    pub(super) fn submit_in(&mut self, at_ns: u64, sink: &mut impl Sink<P>) {
        let id = self.records.next_id();
        self.records.submit_in(at_ns, id, self.settings.usb.rx_urb_bytes, sink);
        self.in_urbs.push_back(id);
        let most = &mut self.counters.downlink.urbs_in_flight_max;
        *most = (*most).max(self.in_urbs.len() as u64);
    }

    /// The driver has bound: it submits its IN URBs.
    pub(super) fn start(&mut self, at_ns: u64, sink: &mut impl Sink<P>) {
        self.is_started = true;
        // Those that the host still works on come by themselves.
        while self.in_urbs.len() + self.returned.len() < self.settings.usb.rx_urbs() {
            self.submit_in(at_ns, sink);
        }
    }
}
