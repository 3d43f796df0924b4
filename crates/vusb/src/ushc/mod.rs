//! An SD host controller on USB with an SDIO card in its slot, which Linux' `ushc` drives (drivers/mmc/host/ushc.c): so an
//! unmodified kernel drives virtual SDIO cards, too.
//!
//! The controller has no buffers and no time of its own: a command is carried out when it has come, and what USB/IP and the host
//! make of it is all that it costs, unless its time on the wires is modelled ([`Settings::bus_time`]).

mod log;
mod statistics;
#[cfg(test)]
mod tests;

use std::collections::VecDeque;
use std::os::fd::RawFd;

use sdio::{Answer, BusAbility, Card, Command, Function};
use wire::sdio::command::flag;
use wire::sdio::{clocks, number, Extended, Response5};
use wire::usb::setup::Setup;
use wire::usb::ushc::{self, error, request, CommandBlock, StatusBlock};

use crate::descriptors::{self, BULK, BULK_PACKET, INTERRUPT};
use crate::device::{
    CommandFault, ControlReply, Device, DeviceCounters, Effect, Identity, InReply, OutReply, Source, Speed,
};
use crate::record::CommandFile;
use crate::state::{Reader, State as _, StateError, Writer};
use log::Log;
pub use statistics::{HostCounters, SdioStatistics};

/// Interrupt endpoint. The driver takes the first one of the interface, whatever its number.
pub(crate) const INTERRUPT_IN: u8 = 1;
/// Polled every microframe.
const INTERVAL: u8 = 1;
/// What is sent to the host and was not fetched yet, at most: the driver has one command under way.
const REPLIES_MAX: usize = 64;

/// What a card's function needs of this program besides its registers.
pub trait SdioChip: Function {
    /// Descriptors to wait for.
    fn sources(&self, _sources: &mut Vec<Source>) {}

    /// One of its descriptors can be read.
    fn readable(&mut self, _now_ns: u64, _fd: RawFd) {}

    /// Injects an internal fault; `false`: it has no such fault.
    fn inject(&mut self, _now_ns: u64, _effect: Effect) -> bool {
        false
    }

    /// What it has counted, with what was counted of its card and of the host controller.
    fn statistics(&self, bus: SdioStatistics) -> Box<dyn DeviceCounters>;

    /// The run ends.
    ///
    /// # Errors
    /// Those of its files.
    fn finish(&mut self) -> std::io::Result<()> {
        Ok(())
    }

    /// Writes what another process needs to continue with it ([`crate::state::State::save`]).
    ///
    /// # Errors
    /// It cannot be saved: the default.
    fn save_state(&self, _to: &mut Writer) -> Result<(), StateError> {
        Err(StateError::NotSaved)
    }

    /// Takes it ([`crate::state::State::restore`]).
    ///
    /// # Errors
    /// It is not the state of such a chip.
    fn restore_state(&mut self, _from: &mut Reader<'_>) -> Result<(), StateError> {
        Err(StateError::NotSaved)
    }
}

/// How a controller and its card are made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settings {
    /// While the card interrupts, it is notified again after this time.
    pub repeat_ns: u64,
    /// Commands take the time that they need on the wires, at the clock and width that the host has set.
    pub bus_time: bool,
    /// What the card can.
    pub card: BusAbility,
}

/// A transfer of the bulk IN endpoint.
#[derive(serde::Serialize, serde::Deserialize)]
enum Reply {
    Data(Vec<u8>),
    Status(StatusBlock),
}

/// The controller with a card.
pub struct Ushc<C> {
    identity: Identity,
    card: Card<C>,
    settings: Settings,
    powered: bool,
    /// A command with data that are to come, and when it came.
    waiting: Option<(u64, CommandBlock)>,
    /// What the host has not fetched yet.
    replies: VecDeque<Reply>,
    /// Until when the wires are busy; no reply can be fetched before.
    busy_until_ns: u64,
    /// What happens to the next command.
    fault: Option<CommandFault>,
    log: Option<Log>,
    /// What the last interrupt transfer has said of the line; `None`: none was sent yet, and the driver sees no card.
    reported: Option<bool>,
    /// When the next one may be sent about a line that is still up.
    repeat_at_ns: u64,
    counters: HostCounters,
    /// The time up to which everything has happened.
    now_ns: u64,
}

