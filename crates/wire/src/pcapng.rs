//! pcapng blocks: section header, interface description, packets (enhanced, simple, obsolete), interface statistics.
//!
//! Source: IETF draft-ietf-opsawg-pcapng ("PCAP Next Generation Capture File Format"). Every block is type (u32), total
//! length (u32, all of the block), body, total length again. Functions named `parse` take the *body*; functions named
//! `emit` append a whole block.

use crate::linktype::LinkType;
use crate::pcap::ByteOrder;

/// Block type numbers.
pub mod block_type {
    /// Section Header Block; reads the same in both byte orders.
    pub const SECTION_HEADER: u32 = 0x0a0d_0d0a;
    /// Interface Description Block.
    pub const INTERFACE_DESCRIPTION: u32 = 1;
    /// Packet Block, obsolete.
    pub const PACKET: u32 = 2;
    /// Simple Packet Block.
    pub const SIMPLE_PACKET: u32 = 3;
    /// Interface Statistics Block.
    pub const INTERFACE_STATISTICS: u32 = 5;
    /// Enhanced Packet Block.
    pub const ENHANCED_PACKET: u32 = 6;
}

/// Type and total length before the body.
pub const BLOCK_HEADER_LEN: usize = 8;
/// Type, total length and the repeated total length: a block with an empty body.
pub const BLOCK_OVERHEAD: usize = 12;
/// Body bytes of an enhanced packet before the captured bytes.
pub const ENHANCED_PACKET_FIXED_LEN: usize = 20;
/// Body bytes of an obsolete packet before the captured bytes.
pub const PACKET_FIXED_LEN: usize = 20;
/// Body bytes of a simple packet before the captured bytes.
pub const SIMPLE_PACKET_FIXED_LEN: usize = 4;

const BYTE_ORDER_MAGIC: u32 = 0x1a2b_3c4d;

/// The byte order that a section header's first body word shows.
pub fn section_byte_order(magic: [u8; 4]) -> Option<ByteOrder> {
    [ByteOrder::Little, ByteOrder::Big].into_iter().find(|order| order.u32(magic) == BYTE_ORDER_MAGIC)
}

/// `len` rounded up to the 32-bit boundary that bodies and options are padded to.
#[inline]
pub const fn padded(len: usize) -> usize {
    len.saturating_add(3) & !3
}

/// One option: code and value, without padding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OptionField<'a> {
    /// Option code; its meaning depends on the block.
    pub code: u16,
    /// The value's bytes.
    pub value: &'a [u8],
}

/// The options at the end of a body, up to `opt_endofopt`, the end, or the first option that runs past the end.
#[derive(Clone, Debug)]
pub struct Options<'a> {
    rest: &'a [u8],
    byte_order: ByteOrder,
}

impl<'a> Options<'a> {
    /// Options in `bytes`.
    pub const fn new(bytes: &'a [u8], byte_order: ByteOrder) -> Self {
        Self { rest: bytes, byte_order }
    }
}

impl<'a> Iterator for Options<'a> {
    type Item = OptionField<'a>;

    fn next(&mut self) -> Option<Self::Item> {
        let code = self.byte_order.u16_at(self.rest, 0)?;
        let len = usize::from(self.byte_order.u16_at(self.rest, 2)?);
        let value = self.rest.get(4..4 + len);
        if code == 0 || value.is_none() {
            self.rest = &[];
            return None;
        }
        self.rest = self.rest.get(4 + padded(len)..).unwrap_or_default();
        value.map(|value| OptionField { code, value })
    }
}

/// Appends one option with its padding.
pub fn emit_option(out: &mut Vec<u8>, byte_order: ByteOrder, code: u16, value: &[u8]) {
    // A longer value cannot be written: the length field has 16 bits.
    let value = value.get(..usize::from(u16::MAX)).unwrap_or(value);
    out.extend_from_slice(&byte_order.u16_bytes(code));
    out.extend_from_slice(&byte_order.u16_bytes(value.len() as u16));
    out.extend_from_slice(value);
    out.resize(out.len() + padded(value.len()) - value.len(), 0);
}

