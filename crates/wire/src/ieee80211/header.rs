//! The MAC header (9.2.3, 9.3.1).

use super::elements::{u16_at, u32_at};
use super::{FrameControl, FrameKind, FrameType, MacAddr, Seq};

/// A frame ends inside its MAC header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HeaderError {
    /// Bytes the header needs.
    pub needed: usize,
    /// Bytes captured.
    pub got: usize,
}

impl core::fmt::Display for HeaderError {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "MAC header cut short: {} bytes needed, {} captured", self.needed, self.got)
    }
}

impl std::error::Error for HeaderError {}

/// A MAC header. Addresses are kept by position; [`Header::source`] and friends give them their meaning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// Frame Control. In a Control Wrapper this is the wrapper's own; see [`Header::carried`].
    pub fc: FrameControl,
    /// Frame Control of the frame inside a Control Wrapper.
    pub carried: Option<FrameControl>,
    /// Duration (µs, when bit 15 is clear) or, in a PS-Poll, the AID.
    pub duration_id: u16,
    /// Address 1, the receiver of every frame with protocol version 0.
    pub addr1: MacAddr,
    /// Address 2.
    pub addr2: Option<MacAddr>,
    /// Address 3 (management and data).
    pub addr3: Option<MacAddr>,
    /// Address 4 (data with both DS bits).
    pub addr4: Option<MacAddr>,
    /// Sequence number, 12 bits (management and data).
    pub sequence: Option<u16>,
    /// Fragment number, 4 bits (management and data).
    pub fragment: Option<u8>,
    /// QoS Control (QoS data subtypes).
    pub qos: Option<QosControl>,
    /// HT Control, whichever variant.
    pub ht_control: Option<u32>,
    /// Bytes before the frame body, [`Header::pad_len`] included.
    pub header_len: usize,
    /// Padding bytes that the capturing driver put between header and body (0, or 2 for a 26- or 30-byte header), as
    /// far as they were captured. They were not on the air.
    pub pad_len: u8,
}

impl Header {
    /// Parses the MAC header at the start of `mpdu` (the link header is already gone; body, FCS and padding may follow).
    ///
    /// `data_pad`: the capture says that the header is padded to a multiple of four bytes (radiotap Flags 0x20).
    ///
    /// The layout is decided by Frame Control alone, so a frame that is damaged or cut inside its header is an error
    /// with the length its header would need. Reserved control and extension subtypes are laid out as their family's
    /// shortest header: Frame Control, Duration and one address, 10 bytes.
    #[inline]
    pub fn parse(mpdu: &[u8], data_pad: bool) -> Result<Self, HeaderError> {
        let fc = match mpdu {
            [low, high, ..] => FrameControl(u16::from_le_bytes([*low, *high])),
            _ => return Err(HeaderError { needed: 10, got: mpdu.len() }),
        };
        match fc.frame_type() {
            FrameType::Data => Self::parse_data(mpdu, fc, data_pad),
            FrameType::Management => Self::parse_management(mpdu, fc),
            FrameType::Control => Self::parse_control(mpdu, fc),
            FrameType::Extension => Self::parse_short(mpdu, fc),
        }
    }

    #[inline]
    fn parse_data(mpdu: &[u8], fc: FrameControl, data_pad: bool) -> Result<Self, HeaderError> {
        let four_addresses = fc.to_ds() && fc.from_ds();
        let qos_at = if four_addresses { 30 } else { 24 };
        let htc_at = if fc.is_qos_data() { qos_at + 2 } else { qos_at };
        // Non-QoS data never has an HT Control field; there the bit keeps its old meaning, strict order (9.2.4.1.10).
        let mac_len = if fc.is_qos_data() && fc.order() { htc_at + 4 } else { htc_at };
        let short = HeaderError { needed: mac_len, got: mpdu.len() };
        let bytes = mpdu.get(..mac_len).ok_or(short)?;
        let sequence_control = u16_at(bytes, 22).ok_or(short)?;
        let pad_len = if data_pad { mac_len.next_multiple_of(4) - mac_len } else { 0 };
        // A frame that ends with its header is not padded.
        let pad_len = pad_len.min(mpdu.len() - mac_len);
        Ok(Self {
            fc,
            carried: None,
            duration_id: u16_at(bytes, 2).ok_or(short)?,
            addr1: MacAddr::read(bytes, 4).ok_or(short)?,
            addr2: MacAddr::read(bytes, 10),
            addr3: MacAddr::read(bytes, 16),
            addr4: if four_addresses { MacAddr::read(bytes, 24) } else { None },
            sequence: Some(sequence_control >> 4),
            fragment: Some((sequence_control & 0xf) as u8),
            qos: if fc.is_qos_data() { u16_at(bytes, qos_at).map(QosControl) } else { None },
            ht_control: if mac_len > htc_at { u32_at(bytes, htc_at) } else { None },
            header_len: mac_len + pad_len,
            pad_len: pad_len as u8,
        })
    }