fn identity() -> Identity {
    let endpoints = [
        descriptors::endpoint(0x80 | INTERRUPT_IN, INTERRUPT, ushc::INTERRUPT as u16, INTERVAL),
        descriptors::endpoint(ushc::BULK_OUT, BULK, BULK_PACKET, 0),
        descriptors::endpoint(0x80 | ushc::BULK_IN, BULK, BULK_PACKET, 0),
    ];
    let vendor_specific = (0xff, 0, 0);
    let interface = descriptors::interface(0, 0, endpoints.len() as u8, vendor_specific);
    let (vendor, product) = ushc::IDS;
    Identity {
        device: descriptors::device(vendor_specific, vendor, product, 0x0200),
        configuration: descriptors::configuration(1, &[vec![interface], endpoints.to_vec()].concat()),
        strings: ["CSR", "USB SDIO host controller", "1"].map(String::from).to_vec(),
        speed: Speed::High,
    }
}

impl<C: SdioChip> Ushc<C> {
    /// A controller with a card in its slot.
    pub fn new(chip: C, settings: Settings) -> Self {
        Self {
            identity: identity(),
            card: Card::with_bus(chip, settings.card),
            settings: Settings { repeat_ns: settings.repeat_ns.max(1), ..settings },
            powered: false,
            waiting: None,
            replies: VecDeque::new(),
            busy_until_ns: 0,
            fault: None,
            log: None,
            reported: None,
            repeat_at_ns: 0,
            counters: HostCounters::default(),
            now_ns: 0,
        }
    }

    /// Writes every command and every change of the interrupt line into this file.
    pub fn with_log(mut self, file: Option<CommandFile>) -> Self {
        self.log = file.map(|file| Log::new(file, self.settings.bus_time));
        self
    }

    fn start_over(&mut self) {
        (self.powered, self.waiting, self.reported, self.busy_until_ns) = (false, None, None, 0);
        self.fault = None;
        self.replies.clear();
        if let Some(log) = &mut self.log {
            log.start_over();
        }
    }

    /// Carries out a command that began then, with the data that it writes.
    fn carry_out(&mut self, now_ns: u64, began_ns: u64, block: CommandBlock, data: &[u8]) {
        let command = Command { number: block.number, argument: block.argument };
        let wanted = match self.card.data_of(command) {
            Some((false, len)) if block.block_bytes > 0 => Some(len),
            _ => None,
        };
        let reads = block.block_bytes > 0 && data.is_empty();
        let mut buffer = match wanted {
            Some(len) => vec![0; len],
            None => data.to_vec(),
        };
        if self.settings.bus_time {
            self.busy_until_ns = now_ns.max(self.busy_until_ns).saturating_add(self.wire_ns(command));
        }
        let fault = self.fault.take().filter(|_| self.powered);
        if wanted.is_none() {
            // What it writes is changed on the way.
            fault.into_iter().for_each(|fault| fault.corrupt(&mut buffer));
        }
        let answer = match fault {
            _ if !self.powered => Answer::Silence,
            Some(CommandFault::NoAnswer) => Answer::Silence,
            Some(CommandFault::Crc) if wanted.is_none() => Answer::Silence,
            Some(CommandFault::Refused) => {
                Answer::Response(Response5 { flags: flag::STATE_CMD | flag::ERROR, data: 0 }.emit())
            }
            _ => self.card.command(now_ns, command, &mut buffer),
        };
        let answer = match (fault, answer) {
            (Some(fault @ CommandFault::Corrupt { .. }), Answer::Response(response)) if wanted.is_some() => {
                fault.corrupt(&mut buffer);
                Answer::Response(response)
            }
            // CMD52 has its byte in the response.
            (Some(fault @ CommandFault::Corrupt { .. }), Answer::Response(response)) if block.block_bytes == 0 => {
                let Response5 { flags, data } = Response5::parse(response);
                let mut byte = [data];
                fault.corrupt(&mut byte);
                Answer::Response(Response5 { flags, data: byte[0] }.emit())
            }
            (_, answer) => answer,
        };
        self.counters.commands += 1;
        let has_data = block.block_bytes > 0;
        let wrong_crc = fault == Some(CommandFault::Crc);
        let (status, response) = match answer {
            Answer::Response(response) => (if wrong_crc { error::DATA | error::CRC } else { 0 }, response),
            Answer::Silence => {
                let data = if has_data { error::DATA } else { 0 };
                let why = if wrong_crc { error::CRC } else { error::TIMEOUT };
                self.counters.timeouts += u64::from(!wrong_crc);
                (error::COMMAND | why | data, 0)
            }
        };
        let whole = answer.is_success() && !wrong_crc;
        if let Some(log) = &mut self.log {
            let moved = if wanted.is_some() && !whole { &[] } else { &buffer[..] };
            log.carried_out(began_ns, block, answer, moved, wrong_crc, &self.counters);
        }
        if reads {
            // A command that failed has no data; the host waits for a transfer all the same.
            self.replies.push_back(Reply::Data(if whole { buffer } else { Vec::new() }));
        }
        self.replies.push_back(Reply::Status(StatusBlock { status, response }));
    }

