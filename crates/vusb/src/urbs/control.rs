//! Standard requests (USB 2.0, 9.4): the same for all devices.

use wire::usb::descriptors::{CONFIGURATION, DEVICE, STRING};
use wire::usb::setup::Setup;

use super::endpoint::Endpoints;
use crate::device::{ControlReply, Identity, Speed};

/// Descriptor types that only answers need (USB 2.0, table 9-5).
const DEVICE_QUALIFIER: u8 = 6;
const OTHER_SPEED_CONFIGURATION: u8 = 7;
/// US English (USB 2.0, 9.6.7).
const LANGUAGES: [u8; 4] = [4, STRING, 0x09, 0x04];
/// Feature selector ENDPOINT_HALT.
const ENDPOINT_HALT: u16 = 0;

impl Endpoints {
    /// The answer to a standard request; `None`: it is not one.
    pub(super) fn standard(&mut self, identity: &Identity, setup: Setup) -> Option<ControlReply> {
        if setup.kind() != "standard" {
            return None;
        }
        let (endpoint, is_in) = ((setup.index & 0x0f) as u8, setup.index & 0x80 != 0);
        let interface = usize::from(setup.index & 0x1f);
        Some(match (setup.request_type, setup.request) {
            // GET_STATUS: bus powered, no remote wakeup; interfaces have none; an endpoint may be halted.
            (0x80 | 0x81, 0) => ControlReply::Data(vec![0, 0]),
            (0x82, 0) if self.find(endpoint, is_in).is_some() => {
                ControlReply::Data(vec![u8::from(self.is_halted(endpoint, is_in)), 0])
            }
            (0x02, 1) if setup.value == ENDPOINT_HALT => accepted_if(self.clear_halt(endpoint, is_in)),
            (0x02, 3) if setup.value == ENDPOINT_HALT => {
                self.halt(endpoint, is_in);
                accepted_if(self.is_halted(endpoint, is_in))
            }
            // Remote wakeup and test modes: taken, without effect. SET_ADDRESS is the host controller's.
            (0x00, 1 | 3 | 5) => ControlReply::Accepted,
            (0x80, 6) => descriptor(identity, setup).map_or(ControlReply::Stall, ControlReply::Data),
            (0x80, 8) => ControlReply::Data(vec![self.configured]),
            (0x00, 9) => {
                let value = setup.value as u8;
                let known = value == 0 || identity.configuration.get(5) == Some(&value);
                if known {
                    self.configured = value;
                    self.alternates = [0; 32];
                    self.clear_all();
                }
                accepted_if(known)
            }
            (0x81, 10) => ControlReply::Data(vec![self.alternates.get(interface).copied().unwrap_or(0)]),
            (0x01, 11) => {
                if let Some(alternate) = self.alternates.get_mut(interface) {
                    *alternate = setup.value as u8;
                }
                self.clear_all();
                ControlReply::Accepted
            }
            _ => ControlReply::Stall,
        })
    }
}

const fn accepted_if(condition: bool) -> ControlReply {
    if condition {
        ControlReply::Accepted
    } else {
        ControlReply::Stall
    }
}

fn descriptor(identity: &Identity, setup: Setup) -> Option<Vec<u8>> {
    let (kind, index) = setup.descriptor()?;
    match (kind, index) {
        (DEVICE, 0) => Some(identity.device.to_vec()),
        (CONFIGURATION, 0) => Some(identity.configuration.clone()),
        (STRING, 0) => Some(LANGUAGES.to_vec()),
        (STRING, index) => string(identity.strings.get(usize::from(index) - 1)?),
        // What a high-speed device would be at full speed: the same.
        (DEVICE_QUALIFIER, 0) if identity.speed == Speed::High => {
            let mut bytes = vec![10, DEVICE_QUALIFIER];
            bytes.extend_from_slice(&identity.device[2..8]);
            bytes.extend([identity.device[17], 0]);
            Some(bytes)
        }
        (OTHER_SPEED_CONFIGURATION, 0) if identity.speed == Speed::High => {
            let mut bytes = identity.configuration.clone();
            *bytes.get_mut(1)? = OTHER_SPEED_CONFIGURATION;
            Some(bytes)
        }
        _ => None,
    }
}

/// A string descriptor: UTF-16, at most 126 units.
fn string(text: &str) -> Option<Vec<u8>> {
    let units: Vec<u16> = text.encode_utf16().take(126).collect();
    let mut bytes = vec![u8::try_from(2 + 2 * units.len()).ok()?, STRING];
    bytes.extend(units.iter().flat_map(|unit| unit.to_le_bytes()));
    Some(bytes)
}
