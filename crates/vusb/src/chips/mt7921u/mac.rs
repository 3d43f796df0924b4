//! The chip's inside: registers, the firmware and what it does, transmitter and receiver.

use std::collections::VecDeque;

use random::{Rng, Stream};
use wire::ieee80211::{FrameKind, MacAddr, Mpdu, Seq};
use wire::phy::{Band, Bandwidth, EdcaParameters};
use wire::usb::connac2::{self, Command, CommandId, EventHeader, TxStatus};

use super::answers;
use super::assumptions::Assumptions;
use super::commands::{Asked, BssInfo, Device, StationRecord, Stay};
use super::firmware::Firmware;
use super::rates::LOWEST_OFDM;
use super::receive::{self, Receiver};
use super::registers::{self as reg, Registers, WtblPlace};
use super::scan::{self, Scan, Step};
use super::stations::Stations;
use super::statistics::{ChipCounters, RxCounters, TxCounters};
use super::transmit::{self, OwnDone, Transmitter};
use crate::air::exchange::{duration_ns, FCS_LEN};
use crate::air::{width, Contender, Outcome, Ppdu, Reception, Station, Tuned};
use crate::chips::dynamic_power::{PowerCounters, PowerSave, Send};
use crate::chips::station_power::{null, poll, NULL};
use crate::device::{InReply, OutReply};

/// Networks and own addresses (mt792x.h, MT792x_MAX_INTERFACES).
const INTERFACES: usize = 4;
/// Longest register read.
const READ_MAX: usize = 1_024;
/// Packets of events that wait on their own endpoint at most.
const EVENTS_MAX: usize = 256;
/// Attempts of frames of the firmware's own, and of probe requests.
const ATTEMPTS: u8 = 7;
const ONCE: u8 = 1;

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

