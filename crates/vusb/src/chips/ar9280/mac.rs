//! The chip's inside: registers and what stands behind them, transmitter and receiver.

use wire::ieee80211::{FrameKind, MacAddr, Mpdu};
use wire::phy::EdcaParameters;

use super::assumptions::{Assumptions, Switch};
use super::cycles::Cycles;
use super::eeprom::Eeprom;
use super::frame;
use super::interrupts::{Interrupts, Masks};
use super::key_cache::KeyCache;
use super::memory::{queue_of, Registers};
use super::model::Model;
use super::queues::{self, Queue};
use super::radio;
use super::receive::{self, rssi, Receiver};
use super::registers as reg;
use super::statistics::{ChipCounters, OneChip};
use super::timers::{Fired, Timers, TIMERS};
use super::transmit::Transmitter;
use crate::air::exchange::{duration_ns, FCS_LEN};
use crate::air::{width, Contender, Outcome, Ppdu, Reception, Station, Tuned};
use crate::pci::FunctionMemory;

/// What a PHY of the family says it is (Linux ath9k/ar9002_hw.c: anything with radio type 0 passes).
const PHY_ID: u32 = 0x3000_0000;
/// The noise floor, dBm; the driver takes what it reads for nominal (ath9k/ar9002_phy.h, AR_PHY_CCA_NOM_VAL_9280_2GHZ).
const NOISE_FLOOR_DBM: i32 = -112;
/// What the observation bus shows of a MAC that hangs (ath9k/hw.c, ath9k_hw_check_alive).
const HUNG: u32 = 0x0070_2400;

/// Registers, queues, keys, timers.
pub(super) struct Mac {
    model: Model,
    memory: FunctionMemory,
    assumptions: Assumptions,
    eeprom: Eeprom,
    /// The word of it that was read last.
    latched: u16,
    registers: Registers,
    interrupts: Interrupts,
    timers: Timers,
    keys: KeyCache,
    transmitter: Transmitter,
    receiver: Receiver,
    cycles: Cycles,
    /// The interrupt line.
    line: bool,
    failures: Failures,
    counters: ChipCounters,
}

/// What is wrong with the chip.
#[derive(Clone, Copy, Debug, Default, serde::Serialize, serde::Deserialize)]
pub(super) struct Failures {
    /// Its MAC has stopped, until the power was cut.
    pub(super) hung: bool,
    /// It does not get at memory.
    pub(super) dma_stuck: bool,
    /// Its interrupt line is dead.
    pub(super) interrupts_lost: bool,
}

impl Mac {
    pub(super) fn new(model: Model, eeprom: Eeprom, assumptions: Assumptions, memory: FunctionMemory) -> Self {
        Self {
            model,
            memory,
            assumptions,
            eeprom,
            latched: 0,
            registers: Registers::default(),
            interrupts: Interrupts::default(),
            timers: Timers::default(),
            keys: KeyCache::default(),
            transmitter: Transmitter::default(),
            receiver: Receiver::default(),
            cycles: Cycles::default(),
            line: false,
            failures: Failures::default(),
            counters: ChipCounters::default(),
        }
    }

    /// Power was cut.
    pub(super) fn cold_start(&mut self, now_ns: u64) {
        self.registers = Registers::default();
        self.keys = KeyCache::default();
        (self.latched, self.failures.hung) = (0, false);
        self.reset(now_ns, true);
    }

    pub(super) const fn counted(&self) -> OneChip {
        OneChip { chip: self.counters, tx: *self.transmitter.counters(), rx: *self.receiver.counters() }
    }

    pub(super) const fn cycles(&mut self) -> &mut Cycles {
        &mut self.cycles
    }

    /// Whether it holds its interrupt line.
    pub(super) const fn interrupt(&self) -> bool {
        self.line && !self.failures.interrupts_lost
    }

    /// What is wrong with it, to be changed.
    pub(super) const fn fail(&mut self) -> &mut Failures {
        &mut self.failures
    }

    /// Whether frames go through it.
    const fn works(&self) -> bool {
        !self.failures.hung && !self.failures.dma_stuck
    }

    fn masks(&self) -> Masks {
        let word = |offset| self.registers.word(offset);
        Masks {
            primary: word(reg::IMR),
            s0: word(reg::IMR_S0),
            s1: word(reg::IMR_S1),
            s2: word(reg::IMR_S2),
            s5: word(reg::IMR_S5),
        }
    }

    /// An interrupt of the MAC is pending, and they are switched on.
    fn has_interrupt(&self) -> bool {
        self.registers.word(reg::IER) & 1 != 0 && self.interrupts.is_pending(&self.masks())
    }

    fn look_at_line(&mut self) {
        let line = self.has_interrupt() && self.registers.word(reg::INTR_ASYNC_ENABLE) & reg::MAC_IRQ != 0;
        self.counters.interrupts += u64::from(line && !self.line);
        self.line = line;
    }

