//! Names of registers by address.

use std::collections::BTreeMap;

/// Names, each of so many bytes from an address on.
#[derive(Clone, Debug, Default)]
pub struct Names(BTreeMap<u32, (u32, &'static str)>);

impl Names {
    /// Reads a list: address and bytes in hexadecimal, then the name. Lines that begin with # are comments.
    pub fn parse(list: &'static str) -> Self {
        let named = |line: &'static str| {
            let mut words = line.split_ascii_whitespace();
            let mut number = || u32::from_str_radix(words.next()?, 16).ok();
            let (address, bytes) = (number()?, number()?);
            Some((address, (bytes, words.next()?)))
        };
        Self(list.lines().filter(|line| !line.starts_with('#')).filter_map(named).collect())
    }

    /// The name of what is at an address, and how far inside of it that is.
    pub fn at(&self, address: u32) -> Option<(&'static str, u32)> {
        let (start, (bytes, name)) = self.0.range(..=address).next_back()?;
        let inside = address - start;
        (inside == 0 || inside < *bytes).then_some((name, inside))
    }

    /// Every line of a list is one, sorted by address, and no byte has two names.
    #[cfg(test)]
    pub(crate) fn check(list: &'static str) {
        let lines: Vec<&str> = list.lines().filter(|line| !line.starts_with('#')).collect();
        let names = Self::parse(list).0;
        assert_eq!(names.len(), lines.len());
        let address = |line: &&str| line.split(' ').next().and_then(|word| u32::from_str_radix(word, 16).ok());
        assert!(lines.is_sorted_by_key(address), "by address");
        let ends = names.iter().map(|(start, (bytes, _))| start + bytes);
        assert!(ends.zip(names.keys().skip(1)).all(|(end, next)| end <= *next), "no two names for a byte");
    }

    /// `RCR`, or `WCID_ADDR+0x8` for what is inside of a table.
    pub fn with_offset(&self, address: u32) -> Option<String> {
        self.at(address).map(|(name, inside)| if inside == 0 { name.to_owned() } else { format!("{name}+{inside:#x}") })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_of_as_many_bytes_as_the_list_says() {
        let names = Names::parse("# a list\n0080 4 ISR\n0800 28 Q_TXDP\nbroken\n");
        assert_eq!((names.at(0x80), names.at(0x84), names.at(0x7f)), (Some(("ISR", 0)), None, None));
        assert_eq!(names.with_offset(0x804).as_deref(), Some("Q_TXDP+0x4"));
        assert_eq!(names.with_offset(0x828), None);
    }
}
