//! What is to happen on the air, and how the sniffer sees it.

use wire::ieee80211::MacAddr;
use wire::phy::{Bandwidth, Ht, Mode};

/// A whole capture, described. Start from [`Scene::default`] or [`Scene::preset`](crate::Scene::preset) and change
/// what matters; everything is public data.
#[derive(Clone, Debug)]
pub struct Scene {
    /// The same seed gives the same bytes. Air and sniffer draw from separate streams.
    pub seed: u64,
    /// Length of the scene, seconds.
    pub seconds: f64,
    /// Centre of the primary channel, MHz; below 2500 the 2.4 GHz rules hold (SIFS 10 µs, signal extension).
    pub frequency_mhz: u16,
    /// The access point and its network.
    pub bss: Bss,
    /// Stations, in the order in which they join.
    pub stations: Vec<Station>,
    /// Traffic.
    pub flows: Vec<Flow>,
    /// The capturing receiver.
    pub sniffer: Sniffer,
    /// The file.
    pub output: Output,
}

/// The access point.
#[derive(Clone, Debug)]
pub struct Bss {
    /// BSSID, and address of the access point.
    pub address: MacAddr,
    /// SSID, up to 32 bytes (more are cut off).
    pub ssid: Vec<u8>,
    /// Beacon interval in TU (1024 µs); 0 is taken as 1.
    pub beacon_interval_tu: u16,
    /// Two-letter country code.
    pub country: [u8; 2],
    /// RSN with CCMP: data frames are protected, and EAPOL frames are exchanged.
    pub protected: bool,
    /// Beacons and association frames carry HT elements.
    pub ht: bool,
    /// Signal of the access point at the sniffer, dBm.
    pub signal_dbm: i8,
    /// How it receives and answers.
    pub receiver: Receiver,
}

/// A station.
#[derive(Clone, Debug)]
pub struct Station {
    /// Its address.
    pub address: MacAddr,
    /// It is 802.11n capable (else b/g).
    pub ht: bool,
    /// It understands QoS (WMM).
    pub qos: bool,
    /// Signal at the sniffer, dBm.
    pub signal_dbm: i8,
    /// Sleeps every so often (Null frames with and without the power-management bit).
    pub power_save: Option<PowerSave>,
    /// How its attempts to join end.
    pub joining: Joining,
    /// How it receives and answers.
    pub receiver: Receiver,
}

/// How attempts to join end. A station that does not join must have no flow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Joining {
    /// It joins at once.
    #[default]
    Joins,
    /// The access point refuses the authentication with this status code.
    Refused(u16),
    /// It is deauthenticated with this reason code right after its association request.
    ThrownOut(u16),
    /// It does not answer message 1 of the four-way handshake, which is sent four times.
    Silent,
    /// Message 1 is sent again after each of its messages 2, as after a wrong password; then it is deauthenticated (reason 15).
    WrongPassword,
}

/// Regular naps.
#[derive(Clone, Copy, Debug)]
pub struct PowerSave {
    /// From one nap to the next, ms.
    pub every_ms: u32,
    /// Length of a nap, ms.
    pub nap_ms: u32,
}

/// An end of a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Node {
    /// The access point.
    Ap,
    /// Index into [`Scene::stations`].
    Station(usize),
}

/// Traffic from one node to another.
#[derive(Clone, Debug)]
pub struct Flow {
    /// Transmitter.
    pub from: Node,
    /// Receiver.
    pub to: Node,
    /// Traffic identifier, 0 to 7; used when both ends understand QoS.
    pub tid: u8,
    /// How much there is to send.
    pub offered: Offered,
    /// Bytes above LLC/SNAP in an MPDU: smallest and largest, evenly drawn.
    pub payload_bytes: (u16, u16),
    /// Rates of its PPDUs.
    pub rates: Rates,
    /// A-MPDU with Block Ack; `None`: one MPDU, one ACK.
    pub aggregation: Option<Aggregation>,
    /// Probability that an MPDU does not reach the receiver.
    pub loss: f64,
    /// Times with another loss probability.
    pub bursts: Vec<Burst>,
    /// Times in which the sender, although it has data, stays silent (seconds since the start).
    pub silent: Vec<(f64, f64)>,
    /// RTS before PPDUs with a PSDU longer than this.
    pub rts_threshold: Option<u32>,
    /// Retransmissions after which an MPDU is given up.
    pub retry_limit: u8,
}

