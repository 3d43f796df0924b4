//! What commands to the firmware ask for. Layouts: Linux mt76/mt76_connac_mcu.h and mt76_connac_mcu.c, mt7921/mcu.c.

use wire::ieee80211::MacAddr;
use wire::phy::{Band, EdcaParameters};
use wire::usb::connac2::{Command, CommandId};

use super::channel::{band, tuned, ChannelNumbers};
use super::keys::Key;
use crate::air::Tuned;

/// Commands without an extended number (MCU_CE_CMD_*).
mod plain {
    pub const START_HW_SCAN: u8 = 0x03;
    pub const SET_RX_FILTER: u8 = 0x0a;
    pub const SET_CHAN_DOMAIN: u8 = 0x0f;
    pub const SET_BSS_ABORT: u8 = 0x17;
    pub const CANCEL_HW_SCAN: u8 = 0x1b;
    pub const SET_EDCA_PARMS: u8 = 0x1d;
    pub const GET_NIC_CAPAB: u8 = 0x8a;
    pub const REG_ACCESS: u8 = 0xc0;
    pub const GET_TXPWR: u8 = 0xd0;
}

/// Commands with an extended number (MCU_EXT_CMD_*).
mod extended {
    pub const EFUSE_ACCESS: u8 = 0x01;
    pub const CHANNEL_SWITCH: u8 = 0x08;
    pub const THERMAL_CTRL: u8 = 0x2c;
    pub const PROTECT_CTRL: u8 = 0x3e;
    pub const MAC_INIT_CTRL: u8 = 0x46;
    pub const SET_RX_PATH: u8 = 0x4e;
}

/// Unified commands (MCU_UNI_CMD_*).
mod unified {
    pub const DEV_INFO_UPDATE: u16 = 0x01;
    pub const BSS_INFO_UPDATE: u16 = 0x02;
    pub const STA_REC_UPDATE: u16 = 0x03;
    pub const ROC: u16 = 0x27;
}

/// What a command asks for.
#[derive(Clone, Debug, PartialEq)]
pub enum Asked {
    /// What the hardware can do.
    Capabilities,
    /// A register.
    Register(u32),
    /// Sixteen bytes of the efuse.
    Efuse(u32),
    /// The temperature.
    Temperature,
    /// The transmit power.
    TxPower,
    /// To switch transmitter and receiver on or off.
    MacEnable(bool),
    /// To tune the radio.
    Channel(Option<Tuned>),
    /// To send RTS before PSDUs that are longer.
    RtsThreshold(u32),
    /// Channel access: BE, BK, VI, VO.
    Edca([EdcaParameters; 4]),
    /// Channels on which nothing may begin to send.
    PassiveChannels(Vec<(Band, u8)>),
    /// The receive filter.
    RxFilter(RxFilter),
    /// To scan.
    Scan(Box<ScanRequest>),
    /// To end a scan.
    CancelScan,
    /// No connection any more in this network.
    BssAbort(u8),
    /// An own address.
    Device(Device),
    /// A network.
    Bss(u8, Vec<BssInfo>),
    /// A station.
    Station(StationRecord),
    /// To stay on a channel.
    Stay(Stay),
    /// No longer.
    StayNoLonger,
    /// Anything else.
    Other,
}

/// How the receive filter changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RxFilter {
    /// What passes besides what is for the station (MT7921_FILTER_*).
    Passes(u32),
    /// Bits of RFCR to set or to clear (MT_WF_RFCR_*).
    Drops(u32, bool),
}

/// An own address of the chip.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Device {
    /// Which.
    pub number: u8,
    /// In use.
    pub active: bool,
    /// The address.
    pub address: MacAddr,
}

/// A part of what a network is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BssInfo {
    /// What it is.
    Basic {
        /// In use.
        active: bool,
        /// Its own address of the chip.
        own: u8,
        /// The chip is a station in it.
        is_station: bool,
        /// The station is connected.
        connected: bool,
        /// Its access point.
        bssid: MacAddr,
        /// The number of its group entry.
        group: u16,
        /// Beacon interval.
        interval_tu: u16,
    },
    /// Its channel.
    Channel(Option<Tuned>),
    /// The chip may sleep.
    PowerSave(bool),
    /// The firmware watches its beacons, which come at this interval.
    WatchBeacons(u16),
}