    /// The MAC begins again; keys and most registers stay (assumed), the TSF does not where it is a cold reset (the driver saves
    /// it: ath9k/hw.c, ath9k_hw_reset).
    fn reset(&mut self, now_ns: u64, cold: bool) {
        self.counters.resets += 1;
        self.transmitter.reset();
        self.receiver.reset();
        self.interrupts = Interrupts::default();
        self.timers.enable(0);
        if cold {
            self.timers.set_tsf(now_ns, 0);
        }
        for offset in [reg::IER, reg::IMR, reg::INTR_ASYNC_ENABLE, reg::RX_FILTER] {
            self.registers.set(offset, 0);
        }
        for offset in (reg::IMR_S0..=reg::IMR_S5).step_by(4) {
            self.registers.set(offset, 0);
        }
    }

    /// Whether it sleeps, is awake, or is off.
    fn status(&self) -> u32 {
        let wake = self.registers.word(reg::RTC_FORCE_WAKE);
        if self.registers.word(reg::RTC_RESET) & 1 == 0 {
            reg::STATUS_SHUTDOWN
        } else if wake & reg::WAKE_EN != 0 || wake & reg::WAKE_ON_INT != 0 && self.line {
            reg::STATUS_ON
        } else {
            reg::STATUS_SLEEP
        }
    }

    /// Reads a register.
    pub(super) fn read(&mut self, now_ns: u64, offset: u32) -> u32 {
        self.counters.reads += 1;
        let kept = self.registers.word(offset);
        if let Some(queue) = queue_of(reg::Q_TXDP, offset) {
            return self.transmitter.pointer(queue);
        }
        if let Some(queue) = queue_of(reg::Q_STS, offset) {
            return self.transmitter.pending(queue);
        }
        match offset {
            reg::CR => {
                if self.receiver.is_enabled() {
                    reg::CR_RXE
                } else {
                    0
                }
            }
            reg::RXDP => self.receiver.pointer(),
            reg::ISR | reg::ISR_S0 | reg::ISR_S1 | reg::ISR_S2 | reg::ISR_S3 | reg::ISR_S4 | reg::ISR_S5 => {
                self.interrupts.read(offset, &self.masks())
            }
            reg::Q_TXE => self.transmitter.queues.enabled,
            reg::Q_TXD => self.transmitter.queues.stopped,
            reg::EEPROM..reg::EEPROM_END => {
                self.latched = self.eeprom.word((offset - reg::EEPROM) / 4);
                0
            }
            reg::EEPROM_STATUS_DATA => self.latched.into(),
            reg::SREV => self.model.revision(),
            reg::INTR_SYNC_CAUSE => 0,
            reg::INTR_ASYNC_CAUSE => {
                if self.has_interrupt() {
                    reg::MAC_IRQ
                } else {
                    0
                }
            }
            reg::RTC_STATUS => self.status(),
            reg::TSF_L32 => self.timers.tsf_us(now_ns) as u32,
            reg::TSF_U32 => (self.timers.tsf_us(now_ns) >> 32) as u32,
            reg::CCCNT | reg::RCCNT | reg::RFCNT | reg::TFCNT => self.cycles.read(offset, now_ns, self.clock_mhz()),
            reg::KEYTABLE..reg::KEYTABLE_END => self.keys.read(offset),
            reg::NEXT_TIMERS..reg::TIMER_PERIODS => self.timers.next(timer(offset)),
            reg::TIMER_PERIODS..reg::TIMER_MODE => self.timers.period(timer(offset)),
            reg::TIMER_MODE => self.timers.enabled(),
            reg::OBS_BUS_1 if self.failures.hung => HUNG,
            reg::OBS_BUS_1 | reg::SLP32_MODE | reg::RESET_TSF => 0,
            _ if reg::MIB.contains(&offset) || reg::PHY_ERRORS.contains(&offset) => 0,
            _ => self.baseband(offset, kept),
        }
    }

    /// Registers of the baseband: calibrations are done at once, and find what they look for.
    fn baseband(&self, offset: u32, kept: u32) -> u32 {
        let floor = (NOISE_FLOOR_DBM & 0x1ff) as u32;
        match offset {
            reg::PHY_CHIP_ID => PHY_ID,
            reg::PHY_AGC_CONTROL => kept & !reg::AGC_CALIBRATIONS,
            reg::PHY_RFBUS_GRANT => self.registers.word(reg::PHY_RFBUS_REQ) & 1,
            _ if reg::PHY_TIMING_CTRL4.contains(&offset) => kept & !reg::IQ_CALIBRATION,
            _ if reg::PHY_CCA.contains(&offset) => kept & !(0x1ff << 20) | floor << 20,
            _ if reg::PHY_EXT_CCA.contains(&offset) => kept & !(0x1ff << 16) | floor << 16,
            _ => kept,
        }
    }

