//! What a frame is in an attempt to join.

use wire::ieee80211::eapol::Message;
use wire::ieee80211::{FixedFields, FrameKind, MacAddr};

use super::attempt::Step;
use crate::eapol::Eapol;
use crate::frame::{Detail, Frame};
use crate::happenings::context::named;

/// SAE (9.4.1.1).
const SAE: u16 = 3;

/// What a frame is in an attempt to join.
pub(super) enum Part {
    Request {
        step: Step,
        is_sae: bool,
    },
    Answer {
        step: Step,
        status: u16,
    },
    Message(usize),
    Eap {
        failed: bool,
    },
    Wps {
        refused: bool,
    },
    End(u16),
    /// The station deauthenticates itself.
    Left(u16),
}

impl Part {
    /// The station goes on: it sends it, or message 3, which answers its message 2.
    pub(super) const fn is_of_station(&self) -> bool {
        matches!(self, Self::Request { .. } | Self::Message(1..=3))
    }
}

/// Station, access point, and what the frame is for them.
pub(super) fn read(frame: &Frame, detail: &Detail) -> Option<(MacAddr, MacAddr, Part)> {
    let (ta, ra) = (frame.ta()?, frame.header.receiver());
    match detail {
        Detail::Management(management) => {
            let bssid = frame.header.bssid()?;
            let by_ap = ta == bssid;
            let (station, ap) = if by_ap { (ra, ta) } else { (ta, bssid) };
            let part = match (frame.header.fc.kind(), &management.fixed) {
                (FrameKind::Authentication, FixedFields::Authentication { algorithm, transaction, status }) => {
                    match (by_ap, *algorithm == SAE && *transaction == 2) {
                        (true, _) => Part::Answer { step: Step::Authentication, status: status.number() },
                        // A confirm is the next message of the same request.
                        (false, is_confirm) if is_confirm || *transaction > 2 => return None,
                        (false, _) => Part::Request { step: Step::Authentication, is_sae: *algorithm == SAE },
                    }
                }
                (FrameKind::AssociationRequest | FrameKind::ReassociationRequest, _) if !by_ap => {
                    Part::Request { step: Step::Association, is_sae: false }
                }
                (_, FixedFields::AssociationResponse { status, .. }) if by_ap => {
                    Part::Answer { step: Step::Association, status: status.number() }
                }
                (_, FixedFields::Deauthentication(reason) | FixedFields::Disassociation(reason)) => match by_ap {
                    true => Part::End(reason.number()),
                    false => Part::Left(reason.number()),
                },
                _ => return None,
            };
            Some((station, ap, part))
        }
        Detail::Eapol(packet) => {
            let (from_ap, part) = match packet {
                Eapol::Key(Message::First) => (true, Part::Message(0)),
                Eapol::Key(Message::Second) => (false, Part::Message(1)),
                Eapol::Key(Message::Third) => (true, Part::Message(2)),
                Eapol::Key(Message::Fourth) => (false, Part::Message(3)),
                Eapol::Eap(4) => (true, Part::Eap { failed: true }),
                Eapol::Eap(3) => (true, Part::Eap { failed: false }),
                Eapol::Wps { is_request, is_nack } => (*is_request, Part::Wps { refused: *is_nack }),
                _ => return None,
            };
            Some(if from_ap { (ra, ta, part) } else { (ta, ra, part) })
        }
        _ => None,
    }
    .filter(|(station, ap, _)| named(*station) && named(*ap))
}
