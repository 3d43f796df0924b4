//! A card in its host controller, driven by any transfers: commands, data, power, interrupts, with any faults. The card is one of
//! registers, or an SD8686, an AR6003 or an AR6004 with its access point; its host is one on USB, or in the kernel.
#![no_main]

use libfuzzer_sys::fuzz_target;
use sdio::{BusAbility, CardIdentity, Function};
use vusb::air::{ChannelSettings, Medium};
use vusb::chips::ar6003::{self, Ar6003};
use vusb::chips::sd8686::{self, Sd8686};
use vusb::device::{CommandFault, Device, Effect};
use vusb::wired::WiredQueues;
use vusb::peers::builtin::{Builtin, BuiltinSettings};
use vusb::session::Slot;
use vusb::statistics::DeviceStatistics;
use vusb::ushc::{SdioChip, SdioStatistics, Settings, Ushc};
use wire::sdio::{number, Extended};
use wire::usb::setup::Setup;
use wire::usb::ushc;

/// 256 registers that hold what was written; the first one is the interrupt.
struct Ram([u8; 256]);

impl Function for Ram {
    fn identity(&self) -> CardIdentity {
        CardIdentity { vendor: 0x0271, device: 0x0301, block_bytes_max: 512, version: b"" }
    }
    fn read(&mut self, _now_ns: u64, address: u32, incrementing: bool, data: &mut [u8]) {
        for (at, slot) in (0..).zip(data) {
            *slot = self.0[(address + if incrementing { at } else { 0 }) as usize % 256];
        }
    }
    fn write(&mut self, _now_ns: u64, address: u32, incrementing: bool, data: &[u8]) {
        for (at, byte) in (0..).zip(data) {
            self.0[(address + if incrementing { at } else { 0 }) as usize % 256] = *byte;
        }
    }
    fn interrupts(&self) -> bool {
        self.0[0] != 0
    }
    fn advance(&mut self, _now_ns: u64) {}
    fn next_event(&self) -> Option<u64> {
        None
    }
    fn power_on(&mut self, _now_ns: u64) {
        self.0 = [0; 256];
    }
}

impl SdioChip for Ram {
    fn statistics(&self, _bus: SdioStatistics) -> DeviceStatistics {
        unreachable!("it is never called")
    }
}

fuzz_target!(|input: &[u8]| {
    let first = input.first().copied().unwrap_or(0);
    let medium = Medium::new(ChannelSettings::default(), 1, None);
    let peers = Builtin::with(BuiltinSettings::default(), Vec::new(), Box::new(WiredQueues::default()));
    match first >> 3 & 3 {
        0 => drive(Ram([0; 256]), input, |_| SD8686_PORT),
        1 => drive(Sd8686::new(sd8686::Settings::default(), medium, Box::new(peers)), input, |_| SD8686_PORT),
        kind => {
            let model = if kind == 2 { ar6003::Model::Ar6003 } else { ar6003::Model::Ar6004 };
            drive(Ar6003::new(ar6003::Settings::new(model), medium, Box::new(peers)), input, |len| MAILBOX_END - len);
        }
    }
});

/// The port of an SD8686.
const SD8686_PORT: u32 = 0x1_0000;
/// Where a message to an AR6003 or AR6004 ends.
const MAILBOX_END: u32 = 0x1000;

/// `port`: where a packet of so many bytes goes.
fn drive<C: SdioChip>(chip: C, input: &[u8], port: impl Fn(u32) -> u32) {
    let mut bytes = input.iter().copied();
    let first = bytes.next().unwrap_or(0);
    let card = BusAbility { four_lines: first & 1 == 0, high_speed: first & 2 == 0 };
    let mut device = Ushc::new(chip, Settings { repeat_ns: 500_000, bus_time: first & 4 != 0, card });
    if first & 0x20 != 0 {
        return in_kernel(&mut device, bytes);
    }
    let mut now_ns = 0;
    let mut commands = 0u64;
    while let (Some(what), Some(len)) = (bytes.next(), bytes.next()) {
        now_ns += u64::from(what >> 4) * 10_000;
        device.advance(now_ns);
        let data: Vec<u8> = bytes.by_ref().take(usize::from(len)).collect();
        let word = |at: usize| u16::from_le_bytes([data.get(at).copied().unwrap_or(0), data.get(at + 1).copied().unwrap_or(0)]);
        match what & 0x0f {
            0..=4 => {
                // A command, whose first bytes need not be found by chance.
                let mut block = [b'C', 52 + (what & 1), 0, 0, 0, 0, 0, 0];
                for (slot, byte) in block[2..].iter_mut().zip(&data) {
                    *slot = *byte;
                }
                commands += u64::from(device.command(ushc::BULK_OUT, &block).is_some());
                let _ = device.transfer_out(now_ns, ushc::BULK_OUT, &block);
            }
            5 | 6 => drop(device.transfer_out(now_ns, ushc::BULK_OUT, &data)),
            7..=9 => drop(device.transfer_in(now_ns, ushc::BULK_IN, &mut Vec::new())),
            10 => drop(device.transfer_in(now_ns, 1, &mut Vec::new())),
            11 | 12 => {
                let setup = Setup { request_type: 0x40, request: len % 8, value: word(0), index: word(2), length: 0 };
                let _ = device.control(now_ns, setup, &[]);
            }
            13 => {
                let xor = len;
                let faults = [CommandFault::NoAnswer, CommandFault::Crc, CommandFault::Refused, CommandFault::Corrupt {
                    and: u32::from(word(0)), or: u32::from(word(2)), xor,
                }];
                device.inject(now_ns, Effect::Command(faults[usize::from(len) % 4]));
            }
            14 => device.reset(now_ns),
            15 => {
                // A packet for the port, or one from it, which need not be found by chance either.
                let write = data.first().is_some_and(|byte| byte & 1 == 0);
                let count = u16::from(len).max(1);
                let address = port(u32::from(count));
                let argument = Extended { write, function: 1, block_mode: false, incrementing: true, address, count };
                let command = ushc::CommandBlock { number: number::IO_RW_EXTENDED, block_bytes: 256, argument: argument.emit() };
                commands += 1;
                let _ = device.transfer_out(now_ns, ushc::BULK_OUT, &command.emit());
                if write {
                    let mut packet = data.clone();
                    packet.resize(usize::from(count), 0);
                    let _ = device.transfer_out(now_ns, ushc::BULK_OUT, &packet);
                }
            }
            _ => {}
        }
        // What is due is no event any more, once it has happened.
        device.advance(now_ns);
        assert!(device.next_event().is_none_or(|at_ns| at_ns > now_ns));
    }
    assert!(commands <= input.len() as u64);
}

/// Messages of a host in the kernel, cut at any place.
fn in_kernel(device: &mut impl Device, mut bytes: impl Iterator<Item = u8>) {
    let mut slot = Slot::default();
    let mut now_ns = 0;
    while let Some(len) = bytes.next() {
        let message: Vec<u8> = bytes.by_ref().take(usize::from(len)).collect();
        let _ = slot.receive(&message);
        now_ns += 50_000;
        device.advance(now_ns);
        slot.pump(now_ns, device);
        assert!(slot.output().len() <= 32);
        slot.output().clear();
    }
}
