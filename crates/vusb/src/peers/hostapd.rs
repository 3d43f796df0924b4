//! The access point that hostapd is: on a radio of mac80211_hwsim in this kernel.

use std::os::fd::RawFd;

use super::radio::{transmitter, Radio};
use super::relay::Relay;
use super::statistics::{HostapdStatistics, PeerStatistics, RadioStatistics};
use super::{ApError, Peers};
use crate::air::Station;
use crate::device::Source;

/// hostapd's radio.
pub struct Hostapd {
    relay: Relay,
    radio: Radio,
}

impl Hostapd {
    /// Registers with mac80211_hwsim. `signal_dbm`: of what it receives. `strict_agreements`: A-MPDUs for which there is no agreement are not answered; real
    /// access points have been seen to answer them.
    ///
    /// # Errors
    /// The module is not loaded, or another program relays already.
    pub fn new(signal_dbm: i8, strict_agreements: bool) -> Result<Self, ApError> {
        Ok(Self { relay: Relay::new()?, radio: Radio::new(0, signal_dbm, true, strict_agreements) })
    }
}

impl Peers for Hostapd {
    fn stations(&self) -> Vec<&dyn Station> {
        vec![&self.radio]
    }

    fn stations_mut(&mut self) -> Vec<&mut dyn Station> {
        vec![&mut self.radio]
    }

    fn flush(&mut self, _now_ns: u64) {
        self.radio.flush(&self.relay);
    }

    fn sources(&self, sources: &mut Vec<Source>) {
        sources.push(self.relay.source());
    }

    fn readable(&mut self, now_ns: u64, _fd: RawFd) {
        let Self { relay, radio } = self;
        relay.read(|message| {
            if transmitter(message).is_some() {
                radio.send(now_ns, message);
            }
        });
    }

    fn statistics(&self) -> PeerStatistics {
        let RadioStatistics { relay, waiting } = self.radio.statistics();
        PeerStatistics::Hostapd(HostapdStatistics { kind: "hostapd", relay, waiting })
    }
}
