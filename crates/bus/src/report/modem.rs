//! What hosts and modems said to each other, and what was done of it.

use serde::Serialize;

#[cfg(doc)]
use super::Device;

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
