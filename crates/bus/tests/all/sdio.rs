//! Command logs by rule, whose figures are known.

use std::io::Cursor;

use capture::{Bound, InterfaceSettings, PcapngWriter, Window};
use proptest::prelude::*;
use txop_bus::report::{Report, Sdio};
use txop_bus::{analyze_read, Error, Options};
use wire::linktype::LinkType;
use wire::pcap::ByteOrder;
use wire::sdio::htc::{Header, ToHost};
use wire::sdio::libertas::{kind, Packet};
use wire::sdio::log::{LoggedCommand, Record};
use wire::sdio::tuple::{manufacturer, Tuple, END, MANFID};
use wire::sdio::{number, registers as at, Direct, Extended};

/// A log in the making: commands of 10 us, 5 us after one another unless said otherwise.
struct Log {
    file: PcapngWriter<Vec<u8>>,
    now_ns: i64,
    bus_time: bool,
}

impl Log {
    fn new() -> Self {
        let mut file = PcapngWriter::new(Vec::new(), ByteOrder::Little).unwrap();
        file.add_interface(&InterfaceSettings::nanos(LinkType::SDIO_LOG)).unwrap();
        Self { file, now_ns: 1_000_000_000, bus_time: false }
    }

    fn record(&mut self, record: Record, data: &[u8], kept: usize) {
        let kept = 32usize.saturating_add(kept);
        let whole = [&record.emit()[..], data].concat();
        self.file.write(0, self.now_ns, whole.len() as u32, &whole[..whole.len().min(kept)]).unwrap();
    }

    fn wait_us(&mut self, us: i64) {
        self.now_ns += us * 1_000;
    }

    fn send(&mut self, number: u8, argument: u32, response: Option<u32>, data: &[u8]) {
        self.wait_us(15);
        let command = LoggedCommand {
            number,
            argument,
            response,
            fetched: true,
            bus_time: self.bus_time,
            wrong_crc: false,
            took_ns: 10_000,
            clock_hz: 25_000_000,
            bus_width: 4,
            block_bytes: 128,
            data_len: data.len() as u32,
        };
        self.record(Record::Command(command), data, usize::MAX);
    }

    fn line(&mut self, level: bool) {
        self.record(Record::Line(level), &[], 0);
    }

    fn read_byte(&mut self, function: u8, address: u32, value: u8) {
        let argument = Direct { function, address, ..Direct::default() }.emit();
        self.send(number::IO_RW_DIRECT, argument, Some(0x1000 | u32::from(value)), &[]);
    }

    fn transfer(&mut self, write: bool, address: u32, data: &[u8]) {
        let count = data.len() as u16;
        let argument = Extended { write, function: 1, incrementing: true, address, count, block_mode: false };
        self.send(number::IO_RW_EXTENDED, argument.emit(), Some(0x1000), data);
    }

    /// Its end is the end of the mailbox.
    fn write_mailbox(&mut self, data: &[u8]) {
        self.transfer(true, 0x1000 - data.len() as u32, data);
    }

    /// As Linux enumerates an AR6003, as far as it matters here; 4 + 8 CMD52.
    fn enumerate(&mut self) {
        self.enumerate_card(0x0271, 0x0301);
    }

    fn enumerate_card(&mut self, vendor: u16, device: u16) {
        self.send(number::GO_IDLE_STATE, 0, Some(0), &[]);
        // The host asks for a memory card; none answers.
        self.send(8, 0x1aa, None, &[]);
        for (address, value) in (at::CIS_POINTER..).zip([0x00, 0x10, 0x00]) {
            self.read_byte(0, address, value);
        }
        let mut chain = Vec::new();
        Tuple { code: MANFID, body: &manufacturer(vendor, device) }.emit(&mut chain);
        chain.push(END);
        for (address, value) in (0x1000..).zip(chain) {
            self.read_byte(0, address, value);
        }
    }

    /// The firmware starts, and endpoint 2 carries best effort.
    fn start(&mut self) {
        self.write_mailbox(&[1, 0, 0, 0]);
        let connected = ToHost::Connected { service: 0x101, endpoint: 2, message_max: 2048 };
        self.transfer(false, 0x800, &message(0, &connected.emit()));
    }

    fn report(self) -> Report {
        self.analyzed(&Options::default()).unwrap()
    }

    fn analyzed(self, options: &Options) -> Result<Report, Error> {
        analyze_read(Cursor::new(self.file.into_inner()), None, "log".to_owned(), options, &mut ())
    }
}

