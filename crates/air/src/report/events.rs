//! What happened when: how stations come, prove who they are, move and go.

use serde::Serialize;

/// Events in time order, and how many frames there were of each kind.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Events {
    /// All frames of each kind with a usable FCS, whether or not they have a row.
    pub frames: Vec<EventFrames>,
    /// The first 1,000 rows and the latest 1,000.
    pub rows: Vec<Event>,
    /// Rows between those, which are left out.
    pub rows_left_out: u64,
    /// Frames of such rows.
    pub frames_left_out: u64,
}

/// Frames of one kind of event.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct EventFrames {
    /// See [`Event::kind`].
    pub kind: String,
    /// Frames.
    pub frames: u64,
}

/// Something that one station said to another, once or several times within a second of each other.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Event {
    /// First frame, µs since the first frame of the capture.
    pub start_us: f64,
    /// Last frame.
    pub end_us: f64,
    /// `authentication`, `association-request`, `association-response`, `reassociation-request`, `reassociation-response`,
    /// `handshake-1` to `handshake-4`, `group-key-1`, `group-key-2`, `key-request`, `eap-start`, `eap`, `eap-success`,
    /// `eap-failure`, `eap-logoff`, `other-eapol`, `deauthentication`, `disassociation`, `channel-switch`.
    pub kind: String,
    /// Transmitter; `None` where too many stations sent the same kind of frame in a second to list them.
    pub sender: Option<String>,
    /// Receiver; likewise.
    pub receiver: Option<String>,
    /// Network; `None` where several share the row.
    pub bssid: Option<String>,
    /// The network that the station comes from, where it says so or was seen to join it: it roams.
    pub from_bssid: Option<String>,
    /// Frames in this row.
    pub frames: u64,
    /// Those with the retry bit.
    pub retries: u64,
    /// Status code of an authentication or response, reason code of a deauthentication or disassociation, number of the new
    /// channel; `None` where there is none, or it is encrypted.
    pub code: Option<u16>,
    /// What it means.
    pub text: Option<String>,
}
