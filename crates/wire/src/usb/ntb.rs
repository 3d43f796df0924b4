//! NCM transfer blocks, 16 and 32 bit (USB CDC NCM 1.0, 3; MBIM 1.0, 7). Little endian.
//!
//! A block is a header (NTH), one or more tables of datagram pointers (NDP) linked by their offsets, and datagrams
//! anywhere between. A table ends with a pointer of zeros. NCM's signatures are `NCM0` (no CRC) and `NCM1` (CRC-32 after
//! each datagram), MBIM's `IPSx` and `DSSx` with the session number as last byte.

use super::Fault;
use crate::pcap::ByteOrder;

/// The 16-bit block signature.
pub const SIGNATURE_16: [u8; 4] = *b"NCMH";
/// The 32-bit block signature.
pub const SIGNATURE_32: [u8; 4] = *b"ncmh";
/// More tables than this in one block is a fault: every table costs at least 16 bytes, and real ones have one to four.
pub const TABLES_MAX: usize = 256;

/// Width of lengths and offsets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum Width {
    /// NTB-16.
    Bits16,
    /// NTB-32.
    Bits32,
}

impl Width {
    /// Bytes of the block header.
    pub const fn header_len(self) -> usize {
        match self {
            Self::Bits16 => 12,
            Self::Bits32 => 16,
        }
    }

    /// Bytes of a table before its first pointer.
    const fn table_head(self) -> usize {
        match self {
            Self::Bits16 => 8,
            Self::Bits32 => 16,
        }
    }

    /// Bytes of a pointer.
    const fn pointer_len(self) -> usize {
        match self {
            Self::Bits16 => 4,
            Self::Bits32 => 8,
        }
    }

    fn number(self, bytes: &[u8], at: usize) -> Option<usize> {
        match self {
            Self::Bits16 => ByteOrder::Little.u16_at(bytes, at).map(usize::from),
            Self::Bits32 => ByteOrder::Little.u32_at(bytes, at).map(|value| value as usize),
        }
    }

    const fn number_len(self) -> usize {
        self.pointer_len() / 2
    }
}

/// The block header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// Width of what follows.
    pub width: Width,
    /// Bytes of the header as written.
    pub header_len: usize,
    /// Counts blocks; starts over with the function.
    pub sequence: u16,
    /// Bytes of the whole block; 0 means up to the end of the transfer.
    pub block_len: usize,
    /// Offset of the first table.
    pub first_table: usize,
}

impl Header {
    /// Reads a header; `None` when the signature is another's or bytes are missing.
    pub fn parse(bytes: &[u8]) -> Option<Self> {
        let width = match *bytes.first_chunk::<4>()? {
            SIGNATURE_16 => Width::Bits16,
            SIGNATURE_32 => Width::Bits32,
            _ => return None,
        };
        Some(Self {
            width,
            header_len: usize::from(ByteOrder::Little.u16_at(bytes, 4)?),
            sequence: ByteOrder::Little.u16_at(bytes, 6)?,
            block_len: width.number(bytes, 8)?,
            first_table: width.number(bytes, 8 + width.number_len())?,
        })
    }
}

/// What kind of datagrams a table points to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Content {
    /// `NCM0`: Ethernet frames.
    Ethernet,
    /// `NCM1`: Ethernet frames, each with a CRC-32.
    EthernetWithCrc,
    /// `IPSx`: IP packets of an MBIM session.
    Ip(u8),
    /// `DSSx`: a device service stream.
    Stream(u8),
    /// Any other signature.
    Unknown([u8; 4]),
}

/// A datagram in a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Datagram {
    /// What the table says it is.
    pub content: Content,
    /// Offset in the block.
    pub offset: usize,
    /// Bytes, whether captured or not.
    pub len: usize,
}

/// What was found in a block.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Block {
    /// Datagrams in the order of the tables.
    pub datagrams: Vec<Datagram>,
    /// Datagrams with pointers that were not captured, by the length of their table.
    pub unseen: usize,
    /// A table ends before its length says, so that the length of one gives at most how many pointers are in it.
    pub has_room: bool,
    /// A table was not captured at all, so its datagrams are not counted.
    pub is_cut: bool,
    /// Bytes of header and tables.
    pub overhead: usize,
    /// What is wrong.
    pub faults: Vec<Fault>,
    /// Pointers read.
    looked_at: usize,
}

