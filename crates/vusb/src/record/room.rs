//! How much of a capture may be written: in a guest, captures are kept in memory.

/// Bytes around a packet in a pcap or pcapng file, at most: block type, twice its length, interface, time, two lengths,
/// padding (pcapng, Enhanced Packet Block).
const AROUND: u64 = 40;

/// The room that is left for a capture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Room {
    what: &'static str,
    limit: u64,
    left: u64,
    full: bool,
}

impl Room {
    /// No limit.
    pub const ENDLESS: Self = Self { what: "", limit: u64::MAX, left: u64::MAX, full: false };

    /// Room for `bytes` of the capture of `what`.
    pub const fn of(what: &'static str, bytes: u64) -> Self {
        Self { what, limit: bytes, left: bytes, full: false }
    }

    /// Whether a packet of `bytes` at `now_ns` of the clock since 1970 has room still. The first one that has none ends the
    /// capture, so that it has no gaps, and says so on stderr.
    pub fn take(&mut self, bytes: usize, time_ns: i64) -> bool {
        if self.full {
            return false;
        }
        match self.left.checked_sub(bytes as u64 + AROUND) {
            Some(left) => self.left = left,
            None => {
                self.full = true;
                let (what, megabytes) = (self.what, self.limit >> 20);
                eprintln!(
                    "txop-vusb: the capture of the {what} is full: {megabytes} MB; nothing after {time_ns} ns is in it"
                );
            }
        }
        !self.full
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_capture_ends_at_the_first_packet_without_room_and_has_no_gap() {
        let mut room = Room::of("air", 1_000);
        assert!(room.take(500, 1));
        assert!(!room.take(500, 2));
        assert!(!room.take(1, 3), "a small one would fit, and would hide that one is missing before it");
        assert!(Room::ENDLESS.clone().take(usize::MAX >> 1, 1));
    }
}
