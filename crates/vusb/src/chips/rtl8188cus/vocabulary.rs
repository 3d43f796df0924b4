//! What transfers of this chip mean, for traces: names of registers, commands to the firmware, RF registers, keys, efuse,
//! descriptors.

use wire::usb::realtek::{RxWalk, REGISTER_REQUEST};
use wire::usb::setup::Setup;

use super::firmware::{command, Command};
use super::model::Model;
use super::registers as reg;
use super::reports;
use super::rx_descriptor::mode_of;
use super::tx_descriptor::TxDescriptor;
use crate::air::rates::{mode, Modulation};
use crate::chips::realtek::cam::WRITE_NOW;
use crate::chips::realtek::memory::{Memory, Touched};
use crate::chips::realtek::vocabulary::register;
use crate::state::{Reader, State, StateError, Writer};
use crate::trace::{Detail, FrameDetail, Names, Plain, Vocabulary};

const NAMES: &str = include_str!("register_names.txt");

/// Names of registers, and a copy of what was written.
pub struct RegisterNames {
    /// By address: how many bytes, and the name.
    names: Names,
    memory: Memory,
    model: Model,
}

impl RegisterNames {
    /// Those of a model.
    pub fn new(model: Model) -> Self {
        Self { names: Names::parse(NAMES), memory: Memory::default(), model }
    }

    /// `RCR`, or `RCR+2` for a byte inside of it.
    pub fn name(&self, address: u16) -> Option<String> {
        let (name, inside) = self.names.at(address.into())?;
        Some(if inside == 0 { name.to_owned() } else { format!("{name}+{inside}") })
    }

    fn downloading(&self, address: u16) -> bool {
        let in_window = (reg::FW_START..reg::FW_START + reg::FW_PAGE).contains(&address);
        in_window && self.memory.u8(reg::MCU_FW_DL) & reg::FW_DL_ENABLE != 0
    }

    /// What a write has done.
    fn written(&self, touched: Touched) -> Option<String> {
        if let Some(number) = (0..4u16).find(|n| touched.has(reg::HMBOX_0 + 4 * n + 3)) {
            return Some(format!("mailbox {number}: {}", described(command(&self.memory, number, self.model))));
        }
        for (path, parameter) in [('A', reg::FPGA0_XA_LSSI_PARM), ('B', reg::FPGA0_XB_LSSI_PARM)] {
            if touched.has(parameter + 3) {
                let value = self.memory.u32(parameter);
                return Some(format!("RF {path} {:#04x} = {:#07x}", value >> 20 & 0xff, value & 0x000f_ffff));
            }
        }
        let cam = self.memory.u32(reg::CAM_CMD);
        if touched.has(reg::CAM_CMD + 3) && cam & WRITE_NOW == WRITE_NOW {
            return Some(format!("key memory entry {} word {}", cam >> 3 & 31, cam & 7));
        }
        None
    }
}

fn described(command: Command) -> String {
    match command {
        Command::RateMask { mask, short_gi, macid } => {
            format!("rate mask {mask:#010x}, station {macid}{}", if short_gi { ", short guard interval" } else { "" })
        }
        Command::JoinBss(joined) | Command::MediaStatus(joined) => {
            if joined { "associated" } else { "not associated" }.to_owned()
        }
        Command::PowerMode { mode, awake_interval } => {
            format!("power mode {mode}, awake every {awake_interval} beacons")
        }
        Command::Other(number) => format!("command {number:#04x}"),
    }
}

impl Vocabulary for RegisterNames {
    fn control(&mut self, setup: Setup, data: &[u8], refused: bool) -> Detail {
        if setup.request != REGISTER_REQUEST || setup.kind() != "vendor" {
            return Plain.control(setup, data, refused);
        }
        let address = setup.value;
        let mut detail = register(address, self.name(address), data, setup.is_in());
        if !setup.is_in() && !refused {
            if self.downloading(address) {
                let page = self.memory.u8(reg::MCU_FW_DL + 2) & 7;
                detail.name = Some("firmware".to_owned());
                detail.means = Some(format!("page {page}, byte {:#05x}", address - reg::FW_START));
            } else {
                self.memory.write(address, data);
                detail.means = self.written(Touched { start: address, len: data.len() });
            }
        }
        detail
    }

