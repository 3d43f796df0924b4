//! What the firmware does: a station that joins networks and sends and receives by itself, as the driver asks it to by
//! WMI (Linux ath6kl/wmi.c, ath6kl/cfg80211.c).

use wire::ieee80211::{Action, FrameKind, FrameType, MacAddr, Mpdu, Seq};
use wire::phy::{EdcaParameters, Mode, RateSet};
use wire::sdio::wmi::{cipher, AddKey, Command, Connect, Counters, Event, NOISE_DBM};

use super::assumptions::Assumptions;
use super::network::{Join, Network, Scan, Seen};
use super::statistics::ChipCounters;
use crate::air::rates::{LEGACY_RATES, MCS0};
use crate::air::{Outcome, Ppdu, Reception, Station, Tuned};
use crate::chips::duplicates::Duplicates;
use crate::chips::dynamic_power::{PowerCounters, PowerSave, Send};
use crate::chips::station_counters::{RxCounters, TxCounters};
use crate::chips::station_frames;
use crate::chips::station_keys::{Key, Keys};
use crate::chips::station_power;
use crate::peers::agreements::Agreements;
use crate::peers::queue::{Done, Queue, Queued};
use crate::peers::rates::DownRates;

/// Version that the firmware says it has: none that exists.
const VERSION: u32 = 0x3001_0001;
/// Transmit power that it reports, dBm.
const TX_POWER_DBM: u8 = 17;
/// TIDs of data, and one more for management frames.
pub(super) const SEQUENCES: usize = 17;
/// Sequence numbers of management frames.
const MANAGEMENT: usize = SEQUENCES - 1;
/// Frames that wait at most. The host's credits are fewer.
const QUEUE_MAX: usize = 1_100;
/// Frames that may be out of order towards the access point.
pub(super) const UP_WINDOW: u16 = 64;
/// Cookies of frames that power save sends; those of the host's frames have credits, in 16 bits.
const NULL_ASLEEP: u64 = 1 << 16;
const NULL_AWAKE: u64 = 2 << 16;
const POLL: u64 = 3 << 16;
/// REC_POWER (wmi.h, enum wmi_power_mode).
const RECOMMENDED: u8 = 1;
/// Networks with beacons that are reported (wmi.h, enum wmi_bss_filter): those of the own one.
const FILTER_CURRENT: u8 = 4;

/// Something for the host.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub(super) enum ToHost {
    /// An event of WMI.
    Event(Vec<u8>),
    /// A received frame with its header of WMI, for the endpoint of a user priority.
    Frame(u8, Vec<u8>),
    /// Credits of an endpoint are free again.
    Credits(u8, u8),
}

/// The firmware.
pub(in crate::chips) struct Firmware {
    pub(super) address: MacAddr,
    pub(super) assumptions: Assumptions,
    /// It runs.
    pub(super) running: bool,
    /// Where it is tuned to when it does not scan.
    pub(super) home: Option<Tuned>,
    /// What the host asked it to join.
    pub(super) profile: Connect,
    /// Elements that association requests get.
    pub(super) request_elements: Vec<u8>,
    pub(super) join: Join,
    pub(super) network: Option<Network>,
    pub(super) scan: Option<Scan>,
    /// Names that probe requests ask for, by entry; `None`: any.
    pub(super) probed: Vec<(u8, Vec<u8>)>,
    pub(super) seen: Vec<Seen>,
    filter: u8,
    /// When the own network was heard last.
    pub(super) beacon_ns: u64,
    pub(super) queue: Queue,
    /// Probe requests, which are sent off the network's channel.
    pub(super) probes: Queue,
    done: Vec<Done>,
    pub(super) agreements: Agreements,
    pub(super) rates: DownRates,
    pub(super) keys: Keys,
    sequences: [u16; SEQUENCES],
    pub(super) duplicates: [Duplicates; SEQUENCES],
    /// TIDs for which an agreement was asked for.
    pub(super) asked: u16,
    pub(super) to_host: Vec<ToHost>,
    /// Received frames that the host has not fetched yet.
    pub(super) waiting: usize,
    pub(super) signal_dbm: i8,
    tx_rate: u8,
    rx_rate: u8,
    pub(super) chip: ChipCounters,
    pub(super) tx: TxCounters,
    pub(super) rx: RxCounters,
    pub(super) power: PowerSave,
    /// How far time has come.
    pub(super) now_ns: u64,
}

