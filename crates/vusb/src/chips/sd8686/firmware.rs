//! What the firmware does with commands, and what it reports to the host (Linux libertas/cmd.c, libertas/cfg.c).

use wire::ieee80211::{MacAddr, Seq};
use wire::sdio::libertas::{emit_event, key_info, key_kind, mac_control, result, Command, Hardware, Header, Key};

use super::assumptions::Assumptions;
use super::statistics::ChipCounters;
use super::under_way::{Join, Network, Scan};
use crate::air::Tuned;
use crate::chips::duplicates::Duplicates;
use crate::chips::station_counters::{RxCounters, TxCounters};
use crate::chips::station_keys::{Key as StationKey, Keys};
use crate::peers::queue::{Done, Queue, Queued};

/// What the firmware says of itself. A release of 9 has the parts of an association that the model reads (cfg.c, lbs_associate); from
/// 10 on there are meshes. It can WPA, and no power save (defs.h, FW_CAPINFO_*).
const RELEASE: u32 = 0x0009_0000;
const CAPABILITY: u32 = 0x0001;
/// The hardware's version: that of the model (if_sdio.c, MODEL_8686).
const HARDWARE_VERSION: u16 = 0x0b;
/// Groups that the driver's list has room for (defs.h, MRVDRV_MAX_MULTICAST_LIST_SIZE).
const GROUPS: u16 = 32;
/// America (cmd.c).
const REGION: u16 = 0x10;
/// The noise is so far below 0 dBm: signals are reported as what is above it.
pub(super) const NOISE_DB: u8 = 95;
/// Transmit power, dBm: now, at most, at least.
const TX_POWER_DBM: [u8; 4] = [15, 0, 18, 0];
/// Frames that wait at most: those that the host is let wait for are fewer.
const QUEUE_MAX: usize = 1_100;

/// Something for the host.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub(super) enum ToHost {
    /// A packet with an answer or an event.
    Message(Vec<u8>),
    /// A packet with a frame.
    Frame(Vec<u8>),
}

/// The firmware.
pub(in crate::chips) struct Firmware {
    /// The address that the chip was made with.
    made_with: MacAddr,
    pub(super) address: MacAddr,
    pub(super) assumptions: Assumptions,
    /// It runs.
    pub(super) running: bool,
    /// Where it is tuned to when it does not scan.
    pub(super) home: Option<Tuned>,
    /// See [`mac_control`].
    pub(super) control: u16,
    /// Groups that the host wants to hear.
    pub(super) groups: Vec<MacAddr>,
    pub(super) join: Join,
    pub(super) network: Option<Network>,
    pub(super) scan: Option<Scan>,
    pub(super) keys: Keys,
    /// When the own network was heard last.
    pub(super) beacon_ns: u64,
    pub(super) queue: Queue,
    /// Probe requests, which are sent off the network's channel.
    pub(super) probes: Queue,
    pub(super) done: Vec<Done>,
    sequence: u16,
    /// By TID, and of frames without QoS.
    pub(super) duplicates: [Duplicates; 9],
    pub(super) to_host: Vec<ToHost>,
    /// Received frames that the host has not fetched yet.
    pub(super) waiting: usize,
    pub(super) signal_dbm: Option<i8>,
    pub(super) chip: ChipCounters,
    pub(super) tx: TxCounters,
    pub(super) rx: RxCounters,
    /// Frames for groups that the host has not asked for.
    pub(super) filtered: u64,
}

impl Firmware {
    pub(super) fn new(address: MacAddr, assumptions: Assumptions) -> Self {
        Self {
            made_with: address,
            address,
            assumptions,
            running: false,
            home: None,
            control: 0,
            groups: Vec::new(),
            join: Join::Idle,
            network: None,
            scan: None,
            keys: Keys::with(assumptions.eapol()),
            beacon_ns: 0,
            queue: Queue::default(),
            probes: Queue::default(),
            done: Vec::new(),
            sequence: 0,
            duplicates: Default::default(),
            to_host: Vec::new(),
            waiting: 0,
            signal_dbm: None,
            chip: ChipCounters::default(),
            tx: TxCounters::default(),
            rx: RxCounters::default(),
            filtered: 0,
        }
    }

    /// Everything is forgotten but what was counted.
    pub(super) fn stop(&mut self) {
        let (chip, tx, rx, filtered) = (self.chip, self.tx, self.rx, self.filtered);
        *self = Self { chip, tx, rx, filtered, ..Self::new(self.made_with, self.assumptions) };
    }

    pub(super) fn start(&mut self) {
        self.running = true;
    }

    pub(super) fn event(&mut self, event: u32) {
        self.chip.events += 1;
        self.to_host.push(ToHost::Message(emit_event(event)));
    }

    pub(super) fn answer(&mut self, header: Header, body: &[u8]) {
        self.to_host.push(ToHost::Message(header.answer(result::OK, body)));
    }

    pub(super) fn fail(&mut self, header: Header) {
        self.chip.commands_failed += 1;
        self.to_host.push(ToHost::Message(header.answer(result::FAILED, &[])));
    }

