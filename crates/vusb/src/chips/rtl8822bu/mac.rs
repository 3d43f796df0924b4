//! The chip's inside: registers and what stands behind them, transmitter and receiver.

use wire::ieee80211::Mpdu;
use wire::phy::{Band, EdcaParameters, RateSet};
use wire::usb::rtw88::queue;

use super::assumptions::{Assumptions, ReportForm};
use super::efuse::Efuse;
use super::firmware::{self, Command, Firmware, Packet};
use super::model::Model;
use super::packet_buffer::PacketBuffer;
use super::pages::PLACES;
use super::radio;
use super::rates::Told;
use super::receive::Receiver;
use super::registers as reg;
use super::statistics::{ChipCounters, RxCounters, TxCounters};
use super::system::{self, Switch, System};
use super::transfer::{parts, Part};
use super::transmit::{Fate, Transmitter};
use crate::air::rates::legacy_rates;
use crate::air::{width, Outcome, Ppdu, Reception, Station, Tuned};
use crate::chips::realtek::cam::Cam;
use crate::chips::realtek::memory::{Memory, Touched};
use crate::chips::realtek::power::{PowerCounters, PowerSave};
use crate::chips::realtek::queues::short_retry_limit;
use crate::chips::station_power::NULL;
use crate::device::{Effect, InReply, OutReply};
use random::{Rng, Stream};

/// Longest register read: the driver reads four bytes at most.
const READ_MAX: usize = 256;
/// Reports of the firmware (fw.h, enum rtw_c2h_cmd_id): what happened to a frame, and the rate of a station.
const TX_REPORT: u8 = 0x03;
const RATE_REPORT: u8 = 0x0c;
const EXTENDED_REPORT: u8 = 0xff;
/// An extended report is of a frame (enum rtw_c2h_cmd_id_ext, C2H_CCX_RPT).
const EXTENDED_TX_REPORT: u8 = 0x0f;
/// The driver's number of a frame that comes back (tx.c, rtw_tx_report_enable): bits 7:2.
const MARK: u16 = 0xfc;
/// Given up after the last retry: any value but zero in bits 7:6 (fw.h, GET_CCX_REPORT_STATUS_V1).
const GIVEN_UP: u8 = 1 << 6;

/// Registers, radio, keys, queues.
pub struct Mac {
    model: Model,
    efuse: Efuse,
    assumptions: Assumptions,
    memory: Memory,
    system: System,
    firmware: Firmware,
    buffer: PacketBuffer,
    cam: Cam,
    transmitter: Transmitter,
    receiver: Receiver,
    power: PowerSave,
    counters: ChipCounters,
    /// What the run's clock showed when the TSF was zero.
    tsf_zero_ns: u64,
    /// How likely a Block Ack does not have an MPDU yet (a fault), and the draws of it.
    late: (f64, Rng),
}

impl Mac {
    pub(super) fn new(model: Model, efuse: Efuse, assumptions: Assumptions, seed: u64) -> Self {
        let mut mac = Self {
            model,
            efuse,
            assumptions,
            memory: Memory::default(),
            system: System::default(),
            firmware: Firmware::default(),
            buffer: PacketBuffer::default(),
            cam: Cam::default(),
            transmitter: Transmitter::default(),
            receiver: Receiver::new(model),
            power: PowerSave::default(),
            counters: ChipCounters::default(),
            tsf_zero_ns: 0,
            late: (0.0, Rng::new(seed, Stream::LateBlockAck, 0)),
        };
        mac.cold_start(0);
        mac
    }

    /// Power was cut.
    pub(super) fn cold_start(&mut self, now_ns: u64) {
        system::cold_start(&mut self.memory, self.model);
        self.system = System::default();
        self.firmware.cold_start();
        self.transmitter.set_without_rates(false);
        self.switched_off(now_ns);
    }

    /// The MAC has no power: what was in it is lost.
    fn switched_off(&mut self, now_ns: u64) {
        self.buffer = PacketBuffer::default();
        self.cam = Cam::default();
        self.power.clear(now_ns);
        self.transmitter.clear();
        self.receiver.clear();
    }

