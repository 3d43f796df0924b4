//! What modems say of themselves on the bus: interfaces and endpoints as in public dumps of real ones, all of which Linux'
//! qmi_wwan binds to (6.1 and 6.12). Texts are txop's own, so that nothing virtual is taken for the real thing.

use super::settings::Model;
use crate::descriptors::{configuration, device, endpoint, interface, BULK, BULK_PACKET, INTERRUPT};
use crate::device::{Identity, Speed};

/// A modem as the bus and its own code see it.
#[derive(Clone, Debug)]
pub(super) struct Posing {
    pub(super) identity: Identity,
    /// Number of the interface that carries data and control messages.
    pub(super) interface: u8,
    /// Endpoint numbers: notifications, data to the host, data from the host.
    pub(super) notifications: u8,
    pub(super) to_host: u8,
    pub(super) from_host: u8,
    /// It answers control messages only while the host says that it is there, as modems do for which qmi_wwan has
    /// `QMI_QUIRK_SET_DTR` or `QMI_MATCH_FF_FF_FF`.
    pub(super) needs_dtr: bool,
    /// As DMS reports it.
    pub(super) model: &'static str,
}

const VENDOR: (u8, u8, u8) = (0xff, 0xff, 0xff);
const SERIAL: (u8, u8, u8) = (0xff, 0, 0);
/// What Qualcomm's serial functions say: CDC header 1.10, call management, ACM, union of the interface with itself.
const fn serial_descriptors(number: u8) -> [u8; 19] {
    [5, 0x24, 0, 0x10, 1, 5, 0x24, 1, 0, 0, 4, 0x24, 2, 2, 5, 0x24, 6, number, number]
}

/// A function with a notification endpoint: of notifications, IN and OUT.
fn function(number: u8, class: (u8, u8, u8), notification: (u8, u16, u8), input: u8, output: u8) -> Vec<u8> {
    let (address, packet, interval) = notification;
    let mut bytes = interface(number, 0, 3, class);
    if class == SERIAL {
        bytes.extend(serial_descriptors(number));
    }
    bytes.extend(endpoint(0x80 | address, INTERRUPT, packet, interval));
    bytes.extend(endpoint(0x80 | input, BULK, BULK_PACKET, 0));
    bytes.extend(endpoint(output, BULK, BULK_PACKET, 0));
    bytes
}

/// The diagnostic interface, which has no notifications.
fn diagnostic() -> Vec<u8> {
    [interface(0, 0, 2, VENDOR), endpoint(0x81, BULK, BULK_PACKET, 0), endpoint(0x01, BULK, BULK_PACKET, 0)].concat()
}

/// Bytes of notifications: of the serial functions, and of that with the data.
const SERIAL_PACKET: u16 = 10;
const QMI_PACKET: u16 = 8;

impl Model {
    /// Everything about it.
    pub(super) fn posing(self) -> Posing {
        // By number of the interface: serial functions with endpoints as Qualcomm's composite numbers them.
        let serial = |number: u8, interval| {
            function(number, SERIAL, (2 * number + 1, SERIAL_PACKET, interval), 2 * number, number + 1)
        };
        let qmi = |number: u8, interval| {
            function(number, VENDOR, (2 * number + 1, QMI_PACKET, interval), 2 * number, number + 1)
        };
        let (ids, number, model, parts): ((u16, u16, u16), u8, _, Vec<Vec<u8>>) = match self {
            Self::QuectelEc25 => ((0x2c7c, 0x0125, 0x0318), 4, "EC25", vec![qmi(4, 9)]),
            Self::QuectelEc21 => {
                let serials = (1..4).map(|number| serial(number, 9));
                let parts = std::iter::once(diagnostic()).chain(serials).chain([qmi(4, 9)]).collect();
                ((0x2c7c, 0x0121, 0x0318), 4, "EC21", parts)
            }
            Self::SimcomSim7600 => {
                let serials = (1..5).map(|number| serial(number, 9));
                let parts = std::iter::once(diagnostic()).chain(serials).chain([qmi(5, 9)]).collect();
                ((0x1e0e, 0x9001, 0x0318), 5, "SIM7600", parts)
            }
            Self::TelitLn940 => {
                let parts =
                    [diagnostic(), qmi(1, 9)].into_iter().chain((2..5).map(|number| serial(number, 9))).collect();
                ((0x1bc7, 0x1900, 0x0310), 1, "LN940", parts)
            }
        };
        let (vendor, product, version) = ids;
        Posing {
            identity: Identity {
                device: device((0, 0, 0), vendor, product, version),
                configuration: configuration(parts.len() as u8, &parts),
                strings: vec!["txop".into(), "virtual QMI modem".into(), "0001".into()],
                speed: Speed::High,
            },
            interface: number,
            notifications: 2 * number + 1,
            to_host: 2 * number,
            from_host: number + 1,
            needs_dtr: true,
            model,
        }
    }
}
