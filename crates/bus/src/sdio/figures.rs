//! Walks through the records of a log and counts.

use capture::Place;
use wire::sdio::command::flag;
use wire::sdio::log::{LoggedCommand, Record, TOOK_UNKNOWN};
use wire::sdio::{number, registers as at, Direct, Extended, Response5};

use super::card;
use super::card::Protocol;
use super::htc::{Mailbox, Moved};
use super::port::Port;
use super::registers::{self, Registers};
use crate::histogram::Histogram;
use crate::rate::Rate;
use crate::report::{Sdio, SdioPackets, Spread};

/// What one way of the bus has carried in CMD53.
#[derive(Clone, Debug, Default)]
struct Way {
    commands: u64,
    bytes: u64,
    sizes: Histogram,
    mailbox: Carried,
    port: Carried,
}

impl Way {
    const fn carried(&self, protocol: Protocol) -> Carried {
        match protocol {
            Protocol::Htc => self.mailbox,
            Protocol::Port => self.port,
        }
    }
}

/// Transfers with packets, and these.
#[derive(Clone, Copy, Debug, Default)]
struct Carried {
    transfers: u64,
    packets: u64,
}

impl Carried {
    fn add(&mut self, moved: Option<Moved>) {
        if let Some(moved) = moved.filter(|moved| moved.packets > 0) {
            self.transfers += 1;
            self.packets += moved.packets;
        }
    }
}

/// See the module.
#[derive(Clone, Debug, Default)]
pub(crate) struct Commands {
    /// Records of the window.
    pub(crate) records: u64,
    /// Records of the whole log.
    pub(crate) seen: u64,
    commands: u64,
    cmd52_reads: u64,
    cmd52_writes: u64,
    to_card: Way,
    to_host: Way,
    block_mode: u64,
    unanswered: u64,
    refused: u64,
    wrong_crc: u64,
    failed_io: u64,
    unanswered_io: u64,
    not_fetched: u64,
    cut: u64,
    pending_reads: u64,
    pending_reads_idle: u64,
    rises: u64,
    took: Histogram,
    cmd52_took: Histogram,
    cmd53_took: Histogram,
    turnaround: Histogram,
    response: Histogram,
    busy_ns: u64,
    rate: Rate,
    first_ns: Option<i64>,
    last_ns: i64,
    /// Commands that took their time on the wires.
    with_bus_time: u64,
    clock_hz: u32,
    bus_width: u8,
    registers: Registers,
    /// From the whole log: which card it is, and what its mailbox or its port holds.
    card: card::Registers,
    mailbox: Mailbox,
    port: Port,
    cut_anywhere: bool,
    /// When the host had the status of the command before; when the line rose, until a command follows.
    ended_ns: Option<i64>,
    rose_ns: Option<i64>,
}

/// A spread of nanoseconds, in microseconds.
fn in_us(histogram: &Histogram) -> Option<Spread> {
    let ns = histogram.spread()?;
    let us = |value: f64| value / 1_000.0;
    Some(Spread {
        min: us(ns.min),
        p5: us(ns.p5),
        median: us(ns.median),
        p95: us(ns.p95),
        p99: us(ns.p99),
        max: us(ns.max),
        mean: us(ns.mean),
        ..ns
    })
}

fn since(from: i64, to: i64) -> Option<u64> {
    to.checked_sub(from).and_then(|ns| u64::try_from(ns).ok())
}

fn share(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}

impl Commands {
    /// Takes the next record.
    pub(crate) fn push(&mut self, time_ns: Option<i64>, record: &Record, data: &[u8], place: Place) {
        let inside = place == Place::Inside;
        self.seen += 1;
        self.records += u64::from(inside);
        match record {
            Record::Line(level) => {
                self.rises += u64::from(*level && inside);
                self.rose_ns = time_ns.filter(|_| *level && inside);
            }
            Record::Command(command) => self.command(time_ns, command, data, inside),
        }
    }