    #[inline]
    fn parse_management(mpdu: &[u8], fc: FrameControl) -> Result<Self, HeaderError> {
        let header_len = if fc.order() { 28 } else { 24 };
        let short = HeaderError { needed: header_len, got: mpdu.len() };
        let bytes = mpdu.get(..header_len).ok_or(short)?;
        let sequence_control = u16_at(bytes, 22).ok_or(short)?;
        Ok(Self {
            addr2: MacAddr::read(bytes, 10),
            addr3: MacAddr::read(bytes, 16),
            sequence: Some(sequence_control >> 4),
            fragment: Some((sequence_control & 0xf) as u8),
            ht_control: u32_at(bytes, 24),
            header_len,
            ..Self::parse_short(bytes, fc)?
        })
    }

    #[inline]
    fn parse_control(mpdu: &[u8], fc: FrameControl) -> Result<Self, HeaderError> {
        if fc.kind() == FrameKind::ControlWrapper {
            return Self::parse_wrapper(mpdu, fc);
        }
        let extra = control_bytes_after_address_1(fc);
        let header_len = 10 + extra;
        let short = HeaderError { needed: header_len, got: mpdu.len() };
        let bytes = mpdu.get(..header_len).ok_or(short)?;
        let addr2 = if extra >= 6 { MacAddr::read(bytes, 10) } else { None };
        Ok(Self { addr2, header_len, ..Self::parse_short(bytes, fc)? })
    }

    /// Control Wrapper (9.3.1.9): Carried Frame Control and HT Control come between Address 1 and the carried rest.
    fn parse_wrapper(mpdu: &[u8], fc: FrameControl) -> Result<Self, HeaderError> {
        let short = HeaderError { needed: 16, got: mpdu.len() };
        let carried = u16_at(mpdu, 10).map(FrameControl).ok_or(short)?;
        let extra = control_bytes_after_address_1(carried);
        let header_len = 16 + extra;
        let short = HeaderError { needed: header_len, got: mpdu.len() };
        let bytes = mpdu.get(..header_len).ok_or(short)?;
        Ok(Self {
            carried: Some(carried),
            addr2: if extra >= 6 { MacAddr::read(bytes, 16) } else { None },
            ht_control: u32_at(bytes, 12),
            header_len,
            ..Self::parse_short(bytes, fc)?
        })
    }

    /// Frame Control, Duration, one address.
    #[inline]
    fn parse_short(mpdu: &[u8], fc: FrameControl) -> Result<Self, HeaderError> {
        let short = HeaderError { needed: 10, got: mpdu.len() };
        let duration_id = u16_at(mpdu, 2).ok_or(short)?;
        Ok(Self { duration_id, ..Self::empty(fc, MacAddr::read(mpdu, 4).ok_or(short)?) })
    }

    /// A control frame's: with a transmitter, or (Ack, CTS) without.
    pub const fn control(kind: FrameKind, receiver: MacAddr, transmitter: Option<MacAddr>) -> Self {
        Self { addr2: transmitter, ..Self::empty(FrameControl::new(kind), receiver) }.laid_out()
    }

    /// A management frame's.
    pub const fn management(
        kind: FrameKind,
        receiver: MacAddr,
        transmitter: MacAddr,
        bssid: MacAddr,
        sequence: Seq,
    ) -> Self {
        Self {
            addr2: Some(transmitter),
            addr3: Some(bssid),
            sequence: Some(sequence.value()),
            fragment: Some(0),
            ..Self::empty(FrameControl::new(kind), receiver)
        }
        .laid_out()
    }