fn message(endpoint: u8, payload: &[u8]) -> Vec<u8> {
    let header = Header { endpoint, flags: 0, payload_len: payload.len() as u16, control: [0; 2] };
    let mut bytes = [&header.emit()[..], payload].concat();
    bytes.resize(bytes.len().next_multiple_of(128), 0);
    bytes
}

fn sdio(report: &Report) -> &Sdio {
    report.sdio.as_ref().unwrap()
}

fn texts(report: &Report) -> Vec<(&str, &str, &str)> {
    report.verdicts.iter().map(|v| (v.code.as_str(), v.tone.as_str(), v.text.as_str())).collect()
}

#[test]
fn commands_packets_and_interrupts_are_counted() {
    let mut log = Log::new();
    log.enumerate();
    log.start();
    // 30 rounds: the card interrupts, the host looks 40 us later, reads two packets at once, sends one.
    let two = [message(2, &[7; 300]), message(2, &[7; 300])].concat();
    for _ in 0..30 {
        log.line(true);
        log.wait_us(40);
        log.transfer(false, 0x400, &[0; 24]);
        log.transfer(false, 0x800, &two[..384]);
        log.transfer(false, 0x800, &two[384..]);
        log.line(false);
        log.write_mailbox(&message(2, &[9; 60]));
    }
    let report = log.report();
    let found = sdio(&report);
    assert_eq!((found.card.as_deref(), found.card_name.as_deref()), (Some("0271:0301"), Some("Atheros AR6003")));
    assert_eq!((found.clock_hz, found.bus_width), (Some(25_000_000), Some(4)));
    // 2 commands and 10 CMD52 of enumeration, 2 CMD53 of the start, 4 of each round.
    assert_eq!((found.commands, found.cmd52, found.cmd53), (134, 10, 122));
    assert_eq!((found.records, report.records), (194, 194));
    assert_eq!((found.unanswered, found.refused, found.failed_transfers), (1, 0, 0));
    let packets = found.packets.as_ref().unwrap();
    assert_eq!((packets.to_card, packets.to_card_transfers), (30, 30));
    assert_eq!((packets.to_host, packets.to_host_transfers), (60, 60));
    assert_eq!(packets.commands_per_packet, Some(132.0 / 90.0));
    assert_eq!(
        (found.interrupts, found.interrupt_response_us.map(|s| (s.n, s.min, s.max))),
        (30, Some((30, 45.0, 45.0)))
    );
    assert_eq!(found.took_us.map(|spread| (spread.n, spread.median, spread.max)), Some((134, 10.0, 10.0)));
    // The next command comes 5 us later, or 45 after an interrupt.
    assert_eq!(found.turnaround_us.map(|spread| (spread.n, spread.min, spread.max)), Some((133, 5.0, 45.0)));
    assert_eq!(found.written_size_bytes.map(|spread| (spread.n, spread.max)), Some((31, 128.0)));
    assert_eq!(found.read_bytes, 128 + 30 * (24 + 768));
    let top = &found.registers[0];
    assert_eq!((top.name.as_deref(), top.commands, top.direction.as_str()), (Some("mailbox"), 61, "in"));
    assert_eq!(report.summary.layer, "sdio");
    assert_eq!(
        texts(&report)[0],
        (
            "sdio-commands-per-packet",
            "neutral",
            "132 commands for 90 packets: 1.5 for each, 8 % of them CMD52 (10 of 132)."
        )
    );
    assert!(texts(&report).iter().any(
        |(_, _, text)| *text == "30 interrupts: the host's next command comes after 45 µs (n = 30) in the median."
    ));
    assert!(report.verdicts.iter().all(|verdict| verdict.code != "no-network" && verdict.code != "sdio-polling"));
}

