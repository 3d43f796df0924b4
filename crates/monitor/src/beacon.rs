//! Beacons (IEEE 802.11-2020, 9.3.3.2).

use link::engine::HostId;

use crate::frame::{BROADCAST, FCS_LEN};
use crate::network::{address, Network, RATES_MAX};

const SSID: &[u8] = b"txop";
/// 100 TU, as everywhere.
const INTERVAL_TU: u16 = 100;
/// ESS and short slot.
const CAPABILITIES: [u8; 2] = [0x01, 0x04];
const VENDOR: u8 = 221;
/// WMM parameters with the default EDCA parameters (WMM specification 2.2.2).
const WMM: [u8; 24] =
    [0x00, 0x50, 0xf2, 2, 1, 1, 0, 0, 0x03, 0xa4, 0, 0, 0x27, 0xa4, 0, 0, 0x42, 0x43, 0x5e, 0, 0x62, 0x32, 0x2f, 0];

fn element(id: u8, body: &[u8], out: &mut Vec<u8>) {
    let body = body.get(..255).unwrap_or(body);
    out.push(id);
    out.push(body.len() as u8);
    out.extend_from_slice(body);
}

/// Appends a beacon of an open network, without its FCS.
pub(crate) fn beacon(network: &Network, tsf_us: u64, sequence: u16, out: &mut Vec<u8>) {
    let start = out.len();
    let channel = network.channel as u8;
    let wide = network.width_mhz == 40;
    out.extend_from_slice(&[0x80, 0, 0, 0]);
    for address in [BROADCAST, address(HostId::SERVER), address(HostId::SERVER)] {
        out.extend_from_slice(&address.0);
    }
    out.extend_from_slice(&(sequence << 4).to_le_bytes());
    out.extend_from_slice(&tsf_us.to_le_bytes());
    out.extend_from_slice(&INTERVAL_TU.to_le_bytes());
    out.extend_from_slice(&CAPABILITIES);
    element(0, SSID, out);
    let (rates, more) = network.rates.split_at(network.rates.len().min(RATES_MAX));
    element(1, rates, out);
    if network.is_2_4_ghz() {
        element(3, &[channel], out);
    }
    element(5, &[0, 1, 0, 0], out);
    let (first, channels) = if network.is_2_4_ghz() { (1, 13) } else { (36, 4) };
    element(7, &[b'X', b'X', b' ', first, channels, 20], out);
    if network.is_2_4_ghz() {
        element(42, &[0], out);
    }
    if !more.is_empty() {
        element(50, more, out);
    }
    if let Some(streams) = network.streams {
        element(45, &ht_capabilities(wide, streams), out);
        let mut operation = [0; 22];
        operation[0] = channel;
        operation[1] = if wide { 0x05 } else { 0 };
        element(61, &operation, out);
        element(127, &[0; 8], out);
        element(VENDOR, &WMM, out);
    }
    fill(start, network.beacon_bytes.saturating_sub(FCS_LEN), out);
}

/// Fills up with vendor elements of zeros (those of nobody) to `len` bytes, if there is room for one.
fn fill(start: usize, len: usize, out: &mut Vec<u8>) {
    let nothing = [0; 255];
    while let Some(missing @ 5..) = len.checked_sub(out.len() - start) {
        // Two elements where one would leave fewer bytes than an element has at least.
        let body = if (258..262).contains(&missing) { 200 } else { (missing - 2).min(255) };
        element(VENDOR, nothing.get(..body).unwrap_or_default(), out);
    }
}

/// SM power save disabled; short guard interval at 20 MHz, and 40 MHz with its own; A-MPDUs of 65535 bytes without minimum
/// spacing.
fn ht_capabilities(wide: bool, streams: u8) -> [u8; 26] {
    let mut body = [0; 26];
    let information: u16 = 0x000c | 0x0020 | if wide { 0x0002 | 0x0040 } else { 0 };
    body[0..2].copy_from_slice(&information.to_le_bytes());
    body[2] = 0x03;
    body[3..3 + usize::from(streams.min(4))].fill(0xff);
    body[15] = 0x01;
    body
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn beacons_are_as_long_as_the_link_reckons() {
        for channel in [1, 14, 36, 165] {
            for width_mhz in [20, 40] {
                let beacon_bytes = link::beacon_len(channel);
                let network = Network { channel, width_mhz, beacon_bytes, ..Network::default() };
                let mut out = Vec::new();
                beacon(&network, 7, 9, &mut out);
                assert_eq!(out.len() + FCS_LEN, beacon_bytes);
            }
        }
    }

    #[test]
    fn short_beacons_are_filled_up() {
        for beacon_bytes in (90..700).filter(|bytes| !(90..110).contains(bytes)) {
            let network = Network { streams: None, beacon_bytes, ..Network::default() };
            let mut out = Vec::new();
            beacon(&network, 7, 9, &mut out);
            assert_eq!(out.len() + FCS_LEN, beacon_bytes);
        }
    }
}
