//! 802.11 frames of the two stations, without their FCS (IEEE 802.11-2020 clause 9.3).

use link::{beacon_len, Scenario, Side};
use wire::ieee80211::MacAddr;

use super::owned::{OwnedContents, OwnedMpdu};

/// Locally administered addresses, "txop" in the middle.
pub(super) const DUT_ADDRESS: MacAddr = MacAddr([0x02, 0x74, 0x78, 0x6f, 0x70, 0x01]);
pub(super) const AP_ADDRESS: MacAddr = MacAddr([0x02, 0x74, 0x78, 0x6f, 0x70, 0x00]);
const SSID: &[u8] = b"txop";
pub(super) const FCS_LEN: usize = 4;
const BROADCAST: MacAddr = MacAddr([0xff; 6]);
/// LLC and SNAP header up to the EtherType (RFC 1042).
const LLC_SNAP: [u8; 6] = [0xaa, 0xaa, 0x03, 0, 0, 0];
const RETRY: u8 = 0x08;
/// Compressed Block Ack, TID 0; the same number in a request.
const COMPRESSED: u16 = 0x0004;

pub(super) const fn address(side: Side) -> MacAddr {
    match side {
        Side::Dut => DUT_ADDRESS,
        Side::Ap => AP_ADDRESS,
    }
}

/// Appends a QoS data frame of TID 0. The far end of the traffic is the other station itself.
pub(super) fn data(from: Side, duration_us: u16, mpdu: &OwnedMpdu, out: &mut Vec<u8>) {
    let direction = if from == Side::Dut { 0x01 } else { 0x02 };
    out.extend_from_slice(&[0x88, direction | if mpdu.retry { RETRY } else { 0 }]);
    out.extend_from_slice(&duration_us.to_le_bytes());
    out.extend_from_slice(&address(from.other()).0);
    out.extend_from_slice(&address(from).0);
    out.extend_from_slice(&AP_ADDRESS.0);
    out.extend_from_slice(&(mpdu.sequence << 4).to_le_bytes());
    out.extend_from_slice(&[0, 0]);
    out.extend_from_slice(&LLC_SNAP);
    let packet = mpdu.packet.bytes();
    let ether_type: u16 = if packet.first().is_some_and(|byte| byte >> 4 == 6) { 0x86dd } else { 0x0800 };
    out.extend_from_slice(&ether_type.to_be_bytes());
    out.extend_from_slice(packet);
}

fn control(first: u8, duration_us: u16, to: Side, out: &mut Vec<u8>) {
    out.extend_from_slice(&[first, 0]);
    out.extend_from_slice(&duration_us.to_le_bytes());
    out.extend_from_slice(&address(to).0);
}

/// Appends a control frame or a beacon.
pub(super) fn other(
    scenario: &Scenario,
    from: Side,
    duration_us: u16,
    contents: &OwnedContents,
    tsf_us: u64,
    beacon_sequence: u16,
    out: &mut Vec<u8>,
) {
    let to = from.other();
    match *contents {
        OwnedContents::Data(_) => {}
        OwnedContents::Ack => control(0xd4, duration_us, to, out),
        OwnedContents::Cts => control(0xc4, duration_us, to, out),
        OwnedContents::Rts => {
            control(0xb4, duration_us, to, out);
            out.extend_from_slice(&address(from).0);
        }
        OwnedContents::BlockAck { start_sequence, bitmap } => {
            control(0x94, duration_us, to, out);
            out.extend_from_slice(&address(from).0);
            out.extend_from_slice(&COMPRESSED.to_le_bytes());
            out.extend_from_slice(&(start_sequence << 4).to_le_bytes());
            out.extend_from_slice(&bitmap.to_le_bytes());
        }
        OwnedContents::BlockAckRequest { start_sequence } => {
            control(0x84, duration_us, to, out);
            out.extend_from_slice(&address(from).0);
            out.extend_from_slice(&COMPRESSED.to_le_bytes());
            out.extend_from_slice(&(start_sequence << 4).to_le_bytes());
        }
        OwnedContents::Beacon => beacon(scenario, tsf_us, beacon_sequence, out),
    }
}

