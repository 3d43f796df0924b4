//! What the firmware does: commands, scans, power save, watching the beacons.

use wire::ieee80211::{MacAddr, Seq};
use wire::phy::Band;
use wire::usb::connac2::EventHeader;

use super::{Mac, Network};
use crate::chips::dynamic_power::Send;
use crate::chips::mt7921u::answers;
use crate::chips::mt7921u::commands::{Asked, BssInfo, Device, StationRecord, Stay};
use crate::chips::mt7921u::rates::LOWEST_OFDM;
use crate::chips::mt7921u::registers as reg;
use crate::chips::mt7921u::scan::{self, Scan, Step};
use crate::chips::station_power::{null, poll};

/// Attempts of frames of the firmware's own, and of probe requests.
const ATTEMPTS: u8 = 7;
const ONCE: u8 = 1;
/// Packets of events that wait on their own endpoint at most.
const EVENTS_MAX: usize = 256;

const fn band_number(band: Band) -> u8 {
    match band {
        Band::Ghz2_4 => 1,
        _ => 2,
    }
}

impl Mac {
    /// Does what a command asks for. Gives what it is to be answered with beside its result.
    pub(super) fn asked(&mut self, now_ns: u64, asked: &Asked) -> Option<Vec<u8>> {
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
                    let around =
                        scan::Around { own: self.address(request.bss), passive: &passive, assumed: &self.assumptions };
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
        self.networks
            .iter()
            .enumerate()
            .find(|(_, network)| network.is_joined())
            .map(|(at, network)| (at as u8, network))
    }

    /// Own address, and access point, of the network that the chip is a station of.
    pub(super) fn link(&self) -> Option<(MacAddr, MacAddr)> {
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
    pub(super) fn event(&mut self, header: EventHeader, body: &[u8]) {
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

    pub(super) fn send_for_power(&mut self, now_ns: u64, send: Option<Send>) {
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
    pub(in super::super) fn advance(&mut self, now_ns: u64) {
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
    pub(in super::super) fn next_event(&self) -> Option<u64> {
        let scan = self.scan.as_ref().map(Scan::until_ns);
        let loss = self.loss_at().map(|(_, at_ns)| at_ns);
        [scan, loss, self.sleeps_at()].into_iter().flatten().min().filter(|_| self.firmware.is_running())
    }
}
