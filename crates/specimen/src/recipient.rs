//! The receiving end of a Block Ack session: its memory, and the bitmap it shows.

use crate::scene::{BitmapBits, BitmapStyle};

/// Which sequence numbers have arrived, of the last 2048.
pub(crate) struct Scoreboard {
    words: [u64; 64],
    /// Highest number received; `None` before the first.
    head: Option<u16>,
    /// First number that has not arrived (or has been given up).
    next: u16,
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
        let offset = seq.wrapping_sub(self.ssn) & 0x0fff;
        offset < self.bits && self.bitmap[usize::from(offset / 64)] >> (offset % 64) & 1 == 1
    }
}

const fn ahead(to: u16, from: u16) -> u16 {
    to.wrapping_sub(from) & 0x0fff
}

impl Scoreboard {
    /// A session that begins with this number.
    pub(crate) fn new(first: u16) -> Self {
        Self { words: [0; 64], head: None, next: first & 0x0fff }
    }

    pub(crate) fn has(&self, seq: u16) -> bool {
        self.words[usize::from(seq >> 6 & 63)] >> (seq & 63) & 1 == 1
    }

    fn set(&mut self, seq: u16, value: bool) {
        let word = &mut self.words[usize::from(seq >> 6 & 63)];
        *word = *word & !(1 << (seq & 63)) | u64::from(value) << (seq & 63);
    }

    /// An MPDU arrives. True if it is new.
    pub(crate) fn receive(&mut self, seq: u16) -> bool {
        let seq = seq & 0x0fff;
        let head = self.head.unwrap_or(self.next.wrapping_sub(1) & 0x0fff);
        let step = ahead(seq, head);
        if step == 0 && self.head.is_some() {
            return false;
        }
        if (1..2048).contains(&step) {
            // Whatever is half the number space back is forgotten.
            for number in 1..=step {
                self.set(head.wrapping_add(number + 2047) & 0x0fff, false);
                self.set(head.wrapping_add(number) & 0x0fff, false);
            }
            self.head = Some(seq);
        }
        let new = !self.has(seq);
        self.set(seq, true);
        self.advance();
        new
    }

    fn advance(&mut self) {
        let Some(head) = self.head else { return };
        while self.next != head.wrapping_add(1) & 0x0fff && self.has(self.next) {
            self.next = self.next.wrapping_add(1) & 0x0fff;
        }
    }

    /// A BAR: nothing before this number will come again.
    pub(crate) fn flush_to(&mut self, ssn: u16) {
        if (1..2048).contains(&ahead(ssn, self.next)) {
            self.next = ssn;
            self.advance();
        }
    }

    /// First number that is still missing.
    pub(crate) const fn next(&self) -> u16 {
        self.next
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
        let head = self.head.unwrap_or(lowest);
        let oldest = head.wrapping_sub(bits - 1) & 0x0fff;
        let ssn = match style {
            BitmapStyle::FullHistory => oldest,
            BitmapStyle::LastPpdu => lowest,
            BitmapStyle::Window => {
                let wanted = if ahead(lowest, start) < 2048 { start } else { lowest };
                // The window never ends before the highest number received.
                if ahead(head, wanted) < 2048 && ahead(head, wanted) >= bits {
                    oldest
                } else {
                    wanted
                }
            }
        };
        let mut bitmap = [0; 4];
        for offset in 0..bits {
            let seq = ssn.wrapping_add(offset) & 0x0fff;
            let in_memory = ahead(head, seq) < 2048;
            if in_memory && self.has(seq) && shown(seq) {
                bitmap[usize::from(offset / 64)] |= 1 << (offset % 64);
            }
        }
        Shown { ssn, bitmap, bits }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bitmaps_of_the_three_styles_across_the_wrap() {
        let mut board = Scoreboard::new(4090);
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
        let mut board = Scoreboard::new(0);
        for n in 0..20_000u32 {
            assert!(board.receive((n % 4096) as u16), "{n}");
        }
        assert_eq!(board.next(), (20_000 % 4096) as u16);
    }
}
