//! What transfers carry.

use serde::Serialize;

use super::spread::Bar;
#[cfg(doc)]
use super::Device;

/// What transfers of one endpoint carry, in one framing.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Traffic {
    /// Device, as in [`Device::name`].
    pub device: String,
    /// Endpoint address, hexadecimal.
    pub endpoint: String,
    /// `in` (downlink, to the host) or `out` (uplink).
    pub direction: String,
    /// `qmap`, `raw-ip`, `ntb16`, `ntb32`, `rndis`, `ethernet`, `realtek`, `mass-storage` or `other`.
    pub framing: String,
    /// Transfers with data.
    pub transfers: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Transfers completed per second, mean from the first to the last; null of fewer than 3, of fewer than 20 within a second, and
    /// within 10 ms.
    pub per_s: Option<f64>,
    /// Transfers completed in the busiest second.
    pub peak_per_s: Option<f64>,
    /// Transfers to the device handed over per second, as far as their submissions are in the capture; null to the host.
    #[serde(default)] // older documents lack it
    pub handed_over_per_s: Option<f64>,
    /// Transfers with datagrams that are all known.
    pub whole_transfers: u64,
    /// Transfers with datagrams that the capture cut off; `None` when nothing is framed.
    pub cut_transfers: Option<u64>,
    /// Transfers that the capture cut and with all datagrams counted: by the length of a pointer table (NTB), or by the number of
    /// packets in the first descriptor (Realtek, to the host). `None` of other framings, and where a table of the endpoint ends before its length
    /// says, or a number is not that of the packets: then such transfers count as cut.
    #[serde(default)] // older documents lack it
    pub counted_by_table: Option<u64>,
    /// Datagrams seen, in whole and cut transfers, with those known by number only (`counted_by_table`).
    pub datagrams: u64,
    /// Datagrams there must be at least: those seen, and what the cut-off bytes take if none is larger than 1,514 bytes or
    /// the largest seen. The cut-off bytes of a block (NTB) may be padding: it has one datagram where none is known.
    pub datagrams_at_least: u64,
    /// Datagrams there can be at most: those seen, and one for each 18 of the cut-off bytes.
    #[serde(default)] // older documents lack it
    pub datagrams_at_most: Option<u64>,
    /// Datagrams per transfer, exactly; `None` when the datagrams of some transfers are not all known (`cut_transfers`), so that only bounds are
    /// (`at_least_per_transfer`), or nothing is framed.
    pub datagrams_per_transfer: Option<f64>,
    /// `datagrams_at_least` per transfer.
    pub at_least_per_transfer: Option<f64>,
    /// `datagrams_at_most` per transfer.
    #[serde(default)] // older documents lack it
    pub at_most_per_transfer: Option<f64>,
    /// Most datagrams seen in one transfer.
    pub most_datagrams: u64,
    /// Datagrams per whole transfer, as a histogram.
    pub datagram_histogram: Vec<Bar>,
    /// Bytes of the datagrams of whole transfers.
    pub payload_bytes: u64,
    /// Bytes of headers and tables of whole transfers.
    pub header_bytes: u64,
    /// Bytes that are neither, in whole transfers: padding.
    pub padding_bytes: u64,
    /// `padding_bytes` of all bytes of whole transfers.
    pub padding_share: Option<f64>,
    /// Datagrams that are TCP acknowledgements without data.
    pub pure_acks: u64,
    /// Datagrams of which it is known whether they are such acknowledgements.
    pub judged_datagrams: u64,
    /// Whole transfers that carry nothing but such acknowledgements.
    pub ack_only_transfers: u64,
    /// Whole transfers of which it is known whether they carry nothing else.
    pub judged_transfers: u64,
    /// `ack_only_transfers` of `judged_transfers`.
    pub ack_only_share: Option<f64>,
    /// Commands of the framing protocol (QMAP flow control, transmit reports of an RTL8188E).
    pub commands: u64,
    /// Multiplexed connections or sessions seen.
    pub mux_ids: Vec<u32>,
    /// Times the sequence number of blocks jumped.
    pub sequence_gaps: Option<u64>,
    /// Blocks that those jumps leave out.
    pub missing_blocks: Option<u64>,
    /// Ethernet frames with the same source and destination address: without a recipient.
    pub same_address_transfers: u64,
    /// Bytes of the first transfer.
    pub first_transfer_bytes: u64,
    /// Transfers that break the rules of their framing.
    pub faulty_transfers: u64,
    /// The first few, with record number and offset in the transfer.
    pub fault_examples: Vec<String>,
}

impl Traffic {
    /// Its framing is one of network traffic.
    pub(crate) fn is_network(&self) -> bool {
        !matches!(self.framing.as_str(), "other" | "mass-storage")
    }
}
