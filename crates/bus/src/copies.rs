//! Records that are in a capture twice: usbmon0 sees every bus, so captured together with a bus's own interface it repeats all
//! records of that bus, a few µs off.

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

/// The latest records that are not copies.
#[derive(Debug, Default)]
pub(crate) struct Copies {
    /// With their times, µs.
    recent: [Option<(Brief, i64)>; BACK],
    next: usize,
    /// Submissions were captured, and completions. In a file of one kind only, the next one of an identifier looks like a copy.
    has_submissions: bool,
    has_completions: bool,
}

impl Copies {
    /// Takes the next record; whether an earlier one is of the same event. A request is submitted and completed by turns:
    /// between two submissions of one identifier lies a completion, unless they are the same one.
    pub fn is_copy(&mut self, event: &Event<'_>) -> bool {
        // Windows gives injected requests no identifiers, and a log without a clock tells no distance.
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
        let latest_first = (1..=BACK).filter_map(|back| *self.recent.get((self.next + BACK - back) % BACK)?);
        for (other, at_us) in latest_first {
            if other == brief && at_us.abs_diff(time_us) <= apart_us {
                return true;
            }
            let is_turn = other.id == brief.id && other.kind != brief.kind;
            if is_turn && at_us <= time_us {
                break;
            }
        }
        if let Some(place) = self.recent.get_mut(self.next) {
            *place = Some((brief, time_us));
        }
        self.next = (self.next + 1) % BACK;
        false
    }
}
