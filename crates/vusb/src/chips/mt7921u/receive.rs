//! From the air to bulk IN: filters, decryption, Ethernet headers, the receive buffer.

use std::collections::VecDeque;

use wire::ieee80211::{FrameKind, FrameType, Header, MacAddr, Mpdu};
use wire::usb::connac2::{Addressed, RxDescriptor, UNKNOWN_STATION};

use super::assumptions::Assumptions;
use super::channel;
use super::commands::RxFilter;
use super::ethernet::decapsulate;
use super::keys::Unopened;
use super::rates::numbers;
use super::stations::Stations;
use super::statistics::RxCounters;
use crate::air::Reception;
use crate::chips::ccmp::header_len;

/// Passes everything of other networks (mt7921/main.c, MT7921_FILTER_OTHER_BSS), and control frames.
const OTHER_BSS: u32 = 1 << 6;
const CONTROL: u32 = 1 << 5;
/// Beacons of other networks are dropped (MT_WF_RFCR_DROP_OTHER_BEACON).
const DROP_OTHER_BEACON: u32 = 1 << 11;

/// What the receiver has to know besides the frame.
pub struct Around<'a> {
    /// Whom the chip knows.
    pub stations: &'a mut Stations,
    /// Its own addresses.
    pub own: &'a [MacAddr],
    /// Access points of its networks.
    pub networks: &'a [MacAddr],
    /// A scan listens.
    pub scans: bool,
    /// What is assumed.
    pub assumed: &'a Assumptions,
    /// The clock of the network, us.
    pub tsf_us: u64,
}

/// The receiver.
#[derive(Default, serde::Serialize, serde::Deserialize)]
pub struct Receiver {
    /// What waits for the host.
    buffer: VecDeque<Vec<u8>>,
    /// Bytes in it.
    used: usize,
    passes: u32,
    drops: u32,
    counters: RxCounters,
}

/// What happened to a frame.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Taken {
    /// The MAC acknowledges it.
    pub answered: bool,
    /// It has its sender's number.
    pub station: Option<u16>,
}

impl Receiver {
    /// What it has done.
    pub const fn counters(&self) -> &RxCounters {
        &self.counters
    }

    /// Forgets what it has.
    pub fn clear(&mut self) {
        *self = Self { counters: self.counters, ..Self::default() };
    }

    /// The driver changes the filter.
    pub fn filter(&mut self, filter: RxFilter) {
        match filter {
            RxFilter::Passes(passes) => self.passes = passes,
            RxFilter::Drops(bits, true) => self.drops |= bits,
            RxFilter::Drops(bits, false) => self.drops &= !bits,
        }
    }

