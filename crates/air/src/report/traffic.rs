//! Packets, and what decryption made of protected frames.

use serde::Serialize;

use sentence::Sentence;

/// How far the keys given went. `None` in the report when there were none.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Decryption {
    /// Keys in the key file.
    pub keys: u64,
    /// Protected data MPDUs (with a good or unknown FCS; retries count each).
    pub protected: u64,
    /// Those decrypted: their MIC matches (WEP, and TKIP in fragments: their integrity check value).
    pub decrypted: u64,
    /// Those decrypted with a packet number that is not above all before it, and that are not retries: replays, or a file in disorder.
    pub packet_number_not_above: u64,
    /// Per pair of stations, most protected MPDUs first (512 at most).
    pub pairs: Vec<DecryptedPair>,
    /// Per sender of group-addressed frames, likewise.
    pub groups: Vec<DecryptedGroup>,
    /// In words: how many were decrypted, and why the others were not.
    pub sentences: Vec<Sentence>,
}

/// Individually addressed data between two stations.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DecryptedPair {
    /// Access point: the authenticator of the handshake, else by the DS bits.
    pub access_point: String,
    /// Station.
    pub station: String,
    /// Name of the network, where it was captured; bytes that are not text are shown as `\xNN`.
    pub ssid: Option<String>,
    /// How far it came: `keys`, `no-handshake`, `incomplete-handshake`, `wrong-key`, `no-key-for-network`, `pmk-needed`,
    /// `unsupported-akm`, `unsupported-cipher`, `no-wep-key`, `too-many-handshakes`.
    pub state: String,
    /// Key management that the station chose; `None` without message 2.
    pub akm: Option<String>,
    /// Pairwise cipher that the station chose; `None` without message 2.
    pub cipher: Option<String>,
    /// Messages 1 to 4 of four-way handshakes captured, copies included.
    pub messages: [u64; 4],
    /// Handshakes with keys that a MIC proved.
    pub handshakes: u64,
    /// Handshakes that none of the keys given fits.
    pub mismatches: u64,
    /// Its protected data MPDUs.
    #[serde(flatten)]
    pub mpdus: ProtectedMpdus,
}

/// Group-addressed data of one sender.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DecryptedGroup {
    /// Sender.
    pub sender: String,
    /// Name of its network, where it was captured.
    pub ssid: Option<String>,
    /// Its protected data MPDUs.
    #[serde(flatten)]
    pub mpdus: ProtectedMpdus,
}

/// Protected data MPDUs, and what happened to them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ProtectedMpdus {
    /// Protected data MPDUs.
    pub protected: u64,
    /// Decrypted.
    pub decrypted: u64,
    /// No key of the pair, or group key of the sender, was known when they came; the `state` of a pair says why.
    pub no_key: u64,
    /// Keys were known, and their MIC (WEP: integrity check value) matches under none: of another session or network, or damaged.
    pub other_key: u64,
    /// Cut by the snap length.
    pub cut: u64,
}

/// Packets joined with the MPDUs that carried them. `None` in the report when it was not asked for.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Traffic {
    /// Packets: IPv4, IPv6 and ARP, in frames without encryption and in decrypted ones. Attempts after the first do not count.
    pub packets: u64,
    /// Those among them that are in no row, because there were too many flows.
    pub packets_left_out: u64,
    /// Per transmitter, receiver and flow, most bytes first (256 at most).
    pub flows: Vec<PacketFlow>,
    /// Flows there were.
    pub flow_count: u64,
    /// MPDUs with attempts that are not followed, because there were too many transmitters and receivers.
    pub mpdus_left_out: u64,
    /// TCP segments that were sent again, in capture order (1,000 at most).
    pub tcp_sent_again: Vec<TcpSentAgain>,
    /// More of them, without a row.
    pub tcp_sent_again_left_out: u64,
    /// DHCP messages, in capture order (256 at most).
    pub dhcp: Vec<DhcpMessage>,
    /// More of them, without a row.
    pub dhcp_left_out: u64,
    /// In words: what happened to the copies of TCP segments that were sent again.
    pub sentences: Vec<Sentence>,
}

