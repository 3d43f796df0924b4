//! Records that are in a capture twice: usbmon0 sees every bus, so together with a bus's own interface it tells all of it
//! again, a few µs off.

use wire::usb::setup::Setup;
use wire::usb::usbmon::EventKind;
use wire::usb::EndpointAddress;

use crate::event::{Event, Status};

/// Records looked back.
const BACK: usize = 8;
/// Stamps of the two differ by at most this, µs.
const APART_US: i64 = 50;

/// What two records of one event have in common, and when it was.
#[derive(Clone, Copy, Debug)]
struct Brief {
    id: u64,
    kind: EventKind,
    at: (u16, u16, EndpointAddress),
    status: Status,
    length: Option<u32>,
    setup: Option<Setup>,
    time_us: i64,
}

impl Brief {
    fn is_of_the_same(&self, other: &Self) -> bool {
        self.id == other.id
            && self.kind == other.kind
            && self.at == other.at
            && self.status == other.status
            && self.length == other.length
            && self.setup == other.setup
            && (self.time_us - other.time_us).abs() <= APART_US
    }
}

/// The latest records that are no copies.
#[derive(Debug, Default)]
pub(crate) struct Copies {
    recent: [Option<Brief>; BACK],
    next: usize,
}

impl Copies {
    /// Takes the next record; whether it tells of an event that one before it told of. A request is submitted and completed
    /// by turns: between two submissions of one identifier lies a completion, unless they are the same one.
    pub fn is_copy(&mut self, event: &Event<'_>) -> bool {
        // Windows gives injected requests no identifiers, and a log without a clock tells no distance.
        let Some(time_us) = event.time_us.filter(|_| !matches!(event.status, Status::Usbd(_))) else { return false };
        let brief = Brief {
            id: event.id,
            kind: event.kind,
            at: (event.bus, event.device, event.endpoint),
            status: event.status,
            length: event.length,
            setup: event.setup,
            time_us,
        };
        let latest_first = (1..=BACK).filter_map(|back| *self.recent.get((self.next + BACK - back) % BACK)?);
        for other in latest_first {
            if other.is_of_the_same(&brief) {
                return true;
            }
            let is_turn = other.id == brief.id && other.kind != brief.kind;
            if is_turn && other.time_us <= brief.time_us {
                break;
            }
        }
        if let Some(place) = self.recent.get_mut(self.next) {
            *place = Some(brief);
        }
        self.next = (self.next + 1) % BACK;
        false
    }
}
