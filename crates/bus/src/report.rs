//! The result of an analysis: plain data, serialised as version 1 of the `txop-bus` JSON format.
//!
//! Rules that hold everywhere: `None` (JSON `null`) means *not available*, never zero, and [`Summary::limits`] says why;
//! every share has its numerator and denominator beside it; times are µs since the first record unless the name says
//! otherwise; shares are fractions of one. A "transfer request" is a URB (Linux) or an IRP (Windows).

use std::iter;

pub use capture::report::DamageNote;
use capture::report::Window;
use sentence::{Figure, Sentence};
use serde::Serialize;

/// Name of the JSON document.
pub const FORMAT: &str = "txop-bus";
/// Version of its layout; raised when a field changes its meaning or goes.
pub const FORMAT_VERSION: u32 = 1;

/// What [`Device::kind`] is at address 0, where no device stays.
pub const DEFAULT_ADDRESS: &str = "default-address";

/// Everything `txop bus` knows about one capture.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Report {
    /// Always `"txop-bus"`.
    #[cfg_attr(feature = "schema", schemars(extend("const" = FORMAT)))]
    pub format: &'static str,
    /// Layout version: 1. Raised when a field changes its meaning or goes.
    #[cfg_attr(feature = "schema", schemars(extend("const" = FORMAT_VERSION)))]
    pub version: u32,
    /// Program and version that wrote this.
    pub tool: String,
    /// Where the figures come from: `emulated`, `simulated`, `guest-exact` or `guest-fast` for a capture that says that txop made it,
    /// `imported` for any other.
    pub origin: String,
    /// The file as named by the caller.
    pub path: String,
    /// Records (or lines) that are USB transfer requests, or of a command log of an SDIO bus.
    pub records: u64,
    /// What the capture is, and what it cannot tell.
    pub summary: Summary,
    /// What it means, in words; the most important first.
    pub verdicts: Vec<Verdict>,
    /// Devices, the busiest first.
    pub devices: Vec<Device>,
    /// Per endpoint and direction, in the order of the devices.
    pub endpoints: Vec<Endpoint>,
    /// What the transfers carry, per endpoint, direction and framing.
    pub traffic: Vec<Traffic>,
    /// Control requests, the most frequent first.
    pub requests: Vec<Request>,
    /// QMI messages of modems, the most frequent first, of the whole capture.
    pub qmi_messages: Vec<QmiMessage>,
    /// Data formats that hosts and modems agreed on, in order, of the whole capture; counts of transfers are of the window.
    pub data_formats: Vec<DataFormat>,
    /// The commands of an SDIO bus; `None`: the capture is not a command log of one, or the document is an older one.
    #[serde(default)] // older documents lack it
    pub sdio: Option<Sdio>,
}

