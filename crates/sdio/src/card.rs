//! A card in a slot.

use wire::sdio::command::flag;
use wire::sdio::{number, Direct, Extended, OperatingConditions, Response5};

use crate::counters::CardCounters;
use crate::function::{BusAbility, Function};
use crate::registers::{Effect, Registers};

/// 2.7 to 3.6 V.
const VOLTAGES: u32 = 0x00ff_8000;
/// The relative card address, in the place of R6.
const RELATIVE_ADDRESS: u32 = 1 << 16;
/// Data of a command at most: 511 blocks of 2048 bytes (16.7.4: the largest block that a function may name).
const DATA_MAX: usize = 511 * 2048;

/// A command on the bus.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Command {
    /// Its number, 0 to 63.
    pub number: u8,
    /// Its argument.
    pub argument: u32,
}

/// What the card makes of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// The 32 bits of its response.
    Response(u32),
    /// The card does not answer: its host sees a timeout.
    Silence,
}

impl Answer {
    /// The command was carried out, as far as R5 says.
    pub const fn is_success(self) -> bool {
        match self {
            Self::Response(response) => Response5::parse(response).flags & flag::ERRORS == 0,
            Self::Silence => false,
        }
    }
}

/// What changes of a card, beside its function.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub struct CardState {
    registers: (Vec<u8>, Vec<u8>),
    counters: CardCounters,
    line: bool,
}

/// A card with one function.
#[derive(Clone, Debug)]
pub struct Card<F> {
    function: F,
    ability: BusAbility,
    registers: Registers,
    counters: CardCounters,
    /// The interrupt line when it was looked at last.
    line: bool,
}

impl<F: Function> Card<F> {
    /// A card that is not under power yet.
    pub fn new(function: F) -> Self {
        Self::with_bus(function, BusAbility::default())
    }

    /// The same, of a card with these abilities.
    pub fn with_bus(function: F, ability: BusAbility) -> Self {
        let registers = Registers::new(&function.identity(), ability);
        Self { function, ability, registers, counters: CardCounters::default(), line: false }
    }

    /// Its function.
    pub const fn function(&self) -> &F {
        &self.function
    }

    /// Its function.
    pub fn function_mut(&mut self) -> &mut F {
        &mut self.function
    }

    /// What is saved of the card, beside its function.
    pub fn state(&self) -> CardState {
        CardState { registers: self.registers.state(), counters: self.counters, line: self.line }
    }

    /// Continues as the card that this was saved of.
    pub fn continue_as(&mut self, state: &CardState) {
        self.registers.continue_as(&state.registers);
        (self.counters, self.line) = (state.counters, state.line);
    }

    /// What was counted.
    pub const fn counters(&self) -> &CardCounters {
        &self.counters
    }

    /// Lines of the data bus, 1 or 4.
    pub fn bus_width(&self) -> u8 {
        self.registers.bus_width()
    }

    /// Whether the host has chosen high speed.
    pub fn is_high_speed(&self) -> bool {
        self.registers.is_high_speed()
    }

    /// Power came: everything is as it was made.
    pub fn power_on(&mut self, now_ns: u64) {
        self.registers = Registers::new(&self.function.identity(), self.ability);
        self.function.power_on(now_ns);
        self.line = false;
    }

    /// Whether the card pulls its interrupt line.
    pub fn interrupts(&self) -> bool {
        self.registers.interrupts_enabled() && self.function.interrupts()
    }

    /// Whether it does now; counts that it began to.
    pub fn look_at_line(&mut self) -> bool {
        let line = self.interrupts();
        self.counters.interrupts += u64::from(line && !self.line);
        self.line = line;
        line
    }

    /// Lets everything happen that is due by `now_ns`.
    pub fn advance(&mut self, now_ns: u64) {
        self.function.advance(now_ns);
    }

    /// When something happens next by itself.
    pub fn next_event(&self) -> Option<u64> {
        self.function.next_event()
    }

    /// How many bytes of data go with a command, and whether to the card. `None`: it has no data, or more than the card takes
    /// (blocks without end among them, which no host controller here has).
    pub fn data_of(&self, command: Command) -> Option<(bool, usize)> {
        if command.number != number::IO_RW_EXTENDED {
            return None;
        }
        let argument = Extended::parse(command.argument);
        let len = argument.len(self.registers.block_bytes(argument.function))?;
        (len > 0 && len <= DATA_MAX).then_some((argument.write, len))
    }