    /// How long a command is on the wires.
    fn wire_ns(&self, command: Command) -> u64 {
        let hz = u64::from(self.counters.clock_hz);
        if hz == 0 {
            return 0;
        }
        let clocks = match self.card.data_of(command) {
            Some((is_write, len)) => {
                let argument = Extended::parse(command.argument);
                let blocks = if argument.block_mode { u64::from(argument.count).max(1) } else { 1 };
                clocks::extended(blocks, len as u64 / blocks, self.counters.bus_width, is_write)
            }
            None => clocks::COMMAND,
        };
        clocks.saturating_mul(1_000_000_000) / hz
    }

    /// Whether the host is to be notified of the line now.
    fn has_news(&self, line: bool) -> bool {
        match self.reported {
            None => true,
            // The driver ignores an interrupt that comes right after the card's were disabled (IGNORE_NEXT_INT): so a line that
            // stays up is reported again and again.
            Some(true) if line => self.now_ns >= self.repeat_at_ns,
            Some(reported) => reported != line,
        }
    }
}

impl<C: SdioChip> Device for Ushc<C> {
    fn identity(&self) -> &Identity {
        &self.identity
    }

    fn control(&mut self, now_ns: u64, setup: Setup, _data: &[u8]) -> ControlReply {
        match (setup.request_type, setup.request) {
            (0xc0, request::GET_CAPABILITIES) => ControlReply::Data(ushc::CAPABILITIES.to_le_bytes().to_vec()),
            (0x40, request::HOST_CONTROL) => {
                self.counters.bus_width = if setup.value & ushc::WIDTH_4 != 0 { 4 } else { 1 };
                self.counters.high_speed = setup.value & ushc::HIGH_SPEED != 0;
                ControlReply::Accepted
            }
            (0x40, request::POWER) => {
                let power = setup.value != 0;
                if power && !self.powered {
                    self.counters.power_ups += 1;
                    self.card.power_on(now_ns);
                }
                self.powered = power;
                ControlReply::Accepted
            }
            (0x40, request::CLOCK) => {
                self.counters.clock_hz = u32::from(setup.index) << 16 | u32::from(setup.value);
                ControlReply::Accepted
            }
            (0x40, request::RESET) => {
                self.start_over();
                ControlReply::Accepted
            }
            _ => ControlReply::Stall,
        }
    }

    fn transfer_out(&mut self, now_ns: u64, endpoint: u8, data: &[u8]) -> OutReply {
        if endpoint != ushc::BULK_OUT {
            return OutReply::Stall;
        }
        if self.replies.len() >= REPLIES_MAX {
            return OutReply::Nak;
        }
        if let Some((began_ns, block)) = self.waiting.take() {
            self.carry_out(now_ns, began_ns, block, data);
            return OutReply::Accepted;
        }
        let Some(block) = CommandBlock::parse(data) else {
            self.counters.malformed += 1;
            return OutReply::Stall;
        };
        let writes = block.number == number::IO_RW_EXTENDED && Extended::parse(block.argument).write;
        if writes && block.block_bytes > 0 {
            self.waiting = Some((now_ns, block));
        } else {
            self.carry_out(now_ns, now_ns, block, &[]);
        }
        OutReply::Accepted
    }

