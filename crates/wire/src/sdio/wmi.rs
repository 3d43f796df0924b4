//! WMI, what an Atheros full-MAC chip is asked for and what it reports (Linux drivers/net/wireless/ath/ath6kl/wmi.h).
//! Little endian.

use super::u16_at;
use crate::ieee80211::MacAddr;

/// Bytes in front of a command or an event (`struct wmi_cmd_hdr`).
pub const HEADER: usize = 6;
/// Bytes in front of a data frame (`struct wmi_data_hdr`).
pub const DATA_HEADER: usize = 6;
/// Bytes in front of the Ethernet frame where there are metadata (WMI_MAX_TX_META_SZ).
const META: usize = 12;
/// Bytes of the report of statistics (`struct wmi_target_stats`).
const STATISTICS: usize = 237;
/// A report's signal is above this (ath6kl_wmi_bssinfo_event_rx: rssi = snr - 95 dBm).
pub const NOISE_DBM: i16 = -95;

/// Identifiers of events.
mod event {
    pub const READY: u16 = 0x1001;
    pub const CONNECT: u16 = 0x1002;
    pub const DISCONNECT: u16 = 0x1003;
    pub const BSS_INFO: u16 = 0x1004;
    pub const MICHAEL_FAILURE: u16 = 0x1009;
    pub const SCAN_COMPLETE: u16 = 0x100a;
    pub const STATISTICS: u16 = 0x100b;
    pub const ADDBA_REQUEST: u16 = 0x1020;
    pub const DELBA: u16 = 0x1022;
    pub const TX_POWER: u16 = 0x001c;
}

/// Ciphers (`enum ath6kl_crypto_type`).
pub mod cipher {
    /// NONE_CRYPT.
    pub const NONE: u8 = 0x01;
    /// WEP_CRYPT.
    pub const WEP: u8 = 0x02;
    /// TKIP_CRYPT.
    pub const TKIP: u8 = 0x04;
    /// AES_CRYPT: CCMP.
    pub const CCMP: u8 = 0x08;
}

/// How stations prove who they are (`enum auth_mode`).
pub mod authentication {
    /// NONE_AUTH.
    pub const NONE: u8 = 0x01;
    /// WPA_AUTH.
    pub const WPA: u8 = 0x02;
    /// WPA2_AUTH.
    pub const WPA2: u8 = 0x04;
    /// WPA_PSK_AUTH.
    pub const WPA_PSK: u8 = 0x08;
    /// WPA2_PSK_AUTH.
    pub const WPA2_PSK: u8 = 0x10;
}

/// Why a connection has ended (`enum wmi_disconnect_reason`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Disconnected {
    /// NO_NETWORK_AVAIL.
    NoNetwork = 1,
    /// LOST_LINK: beacons are missing.
    LostLink = 2,
    /// DISCONNECT_CMD.
    Asked = 3,
    /// BSS_DISCONNECTED: the access point has ended it.
    ByAccessPoint = 4,
    /// AUTH_FAILED.
    AuthenticationFailed = 5,
    /// ASSOC_FAILED.
    AssociationFailed = 6,
}

/// WMI_CONNECT_CMDID.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Connect {
    /// 1: infrastructure (`enum network_type`).
    pub network: u8,
    /// 1: open system, 2: shared key, as bits (`enum dot11_auth_mode`).
    pub dot11_authentication: u8,
    /// See [`authentication`].
    pub authentication: u8,
    /// See [`cipher`].
    pub pairwise: u8,
    /// See [`cipher`].
    pub group: u8,
    /// Name of the network, 32 bytes at most.
    pub ssid: Vec<u8>,
    /// Where it was seen, MHz; 0: not known.
    pub frequency_mhz: u16,
    /// Which access point; zeros: any.
    pub bssid: MacAddr,
}

impl Connect {
    /// Data are encrypted with the keys of a handshake.
    pub const fn is_encrypted(&self) -> bool {
        self.pairwise & (cipher::TKIP | cipher::CCMP) != 0
    }
}