fn element(id: u8, body: &[u8], out: &mut Vec<u8>) {
    out.push(id);
    out.push(body.len() as u8);
    out.extend_from_slice(body);
}

/// Beacon of an open 802.11n network with WMM; as long as [`beacon_len`] says.
fn beacon(scenario: &Scenario, tsf_us: u64, sequence: u16, out: &mut Vec<u8>) {
    let start = out.len();
    let channel = scenario.medium.channel as u8;
    let (wide, band_2_4) = (scenario.medium.width_mhz == 40, channel <= 14);
    out.extend_from_slice(&[0x80, 0, 0, 0]);
    for address in [BROADCAST, AP_ADDRESS, AP_ADDRESS] {
        out.extend_from_slice(&address.0);
    }
    out.extend_from_slice(&(sequence << 4).to_le_bytes());
    out.extend_from_slice(&tsf_us.to_le_bytes());
    // 100 TU; ESS and short slot.
    out.extend_from_slice(&[100, 0, 0x01, 0x04]);
    element(0, SSID, out);
    // 6, 12 and 24 Mbit/s basic.
    element(1, &[0x8c, 0x12, 0x98, 0x24, 0xb0, 0x48, 0x60, 0x6c], out);
    if band_2_4 {
        element(3, &[channel], out);
    }
    element(5, &[0, 1, 0, 0], out);
    let (first, channels) = if band_2_4 { (1, 13) } else { (36, 4) };
    element(7, &[b'X', b'X', b' ', first, channels, 20], out);
    if band_2_4 {
        element(42, &[0], out);
    }
    element(45, &ht_capabilities(scenario), out);
    let mut operation = [0; 22];
    operation[0] = channel;
    operation[1] = if wide { 0x05 } else { 0 };
    element(61, &operation, out);
    element(127, &[0; 8], out);
    // WMM parameters with the default EDCA parameters (WMM specification 2.2.2).
    element(
        221,
        &[
            0x00, 0x50, 0xf2, 2, 1, 1, 0, 0, 0x03, 0xa4, 0, 0, 0x27, 0xa4, 0, 0, 0x42, 0x43, 0x5e, 0, 0x62, 0x32, 0x2f,
            0,
        ],
        out,
    );
    debug_assert_eq!(out.len() - start + FCS_LEN, beacon_len(scenario.medium.channel));
}

/// What both ends together use: width, short guard interval, streams, A-MPDUs of 65535 bytes without minimum spacing.
fn ht_capabilities(scenario: &Scenario) -> [u8; 26] {
    let wide = scenario.medium.width_mhz == 40;
    let streams = usize::from(scenario.dut.mcs.max(scenario.ap.mcs) / 8 + 1);
    let mut body = [0; 26];
    // SM power save disabled; short guard interval at 20 MHz; 40 MHz with its short guard interval.
    let information: u16 = 0x000c | 0x0020 | if wide { 0x0002 | 0x0040 } else { 0 };
    body[0..2].copy_from_slice(&information.to_le_bytes());
    body[2] = 0x03;
    body[3..3 + streams.min(4)].fill(0xff);
    body[15] = 0x01;
    body
}

#[cfg(test)]
mod tests {
    use link::Medium;

    use super::*;

    #[test]
    fn beacons_are_as_long_as_the_link_reckons() {
        for channel in [1, 14, 36, 165] {
            for width_mhz in [20, 40] {
                let scenario = Scenario { medium: Medium { channel, width_mhz, beacons: true }, ..Scenario::default() };
                let mut out = Vec::new();
                beacon(&scenario, 7, 9, &mut out);
                assert_eq!(out.len() + FCS_LEN, beacon_len(channel));
            }
        }
    }
}
