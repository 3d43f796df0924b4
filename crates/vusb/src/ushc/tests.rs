use proptest::prelude::*;
use sdio::CardIdentity;
use wire::sdio::command::flag;
use wire::sdio::log::Record;
use wire::sdio::slot::{BusSettings, SlotCommand, SlotMessage};
use wire::sdio::{registers as at, Direct, Response5};

use super::*;
use crate::fault::{Faulty, Script};
use crate::session::Slot;

/// A card with a function that interrupts as long as register 0 is set.
struct Chip(u8);

impl Function for Chip {
    fn identity(&self) -> CardIdentity {
        CardIdentity { vendor: 1, device: 2, block_bytes_max: 512, version: b"" }
    }
    fn read(&mut self, _now_ns: u64, _address: u32, _incrementing: bool, data: &mut [u8]) {
        data.fill(self.0);
    }
    fn write(&mut self, _now_ns: u64, _address: u32, _incrementing: bool, data: &[u8]) {
        self.0 = data.last().copied().unwrap_or(0);
    }
    fn interrupts(&self) -> bool {
        self.0 != 0
    }
    fn advance(&mut self, _now_ns: u64) {}
    fn next_event(&self) -> Option<u64> {
        None
    }
    fn power_on(&mut self, _now_ns: u64) {
        self.0 = 0;
    }
}

impl SdioChip for Chip {
    fn statistics(&self, _bus: SdioStatistics) -> Box<dyn DeviceCounters> {
        unimplemented!()
    }
}

fn vendor(controller: &mut Ushc<Chip>, request: u8, value: u16) {
    let setup = Setup { request_type: 0x40, request, value, index: 0, length: 0 };
    assert_eq!(controller.control(0, setup, &[]), ControlReply::Accepted);
}

const SETTINGS: Settings =
    Settings { repeat_ns: 500_000, bus_time: false, card: BusAbility { four_lines: true, high_speed: true } };

fn powered() -> Ushc<Chip> {
    powered_with(SETTINGS)
}

fn powered_with(settings: Settings) -> Ushc<Chip> {
    let mut controller = Ushc::new(Chip(0), settings);
    controller.reset(0);
    vendor(&mut controller, request::RESET, 0);
    vendor(&mut controller, request::POWER, 1);
    controller
}

fn command(controller: &mut Ushc<Chip>, number: u8, block_bytes: u16, argument: u32) {
    let block = CommandBlock { number, block_bytes, argument };
    assert_eq!(controller.transfer_out(0, ushc::BULK_OUT, &block.emit()), OutReply::Accepted);
}

fn reply(controller: &mut Ushc<Chip>) -> Option<Vec<u8>> {
    let mut transfer = Vec::new();
    (controller.transfer_in(0, ushc::BULK_IN, &mut transfer) == InReply::Unterminated).then_some(transfer)
}

fn status(controller: &mut Ushc<Chip>) -> StatusBlock {
    StatusBlock::parse(&reply(controller).unwrap()).unwrap()
}

fn interrupt(controller: &mut Ushc<Chip>, now_ns: u64) -> Option<u8> {
    let mut transfer = Vec::new();
    (controller.transfer_in(now_ns, INTERRUPT_IN, &mut transfer) == InReply::Unterminated).then(|| transfer[0])
}

fn write(address: u32, data: u8, function: u8) -> u32 {
    Direct { write: true, function, address, data, ..Direct::default() }.emit()
}

#[test]
fn data_come_before_the_status() {
    let mut controller = powered();
    command(&mut controller, number::IO_RW_DIRECT, 0, write(7, 0x5a, 1));
    assert_eq!(Response5::parse(status(&mut controller).response), Response5 { flags: flag::STATE_CMD, data: 0x5a });
    let read = Extended { function: 1, count: 3, ..Extended::default() };
    command(&mut controller, number::IO_RW_EXTENDED, 3, read.emit());
    assert_eq!(reply(&mut controller), Some(vec![0x5a; 3]));
    assert_eq!(status(&mut controller).status, 0);
    assert_eq!(reply(&mut controller), None);

    command(&mut controller, number::IO_RW_EXTENDED, 3, Extended { write: true, ..read }.emit());
    assert_eq!(reply(&mut controller), None, "the data are to come");
    controller.transfer_out(0, ushc::BULK_OUT, &[1, 2, 3]);
    assert_eq!((status(&mut controller).status, controller.card.function().0), (0, 3));

    // A function that is not there: an empty transfer in place of the data.
    command(&mut controller, number::IO_RW_EXTENDED, 3, Extended { function: 2, ..read }.emit());
    assert_eq!(reply(&mut controller), Some(Vec::new()));
    assert_eq!(Response5::parse(status(&mut controller).response).flags & flag::ERRORS, flag::FUNCTION_NUMBER);
}

