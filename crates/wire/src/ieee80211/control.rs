//! The Frame Control field (9.2.4.1).

use core::fmt;

/// The Type subfield (9.2.4.1.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum FrameType {
    /// 0.
    Management,
    /// 1.
    Control,
    /// 2.
    Data,
    /// 3.
    Extension,
}

/// The Frame Control field, as the little-endian number the standard numbers its bits in (B0 = bit 0).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct FrameControl(pub u16);

impl FrameControl {
    /// Protocol version 0, type and subtype of `kind`, no flags.
    pub const fn new(kind: FrameKind) -> Self {
        let (frame_type, subtype) = kind.type_and_subtype();
        Self((frame_type as u16) << 2 | (subtype as u16 & 0xf) << 4)
    }

    const fn with(self, bit: u16, set: bool) -> Self {
        Self(if set { self.0 | bit } else { self.0 & !bit })
    }

    /// With To DS as given.
    #[must_use]
    pub const fn with_to_ds(self, set: bool) -> Self {
        self.with(0x0100, set)
    }

    /// With From DS as given.
    #[must_use]
    pub const fn with_from_ds(self, set: bool) -> Self {
        self.with(0x0200, set)
    }

    /// With Retry as given.
    #[must_use]
    pub const fn with_retry(self, set: bool) -> Self {
        self.with(0x0800, set)
    }

    /// With Power Management as given.
    #[must_use]
    pub const fn with_power_management(self, set: bool) -> Self {
        self.with(0x1000, set)
    }

    /// With More Data as given.
    #[must_use]
    pub const fn with_more_data(self, set: bool) -> Self {
        self.with(0x2000, set)
    }

    /// With Protected Frame as given.
    #[must_use]
    pub const fn with_protected(self, set: bool) -> Self {
        self.with(0x4000, set)
    }

    /// Protocol version; 0 for every frame this crate can lay out.
    #[inline]
    pub const fn version(self) -> u8 {
        (self.0 & 0x3) as u8
    }

    /// Type.
    #[inline]
    pub const fn frame_type(self) -> FrameType {
        match (self.0 >> 2) & 0x3 {
            0 => FrameType::Management,
            1 => FrameType::Control,
            2 => FrameType::Data,
            _ => FrameType::Extension,
        }
    }

    /// Subtype, 0..=15.
    #[inline]
    pub const fn subtype(self) -> u8 {
        ((self.0 >> 4) & 0xf) as u8
    }

    /// Type and subtype in one number, type in the high nibble: what Wireshark calls `wlan.fc.type_subtype` (a control
    /// frame extension counts as subtype 6 here).
    #[inline]
    pub const fn type_subtype(self) -> u8 {
        (((self.0 >> 2) & 0x3) as u8) << 4 | self.subtype()
    }

    /// To DS.
    #[inline]
    pub const fn to_ds(self) -> bool {
        self.0 & 0x0100 != 0
    }

    /// From DS.
    #[inline]
    pub const fn from_ds(self) -> bool {
        self.0 & 0x0200 != 0
    }

    /// More Fragments.
    #[inline]
    pub const fn more_fragments(self) -> bool {
        self.0 & 0x0400 != 0
    }

    /// Retry. Control Frame Extension and S1G Beacon use this bit for something else (9.2.4.1.1).
    #[inline]
    pub const fn retry(self) -> bool {
        self.0 & 0x0800 != 0 && !matches!(self.0 & 0xfc, 0x64 | 0x1c)
    }

    /// Power Management.
    #[inline]
    pub const fn power_management(self) -> bool {
        self.0 & 0x1000 != 0
    }

    /// More Data.
    #[inline]
    pub const fn more_data(self) -> bool {
        self.0 & 0x2000 != 0
    }

    /// Protected Frame.
    #[inline]
    pub const fn protected(self) -> bool {
        self.0 & 0x4000 != 0
    }

    /// +HTC (formerly Order): in management and QoS data frames an HT Control field is present.
    #[inline]
    pub const fn order(self) -> bool {
        self.0 & 0x8000 != 0
    }

