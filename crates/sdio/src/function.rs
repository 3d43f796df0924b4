//! What a card is for.

use wire::sdio::tuple::{
    common_extension, function_extension, manufacturer, Tuple, END, FUNCE, FUNCID, MANFID, VERS_1,
};

/// Top speed of a high-speed card, 50 Mbit/s per line, and of another one, 25 (SDIO 3.00, 16.7.3).
const HIGH_SPEED: u8 = 0x5a;
const FULL_SPEED: u8 = 0x32;
/// Largest block of function 0 that a card names.
const COMMON_BLOCK_BYTES: u16 = 128;
/// A function may take 100 ms until it is ready, in steps of 10 ms. Those here are ready at once.
const READY_10MS: u16 = 10;
/// CISTPL_FUNCID of an SDIO card and function (16.7.1).
const SDIO: [u8; 2] = [0x0c, 0];

/// How a card introduces itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CardIdentity {
    /// Manufacturer and card (CISTPL_MANFID), by which drivers are found.
    pub vendor: u16,
    /// See `vendor`.
    pub device: u16,
    /// Largest block of the function, bytes.
    pub block_bytes_max: u16,
    /// Body of a CISTPL_VERS_1; empty: the card has none.
    pub version: &'static [u8],
}

/// What a card can of what its host may choose.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BusAbility {
    /// Lines of the data bus, 4 or 1. A card of one says that it is a low-speed card without four lines (CCCR), and Linux keeps
    /// to one then (drivers/mmc/core/sdio.c, sdio_enable_wide).
    pub four_lines: bool,
    /// High speed, 50 MHz; else 25.
    pub high_speed: bool,
}

impl Default for BusAbility {
    fn default() -> Self {
        Self { four_lines: true, high_speed: true }
    }
}

impl CardIdentity {
    fn chain(&self, extension: &[u8]) -> Vec<u8> {
        let mut chain = Vec::new();
        let manufacturer = manufacturer(self.vendor, self.device);
        for tuple in [
            Tuple { code: MANFID, body: &manufacturer },
            Tuple { code: FUNCID, body: &SDIO },
            Tuple { code: FUNCE, body: extension },
            Tuple { code: VERS_1, body: self.version },
        ] {
            if !tuple.body.is_empty() {
                tuple.emit(&mut chain);
            }
        }
        chain.push(END);
        chain
    }

    /// The card's Card Information Structure.
    pub(crate) fn common_cis(&self, ability: BusAbility) -> Vec<u8> {
        let speed = if ability.high_speed { HIGH_SPEED } else { FULL_SPEED };
        self.chain(&common_extension(COMMON_BLOCK_BYTES, speed))
    }

    /// That of its function.
    pub(crate) fn function_cis(&self) -> Vec<u8> {
        self.chain(&function_extension(self.block_bytes_max, READY_10MS))
    }
}

/// The function of a card: its registers, its interrupt and its time.
pub trait Function {
    /// How the card introduces itself.
    fn identity(&self) -> CardIdentity;

    /// Reads registers into `data`, from `address` on; all from that one unless it is `incrementing`.
    fn read(&mut self, now_ns: u64, address: u32, incrementing: bool, data: &mut [u8]);

    /// Writes registers.
    fn write(&mut self, now_ns: u64, address: u32, incrementing: bool, data: &[u8]);

    /// Whether it wants the host.
    fn interrupts(&self) -> bool;

    /// Lets everything happen that is due by `now_ns`.
    fn advance(&mut self, now_ns: u64);

    /// When something happens next that was not caused from outside; `None`: never.
    fn next_event(&self) -> Option<u64>;

    /// Power came.
    fn power_on(&mut self, now_ns: u64);
}