/// Appends a whole block around what `body` writes; the body must end on a 32-bit boundary.
pub fn emit_block(out: &mut Vec<u8>, byte_order: ByteOrder, block_type: u32, body: impl FnOnce(&mut Vec<u8>)) {
    let start = out.len();
    out.extend_from_slice(&byte_order.u32_bytes(block_type));
    out.extend_from_slice(&[0; 4]);
    body(out);
    let total = byte_order.u32_bytes((out.len() - start + 4) as u32);
    if let Some(length) = out.get_mut(start + 4..start + 8) {
        length.copy_from_slice(&total);
    }
    out.extend_from_slice(&total);
}

/// How the options of a block being written end: not at all if there are none.
fn emit_end_of_options(out: &mut Vec<u8>, options_start: usize) {
    if out.len() > options_start {
        out.extend_from_slice(&[0; 4]);
    }
}

/// Section Header Block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SectionHeader<'a> {
    /// Byte order of the section.
    pub byte_order: ByteOrder,
    /// Major and minor version, (1, 0) today; (1, 2) is to be read as (1, 0).
    pub version: (u16, u16),
    /// Bytes of the section after this block, where the writer knew.
    pub section_len: Option<u64>,
    /// `shb_hardware`, code 2.
    pub hardware: Option<&'a [u8]>,
    /// `shb_os`, code 3.
    pub os: Option<&'a [u8]>,
    /// `shb_userappl`, code 4.
    pub application: Option<&'a [u8]>,
}

impl<'a> SectionHeader<'a> {
    /// Reads the body; `None` if it is too short or holds no byte-order magic.
    pub fn parse(body: &'a [u8]) -> Option<Self> {
        let byte_order = section_byte_order(*body.first_chunk()?)?;
        let section_len = byte_order.u64_at(body, 8)?;
        let mut header = Self {
            byte_order,
            version: (byte_order.u16_at(body, 4)?, byte_order.u16_at(body, 6)?),
            section_len: (section_len != u64::MAX).then_some(section_len),
            hardware: None,
            os: None,
            application: None,
        };
        for option in Options::new(body.get(16..)?, byte_order) {
            match option.code {
                2 => header.hardware = Some(option.value),
                3 => header.os = Some(option.value),
                4 => header.application = Some(option.value),
                _ => {}
            }
        }
        Some(header)
    }

    /// Appends the block.
    pub fn emit(&self, out: &mut Vec<u8>) {
        let order = self.byte_order;
        emit_block(out, order, block_type::SECTION_HEADER, |out| {
            out.extend_from_slice(&order.u32_bytes(BYTE_ORDER_MAGIC));
            out.extend_from_slice(&order.u16_bytes(self.version.0));
            out.extend_from_slice(&order.u16_bytes(self.version.1));
            out.extend_from_slice(&order.u64_bytes(self.section_len.unwrap_or(u64::MAX)));
            let options_start = out.len();
            for (code, value) in [(2, self.hardware), (3, self.os), (4, self.application)] {
                if let Some(value) = value {
                    emit_option(out, order, code, value);
                }
            }
            emit_end_of_options(out, options_start);
        });
    }
}

/// Unit of an interface's timestamps (`if_tsresol`): ticks per second.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TickRate {
    /// 10^n ticks per second; 6 where the option is absent.
    Decimal(u8),
    /// 2^n ticks per second.
    Binary(u8),
}

impl TickRate {
    /// Microseconds, the default.
    pub const MICROS: Self = Self::Decimal(6);
    /// Nanoseconds.
    pub const NANOS: Self = Self::Decimal(9);

    /// From the option's byte: the top bit chooses base 2.
    pub const fn from_byte(byte: u8) -> Self {
        if byte & 0x80 == 0 {
            Self::Decimal(byte)
        } else {
            Self::Binary(byte & 0x7f)
        }
    }

    /// The option's byte.
    pub const fn to_byte(self) -> u8 {
        match self {
            Self::Decimal(n) => n & 0x7f,
            Self::Binary(n) => n | 0x80,
        }
    }