#[test]
fn a_card_without_power_does_not_answer() {
    let mut controller = powered();
    vendor(&mut controller, request::POWER, 0);
    command(&mut controller, number::IO_SEND_OP_COND, 0, 0);
    assert_eq!(status(&mut controller).status, error::COMMAND | error::TIMEOUT);
}

#[test]
fn a_line_that_stays_up_is_reported_again() {
    let mut controller = powered();
    assert_eq!(interrupt(&mut controller, 0), Some(ushc::CARD_PRESENT));
    assert_eq!((interrupt(&mut controller, 1), controller.next_event()), (None, None));
    for argument in [write(at::INTERRUPT_ENABLE, 3, 0), write(0, 1, 1)] {
        command(&mut controller, number::IO_RW_DIRECT, 0, argument);
        status(&mut controller);
    }
    let both = Some(ushc::CARD_PRESENT | ushc::CARD_INTERRUPT);
    assert_eq!((interrupt(&mut controller, 10), controller.next_event()), (both, Some(500_010)));
    assert_eq!(interrupt(&mut controller, 500_009), None);
    controller.advance(500_010);
    assert_eq!(controller.next_event(), None, "it is due, and waits for the host");
    assert_eq!(interrupt(&mut controller, 500_010), both);
    command(&mut controller, number::IO_RW_DIRECT, 0, write(0, 0, 1));
    assert_eq!(interrupt(&mut controller, 500_011), Some(ushc::CARD_PRESENT));
    assert_eq!(controller.next_event(), None);
}

proptest! {
    #[test]
    fn any_transfers_are_survived(transfers in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..40), 0..200)) {
        let mut controller = powered();
        for (number, mut transfer) in transfers.into_iter().enumerate() {
            if number % 3 == 0 {
                transfer.resize(8, 0);
                (transfer[0], transfer[1]) = (b'C', 52 + transfer[1] % 2);
            }
            let _ = controller.transfer_out(0, ushc::BULK_OUT, &transfer);
            prop_assert!(controller.replies.len() <= REPLIES_MAX + 2);
            let _ = (reply(&mut controller), interrupt(&mut controller, number as u64));
        }
    }
}

#[test]
fn a_reply_waits_for_the_wires() {
    let mut controller = powered_with(Settings { bus_time: true, ..SETTINGS });
    vendor(&mut controller, request::HOST_CONTROL, ushc::WIDTH_4);
    command(&mut controller, number::IO_RW_DIRECT, 0, 0);
    assert_eq!(status(&mut controller).status, 0, "without a clock there is no time");
    // 25 MHz: a clock is 40 ns.
    let hz = 25_000_000u32;
    let setup =
        Setup { request_type: 0x40, request: request::CLOCK, value: hz as u16, index: (hz >> 16) as u16, length: 0 };
    controller.control(0, setup, &[]);
    let at = |controller: &mut Ushc<Chip>, now_ns| {
        let mut transfer = Vec::new();
        controller.transfer_in(now_ns, ushc::BULK_IN, &mut transfer) == InReply::Unterminated
    };
    command(&mut controller, number::IO_RW_DIRECT, 0, 0);
    assert_eq!(controller.next_event(), Some(112 * 40));
    assert!(!at(&mut controller, 112 * 40 - 1) && at(&mut controller, 112 * 40));
    assert_eq!(controller.next_event(), None, "nothing waits any more");
    // 8 bytes over four lines: 16 clocks, and what is around them.
    controller.advance(10_000);
    let read = Extended { function: 1, count: 8, ..Extended::default() };
    let block = CommandBlock { number: number::IO_RW_EXTENDED, block_bytes: 8, argument: read.emit() };
    controller.transfer_out(10_000, ushc::BULK_OUT, &block.emit());
    let end = 10_000 + (114 + 16 + 18) * 40;
    assert_eq!(controller.next_event(), Some(end));
    assert!(!at(&mut controller, end - 1) && at(&mut controller, end) && at(&mut controller, end));
}