/// Packets with the same ends, from one transmitter to one receiver.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PacketFlow {
    /// Transmitter.
    pub ta: String,
    /// Receiver.
    pub ra: String,
    /// `TCP`, `UDP`, `ICMP`, `ICMPv6`, `ARP`, `IP protocol 50`, ...
    pub protocol: String,
    /// Source address; `None` for ARP.
    pub source: Option<String>,
    /// Source port of TCP and UDP.
    pub source_port: Option<u16>,
    /// Destination address; `None` for ARP.
    pub destination: Option<String>,
    /// Destination port of TCP and UDP.
    pub destination_port: Option<u16>,
    /// First packet, µs since the first frame.
    pub first_us: f64,
    /// Last packet.
    pub last_us: f64,
    /// Packets.
    pub packets: u64,
    /// Their bytes by the lengths in their IP headers (as captured, where a snap length or an 802.11 fragment ends before).
    pub bytes: u64,
    /// MPDUs with a (first) packet of the flow.
    pub mpdus: u64,
    /// Attempts of these MPDUs on the air, captured with a good or unknown FCS.
    pub attempts: u64,
    /// MPDUs of which an acknowledgement was captured; `None` for group addresses, which are not acknowledged.
    pub acknowledged: Option<u64>,
    /// Airtime of the attempts with a known duration, µs; `None` when there are none.
    pub airtime_us: Option<f64>,
    /// TCP: bytes of data in the segments, those sent again included.
    pub tcp_payload_bytes: Option<u64>,
    /// TCP: segments with data, SYN or FIN, without keep-alives.
    pub tcp_segments: Option<u64>,
    /// TCP: segments among them that begin below the highest sequence number before them.
    pub tcp_sent_again: Option<u64>,
    /// TCP: those sent again after a captured copy without a captured acknowledgement of its MPDU.
    pub tcp_copy_not_acknowledged: Option<u64>,
    /// TCP: those sent again after a copy that 802.11 acknowledged.
    pub tcp_copy_acknowledged: Option<u64>,
    /// TCP: those sent again without a copy before in the capture (or one that is no longer remembered).
    pub tcp_copy_not_captured: Option<u64>,
    /// TCP: those of `tcp_copy_not_captured` that came in an 802.11 retry: most likely overtaken while they were repeated, and not
    /// sent again by TCP.
    #[serde(default)] // older documents lack it
    pub tcp_not_captured_retries: Option<u64>,
    /// TCP: those sent again that the peer had acknowledged before, by an ACK in the capture.
    pub tcp_needless: Option<u64>,
    /// TCP: keep-alives.
    pub tcp_keep_alives: Option<u64>,
    /// TCP: bytes below the highest sequence number that were never captured on this hop.
    pub tcp_missing_bytes: Option<u64>,
}

/// A TCP segment that was sent again, and what happened to the copy before it.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TcpSentAgain {
    /// Record number of the frame with the segment.
    pub record: u64,
    /// When, µs since the first frame.
    pub at_us: f64,
    /// Transmitter.
    pub ta: String,
    /// Receiver.
    pub ra: String,
    /// Source address and port.
    pub source: String,
    /// Destination address and port.
    pub destination: String,
    /// TCP sequence number, as it is in the segment.
    pub tcp_sequence: u32,
    /// Bytes of data.
    pub payload_bytes: u32,
    /// `not-acknowledged`, `acknowledged`, `not-captured`: the copy before it, by its 802.11 acknowledgement.
    pub copy_before: String,
    /// The peer had acknowledged all of it before, by an ACK in the capture.
    pub needless: bool,
    /// Time from the first attempt of the copy before, µs; `None` when it was not captured.
    pub after_us: Option<f64>,
    /// 802.11 sequence number of the MPDU of the copy before.
    pub mpdu_sequence: Option<u16>,
    /// Attempts of that MPDU on the air, captured with a good or unknown FCS.
    pub attempts: Option<u32>,
    /// The first attempt captured has the retry bit: there were more before.
    pub attempts_missed: Option<bool>,
    /// From its first to its last attempt captured, µs.
    pub attempts_span_us: Option<f64>,
    /// Attempts by rate, in the order of their first ones (4 rates at most; `unknown` has the others).
    pub rates: Vec<RateAttempts>,
    /// In words.
    #[serde(flatten)]
    pub sentence: Sentence,
}

/// Attempts at one rate.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RateAttempts {
    /// `HT20 MCS7`, `54 Mb/s`, ...
    pub label: String,
    /// Attempts.
    pub attempts: u32,
}

/// A DHCP message, and how it fared on the air.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DhcpMessage {
    /// Record number of its first frame captured.
    pub record: u64,
    /// When, µs since the first frame.
    pub at_us: f64,
    /// Transmitter.
    pub ta: String,
    /// Receiver.
    pub ra: String,
    /// `DISCOVER`, `OFFER`, `REQUEST`, `ACK`, ... or `type 9`.
    pub message: String,
    /// Transaction ID, hexadecimal.
    pub transaction: String,
    /// Hardware address of the client.
    pub client: String,
    /// Address that the server gives; `None` when the message has none.
    pub address: Option<String>,
    /// Attempts of its MPDU captured.
    pub attempts: u64,
    /// An 802.11 acknowledgement was captured; `None` for group addresses, which are not acknowledged.
    pub acknowledged: Option<bool>,
}
