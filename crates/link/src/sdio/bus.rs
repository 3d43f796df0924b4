//! What commands take on the bus (Linux' drivers/mmc/core/sdio_io.c for how a transfer is split).

use wire::sdio::clocks;

use crate::sdio::settings::BusSettings;

/// Bytes that one command moves in byte mode at most.
const BYTE_MODE_MAX: u32 = 512;
/// Blocks that one command moves at most.
const BLOCKS_MAX: u32 = 511;

/// A transfer, in commands, blocks (a transfer in byte mode counts as one) and clocks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Cost {
    pub(crate) commands: u64,
    pub(crate) blocks: u64,
    pub(crate) clocks: u64,
    pub(crate) bytes: u64,
}

impl Cost {
    /// A byte read or written (CMD52).
    pub(crate) const BYTE: Self = Self { commands: 1, blocks: 0, clocks: clocks::COMMAND, bytes: 0 };

    /// `bytes` read or written (CMD53).
    pub(crate) fn transfer(bus: &BusSettings, bytes: u32, is_write: bool) -> Self {
        let mut cost = Self::default();
        let mut rest =
            if bus.pads_to_blocks && bytes > bus.block_bytes { bytes.next_multiple_of(bus.block_bytes) } else { bytes };
        while rest > 0 {
            let blocks =
                if rest > BYTE_MODE_MAX || bus.pads_to_blocks { (rest / bus.block_bytes).min(BLOCKS_MAX) } else { 0 };
            let (count, size) = if blocks > 0 { (blocks, bus.block_bytes) } else { (1, rest.min(BYTE_MODE_MAX)) };
            cost.add(count, size, bus.width, is_write);
            rest -= count * size;
        }
        cost
    }

    fn add(&mut self, blocks: u32, bytes: u32, width: u8, is_write: bool) {
        self.commands += 1;
        self.blocks += u64::from(blocks);
        self.clocks += clocks::extended(u64::from(blocks), u64::from(bytes), width, is_write);
        self.bytes += u64::from(blocks) * u64::from(bytes);
    }

    /// Time on the bus, ns.
    pub(crate) fn bus_ns(&self, bus: &BusSettings) -> u64 {
        (self.clocks as f64 * 1_000.0 / bus.clock_mhz) as u64
    }

    /// What the controller's driver adds to it, ns.
    pub(crate) fn gap_ns(&self, bus: &BusSettings) -> u64 {
        ((self.commands as f64 * bus.command_gap_us + self.blocks as f64 * bus.block_gap_us) * 1_000.0) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bus(width: u8, block_bytes: u32, pads_to_blocks: bool) -> BusSettings {
        BusSettings { width, block_bytes, pads_to_blocks, ..BusSettings::default() }
    }

    #[test]
    fn clocks_by_the_specification() {
        assert_eq!(Cost::BYTE.bus_ns(&bus(4, 128, true)), 4_480);
        // A frame of 1500 bytes as the AR6k reads it: 12 blocks of 128 bytes, 136 µs with four lines, 505 µs with one.
        let four = Cost::transfer(&bus(4, 128, true), 1_526, false);
        assert_eq!((four.commands, four.blocks, four.bytes, four.clocks), (1, 12, 1_536, 114 + 12 * 274));
        let one = Cost::transfer(&bus(1, 128, true), 1_526, false);
        assert_eq!((four.bus_ns(&bus(4, 128, true)), one.bus_ns(&bus(1, 128, true))), (136_080, 504_720));
        assert_eq!(Cost::transfer(&bus(4, 128, true), 1_526, true).clocks - four.clocks, 12 * 7);
    }

    /// sdio_io_rw_ext_helper: as many blocks as there are, 511 at a time, when there is more than byte mode can do; the rest
    /// as bytes.
    #[test]
    fn transfers_are_split_as_linux_does() {
        let whole = Cost::transfer(&bus(4, 128, false), 1_500, false);
        assert_eq!((whole.commands, whole.blocks, whole.bytes), (2, 12, 1_500));
        let small = Cost::transfer(&bus(4, 128, false), 500, false);
        assert_eq!((small.commands, small.blocks, small.bytes), (1, 1, 500));
        let many = Cost::transfer(&bus(4, 4, false), 4_096, false);
        assert_eq!((many.commands, many.bytes), (3, 4_096));
        assert_eq!(Cost::transfer(&bus(4, 512, true), 16, false).bytes, 16);
    }

    proptest::proptest! {
        #[test]
        fn every_byte_is_moved(bytes in 1u32..5_000, block in 1u32..2_048, pads: bool, width in 0usize..2) {
            let cost = Cost::transfer(&bus([1, 4][width], block, pads), bytes, false);
            let moved = u32::try_from(cost.bytes).unwrap();
            if pads { assert!(moved >= bytes && moved < bytes + block) } else { assert_eq!(moved, bytes) }
        }
    }
}