/// Reads a block of `transfer_len` bytes of which `captured` are there. Never more datagrams than pointers captured.
pub fn parse(header: &Header, captured: &[u8], transfer_len: usize) -> Block {
    let mut block = Block { overhead: header.width.header_len(), ..Block::default() };
    let mut fault = |offset, what| block.faults.push(Fault { offset, what });
    if header.header_len != header.width.header_len() {
        fault(4, "wHeaderLength is not that of the signature");
    }
    let transfer_len = transfer_len.max(captured.len());
    if header.block_len > transfer_len {
        fault(8, "wBlockLength is longer than the transfer");
    }
    let len = if header.block_len == 0 { transfer_len } else { header.block_len.min(transfer_len) };
    let mut next = header.first_table;
    let mut seen = Vec::new();
    while next != 0 {
        if seen.contains(&next) {
            block.faults.push(Fault { offset: next, what: "the tables of datagram pointers form a loop" });
            break;
        }
        if seen.len() >= TABLES_MAX {
            block.faults.push(Fault { offset: next, what: "too many tables of datagram pointers" });
            break;
        }
        seen.push(next);
        next = table(header.width, captured, len, next, &mut block);
    }
    name_overlaps(&mut block);
    block
}

/// Reads the table at `start`; returns the offset of the next one, 0 at the end.
fn table(width: Width, captured: &[u8], len: usize, start: usize, block: &mut Block) -> usize {
    let (head, pointer) = (width.table_head(), width.pointer_len());
    if start < width.header_len() || start.checked_add(head).is_none_or(|end| end > len) {
        block.faults.push(Fault { offset: start, what: "a table of datagram pointers lies outside the block" });
        return 0;
    }
    let Some(bytes) = captured.get(start..) else {
        block.is_cut = true;
        return 0;
    };
    let Some((&signature, Some(table_len))) =
        bytes.first_chunk::<4>().map(|s| (s, ByteOrder::Little.u16_at(bytes, 4).map(usize::from)))
    else {
        block.is_cut = true;
        return 0;
    };
    let content = match signature {
        [b'N' | b'n', b'C' | b'c', b'M' | b'm', b'0'] => Content::Ethernet,
        [b'N' | b'n', b'C' | b'c', b'M' | b'm', b'1'] => Content::EthernetWithCrc,
        [b'I' | b'i', b'P' | b'p', b'S' | b's', session] => Content::Ip(session),
        [b'D' | b'd', b'S' | b's', b'S' | b's', session] => Content::Stream(session),
        other => {
            block.faults.push(Fault { offset: start, what: "unknown signature of a table of datagram pointers" });
            Content::Unknown(other)
        }
    };
    if table_len < head || start + table_len > len {
        block.faults.push(Fault { offset: start + 4, what: "wLength of a table of datagram pointers is impossible" });
        return 0;
    }
    block.overhead += table_len;
    // NTB-16: signature, wLength, wNextNdpIndex. NTB-32: signature, wLength, reserved 2, dwNextNdpIndex, reserved 4.
    let next_at = if width == Width::Bits16 { 6 } else { 8 };
    let Some(next) = width.number(bytes, next_at) else {
        block.is_cut = true;
        return 0;
    };
    let entries = (table_len - head) / pointer;
    for entry in 0..entries {
        let at = head + entry * pointer;
        // Every pointer has bytes of its own, so there cannot be more of them; tables that overlap would say so.
        if block.looked_at > captured.len() / pointer {
            block.faults.push(Fault { offset: start, what: "tables of datagram pointers overlap" });
            return 0;
        }
        block.looked_at += 1;
        let (Some(offset), Some(datagram_len)) =
            (width.number(bytes, at), width.number(bytes, at + width.number_len()))
        else {
            // The last pointer ends the table.
            block.unseen += (entries - entry).saturating_sub(1);
            break;
        };
        if offset == 0 || datagram_len == 0 {
            block.has_room |= entry + 1 < entries;
            break;
        }
        if offset < width.header_len() || offset.checked_add(datagram_len).is_none_or(|end| end > len) {
            block.faults.push(Fault { offset: start + at, what: "a datagram lies outside the block" });
            continue;
        }
        block.datagrams.push(Datagram { content, offset, len: datagram_len });
    }
    next
}

/// Names datagrams that share bytes with another: they would be counted twice.
fn name_overlaps(block: &mut Block) {
    let mut spans: Vec<(usize, usize)> = block.datagrams.iter().map(|d| (d.offset, d.offset + d.len)).collect();
    spans.sort_unstable();
    for pair in spans.windows(2) {
        if let [(_, end), (start, _)] = pair {
            if start < end {
                block.faults.push(Fault { offset: *start, what: "datagrams overlap" });
            }
        }
    }
}

/// Builds NTB-16 blocks as Linux' cdc_ncm does: header, one table, then the datagrams at multiples of four.
#[derive(Clone, Debug)]
pub struct Builder {
    signature: [u8; 4],
    datagrams: Vec<Vec<u8>>,
}

impl Builder {
    /// With the table signature, for example `NCM0` or `IPS\0`.
    pub const fn new(signature: [u8; 4]) -> Self {
        Self { signature, datagrams: Vec::new() }
    }

    /// Adds a datagram.
    pub fn push(&mut self, datagram: &[u8]) {
        self.datagrams.push(datagram.to_vec());
    }