    /// A command of the host. Most are answered with what they said.
    pub(super) fn command(&mut self, now_ns: u64, header: Header, body: &[u8]) {
        self.chip.commands += 1;
        let action = body.get(..2).unwrap_or(&[0; 2]);
        match Command::parse(header.id, body) {
            None => self.fail(header),
            Some(Command::Hardware) => {
                let hardware = Hardware {
                    version: HARDWARE_VERSION,
                    frames: self.assumptions.tx_frames,
                    groups: GROUPS,
                    address: self.made_with,
                    region: REGION,
                    release: RELEASE,
                    capability: CAPABILITY,
                };
                self.answer(header, &hardware.emit());
            }
            Some(Command::Scan { ssid, channels }) => self.begin_scan(now_ns, header, ssid, &channels),
            Some(Command::Associate(asked)) => self.begin_join(now_ns, header, asked),
            Some(Command::Deauthenticate { bssid, reason }) => {
                self.leave(now_ns, bssid, reason);
                self.answer(header, body);
            }
            Some(Command::MacControl(bits)) => {
                self.control = bits;
                self.answer(header, body);
            }
            Some(Command::Multicast(groups)) => {
                self.groups = groups;
                self.groups.truncate(usize::from(GROUPS));
                self.answer(header, body);
            }
            Some(Command::Address(address)) => {
                if let Some(address) = address.filter(|address| !address.is_group()) {
                    self.address = address;
                }
                self.answer(header, &[action, &self.address.0].concat());
            }
            Some(Command::Channel(channel)) => {
                let tuned = channel.and_then(|number| u8::try_from(number).ok()).and_then(Tuned::channel);
                self.home = tuned.or(self.home);
                let number = (1..=14).find(|&number| self.home == Tuned::channel(number)).unwrap_or(0);
                let rest = body.get(4..).unwrap_or_default();
                self.answer(header, &[action, &[number, 0], rest].concat());
            }
            Some(Command::TxPower) => {
                self.answer(header, &[action, &TX_POWER_DBM].concat());
            }
            Some(Command::Signal) => self.report_signal(header),
            Some(Command::Keys(keys)) => {
                keys.iter().for_each(|key| self.set_key(key));
                self.answer(header, body);
            }
            Some(Command::Unknown(_)) => {
                self.chip.commands_without_effect += 1;
                self.answer(header, body);
            }
        }
    }

    /// Others than CCMP's are not modelled: such a key takes the old one away. The driver does not say which ID a key for groups has.
    fn set_key(&mut self, key: &Key) {
        let is_ccmp = key.kind == key_kind::CCMP && key.info & key_info::ENABLED != 0 && key.len == 16;
        let bytes = key.key.first_chunk().copied().filter(|_| is_ccmp).map(StationKey::Ccmp);
        if key.info & key_info::PAIRWISE != 0 {
            self.keys.set_pairwise(bytes);
        }
        if key.info & key_info::GROUP != 0 {
            (0..4).for_each(|index| self.keys.set_group(index, bytes));
        }
    }

    /// Signal and noise of the last beacon, and their means, which are the same here (cmd.c, lbs_get_rssi).
    fn report_signal(&mut self, header: Header) {
        let Some(signal_dbm) = self.signal_dbm else { return self.fail(header) };
        let words = [u16::from(snr_db(signal_dbm)), u16::from(NOISE_DB)].map(u16::to_le_bytes);
        self.answer(header, [words, words].as_flattened().as_flattened());
    }

    /// The next sequence number: the chip has no QoS, and one counter.
    pub(super) fn next_sequence(&mut self) -> Seq {
        let given = Seq::new(self.sequence);
        self.sequence = given.add(1).value();
        given
    }

    /// Queues a frame; `false`: there is no room.
    pub(super) fn push(&mut self, frame: Queued) -> bool {
        let fits = self.queue.len() < QUEUE_MAX;
        if fits {
            self.queue.push(frame);
        }
        fits
    }

    /// Whether the host may send another frame.
    pub(super) fn has_room(&self) -> bool {
        self.queue.len() < usize::from(self.assumptions.tx_frames)
    }

    pub(super) fn receives(&self) -> bool {
        self.control & mac_control::RX != 0
    }

    pub(super) fn sends(&self) -> bool {
        self.control & mac_control::TX != 0
    }

    /// Whether the host wants to hear a group.
    pub(super) fn hears(&self, group: MacAddr) -> bool {
        let all = mac_control::PROMISCUOUS | mac_control::ALL_MULTICAST;
        let listed = self.control & mac_control::MULTICAST != 0 && self.groups.contains(&group);
        group == MacAddr::BROADCAST || self.control & all != 0 || listed
    }
}

impl Firmware {
    /// Lets everything happen that is due by `now_ns`, except on the air.
    pub(super) fn advance(&mut self, now_ns: u64) {
        if self.running {
            self.advance_scan(now_ns);
            self.advance_join(now_ns);
        }
    }

    /// When something happens next, except on the air.
    pub(super) fn next_event(&self) -> Option<u64> {
        let scan = self.scan.as_ref().map(|scan| scan.until_ns);
        [scan, self.join_deadline()].into_iter().flatten().min().filter(|_| self.running)
    }

    /// Counts what happened to its frames.
    pub(super) fn flush(&mut self) {
        for done in std::mem::take(&mut self.done) {
            self.tx.given_up += u64::from(!done.acknowledged);
        }
    }
}

/// What a signal is above the noise.
pub(super) fn snr_db(signal_dbm: i8) -> u8 {
    (i16::from(signal_dbm) + i16::from(NOISE_DB)).clamp(0, 127) as u8
}

crate::state!(Firmware {
    address, running, home, control, groups, join, network, scan, keys, beacon_ns, queue, probes, done, sequence, duplicates,
    to_host, waiting, signal_dbm, chip, tx, rx, filtered,
} made { made_with, assumptions });
