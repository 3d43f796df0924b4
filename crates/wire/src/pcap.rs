//! Classic pcap: the 24-byte file header and the record headers.
//!
//! Source: IETF draft-ietf-opsawg-pcap ("PCAP Capture File Format") and libpcap's `pcap/pcap.h` and `sf-pcap.c` for the
//! variants that the draft leaves out (24-byte record headers of patched libpcap 0.9, exchanged lengths before version
//! 2.4).

use crate::linktype::LinkType;

/// Byte order of every number in a file (pcap) or a section (pcapng).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ByteOrder {
    /// Least significant byte first.
    Little,
    /// Most significant byte first.
    Big,
}

impl ByteOrder {
    /// A 16-bit number.
    #[inline]
    pub const fn u16(self, bytes: [u8; 2]) -> u16 {
        match self {
            Self::Little => u16::from_le_bytes(bytes),
            Self::Big => u16::from_be_bytes(bytes),
        }
    }

    /// A 32-bit number.
    #[inline]
    pub const fn u32(self, bytes: [u8; 4]) -> u32 {
        match self {
            Self::Little => u32::from_le_bytes(bytes),
            Self::Big => u32::from_be_bytes(bytes),
        }
    }

    /// A 64-bit number.
    #[inline]
    pub const fn u64(self, bytes: [u8; 8]) -> u64 {
        match self {
            Self::Little => u64::from_le_bytes(bytes),
            Self::Big => u64::from_be_bytes(bytes),
        }
    }

    /// The bytes of a 16-bit number.
    pub const fn u16_bytes(self, value: u16) -> [u8; 2] {
        match self {
            Self::Little => value.to_le_bytes(),
            Self::Big => value.to_be_bytes(),
        }
    }

    /// The bytes of a 32-bit number.
    pub const fn u32_bytes(self, value: u32) -> [u8; 4] {
        match self {
            Self::Little => value.to_le_bytes(),
            Self::Big => value.to_be_bytes(),
        }
    }

    /// The bytes of a 64-bit number.
    pub const fn u64_bytes(self, value: u64) -> [u8; 8] {
        match self {
            Self::Little => value.to_le_bytes(),
            Self::Big => value.to_be_bytes(),
        }
    }

    /// The 32-bit number at `at`, `None` past the end.
    #[inline]
    pub fn u32_at(self, bytes: &[u8], at: usize) -> Option<u32> {
        Some(self.u32(*bytes.get(at..)?.first_chunk()?))
    }

    /// The 16-bit number at `at`, `None` past the end.
    #[inline]
    pub fn u16_at(self, bytes: &[u8], at: usize) -> Option<u16> {
        Some(self.u16(*bytes.get(at..)?.first_chunk()?))
    }

    /// The 64-bit number at `at`, `None` past the end.
    #[inline]
    pub fn u64_at(self, bytes: &[u8], at: usize) -> Option<u64> {
        Some(self.u64(*bytes.get(at..)?.first_chunk()?))
    }
}

/// What the fraction of a record's time counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fraction {
    /// Microseconds.
    Micros,
    /// Nanoseconds.
    Nanos,
}

impl Fraction {
    /// Nanoseconds of one unit.
    pub const fn unit_ns(self) -> i64 {
        match self {
            Self::Micros => 1000,
            Self::Nanos => 1,
        }
    }
}

/// The flavour of the file, from its magic number together with the byte order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flavour {
    /// 16-byte record headers.
    Standard(Fraction),
    /// libpcap patched by A. Kuznetsov (magic 0xa1b2cd34): 24-byte record headers that also hold the interface index,
    /// the protocol and the packet type; microseconds.
    Modified,
}

const MAGIC_MICROS: u32 = 0xa1b2_c3d4;
const MAGIC_NANOS: u32 = 0xa1b2_3c4d;
const MAGIC_MODIFIED: u32 = 0xa1b2_cd34;

/// Bytes of the file header.
pub const FILE_HEADER_LEN: usize = 24;

/// The byte order and flavour that the first four bytes of a file give; `None` if this is not a pcap file.
pub fn recognise(magic: [u8; 4]) -> Option<(ByteOrder, Flavour)> {
    [ByteOrder::Little, ByteOrder::Big].into_iter().find_map(|order| {
        Some(match order.u32(magic) {
            MAGIC_MICROS => (order, Flavour::Standard(Fraction::Micros)),
            MAGIC_NANOS => (order, Flavour::Standard(Fraction::Nanos)),
            MAGIC_MODIFIED => (order, Flavour::Modified),
            _ => return None,
        })
    })
}

