//! The text form of usbmon (`0u`, `1u`, and `1t` of old kernels), one event per line.
//!
//! A line is: URB tag, time in µs, event letter, transfer type with direction and address (`Bo:1:005:2`), status words
//! or a SETUP packet, length, and either data (`=` and at most 32 bytes in hexadecimal words) or a sign why there are
//! none. The time keeps only the low 12 bits of the seconds, so it starts over every 4096 s ([`WRAP_US`]).

use super::setup::Setup;
use super::usbmon::EventKind;
use super::{EndpointAddress, TransferType};

/// The time starts at zero again after this many µs.
pub const WRAP_US: u64 = 4_096_000_000;
/// No line has more data bytes than this.
pub const DATA_MAX: usize = 32;

/// One line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Line {
    /// Identifies the URB between submission and completion.
    pub id: u64,
    /// µs, modulo [`WRAP_US`].
    pub time_us: u64,
    /// What happened.
    pub event: EventKind,
    /// How the endpoint transfers.
    pub transfer: TransferType,
    /// Number of the bus; `None` in the old form, which has none.
    pub bus: Option<u16>,
    /// Address of the device.
    pub device: u16,
    /// The endpoint.
    pub endpoint: EndpointAddress,
    /// 0 or a negative error number; `None` where a SETUP packet takes its place.
    pub status: Option<i32>,
    /// The SETUP packet.
    pub setup: Option<Setup>,
    /// Bytes asked for (submission) or transferred (completion).
    pub length: u32,
    /// Isochronous packets with an error among those shown.
    pub iso_errors: u32,
    data: [u8; DATA_MAX],
    data_len: u8,
}

impl Line {
    /// The data bytes shown.
    pub fn data(&self) -> &[u8] {
        self.data.get(..usize::from(self.data_len)).unwrap_or_default()
    }
}

/// Why a line is not usbmon text: the unexpected word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BadLine {
    /// Number of the word in the line, from 1.
    pub word: usize,
    /// What it should be.
    pub expected: &'static str,
}

impl core::fmt::Display for BadLine {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "word {} is not {}", self.word, self.expected)
    }
}

/// Words of a line, counted.
struct Words<'a> {
    words: core::str::SplitAsciiWhitespace<'a>,
    taken: usize,
}

