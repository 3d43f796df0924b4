//! What transfers of this chip mean, for traces: names of registers, commands to the firmware and its reports, RF registers, keys,
//! efuse, descriptors.

use wire::usb::realtek::REGISTER_REQUEST;
use wire::usb::rtw88::{queue, RxDescriptor, TxDescriptor, ALIGNMENT};
use wire::usb::setup::Setup;

use super::firmware::{command, packet, Command, Packet};
use super::rates::{bandwidth, mode, Shape};
use super::registers as reg;
use super::transfer::parts;
use crate::chips::realtek::cam::{CAM_CMD, WRITE_NOW};
use crate::chips::realtek::memory::{Memory, Touched};
use crate::chips::realtek::vocabulary::register;
use crate::state::{Reader, State, StateError, Writer};
use crate::trace::{hex, Detail, FrameDetail, Names, Plain, Vocabulary};

const NAMES: &str = include_str!("register_names.txt");
/// Bytes of a report that are shown.
const REPORT_SHOWN: usize = 16;

/// Names of registers, and a copy of what was written.
pub struct RegisterNames {
    names: Names,
    memory: Memory,
}

impl Default for RegisterNames {
    fn default() -> Self {
        Self { names: Names::parse(NAMES), memory: Memory::default() }
    }
}

impl RegisterNames {
    /// `RCR`, or `RCR+2` for a byte inside of it.
    pub fn name(&self, address: u16) -> Option<String> {
        let (name, inside) = self.names.at(address.into())?;
        Some(if inside == 0 { name.to_owned() } else { format!("{name}+{inside}") })
    }

    /// What a write has done.
    fn written(&self, touched: Touched) -> Option<String> {
        if let Some(number) = (0..4u16).find(|n| touched.has(reg::HMEBOX0 + 4 * n + 3)) {
            return Some(format!("mailbox {number}: {}", described(command(&self.memory, number))));
        }
        for (path, register) in ['A', 'B'].into_iter().zip(reg::RF_WRITE) {
            if touched.has(register + 3) {
                let value = self.memory.u32(register);
                return Some(format!("RF {path} {:#04x} = {:#07x}", value >> 20 & 0xff, value & 0x000f_ffff));
            }
        }
        let cam = self.memory.u32(CAM_CMD);
        if touched.has(CAM_CMD + 3) && cam & WRITE_NOW == WRITE_NOW {
            return Some(format!("key memory entry {} word {}", cam >> 3 & 31, cam & 7));
        }
        let control = self.memory.u32(reg::DDMA_CH0CTRL);
        if touched.has(reg::DDMA_CH0CTRL + 3) && control & reg::DDMA_OWN != 0 {
            let to = self.memory.u32(reg::DDMA_CH0DA);
            return Some(format!("firmware, {} bytes to {to:#010x}", control & 0x0003_ffff));
        }
        None
    }
}

fn described(command: Command) -> String {
    match command {
        Command::Rates(info) => format!(
            "rates {:#010x} of {}, station {}, {} MHz{}",
            info.mask,
            if info.vht { "VHT" } else { "HT" },
            info.station,
            bandwidth(info.bandwidth).mhz(),
            if info.short_gi { ", short guard interval" } else { "" }
        ),
        Command::MediaStatus { connected, station } => {
            format!("{} with station {station}", if connected { "associated" } else { "not associated" })
        }
        Command::PowerMode { mode, awake_interval } => {
            format!("power mode {mode}, awake every {awake_interval} beacons")
        }
        Command::Other(number) => format!("command {number:#04x}"),
    }
}

/// A frame of the driver's.
fn sent(descriptor: &TxDescriptor, frame: &[u8]) -> FrameDetail {
    let shape = Shape {
        bandwidth: bandwidth(descriptor.bandwidth()),
        short_gi: descriptor.short(),
        short_preamble: descriptor.short(),
    };
    let rate = match mode(descriptor.rate(), shape) {
        Some(mode) if descriptor.use_rate() => mode.label(),
        _ => "the firmware's choice".to_owned(),
    };
    let mut flags = vec![format!("queue {:#04x}", descriptor.queue())];
    for (set, name) in [
        (!descriptor.checksum_is_right(), "wrong checksum"),
        (descriptor.aggregate(), "AGG_EN"),
        (descriptor.rts(), "USE_RTS"),
        (descriptor.report(), "SPE_RPT"),
        (descriptor.hardware_sequence(), "EN_HWSEQ"),
        (descriptor.no_fallback(), "no fallback"),
        (descriptor.security() == 1, "RC4"),
        (descriptor.security() == 3, "AES"),
    ] {
        if set {
            flags.push(name.to_owned());
        }
    }
    FrameDetail::of(frame, rate, flags)
}

impl Vocabulary for RegisterNames {
    fn control(&mut self, setup: Setup, data: &[u8], refused: bool) -> Detail {
        if setup.request != REGISTER_REQUEST || setup.kind() != "vendor" {
            return Plain.control(setup, data, refused);
        }
        let address = setup.value;
        let mut detail = register(address, self.name(address), data, setup.is_in());
        if !setup.is_in() && !refused {
            self.memory.write(address, data);
            detail.means = self.written(Touched { start: address, len: data.len() });
        }
        detail
    }

