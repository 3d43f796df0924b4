//! What happened, counted.

use serde::{Serialize, Serializer};

use crate::engine::{AccessCategory, DropCause};
use crate::wlan::originator::WINDOW;
use crate::wlan::settings::Station;

/// Everything that was counted since the link began.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Counters {
    /// What the station did; of several, the first.
    pub dut: SideCounters,
    /// What the access point did.
    pub ap: SideCounters,
    /// Times that two or more began to send in the same slot.
    pub collisions: u64,
    /// Every station, in the order of their hosts.
    pub stations: Vec<StationCounters>,
}

/// One station and what went on between it and the access point.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct StationCounters {
    /// Its name.
    pub name: String,
    /// What it did.
    pub radio: SideCounters,
    /// What the access point sent to it.
    pub down: DirectionCounters,
    /// What it sent to the access point.
    pub up: DirectionCounters,
}

/// Data from one radio to another. Collided PPDUs are included.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DirectionCounters {
    /// Data PPDUs.
    pub ppdus: u64,
    /// MPDUs in them.
    pub mpdus: u64,
    /// MPDUs sent again.
    pub retries: u64,
    /// MPDUs lost on the way, collisions not counted.
    pub mpdus_lost: u64,
    /// Packets that came out at the receiver's host.
    pub packets_delivered: u64,
    /// Their bytes.
    pub bytes_delivered: u64,
    /// Packets given up.
    pub given_up: u64,
    /// Time on the air of the data PPDUs, ns.
    pub airtime_ns: u64,
    /// By access category.
    #[cfg_attr(feature = "schema", schemars(with = "std::collections::BTreeMap<String, CategoryCounters>"))]
    pub categories: Categories<CategoryCounters>,
}

/// Data of one access category in one direction.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CategoryCounters {
    /// Data PPDUs.
    pub ppdus: u64,
    /// MPDUs in them.
    pub mpdus: u64,
    /// MPDUs sent again.
    pub retries: u64,
    /// Time on the air of the data PPDUs, ns.
    pub airtime_ns: u64,
}

/// One row for each access category.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Categories<T>([T; 4]);

impl<T> Categories<T> {
    /// The row of a category.
    pub const fn of(&self, category: AccessCategory) -> &T {
        &self.0[category.priority()]
    }

    pub(crate) fn of_mut(&mut self, category: AccessCategory) -> &mut T {
        &mut self.0[category.priority()]
    }
}

impl<T: Serialize> Serialize for Categories<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(["background", "best_effort", "video", "voice"].into_iter().zip(&self.0))
    }
}

/// How many PPDUs had how many MPDUs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sizes([u64; WINDOW + 1]);

impl Default for Sizes {
    fn default() -> Self {
        Self([0; WINDOW + 1])
    }
}

impl Sizes {
    pub(crate) fn count(&mut self, mpdus: usize) {
        self.0[mpdus.min(WINDOW)] += 1;
    }

    /// PPDUs with that many MPDUs.
    pub fn with(&self, mpdus: usize) -> u64 {
        self.0.get(mpdus).copied().unwrap_or(0)
    }
}

/// A list, from one MPDU on, as long as the largest PPDU.
impl Serialize for Sizes {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let largest = self.0.iter().rposition(|&ppdus| ppdus > 0).unwrap_or(0);
        serializer.collect_seq(self.0.iter().skip(1).take(largest))
    }
}

/// What one station did.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SideCounters {
    /// Packets handed to it to send.
    pub packets_offered: u64,
    /// Packets delivered to the host they were for.
    pub packets_delivered: u64,
    /// Bytes of the delivered packets (IP header included).
    pub bytes_delivered: u64,
    /// Packets that it was to send and that were dropped.
    pub drops: Drops,
    /// Data PPDUs sent, collided ones included.
    pub ppdus: u64,
    /// PPDUs with more than one MPDU.
    pub ampdus: u64,
    /// Data MPDUs sent, retransmissions and collided ones included.
    pub mpdus: u64,
    /// MPDUs sent again (with the retry bit).
    pub retries: u64,
    /// Data PPDUs lost in a collision.
    pub ppdus_collided: u64,
    /// MPDUs in them.
    pub mpdus_collided: u64,
    /// MPDUs in collided PPDUs that were sent again.
    pub retries_collided: u64,
    /// MPDUs lost on the way (`mpdu_error_rate`, `snr_db`).
    pub mpdus_lost: u64,
    /// RTS frames sent, collided ones included.
    pub rts: u64,
    /// Block Ack requests sent, collided ones included.
    pub block_ack_requests: u64,
    /// Beacons sent.
    pub beacons: u64,
    /// ACKs sent.
    pub acks: u64,
    /// Block Acks sent.
    pub block_acks: u64,
    /// PPDUs received and not answered (`missing_ack_rate`).
    pub answers_missing: u64,
    /// ACKs and Block Acks that it sent and that were lost on the way.
    pub answers_lost: u64,
    /// MPDUs received and left out of the Block Ack that answered them (`late_block_ack_us`).
    pub left_out_late: u64,
    /// MPDUs received that had been received before.
    pub duplicates: u64,
    /// MPDUs received after it had ceased to wait for them (100 ms): they are dropped, although they are acknowledged.
    pub arrived_late: u64,
    /// Times that a category wanted to send in the same slot as a higher one of this radio.
    pub internal_collisions: u64,
    /// Time on the air of everything it sent, ns.
    pub airtime_ns: u64,
    /// Data PPDUs by their MPDUs, collided ones included.
    #[cfg_attr(feature = "schema", schemars(with = "Vec<u64>"))]
    pub ppdu_sizes: Sizes,
    /// Packets in its queues at most.
    pub queue_max_packets: u64,
    /// Airtime of the PPDUs that were made and not yet done with, at most, µs: what AQL limits.
    pub hardware_max_us: u64,
    /// What was on its USB bus, where it is reached over one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub usb: Option<UsbCounters>,
}

impl SideCounters {
    pub(crate) fn new(station: &Station) -> Self {
        Self { usb: station.usb.as_ref().map(|_| UsbCounters::default()), ..Self::default() }
    }
}

/// Bulk transfers of a radio that is reached over USB.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct UsbCounters {
    /// OUT URBs completed, of one packet each.
    pub out_urbs: u64,
    /// Their bytes, descriptors included.
    pub out_bytes: u64,
    /// IN URBs completed.
    pub in_urbs: u64,
    /// Packets in them.
    pub in_packets: u64,
    /// Their bytes, descriptors and what lies between the packets included.
    pub in_bytes: u64,
}

/// Packets that did not get through, by cause.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Drops {
    /// The driver queue was full.
    pub queue_full: u64,
    /// Sent as often as the retry limit allows. (The other end may have received it: then it was delivered too.)
    pub retry_limit: u64,
    /// The receiving host did not keep up.
    pub receiver_full: u64,
    /// CoDel dropped it.
    pub codel: u64,
    /// A flow queue dropped it, because all flows together had too much.
    pub overlimit: u64,
    /// Larger than what 802.11 carries.
    pub oversize: u64,
}

impl Drops {
    pub(crate) fn count(&mut self, cause: DropCause) {
        *match cause {
            DropCause::QueueFull | DropCause::DeviceDown => &mut self.queue_full,
            DropCause::RetryLimit => &mut self.retry_limit,
            DropCause::ReceiverFull => &mut self.receiver_full,
            DropCause::Codel => &mut self.codel,
            DropCause::Overlimit => &mut self.overlimit,
            DropCause::Oversize => &mut self.oversize,
        } += 1;
    }
}