impl Firmware {
    pub(super) fn new(address: MacAddr, assumptions: Assumptions) -> Self {
        Self {
            address,
            assumptions,
            running: false,
            home: None,
            profile: Connect::default(),
            request_elements: Vec::new(),
            join: Join::Idle,
            network: None,
            scan: None,
            probed: Vec::new(),
            seen: Vec::new(),
            filter: 0,
            beacon_ns: 0,
            queue: Queue::default(),
            probes: Queue::default(),
            done: Vec::new(),
            agreements: Agreements::default(),
            rates: DownRates::default(),
            keys: Keys::default(),
            sequences: [0; SEQUENCES],
            duplicates: [Duplicates::default(); SEQUENCES],
            asked: 0,
            to_host: Vec::new(),
            waiting: 0,
            signal_dbm: i8::MIN,
            tx_rate: 0,
            rx_rate: 0,
            chip: ChipCounters::default(),
            tx: TxCounters::default(),
            rx: RxCounters::default(),
            power: PowerSave::new(assumptions.idle_ms, assumptions.ps_polls),
            now_ns: 0,
        }
    }

    /// Everything is forgotten but what was counted.
    pub(super) fn stop(&mut self) {
        let (chip, tx, rx, now_ns) = (self.chip, self.tx, self.rx, self.now_ns);
        let fresh = Self::new(self.address, self.assumptions);
        let power = fresh.power.restarted(now_ns, &self.power);
        *self = Self { chip, tx, rx, power, now_ns, ..fresh };
    }

    /// What power save has done by now.
    pub(super) fn power_counters(&self) -> PowerCounters {
        self.power.counters(self.now_ns)
    }

    /// It begins to run, and the host has set HTC up.
    pub(super) fn start(&mut self) {
        self.running = true;
        self.event(&Event::Ready { version: VERSION, address: self.address });
    }

    pub(super) fn event(&mut self, event: &Event<'_>) {
        self.chip.wmi_events += 1;
        self.to_host.push(ToHost::Event(event.emit()));
    }

    /// A message of the control endpoint.
    pub(super) fn command(&mut self, now_ns: u64, message: &[u8]) {
        self.chip.wmi_commands += 1;
        match Command::parse(message) {
            Some(Command::Connect(profile)) => {
                self.profile = profile;
                self.begin_join(now_ns);
            }
            Some(Command::Reconnect) => self.begin_join(now_ns),
            Some(Command::Disconnect) => self.leave(now_ns),
            Some(Command::Scan { frequencies_mhz }) => self.begin_scan(now_ns, frequencies_mhz, true),
            Some(Command::ProbedSsid { entry, ssid }) => {
                self.probed.retain(|(number, _)| *number != entry);
                if let Some(ssid) = ssid.filter(|_| self.probed.len() < 16) {
                    self.probed.push((entry, ssid));
                }
            }
            Some(Command::BssFilter { filter }) => self.filter = filter,
            Some(Command::GetStatistics) => self.report_statistics(),
            Some(Command::AddKey(key)) => self.add_key(&key),
            Some(Command::DeleteKey { index }) => self.keys.set_group(index, None),
            Some(Command::PowerMode { mode }) => {
                let send = self.power.choose(mode == RECOMMENDED);
                self.send_for_power(now_ns, send);
            }
            Some(Command::GetTxPower) => self.event(&Event::TxPower { dbm: TX_POWER_DBM }),
            Some(Command::Elements { frame: 3, elements }) => self.request_elements = elements,
            Some(Command::Elements { .. } | Command::Unknown(_)) | None => self.chip.wmi_without_effect += 1,
        }
    }

