//! Where tshark 4.0 and we differ, and why.

use txop_wire::ieee80211::{BlockAckType, Elements, FrameControl, FrameKind as K, MacAddr};

use crate::frame::Frame;
use crate::tshark::Row;

/// Why a frame is not compared at all.
pub fn skip(frame: &Frame<'_>) -> Option<&'static str> {
    let fc = FrameControl(u16::from_le_bytes([*frame.mpdu.first()?, *frame.mpdu.get(1)?]));
    (fc.version() != 0).then_some("protocol version is not 0: its layout is another, or the frame is damaged")
}

/// Why `column` differs, if the reason is known.
pub fn explain(frame: &Frame<'_>, row: &Row<'_>, column: &str, theirs: &str) -> Option<&'static str> {
    let Some(header) = frame.header else {
        return Some("cut inside its MAC header: tshark shows the fields before the cut");
    };
    let kind = header.kind();
    let ours_silent = frame.capabilities().is_none_or(|claims| claims.elements == 0);
    match (column, kind) {
        (_, K::ControlExtension | K::S1gBeacon | K::DmgBeacon) => {
            Some("60 GHz and sub-1 GHz frames have a Frame Control of their own; here they are damage")
        }
        ("wlan.ta", K::CfEnd | K::CfEndCfAck) => Some("BSSID (TA) of a CF-End: tshark shows it as BSSID only"),
        ("wlan.bssid", K::CfEndCfAck) => Some("BSSID (TA) of a CF-End +CF-Ack: tshark shows it as TA only"),
        ("wlan.ta", _) if header.bandwidth_signalling() => {
            let clear = header.transmitter()?;
            let sent = MacAddr([clear.0[0] | 1, clear.0[1], clear.0[2], clear.0[3], clear.0[4], clear.0[5]]);
            (theirs == sent.to_string()).then_some("Individual/Group bit of a control frame's TA: ours is cleared")
        }
        ("wlan.sa" | "wlan.da", K::Data { .. }) if header.is_amsdu() => {
            // The subframes' own addresses; which of the two is missing in the header, ours leaves out.
            let missing = if column == "wlan.sa" { header.source() } else { header.destination() };
            missing.is_none().then_some("A-MSDU: tshark adds the addresses of its subframes")
        }
        (_, K::BlockAck) if frame.ack.is_none() => {
            Some("BlockAck that is cut or of a reserved kind: ours gives nothing")
        }
        ("wlan.ba.bm", K::BlockAck) if frame.ack.is_some_and(|ack| ack.kind == BlockAckType::Basic) => {
            Some("tshark does not show the bitmap of a Basic BlockAck under this name")
        }
        (_, K::BlockAckReq) if frame.request.is_none() => {
            Some("BlockAckReq that is cut or of a reserved kind: ours gives nothing")
        }
        (_, K::Data { .. }) if !theirs.is_empty() => Some("elements inside a data frame (EAPOL-Key, TDLS)"),
        (_, K::Action | K::ActionNoAck) if ours_silent => Some("elements of Action frames are not read"),
        (_, K::Authentication) if ours_silent => Some("elements after the fields of SAE and FILS are not read"),
        (_, _) if column.ends_with(".type") && foreign_suites(frame, column) => {
            Some("a suite of another OUI (damaged): ours only notes that there is one")
        }
        ("wlan.rsn.akms.type", _) if elements(frame, 48).count() > 1 => Some("two RSN elements: ours is the first"),
        (_, _) if column.starts_with("wlan.wfa.ie.wme.acp") && !each_category_once(row) => {
            Some("two EDCA records name the same access category: damaged, ours takes the last")
        }
        (_, _)
            if column.starts_with("wlan.ht.")
                && elements(frame, 221).any(|data| data.starts_with(&[0, 0x90, 0x4c])) =>
        {
            Some("HT elements of a vendor's draft: tshark reads them as the standard's")
        }
        (_, _) if column.starts_with("wlan.ht.mcsset.") && only_ht_operation(frame) => {
            Some("tshark shows the basic MCS set of HT Operation under the same name")
        }
        _ if frame.capabilities().is_some_and(|claims| claims.truncated) => {
            Some("the last element is cut: tshark reads what is there of it")
        }
        _ if !row.extra("_ws.malformed").is_empty() => Some("tshark gave up in the middle of a malformed frame"),
        _ => None,
    }
}

/// Bytes of all elements with this ID in a management frame, at its usual place.
pub fn element_len(frame: &Frame<'_>, id: u8) -> Option<usize> {
    let mut found = elements(frame, id).peekable();
    found.peek()?;
    Some(found.map(<[u8]>::len).sum())
}

/// Data of all elements with this ID in a management frame, at its usual place.
fn elements<'a>(frame: &Frame<'a>, id: u8) -> impl Iterator<Item = &'a [u8]> {
    let fixed = match frame.header.map(|header| header.kind()) {
        Some(K::Beacon | K::ProbeResponse) => 12,
        Some(K::AssociationRequest) => 4,
        Some(K::ReassociationRequest) => 10,
        Some(K::AssociationResponse | K::ReassociationResponse | K::Authentication) => 6,
        _ => 0,
    };
    let elements = Elements::new(frame.body.get(fixed..).unwrap_or(&[]));
    elements.filter(move |element| element.id == id).map(|element| element.data)
}

fn only_ht_operation(frame: &Frame<'_>) -> bool {
    frame.capabilities().is_some_and(|claims| claims.ht.is_none() && claims.ht_operation.is_some())
}

fn foreign_suites(frame: &Frame<'_>, column: &str) -> bool {
    let Some(claims) = frame.capabilities() else { return false };
    let element = if column.starts_with("wlan.rsn") { claims.rsn } else { claims.wpa };
    element.is_some_and(|element| [element.group, element.pairwise, element.akm].iter().any(|suites| suites.unknown))
}

/// tshark's list of access categories names each of the four once.
fn each_category_once(row: &Row<'_>) -> bool {
    let mut categories: Vec<&str> = row.named("wlan.wfa.ie.wme.acp.aci").split(',').collect();
    categories.sort_unstable();
    categories == ["0", "1", "2", "3"]
}
