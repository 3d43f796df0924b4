//! How the pages of the packet buffer are shared: each place of queues has its own, and what it needs beyond them is everybody's
//! (rtw88 mac.c, priority_queue_cfg). That a place's own pages go first is assumed; by those that are free of them the driver sees
//! whether its queues are empty (mac.c, __rtw_mac_flush_prio_queue).

use wire::phy::AccessCategory;
use wire::usb::rtw88::queue;

use super::packet_buffer::PAGE;
use super::registers as reg;
use crate::chips::realtek::memory::Memory;

/// Places in the order of FIFOPAGE_INFO: high, low, normal, extra.
pub const PLACES: usize = 4;
/// The place of each by its number in TXDMA_PQ_MAP (main.h, enum rtw_dma_mapping: extra, low, normal, high).
const BY_NUMBER: [usize; PLACES] = [3, 1, 2, 0];

/// Pages that frames take.
#[derive(Clone, Copy, Debug, Default, serde::Serialize, serde::Deserialize)]
pub struct Pages {
    used: [usize; PLACES],
}

/// The place of a queue.
pub fn place(memory: &Memory, number: u8) -> usize {
    let shift = match number {
        queue::HIGH | queue::BEACON => 14,
        queue::MANAGEMENT => 12,
        tid => match AccessCategory::of_tid(tid) {
            Some(AccessCategory::Voice) => 4,
            Some(AccessCategory::Video) => 6,
            Some(AccessCategory::Background) => 10,
            _ => 8,
        },
    };
    let number = usize::from(memory.u16(reg::TXDMA_PQ_MAP) >> shift & 3);
    BY_NUMBER.get(number).copied().unwrap_or_default()
}

/// Pages of a frame with its descriptor.
pub fn of_frame(mpdu: &[u8]) -> usize {
    (mpdu.len() + wire::usb::rtw88::TX_DESCRIPTOR).div_ceil(PAGE)
}

fn reserved(memory: &Memory, place: usize) -> usize {
    usize::from(memory.u16(reg::FIFOPAGE_INFO_1 + 4 * place as u16) & 0x0fff)
}

impl Pages {
    /// Whether frames of these places, with pages, find room.
    pub fn have_room(&self, memory: &Memory, wanted: &[(usize, usize)]) -> bool {
        let mut used = self.used;
        for &(place, pages) in wanted {
            if let Some(used) = used.get_mut(place) {
                *used += pages;
            }
        }
        let beyond: usize = (0..PLACES).zip(used).map(|(at, used)| used.saturating_sub(reserved(memory, at))).sum();
        beyond <= reserved(memory, PLACES)
    }

    /// A frame comes.
    pub fn take(&mut self, place: usize, pages: usize) {
        if let Some(used) = self.used.get_mut(place) {
            *used += pages;
        }
    }

    /// A frame is gone.
    pub fn give_back(&mut self, place: usize, pages: usize) {
        if let Some(used) = self.used.get_mut(place) {
            *used = used.saturating_sub(pages);
        }
    }

    /// How many of each place's own pages are free, and how many of those of all.
    pub fn free(&self, memory: &Memory) -> [u16; PLACES + 1] {
        let mut free = [0; PLACES + 1];
        let mut beyond = 0;
        for (at, (slot, used)) in free.iter_mut().zip(self.used).enumerate() {
            let own = reserved(memory, at);
            *slot = own.saturating_sub(used) as u16;
            beyond += used.saturating_sub(own);
        }
        if let Some(public) = free.last_mut() {
            *public = reserved(memory, PLACES).saturating_sub(beyond) as u16;
        }
        free
    }

    /// Writes where the driver looks how many of each place's own pages are free.
    pub fn show(&self, memory: &mut Memory) {
        for (at, free) in self.free(memory).into_iter().take(PLACES).enumerate() {
            memory.write(reg::FIFOPAGE_INFO_1 + 4 * at as u16 + 2, &free.to_le_bytes());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Three bulk OUT endpoints, as rtw8822b.c has them: voice and video in the normal place, best effort and background in the
    /// low one, management and groups in the high one; 64 pages each, and some for all.
    fn memory(public: u16) -> Memory {
        let mut memory = Memory::default();
        let map: u16 = 2 << 4 | 2 << 6 | 1 << 8 | 1 << 10 | 3 << 12 | 3 << 14;
        memory.write(reg::TXDMA_PQ_MAP, &map.to_le_bytes());
        for (at, pages) in [64, 64, 64, 0, public].into_iter().enumerate() {
            memory.write(reg::FIFOPAGE_INFO_1 + 4 * at as u16, &u16::to_le_bytes(pages));
        }
        memory
    }

    #[test]
    fn queues_have_the_places_of_the_register() {
        let memory = memory(0);
        let places = [queue::HIGH, queue::MANAGEMENT, 6, 4, 0, 1].map(|number| place(&memory, number));
        assert_eq!(places, [0, 0, 2, 2, 1, 1]);
    }

    #[test]
    fn own_pages_go_first_and_then_those_of_all() {
        let (mut pages, mut memory) = (Pages::default(), memory(10));
        let free = |memory: &Memory, at: u16| memory.u16(reg::FIFOPAGE_INFO_1 + 4 * at + 2);
        pages.take(1, 60);
        pages.show(&mut memory);
        assert_eq!([0, 1, 2].map(|at| free(&memory, at)), [64, 4, 64]);
        assert!(pages.have_room(&memory, &[(1, 14)]) && !pages.have_room(&memory, &[(1, 15)]));
        assert!(!pages.have_room(&memory, &[(1, 10), (2, 69)]) && pages.have_room(&memory, &[(1, 10), (2, 68)]));
        pages.take(1, 14);
        pages.show(&mut memory);
        assert_eq!(free(&memory, 1), 0);
        assert!(!pages.have_room(&memory, &[(2, 65)]) && pages.have_room(&memory, &[(2, 64)]));
        assert_eq!(pages.free(&memory), [64, 0, 64, 0, 0], "of those of all, 10 are the low place's");
        pages.give_back(1, 74);
        assert_eq!(pages.free(&memory), [64, 64, 64, 0, 10]);
        pages.show(&mut memory);
        assert_eq!(free(&memory, 1), 64, "as many as are reserved: nothing waits");
        assert_eq!(of_frame(&[0; 80]), 1);
        assert_eq!(of_frame(&[0; 81]), 2);
    }
}
