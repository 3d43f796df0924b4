//! What goes through the port of Marvell's SD8686: packets, commands, events, frames (Linux
//! drivers/net/wireless/marvell/libertas/host.h, if_sdio.c). Little endian.

use super::{u16_at, u32_at};
use crate::ieee80211::MacAddr;

/// Bytes in front of a packet: its length with them, and its kind (if_sdio.c, if_sdio_card_to_host).
pub const PACKET: usize = 4;
/// Bytes in front of a command or of its answer (`struct cmd_header`).
pub const HEADER: usize = 8;
/// Bytes in front of a frame of the host (`struct txpd`).
pub const TX_DESCRIPTOR: usize = 24;
/// Bytes in front of a frame for the host (`struct rxpd`).
pub const RX_DESCRIPTOR: usize = 20;
/// An answer to a command, with its header, is this long at most (host.h, LBS_CMD_BUFFER_SIZE).
pub const ANSWER_MAX: usize = 2048;

/// Registers of function 1 (if_sdio.h); those of two bytes have the low one first.
pub mod register {
    /// Where the port is, up to [`PORT_END`].
    pub const PORT: u32 = 0x00;
    /// The last byte of it.
    pub const PORT_END: u32 = 0x02;
    /// Causes that interrupt.
    pub const INTERRUPT_MASK: u32 = 0x04;
    /// Causes that there are; zeros that are written take them away.
    pub const INTERRUPT_STATUS: u32 = 0x05;
    /// How many bytes of the firmware the chip takes next.
    pub const WANTED: u32 = 0x10;
    /// The high byte of it.
    pub const WANTED_HIGH: u32 = 0x11;
    /// What the chip is ready for.
    pub const STATUS: u32 = 0x20;
    /// Length of the next packet; before the first one, whether the firmware runs.
    pub const SCRATCH: u32 = 0x34;
    /// The high byte of it.
    pub const SCRATCH_HIGH: u32 = 0x35;
}

/// Kinds of packets (defs.h, `enum mv_ms_type`).
pub mod kind {
    /// A frame.
    pub const DATA: u16 = 0;
    /// A command, or its answer.
    pub const COMMAND: u16 = 1;
    /// An event.
    pub const EVENT: u16 = 3;
}

/// Events (host.h, MACREG_INT_CODE_*).
pub mod event {
    /// Beacons are missing.
    pub const LINK_LOST: u32 = 3;
    /// The access point has ended the authentication.
    pub const DEAUTHENTICATED: u32 = 8;
    /// The access point has ended the association.
    pub const DISASSOCIATED: u32 = 9;
}

/// Results of commands. The driver takes 0 for success, and drops an answer with 4 (cmdresp.c).
pub mod result {
    /// It was carried out.
    pub const OK: u16 = 0;
    /// It was not.
    pub const FAILED: u16 = 1;
}

/// Bits of [`Command::MacControl`] (host.h, CMD_ACT_MAC_*).
pub mod mac_control {
    /// Frames are received.
    pub const RX: u16 = 0x0001;
    /// Frames are sent.
    pub const TX: u16 = 0x0002;
    /// Groups of the list are received.
    pub const MULTICAST: u16 = 0x0020;
    /// Everything is received.
    pub const PROMISCUOUS: u16 = 0x0080;
    /// All groups are received.
    pub const ALL_MULTICAST: u16 = 0x0100;
}

/// A packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Packet<'a> {
    /// See [`kind`].
    pub kind: u16,
    /// What it carries.
    pub body: &'a [u8],
}

impl<'a> Packet<'a> {
    /// From a transfer, which may have padding behind the packet; `None`: it is cut.
    pub fn parse(transfer: &'a [u8]) -> Option<Self> {
        let len = usize::from(u16_at(transfer, 0)?);
        Some(Self { kind: u16_at(transfer, 2)?, body: transfer.get(PACKET..len)? })
    }

    /// The bytes of the packet.
    pub fn emit(&self) -> Vec<u8> {
        let len = (PACKET + self.body.len()) as u16;
        [&len.to_le_bytes()[..], &self.kind.to_le_bytes(), self.body].concat()
    }
}