    /// Nanoseconds since 1970-01-01 UTC of `ticks` counted from `offset_s` seconds after that instant, rounded down;
    /// `None` outside the range of `i64` (years 1677 to 2262).
    #[inline]
    pub fn time_ns(self, ticks: u64, offset_s: i64) -> Option<i64> {
        let since_offset = match self {
            Self::Decimal(9) => i64::try_from(ticks).ok()?,
            Self::Decimal(6) => i64::try_from(ticks).ok()?.checked_mul(1000)?,
            Self::Decimal(n @ 0..=8) => i64::try_from(ticks.checked_mul(10u64.checked_pow(9 - u32::from(n))?)?).ok()?,
            // More than 19 digits below the nanosecond: 64 bits of ticks are less than one nanosecond.
            Self::Decimal(n) => match 10u64.checked_pow(u32::from(n) - 9) {
                Some(ticks_per_ns) => i64::try_from(ticks / ticks_per_ns).ok()?,
                None => 0,
            },
            Self::Binary(n) => {
                let ns = u128::from(ticks) * 1_000_000_000;
                i64::try_from(ns.checked_shr(u32::from(n)).unwrap_or(0)).ok()?
            }
        };
        if offset_s == 0 {
            return Some(since_offset);
        }
        offset_s.checked_mul(1_000_000_000)?.checked_add(since_offset)
    }

    /// Ticks after `offset_s` that hold `time_ns`, rounded down; `None` before the offset or past 64 bits.
    pub fn ticks(self, time_ns: i64, offset_s: i64) -> Option<u64> {
        let ns = u128::try_from(i128::from(time_ns) - i128::from(offset_s) * 1_000_000_000).ok()?;
        let ticks = match self {
            Self::Decimal(n @ 0..=9) => ns / 10u128.pow(9 - u32::from(n)),
            Self::Decimal(n) => ns.checked_mul(10u128.checked_pow(u32::from(n) - 9)?)?,
            // Rounded up, so that reading (which rounds down) gives back the same nanosecond wherever a tick is finer.
            Self::Binary(n) => ns.checked_mul(1u128.checked_shl(u32::from(n))?)?.div_ceil(1_000_000_000),
        };
        u64::try_from(ticks).ok()
    }
}

/// Interface Description Block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InterfaceDescription<'a> {
    /// Link-layer header type.
    pub link_type: LinkType,
    /// Largest captured length in bytes; 0 is "no limit".
    pub snap_len: u32,
    /// `if_name`, code 2.
    pub name: Option<&'a [u8]>,
    /// `if_description`, code 3.
    pub description: Option<&'a [u8]>,
    /// `if_tsresol`, code 9.
    pub tick_rate: TickRate,
    /// `if_fcslen`, code 13: bytes of frame check sequence in each frame.
    pub fcs_len: Option<u8>,
    /// `if_tsoffset`, code 14: seconds added to every timestamp.
    pub offset_s: i64,
}

impl<'a> InterfaceDescription<'a> {
    /// Reads the body; `None` if it is too short.
    pub fn parse(body: &'a [u8], byte_order: ByteOrder) -> Option<Self> {
        let mut interface = Self {
            link_type: LinkType(u32::from(byte_order.u16_at(body, 0)?)),
            snap_len: byte_order.u32_at(body, 4)?,
            name: None,
            description: None,
            tick_rate: TickRate::MICROS,
            fcs_len: None,
            offset_s: 0,
        };
        for OptionField { code, value } in Options::new(body.get(8..)?, byte_order) {
            match (code, value) {
                (2, name) => interface.name = Some(name),
                (3, description) => interface.description = Some(description),
                (9, &[byte]) => interface.tick_rate = TickRate::from_byte(byte),
                (13, &[bytes]) => interface.fcs_len = Some(bytes),
                (14, offset) if offset.len() == 8 => interface.offset_s = byte_order.u64_at(offset, 0)? as i64,
                _ => {}
            }
        }
        Some(interface)
    }

    /// Appends the block. Only the low 16 bits of the link type fit.
    pub fn emit(&self, out: &mut Vec<u8>, order: ByteOrder) {
        emit_block(out, order, block_type::INTERFACE_DESCRIPTION, |out| {
            out.extend_from_slice(&order.u16_bytes(self.link_type.0 as u16));
            out.extend_from_slice(&[0; 2]);
            out.extend_from_slice(&order.u32_bytes(self.snap_len));
            let options_start = out.len();
            for (code, value) in [(2, self.name), (3, self.description)] {
                if let Some(value) = value {
                    emit_option(out, order, code, value);
                }
            }
            if self.tick_rate != TickRate::MICROS {
                emit_option(out, order, 9, &[self.tick_rate.to_byte()]);
            }
            if let Some(bytes) = self.fcs_len {
                emit_option(out, order, 13, &[bytes]);
            }
            if self.offset_s != 0 {
                emit_option(out, order, 14, &order.u64_bytes(self.offset_s as u64));
            }
            emit_end_of_options(out, options_start);
        });
    }
}