    fn transfer_out(&mut self, endpoint: u8, data: &[u8]) -> Detail {
        let (parts, _) = parts(data);
        if parts.is_empty() {
            return Plain.transfer_out(endpoint, data);
        }
        let (mut frames, mut means) = (Vec::new(), Vec::new());
        for part in parts {
            match part.descriptor.queue() {
                queue::BEACON => means.push(format!("{} bytes for the packet buffer", part.frame.len())),
                queue::COMMAND => means.push(match packet(part.frame) {
                    Some(Packet::Calibrate) => "calibration".to_owned(),
                    Some(Packet::Other(number)) => format!("command {number:#06x}"),
                    None => "no command".to_owned(),
                }),
                _ => frames.push(sent(&part.descriptor, part.frame)),
            }
        }
        let means = (!means.is_empty()).then(|| means.join("; "));
        Detail { frames, means, ..Detail::default() }
    }

    fn transfer_in(&mut self, endpoint: u8, data: &[u8]) -> Detail {
        let (mut frames, mut reports, mut at) = (Vec::new(), Vec::new(), 0);
        while let Some(descriptor) = data.get(at..).and_then(RxDescriptor::parse) {
            let start = at + descriptor.frame_offset();
            let end = start + usize::from(descriptor.frame_len);
            let Some(frame) = data.get(start..end).filter(|frame| !frame.is_empty()) else { break };
            if descriptor.is_report {
                reports.push(format!("report {}", hex(frame.get(..frame.len().min(REPORT_SHOWN)).unwrap_or(frame))));
            } else {
                let shape = Shape { bandwidth: bandwidth(descriptor.bandwidth), ..Shape::default() };
                let rate = mode(descriptor.rate, shape).map_or_else(|| "no rate".to_owned(), |mode| mode.label());
                let mut flags = Vec::new();
                for (set, name) in [
                    (descriptor.integrity_error, "integrity error"),
                    (descriptor.security != 0 && !descriptor.not_decrypted, "decrypted"),
                ] {
                    if set {
                        flags.push(name.to_owned());
                    }
                }
                frames.push(FrameDetail::of(frame, rate, flags));
            }
            at = end.next_multiple_of(ALIGNMENT);
        }
        if frames.is_empty() && reports.is_empty() {
            return Plain.transfer_in(endpoint, data);
        }
        let means = (!reports.is_empty()).then(|| reports.join("; "));
        Detail { frames, means, ..Detail::default() }
    }

    fn register(&self, offset: u32) -> Option<String> {
        self.name(u16::try_from(offset).ok()?)
    }

    fn reset(&mut self) {
        self.memory = Memory::default();
    }

    fn save_state(&self, to: &mut Writer) -> Result<(), StateError> {
        self.save(to)
    }

    fn restore_state(&mut self, from: &mut Reader<'_>) -> Result<(), StateError> {
        self.restore(from)
    }
}

crate::state!(RegisterNames { memory } made { names });

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn registers_have_names() {
        let names = RegisterNames::default();
        let name = |address| names.name(address).unwrap_or_default();
        assert_eq!((name(0x100), name(0x60a), name(0x1208)), ("CR".into(), "RCR+2".into(), "DDMA_CH0CTRL".into()));
        assert_eq!(names.name(0x2000), None);
        let on_pci = |offset| names.register(offset).unwrap_or_default();
        assert_eq!((on_pci(0x3b6), on_pci(0x1_0100)), ("RXBD_IDX_MPDUQ+2".into(), String::new()));
        Names::check(NAMES);
    }

    fn write(names: &mut RegisterNames, value: u16, data: &[u8]) -> String {
        let setup = Setup { request_type: 0x40, request: 5, value, index: 0, length: data.len() as u16 };
        names.control(setup, data, false).means.unwrap_or_default()
    }

    #[test]
    fn writes_are_explained() {
        let mut names = RegisterNames::default();
        write(&mut names, reg::HMEBOX0_EX + 4, &[0x10, 0xf0, 0xff, 0xff]);
        assert_eq!(
            write(&mut names, reg::HMEBOX0 + 4, &[0x40, 3, 0x89, 0x12]),
            "mailbox 1: rates 0xfffff010 of VHT, station 3, 80 MHz, short guard interval"
        );
        assert_eq!(write(&mut names, 0xe90, &(0x33u32 << 20 | 1).to_le_bytes()), "RF B 0x33 = 0x00001");
        write(&mut names, reg::DDMA_CH0DA, &0x0020_1000u32.to_le_bytes());
        let bytes = (reg::DDMA_OWN | 0x1000).to_le_bytes();
        assert_eq!(write(&mut names, reg::DDMA_CH0CTRL, &bytes), "firmware, 4096 bytes to 0x00201000");
    }

    proptest::proptest! {
        #[test]
        fn any_transfer_is_explained(data: Vec<u8>, request_type: u8, request in 4u8..7, value: u16) {
            let mut names = RegisterNames::default();
            let setup = Setup { request_type, request, value, index: 0, length: data.len() as u16 };
            names.control(setup, &data, false);
            names.transfer_out(5, &data);
            names.transfer_in(4, &data);
        }
    }
}