    /// What kind of frame it is.
    #[inline]
    pub const fn kind(self) -> FrameKind {
        use FrameKind as K;
        let subtype = self.subtype();
        match (self.frame_type(), subtype) {
            (FrameType::Management, 0) => K::AssociationRequest,
            (FrameType::Management, 1) => K::AssociationResponse,
            (FrameType::Management, 2) => K::ReassociationRequest,
            (FrameType::Management, 3) => K::ReassociationResponse,
            (FrameType::Management, 4) => K::ProbeRequest,
            (FrameType::Management, 5) => K::ProbeResponse,
            (FrameType::Management, 6) => K::TimingAdvertisement,
            (FrameType::Management, 8) => K::Beacon,
            (FrameType::Management, 9) => K::Atim,
            (FrameType::Management, 10) => K::Disassociation,
            (FrameType::Management, 11) => K::Authentication,
            (FrameType::Management, 12) => K::Deauthentication,
            (FrameType::Management, 13) => K::Action,
            (FrameType::Management, 14) => K::ActionNoAck,
            (FrameType::Control, 2) => K::Trigger,
            (FrameType::Control, 3) => K::Tack,
            (FrameType::Control, 4) => K::BeamformingPoll,
            (FrameType::Control, 5) => K::VhtNdpAnnouncement,
            (FrameType::Control, 6) => K::ControlExtension,
            (FrameType::Control, 7) => K::ControlWrapper,
            (FrameType::Control, 8) => K::BlockAckReq,
            (FrameType::Control, 9) => K::BlockAck,
            (FrameType::Control, 10) => K::PsPoll,
            (FrameType::Control, 11) => K::Rts,
            (FrameType::Control, 12) => K::Cts,
            (FrameType::Control, 13) => K::Ack,
            (FrameType::Control, 14) => K::CfEnd,
            (FrameType::Control, 15) => K::CfEndCfAck,
            (FrameType::Data, _) => K::Data { qos: subtype & 0x8 != 0, null: subtype & 0x4 != 0 },
            (FrameType::Extension, 0) => K::DmgBeacon,
            (FrameType::Extension, 1) => K::S1gBeacon,
            (frame_type, _) => K::Unknown(frame_type, subtype),
        }
    }

    /// A data frame with a QoS Control field (with or without a body).
    #[inline]
    pub const fn is_qos_data(self) -> bool {
        self.0 & 0x008c == 0x0088
    }

    /// A data frame that has a frame body: the "null" bit of the subtype is clear.
    #[inline]
    pub const fn carries_data(self) -> bool {
        self.0 & 0x004c == 0x0008
    }

    /// A data frame without a frame body: Null, QoS Null and the CF-only subtypes.
    #[inline]
    pub const fn is_null(self) -> bool {
        self.0 & 0x004c == 0x0048
    }
}

/// What kind of frame it is: type and subtype in the standard's words (Table 9-1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[allow(missing_docs)] // each variant is the name of Table 9-1
pub enum FrameKind {
    AssociationRequest,
    AssociationResponse,
    ReassociationRequest,
    ReassociationResponse,
    ProbeRequest,
    ProbeResponse,
    TimingAdvertisement,
    Beacon,
    Atim,
    Disassociation,
    Authentication,
    Deauthentication,
    Action,
    ActionNoAck,
    Trigger,
    Tack,
    BeamformingPoll,
    /// VHT, HE, EHT and Ranging NDP Announcement.
    VhtNdpAnnouncement,
    /// Control Frame Extension (60 GHz); bits 8 to 11 of Frame Control say which.
    ControlExtension,
    ControlWrapper,
    BlockAckReq,
    BlockAck,
    PsPoll,
    Rts,
    Cts,
    Ack,
    CfEnd,
    CfEndCfAck,
    /// Any data subtype; the CF-Ack and CF-Poll variants (never seen on today's air) are not distinguished.
    Data {
        /// A QoS Control field is present.
        qos: bool,
        /// There is no frame body.
        null: bool,
    },
    DmgBeacon,
    S1gBeacon,
    /// Reserved: type and subtype.
    Unknown(FrameType, u8),
}

impl FrameKind {
    /// Type and subtype (table 9-1).
    pub const fn type_and_subtype(self) -> (FrameType, u8) {
        use FrameType::{Control, Data, Extension, Management};
        match self {
            Self::AssociationRequest => (Management, 0),
            Self::AssociationResponse => (Management, 1),
            Self::ReassociationRequest => (Management, 2),
            Self::ReassociationResponse => (Management, 3),
            Self::ProbeRequest => (Management, 4),
            Self::ProbeResponse => (Management, 5),
            Self::TimingAdvertisement => (Management, 6),
            Self::Beacon => (Management, 8),
            Self::Atim => (Management, 9),
            Self::Disassociation => (Management, 10),
            Self::Authentication => (Management, 11),
            Self::Deauthentication => (Management, 12),
            Self::Action => (Management, 13),
            Self::ActionNoAck => (Management, 14),
            Self::Trigger => (Control, 2),
            Self::Tack => (Control, 3),
            Self::BeamformingPoll => (Control, 4),
            Self::VhtNdpAnnouncement => (Control, 5),
            Self::ControlExtension => (Control, 6),
            Self::ControlWrapper => (Control, 7),
            Self::BlockAckReq => (Control, 8),
            Self::BlockAck => (Control, 9),
            Self::PsPoll => (Control, 10),
            Self::Rts => (Control, 11),
            Self::Cts => (Control, 12),
            Self::Ack => (Control, 13),
            Self::CfEnd => (Control, 14),
            Self::CfEndCfAck => (Control, 15),
            Self::Data { qos, null } => (Data, (qos as u8) << 3 | (null as u8) << 2),
            Self::DmgBeacon => (Extension, 0),
            Self::S1gBeacon => (Extension, 1),
            Self::Unknown(frame_type, subtype) => (frame_type, subtype & 0xf),
        }
    }

