//! The chip's inside: registers and what stands behind them, transmitter and receiver.

use wire::phy::{Bandwidth, EdcaParameters, Mode, RateSet};

use super::assumed::Assumed;
use super::efuse::Efuse;
use super::firmware::{Command, Firmware};
use super::model::Model;
use super::radio::Radio;
use super::receive::Receiver;
use super::registers as reg;
use super::reports::ReportCounters;
use super::statistics::{RxCounters, TxCounters};
use super::system;
use super::transmit::Transmitter;
use crate::air::rates::legacy_rates;
use crate::air::{Outcome, Ppdu, Reception, Station, Tuned};
use crate::chips::realtek::cam::Cam;
use crate::chips::realtek::memory::{Memory, Touched};
use crate::chips::realtek::power::{PowerCounters, PowerSave};
use crate::chips::realtek::queues::short_retry_limit;
use crate::device::{InReply, OutReply};
use random::{Rng, Stream};

/// Longest register read: no driver reads more than four bytes at a time.
const READ_MAX: usize = 256;

/// Registers, radio, keys, queues.
pub struct Mac {
    model: Model,
    efuse: Efuse,
    memory: Memory,
    firmware: Firmware,
    radio: Radio,
    cam: Cam,
    transmitter: Transmitter,
    receiver: Receiver,
    power: PowerSave,
    /// What the run's clock showed when the TSF was zero.
    tsf_zero_ns: u64,
    /// How likely a Block Ack does not have an MPDU yet (a fault), and the draws of it.
    late: (f64, Rng),
}

impl Mac {
    pub(super) fn new(model: Model, efuse: Efuse, assumed: &Assumed, seed: u64) -> Self {
        let mut mac = Self {
            model,
            efuse,
            memory: Memory::default(),
            firmware: Firmware::default(),
            radio: Radio::new(model),
            cam: Cam::default(),
            transmitter: Transmitter::new(model, assumed),
            receiver: Receiver::new(model),
            power: PowerSave::default(),
            tsf_zero_ns: 0,
            late: (0.0, Rng::new(seed, Stream::LateBlockAck, 0)),
        };
        mac.cold_start(0);
        mac
    }

    /// Power was cut.
    pub(super) fn cold_start(&mut self, now_ns: u64) {
        system::cold_start(&mut self.memory, self.model);
        self.firmware.cold_start();
        self.radio = Radio::new(self.model);
        self.cam = Cam::default();
        self.power.clear(now_ns);
        self.transmitter.set_without_rates(false);
        self.transmitter.clear();
        self.receiver.clear();
    }

    /// The firmware stops, and does not start again before power was cut.
    pub(super) fn hang_firmware(&mut self) {
        self.firmware.hang(&mut self.memory);
        self.transmitter.set_without_rates(true);
    }

    /// What the firmware reports to the host gets lost, or not any more.
    pub(super) fn lose_c2h(&mut self, lost: bool) {
        self.firmware.mute = lost;
    }

    pub(super) const fn loses_c2h(&self) -> bool {
        self.firmware.mute
    }

    /// Block Acks come too early for an MPDU with this probability.
    pub(super) fn acknowledge_late(&mut self, probability: f64) {
        self.late.0 = probability;
    }

    /// Draws come from another source from now on.
    pub(super) fn reseed(&mut self, seed: u64) {
        self.late.1 = Rng::new(seed, Stream::LateBlockAck, 0);
    }

    pub(super) const fn tx_counters(&self) -> &TxCounters {
        self.transmitter.counters()
    }

    pub(super) const fn report_counters(&self) -> &ReportCounters {
        self.transmitter.report_counters()
    }

    pub(super) const fn rx_counters(&self) -> &RxCounters {
        self.receiver.counters()
    }

    pub(super) fn power_counters(&self, now_ns: u64) -> PowerCounters {
        self.power.counters(now_ns)
    }

    fn tsf_us(&self, now_ns: u64) -> u64 {
        now_ns.wrapping_sub(self.tsf_zero_ns) / 1_000
    }

    /// A register read.
    pub(super) fn read(&mut self, now_ns: u64, address: u16, len: usize) -> Vec<u8> {
        if (reg::TSFTR..reg::TSFTR + 8).contains(&address) {
            let tsf = self.tsf_us(now_ns);
            self.memory.write(reg::TSFTR, &tsf.to_le_bytes());
        }
        let mut bytes = Vec::with_capacity(len.min(READ_MAX));
        self.memory.read(address, len.min(READ_MAX), &mut bytes);
        bytes
    }

