//! What the firmware says of the hardware, and of what has happened. Layouts: Linux mt7921/mcu.c and mcu.h,
//! mt76_connac_mcu.h.

use wire::usb::connac2::EventHeader;

use super::commands::Stay;

/// Events (mt76_connac_mcu.h, MCU_EVENT_* and MCU_UNI_EVENT_*).
const RESULT: u8 = 0x01;
const SCAN_DONE: u8 = 0x0d;
const BEACON_LOSS: u8 = 0x13;
const STAY: u8 = 0x27;
/// Elements of the capabilities (MT_NIC_CAP_*).
const MAC_ADDRESS: u32 = 0x07;
const PHY: u32 = 0x08;
const SIX_GHZ: u32 = 0x18;
const CHIP: u32 = 0x20;
/// 2.4 and 5 GHz.
const BANDS: u8 = 3;
/// 80 MHz.
const WIDTH: u8 = 2;
/// Bytes that mt7921_txpwr_event has.
const TX_POWER: usize = 494;
/// Degrees Celsius.
const TEMPERATURE: u32 = 40;

/// Capabilities: its address, two streams, HE, no 6 GHz, nothing that would need further events.
pub fn capabilities(own: [u8; 6]) -> Vec<u8> {
    // HT, VHT, 5 GHz, width, streams, no second band, LDPC both ways, STBC both ways, bands, HE.
    let phy = [1, 1, 1, WIDTH, 2, 0, 1, 1, 1, 1, BANDS, 1];
    let elements: [(u32, &[u8]); 4] = [(MAC_ADDRESS, &own), (PHY, &phy), (SIX_GHZ, &[0]), (CHIP, &[0; 8])];
    let mut body = (elements.len() as u32).to_le_bytes().to_vec();
    for (tag, data) in elements {
        body.extend(tag.to_le_bytes());
        body.extend((data.len() as u32).to_le_bytes());
        body.extend_from_slice(data);
    }
    body
}

/// A register.
pub fn register(address: u32, value: u32) -> Vec<u8> {
    [address.to_le_bytes(), value.to_le_bytes()].concat()
}

/// The temperature.
pub fn temperature() -> Vec<u8> {
    [[0; 4], TEMPERATURE.to_le_bytes()].concat()
}

/// Transmit power, which is not modelled: a table of zeros.
pub fn tx_power() -> Vec<u8> {
    let mut body = vec![0; TX_POWER];
    if let Some(len) = body.get_mut(2..4) {
        len.copy_from_slice(&(TX_POWER as u16).to_le_bytes());
    }
    body
}

/// Sixteen bytes of the efuse, which is empty.
pub fn efuse(address: u32) -> Vec<u8> {
    [&address.to_le_bytes()[..], &1u32.to_le_bytes(), &[0; 16]].concat()
}

/// The result of a unified command.
pub fn result(sequence: u8, number: u16) -> (EventHeader, Vec<u8>) {
    let header = EventHeader { id: RESULT, sequence, ..EventHeader::default() };
    (header, vec![number as u8, 0, 0, 0, 0, 0, 0, 0])
}

/// A scan has ended.
pub fn scan_done(number: u8) -> (EventHeader, Vec<u8>) {
    const BYTES: usize = 20 + 5 * 64 + 8;
    let mut body = vec![0; BYTES];
    if let Some(slot) = body.first_mut() {
        *slot = number;
    }
    (EventHeader { id: SCAN_DONE, ..EventHeader::default() }, body)
}

/// The connection of a network is lost.
pub fn beacon_loss(bss: u8) -> (EventHeader, Vec<u8>) {
    (EventHeader { id: BEACON_LOSS, ..EventHeader::default() }, vec![bss, 0, 0, 0])
}

/// The chip is on a channel (struct mt7921_roc_grant_tlv, behind four bytes).
pub fn granted(stay: &Stay) -> (EventHeader, Vec<u8>) {
    let header = EventHeader { id: STAY, unsolicited: true, ..EventHeader::default() };
    let [primary, offset, band, width, centre] = stay.said;
    let mut body = vec![0, 0, 0, 0, 0, 0, 20, 0, stay.bss, stay.token, 0, primary, offset, band, width, centre, 0];
    body.extend([stay.kind, 0, 0]);
    body.extend(stay.duration_ms.to_le_bytes());
    (header, body)
}
