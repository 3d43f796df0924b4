//! The SSID (9.4.2.2): up to 32 arbitrary bytes, chosen by strangers.

use core::fmt::{self, Write};

/// An SSID. `Display` shows it safely on any terminal.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Ssid {
    bytes: [u8; 32],
    len: u8,
}

impl Ssid {
    /// `None` when there are more than 32 bytes, which no SSID has.
    #[inline]
    pub fn new(bytes: &[u8]) -> Option<Self> {
        let mut padded = [0; 32];
        padded.get_mut(..bytes.len())?.copy_from_slice(bytes);
        Some(Self { bytes: padded, len: bytes.len() as u8 })
    }

    /// The bytes as sent.
    #[inline]
    pub fn as_bytes(&self) -> &[u8] {
        self.bytes.get(..usize::from(self.len)).unwrap_or(&self.bytes)
    }

    /// Empty (in a probe request: the wildcard), or blanked with zero bytes as some access points hide it.
    #[inline]
    pub fn is_hidden(&self) -> bool {
        self.bytes == [0; 32]
    }
}

/// Writes text of unknown origin so that it can do no harm and hide nothing: control characters and bytes that are not
/// UTF-8 as `\x1b`, invisible and direction-changing characters as `\u{202e}`, a backslash as `\\`.
pub fn write_safely(out: &mut impl Write, bytes: &[u8]) -> fmt::Result {
    for chunk in bytes.utf8_chunks() {
        for character in chunk.valid().chars() {
            match character {
                '\\' => out.write_str("\\\\")?,
                '\0'..='\x1f' | '\x7f' => write!(out, "\\x{:02x}", u32::from(character))?,
                _ if is_invisible(character) => write!(out, "\\u{{{:x}}}", u32::from(character))?,
                _ => out.write_char(character)?,
            }
        }
        for byte in chunk.invalid() {
            write!(out, "\\x{byte:02x}")?;
        }
    }
    Ok(())
}

/// C1 controls (0x9b alone starts an escape sequence on some terminals), format and bidirectional controls, line and
/// paragraph separators, fillers, variation selectors, private use, tags and non-characters.
fn is_invisible(character: char) -> bool {
    matches!(
        character,
        '\u{80}'..='\u{9f}'
            | '\u{ad}'
            | '\u{34f}'
            | '\u{61c}'
            | '\u{115f}'..='\u{1160}'
            | '\u{17b4}'..='\u{17b5}'
            | '\u{180b}'..='\u{180f}'
            | '\u{200b}'..='\u{200f}'
            | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}'
            | '\u{3164}'
            | '\u{e000}'..='\u{f8ff}'
            | '\u{fdd0}'..='\u{fdef}'
            | '\u{fe00}'..='\u{fe0f}'
            | '\u{feff}'
            | '\u{ffa0}'
            | '\u{fff0}'..='\u{fffb}'
            | '\u{fffe}'..='\u{ffff}'
            | '\u{e0000}'..='\u{10ffff}'
    )
}

/// [`write_safely`] into a new string.
pub fn display_ssid(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len());
    // Writing to a string cannot fail.
    let _ = write_safely(&mut text, bytes);
    text
}

impl fmt::Display for Ssid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_safely(f, self.as_bytes())
    }
}

impl fmt::Debug for Ssid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Ssid(\"{self}\")")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn hostile_names_become_visible() {
        let shown = |bytes: &[u8]| Ssid::new(bytes).unwrap().to_string();
        assert_eq!(shown(b"home network"), "home network");
        assert_eq!(shown("Café \u{1f600}".as_bytes()), "Café \u{1f600}");
        assert_eq!(shown(b"\x1b[2J\x07"), "\\x1b[2J\\x07");
        assert_eq!(shown(b"a\\x1b"), "a\\\\x1b", "a backslash of the name's own cannot pass for an escape");
        assert_eq!(shown(b"\xff\xc3("), "\\xff\\xc3(");
        assert_eq!(shown("\u{9b}31m".as_bytes()), "\\u{9b}31m");
        assert_eq!(shown("evil\u{202e}txt".as_bytes()), "evil\\u{202e}txt");
        assert_eq!(shown(b"two\nlines"), "two\\x0alines");
    }

    #[test]
    fn lengths() {
        assert!(Ssid::new(&[b'a'; 33]).is_none());
        assert_eq!(Ssid::new(&[b'a'; 32]).unwrap().as_bytes().len(), 32);
        assert!(Ssid::new(&[]).unwrap().is_hidden() && Ssid::new(&[0; 7]).unwrap().is_hidden());
        assert!(!Ssid::new(b"x").unwrap().is_hidden());
        assert_ne!(Ssid::new(&[]), Ssid::new(&[0; 7]), "both hidden, but different on the air");
    }

    proptest! {
        #[test]
        fn what_is_shown_has_no_controls_and_is_unambiguous(
            one in proptest::collection::vec(any::<u8>(), 0..=32), two in proptest::collection::vec(any::<u8>(), 0..=32),
        ) {
            let show = |bytes: &[u8]| Ssid::new(bytes).unwrap().to_string();
            prop_assert!(!show(&one).chars().any(char::is_control));
            prop_assert_eq!(show(&one) == show(&two), one == two);
        }
    }
}
