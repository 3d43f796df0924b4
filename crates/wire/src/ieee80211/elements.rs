//! Walking the elements of a management frame (9.4.2.1).

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
        fn never_panics_and_ends(bytes in proptest::collection::vec(any::<u8>(), 0..600)) {
            prop_assert!(Elements::new(&bytes).count() <= bytes.len() / 2);
        }
    }
}
