//! Management frame bodies (9.3.3): fixed fields, then elements.

use super::elements::{u16_at, Elements};
use super::{
    Action, Capabilities, FrameControl, FrameKind, FrameType, MacAddr, ManagementElements, ReasonCode, StatusCode,
};

/// The Capability Information field (9.4.1.4).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub struct CapabilityInfo(pub u16);

impl CapabilityInfo {
    /// ESS: an access point.
    pub const fn ess(self) -> bool {
        self.0 & 0x0001 != 0
    }

    /// IBSS.
    pub const fn ibss(self) -> bool {
        self.0 & 0x0002 != 0
    }

    /// Privacy: data frames are protected.
    pub const fn privacy(self) -> bool {
        self.0 & 0x0010 != 0
    }

    /// Short preamble.
    pub const fn short_preamble(self) -> bool {
        self.0 & 0x0020 != 0
    }

    /// QoS.
    pub const fn qos(self) -> bool {
        self.0 & 0x0200 != 0
    }

    /// Short slot time.
    pub const fn short_slot(self) -> bool {
        self.0 & 0x0400 != 0
    }

    /// Radio measurement.
    pub const fn radio_measurement(self) -> bool {
        self.0 & 0x1000 != 0
    }
}

/// The fixed fields, by kind of frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FixedFields {
    /// Beacon and Probe Response.
    Beacon {
        /// The sender's TSF, µs.
        timestamp_us: u64,
        /// Beacon interval in time units (1024 µs).
        interval_tu: u16,
        /// Capability Information.
        capability: CapabilityInfo,
    },
    /// Association Request.
    AssociationRequest {
        /// Capability Information.
        capability: CapabilityInfo,
        /// Beacon intervals between two times the station listens.
        listen_interval: u16,
    },
    /// Reassociation Request.
    ReassociationRequest {
        /// Capability Information.
        capability: CapabilityInfo,
        /// Beacon intervals between two times the station listens.
        listen_interval: u16,
        /// The access point the station comes from.
        current_ap: MacAddr,
    },
    /// Association and Reassociation Response.
    AssociationResponse {
        /// Capability Information.
        capability: CapabilityInfo,
        /// The answer.
        status: StatusCode,
        /// Association ID, its two highest bits cleared.
        aid: u16,
    },
    /// Authentication. With SAE and FILS fields follow before the elements: there these are not read.
    Authentication {
        /// 0 open, 1 shared key, 2 FT, 3 SAE, 4 to 6 FILS.
        algorithm: u16,
        /// Transaction sequence number.
        transaction: u16,
        /// The answer.
        status: StatusCode,
    },
    /// Disassociation.
    Disassociation(ReasonCode),
    /// Deauthentication.
    Deauthentication(ReasonCode),
    /// Action and Action No Ack.
    Action(Action),
    /// Probe Request, ATIM and others: none, or none this crate reads.
    None,
    /// The body is encrypted: the Protected Frame bit is set. That is so for robust frames under management frame
    /// protection and the third frame of shared-key authentication; in any other it means damage.
    Encrypted,
}

impl FixedFields {
    /// Reads the fixed fields of a frame with this Frame Control, and how many bytes they take; `None` for other types, and
    /// when the body is cut inside them.
    fn read(fc: FrameControl, body: &[u8]) -> Option<(Self, usize)> {
        use FixedFields as F;
        Some(match fc.kind() {
            _ if fc.frame_type() == FrameType::Management && fc.protected() => (F::Encrypted, body.len()),
            FrameKind::AssociationRequest => {
                (F::AssociationRequest { capability: capability_at(body, 0)?, listen_interval: u16_at(body, 2)? }, 4)
            }
            FrameKind::ReassociationRequest => (
                F::ReassociationRequest {
                    capability: capability_at(body, 0)?,
                    listen_interval: u16_at(body, 2)?,
                    current_ap: MacAddr::read(body, 4)?,
                },
                10,
            ),
            FrameKind::AssociationResponse | FrameKind::ReassociationResponse => (
                F::AssociationResponse {
                    capability: capability_at(body, 0)?,
                    status: StatusCode::from(u16_at(body, 2)?),
                    aid: u16_at(body, 4)? & 0x3fff,
                },
                6,
            ),
            FrameKind::Beacon | FrameKind::ProbeResponse => (
                F::Beacon {
                    timestamp_us: u64::from_le_bytes(body.get(..8)?.try_into().ok()?),
                    interval_tu: u16_at(body, 8)?,
                    capability: capability_at(body, 10)?,
                },
                12,
            ),
            FrameKind::ProbeRequest => (F::None, 0),
            FrameKind::Authentication => {
                let algorithm = u16_at(body, 0)?;
                let (transaction, status) = (u16_at(body, 2)?, StatusCode::from(u16_at(body, 4)?));
                let used = if algorithm <= 2 { 6 } else { body.len() };
                (F::Authentication { algorithm, transaction, status }, used)
            }
            FrameKind::Disassociation => (F::Disassociation(ReasonCode::from(u16_at(body, 0)?)), 2),
            FrameKind::Deauthentication => (F::Deauthentication(ReasonCode::from(u16_at(body, 0)?)), 2),
            FrameKind::Action | FrameKind::ActionNoAck => (F::Action(Action::read(body)?), body.len()),
            FrameKind::Atim | FrameKind::TimingAdvertisement => (F::None, body.len()),
            _ => return None,
        })
    }

