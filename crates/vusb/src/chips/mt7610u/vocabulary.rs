//! What transfers of this chip mean, for traces: names of registers, reports of transmission, commands to the MCU,
//! descriptors.

use wire::ieee80211::Header;
use wire::usb::mediatek::{request, unpadded, Rate, TxInfo, INFO, RX_TRAILER};
use wire::usb::setup::Setup;

use super::registers as reg;
use super::{mcu, Model, FRAMES_IN};
use crate::trace::{hex, Detail, FrameDetail, Names, Plain, Vocabulary};

const NAMES: &str = include_str!("register_names.txt");

/// Names of registers.
pub struct RegisterNames {
    model: Model,
    names: Names,
}

impl RegisterNames {
    /// Those of a chip.
    pub fn new(model: Model) -> Self {
        Self { model, names: Names::parse(NAMES) }
    }

    /// `TX_STAT_FIFO`, or `WCID_ADDR+0x8` for what is inside of a table.
    pub fn name(&self, address: u32) -> Option<String> {
        self.names.with_offset(address)
    }

    /// Registers of the MAC and the baseband, a word or several.
    fn registers(&self, address: u32, data: &[u8], is_read: bool) -> Detail {
        let words: Vec<u32> =
            data.chunks_exact(4).map(|chunk| chunk.iter().rev().fold(0, |w, b| w << 8 | u32::from(*b))).collect();
        let value = match words[..] {
            [word] => format!("{word:#010x}"),
            _ => hex(data),
        };
        let means = match (address, &words[..]) {
            (reg::TX_STAT_FIFO, [word]) if is_read => Some(report(self.model, *word)),
            (reg::TX_STAT_FIFO_EXT, [word]) if is_read => {
                Some(format!("{} retries, mark {:#04x}", word & 0xff, word >> 8 & 0xff))
            }
            _ => None,
        };
        Detail {
            register: Some(format!("{address:#07x}")),
            name: self.name(address),
            value: Some(value),
            means,
            ..Detail::default()
        }
    }

    fn command(&self, data: &[u8]) -> Option<Detail> {
        let (info, rest) = TxInfo::split(data)?;
        let pairs = mcu::pairs(info.command(), rest).into_iter().map(|(address, value)| (mcu::place(address), value));
        let means = |(place, value): (mcu::Place, u32)| match place {
            mcu::Place::Register(address) => {
                let name = self.name(address).unwrap_or_else(|| format!("{address:#07x}"));
                format!("{name} {value:#010x}")
            }
            mcu::Place::Baseband(register) => format!("baseband register {register} {:#04x}", value & 0xff),
            mcu::Place::Rf(register) => {
                format!("RF bank {} register {} {:#04x}", register >> 16, register & 0xff, value & 0xff)
            }
        };
        let (name, means) = match mcu::command_name(info.command()) {
            Some((name, true)) => (name.to_owned(), Some(pairs.map(means).collect::<Vec<_>>().join(", "))),
            Some((name, false)) => (name.to_owned(), None),
            None => (format!("command {}", info.command()), None),
        };
        Some(Detail { name: Some(name), value: Some(hex(rest)), means, ..Detail::default() })
    }
}

/// A report of transmission (mt76x02_mac.c, mt76x02_mac_load_tx_status).
fn report(model: Model, word: u32) -> String {
    if word & 1 == 0 {
        return "no report".to_owned();
    }
    let mark = match model.mark_of_report(word) {
        0 => String::new(),
        mark => format!(", mark {mark}"),
    };
    let has = |bit: u32, yes: &'static str, no: &'static str| if word >> bit & 1 == 1 { yes } else { no };
    format!(
        "{}{}{}, station {}, {}{mark}",
        has(5, "acknowledged", "failed"),
        has(6, ", aggregated", ""),
        has(7, "", ", needs no acknowledgement"),
        word >> 8 & 0xff,
        label(model.rate_of_report((word >> 16) as u16))
    )
}

fn label(rate: Rate) -> String {
    rate.mode().map_or_else(|| format!("rate {:#06x}", rate.0), |mode| mode.label())
}

/// The frame behind a descriptor.
fn frame(rest: &[u8], len: usize) -> Option<Vec<u8>> {
    unpadded(rest, len, Header::parse(rest, false).ok()?.header_len)
}