/// How the two lengths of a record are stored (libpcap `sf-pcap.c`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LengthOrder {
    /// Captured length, then original length: version 2.4.
    CapturedFirst,
    /// Original length, then captured length: before version 2.3.
    OriginalFirst,
    /// Version 2.3: either; the captured length is the smaller one.
    SmallerIsCaptured,
}

/// The file header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileHeader {
    /// Byte order of the file header and of all record headers.
    pub byte_order: ByteOrder,
    /// Record header layout and unit of the fraction.
    pub flavour: Flavour,
    /// Major and minor version, (2, 4) today.
    pub version: (u16, u16),
    /// Largest captured length the writer intended, in bytes; real files exceed it.
    pub snap_len: u32,
    /// Link-layer header type of every record.
    pub link_type: LinkType,
    /// Bytes of frame check sequence at the end of each frame, where the writer said so.
    pub fcs_len: Option<u8>,
}

impl FileHeader {
    /// Reads the header; `None` if the magic number is not pcap's.
    pub fn parse(bytes: &[u8; FILE_HEADER_LEN]) -> Option<Self> {
        let (byte_order, flavour) = recognise(*bytes.first_chunk()?)?;
        let network = byte_order.u32_at(bytes, 20)?;
        Some(Self {
            byte_order,
            flavour,
            version: (byte_order.u16_at(bytes, 4)?, byte_order.u16_at(bytes, 6)?),
            snap_len: byte_order.u32_at(bytes, 16)?,
            link_type: LinkType(network & 0x03ff_ffff),
            // Bit 26 says that the top four bits hold the FCS length, in units of 16 bits.
            fcs_len: (network & 0x0400_0000 != 0).then_some(((network >> 28) * 2) as u8),
        })
    }

    /// The header's bytes. An odd `fcs_len` is rounded down, the format counts 16-bit words.
    pub fn emit(&self) -> [u8; FILE_HEADER_LEN] {
        let o = self.byte_order;
        let magic = match self.flavour {
            Flavour::Standard(Fraction::Micros) => MAGIC_MICROS,
            Flavour::Standard(Fraction::Nanos) => MAGIC_NANOS,
            Flavour::Modified => MAGIC_MODIFIED,
        };
        let fcs = self.fcs_len.map_or(0, |n| 0x0400_0000 | (u32::from(n / 2) & 0xf) << 28);
        let mut out = [0; FILE_HEADER_LEN];
        out[0..4].copy_from_slice(&o.u32_bytes(magic));
        out[4..6].copy_from_slice(&o.u16_bytes(self.version.0));
        out[6..8].copy_from_slice(&o.u16_bytes(self.version.1));
        out[16..20].copy_from_slice(&o.u32_bytes(self.snap_len));
        out[20..24].copy_from_slice(&o.u32_bytes(self.link_type.0 & 0x03ff_ffff | fcs));
        out
    }

    /// How the lengths are stored; `None` for a version this layout does not describe.
    pub const fn length_order(&self) -> Option<LengthOrder> {
        match self.version {
            (2, 0..=2) => Some(LengthOrder::OriginalFirst),
            (2, 3) => Some(LengthOrder::SmallerIsCaptured),
            (2, 4) => Some(LengthOrder::CapturedFirst),
            _ => None,
        }
    }

    /// Bytes of each record header.
    pub const fn record_header_len(&self) -> usize {
        match self.flavour {
            Flavour::Standard(_) => 16,
            Flavour::Modified => 24,
        }
    }

    /// Unit of the fraction.
    pub const fn fraction(&self) -> Fraction {
        match self.flavour {
            Flavour::Standard(fraction) => fraction,
            Flavour::Modified => Fraction::Micros,
        }
    }
}

/// The first 16 bytes of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecordHeader {
    /// Seconds since 1970-01-01 UTC.
    pub seconds: u32,
    /// Micro- or nanoseconds, as [`FileHeader::fraction`] says. Real files hold one second and more, and negative numbers
    /// (two's complement).
    pub fraction: u32,
    /// Bytes that follow the record header.
    pub captured_len: u32,
    /// Bytes that were on the wire.
    pub original_len: u32,
}