/// What a station record says (mt76_connac_mcu.h, STA_REC_* and WTBL_*).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StationRecord {
    /// Number of the network.
    pub bss: u8,
    /// Number of the station.
    pub station: u16,
    /// The own address that is used with it; 0x0e: none.
    pub own: u8,
    /// Its address, AID, whether it has QoS, and its state (0: it has left, 1: connected, 2: with a key).
    pub basic: Option<(MacAddr, u16, bool, u8)>,
    /// The address of its entry.
    pub address: Option<MacAddr>,
    /// Legacy rates, OFDM in bits 13:6 and CCK in 3:0, and MCS of HT.
    pub rates: Option<(u16, [u8; 4])>,
    /// HT Capabilities Information.
    pub ht: Option<u16>,
    /// VHT Capabilities Information, and what it receives.
    pub vht: Option<(u32, u16)>,
    /// HE PHY Capabilities Information, and what it receives up to 80 MHz.
    pub he: Option<([u8; 11], u16)>,
    /// What it uses: 0, 1, 2 are 20, 40, 80 MHz.
    pub bandwidth: Option<u8>,
    /// A Block Ack agreement: TID, whether the chip sends in it, whether it is one, window.
    pub block_ack: Option<(u8, bool, bool, u16)>,
    /// Keys, or that there are none any more.
    pub keys: Option<Vec<Key>>,
    /// Received frames become Ethernet frames.
    pub translate: Option<bool>,
    /// The record replaces what was known of the station.
    pub resets: bool,
}

/// To stay on a channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stay {
    /// Network.
    pub bss: u8,
    /// The driver's number of it.
    pub token: u8,
    /// Where.
    pub tuned: Option<Tuned>,
    /// Channel, offset, band, width and centre, as the driver says them.
    pub said: [u8; 5],
    /// What for.
    pub kind: u8,
    /// How long at most.
    pub duration_ms: u32,
}

/// A scan.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct ScanRequest {
    /// The driver's number of it.
    pub number: u8,
    /// Network of the interface that scans.
    pub bss: u8,
    /// Probe requests are sent.
    pub active: bool,
    /// Names that are asked for; none: any network.
    pub names: Vec<Vec<u8>>,
    /// Band (1, 2) and number of channels.
    pub channels: Vec<(u8, u8)>,
    /// Elements of probe requests behind the name.
    pub elements: Vec<u8>,
    /// The sender of probe requests, where it is not the chip's address.
    pub address: Option<[u8; 6]>,
}

fn byte(body: &[u8], at: usize) -> u8 {
    body.get(at).copied().unwrap_or(0)
}

fn half(body: &[u8], at: usize) -> u16 {
    body.get(at..).and_then(<[u8]>::first_chunk).map_or(0, |bytes| u16::from_le_bytes(*bytes))
}

fn word(body: &[u8], at: usize) -> u32 {
    body.get(at..).and_then(<[u8]>::first_chunk).map_or(0, |bytes| u32::from_le_bytes(*bytes))
}

fn array<const N: usize>(body: &[u8], at: usize) -> [u8; N] {
    body.get(at..).and_then(<[u8]>::first_chunk).copied().unwrap_or([0; N])
}

/// Tags with what they have, their header included. It ends where a length cannot be.
fn tags(mut body: &[u8]) -> impl Iterator<Item = (u16, &[u8])> {
    std::iter::from_fn(move || {
        let (tag, len) = (half(body, 0), usize::from(half(body, 2)));
        if len < 4 {
            return None;
        }
        let (tlv, rest) = body.split_at_checked(len)?;
        body = rest;
        Some((tag, tlv))
    })
}

impl Asked {
    /// What a command asks for.
    pub fn of(command: &Command<'_>) -> Self {
        let body = command.body;
        match command.id {
            CommandId::Plain(CommandId::EXTENDED, extended) => Self::extended(extended, body),
            CommandId::Plain(number, _) => Self::plain(number, command.query, body),
            CommandId::Unified(number) => Self::unified(number, body),
        }
    }

