//! What transfers of this chip mean, for traces: names of registers, commands to the firmware and its events, frames.

use wire::ieee80211::MacAddr;
use wire::usb::connac2::{
    self, kind, Command, CommandId, EventHeader, HeaderFormat, RxDescriptor, TxDescriptor, TxStatus, TX_DESCRIPTOR,
};
use wire::usb::setup::Setup;

use super::rates::fixed;
use super::registers as reg;
use super::{COMMANDS_OUT, EVENTS_IN, POWER_ON, READ_EXT, READ_OTHER, WRITE_EXT, WRITE_OTHER};
use crate::state::{Reader, State, StateError, Writer};
use crate::trace::{hex, Detail, FrameDetail, Names, Plain, Vocabulary};

const NAMES: &str = include_str!("register_names.txt");

/// Names of registers, and whether a driver downloads firmware.
pub struct RegisterNames {
    names: Names,
    downloads: bool,
}

impl Default for RegisterNames {
    fn default() -> Self {
        Self { names: Names::parse(NAMES), downloads: false }
    }
}

/// An Ethernet frame: the chip replaces its header, or has.
fn ethernet(frame: &[u8], rate: String, flags: Vec<String>) -> FrameDetail {
    let to = MacAddr::read(frame, 0).map(|address| address.to_string());
    FrameDetail { frame: "Ethernet".to_owned(), bytes: frame.len(), to, sequence: None, rate, flags }
}

/// What the trace calls a command.
fn described(id: CommandId) -> String {
    match id {
        CommandId::Plain(CommandId::EXTENDED, extended) => format!("extended command {extended:#04x}"),
        CommandId::Plain(number, _) => format!("command {number:#04x}"),
        CommandId::Unified(number) => format!("unified command {number:#04x}"),
    }
}

/// A frame of the driver's; `None`: it is none.
fn sent(packet: &[u8]) -> Option<FrameDetail> {
    let descriptor = TxDescriptor::parse(packet)?;
    let frame = packet.get(TX_DESCRIPTOR..)?;
    let rate = match descriptor.fixed_rate().map(fixed) {
        Some(mode) => mode.map_or_else(|| "no rate".to_owned(), |mode| mode.label()),
        None => "the firmware's choice".to_owned(),
    };
    let mut flags = vec![format!("queue {:#04x}", descriptor.queue()), format!("station {}", descriptor.station())];
    for (set, name) in [
        (descriptor.protect(), "PROTECT_FRAME"),
        (descriptor.alone(), "BA_DISABLE"),
        (descriptor.no_ack(), "NO_ACK"),
        (descriptor.starts_block_ack(), "ADD_BA"),
        (descriptor.packet_id().is_some(), "TX_STATUS_HOST"),
    ] {
        if set {
            flags.push(name.to_owned());
        }
    }
    Some(match descriptor.format() {
        HeaderFormat::Ethernet => ethernet(frame, rate, flags),
        _ => FrameDetail::of(frame, rate, flags),
    })
}

fn received(packet: &[u8]) -> Option<FrameDetail> {
    let (descriptor, frame) = RxDescriptor::parse(packet)?;
    let rate =
        format!("phy {}, index {}, {} streams", descriptor.rate.phy, descriptor.rate.index, descriptor.rate.streams);
    let mut flags = vec![format!("station {}", descriptor.station)];
    for (set, name) in [(descriptor.cipher != 0, "decrypted"), (descriptor.integrity_error, "integrity error")] {
        if set {
            flags.push(name.to_owned());
        }
    }
    Some(match descriptor.translated {
        Some(_) => ethernet(frame, rate, flags),
        None => FrameDetail::of(frame, rate, flags),
    })
}

impl Vocabulary for RegisterNames {
    fn control(&mut self, setup: Setup, data: &[u8], refused: bool) -> Detail {
        let address = u32::from(setup.value) << 16 | u32::from(setup.index);
        match setup.request {
            READ_EXT | WRITE_EXT | READ_OTHER | WRITE_OTHER if setup.kind() == "vendor" => {
                if let (false, reg::UDMA_TX_QSEL, Some(bytes)) = (setup.is_in(), address, data.first_chunk()) {
                    self.downloads = u32::from_le_bytes(*bytes) & reg::FW_DL_EN != 0;
                }
                let value = match data.first_chunk() {
                    Some(bytes) if data.len() == 4 => format!("{:#010x}", u32::from_le_bytes(*bytes)),
                    _ => hex(data),
                };
                let (register, name) = (Some(format!("{address:#010x}")), self.names.with_offset(address));
                Detail { register, name, value: Some(value), ..Detail::default() }
            }
            POWER_ON if setup.kind() == "vendor" => Detail { means: Some("power on".to_owned()), ..Detail::default() },
            _ => Plain.control(setup, data, refused),
        }
    }