    /// Bytes the block has so far.
    pub fn block_len(&self) -> usize {
        let head = 12 + 8 + 4 * (self.datagrams.len() + 1);
        self.datagrams.iter().fold(head, |at, datagram| at.next_multiple_of(4) + datagram.len())
    }

    /// The block; `None` when it does not fit into 16 bits.
    pub fn finish(&self, sequence: u16) -> Option<Vec<u8>> {
        let block_len = u16::try_from(self.block_len()).ok()?;
        let table_len = 8 + 4 * (self.datagrams.len() as u16 + 1);
        let mut out = Vec::with_capacity(usize::from(block_len));
        out.extend(SIGNATURE_16);
        for number in [12, sequence, block_len, 12] {
            out.extend(number.to_le_bytes());
        }
        out.extend(self.signature);
        out.extend(table_len.to_le_bytes());
        out.extend([0, 0]);
        let mut at = 12 + usize::from(table_len);
        for datagram in &self.datagrams {
            at = at.next_multiple_of(4);
            out.extend((at as u16).to_le_bytes());
            out.extend((datagram.len() as u16).to_le_bytes());
            at += datagram.len();
        }
        out.extend([0; 4]);
        for datagram in &self.datagrams {
            out.resize(out.len().next_multiple_of(4), 0);
            out.extend(datagram);
        }
        Some(out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(bytes: &[u8], len: usize) -> Block {
        parse(&Header::parse(bytes).unwrap(), bytes, len)
    }

    #[test]
    fn a_loop_of_tables_is_named_and_ends() {
        let mut builder = Builder::new(*b"NCM0");
        builder.push(&[1; 60]);
        let mut bytes = builder.finish(0).unwrap();
        bytes[12 + 6] = 12;
        let block = read(&bytes, bytes.len());
        assert_eq!(block.datagrams.len(), 1);
        assert_eq!(block.faults, [Fault { offset: 12, what: "the tables of datagram pointers form a loop" }]);
    }

    #[test]
    fn overlapping_and_outlying_datagrams_are_named() {
        let mut builder = Builder::new(*b"NCM0");
        builder.push(&[1; 60]);
        builder.push(&[2; 60]);
        let mut bytes = builder.finish(0).unwrap();
        bytes[12 + 8 + 4] = bytes[12 + 8];
        assert_eq!(read(&bytes, bytes.len()).faults[0].what, "datagrams overlap");
        bytes[12 + 8 + 5] = 0x7f;
        let block = read(&bytes, bytes.len());
        assert_eq!((block.datagrams.len(), block.faults[0].what), (1, "a datagram lies outside the block"));
    }

    #[test]
    fn a_cut_table_counts_by_its_length() {
        let mut builder = Builder::new(*b"NCM0");
        (0..10).for_each(|_| builder.push(&[7; 100]));
        let bytes = builder.finish(1).unwrap();
        let block = read(&bytes[..12 + 8 + 4 * 3], bytes.len());
        assert_eq!((block.datagrams.len(), block.unseen, block.faults.len()), (3, 7, 0));
    }

    #[test]
    fn thirty_two_bits() {
        let mut bytes = b"ncmh".to_vec();
        bytes.extend([16, 0, 5, 0]);
        bytes.extend(80u32.to_le_bytes());
        bytes.extend(16u32.to_le_bytes());
        bytes.extend(b"ncm0");
        bytes.extend([32, 0, 0, 0]);
        bytes.extend([0; 8]);
        for number in [48u32, 32, 0, 0] {
            bytes.extend(number.to_le_bytes());
        }
        bytes.extend([0; 32]);
        let block = read(&bytes, 80);
        assert_eq!(block.faults, []);
        assert_eq!(block.datagrams, [Datagram { content: Content::Ethernet, offset: 48, len: 32 }]);
    }

    proptest::proptest! {
        #[test]
        fn what_is_written_is_read(lengths in proptest::collection::vec(1usize..1_600, 0..40), sequence: u16) {
            let mut builder = Builder::new(*b"IPS\0");
            lengths.iter().for_each(|len| builder.push(&vec![0x45; *len]));
            let Some(bytes) = builder.finish(sequence) else { return Ok(()) };
            let block = read(&bytes, bytes.len());
            assert_eq!(block.faults, []);
            assert_eq!(block.datagrams.iter().map(|d| d.len).collect::<Vec<_>>(), lengths);
            assert_eq!(Header::parse(&bytes).unwrap().sequence, sequence);
        }

        #[test]
        fn any_bytes_end(wide: bool, mut bytes: Vec<u8>, longer in 0usize..70_000) {
            bytes.splice(0..0, if wide { SIGNATURE_32 } else { SIGNATURE_16 });
            let Some(header) = Header::parse(&bytes) else { return Ok(()) };
            let block = parse(&header, &bytes, bytes.len() + longer);
            assert!(block.datagrams.len() <= bytes.len());
        }
    }
}