    fn extended(number: u8, body: &[u8]) -> Self {
        match number {
            extended::EFUSE_ACCESS => Self::Efuse(word(body, 0)),
            extended::THERMAL_CTRL => Self::Temperature,
            extended::MAC_INIT_CTRL => Self::MacEnable(byte(body, 0) != 0),
            extended::PROTECT_CTRL => Self::RtsThreshold(word(body, 4)),
            extended::CHANNEL_SWITCH | extended::SET_RX_PATH => Self::Channel(tuned(ChannelNumbers {
                // 0, 1, 2 here; 1, 2, 3 elsewhere.
                band: byte(body, 10).saturating_add(1),
                primary: byte(body, 0),
                centre: byte(body, 1),
                width: byte(body, 2),
            })),
            _ => Self::Other,
        }
    }

    fn plain(number: u8, query: bool, body: &[u8]) -> Self {
        match number {
            plain::GET_NIC_CAPAB => Self::Capabilities,
            plain::REG_ACCESS if query => Self::Register(word(body, 0)),
            plain::GET_TXPWR => Self::TxPower,
            plain::SET_EDCA_PARMS => {
                Self::Edca([0, 1, 2, 3].map(|category| edca(body.get(10 * category..).unwrap_or_default())))
            }
            plain::SET_RX_FILTER if byte(body, 4) == 1 => Self::RxFilter(RxFilter::Passes(word(body, 8))),
            plain::SET_RX_FILTER => Self::RxFilter(RxFilter::Drops(word(body, 12), byte(body, 16) & 1 == 1)),
            plain::SET_CHAN_DOMAIN => Self::PassiveChannels(passive(body)),
            plain::SET_BSS_ABORT => Self::BssAbort(byte(body, 0)),
            plain::START_HW_SCAN => Self::Scan(Box::new(scan(body))),
            plain::CANCEL_HW_SCAN => Self::CancelScan,
            _ => Self::Other,
        }
    }

    fn unified(number: u16, body: &[u8]) -> Self {
        let rest = |header: usize| body.get(header..).unwrap_or_default();
        match number {
            unified::DEV_INFO_UPDATE => match tags(rest(4)).find(|(tag, _)| *tag == 0) {
                Some((_, tlv)) => Self::Device(Device {
                    number: byte(body, 0),
                    active: byte(tlv, 4) != 0,
                    address: MacAddr(array(tlv, 6)),
                }),
                None => Self::Other,
            },
            unified::BSS_INFO_UPDATE => Self::Bss(byte(body, 0), tags(rest(4)).filter_map(bss_info).collect()),
            unified::STA_REC_UPDATE => Self::Station(station_record(body)),
            unified::ROC => match tags(rest(4)).next() {
                Some((0, tlv)) => Self::Stay(stay(tlv)),
                Some((1, _)) => Self::StayNoLonger,
                _ => Self::Other,
            },
            _ => Self::Other,
        }
    }
}

/// mt7921/mcu.c, mt7921_mcu_set_tx: contention windows as they are, not as exponents.
fn edca(body: &[u8]) -> EdcaParameters {
    let exponent = |window: u16| (u16::BITS - window.leading_zeros()) as u8;
    EdcaParameters {
        aifsn: half(body, 6).clamp(1, 15) as u8,
        ecw_min: exponent(half(body, 0)).min(15),
        ecw_max: exponent(half(body, 2)).min(15),
        txop_limit_32us: half(body, 4),
    }
}

/// Channels with IEEE80211_CHAN_NO_IR or IEEE80211_CHAN_RADAR (mt76_connac_mcu_set_channel_domain).
fn passive(body: &[u8]) -> Vec<(Band, u8)> {
    const NO_IR: u32 = 1 << 1;
    const RADAR: u32 = 1 << 3;
    let (of_2ghz, of_5ghz) = (usize::from(byte(body, 8)), usize::from(byte(body, 9)));
    let rows = body.get(12..).unwrap_or_default().chunks_exact(8).take(of_2ghz + of_5ghz).enumerate();
    rows.filter(|(_, row)| word(row, 4) & (NO_IR | RADAR) != 0)
        .map(|(at, row)| (if at < of_2ghz { Band::Ghz2_4 } else { Band::Ghz5 }, byte(row, 0)))
        .collect()
}

