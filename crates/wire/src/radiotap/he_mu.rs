//! Field 24: what HE-SIG-A and HE-SIG-B say of an HE MU PPDU as a whole.

use super::bytes::le16;
use crate::phy::{Allocation, Bandwidth, SigB};

/// Bytes of the field.
pub const HE_MU_BYTES: usize = 12;

mod flags1 {
    pub(super) const MCS: u16 = 0x000f;
    pub(super) const MCS_KNOWN: u16 = 0x0010;
    pub(super) const DCM: u16 = 0x0020;
    pub(super) const DCM_KNOWN: u16 = 0x0040;
    pub(super) const CENTER_2_KNOWN: u16 = 0x0080;
    pub(super) const CHANNEL_1_KNOWN: u16 = 0x0100;
    pub(super) const CHANNEL_2_KNOWN: u16 = 0x0200;
    pub(super) const CENTER_1_KNOWN: u16 = 0x1000;
    pub(super) const CENTER_1: u16 = 0x2000;
    pub(super) const COMPRESSION_KNOWN: u16 = 0x4000;
    pub(super) const COUNT_KNOWN: u16 = 0x8000;
}

mod flags2 {
    pub(super) const WIDTH_KNOWN: u16 = 0x0004;
    pub(super) const COMPRESSION: u16 = 0x0008;
    pub(super) const COUNT_SHIFT: u32 = 4;
    pub(super) const PUNCTURING_SHIFT: u32 = 8;
    pub(super) const PUNCTURING_KNOWN: u16 = 0x0400;
    pub(super) const CENTER_2: u16 = 0x0800;
}

/// The HE-MU field; `None` for what the receiver does not know.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HeMu {
    /// MCS of HE-SIG-B, 0 to 15.
    pub sig_b_mcs: Option<u8>,
    /// HE-SIG-B has dual carrier modulation.
    pub sig_b_dcm: Option<bool>,
    /// HE-SIG-B has no common field: all users are in the whole band (MU-MIMO).
    pub sig_b_compression: Option<bool>,
    /// HE-SIG-B symbols, or users where HE-SIG-B is compressed: 1 to 16.
    pub symbols_or_users: Option<u8>,
    /// Width of the PPDU, 20 to 160 MHz.
    pub width: Option<Bandwidth>,
    /// Preamble puncturing, 0 (none) to 3.
    pub puncturing: Option<u8>,
    /// RU Allocation subfields of the two content channels, as many of each as the width has.
    pub channels: [Option<[u8; 4]>; 2],
    /// Center 26-tone RU of the lower and, at 160 MHz, of the upper 80 MHz.
    pub center: [Option<bool>; 2],
}

/// Width codes of HE-SIG-A, in the low two bits.
pub(super) const fn he_width(code: u16) -> Bandwidth {
    match code & 0x03 {
        0 => Bandwidth::Mhz20,
        1 => Bandwidth::Mhz40,
        2 => Bandwidth::Mhz80,
        _ => Bandwidth::Mhz160,
    }
}

const fn width_code(width: Bandwidth) -> u16 {
    match width {
        Bandwidth::Mhz5 | Bandwidth::Mhz10 | Bandwidth::Mhz20 => 0,
        Bandwidth::Mhz40 => 1,
        Bandwidth::Mhz80 => 2,
        Bandwidth::Mhz160 | Bandwidth::Mhz320 => 3,
    }
}

impl HeMu {
    /// Reads the field; bytes that are not there are zero.
    pub fn parse(data: &[u8]) -> Self {
        use {flags1 as f1, flags2 as f2};
        let (one, two) = (le16(data, 0), le16(data, 2));
        let channel = |at: usize| core::array::from_fn(|index| data.get(at + index).copied().unwrap_or(0));
        Self {
            sig_b_mcs: (one & f1::MCS_KNOWN != 0).then_some((one & f1::MCS) as u8),
            sig_b_dcm: (one & f1::DCM_KNOWN != 0).then_some(one & f1::DCM != 0),
            sig_b_compression: (one & f1::COMPRESSION_KNOWN != 0).then_some(two & f2::COMPRESSION != 0),
            symbols_or_users: (one & f1::COUNT_KNOWN != 0).then_some((two >> f2::COUNT_SHIFT & 0x0f) as u8 + 1),
            width: (two & f2::WIDTH_KNOWN != 0).then_some(he_width(two)),
            puncturing: (two & f2::PUNCTURING_KNOWN != 0).then_some((two >> f2::PUNCTURING_SHIFT & 0x03) as u8),
            channels: [
                (one & f1::CHANNEL_1_KNOWN != 0).then(|| channel(4)),
                (one & f1::CHANNEL_2_KNOWN != 0).then(|| channel(8)),
            ],
            center: [
                (one & f1::CENTER_1_KNOWN != 0).then_some(one & f1::CENTER_1 != 0),
                (one & f1::CENTER_2_KNOWN != 0).then_some(two & f2::CENTER_2 != 0),
            ],
        }
    }