    /// That of a data frame with a body, to or from the DS as `fc` says: its three addresses in their order. With QoS Control
    /// it is QoS data.
    pub const fn data(fc: FrameControl, addresses: [MacAddr; 3], sequence: Seq, qos: Option<QosControl>) -> Self {
        let kind = FrameControl::new(FrameKind::Data { qos: qos.is_some(), null: false });
        let [receiver, second, third] = addresses;
        Self {
            addr2: Some(second),
            addr3: Some(third),
            sequence: Some(sequence.value()),
            fragment: Some(0),
            qos,
            ..Self::empty(FrameControl(fc.0 & 0xff00 | kind.0), receiver)
        }
        .laid_out()
    }

    /// Frame Control and one address, nothing else.
    #[inline]
    const fn empty(fc: FrameControl, receiver: MacAddr) -> Self {
        Self {
            fc,
            carried: None,
            duration_id: 0,
            addr1: receiver,
            addr2: None,
            addr3: None,
            addr4: None,
            sequence: None,
            fragment: None,
            qos: None,
            ht_control: None,
            header_len: 10,
            pad_len: 0,
        }
    }

    const fn laid_out(self) -> Self {
        Self { header_len: self.buffer_len(), ..self }
    }

    /// Bytes that [`Self::emit`] appends: what Frame Control asks for, and padding.
    pub const fn buffer_len(&self) -> usize {
        let control = match self.carried {
            Some(carried) => carried,
            None => self.fc,
        };
        self.pad_len as usize
            + match self.fc.frame_type() {
                FrameType::Extension => 10,
                FrameType::Control if matches!(self.fc.kind(), FrameKind::ControlWrapper) => {
                    16 + control_bytes_after_address_1(control)
                }
                FrameType::Control => 10 + control_bytes_after_address_1(self.fc),
                FrameType::Management if self.fc.order() => 28,
                FrameType::Management => 24,
                FrameType::Data => {
                    let four_addresses = self.fc.to_ds() && self.fc.from_ds();
                    let qos = self.fc.is_qos_data();
                    24 + if four_addresses { 6 } else { 0 }
                        + if qos { 2 } else { 0 }
                        + if qos && self.fc.order() { 4 } else { 0 }
                }
            }
    }

    /// Appends the header as Frame Control lays it out: fields that this layout has and `self` has not are zeros, others are
    /// left out.
    pub fn emit(&self, out: &mut Vec<u8>) {
        let end = out.len() + self.buffer_len();
        out.extend_from_slice(&self.fc.0.to_le_bytes());
        out.extend_from_slice(&self.duration_id.to_le_bytes());
        out.extend_from_slice(&self.addr1.0);
        let address = |address: Option<MacAddr>| address.unwrap_or_default().0;
        let ht_control = self.ht_control.unwrap_or(0).to_le_bytes();
        match self.fc.frame_type() {
            FrameType::Extension => {}
            FrameType::Control => {
                if self.fc.kind() == FrameKind::ControlWrapper {
                    out.extend_from_slice(&self.carried.unwrap_or_default().0.to_le_bytes());
                    out.extend_from_slice(&ht_control);
                }
                if out.len() < end {
                    out.extend_from_slice(&address(self.addr2));
                }
            }
            FrameType::Management | FrameType::Data => {
                out.extend_from_slice(&address(self.addr2));
                out.extend_from_slice(&address(self.addr3));
                let fragment = u16::from(self.fragment.unwrap_or(0) & 0xf);
                out.extend_from_slice(&(self.sequence.unwrap_or(0) << 4 | fragment).to_le_bytes());
                if self.fc.frame_type() == FrameType::Data {
                    if self.fc.to_ds() && self.fc.from_ds() {
                        out.extend_from_slice(&address(self.addr4));
                    }
                    if self.fc.is_qos_data() {
                        out.extend_from_slice(&self.qos.unwrap_or_default().0.to_le_bytes());
                    }
                }
                if out.len() + usize::from(self.pad_len) < end {
                    out.extend_from_slice(&ht_control);
                }
            }
        }
        out.resize(end, 0);
    }

