//! A link with a wire between its far end and the server.

use link::ppdu::Ppdu;
use link::{DropCause, HostId, Link, Offer, Path, PathSettings, PathStep, Sink};
use wire::usb::urb::Urb;

use crate::datagram::Datagram;

/// The link, and the wire if there is one. Without, the server is the access point (or the modem's network) itself.
pub(crate) struct Wired<L> {
    pub(crate) link: L,
    path: Option<Path<Datagram>>,
    arrived: Vec<(HostId, Datagram)>,
}

impl<L: Link<Datagram>> Wired<L> {
    pub(crate) fn new(link: L, path: Option<PathSettings>, seed: u64) -> Self {
        Self { link, path: path.map(|path| Path::new(path, seed)), arrived: Vec::new() }
    }

    /// Lets the next thing happen on the wire.
    fn step(&mut self, at_ns: u64, sink: &mut impl Sink<Datagram>) {
        let Some(path) = &mut self.path else { return };
        let arrived = &mut self.arrived;
        path.step(&mut |step| match step {
            PathStep::Freed(packet) => sink.freed(at_ns, HostId::SERVER, packet),
            PathStep::Lost(at_ns, _, packet) => sink.dropped(at_ns, packet.from, packet, DropCause::RetryLimit),
            PathStep::ToLink(to, packet) => arrived.push((to, packet)),
            PathStep::ToServer(at_ns, packet) => sink.deliver(at_ns, HostId::SERVER, packet),
        });
        for (to, packet) in arrived.drain(..) {
            if let Offer::Dropped(cause) = self.link.offer(at_ns, HostId::SERVER, to, packet.clone()) {
                sink.dropped(at_ns, HostId::SERVER, &packet, cause);
            }
        }
    }
}

/// The sink of the link: what it delivers to the server goes onto the wire.
struct Behind<'a, S> {
    path: &'a mut Path<Datagram>,
    sink: &'a mut S,
}

impl<S: Sink<Datagram>> Sink<Datagram> for Behind<'_, S> {
    fn deliver(&mut self, at_ns: u64, to: HostId, packet: Datagram) {
        if to != HostId::SERVER {
            return self.sink.deliver(at_ns, to, packet);
        }
        let from = packet.from;
        if let Offer::Dropped(cause) = self.path.offer_up(at_ns, from, packet.clone()) {
            self.sink.dropped(at_ns, from, &packet, cause);
        }
    }

    fn freed(&mut self, at_ns: u64, from: HostId, packet: &Datagram) {
        // The server's interface freed its packets when they left for the link.
        if from != HostId::SERVER {
            self.sink.freed(at_ns, from, packet);
        }
    }

    fn dropped(&mut self, at_ns: u64, from: HostId, packet: &Datagram, cause: DropCause) {
        self.sink.dropped(at_ns, from, packet, cause);
    }

    fn wants_air(&self) -> bool {
        self.sink.wants_air()
    }

    fn air(&mut self, ppdu: &Ppdu<'_, Datagram>) {
        self.sink.air(ppdu);
    }

    fn wants_bus(&self) -> bool {
        self.sink.wants_bus()
    }

    fn bus(&mut self, urb: &Urb<'_>) {
        self.sink.bus(urb);
    }
}

impl<L: Link<Datagram>> Link<Datagram> for Wired<L> {
    fn hosts(&self) -> usize {
        self.link.hosts()
    }

    fn offer(&mut self, now_ns: u64, from: HostId, to: HostId, packet: Datagram) -> Offer {
        match &mut self.path {
            Some(path) if from == HostId::SERVER => path.offer_down(now_ns, to, packet),
            _ => self.link.offer(now_ns, from, to, packet),
        }
    }

    fn next_event(&self) -> Option<u64> {
        let path_ns = self.path.as_ref().map(Path::next_event).filter(|&ns| ns != u64::MAX);
        self.link.next_event().into_iter().chain(path_ns).min()
    }