/// What an enhanced or an obsolete packet says before its captured bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PacketHeader {
    /// Index among the section's interface descriptions.
    pub interface: u32,
    /// Time in the interface's ticks.
    pub ticks: u64,
    /// Captured bytes in the block.
    pub captured_len: u32,
    /// Bytes that were on the wire.
    pub original_len: u32,
    /// Obsolete packets only: packets dropped since the one before, where the writer knew.
    pub drops: Option<u16>,
}

impl PacketHeader {
    /// Reads the fixed part of an Enhanced Packet Block.
    #[inline]
    pub fn parse_enhanced(body: &[u8; ENHANCED_PACKET_FIXED_LEN], order: ByteOrder) -> Self {
        let [i0, i1, i2, i3, rest @ ..] = *body;
        Self::parse_after_interface(order.u32([i0, i1, i2, i3]), None, &rest, order)
    }

    /// Reads the fixed part of an obsolete Packet Block.
    pub fn parse_obsolete(body: &[u8; PACKET_FIXED_LEN], order: ByteOrder) -> Self {
        let [i0, i1, d0, d1, rest @ ..] = *body;
        let drops = order.u16([d0, d1]);
        let drops = (drops != u16::MAX).then_some(drops);
        Self::parse_after_interface(u32::from(order.u16([i0, i1])), drops, &rest, order)
    }

    #[inline]
    fn parse_after_interface(interface: u32, drops: Option<u16>, rest: &[u8; 16], order: ByteOrder) -> Self {
        let [h0, h1, h2, h3, l0, l1, l2, l3, c0, c1, c2, c3, o0, o1, o2, o3] = *rest;
        Self {
            interface,
            ticks: u64::from(order.u32([h0, h1, h2, h3])) << 32 | u64::from(order.u32([l0, l1, l2, l3])),
            captured_len: order.u32([c0, c1, c2, c3]),
            original_len: order.u32([o0, o1, o2, o3]),
            drops,
        }
    }

    /// Appends an Enhanced Packet Block without options; `data` gives the captured length.
    pub fn emit_enhanced(&self, out: &mut Vec<u8>, order: ByteOrder, data: &[u8]) {
        emit_block(out, order, block_type::ENHANCED_PACKET, |out| {
            let captured_len = data.len() as u32;
            let words = [self.interface, (self.ticks >> 32) as u32, self.ticks as u32, captured_len, self.original_len];
            for word in words {
                out.extend_from_slice(&order.u32_bytes(word));
            }
            out.extend_from_slice(data);
            out.resize(out.len() + padded(data.len()) - data.len(), 0);
        });
    }
}

/// Packets lost before an enhanced packet (`epb_dropcount`, code 4), from the block's options.
pub fn enhanced_packet_drops(options: &[u8], order: ByteOrder) -> Option<u64> {
    Options::new(options, order).find(|option| option.code == 4)?.value.first_chunk().map(|bytes| order.u64(*bytes))
}

/// Appends a Simple Packet Block; the reader derives the captured length from the first interface's snap length.
pub fn emit_simple_packet(out: &mut Vec<u8>, order: ByteOrder, original_len: u32, data: &[u8]) {
    emit_block(out, order, block_type::SIMPLE_PACKET, |out| {
        out.extend_from_slice(&order.u32_bytes(original_len));
        out.extend_from_slice(data);
        out.resize(out.len() + padded(data.len()) - data.len(), 0);
    });
}

/// Interface Statistics Block: counts since the capture began.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InterfaceStatistics {
    /// Index among the section's interface descriptions.
    pub interface: u32,
    /// When the counts were read, in the interface's ticks.
    pub ticks: u64,
    /// `isb_ifrecv`, code 4: packets received by the interface.
    pub received: Option<u64>,
    /// `isb_ifdrop`, code 5: packets dropped by the interface because resources were exhausted.
    pub dropped: Option<u64>,
}