    /// What kind of frame it is; for a Control Wrapper, the wrapper.
    #[inline]
    pub const fn kind(&self) -> FrameKind {
        self.fc.kind()
    }

    /// The receiver address (RA).
    #[inline]
    pub const fn receiver(&self) -> MacAddr {
        self.addr1
    }

    /// The transmitter address (TA); `None` for Ack and CTS, which have none.
    ///
    /// In an RTS or another control frame of a VHT or later station the Individual/Group bit of TA may be set to
    /// announce bandwidth signalling in the scrambler (9.3.1.2). It is cleared here, because the transmitter is the same
    /// station; [`Header::bandwidth_signalling`] has it. Wireshark's `wlan.ta` shows the bit as sent.
    ///
    /// A CF-End's second address, "BSSID (TA)" in the standard, counts as transmitter; Wireshark calls it `wlan.bssid` only.
    #[inline]
    pub fn transmitter(&self) -> Option<MacAddr> {
        match self.fc.frame_type() {
            FrameType::Control => self.addr2.map(MacAddr::individual),
            _ => self.addr2,
        }
    }

    /// The TA of a control frame has its Individual/Group bit set: bandwidth signalling.
    #[inline]
    pub fn bandwidth_signalling(&self) -> bool {
        self.fc.frame_type() == FrameType::Control && self.addr2.is_some_and(MacAddr::is_group)
    }

    /// The source address (SA), where this header has one: management and data frames (Table 9-30).
    ///
    /// `None` for control frames, and for an A-MSDU from the DS, with subframes that have each their own.
    #[inline]
    pub fn source(&self) -> Option<MacAddr> {
        match self.fc.frame_type() {
            FrameType::Management => self.addr2,
            FrameType::Data => match (self.fc.to_ds(), self.fc.from_ds()) {
                (_, false) => self.addr2,
                (_, true) if self.is_amsdu() => None,
                (false, true) => self.addr3,
                (true, true) => self.addr4,
            },
            _ => None,
        }
    }

    /// The destination address (DA), where this header has one: management and data frames (Table 9-30).
    ///
    /// `None` for control frames, and for an A-MSDU to the DS, with subframes that have each their own.
    #[inline]
    pub fn destination(&self) -> Option<MacAddr> {
        match self.fc.frame_type() {
            FrameType::Management => Some(self.addr1),
            FrameType::Data => match self.fc.to_ds() {
                false => Some(self.addr1),
                true if self.is_amsdu() => None,
                true => self.addr3,
            },
            _ => None,
        }
    }

    /// The BSSID, where this header has one: management, data with at most one DS bit, four-address A-MSDU, PS-Poll,
    /// CF-End and DMG Beacon.
    #[inline]
    pub fn bssid(&self) -> Option<MacAddr> {
        match self.fc.frame_type() {
            FrameType::Management => self.addr3,
            FrameType::Data => match (self.fc.to_ds(), self.fc.from_ds()) {
                (false, false) => self.addr3,
                (false, true) => self.addr2,
                (true, false) => Some(self.addr1),
                (true, true) if self.is_amsdu() => self.addr3,
                (true, true) => None,
            },
            FrameType::Control => match self.carried.unwrap_or(self.fc).kind() {
                FrameKind::PsPoll => Some(self.addr1),
                FrameKind::CfEnd | FrameKind::CfEndCfAck => self.addr2,
                _ => None,
            },
            FrameType::Extension if self.kind() == FrameKind::DmgBeacon => Some(self.addr1),
            FrameType::Extension => None,
        }
    }

    /// The body is an A-MSDU (A-MSDU Present in QoS Control, and there is a body).
    #[inline]
    pub fn is_amsdu(&self) -> bool {
        self.qos.is_some_and(QosControl::amsdu_present) && self.fc.carries_data()
    }

    /// Bytes of this header on the air: without the capturing driver's padding.
    #[inline]
    pub const fn air_len(&self) -> usize {
        self.header_len - self.pad_len as usize
    }
}

