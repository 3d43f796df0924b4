//! Tables of what was sent when: rates over time, and Block Acks one by one.

use serde::Serialize;

/// Which station sent at which rate when.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RateTimeline {
    /// Width of a span, µs: 100 ms, doubled as often as 8,192 rows of all stations need it.
    pub bin_us: f64,
    /// Station by station, those with the most frames first, each in time order.
    pub rows: Vec<RateCell>,
    /// Frames without a row: there were too many stations and rates, however wide the spans.
    pub frames_left_out: u64,
}

/// Frames that one station sent at one rate in one span of time, without those with a bad FCS.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RateCell {
    /// Transmitter.
    pub address: String,
    /// Beginning of the span, µs since the first frame.
    pub start_us: f64,
    /// `HT40 MCS7 SGI`, `54 Mb/s`, ...
    pub label: String,
    /// `dsss`, `ofdm`, `ht`, `vht`, `he`, `eht`, `unknown`.
    pub family: String,
    /// PHY rate, Mbit/s; null where the capture does not give it.
    pub mbit_s: Option<f64>,
    /// Lowest PHY rate that it may be, Mbit/s, where the capture gives all but the guard interval; else null.
    pub mbit_s_low: Option<f64>,
    /// Highest PHY rate that it may be, likewise.
    pub mbit_s_high: Option<f64>,
    /// Frames (MPDUs) of any kind.
    pub frames: u64,
    /// Those with the retry bit.
    pub retries: u64,
}

/// Block Acks one by one.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BlockAckLog {
    /// Block Ack frames with a usable FCS.
    pub frames: u64,
    /// The first 50,000 rows, in the order of the file: one for each TID of a frame.
    pub rows: Vec<BlockAckRow>,
    /// Rows after those, which are left out.
    pub rows_left_out: u64,
}

/// What a Block Ack says of one TID.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BlockAckRow {
    /// Record number in the file.
    pub number: u64,
    /// When, µs since the first frame.
    pub at_us: f64,
    /// Who sends it: the receiver of the data.
    pub recipient: Option<String>,
    /// Who gets it: the transmitter of the data.
    pub originator: String,
    /// TID; `None` for a Block Ack of a kind that is not read (bits for fragments, several TIDs of which none is whole).
    pub tid: Option<u8>,
    /// Sequence number of the first bit.
    pub start: Option<u16>,
    /// Bits of the bitmap.
    pub bits: Option<u16>,
    /// Those that are set.
    pub acknowledged: Option<u16>,
    /// The bitmap's octets as sent, in hexadecimal; `None` beyond 256 bits.
    pub bitmap: Option<String>,
}