/// Offered load.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Offered {
    /// There is always more.
    Saturated,
    /// Payload at a constant rate, Mbit/s.
    MbitPerS(f64),
    /// One frame for every second one that arrives by the flow with this index: TCP acknowledgements.
    TcpAcksOf(usize),
}

/// Which modes a flow uses.
#[derive(Clone, Debug)]
pub struct Rates {
    /// Modes, best first, with their weights. An empty list means 6 Mb/s OFDM.
    pub modes: Vec<(Mode, u32)>,
    /// PPDUs until the next draw.
    pub hold_ppdus: u32,
    /// Retries of a single MPDU step down the list.
    pub fallback: bool,
}

/// How a flow aggregates.
#[derive(Clone, Copy, Debug)]
pub struct Aggregation {
    /// Most MPDUs in an A-MPDU.
    pub max_mpdus: u16,
    /// Longest PPDU, µs.
    pub max_us: u32,
    /// Buffer size agreed in ADDBA.
    pub window: u16,
    /// The hardware already holds the next A-MPDU when a Block Ack comes in, so what it leaves out goes into the one
    /// after. (What comes late, not never, is then acknowledged without having been sent again.)
    pub ahead: bool,
    /// A Block Ack that does not come is asked for with a BAR.
    pub bar: bool,
}

/// A time with another loss probability.
#[derive(Clone, Copy, Debug)]
pub struct Burst {
    /// Start, seconds.
    pub from_s: f64,
    /// End, seconds.
    pub to_s: f64,
    /// Loss probability.
    pub loss: f64,
}

/// How a receiver answers: the behaviour under test.
#[derive(Clone, Debug, Default)]
pub struct Receiver {
    /// MPDUs that end less than this before the end of their PPDU are received, but too late for its Block Ack. µs.
    pub late_block_ack_us: f64,
    /// HT frames outside of A-MPDUs are answered with ACK only at these MCS; `None`: at all.
    pub ack_only_mcs: Option<Vec<u8>>,
    /// What the bitmap shows.
    pub bitmap: BitmapStyle,
    /// Bits in the bitmap.
    pub bitmap_bits: BitmapBits,
    /// Responses that come later than SIFS.
    pub late_response: Option<LateResponse>,
    /// Probability that a response of this receiver (ACK, Block Ack, CTS) is sent, but does not reach its addressee.
    pub response_loss: f64,
}

/// Which sequence numbers a Block Ack covers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum BitmapStyle {
    /// From the first number that is still missing.
    #[default]
    Window,
    /// The last 64 (256) numbers up to the highest received: mostly bits already acknowledged.
    FullHistory,
    /// Only MPDUs of the PPDU just received (no memory).
    LastPpdu,
}

/// Size of a compressed Block Ack's bitmap.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum BitmapBits {
    /// 64.
    #[default]
    B64,
    /// 256 (802.11ax).
    B256,
}

impl BitmapBits {
    /// The number.
    pub const fn bits(self) -> u16 {
        match self {
            Self::B64 => 64,
            Self::B256 => 256,
        }
    }
}

/// Late responses.
#[derive(Clone, Copy, Debug)]
pub struct LateResponse {
    /// Share of the responses that are late.
    pub probability: f64,
    /// How much later than SIFS, µs (up to about 20 a sender still waits).
    pub extra_us: f64,
}

/// The capturing receiver.
#[derive(Clone, Debug)]
pub struct Sniffer {
    /// Probability that a frame on the air is not captured.
    pub loss: f64,
    /// The same for ACK, Block Ack and CTS, in addition.
    pub response_loss: f64,
    /// Probability that a whole PPDU is not captured, whatever it carries; responses are not meant.
    pub ppdu_loss: f64,
    /// Kinds of responses that it never delivers.
    pub deaf_to: Deaf,
    /// Frames received damaged.
    pub damage: Damage,
    /// Time stamps are present.
    pub tsft: bool,
    /// What the time stamp marks.
    pub stamp: StampMeaning,
    /// Time stamps inside an A-MPDU.
    pub ampdu_stamp: AmpduStamp,
    /// The A-MPDU status field.
    pub ampdu_reference: AmpduReference,
    /// Frames end with their FCS.
    pub fcs: bool,
    /// Rates, MCS and the like are present.
    pub rates: bool,
    /// The header claims 1 Mb/s for every control response, whatever its rate was.
    pub false_control_rates: bool,
    /// Listens elsewhere part of the time.
    pub hop: Option<Hop>,
}