    fn command(&mut self, time_ns: Option<i64>, command: &LoggedCommand, data: &[u8], inside: bool) {
        let began = time_ns.filter(|_| command.took_ns != TOOK_UNKNOWN);
        let began = began.and_then(|ns| ns.checked_sub(i64::from(command.took_ns)));
        if inside {
            self.times(time_ns, began, command);
        }
        self.ended_ns = began.and(time_ns);
        let cut = data.len() < command.data_len as usize;
        self.cut_anywhere |= cut;
        let response = command.response.map(Response5::parse);
        let is_io = matches!(command.number, number::IO_RW_DIRECT | number::IO_RW_EXTENDED);
        let is_accepted = response.is_some_and(|response| response.flags & flag::ERRORS == 0);
        let done = is_io && is_accepted && !command.wrong_crc;
        if inside {
            self.commands += 1;
            self.cut += u64::from(cut);
            self.unanswered += u64::from(command.response.is_none() && !command.wrong_crc);
            self.refused += u64::from(is_io && command.response.is_some() && !is_accepted);
            self.wrong_crc += u64::from(command.wrong_crc);
            self.failed_io += u64::from(is_io && !done);
            self.unanswered_io += u64::from(is_io && command.response.is_none() && !command.wrong_crc);
            self.not_fetched += u64::from(!command.fetched);
            self.with_bus_time += u64::from(command.bus_time);
            (self.clock_hz, self.bus_width) = (command.clock_hz, command.bus_width);
        }
        match command.number {
            number::IO_RW_DIRECT => self.direct(Direct::parse(command.argument), response.filter(|_| done), inside),
            number::IO_RW_EXTENDED => self.extended(command, data, done, inside),
            // The card starts over, and its firmware with it.
            number::GO_IDLE_STATE => {
                self.mailbox.start_over();
                self.port.start_over();
            }
            _ => {}
        }
    }

    fn times(&mut self, time_ns: Option<i64>, began: Option<i64>, command: &LoggedCommand) {
        let Some(ended) = time_ns else { return };
        self.rate.add(ended.div_euclid(1_000));
        let first = began.unwrap_or(ended);
        self.first_ns = Some(self.first_ns.map_or(first, |known| known.min(first)));
        self.last_ns = if self.commands == 0 { ended } else { self.last_ns.max(ended) };
        let Some(began) = began else { return };
        let took = u64::from(command.took_ns);
        self.busy_ns = self.busy_ns.saturating_add(took);
        self.took.add(took);
        match command.number {
            number::IO_RW_DIRECT => self.cmd52_took.add(took),
            number::IO_RW_EXTENDED => self.cmd53_took.add(took),
            _ => {}
        }
        if let Some(waited) = self.ended_ns.and_then(|before| since(before, began)) {
            self.turnaround.add(waited);
        }
        // A command that was under way when the line rose does not answer it, and one that begins at that very moment made it rise:
        // the card does at once what a command asks for, and the line's record stands in front of the command's.
        if let Some(waited) = self.rose_ns.and_then(|rose| since(rose, began)).filter(|waited| *waited > 0) {
            self.response.add(waited);
            self.rose_ns = None;
        }
    }

    fn direct(&mut self, command: Direct, response: Option<Response5>, inside: bool) {
        let Direct { write, function, address, .. } = command;
        if let Some(response) = response.filter(|_| function == 0 && !write) {
            self.card.read(address, response.data);
        }
        if let Some(response) = response.filter(|_| function == 1 && !write) {
            self.port.register(address, response.data);
        }
        if !inside {
            return;
        }
        if write {
            self.cmd52_writes += 1;
        } else {
            self.cmd52_reads += 1;
        }
        if (write, function, address) == (false, 0, at::INTERRUPT_PENDING) {
            self.pending_reads += 1;
            self.pending_reads_idle += u64::from(response.is_some_and(|response| response.data == 0));
        }
        let number = number::IO_RW_DIRECT;
        self.registers.add(registers::Place { number, write, function, address }, 1);
    }

    fn extended(&mut self, command: &LoggedCommand, data: &[u8], done: bool, inside: bool) {
        let Extended { write, function, block_mode, incrementing, address, .. } = Extended::parse(command.argument);
        if function == 0 && !write && done && incrementing {
            for (address, byte) in (address..).zip(data) {
                self.card.read(address, *byte);
            }
        }
        if function == 1 && !done {
            self.port.failed();
        }
        let (mailbox, port) = match (done && function == 1, write) {
            (false, _) => (None, None),
            (true, true) => (self.mailbox.written(address, data), self.port.written(address, data)),
            (true, false) => (self.mailbox.read(address, data), self.port.read(address, data)),
        };
        if !inside {
            return;
        }
        let bytes = u64::from(command.data_len);
        self.block_mode += u64::from(block_mode);
        let way = if write { &mut self.to_card } else { &mut self.to_host };
        way.commands += 1;
        if done {
            way.bytes += bytes;
            way.sizes.add(bytes);
        }
        way.mailbox.add(mailbox);
        way.port.add(port);
        let number = number::IO_RW_EXTENDED;
        self.registers.add(registers::Place { number, write, function, address }, bytes);
    }

