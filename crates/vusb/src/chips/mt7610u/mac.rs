//! The chip's inside: registers and what stands behind them, transmitter and receiver.

use wire::phy::{Bandwidth, EdcaParameters, RateSet};
use wire::usb::mediatek::request;

use super::assumptions::Assumptions;
use super::baseband::Baseband;
use super::beacons::{self, Beacons};
use super::efuse::Efuse;
use super::mcu::{self, Mcu, Place};
use super::memory::Memory;
use super::model::Model;
use super::radio::Radio;
use super::rates;
use super::receive::Receiver;
use super::registers as reg;
use super::stations::Stations;
use super::statistics::{McuCounters, RxCounters, TxCounters};
use super::transmit::{short_retry_limit, Transmitter};
use crate::air::{width, Outcome, Ppdu, Reception, Station, Tuned};
use crate::device::{InReply, OutReply};

/// Bytes of the register file, and of the configuration space.
const REGISTERS_LEN: u32 = 0x2_0000;
const CONFIGURATION_LEN: u32 = 0x1_0000;
/// Longest register read: drivers read a word, the vendor's sixteen.
const READ_MAX: usize = 512;
/// What cannot be written.
const READ_ONLY: [u32; 3] = [reg::ASIC_VERSION, reg::MAC_CSR0, reg::BBP_VERSION];
/// Answers of the MCU that wait at most: a driver reads each before it sends the next command.
const ANSWERS_MAX: usize = 64;

/// Registers, radio, keys, queues.
pub struct Mac {
    model: Model,
    efuse: Efuse,
    assumptions: Assumptions,
    memory: Memory,
    configuration: Memory,
    mcu: Mcu,
    answers: std::collections::VecDeque<Vec<u8>>,
    radio: Radio,
    /// An MT7601U's; an MT7610U's is among the registers.
    baseband: Baseband,
    keys: Stations,
    beacons: Beacons,
    transmitter: Transmitter,
    receiver: Receiver,
    /// What the run's clock showed when the TSF was zero.
    tsf_zero_ns: u64,
}

impl Mac {
    pub(super) fn new(model: Model, efuse: Efuse, assumptions: Assumptions) -> Self {
        let mut mac = Self {
            model,
            efuse,
            assumptions,
            memory: Memory::new(REGISTERS_LEN),
            configuration: Memory::new(CONFIGURATION_LEN),
            mcu: Mcu::default(),
            answers: std::collections::VecDeque::new(),
            radio: Radio::default(),
            baseband: Baseband::default(),
            keys: Stations::default(),
            beacons: Beacons::default(),
            transmitter: Transmitter::new(model),
            receiver: Receiver::new(model),
            tsf_zero_ns: 0,
        };
        mac.cold_start(0);
        mac
    }

    /// Power was cut.
    pub(super) fn cold_start(&mut self, now_ns: u64) {
        self.memory = Memory::new(REGISTERS_LEN);
        self.configuration = Memory::new(CONFIGURATION_LEN);
        for (register, value) in self.model.at_start() {
            self.memory.set(register, value);
        }
        self.mcu.cold_start();
        self.answers.clear();
        (self.radio, self.baseband) = (Radio::default(), Baseband::default());
        (self.keys, self.beacons) = (Stations::default(), Beacons::default());
        self.transmitter.clear();
        self.receiver.clear();
        self.tsf_zero_ns = now_ns;
    }

    /// The MCU stops, and does not start again before power was cut.
    pub(super) fn hang_firmware(&mut self) {
        self.mcu.hang();
        self.memory.set(reg::COM_REG0, 0);
    }

    pub(super) const fn mcu_counters(&self) -> McuCounters {
        self.mcu.counters()
    }

    pub(super) const fn tx_counters(&self) -> &TxCounters {
        self.transmitter.counters()
    }

    pub(super) const fn rx_counters(&self) -> &RxCounters {
        self.receiver.counters()
    }

    const fn tsf_us(&self, now_ns: u64) -> u64 {
        now_ns.wrapping_sub(self.tsf_zero_ns) / 1_000
    }

