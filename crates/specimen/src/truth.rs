//! What a scene really was: the numbers that an analysis of its capture must find.
//!
//! Names follow the report of the analyzer crate. Two views exist, and each field says which one it is: *captured*
//! counts what is in the file, as a perfect reader of the file could; *on the air* counts what happened, captured or
//! not. With a sniffer that loses and damages nothing the two are the same.

use serde::Serialize;

/// Version of this layout.
pub const TRUTH_VERSION: u32 = 1;

/// Everything that is known of a generated capture.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Truth {
    /// Always `"txop-specimen"`.
    pub format: &'static str,
    /// [`TRUTH_VERSION`].
    pub version: u32,
    /// Seed of the scene.
    pub seed: u64,
    /// Records in the file.
    pub frames: u64,
    /// Captured frames with bit errors that the file shows (a whole frame with its FCS, or the receiver's flag).
    pub bad_fcs: u64,
    /// Captured frames with bit errors, also those the file cannot show.
    pub damaged: u64,
    /// Damaged frames that the receiver did not flag, with an FCS that shows the damage.
    pub damaged_unflagged: u64,
    /// Frames on the air that were not captured.
    pub not_captured: u64,
    /// Frames cut by the snap length.
    pub cut_frames: u64,
    /// Bytes of all records, link headers included.
    pub captured_bytes: u64,
    /// Time of the first record, ns since 1970.
    pub first_time_unix_ns: Option<u64>,
    /// First to last record by the capture clock, ns.
    pub span_ns: u64,
    /// How the sniffer stamps.
    pub timing: TimingTruth,
    /// Transmitters and receivers, access point first.
    pub stations: Vec<StationTruth>,
    /// Per (transmitter, receiver), captured, transmitter in the frame.
    pub links: Vec<LinkTruth>,
    /// Addresses that damage made (at most [`GHOSTS_MAX`]).
    pub ghosts: Vec<GhostTruth>,
    /// Frames with a damaged address beyond the list.
    pub ghosts_not_listed: u64,
    /// PPDUs that solicit a response, per (transmitter, receiver).
    pub exchanges: Vec<ExchangeTruth>,
    /// Block Ack accounting, per (originator, recipient, TID).
    pub block_acks: Vec<BlockAckTruth>,
    /// Aggregation, per (transmitter, receiver, TID), on the air.
    pub aggregation: Vec<AggregationTruth>,
    /// The medium.
    pub airtime: AirtimeTruth,
    /// Traffic, in the order of the scene's flows.
    pub flows: Vec<FlowTruth>,
    /// Planned disturbances: dropouts and retry bursts.
    pub events: Vec<EventTruth>,
}

/// Most ghosts that are listed one by one.
pub const GHOSTS_MAX: usize = 50_000;

/// How the sniffer stamps.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TimingTruth {
    /// `mpdu-first-bit`, `ppdu-start`, `ppdu-end`; `None` without time stamps.
    pub stamp_meaning: Option<&'static str>,
    /// `ppdu-id`, `not-a-ppdu-id`, `absent`.
    pub ampdu_reference: &'static str,
    /// The header gives the rates of control frames as they were; `None` without rates.
    pub control_rates_believable: Option<bool>,
}

/// Airtime by kind, ns. A PPDU's time goes to its MPDUs by their share of the PSDU.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct AirtimeKinds {
    /// First transmissions of data, and Null frames.
    pub data_ns: u64,
    /// Data frames with the retry bit.
    pub retry_ns: u64,
    /// Control frames.
    pub control_ns: u64,
    /// Management frames without beacons.
    pub management_ns: u64,
    /// Beacons.
    pub beacon_ns: u64,
}

impl AirtimeKinds {
    /// All kinds.
    pub const fn total_ns(&self) -> u64 {
        self.data_ns + self.retry_ns + self.control_ns + self.management_ns + self.beacon_ns
    }
}

/// Retry counts with their denominator.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct RetryCount {
    /// Denominator.
    pub frames: u64,
    /// Those with the retry bit.
    pub retries: u64,
}

