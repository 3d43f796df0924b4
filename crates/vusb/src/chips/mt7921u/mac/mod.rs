//! The chip's inside: registers, the firmware and what it does, transmitter and receiver.

mod on_air;
mod work;

use std::collections::VecDeque;

use random::{Rng, Stream};
use wire::ieee80211::MacAddr;
use wire::usb::connac2::{self, Command, CommandId, EventHeader, TxStatus};

use super::answers;
use super::assumptions::Assumptions;
use super::commands::Asked;
use super::firmware::Firmware;
use super::receive::Receiver;
use super::registers::{self as reg, Registers, WtblPlace};
use super::scan::Scan;
use super::stations::Stations;
use super::statistics::{ChipCounters, RxCounters, TxCounters};
use super::transmit::Transmitter;
use crate::air::Tuned;
use crate::chips::dynamic_power::{PowerCounters, PowerSave};
use crate::device::{InReply, OutReply};

/// Networks and own addresses (mt792x.h, MT792x_MAX_INTERFACES).
const INTERFACES: usize = 4;
/// Longest register read.
const READ_MAX: usize = 1_024;
/// A network.
#[derive(Clone, Copy, Debug, Default, serde::Serialize, serde::Deserialize)]
struct Network {
    active: bool,
    is_station: bool,
    connected: bool,
    own: u8,
    bssid: MacAddr,
    /// Its beacons are watched, and come at this interval.
    watched_tu: Option<u16>,
    beacon_ns: u64,
    /// The driver lets the chip sleep.
    power_save: bool,
}

impl Network {
    const fn is_joined(&self) -> bool {
        self.active && self.is_station && self.connected
    }
}

/// Registers, firmware, stations, queues.
pub struct Mac {
    own: [u8; 6],
    assumptions: Assumptions,
    registers: Registers,
    firmware: Firmware,
    stations: Stations,
    transmitter: Transmitter,
    receiver: Receiver,
    /// Events on their own endpoint.
    events: VecDeque<Vec<u8>>,
    addresses: [Option<MacAddr>; INTERFACES],
    networks: [Network; INTERFACES],
    enabled: bool,
    home: Option<Tuned>,
    stay: Option<Tuned>,
    scan: Option<Scan>,
    /// Bands (1, 2) and channels on which nothing may begin to send.
    passive: Vec<(u8, u8)>,
    power: PowerSave,
    counters: ChipCounters,
    /// What the run's clock showed when the TSF was zero.
    tsf_zero_ns: u64,
    /// How likely a Block Ack does not have an MPDU yet (a fault), and the draws of it.
    late: (f64, Rng),
}

/// Awake until the driver lets the chip sleep.
fn power(assumed: &Assumptions) -> PowerSave {
    let mut power = PowerSave::new(assumed.idle_ms as u16, assumed.ps_polls as u16);
    power.choose(false);
    power
}

impl Mac {
    pub(super) fn new(own: [u8; 6], assumptions: Assumptions, seed: u64) -> Self {
        Self {
            own,
            assumptions,
            registers: Registers::default(),
            firmware: Firmware::default(),
            stations: Stations::default(),
            transmitter: Transmitter::default(),
            receiver: Receiver::default(),
            events: VecDeque::new(),
            addresses: [None; INTERFACES],
            networks: [Network::default(); INTERFACES],
            enabled: false,
            home: None,
            stay: None,
            scan: None,
            passive: Vec::new(),
            power: power(&assumptions),
            counters: ChipCounters::default(),
            tsf_zero_ns: 0,
            late: (0.0, Rng::new(seed, Stream::LateBlockAck, 0)),
        }
    }

    /// It was plugged in, or its port was reset. A reset of the port alone does not reach the firmware of a real one; the driver
    /// resets it by a register where it runs.
    pub(super) fn cold_start(&mut self, now_ns: u64) {
        self.firmware.cold_start();
        self.wireless_reset(now_ns);
    }