/// Kinds of responses that a sniffer never delivers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Deaf {
    /// ACK.
    pub ack: bool,
    /// Block Ack.
    pub block_ack: bool,
    /// CTS.
    pub cts: bool,
}

/// Absence by channel hopping: away for the rest of each period.
#[derive(Clone, Copy, Debug)]
pub struct Hop {
    /// Period, ms.
    pub period_ms: u32,
    /// Time on the scene's channel at the start of each period, ms.
    pub here_ms: u32,
}

/// Frames received damaged.
#[derive(Clone, Copy, Debug, Default)]
pub struct Damage {
    /// Probability per captured frame.
    pub probability: f64,
    /// Share of the damaged frames with bit errors in an address (else in the body): these make ghosts.
    pub address_share: f64,
    /// Bit errors: 1 up to this (at most 3, so that no damage escapes CRC-32).
    pub max_flips: u8,
    /// Share of the damaged frames that the receiver flags.
    pub flagged_share: f64,
}

/// What a time stamp marks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum StampMeaning {
    /// The first bit of the MPDU, as radiotap defines it.
    #[default]
    FirstMpduBit,
    /// Start of the preamble.
    PpduStart,
    /// End of the PPDU.
    PpduEnd,
}

impl StampMeaning {
    /// As the analysis names it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::FirstMpduBit => "mpdu-first-bit",
            Self::PpduStart => "ppdu-start",
            Self::PpduEnd => "ppdu-end",
        }
    }
}

/// Time stamps of the MPDUs of one A-MPDU.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AmpduStamp {
    /// All have the PPDU's (Broadcom).
    #[default]
    Equal,
    /// All but the last have the PPDU's, the last its own (ath9k).
    LastDiffers,
    /// Each its own.
    Own,
    /// The first has it, the others have 0 (Intel).
    ZeroAfterFirst,
}

/// The number in the A-MPDU status field.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AmpduReference {
    /// One number per A-MPDU, as radiotap defines it.
    #[default]
    PpduId,
    /// The MPDU's sequence number (Apple).
    SequenceNumber,
    /// No such field.
    Absent,
}

impl AmpduReference {
    /// As the analysis names it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::PpduId => "ppdu-id",
            Self::SequenceNumber => "not-a-ppdu-id",
            Self::Absent => "absent",
        }
    }
}

/// The file.
#[derive(Clone, Copy, Debug)]
pub struct Output {
    /// Container.
    pub container: Container,
    /// Link-layer header.
    pub link: Link,
    /// Largest captured length.
    pub snap_len: Option<u32>,
}

/// Container formats.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Container {
    /// pcap, microseconds.
    PcapMicros,
    /// pcap, nanoseconds.
    PcapNanos,
    /// pcapng, nanoseconds.
    Pcapng,
}

/// Link-layer headers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Link {
    /// Radiotap (127).
    Radiotap,
    /// None (105).
    Bare,
    /// Prism (119).
    Prism,
    /// PPI (192).
    Ppi,
}

/// HT, 20 MHz, mixed format, BCC: the only kind a one-stream 802.11n device of 2010 sends.
pub const fn ht20(mcs: u8, short_gi: bool) -> Mode {
    Mode::Ht(Ht {
        mcs,
        bandwidth: Bandwidth::Mhz20,
        short_gi: Some(short_gi),
        greenfield: Some(false),
        ldpc: Some(false),
        stbc: Some(0),
        ness: 0,
    })
}

/// A DSSS/CCK (long preamble at 1 Mb/s, else short) or OFDM mode by its rate in 500 kbit/s units; 6 Mb/s for a number
/// that is not a rate.
pub const fn legacy(rate_500kbps: u8) -> Mode {
    match Mode::from_legacy_rate(rate_500kbps, Some(rate_500kbps > 2)) {
        Some(mode) => mode,
        None => Mode::Ofdm { rate_500kbps: 12, bandwidth: Bandwidth::Mhz20 },
    }
}