    /// Others than CCMP's and TKIP's are not modelled: such a key takes the old one away.
    fn add_key(&mut self, add: &AddKey) {
        let key = match (add.cipher, add.len) {
            (cipher::CCMP, 16) => add.key.first_chunk().copied().map(Key::Ccmp),
            (cipher::TKIP, 32) => Some(Key::Tkip(add.key)),
            _ => None,
        };
        if add.group {
            self.keys.set_group(add.index, key);
        } else {
            self.keys.set_pairwise(key);
        }
    }

    fn report_statistics(&mut self) {
        let word = |count: u64| count as u32;
        let snr_db = (i16::from(self.signal_dbm) - NOISE_DBM).clamp(0, 255) as u8;
        self.event(&Event::Statistics(Counters {
            tx_frames: word(self.tx.frames),
            tx_bytes: word(self.tx.bytes),
            tx_unicast: word(self.tx.frames),
            tx_retries: word(self.tx.retries),
            tx_failed: word(self.tx.given_up),
            tx_rate: self.tx_rate,
            rx_frames: word(self.rx.delivered),
            rx_bytes: word(self.rx.bytes),
            rx_decrypt_errors: word(self.rx.integrity_errors),
            rx_rate: self.rx_rate,
            snr_db,
        }));
    }

    /// The next sequence number of a TID, or of management frames.
    pub(super) fn sequence(&mut self, tid: Option<u8>) -> Seq {
        let at = tid.map_or(MANAGEMENT, |tid| usize::from(tid & 7));
        let Some(sequence) = self.sequences.get_mut(at) else { return Seq::default() };
        let given = Seq::new(*sequence);
        *sequence = given.add(1).value();
        given
    }

    /// The one that comes next.
    pub(super) fn peek_sequence(&self, tid: u8) -> Seq {
        Seq::new(self.sequences.get(usize::from(tid & 7)).copied().unwrap_or(0))
    }

    /// A management frame to a network.
    pub(super) fn management(&mut self, now_ns: u64, kind: FrameKind, to: MacAddr, body: &[u8]) -> Queued {
        let sequence = self.sequence(None);
        let frame = station_frames::management(now_ns, kind, (self.address, to), sequence, body);
        self.agreements.watch(&frame.mpdu, true);
        self.rates.watch(&frame.mpdu);
        frame
    }

    /// The access point that is joined, or about to be.
    fn bssid(&self) -> Option<MacAddr> {
        self.network.as_ref().map(|network| network.bssid)
    }

    /// Sends what power save asks for.
    pub(super) fn send_for_power(&mut self, now_ns: u64, send: Option<Send>) {
        let Some(bssid) = self.bssid() else { return };
        let (mpdu, cookie) = match send {
            Some(Send::Poll) => (station_power::poll(self.power.aid, bssid, self.address), POLL),
            Some(Send::Null(sleeps)) => {
                let sequence = self.sequence(None);
                let cookie = if sleeps { NULL_ASLEEP } else { NULL_AWAKE };
                (station_power::null(bssid, self.address, sequence, sleeps), cookie)
            }
            None => return,
        };
        self.push(Queued { cookie, ..station_frames::at_lowest_rate(now_ns, mpdu) });
    }

    /// When the station goes to sleep: when it has had no data for some time, and has nothing to send. Before it has
    /// its key it does not.
    fn sleeps_at(&self) -> Option<u64> {
        let may = self.join == Join::Connected
            && self.scan.is_none()
            && self.queue.len() == 0
            && (!self.profile.is_encrypted() || self.keys.has_pairwise());
        self.power.sleeps_at().filter(|_| may)
    }

    fn advance_power(&mut self, now_ns: u64) {
        if self.sleeps_at().is_some_and(|at_ns| at_ns <= now_ns) {
            let send = self.power.announce();
            self.send_for_power(now_ns, Some(send));
        }
    }

    /// Whether the receiver is on for a frame; what power save makes of it is sent.
    fn listens(&mut self, now_ns: u64, mpdu: &[u8]) -> bool {
        let connected = self.join == Join::Connected && self.scan.is_none();
        let Some(bssid) = self.bssid().filter(|_| connected) else { return true };
        let (heard, send) = self.power.hears(self.address, bssid, mpdu);
        self.send_for_power(now_ns, send);
        heard
    }