    /// Reads registers with a vendor request. `None`: the chip has no such request.
    pub(super) fn read(&mut self, now_ns: u64, request: u8, address: u32, len: usize) -> Option<Vec<u8>> {
        let words = len.min(READ_MAX).div_ceil(4) as u32;
        let mut bytes = Vec::new();
        for at in 0..words {
            let address = address.wrapping_add(4 * at);
            let word = match request {
                request::MULTI_READ => self.register(now_ns, address),
                request::READ_CFG => self.configuration.word(address),
                request::READ_EEPROM => 0,
                _ => return None,
            };
            bytes.extend(word.to_le_bytes());
        }
        bytes.truncate(len);
        Some(bytes)
    }

    fn register(&mut self, now_ns: u64, address: u32) -> u32 {
        let kept = self.memory.word(address);
        match address {
            reg::TSF => self.tsf_us(now_ns) as u32,
            reg::TSF_HIGH => (self.tsf_us(now_ns) >> 32) as u32,
            reg::TBTT_TIMER => self.beacons.left(now_ns),
            reg::TX_STAT_FIFO => self.transmitter.reports.take(self.model),
            reg::TX_STAT_FIFO_EXT => self.transmitter.reports.extension(),
            reg::COM_REG1 if self.mcu.has_taken() => kept | reg::TAKEN,
            reg::MAC_STATUS => 0,
            reg::WPDMA_GLO_CFG => kept & !reg::WPDMA_BUSY,
            reg::USB_DMA_CFG => kept & !reg::USB_DMA_BUSY,
            reg::BBP_TEMPERATURE => kept & !reg::BBP_TEMPERATURE_BUSY,
            _ => kept,
        }
    }

    /// Carries out a vendor request that writes; `false`: the chip has no such request.
    pub(super) fn write(&mut self, now_ns: u64, request: u8, (value, index): (u16, u16), data: &[u8]) -> bool {
        let address = u32::from(value) << 16 | u32::from(index);
        let words = data.chunks(4).enumerate().map(|(at, chunk)| {
            let mut word = [0; 4];
            word.iter_mut().zip(chunk).for_each(|(slot, byte)| *slot = *byte);
            (address.wrapping_add(4 * at as u32), u32::from_le_bytes(word))
        });
        match request {
            request::DEVICE_MODE => {
                if let Some(running) = self.mcu.mode(value) {
                    self.memory.set(reg::COM_REG0, u32::from(running));
                }
            }
            request::MULTI_WRITE => words.for_each(|(address, word)| self.set_register(now_ns, address, word)),
            request::WRITE_CFG => words.for_each(|(address, word)| self.configuration.set(address, word)),
            request::WRITE | request::WRITE_FCE => self.write_half(now_ns, index, value),
            _ => return false,
        }
        true
    }

    fn write_half(&mut self, now_ns: u64, address: u16, value: u16) {
        let (word, high) = (u32::from(address & !3), address & 2 != 0);
        let kept = self.memory.word(word);
        let value = u32::from(value);
        self.set_register(now_ns, word, if high { kept & 0xffff | value << 16 } else { kept & !0xffff | value });
    }

    fn set_register(&mut self, now_ns: u64, address: u32, value: u32) {
        if READ_ONLY.contains(&address) {
            return;
        }
        let before = self.is_on();
        match address {
            reg::CMB_CTRL => self.memory.set(address, value | reg::CMB_READY),
            reg::EFUSE_CTRL if value & reg::EFUSE_KICK != 0 => self.efuse.kicked(&mut self.memory, value),
            reg::RF_CSR_CFG => {
                let value = self.radio.serial(self.model, value);
                self.memory.set(address, value);
            }
            reg::BBP_CSR_CFG if self.model.has_small_baseband() => {
                let value = self.baseband.access(value);
                self.memory.set(address, value);
            }
            _ => self.memory.set(address, value),
        }
        if address == reg::BEACON_TIME_CFG {
            self.beacons.configured(now_ns, &self.memory);
        }
        if before && !self.is_on() {
            self.transmitter.clear();
            self.receiver.clear();
        }
    }

    /// A transfer to the endpoint of commands.
    pub(super) fn command(&mut self, now_ns: u64, data: &[u8]) -> OutReply {
        if self.answers.len() >= ANSWERS_MAX {
            return OutReply::Nak;
        }
        let Some(work) = self.mcu.transfer(data) else { return OutReply::Accepted };
        let mut values = Vec::new();
        for &(address, value) in &work.pairs {
            match (mcu::place(address), work.reads) {
                (Place::Register(register), true) => values.push(self.register(now_ns, register)),
                (Place::Baseband(register), true) => values.push(self.baseband.read(register).into()),
                (Place::Baseband(register), false) => self.baseband.write(register, value as u8),
                (Place::Rf(register), true) => values.push(self.radio.read(register).into()),
                (Place::Register(register), false) => self.set_register(now_ns, register, value),
                (Place::Rf(register), false) => self.radio.write(register, value as u8),
            }
        }
        self.answers.extend(mcu::answer(&work, &values));
        OutReply::Accepted
    }

