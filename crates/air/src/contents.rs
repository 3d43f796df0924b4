//! What the capture contains: frames by type and subtype with their airtime.

use wire::ieee80211::{FrameKind, FrameType};

use crate::frame::Frame;
use crate::micros::us;
use crate::namer::Named;
use crate::ppdu::Ppdu;
use crate::report;

/// Types and subtypes.
const KINDS: usize = 64;
/// Frames of one type and subtype.
#[derive(Clone, Copy, Debug, Default)]
struct Kind {
    frames: u64,
    retries: u64,
    bytes: u64,
    airtime_ns: i64,
}

/// Counters by type and subtype.
#[derive(Clone, Debug)]
pub struct Contents {
    kinds: [Kind; KINDS],
}

impl Default for Contents {
    fn default() -> Self {
        Self { kinds: [Kind::default(); KINDS] }
    }
}

fn place(kind: FrameKind) -> usize {
    let (frame_type, subtype) = kind.type_and_subtype();
    (frame_type as usize & 3) << 4 | usize::from(subtype & 15)
}

impl Contents {
    /// Records a frame that is not known to be damaged.
    #[inline]
    pub fn frame(&mut self, frame: &Frame) {
        if let Some(kind) = self.kinds.get_mut(place(frame.header.fc.kind())) {
            kind.frames += 1;
            kind.retries += u64::from(frame.header.fc.retry());
            kind.bytes += u64::from(frame.mpdu_len);
        }
    }

    /// Counts the time of a PPDU of the interface that the accounts of the medium are about.
    #[inline]
    pub fn ppdu(&mut self, ppdu: &Ppdu) {
        if ppdu.all_bad {
            return;
        }
        if let (Some(kind), Some(ns)) = (self.kinds.get_mut(place(ppdu.kind)), ppdu.duration_ns) {
            kind.airtime_ns += ns;
        }
    }

    /// Rows by type and subtype. `rated`: airtime can be believed.
    pub fn report(&self, named: &Named, rated: bool) -> report::Contents {
        let rows = self.kinds.iter().enumerate().filter(|(_, kind)| kind.frames > 0).map(|(place, kind)| {
            let (frame_type, subtype) = ((place >> 4) as u16, (place & 15) as u16);
            let fc = wire::ieee80211::FrameControl(frame_type << 2 | subtype << 4);
            report::FrameKindRow {
                frame_type: match fc.frame_type() {
                    FrameType::Management => "management",
                    FrameType::Control => "control",
                    FrameType::Data => "data",
                    FrameType::Extension => "extension",
                },
                subtype: subtype as u8,
                name: fc.kind().name().to_owned(),
                frames: kind.frames,
                retries: kind.retries,
                bytes: kind.bytes,
                airtime_us: rated.then(|| us(kind.airtime_ns)),
            }
        });
        let mut specials: Vec<report::NamedFrames> =
            named.iter().map(|(name, frames)| report::NamedFrames { name: name.to_owned(), frames }).collect();
        specials.sort_by(|a, b| b.frames.cmp(&a.frames).then_with(|| a.name.cmp(&b.name)));
        report::Contents { kinds: rows.collect(), named: specials }
    }
}