/// What the capture is, and what it cannot tell.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Summary {
    /// `pcap`, `pcapng`, `usbmon-text` or `usbsnoop-text`.
    pub container: String,
    /// `none`, `gzip` or `zstd`.
    pub compression: String,
    /// Where the requests were seen: `urb` (Linux, between driver and host controller), `irp` (Windows, above the root
    /// hub), `urb-log` (a Windows driver log), `sdio` (commands of an
    /// SDIO bus, in its host controller), `mixed`, or `none`.
    pub layer: String,
    /// Link types with their record counts.
    pub link_types: Vec<LinkTypeCount>,
    /// Records of link types that are not USB requests.
    pub not_usb: u64,
    /// Records or lines that could not be read.
    pub unreadable: u64,
    /// The first few, with record or line number and cause.
    pub unreadable_examples: Vec<String>,
    /// Snap lengths of the interfaces; 0 is unlimited.
    pub snap_lengths: Vec<u32>,
    /// Transfers whose data are not all in the capture.
    pub cut_transfers: u64,
    /// Transfers with data that this layer records.
    pub data_transfers: u64,
    /// Records dropped while capturing; `None` where the capture does not say.
    pub dropped_by_capture: Option<u64>,
    /// Time of the first record; `None` without an absolute clock.
    pub first_time_unix_s: Option<f64>,
    /// From the first to the last record; `None` without a clock, and where time steps back by more than 1 % of it.
    pub span_us: Option<u64>,
    /// Whether records have times; `None` where there is none.
    #[serde(default)] // older documents lack it
    pub has_clock: Option<bool>,
    /// The steps in which a coarse clock moves: times below it are not told apart. `None` of a clock that is finer than 100 µs, and of
    /// few records.
    #[serde(default)] // older documents lack it
    pub clock_step_us: Option<u64>,
    /// Times the clock of a usbmon text started over (every 4096 s).
    pub clock_wraps: u64,
    /// Records that are stamped before the one in front of them.
    pub backward_steps: u64,
    /// The most that one of them is earlier than the one in front.
    #[serde(default)] // older documents lack it
    pub backward_most_us: Option<u64>,
    /// Times a bus steps back by more than 10 ms, as where captures stand one behind the other. Requests are paired between these
    /// steps only.
    #[serde(default)] // older documents lack it
    pub steps_back: Option<u64>,
    /// The sum of these steps. Where it is more than 1 % of the time span, that span, rates, series, gaps and requests under way are
    /// not available.
    #[serde(default)] // older documents lack it
    pub steps_back_us: Option<u64>,
    /// The largest such step.
    #[serde(default)] // older documents lack it
    pub step_back_most_us: Option<u64>,
    /// Records that repeat another, as where usbmon0 and a bus's own interface are captured together; they count once.
    #[serde(default)] // older documents lack it
    pub copies: Option<u64>,
    /// Requests handed to the host controller.
    pub submissions: u64,
    /// Requests that came back.
    pub completions: u64,
    /// Requests that the host controller refused.
    pub submission_errors: u64,
    /// Completions whose submission is not in the capture (before it, or dropped).
    pub unmatched_completions: u64,
    /// Submissions that are missing, as the order in which requests come back tells; see the endpoints.
    #[serde(default)] // older documents lack it
    pub lost_submissions: Option<u64>,
    /// Submissions without completion at the end of the capture or of its window.
    pub unfinished: u64,
    /// Submissions whose completion is missing: a later request of the endpoint succeeded, or their identifier was used again.
    pub lost_completions: u64,
    /// Requests that move no data (Windows: abort a pipe, select a configuration...), both ways.
    pub other_requests: u64,
    /// Those of them on their way down: what `other_requests` counts twice, once each way.
    #[serde(default)] // older documents lack it
    pub other_submissions: Option<u64>,
    /// Pipes that were reset, as after a stall; part of `other_submissions`.
    #[serde(default)] // older documents lack it
    pub pipe_resets: Option<u64>,
    /// Pipes whose requests were taken back; part of `other_submissions`.
    #[serde(default)] // older documents lack it
    pub pipe_aborts: Option<u64>,
    /// Requests that USBPcap wrote down for itself when it started, to tell of devices that were plugged in; they were not on the bus.
    /// Descriptors are taken from them, and nothing else counts them.
    #[serde(default)] // older documents lack it
    pub injected_requests: Option<u64>,
    /// Records of endpoints and devices beyond the number that is followed.
    pub not_followed: u64,
    /// Where reading stopped, if not at the end.
    pub damage: Option<DamageNote>,
    /// The window that the figures are of; `None` when they are of the whole capture. Always taken from the whole capture are
    /// descriptors, what a device is and by which evidence, how transfers are framed, and which requests were under way when
    /// the window began.
    #[serde(default)] // older documents lack it
    pub window: Option<Window>,
    /// What this capture cannot tell.
    pub limits: Vec<Limit>,
}

/// A link type.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LinkTypeCount {
    /// LINKTYPE number; 0 for text.
    pub number: u32,
    /// Its name.
    pub name: String,
    /// Records.
    pub records: u64,
}

/// Something that the capture cannot tell.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Limit {
    /// Stable identifier: `snap`, `text-32-bytes`, `dropped`, `no-clock`, `irp-layer`, `no-descriptors`, ...
    pub code: String,
    /// In words.
    pub text: String,
}