    /// Carries out a command. `data` is what it writes, or is filled with what it reads; where it does not have the length that
    /// goes with the command, nothing is done.
    pub fn command(&mut self, now_ns: u64, command: Command, data: &mut [u8]) -> Answer {
        match command.number {
            number::GO_IDLE_STATE | number::SEND_RELATIVE_ADDR | number::IO_SEND_OP_COND | number::SELECT_CARD => {
                self.counters.other_commands += 1;
            }
            number::IO_RW_DIRECT => return self.direct(now_ns, Direct::parse(command.argument)),
            number::IO_RW_EXTENDED => {
                let fits = self.data_of(command).is_some_and(|(_, len)| len == data.len());
                return self.extended(now_ns, Extended::parse(command.argument), fits, data);
            }
            _ => {
                self.counters.unknown_commands += 1;
                return Answer::Silence;
            }
        }
        Answer::Response(match command.number {
            number::SEND_RELATIVE_ADDR => RELATIVE_ADDRESS,
            number::IO_SEND_OP_COND => {
                OperatingConditions { ready: true, functions: 1, memory: false, voltages: VOLTAGES }.emit()
            }
            _ => 0,
        })
    }

    fn direct(&mut self, now_ns: u64, command: Direct) -> Answer {
        let Direct { write, function, read_after_write, address, data } = command;
        if write {
            self.counters.cmd52_writes += 1;
        } else {
            self.counters.cmd52_reads += 1;
        }
        if function > 1 {
            return self.refuse(flag::FUNCTION_NUMBER);
        }
        if write {
            self.write(now_ns, function, address, true, &[data]);
        }
        let mut read = [data];
        if !write || read_after_write {
            self.read(now_ns, function, address, true, &mut read);
        }
        respond(0, read[0])
    }

    fn extended(&mut self, now_ns: u64, command: Extended, fits: bool, data: &mut [u8]) -> Answer {
        let Extended { write, function, block_mode, incrementing, address, .. } = command;
        let (commands, bytes) = match write {
            true => (&mut self.counters.cmd53_writes, &mut self.counters.cmd53_written_bytes),
            false => (&mut self.counters.cmd53_reads, &mut self.counters.cmd53_read_bytes),
        };
        *commands += 1;
        *bytes += if fits && function <= 1 { data.len() as u64 } else { 0 };
        self.counters.cmd53_block_mode += u64::from(block_mode);
        match (fits, function) {
            (_, 2..) => return self.refuse(flag::FUNCTION_NUMBER),
            (false, _) => return self.refuse(flag::OUT_OF_RANGE),
            _ if write => self.write(now_ns, function, address, incrementing, data),
            _ => self.read(now_ns, function, address, incrementing, data),
        }
        respond(0, 0)
    }

    fn refuse(&mut self, flags: u8) -> Answer {
        self.counters.refused_commands += 1;
        respond(flags, 0)
    }

    fn read(&mut self, now_ns: u64, function: u8, address: u32, incrementing: bool, data: &mut [u8]) {
        if function > 0 {
            return self.function.read(now_ns, address, incrementing, data);
        }
        let pending = self.interrupts();
        for (slot, address) in data.iter_mut().zip(addresses(address, incrementing)) {
            *slot = self.registers.read(address, pending);
        }
    }

    fn write(&mut self, now_ns: u64, function: u8, address: u32, incrementing: bool, data: &[u8]) {
        if function > 0 {
            return self.function.write(now_ns, address, incrementing, data);
        }
        for (&byte, address) in data.iter().zip(addresses(address, incrementing)) {
            match self.registers.write(address, byte) {
                Effect::None => {}
                // No transfer is under way between two commands.
                Effect::Abort => self.counters.aborts += 1,
                Effect::Reset => {
                    self.counters.resets += 1;
                    self.registers = Registers::new(&self.function.identity(), self.ability);
                }
            }
        }
    }
}

const fn respond(flags: u8, data: u8) -> Answer {
    Answer::Response(Response5 { flags: flags | flag::STATE_CMD, data }.emit())
}

/// The registers of a transfer, one per byte.
fn addresses(first: u32, incrementing: bool) -> impl Iterator<Item = u32> {
    (0..).map(move |byte: u32| if incrementing { first.wrapping_add(byte) & 0x1_ffff } else { first })
}

#[cfg(test)]
mod tests;
