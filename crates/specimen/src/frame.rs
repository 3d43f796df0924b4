//! MPDUs, from a description to bytes (without FCS).

use wire::ieee80211::body::LLC_SNAP;
use wire::ieee80211::{
    Bitmap, CompressedBlockAck, CompressedBlockAckReq, FrameControl, FrameKind, Header, MacAddr, QosControl, Seq,
};

use crate::element;
use crate::scene::Scene;
use random::mix;

/// Bytes of the FCS.
pub(crate) const FCS_LEN: usize = 4;

/// What an MPDU is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Content {
    Beacon { tsf_us: u64, dtim_count: u8, buffered: bool },
    ProbeRequest,
    ProbeResponse { tsf_us: u64 },
    Authentication { step: u8 },
    Refusal { status: u16 },
    Deauthentication { reason: u16 },
    AssociationRequest,
    AssociationResponse,
    Eapol { message: u8 },
    AddbaRequest { tid: u8, window: u16, first_seq: u16 },
    AddbaResponse { tid: u8, window: u16 },
    Delba { tid: u8 },
    Null,
    Data { serial: u64, payload: u16, tid: Option<u8> },
    Rts,
    Cts,
    Ack,
    BlockAckRequest { tid: u8, ssn: u16 },
    BlockAck { tid: u8, ssn: u16, bitmap: [u64; 4], bits: u16 },
}

/// The kinds that airtime is counted by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Class {
    Data,
    Null,
    Control,
    Management,
    Beacon,
}

impl Content {
    pub(crate) const fn class(&self) -> Class {
        match self {
            Self::Beacon { .. } => Class::Beacon,
            Self::Data { .. } | Self::Eapol { .. } => Class::Data,
            Self::Null => Class::Null,
            Self::Rts | Self::Cts | Self::Ack | Self::BlockAckRequest { .. } | Self::BlockAck { .. } => Class::Control,
            _ => Class::Management,
        }
    }

    /// CTS, ACK and Block Ack.
    pub(crate) const fn is_response(&self) -> bool {
        matches!(self, Self::Cts | Self::Ack | Self::BlockAck { .. })
    }

    /// The transmitter address is in the frame.
    pub(crate) const fn has_transmitter(&self) -> bool {
        !matches!(self, Self::Cts | Self::Ack)
    }
}

/// An MPDU.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Mpdu {
    pub(crate) content: Content,
    /// Transmitter, 0: access point, n: station n - 1.
    pub(crate) from: usize,
    /// Receiver; `None`: broadcast.
    pub(crate) to: Option<usize>,
    pub(crate) seq: u16,
    pub(crate) retry: bool,
    pub(crate) power_management: bool,
    pub(crate) duration_us: u16,
}

/// Everything that frames are built from.
pub(crate) struct Builder<'a> {
    scene: &'a Scene,
    channel: u8,
    addresses: Vec<MacAddr>,
    /// Random bytes that bodies are cut from.
    filler: Vec<u8>,
}

const FILLER_LEN: usize = 1 << 15;

impl<'a> Builder<'a> {
    pub(crate) fn new(scene: &'a Scene, channel: u8) -> Self {
        let mut filler = vec![0; FILLER_LEN];
        random::Rng::new(scene.seed, random::Stream::SpecimenContents, 0).fill(&mut filler);
        let addresses =
            std::iter::once(scene.bss.address).chain(scene.stations.iter().map(|s| s.address)).collect::<Vec<_>>();
        Self { scene, channel, addresses, filler }
    }

    pub(crate) fn address(&self, node: Option<usize>) -> MacAddr {
        node.and_then(|n| self.addresses.get(n)).copied().unwrap_or(MacAddr::BROADCAST)
    }

    pub(crate) fn addresses(&self) -> &[MacAddr] {
        &self.addresses
    }

    /// Bytes of security header and trailer in data MPDUs.
    fn protection_len(&self) -> usize {
        if self.scene.bss.protected {
            16
        } else {
            0
        }
    }

    /// Length of the MPDU, FCS included.
    pub(crate) fn len(&self, mpdu: &Mpdu) -> usize {
        match mpdu.content {
            Content::Data { payload, tid, .. } => {
                let header = if tid.is_some() { 26 } else { 24 };
                header + self.protection_len() + 8 + usize::from(payload) + FCS_LEN
            }
            Content::Ack | Content::Cts => 14,
            Content::Rts => 20,
            Content::BlockAckRequest { .. } => 24,
            Content::BlockAck { bits, .. } => 24 + usize::from(bits / 8),
            _ => {
                let mut out = Vec::with_capacity(400);
                self.build(mpdu, &mut out);
                out.len() + FCS_LEN
            }
        }
    }