/// A conclusion.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Verdict {
    /// Stable identifier: `uplink-not-aggregated`, `raw-ip-misuse`, `errors`, ...
    pub code: String,
    /// `bad`, `good` or `neutral`.
    pub tone: String,
    /// Device it is about, as in [`Device::name`]; `None` for the whole capture.
    pub device: Option<String>,
    /// In words.
    pub text: String,
    /// What it rests on, in words.
    pub evidence: Vec<String>,
    /// The figures of the text, then those of the evidence, each with its n.
    #[serde(default)] // older documents lack them
    figures: Vec<Figure>,
}

impl Verdict {
    /// The only way to one: every conclusion, and every line of its evidence, has figures.
    pub(crate) fn new(code: &str, tone: &str, device: Option<&str>, text: Sentence, evidence: Vec<Sentence>) -> Self {
        let figures = iter::once(&text).chain(&evidence).flat_map(|said| said.figures().iter().cloned()).collect();
        Self {
            code: code.to_owned(),
            tone: tone.to_owned(),
            device: device.map(str::to_owned),
            text: text.text().to_owned(),
            evidence: evidence.iter().map(|line| line.text().to_owned()).collect(),
            figures,
        }
    }

    /// With lines that show what the text counts: records of the capture as they are.
    #[must_use]
    pub(crate) fn quoting(mut self, records: impl IntoIterator<Item = String>) -> Self {
        self.evidence.splice(..0, records);
        self
    }

    /// What the words rest on.
    pub fn figures(&self) -> &[Figure] {
        &self.figures
    }
}

/// One device at one address.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Device {
    /// Bus and address, `1.2`.
    pub name: String,
    /// Number of the bus.
    pub bus: u32,
    /// Address on it.
    pub address: u32,
    /// Vendor, hexadecimal; `None` when its descriptor was not seen.
    pub vendor_id: Option<String>,
    /// Product, hexadecimal.
    pub product_id: Option<String>,
    /// Manufacturer by its string descriptor.
    pub manufacturer: Option<String>,
    /// Product by its string descriptor.
    pub product: Option<String>,
    /// USB version it claims, for example `2.00`.
    pub usb_version: Option<String>,
    /// Version of the device, for example `3.18`.
    pub device_version: Option<String>,
    /// `low`, `full`, `high` or `super`, as far as packet sizes tell.
    pub speed: Option<String>,
    /// What it is: `qmi`, `ncm`, `mbim`, `ecm`, `rndis`, `raw-ip`, `realtek-wifi`, `atheros-wifi`, `mass-storage`, `hid`,
    /// `hub`, `bluetooth`, `serial`, `other` or `unknown`; `default-address` is not a device, but address 0, where devices are asked
    /// before they are given an address.
    pub kind: String,
    /// The same in words.
    pub kind_name: String,
    /// `descriptor`, `content`, `both` or `none`.
    pub kind_by: String,
    /// Why.
    pub evidence: Vec<String>,
    /// Interfaces of its configuration; empty when it was not seen.
    pub interfaces: Vec<Interface>,
    /// Completed requests.
    pub completions: u64,
    /// Bytes from the host, as far as they are known; `None` where they are of no request.
    pub bytes_out: Option<u64>,
    /// Completions from the host whose bytes are not known.
    #[serde(default)] // older documents lack it
    pub bytes_out_unknown: Option<u64>,
    /// Bytes to the host; a lower bound where more may have come than is shown (`bytes_in_unknown`).
    pub bytes_in: u64,
    /// Completions to the host of which more bytes may have come than a log shows (UsbSnoop).
    #[serde(default)] // older documents lack it
    pub bytes_in_unknown: Option<u64>,
    /// Times it was given this address.
    pub enumerations: u64,
    /// Vendor and product of the devices that had this address before, as far as they are known and differ; its figures are of all.
    #[serde(default)] // older documents lack it
    pub earlier_ids: Vec<String>,
}

/// An interface, or an alternate setting of one.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Interface {
    /// Its number.
    pub number: u32,
    /// Alternate setting.
    pub alternate: u32,
    /// Class, subclass and protocol, hexadecimal: `02/0d/00`.
    pub class_codes: String,
    /// In words.
    pub class_name: String,
    /// Its endpoints: address, type and largest packet.
    pub endpoints: Vec<String>,
}