/// Records of a command log: time in ns, header, data.
fn logged(file: &std::path::Path) -> Vec<(i64, Record, Vec<u8>)> {
    let mut reader = capture::Reader::open(file, capture::Options::default()).unwrap();
    let mut found = Vec::new();
    while let Some(record) = reader.next().unwrap() {
        assert_eq!(record.link_type, wire::linktype::LinkType::SDIO_LOG);
        let (parsed, data) = Record::parse(record.data).unwrap();
        found.push((record.time_ns.unwrap(), parsed, data.to_vec()));
    }
    found
}

#[test]
fn every_command_is_in_the_log_with_its_time_and_data() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("sdio.pcapng");
    let settings = crate::record::settings(monitor::Origin::Emulated, 0, None);
    let mut controller = powered().with_log(Some(CommandFile::create(&path, &settings).unwrap()));
    vendor(&mut controller, request::HOST_CONTROL, ushc::WIDTH_4);
    for argument in [write(at::INTERRUPT_ENABLE, 3, 0), write(7, 0x5a, 1)] {
        command(&mut controller, number::IO_RW_DIRECT, 0, argument);
        status(&mut controller);
    }
    // The line rises, is reported twice, and is one change all the same.
    assert!(interrupt(&mut controller, 100).is_some() && interrupt(&mut controller, 600_000).is_some());
    // Data towards the card come after the command; the status is fetched later still.
    let argument = Extended { write: true, function: 1, address: 0x800, count: 3, ..Extended::default() }.emit();
    let block = CommandBlock { number: number::IO_RW_EXTENDED, block_bytes: 3, argument };
    controller.transfer_out(700_000, ushc::BULK_OUT, &block.emit());
    controller.transfer_out(700_500, ushc::BULK_OUT, &[1, 2, 3]);
    controller.transfer_in(701_000, ushc::BULK_IN, &mut Vec::new());
    // A read, and one of a function that is not there: no data came.
    for function in [1, 2] {
        command(
            &mut controller,
            number::IO_RW_EXTENDED,
            3,
            Extended { function, count: 3, ..Extended::default() }.emit(),
        );
        reply(&mut controller);
        status(&mut controller);
    }
    command(&mut controller, 8, 0, 0x1aa);
    // Pulled before the host has fetched that status.
    controller.reset(900_000);
    controller.log.as_mut().unwrap().finish().unwrap();

    let records = logged(&path);
    let commands: Vec<_> = records
        .iter()
        .filter_map(|(time, record, data)| match record {
            Record::Command(command) => Some((*time, *command, data.clone())),
            Record::Line(_) => None,
        })
        .collect();
    let lines: Vec<_> = records
        .iter()
        .filter_map(|(time, record, _)| matches!(record, Record::Line(_)).then_some((*time, *record)))
        .collect();
    assert_eq!(lines, [(100, Record::Line(true))]);
    assert_eq!(commands.iter().map(|(_, command, _)| command.number).collect::<Vec<_>>(), [52, 52, 53, 53, 53, 8]);
    let (time, sent, data) = &commands[2];
    assert_eq!((*time, sent.took_ns, sent.data_len, &data[..]), (701_000, 1_000, 3, &[1, 2, 3][..]));
    assert_eq!((sent.bus_width, sent.block_bytes, sent.argument, sent.fetched), (4, 3, argument, true));
    assert_eq!((commands[3].2.clone(), commands[3].1.data_len), (vec![3; 3], 3));
    let refused = commands[4].1;
    assert_eq!((commands[4].2.len(), refused.data_len), (0, 0));
    assert_eq!(Response5::parse(refused.response.unwrap()).flags & flag::ERRORS, flag::FUNCTION_NUMBER);
    let last = commands[5].1;
    assert_eq!((last.response, last.fetched, last.took_ns), (None, false, u32::MAX));
}

/// A controller around which a fault script is.
fn with_faults(script: &str) -> Faulty<Ushc<Chip>> {
    let mut device = Faulty::new(powered(), Script::parse(script).unwrap());
    device.reset(0);
    let setup = Setup { request_type: 0x40, request: request::POWER, value: 1, index: 0, length: 0 };
    device.control(0, setup, &[]);
    device
}