    /// The host asks for the answer to a command.
    pub(super) fn answer(&mut self, out: &mut Vec<u8>) -> InReply {
        hand_over(self.answers.pop_front(), out)
    }

    /// A frame to be sent.
    pub(super) fn transmit(&mut self, now_ns: u64, endpoint: u8, data: &[u8]) -> OutReply {
        let times = (now_ns, self.tsf_us(now_ns));
        self.transmitter.accept(times, &mut self.memory, &mut self.keys, (endpoint, data), &self.assumptions)
    }

    /// The host asks for a received frame.
    pub(super) fn received(&mut self, out: &mut Vec<u8>) -> InReply {
        hand_over(self.receiver.take(&self.memory), out)
    }

    /// Sends the beacons that are due.
    pub(super) fn advance(&mut self, now_ns: u64) {
        if self.beacons.is_due(now_ns, &self.memory) && self.has(reg::ENABLE_TX) && self.transmitter.may_send_beacon() {
            let times = (now_ns, self.tsf_us(now_ns));
            for template in beacons::templates(&self.memory) {
                self.transmitter.send_template(times, &template);
            }
        }
    }

    /// When the next beacon is due.
    pub(super) const fn next_event(&self) -> Option<u64> {
        self.beacons.next_ns()
    }

    fn has(&self, bit: u32) -> bool {
        self.memory.word(reg::MAC_SYS_CTRL) & bit != 0
    }

    /// Transmitter or receiver are switched on.
    fn is_on(&self) -> bool {
        self.has(reg::ENABLE_TX) || self.has(reg::ENABLE_RX)
    }

    /// Where the radio is.
    fn at(&self) -> Option<Tuned> {
        self.radio.tuned(self.model, &self.memory, &self.baseband)
    }

    /// The widest that it sends and receives.
    fn width(&self) -> Bandwidth {
        self.at().map_or(Bandwidth::Mhz20, |tuned| tuned.width)
    }
}

fn hand_over(transfer: Option<Vec<u8>>, out: &mut Vec<u8>) -> InReply {
    match transfer {
        Some(transfer) => {
            out.extend(transfer);
            InReply::Transfer
        }
        None => InReply::Nak,
    }
}

impl Station for Mac {
    fn tuned(&self) -> Option<Tuned> {
        self.at().filter(|_| self.is_on())
    }

    fn ready_since(&self) -> Option<u64> {
        let tuned = self.has(reg::ENABLE_TX) && self.at().is_some();
        self.transmitter.ready_since().filter(|_| tuned)
    }

    fn access(&self) -> EdcaParameters {
        self.transmitter.access(&self.memory)
    }

    fn access_function(&self) -> usize {
        self.transmitter.access_function()
    }

    fn retry_limit(&self) -> u32 {
        u32::from(short_retry_limit(&self.memory))
    }

    fn begin(&mut self, _now_ns: u64, _function: usize) -> Option<Ppdu> {
        let width = self.width();
        self.transmitter.begin(&self.memory, width, &self.assumptions)
    }

    fn ended(&mut self, _now_ns: u64, ppdu: Ppdu, outcome: &Outcome) {
        let width = self.width();
        self.transmitter.ended(&self.memory, width, &ppdu, outcome, &self.assumptions);
    }

    fn receive(&mut self, _now_ns: u64, mpdu: &[u8], reception: &Reception) -> bool {
        let outside = width(&reception.mode) > self.width();
        if !self.has(reg::ENABLE_RX) || outside {
            return false;
        }
        self.receiver.receive(&self.memory, &mut self.keys, mpdu, reception, &self.assumptions)
    }

    /// The rates that the driver has set for responses.
    fn basic_rates(&self) -> Option<RateSet> {
        rates::basic(&self.memory)
    }
}

crate::state!(Mac {
    memory, configuration, mcu, answers, radio, baseband, keys, beacons, transmitter, receiver, tsf_zero_ns,
} made { model, efuse, assumptions });