/// One endpoint in one direction.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Endpoint {
    /// Device, as in [`Device::name`].
    pub device: String,
    /// Address with the direction in bit 7, hexadecimal.
    pub address: String,
    /// `in` (to the host) or `out`.
    pub direction: String,
    /// `control`, `bulk`, `interrupt` or `isochronous`.
    pub transfer: String,
    /// Interface it belongs to.
    pub interface: Option<u32>,
    /// Largest packet by its descriptor.
    pub max_packet_bytes: Option<u32>,
    /// Requests handed to the host controller.
    pub submissions: u64,
    /// Requests that came back.
    pub completions: u64,
    /// Requests refused.
    pub submission_errors: u64,
    /// Completions whose submission is not in the capture.
    #[serde(default)] // older documents lack it
    pub unmatched_completions: Option<u64>,
    /// Submissions that are missing, as the order in which requests come back tells: of completions without submission after the
    /// completion of a request that was handed over in the capture, and of completions with the identifier of a request that had
    /// come back before.
    #[serde(default)] // older documents lack it
    pub lost_submissions: Option<u64>,
    /// Submissions whose completion is missing: a later request of the endpoint succeeded, or their identifier was used again.
    #[serde(default)] // older documents lack it
    pub lost_completions: Option<u64>,
    /// Bytes transferred, by the completions; a lower bound where it is not known of some (`bytes_unknown`), and `None` where of all.
    pub bytes: Option<u64>,
    /// Completions of which the capture does not tell the bytes, or not all: USBPcap has those to the device in the submission only, and
    /// of transfers to the device that failed nowhere; a UsbSnoop log may show their beginning only.
    #[serde(default)] // older documents lack it
    pub bytes_unknown: Option<u64>,
    /// Bytes that submissions asked for or carried; `None` where the layer does not record it.
    pub requested_bytes: Option<u64>,
    /// Sizes of the buffers that submissions offered.
    pub requested_size_bytes: Option<Spread>,
    /// Sizes of the completed transfers.
    pub size_bytes: Option<Spread>,
    /// Sizes of the completed transfers by powers of two.
    pub size_histogram: Vec<Bar>,
    /// From submission to completion, of requests that succeeded.
    pub turnaround_us: Option<Spread>,
    /// From one completion to the next.
    pub interval_us: Option<Spread>,
    /// Requests under way at once, at most. A lower bound when the capture began in the middle; null where it lacks the submissions
    /// of most completions, or completions (`lost_completions`), or steps back in time (`steps_back_us`).
    pub in_flight_max: Option<u64>,
    /// Mean over time between the first and the last record of the endpoint; `None` of one request.
    pub in_flight_mean: Option<f64>,
    /// Completions per second, mean from the first to the last; null of fewer than 3, of fewer than 20 within a second, and within 10 ms.
    pub per_s: Option<f64>,
    /// Completions in the busiest second, whenever it begins; `None` below a second, and where none has as many as the mean says.
    pub peak_per_s: Option<f64>,
    /// Mean throughput in that time.
    pub mbit_s: Option<f64>,
    /// Completions by status, the most frequent first.
    pub statuses: Vec<StatusCount>,
    /// Completions that are neither success nor cancelled by the driver; `None` where no status is recorded.
    pub errors: Option<u64>,
    /// Isochronous packets with an error.
    pub iso_errors: u64,
    /// The longest times without a completion in all of which some request was under way.
    pub gaps: Vec<Gap>,
    /// Width of the bins of `series`.
    pub bin_us: u64,
    /// Completions over time.
    pub series: Vec<RateBin>,
}

/// How often requests ended like this.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct StatusCount {
    /// As recorded: a negative error number (Linux) or a hexadecimal USBD_STATUS (Windows).
    pub code: String,
    /// Its name.
    pub name: String,
    /// What it means.
    pub meaning: String,
    /// Completions.
    pub count: u64,
}