    fn advance(&mut self, now_ns: u64, sink: &mut impl Sink<Datagram>) {
        if self.path.is_none() {
            return self.link.advance(now_ns, sink);
        }
        while let Some(at_ns) = self.next_event().filter(|&at_ns| at_ns <= now_ns) {
            match &mut self.path {
                Some(path) if path.next_event() > at_ns => self.link.advance(at_ns, &mut Behind { path, sink }),
                _ => self.step(at_ns, sink),
            }
        }
    }

    fn settle(&mut self, sink: &mut impl Sink<Datagram>) {
        match &mut self.path {
            Some(path) => self.link.settle(&mut Behind { path, sink }),
            None => self.link.settle(sink),
        }
    }
}

#[cfg(test)]
mod tests {
    use link::{Packet, Pipe, PipeSettings};
    use wire::ip::Flow;

    use super::*;

    #[derive(Default)]
    struct Seen {
        delivered: Vec<(u64, HostId)>,
        dropped: Vec<DropCause>,
        freed: usize,
    }

    impl Sink<Datagram> for Seen {
        fn deliver(&mut self, at_ns: u64, to: HostId, packet: Datagram) {
            assert_eq!(packet.size_bytes(), 1_000);
            self.delivered.push((at_ns, to));
        }

        fn freed(&mut self, _at_ns: u64, _from: HostId, _packet: &Datagram) {
            self.freed += 1;
        }

        fn dropped(&mut self, _at_ns: u64, _from: HostId, _packet: &Datagram, cause: DropCause) {
            self.dropped.push(cause);
        }
    }

    fn packet(from: HostId) -> Datagram {
        let mut bytes = vec![0; 1_000];
        bytes[0] = 0x45;
        Datagram::new(&bytes, &Flow::of(&bytes).expect("IPv4"), 0, from, 0)
    }

    #[test]
    fn both_ways_take_the_wire_and_the_link() {
        // 8 µs for each packet on the wire, 80 µs on the link, delays of 1 ms and 2 ms.
        let path = PathSettings { rate_mbit_s: 1_000.0, delay_ms: 1.0, queue_packets: 2, loss: 0.0 };
        let pipe = PipeSettings { rate_mbit_s: Some(100.0), delay_ms: 2.0, ..PipeSettings::default() };
        let mut wired = Wired::new(Pipe::new(pipe).expect("a pipe"), Some(path), 1);
        let mut seen = Seen::default();
        let (server, station) = (HostId::SERVER, HostId(1));
        assert_eq!(wired.offer(0, server, station, packet(server)), Offer::Accepted);
        assert_eq!(wired.offer(0, station, server, packet(station)), Offer::Accepted);
        wired.advance(10_000_000, &mut seen);
        assert_eq!(seen.delivered, [(3_088_000, server), (3_088_000, station)]);
        assert_eq!((seen.freed, seen.dropped.len(), wired.next_event()), (2, 0, None));
        let accepted = (0..9).filter(|_| wired.offer(20_000_000, server, station, packet(server)) == Offer::Accepted);
        assert!(accepted.count() < 9);
    }

    #[test]
    fn what_the_link_behind_the_wire_drops_is_reported() {
        let path = PathSettings { delay_ms: 0.0, ..PathSettings::default() };
        let pipe = PipeSettings { rate_mbit_s: Some(1.0), queue_packets: 1, ..PipeSettings::default() };
        let mut wired = Wired::new(Pipe::new(pipe).expect("a pipe"), Some(path), 1);
        let mut seen = Seen::default();
        for _ in 0..10 {
            wired.offer(0, HostId::SERVER, HostId(1), packet(HostId::SERVER));
        }
        wired.advance(1_000_000_000, &mut seen);
        assert_eq!((seen.delivered.len(), seen.freed), (2, 10));
        assert_eq!(seen.dropped, [DropCause::QueueFull; 8]);
    }
}