    /// Bytes that [`Self::emit`] appends.
    pub fn buffer_len(&self) -> usize {
        match self {
            Self::Beacon { .. } => 12,
            Self::AssociationRequest { .. } => 4,
            Self::ReassociationRequest { .. } => 10,
            Self::AssociationResponse { .. } | Self::Authentication { .. } => 6,
            Self::Disassociation(_) | Self::Deauthentication(_) => 2,
            Self::Action(action) => action.buffer_len(),
            Self::None | Self::Encrypted => 0,
        }
    }

    /// Appends the fields. The two highest bits of an Association ID are set, unless there is none (9.4.1.8).
    pub fn emit(&self, out: &mut Vec<u8>) {
        let halves = |halves: &[u16], out: &mut Vec<u8>| out.extend(halves.iter().flat_map(|half| half.to_le_bytes()));
        match self {
            Self::Beacon { timestamp_us, interval_tu, capability } => {
                out.extend_from_slice(&timestamp_us.to_le_bytes());
                halves(&[*interval_tu, capability.0], out);
            }
            Self::AssociationRequest { capability, listen_interval } => halves(&[capability.0, *listen_interval], out),
            Self::ReassociationRequest { capability, listen_interval, current_ap } => {
                halves(&[capability.0, *listen_interval], out);
                out.extend_from_slice(&current_ap.0);
            }
            Self::AssociationResponse { capability, status, aid } => {
                let aid = if *aid == 0 { 0 } else { aid | 0xc000 };
                halves(&[capability.0, status.number(), aid], out);
            }
            Self::Authentication { algorithm, transaction, status } => {
                halves(&[*algorithm, *transaction, status.number()], out);
            }
            Self::Disassociation(reason) | Self::Deauthentication(reason) => halves(&[reason.number()], out),
            Self::Action(action) => action.emit(out),
            Self::None | Self::Encrypted => {}
        }
    }
}

/// The body of a management frame as a representation: what this project writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ManagementBody<'a> {
    /// Fixed fields.
    pub fixed: FixedFields,
    /// The elements after them.
    pub elements: ManagementElements<'a>,
}

impl<'a> ManagementBody<'a> {
    /// Parses the body of a frame with this Frame Control. `body`: the bytes after the header, without FCS. `None` for
    /// frames of other types, and when a field or an element is cut.
    pub fn parse(fc: FrameControl, body: &'a [u8]) -> Option<Self> {
        let (fixed, used) = FixedFields::read(fc, body)?;
        Some(Self { fixed, elements: ManagementElements::parse(body.get(used..)?)? })
    }

    /// Bytes that [`Self::emit`] appends.
    pub fn buffer_len(&self) -> usize {
        self.fixed.buffer_len() + self.elements.buffer_len()
    }

    /// Appends the body.
    pub fn emit(&self, out: &mut Vec<u8>) {
        self.fixed.emit(out);
        self.elements.emit(out);
    }
}

/// What the fields and elements of a management frame say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Management {
    /// Fixed fields.
    pub fixed: FixedFields,
    /// What the elements claim. All empty for kinds with elements that this crate does not read (see [`FixedFields`]).
    pub capabilities: Capabilities,
}

impl Management {
    /// Reads the body of a management frame with this Frame Control. `body`: the bytes after the header, without FCS.
    /// `None` for frames of other types, and when the body is cut inside the fixed fields.
    pub fn parse(fc: FrameControl, body: &[u8]) -> Option<Self> {
        let (fixed, used) = FixedFields::read(fc, body)?;
        Some(Self { fixed, capabilities: Capabilities::read(Elements::new(body.get(used..)?)) })
    }

    /// Capability Information, in the frames that have it.
    pub const fn capability_info(&self) -> Option<CapabilityInfo> {
        match self.fixed {
            FixedFields::Beacon { capability, .. }
            | FixedFields::AssociationRequest { capability, .. }
            | FixedFields::ReassociationRequest { capability, .. }
            | FixedFields::AssociationResponse { capability, .. } => Some(capability),
            _ => None,
        }
    }
}