/// A time without a completion.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Gap {
    /// When it began.
    pub start_us: u64,
    /// How long it was.
    pub length_us: u64,
    /// Requests that were under way when it began.
    pub in_flight: u64,
}

/// Completions in a bin of time.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RateBin {
    /// Its start.
    pub start_us: u64,
    /// Completions.
    pub completions: u64,
    /// Bytes they transferred.
    pub bytes: u64,
}

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
    /// Transfers whose datagrams are all known.
    pub whole_transfers: u64,
    /// Transfers with datagrams that the capture cut off; `None` when nothing is framed.
    pub cut_transfers: Option<u64>,
    /// Blocks (NTB) all of whose datagrams are counted, some of them by the length of a pointer table that the capture cut; `None` of
    /// other framings, and where a table of the endpoint ends before its length says: then such blocks count as cut.
    #[serde(default)] // older documents lack it
    pub counted_by_table: Option<u64>,
    /// Datagrams seen, in whole and cut transfers, with those known by the length of a pointer table (`counted_by_table`).
    pub datagrams: u64,
    /// Datagrams there must be at least: those seen, and what the cut-off bytes take if none is larger than 1,514 bytes or
    /// the largest seen. The cut-off bytes of a block (NTB) may be padding: it has one datagram where none is known.
    pub datagrams_at_least: u64,
    /// Datagrams there can be at most: those seen, and one for each 18 of the cut-off bytes.
    #[serde(default)] // older documents lack it
    pub datagrams_at_most: Option<u64>,
    /// Datagrams per transfer; `None` when some transfers were cut (see `at_least_per_transfer`) or nothing is framed.
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
    /// Commands of the framing protocol (QMAP flow control).
    pub commands: u64,
    /// Multiplexed connections or sessions seen.
    pub mux_ids: Vec<u32>,
    /// Times the sequence number of blocks jumped.
    pub sequence_gaps: Option<u64>,
    /// Blocks that those jumps leave out.
    pub missing_blocks: Option<u64>,
    /// Ethernet frames with the same source and destination address: nobody is meant.
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

/// Control requests with the same request type and number.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Request {
    /// Device, as in [`Device::name`].
    pub device: String,
    /// bmRequestType and bRequest, hexadecimal: `80 06`.
    pub code: String,
    /// `in` or `out`.
    pub direction: String,
    /// `standard`, `class`, `vendor` or `reserved`.
    pub kind: String,
    /// Its name, where the numbers alone tell it.
    pub name: Option<String>,
    /// How often it was submitted.
    pub count: u64,
    /// Completions of it that failed; `None` where no status is recorded.
    pub failed: Option<u64>,
    /// Bytes of its data stages, as far as they are known.
    pub bytes: u64,
    /// Completions of it of which the capture does not tell the bytes, or not all.
    #[serde(default)] // older documents lack it
    pub bytes_unknown: Option<u64>,
}

/// Percentiles of a quantity, read from a histogram with a resolution of 3 % (minimum, maximum and mean are exact).
#[derive(Clone, Copy, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Spread {
    /// Samples.
    pub n: u64,
    /// Smallest.
    pub min: f64,
    /// 5th percentile.
    pub p5: f64,
    /// Median.
    pub median: f64,
    /// 95th percentile.
    pub p95: f64,
    /// 99th percentile.
    pub p99: f64,
    /// Largest.
    pub max: f64,
    /// Mean.
    pub mean: f64,
}

/// One bar of a histogram: `low` to below `high`.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Bar {
    /// Inclusive lower edge.
    pub low: u64,
    /// Exclusive upper edge.
    pub high: u64,
    /// Samples in it.
    pub count: u64,
}