    /// A register write. Gives whether it completed a command to the firmware.
    pub(super) fn write(&mut self, now_ns: u64, address: u16, data: &[u8]) -> bool {
        if self.firmware.takes(&self.memory, address, data.len()) {
            return false;
        }
        let touched = Touched { start: address, len: data.len() };
        let firmware_before = self.memory.u8(reg::MCU_FW_DL);
        let strobe_before = self.memory.u8(reg::FPGA0_XA_HSSI_PARM2 + 3) & 0x80 != 0;
        let powered_before = self.is_on();
        self.memory.write(address, data);
        system::written(&mut self.memory, touched, &self.efuse);
        self.firmware.written(&mut self.memory, touched, firmware_before);
        self.radio.written(&mut self.memory, touched, strobe_before);
        self.cam.written(&mut self.memory, touched);
        self.transmitter.reporter().written(now_ns, &self.memory, touched);
        if touched.has(reg::TSFTR) {
            self.tsf_zero_ns =
                now_ns.wrapping_sub(u64::from_le_bytes(self.memory.array(reg::TSFTR)).wrapping_mul(1_000));
        }
        if powered_before && !self.is_on() {
            self.power.clear(now_ns);
            self.transmitter.clear();
            self.receiver.clear();
        }
        let command = self.firmware.mailbox(&mut self.memory, touched, self.model);
        match command {
            Some(Command::RateMask { mask, macid, short_gi }) => {
                self.transmitter.rates().set_mask(&mut self.memory, macid, mask, short_gi);
            }
            Some(Command::PowerMode { mode, .. }) => {
                let announcement = self.power.ask(&self.memory, mode);
                self.transmitter.send(now_ns, announcement);
            }
            Some(Command::JoinBss(false)) => self.power.clear(now_ns),
            _ => {}
        }
        command.is_some()
    }

    /// Transmitter and receiver are switched on.
    fn is_on(&self) -> bool {
        let control = self.memory.u8(reg::CR);
        control != reg::CR_OFF && control & reg::CR_MAC_TX_RX == reg::CR_MAC_TX_RX
    }

    /// A bulk OUT transfer.
    pub(super) fn transmit(&mut self, now_ns: u64, data: &[u8]) -> OutReply {
        self.transmitter.accept(now_ns, &self.memory, &self.cam, data)
    }

    /// The host asks for received frames.
    pub(super) fn received(&mut self, now_ns: u64, out: &mut Vec<u8>) -> InReply {
        self.receiver.transfer(now_ns, &self.memory, out)
    }

    /// When a host that waits for received frames gets some, if nothing else comes.
    pub(super) fn next_answer(&self) -> Option<u64> {
        self.receiver.next_answer(&self.memory)
    }

    /// When the next transmit report goes into the receive buffer.
    pub(super) fn next_report(&self) -> Option<u64> {
        self.transmitter.report_due_ns(&self.memory).filter(|_| self.is_on())
    }

    /// Lets transmit reports go out that are due by now.
    pub(super) fn advance(&mut self, now_ns: u64) {
        if self.next_report().is_none_or(|due_ns| due_ns > now_ns) {
            return;
        }
        if let Some(report) = self.transmitter.reporter().take(now_ns, &self.memory) {
            let taken = !self.firmware.mute && self.receiver.report(now_ns, &self.memory, &report);
            self.transmitter.reporter().handed_over(&report, taken);
        }
    }
}

impl Station for Mac {
    fn tuned(&self) -> Option<Tuned> {
        let tuned = Tuned::channel(self.radio.channel(&self.memory)).filter(|_| self.is_on());
        let width = if self.radio.is_40mhz(&self.memory) { Bandwidth::Mhz40 } else { Bandwidth::Mhz20 };
        tuned.map(|tuned| Tuned { width, ..tuned })
    }

    fn ready_since(&self) -> Option<u64> {
        self.transmitter.queues().ready_since(&self.memory).filter(|_| self.is_on())
    }

    fn access(&self) -> EdcaParameters {
        self.transmitter.access(&self.memory)
    }

    fn access_function(&self) -> usize {
        self.transmitter.queues().access_function(&self.memory)
    }

    fn retry_limit(&self) -> u32 {
        u32::from(short_retry_limit(&self.memory))
    }

    fn begin(&mut self, _now_ns: u64, _function: usize) -> Option<Ppdu> {
        let mut ppdu = self.transmitter.begin(&self.memory, self.radio.is_40mhz(&self.memory))?;
        ppdu.mpdus.iter_mut().for_each(|mpdu| self.power.mark(mpdu));
        Some(ppdu)
    }

    fn ended(&mut self, now_ns: u64, ppdu: Ppdu, outcome: &Outcome) {
        if let (Some(first), Some(true)) = (ppdu.mpdus.first(), outcome.acknowledged.first()) {
            self.power.acknowledged(now_ns, first);
        }
        self.transmitter.ended(now_ns, &mut self.memory, &ppdu, outcome);
    }

    fn receive(&mut self, now_ns: u64, mpdu: &[u8], reception: &Reception) -> bool {
        let is_wide = matches!(reception.mode, Mode::Ht(ht) if ht.bandwidth == Bandwidth::Mhz40);
        if is_wide && !self.radio.is_40mhz(&self.memory) {
            // Half of it is outside what the baseband looks at.
            return false;
        }
        let (awake, answer) = self.power.hears(&self.memory, mpdu);
        self.transmitter.send(now_ns, answer);
        if !awake {
            return false;
        }
        let times = (now_ns, self.tsf_us(now_ns));
        let (probability, rng) = &mut self.late;
        let late = reception.ampdu.is_some() && *probability > 0.0 && rng.chance(*probability);
        let accepted = self.receiver.receive(times, &self.memory, &self.cam, mpdu, reception) && !late;
        if accepted {
            let next = self.power.accepted(&self.memory, mpdu);
            self.transmitter.send(now_ns, next);
        }
        accepted
    }

    /// The rates that the driver has set for responses.
    fn basic_rates(&self) -> Option<RateSet> {
        legacy_rates(self.memory.u16(reg::RESPONSE_RATE_SET).into())
    }
}

crate::state!(Mac {
    memory, firmware, radio, cam, transmitter, receiver, power, tsf_zero_ns, late,
} made { model, efuse });
