//! The access point that hostapd is: on a radio of mac80211_hwsim.

use std::os::fd::RawFd;

use super::radio::{transmitter, Radio};
use super::relay::Transport;
use super::statistics::{HostapdStatistics, PeerStatistics, RadioStatistics};
use super::Peers;
use crate::air::Station;
use crate::device::Source;
use crate::state::{Reader, State, StateError, Writer};

/// hostapd's radio.
pub struct Hostapd {
    relay: Box<dyn Transport>,
    radio: Radio,
}

impl Hostapd {
    /// `relay`: the way to the radio. `signal_dbm`: of what it receives. `strict_agreements`: A-MPDUs for which there is no agreement are not answered; real
    /// access points have been seen to answer them.
    pub(crate) fn new(relay: Box<dyn Transport>, signal_dbm: i8, strict_agreements: bool) -> Self {
        Self { relay, radio: Radio::new(0, signal_dbm, true, strict_agreements) }
    }

    fn read(&mut self, now_ns: u64) {
        let Self { relay, radio } = self;
        relay.read(&mut |message| {
            if transmitter(message).is_some() {
                radio.send(now_ns, message);
            }
        });
    }
}

impl Peers for Hostapd {
    fn stations(&self) -> Vec<&dyn Station> {
        vec![&self.radio]
    }

    fn stations_mut(&mut self) -> Vec<&mut dyn Station> {
        vec![&mut self.radio]
    }

    fn advance(&mut self, now_ns: u64) {
        if self.relay.source().is_none() {
            self.read(now_ns);
        }
    }

    fn flush(&mut self, _now_ns: u64) {
        self.radio.flush(&*self.relay);
    }

    fn sources(&self, sources: &mut Vec<Source>) {
        sources.extend(self.relay.source());
    }

    fn readable(&mut self, now_ns: u64, _fd: RawFd) {
        self.read(now_ns);
    }

    fn statistics(&self) -> PeerStatistics {
        let RadioStatistics { relay, waiting } = self.radio.statistics();
        PeerStatistics::Hostapd(HostapdStatistics { kind: "hostapd", relay, waiting })
    }

    fn save_state(&self, to: &mut Writer) -> Result<(), StateError> {
        self.save(to)
    }

    fn restore_state(&mut self, from: &mut Reader<'_>) -> Result<(), StateError> {
        self.restore(from)
    }
}

crate::state!(Hostapd { radio } made { relay });
