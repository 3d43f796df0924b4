//! What was on the bus, by endpoint.

use std::collections::BTreeMap;

use wire::usb::urb::Urb;
use wire::usb::usbmon::EventKind;
use wire::usb::TransferType;

/// The URBs of one endpoint.
#[derive(Clone, Debug)]
pub(crate) struct Endpoint {
    /// Type.
    pub(crate) transfer: TransferType,
    /// Completed.
    pub(crate) urbs: u64,
    /// Those of `urbs` with an error.
    pub(crate) errors: u64,
    /// Bytes of those completed.
    pub(crate) bytes: u64,
    /// From submission to completion, ns, all together.
    pub(crate) taken_ns: u64,
    /// At once in the hands of the host controller, at most.
    pub(crate) most_in_flight: usize,
    in_flight: BTreeMap<u64, u64>,
}

/// All endpoints, by device and address.
#[derive(Clone, Debug, Default)]
pub(crate) struct Bus {
    pub(crate) endpoints: BTreeMap<(u8, u8), Endpoint>,
}

impl Bus {
    /// Records a URB; `counts`: it is completed within the time that counts.
    pub(crate) fn note(&mut self, urb: &Urb<'_>, counts: bool) {
        let endpoint = self.endpoints.entry((urb.device, urb.endpoint.0)).or_insert_with(|| Endpoint {
            transfer: urb.transfer,
            urbs: 0,
            errors: 0,
            bytes: 0,
            taken_ns: 0,
            most_in_flight: 0,
            in_flight: BTreeMap::new(),
        });
        match urb.event {
            EventKind::Submission => {
                endpoint.in_flight.insert(urb.id, urb.at_ns);
                endpoint.most_in_flight = endpoint.most_in_flight.max(endpoint.in_flight.len());
            }
            EventKind::Completion | EventKind::SubmissionError => {
                let submitted_ns = endpoint.in_flight.remove(&urb.id);
                if counts {
                    endpoint.urbs += 1;
                    endpoint.errors += u64::from(urb.status != 0);
                    endpoint.bytes += u64::from(urb.length);
                    endpoint.taken_ns += submitted_ns.map_or(0, |ns| urb.at_ns.saturating_sub(ns));
                }
            }
        }
    }
}