    /// MHz of the MAC's clock (ath9k/hw.c, ath9k_hw_set_clockrate: the driver has set it).
    fn clock_mhz(&self) -> u64 {
        u64::from((self.registers.word(reg::USEC) & 0x7f) + 1)
    }

    /// Writes a register.
    pub(super) fn write(&mut self, now_ns: u64, offset: u32, value: u32) {
        self.counters.writes += 1;
        let before = self.registers.word(offset);
        self.registers.set(offset, value);
        if let Some(queue) = queue_of(reg::Q_TXDP, offset) {
            self.transmitter.point(queue, value);
            return;
        }
        match offset {
            reg::CR | reg::Q_TXE if !self.works() => {}
            reg::CR => self.receiver.command(&self.memory, value),
            reg::RXDP => self.receiver.point(value),
            reg::ISR | reg::ISR_S0 | reg::ISR_S1 | reg::ISR_S2 | reg::ISR_S5 => {
                self.interrupts.acknowledge(offset, value)
            }
            reg::Q_TXE => self.transmit(now_ns, |transmitter, around| transmitter.enable(around, value)),
            reg::Q_TXD => self.transmitter.stop(value),
            reg::TSF_L32 => {
                let tsf_us = self.timers.tsf_us(now_ns) & !0xffff_ffff | u64::from(value);
                self.timers.set_tsf(now_ns, tsf_us);
            }
            reg::TSF_U32 => {
                let tsf_us = self.timers.tsf_us(now_ns) & 0xffff_ffff | u64::from(value) << 32;
                self.timers.set_tsf(now_ns, tsf_us);
            }
            reg::RESET_TSF if value & reg::RESET_TSF_ONCE != 0 => self.timers.set_tsf(now_ns, 0),
            reg::CCCNT | reg::RCCNT | reg::RFCNT | reg::TFCNT => self.cycles.write(offset, now_ns),
            reg::KEYTABLE..reg::KEYTABLE_END => self.keys.write(offset, value),
            reg::NEXT_TIMERS..reg::TIMER_PERIODS => self.timers.set_next(timer(offset), value),
            reg::TIMER_PERIODS..reg::TIMER_MODE => self.timers.set_period(timer(offset), value),
            reg::TIMER_MODE => self.timers.enable(value),
            reg::RTC_RC if value & !before & (reg::RC_MAC_WARM | reg::RC_MAC_COLD) != 0 => {
                self.reset(now_ns, value & reg::RC_MAC_COLD != 0);
            }
            reg::RTC_RESET if value & 1 == 0 => self.reset(now_ns, false),
            _ => {}
        }
        self.look_at_line();
    }

    fn transmit<T>(
        &mut self,
        now_ns: u64,
        what: impl FnOnce(&mut Transmitter, &mut frame::Surroundings<'_>) -> T,
    ) -> T {
        let mut around = frame::Surroundings {
            now_ns,
            memory: &self.memory,
            registers: &self.registers,
            keys: &mut self.keys,
            interrupts: &mut self.interrupts,
            timers: &self.timers,
            filters_sleepers: self.assumptions.filter == Switch::On,
        };
        what(&mut self.transmitter, &mut around)
    }

    /// Lets everything happen that is due by `now_ns`, except on the air.
    pub(super) fn advance(&mut self, now_ns: u64) {
        if self.failures.hung {
            return;
        }
        while let Some(fired) = self.timers.fire(now_ns) {
            self.transmitter.queues.timer(&self.registers, now_ns, fired);
            match fired {
                Fired::Tbtt => self.interrupts.beacon(reg::S2_TBTT),
                Fired::DmaBeaconAlert => {}
                Fired::SoftwareBeaconAlert => {
                    self.counters.beacon_alerts += 1;
                    self.interrupts.raise(reg::ISR_SWBA);
                }
                Fired::Generic(number) => self.interrupts.timer(number),
            }
        }
        self.receiver.advance(now_ns, &mut self.interrupts);
        self.look_at_line();
    }

    /// When something of its own happens next.
    pub(super) fn next_event(&self, now_ns: u64) -> Option<u64> {
        if self.failures.hung {
            return None;
        }
        [self.timers.next_event(now_ns), self.receiver.next_event()].into_iter().flatten().min()
    }

    fn is_awake(&self) -> bool {
        self.status() == reg::STATUS_ON
    }

    fn at(&self) -> Option<Tuned> {
        radio::tuned(&self.registers)
    }

    /// In station mode the TSF follows the beacons of the network (no code does it: the chip must).
    fn follow(&mut self, now_ns: u64, frame: &[u8], reception: &Reception) {
        let mpdu = Mpdu::new(frame);
        let is_station = self.registers.word(reg::STA_ID1) & (reg::STA_ID1_AP | reg::STA_ID1_ADHOC) == 0;
        let bssid = self.registers.address(reg::BSS_ID0).to_le_bytes();
        let is_own = mpdu.transmitter().is_some_and(|MacAddr(address)| bssid.starts_with(&address));
        if !is_station || !is_own || mpdu.kind() != Some(FrameKind::Beacon) {
            return;
        }
        let Some(stamp) = frame.get(frame::TIMESTAMP).and_then(|field| field.first_chunk()) else { return };
        // The time stamp is that of its beginning here.
        let lasted_us = duration_ns(&reception.mode, frame.len() + FCS_LEN) / 1_000;
        self.timers.set_tsf(now_ns, u64::from_le_bytes(*stamp).wrapping_add(lasted_us));
    }
}

/// The number of a timer.
const fn timer(offset: u32) -> usize {
    (offset - reg::NEXT_TIMERS) as usize / 4 % TIMERS
}

impl Station for Mac {
    fn tuned(&self) -> Option<Tuned> {
        self.at().filter(|_| self.is_awake())
    }