/// struct mt76_connac_hw_scan_req.
fn scan(body: &[u8]) -> ScanRequest {
    const NAME: usize = 36;
    const NAMES_MAX: usize = 4;
    const CHANNELS_MAX: usize = 32;
    const ELEMENTS_MAX: usize = 600;
    const RANDOM_ADDRESS: u8 = 1;
    let names = (0..usize::from(byte(body, 4)).min(NAMES_MAX)).map(|at| {
        let start = 8 + NAME * at;
        let len = (word(body, start) as usize).min(32);
        body.get(start + 4..start + 4 + len).unwrap_or_default().to_vec()
    });
    let list = |start: usize, count: u8| {
        (0..usize::from(count).min(CHANNELS_MAX))
            .map(move |at| (byte(body, start + 2 * at), byte(body, start + 2 * at + 1)))
    };
    let mut channels: Vec<_> = list(160, byte(body, 159)).chain(list(830, byte(body, 826))).collect();
    if byte(body, 158) != 4 || channels.is_empty() {
        channels = (1..=13).map(|number| (1, number)).collect();
    }
    let elements = usize::from(half(body, 224)).min(ELEMENTS_MAX);
    ScanRequest {
        number: byte(body, 0),
        bss: byte(body, 1),
        active: byte(body, 2) == 1,
        names: names.filter(|name| !name.is_empty()).collect(),
        channels,
        elements: body.get(226..226 + elements).unwrap_or_default().to_vec(),
        address: (byte(body, 6) & RANDOM_ADDRESS != 0).then(|| array(body, 1_116)),
    }
}

fn bss_info((tag, tlv): (u16, &[u8])) -> Option<BssInfo> {
    const BASIC: u16 = 0;
    const CHANNEL: u16 = 2;
    const POWER_SAVE: u16 = 21;
    const BEACON_FILTER: u16 = 22;
    /// CONNECTION_INFRA_STA: STA_TYPE_STA.
    const STATION: u32 = 1;
    Some(match tag {
        BASIC => BssInfo::Basic {
            active: byte(tlv, 4) != 0,
            own: byte(tlv, 5),
            is_station: word(tlv, 8) & STATION != 0,
            // conn_state: 0 is connected here (mt76_connac_mcu_uni_add_bss).
            connected: byte(tlv, 12) == 0,
            bssid: MacAddr(array(tlv, 14)),
            group: half(tlv, 20),
            interval_tu: half(tlv, 22),
        },
        CHANNEL => BssInfo::Channel(tuned(ChannelNumbers {
            // enum nl80211_band.
            band: match byte(tlv, 13) {
                0 => 1,
                1 => 2,
                _ => 3,
            },
            primary: byte(tlv, 4),
            centre: byte(tlv, 5),
            width: byte(tlv, 7),
        })),
        POWER_SAVE => BssInfo::PowerSave(byte(tlv, 4) != 0),
        BEACON_FILTER => BssInfo::WatchBeacons(half(tlv, 4)),
        _ => return None,
    })
}