/// What went over an SDIO bus, by the command log of its host controller.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Sdio {
    /// Records of the log: commands, and changes of the interrupt line.
    pub records: u64,
    /// Manufacturer and card by its information structure, hexadecimal; `None` when the host's reading of it is not in the log.
    pub card: Option<String>,
    /// Its name, where it is known.
    pub card_name: Option<String>,
    /// Whether commands took their time on the wires, as the controller modelled it; `None`: some did, others did not.
    pub bus_time: Option<bool>,
    /// Clock of the bus at the end, Hz; `None` when the host has set none.
    pub clock_hz: Option<u64>,
    /// Lines of the data bus at the end; `None` when the host has set none.
    pub bus_width: Option<u64>,
    /// Commands, whatever the outcome.
    pub commands: u64,
    /// Commands per second, mean from the first to the last; null of fewer than 3, of fewer than 20 within a second, and within 10 ms. So are all rates here.
    pub commands_per_s: Option<f64>,
    /// CMD52: a register of one byte.
    pub cmd52: u64,
    /// Those that read.
    pub cmd52_reads: u64,
    /// Those that write.
    pub cmd52_writes: u64,
    /// CMD53: several bytes.
    pub cmd53: u64,
    /// Those that read.
    pub cmd53_reads: u64,
    /// Those that write.
    pub cmd53_writes: u64,
    /// Those in block mode.
    pub cmd53_block_mode: u64,
    /// `cmd52` of `cmd52` and `cmd53`.
    pub cmd52_share: Option<f64>,
    /// CMD52 per second.
    pub cmd52_per_s: Option<f64>,
    /// CMD53 per second.
    pub cmd53_per_s: Option<f64>,
    /// Bytes that CMD53 read.
    pub read_bytes: u64,
    /// Bytes that CMD53 wrote.
    pub written_bytes: u64,
    /// Bytes of a CMD53 that read and succeeded.
    pub read_size_bytes: Option<Spread>,
    /// Bytes of a CMD53 that wrote and succeeded.
    pub written_size_bytes: Option<Spread>,
    /// Commands whose data are not all in the log.
    pub cut_commands: u64,
    /// Commands that the card did not answer; the host asks for what an SDIO card does not know while it enumerates.
    pub unanswered: u64,
    /// CMD52 and CMD53 whose response has an error.
    pub refused: u64,
    /// Commands whose data or response came to the host with a wrong CRC.
    pub wrong_crc: u64,
    /// CMD52 and CMD53 without an answer, refused, or with a wrong CRC.
    pub failed_transfers: u64,
    /// Those without an answer.
    #[serde(default)] // older documents lack it
    pub unanswered_transfers: Option<u64>,
    /// Commands whose status the host never fetched.
    pub not_fetched: u64,
    /// From a command to the host's having its status.
    pub took_us: Option<Spread>,
    /// The same of CMD52.
    pub cmd52_took_us: Option<Spread>,
    /// The same of CMD53.
    pub cmd53_took_us: Option<Spread>,
    /// From the status of a command to the next command: the host's time.
    pub turnaround_us: Option<Spread>,
    /// Time with a command under way.
    pub busy_us: Option<f64>,
    /// From the first command to the end of the last.
    pub span_us: Option<f64>,
    /// Times that the card's interrupt line rose.
    pub interrupts: u64,
    /// The same per second.
    pub interrupts_per_s: Option<f64>,
    /// From a rise to the first command that began after it, where the line was still up then.
    pub interrupt_response_us: Option<Spread>,
    /// CMD52 that read Interrupt Pending: how a host without interrupts polls, and how one with them asks whose it is.
    pub pending_reads: u64,
    /// Those that found nothing.
    pub pending_reads_idle: u64,
    /// Packets of the network; `None` where the log does not tell them.
    pub packets: Option<SdioPackets>,
    /// Registers and mailboxes by commands, the most frequent first, 64 at most.
    pub registers: Vec<SdioRegister>,
    /// CMD52 and CMD53 that went elsewhere.
    pub other_commands: u64,
}

/// Packets that CMD53 carried.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SdioPackets {
    /// How they are framed: `htc` (Atheros), `marvell-port` (SD8686).
    pub protocol: String,
    /// Packets to the card.
    pub to_card: u64,
    /// Transfers that carried them, each of one CMD53 or more.
    pub to_card_transfers: u64,
    /// Packets to the host.
    pub to_host: u64,
    /// CMD53 that completed them.
    pub to_host_transfers: u64,
    /// Packets per transfer to the card.
    pub per_transfer_to_card: Option<f64>,
    /// Packets per transfer to the host.
    pub per_transfer_to_host: Option<f64>,
    /// All CMD52 and CMD53 per packet, those without a packet included.
    pub commands_per_packet: Option<f64>,
    /// CMD52 per packet.
    pub cmd52_per_packet: Option<f64>,
}

