//! What happened on a modem link, counted.

use serde::Serialize;

use crate::engine::DropCause;
use crate::modem::aggregate::TxReason;

/// Everything that was counted since the link began.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ModemCounters {
    /// Towards the network.
    pub uplink: WayCounters,
    /// Towards the host.
    pub downlink: WayCounters,
    /// Why uplink URBs were sent as they were.
    pub tx_reasons: TxReasons,
    /// Time that the modem spent with uplink URBs, ns. Its share of the time that passed is how busy it was.
    pub device_busy_ns: u64,
    /// Time that it could not take an uplink URB, because the radio had too much to send already, ns.
    pub device_blocked_ns: u64,
    /// Time that the bus carried data, ns (both ways, at super speed each on its own).
    pub bus_busy_ns: u64,
    /// CPU time of the host for URBs, ns.
    pub host_busy_ns: u64,
    /// Times that the modem crashed, because an uplink URB was more than it had said it can take.
    pub crashes: u64,
}

/// One direction.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct WayCounters {
    /// Packets offered.
    pub packets_offered: u64,
    /// Packets delivered.
    pub packets_delivered: u64,
    /// Bytes of the delivered packets (IP header included).
    pub bytes_delivered: u64,
    /// Packets dropped.
    pub drops: ModemDrops,
    /// URBs completed with data.
    pub urbs: u64,
    /// Bytes in them, headers and padding included.
    pub urb_bytes: u64,
    /// Packets in them.
    pub datagrams: u64,
    /// Padding behind the last packet, bytes. That of QMAP between packets is not in it.
    pub padding_bytes: u64,
    /// URBs in flight at most. Downlink: URBs submitted.
    pub urbs_in_flight_max: u64,
    /// Number of URBs by the number of packets in them: element 1 is that of URBs with one. As long as it needs to be.
    pub datagrams_per_urb: Vec<u64>,
}

/// Packets that did not get through, by cause.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ModemDrops {
    /// A queue was full: the interface's (uplink), the cell's (downlink).
    pub queue_full: u64,
    /// The host did not keep up.
    pub receiver_full: u64,
    /// Larger than a transfer may be.
    pub oversize: u64,
    /// The modem had crashed.
    pub device_down: u64,
}

/// Why uplink URBs were sent as they were, in URBs. cdc_ncm's fourth reason, `tx_reason_ndp_full`, cannot come up: its table
/// has room for as many datagrams as it lets into a block.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TxReasons {
    /// Nothing is aggregated.
    pub single: u64,
    /// rmnet: too sparse.
    pub bypass: u64,
    /// The next packet did not fit (`tx_reason_ntb_full`).
    pub full: u64,
    /// As many packets as allowed (`tx_reason_max_datagram`).
    pub max_datagrams: u64,
    /// The timer (`tx_reason_timeout`).
    pub timeout: u64,
}

impl TxReasons {
    pub(crate) fn count(&mut self, reason: TxReason) {
        *match reason {
            TxReason::Single => &mut self.single,
            TxReason::Bypass => &mut self.bypass,
            TxReason::Full => &mut self.full,
            TxReason::MaxDatagrams => &mut self.max_datagrams,
            TxReason::Timeout => &mut self.timeout,
        } += 1;
    }
}

impl ModemDrops {
    /// All of them.
    pub const fn total(&self) -> u64 {
        self.queue_full + self.receiver_full + self.oversize + self.device_down
    }

    pub(crate) fn count(&mut self, cause: DropCause) {
        match cause {
            DropCause::ReceiverFull => self.receiver_full += 1,
            DropCause::Oversize => self.oversize += 1,
            DropCause::DeviceDown => self.device_down += 1,
            // No other cause comes up on this link.
            _ => self.queue_full += 1,
        }
    }
}

impl WayCounters {
    pub(crate) fn urb(&mut self, bytes: usize, datagrams: usize, padding: usize) {
        self.urbs += 1;
        self.urb_bytes += bytes as u64;
        self.datagrams += datagrams as u64;
        self.padding_bytes += padding as u64;
        if self.datagrams_per_urb.len() <= datagrams {
            self.datagrams_per_urb.resize(datagrams + 1, 0);
        }
        self.datagrams_per_urb[datagrams] += 1;
    }

    /// Packets in a URB, on average; `None`: there was no URB.
    pub fn mean_datagrams_per_urb(&self) -> Option<f64> {
        (self.urbs > 0).then(|| self.datagrams as f64 / self.urbs as f64)
    }
}
