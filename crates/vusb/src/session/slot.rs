//! The slot of a virtual SD host controller in the kernel, in place of one on USB: commands come one by one and are answered one
//! by one. The card is the same device ([`crate::ushc`]), and gets them as transfers, so faults, logs and counters are the same.

use std::collections::VecDeque;

use wire::sdio::slot::{BusSettings, SlotCommand, SlotMessage};
use wire::sdio::{number, Extended};
use wire::usb::setup::Setup;
use wire::usb::ushc::{self, error, request, CommandBlock, StatusBlock};

use crate::device::{Device, InReply, OutReply};
use crate::ushc::INTERRUPT_IN;

/// Commands that wait at most: the kernel has one under way, and may have given up another.
const WAITING_MAX: usize = 16;
/// No answer, as a host controller sees it.
const NO_ANSWER: StatusBlock = StatusBlock { status: error::COMMAND | error::TIMEOUT | error::DATA, response: 0 };

/// Why a slot's connection ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SlotError {
    /// Bytes that are no command.
    #[error("{0} bytes are no command")]
    NotACommand(usize),
    /// The kernel does not wait for answers.
    #[error("more than {WAITING_MAX} commands wait for an answer")]
    TooManyWait,
}

/// A command that the card has.
#[derive(serde::Serialize, serde::Deserialize)]
struct UnderWay {
    sequence: u32,
    /// What it writes, when the card has not taken it.
    to_card: Option<Vec<u8>>,
    /// It reads, and the data did not come yet.
    reads: bool,
    data: Vec<u8>,
}

/// One plugging of a card into the slot.
#[derive(Default, serde::Serialize, serde::Deserialize)]
pub struct Slot {
    waiting: VecDeque<(SlotCommand, Vec<u8>)>,
    under_way: Option<UnderWay>,
    output: VecDeque<Vec<u8>>,
    /// What the card was last set to.
    bus: BusSettings,
    /// The interrupt line, as it was last read from the card.
    line: bool,
    /// And as the host has it.
    reported: bool,
}

impl Slot {
    /// Takes a message of the kernel's.
    ///
    /// # Errors
    /// See [`SlotError`].
    pub fn receive(&mut self, message: &[u8]) -> Result<(), SlotError> {
        let (command, data) = SlotCommand::parse(message).ok_or(SlotError::NotACommand(message.len()))?;
        if self.waiting.len() >= WAITING_MAX {
            return Err(SlotError::TooManyWait);
        }
        self.waiting.push_back((command, data.to_vec()));
        Ok(())
    }

    /// Messages for the kernel, each to be written at once.
    pub const fn output(&mut self) -> &mut VecDeque<Vec<u8>> {
        &mut self.output
    }

    /// Lets the card do what it can now.
    pub fn pump(&mut self, now_ns: u64, device: &mut impl Device) {
        while self.under_way.is_some() || self.begin(now_ns, device) {
            let Some(status) = self.proceed(now_ns, device) else { break };
            if let Some(UnderWay { sequence, data, .. }) = self.under_way.take() {
                self.look_at_line(now_ns, device);
                self.output.push_back(SlotMessage::Answer { sequence, status, data: &data }.emit(self.line));
                self.reported = self.line;
            }
        }
        self.look_at_line(now_ns, device);
        if self.line != self.reported {
            self.output.push_back(SlotMessage::Line.emit(self.line));
            self.reported = self.line;
        }
    }

    /// Gives the card the next command; `false`: there is none.
    fn begin(&mut self, now_ns: u64, device: &mut impl Device) -> bool {
        let Some((command, data)) = self.waiting.pop_front() else { return false };
        self.set(now_ns, command.bus, device);
        let SlotCommand { sequence, number, argument, block_bytes, .. } = command;
        let writes = number == number::IO_RW_EXTENDED && Extended::parse(argument).write;
        let has_data = block_bytes > 0;
        let block = CommandBlock { number, block_bytes, argument };
        let taken = device.transfer_out(now_ns, ushc::BULK_OUT, &block.emit()) == OutReply::Accepted;
        let under_way = UnderWay {
            sequence,
            to_card: (writes && has_data).then_some(data),
            reads: !writes && has_data,
            data: Vec::new(),
        };
        if taken {
            self.under_way = Some(under_way);
        } else {
            self.output.push_back(SlotMessage::Answer { sequence, status: NO_ANSWER, data: &[] }.emit(self.line));
        }
        true
    }

    /// Continues the command that is under way; `None`: it is not done.
    fn proceed(&mut self, now_ns: u64, device: &mut impl Device) -> Option<StatusBlock> {
        let under_way = self.under_way.as_mut()?;
        if let Some(data) = &under_way.to_card {
            match device.transfer_out(now_ns, ushc::BULK_OUT, data) {
                OutReply::Accepted => under_way.to_card = None,
                OutReply::Nak => return None,
                OutReply::Stall => return Some(NO_ANSWER),
            }
        }
        let mut transfer = Vec::new();
        if under_way.reads {
            match device.transfer_in(now_ns, ushc::BULK_IN, &mut transfer) {
                InReply::Nak => return None,
                InReply::Stall => return Some(NO_ANSWER),
                InReply::Transfer | InReply::Unterminated => {
                    under_way.reads = false;
                    under_way.data = std::mem::take(&mut transfer);
                }
            }
        }
        match device.transfer_in(now_ns, ushc::BULK_IN, &mut transfer) {
            InReply::Nak => None,
            InReply::Stall => Some(NO_ANSWER),
            InReply::Transfer | InReply::Unterminated => Some(StatusBlock::parse(&transfer).unwrap_or(NO_ANSWER)),
        }
    }

    /// Sets the card's side of the bus as the host has it.
    fn set(&mut self, now_ns: u64, bus: BusSettings, device: &mut impl Device) {
        let before = std::mem::replace(&mut self.bus, bus);
        let mut control = |request, value, index| {
            let setup = Setup { request_type: 0x40, request, value, index, length: 0 };
            let _ = device.control(now_ns, setup, &[]);
        };
        if before.power_ups != bus.power_ups {
            control(request::POWER, 0, 0);
            control(request::POWER, 1, 0);
        }
        if (before.lines, before.high_speed) != (bus.lines, bus.high_speed) {
            let width = if bus.lines == 4 { ushc::WIDTH_4 } else { 0 };
            let speed = if bus.high_speed { ushc::HIGH_SPEED } else { 0 };
            control(request::HOST_CONTROL, width | speed, 0);
        }
        if before.clock_hz != bus.clock_hz {
            control(request::CLOCK, bus.clock_hz as u16, (bus.clock_hz >> 16) as u16);
        }
    }

    fn look_at_line(&mut self, now_ns: u64, device: &mut impl Device) {
        let mut transfer = Vec::new();
        let reply = device.transfer_in(now_ns, INTERRUPT_IN, &mut transfer);
        if let (InReply::Transfer | InReply::Unterminated, Some(status)) = (reply, transfer.first()) {
            self.line = status & ushc::CARD_INTERRUPT != 0;
        }
    }
}