    /// Lets a fault happen. `true`: it is the chip's alone; `false`: the air gets it, too.
    pub(super) fn inject(&mut self, effect: &Effect) -> bool {
        match *effect {
            // The firmware does not start again before power was cut.
            Effect::FirmwareHang => {
                self.firmware.hang(&mut self.memory);
                self.transmitter.set_without_rates(true);
            }
            Effect::LostC2h(lost) => self.firmware.mute = lost,
            Effect::LateBlockAck(probability) => self.late.0 = probability,
            Effect::Reseed(seed, _) => {
                self.late.1 = Rng::new(seed, Stream::LateBlockAck, 0);
                return false; // The air draws, too.
            }
            _ => return false,
        }
        true
    }

    pub(super) const fn counters(&self) -> ChipCounters {
        ChipCounters { firmware_bytes: self.firmware.downloaded(), ..self.counters }
    }

    pub(super) const fn tx_counters(&self) -> &TxCounters {
        self.transmitter.counters()
    }

    pub(super) const fn rx_counters(&self) -> &RxCounters {
        self.receiver.counters()
    }

    pub(super) fn power_counters(&self, now_ns: u64) -> PowerCounters {
        self.power.counters(now_ns)
    }

    const fn tsf_us(&self, now_ns: u64) -> u64 {
        now_ns.wrapping_sub(self.tsf_zero_ns) / 1_000
    }

    /// A register read.
    pub(super) fn read(&mut self, now_ns: u64, address: u16, len: usize) -> Vec<u8> {
        self.counters.reads += 1;
        if (reg::TSFTR..reg::TSFTR + 8).contains(&address) {
            let tsf = self.tsf_us(now_ns);
            self.memory.write(reg::TSFTR, &tsf.to_le_bytes());
        }
        if (reg::FIFOPAGE_INFO_1..reg::FIFOPAGE_INFO_1 + 16).contains(&address) {
            self.transmitter.show_pages(&mut self.memory);
        }
        let mut bytes = Vec::with_capacity(len.min(READ_MAX));
        self.memory.read(address, len.min(READ_MAX), &mut bytes);
        bytes
    }

    /// A register write.
    pub(super) fn write(&mut self, now_ns: u64, address: u16, data: &[u8]) {
        self.counters.writes += 1;
        let touched = Touched { start: address, len: data.len() };
        let powered_before = self.is_on();
        self.memory.write(address, data);
        PacketBuffer::written(&mut self.memory, touched);
        match self.system.written(&mut self.memory, touched, &self.efuse) {
            Some(Switch::On) => radio::switched_on(&mut self.memory),
            Some(Switch::Off) => {
                self.firmware.stop();
                self.switched_off(now_ns);
            }
            None => {}
        }
        self.firmware.written(&mut self.memory, touched, &self.buffer, self.model);
        radio::written(&mut self.memory, touched);
        self.cam.written(&mut self.memory, touched);
        if touched.has(reg::TSFTR) {
            self.tsf_zero_ns =
                now_ns.wrapping_sub(u64::from_le_bytes(self.memory.array(reg::TSFTR)).wrapping_mul(1_000));
        }
        if powered_before && !self.is_on() {
            self.power.clear(now_ns);
            self.transmitter.clear();
            self.receiver.clear();
        }
        if let Some(command) = self.firmware.mailbox(&mut self.memory, touched) {
            self.command(now_ns, command);
        }
    }

    fn command(&mut self, now_ns: u64, command: Command) {
        self.counters.commands += 1;
        match command {
            Command::Rates(info) => {
                self.transmitter.rates().set(info);
                self.tell_rates(now_ns);
            }
            Command::MediaStatus { connected: false, station } => {
                self.transmitter.rates().forget(station);
                self.power.clear(now_ns);
                self.show_power();
            }
            Command::PowerMode { mode, .. } => {
                let announcement = self.power.ask(&self.memory, mode);
                self.transmitter.send(now_ns, announcement);
            }
            Command::MediaStatus { .. } | Command::Other(_) => {}
        }
    }