/// Commands to one register or mailbox.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SdioRegister {
    /// `CMD52` or `CMD53`.
    pub command: String,
    /// `in` (to the host) or `out`.
    pub direction: String,
    /// Function of the card; 0 is the card itself.
    pub function: u32,
    /// Address of the register, or where the mailbox begins, hexadecimal.
    pub address: String,
    /// Its name, where it is known.
    pub name: Option<String>,
    /// Commands.
    pub commands: u64,
    /// Their bytes.
    pub bytes: u64,
}

/// QMI messages of one kind.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct QmiMessage {
    /// Device, as in [`Device::name`].
    pub device: String,
    /// Service, for example `WDA`; its number where the name is not known.
    pub service: String,
    /// Name of the message, where it is known.
    pub message: Option<String>,
    /// Its number, hexadecimal.
    pub code: String,
    /// Requests of the host.
    pub requests: u64,
    /// Answers of the modem, refusals included.
    pub answers: u64,
    /// Answers that refuse.
    pub refused: u64,
    /// Indications: what the modem sent unasked.
    pub indications: u64,
    /// Why it refused, each reason once.
    pub errors: Vec<String>,
}

/// An answer of a modem to WDA Set Data Format or Get Data Format, and what was done from then on to the next.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DataFormat {
    /// Device, as in [`Device::name`].
    pub device: String,
    /// `set` or `get`.
    pub request: String,
    /// Number of the record with the answer.
    pub record: u64,
    /// It came at the end of the window or later: no transfer of the window was sent under it. `None` in older documents.
    #[serde(default)] // older documents lack it
    pub after_window: Option<bool>,
    /// Its time; negative before the window. `None` without a clock.
    pub time_us: Option<i64>,
    /// Why the modem refused; `None` when it did not.
    pub refused: Option<String>,
    /// Link protocol that the host asked for.
    pub asked_link: Option<String>,
    /// Link protocol that the modem answered.
    pub link: Option<String>,
    /// From the host to the modem.
    pub uplink: AgreedDirection,
    /// From the modem to the host.
    pub downlink: AgreedDirection,
}

/// One direction of a data format.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AgreedDirection {
    /// Aggregation that the host asked for: `no aggregation`, `QMAP`, `QMAPv4`, `QMAPv5`, ...; `None`: it did not say.
    pub asked: Option<String>,
    /// Datagrams of a transfer that the host asked for.
    pub asked_datagrams: Option<u32>,
    /// Bytes of a transfer that the host asked for.
    pub asked_bytes: Option<u32>,
    /// Aggregation that the modem answered.
    pub agreed: Option<String>,
    /// Datagrams of a transfer at most, by the modem's answer; `None` where it names no limit.
    pub datagrams: Option<u32>,
    /// Bytes of a transfer at most.
    pub bytes: Option<u32>,
    /// Bulk transfers with data while this was in force; `None` when it never was.
    pub transfers: Option<u64>,
    /// Those in QMAP that the capture cut off: their datagrams are those seen.
    pub cut_transfers: Option<u64>,
    /// Those of `transfers` in no framing of datagrams that is known; nothing is compared of them.
    #[serde(default)] // older documents lack it
    pub unread_transfers: Option<u64>,
    /// Those with more datagrams or bytes than agreed, as far as seen; `None` where nothing was agreed on.
    pub beyond: Option<u64>,
    /// Record number of the first of them.
    pub first_beyond_record: Option<u64>,
    /// Most datagrams seen in a QMAP transfer; a lower bound where the capture cut transfers off.
    pub most_datagrams: Option<u64>,
    /// Bytes of the largest.
    pub most_bytes: Option<u64>,
    /// Transfers of another framing than agreed: IP without QMAP, or QMAP where it was switched off.
    pub other_framing: Option<u64>,
}
