//! Walking the elements of a management frame (9.4.2.1).

/// Element IDs (table 9-92) of elements that are written, too.
pub mod id {
    /// SSID.
    pub const SSID: u8 = 0;
    /// Supported Rates and BSS Membership Selectors.
    pub const SUPPORTED_RATES: u8 = 1;
    /// DSSS Parameter Set.
    pub const DSSS_PARAMETER_SET: u8 = 3;
    /// TIM.
    pub const TIM: u8 = 5;
    /// Country.
    pub const COUNTRY: u8 = 7;
    /// Channel Switch Announcement.
    pub const CHANNEL_SWITCH: u8 = 37;
    /// ERP.
    pub const ERP: u8 = 42;
    /// HT Capabilities.
    pub const HT_CAPABILITIES: u8 = 45;
    /// RSN.
    pub const RSN: u8 = 48;
    /// Extended Supported Rates.
    pub const EXTENDED_SUPPORTED_RATES: u8 = 50;
    /// Extended Channel Switch Announcement.
    pub const EXTENDED_CHANNEL_SWITCH: u8 = 60;
    /// HT Operation.
    pub const HT_OPERATION: u8 = 61;
    /// Secondary Channel Offset.
    pub const SECONDARY_CHANNEL_OFFSET: u8 = 62;
    /// Extended Capabilities.
    pub const EXTENDED_CAPABILITIES: u8 = 127;
    /// ADDBA Extension.
    pub const ADDBA_EXTENSION: u8 = 159;
    /// Vendor Specific.
    pub const VENDOR: u8 = 221;
    /// Those with an Element ID Extension.
    pub const EXTENSION: u8 = 255;
}

/// One element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Element<'a> {
    /// Element ID.
    pub id: u8,
    /// Element ID Extension, for ID 255.
    pub extension: Option<u8>,
    /// The information after the length (and the extension), 0 to 255 bytes.
    pub data: &'a [u8],
}

impl<'a> Element<'a> {
    /// An element without Element ID Extension.
    pub const fn new(id: u8, data: &'a [u8]) -> Self {
        Self { id, extension: None, data }
    }

    /// Bytes that [`Self::emit`] appends.
    pub fn buffer_len(&self) -> usize {
        2 + (usize::from(self.extension.is_some()) + self.data.len()).min(DATA_MAX)
    }

    /// Appends the element. What is longer than an element can be is cut.
    pub fn emit(&self, out: &mut Vec<u8>) {
        Self::emit_with(self.id, out, |out| {
            out.extend(self.extension);
            out.extend_from_slice(self.data);
        });
    }

    /// Appends an element with the data that `data` appends. What is longer than an element can be is cut.
    pub fn emit_with(id: u8, out: &mut Vec<u8>, data: impl FnOnce(&mut Vec<u8>)) {
        let start = out.len();
        out.extend_from_slice(&[id, 0]);
        data(out);
        out.truncate(start + 2 + DATA_MAX);
        let len = out.len() - start - 2;
        if let Some(field) = out.get_mut(start + 1) {
            *field = len as u8;
        }
    }
}

/// Bytes that an element's length field can express.
const DATA_MAX: usize = 255;

/// Iterator over elements. It ends at the first one that does not fit; [`Elements::truncated`] then says so.
#[derive(Clone, Copy, Debug)]
pub struct Elements<'a> {
    rest: &'a [u8],
    truncated: bool,
}

impl<'a> Elements<'a> {
    /// `bytes`: from the first element to the end of the frame body, without FCS.
    #[inline]
    pub const fn new(bytes: &'a [u8]) -> Self {
        Self { rest: bytes, truncated: false }
    }

    /// After the walk: the last element was cut, by a snap length or by damage.
    #[inline]
    pub const fn truncated(&self) -> bool {
        self.truncated
    }

    /// The first element with `id` (0..=254).
    pub fn find(mut self, id: u8) -> Option<&'a [u8]> {
        self.find_map(|element| (element.id == id && element.extension.is_none()).then_some(element.data))
    }
}

impl<'a> Iterator for Elements<'a> {
    type Item = Element<'a>;

    #[inline]
    fn next(&mut self) -> Option<Element<'a>> {
        let (id, length) = match self.rest {
            [] => return None,
            [id, length, ..] => (*id, usize::from(*length)),
            [_] => {
                self.rest = &[];
                self.truncated = true;
                return None;
            }
        };
        let Some(data) = self.rest.get(2..2 + length) else {
            self.rest = &[];
            self.truncated = true;
            return None;
        };
        self.rest = self.rest.get(2 + length..).unwrap_or(&[]);
        match (id, data) {
            (255, [extension, data @ ..]) => Some(Element { id, extension: Some(*extension), data }),
            _ => Some(Element { id, extension: None, data }),
        }
    }
}

/// Bit `number` of a field, lowest bit of the first byte first; `false` beyond its end.
#[inline]
pub(super) const fn bit_at(field: &[u8], number: usize) -> bool {
    match field.split_at_checked(number / 8) {
        Some((_, [byte, ..])) => *byte >> (number % 8) & 1 != 0,
        _ => false,
    }
}

/// The little-endian number at `offset`, if it is there.
#[inline]
pub(super) fn u16_at(bytes: &[u8], offset: usize) -> Option<u16> {
    bytes.get(offset..offset.checked_add(2)?)?.try_into().ok().map(u16::from_le_bytes)
}

/// The little-endian number at `offset`, if it is there.
#[inline]
pub(super) fn u32_at(bytes: &[u8], offset: usize) -> Option<u32> {
    bytes.get(offset..offset.checked_add(4)?)?.try_into().ok().map(u32::from_le_bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn elements_are_walked_and_a_cut_one_is_noted() {
        let bytes = [0, 2, b'a', b'b', 3, 1, 6, 255, 3, 35, 1, 2, 48, 20, 1, 0];
        let mut walk = Elements::new(&bytes);
        let seen: Vec<_> = walk.by_ref().map(|element| (element.id, element.extension, element.data.len())).collect();
        assert_eq!(seen, [(0, None, 2), (3, None, 1), (255, Some(35), 2)]);
        assert!(walk.truncated());
        assert_eq!(Elements::new(&bytes).find(3), Some(&[6][..]));
        let mut whole = Elements::new(&bytes[..12]);
        assert_eq!((whole.by_ref().count(), whole.truncated()), (3, false));
    }

    proptest! {
        #[test]
        fn elements_come_back(id: u8, extension: Option<u8>, data in proptest::collection::vec(any::<u8>(), 0..255)) {
            let extension = extension.filter(|_| id == id::EXTENSION);
            prop_assume!(id != id::EXTENSION || extension.is_some());
            let element = Element { id, extension, data: &data };
            let mut out = vec![7];
            element.emit(&mut out);
            prop_assert_eq!(out.len(), 1 + element.buffer_len());
            let mut walk = Elements::new(&out[1..]);
            prop_assert_eq!((walk.next(), walk.next(), walk.truncated()), (Some(element), None, false));
        }

        #[test]
        fn data_without_end_is_cut(id: u8, len in 250usize..400) {
            let data = vec![id; len];
            let element = Element::new(id, &data);
            let mut out = Vec::new();
            element.emit(&mut out);
            prop_assert_eq!((out.len(), usize::from(out[1])), (element.buffer_len(), len.min(255)));
        }

        #[test]
        fn never_panics_and_ends(bytes in proptest::collection::vec(any::<u8>(), 0..600)) {
            prop_assert!(Elements::new(&bytes).count() <= bytes.len() / 2);
        }
    }
}