    /// The wireless part was reset: registers, firmware and what it knew are gone.
    fn wireless_reset(&mut self, now_ns: u64) {
        self.firmware.reset();
        self.registers = Registers::default();
        self.stations = Stations::default();
        self.transmitter.clear();
        self.receiver.clear();
        self.events.clear();
        (self.addresses, self.networks) = ([None; INTERFACES], [Network::default(); INTERFACES]);
        (self.enabled, self.home, self.stay, self.scan) = (false, None, None, None);
        self.passive.clear();
        self.power = power(&self.assumptions).restarted(now_ns, &self.power);
    }

    /// The firmware stops, and does not start again before the chip was unplugged.
    pub(super) fn hang_firmware(&mut self) {
        self.firmware.hang();
    }

    /// What the firmware reports to the host gets lost, or not any more.
    pub(super) fn lose_events(&mut self, lost: bool) {
        self.firmware.mute = lost;
    }

    /// Block Acks come too early for an MPDU with this probability.
    pub(super) fn acknowledge_late(&mut self, probability: f64) {
        self.late.0 = probability;
    }

    /// Draws come from another source from now on.
    pub(super) fn reseed(&mut self, seed: u64) {
        self.late.1 = Rng::new(seed, Stream::LateBlockAck, 0);
    }

    pub(super) const fn counters(&self) -> ChipCounters {
        let (firmware_bytes, boots) = self.firmware.downloaded();
        ChipCounters { firmware_bytes, boots, ..self.counters }
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

    /// The driver switches power on.
    pub(super) fn power_on(&mut self) {
        self.firmware.power_on();
    }

    /// Registers are read.
    pub(super) fn read(&mut self, now_ns: u64, address: u32, len: usize) -> Vec<u8> {
        self.counters.reads += 1;
        let words = len.min(READ_MAX).div_ceil(4) as u32;
        let mut bytes: Vec<u8> =
            (0..words).flat_map(|at| self.word(now_ns, address.wrapping_add(4 * at)).to_le_bytes()).collect();
        bytes.truncate(len.min(READ_MAX));
        bytes
    }

    fn word(&mut self, now_ns: u64, address: u32) -> u32 {
        if let Some(place) = WtblPlace::of(address) {
            return self.wtbl(place);
        }
        match address {
            reg::CONN_ON_MISC if self.firmware.is_running() => reg::RUNNING,
            reg::CONN_ON_MISC => u32::from(self.firmware.is_powered()) * reg::POWERED,
            reg::LPON_UTTR0 => self.tsf_us(now_ns) as u32,
            reg::LPON_UTTR1 => (self.tsf_us(now_ns) >> 32) as u32,
            _ => self.registers.read(address),
        }
    }

    /// A word of the table of stations.
    fn wtbl(&self, place: WtblPlace) -> u32 {
        const GUARD_INTERVALS: u8 = 7;
        const AIRTIME: u8 = 20;
        const SIGNAL: u8 = 30;
        let Some(entry) = self.stations.get(place.station.into()) else { return 0 };
        match place.word {
            GUARD_INTERVALS => entry.guard_intervals(),
            SIGNAL => u32::from_le_bytes([(2 * i16::from(entry.signal_dbm) + 220).clamp(0, 255) as u8; 4]),
            word @ AIRTIME..28 => {
                let at = usize::from(word - AIRTIME);
                entry.airtime_us.get(at / 2).and_then(|both| both.get(at % 2)).copied().unwrap_or(0)
            }
            _ => 0,
        }
    }

    /// Registers are written.
    pub(super) fn write(&mut self, now_ns: u64, address: u32, data: &[u8]) {
        self.counters.writes += 1;
        for (at, chunk) in data.chunks_exact(4).take(READ_MAX / 4).enumerate() {
            let address = address.wrapping_add(4 * at as u32);
            let value = chunk.first_chunk().map_or(0, |bytes| u32::from_le_bytes(*bytes));
            match address {
                reg::WF_SUBSYS_RST if value & 1 == 1 => {
                    self.wireless_reset(now_ns);
                }
                reg::WTBL_UPDATE if value & reg::CLEAR_COUNTERS != 0 => {
                    self.stations.clear_counters((value & 0x3ff) as u16);
                }
                reg::LPON_TCR if value & 3 == 1 => {
                    let [low, high] =
                        [reg::LPON_UTTR0, reg::LPON_UTTR1].map(|word| u64::from(self.registers.word(word)));
                    self.tsf_zero_ns = now_ns.wrapping_sub((high << 32 | low).wrapping_mul(1_000));
                }
                _ => {}
            }
            self.registers.write(address, value);
        }
    }

    /// A transfer to the endpoint of commands.
    pub(super) fn command(&mut self, now_ns: u64, transfer: &[u8]) {
        let Some(command) = connac2::packet(transfer).and_then(Command::parse) else {
            self.counters.malformed += 1;
            return;
        };
        self.counters.commands += 1;
        if !self.firmware.is_running() {
            if let Some((header, body)) = self.firmware.command(command.id, command.sequence, command.body) {
                self.event(header, &body);
            }
            return;
        }
        let asked = Asked::of(&command);
        let data = self.asked(now_ns, &asked);
        let answers_to = match (command.id, &data) {
            (CommandId::Unified(number), _) if command.acknowledge => Some(answers::result(command.sequence, number)),
            (CommandId::Plain(CommandId::EXTENDED, extended), _) if command.acknowledge => {
                let header =
                    EventHeader { id: CommandId::EXTENDED, extended, sequence: command.sequence, unsolicited: false };
                Some((header, data.unwrap_or_default()))
            }
            (CommandId::Plain(number, _), Some(_)) => {
                let header = EventHeader { id: number, sequence: command.sequence, ..EventHeader::default() };
                Some((header, data.unwrap_or_default()))
            }
            _ => None,
        };
        if let Some((header, body)) = answers_to {
            self.event(header, &body);
        }
        if let Asked::Stay(stay) = asked {
            let (header, body) = answers::granted(&stay);
            self.event(header, &body);
        }
    }

    /// A transfer to an endpoint of frames.
    pub(super) fn transmit(&mut self, now_ns: u64, data: &[u8]) -> OutReply {
        if !self.firmware.is_running() {
            if self.registers.word(reg::UDMA_TX_QSEL) & reg::FW_DL_EN != 0 {
                self.firmware.scatter(connac2::packet(data).map_or(0, <[u8]>::len));
            }
            return OutReply::Accepted;
        }
        if !self.transmitter.has_room(data.len(), &self.assumptions) {
            return OutReply::Nak;
        }
        let (addresses, own) = (self.addresses, MacAddr(self.own));
        let address = |number: u8| addresses.get(usize::from(number)).copied().flatten().unwrap_or(own);
        self.transmitter.accept(now_ns, data, address, &mut self.stations);
        self.power.active(now_ns);
        self.report_statuses();
        OutReply::Accepted
    }

    fn report_statuses(&mut self) {
        let statuses = self.transmitter.statuses();
        if statuses.is_empty() {
            return;
        }
        if self.firmware.mute {
            self.counters.events_lost += 1;
            return;
        }
        self.receiver.push(TxStatus::emit(&statuses));
    }

    /// The host asks the endpoint of received frames.
    pub(super) fn received(&mut self, out: &mut Vec<u8>) -> InReply {
        InReply::with(self.receiver.pop().map(padded), out)
    }

    /// The host asks the endpoint of events.
    pub(super) fn reported(&mut self, out: &mut Vec<u8>) -> InReply {
        InReply::with(self.events.pop_front().map(padded), out)
    }
}

/// A packet on USB: to a multiple of four bytes, and four more.
fn padded(mut packet: Vec<u8>) -> Vec<u8> {
    packet.resize(packet.len().next_multiple_of(4) + 4, 0);
    packet
}

crate::state!(Mac {
    registers, firmware, stations, transmitter, receiver, events, addresses, networks, enabled, home, stay, scan, passive,
    power, counters, tsf_zero_ns, late,
} made { own, assumptions });
