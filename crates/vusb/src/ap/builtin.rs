//! An access point of its own: an open 802.11n network, and a TAP device behind it.
//!
//! For what hostapd is too real for: faults, speed, exact control.

use std::io;
use std::os::fd::{AsRawFd, RawFd};

use serde::Serialize;
use tun_rs::{DeviceBuilder, Layer, SyncDevice};
use wire::phy::{Bandwidth, EdcaParameters, Ht, Mode, RateSet};

use super::agreements::Agreements;
use super::ethernet::{from_station, to_station};
use super::queue::{Done, Queue, Queued};
use super::{AccessPoint, ApError};
use crate::air::{Outcome, Ppdu, Protection, Reception, Station, Tuned};
use crate::device::Source;

/// 100 TU of 1024 us.
const BEACON_INTERVAL_NS: u64 = 102_400_000;
/// Frames that wait at most; the TAP is not read while so many do.
const QUEUE_MAX: usize = 128;
/// Window of its agreements.
const BLOCK_ACK_WINDOW: u16 = 32;
/// WMM parameters with the default EDCA parameters (WMM specification 2.2.2).
const WMM: [u8; 24] =
    [0x00, 0x50, 0xf2, 2, 1, 1, 0, 0, 0x03, 0xa4, 0, 0, 0x27, 0xa4, 0, 0, 0x42, 0x43, 0x5e, 0, 0x62, 0x32, 0x2f, 0];

/// How it is set up.
#[derive(Clone, Debug)]
pub struct BuiltinSettings {
    /// Name of its network.
    pub ssid: String,
    /// Channel, 1 to 13.
    pub channel: u8,
    /// 40 MHz, secondary channel above.
    pub wide: bool,
    /// MCS that it sends data at.
    pub mcs: u8,
    /// Short guard interval.
    pub short_gi: bool,
    /// Name of its TAP device.
    pub tap: String,
}

/// What it has done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ApCounters {
    /// Frames from the TAP device for the station.
    pub from_wire: u64,
    /// Frames from the station to the TAP device.
    pub to_wire: u64,
    /// Bytes of them.
    pub from_wire_bytes: u64,
    /// See `from_wire_bytes`.
    pub to_wire_bytes: u64,
    /// Frames that the TAP device did not take.
    pub refused: u64,
    /// Frames given up after their last retry.
    pub given_up: u64,
}

/// The access point.
pub struct Builtin {
    settings: BuiltinSettings,
    address: [u8; 6],
    tap: SyncDevice,
    queue: Queue,
    done: Vec<Done>,
    station: Option<[u8; 6]>,
    /// It has QoS and HT.
    station_ht: bool,
    agreements: Agreements,
    asked_down: bool,
    next_beacon_ns: u64,
    started_ns: Option<u64>,
    sequence: u16,
    data_sequence: u16,
    buffer: Vec<u8>,
    counters: ApCounters,
}

impl Builtin {
    /// Makes the TAP device.
    ///
    /// # Errors
    /// The device exists, or there is no right to make it.
    pub fn new(settings: BuiltinSettings) -> Result<Self, ApError> {
        let tap = open(&settings.tap).map_err(|source| ApError::Tap { name: settings.tap.clone(), source })?;
        Ok(Self {
            settings,
            // Locally administered: "txop".
            address: [0x02, 0x74, 0x78, 0x6f, 0x70, 0x00],
            tap,
            queue: Queue::default(),
            done: Vec::new(),
            station: None,
            station_ht: false,
            agreements: Agreements::default(),
            asked_down: false,
            next_beacon_ns: 0,
            started_ns: None,
            sequence: 0,
            data_sequence: 0,
            buffer: vec![0; 2_048],
            counters: ApCounters::default(),
        })
    }

    fn ht_mode(&self) -> Mode {
        Mode::Ht(Ht {
            mcs: self.settings.mcs.min(7),
            bandwidth: if self.settings.wide { Bandwidth::Mhz40 } else { Bandwidth::Mhz20 },
            short_gi: self.settings.short_gi,
            greenfield: Some(false),
            ldpc: Some(false),
            stbc: Some(0),
            ness: 0,
        })
    }

    fn next_sequence(&mut self) -> u16 {
        self.sequence = (self.sequence + 1) & 0x0fff;
        self.sequence
    }

    fn push(&mut self, now_ns: u64, mpdu: Vec<u8>, modes: Vec<(Mode, u8)>) {
        self.queue.push(Queued { mpdu, modes, protection: Protection::None, cookie: 0, since_ns: now_ns, attempts: 0 });
    }

    fn manage(&mut self, now_ns: u64, kind: u8, to: [u8; 6], body: &[u8]) {
        let sequence = self.next_sequence();
        let mut mpdu = vec![kind, 0, 0, 0];
        for address in [to, self.address, self.address] {
            mpdu.extend(address);
        }
        mpdu.extend((sequence << 4).to_le_bytes());
        mpdu.extend_from_slice(body);
        let slow = Mode::Dsss { rate_500kbps: 2, short_preamble: Some(false) };
        self.push(now_ns, mpdu, vec![(slow, 7)]);
    }