    /// The bit by which the driver sees whether the firmware still sleeps (ps.c, __rtw_fw_leave_lps_check_reg).
    fn show_power(&mut self) {
        let set = if self.power.is_asleep() { reg::POWER_MANAGEMENT } else { 0 };
        self.memory.change(reg::TCR, reg::POWER_MANAGEMENT, set);
    }

    /// Transmitter and receiver are switched on.
    pub fn is_on(&self) -> bool {
        let control = self.memory.u8(reg::CR);
        control != reg::CR_OFF && control & reg::CR_MAC_TX_RX == reg::CR_MAC_TX_RX
    }

    /// What the bus brings: frames, pages and commands, each behind its descriptor.
    pub(super) fn transmit(&mut self, now_ns: u64, data: &[u8]) -> OutReply {
        let (parts, malformed) = parts(data);
        let frames: Vec<Part<'_>> = parts
            .iter()
            .copied()
            .filter(|part| ![queue::BEACON, queue::COMMAND].contains(&part.descriptor.queue()))
            .collect();
        if !frames.is_empty() && !self.transmitter.has_room(&self.memory, &frames) {
            return OutReply::Nak;
        }
        self.transmitter.transferred(frames.len(), malformed);
        for part in parts {
            if self.model.has_checksums() && !self.transmitter.is_sound(&part.descriptor) {
                continue;
            }
            match part.descriptor.queue() {
                queue::BEACON => {
                    self.counters.pages_written += 1;
                    self.buffer.write(&mut self.memory, part.whole);
                }
                queue::COMMAND => self.packet(part.frame),
                _ => self.transmitter.accept(now_ns, &self.memory, &self.cam, &part),
            }
        }
        self.report_fates(now_ns);
        OutReply::Accepted
    }

    /// A command of the queue of commands.
    fn packet(&mut self, bytes: &[u8]) {
        if !self.firmware.is_running() {
            return;
        }
        let Some(packet) = firmware::packet(bytes) else { return };
        self.counters.packets += 1;
        if packet == Packet::Calibrate {
            self.counters.calibrations += 1;
            radio::calibrated(&mut self.memory);
        }
    }

    /// A report of the firmware.
    fn report(&mut self, now_ns: u64, id: u8, payload: &[u8]) {
        if !self.firmware.is_running() {
            return;
        }
        let number = self.firmware.next_report();
        let taken = !self.firmware.mute && self.receiver.report(now_ns, &self.memory, id, number, payload);
        self.counters.reports += u64::from(taken);
        self.counters.reports_lost += u64::from(!taken);
    }

    /// Reports what happened to frames.
    fn report_fates(&mut self, now_ns: u64) {
        while let Some(Fate { mark, arrived }) = self.transmitter.fate() {
            let (mark, status) = ((mark & MARK) as u8, if arrived { 0 } else { GIVEN_UP });
            match self.assumptions.report_form {
                // fw.h, GET_CCX_REPORT_SEQNUM_V1 and GET_CCX_REPORT_STATUS_V1, behind the number of the report inside.
                ReportForm::Extended => {
                    let payload = [EXTENDED_TX_REPORT, 0, 0, 0, 0, 0, 0, 0, mark, status];
                    self.report(now_ns, EXTENDED_REPORT, &payload);
                }
                // GET_CCX_REPORT_SEQNUM_V0 and GET_CCX_REPORT_STATUS_V0.
                ReportForm::Plain => self.report(now_ns, TX_REPORT, &[status, 0, 0, 0, 0, 0, mark]),
            }
        }
    }

    /// Reports the rates of stations that have changed (fw.h, struct rtw_c2h_ra_rpt).
    fn tell_rates(&mut self, now_ns: u64) {
        let width = radio::width(&self.memory);
        while let Some(Told { station, rate, short_gi, bandwidth }) = self.transmitter.rates().news(width) {
            let payload = [rate | u8::from(short_gi) << 7, station, 0, 0, 0, 0, bandwidth];
            self.report(now_ns, RATE_REPORT, &payload);
        }
    }

    /// The host asks for received frames.
    pub(super) fn received(&mut self, now_ns: u64, out: &mut Vec<u8>) -> InReply {
        self.receiver.transfer(now_ns, &self.memory, &self.assumptions, out)
    }