/// A command with the data that it writes: the data of its reply, where it reads, and the status.
fn exchange(device: &mut Faulty<Ushc<Chip>>, argument: Extended, data: &[u8]) -> (Option<Vec<u8>>, StatusBlock) {
    let block = CommandBlock { number: number::IO_RW_EXTENDED, block_bytes: 4, argument: argument.emit() };
    device.transfer_out(0, ushc::BULK_OUT, &block.emit());
    if argument.write {
        device.transfer_out(0, ushc::BULK_OUT, data);
    }
    let mut next = || {
        let mut transfer = Vec::new();
        assert_eq!(device.transfer_in(0, ushc::BULK_IN, &mut transfer), InReply::Unterminated);
        transfer
    };
    let read = (!argument.write).then(&mut next);
    (read, StatusBlock::parse(&next()).unwrap())
}

#[test]
fn faults_happen_to_the_commands_that_they_name() {
    let script = |action: &str| {
        format!("[[fault]]\nname = \"f\"\ncommand = 53\nfunction = 1\naddress = 7\nnth = 2\ntimes = 1\n{action}\n")
    };
    let read = Extended { function: 1, address: 7, count: 4, ..Extended::default() };
    let other = Extended { address: 8, ..read };
    let whole = (Some(vec![0; 4]), 0);
    for (action, second) in [
        ("action = \"no_answer\"", (Some(Vec::new()), error::COMMAND | error::TIMEOUT | error::DATA)),
        ("action = \"crc\"", (Some(Vec::new()), error::DATA | error::CRC)),
        ("action = \"refuse\"", (Some(Vec::new()), 0)),
        ("action = \"corrupt\"\nor = 0x201\nxor = 0x80", (Some(vec![0x81, 0x82, 0x80, 0x80]), 0)),
    ] {
        let mut device = with_faults(&script(action));
        let mut done = |argument| {
            let (data, status) = exchange(&mut device, argument, &[]);
            ((data, status.status), status.response)
        };
        // The second of those that are named, whatever comes between.
        assert_eq!((done(read).0, done(other).0), (whole.clone(), whole.clone()), "{action}");
        let (found, response) = done(read);
        assert_eq!(found, second, "{action}");
        let flags = Response5::parse(response).flags & flag::ERRORS;
        assert_eq!(flags, if action.contains("refuse") { flag::ERROR } else { 0 }, "{action}");
        assert_eq!(done(read).0, whole, "{action}");
        let mut events = Vec::new();
        device.fault_events(&mut events);
        assert_eq!(events.len(), 1, "{action}");
    }
}

#[test]
fn what_a_card_does_not_get_it_does_not_do() {
    let write = Extended { write: true, function: 1, count: 4, ..Extended::default() };
    let read = Extended { write: false, ..write };
    for (action, kept) in [("no_answer", 0), ("crc", 0), ("refuse", 0), ("corrupt\"\nxor = 3 #", 4 ^ 3)] {
        let mut device = with_faults(&format!("[[fault]]\ncommand = 53\ndirection = \"out\"\naction = \"{action}\"\n"));
        exchange(&mut device, write, &[1, 2, 3, 4]);
        assert_eq!(exchange(&mut device, read, &[]).0, Some(vec![kept; 4]), "{action}");
    }
    // Data that look like a command are none.
    let mut device = with_faults("[[fault]]\ncommand = 53\nnth = 2\naction = \"no_answer\"\n");
    let write = Extended { count: 8, ..write };
    let data = CommandBlock { number: number::IO_RW_EXTENDED, block_bytes: 4, argument: write.emit() }.emit();
    exchange(&mut device, write, &data);
    assert_eq!(
        exchange(&mut device, Extended { write: false, ..write }, &[]).1.status,
        error::COMMAND | error::TIMEOUT | error::DATA
    );
}

/// The card in the slot of a host in the kernel ([`crate::session::Slot`]): what a message to it is answered with.
fn in_kernel(slot: &mut Slot, device: &mut impl Device, command: SlotCommand, data: &[u8]) -> Vec<Vec<u8>> {
    let mut message = SlotCommand { len: data.len() as u32, ..command }.emit();
    message.extend_from_slice(data);
    slot.receive(&message).unwrap();
    slot.pump(0, device);
    slot.output().drain(..).collect()
}

