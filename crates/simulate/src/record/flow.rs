//! What became of one flow.

use hdrhistogram::Histogram;
use link::DropCause;

/// Counters of a flow, of the time that counts.
#[derive(Clone, Debug)]
pub(crate) struct Flow {
    pub(crate) offered_packets: u64,
    pub(crate) delivered_packets: u64,
    pub(crate) payload_bytes: u64,
    /// Time from one end to the other, ns.
    pub(crate) delay_ns: Histogram<u64>,
    pub(crate) drops: [u64; CAUSES.len()],
}

/// Every cause, in the order of the counters.
pub(crate) const CAUSES: [DropCause; 7] = [
    DropCause::QueueFull,
    DropCause::Codel,
    DropCause::Overlimit,
    DropCause::RetryLimit,
    DropCause::ReceiverFull,
    DropCause::Oversize,
    DropCause::DeviceDown,
];

impl Flow {
    pub(crate) fn new() -> Self {
        Self {
            offered_packets: 0,
            delivered_packets: 0,
            payload_bytes: 0,
            delay_ns: histogram(),
            drops: [0; CAUSES.len()],
        }
    }

    pub(crate) fn drop(&mut self, cause: DropCause) {
        self.drops[cause as usize] += 1;
    }
}

/// Three significant digits, as large as it gets.
pub(crate) fn histogram() -> Histogram<u64> {
    let mut made =
        Histogram::new_with_bounds(1, 1_000_000_000, 3).unwrap_or_else(|_| unreachable!("the bounds are valid"));
    made.auto(true);
    made
}