    /// Time steps back: nothing after it follows something before it.
    pub(crate) fn restart(&mut self) {
        self.rate.restart();
        self.ended_ns = None;
        self.rose_ns = None;
    }

    /// Figures of the log; `None`: the window has no record of one. `is_one`: time does not step back by more than a little.
    pub(crate) fn report(&self, is_one: bool) -> Option<Sdio> {
        if self.records == 0 {
            return None;
        }
        let identity = self.card.identity();
        let (cmd52, cmd53) = (self.cmd52_reads + self.cmd52_writes, self.to_card.commands + self.to_host.commands);
        let span_ns = self.first_ns.and_then(|first| since(first, self.last_ns)).filter(|ns| *ns > 0 && is_one);
        let rated = self.rate.rated_span_s().filter(|_| is_one);
        let per_s = |count: u64| rated.map(|span| count as f64 / span);
        let protocol = identity.and_then(card::Identity::protocol);
        let (registers, other_commands) = self.registers.report(protocol);
        Some(Sdio {
            records: self.records,
            card: identity.map(card::Identity::ids),
            card_name: identity.and_then(card::Identity::name).map(str::to_owned),
            bus_time: match self.with_bus_time {
                0 => Some(false),
                n => (n == self.commands).then_some(true),
            },
            clock_hz: (self.clock_hz > 0).then(|| u64::from(self.clock_hz)),
            bus_width: (self.bus_width > 0).then(|| u64::from(self.bus_width)),
            commands: self.commands,
            commands_per_s: self.rate.mean_per_s().filter(|_| is_one),
            cmd52,
            cmd52_reads: self.cmd52_reads,
            cmd52_writes: self.cmd52_writes,
            cmd53,
            cmd53_reads: self.to_host.commands,
            cmd53_writes: self.to_card.commands,
            cmd53_block_mode: self.block_mode,
            cmd52_share: share(cmd52, cmd52 + cmd53),
            cmd52_per_s: per_s(cmd52),
            cmd53_per_s: per_s(cmd53),
            read_bytes: self.to_host.bytes,
            written_bytes: self.to_card.bytes,
            read_size_bytes: self.to_host.sizes.spread(),
            written_size_bytes: self.to_card.sizes.spread(),
            cut_commands: self.cut,
            unanswered: self.unanswered,
            refused: self.refused,
            wrong_crc: self.wrong_crc,
            failed_transfers: self.failed_io,
            unanswered_transfers: Some(self.unanswered_io),
            not_fetched: self.not_fetched,
            took_us: in_us(&self.took),
            cmd52_took_us: in_us(&self.cmd52_took),
            cmd53_took_us: in_us(&self.cmd53_took),
            turnaround_us: in_us(&self.turnaround),
            busy_us: self.took.spread().map(|_| self.busy_ns as f64 / 1_000.0),
            span_us: span_ns.map(|ns| ns as f64 / 1_000.0),
            interrupts: self.rises,
            interrupts_per_s: per_s(self.rises),
            interrupt_response_us: in_us(&self.response),
            pending_reads: self.pending_reads,
            pending_reads_idle: self.pending_reads_idle,
            packets: self.packets(protocol, cmd52, cmd53),
            registers,
            other_commands,
        })
    }

    /// `None`: what the mailbox or the port holds is not known.
    fn packets(&self, protocol: Option<Protocol>, cmd52: u64, cmd53: u64) -> Option<SdioPackets> {
        let protocol = protocol.filter(|_| !self.cut_anywhere)?;
        let is_followed = match protocol {
            Protocol::Htc => self.mailbox.is_followed(),
            Protocol::Port => self.port.is_followed(),
        };
        if !is_followed {
            return None;
        }
        let (to_card, to_host) = (self.to_card.carried(protocol), self.to_host.carried(protocol));
        let packets = to_card.packets + to_host.packets;
        Some(SdioPackets {
            protocol: protocol.name().to_owned(),
            to_card: to_card.packets,
            to_card_transfers: to_card.transfers,
            to_host: to_host.packets,
            to_host_transfers: to_host.transfers,
            per_transfer_to_card: share(to_card.packets, to_card.transfers),
            per_transfer_to_host: share(to_host.packets, to_host.transfers),
            commands_per_packet: share(cmd52 + cmd53, packets),
            cmd52_per_packet: share(cmd52, packets),
        })
    }
}
