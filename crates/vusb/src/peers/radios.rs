//! Several radios of mac80211_hwsim in one kernel: the stations of a chip that is an access point, each with a wpa_supplicant
//! of its own, or the access points of a network, each with a hostapd.

use std::os::fd::RawFd;

use super::radio::{transmitter, Radio};
use super::relay::Transport;
use super::statistics::{AccessPointsStatistics, PeerStatistics, StationsStatistics};
use super::Peers;
use crate::air::{LinkSignal, Station};
use crate::device::Source;
use crate::state::{Reader, State, StateError, Writer};

/// What the radios are to the chip.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Its stations.
    Stations,
    /// Its access points.
    AccessPoints,
}

/// Radios 0 to n - 1.
pub struct Radios {
    role: Role,
    relay: Box<dyn Transport>,
    radios: Vec<Radio>,
}

impl Radios {
    /// `relay`: the way to the radios, of which there have to be as many: one for each link. `strict_agreements`: as for
    /// [`super::hostapd::Hostapd`].
    pub(crate) fn new(relay: Box<dyn Transport>, role: Role, signals: &[LinkSignal], strict_agreements: bool) -> Self {
        let radio = |(number, link): (u8, &LinkSignal)| Radio::new(number, link.down_dbm, false, strict_agreements);
        let radios = (0..).zip(signals).map(radio).collect();
        Self { role, relay, radios }
    }

    fn read(&mut self, now_ns: u64) {
        let Self { relay, radios, .. } = self;
        relay.read(&mut |message| {
            let from = transmitter(message);
            if let Some(radio) = radios.iter_mut().find(|radio| Some(radio.name()) == from) {
                radio.send(now_ns, message);
            }
        });
    }
}

impl Peers for Radios {
    fn stations(&self) -> Vec<&dyn Station> {
        self.radios.iter().map(|radio| radio as &dyn Station).collect()
    }

    fn stations_mut(&mut self) -> Vec<&mut dyn Station> {
        self.radios.iter_mut().map(|radio| radio as &mut dyn Station).collect()
    }

    fn advance(&mut self, now_ns: u64) {
        if self.relay.source().is_none() {
            self.read(now_ns);
        }
    }

    fn flush(&mut self, _now_ns: u64) {
        for radio in &mut self.radios {
            radio.flush(&*self.relay);
        }
    }

    fn sources(&self, sources: &mut Vec<Source>) {
        sources.extend(self.relay.source());
    }

    fn readable(&mut self, now_ns: u64, _fd: RawFd) {
        self.read(now_ns);
    }

    fn statistics(&self) -> PeerStatistics {
        let radios = self.radios.iter().map(Radio::statistics).collect();
        match self.role {
            Role::Stations => PeerStatistics::Stations(StationsStatistics { kind: "stations", stations: radios }),
            Role::AccessPoints => {
                PeerStatistics::AccessPoints(AccessPointsStatistics { kind: "access-points", access_points: radios })
            }
        }
    }

    fn save_state(&self, to: &mut Writer) -> Result<(), StateError> {
        self.save(to)
    }

    fn restore_state(&mut self, from: &mut Reader<'_>) -> Result<(), StateError> {
        self.restore(from)
    }
}

crate::state!(Radios {} each { radios } made { role, relay });