    /// Appends the MPDU without its FCS.
    pub(crate) fn build(&self, mpdu: &Mpdu, out: &mut Vec<u8>) {
        let bss = &self.scene.bss;
        let station = self.station(mpdu);
        match mpdu.content {
            Content::Data { serial, payload, tid } => {
                self.data_header(mpdu, bss.protected, tid, out);
                if bss.protected {
                    let n = (serial + 1).to_le_bytes();
                    out.extend_from_slice(&[n[0], n[1], 0, 0x20, n[2], n[3], n[4], n[5]]);
                    // LLC/SNAP and payload, encrypted, and the MIC.
                    self.fill(serial, usize::from(payload) + 16, out);
                } else {
                    out.extend_from_slice(&LLC_SNAP);
                    // EtherType: IEEE 802 local experimental.
                    out.extend_from_slice(&0x88b5u16.to_be_bytes());
                    self.fill(serial, usize::from(payload), out);
                }
            }
            Content::Eapol { message } => {
                let qos = station.is_some_and(|s| s.qos).then_some(0);
                self.data_header(mpdu, false, qos, out);
                element::eapol_key(out, message, &self.filler[..64]);
            }
            Content::Null => {
                let null = FrameControl::new(FrameKind::Data { qos: false, null: true });
                let header = self.data(mpdu, false, None);
                Self::emit(mpdu, Header { fc: FrameControl(header.fc.0 | null.0), ..header }, out);
            }
            Content::Rts => self.control(FrameKind::Rts, mpdu, out),
            Content::Cts => self.control(FrameKind::Cts, mpdu, out),
            Content::Ack => self.control(FrameKind::Ack, mpdu, out),
            Content::BlockAckRequest { tid, ssn } => {
                self.control(FrameKind::BlockAckReq, mpdu, out);
                CompressedBlockAckReq { tid, start: Seq::new(ssn) }.emit(out);
            }
            Content::BlockAck { tid, ssn, bitmap, bits } => {
                self.control(FrameKind::BlockAck, mpdu, out);
                let mut all = Bitmap { len: bits, ..Bitmap::EMPTY };
                all.bits[..bitmap.len()].copy_from_slice(&bitmap);
                CompressedBlockAck { tid, start: Seq::new(ssn), bitmap: all }.emit(out);
            }
            Content::Beacon { tsf_us, dtim_count, buffered } => {
                self.management(FrameKind::Beacon, mpdu, out);
                element::beacon(out, bss, self.channel, tsf_us, dtim_count, buffered);
            }
            Content::ProbeResponse { tsf_us } => {
                self.management(FrameKind::ProbeResponse, mpdu, out);
                element::probe_response(out, bss, self.channel, tsf_us);
            }
            Content::ProbeRequest => {
                self.management(FrameKind::ProbeRequest, mpdu, out);
                if let Some(station) = station {
                    element::probe_request(out, bss, station);
                }
            }
            Content::Authentication { step } => {
                self.management(FrameKind::Authentication, mpdu, out);
                element::authentication(out, step);
            }
            Content::Refusal { status } => {
                self.management(FrameKind::Authentication, mpdu, out);
                element::refusal(out, status);
            }
            Content::Deauthentication { reason } => {
                self.management(FrameKind::Deauthentication, mpdu, out);
                element::deauthentication(out, reason);
            }
            Content::AssociationRequest => {
                self.management(FrameKind::AssociationRequest, mpdu, out);
                if let Some(station) = station {
                    element::association_request(out, bss, station);
                }
            }
            Content::AssociationResponse => {
                self.management(FrameKind::AssociationResponse, mpdu, out);
                if let Some(station) = station {
                    let aid = mpdu.to.unwrap_or(1) as u16;
                    element::association_response(out, bss, station, self.channel, aid);
                }
            }
            Content::AddbaRequest { tid, window, first_seq } => {
                self.management(FrameKind::Action, mpdu, out);
                element::addba_request(out, tid + 1, tid, window, first_seq);
            }
            Content::AddbaResponse { tid, window } => {
                self.management(FrameKind::Action, mpdu, out);
                element::addba_response(out, tid + 1, tid, window);
            }
            Content::Delba { tid } => {
                self.management(FrameKind::Action, mpdu, out);
                element::delba(out, tid);
            }
        }
    }

    /// The station at either end.
    fn station(&self, mpdu: &Mpdu) -> Option<&crate::scene::Station> {
        let node = if mpdu.from == 0 { mpdu.to? } else { mpdu.from };
        self.scene.stations.get(node.checked_sub(1)?)
    }

    /// With the flags and the duration of the MPDU.
    fn emit(mpdu: &Mpdu, header: Header, out: &mut Vec<u8>) {
        let fc = header.fc.with_retry(mpdu.retry).with_power_management(mpdu.power_management);
        Header { fc, duration_id: mpdu.duration_us, ..header }.emit(out);
    }

    fn control(&self, kind: FrameKind, mpdu: &Mpdu, out: &mut Vec<u8>) {
        let transmitter = mpdu.content.has_transmitter().then(|| self.address(Some(mpdu.from)));
        Self::emit(mpdu, Header::control(kind, self.address(mpdu.to), transmitter), out);
    }

    fn management(&self, kind: FrameKind, mpdu: &Mpdu, out: &mut Vec<u8>) {
        let (to, from) = (self.address(mpdu.to), self.address(Some(mpdu.from)));
        let bssid = if mpdu.to.is_none() && mpdu.from != 0 { MacAddr::BROADCAST } else { self.scene.bss.address };
        Self::emit(mpdu, Header::management(kind, to, from, bssid, Seq::new(mpdu.seq)), out);
    }

    /// The far end of the traffic is the access point itself.
    fn data(&self, mpdu: &Mpdu, protected: bool, tid: Option<u8>) -> Header {
        let from_ap = mpdu.from == 0;
        let fc = FrameControl::default().with_from_ds(from_ap).with_to_ds(!from_ap).with_protected(protected);
        let addresses = [self.address(mpdu.to), self.address(Some(mpdu.from)), self.scene.bss.address];
        Header::data(fc, addresses, Seq::new(mpdu.seq), tid.map(QosControl::new))
    }

    fn data_header(&self, mpdu: &Mpdu, protected: bool, tid: Option<u8>, out: &mut Vec<u8>) {
        Self::emit(mpdu, self.data(mpdu, protected, tid), out);
    }

    /// `len` bytes that depend on `serial` alone, so that a retransmission is the same MPDU.
    fn fill(&self, serial: u64, mut len: usize, out: &mut Vec<u8>) {
        let mut at = mix(serial) as usize % FILLER_LEN;
        while len > 0 {
            let n = len.min(FILLER_LEN - at);
            out.extend_from_slice(&self.filler[at..at + n]);
            len -= n;
            at = 0;
        }
    }
}