    /// A frame came off the air.
    pub fn receive(&mut self, frame: &[u8], reception: &Reception, around: &mut Around<'_>) -> Taken {
        self.counters.frames += 1;
        let mpdu = Mpdu::new(frame);
        let (Some(receiver), Some(numbers)) = (mpdu.receiver(), numbers(&reception.mode)) else {
            return Taken::default();
        };
        let is_own = around.own.contains(&receiver);
        let station = mpdu.transmitter().and_then(|sender| around.stations.find(sender));
        let taken = Taken { answered: is_own, station };
        if !self.passes(&mpdu, is_own, around) {
            self.counters.filtered += 1;
            return taken;
        }
        let addressed = match receiver {
            MacAddr::BROADCAST => Addressed::All,
            _ if is_own => Addressed::Own,
            receiver if receiver.is_group() => Addressed::Group,
            _ => Addressed::Other,
        };
        let mut descriptor = RxDescriptor {
            station: station.unwrap_or(UNKNOWN_STATION),
            ampdu: reception.ampdu.is_some(),
            tid: mpdu.tid().unwrap_or(0),
            channel: channel::number(&reception.tuned),
            addressed,
            tsf_us: around.tsf_us as u32,
            rate: numbers.rate,
            bandwidth: numbers.bandwidth,
            guard: numbers.guard,
            ldpc: numbers.ldpc,
            signal_dbm: [reception.signal_dbm; 2],
            ..RxDescriptor::default()
        };
        let mut bytes = frame.to_vec();
        if let Some(number) = station.filter(|_| mpdu.protected()) {
            self.open(number, receiver.is_group(), &mut bytes, &mut descriptor, around.stations);
        }
        let header = Header::parse(&bytes, false);
        if let Ok(header) = &header {
            descriptor.header_len = header.header_len as u8;
            descriptor.fragment = header.fc.more_fragments() || header.fragment.is_some_and(|number| number > 0);
            let translates =
                station.and_then(|number| around.stations.get(number)).is_some_and(|entry| entry.translate);
            let is_whole = !descriptor.integrity_error && (!header.fc.protected() || descriptor.cipher != 0);
            if let Some(ethernet) = decapsulate(header, &bytes).filter(|_| translates && is_whole) {
                let sequence_control = mpdu.sequence_control().unwrap_or(0);
                let sender = header.transmitter().unwrap_or_default().0;
                let qos = header.qos.map_or(0, |qos| qos.0);
                descriptor.translated = Some((header.fc.0, sender, sequence_control, qos));
                self.counters.ethernet += 1;
                bytes = ethernet;
            }
        }
        let packet = descriptor.emit(&bytes);
        let fits = self.used + packet.len() <= around.assumed.rx_buffer_kib as usize * 1_024;
        if !fits {
            self.counters.overflows += 1;
            return Taken { answered: false, station };
        }
        self.counters.delivered += 1;
        self.counters.bytes += bytes.len() as u64;
        self.push(packet);
        taken
    }

    /// Something of the firmware for the host.
    pub fn push(&mut self, packet: Vec<u8>) {
        self.used += packet.len();
        self.buffer.push_back(packet);
    }

    /// The next packet for the host.
    pub fn pop(&mut self) -> Option<Vec<u8>> {
        let packet = self.buffer.pop_front()?;
        self.used = self.used.saturating_sub(packet.len());
        Some(packet)
    }

    /// Decrypts a frame, if there is its key.
    fn open(
        &mut self,
        station: u16,
        is_group: bool,
        frame: &mut Vec<u8>,
        descriptor: &mut RxDescriptor,
        stations: &mut Stations,
    ) {
        let Some(id) = header_len(frame).and_then(|header| frame.get(header + 3)).map(|byte| byte >> 6) else { return };
        let cipher = if is_group {
            let bss = stations.get(station).map_or(0, |entry| entry.bss);
            stations.group_of(bss).and_then(|entry| entry.cipher(id))
        } else {
            stations.get_mut(station).and_then(|entry| entry.cipher(id))
        };
        let Some(cipher) = cipher else { return };
        let number = cipher.received();
        match cipher.open(frame) {
            Ok(opened) => {
                self.counters.decrypted += 1;
                *frame = opened.mpdu;
                (descriptor.cipher, descriptor.key_id, descriptor.packet_number) = (number, id, opened.number);
            }
            Err(Unopened::Other) => {}
            Err(Unopened::Integrity) => {
                self.counters.integrity_errors += 1;
                descriptor.integrity_error = true;
            }
            Err(Unopened::Michael) => {
                self.counters.integrity_errors += 1;
                descriptor.michael_error = true;
            }
        }
    }

    /// The receive filter.
    fn passes(&self, mpdu: &Mpdu<&[u8]>, is_own: bool, around: &Around<'_>) -> bool {
        let Some(fc) = mpdu.frame_control() else { return false };
        let everything = self.passes & OTHER_BSS != 0;
        if fc.frame_type() == FrameType::Control {
            return self.passes & CONTROL != 0 || fc.kind() == FrameKind::BlockAckReq && is_own;
        }
        if is_own || everything {
            return true;
        }
        if !mpdu.is_group() {
            return false;
        }
        let of_network = mpdu.transmitter().is_some_and(|sender| around.networks.contains(&sender));
        match fc.kind() {
            FrameKind::Beacon => of_network || around.scans || self.drops & DROP_OTHER_BEACON == 0,
            FrameKind::ProbeRequest => false,
            FrameKind::Data { .. } => of_network,
            _ => of_network || around.networks.is_empty(),
        }
    }
}