impl InterfaceStatistics {
    /// Reads the body; `None` if it is too short.
    pub fn parse(body: &[u8], order: ByteOrder) -> Option<Self> {
        let mut statistics = Self {
            interface: order.u32_at(body, 0)?,
            ticks: u64::from(order.u32_at(body, 4)?) << 32 | u64::from(order.u32_at(body, 8)?),
            received: None,
            dropped: None,
        };
        for OptionField { code, value } in Options::new(body.get(12..)?, order) {
            match code {
                4 => statistics.received = order.u64_at(value, 0),
                5 => statistics.dropped = order.u64_at(value, 0),
                _ => {}
            }
        }
        Some(statistics)
    }

    /// Appends the block.
    pub fn emit(&self, out: &mut Vec<u8>, order: ByteOrder) {
        emit_block(out, order, block_type::INTERFACE_STATISTICS, |out| {
            for word in [self.interface, (self.ticks >> 32) as u32, self.ticks as u32] {
                out.extend_from_slice(&order.u32_bytes(word));
            }
            let options_start = out.len();
            for (code, count) in [(4, self.received), (5, self.dropped)] {
                if let Some(count) = count {
                    emit_option(out, order, code, &order.u64_bytes(count));
                }
            }
            emit_end_of_options(out, options_start);
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tick_rates_to_nanoseconds() {
        assert_eq!(TickRate::MICROS.time_ns(1_500_000, 0), Some(1_500_000_000));
        assert_eq!(TickRate::Decimal(0).time_ns(3, -1), Some(2_000_000_000));
        assert_eq!(TickRate::Decimal(12).time_ns(1_999, 0), Some(1));
        assert_eq!(TickRate::Decimal(127).time_ns(u64::MAX, 0), Some(0));
        assert_eq!(TickRate::Binary(10).time_ns(1_536, 0), Some(1_500_000_000));
        assert_eq!(TickRate::Binary(127).time_ns(u64::MAX, 0), Some(0));
        assert_eq!(TickRate::Decimal(6).time_ns(u64::MAX, 0), None);
        assert_eq!(TickRate::NANOS.time_ns(0, i64::MAX), None);
        assert_eq!(TickRate::from_byte(0x8a), TickRate::Binary(10));
    }

    #[test]
    fn ticks_read_back_as_the_same_nanosecond() {
        let time_ns = 1_700_000_000_123_456_789;
        for rate in [TickRate::NANOS, TickRate::Decimal(10), TickRate::Binary(30), TickRate::Binary(33)] {
            let ticks = rate.ticks(time_ns, 5);
            assert_eq!(ticks.and_then(|ticks| rate.time_ns(ticks, 5)), Some(time_ns), "{rate:?}");
        }
        assert_eq!(TickRate::NANOS.ticks(4, 5), None);
    }

    #[test]
    fn options_stop_at_the_end_mark_and_at_a_lie() {
        let mut bytes = Vec::new();
        emit_option(&mut bytes, ByteOrder::Little, 2, b"wlan0");
        emit_option(&mut bytes, ByteOrder::Little, 9, &[9]);
        assert_eq!(bytes.len(), 12 + 8);
        bytes.extend_from_slice(&[0, 0, 0, 0, 2, 0, 1, 0, b'x', 0, 0, 0]);
        let read: Vec<_> = Options::new(&bytes, ByteOrder::Little).map(|o| (o.code, o.value.to_vec())).collect();
        assert_eq!(read, [(2, b"wlan0".to_vec()), (9, vec![9])]);
        assert_eq!(Options::new(&[2, 0, 0xff, 0xff, 1], ByteOrder::Little).count(), 0);
    }

    #[test]
    fn interface_description_round_trip() {
        let interface = InterfaceDescription {
            link_type: LinkType::IEEE802_11_RADIOTAP,
            snap_len: 262_144,
            name: Some(b"mon0"),
            description: None,
            tick_rate: TickRate::Binary(10),
            fcs_len: Some(4),
            offset_s: -7,
        };
        for order in [ByteOrder::Little, ByteOrder::Big] {
            let mut block = Vec::new();
            interface.emit(&mut block, order);
            assert_eq!(order.u32_at(&block, 4), Some(block.len() as u32));
            assert_eq!(InterfaceDescription::parse(&block[8..block.len() - 4], order), Some(interface.clone()));
        }
    }
}
