//! Descriptors of functions, as bytes (USB 2.0, 9.6).

use wire::usb::descriptors::{CONFIGURATION, DEVICE};

/// Interrupt and bulk endpoints (table 9-13).
pub(crate) const INTERRUPT: u8 = 3;
pub(crate) const BULK: u8 = 2;
/// Largest bulk packet at high speed (5.8.3).
pub(crate) const BULK_PACKET: u16 = 512;

/// Endpoints of a CDC function.
pub(crate) const NOTIFICATIONS: u8 = 1;
pub(crate) const TO_HOST: u8 = 2;
pub(crate) const FROM_HOST: u8 = 3;
/// Longer than a notification, so that each is a short packet.
const NOTIFICATION_PACKET: u16 = 64;
/// Its communication interface, and its data interface.
pub(crate) const CONTROL_INTERFACE: u8 = 0;
pub(crate) const DATA_INTERFACE: u8 = 1;

/// A high-speed device of one configuration, with manufacturer, product and serial number as strings 1 to 3.
pub(crate) fn device(class: (u8, u8, u8), vendor: u16, product: u16, version: u16) -> [u8; 18] {
    let ([v0, v1], [p0, p1], [r0, r1]) = (vendor.to_le_bytes(), product.to_le_bytes(), version.to_le_bytes());
    [18, DEVICE, 0, 2, class.0, class.1, class.2, 64, v0, v1, p0, p1, r0, r1, 1, 2, 3, 1]
}

/// A configuration of `interfaces` interfaces, bus powered, 500 mA.
pub(crate) fn configuration(interfaces: u8, parts: &[Vec<u8>]) -> Vec<u8> {
    let body = parts.concat();
    let [low, high] = ((9 + body.len()) as u16).to_le_bytes();
    let mut bytes = vec![9, CONFIGURATION, low, high, interfaces, 1, 0, 0x80, 250];
    bytes.extend(body);
    bytes
}

/// The configuration of a CDC function with a data interface that has endpoints in its alternate setting 1 (CDC 1.2, 3 and 5).
pub(crate) fn function(control: (u8, u8, u8), functional: &[Vec<u8>], data: (u8, u8, u8)) -> Vec<u8> {
    let parts = [
        interface(CONTROL_INTERFACE, 0, 1, control),
        functional.concat(),
        endpoint(0x80 | NOTIFICATIONS, INTERRUPT, NOTIFICATION_PACKET, 9),
        interface(DATA_INTERFACE, 0, 0, data),
        interface(DATA_INTERFACE, 1, 2, data),
        endpoint(0x80 | TO_HOST, BULK, BULK_PACKET, 0),
        endpoint(FROM_HOST, BULK, BULK_PACKET, 0),
    ];
    configuration(2, &parts)
}

pub(crate) fn interface(number: u8, alternate: u8, endpoints: u8, class: (u8, u8, u8)) -> Vec<u8> {
    vec![9, 4, number, alternate, endpoints, class.0, class.1, class.2, 0]
}

pub(crate) fn endpoint(address: u8, kind: u8, max_packet: u16, interval: u8) -> Vec<u8> {
    let [low, high] = max_packet.to_le_bytes();
    vec![7, 5, address, kind, low, high, interval]
}

/// The notifications that a host of an Ethernet function waits for: the speed both ways, and that there is a link (CDC
/// 1.2, 6.3; PSTN 1.2).
pub(crate) fn link_notifications(interface: u8, speed_bit_s: u32) -> [Vec<u8>; 2] {
    let mut speed = vec![0xa1, 0x2a, 0, 0, interface, 0, 8, 0];
    speed.extend(speed_bit_s.to_le_bytes());
    speed.extend(speed_bit_s.to_le_bytes());
    [speed, vec![0xa1, 0, 1, 0, interface, 0, 0, 0]]
}
