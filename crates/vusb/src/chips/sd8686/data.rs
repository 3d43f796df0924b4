//! Data frames: Ethernet from the host to the air, and from the air to the host with a length in place of the type (Linux
//! libertas/tx.c, libertas/rx.c).

use wire::ieee80211::body::LLC_SNAP;
use wire::ieee80211::{FrameControl, Header, MacAddr, QosControl, Seq};
use wire::phy::Mode;
use wire::sdio::libertas::Received;

use super::firmware::{snr_db, Firmware, ToHost, NOISE_DB};
use super::under_way::Join;
use crate::air::rates::{legacy_chain, LEGACY_RATES};
use crate::air::{Protection, Reception};
use crate::chips::station_frames::from_access_point;
use crate::peers::queue::Queued;

/// Bytes of the two addresses of an Ethernet frame, and of the type behind them.
const ADDRESSES: usize = 12;
const ETHERNET: usize = ADDRESSES + 2;
/// Types begin here; smaller numbers are lengths (IEEE 802.3-2018, 3.2.6).
const TYPES: u16 = 0x0600;
/// Longest MSDU (IEEE 802.11-2020, 9.2.4.7.1).
const MSDU_MAX: usize = 2304;
/// Shortest that the driver takes (rx.c, lbs_process_rxed_packet).
const MSDU_MIN: usize = 8;

impl Firmware {
    /// A frame of the host; `None`: it is cut.
    pub(super) fn transmit(&mut self, now_ns: u64, ethernet: Option<&[u8]>) {
        self.tx.frames += 1;
        let frame = ethernet.and_then(|ethernet| self.frame_of(now_ns, ethernet));
        if !frame.is_some_and(|frame| self.push(frame)) {
            self.tx.dropped += 1;
        }
    }

    fn frame_of(&mut self, now_ns: u64, ethernet: &[u8]) -> Option<Queued> {
        let bssid = self.bssid().filter(|_| self.join == Join::Connected && self.sends())?;
        let (destination, source) = (MacAddr::read(ethernet, 0)?, MacAddr::read(ethernet, 6)?);
        let (&[high, low], rest) = ethernet.get(ADDRESSES..)?.split_first_chunk()?;
        let type_or_length = u16::from_be_bytes([high, low]);
        // What is behind a length is padding.
        let msdu = match type_or_length {
            TYPES.. => [&LLC_SNAP[..], &[high, low], rest].concat(),
            len => rest.get(..usize::from(len)).unwrap_or(rest).to_vec(),
        };
        if msdu.len() > MSDU_MAX || source.is_group() {
            return None;
        }
        self.tx.bytes += ethernet.len() as u64;
        let fc = FrameControl::default().with_to_ds(true);
        let header = Header::data(fc, [bssid, self.address, destination], self.next_sequence(), None);
        let (mpdu, encrypted) = self.keys.mpdu(&header, &msdu);
        self.tx.encrypted += u64::from(encrypted);
        let modes = legacy_chain();
        Some(Queued { mpdu, modes, protection: Protection::None, cookie: 0, since_ns: now_ns, attempts: 0 })
    }

    /// A data frame came off the air. Gives whether it is acknowledged, if it is for this station.
    pub(super) fn data_received(&mut self, mpdu: &[u8], reception: &Reception) -> bool {
        let Some((header, from)) = from_access_point(mpdu) else { return false };
        if !self.is_connected_to(from) || !self.receives() {
            return false;
        }
        self.rx.frames += 1;
        if self.waiting >= usize::from(self.assumptions.rx_frames) {
            self.rx.overflows += 1;
            return false;
        }
        if !header.fc.carries_data() {
            return true;
        }
        let group = header.receiver().is_group();
        if group && !self.hears(header.receiver()) {
            self.filtered += 1;
            return true;
        }
        let sequence = Seq::new(header.sequence.unwrap_or(0));
        let at = header.qos.map(QosControl::tid).map_or(8, |tid| usize::from(tid & 7));
        let is_new = self.duplicates.get_mut(at).is_none_or(|duplicates| duplicates.is_new(sequence));
        if !group && !is_new {
            self.rx.duplicates += 1;
            return true;
        }
        let msdu = self
            .keys
            .receive(&header, mpdu, &mut self.rx)
            .ok()
            .filter(|msdu| (MSDU_MIN..=MSDU_MAX).contains(&msdu.len()));
        match msdu {
            Some(msdu) => self.deliver(&header, &msdu, reception),
            None => self.rx.dropped += 1,
        }
        true
    }

    fn deliver(&mut self, header: &Header, msdu: &[u8], reception: &Reception) {
        let (Some(destination), Some(source)) = (header.destination(), header.source()) else { return };
        let length = (msdu.len() as u16).to_be_bytes();
        let frame = [&destination.0[..], &source.0, &length, msdu].concat();
        let received = Received { snr_db: snr_db(reception.signal_dbm), rate: rate_index(&reception.mode) };
        self.rx.delivered += 1;
        self.rx.bytes += (ETHERNET + msdu.len()) as u64;
        self.waiting += 1;
        self.to_host.push(ToHost::Frame(received.emit(NOISE_DB, &frame)));
    }
}

/// The chip's number of a rate: 4 is left out (rx.c, convert_mv_rate_to_radiotap).
fn rate_index(mode: &Mode) -> u8 {
    let (Mode::Dsss { rate_500kbps, .. } | Mode::Ofdm { rate_500kbps, .. }) = mode else { return 0 };
    let at = LEGACY_RATES.iter().position(|rate| rate == rate_500kbps).unwrap_or(0) as u8;
    at + u8::from(at > 3)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::air::rates::{mode, Modulation};

    #[test]
    fn rates_have_the_numbers_of_the_driver() {
        let got = [0, 3, 4, 11].map(|number| rate_index(&mode(number, Modulation::default())));
        assert_eq!(got, [0, 3, 5, 12]);
    }
}