    /// Whether something was received that waits for a buffer of the host's.
    pub(super) fn has_received(&self) -> bool {
        self.receiver.has_packets()
    }

    /// What is in the next buffer of the host's, if each takes one frame or report.
    pub(super) fn next_received(&mut self) -> Option<Vec<u8>> {
        self.receiver.packet()
    }

    /// What the host can have in one transfer now: packets, and their bytes.
    pub(super) fn ready_received(&self, now_ns: u64) -> (usize, usize) {
        self.receiver.ready(now_ns, &self.memory, &self.assumptions)
    }

    /// So many packets are moved in one transfer.
    pub(super) fn take_received(&mut self, packets: usize, out: &mut Vec<u8>) {
        self.receiver.take_packets(packets, out);
    }

    /// Free pages of the packet buffer: of the high, low, normal and extra place, and of all.
    pub(super) fn free_pages(&self) -> [u16; PLACES + 1] {
        self.transmitter.free_pages(&self.memory)
    }

    /// Whether the firmware runs.
    pub(super) const fn firmware_runs(&self) -> bool {
        self.firmware.is_running()
    }

    /// Whether DMA brings something from the host (rtw88 reg.h, BIT_HCI_TXDMA_EN).
    pub(super) fn fetches(&self) -> bool {
        self.moves(reg::CR_FROM_HOST)
    }

    /// Whether DMA brings something to the host (BIT_HCI_RXDMA_EN).
    pub(super) fn delivers(&self) -> bool {
        self.moves(reg::CR_TO_HOST)
    }

    fn moves(&self, direction: u8) -> bool {
        let control = self.memory.u8(reg::CR);
        control != reg::CR_OFF && control & direction != 0
    }

    /// When a host that waits for received frames gets some, if nothing else comes.
    pub(super) fn next_answer(&self) -> Option<u64> {
        self.receiver.next_answer(&self.memory, &self.assumptions)
    }
}

impl Station for Mac {
    fn tuned(&self) -> Option<Tuned> {
        radio::tuned(&self.memory).filter(|_| self.is_on())
    }

    fn ready_since(&self) -> Option<u64> {
        self.transmitter.queues().ready_since(&self.memory).filter(|_| self.tuned().is_some())
    }

    fn access(&self) -> EdcaParameters {
        let band = self.tuned().map_or(Band::Ghz2_4, |tuned| tuned.band());
        self.transmitter.access(&self.memory, band)
    }

    fn access_function(&self) -> usize {
        self.transmitter.queues().access_function(&self.memory)
    }

    fn retry_limit(&self) -> u32 {
        u32::from(short_retry_limit(&self.memory))
    }

    fn begin(&mut self, _now_ns: u64, _function: usize) -> Option<Ppdu> {
        let width = radio::width(&self.memory);
        let mut ppdu = self.transmitter.begin(&self.memory, width, &self.assumptions)?;
        ppdu.mpdus.iter_mut().for_each(|mpdu| self.power.mark(mpdu));
        Some(ppdu)
    }

    fn ended(&mut self, now_ns: u64, ppdu: Ppdu, outcome: &Outcome) {
        if let (Some(first), Some(true)) = (ppdu.mpdus.first(), outcome.acknowledged.first()) {
            if Mpdu::new(&first[..]).kind() == Some(NULL) {
                self.power.acknowledged(now_ns, first);
                self.show_power();
            }
        }
        self.transmitter.ended(now_ns, &self.memory, &ppdu, outcome, &self.assumptions);
        self.report_fates(now_ns);
        self.tell_rates(now_ns);
    }

    fn receive(&mut self, now_ns: u64, mpdu: &[u8], reception: &Reception) -> bool {
        if width(&reception.mode) > radio::width(&self.memory) {
            // A part of it is outside of what the baseband looks at.
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
        legacy_rates(u32::from(self.memory.u16(reg::RRSR) & 0x0fff))
    }
}

crate::state!(Mac {
    memory, system, firmware, buffer, cam, transmitter, receiver, power, counters, tsf_zero_ns, late,
} made { model, efuse, assumptions });