impl<'a> Words<'a> {
    fn next(&mut self, expected: &'static str) -> Result<&'a str, BadLine> {
        self.taken += 1;
        self.words.next().ok_or(BadLine { word: self.taken, expected })
    }

    fn take<T>(&mut self, expected: &'static str, read: impl FnOnce(&str) -> Option<T>) -> Result<T, BadLine> {
        let word = self.next(expected)?;
        read(word).ok_or(BadLine { word: self.taken, expected })
    }

    fn bad(&self, expected: &'static str) -> BadLine {
        BadLine { word: self.taken, expected }
    }
}

/// Reads a line.
///
/// # Errors
/// [`BadLine`] names the first word that is wrong or missing.
pub fn parse(line: &str) -> Result<Line, BadLine> {
    let mut words = Words { words: line.split_ascii_whitespace(), taken: 0 };
    let id = words.take("a URB tag", |w| u64::from_str_radix(w, 16).ok())?;
    let time_us = words.take("a time in microseconds", |w| w.parse().ok())?;
    let event = words.take("S, C or E", |w| match w.as_bytes() {
        [letter] => EventKind::from_letter(*letter),
        _ => None,
    })?;
    let (transfer, bus, device, endpoint) = words.take("an address such as Bo:1:002:3", address)?;
    let first = words.next("a status")?;
    let (status, setup) = if first.bytes().next().is_some_and(|b| b.is_ascii_digit() || b == b'-') && first != "-" {
        let number = first.split(':').next().unwrap_or_default();
        (Some(number.parse().map_err(|_| words.bad("a status"))?), None)
    } else {
        // A letter, then request type, request, value, index and length; "__" when the packet was not captured.
        let mut bytes = [0; 8];
        let mut is_there = first == "s";
        for (at, digits) in [(0, 2), (1, 2), (2, 4), (4, 4), (6, 4)] {
            let word = words.next("a part of a SETUP packet")?;
            match u16::from_str_radix(word, 16) {
                Ok(value) if word.len() == digits => {
                    let le = value.to_le_bytes();
                    for (slot, byte) in bytes.iter_mut().skip(at).zip(le.iter().take(digits / 2)) {
                        *slot = *byte;
                    }
                }
                _ if word.starts_with('_') => is_there = false,
                _ => return Err(words.bad("a part of a SETUP packet")),
            }
        }
        (None, is_there.then(|| Setup::from_bytes(bytes)))
    };
    let mut iso_errors = 0;
    if transfer == TransferType::Isochronous && status.is_some() {
        let count: usize = words.take("a number of isochronous packets", |w| w.parse().ok())?;
        for _ in 0..count.min(5) {
            let failed =
                words.take("an isochronous packet", |w| Some(w.split(':').next()?.parse::<i32>().ok()? != 0))?;
            iso_errors += u32::from(failed && event == EventKind::Completion);
        }
    }
    let length = words.take("a length", |w| w.parse().ok())?;
    let mut line = Line {
        id,
        time_us,
        event,
        transfer,
        bus,
        device,
        endpoint,
        status,
        setup,
        length,
        iso_errors,
        data: [0; DATA_MAX],
        data_len: 0,
    };
    if words.words.next() == Some("=") {
        for word in words.words.by_ref() {
            words.taken += 1;
            let digits = word.as_bytes();
            if digits.len() % 2 != 0 {
                return Err(BadLine { word: words.taken + 1, expected: "data in hexadecimal" });
            }
            for pair in digits.chunks_exact(2) {
                let byte = core::str::from_utf8(pair).ok().and_then(|pair| u8::from_str_radix(pair, 16).ok());
                let byte = byte.ok_or(BadLine { word: words.taken + 1, expected: "data in hexadecimal" })?;
                if let Some(slot) = line.data.get_mut(usize::from(line.data_len)) {
                    *slot = byte;
                    line.data_len += 1;
                }
            }
        }
    }
    Ok(line)
}

fn address(word: &str) -> Option<(TransferType, Option<u16>, u16, EndpointAddress)> {
    let mut parts = word.split(':');
    let kind = parts.next()?.as_bytes();
    let &[kind, direction] = kind else { return None };
    let transfer = match kind {
        b'B' => TransferType::Bulk,
        b'C' => TransferType::Control,
        b'I' => TransferType::Interrupt,
        b'Z' => TransferType::Isochronous,
        _ => return None,
    };
    let towards_host = match direction {
        b'i' => 0x80,
        b'o' => 0,
        _ => return None,
    };
    let first: u16 = parts.next()?.parse().ok()?;
    let second: u16 = parts.next()?.parse().ok()?;
    let (bus, device, number) = match parts.next() {
        Some(third) => (Some(first), second, third.parse::<u16>().ok()?),
        None => (None, first, second),
    };
    if number > 15 || parts.next().is_some() {
        return None;
    }
    Some((transfer, bus, device, EndpointAddress(number as u8 | towards_host)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lines_of_the_kernel_documentation() {
        let line = parse("d5ea89a0 3575914555 S Ci:1:001:0 s a3 00 0000 0003 0004 4 <").unwrap();
        assert_eq!((line.id, line.bus, line.device, line.endpoint.0), (0xd5ea_89a0, Some(1), 1, 0x80));
        assert_eq!((line.setup.map(Setup::to_bytes), line.length), (Some([0xa3, 0, 0, 0, 3, 0, 4, 0]), 4));
        let line = parse("d5ea89a0 3575914560 C Ci:1:001:0 0 4 = 01050000").unwrap();
        assert_eq!((line.status, line.data()), (Some(0), &[1u8, 5, 0, 0][..]));
        let line = parse("dd65f0e8 4128379808 S Bo:1:005:2 -115 31 = 55534243 5e000000 00000000 00000600 00000000 00")
            .unwrap();
        assert_eq!((line.status, line.length, line.data().len()), (Some(-115), 31, 21));
        let line = parse("ffff 1 C Ii:1:005:1 -108:8 0").unwrap();
        assert_eq!((line.status, line.length), (Some(-108), 0));
        assert_eq!(parse("ffff 1 S Zi:1:002:1 -115:1:0 2 -18:0:8 -18:8:8 16 <").unwrap().length, 16);
        assert_eq!(parse("ffff 1 S Ci:001:00 s 80 06 0100 0000 0012 18 <").unwrap().bus, None);
    }

    #[test]
    fn what_is_wrong_is_named() {
        assert_eq!(parse("ffff x").unwrap_err(), BadLine { word: 2, expected: "a time in microseconds" });
        assert_eq!(parse("ffff 1 S Bo:1:2:99 0 0").unwrap_err().word, 4);
        assert_eq!(parse("ffff 1 S Bo:1:2:9 0").unwrap_err().expected, "a length");
    }

    proptest::proptest! {
        #[test]
        fn any_text_is_read_without_a_panic(text: String, tail: String) {
            let _ = parse(&text);
            let _ = parse(&format!("ffff 1 S Bo:1:2:9 0 {tail}"));
            let _ = parse(&format!("ffff 1 C Zo:1:2:9 {tail}"));
        }
    }
}