/// An event's packet.
pub fn emit_event(event: u32) -> Vec<u8> {
    Packet { kind: kind::EVENT, body: &event.to_le_bytes() }.emit()
}

/// What is in front of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Header {
    /// What it is.
    pub id: u16,
    /// Which one it is: its answer has the same.
    pub sequence: u16,
}

impl Header {
    /// A command's header and what follows; `None`: it is cut.
    pub fn parse(message: &[u8]) -> Option<(Self, &[u8])> {
        let len = usize::from(u16_at(message, 2)?);
        let body = message.get(HEADER..len)?;
        Some((Self { id: u16_at(message, 0)?, sequence: u16_at(message, 4)? }, body))
    }

    /// A command's packet.
    pub fn emit(&self, body: &[u8]) -> Vec<u8> {
        self.message(self.id, 0, body)
    }

    /// The packet of its answer. That of an association is numbered in its own way (host.h, CMD_RET_802_11_ASSOCIATE).
    pub fn answer(&self, result: u16, body: &[u8]) -> Vec<u8> {
        let id = if self.id == command::ASSOCIATE { command::ASSOCIATED } else { self.id | command::ANSWER };
        self.message(id, result, body)
    }

    fn message(&self, id: u16, result: u16, body: &[u8]) -> Vec<u8> {
        let body = body.get(..ANSWER_MAX - HEADER).unwrap_or(body);
        let len = (HEADER + body.len()) as u16;
        let words = [id, len, self.sequence, result].map(u16::to_le_bytes);
        Packet { kind: kind::COMMAND, body: &[words.as_flattened(), body].concat() }.emit()
    }
}

/// Identifiers of commands.
pub mod command {
    /// Set in an answer.
    pub const ANSWER: u16 = 0x8000;
    /// CMD_GET_HW_SPEC.
    pub const HARDWARE: u16 = 0x0003;
    /// CMD_802_11_SCAN.
    pub const SCAN: u16 = 0x0006;
    /// CMD_MAC_MULTICAST_ADR.
    pub const MULTICAST: u16 = 0x0010;
    /// CMD_RET_802_11_ASSOCIATE.
    pub const ASSOCIATED: u16 = 0x8012;
    /// CMD_802_11_RF_CHANNEL.
    pub const CHANNEL: u16 = 0x001d;
    /// CMD_802_11_RF_TX_POWER.
    pub const TX_POWER: u16 = 0x001e;
    /// CMD_802_11_RSSI.
    pub const SIGNAL: u16 = 0x001f;
    /// CMD_802_11_DEAUTHENTICATE.
    pub const DEAUTHENTICATE: u16 = 0x0024;
    /// CMD_MAC_CONTROL.
    pub const MAC_CONTROL: u16 = 0x0028;
    /// CMD_802_11_MAC_ADDRESS.
    pub const ADDRESS: u16 = 0x004d;
    /// CMD_802_11_ASSOCIATE.
    pub const ASSOCIATE: u16 = 0x0050;
    /// CMD_802_11_KEY_MATERIAL.
    pub const KEYS: u16 = 0x005e;
}

/// Kinds of what follows the fixed part of a command (types.h, TLV_TYPE_*).
mod tlv {
    pub const SSID: u16 = 0x0000;
    pub const RATES: u16 = 0x0001;
    pub const CHANNEL: u16 = 0x0003;
    pub const RSN: u16 = 0x0030;
    pub const WPA: u16 = 0x00dd;
    pub const KEY: u16 = 0x0100;
    pub const CHANNELS: u16 = 0x0101;
    pub const TIMESTAMPS: u16 = 0x0113;
    pub const AUTHENTICATION: u16 = 0x011f;
}

/// CMD_ACT_SET.
const SET: u16 = 1;
/// Bytes of a channel of a scan (`struct chanscanparamset`).
const SCAN_CHANNEL: usize = 7;
/// Names of networks are this long at most.
const SSID_MAX: usize = 32;

/// A channel of a scan.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct ScanChannel {
    /// Its number.
    pub number: u8,
    /// No probe request is sent.
    pub passive: bool,
    /// Time on it, at most.
    pub dwell_ms: u16,
}