impl RecordHeader {
    /// Bytes of the header, without the eight more of [`Flavour::Modified`].
    pub const LEN: usize = 16;

    /// Reads the header.
    #[inline]
    pub fn parse(bytes: &[u8; Self::LEN], byte_order: ByteOrder, lengths: LengthOrder) -> Self {
        let [s0, s1, s2, s3, f0, f1, f2, f3, a0, a1, a2, a3, b0, b1, b2, b3] = *bytes;
        let (first, second) = (byte_order.u32([a0, a1, a2, a3]), byte_order.u32([b0, b1, b2, b3]));
        let (captured_len, original_len) = match lengths {
            LengthOrder::CapturedFirst => (first, second),
            LengthOrder::OriginalFirst => (second, first),
            LengthOrder::SmallerIsCaptured => (first.min(second), first.max(second)),
        };
        Self {
            seconds: byte_order.u32([s0, s1, s2, s3]),
            fraction: byte_order.u32([f0, f1, f2, f3]),
            captured_len,
            original_len,
        }
    }

    /// The header's bytes, captured length first (version 2.4).
    pub fn emit(&self, byte_order: ByteOrder) -> [u8; Self::LEN] {
        let mut out = [0; Self::LEN];
        out[0..4].copy_from_slice(&byte_order.u32_bytes(self.seconds));
        out[4..8].copy_from_slice(&byte_order.u32_bytes(self.fraction));
        out[8..12].copy_from_slice(&byte_order.u32_bytes(self.captured_len));
        out[12..16].copy_from_slice(&byte_order.u32_bytes(self.original_len));
        out
    }

    /// Nanoseconds since 1970-01-01 UTC.
    #[inline]
    pub fn time_ns(&self, fraction: Fraction) -> i64 {
        i64::from(self.seconds) * 1_000_000_000 + i64::from(self.fraction as i32) * fraction.unit_ns()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn magic_numbers_of_both_orders() {
        let micros = Flavour::Standard(Fraction::Micros);
        assert_eq!(recognise([0xd4, 0xc3, 0xb2, 0xa1]), Some((ByteOrder::Little, micros)));
        assert_eq!(recognise([0xa1, 0xb2, 0xc3, 0xd4]), Some((ByteOrder::Big, micros)));
        assert_eq!(recognise([0x4d, 0x3c, 0xb2, 0xa1]), Some((ByteOrder::Little, Flavour::Standard(Fraction::Nanos))));
        assert_eq!(recognise([0xa1, 0xb2, 0xcd, 0x34]), Some((ByteOrder::Big, Flavour::Modified)));
        assert_eq!(recognise(*b"\x0a\x0d\x0d\x0a"), None);
    }

    #[test]
    fn file_header_round_trip_with_fcs_length() {
        let header = FileHeader {
            byte_order: ByteOrder::Big,
            flavour: Flavour::Standard(Fraction::Nanos),
            version: (2, 4),
            snap_len: 65_535,
            link_type: LinkType::IEEE802_11_RADIOTAP,
            fcs_len: Some(4),
        };
        let bytes = header.emit();
        assert_eq!(bytes[20..24], [0x24, 0, 0, 127]);
        assert_eq!(FileHeader::parse(&bytes), Some(header));
    }

    #[test]
    fn fractions_beyond_a_second_and_below_zero() {
        let time_ns = |fraction: u32| {
            let header = RecordHeader { seconds: 7, fraction, captured_len: 0, original_len: 0 };
            header.time_ns(Fraction::Micros)
        };
        assert_eq!(time_ns(1_000_046), 8_000_046_000);
        assert_eq!(time_ns(-14i32 as u32), 6_999_986_000);
    }

    #[test]
    fn old_versions_exchange_the_lengths() {
        let header = RecordHeader { seconds: 1, fraction: 2, captured_len: 60, original_len: 1500 };
        let bytes = header.emit(ByteOrder::Little);
        let read = |lengths| RecordHeader::parse(&bytes, ByteOrder::Little, lengths);
        assert_eq!(read(LengthOrder::CapturedFirst), header);
        assert_eq!(read(LengthOrder::SmallerIsCaptured), header);
        assert_eq!(read(LengthOrder::OriginalFirst).captured_len, 1500);
    }
}