    /// A frame was accepted: it may be the answer to a PS-Poll.
    fn fetch_more(&mut self, now_ns: u64, mpdu: &[u8]) {
        let Some(bssid) = self.bssid().filter(|_| self.join == Join::Connected) else { return };
        let send = self.power.accepted(self.address, bssid, mpdu);
        self.send_for_power(now_ns, send);
    }

    /// Queues a frame; `false`: there is no room.
    pub(super) fn push(&mut self, frame: Queued) -> bool {
        let fits = self.queue.len() < QUEUE_MAX;
        if fits {
            self.queue.push(frame);
        }
        fits
    }

    /// Drops what waits to be sent in a connection that has ended: data, and what power save sends. Management frames
    /// stay: one may say that it has ended.
    pub(super) fn drop_frames(&mut self) {
        for frame in self.queue.take_connected() {
            self.tx.dropped += u64::from(!matches!(frame.cookie, NULL_ASLEEP | NULL_AWAKE | POLL));
            self.give_back(frame.cookie);
        }
    }

    /// The credits of a frame are free again.
    pub(super) fn give_back(&mut self, cookie: u64) {
        let [endpoint, credits, ..] = cookie.to_le_bytes();
        if credits > 0 {
            self.to_host.push(ToHost::Credits(endpoint, credits));
        }
    }

    fn management_received(&mut self, now_ns: u64, mpdu: &[u8], reception: &Reception) {
        let frame = Mpdu::new(mpdu);
        let (Some(from), Some(fc)) = (frame.transmitter(), frame.frame_control()) else { return };
        let body = frame.management_body();
        match fc.kind() {
            FrameKind::Beacon | FrameKind::ProbeResponse => {
                let probe_response = fc.kind() == FrameKind::ProbeResponse;
                self.network_heard(now_ns, (from, probe_response), body, reception);
            }
            _ if frame.receiver() != Some(self.address) => {}
            FrameKind::Action => self.action(now_ns, from, body, mpdu),
            _ => {
                self.agreements.watch(mpdu, false);
                self.rates.watch(mpdu);
                self.answered(now_ns, from, fc, body);
            }
        }
    }

    fn action(&mut self, now_ns: u64, from: MacAddr, body: &[u8], mpdu: &[u8]) {
        if !self.is_connected_to(from) {
            return;
        }
        self.agreements.watch(mpdu, false);
        match Action::read(body) {
            Some(Action::AddbaRequest(request)) => self.agree(now_ns, from, &request),
            Some(Action::Delba(delba)) if delba.initiator => {
                let reason = delba.reason.number();
                self.event(&Event::BlockAckEnded { tid: delba.tid, reason });
            }
            _ => {}
        }
    }

    /// What it sends from where it is.
    fn sending(&self) -> &Queue {
        if self.scan.is_some() {
            &self.probes
        } else {
            &self.queue
        }
    }

    /// Whether beacons of the own network are reported.
    pub(super) fn reports_own_beacons(&self) -> bool {
        self.filter == FILTER_CURRENT
    }
}

/// The driver's number of a rate (wmi.c, wmi_rate_tbl).
pub(super) fn rate_index(mode: &Mode) -> u8 {
    match mode {
        Mode::Dsss { rate_500kbps, .. } | Mode::Ofdm { rate_500kbps, .. } => {
            LEGACY_RATES.iter().position(|rate| rate == rate_500kbps).unwrap_or(0) as u8
        }
        Mode::Ht(ht) => {
            let wide = if ht.bandwidth == wire::phy::Bandwidth::Mhz40 { 8 } else { 0 };
            (MCS0 + ht.mcs.min(7) + wide) | u8::from(ht.short_gi == Some(true)) << 7
        }
        _ => 0,
    }
}

impl Firmware {
    /// Lets everything happen that is due by `now_ns`, except on the air.
    pub(super) fn advance(&mut self, now_ns: u64) {
        self.now_ns = now_ns;
        if self.running {
            self.advance_scan(now_ns);
            self.advance_join(now_ns);
            self.advance_power(now_ns);
        }
    }

