//! Records that are in a capture twice: usbmon0 sees every bus, so captured together with a bus's own interface it repeats all
//! records of that bus, a few µs off.

use std::collections::BTreeMap;

use wire::usb::setup::Setup;
use wire::usb::usbmon::EventKind;
use wire::usb::EndpointAddress;

use crate::event::{Event, Status};

/// Records looked back.
const BACK: usize = 8;
/// Stamps of the two differ by at most this, µs.
pub(crate) const APART_US: u64 = 50;
/// The same while only submissions or only completions were captured, so that no record between two shows that they are of two
/// requests. In ten captures by usbmon an identifier is submitted again after 5 µs at the earliest; of the copies in one of usbmon0
/// and a bus 99 % are within this.
const APART_ALONE_US: u64 = 3;
/// A bus with records that are repeated shows it: each copy counts so much, and each other record 1 against it. Copies that are further
/// apart than [`APART_ALONE_US`] are distinguished from requests that follow each other from `REPEATED` on, and those behind another record
/// of their identifier from `SURELY` on.
const COPY: u32 = 4;
const REPEATED: u32 = 8;
const SURELY: u32 = 32;
const MOST: u32 = 64;

/// What two records of one event have in common.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Brief {
    id: u64,
    kind: EventKind,
    at: (u16, u16, EndpointAddress),
    status: Status,
    length: Option<u32>,
    setup: Option<Setup>,
}

/// A record that counts, as it is not a copy of another.
#[derive(Clone, Copy, Debug)]
struct Kept {
    brief: Brief,
    time_us: i64,
    /// Its copy has come.
    has_copy: bool,
}

/// The latest records that are not copies.
#[derive(Debug, Default)]
pub(crate) struct Copies {
    recent: [Option<Kept>; BACK],
    next: usize,
    /// By bus: how much it shows that its records are repeated.
    buses: BTreeMap<u16, u32>,
    /// Submissions were captured, and completions. In a file of one kind only, the next one of an identifier looks like a copy.
    has_submissions: bool,
    has_completions: bool,
}

impl Copies {
    /// Takes the next record; whether an earlier one is of the same event. A request is submitted and completed by turns:
    /// between two submissions of one identifier lies a completion, unless they are the same one.
    pub fn is_copy(&mut self, event: &Event<'_>) -> bool {
        // Windows gives injected requests no identifiers, and a log without a clock has no distances.
        let Some(time_us) = event.time_us.filter(|_| !matches!(event.status, Status::Usbd(_))) else { return false };
        match event.kind {
            EventKind::Submission => self.has_submissions = true,
            _ => self.has_completions = true,
        }
        let apart_us = if self.has_submissions && self.has_completions { APART_US } else { APART_ALONE_US };
        let brief = Brief {
            id: event.id,
            kind: event.kind,
            at: (event.bus, event.device, event.endpoint),
            status: event.status,
            length: event.length,
            setup: event.setup,
        };
        // The latest first; another kind of record of the same identifier in between shows another request.
        let (mut alike, mut is_turn) = (None, false);
        for back in 1..=BACK {
            let place = (self.next + BACK - back) % BACK;
            let Some(kept) = self.recent.get(place).copied().flatten() else { continue };
            let apart = kept.time_us.abs_diff(time_us);
            if kept.brief == brief && !kept.has_copy && apart <= apart_us {
                alike = Some((place, apart, is_turn));
                break;
            }
            is_turn |= kept.brief.id == brief.id && kept.brief.kind != brief.kind && kept.time_us <= time_us;
        }
        let shown = self.buses.entry(event.bus).or_default();
        *shown = match alike {
            Some((.., false)) => (*shown + COPY).min(MOST),
            _ => shown.saturating_sub(1),
        };
        // Where every record is in the file twice, so is this one, whatever the other's copy of the record in between is: that one's
        // first may be missing.
        let is_copy = |apart: u64, is_turn: bool| match is_turn {
            true => *shown >= SURELY,
            false => apart <= APART_ALONE_US || *shown >= REPEATED,
        };
        if let Some((place, ..)) = alike.filter(|(_, apart, is_turn)| is_copy(*apart, *is_turn)) {
            if let Some(Some(kept)) = self.recent.get_mut(place) {
                kept.has_copy = true;
            }
            return true;
        }
        if let Some(place) = self.recent.get_mut(self.next) {
            *place = Some(Kept { brief, time_us, has_copy: false });
        }
        self.next = (self.next + 1) % BACK;
        false
    }
}
