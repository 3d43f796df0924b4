//! Pages of the packet buffer that the beacon queue has written: parts of the firmware on their way, templates of the driver's.

use std::collections::BTreeMap;

use super::registers as reg;
use crate::chips::realtek::memory::{Memory, Touched};

/// Bytes of a page (rtw88 main.h, TX_PAGE_SIZE).
pub const PAGE: usize = 128;
/// Pages of the buffer (rtw8822b.c, txff_size).
const PAGES: u16 = 2_048;

/// The pages by their number.
#[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
pub struct PacketBuffer {
    pages: BTreeMap<u16, Vec<u8>>,
}

impl PacketBuffer {
    /// Writes a transfer, descriptor and all, where FIFOPAGE_CTRL_2 says, and says so there.
    pub fn write(&mut self, memory: &mut Memory, transfer: &[u8]) {
        let head = memory.u16(reg::FIFOPAGE_CTRL_2) & 0x0fff;
        for (page, bytes) in (head..PAGES).zip(transfer.chunks(PAGE)) {
            self.pages.insert(page, bytes.to_vec());
        }
        memory.change(reg::FIFOPAGE_CTRL_2 + 1, 0, reg::BEACON_VALID);
    }

    /// After a write to registers: a one at the bit that says that pages were written clears it.
    pub fn written(memory: &mut Memory, touched: Touched) {
        if touched.has(reg::FIFOPAGE_CTRL_2 + 1) {
            memory.change(reg::FIFOPAGE_CTRL_2 + 1, reg::BEACON_VALID, 0);
        }
    }

    /// `len` bytes from a byte of the buffer on; `None`: not all of them were written.
    pub fn read(&self, start: usize, len: usize) -> Option<Vec<u8>> {
        let mut bytes = Vec::with_capacity(len.min(usize::from(PAGES) * PAGE));
        let mut at = start;
        while bytes.len() < len {
            let page = self.pages.get(&u16::try_from(at / PAGE).ok()?)?;
            let part = page.get(at % PAGE..)?;
            let part = part.get(..part.len().min(len - bytes.len()))?;
            if part.is_empty() {
                return None;
            }
            bytes.extend_from_slice(part);
            at += part.len();
        }
        Some(bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_and_nothing_else() {
        let (mut buffer, mut memory) = (PacketBuffer::default(), Memory::default());
        memory.write(reg::FIFOPAGE_CTRL_2, &[5, 0x80]);
        PacketBuffer::written(&mut memory, Touched { start: reg::FIFOPAGE_CTRL_2, len: 2 });
        assert_eq!(memory.u16(reg::FIFOPAGE_CTRL_2), 5);
        let transfer: Vec<u8> = (0..300u16).map(|it| it as u8).collect();
        buffer.write(&mut memory, &transfer);
        assert_eq!(memory.u16(reg::FIFOPAGE_CTRL_2), 0x8005);
        let start = 5 * PAGE;
        assert_eq!(buffer.read(start + 48, 252).unwrap(), transfer[48..]);
        assert_eq!((buffer.read(start + 48, 253), buffer.read(0, 1), buffer.read(usize::MAX, 1)), (None, None, None));
        // A shorter one takes the place of the first page only.
        buffer.write(&mut memory, &[9; 10]);
        assert_eq!((buffer.read(start, 10).unwrap(), buffer.read(start, 11)), (vec![9; 10], None));
        assert_eq!(buffer.read(start + PAGE, 100).unwrap(), transfer[128..228]);
    }
}
