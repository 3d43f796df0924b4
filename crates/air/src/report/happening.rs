//! What happened, in sentences.

use serde::Serialize;

use sentence::Sentence;

/// Something that happened in the capture: an attack or flood, a fault, an event. Attacks come first, then faults, then events;
/// in each kind, those of most frames first.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Happening {
    /// `beacon-flood`, `deauthentication-flood`, `disassociation-flood`, `authentication-flood`, `association-flood`, `arp-replay`,
    /// `own-addressee` (frames with the same transmitter and receiver), `group-sources` (frames with a group address as transmitter);
    /// `join-failed`, `not-associated` (an access point tells a station again and again that it is not associated);
    /// `joined`, `roamed`, `channel-switch`, `direct-link`.
    pub code: String,
    /// `attack`, `fault`, `event`.
    pub kind: &'static str,
    /// First frame of it, µs since the first frame of the capture.
    pub first_us: f64,
    /// Last frame of it.
    pub last_us: f64,
    /// Frames that it consists of.
    pub frames: u64,
    /// The station that it happens to, or that does it.
    pub station: Option<String>,
    /// The network, or the access point in the name of which it is done.
    pub bssid: Option<String>,
    /// The network that a station comes from.
    pub from_bssid: Option<String>,
    /// The step at which joining fails: `authentication`, `association`, `eap`, `handshake-1` to `handshake-4`.
    pub step: Option<String>,
    /// Why joining fails there: `refused`, `deauthenticated`, `no-answer`, `not-accepted`, `eap-failure`.
    pub cause: Option<String>,
    /// Attempts to join.
    pub attempts: Option<u64>,
    /// Those that failed in this capture.
    pub failures: Option<u64>,
    /// Reason code, where one is given (most often).
    pub reason: Option<u16>,
    /// Status code, where one is given.
    pub status: Option<u16>,
    /// Number of the new channel.
    pub channel: Option<u16>,
    /// What shows that frames are made by a program and not by the stations with these addresses: `same-sequence-numbers`,
    /// `one-sequence-counter` (of senders with different addresses), `group-sources`, `own-addressee`, `sent-by-this-machine`, `same-timestamps`,
    /// `many-senders`.
    pub marks: Vec<&'static str>,
    /// In words.
    #[serde(flatten)]
    pub sentence: Sentence,
}

impl Happening {
    /// One without any of the fields that only some have. `span_ns`: of its first and last frame.
    pub(crate) fn new(code: &str, kind: &'static str, span_ns: (i64, i64), frames: u64, sentence: Sentence) -> Self {
        Self {
            code: code.to_owned(),
            kind,
            first_us: crate::micros::us(span_ns.0),
            last_us: crate::micros::us(span_ns.1),
            frames,
            station: None,
            bssid: None,
            from_bssid: None,
            step: None,
            cause: None,
            attempts: None,
            failures: None,
            reason: None,
            status: None,
            channel: None,
            marks: Vec::new(),
            sentence,
        }
    }
}