/// WMI_ADD_CIPHER_KEY_CMDID.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct AddKey {
    /// Key ID, 0 to 3.
    pub index: u8,
    /// See [`cipher`].
    pub cipher: u8,
    /// For groups, not for one station.
    pub group: bool,
    /// Bytes of the key.
    pub len: u8,
    /// The key.
    pub key: [u8; 32],
}

impl std::fmt::Debug for AddKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "AddKey {{ index: {}, cipher: {}, group: {}, len: {} }}",
            self.index, self.cipher, self.group, self.len
        )
    }
}

/// What the host asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Command {
    /// WMI_CONNECT_CMDID.
    Connect(Connect),
    /// WMI_RECONNECT_CMDID: to the same network again.
    Reconnect,
    /// WMI_DISCONNECT_CMDID.
    Disconnect,
    /// WMI_START_SCAN_CMDID, and WMI_BEGIN_SCAN_CMDID.
    Scan {
        /// Where, MHz; none: everywhere.
        frequencies_mhz: Vec<u16>,
    },
    /// WMI_SET_PROBED_SSID_CMDID: what probe requests ask for.
    ProbedSsid {
        /// Entry.
        entry: u8,
        /// The name; empty: any. `None`: the entry is not used.
        ssid: Option<Vec<u8>>,
    },
    /// WMI_SET_BSS_FILTER_CMDID: beacons of which networks are reported.
    BssFilter {
        /// 0: none; 1: all; 4: the own one (`enum wmi_bss_filter`).
        filter: u8,
    },
    /// WMI_GET_STATISTICS_CMDID.
    GetStatistics,
    /// WMI_ADD_CIPHER_KEY_CMDID.
    AddKey(AddKey),
    /// WMI_DELETE_CIPHER_KEY_CMDID.
    DeleteKey {
        /// Key ID.
        index: u8,
    },
    /// WMI_SET_POWER_MODE_CMDID.
    PowerMode {
        /// 1: as recommended, with power save; 2: full performance (`enum wmi_power_mode`).
        mode: u8,
    },
    /// WMI_GET_TX_PWR_CMDID.
    GetTxPower,
    /// WMI_SET_APPIE_CMDID: elements that a kind of frame gets, too.
    Elements {
        /// 1: probe requests, 3: association requests (`enum wmi_mgmt_frame_type`).
        frame: u8,
        /// The elements.
        elements: Vec<u8>,
    },
    /// Another one.
    Unknown(u16),
}

/// Identifiers of commands.
mod command {
    pub const CONNECT: u16 = 0x0001;
    pub const RECONNECT: u16 = 0x0002;
    pub const DISCONNECT: u16 = 0x0003;
    pub const START_SCAN: u16 = 0x0007;
    pub const SET_BSS_FILTER: u16 = 0x0009;
    pub const SET_PROBED_SSID: u16 = 0x000a;
    pub const GET_STATISTICS: u16 = 0x0010;
    pub const SET_POWER_MODE: u16 = 0x0012;
    pub const ADD_KEY: u16 = 0x0016;
    pub const DELETE_KEY: u16 = 0x0017;
    pub const GET_TX_POWER: u16 = 0x001c;
    pub const SET_ELEMENTS: u16 = 0x003f;
}

/// SPECIFIC_SSID_FLAG and ANY_SSID_FLAG of an entry.
const SPECIFIC: u8 = 0x01;
const ANY: u8 = 0x02;

