//! What is lost when the modem crashes.

use crate::engine::{DropCause, HostId, Packet, Sink};
use crate::modem::aggregate::Slot;
use crate::modem::link::{ModemLink, NEAR_HOST};

impl<P: Packet> ModemLink<P> {
    /// The modem was given more than it can take: whatever it and the driver have is gone, and it is away for a while.
    pub(super) fn crash(&mut self, at_ns: u64, sink: &mut impl Sink<P>) {
        self.counters.crashes += 1;
        self.down_until_ns = Some(at_ns + u64::from(self.settings.device.reset_ms) * 1_000_000);
        self.processor_ns = None;
        let cause = DropCause::DeviceDown;
        for flight in std::mem::take(&mut self.flights) {
            self.records.abort(at_ns, flight.id, false, sink);
            self.lose_frame(at_ns, flight.frame, cause, sink);
        }
        for frame in std::mem::take(&mut self.held).into_iter().chain(std::mem::take(&mut self.ready)) {
            self.lose_frame(at_ns, frame, cause, sink);
        }
        let unsent = self.uplink.give_up_unsent(at_ns);
        let filling = self.aggregator.clear();
        let waiting = std::mem::take(&mut self.ingress).into_iter().map(|packet| Slot { packet, is_copied: false });
        let copied = unsent.into_iter().map(|packet| Slot { packet, is_copied: true });
        for slot in copied.chain(filling).chain(waiting.collect::<Vec<_>>()) {
            if !slot.is_copied {
                sink.freed(at_ns, NEAR_HOST, &slot.packet);
            }
            self.lose(at_ns, NEAR_HOST, slot.packet, cause, sink);
        }
        let mut lost = Vec::new();
        for transfer in self.lanes.iter_mut().filter_map(Option::take) {
            if let Some((id, packets, _)) = transfer.inbound {
                self.records.abort(at_ns, id, true, sink);
                lost.extend(packets);
            }
        }
        for id in std::mem::take(&mut self.in_urbs) {
            self.records.abort(at_ns, id, true, sink);
        }
        lost.extend(self.waiting.clear());
        lost.extend(self.downlink.give_up(at_ns));
        for packet in std::mem::take(&mut self.arrivals) {
            sink.freed(at_ns, HostId::SERVER, &packet);
            lost.push(packet);
        }
        for packet in lost {
            self.lose(at_ns, HostId::SERVER, packet, cause, sink);
        }
        self.records.next_device();
    }
}