    /// When something happens next, except on the air.
    pub(super) fn next_event(&self) -> Option<u64> {
        let scan = self.scan.as_ref().map(|scan| scan.until_ns);
        [scan, self.join_deadline(), self.sleeps_at()].into_iter().flatten().min().filter(|_| self.running)
    }

    /// Counts what happened to its frames.
    pub(super) fn flush(&mut self, now_ns: u64) {
        for Done { cookie, acknowledged, .. } in std::mem::take(&mut self.done) {
            match cookie {
                NULL_ASLEEP | NULL_AWAKE if !acknowledged => self.power.given_up(now_ns, cookie == NULL_ASLEEP),
                NULL_ASLEEP | NULL_AWAKE | POLL => {}
                _ => self.tx.given_up += u64::from(!acknowledged),
            }
            self.give_back(cookie);
        }
    }
}

impl Station for Firmware {
    fn tuned(&self) -> Option<Tuned> {
        match &self.scan {
            _ if !self.running => None,
            Some(scan) => scan.tuned(),
            None => self.home,
        }
    }

    fn ready_since(&self) -> Option<u64> {
        self.sending().ready_since()
    }

    fn access(&self) -> EdcaParameters {
        self.sending().access()
    }

    fn access_function(&self) -> usize {
        self.sending().access_function()
    }

    fn begin(&mut self, _now_ns: u64, _function: usize) -> Option<Ppdu> {
        if self.scan.is_some() {
            return self.probes.begin(0, 1);
        }
        let ppdu = self.queue.begin(self.agreements.up, UP_WINDOW)?;
        if ppdu.mpdus.first().is_some_and(|mpdu| Mpdu::new(mpdu.as_slice()).carries_data()) {
            self.tx_rate = rate_index(&ppdu.mode);
        }
        Some(ppdu)
    }

    fn ended(&mut self, now_ns: u64, ppdu: Ppdu, outcome: &Outcome) {
        let is_probe = ppdu.mpdus.first().and_then(|mpdu| Mpdu::new(mpdu.as_slice()).kind());
        if is_probe == Some(FrameKind::ProbeRequest) {
            return self.probes.ended(outcome, &mut self.done);
        }
        for (mpdu, &acknowledged) in ppdu.mpdus.iter().zip(&outcome.acknowledged) {
            if acknowledged {
                self.power.acknowledged(now_ns, mpdu);
            }
            let mpdu = Mpdu::new(mpdu.as_slice());
            if mpdu.carries_data() && !mpdu.is_group() {
                self.rates.report(acknowledged);
            }
            self.tx.retries += u64::from(mpdu.carries_data() && mpdu.retry());
        }
        self.power.active(now_ns);
        self.queue.ended(outcome, &mut self.done);
        if self.join != Join::Connected {
            // The connection has ended while a frame of it was on the air.
            self.drop_frames();
        }
    }

    fn receive(&mut self, now_ns: u64, mpdu: &[u8], reception: &Reception) -> bool {
        let frame = Mpdu::new(mpdu);
        let to_us = frame.receiver() == Some(self.address);
        if !to_us && !frame.is_group() || !self.listens(now_ns, mpdu) {
            return false;
        }
        let accepted = match frame.frame_type() {
            Some(FrameType::Management) => {
                self.management_received(now_ns, mpdu, reception);
                to_us
            }
            Some(FrameType::Control) => to_us && frame.kind() == Some(FrameKind::BlockAckReq),
            Some(FrameType::Data) => {
                if to_us {
                    self.rx_rate = rate_index(&reception.mode);
                    self.signal_dbm = reception.signal_dbm;
                }
                self.data_received(now_ns, mpdu, reception) && to_us
            }
            _ => false,
        };
        if accepted {
            self.fetch_more(now_ns, mpdu);
        }
        accepted
    }

    fn basic_rates(&self) -> Option<RateSet> {
        self.network.as_ref().and_then(|network| network.basic)
    }
}

crate::state!(Firmware {
    address, running, home, profile, request_elements, join, network, scan, probed, seen, filter, beacon_ns, queue, probes,
    done, agreements, rates, keys, sequences, duplicates, asked, to_host, waiting, signal_dbm, tx_rate, rx_rate, chip, tx, rx,
    power, now_ns,
} made { assumptions });