fn station_record(body: &[u8]) -> StationRecord {
    const BASIC: u16 = 0;
    const RATES: u16 = 1;
    const BLOCK_ACK: u16 = 6;
    const STATE: u16 = 7;
    const HT: u16 = 9;
    const VHT: u16 = 10;
    const ENTRY: u16 = 13;
    const KEYS: u16 = 17;
    const HE_OLDER: u16 = 14;
    const HE: u16 = 0x19;
    let mut record = StationRecord {
        bss: byte(body, 0),
        station: u16::from(byte(body, 1)) | u16::from(byte(body, 6)) << 8,
        own: byte(body, 5),
        ..StationRecord::default()
    };
    for (tag, tlv) in tags(body.get(8..).unwrap_or_default()) {
        match tag {
            BASIC => record.basic = Some((MacAddr(array(tlv, 12)), half(tlv, 10), byte(tlv, 9) != 0, byte(tlv, 8))),
            RATES => record.rates = Some((half(tlv, 4), array(tlv, 6))),
            HT => record.ht = Some(half(tlv, 4)),
            VHT => record.vht = Some((word(tlv, 4), half(tlv, 8))),
            HE => record.he = Some((array(tlv, 10), half(tlv, 22))),
            // Linux 6.1 has this one only: of the capabilities LDPC is bit 6 (STA_REC_HE_CAP_LDPC).
            HE_OLDER => {
                let ldpc = (word(tlv, 4) >> 6 & 1) as u8;
                record.he = record.he.or(Some(([0, ldpc << 5, 0, 0, 0, 0, 0, 0, 0, 0, 0], half(tlv, 20))));
            }
            STATE => record.bandwidth = Some(byte(tlv, 9) & 3),
            BLOCK_ACK => {
                let tid = byte(tlv, 4) & 7;
                record.block_ack = Some((tid, byte(tlv, 5) == 1, byte(tlv, 7) >> tid & 1 == 1, half(tlv, 10)));
            }
            KEYS => record.keys = Some(keys(tlv)),
            ENTRY => entry(tlv.get(4..).unwrap_or_default(), &mut record),
            _ => {}
        }
    }
    record
}

/// struct sta_rec_sec: `add` is 0 where keys are set (SET_KEY).
fn keys(tlv: &[u8]) -> Vec<Key> {
    const KEY: usize = 36;
    if byte(tlv, 4) != 0 {
        return Vec::new();
    }
    let rows = tlv.get(8..).unwrap_or_default().chunks_exact(KEY).take(usize::from(byte(tlv, 5)).min(2));
    rows.map(|row| Key { cipher: byte(row, 0), id: byte(row, 2) & 3, bytes: array(row, 4) }).collect()
}

/// Tags of the table of stations, behind their header (struct wtbl_req_hdr).
fn entry(body: &[u8], record: &mut StationRecord) {
    const GENERIC: u16 = 0;
    const HEADER_TRANSLATION: u16 = 6;
    const RESET_AND_SET: u8 = 1;
    record.resets = byte(body, 1) == RESET_AND_SET;
    for (tag, tlv) in tags(body.get(8..).unwrap_or_default()) {
        match tag {
            GENERIC => record.address = Some(MacAddr(array(tlv, 4))),
            HEADER_TRANSLATION => record.translate = Some(byte(tlv, 6) == 0),
            _ => {}
        }
    }
}

/// struct roc_acquire_tlv.
fn stay(tlv: &[u8]) -> Stay {
    let (primary, centre, width) = (byte(tlv, 6), byte(tlv, 10), byte(tlv, 9));
    Stay {
        bss: byte(tlv, 4),
        token: byte(tlv, 5),
        tuned: tuned(ChannelNumbers { band: byte(tlv, 8), primary, centre, width }),
        said: [primary, byte(tlv, 7), byte(tlv, 8), width, centre],
        kind: byte(tlv, 15),
        duration_ms: word(tlv, 16),
    }
}

impl ScanRequest {
    /// Where a channel of it is.
    pub fn channel(&self, at: usize) -> Option<(Band, u8, Tuned)> {
        let &(number, channel) = self.channels.get(at)?;
        let numbers = ChannelNumbers { band: number, primary: channel, centre: channel, width: 0 };
        Some((band(number)?, channel, tuned(numbers)?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    proptest::proptest! {
        #[test]
        fn any_command_is_read(number: u8, extended: u8, unified in 0u16..64, query: bool, body: Vec<u8>) {
            let ids = [
                CommandId::Plain(number, 0),
                CommandId::Plain(CommandId::EXTENDED, extended),
                CommandId::Unified(unified),
            ];
            for id in ids {
                let _ = Asked::of(&Command { id, sequence: 1, acknowledge: true, query, body: &body });
            }
        }
    }

    #[test]
    fn contention_windows_are_no_exponents() {
        let body = [[15, 0, 0xff, 3, 94, 0, 3, 0, 0, 0]; 4].concat();
        let Asked::Edca([be, ..]) = Asked::plain(plain::SET_EDCA_PARMS, false, &body) else { panic!() };
        assert_eq!((be.ecw_min, be.ecw_max, be.txop_limit_32us, be.aifsn), (4, 10, 94, 3));
    }
}
