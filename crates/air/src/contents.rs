//! What the capture contains: frames by type and subtype with their airtime, and frames of special protocols by name.

use wire::ieee80211::{Action, Elements, FixedFields, FrameKind, FrameType, Header, MacAddr, Management};

use crate::decode::Named;
use crate::frame::Frame;
use crate::micros::us;
use crate::ppdu::Ppdu;
use crate::report;

/// Types and subtypes.
const KINDS: usize = 64;
/// Senders of identifications of unmanned aircraft that are remembered.
const MAX_DRONES: usize = 64;
/// Vendor elements: Wi-Fi Alliance, and its types of Neighbor Awareness Networking.
const WFA: [u8; 3] = [0x50, 0x6f, 0x9a];
const NAN_DISCOVERY: u8 = 0x13;
/// ASD-STAN and ASTM F3411, remote identification of unmanned aircraft; and a maker of them.
const REMOTE_ID: [u8; 4] = [0xfa, 0x0b, 0xbc, 0x0d];
const DRONE_MAKER: [u8; 3] = [0x26, 0x37, 0x12];
/// Vendor-specific element.
const VENDOR: u8 = 221;

/// Frames of one type and subtype.
#[derive(Clone, Copy, Debug, Default)]
struct Kind {
    frames: u64,
    retries: u64,
    bytes: u64,
    airtime_ns: i64,
}

/// Counters by type and subtype.
#[derive(Clone, Debug)]
pub struct Contents {
    kinds: [Kind; KINDS],
}

impl Default for Contents {
    fn default() -> Self {
        Self { kinds: [Kind::default(); KINDS] }
    }
}

fn place(kind: FrameKind) -> usize {
    let (frame_type, subtype) = kind.type_and_subtype();
    (frame_type as usize & 3) << 4 | usize::from(subtype & 15)
}

impl Contents {
    /// Takes note of a frame that is not known to be damaged.
    #[inline]
    pub fn frame(&mut self, frame: &Frame) {
        if let Some(kind) = self.kinds.get_mut(place(frame.header.fc.kind())) {
            kind.frames += 1;
            kind.retries += u64::from(frame.header.fc.retry());
            kind.bytes += u64::from(frame.mpdu_len);
        }
    }

    /// Takes note of the time of a PPDU of the interface whose channel the medium's accounts are of.
    #[inline]
    pub fn ppdu(&mut self, ppdu: &Ppdu) {
        if ppdu.all_bad {
            return;
        }
        if let (Some(kind), Some(ns)) = (self.kinds.get_mut(place(ppdu.kind)), ppdu.duration_ns) {
            kind.airtime_ns += ns;
        }
    }

    /// Rows by type and subtype. `rated`: airtime can be believed.
    pub fn report(&self, named: &Named, rated: bool) -> report::Contents {
        let rows = self.kinds.iter().enumerate().filter(|(_, kind)| kind.frames > 0).map(|(place, kind)| {
            let (frame_type, subtype) = ((place >> 4) as u16, (place & 15) as u16);
            let fc = wire::ieee80211::FrameControl(frame_type << 2 | subtype << 4);
            report::FrameKindRow {
                frame_type: match fc.frame_type() {
                    FrameType::Management => "management",
                    FrameType::Control => "control",
                    FrameType::Data => "data",
                    FrameType::Extension => "extension",
                },
                subtype: subtype as u8,
                name: fc.kind().name().to_owned(),
                frames: kind.frames,
                retries: kind.retries,
                bytes: kind.bytes,
                airtime_us: rated.then(|| us(kind.airtime_ns)),
            }
        });
        let mut specials: Vec<report::NamedFrames> =
            named.iter().map(|(name, frames)| report::NamedFrames { name: name.to_owned(), frames }).collect();
        specials.sort_by(|a, b| b.frames.cmp(&a.frames).then_with(|| a.name.cmp(&b.name)));
        report::Contents { kinds: rows.collect(), named: specials }
    }
}