#[test]
fn a_card_with_one_packet_for_each_command_is_counted_too() {
    const PORT: u32 = 0x1_0000;
    let mut log = Log::new();
    log.enumerate_card(0x02df, 0x9103);
    // Where the port is; a block of the helper; the firmware runs.
    for (address, value) in [(0, 0), (1, 0), (2, 1)] {
        log.read_byte(1, address, value);
    }
    log.transfer(true, PORT, &[60; 64]);
    log.read_byte(1, 0x34, 0xdc);
    log.read_byte(1, 0x35, 0xfe);
    let packet = |kind, len| {
        let mut bytes = Packet { kind, body: &vec![7; len] }.emit();
        bytes.resize(bytes.len().next_multiple_of(256), 0);
        bytes
    };
    // 30 rounds: a frame each way, with what the driver reads and writes around it, and an event.
    for _ in 0..30 {
        log.read_byte(1, 0x20, 0x0f);
        log.transfer(true, PORT, &packet(kind::DATA, 100));
        for (address, value) in [(5, 1), (5, 0xfe), (0x34, 200), (0x35, 0), (0x20, 0x0f)] {
            log.read_byte(1, address, value);
        }
        log.transfer(false, PORT, &packet(kind::DATA, 200));
        log.transfer(false, PORT, &packet(kind::EVENT, 4));
    }
    let report = log.report();
    let packets = sdio(&report).packets.as_ref().unwrap();
    assert_eq!((packets.protocol.as_str(), packets.to_card, packets.to_host), ("marvell-port", 30, 30));
    assert_eq!((packets.per_transfer_to_card, packets.per_transfer_to_host), (Some(1.0), Some(1.0)));
    // 10 CMD52 of the enumeration, 5 and a CMD53 of the start, 6 and 3 of each round.
    assert_eq!(packets.commands_per_packet, Some(286.0 / 60.0));
    assert_eq!(packets.cmd52_per_packet, Some(195.0 / 60.0));
    assert_eq!(
        texts(&report)[0],
        (
            "sdio-commands-per-packet",
            "bad",
            "286 commands for 60 packets: 4.8 for each, 68 % of them CMD52 (195 of 286)."
        )
    );
    let names = sdio(&report).registers.iter().filter(|row| row.command == "CMD52" && row.function == 1);
    let names: Vec<_> = names.take(3).filter_map(|row| row.name.as_deref()).collect();
    assert_eq!(names, ["cause of the interrupt", "status", "length of the next packet"]);
    assert!(report.summary.limits.iter().all(|limit| limit.code != "sdio-packets"));
}

#[test]
fn a_host_that_polls_is_named() {
    let mut log = Log::new();
    log.enumerate();
    log.start();
    for round in 0..100 {
        log.wait_us(10_000);
        log.read_byte(0, at::INTERRUPT_PENDING, if round % 4 == 0 { 2 } else { 0 });
    }
    let report = log.report();
    let found = sdio(&report);
    assert_eq!((found.pending_reads, found.pending_reads_idle, found.interrupts), (100, 75, 0));
    assert!(found.cmd52_per_s.is_some_and(|rate| (100.0..115.0).contains(&rate)), "{:?}", found.cmd52_per_s);
    assert_eq!(
        texts(&report)[0],
        ("sdio-polling", "bad", "The host polls for interrupts: 75 of 100 reads of Interrupt Pending found nothing.")
    );
    assert!(texts(&report).iter().any(|(code, ..)| *code == "sdio-commands"));
}

#[test]
fn errors_are_those_of_transfers() {
    let mut log = Log::new();
    log.enumerate();
    let argument = Extended { function: 2, count: 4, ..Extended::default() }.emit();
    log.send(number::IO_RW_EXTENDED, argument, Some(0x1200), &[]);
    log.send(number::IO_RW_EXTENDED, argument, None, &[]);
    let wrong = LoggedCommand { number: 53, response: Some(0x1000), wrong_crc: true, ..LoggedCommand::default() };
    log.wait_us(1);
    log.record(Record::Command(wrong), &[], 0);
    let report = log.report();
    let found = sdio(&report);
    assert_eq!((found.refused, found.wrong_crc, found.failed_transfers, found.unanswered), (1, 1, 3, 2));
    let (code, tone, text) = texts(&report)[0];
    assert_eq!((code, tone), ("sdio-errors", "bad"));
    assert_eq!(text, "3 of 13 CMD52 and CMD53 failed: 1 refused, 1 with a wrong CRC, 1 without an answer.");
}

#[test]
fn without_what_a_figure_needs_there_is_none() {
    // No enumeration: no card, no packets.
    let mut log = Log::new();
    for _ in 0..30 {
        log.transfer(false, 0x800, &message(2, &[7; 300]));
    }
    let report = log.report();
    assert!(sdio(&report).card.is_none() && sdio(&report).packets.is_none());
    let codes: Vec<&str> = report.summary.limits.iter().map(|limit| limit.code.as_str()).collect();
    assert_eq!(codes, ["sdio-no-bus-time", "sdio-no-enumeration", "sdio-packets"]);
    // Data that are cut: no packets, and the bytes are known all the same.
    let mut log = Log::new();
    log.enumerate();
    log.start();
    log.wait_us(1);
    let data = message(2, &[7; 300]);
    let argument = Extended { function: 1, incrementing: true, address: 0x800, count: 384, ..Extended::default() };
    let command = LoggedCommand {
        number: number::IO_RW_EXTENDED,
        argument: argument.emit(),
        response: Some(0x1000),
        data_len: data.len() as u32,
        ..LoggedCommand::default()
    };
    log.record(Record::Command(command), &data, 16);
    let report = log.report();
    assert_eq!((sdio(&report).cut_commands, sdio(&report).read_bytes), (1, 128 + 384));
    assert!(sdio(&report).packets.is_none());
    assert!(report.summary.limits.iter().any(|limit| limit.text.contains("the data of some commands are not whole")));
}