    fn element(id: u8, body: &[u8], out: &mut Vec<u8>) {
        out.extend([id, body.len() as u8]);
        out.extend_from_slice(body);
    }

    fn elements(&self, with_name: bool, out: &mut Vec<u8>) {
        let BuiltinSettings { ssid, channel, wide, short_gi, .. } = &self.settings;
        if with_name {
            Self::element(0, ssid.as_bytes(), out);
        }
        // 1, 2, 5.5, 11 basic; 6, 9, 12, 18; the rest as extended rates.
        Self::element(1, &[0x82, 0x84, 0x8b, 0x96, 0x0c, 0x12, 0x18, 0x24], out);
        Self::element(3, &[*channel], out);
        Self::element(50, &[0x30, 0x48, 0x60, 0x6c], out);
        let mut capabilities = [0; 26];
        capabilities[0] = 0x0c | if *short_gi { 0x20 } else { 0 } | if *wide { 0x02 | 0x40 } else { 0 };
        // 65535 bytes, no minimum spacing; MCS 0 to 7.
        capabilities[2] = 0x03;
        capabilities[3] = 0xff;
        Self::element(45, &capabilities, out);
        let mut operation = [0; 22];
        operation[0] = *channel;
        operation[1] = if *wide { 0x05 } else { 0 };
        Self::element(61, &operation, out);
        Self::element(221, &WMM, out);
    }

    fn beacon(&mut self, now_ns: u64, kind: u8, to: [u8; 6]) {
        let mut body = (now_ns / 1_000).to_le_bytes().to_vec();
        // 100 TU; ESS, short preamble, short slot.
        body.extend([100, 0, 0x21, 0x04]);
        self.elements(true, &mut body);
        if kind == 0x80 {
            Self::element(5, &[0, 1, 0, 0], &mut body);
        }
        self.manage(now_ns, kind, to, &body);
    }

    fn manage_received(&mut self, now_ns: u64, mpdu: &[u8]) {
        let Some(from) = mpdu.get(10..16).and_then(<[u8]>::first_chunk::<6>).copied() else { return };
        let to_us = mpdu.get(4..10) == Some(&self.address);
        let body = mpdu.get(24..).unwrap_or_default();
        match mpdu.first() {
            Some(0x40) => {
                let ssid = wire::ieee80211::Elements::new(body).find(0).unwrap_or_default();
                if ssid.is_empty() || ssid == self.settings.ssid.as_bytes() {
                    self.beacon(now_ns, 0x50, from);
                }
            }
            // Authentication: open system, second step, success.
            Some(0xb0) if to_us => self.manage(now_ns, 0xb0, from, &[0, 0, 2, 0, 0, 0]),
            Some(kind @ (0x00 | 0x20)) if to_us => {
                let fixed = if *kind == 0 { 4 } else { 10 };
                let elements = wire::ieee80211::Elements::new(body.get(fixed..).unwrap_or_default());
                self.station_ht = elements.find(45).is_some();
                self.station = Some(from);
                self.asked_down = false;
                let mut response = vec![0x21, 0x04, 0, 0, 0x01, 0xc0];
                self.elements(false, &mut response);
                self.manage(now_ns, if *kind == 0 { 0x10 } else { 0x30 }, from, &response);
            }
            Some(0xa0 | 0xc0) if to_us && self.station == Some(from) => self.station = None,
            Some(0xd0) if to_us && body.starts_with(&[3, 0]) => self.block_ack_request(now_ns, from, body),
            _ => {}
        }
    }

    fn block_ack_request(&mut self, now_ns: u64, from: [u8; 6], body: &[u8]) {
        let half = |at: usize| body.get(at..at + 2).map_or(0, |b| u16::from_le_bytes([b[0], b[1]]));
        let parameters = half(3) & 0x003e | 1 | BLOCK_ACK_WINDOW << 6;
        self.agreements.up |= 1 << (parameters >> 2 & 15);
        let mut response = vec![3, 1, body.get(2).copied().unwrap_or(0), 0, 0];
        response.extend(parameters.to_le_bytes());
        response.extend([0, 0]);
        self.manage(now_ns, 0xd0, from, &response);
    }