    /// Writes the field.
    pub fn emit(&self) -> [u8; HE_MU_BYTES] {
        use {flags1 as f1, flags2 as f2};
        let flag = |value: Option<bool>, bit: u16| if value == Some(true) { bit } else { 0 };
        let known = |is_known: bool, bit: u16| if is_known { bit } else { 0 };
        let [channel_1, channel_2] = self.channels;
        let [center_1, center_2] = self.center;
        let one = u16::from(self.sig_b_mcs.unwrap_or(0)) & f1::MCS
            | known(self.sig_b_mcs.is_some(), f1::MCS_KNOWN)
            | flag(self.sig_b_dcm, f1::DCM)
            | known(self.sig_b_dcm.is_some(), f1::DCM_KNOWN)
            | known(center_2.is_some(), f1::CENTER_2_KNOWN)
            | known(channel_1.is_some(), f1::CHANNEL_1_KNOWN)
            | known(channel_2.is_some(), f1::CHANNEL_2_KNOWN)
            | known(center_1.is_some(), f1::CENTER_1_KNOWN)
            | flag(center_1, f1::CENTER_1)
            | known(self.sig_b_compression.is_some(), f1::COMPRESSION_KNOWN)
            | known(self.symbols_or_users.is_some(), f1::COUNT_KNOWN);
        let two = self.width.map_or(0, width_code)
            | known(self.width.is_some(), f2::WIDTH_KNOWN)
            | flag(self.sig_b_compression, f2::COMPRESSION)
            | (u16::from(self.symbols_or_users.unwrap_or(1).saturating_sub(1)) & 0x0f) << f2::COUNT_SHIFT
            | (u16::from(self.puncturing.unwrap_or(0)) & 0x03) << f2::PUNCTURING_SHIFT
            | known(self.puncturing.is_some(), f2::PUNCTURING_KNOWN)
            | flag(center_2, f2::CENTER_2);
        let [a, b] = one.to_le_bytes();
        let [c, d] = two.to_le_bytes();
        let [[e, f, g, h], [i, j, k, l]] = self.channels.map(Option::unwrap_or_default);
        [a, b, c, d, e, f, g, h, i, j, k, l]
    }

    /// HE-SIG-B, as far as the field shows it.
    pub fn sig_b(&self) -> SigB {
        let (mcs, dcm, count) = (self.sig_b_mcs, self.sig_b_dcm, self.symbols_or_users);
        match (self.sig_b_compression, self.width) {
            (Some(false), _) => SigB::with_symbols(mcs, dcm, count),
            (Some(true), Some(Bandwidth::Mhz20)) => SigB::compressed(mcs, dcm, count, 1),
            (Some(true), Some(_)) => SigB::compressed(mcs, dcm, count, 2),
            _ => SigB::with_symbols(mcs, dcm, None),
        }
    }

    /// Units and users of the PPDU, where the field gives all of them.
    pub fn allocation(&self) -> Option<Allocation> {
        let width = self.width?;
        match self.sig_b_compression? {
            true => Allocation::whole_band(width, self.symbols_or_users?),
            false => Allocation::of_he(width, self.channels, self.center),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    pub(super) fn any_he_mu() -> impl Strategy<Value = HeMu> {
        let widths = vec![Bandwidth::Mhz20, Bandwidth::Mhz40, Bandwidth::Mhz80, Bandwidth::Mhz160];
        (
            prop::option::of(0u8..16),
            any::<[Option<bool>; 4]>(),
            prop::option::of(1u8..=16),
            prop::option::of(prop::sample::select(widths)),
            prop::option::of(0u8..4),
            any::<[Option<[u8; 4]>; 2]>(),
        )
            .prop_map(|(sig_b_mcs, [dcm, compression, lower, upper], count, width, puncturing, channels)| {
                HeMu {
                    sig_b_mcs,
                    sig_b_dcm: dcm,
                    sig_b_compression: compression,
                    symbols_or_users: count,
                    width,
                    puncturing,
                    channels,
                    center: [lower, upper],
                }
            })
    }

    proptest! {
        #[test]
        fn what_was_written_is_read_again(field in any_he_mu()) {
            prop_assert_eq!(HeMu::parse(&field.emit()), field);
        }

        /// Whatever is in the reserved bits, and however short the data.
        #[test]
        fn any_bytes_are_read(bytes in prop::collection::vec(any::<u8>(), 0..20)) {
            let field = HeMu::parse(&bytes);
            let _ = (field.allocation(), field.sig_b());
            prop_assert_eq!(HeMu::parse(&field.emit()), field);
        }
    }

    #[test]
    fn users_of_a_compressed_sig_b() {
        let field = HeMu {
            sig_b_compression: Some(true),
            symbols_or_users: Some(4),
            width: Some(Bandwidth::Mhz40),
            channels: [Some([0; 4]); 2],
            ..HeMu::default()
        };
        assert_eq!(field.allocation(), Allocation::whole_band(Bandwidth::Mhz40, 4));
        let sent = HeMu { sig_b_mcs: Some(0), sig_b_dcm: Some(false), ..field };
        assert_eq!(sent.sig_b().symbols, Some(2), "two users in each channel: 52 bits");
        assert_eq!(HeMu { width: Some(Bandwidth::Mhz20), ..sent }.sig_b().symbols, Some(4));
        assert_eq!(HeMu { sig_b_compression: Some(false), ..sent }.sig_b().symbols, Some(4), "as given");
        assert_eq!((field.sig_b().symbols, HeMu { sig_b_compression: None, ..sent }.sig_b().symbols), (None, None));
        assert_eq!(HeMu { sig_b_compression: None, ..field }.allocation(), None, "symbols or users?");
        let units = HeMu { sig_b_compression: Some(false), ..field };
        assert_eq!(units.allocation().map(|all| all.users), Some(18));
    }
}
