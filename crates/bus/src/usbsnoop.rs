//! Condensed UsbSnoop logs: one control request per line, SETUP, `<<<` or `>>>` and the data.
//!
//! ```text
//! 000029:  OUT: 000001 ms 000029 ms 21 09 00 03 00 00 08 00 >>> 55 01 01 00 00 ff 07 5d
//! ```
//!
//! The first word numbers the URBs; where the second time repeats that number, it is not a time.

use wire::usb::setup::Setup;

/// Data bytes that a line of the logs at hand shows at most.
pub const SHOWN_MAX: usize = 32;
/// Data bytes kept of a line.
pub const DATA_MAX: usize = 4096;

/// One request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// Number of the URB.
    pub number: u64,
    /// ms since the start of the log, as the log says.
    pub time_ms: u64,
    /// The SETUP packet.
    pub setup: Setup,
    /// The data stage.
    pub data: Vec<u8>,
}

impl Line {
    /// The line shows as much as lines do, and more was asked for.
    pub fn may_be_longer(&self) -> bool {
        (self.data.len() == SHOWN_MAX || self.data.len() >= DATA_MAX)
            && self.data.len() < usize::from(self.setup.length)
    }
}

/// Reads a line; `None` when UsbSnoop did not write it.
pub fn parse(line: &str) -> Option<Line> {
    let (number, rest) = line.trim().split_once(':')?;
    let number = number.parse().ok()?;
    let mut words = rest.split_ascii_whitespace();
    if !matches!(words.next()?, "OUT:" | "IN:") {
        return None;
    }
    let _: u64 = words.next()?.parse().ok()?;
    let _ = words.next().filter(|word| *word == "ms")?;
    let time_ms = words.next()?.parse().ok()?;
    let _ = words.next().filter(|word| *word == "ms")?;
    let mut setup = [0; 8];
    for slot in &mut setup {
        *slot = byte(words.next()?)?;
    }
    let mut data = Vec::new();
    match words.next() {
        None => {}
        Some("<<<" | ">>>") => {
            for word in words.take(DATA_MAX) {
                data.push(byte(word)?);
            }
        }
        Some(_) => return None,
    }
    Some(Line { number, time_ms, setup: Setup::from_bytes(setup), data })
}

fn byte(word: &str) -> Option<u8> {
    u8::from_str_radix(word, 16).ok().filter(|_| word.len() == 2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_a_request() {
        let line = parse("000031:  OUT: 000001 ms 000031 ms a1 01 00 03 00 00 08 00 <<< aa 02 ").unwrap();
        assert_eq!((line.number, line.time_ms, line.setup.length), (31, 31, 8));
        assert_eq!(line.data, [0xaa, 2]);
        assert!(parse("000031: something else").is_none());
    }

    proptest::proptest! {
        #[test]
        fn any_text_is_read_without_a_panic(text: String, tail: String) {
            let _ = parse(&text);
            let _ = parse(&format!("1: OUT: 1 ms 1 ms {tail}"));
        }
    }
}