impl Command {
    /// From a message of the control endpoint; `None`: it is too short for what it is.
    pub fn parse(message: &[u8]) -> Option<Self> {
        let id = u16_at(message, 0)?;
        let body = message.get(HEADER..)?;
        Some(match id {
            command::CONNECT => Self::Connect(connect(body)?),
            command::RECONNECT => Self::Reconnect,
            command::DISCONNECT => Self::Disconnect,
            command::START_SCAN => {
                let channels = usize::from(*body.get(17)?);
                let list = body.get(18..18 + 2 * channels)?;
                let mhz = |pair: &[u8]| u16_at(pair, 0);
                Self::Scan { frequencies_mhz: list.chunks_exact(2).filter_map(mhz).collect() }
            }
            command::SET_PROBED_SSID => {
                let &[entry, flag, len] = body.first_chunk()?;
                let ssid = body.get(3..3 + usize::from(len).min(32))?.to_vec();
                let ssid = match flag {
                    flag if flag & SPECIFIC != 0 => Some(ssid),
                    flag if flag & ANY != 0 => Some(Vec::new()),
                    _ => None,
                };
                Self::ProbedSsid { entry, ssid }
            }
            command::SET_BSS_FILTER => Self::BssFilter { filter: *body.first()? },
            command::GET_STATISTICS => Self::GetStatistics,
            command::ADD_KEY => {
                let &[index, cipher, usage, len] = body.first_chunk()?;
                let key = *body.get(12..)?.first_chunk()?;
                Self::AddKey(AddKey { index, cipher, group: usage & 1 == 1, len, key })
            }
            command::DELETE_KEY => Self::DeleteKey { index: *body.first()? },
            command::SET_POWER_MODE => Self::PowerMode { mode: *body.first()? },
            command::GET_TX_POWER => Self::GetTxPower,
            command::SET_ELEMENTS => {
                let &[frame, len] = body.first_chunk()?;
                Self::Elements { frame, elements: body.get(2..2 + usize::from(len))?.to_vec() }
            }
            other => Self::Unknown(other),
        })
    }

    /// The message.
    pub fn emit(&self) -> Vec<u8> {
        let message = |id: u16, body: &[u8]| [&id.to_le_bytes()[..], &[0; 4], body].concat();
        match self {
            Self::Connect(connect) => message(command::CONNECT, &emit_connect(connect)),
            Self::Reconnect => message(command::RECONNECT, &[0; 8]),
            Self::Disconnect => message(command::DISCONNECT, &[]),
            Self::Scan { frequencies_mhz } => {
                let mut body = vec![0; 17];
                body.push(frequencies_mhz.len() as u8);
                body.extend(frequencies_mhz.iter().flat_map(|mhz| mhz.to_le_bytes()));
                message(command::START_SCAN, &body)
            }
            Self::ProbedSsid { entry, ssid } => {
                let (flag, name) = match ssid {
                    Some(name) if name.is_empty() => (ANY, &[][..]),
                    Some(name) => (SPECIFIC, name.as_slice()),
                    None => (0, &[][..]),
                };
                let mut body = vec![*entry, flag, name.len() as u8];
                body.extend_from_slice(name);
                body.resize(35, 0);
                message(command::SET_PROBED_SSID, &body)
            }
            Self::BssFilter { filter } => message(command::SET_BSS_FILTER, &[*filter, 0, 0, 0, 0, 0, 0, 0]),
            Self::GetStatistics => message(command::GET_STATISTICS, &[]),
            Self::AddKey(key) => {
                let mut body = vec![key.index, key.cipher, u8::from(key.group), key.len];
                body.extend([0; 8]);
                body.extend(key.key);
                body.extend([0; 7]);
                message(command::ADD_KEY, &body)
            }
            Self::DeleteKey { index } => message(command::DELETE_KEY, &[*index]),
            Self::PowerMode { mode } => message(command::SET_POWER_MODE, &[*mode]),
            Self::GetTxPower => message(command::GET_TX_POWER, &[]),
            Self::Elements { frame, elements } => {
                message(command::SET_ELEMENTS, &[&[*frame, elements.len() as u8], elements.as_slice()].concat())
            }
            Self::Unknown(id) => message(*id, &[]),
        }
    }
}

fn connect(body: &[u8]) -> Option<Connect> {
    let &[network, dot11_authentication, authentication, pairwise, _, group, _, ssid_len] = body.first_chunk()?;
    let ssid = body.get(8..40)?.get(..usize::from(ssid_len).min(32))?.to_vec();
    let frequency_mhz = u16_at(body, 40)?;
    let bssid = MacAddr(*body.get(42..)?.first_chunk()?);
    Some(Connect { network, dot11_authentication, authentication, pairwise, group, ssid, frequency_mhz, bssid })
}