impl Rates {
    /// Always this mode.
    pub fn fixed(mode: Mode) -> Self {
        Self { modes: vec![(mode, 1)], hold_ppdus: 1, fallback: false }
    }
}

impl Default for Aggregation {
    fn default() -> Self {
        Self { max_mpdus: 32, max_us: 4000, window: 64, ahead: true, bar: true }
    }
}

impl Default for Flow {
    /// Bulk data from the access point to the first station: HT20 MCS 7 with now and then less.
    fn default() -> Self {
        Self {
            from: Node::Ap,
            to: Node::Station(0),
            tid: 0,
            offered: Offered::Saturated,
            payload_bytes: (1500, 1500),
            rates: Rates {
                modes: vec![(ht20(7, true), 6), (ht20(7, false), 2), (ht20(6, false), 2), (ht20(5, false), 1)],
                hold_ppdus: 40,
                fallback: true,
            },
            aggregation: Some(Aggregation::default()),
            loss: 0.01,
            bursts: Vec::new(),
            silent: Vec::new(),
            rts_threshold: None,
            retry_limit: 10,
        }
    }
}

impl Default for Sniffer {
    fn default() -> Self {
        Self {
            loss: 0.0,
            response_loss: 0.0,
            ppdu_loss: 0.0,
            deaf_to: Deaf::default(),
            damage: Damage { probability: 0.0, address_share: 0.5, max_flips: 3, flagged_share: 1.0 },
            tsft: true,
            stamp: StampMeaning::default(),
            ampdu_stamp: AmpduStamp::default(),
            ampdu_reference: AmpduReference::default(),
            fcs: true,
            rates: true,
            false_control_rates: false,
            hop: None,
        }
    }
}

impl Default for Output {
    fn default() -> Self {
        Self { container: Container::PcapNanos, link: Link::Radiotap, snap_len: None }
    }
}

impl Default for Bss {
    fn default() -> Self {
        Self {
            address: MacAddr([0x24, 0xf5, 0xa2, 0xc0, 0x4e, 0xb1]),
            ssid: b"customer-wifi".to_vec(),
            beacon_interval_tu: 100,
            country: *b"CH",
            protected: true,
            ht: true,
            signal_dbm: -42,
            receiver: Receiver::default(),
        }
    }
}

impl Default for Station {
    /// The USB dongle: 802.11n, one stream.
    fn default() -> Self {
        Self {
            address: MacAddr([0x08, 0xbe, 0xac, 0x0b, 0x14, 0xc4]),
            ht: true,
            qos: true,
            signal_dbm: -38,
            power_save: None,
            joining: Joining::default(),
            receiver: Receiver::default(),
        }
    }
}

impl Default for Scene {
    /// Ten seconds of a TCP download by a one-stream 802.11n dongle on channel 12, an 802.11g neighbour in the same
    /// network with a little traffic, and a sniffer that hears everything.
    fn default() -> Self {
        let neighbour = Station {
            address: MacAddr([0x00, 0x0e, 0x35, 0x7c, 0x21, 0x9a]),
            ht: false,
            signal_dbm: -61,
            power_save: Some(PowerSave { every_ms: 700, nap_ms: 60 }),
            ..Station::default()
        };
        let thin = |from, to, rate, mbit_s| Flow {
            from,
            to,
            offered: Offered::MbitPerS(mbit_s),
            payload_bytes: (80, 700),
            rates: Rates { modes: vec![(legacy(rate), 4), (legacy(22), 1)], hold_ppdus: 8, fallback: true },
            aggregation: None,
            ..Flow::default()
        };
        Self {
            seed: 1,
            seconds: 10.0,
            frequency_mhz: 2467,
            bss: Bss::default(),
            stations: vec![Station::default(), neighbour],
            flows: vec![
                Flow::default(),
                Flow {
                    from: Node::Station(0),
                    to: Node::Ap,
                    offered: Offered::TcpAcksOf(0),
                    payload_bytes: (52, 52),
                    ..Flow::default()
                },
                thin(Node::Ap, Node::Station(1), 108, 0.6),
                thin(Node::Station(1), Node::Ap, 108, 0.3),
            ],
            sniffer: Sniffer::default(),
            output: Output::default(),
        }
    }
}