/// CMD_802_11_ASSOCIATE.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Associate {
    /// The peer.
    pub bssid: MacAddr,
    /// What the network can, as the host has masked it.
    pub capability: u16,
    /// Beacons between two times that the station would listen.
    pub listen_interval: u16,
    /// Name of the network.
    pub ssid: Vec<u8>,
    /// Where.
    pub channel: u8,
    /// Rates that both have, 500 kbit/s, bit 7 for basic ones.
    pub rates: Vec<u8>,
    /// 0: open system.
    pub authentication: u16,
    /// Body of the RSN element for the request.
    pub rsn: Option<Vec<u8>>,
    /// The host has an element of the vendor's for the request, as WPA's is.
    pub wpa: bool,
}

/// A key of CMD_802_11_KEY_MATERIAL (`struct MrvlIEtype_keyParamSet`).
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Key {
    /// See [`key_kind`].
    pub kind: u16,
    /// See [`key_info`].
    pub info: u16,
    /// Bytes of the key; 0: there is none any more.
    pub len: u16,
    /// The key.
    pub key: [u8; 32],
}

impl std::fmt::Debug for Key {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Key {{ kind: {}, info: {:#x}, len: {} }}", self.kind, self.info, self.len)
    }
}

/// Ciphers of keys (defs.h, `enum KEY_TYPE_ID`).
pub mod key_kind {
    /// KEY_TYPE_ID_AES: CCMP.
    pub const CCMP: u16 = 2;
}

/// What a key is for (defs.h, `enum KEY_INFO_WPA`).
pub mod key_info {
    /// KEY_INFO_WPA_MCAST: groups.
    pub const GROUP: u16 = 0x01;
    /// KEY_INFO_WPA_UNICAST: one station.
    pub const PAIRWISE: u16 = 0x02;
    /// KEY_INFO_WPA_ENABLED: it is used.
    pub const ENABLED: u16 = 0x04;
}

/// What the host asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Command {
    /// CMD_GET_HW_SPEC.
    Hardware,
    /// CMD_802_11_SCAN.
    Scan {
        /// A name to ask for; empty: any.
        ssid: Vec<u8>,
        /// Where.
        channels: Vec<ScanChannel>,
    },
    /// CMD_MAC_MULTICAST_ADR.
    Multicast(Vec<MacAddr>),
    /// CMD_802_11_RF_CHANNEL: the current channel, or the one to set.
    Channel(Option<u16>),
    /// CMD_802_11_RF_TX_POWER.
    TxPower,
    /// CMD_802_11_RSSI.
    Signal,
    /// CMD_802_11_DEAUTHENTICATE.
    Deauthenticate {
        /// From whom.
        bssid: MacAddr,
        /// Why.
        reason: u16,
    },
    /// CMD_MAC_CONTROL, see [`mac_control`].
    MacControl(u16),
    /// CMD_802_11_MAC_ADDRESS: the current address, or the one to set.
    Address(Option<MacAddr>),
    /// CMD_802_11_ASSOCIATE.
    Associate(Associate),
    /// CMD_802_11_KEY_MATERIAL.
    Keys(Vec<Key>),
    /// Another one.
    Unknown(u16),
}

/// Type and body of each part; ends where one is cut.
fn parts(mut bytes: &[u8]) -> impl Iterator<Item = (u16, &[u8])> {
    std::iter::from_fn(move || {
        let len = usize::from(u16_at(bytes, 2)?);
        let part = (u16_at(bytes, 0)?, bytes.get(4..4 + len)?);
        bytes = bytes.get(4 + len..)?;
        Some(part)
    })
}

fn part(kind: u16, body: &[u8]) -> Vec<u8> {
    [&kind.to_le_bytes()[..], &(body.len() as u16).to_le_bytes(), body].concat()
}

fn address_at(bytes: &[u8], at: usize) -> Option<MacAddr> {
    bytes.get(at..)?.first_chunk().map(|bytes| MacAddr(*bytes))
}

fn name(body: &[u8]) -> Vec<u8> {
    body.get(..SSID_MAX).unwrap_or(body).to_vec()
}

impl Command {
    /// From an identifier and what follows the header; `None`: it is too short for what it is.
    pub fn parse(id: u16, body: &[u8]) -> Option<Self> {
        let set = || u16_at(body, 0).map(|action| action == SET);
        Some(match id {
            command::HARDWARE => Self::Hardware,
            command::SCAN => {
                let (mut ssid, mut channels) = (Vec::new(), Vec::new());
                for (kind, part) in parts(body.get(7..)?) {
                    match kind {
                        tlv::SSID => ssid = name(part),
                        tlv::CHANNELS => channels.extend(part.chunks_exact(SCAN_CHANNEL).filter_map(scan_channel)),
                        _ => {}
                    }
                }
                Self::Scan { ssid, channels }
            }
            command::MULTICAST => {
                let count = usize::from(u16_at(body, 2)?);
                let list = body.get(4..4 + 6 * count)?;
                Self::Multicast(list.chunks_exact(6).filter_map(|bytes| address_at(bytes, 0)).collect())
            }
            command::CHANNEL if set()? => Self::Channel(Some(u16_at(body, 2)?)),
            command::CHANNEL => Self::Channel(None),
            command::TX_POWER => Self::TxPower,
            command::SIGNAL => Self::Signal,
            command::DEAUTHENTICATE => Self::Deauthenticate { bssid: address_at(body, 0)?, reason: u16_at(body, 6)? },
            command::MAC_CONTROL => Self::MacControl(u16_at(body, 0)?),
            command::ADDRESS if set()? => Self::Address(Some(address_at(body, 2)?)),
            command::ADDRESS => Self::Address(None),
            command::ASSOCIATE => Self::Associate(associate(body)?),
            command::KEYS => {
                let all = parts(body.get(2..)?).filter(|(kind, _)| *kind == tlv::KEY);
                Self::Keys(all.map(|(_, part)| key(part)).collect::<Option<_>>()?)
            }
            other => Self::Unknown(other),
        })
    }