fn emit_connect(connect: &Connect) -> Vec<u8> {
    let Connect { network, dot11_authentication, authentication, pairwise, group, ssid, frequency_mhz, bssid } =
        connect;
    let ssid = ssid.get(..32).unwrap_or(ssid);
    let mut body = vec![*network, *dot11_authentication, *authentication, *pairwise, 0, *group, 0, ssid.len() as u8];
    body.extend_from_slice(ssid);
    body.resize(40, 0);
    body.extend(frequency_mhz.to_le_bytes());
    body.extend(bssid.0);
    body.extend([0; 5]);
    body
}

/// A frame of a network that was seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BssInfo<'a> {
    /// Where, MHz.
    pub frequency_mhz: u16,
    /// A probe response; else a beacon.
    pub probe_response: bool,
    /// How strong it was.
    pub signal_dbm: i8,
    /// The access point.
    pub bssid: MacAddr,
    /// The body of the frame, from the time stamp on.
    pub body: &'a [u8],
}

/// Counters that the driver asks for; the rest of its report is zeros.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Frames sent.
    pub tx_frames: u32,
    /// Bytes of them.
    pub tx_bytes: u32,
    /// Frames sent to one receiver.
    pub tx_unicast: u32,
    /// Frames sent again.
    pub tx_retries: u32,
    /// Frames given up.
    pub tx_failed: u32,
    /// The rate of the last one: 0 to 11 legacy (1 to 11, 6 to 54 Mbit/s), 12 to 19 MCS 0 to 7 in 20 MHz, 20 to 27 in
    /// 40 MHz; bit 7: short guard interval (wmi.c, wmi_rate_tbl).
    pub tx_rate: u8,
    /// Frames received.
    pub rx_frames: u32,
    /// Bytes of them.
    pub rx_bytes: u32,
    /// Frames with an integrity check that failed.
    pub rx_decrypt_errors: u32,
    /// The rate of the last one, as `tx_rate`.
    pub rx_rate: u8,
    /// How strong the access point is above [`NOISE_DBM`].
    pub snr_db: u8,
}

/// What the chip reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event<'a> {
    /// WMI_READY_EVENTID.
    Ready {
        /// Version of the firmware.
        version: u32,
        /// Its address.
        address: MacAddr,
    },
    /// WMI_CONNECT_EVENTID.
    Connected {
        /// Where, MHz.
        frequency_mhz: u16,
        /// To whom.
        bssid: MacAddr,
        /// Time between beacons.
        beacon_interval_tu: u16,
        /// Bodies of the association request and response.
        request: &'a [u8],
        /// See `request`.
        response: &'a [u8],
    },
    /// WMI_DISCONNECT_EVENTID.
    Disconnected {
        /// Reason or status code of the frame that ended it; 0: there was none.
        code: u16,
        /// From whom.
        bssid: MacAddr,
        /// Why.
        why: Disconnected,
    },
    /// WMI_BSSINFO_EVENTID.
    BssInfo(BssInfo<'a>),
    /// WMI_TKIP_MICERR_EVENTID: the MIC of a frame was wrong.
    MichaelFailure {
        /// Key ID.
        key_id: u8,
        /// The frame was for a group.
        group: bool,
    },
    /// WMI_SCAN_COMPLETE_EVENTID.
    ScanComplete,
    /// WMI_REPORT_STATISTICS_EVENTID.
    Statistics(Counters),
    /// WMI_ADDBA_REQ_EVENTID: the host reorders frames of this TID from now on.
    BlockAck {
        /// TID.
        tid: u8,
        /// Frames that may be out of order.
        window: u8,
        /// The first sequence number.
        start: u16,
    },
    /// WMI_DELBA_REQ_EVENTID.
    BlockAckEnded {
        /// TID.
        tid: u8,
        /// Reason code.
        reason: u16,
    },
    /// The answer to WMI_GET_TX_PWR_CMDID.
    TxPower {
        /// Transmit power.
        dbm: u8,
    },
}

