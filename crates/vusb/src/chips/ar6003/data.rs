//! Data frames: from the host to the air and back, encrypted where there are keys, with Block Ack agreements both ways.

use wire::ieee80211::{
    Action, AddbaRequest, AddbaResponse, BlockAckParameters, FixedFields, FrameControl, FrameKind, Header, MacAddr,
    QosControl, Seq, StatusCode,
};
use wire::sdio::wmi::{DataHeader, Event, NOISE_DBM};

use super::firmware::{Firmware, ToHost, UP_WINDOW};
use super::network::Join;
use crate::air::rates::legacy_chain;
use crate::air::{Protection, Reception};
use crate::chips::station_frames::{body, from_access_point};
use crate::chips::station_keys::Unreadable;
use crate::peers::queue::Queued;

/// Frames that may be out of order towards the host, with a driver that reorders this many at most (Linux ath6kl/core.h,
/// AGGR_WIN_SZ_MAX).
const DOWN_WINDOW: u16 = 8;
/// Bytes of the two addresses of an Ethernet frame, and of the length behind them.
const ADDRESSES: usize = 12;
const ETHERNET: usize = ADDRESSES + 2;
/// Longest frame that the host is given: what an MSDU can be (IEEE 802.11-2020, 9.2.4.7.1), with its addresses.
const FRAME_MAX: usize = 2304 + ETHERNET;
impl Firmware {
    /// A frame of the host, on an endpoint with credits that it has used.
    pub(super) fn transmit(&mut self, now_ns: u64, message: &[u8], cookie: u64) {
        self.tx.frames += 1;
        self.power.active(now_ns);
        let sent = self.frame_of(now_ns, message, cookie).is_some_and(|frame| self.push(frame));
        if !sent {
            self.tx.dropped += 1;
            self.give_back(cookie);
        }
    }

    fn frame_of(&mut self, now_ns: u64, message: &[u8], cookie: u64) -> Option<Queued> {
        let (header, ethernet) = DataHeader::parse(message)?;
        let network = self.network.as_ref().filter(|_| self.join == Join::Connected && header.kind == 0)?;
        let (bssid, qos) = (network.bssid, network.qos);
        let destination = MacAddr::read(ethernet, 0)?;
        let (&[high, low], rest) = ethernet.get(ADDRESSES..)?.split_first_chunk()?;
        // What is behind the length is padding.
        let msdu = rest.get(..usize::from(u16::from_be_bytes([high, low]))).unwrap_or(rest);
        self.tx.bytes += (ETHERNET + msdu.len()) as u64;
        let tid = qos.then_some(header.priority);
        if let Some(tid) = tid.filter(|_| self.rates.chain().is_some()) {
            self.ask_for_agreement(now_ns, bssid, tid);
        }
        let sequence = self.sequence(tid);
        let fc = FrameControl::default().with_to_ds(true);
        let header = Header::data(fc, [bssid, self.address, destination], sequence, tid.map(QosControl::new));
        let (mpdu, encrypted) = self.keys.mpdu(&header, msdu);
        self.tx.encrypted += u64::from(encrypted);
        let modes = self.rates.chain().unwrap_or_else(legacy_chain);
        Some(Queued { mpdu, modes, protection: Protection::None, cookie, since_ns: now_ns, attempts: 0 })
    }

    /// Asks the access point to receive A-MPDUs of a TID, once.
    fn ask_for_agreement(&mut self, now_ns: u64, bssid: MacAddr, tid: u8) {
        let bit = 1u16 << (tid & 7);
        // Not while keys are exchanged: some access points let nothing else pass.
        if self.asked & bit != 0 || self.profile.is_encrypted() && !self.keys.has_pairwise() {
            return;
        }
        self.asked |= bit;
        let start = self.peek_sequence(tid);
        let parameters = BlockAckParameters::immediate(tid, UP_WINDOW, false);
        let request = Action::AddbaRequest(AddbaRequest { dialog_token: tid + 1, parameters, timeout_tu: 0, start });
        let frame = self.management(now_ns, FrameKind::Action, bssid, &body(FixedFields::Action(request)));
        self.push(frame);
    }

    /// The access point wants to send A-MPDUs of a TID: the host reorders them.
    pub(super) fn agree(&mut self, now_ns: u64, from: MacAddr, request: &AddbaRequest) {
        let tid = request.parameters.tid;
        let window = match request.parameters.buffer_size {
            0 => DOWN_WINDOW,
            size => size.min(DOWN_WINDOW),
        };
        let granted = tid < 8 && window >= 2;
        let status = if granted { StatusCode::Success } else { StatusCode::RequestDeclined };
        let parameters = BlockAckParameters::immediate(tid, window, false);
        let dialog_token = request.dialog_token;
        let response = Action::AddbaResponse(AddbaResponse { dialog_token, status, parameters, timeout_tu: 0 });
        let frame = self.management(now_ns, FrameKind::Action, from, &body(FixedFields::Action(response)));
        self.push(frame);
        if granted {
            self.event(&Event::BlockAck { tid, window: window as u8, start: request.start.value() });
        }
    }

    /// A data frame came off the air. Gives whether it is acknowledged, if it is for this station.
    pub(super) fn data_received(&mut self, now_ns: u64, mpdu: &[u8], reception: &Reception) -> bool {
        let Some((header, from)) = from_access_point(mpdu) else { return false };
        if !self.is_connected_to(from) {
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
        if !header.receiver().is_group() {
            self.power.active(now_ns);
        }
        let tid = header.qos.map(QosControl::tid);
        let sequence = Seq::new(header.sequence.unwrap_or(0));
        let at = tid.map_or(super::firmware::SEQUENCES - 1, |tid| usize::from(tid & 7));
        let is_new = self.duplicates.get_mut(at).is_none_or(|duplicates| duplicates.is_new(sequence));
        if !header.receiver().is_group() && !is_new {
            self.rx.duplicates += 1;
            return true;
        }
        match self.keys.receive(&header, mpdu, &mut self.rx) {
            Ok(msdu) => self.deliver(&header, tid.unwrap_or(0), sequence, &msdu, reception.signal_dbm),
            Err(why) => {
                self.rx.dropped += 1;
                if let Unreadable::WrongMichael { key_id } = why {
                    self.event(&Event::MichaelFailure { key_id, group: header.receiver().is_group() });
                }
            }
        }
        true
    }

    /// Hands an MSDU to the host, as an Ethernet frame with a length in place of its type.
    fn deliver(&mut self, header: &Header, tid: u8, sequence: Seq, msdu: &[u8], signal_dbm: i8) {
        let (Some(destination), Some(source)) = (header.destination(), header.source()) else { return };
        let len = ETHERNET + msdu.len();
        if len > FRAME_MAX {
            self.rx.dropped += 1;
            return;
        }
        let rssi = (i16::from(signal_dbm) - NOISE_DBM).clamp(0, 127) as i8;
        let data = DataHeader { rssi, kind: 0, priority: tid & 7, sequence: sequence.value(), meta: 0 };
        let length = (msdu.len() as u16).to_be_bytes();
        let frame = [&data.emit()[..], &destination.0, &source.0, &length, msdu].concat();
        self.rx.delivered += 1;
        self.rx.bytes += len as u64;
        self.waiting += 1;
        self.to_host.push(ToHost::Frame(tid & 7, frame));
    }
}