/// Header bytes a control frame has after Address 1: those of Address 2, or none.
const fn control_bytes_after_address_1(fc: FrameControl) -> usize {
    match fc.kind() {
        FrameKind::Trigger
        | FrameKind::BeamformingPoll
        | FrameKind::VhtNdpAnnouncement
        | FrameKind::BlockAckReq
        | FrameKind::BlockAck
        | FrameKind::PsPoll
        | FrameKind::Rts
        | FrameKind::CfEnd
        | FrameKind::CfEndCfAck => 6,
        FrameKind::Tack => 6,
        // The 60 GHz frames have RA and TA (9.3.1.11 to 9.3.1.18), except DMG DTS (6). The others are reserved (table 9-2).
        FrameKind::ControlExtension if matches!(fc.0 >> 8 & 0xf, 2..=5 | 7..=10) => 6,
        _ => 0,
    }
}

/// The Ack Policy subfield of QoS Control (9.2.4.5.4).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AckPolicy {
    /// Normal Ack; inside an A-MPDU, Implicit Block Ack Request.
    Normal,
    /// No Ack.
    NoAck,
    /// No explicit acknowledgement, PSMP Ack, or (HE) HTP Ack.
    NoExplicitAck,
    /// Block Ack: the originator will send a BlockAckReq.
    BlockAck,
}

/// The QoS Control field (9.2.4.5).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct QosControl(pub u16);

impl QosControl {
    /// Normal Ack, for this TID.
    pub const fn new(tid: u8) -> Self {
        Self(tid as u16 & 0xf)
    }

    /// With A-MSDU Present set.
    #[must_use]
    pub const fn with_amsdu_present(self) -> Self {
        Self(self.0 | 0x80)
    }

    /// Traffic identifier, 0..=15 (8..=15 are traffic streams).
    #[inline]
    pub const fn tid(self) -> u8 {
        (self.0 & 0xf) as u8
    }

    /// Ack policy.
    #[inline]
    pub const fn ack_policy(self) -> AckPolicy {
        match (self.0 >> 5) & 0x3 {
            0 => AckPolicy::Normal,
            1 => AckPolicy::NoAck,
            2 => AckPolicy::NoExplicitAck,
            _ => AckPolicy::BlockAck,
        }
    }

    /// A-MSDU Present.
    #[inline]
    pub const fn amsdu_present(self) -> bool {
        self.0 & 0x80 != 0
    }