    /// Its identifier and what follows its header.
    pub fn emit(&self) -> (u16, Vec<u8>) {
        let choice = |set: bool, rest: &[u8]| [&u16::from(set).to_le_bytes()[..], rest].concat();
        match self {
            Self::Hardware => (command::HARDWARE, vec![0; 38]),
            Self::Scan { ssid, channels } => {
                let mut body = vec![3, 0, 0, 0, 0, 0, 0];
                if !ssid.is_empty() {
                    body.extend(part(tlv::SSID, ssid));
                }
                let list: Vec<u8> = channels.iter().flat_map(emit_scan_channel).collect();
                body.extend(part(tlv::CHANNELS, &list));
                (command::SCAN, body)
            }
            Self::Multicast(list) => {
                let mut body = choice(true, &(list.len() as u16).to_le_bytes());
                body.extend(list.iter().flat_map(|address| address.0));
                (command::MULTICAST, body)
            }
            Self::Channel(channel) => {
                let mut body = choice(channel.is_some(), &channel.unwrap_or(0).to_le_bytes());
                body.resize(40, 0);
                (command::CHANNEL, body)
            }
            Self::TxPower => (command::TX_POWER, vec![0; 6]),
            Self::Signal => (command::SIGNAL, vec![0; 8]),
            Self::Deauthenticate { bssid, reason } => {
                (command::DEAUTHENTICATE, [&bssid.0[..], &reason.to_le_bytes()].concat())
            }
            Self::MacControl(bits) => (command::MAC_CONTROL, [bits.to_le_bytes(), [0; 2]].concat()),
            Self::Address(address) => {
                (command::ADDRESS, choice(address.is_some(), &address.unwrap_or(MacAddr::ZERO).0))
            }
            Self::Associate(associate) => (command::ASSOCIATE, emit_associate(associate)),
            Self::Keys(keys) => {
                let keys = keys.iter().flat_map(|key| part(tlv::KEY, &emit_key(key)));
                (command::KEYS, choice(true, &keys.collect::<Vec<u8>>()))
            }
            Self::Unknown(id) => (*id, Vec::new()),
        }
    }
}

fn scan_channel(bytes: &[u8]) -> Option<ScanChannel> {
    let &[_, number, mode] = bytes.first_chunk()?;
    Some(ScanChannel { number, passive: mode & 1 == 1, dwell_ms: u16_at(bytes, 5)? })
}

fn emit_scan_channel(channel: &ScanChannel) -> [u8; SCAN_CHANNEL] {
    let [low, high] = channel.dwell_ms.to_le_bytes();
    [0, channel.number, u8::from(channel.passive), 0, 0, low, high]
}

fn key(part: &[u8]) -> Option<Key> {
    let (kind, info, len) = (u16_at(part, 0)?, u16_at(part, 2)?, u16_at(part, 4)?);
    let mut key = [0; 32];
    let given = part.get(6..6 + usize::from(len))?;
    key.get_mut(..given.len())?.copy_from_slice(given);
    Some(Key { kind, info, len, key })
}

fn emit_key(key: &Key) -> Vec<u8> {
    let words = [key.kind, key.info, key.len].map(u16::to_le_bytes);
    [words.as_flattened(), &key.key].concat()
}

fn associate(body: &[u8]) -> Option<Associate> {
    let mut associate = Associate {
        bssid: address_at(body, 0)?,
        capability: u16_at(body, 6)?,
        listen_interval: u16_at(body, 8)?,
        ..Associate::default()
    };
    for (kind, part) in parts(body.get(13..)?) {
        match kind {
            // The driver leaves zeros behind an element that is not the only one (cfg.c, lbs_add_wpa_tlv).
            tlv::SSID if associate.ssid.is_empty() => associate.ssid = name(part),
            tlv::CHANNEL => associate.channel = *part.first()?,
            tlv::RATES => associate.rates = part.to_vec(),
            tlv::AUTHENTICATION => associate.authentication = u16_at(part, 0)?,
            tlv::RSN => associate.rsn = Some(part.to_vec()),
            tlv::WPA => associate.wpa = true,
            _ => {}
        }
    }
    Some(associate)
}

fn emit_associate(associate: &Associate) -> Vec<u8> {
    let mut body = associate.bssid.0.to_vec();
    body.extend(associate.capability.to_le_bytes());
    body.extend(associate.listen_interval.to_le_bytes());
    body.extend([0; 3]);
    body.extend(part(tlv::SSID, &associate.ssid));
    body.extend(part(tlv::CHANNEL, &[associate.channel]));
    body.extend(part(tlv::RATES, &associate.rates));
    body.extend(part(tlv::AUTHENTICATION, &associate.authentication.to_le_bytes()));
    if let Some(rsn) = &associate.rsn {
        body.extend(part(tlv::RSN, rsn));
    }
    if associate.wpa {
        body.extend(part(tlv::WPA, &[0, 0x50, 0xf2, 1]));
    }
    body
}

/// What the answer to [`Command::Hardware`] says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hardware {
    /// The hardware's version.
    pub version: u16,
    /// Frames that it takes at once.
    pub frames: u16,
    /// Groups that its filter has room for.
    pub groups: u16,
    /// The address that it was made with.
    pub address: MacAddr,
    /// Where it may send: 0x10 for America (cmd.c).
    pub region: u16,
    /// The firmware's release: 9.70.3p24 is 0x18094603 (cmd.c, lbs_update_hw_spec).
    pub release: u32,
    /// What the firmware can.
    pub capability: u32,
}