    /// The name in the standard's words.
    pub const fn name(self) -> &'static str {
        match self {
            Self::AssociationRequest => "Association Request",
            Self::AssociationResponse => "Association Response",
            Self::ReassociationRequest => "Reassociation Request",
            Self::ReassociationResponse => "Reassociation Response",
            Self::ProbeRequest => "Probe Request",
            Self::ProbeResponse => "Probe Response",
            Self::TimingAdvertisement => "Timing Advertisement",
            Self::Beacon => "Beacon",
            Self::Atim => "ATIM",
            Self::Disassociation => "Disassociation",
            Self::Authentication => "Authentication",
            Self::Deauthentication => "Deauthentication",
            Self::Action => "Action",
            Self::ActionNoAck => "Action No Ack",
            Self::Trigger => "Trigger",
            Self::Tack => "TACK",
            Self::BeamformingPoll => "Beamforming Report Poll",
            Self::VhtNdpAnnouncement => "NDP Announcement",
            Self::ControlExtension => "Control Frame Extension",
            Self::ControlWrapper => "Control Wrapper",
            Self::BlockAckReq => "BlockAckReq",
            Self::BlockAck => "BlockAck",
            Self::PsPoll => "PS-Poll",
            Self::Rts => "RTS",
            Self::Cts => "CTS",
            Self::Ack => "Ack",
            Self::CfEnd => "CF-End",
            Self::CfEndCfAck => "CF-End +CF-Ack",
            Self::Data { qos: false, null: false } => "Data",
            Self::Data { qos: true, null: false } => "QoS Data",
            Self::Data { qos: false, null: true } => "Null",
            Self::Data { qos: true, null: true } => "QoS Null",
            Self::DmgBeacon => "DMG Beacon",
            Self::S1gBeacon => "S1G Beacon",
            Self::Unknown(FrameType::Management, _) => "reserved management",
            Self::Unknown(FrameType::Control, _) => "reserved control",
            Self::Unknown(FrameType::Data, _) => "reserved data",
            Self::Unknown(FrameType::Extension, _) => "reserved extension",
        }
    }
}

impl fmt::Display for FrameKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown(_, subtype) => write!(f, "{} {subtype}", self.name()),
            _ => f.pad(self.name()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_are_where_the_standard_numbers_them() {
        // 0x88 0x41: QoS data, To DS, Protected (an encrypted upload frame as seen on any WPA2 network).
        let fc = FrameControl(u16::from_le_bytes([0x88, 0x41]));
        assert_eq!(fc.kind(), FrameKind::Data { qos: true, null: false });
        assert!(fc.to_ds() && !fc.from_ds() && fc.protected() && !fc.retry());
        assert!(fc.is_qos_data() && fc.carries_data() && !fc.is_null());
        let retry = FrameControl(u16::from_le_bytes([0x08, 0x0a]));
        assert!(retry.retry() && retry.from_ds() && !retry.is_qos_data() && retry.carries_data());
        // 0xd4: ACK; subtype 13's bits look like "QoS null" and must not be taken for data.
        let ack = FrameControl(0x00d4);
        assert_eq!(ack.kind(), FrameKind::Ack);
        assert!(!ack.is_qos_data() && !ack.carries_data() && !ack.is_null());
    }

    #[test]
    fn every_value_has_a_kind_and_the_predicates_agree_with_it() {
        for value in 0..=u16::MAX {
            let fc = FrameControl(value);
            let (qos, null) = match fc.kind() {
                FrameKind::Data { qos, null } => (qos, Some(null)),
                _ => (false, None),
            };
            assert_eq!(fc.is_qos_data(), qos);
            assert_eq!(fc.is_null(), null == Some(true));
            assert_eq!(fc.carries_data(), null == Some(false));
            assert!(!fc.kind().name().is_empty());
            // The CF-Ack and CF-Poll variants of data are not distinguished.
            let mask = if fc.frame_type() == FrameType::Data { 0x00cc } else { 0x00fc };
            assert_eq!(FrameControl::new(fc.kind()).0, value & mask);
        }
    }
}
