//! NTB blocks as Linux' cdc_ncm lays them out (drivers/net/usb/cdc_ncm.c): block header, one table with room that is reserved for
//! as many datagrams as a block may have, then the datagrams, each at `offset % align == remainder`.

use super::ntb::{Width, SIGNATURE_16, SIGNATURE_32};

/// Where things go in a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    /// Width of lengths and offsets.
    pub width: Width,
    /// Datagrams that the table has room for.
    pub room: usize,
    /// Datagrams begin at multiples of this (`wNdpOutDivisor`), plus `remainder`; 0 counts as 1.
    pub align: usize,
    /// See `align`.
    pub remainder: usize,
}

impl Layout {
    /// Bytes of block header and table.
    pub const fn head_len(&self) -> usize {
        let (header, table, pointer) = match self.width {
            Width::Bits16 => (12, 8, 4),
            Width::Bits32 => (16, 16, 8),
        };
        header + table + pointer * (self.room + 1)
    }

    /// Where the next datagram begins in a block that is `block_len` long so far ([`Self::head_len`] when it is empty).
    pub const fn next_offset(&self, block_len: usize) -> usize {
        let align = if self.align == 0 { 1 } else { self.align };
        let rest = (block_len + align - self.remainder % align) % align;
        if rest == 0 {
            block_len
        } else {
            block_len + align - rest
        }
    }

    /// Appends block header and table. `signature` is the table's, in the 16-bit form (`NCM0`, `IPS\0`). `None`, and nothing
    /// is appended, when there are more `datagrams` (offset and length) than the table has room for, or a number does not fit
    /// into the width.
    pub fn write_head(
        &self,
        signature: [u8; 4],
        sequence: u16,
        block_len: usize,
        datagrams: &[(usize, usize)],
        out: &mut Vec<u8>,
    ) -> Option<()> {
        let start = out.len();
        let written = self.append_head(signature, sequence, block_len, datagrams, out);
        if written.is_none() {
            out.truncate(start);
        }
        written
    }

    fn append_head(
        &self,
        signature: [u8; 4],
        sequence: u16,
        block_len: usize,
        datagrams: &[(usize, usize)],
        out: &mut Vec<u8>,
    ) -> Option<()> {
        if datagrams.len() > self.room {
            return None;
        }
        let start = out.len();
        let narrow = self.width == Width::Bits16;
        let (header_len, table_head, pointer) = if narrow { (12u16, 8, 4) } else { (16, 16, 8) };
        let table_len = u16::try_from(table_head + pointer * (datagrams.len() + 1)).ok()?;
        out.extend(if narrow { SIGNATURE_16 } else { SIGNATURE_32 });
        out.extend(header_len.to_le_bytes());
        out.extend(sequence.to_le_bytes());
        self.number(block_len, out)?;
        self.number(usize::from(header_len), out)?;
        let mut signature = signature;
        if !narrow {
            // The last byte is a number: that of an MBIM session.
            signature.iter_mut().take(3).for_each(u8::make_ascii_lowercase);
        }
        out.extend(signature);
        out.extend(table_len.to_le_bytes());
        out.extend(std::iter::repeat_n(0, table_head - 6));
        for &(offset, len) in datagrams {
            self.number(offset, out)?;
            self.number(len, out)?;
        }
        out.resize(start + self.head_len(), 0);
        Some(())
    }

    fn number(&self, value: usize, out: &mut Vec<u8>) -> Option<()> {
        match self.width {
            Width::Bits16 => out.extend(u16::try_from(value).ok()?.to_le_bytes()),
            Width::Bits32 => out.extend(u32::try_from(value).ok()?.to_le_bytes()),
        }
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::usb::ntb::{parse, Content, Header};

    fn block(layout: &Layout, signature: [u8; 4], lengths: &[usize]) -> Option<Vec<u8>> {
        let mut end = layout.head_len();
        let mut places = Vec::new();
        for &len in lengths {
            let offset = layout.next_offset(end);
            places.push((offset, len));
            end = offset + len;
        }
        let mut out = Vec::new();
        layout.write_head(signature, 7, end, &places, &mut out)?;
        for &(offset, len) in &places {
            out.resize(offset, 0);
            out.resize(offset + len, 0x45);
        }
        Some(out)
    }

    #[test]
    fn the_table_keeps_its_room() {
        let layout = Layout { width: Width::Bits16, room: 40, align: 4, remainder: 2 };
        assert_eq!(layout.head_len(), 12 + 8 + 41 * 4);
        let bytes = block(&layout, *b"NCM0", &[60]).unwrap();
        assert_eq!(bytes.len(), 186 + 60);
        let found = parse(&Header::parse(&bytes).unwrap(), &bytes, bytes.len());
        assert_eq!((found.datagrams[0].content, found.datagrams[0].offset), (Content::Ethernet, 186));
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        let layout = Layout { width: Width::Bits16, room: 2, align: 4, remainder: 0 };
        let mut out = vec![1];
        assert_eq!(layout.write_head(*b"NCM0", 0, 70_000, &[], &mut out), None);
        assert_eq!(layout.write_head(*b"NCM0", 0, 100, &[(40, 1); 3], &mut out), None);
        assert_eq!(out, [1]);
    }

    proptest::proptest! {
        #[test]
        fn what_is_written_is_read(
            lengths in proptest::collection::vec(1usize..1_600, 1..40), wide: bool, session: Option<u8>,
            remainder in 0usize..4,
        ) {
            let width = if wide { Width::Bits32 } else { Width::Bits16 };
            let layout = Layout { width, room: 40, align: 4, remainder };
            let signature = session.map_or(*b"NCM0", |session| [b'I', b'P', b'S', session]);
            let Some(bytes) = block(&layout, signature, &lengths) else {
                proptest::prop_assert!(!wide && lengths.iter().sum::<usize>() > 60_000);
                return Ok(());
            };
            let header = Header::parse(&bytes).unwrap();
            let found = parse(&header, &bytes, bytes.len());
            proptest::prop_assert_eq!(&found.faults, &[]);
            proptest::prop_assert_eq!(found.datagrams.iter().map(|d| d.len).collect::<Vec<_>>(), lengths);
            proptest::prop_assert!(found.datagrams.iter().all(|d| d.offset % 4 == remainder));
            let content = session.map_or(Content::Ethernet, Content::Ip);
            proptest::prop_assert!(found.datagrams.iter().all(|d| d.content == content));
        }
    }
}