impl Event<'_> {
    /// The message.
    pub fn emit(&self) -> Vec<u8> {
        let mut out = vec![0; HEADER];
        let id = match *self {
            Self::Ready { version, address } => {
                out.extend(version.to_le_bytes());
                out.extend([1, 0, 0, 0]);
                out.extend(address.0);
                // WMI_11NG_CAPABILITY.
                out.push(5);
                event::READY
            }
            Self::Connected { frequency_mhz, bssid, beacon_interval_tu, request, response } => {
                let fitting = |body: &'_ [u8]| body.len().min(usize::from(u8::MAX));
                let (request_len, response_len) = (fitting(request), fitting(response));
                out.extend(frequency_mhz.to_le_bytes());
                out.extend(bssid.0);
                out.extend(1u16.to_le_bytes());
                out.extend(beacon_interval_tu.to_le_bytes());
                out.extend(1u32.to_le_bytes());
                out.extend([0, request_len as u8, response_len as u8]);
                out.extend(request.iter().take(request_len));
                out.extend(response.iter().take(response_len));
                event::CONNECT
            }
            Self::Disconnected { code, bssid, why } => {
                out.extend(code.to_le_bytes());
                out.extend(bssid.0);
                out.extend([why as u8, 0]);
                event::DISCONNECT
            }
            Self::BssInfo(BssInfo { frequency_mhz, probe_response, signal_dbm, bssid, body }) => {
                out.extend(frequency_mhz.to_le_bytes());
                let snr = (i16::from(signal_dbm) - NOISE_DBM).clamp(0, 255) as u8;
                out.extend([1 + u8::from(probe_response), snr]);
                out.extend(bssid.0);
                out.extend([0; 2]);
                out.extend_from_slice(body);
                event::BSS_INFO
            }
            Self::MichaelFailure { key_id, group } => {
                out.extend([key_id, u8::from(group)]);
                event::MICHAEL_FAILURE
            }
            Self::ScanComplete => {
                out.extend([0; 4]);
                event::SCAN_COMPLETE
            }
            Self::Statistics(counters) => {
                out.extend(statistics(&counters));
                event::STATISTICS
            }
            Self::BlockAck { tid, window, start } => {
                out.extend([tid, window]);
                out.extend(start.to_le_bytes());
                out.push(0);
                event::ADDBA_REQUEST
            }
            Self::BlockAckEnded { tid, reason } => {
                out.extend([tid, 1]);
                out.extend(reason.to_le_bytes());
                event::DELBA
            }
            Self::TxPower { dbm } => {
                out.push(dbm);
                event::TX_POWER
            }
        };
        out.splice(..2, id.to_le_bytes());
        out
    }
}

/// `struct wmi_target_stats`. Its offsets: transmission at 20, reception at 112, the link at 216.
fn statistics(counters: &Counters) -> [u8; STATISTICS] {
    let mut report = [0; STATISTICS];
    let mut put = |at: usize, word: u32| {
        for (slot, byte) in report.iter_mut().skip(at).zip(word.to_le_bytes()) {
            *slot = byte;
        }
    };
    put(4, NOISE_DBM as u32);
    put(20, counters.tx_frames);
    put(24, counters.tx_bytes);
    put(28, counters.tx_unicast);
    put(92, counters.tx_failed);
    put(88, counters.tx_failed);
    put(96, counters.tx_retries);
    put(108, counters.tx_rate.into());
    put(112, counters.rx_frames);
    put(116, counters.rx_bytes);
    put(160, counters.rx_decrypt_errors);
    put(168, counters.rx_rate.into());
    if let Some(snr) = report.get_mut(234) {
        *snr = counters.snr_db;
    }
    report
}

/// The header of a data frame (`struct wmi_data_hdr`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DataHeader {
    /// To the host: signal above [`NOISE_DBM`].
    pub rssi: i8,
    /// 0: data.
    pub kind: u8,
    /// User priority, 0 to 7.
    pub priority: u8,
    /// To the host: the sequence number of the MPDU, 12 bits.
    pub sequence: u16,
    /// Version of the metadata that follow; 0: none.
    pub meta: u8,
}