fn flags<const N: usize>(of: [(bool, &str); N]) -> Vec<String> {
    of.into_iter().filter(|(set, _)| *set).map(|(_, name)| name.to_owned()).collect()
}

fn sent(model: Model, data: &[u8]) -> Option<FrameDetail> {
    let (info, rest) = TxInfo::split(data)?;
    let (txwi, rest) = model.split_txwi(rest)?;
    let mut said = vec![format!("queue {}", info.queue()), format!("station {}", txwi.wcid)];
    said.extend(flags([
        (txwi.timestamp, "TS"),
        (txwi.ampdu, "AMPDU"),
        (txwi.ack, "ACK_CTL_REQ"),
        (txwi.number, "ACK_CTL_NSEQ"),
        (info.with_iv(), "WIV"),
    ]));
    if txwi.ampdu {
        said.push(format!("window {}", txwi.window));
    }
    if txwi.packet_id != 0 {
        said.push(format!("mark {:#04x}", txwi.packet_id));
    }
    Some(FrameDetail::of(&frame(rest, txwi.frame_len)?, label(txwi.rate), said))
}

/// The frames of a transfer: each is behind its length.
fn received(model: Model, data: &[u8]) -> Vec<FrameDetail> {
    let (mut frames, mut rest) = (Vec::new(), data);
    while let Some([low, high]) = rest.first_chunk() {
        let len = INFO + usize::from(u16::from_le_bytes([*low, *high])) + RX_TRAILER;
        let Some((segment, later)) = rest.split_at_checked(len) else { break };
        frames.extend(received_frame(model, segment));
        rest = later;
    }
    frames
}

fn received_frame(model: Model, segment: &[u8]) -> Option<FrameDetail> {
    let (rxwi, rest) = model.split_rxwi(segment.get(INFO..)?)?;
    let mut said = vec![format!("station {}", rxwi.wcid), format!("{} dBm", rxwi.signal_dbm)];
    said.extend(flags([(rxwi.decrypted, "decrypted"), (rxwi.ampdu, "A-MPDU"), (rxwi.block_ack, "BA")]));
    Some(FrameDetail::of(&frame(rest, rxwi.frame_len)?, label(rxwi.rate), said))
}

impl Vocabulary for RegisterNames {
    fn control(&mut self, setup: Setup, data: &[u8], refused: bool) -> Detail {
        let address = u32::from(setup.value) << 16 | u32::from(setup.index);
        match setup.request {
            _ if setup.kind() != "vendor" || refused => Plain.control(setup, data, refused),
            request::MULTI_READ | request::MULTI_WRITE => self.registers(address, data, setup.is_in()),
            request::READ_CFG | request::WRITE_CFG => Detail {
                register: Some(format!("{address:#07x}")),
                name: Some("configuration space".to_owned()),
                value: Some(hex(data)),
                ..Detail::default()
            },
            request::WRITE | request::WRITE_FCE => Detail {
                register: Some(format!("{:#07x}", setup.index)),
                name: self.name(setup.index.into()),
                value: Some(format!("{:#06x}", setup.value)),
                ..Detail::default()
            },
            request::DEVICE_MODE => Detail {
                name: Some("mode of the device".to_owned()),
                value: Some(format!("{:#06x}", setup.value)),
                ..Detail::default()
            },
            _ => Plain.control(setup, data, refused),
        }
    }

    fn transfer_out(&mut self, endpoint: u8, data: &[u8]) -> Detail {
        if endpoint == super::COMMANDS_OUT {
            return self.command(data).unwrap_or_else(|| Plain.transfer_out(endpoint, data));
        }
        match sent(self.model, data) {
            Some(frame) => Detail { frames: vec![frame], ..Detail::default() },
            None => Plain.transfer_out(endpoint, data),
        }
    }