    /// Bit 8 read as Mesh Control Present. Only frames within a mesh BSS use the bit so; elsewhere it is part of the
    /// TXOP limit, queue size or buffer state, and nothing in the frame shows which.
    #[inline]
    pub const fn mesh_control_present(self) -> bool {
        self.0 & 0x0100 != 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const A: MacAddr = MacAddr([0x02, 0, 0, 0, 0, 0xa]);
    const B: MacAddr = MacAddr([0x02, 0, 0, 0, 0, 0xb]);
    const C: MacAddr = MacAddr([0x02, 0, 0, 0, 0, 0xc]);
    const D: MacAddr = MacAddr([0x02, 0, 0, 0, 0, 0xd]);

    /// A frame with Frame Control `fc`, Duration 44, addresses A, B, C, sequence 0x123, fragment 4, then `rest`.
    fn frame(fc: [u8; 2], rest: &[u8]) -> Vec<u8> {
        let mut bytes = vec![fc[0], fc[1], 44, 0];
        for address in [A, B, C] {
            bytes.extend(address.0);
        }
        bytes.extend(0x1234u16.to_le_bytes());
        bytes.extend(rest);
        bytes
    }

    #[test]
    fn padding_that_was_not_captured_does_not_count() {
        // 26 bytes of header: 2 of padding are announced, and 0 to 2 follow.
        for there in 0..=2usize {
            let bytes = frame([0x88, 0x01], &[0; 4][..2 + there]);
            let header = Header::parse(&bytes, true).unwrap();
            assert_eq!((header.header_len, usize::from(header.pad_len), header.air_len()), (26 + there, there, 26));
        }
    }

    #[test]
    fn only_defined_control_frames_have_a_transmitter() {
        let transmitter = |fc: [u8; 2]| Header::parse(&frame(fc, &[]), false).unwrap().transmitter();
        assert_eq!(transmitter([0x34, 0]), Some(B), "TACK (9.3.1.23)");
        for extension in 0..16 {
            let has_one = matches!(extension, 2..=5 | 7..=10);
            assert_eq!(transmitter([0x64, extension]), has_one.then_some(B), "Control Frame Extension {extension}");
        }
        assert_eq!(transmitter([0x14, 0]), None, "reserved");
    }

    #[test]
    fn the_ds_bits_decide_what_the_addresses_mean() {
        let addresses = |fc1: u8, rest: &[u8]| {
            let header = Header::parse(&frame([0x08, fc1], rest), false).unwrap();
            (header.source(), header.destination(), header.bssid())
        };
        assert_eq!(addresses(0, &[]), (Some(B), Some(A), Some(C)), "IBSS");
        assert_eq!(addresses(1, &[]), (Some(B), Some(C), Some(A)), "to the DS");
        assert_eq!(addresses(2, &[]), (Some(C), Some(A), Some(B)), "from the DS");
        assert_eq!(addresses(3, &D.0), (Some(D), Some(C), None), "four addresses");
    }

    #[test]
    fn an_amsdu_leaves_far_addresses_to_its_subframes() {
        let addresses = |fc1: u8, rest: &[u8]| {
            let header = Header::parse(&frame([0x88, fc1], rest), false).unwrap();
            (header.source(), header.destination(), header.bssid())
        };
        assert_eq!(addresses(1, &[0x80, 0]), (Some(B), None, Some(A)));
        assert_eq!(addresses(2, &[0x80, 0]), (None, Some(A), Some(B)));
        let wds = [&D.0[..], &[0x80, 0]].concat();
        assert_eq!(addresses(3, &wds), (None, None, Some(C)));
    }

    #[test]
    fn qos_and_ht_control_follow_the_addresses() {
        let header = Header::parse(&frame([0x88, 0x81], &[0xf5, 0x01, 1, 2, 3, 4]), false).unwrap();
        let qos = header.qos.unwrap();
        assert_eq!((qos.tid(), qos.amsdu_present(), qos.mesh_control_present()), (5, true, true));
        assert_eq!(qos.ack_policy(), AckPolicy::BlockAck);
        assert_eq!((header.ht_control, header.header_len), (Some(0x0403_0201), 30));
        assert_eq!((header.sequence, header.fragment), (Some(0x123), Some(4)));
        // The same bit in a non-QoS data frame is "strict order" and adds nothing.
        let plain = Header::parse(&frame([0x08, 0x81], &[]), false).unwrap();
        assert_eq!((plain.ht_control, plain.header_len), (None, 24));
    }

    #[test]
    fn driver_padding_belongs_to_the_header_but_not_to_the_air() {
        let header = Header::parse(&frame([0x88, 0x01], &[0, 0, 0, 0]), true).unwrap();
        assert_eq!((header.header_len, header.pad_len, header.air_len()), (28, 2, 26));
    }

    #[test]
    fn short_control_frames_parse_and_cut_ones_say_what_they_lack() {
        let ack = [0xd4, 0, 0, 0, 2, 0, 0, 0, 0, 0xa];
        let header = Header::parse(&ack, false).unwrap();
        assert_eq!((header.receiver(), header.transmitter(), header.header_len), (A, None, 10));
        assert_eq!(header.source(), None);
        assert_eq!(Header::parse(&ack[..9], false), Err(HeaderError { needed: 10, got: 9 }));
        assert_eq!(
            Header::parse(&[0xb4, 0, 0, 0, 2, 0, 0, 0, 0, 0xa], false),
            Err(HeaderError { needed: 16, got: 10 })
        );
        assert_eq!(Header::parse(&[0x80], false), Err(HeaderError { needed: 10, got: 1 }));
        assert_eq!(Header::parse(&frame([0x88, 3], &[])[..24], false), Err(HeaderError { needed: 32, got: 24 }));
    }

    #[test]
    fn bandwidth_signalling_does_not_make_a_second_station() {
        let mut rts = vec![0xb4, 0, 0, 0];
        rts.extend(A.0);
        rts.extend([0x03, 0, 0, 0, 0, 0xb]);
        let header = Header::parse(&rts, false).unwrap();
        assert_eq!(header.transmitter(), Some(B));
        assert!(header.bandwidth_signalling());
        // In a data frame the bit does not signal that: a group transmitter is damage and must stay visible.
        let mut data = frame([0x08, 1], &[]);
        data[10] |= 1;
        assert!(Header::parse(&data, false).unwrap().transmitter().unwrap().is_group());
    }

    #[test]
    fn bssid_of_the_control_frames_that_have_one() {
        let control = |fc0: u8| Header::parse(&frame([fc0, 0], &[])[..16], false).unwrap();
        assert_eq!(control(0xa4).bssid(), Some(A), "PS-Poll");
        assert_eq!(control(0xe4).bssid(), Some(B), "CF-End");
        assert_eq!(control(0xb4).bssid(), None, "RTS");
        assert_eq!(control(0x94).bssid(), None, "BlockAck");
    }

    #[test]
    fn a_wrapped_frame_keeps_its_addresses() {
        // Control Wrapper around an RTS: FC, Duration, A1, carried FC, HT Control, A2.
        let mut bytes = vec![0x74, 0, 10, 0];
        bytes.extend(A.0);
        bytes.extend([0xb4, 0, 9, 8, 7, 6]);
        bytes.extend(B.0);
        let header = Header::parse(&bytes, false).unwrap();
        assert_eq!((header.receiver(), header.transmitter(), header.header_len), (A, Some(B), 22));
        assert_eq!(header.carried.map(FrameControl::kind), Some(FrameKind::Rts));
        assert_eq!(header.ht_control, Some(0x0607_0809));
    }

    proptest! {
        /// What was parsed is emitted as it was, whatever kind of header it is.
        #[test]
        fn headers_come_back(mut bytes in proptest::collection::vec(any::<u8>(), 36..48), pad: bool) {
            bytes[0] &= 0xfc;
            let header = Header::parse(&bytes, pad).unwrap();
            let mut out = vec![7];
            header.emit(&mut out);
            prop_assert_eq!((header.buffer_len(), out.len()), (header.header_len, 1 + header.header_len));
            let air = header.air_len();
            prop_assert_eq!(&out[1..1 + air], &bytes[..air]);
            // A header that ends the frame has no padding.
            out.push(0);
            prop_assert_eq!(Header::parse(&out[1..], pad), Ok(header));
        }

        #[test]
        fn made_headers_come_back(addresses: [[u8; 6]; 3], sequence: u16, flags: u8, tid in proptest::option::of(0u8..16)) {
            let [a, b, c] = addresses.map(MacAddr);
            let sequence = Seq::new(sequence);
            // Neither four addresses nor HT Control.
            let fc = FrameControl(u16::from(flags & 0x7d) << 8);
            for header in [
                Header::control(FrameKind::Rts, a, Some(b)),
                Header::control(FrameKind::Ack, a, None),
                Header::management(FrameKind::Beacon, a, b, c, sequence),
                Header::data(fc, [a, b, c], sequence, tid.map(QosControl::new)),
            ] {
                let mut out = Vec::new();
                header.emit(&mut out);
                prop_assert_eq!(Header::parse(&out, false), Ok(header));
            }
        }

        #[test]
        fn never_panics_and_needs_what_it_says(bytes in proptest::collection::vec(any::<u8>(), 0..48), pad: bool) {
            match Header::parse(&bytes, pad) {
                Ok(header) => {
                    prop_assert!(header.air_len() <= bytes.len());
                    let _ = (header.source(), header.destination(), header.bssid(), header.transmitter());
                    prop_assert!(Header::parse(&bytes[..header.air_len() - 1], pad).is_err());
                }
                Err(error) => {
                    prop_assert_eq!(error.got, bytes.len());
                    prop_assert!(error.needed > error.got);
                    let mut longer = bytes.clone();
                    longer.resize(48, 0);
                    prop_assert!(Header::parse(&longer, pad).is_ok());
                }
            }
        }
    }
}