fn answer(sequence: u32, status: u8, response: u8, data: &[u8], line: bool) -> Vec<u8> {
    let response = Response5 { flags: flag::STATE_CMD, data: response }.emit();
    SlotMessage::Answer { sequence, status: StatusBlock { status, response }, data }.emit(line)
}

const BUS: BusSettings = BusSettings { lines: 4, high_speed: true, power_ups: 1, clock_hz: 50_000_000 };
const DIRECT: SlotCommand =
    SlotCommand { sequence: 1, number: number::IO_RW_DIRECT, argument: 0, block_bytes: 0, len: 0, bus: BUS };

#[test]
fn a_slot_in_the_kernel_gets_the_same_answers() {
    let mut device = Ushc::new(Chip(0), SETTINGS);
    device.reset(0);
    let mut slot = Slot::default();
    let enable = SlotCommand { argument: write(at::INTERRUPT_ENABLE, 3, 0), ..DIRECT };
    assert_eq!(in_kernel(&mut slot, &mut device, enable, &[]), [answer(1, 0, 3, &[], false)]);
    assert_eq!((device.counters.power_ups, device.counters.clock_hz, device.counters.bus_width), (1, 50_000_000, 4));

    // What is written raises the line, which the answer has.
    let extended = SlotCommand { sequence: 2, number: number::IO_RW_EXTENDED, block_bytes: 3, ..DIRECT };
    let argument = Extended { function: 1, count: 3, ..Extended::default() };
    let writing = SlotCommand { argument: Extended { write: true, ..argument }.emit(), ..extended };
    assert_eq!(in_kernel(&mut slot, &mut device, writing, &[1, 2, 9]), [answer(2, 0, 0, &[], true)]);
    let reading = SlotCommand { argument: argument.emit(), sequence: 3, ..extended };
    assert_eq!(in_kernel(&mut slot, &mut device, reading, &[]), [answer(3, 0, 0, &[9; 3], true)]);

    // Power off and on again: the card has forgotten it, and the line falls with its answer.
    let again = SlotCommand { bus: BusSettings { power_ups: 2, ..BUS }, sequence: 4, ..DIRECT };
    let lines = in_kernel(&mut slot, &mut device, SlotCommand { argument: write(7, 0, 1), ..again }, &[]);
    assert_eq!(lines, [answer(4, 0, 0, &[], false)]);
    assert_eq!(device.counters.power_ups, 2);
}

#[test]
fn a_line_that_rises_between_commands_is_reported_once() {
    let mut device = Ushc::new(Chip(0), Settings { repeat_ns: 1 << 40, ..SETTINGS });
    device.reset(0);
    let mut slot = Slot::default();
    let enable = SlotCommand { argument: write(at::INTERRUPT_ENABLE, 3, 0), ..DIRECT };
    in_kernel(&mut slot, &mut device, enable, &[]);
    device.card.function_mut().0 = 1;
    slot.pump(1, &mut device);
    slot.pump(2, &mut device);
    assert_eq!(slot.output().drain(..).collect::<Vec<_>>(), [SlotMessage::Line.emit(true)]);
    device.card.function_mut().0 = 0;
    slot.pump(3, &mut device);
    assert_eq!(slot.output().drain(..).collect::<Vec<_>>(), [SlotMessage::Line.emit(false)]);
}

#[test]
fn faults_reach_a_slot_in_the_kernel() {
    let script = Script::parse("[[fault]]\nname = \"x\"\ncommand = 52\ntimes = 1\naction = \"no_answer\"\n").unwrap();
    let mut device = Faulty::new(Ushc::new(Chip(0), SETTINGS), script);
    device.reset(0);
    let mut slot = Slot::default();
    let message = in_kernel(&mut slot, &mut device, DIRECT, &[]).remove(0);
    assert_eq!((message[4], message[5]), (1, error::COMMAND | error::TIMEOUT));
    assert_eq!(in_kernel(&mut slot, &mut device, DIRECT, &[]).len(), 1);
}

proptest! {
    #[test]
    fn any_messages_to_a_slot_are_survived(messages in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..60), 0..60)) {
        let mut device = powered();
        let mut slot = Slot::default();
        for message in messages {
            let _ = slot.receive(&message);
            slot.pump(0, &mut device);
            prop_assert!(slot.output().len() <= 64);
            slot.output().clear();
        }
    }
}
