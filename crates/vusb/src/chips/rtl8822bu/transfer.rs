//! What a bulk OUT transfer holds: frames, pages and commands, each behind its descriptor.

use wire::usb::rtw88::{queue, TxDescriptor, ALIGNMENT};

/// Shortest frame: a control frame with one address.
const FRAME_MIN: usize = 10;

/// One part of a transfer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part<'a> {
    /// What the driver asks for.
    pub descriptor: TxDescriptor,
    /// Descriptor and padding, and what follows.
    pub whole: &'a [u8],
    /// What follows.
    pub frame: &'a [u8],
}

/// The parts of a transfer, and whether something is left that is none.
pub fn parts(data: &[u8]) -> (Vec<Part<'_>>, bool) {
    let mut found = Vec::new();
    let mut rest = data;
    let mut expected = TxDescriptor::parse(rest).map_or(1, |first| first.frames_in_transfer().max(1));
    while expected > 0 {
        expected -= 1;
        let Some(part) = part(rest) else { return (found, true) };
        rest = rest.get(part.whole.len().next_multiple_of(ALIGNMENT)..).unwrap_or_default();
        found.push(part);
    }
    (found, false)
}

fn part(bytes: &[u8]) -> Option<Part<'_>> {
    let descriptor = TxDescriptor::parse(bytes)?;
    let (offset, len) = (descriptor.frame_offset(), descriptor.frame_len());
    let whole = bytes.get(..offset.checked_add(len)?)?;
    // The last part of the firmware may have its checksum only.
    let is_frame = ![queue::BEACON, queue::COMMAND].contains(&descriptor.queue());
    let shortest = if is_frame { FRAME_MIN } else { 1 };
    let frame = whole.get(offset..).filter(|frame| frame.len() >= shortest)?;
    Some(Part { descriptor, whole, frame })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(len: u16, frames: u32) -> Vec<u8> {
        let descriptor = TxDescriptor::new(len, 0).with(7, 24, frames);
        [&descriptor.emit()[..], &vec![len as u8; len.into()]].concat()
    }

    #[test]
    fn each_part_starts_at_a_multiple_of_eight_bytes() {
        let mut data = frame(101, 3);
        for len in [30, 64] {
            data.resize(data.len().next_multiple_of(8), 0);
            data.extend(frame(len, 0));
        }
        let (found, broken) = parts(&data);
        let lens: Vec<_> = found.iter().map(|part| (part.frame.len(), part.frame[0])).collect();
        assert_eq!((lens, broken), (vec![(101, 101), (30, 30), (64, 64)], false));
        // The last byte is missing: the last part is none.
        let (found, broken) = parts(&data[..data.len() - 1]);
        assert_eq!((found.len(), broken), (2, true));
    }

    #[test]
    fn what_is_no_frame_is_said() {
        assert_eq!(parts(&[]), (vec![], true));
        assert!(parts(&frame(9, 1)).1, "too short");
        let page = [&TxDescriptor::new(8, queue::BEACON).emit()[..], &[1; 8]].concat();
        assert_eq!(parts(&page).0.len(), 1, "a page may be as short");
        let beyond = TxDescriptor::new(u16::MAX, 0).with(1, 24, 31).emit();
        assert!(parts(&beyond).1);
        // The number of frames counts in the first descriptor only.
        assert_eq!(parts(&[frame(32, 0), frame(32, 0)].concat()).0.len(), 1);
    }
}
