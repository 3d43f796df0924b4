//! Information buffers: a fixed part of numbers in order, and behind it what offsets in it point to (MBIM 1.0, 10.3).
//!
//! Offsets are from the beginning of the buffer. Strings are UTF-16 and, as everything behind the fixed part, begin at a
//! multiple of four.

use super::Uuid;
use crate::pcap::ByteOrder;
use crate::usb::Fault;

/// Reads the fixed part in order.
#[derive(Clone, Copy, Debug)]
pub struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Reader<'a> {
    /// At the beginning of a buffer.
    pub const fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0 }
    }

    fn chunk<const N: usize>(&mut self) -> Result<[u8; N], Fault> {
        let fault = Fault { offset: self.at, what: "the information buffer ends within its fields" };
        let chunk = self.bytes.get(self.at..).and_then(<[u8]>::first_chunk::<N>).ok_or(fault)?;
        self.at += N;
        Ok(*chunk)
    }

    /// A number.
    ///
    /// # Errors
    /// The buffer ends.
    pub fn u32(&mut self) -> Result<u32, Fault> {
        self.chunk().map(u32::from_le_bytes)
    }

    /// A number of 64 bits.
    ///
    /// # Errors
    /// The buffer ends.
    pub fn u64(&mut self) -> Result<u64, Fault> {
        self.chunk().map(u64::from_le_bytes)
    }

    /// A UUID.
    ///
    /// # Errors
    /// The buffer ends.
    pub fn uuid(&mut self) -> Result<Uuid, Fault> {
        self.chunk().map(Uuid)
    }

    /// Bytes behind the fixed part: their offset is next, their number is known.
    fn bytes_at(&self, place: usize, offset: u32, len: u32) -> Result<&'a [u8], Fault> {
        if len == 0 {
            return Ok(&[]);
        }
        let fault = Fault { offset: place, what: "an offset points past the end of the information buffer" };
        let start = offset as usize;
        let end = start.checked_add(len as usize).ok_or(fault)?;
        self.bytes.get(start..end).ok_or(fault)
    }

    /// A string, by offset and number of bytes. Code units that are not text become U+FFFD.
    ///
    /// # Errors
    /// It lies outside the buffer, or has an odd number of bytes.
    pub fn string(&mut self) -> Result<String, Fault> {
        let place = self.at;
        let (offset, len) = (self.u32()?, self.u32()?);
        let bytes = self.bytes_at(place, offset, len)?;
        if bytes.len() % 2 != 0 {
            return Err(Fault { offset: place, what: "a string of an odd number of bytes" });
        }
        let units = bytes.chunks_exact(2).map(|pair| ByteOrder::Little.u16_at(pair, 0).unwrap_or_default());
        Ok(char::decode_utf16(units).map(|unit| unit.unwrap_or(char::REPLACEMENT_CHARACTER)).collect())
    }

    /// As many elements of `N` bytes as `count` says; the offset of the first is next.
    ///
    /// # Errors
    /// They lie outside the buffer.
    pub fn elements<const N: usize>(&mut self, count: u32) -> Result<Vec<[u8; N]>, Fault> {
        let place = self.at;
        let offset = self.u32()?;
        let len = count.checked_mul(N as u32);
        let fault = Fault { offset: place, what: "a table that is longer than any information buffer" };
        let bytes = self.bytes_at(place, offset, len.ok_or(fault)?)?;
        Ok(bytes.chunks_exact(N).filter_map(|element| element.first_chunk().copied()).collect())
    }
}

/// Writes a buffer: its fixed part in order, and what offsets point to behind it.
#[derive(Clone, Debug, Default)]
pub struct Writer {
    fixed: Vec<u8>,
    /// Where in the fixed part an offset is missing, and where in `behind` it points to.
    offsets: Vec<(usize, usize)>,
    behind: Vec<u8>,
}

impl Writer {
    /// A number.
    pub fn u32(&mut self, value: u32) {
        self.fixed.extend(value.to_le_bytes());
    }

    /// Numbers.
    pub fn numbers(&mut self, values: &[u32]) {
        values.iter().for_each(|&value| self.u32(value));
    }

    /// A number of 64 bits.
    pub fn u64(&mut self, value: u64) {
        self.fixed.extend(value.to_le_bytes());
    }

    /// A UUID.
    pub fn uuid(&mut self, value: Uuid) {
        self.fixed.extend(value.0);
    }

    /// The offset of bytes, which go behind the fixed part; 0 where there are none.
    pub fn offset(&mut self, bytes: &[u8]) {
        if !bytes.is_empty() {
            self.offsets.push((self.fixed.len(), self.behind.len()));
            self.behind.extend(bytes);
            self.behind.resize(self.behind.len().next_multiple_of(4), 0);
        }
        self.u32(0);
    }

    /// A string: offset, number of bytes.
    pub fn string(&mut self, text: &str) {
        let bytes: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
        self.offset(&bytes);
        self.u32(bytes.len() as u32);
    }

    /// The buffer.
    pub fn finish(self) -> Vec<u8> {
        let Self { fixed: mut bytes, offsets, behind } = self;
        let start = bytes.len();
        for (at, to) in offsets {
            if let Some(place) = bytes.get_mut(at..at + 4) {
                place.copy_from_slice(&((start + to) as u32).to_le_bytes());
            }
        }
        bytes.extend(behind);
        bytes
    }
}