const fn band_number(band: Band) -> u8 {
    match band {
        Band::Ghz2_4 => 1,
        _ => 2,
    }
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
                    let [low, high] = [reg::LPON_UTTR0, reg::LPON_UTTR1].map(|word| u64::from(self.registers.word(word)));
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
                let header = EventHeader { id: CommandId::EXTENDED, extended, sequence: command.sequence, unsolicited: false };
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

    /// Does what a command asks for. Gives what it is to be answered with beside its result.
    fn asked(&mut self, now_ns: u64, asked: &Asked) -> Option<Vec<u8>> {
        match asked {
            Asked::Capabilities => return Some(answers::capabilities(self.own)),
            Asked::Register(address) => return Some(answers::register(*address, self.word(now_ns, *address))),
            Asked::Efuse(address) => return Some(answers::efuse(*address)),
            Asked::Temperature => return Some(answers::temperature()),
            Asked::TxPower => return Some(answers::tx_power()),
            Asked::MacEnable(enabled) => self.enabled = *enabled,
            Asked::Channel(tuned) => self.home = *tuned,
            Asked::RtsThreshold(bytes) => self.transmitter.set_rts_threshold(*bytes),
            Asked::Edca(edca) => self.transmitter.set_edca(*edca),
            Asked::PassiveChannels(channels) => {
                self.passive = channels.iter().map(|&(band, number)| (band_number(band), number)).collect();
            }
            Asked::RxFilter(filter) => self.receiver.filter(*filter),
            Asked::Scan(request) => {
                self.counters.scans += 1;
                let connected = self.joined().is_some();
                let (scan, step) = {
                    let passive = self.passive_channels();
                    let around = scan::Around { own: self.address(request.bss), passive: &passive, assumed: &self.assumptions };
                    Scan::new(now_ns, (**request).clone(), connected, &around)
                };
                self.scan = Some(scan);
                self.scan_step(now_ns, step);
            }
            Asked::CancelScan => self.scan_ended(now_ns),
            Asked::BssAbort(bss) => {
                if let Some(network) = self.networks.get_mut(usize::from(*bss)) {
                    network.watched_tu = None;
                }
            }
            Asked::Device(Device { number, active, address }) => {
                if let Some(slot) = self.addresses.get_mut(usize::from(*number)) {
                    *slot = active.then_some(*address);
                }
            }
            Asked::Bss(number, infos) => infos.iter().for_each(|info| self.bss(now_ns, *number, info)),
            Asked::Station(record) => self.station(now_ns, record),
            Asked::Stay(Stay { tuned, .. }) => self.stay = *tuned,
            Asked::StayNoLonger => self.stay = None,
            Asked::Other => self.counters.commands_without_effect += 1,
        }
        None
    }

    fn station(&mut self, now_ns: u64, record: &StationRecord) {
        let before = self.stations.get(record.station).map(|entry| (entry.present, entry.is_group));
        let left = self.stations.set(record);
        if left && before == Some((true, false)) {
            // The access point is forgotten: nothing of it is to be sent any more.
            self.power.changed_network(now_ns);
        }
        if let Some(entry) = self.stations.get(record.station).filter(|entry| entry.present && !entry.is_group) {
            self.power.aid = entry.aid;
        }
    }

    fn bss(&mut self, now_ns: u64, number: u8, info: &BssInfo) {
        let Some(network) = self.networks.get_mut(usize::from(number)) else { return };
        match *info {
            BssInfo::Basic { active, own, is_station, connected, bssid, .. } => {
                let was = network.is_joined();
                let (watched_tu, power_save) = (network.watched_tu, network.power_save);
                *network = Network { active, is_station, connected, own, bssid, ..Network::default() };
                if network.is_joined() {
                    (network.watched_tu, network.power_save, network.beacon_ns) = (watched_tu, power_save, now_ns);
                }
                if was != network.is_joined() {
                    self.power.changed_network(now_ns);
                }
            }
            BssInfo::Channel(tuned) => self.home = tuned.or(self.home),
            BssInfo::PowerSave(sleeps) => {
                network.power_save = sleeps;
                let send = self.power.choose(sleeps);
                self.power.active(now_ns);
                self.send_for_power(now_ns, send);
            }
            BssInfo::WatchBeacons(interval_tu) => {
                (network.watched_tu, network.beacon_ns) = (Some(interval_tu), now_ns);
            }
        }
    }

    /// The network that the chip is a station of.
    fn joined(&self) -> Option<(u8, &Network)> {
        self.networks.iter().enumerate().find(|(_, network)| network.is_joined()).map(|(at, network)| (at as u8, network))
    }

    /// Own address, and access point, of the network that the chip is a station of.
    fn link(&self) -> Option<(MacAddr, MacAddr)> {
        let (_, network) = self.joined()?;
        let own = (*self.addresses.get(usize::from(network.own))?)?;
        Some((own, network.bssid))
    }

    /// The address of a network's interface.
    fn address(&self, bss: u8) -> MacAddr {
        let own = self.networks.get(usize::from(bss)).map_or(0, |network| network.own);
        self.addresses.get(usize::from(own)).copied().flatten().unwrap_or(MacAddr(self.own))
    }

    fn passive_channels(&self) -> Vec<(Band, u8)> {
        let band = |number| if number == 1 { Band::Ghz2_4 } else { Band::Ghz5 };
        self.passive.iter().map(|&(number, channel)| (band(number), channel)).collect()
    }

    /// An event for the host.
    fn event(&mut self, header: EventHeader, body: &[u8]) {
        if self.firmware.mute {
            self.counters.events_lost += 1;
            return;
        }
        self.counters.events += 1;
        let packet = header.emit(body);
        if self.registers.word(reg::WFDMA_HOST_CONFIG) & reg::EVENTS_WITH_FRAMES != 0 {
            self.receiver.push(packet);
        } else if self.events.len() < EVENTS_MAX {
            self.events.push_back(packet);
        }
    }

    fn scan_step(&mut self, now_ns: u64, step: Option<Step>) {
        match step {
            Some(Step::Announce(sleeps)) => self.announce(now_ns, sleeps),
            Some(Step::Probe(probes, mode)) => {
                probes.into_iter().for_each(|probe| self.transmitter.send(now_ns, probe, mode, ONCE));
            }
            Some(Step::Done(number)) => {
                self.scan_ended(now_ns);
                let (header, body) = answers::scan_done(number);
                self.event(header, &body);
            }
            None => {}
        }
    }

    /// Back on the channel of the network.
    fn scan_ended(&mut self, now_ns: u64) {
        if self.scan.take().is_some() {
            self.transmitter.drop_own();
            self.announce(now_ns, false);
        }
    }

    /// Says whether it sleeps, where the access point does not know it already.
    fn announce(&mut self, now_ns: u64, sleeps: bool) {
        if let Some((own, network)) = self.link().filter(|_| !self.power.is_asleep()) {
            self.transmitter.send(now_ns, null(network, own, Seq::default(), sleeps), LOWEST_OFDM, ATTEMPTS);
        }
    }

    fn send_for_power(&mut self, now_ns: u64, send: Option<Send>) {
        let Some((own, network)) = self.link() else { return };
        let frame = match send {
            Some(Send::Poll) => poll(self.power.aid, network, own),
            Some(Send::Null(sleeps)) => null(network, own, Seq::default(), sleeps),
            None => return,
        };
        self.transmitter.send(now_ns, frame, LOWEST_OFDM, ATTEMPTS);
    }

    /// When it goes to sleep, if nothing is to be sent until then.
    fn sleeps_at(&self) -> Option<u64> {
        let may = self.scan.is_none()
            && self.stay.is_none()
            && self.transmitter.is_empty()
            && self.joined().is_some_and(|(_, network)| network.power_save);
        self.power.sleeps_at().filter(|_| may)
    }

    /// When the firmware says that the connection is lost, if no beacon comes.
    fn loss_at(&self) -> Option<(u8, u64)> {
        let (number, network) = self.joined()?;
        let interval_ns = u64::from(network.watched_tu?.max(1)) * 1_024_000;
        Some((number, network.beacon_ns.saturating_add(interval_ns * u64::from(self.assumptions.beacon_loss))))
    }

    /// Lets everything happen that is due, except on the air.
    pub(super) fn advance(&mut self, now_ns: u64) {
        if !self.firmware.is_running() {
            return;
        }
        let step = match self.scan.take() {
            Some(mut scan) => {
                let passive = self.passive_channels();
                let around = scan::Around { own: self.address(0), passive: &passive, assumed: &self.assumptions };
                let step = scan.advance(now_ns, &around);
                self.scan = Some(scan);
                step
            }
            None => None,
        };
        self.scan_step(now_ns, step);
        if let Some((number, _)) = self.loss_at().filter(|&(_, at_ns)| at_ns <= now_ns) {
            self.counters.beacon_losses += 1;
            if let Some(network) = self.networks.get_mut(usize::from(number)) {
                network.beacon_ns = now_ns;
            }
            let (header, body) = answers::beacon_loss(number);
            self.event(header, &body);
        }
        if self.sleeps_at().is_some_and(|at_ns| at_ns <= now_ns) {
            let send = self.power.announce();
            self.send_for_power(now_ns, Some(send));
        }
    }

    /// When something happens next, except on the air.
    pub(super) fn next_event(&self) -> Option<u64> {
        let scan = self.scan.as_ref().map(Scan::until_ns);
        let loss = self.loss_at().map(|(_, at_ns)| at_ns);
        [scan, loss, self.sleeps_at()].into_iter().flatten().min().filter(|_| self.firmware.is_running())
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

    fn width(&self) -> Bandwidth {
        self.tuned().map_or(Bandwidth::Mhz20, |tuned| tuned.width)
    }

    fn off_channel(&self) -> bool {
        self.scan.as_ref().is_some_and(Scan::is_away)
    }

    /// What a frame of the access point's says to the firmware, before it is filtered.
    fn watch(&mut self, now_ns: u64, mpdu: &Mpdu<&[u8]>) {
        if mpdu.kind() != Some(FrameKind::Beacon) {
            return;
        }
        let sender = mpdu.transmitter();
        for network in self.networks.iter_mut().filter(|network| network.active && Some(network.bssid) == sender) {
            network.beacon_ns = now_ns;
        }
    }

    /// Whether the receiver is on for a frame.
    fn listens(&mut self, now_ns: u64, mpdu: &[u8]) -> bool {
        let Some((own, network)) = self.link().filter(|_| self.scan.is_none() && self.stay.is_none()) else { return true };
        let (heard, send) = self.power.hears(own, network, mpdu);
        self.send_for_power(now_ns, send);
        heard
    }

    fn own_ended(&mut self, now_ns: u64, done: OwnDone) {
        if done.kind == NULL && !done.acknowledged && self.scan.is_none() {
            self.power.given_up(now_ns, done.sleeps);
        }
    }
}

/// A packet on USB: to a multiple of four bytes, and four more.
fn padded(mut packet: Vec<u8>) -> Vec<u8> {
    packet.resize(packet.len().next_multiple_of(4) + 4, 0);
    packet
}

impl Station for Mac {
    fn tuned(&self) -> Option<Tuned> {
        if !self.enabled || !self.firmware.is_running() {
            return None;
        }
        self.scan.as_ref().and_then(Scan::tuned).or(self.stay).or(self.home)
    }

    fn ready_since(&self) -> Option<u64> {
        let mut since_ns: Option<u64> = None;
        self.contenders(&mut |contender| {
            since_ns = Some(since_ns.map_or(contender.since_ns, |earlier| earlier.min(contender.since_ns)));
        });
        since_ns
    }

    fn access(&self) -> EdcaParameters {
        self.transmitter.access(1)
    }

    fn contenders(&self, visit: &mut dyn FnMut(Contender)) {
        if self.tuned().is_some() {
            self.transmitter.contenders(self.off_channel(), visit);
        }
    }

    fn begin(&mut self, now_ns: u64, function: usize) -> Option<Ppdu> {
        let (width, tsf_us) = (self.width(), self.tsf_us(now_ns));
        let mut around = transmit::Around {
            stations: &mut self.stations,
            registers: &mut self.registers,
            assumed: &self.assumptions,
            width,
            tsf_us,
        };
        self.transmitter.begin(function, &mut around)
    }

    fn ended(&mut self, now_ns: u64, ppdu: Ppdu, outcome: &Outcome) {
        for (mpdu, &acknowledged) in ppdu.mpdus.iter().zip(&outcome.acknowledged) {
            let is_answered = !Mpdu::new(&mpdu[..]).is_group();
            if acknowledged && is_answered && self.scan.is_none() && self.link().is_some() {
                self.power.acknowledged(now_ns, mpdu);
            }
        }
        let (width, tsf_us) = (self.width(), self.tsf_us(now_ns));
        let mut around = transmit::Around {
            stations: &mut self.stations,
            registers: &mut self.registers,
            assumed: &self.assumptions,
            width,
            tsf_us,
        };
        let done = self.transmitter.ended(now_ns, &ppdu, outcome, &mut around);
        if !matches!(done.first(), Some(OwnDone { kind: NULL, .. })) {
            self.power.active(now_ns);
        }
        done.into_iter().for_each(|done| self.own_ended(now_ns, done));
        self.report_statuses();
    }

    fn receive(&mut self, now_ns: u64, mpdu: &[u8], reception: &Reception) -> bool {
        if width(&reception.mode) > self.width() {
            // A part of it is outside of what the baseband looks at.
            return false;
        }
        let frame = Mpdu::new(mpdu);
        self.watch(now_ns, &frame);
        if !self.listens(now_ns, mpdu) {
            return false;
        }
        let own: Vec<MacAddr> = self.addresses.iter().flatten().copied().collect();
        let networks: Vec<MacAddr> = self.networks.iter().filter(|network| network.active).map(|network| network.bssid).collect();
        let tsf_us = self.tsf_us(now_ns);
        let mut around = receive::Around {
            stations: &mut self.stations,
            own: &own,
            networks: &networks,
            scans: self.scan.is_some(),
            assumed: &self.assumptions,
            tsf_us,
        };
        let taken = self.receiver.receive(mpdu, reception, &mut around);
        self.count(mpdu, reception, taken.station);
        let (probability, rng) = &mut self.late;
        let late = reception.ampdu.is_some() && *probability > 0.0 && rng.chance(*probability);
        let accepted = taken.answered && !late;
        if accepted {
            if frame.is_data() {
                self.power.active(now_ns);
            }
            if let Some((own, network)) = self.link().filter(|_| self.scan.is_none()) {
                let send = self.power.accepted(own, network, mpdu);
                self.send_for_power(now_ns, send);
            }
        }
        accepted
    }
}

impl Mac {
    /// Counters that the driver reads: the time of an MPDU is that of its bytes, and of the preamble where it is the first.
    fn count(&mut self, mpdu: &[u8], reception: &Reception, station: Option<u16>) {
        let is_first = reception.ampdu != Some(false);
        let whole_ns = duration_ns(&reception.mode, mpdu.len() + FCS_LEN);
        let preamble_ns = if is_first { 0 } else { duration_ns(&reception.mode, 0) };
        let us = (whole_ns.saturating_sub(preamble_ns) / 1_000) as u32;
        let counted = &mut self.registers.counted;
        counted.rx_mpdus = counted.rx_mpdus.wrapping_add(1);
        counted.busy_us = counted.busy_us.wrapping_add(us);
        let slot = if station.is_some() { &mut counted.rx_us } else { &mut counted.others_us };
        *slot = slot.wrapping_add(us);
        if let Some(first) = reception.ampdu {
            counted.rx_ampdus = counted.rx_ampdus.wrapping_add(u32::from(first));
            counted.rx_ampdu_bytes = counted.rx_ampdu_bytes.wrapping_add(mpdu.len() as u32);
        }
        let Some(entry) = station.and_then(|number| self.stations.get_mut(number)) else { return };
        entry.signal_dbm = reception.signal_dbm;
        let access = match Mpdu::new(mpdu).tid() {
            Some(1 | 2) => 0,
            Some(4 | 5) => 2,
            Some(6 | 7) => 3,
            _ => 1,
        };
        if let Some([_, received]) = entry.airtime_us.get_mut(access) {
            *received = received.wrapping_add(us);
        }
    }
}

crate::state!(Mac {
    registers, firmware, stations, transmitter, receiver, events, addresses, networks, enabled, home, stay, scan, passive,
    power, counters, tsf_zero_ns, late,
} made { own, assumptions });