impl DataHeader {
    /// From the start of a message, with the Ethernet frame behind it; `None`: it is too short.
    pub fn parse(message: &[u8]) -> Option<(Self, &[u8])> {
        let &[rssi, info, low, high, _, _] = message.first_chunk::<DATA_HEADER>()?;
        let info2 = u16::from_le_bytes([low, high]);
        let meta = (info2 >> 13) as u8;
        let skipped = if meta == 0 { 0 } else { META };
        let header = Self { rssi: rssi as i8, kind: info & 3, priority: info >> 2 & 7, sequence: info2 & 0x0fff, meta };
        Some((header, message.get(DATA_HEADER + skipped..)?))
    }

    /// The bytes.
    pub const fn emit(&self) -> [u8; DATA_HEADER] {
        let [low, high] = (self.sequence & 0x0fff | (self.meta as u16) << 13).to_le_bytes();
        [self.rssi as u8, self.kind & 3 | (self.priority & 7) << 2, low, high, 0, 0]
    }
}

#[cfg(test)]
mod tests {
    use super::super::u32_at;
    use super::*;
    use proptest::prelude::*;

    fn word(report: &[u8], at: usize) -> Option<u32> {
        u32_at(report, at)
    }

    #[test]
    fn statistics_are_where_the_driver_reads_them() {
        // struct wmi_target_stats of Linux 6.12: lq_val, noise floor, pm_stats (12), tx_stats (92), rx_stats (60),
        // tkip_ccmp_stats (24), wow (8), arp (12), cserv_stats (21).
        assert_eq!(8 + 12 + 92 + 60 + 24 + 8 + 12 + 21, STATISTICS);
        let report =
            statistics(&Counters { tx_frames: 1, tx_rate: 2, rx_frames: 3, rx_rate: 4, ..Counters::default() });
        let words = [20, 108, 112, 168].map(|at| word(&report, at));
        assert_eq!(words, [Some(1), Some(2), Some(3), Some(4)]);
    }

    #[test]
    fn events() {
        let event = Event::MichaelFailure { key_id: 2, group: true };
        assert_eq!(event.emit(), [9, 0x10, 0, 0, 0, 0, 2, 1]);
        let event = Event::Disconnected { code: 0x11, bssid: MacAddr([1; 6]), why: Disconnected::AssociationFailed };
        assert_eq!(event.emit(), [3, 0x10, 0, 0, 0, 0, 0x11, 0, 1, 1, 1, 1, 1, 1, 6, 0]);
        let long = [0; 300];
        let event = Event::Connected {
            frequency_mhz: 2437,
            bssid: MacAddr([1; 6]),
            beacon_interval_tu: 100,
            request: &long,
            response: &[1, 2],
        };
        // struct wmi_connect_event has 19 bytes.
        assert_eq!(event.emit().len(), HEADER + 19 + 255 + 2);
    }

    #[test]
    fn a_key_is_not_shown() {
        let key = AddKey { index: 1, cipher: cipher::CCMP, group: true, len: 16, key: [0xab; 32] };
        assert!(!format!("{key:?}").contains("171"));
    }

    proptest! {
        #[test]
        fn any_message_is_read(message: Vec<u8>) {
            if let Some(command) = Command::parse(&message) {
                prop_assert_eq!(Command::parse(&command.emit()), Some(command));
            }
            let _ = DataHeader::parse(&message);
        }

        #[test]
        fn known_commands_come_back(id in 0u16..0x40, body in prop::collection::vec(any::<u8>(), 60..90)) {
            let message = [&id.to_le_bytes()[..], &[0; 4], &body].concat();
            if let Some(command) = Command::parse(&message) {
                prop_assert_eq!(Command::parse(&command.emit()), Some(command));
            }
        }

        #[test]
        fn data_headers_come_back(rssi: i8, kind in 0u8..4, priority in 0u8..8, sequence in 0u16..0x1000, meta in 0u8..8) {
            let header = DataHeader { rssi, kind, priority, sequence, meta };
            let mut bytes = header.emit().to_vec();
            bytes.resize(DATA_HEADER + if meta == 0 { 0 } else { META }, 0);
            prop_assert_eq!(DataHeader::parse(&bytes), Some((header, &[][..])));
        }
    }
}
