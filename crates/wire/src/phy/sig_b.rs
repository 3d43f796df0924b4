//! HE-SIG-B: how it was sent, and how long it lasted.

/// Longest HE-SIG-B with its length in its header: the code of 16 symbols also stands for more.
const MAX_SYMBOLS: u8 = 15;
/// Bits of a user field (IEEE 802.11ax-2021, tables 27-28 and 27-29).
const USER_BITS: u32 = 21;
/// CRC and tail of a user block field (27.3.11.8.4), which has two user fields, or the last one alone.
const BLOCK_END_BITS: u32 = 4 + 6;

/// HE-SIG-B of an HE MU PPDU; `None` for what the header does not give.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SigB {
    /// MCS, 0 to 15 (above 5: reserved).
    pub mcs: Option<u8>,
    /// Dual carrier modulation.
    pub dcm: Option<bool>,
    /// OFDM symbols.
    pub symbols: Option<u8>,
}

impl SigB {
    /// Duration of a symbol, ns: 3.2 us and a guard interval of 0.8 us.
    pub const SYMBOL_NS: u32 = 4_000;

    /// With a common field: the header gives the symbols.
    pub fn with_symbols(mcs: Option<u8>, dcm: Option<bool>, symbols: Option<u8>) -> Self {
        Self { mcs, dcm, symbols: symbols.filter(|symbols| (1..=MAX_SYMBOLS).contains(symbols)) }
    }

    /// Compressed, so that it has user fields only: `users` of them in `channels` content channels (1 at 20 MHz, else 2, in which the users
    /// are shared out evenly, 27.3.11.8.5). MCS, DCM and users determine the symbols.
    pub fn compressed(mcs: Option<u8>, dcm: Option<bool>, users: Option<u8>, channels: u8) -> Self {
        let symbols = || {
            let users = u32::from(users?).div_ceil(u32::from(channels.max(1)));
            let bits = users / 2 * (2 * USER_BITS + BLOCK_END_BITS) + users % 2 * (USER_BITS + BLOCK_END_BITS);
            u8::try_from(bits.div_ceil(bits_per_symbol(mcs?, dcm?)?)).ok()
        };
        Self { mcs, dcm, symbols: symbols() }
    }

    /// Time it took, ns.
    pub fn duration_ns(&self) -> Option<u32> {
        self.symbols.map(|symbols| u32::from(symbols) * Self::SYMBOL_NS)
    }
}

/// Data bits of a symbol of 52 tones (table 27-27); `None` for reserved combinations.
const fn bits_per_symbol(mcs: u8, dcm: bool) -> Option<u32> {
    match (mcs, dcm) {
        (0, true) => Some(13),
        (0, false) | (1, true) => Some(26),
        (1, false) | (3, true) => Some(52),
        (2, false) => Some(78),
        (3, false) => Some(104),
        (4, true) => Some(78),
        (4, false) => Some(156),
        (5, false) => Some(208),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn symbols_that_the_header_tells() {
        assert_eq!(SigB::with_symbols(Some(0), Some(false), Some(7)).duration_ns(), Some(28_000));
        assert_eq!(SigB::with_symbols(Some(0), None, Some(16)).duration_ns(), None, "16 or more");
        assert_eq!(SigB::with_symbols(None, None, None).duration_ns(), None);
    }

    /// Two users are 52 bits, one is 31.
    #[test]
    fn symbols_of_user_fields_alone() {
        let symbols = |mcs, dcm, users, channels| SigB::compressed(Some(mcs), Some(dcm), Some(users), channels).symbols;
        assert_eq!(symbols(0, false, 2, 1), Some(2));
        assert_eq!(symbols(0, false, 2, 2), Some(2), "31 bits in each channel");
        assert_eq!(symbols(0, true, 3, 2), Some(4), "two in the first channel");
        assert_eq!(symbols(5, false, 8, 2), Some(1));
        assert_eq!(symbols(5, false, 8, 1), Some(1));
        assert_eq!(symbols(3, false, 5, 1), Some(2), "135 bits");
        assert_eq!((symbols(2, true, 2, 1), symbols(6, false, 2, 1)), (None, None), "reserved");
        assert_eq!(SigB::compressed(None, Some(false), Some(2), 2).symbols, None);
        assert_eq!(SigB::compressed(Some(0), Some(false), None, 2).symbols, None);
    }
}