fn capability_at(body: &[u8], offset: usize) -> Option<CapabilityInfo> {
    u16_at(body, offset).map(CapabilityInfo)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn parse(fc: [u8; 2], body: &[u8]) -> Option<(FixedFields, Capabilities)> {
        let frame = Management::parse(FrameControl(u16::from_le_bytes(fc)), body)?;
        Some((frame.fixed, frame.capabilities))
    }

    #[test]
    fn fixed_fields_come_before_the_elements() {
        let beacon = [1, 2, 0, 0, 0, 0, 0, 0, 100, 0, 0x31, 0x04, 0, 2, b'h', b'i'];
        let (fixed, capabilities) = parse([0x80, 0], &beacon).unwrap();
        let capability = CapabilityInfo(0x0431);
        assert_eq!(fixed, FixedFields::Beacon { timestamp_us: 0x201, interval_tu: 100, capability });
        assert!(capability.ess() && capability.privacy() && capability.short_preamble() && capability.short_slot());
        assert_eq!(capabilities.ssid.unwrap().to_string(), "hi");
        assert!(parse([0x80, 0], &beacon[..11]).is_none(), "cut");

        let response = parse([0x10, 0], &[1, 0, 17, 0, 0x05, 0xc0]).unwrap().0;
        let capability = CapabilityInfo(1);
        assert_eq!(
            response,
            FixedFields::AssociationResponse { capability, status: StatusCode::DeniedNoMoreStas, aid: 5 }
        );
        let deauth = parse([0xc0, 0], &[7, 0]).unwrap().0;
        assert_eq!(deauth, FixedFields::Deauthentication(ReasonCode::InvalidClass3Frame));
    }

    #[test]
    fn protected_frames_are_not_read() {
        assert_eq!(parse([0xc0, 0x40], &[7, 0, 0, 0x20, 1, 2, 3, 4]).unwrap().0, FixedFields::Encrypted);
        assert!(parse([0x08, 0], &[0; 40]).is_none(), "a data frame");
    }

    fn bodies() -> impl Strategy<Value = (FrameKind, FixedFields)> {
        use FixedFields as F;
        let numbers = (any::<u64>(), any::<[u16; 3]>(), any::<[u8; 6]>());
        (0usize..9, numbers).prop_map(|(which, (timestamp_us, [one, two, three], address))| {
            let (capability, status) = (CapabilityInfo(one), StatusCode::from(two));
            match which {
                0 => (FrameKind::Beacon, F::Beacon { timestamp_us, interval_tu: two, capability }),
                1 => (FrameKind::ProbeResponse, F::Beacon { timestamp_us, interval_tu: two, capability }),
                2 => (FrameKind::AssociationRequest, F::AssociationRequest { capability, listen_interval: two }),
                3 => {
                    let current_ap = MacAddr(address);
                    let fixed = F::ReassociationRequest { capability, listen_interval: two, current_ap };
                    (FrameKind::ReassociationRequest, fixed)
                }
                4 => {
                    (FrameKind::AssociationResponse, F::AssociationResponse { capability, status, aid: three & 0x3fff })
                }
                5 => {
                    // With other algorithms there is more that is not read.
                    let (algorithm, transaction) = (one % 3, three);
                    (FrameKind::Authentication, F::Authentication { algorithm, transaction, status })
                }
                6 => (FrameKind::Disassociation, F::Disassociation(ReasonCode::from(one))),
                7 => (FrameKind::Deauthentication, F::Deauthentication(ReasonCode::from(one))),
                _ => (FrameKind::ProbeRequest, F::None),
            }
        })
    }

    proptest! {
        #[test]
        fn bodies_come_back((kind, fixed) in bodies(), ssid in proptest::collection::vec(any::<u8>(), 0..=32)) {
            let elements = ManagementElements { ssid: Some(&ssid), ..ManagementElements::default() };
            let body = ManagementBody { fixed, elements };
            let mut out = Vec::new();
            body.emit(&mut out);
            prop_assert_eq!((out.len(), fixed.buffer_len() + 2 + ssid.len()), (body.buffer_len(), out.len()));
            let fc = FrameControl::new(kind);
            prop_assert_eq!(ManagementBody::parse(fc, &out), Some(body));
            prop_assert_eq!(ManagementBody::parse(fc, &out[..out.len() - 1]), None);
            prop_assert_eq!(Management::parse(fc, &out).map(|read| read.fixed), Some(fixed));
        }

        #[test]
        fn never_panics(fc0: u8, fc1: u8, body in proptest::collection::vec(any::<u8>(), 0..300)) {
            let _ = Management::parse(FrameControl(u16::from_le_bytes([fc0, fc1])), &body);
        }
    }
}