    fn ready_since(&self) -> Option<u64> {
        self.heads().map(|(_, queue)| queue.since_ns).min()
    }

    fn access(&self) -> EdcaParameters {
        queues::access(&self.registers, self.heads().last().map_or(0, |(number, _)| number))
    }

    fn contenders(&self, visit: &mut dyn FnMut(Contender)) {
        for (number, queue) in self.heads() {
            visit(Contender {
                function: queues::function(number),
                since_ns: queue.since_ns,
                access: queues::access(&self.registers, number),
                retry_limit: queues::retry_limit(&self.registers, number),
            });
        }
    }

    fn begin(&mut self, now_ns: u64, function: usize) -> Option<Ppdu> {
        let ppdu = self.transmit(now_ns, |transmitter, around| transmitter.begin(around, function, &mut |_| true));
        self.look_at_line();
        ppdu
    }

    fn txop_limit_ns(&self, function: usize) -> Option<u64> {
        let number = self.transmitter.queues.head(&self.registers, self.cycles.now_ns(), function)?;
        Some(u64::from(queues::txop_us(&self.registers, number)) * 1_000)
    }

    fn go_on(&mut self, now_ns: u64, function: usize, fits: &mut dyn FnMut(&Ppdu) -> bool) -> Option<Ppdu> {
        if !self.works() || !self.is_awake() {
            return None;
        }
        let ppdu = self.transmit(now_ns, |transmitter, around| transmitter.begin(around, function, fits));
        self.look_at_line();
        ppdu
    }

    fn ended(&mut self, now_ns: u64, ppdu: Ppdu, outcome: &Outcome) {
        if !self.works() {
            return;
        }
        self.transmit(now_ns, |transmitter, around| transmitter.ended(around, &ppdu, outcome));
        self.look_at_line();
    }

    fn wants(&self, receiver: MacAddr) -> bool {
        // Before the driver sets its mask, every address is its own.
        self.receiver.is_enabled() && (receiver.is_group() || self.registers.is_own(receiver.0))
    }

    fn receive(&mut self, now_ns: u64, mpdu: &[u8], reception: &Reception) -> bool {
        let outside = self.at().is_none_or(|tuned| width(&reception.mode) > tuned.width);
        let is_off = self.registers.word(reg::DIAG_SW) & reg::DIAG_RX_DIS != 0;
        if !self.receiver.is_enabled() || is_off || outside || !self.is_awake() || !self.works() {
            return false;
        }
        if let Some(transmitter) = Mpdu::new(mpdu).transmitter() {
            self.transmitter.heard(transmitter, rssi(reception.signal_dbm));
        }
        self.follow(now_ns, mpdu, reception);
        let mut around = receive::Surroundings {
            now_ns,
            tsf_us: self.timers.tsf_us(now_ns),
            memory: &self.memory,
            registers: &self.registers,
            keys: &mut self.keys,
            interrupts: &mut self.interrupts,
        };
        let answers = self.receiver.receive(&mut around, mpdu, reception);
        self.look_at_line();
        answers
    }
}

impl Mac {
    /// The queues that contend, from the least urgent on; none while it cannot send.
    fn heads(&self) -> impl Iterator<Item = (usize, &Queue)> {
        let sends = self.at().is_some() && self.works() && self.is_awake();
        let heads = self.transmitter.queues.heads(&self.registers, self.cycles.now_ns());
        sends.then_some(heads).into_iter().flatten()
    }
}

crate::state!(Mac {
    latched, registers, interrupts, timers, keys, transmitter, receiver, cycles, line, failures, counters,
} made { model, memory, assumptions, eeprom });