    fn transfer_in(&mut self, endpoint: u8, data: &[u8]) -> Detail {
        let frames = if endpoint == FRAMES_IN { received(self.model, data) } else { Vec::new() };
        if frames.is_empty() {
            return Plain.transfer_in(endpoint, data);
        }
        Detail { frames, ..Detail::default() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wire::usb::mediatek::{emit_received, Rxwi, Txwi};

    fn means(names: &mut RegisterNames, register: u32, value: u32) -> (String, String) {
        let (high, low) = ((register >> 16) as u16, register as u16);
        let setup = Setup { request_type: 0xc0, request: request::MULTI_READ, value: high, index: low, length: 4 };
        let detail = names.control(setup, &value.to_le_bytes(), false);
        (detail.name.unwrap_or_default(), detail.means.unwrap_or_default())
    }

    #[test]
    fn registers_have_names() {
        let names = RegisterNames::new(Model::Mt7610u);
        let name = |address| names.name(address).unwrap_or_default();
        assert_eq!(
            (name(0x1004), name(0x1808), name(0x2304)),
            ("MAC_SYS_CTRL".into(), "WCID_ADDR+0x8".into(), "BBP_AGC+0x4".into())
        );
        assert_eq!(names.name(0x1_ff00), None);
        Names::check(NAMES);
    }

    #[test]
    fn reports_are_explained() {
        let mut names = RegisterNames::new(Model::Mt7610u);
        let said = means(&mut names, reg::TX_STAT_FIFO, 0x4007_03e1);
        assert_eq!(said, ("TX_STAT_FIFO".into(), "acknowledged, aggregated, station 3, HT20 MCS7".into()));
        assert_eq!(means(&mut names, reg::TX_STAT_FIFO, 0).1, "no report");
        assert_eq!(means(&mut names, reg::TX_STAT_FIFO_EXT, 0x8702).1, "2 retries, mark 0x87");
        assert_eq!(means(&mut names, reg::MAC_SYS_CTRL, 0x0c).1, "");
    }

    #[test]
    fn frames_and_commands_are_explained() {
        let mut names = RegisterNames::new(Model::Mt7610u);
        let mut beacon = vec![0x80, 0, 0, 0];
        beacon.extend([0xff; 6]);
        beacon.resize(60, 0);
        let txwi = Txwi { timestamp: true, rate: Rate(0x2000), wcid: 0xff, frame_len: 60, ..Txwi::default() };
        let body = [&txwi.emit()[..], &beacon].concat();
        let data = [&(body.len() as u32 | 2 << 25).to_le_bytes()[..], &body].concat();
        let detail = names.transfer_out(4, &data);
        let [frame] = &detail.frames[..] else { panic!("{detail:?}") };
        assert_eq!((frame.frame.as_str(), frame.bytes, frame.rate.as_str()), ("Beacon", 60, "6 Mb/s"));
        assert_eq!(frame.flags, ["queue 2", "station 255", "TS"]);
        let pair = [0x0041_1004u32.to_le_bytes(), 0x0cu32.to_le_bytes()].concat();
        let command = [&(8u32 | 1 << 16 | 12 << 20).to_le_bytes()[..], &pair].concat();
        let detail = names.transfer_out(8, &command);
        assert_eq!(detail.means.as_deref(), Some("MAC_SYS_CTRL 0x0000000c"));
    }

    #[test]
    fn transfers_of_an_mt7601u_are_explained() {
        let mut names = RegisterNames::new(Model::Mt7601u);
        let said = means(&mut names, reg::TX_STAT_FIFO, 0x8106_01b1);
        assert_eq!(said.1, "acknowledged, station 1, HT20 MCS6 SGI, mark 8");
        let rxwi = Rxwi { rate: Rate(0x4007), signal_dbm: -45, frame_len: 24, wcid: 1, ..Rxwi::default() };
        let frame = [&[0x48, 2, 0, 0][..], &[2; 20]].concat();
        let mut transfer = Vec::new();
        for _ in 0..2 {
            emit_received(&Model::Mt7601u.emit_rxwi(&rxwi), &frame, 24, &mut transfer);
        }
        let detail = names.transfer_in(FRAMES_IN, &transfer);
        assert_eq!(detail.frames.len(), 2);
        assert_eq!(detail.frames[1].flags, ["station 1", "-45 dBm"]);
        let setup = Setup { request_type: 0x40, request: request::WRITE, value: 0x4214, index: 0x101c, length: 0 };
        assert_eq!(names.control(setup, &[], false).name.as_deref(), Some("BBP_CSR_CFG"));
    }

    proptest::proptest! {
        #[test]
        fn any_transfer_is_explained(data: Vec<u8>, request_type: u8, request: u8, value: u16, endpoint in 0u8..16) {
            let mut names = RegisterNames::new(Model::Mt7610u);
            let setup = Setup { request_type, request, value, index: 0x1718, length: data.len() as u16 };
            names.control(setup, &data, false);
            names.transfer_out(endpoint, &data);
            names.transfer_in(endpoint, &data);
        }
    }
}
