//! What the modem has for the host: packets that wait for an IN URB, and how many of them go into the next.

use std::collections::VecDeque;

use crate::engine::Packet;
use crate::modem::encoding::Encoding;
use crate::modem::settings::{Framing, ModemSettings};

/// See the module.
#[derive(Clone, Debug)]
pub(crate) struct Downlink<P> {
    encoding: Encoding,
    max_datagrams: usize,
    max_bytes: usize,
    hold_ns: u64,
    room: usize,
    waiting: VecDeque<(u64, P)>,
    /// How many from the front go into the next URB as things stand, and how long it would be.
    next: (usize, usize),
    /// No more can be added to it.
    is_full: bool,
}

impl<P: Packet> Downlink<P> {
    pub(crate) fn new(settings: &ModemSettings) -> Self {
        let (device, encoding) = (&settings.device, Encoding::downlink(settings));
        let single = settings.driver.framing == Framing::RawIp;
        Self {
            encoding,
            max_datagrams: if single { 1 } else { device.downlink_max_datagrams as usize },
            max_bytes: device.downlink_max_bytes as usize,
            hold_ns: u64::from(device.downlink_hold_us) * 1_000,
            room: device.downlink_buffer_packets as usize,
            waiting: VecDeque::new(),
            next: (0, encoding.empty_len()),
            is_full: false,
        }
    }

    pub(crate) fn encoding(&self) -> &Encoding {
        &self.encoding
    }

    /// Whether a packet fits into a URB at all.
    pub(crate) fn can_carry(&self, size: usize) -> bool {
        self.encoding.single(size) <= self.max_bytes
    }

    pub(crate) fn packets(&self) -> usize {
        self.waiting.len()
    }

    /// Takes a packet, unless there is no room.
    pub(crate) fn push(&mut self, now_ns: u64, packet: P) -> Result<(), P> {
        if self.waiting.len() >= self.room {
            return Err(packet);
        }
        self.waiting.push_back((now_ns, packet));
        self.fill();
        Ok(())
    }

    fn fill(&mut self) {
        while let Some((_, packet)) = self.waiting.get(self.next.0).filter(|_| !self.is_full) {
            let len = self.encoding.grown(self.next.1, packet.size_bytes());
            if len > self.max_bytes {
                self.is_full = true;
                return;
            }
            self.next = (self.next.0 + 1, len);
            self.is_full = self.next.0 >= self.max_datagrams;
        }
    }

    /// From when on a URB can go; `None`: nothing is there.
    pub(crate) fn ready_ns(&self) -> Option<u64> {
        let &(arrived_ns, _) = self.waiting.front()?;
        Some(if self.is_full { arrived_ns } else { arrived_ns + self.hold_ns })
    }

    /// The packets of the next URB, and its length.
    pub(crate) fn take(&mut self) -> (Vec<P>, usize) {
        let (count, len) = std::mem::replace(&mut self.next, (0, self.encoding.empty_len()));
        self.is_full = false;
        let packets = self.waiting.drain(..count).map(|(_, packet)| packet).collect();
        self.fill();
        (packets, len)
    }

    /// Gives up everything.
    pub(crate) fn clear(&mut self) -> Vec<P> {
        self.next = (0, self.encoding.empty_len());
        self.is_full = false;
        self.waiting.drain(..).map(|(_, packet)| packet).collect()
    }
}
