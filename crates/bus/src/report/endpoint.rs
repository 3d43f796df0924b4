//! Endpoints: transfers, their times and how they ended.

use serde::Serialize;

use super::spread::{Bar, Spread};
#[cfg(doc)]
use super::Device;

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
    /// Completions with a submission that is not in the capture.
    #[serde(default)] // older documents lack it
    pub unmatched_completions: Option<u64>,
    /// Submissions that are missing, as the order in which requests come back shows: of completions without submission after the
    /// completion of a request that was handed over in the capture, and of completions with the identifier of a request that had
    /// come back before.
    #[serde(default)] // older documents lack it
    pub lost_submissions: Option<u64>,
    /// Submissions with a missing completion: a later request of the endpoint succeeded, or their identifier was used again.
    #[serde(default)] // older documents lack it
    pub lost_completions: Option<u64>,
    /// Bytes transferred, by the completions; a lower bound where it is not known of some (`bytes_unknown`), and `None` where of all.
    pub bytes: Option<u64>,
    /// Completions with bytes that the capture does not show, or not all: USBPcap has those to the device in the submission only, and
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
    /// Whether gaps are known: not where completions are missing, which leave gaps in the capture, nor where time steps back.
    #[serde(default)] // older documents lack it
    pub are_gaps_known: Option<bool>,
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
