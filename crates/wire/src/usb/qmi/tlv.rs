//! Fields of messages: a type, a length and a value each.

use crate::pcap::ByteOrder;
use crate::usb::Fault;

/// Bytes in front of a value.
pub const HEADER: usize = 3;

/// One field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tlv<'a> {
    /// What it is; the number's meaning depends on the message.
    pub kind: u8,
    /// Its value.
    pub value: &'a [u8],
}

/// The fields of a message, in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tlvs<'a> {
    bytes: &'a [u8],
    /// Bytes that they have in the message, whether captured or not.
    len: usize,
    /// Where the first begins in the frame.
    offset: usize,
}

impl<'a> Tlvs<'a> {
    /// Those in `bytes`, which begin at `offset` of a frame; the message has `len` bytes of them.
    pub fn new(bytes: &'a [u8], len: usize, offset: usize) -> Self {
        Self { bytes: bytes.get(..len).unwrap_or(bytes), len, offset }
    }

    /// Whether the capture lacks some of the bytes.
    pub const fn is_cut(&self) -> bool {
        self.bytes.len() < self.len
    }

    /// One after the other, to the end, to where the capture is cut, or to the first fault.
    pub const fn iter(&self) -> Walk<'a> {
        Walk { all: *self, at: 0 }
    }

    /// Whether all of them keep within the message.
    ///
    /// # Errors
    /// The first that does not.
    pub fn check(&self) -> Result<(), Fault> {
        self.iter().try_for_each(|tlv| tlv.map(|_| ()))
    }

    /// The value of the first of a kind.
    ///
    /// # Errors
    /// A fault in front of it, or anywhere when there is none.
    pub fn find(&self, kind: u8) -> Result<Option<&'a [u8]>, Fault> {
        for tlv in self.iter() {
            let tlv = tlv?;
            if tlv.kind == kind {
                return Ok(Some(tlv.value));
            }
        }
        Ok(None)
    }

    /// What a field says, by a reader that gets all its bytes; longer values than known ones are read as far as known.
    ///
    /// # Errors
    /// As [`Self::find`]; also a value that the reader finds too short.
    pub fn field<T>(&self, kind: u8, read: impl FnOnce(&mut Value<'a>) -> Option<T>) -> Result<Option<T>, Fault> {
        let Some(value) = self.find(kind)? else { return Ok(None) };
        let fault = Fault { offset: self.offset, what: "a TLV is shorter than its value" };
        read(&mut Value { bytes: value }).map(Some).ok_or(fault)
    }

    /// A field that has to be there.
    ///
    /// # Errors
    /// As [`Self::field`]; also when it is missing.
    pub fn needed<T>(&self, kind: u8, read: impl FnOnce(&mut Value<'a>) -> Option<T>) -> Result<T, Fault> {
        self.field(kind, read)?.ok_or(Fault { offset: self.offset, what: "a TLV that has to be there is missing" })
    }

    /// A number of one byte.
    ///
    /// # Errors
    /// As [`Self::field`].
    pub fn u8(&self, kind: u8) -> Result<Option<u8>, Fault> {
        self.field(kind, Value::u8)
    }

    /// A number of two bytes.
    ///
    /// # Errors
    /// As [`Self::field`].
    pub fn u16(&self, kind: u8) -> Result<Option<u16>, Fault> {
        self.field(kind, Value::u16)
    }

    /// A number of four bytes.
    ///
    /// # Errors
    /// As [`Self::field`].
    pub fn u32(&self, kind: u8) -> Result<Option<u32>, Fault> {
        self.field(kind, Value::u32)
    }

    /// Two numbers of two bytes.
    ///
    /// # Errors
    /// As [`Self::field`].
    pub fn pair_of_u16(&self, kind: u8) -> Result<Option<(u16, u16)>, Fault> {
        self.field(kind, |value| Some((value.u16()?, value.u16()?)))
    }

    /// Two numbers of four bytes.
    ///
    /// # Errors
    /// As [`Self::field`].
    pub fn pair_of_u32(&self, kind: u8) -> Result<Option<(u32, u32)>, Fault> {
        self.field(kind, |value| Some((value.u32()?, value.u32()?)))
    }

    /// Text that fills the field.
    ///
    /// # Errors
    /// As [`Self::field`].
    pub fn text(&self, kind: u8) -> Result<Option<String>, Fault> {
        self.field(kind, |value| Some(text_of(value.rest())))
    }
}

/// Text of a field; invalid UTF-8 is replaced.
pub(super) fn text_of(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// See [`Tlvs::iter`].
#[derive(Clone, Debug)]
pub struct Walk<'a> {
    all: Tlvs<'a>,
    at: usize,
}

impl<'a> Iterator for Walk<'a> {
    type Item = Result<Tlv<'a>, Fault>;

    fn next(&mut self) -> Option<Self::Item> {
        let Tlvs { bytes, len, offset } = self.all;
        let start = self.at;
        if start >= len {
            return None;
        }
        let fault = |what| Some(Err(Fault { offset: offset + start, what }));
        // Whatever follows, the next call is behind the end.
        self.at = len;
        if len - start < HEADER {
            return fault("fewer than three bytes are left for a TLV");
        }
        let &[kind, low, high] = bytes.get(start..)?.first_chunk()?;
        let end = start + HEADER + usize::from(u16::from_le_bytes([low, high]));
        if end > len {
            return fault("a TLV goes past the end of its message");
        }
        let value = bytes.get(start + HEADER..end)?;
        self.at = end;
        Some(Ok(Tlv { kind, value }))
    }
}

/// A value that is read from its start on.
#[derive(Clone, Copy, Debug)]
pub struct Value<'a> {
    bytes: &'a [u8],
}

