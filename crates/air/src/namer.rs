//! Management frames of special protocols, by name.

use wire::ieee80211::{Action, Elements, FixedFields, Header, MacAddr, Management};

use crate::few::Few;

/// Frames by name.
pub type Named = Few<&'static str, 48>;

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
        Action::RadarReport(_) => "spectrum management",
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