/// Is it of a cluster of Neighbor Awareness Networking? Its BSSID is 50:6f:9a:01 and the number of the cluster, and no access point's.
pub fn is_nan(header: &Header) -> bool {
    header.addr3.is_some_and(|bssid| bssid.0.starts_with(&[0x50, 0x6f, 0x9a, 0x01]))
}

/// Names what is special in management frames. Those that repeat an earlier one are known by their sender.
#[derive(Debug, Default)]
pub struct Namer {
    drones: Vec<MacAddr>,
}

impl Namer {
    /// The name of a management frame with these contents, if it has one.
    pub fn name(&mut self, header: &Header, body: &[u8], management: &Management) -> Option<&'static str> {
        match management.fixed {
            FixedFields::Action(Action::Other { category, action }) => action_name(category, action, body),
            FixedFields::Action(action) => Some(of_known(&action)),
            FixedFields::Beacon { .. } => {
                if body.get(12..).is_some_and(identifies_aircraft) {
                    let sender = header.transmitter().unwrap_or(MacAddr::ZERO);
                    if self.drones.len() < MAX_DRONES && !self.drones.contains(&sender) {
                        self.drones.push(sender);
                    }
                    return Some("remote identification of an unmanned aircraft");
                }
                is_nan(header).then_some("NAN beacon")
            }
            _ => None,
        }
    }

    /// The same of a beacon that repeats an earlier one of its sender.
    pub fn name_again(&self, header: &Header) -> Option<&'static str> {
        if !self.drones.is_empty() && header.transmitter().is_some_and(|sender| self.drones.contains(&sender)) {
            return Some("remote identification of an unmanned aircraft");
        }
        is_nan(header).then_some("NAN beacon")
    }
}

fn identifies_aircraft(elements: &[u8]) -> bool {
    Elements::new(elements).any(|element| {
        element.id == VENDOR && (element.data.starts_with(&REMOTE_ID) || element.data.starts_with(&DRONE_MAKER))
    })
}

fn of_known(action: &Action) -> &'static str {
    match action {
        Action::AddbaRequest(_) | Action::AddbaResponse(_) | Action::Delba(_) => "Block Ack action",
        Action::ChannelSwitch(_) => "channel switch announcement",
        Action::TwtSetup(_) => "TWT setup",
        Action::SmPowerSave(_) => "spatial multiplexing power save",
        _ => "operating mode notification",
    }
}

/// Names of action frames by category (9.4.1.11) and action.
fn action_name(category: u8, action: Option<u8>, body: &[u8]) -> Option<&'static str> {
    let vendor = || body.get(2..6);
    Some(match (category & 0x7f, action) {
        (4, Some(9)) if vendor().is_some_and(|v| v.starts_with(&WFA) && v.get(3) == Some(&NAN_DISCOVERY)) => {
            "NAN service discovery"
        }
        (4, Some(10..=13)) => "GAS (generic advertisement)",
        (4, Some(14)) => "TDLS discovery response",
        (4, Some(32 | 33)) => "FTM (fine timing measurement)",
        (7, Some(4..=6)) | (21, Some(0)) | (30, Some(0)) | (36, Some(0)) => "beamforming feedback",
        (0, _) => "spectrum management",
        (1, _) => "QoS action",
        (4, _) => "public action",
        (5, _) => "radio measurement",
        (6, _) => "fast BSS transition",
        (8, _) => "SA Query",
        (9, _) => "protected public action",
        (10, _) => "wireless network management (WNM)",
        (12, _) => "TDLS action",
        (13, _) => "mesh action",
        (14, _) => "multihop action",
        (15, _) => "self-protected action (mesh peering)",
        (17, _) => "wireless multimedia (WMM) action",
        (21, _) => "VHT action",
        (30 | 31, _) => "HE action",
        (36 | 37, _) => "EHT action",
        (126 | 127, _) => "vendor-specific action",
        _ => return None,
    })
}