    fn transfer_out(&mut self, endpoint: u8, data: &[u8]) -> Detail {
        let Some(packet) = connac2::packet(data) else { return Plain.transfer_out(endpoint, data) };
        if endpoint == COMMANDS_OUT {
            let means = Command::parse(packet).map(|command| {
                let waits = if command.acknowledge { ", to be acknowledged" } else { "" };
                format!("{}, number {}, {} bytes{waits}", described(command.id), command.sequence, command.body.len())
            });
            return Detail { means, ..Detail::default() };
        }
        if self.downloads {
            return Detail { means: Some(format!("firmware, {} bytes", packet.len())), ..Detail::default() };
        }
        match sent(packet) {
            Some(frame) => Detail { frames: vec![frame], ..Detail::default() },
            None => Plain.transfer_out(endpoint, data),
        }
    }

    fn transfer_in(&mut self, endpoint: u8, data: &[u8]) -> Detail {
        let first = data.get(3).map_or(u8::MAX, |byte| byte >> 3);
        let means = match first {
            kind::EVENT => EventHeader::parse(data).map(|(event, body)| {
                let of = if event.unsolicited || event.sequence == 0 {
                    String::new()
                } else {
                    format!(", for {}", event.sequence)
                };
                format!("event {:#04x}/{:#04x}{of}, {} bytes", event.id, event.extended, body.len())
            }),
            kind::TX_STATUS if endpoint != EVENTS_IN => {
                let statuses = TxStatus::parse(data);
                let row = |status: &TxStatus| {
                    let fate = if status.arrived { "arrived" } else { "lost" };
                    format!("status {} of station {}: {fate}", status.packet_id, status.station)
                };
                Some(statuses.iter().map(row).collect::<Vec<_>>().join("; "))
            }
            _ => None,
        };
        if means.is_some() {
            return Detail { means, ..Detail::default() };
        }
        match received(data) {
            Some(frame) => Detail { frames: vec![frame], ..Detail::default() },
            None => Plain.transfer_in(endpoint, data),
        }
    }

    fn reset(&mut self) {
        self.downloads = false;
    }

    fn save_state(&self, to: &mut Writer) -> Result<(), StateError> {
        self.save(to)
    }

    fn restore_state(&mut self, from: &mut Reader<'_>) -> Result<(), StateError> {
        self.restore(from)
    }
}

crate::state!(RegisterNames { downloads } made { names });

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn registers_and_commands_have_names() {
        Names::check(NAMES);
        let mut names = RegisterNames::default();
        let setup = Setup { request_type: 0xdf, request: READ_EXT, value: 0x7c06, index: 0x00f0, length: 4 };
        let detail = names.control(setup, &[3, 0, 0, 0], false);
        assert_eq!((detail.name.as_deref(), detail.value.as_deref()), (Some("CONN_ON_MISC"), Some("0x00000003")));
        let command =
            Command { id: CommandId::Unified(3), sequence: 5, acknowledge: true, query: false, body: &[0; 8] };
        let means = names.transfer_out(COMMANDS_OUT, &connac2::transfer(&command.emit())).means.unwrap();
        assert_eq!(means, "unified command 0x03, number 5, 8 bytes, to be acknowledged");
    }

    proptest::proptest! {
        #[test]
        fn any_transfer_is_explained(data: Vec<u8>, request_type: u8, request: u8, value: u16, index: u16) {
            let mut names = RegisterNames::default();
            names.control(Setup { request_type, request, value, index, length: data.len() as u16 }, &data, false);
            for endpoint in [4, COMMANDS_OUT] {
                names.transfer_out(endpoint, &data);
                names.transfer_in(endpoint, &data);
            }
        }
    }
}
