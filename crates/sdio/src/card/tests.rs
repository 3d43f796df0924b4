use proptest::prelude::*;
use wire::sdio::registers as at;
use wire::sdio::tuple::{Tuples, FUNCE, MANFID};

use super::*;
use crate::CardIdentity;

/// 256 registers that hold what was written; the first one is the interrupt.
#[derive(Clone, Debug)]
struct Ram(Vec<u8>);

impl Function for Ram {
    fn identity(&self) -> CardIdentity {
        CardIdentity { vendor: 0x0271, device: 0x0301, block_bytes_max: 512, version: b"" }
    }

    fn read(&mut self, _now_ns: u64, address: u32, incrementing: bool, data: &mut [u8]) {
        for (slot, address) in data.iter_mut().zip(addresses(address, incrementing)) {
            *slot = self.0[address as usize % 256];
        }
    }

    fn write(&mut self, _now_ns: u64, address: u32, incrementing: bool, data: &[u8]) {
        for (&byte, address) in data.iter().zip(addresses(address, incrementing)) {
            self.0[address as usize % 256] = byte;
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
        self.0.fill(0);
    }
}

fn card() -> Card<Ram> {
    Card::new(Ram(vec![0; 256]))
}

fn read(card: &mut Card<Ram>, function: u8, address: u32) -> u8 {
    let argument = Direct { function, address, ..Direct::default() }.emit();
    match card.command(0, Command { number: number::IO_RW_DIRECT, argument }, &mut []) {
        Answer::Response(response) => Response5::parse(response).data,
        Answer::Silence => panic!(),
    }
}

fn write(card: &mut Card<Ram>, function: u8, address: u32, data: u8) {
    let argument = Direct { write: true, function, address, data, ..Direct::default() }.emit();
    assert!(card.command(0, Command { number: number::IO_RW_DIRECT, argument }, &mut []).is_success());
}

#[test]
fn a_card_introduces_itself() {
    let mut card = card();
    let conditions = card.command(0, Command { number: number::IO_SEND_OP_COND, argument: 0 }, &mut []);
    assert_eq!(conditions, Answer::Response(0x90ff_8000));
    let mut pointer = |fbr: u32| {
        (0..3).fold(0, |pointer, byte| {
            pointer | u32::from(read(&mut card, 0, fbr + at::CIS_POINTER + byte)) << (8 * byte)
        })
    };
    for (pointer, extension) in [(pointer(0), 4), (pointer(at::fbr(1)), 42)] {
        let chain: Vec<u8> = (0..100).map(|byte| read(&mut card, 0, pointer + byte)).collect();
        let mut found = Tuples::new(&chain).filter(|tuple| [MANFID, FUNCE].contains(&tuple.code));
        assert_eq!(found.next().unwrap().body, [0x71, 2, 1, 3]);
        assert_eq!(found.next().unwrap().body.len(), extension);
    }
}

#[test]
fn functions_are_enabled_and_interrupt() {
    let mut card = card();
    write(&mut card, 0, at::IO_ENABLE, 0xff);
    assert_eq!(read(&mut card, 0, at::IO_READY), 0x02);
    write(&mut card, 1, 0, 1);
    assert!(!card.look_at_line());
    write(&mut card, 0, at::INTERRUPT_ENABLE, 3);
    assert!(card.look_at_line());
    assert_eq!((read(&mut card, 0, at::INTERRUPT_PENDING), card.counters().interrupts), (2, 1));
    write(&mut card, 0, at::IO_ABORT, at::RESET);
    assert!(!card.look_at_line());
    assert_eq!((read(&mut card, 1, 0), card.counters().resets), (1, 1));
    card.power_on(0);
    assert_eq!(read(&mut card, 1, 0), 0);
}

#[test]
fn data_go_to_one_register_or_to_many() {
    let mut card = card();
    write(&mut card, 0, at::fbr(1) + at::BLOCK_SIZE, 4);
    assert_eq!(card.counters().cmd52_writes, 1);
    let mut extended = |command: Extended, data: &mut [u8]| {
        let command = Command { number: number::IO_RW_EXTENDED, argument: command.emit() };
        card.command(0, command, data)
    };
    let blocks = Extended { write: true, function: 1, block_mode: true, incrementing: true, address: 16, count: 2 };
    assert!(extended(blocks, &mut [1, 2, 3, 4, 5, 6, 7, 8]).is_success());
    let fixed = Extended { function: 1, address: 17, count: 3, ..Extended::default() };
    let mut got = [0; 3];
    assert!(extended(fixed, &mut got).is_success());
    assert_eq!(got, [2; 3]);
    assert!(extended(Extended { incrementing: true, ..fixed }, &mut got).is_success());
    assert_eq!(got, [2, 3, 4]);
    // Blocks without end, a length that does not fit, and a function that is not there.
    for (command, len) in [(Extended { count: 0, ..blocks }, 0), (blocks, 7), (Extended { function: 2, ..fixed }, 3)] {
        assert!(!extended(command, &mut vec![0; len]).is_success(), "{command:?}");
    }
    let counters = card.counters();
    assert_eq!((counters.cmd53_writes, counters.cmd53_written_bytes, counters.refused_commands), (3, 8, 3));
    assert_eq!((counters.cmd53_reads, counters.cmd53_read_bytes, counters.cmd53_block_mode), (3, 6, 3));
}

#[test]
fn a_slow_card_says_so_and_stays_so() {
    let ability = BusAbility { four_lines: false, high_speed: false };
    let mut card = Card::with_bus(Ram(vec![0; 256]), ability);
    card.power_on(0);
    let mut read = |address| read(&mut card, 0, address);
    assert_eq!((read(at::CAPABILITY) & at::LOW_SPEED, read(at::BUS_SPEED)), (at::LOW_SPEED, 0));
    let chain: Vec<u8> = (0x1000..0x1040).map(read).collect();
    let common = Tuples::new(&chain).find(|tuple| tuple.code == FUNCE).unwrap();
    assert_eq!(common.body[3], 0x32, "25 MHz");
    let write = Direct { write: true, address: at::BUS_SPEED, data: at::HIGH_SPEED, ..Direct::default() };
    card.command(0, Command { number: number::IO_RW_DIRECT, argument: write.emit() }, &mut []);
    assert!(!card.is_high_speed());
}

#[test]
fn what_it_does_not_know_it_does_not_answer() {
    let mut card = card();
    assert_eq!(card.command(0, Command { number: 8, argument: 0x1aa }, &mut []), Answer::Silence);
    assert_eq!(card.counters().unknown_commands, 1);
}

proptest! {
    #[test]
    fn any_commands_are_survived(commands in prop::collection::vec((0u8..64, any::<u32>()), 0..200)) {
        let mut card = card();
        for (number, argument) in commands {
            let number = if number & 1 == 1 { number::IO_RW_EXTENDED } else { number };
            let command = Command { number, argument };
            let len = card.data_of(command).map_or(0, |(_, len)| len);
            prop_assert!(len <= DATA_MAX);
            let answer = card.command(0, command, &mut vec![0xa5; len.min(70_000)]);
            prop_assert_eq!(answer == Answer::Silence, ![0, 3, 5, 7, 52, 53].contains(&number));
            card.look_at_line();
        }
    }
}