    fn transfer_in(&mut self, now_ns: u64, endpoint: u8, transfer: &mut Vec<u8>) -> InReply {
        match endpoint {
            ushc::BULK_IN if now_ns < self.busy_until_ns => InReply::Nak,
            ushc::BULK_IN => match self.replies.pop_front() {
                Some(reply) => {
                    *transfer = match reply {
                        Reply::Data(data) => data,
                        Reply::Status(status) => {
                            if let Some(log) = &mut self.log {
                                log.fetched(now_ns);
                            }
                            status.emit().to_vec()
                        }
                    };
                    InReply::Unterminated
                }
                None => InReply::Nak,
            },
            INTERRUPT_IN => {
                self.now_ns = self.now_ns.max(now_ns);
                let line = self.powered && self.card.look_at_line();
                if let Some(log) = &mut self.log {
                    log.line(self.now_ns, line);
                }
                if !self.has_news(line) {
                    return InReply::Nak;
                }
                self.reported = Some(line);
                self.repeat_at_ns = self.now_ns + self.settings.repeat_ns;
                self.counters.interrupt_transfers += 1;
                let interrupt = if line { ushc::CARD_INTERRUPT } else { 0 };
                transfer.extend([ushc::CARD_PRESENT | interrupt, 0, 0, 0]);
                InReply::Unterminated
            }
            _ => InReply::Stall,
        }
    }

    fn advance(&mut self, now_ns: u64) {
        self.now_ns = now_ns;
        self.card.advance(now_ns);
    }

    fn next_event(&self) -> Option<u64> {
        // What was due is no longer an event: the host may have no transfer for it.
        let repeats = self.powered && self.reported == Some(true) && self.card.interrupts();
        let repeat = Some(self.repeat_at_ns).filter(|&at_ns| repeats && at_ns > self.now_ns);
        let wires = Some(self.busy_until_ns).filter(|&at_ns| !self.replies.is_empty() && at_ns > self.now_ns);
        [repeat, wires, self.card.next_event()].into_iter().flatten().min()
    }

    fn reset(&mut self, now_ns: u64) {
        self.start_over();
        self.card.power_on(now_ns);
        self.now_ns = now_ns;
    }

    fn sources(&self, sources: &mut Vec<Source>) {
        self.card.function().sources(sources);
    }

    fn readable(&mut self, now_ns: u64, fd: RawFd) {
        self.card.function_mut().readable(now_ns, fd);
    }

    fn command(&self, endpoint: u8, data: &[u8]) -> Option<Command> {
        let block = CommandBlock::parse(data).filter(|_| endpoint == ushc::BULK_OUT && self.waiting.is_none())?;
        Some(Command { number: block.number, argument: block.argument })
    }

    fn inject(&mut self, now_ns: u64, effect: Effect) -> bool {
        if let Effect::Command(fault) = effect {
            self.fault = Some(fault);
            return true;
        }
        self.card.function_mut().inject(now_ns, effect)
    }

    fn statistics(&self) -> Option<Box<dyn DeviceCounters>> {
        Some(self.card.function().statistics(SdioStatistics { host: self.counters, card: *self.card.counters() }))
    }

    fn finish(&mut self) -> std::io::Result<()> {
        let chip = self.card.function_mut().finish();
        let log = self.log.as_mut().map_or(Ok(()), Log::finish);
        chip.and(log)
    }

    fn save_state(&self, to: &mut Writer) -> Result<(), StateError> {
        self.save(to)
    }

    fn restore_state(&mut self, from: &mut Reader<'_>) -> Result<(), StateError> {
        self.restore(from)
    }
}

crate::state!({C: SdioChip} Ushc<C> {
    powered, waiting, replies, busy_until_ns, fault, reported, repeat_at_ns, counters, now_ns,
} each { log } within { card } made { identity, settings });

/// The card, then its function.
trait Inserted {
    fn save_state(&self, to: &mut Writer) -> Result<(), StateError>;
    fn restore_state(&mut self, from: &mut Reader<'_>) -> Result<(), StateError>;
}

impl<C: SdioChip> Inserted for Card<C> {
    fn save_state(&self, to: &mut Writer) -> Result<(), StateError> {
        to.put(&self.state())?;
        self.function().save_state(to)
    }

    fn restore_state(&mut self, from: &mut Reader<'_>) -> Result<(), StateError> {
        self.continue_as(&from.take()?);
        self.function_mut().restore_state(from)
    }
}