impl Hardware {
    /// What follows the header of the answer.
    pub fn emit(&self) -> Vec<u8> {
        let mut body = vec![0; 2];
        for word in [self.version, self.frames, self.groups] {
            body.extend(word.to_le_bytes());
        }
        body.extend(self.address.0);
        body.extend(self.region.to_le_bytes());
        body.extend(1u16.to_le_bytes());
        body.extend(self.release.to_le_bytes());
        body.extend([0; 12]);
        body.extend(self.capability.to_le_bytes());
        body
    }
}

/// A network that was heard.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Heard<'a> {
    /// The access point.
    pub bssid: MacAddr,
    /// How strong it was.
    pub signal_dbm: i8,
    /// The body of its beacon or probe response: time stamp, interval, capability, elements.
    pub body: &'a [u8],
}

/// What follows the header of the answer to a scan. Networks that do not fit any more are left out; gives how many are in it.
pub fn emit_scan_result(heard: &[Heard<'_>]) -> (Vec<u8>, usize) {
    let (mut networks, mut times, mut count) = (Vec::new(), Vec::new(), 0u8);
    for network in heard {
        let Some(time) = network.body.first_chunk::<8>() else { continue };
        // Address and signal go before the body (cfg.c, lbs_ret_scan).
        let len = 6 + 1 + network.body.len();
        let all = HEADER + 3 + networks.len() + 2 + len + 4 + times.len() + 8;
        if all > ANSWER_MAX || count == u8::MAX {
            break;
        }
        networks.extend((len as u16).to_le_bytes());
        networks.extend(network.bssid.0);
        // The driver takes 3 minus this for dBm (cfg.c, LBS_SCAN_RSSI_TO_MBM).
        networks.push((3 - i16::from(network.signal_dbm)).clamp(0, 255) as u8);
        networks.extend_from_slice(network.body);
        times.extend(time);
        count += 1;
    }
    let mut body = (networks.len() as u16).to_le_bytes().to_vec();
    body.push(count);
    body.extend(networks);
    if count > 0 {
        body.extend(part(tlv::TIMESTAMPS, &times));
    }
    (body, usize::from(count))
}

/// A frame of the host: the Ethernet frame in a data packet; `None`: its descriptor points beyond it.
pub fn ethernet_of(body: &[u8]) -> Option<&[u8]> {
    let (at, len) = (u32_at(body, 8)? as usize, usize::from(u16_at(body, 12)?));
    body.get(TX_DESCRIPTOR..)?;
    body.get(at..)?.get(..len)
}

/// A data packet of the host, with an Ethernet frame.
pub fn emit_ethernet(ethernet: &[u8]) -> Vec<u8> {
    let mut body = vec![0; 8];
    body.extend((TX_DESCRIPTOR as u32).to_le_bytes());
    body.extend((ethernet.len() as u16).to_le_bytes());
    body.resize(TX_DESCRIPTOR, 0);
    body.extend_from_slice(ethernet);
    Packet { kind: kind::DATA, body: &body }.emit()
}

/// How a frame for the host was received.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Received {
    /// Above the noise, dB.
    pub snr_db: u8,
    /// Its rate by the chip's number: 0 to 3 are 1 to 11 Mbit/s, 5 to 12 are 6 to 54 (rx.c, convert_mv_rate_to_radiotap).
    pub rate: u8,
}