    fn ethernet_received(&mut self, now_ns: u64, len: usize) {
        let Some(ethernet) = self.buffer.get(..len) else { return };
        let Some(destination) = ethernet.first_chunk::<6>().copied() else { return };
        let group = destination[0] & 1 == 1;
        let Some(station) = self.station.filter(|station| group || *station == destination) else { return };
        let tid = (self.station_ht && !group).then_some(0);
        self.data_sequence = (self.data_sequence + 1) & 0x0fff;
        let sequence = if tid.is_some() { self.data_sequence } else { self.next_sequence() };
        let Some(ethernet) = self.buffer.get(..len) else { return };
        let Some(mpdu) = to_station(ethernet, self.address, sequence, tid) else { return };
        self.counters.from_wire += 1;
        self.counters.from_wire_bytes += len as u64;
        let slow = Mode::Ofdm { rate_500kbps: 12, bandwidth: Bandwidth::Mhz20 };
        let modes = if tid.is_some() { vec![(self.ht_mode(), 7), (slow, 3)] } else { vec![(slow, 7)] };
        self.push(now_ns, mpdu, modes);
        if tid.is_some() && !self.asked_down {
            self.asked_down = true;
            // Request: token 1, immediate, TID 0, window; no timeout; the next data frame's number.
            let start = (self.data_sequence + 1) & 0x0fff;
            let parameters = 0x0002u16 | BLOCK_ACK_WINDOW << 6;
            let mut body = vec![3, 0, 1];
            body.extend(parameters.to_le_bytes());
            body.extend([0, 0]);
            body.extend((start << 4).to_le_bytes());
            self.manage(now_ns, 0xd0, station, &body);
        }
    }
}

fn open(name: &str) -> io::Result<SyncDevice> {
    let device = DeviceBuilder::new().name(name).layer(Layer::L2).offload(false).enable(false).build_sync()?;
    device.set_nonblocking(true)?;
    Ok(device)
}

impl AccessPoint for Builtin {
    fn station(&self) -> &dyn Station {
        self
    }

    fn as_station(&mut self) -> &mut dyn Station {
        self
    }

    fn advance(&mut self, now_ns: u64) {
        self.started_ns.get_or_insert(now_ns);
        if now_ns >= self.next_beacon_ns {
            self.next_beacon_ns = (now_ns / BEACON_INTERVAL_NS + 1) * BEACON_INTERVAL_NS;
            self.beacon(now_ns, 0x80, [0xff; 6]);
        }
    }

    fn flush(&mut self, _now_ns: u64) {
        let given_up = self.done.iter().filter(|done| !done.acknowledged).count();
        self.counters.given_up += given_up as u64;
        self.done.clear();
    }

    fn next_event(&self) -> Option<u64> {
        Some(self.next_beacon_ns)
    }

    fn sources(&self, sources: &mut Vec<Source>) {
        sources.push(Source { fd: self.tap.as_raw_fd(), wanted: self.queue.len() < QUEUE_MAX });
    }

    fn readable(&mut self, now_ns: u64, _fd: RawFd) {
        while self.queue.len() < QUEUE_MAX {
            match self.tap.recv(&mut self.buffer) {
                Ok(len) => self.ethernet_received(now_ns, len),
                Err(_) => return,
            }
        }
    }

    fn statistics(&self) -> serde_json::Value {
        serde_json::json!({ "kind": "builtin", "wire": self.counters, "associated": self.station.is_some() })
    }
}

impl Station for Builtin {
    fn tuned(&self) -> Option<Tuned> {
        Tuned::channel(self.settings.channel).map(|tuned| Tuned { wide: self.settings.wide, ..tuned })
    }

    fn ready_since(&self) -> Option<u64> {
        self.queue.ready_since()
    }

    fn access(&self) -> EdcaParameters {
        self.queue.access()
    }

    fn access_function(&self) -> usize {
        self.queue.access_function()
    }

    fn begin(&mut self, _now_ns: u64) -> Option<Ppdu> {
        self.queue.begin(self.agreements.down)
    }

    fn ended(&mut self, _now_ns: u64, _ppdu: Ppdu, outcome: &Outcome) {
        self.queue.ended(outcome, &mut self.done);
    }

    fn receive(&mut self, now_ns: u64, mpdu: &[u8], reception: &Reception) -> bool {
        let to_us = mpdu.get(4..10) == Some(&self.address);
        let tid = mpdu.get(24).map_or(0, |qos| qos & 0x0f);
        if reception.ampdu.is_some() && self.agreements.up >> tid & 1 == 0 {
            return false;
        }
        match mpdu.first().map(|first| first & 0x0c) {
            Some(0x00) => {
                if to_us {
                    self.agreements.watch(mpdu, true);
                }
                self.manage_received(now_ns, mpdu);
            }
            Some(0x08) if to_us => {
                if let Some(ethernet) = from_station(mpdu) {
                    self.counters.to_wire += 1;
                    self.counters.to_wire_bytes += ethernet.len() as u64;
                    self.counters.refused += u64::from(self.tap.send(&ethernet).is_err());
                }
            }
            _ => {}
        }
        to_us
    }

    fn basic_rates(&self) -> Option<RateSet> {
        Some(RateSet::basic_of(&[0x82, 0x84, 0x8b, 0x96]))
    }
}