    fn transfer_out(&mut self, endpoint: u8, data: &[u8]) -> Detail {
        let Some(descriptor) = TxDescriptor::parse(data, self.model) else { return Plain.transfer_out(endpoint, data) };
        let (offset, len) = (descriptor.frame_offset(), descriptor.frame_len());
        let frame = data.get(offset..offset + len).unwrap_or_default();
        let modulation = Modulation {
            wide: descriptor.wide(),
            short_gi: descriptor.short_gi(),
            short_preamble: descriptor.short_preamble(),
            greenfield: descriptor.greenfield(),
            stbc: descriptor.stbc(),
        };
        let rate = if descriptor.use_driver_rate() {
            mode(descriptor.rate(), modulation).label()
        } else {
            "the firmware's choice".to_owned()
        };
        let mut flags = vec![format!("queue {:#04x}", descriptor.queue())];
        for (set, name) in [
            (!descriptor.checksum_is_right(), "wrong checksum"),
            (descriptor.aggregate(), "AGG_ENABLE"),
            (descriptor.rts(), "RTS_CTS_ENABLE"),
            (descriptor.cts_to_self(), "CTS_SELF_ENABLE"),
            (descriptor.hardware_rts(), "HW_RTS_ENABLE"),
            (descriptor.wide(), "DATA_BW"),
            (descriptor.short_gi(), "SHORT_GI"),
            (descriptor.hardware_sequence(), "HW_SEQ_ENABLE"),
            (descriptor.no_fallback(), "no fallback"),
            (descriptor.security() == 1, "RC4"),
            (descriptor.security() == 3, "AES"),
        ] {
            if set {
                flags.push(name.to_owned());
            }
        }
        if descriptor.rts() || descriptor.cts_to_self() {
            flags.push(format!("RTS at {}", mode(descriptor.rts_rate(), Modulation::default()).label()));
        }
        Detail { frames: vec![FrameDetail::of(frame, rate, flags)], ..Detail::default() }
    }

    fn transfer_in(&mut self, endpoint: u8, data: &[u8]) -> Detail {
        let mut frames = Vec::new();
        let mut reports = Vec::new();
        for received in RxWalk::new(data, data.len()).map_while(Result::ok) {
            let start = received.offset + received.overhead;
            let frame = data.get(start..start + received.frame_len).unwrap_or_default();
            if received.report != 0 {
                let valid = data.get(received.offset + 16..).and_then(|rest| rest.first_chunk::<8>());
                let valid = valid.map_or(0, |bytes| u64::from_le_bytes(*bytes));
                reports.push(reports::described(valid, frame));
                continue;
            }
            let word = |at: usize| {
                let bytes = data.get(received.offset + 4 * at..).and_then(|rest| rest.first_chunk::<4>());
                bytes.map_or(0, |bytes| u32::from_le_bytes(*bytes))
            };
            let mut flags = Vec::new();
            for (set, name) in [
                (word(0) >> 15 & 1 == 1, "integrity error"),
                (word(0) >> 20 & 7 != 0 && word(0) >> 27 & 1 == 0, "decrypted"),
                (word(1) >> 14 & 1 == 1, "A-MPDU"),
            ] {
                if set {
                    flags.push(name.to_owned());
                }
            }
            frames.push(FrameDetail::of(frame, mode_of(word(3)).label(), flags));
        }
        if frames.is_empty() && reports.is_empty() {
            return Plain.transfer_in(endpoint, data);
        }
        let means = (!reports.is_empty()).then(|| reports.join("; "));
        Detail { frames, means, ..Detail::default() }
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

crate::state!(RegisterNames { memory } made { names, model });

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn registers_have_names() {
        let names = RegisterNames::new(Model::Rtl8188cus);
        let name = |address| names.name(address).unwrap_or_default();
        assert_eq!((name(0x100), name(0x60a), name(0xfe66)), ("CR".into(), "RCR+2".into(), "NORMAL_SIE_EP_TX".into()));
        assert_eq!(names.name(0x2000), None);
        Names::check(NAMES);
    }

    fn write(names: &mut RegisterNames, value: u16, data: &[u8]) -> Detail {
        let setup = Setup { request_type: 0x40, request: 5, value, index: 0, length: data.len() as u16 };
        names.control(setup, data, false)
    }

    #[test]
    fn writes_are_explained() {
        let mut names = RegisterNames::new(Model::Rtl8188cus);
        write(&mut names, reg::HMBOX_EXT_0, &[0x15, 0xf0]);
        let means = |detail: Detail| detail.means.unwrap_or_default();
        assert_eq!(
            means(write(&mut names, reg::HMBOX_0, &[0x86, 0x0f, 0, 0xa1])),
            "mailbox 0: rate mask 0x000ff015, station 1, short guard interval"
        );
        let tune = (0x18u32 << 20 | 0x0_0c06).to_le_bytes();
        assert_eq!(means(write(&mut names, reg::FPGA0_XA_LSSI_PARM, &tune)), "RF A 0x18 = 0x00c06");
        write(&mut names, reg::MCU_FW_DL, &[1, 0, 2, 0]);
        let block = write(&mut names, reg::FW_START + 0x80, &[0; 128]);
        assert_eq!((block.name.clone().as_deref(), means(block)), (Some("firmware"), "page 2, byte 0x080".into()));
    }

    proptest::proptest! {
        #[test]
        fn any_transfer_is_explained(data: Vec<u8>, request_type: u8, request in 4u8..7, value: u16) {
            let mut names = RegisterNames::new(Model::Rtl8188cus);
            let setup = Setup { request_type, request, value, index: 0, length: data.len() as u16 };
            names.control(setup, &data, false);
            names.transfer_out(2, &data);
            names.transfer_in(1, &data);
        }
    }
}