impl Received {
    /// The data packet of a frame with a length in place of its type. `noise_db`: the noise is so far below 0 dBm.
    pub fn emit(&self, noise_db: u8, frame: &[u8]) -> Vec<u8> {
        let mut body = vec![0, 0, self.snr_db, 0];
        body.extend((frame.len() as u16).to_le_bytes());
        body.extend([noise_db, self.rate]);
        body.extend((RX_DESCRIPTOR as u32).to_le_bytes());
        body.resize(RX_DESCRIPTOR, 0);
        body.extend_from_slice(frame);
        Packet { kind: kind::DATA, body: &body }.emit()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const AP: MacAddr = MacAddr([2, 0, 0, 0, 0, 1]);

    #[test]
    fn commands_are_read_as_they_are_written() {
        let channel = |number: u8| ScanChannel { number, passive: number == 12, dwell_ms: 40 };
        let associate = Associate {
            bssid: AP,
            capability: 0x0421,
            listen_interval: 10,
            ssid: b"txop".to_vec(),
            channel: 6,
            rates: vec![0x82, 0x84, 12],
            authentication: 0,
            rsn: Some(vec![1, 0]),
            wpa: true,
        };
        let key = Key { kind: key_kind::CCMP, info: key_info::ENABLED | key_info::PAIRWISE, len: 32, key: [7; 32] };
        for sent in [
            Command::Hardware,
            Command::Scan { ssid: b"txop".to_vec(), channels: vec![channel(1), channel(12)] },
            Command::Scan { ssid: Vec::new(), channels: Vec::new() },
            Command::Multicast(vec![AP, MacAddr([1, 0, 0x5e, 0, 0, 1])]),
            Command::Channel(None),
            Command::Channel(Some(11)),
            Command::TxPower,
            Command::Signal,
            Command::Deauthenticate { bssid: AP, reason: 3 },
            Command::MacControl(mac_control::RX | mac_control::TX),
            Command::Address(None),
            Command::Address(Some(AP)),
            Command::Associate(associate),
            Command::Keys(vec![key, Key { len: 0, key: [0; 32], ..key }]),
            Command::Keys(Vec::new()),
            Command::Unknown(0x16),
        ] {
            let (id, body) = sent.emit();
            let packet = Header { id, sequence: 7 }.emit(&body);
            // The host pads what it writes.
            let padded = [&packet[..], &[0xee; 40]].concat();
            let message = Packet::parse(&padded).unwrap();
            assert_eq!(message.kind, kind::COMMAND);
            let (header, rest) = Header::parse(message.body).unwrap();
            assert_eq!((header.id, header.sequence, rest), (id, 7, &body[..]));
            assert_eq!(Command::parse(id, rest), Some(sent));
        }
    }

    #[test]
    fn a_command_of_the_driver() {
        // cfg.c, lbs_associate: the order and the numbers of its parts.
        let mut body = vec![0, 0x13, 0x19, 0x80, 0xda, 0x30, 0x11, 0, 0x0a, 0, 0, 0, 0];
        body.extend([0, 0, 6, 0, b'M', b'N', b'T', b'E', b'S', b'T']);
        body.extend([3, 0, 1, 0, 6]);
        body.extend([4, 0, 6, 0, 0, 0, 0, 0, 0, 0]);
        body.extend([1, 0, 4, 0, 0x82, 0x84, 0x8b, 0x96]);
        body.extend([0x1f, 1, 2, 0, 0, 0]);
        let Some(Command::Associate(read)) = Command::parse(0x50, &body) else { panic!("no association") };
        assert_eq!((&read.ssid[..], read.channel, read.rsn), (&b"MNTEST"[..], 6, None));
        assert_eq!((read.rates.len(), read.capability, read.listen_interval), (4, 0x11, 10));
        assert_eq!(Header { id: 0x50, sequence: 1 }.answer(0, &[])[4..6], [0x12, 0x80]);
        assert_eq!(Header { id: 0x28, sequence: 1 }.answer(1, &[])[4..], [0x28, 0x80, 8, 0, 1, 0, 1, 0]);
    }

    #[test]
    fn networks_that_do_not_fit_are_left_out() {
        let body = [0x11; 200];
        let heard = vec![Heard { bssid: AP, signal_dbm: -45, body: &body }; 20];
        let (answer, count) = emit_scan_result(&heard);
        assert_eq!((count, answer[2]), (9, 9));
        assert!(HEADER + answer.len() <= ANSWER_MAX);
        let len = usize::from(u16_at(&answer, 0).unwrap());
        assert_eq!((len, answer[11]), (9 * 209, 48));
        assert_eq!(answer[3 + len..3 + len + 4], [0x13, 1, 72, 0]);
        assert_eq!(emit_scan_result(&[]), (vec![0, 0, 0], 0));
        assert_eq!(emit_scan_result(&[Heard { bssid: AP, signal_dbm: 0, body: &[0; 7] }]).1, 0);
    }

    #[test]
    fn frames() {
        let frame = [0x5a; 60];
        let packet = emit_ethernet(&frame);
        assert_eq!(ethernet_of(Packet::parse(&packet).unwrap().body), Some(&frame[..]));
        let received = Received { snr_db: 50, rate: 12 }.emit(95, &frame);
        assert_eq!(received[..16], [84, 0, 0, 0, 0, 0, 50, 0, 60, 0, 95, 12, 20, 0, 0, 0]);
    }

    proptest! {
        #[test]
        fn any_bytes_are_survived(bytes in prop::collection::vec(any::<u8>(), 0..300), id: u16) {
            if let Some(packet) = Packet::parse(&bytes) {
                prop_assert!(packet.body.len() <= bytes.len());
                let _ = ethernet_of(packet.body);
                let _ = Header::parse(packet.body);
            }
            for id in [id, 3, 6, 0x10, 0x1d, 0x24, 0x28, 0x4d, 0x50, 0x5e] {
                let _ = Command::parse(id, &bytes);
            }
        }
    }
}