impl<'a> Value<'a> {
    /// The next bytes.
    pub fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.bytes.split_at_checked(count)?;
        self.bytes = rest;
        Some(taken)
    }

    /// The next byte.
    pub fn u8(&mut self) -> Option<u8> {
        self.take(1)?.first().copied()
    }

    /// The next two bytes.
    pub fn u16(&mut self) -> Option<u16> {
        ByteOrder::Little.u16_at(self.take(2)?, 0)
    }

    /// The next four bytes.
    pub fn u32(&mut self) -> Option<u32> {
        ByteOrder::Little.u32_at(self.take(4)?, 0)
    }

    /// All that is left.
    pub fn rest(&mut self) -> &'a [u8] {
        std::mem::take(&mut self.bytes)
    }
}

/// Fields that are being written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Writer {
    bytes: Vec<u8>,
}

impl Writer {
    /// The bytes.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// A field. A value of more than 65,535 bytes is cut there: none of those that are written here is near.
    pub fn put(&mut self, kind: u8, value: &[u8]) {
        let value = value.get(..usize::from(u16::MAX)).unwrap_or(value);
        self.bytes.push(kind);
        self.bytes.extend((value.len() as u16).to_le_bytes());
        self.bytes.extend_from_slice(value);
    }

    /// A number of one byte, if there is one.
    pub fn u8(&mut self, kind: u8, value: impl Into<Option<u8>>) {
        if let Some(value) = value.into() {
            self.put(kind, &[value]);
        }
    }

    /// A number of two bytes, if there is one.
    pub fn u16(&mut self, kind: u8, value: impl Into<Option<u16>>) {
        if let Some(value) = value.into() {
            self.put(kind, &value.to_le_bytes());
        }
    }

    /// A number of four bytes, if there is one.
    pub fn u32(&mut self, kind: u8, value: impl Into<Option<u32>>) {
        if let Some(value) = value.into() {
            self.put(kind, &value.to_le_bytes());
        }
    }

    /// Two numbers of two bytes, if there are.
    pub fn pair_of_u16(&mut self, kind: u8, value: impl Into<Option<(u16, u16)>>) {
        if let Some((first, second)) = value.into() {
            self.put(kind, &[first.to_le_bytes(), second.to_le_bytes()].concat());
        }
    }

    /// Two numbers of four bytes, if there are.
    pub fn pair_of_u32(&mut self, kind: u8, value: impl Into<Option<(u32, u32)>>) {
        if let Some((first, second)) = value.into() {
            self.put(kind, &[first.to_le_bytes(), second.to_le_bytes()].concat());
        }
    }

    /// Text that fills a field, if there is any.
    pub fn text(&mut self, kind: u8, value: Option<&str>) {
        if let Some(value) = value {
            self.put(kind, value.as_bytes());
        }
    }
}
