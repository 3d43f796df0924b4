//! The chip as a station on the air.

use wire::ieee80211::{FrameKind, MacAddr, Mpdu};
use wire::phy::{Bandwidth, EdcaParameters};

use super::Mac;
use crate::air::exchange::{duration_ns, FCS_LEN};
use crate::air::{width, Contender, Outcome, Ppdu, Reception, Station, Tuned};
use crate::chips::mt7921u::receive;
use crate::chips::mt7921u::scan::Scan;
use crate::chips::mt7921u::transmit::{self, OwnDone};
use crate::chips::station_power::NULL;

impl Mac {
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
        let Some((own, network)) = self.link().filter(|_| self.scan.is_none() && self.stay.is_none()) else {
            return true;
        };
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
        let networks: Vec<MacAddr> =
            self.networks.iter().filter(|network| network.active).map(|network| network.bssid).collect();
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
