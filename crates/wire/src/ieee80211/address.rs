//! MAC addresses (IEEE 802, 48 bits).

use core::fmt;
use core::str::FromStr;

/// A 48-bit MAC address, in transmission order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
pub struct MacAddr(pub [u8; 6]);

impl MacAddr {
    /// `ff:ff:ff:ff:ff:ff`.
    pub const BROADCAST: Self = Self([0xff; 6]);
    /// `00:00:00:00:00:00`.
    pub const ZERO: Self = Self([0; 6]);

    /// The address with a first octet that is the most significant byte of the low 48 bits of `value`.
    #[inline]
    pub const fn from_u64(value: u64) -> Self {
        let b = value.to_be_bytes();
        Self([b[2], b[3], b[4], b[5], b[6], b[7]])
    }

    /// The address as a number: first octet most significant, so that numeric order is the order of `Ord`.
    #[inline]
    pub const fn as_u64(self) -> u64 {
        let [a, b, c, d, e, f] = self.0;
        // Two numbers of sizes that processors load at once.
        (u32::from_be_bytes([a, b, c, d]) as u64) << 16 | u16::from_be_bytes([e, f]) as u64
    }

    /// The Individual/Group bit: multicast or broadcast.
    #[inline]
    pub const fn is_group(self) -> bool {
        self.0[0] & 0x01 != 0
    }

    /// The same address with the Individual/Group bit cleared (the address behind a bandwidth-signalling TA, 9.2.4.3.7).
    #[inline]
    pub const fn individual(self) -> Self {
        let a = self.0;
        Self([a[0] & 0xfe, a[1], a[2], a[3], a[4], a[5]])
    }

    /// In how many of the 48 bits the two addresses differ.
    #[inline]
    pub const fn bit_distance(self, other: Self) -> u32 {
        (self.as_u64() ^ other.as_u64()).count_ones()
    }

    /// The six octets at `offset` of `bytes`, if they are there.
    #[inline]
    pub fn read(bytes: &[u8], offset: usize) -> Option<Self> {
        let end = offset.checked_add(6)?;
        bytes.get(offset..end)?.try_into().ok().map(Self)
    }
}

impl fmt::Display for MacAddr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let digit = |nibble: u8| if nibble < 10 { b'0' + nibble } else { b'a' - 10 + nibble };
        let mut text = [b':'; 17];
        for (pair, octet) in text.chunks_mut(3).zip(self.0) {
            if let [high, low, ..] = pair {
                (*high, *low) = (digit(octet >> 4), digit(octet & 0x0f));
            }
        }
        f.pad(core::str::from_utf8(&text).unwrap_or(""))
    }
}

/// The text is not a MAC address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ParseMacAddrError;

impl fmt::Display for ParseMacAddrError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("not a MAC address: six two-digit hexadecimal octets with `:` or `-` between them are expected")
    }
}

impl std::error::Error for ParseMacAddrError {}

impl FromStr for MacAddr {
    type Err = ParseMacAddrError;

    /// Accepts `00:0c:41:82:b2:55` and `00-0C-41-82-B2-55`; every octet needs its two digits.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let text: &[u8; 17] = text.as_bytes().try_into().map_err(|_| ParseMacAddrError)?;
        let separator = text[2];
        if separator != b':' && separator != b'-' {
            return Err(ParseMacAddrError);
        }
        let digit = |byte: u8| (byte as char).to_digit(16).map(|value| value as u8).ok_or(ParseMacAddrError);
        let mut octets = [0; 6];
        for (octet, text) in octets.iter_mut().zip(text.chunks(3)) {
            let (&[high, low] | &[high, low, _]) = text else { return Err(ParseMacAddrError) };
            *octet = digit(high)? << 4 | digit(low)?;
            if text.get(2).is_some_and(|found| *found != separator) {
                return Err(ParseMacAddrError);
            }
        }
        Ok(Self(octets))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_group_bit_is_the_lowest_of_the_first_octet() {
        assert!(MacAddr::BROADCAST.is_group());
        assert!(MacAddr([0x33, 0x33, 0, 0, 0, 1]).is_group());
        assert!(!MacAddr([0x02, 0, 0, 0, 0, 1]).is_group());
        assert_eq!(MacAddr([0x01, 2, 3, 4, 5, 6]).individual(), MacAddr([0x00, 2, 3, 4, 5, 6]));
    }

    #[test]
    fn malformed_text_is_refused() {
        for text in
            ["", "00:11:22:33:44", "00:11:22:33:44:5", "00:11-22:33:44:55", "0g:11:22:33:44:55", "+0:11:22:33:44:55"]
        {
            assert_eq!(text.parse::<MacAddr>(), Err(ParseMacAddrError), "{text}");
        }
        assert_eq!("00-0C-41-82-B2-55".parse(), Ok(MacAddr([0, 0x0c, 0x41, 0x82, 0xb2, 0x55])));
    }

    #[test]
    fn width_and_alignment_of_a_format_apply() {
        assert_eq!(format!("{:<19}|", MacAddr::ZERO), "00:00:00:00:00:00  |");
    }

    proptest! {
        #[test]
        fn text_and_number_round_trip(octets: [u8; 6]) {
            let address = MacAddr(octets);
            prop_assert_eq!(address.to_string().parse(), Ok(address));
            prop_assert_eq!(MacAddr::from_u64(address.as_u64()), address);
        }

        #[test]
        fn distance_counts_flipped_bits(octets: [u8; 6], bits in proptest::collection::btree_set(0u32..48, 0..48)) {
            let address = MacAddr(octets);
            let flipped = bits.iter().fold(address.as_u64(), |value, bit| value ^ (1 << bit));
            prop_assert_eq!(address.bit_distance(MacAddr::from_u64(flipped)), bits.len() as u32);
        }

        #[test]
        fn parsing_never_panics(text in "\\PC{0,20}") {
            let _ = text.parse::<MacAddr>();
        }
    }
}
