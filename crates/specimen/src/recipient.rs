//! The receiving end of a Block Ack session: its memory, and the bitmap it shows.

use wire::ieee80211::Seq;

use crate::scene::{BitmapBits, BitmapStyle};

/// Half of the sequence numbers are remembered.
const MEMORY: u16 = 2048;

/// Which sequence numbers have arrived, of the last 2048, and which is waited for.
pub(crate) struct Recipient {
    board: medium::Scoreboard<()>,
    /// First number that has not arrived (or has been given up).
    next: Seq,
}

/// A bitmap as it goes on the air.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Shown {
    pub(crate) ssn: u16,
    pub(crate) bitmap: [u64; 4],
    pub(crate) bits: u16,
}

impl Shown {
    /// The bit of this number.
    pub(crate) fn has(&self, seq: u16) -> bool {
        let offset = Seq::new(seq).distance_from(Seq::new(self.ssn));
        offset < self.bits && self.bitmap[usize::from(offset / 64)] >> (offset % 64) & 1 == 1
    }
}

impl Recipient {
    /// A session that begins with this number.
    pub(crate) fn new(first: u16) -> Self {
        let next = Seq::new(first);
        Self { board: medium::Scoreboard::new(next, MEMORY), next }
    }

    /// An MPDU arrives. True if it is new.
    pub(crate) fn receive(&mut self, seq: u16) -> bool {
        let new = self.board.receive(Seq::new(seq), ());
        self.advance();
        new
    }

    fn advance(&mut self) {
        while self.board.has(self.next) {
            self.next = self.next.add(1);
        }
    }

    /// A BAR: nothing before this number will come again.
    pub(crate) fn flush_to(&mut self, ssn: u16) {
        let ssn = Seq::new(ssn);
        if !ssn.is_before(self.next) {
            self.next = ssn;
            self.advance();
        }
    }

    /// First number that is still missing.
    pub(crate) const fn next(&self) -> u16 {
        self.next.value()
    }

    /// The bitmap to show. `start`: first number missing before the PPDU came; `lowest`: lowest number in the PPDU (the
    /// BAR's); `shown`: numbers that may be shown at all.
    pub(crate) fn show(
        &self,
        style: BitmapStyle,
        size: BitmapBits,
        start: u16,
        lowest: u16,
        shown: impl Fn(u16) -> bool,
    ) -> Shown {
        let bits = size.bits();
        let (start, lowest) = (Seq::new(start), Seq::new(lowest));
        let ssn = match style {
            BitmapStyle::FullHistory => self.board.head().sub(bits - 1),
            BitmapStyle::LastPpdu => lowest,
            BitmapStyle::Window => self.board.window_start(start, lowest, bits),
        };
        let mut bitmap = [0; 4];
        for offset in 0..bits {
            let seq = ssn.add(offset);
            if self.board.has(seq) && shown(seq.value()) {
                bitmap[usize::from(offset / 64)] |= 1 << (offset % 64);
            }
        }
        Shown { ssn: ssn.value(), bitmap, bits }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bitmaps_of_the_three_styles_across_the_wrap() {
        let mut board = Recipient::new(4090);
        for seq in [4090, 4091, 4093, 4095, 0, 1] {
            assert!(board.receive(seq));
        }
        assert!(!board.receive(4091));
        assert_eq!(board.next(), 4092);
        let all = |_: u16| true;
        let window = board.show(BitmapStyle::Window, BitmapBits::B64, 4092, 4093, all);
        assert_eq!((window.ssn, window.bitmap[0]), (4092, 0b11_1010));
        let history = board.show(BitmapStyle::FullHistory, BitmapBits::B64, 4092, 4093, all);
        assert_eq!(history.ssn, 4034);
        assert!(history.has(1) && history.has(4090) && !history.has(4092) && !history.has(4089));
        let last = board.show(BitmapStyle::LastPpdu, BitmapBits::B64, 4092, 4095, |seq| seq < 4095 && seq > 0);
        assert_eq!((last.ssn, last.bitmap[0]), (4095, 0b100));
        board.flush_to(4094);
        assert_eq!(board.next(), 4094);
    }

    #[test]
    fn numbers_come_round_again() {
        let mut board = Recipient::new(0);
        for n in 0..20_000u32 {
            assert!(board.receive((n % 4096) as u16), "{n}");
        }
        assert_eq!(board.next(), (20_000 % 4096) as u16);
    }
}