/// One real address.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct StationTruth {
    /// MAC address.
    pub address: String,
    /// `ap` or `station`.
    pub kind: &'static str,
    /// Captured frames with this transmitter address, as the file shows it.
    pub frames_sent: u64,
    /// Frames among them that were damaged elsewhere, and the file shows it.
    pub bad_fcs_sent: u64,
    /// MPDU bytes of `frames_sent`, FCS included.
    pub bytes_sent: u64,
    /// Data frames (not Null) among `frames_sent`.
    pub data_frames_sent: u64,
    /// Captured frames with this receiver address.
    pub frames_received: u64,
    /// `frames_sent` with the retry bit.
    pub retries_sent: u64,
    /// Captured, undamaged unicast data MPDUs (not Null) with this transmitter.
    pub mpdu_retry: RetryCount,
    /// Airtime of all PPDUs sent, its responses among them, on the air.
    pub airtime_ns: u64,
    /// The same by kind.
    pub airtime: AirtimeKinds,
    /// PPDUs sent, on the air.
    pub ppdus: u64,
    /// Captured frames with the power-management bit.
    pub power_management_frames: u64,
    /// Captured frames per rate, most robust figure for histograms; transmitter in the frame.
    pub rates: Vec<RateTruth>,
}

/// Frames at one rate.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RateTruth {
    /// As `wire::phy::Mode::label` gives it.
    pub label: String,
    /// Frames.
    pub frames: u64,
    /// Those with the retry bit.
    pub retries: u64,
    /// MPDU bytes, FCS included.
    pub bytes: u64,
}

/// Captured frames from one transmitter to one receiver (addresses undamaged).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct LinkTruth {
    /// Transmitter.
    pub ta: String,
    /// Receiver (`ff:ff:ff:ff:ff:ff` for broadcast).
    pub ra: String,
    /// Frames.
    pub frames: u64,
    /// MPDU bytes, FCS included.
    pub bytes: u64,
    /// Data frames (not Null).
    pub data_frames: u64,
    /// Management frames and data frames that are not Null, damaged ones included: Wireshark's counting.
    pub wireshark_retry: RetryCount,
    /// Undamaged data frames that are not Null, unicast.
    pub mpdu_retry: RetryCount,
}

/// An address that damage made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct GhostTruth {
    /// As in the file.
    pub address: String,
    /// What it was.
    pub of: String,
    /// Bits in which they differ.
    pub distance: u32,
    /// Frames that carry it as transmitter.
    pub frames_sent: u64,
    /// Frames that carry it as receiver.
    pub frames_received: u64,
}

/// PPDUs of one transmitter to one receiver that solicit a response.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ExchangeTruth {
    /// Transmitter.
    pub ta: String,
    /// Receiver.
    pub ra: String,
    /// Captured ones: at least one MPDU captured undamaged.
    pub ppdus: u64,
    /// PPDUs answered by an ACK that was captured undamaged.
    pub acked: u64,
    /// By a Block Ack.
    pub block_acked: u64,
    /// By a CTS.
    pub cts: u64,
    /// Answered, but the response was not captured, or damaged.
    pub answer_not_captured: u64,
    /// Not answered on the air.
    pub not_answered: u64,
    /// Captured responses that came more than a slot later than SIFS.
    pub late_responses: u64,
    /// The same by rate of the soliciting PPDU.
    pub by_rate: Vec<ExchangeRateTruth>,
}

/// [`ExchangeTruth`] of one rate.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ExchangeRateTruth {
    /// Rate label.
    pub label: String,
    /// Captured soliciting PPDUs.
    pub ppdus: u64,
    /// PPDUs with a captured response.
    pub answered: u64,
}

