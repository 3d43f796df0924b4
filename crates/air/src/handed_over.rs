//! Frames of the capturing machine that are in the capture twice: as a program handed them to the driver, with flags for sending and
//! without a rate, and again as they were sent, with their rate (mac80211 shows both on a monitor interface).

use wire::ieee80211::MacAddr;
use wire::phy::Mode;

use crate::frame::Frame;

/// Frames handed over that wait for the one that was sent.
const BACK: usize = 64;
/// Pairs from which a capture has both.
const MIN_PAIRS: u64 = 2;

/// What both have in common.
type Marks = (Option<MacAddr>, MacAddr, u16, u8);

fn marks(frame: &Frame) -> Option<Marks> {
    let header = &frame.header;
    Some((header.addr2, header.addr1, header.sequence?, header.fragment?))
}

/// The frame has the look of one that was handed over.
#[inline]
pub fn has_the_look(frame: &Frame) -> bool {
    frame.radio.own_transmission && matches!(frame.radio.mode, Mode::Unknown) && frame.header.sequence.is_some()
}

/// Frames that were handed over come back with a rate: most of them, because a driver may also report what it sent without
/// one, such as the beacons of an access point.
pub fn come_back<'a>(frames: impl Iterator<Item = &'a Frame>) -> bool {
    let mut waiting: Vec<Marks> = Vec::new();
    let (mut handed_over, mut pairs) = (0, 0);
    for frame in frames.filter(|frame| frame.radio.own_transmission) {
        let Some(marks) = marks(frame) else { continue };
        if has_the_look(frame) {
            handed_over += 1;
            if waiting.len() >= BACK {
                waiting.remove(0);
            }
            waiting.push(marks);
        } else if let Some(place) = waiting.iter().position(|other| *other == marks) {
            waiting.remove(place);
            pairs += 1;
        }
    }
    pairs >= MIN_PAIRS && pairs * 2 > handed_over
}