#[test]
fn time_on_the_wires_is_said_to_be_in_it_or_not() {
    let claims = |marks: &[bool]| {
        let mut log = Log::new();
        for &bus_time in marks {
            log.bus_time = bus_time;
            log.read_byte(0, 5, 0);
        }
        let report = log.report();
        (sdio(&report).bus_time, report.summary.limits.iter().any(|limit| limit.code == "sdio-no-bus-time"))
    };
    assert_eq!(claims(&[true, true]), (Some(true), false));
    assert_eq!(claims(&[false]), (Some(false), true));
    assert_eq!(claims(&[true, false]), (None, true));
}

#[test]
fn a_window_counts_its_part_and_knows_the_card_from_the_whole() {
    let mut log = Log::new();
    log.enumerate();
    log.start();
    log.wait_us(1_000_000);
    for _ in 0..25 {
        log.write_mailbox(&message(2, &[9; 60]));
    }
    let options = Options { window: Some(Window { from: Some(Bound::SinceFirst(500_000_000)), to: None }) };
    let report = log.analyzed(&options).unwrap();
    let found = sdio(&report);
    assert_eq!((found.commands, found.cmd52, found.card.as_deref()), (25, 0, Some("0271:0301")));
    assert_eq!(
        found.packets.as_ref().map(|packets| (packets.to_card, packets.commands_per_packet)),
        Some((25, Some(1.0)))
    );
}

#[test]
fn what_others_wrote_with_that_link_type_is_refused() {
    let mut log = Log::new();
    log.file.write(0, 5, 40, &[0; 40]).unwrap();
    let refused = log.analyzed(&Options::default());
    assert!(matches!(refused, Err(Error::NotUsb(why)) if why.contains("another program than txop")));
    // A record of another version is one that cannot be read.
    let mut log = Log::new();
    log.line(true);
    let mut other = Record::Line(true).emit();
    other[4] = 2;
    log.file.write(0, log.now_ns, 32, &other).unwrap();
    let report = log.report();
    assert_eq!((report.records, report.summary.unreadable), (1, 1));
    assert!(report.summary.unreadable_examples[0].contains("layout version 2"));
}

/// Headers of a kind that is read on, with any fields.
fn any_record() -> impl Strategy<Value = Vec<u8>> {
    let number = prop_oneof![Just(52u8), Just(53), 0u8..70];
    (number, 0u8..4, any::<[u8; 24]>(), prop::collection::vec(any::<u8>(), 0..300), any::<bool>()).prop_map(
        |(number, flags, fields, data, plain)| {
            let mut record = vec![b'S', b'D', b'I', b'O', 1, 1 + u8::from(number == 1), number, flags];
            record.extend(fields);
            if plain {
                record[28..32].copy_from_slice(&(data.len() as u32).to_le_bytes());
                record[13] = 0x10;
            }
            record.extend(data);
            record
        },
    )
}

proptest! {
    #[test]
    fn records_of_any_kind(records in prop::collection::vec((any_record(), any::<u32>()), 1..80)) {
        let mut log = Log::new();
        for (record, time) in &records {
            log.file.write(0, i64::from(*time) << 16, record.len() as u32, record).unwrap();
        }
        if let Ok(report) = log.analyzed(&Options::default()) {
            serde_json::to_vec(&report).expect("numbers that JSON can hold");
            if let Some(found) = &report.sdio {
                prop_assert_eq!(report.records, found.records);
                prop_assert!(found.cmd52 + found.cmd53 <= found.commands && found.commands <= found.records);
                prop_assert!(found.failed_transfers >= found.refused);
                let rows: u64 = found.registers.iter().map(|row| row.commands).sum();
                prop_assert_eq!(rows + found.other_commands, found.cmd52 + found.cmd53);
            }
        }
    }
}