/// Block Ack accounting of one flow, captured and undamaged frames unless said otherwise.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct BlockAckTruth {
    /// Who sends the data.
    pub originator: String,
    /// Who sends the Block Acks.
    pub recipient: String,
    /// Traffic identifier.
    pub tid: u8,
    /// Block Acks.
    pub block_acks: u64,
    /// Block Ack requests.
    pub requests: u64,
    /// ADDBA requests.
    pub addba_requests: u64,
    /// ADDBA responses (all accept).
    pub addba_accepted: u64,
    /// DELBA frames.
    pub delba: u64,
    /// Agreed buffer size.
    pub window: u16,
    /// MPDU transmissions, retries included.
    pub transmissions: u64,
    /// Distinct MPDUs.
    pub mpdus: u64,
    /// Transmissions with the retry bit.
    pub retransmissions: u64,
    /// Bits that acknowledge an MPDU for the first time, a transmission of which was captured before.
    pub newly_acked: u64,
    /// The same for MPDUs no transmission of which was captured.
    pub acked_not_captured: u64,
    /// Bits that repeat an acknowledgement.
    pub stale_bits: u64,
    /// MPDUs of the PPDU just answered, not acknowledged before, that the Block Ack leaves out.
    pub left_out: u64,
    /// MPDUs left out that were received, but too late for this Block Ack.
    pub left_out_received: u64,
    /// MPDUs left out that were not received.
    pub left_out_not_received: u64,
    /// MPDUs left out, acknowledged later without having been sent again.
    pub left_out_late: u64,
    /// MPDUs left out, sent again, then acknowledged.
    pub left_out_resent_acked: u64,
    /// MPDUs left out, sent again, never acknowledged.
    pub left_out_resent_lost: u64,
    /// MPDUs left out, neither sent again nor acknowledged.
    pub left_out_abandoned: u64,
    /// By position from the end of their PPDU.
    pub by_position_from_end: Vec<PositionRow>,
    /// On the air: MPDU transmissions that did not reach the recipient.
    pub lost_on_air: u64,
    /// On the air: MPDU transmissions that repeat one which the recipient already had.
    pub needless_retransmissions: u64,
    /// On the air: MPDUs given up at the retry limit.
    pub dropped: u64,
}

/// One position in an A-MPDU.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct PositionRow {
    /// 0: the last MPDU.
    pub from_end: u32,
    /// Captured MPDUs there, in PPDUs that got a captured Block Ack.
    pub mpdus: u64,
    /// MPDUs left out.
    pub left_out: u64,
}

/// Aggregation of one (transmitter, receiver, TID), on the air.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct AggregationTruth {
    /// Transmitter.
    pub ta: String,
    /// Receiver.
    pub ra: String,
    /// TID; `None` for frames without QoS.
    pub tid: Option<u8>,
    /// PPDUs with data.
    pub ppdus: u64,
    /// PPDUs with more than one MPDU.
    pub ampdus: u64,
    /// MPDUs in all PPDUs.
    pub mpdus: u64,
    /// PSDU bytes.
    pub bytes: u64,
    /// PPDU durations, ns.
    pub duration_ns: u64,
    /// `[n]`: PPDUs with n + 1 MPDUs.
    pub mpdus_per_ppdu: Vec<u64>,
}

/// The medium, on the air.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct AirtimeTruth {
    /// Sum of PPDU durations (signal extension not counted), ns.
    pub busy_ns: u64,
    /// Start of the first to end of the last PPDU, ns.
    pub observed_ns: u64,
    /// `observed_ns - busy_ns`.
    pub idle_ns: u64,
    /// By kind.
    pub kinds: AirtimeKinds,
    /// By PHY.
    pub by_phy: Vec<PhyTruth>,
}

/// Airtime of one PHY.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PhyTruth {
    /// `dsss`, `ofdm`, `ht`, `vht`, `he`.
    pub phy: &'static str,
    /// PPDUs.
    pub ppdus: u64,
    /// ns.
    pub airtime_ns: u64,
}

/// Traffic of one flow.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct FlowTruth {
    /// Transmitter.
    pub ta: String,
    /// Receiver.
    pub ra: String,
    /// `uplink` or `downlink`.
    pub direction: &'static str,
    /// Captured, undamaged MPDU transmissions.
    pub transmissions: u64,
    /// Transmissions with the retry bit.
    pub retransmissions: u64,
    /// Distinct MPDUs among them.
    pub mpdus: u64,
    /// Bytes above LLC/SNAP of those, each MPDU once.
    pub payload_bytes: u64,
    /// On the air: distinct MPDUs that the receiver got.
    pub mpdus_delivered: u64,
    /// On the air: bytes above LLC/SNAP of those.
    pub payload_bytes_delivered: u64,
    /// On the air: MPDUs given up at the retry limit.
    pub dropped: u64,
}

/// A planned disturbance.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct EventTruth {
    /// `dropout` or `retry-burst`.
    pub kind: &'static str,
    /// Transmitter.
    pub ta: String,
    /// Receiver.
    pub ra: String,
    /// Start, µs since the scene began.
    pub start_us: f64,
    /// End.
    pub end_us: f64,
}
