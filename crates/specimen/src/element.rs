//! Bodies of management frames and EAPOL-Key frames (IEEE 802.11-2020 clauses 9.3.3, 9.4.2 and 12.7.2).

use crate::scene::{Bss, Station};

/// Appends an element.
fn element(out: &mut Vec<u8>, id: u8, body: &[u8]) {
    let body = &body[..body.len().min(255)];
    out.push(id);
    out.push(body.len() as u8);
    out.extend_from_slice(body);
}

fn ssid(out: &mut Vec<u8>, bss: &Bss) {
    element(out, 0, &bss.ssid[..bss.ssid.len().min(32)]);
}

/// Supported rates: the DSSS ones and 6, 12 and 24 Mb/s basic, the other OFDM ones optional.
fn rates(out: &mut Vec<u8>) {
    element(out, 1, &[0x82, 0x84, 0x8b, 0x96, 0x8c, 0x12, 0x98, 0x24]);
}

fn extended_rates(out: &mut Vec<u8>) {
    element(out, 50, &[0xb0, 0x48, 0x60, 0x6c]);
}

/// HT Capabilities of a one-stream device: short GI at 20 MHz, one-stream STBC reception, A-MPDU of 64 KiB.
fn ht_capabilities(out: &mut Vec<u8>) {
    let mut body = [0; 26];
    body[0..2].copy_from_slice(&0x012c_u16.to_le_bytes());
    body[2] = 0x13;
    body[3] = 0xff;
    body[15] = 0x01;
    element(out, 45, &body);
}

fn ht_operation(out: &mut Vec<u8>, channel: u8) {
    let mut body = [0; 22];
    body[0] = channel;
    body[2] = 0x01;
    element(out, 61, &body);
}

/// WPA2-PSK with CCMP, protected management frames neither required nor possible.
fn rsn(out: &mut Vec<u8>) {
    element(out, 48, &RSN);
}

const RSN: [u8; 20] = [1, 0, 0, 0x0f, 0xac, 4, 1, 0, 0, 0x0f, 0xac, 4, 1, 0, 0, 0x0f, 0xac, 2, 0, 0];

/// WMM parameter element (WMM specification 2.2.2) with the default EDCA parameters.
fn wmm_parameters(out: &mut Vec<u8>) {
    element(
        out,
        221,
        &[
            0x00, 0x50, 0xf2, 2, 1, 1, 0x80, 0, 0x03, 0xa4, 0, 0, 0x27, 0xa4, 0, 0, 0x42, 0x43, 0x5e, 0, 0x62, 0x32,
            0x2f, 0,
        ],
    );
}

fn wmm_information(out: &mut Vec<u8>) {
    element(out, 221, &[0x00, 0x50, 0xf2, 2, 0, 1, 0]);
}

fn capability(bss: &Bss) -> u16 {
    0x0421 | if bss.protected { 0x0010 } else { 0 }
}

fn access_point_elements(out: &mut Vec<u8>, bss: &Bss, channel: u8, tim: Option<(u8, bool)>) {
    let band_2_4 = channel <= 14;
    ssid(out, bss);
    rates(out);
    if band_2_4 {
        element(out, 3, &[channel]);
    }
    if let Some((dtim_count, station_1_has_data)) = tim {
        element(out, 5, &[dtim_count, 3, 0, u8::from(station_1_has_data) << 1]);
    }
    let (first, channels) = if band_2_4 { (1, 13) } else { (36, 4) };
    element(out, 7, &[bss.country[0], bss.country[1], b' ', first, channels, 20]);
    if band_2_4 {
        element(out, 42, &[0]);
    }
    extended_rates(out);
    if bss.protected {
        rsn(out);
    }
    if bss.ht {
        ht_capabilities(out);
        ht_operation(out, channel);
    }
    element(out, 127, &[0, 0, 0, 0, 0, 0, 0, 0x40]);
    wmm_parameters(out);
}

/// Beacon body; `tsf_us` is the access point's own clock.
pub(crate) fn beacon(out: &mut Vec<u8>, bss: &Bss, channel: u8, tsf_us: u64, dtim_count: u8, buffered: bool) {
    out.extend_from_slice(&tsf_us.to_le_bytes());
    out.extend_from_slice(&bss.beacon_interval_tu.to_le_bytes());
    out.extend_from_slice(&capability(bss).to_le_bytes());
    access_point_elements(out, bss, channel, Some((dtim_count, buffered)));
}

/// Probe response body.
pub(crate) fn probe_response(out: &mut Vec<u8>, bss: &Bss, channel: u8, tsf_us: u64) {
    out.extend_from_slice(&tsf_us.to_le_bytes());
    out.extend_from_slice(&bss.beacon_interval_tu.to_le_bytes());
    out.extend_from_slice(&capability(bss).to_le_bytes());
    access_point_elements(out, bss, channel, None);
}

/// Probe request body.
pub(crate) fn probe_request(out: &mut Vec<u8>, bss: &Bss, station: &Station) {
    ssid(out, bss);
    rates(out);
    extended_rates(out);
    if station.ht {
        ht_capabilities(out);
    }
}

/// Open system authentication, step 1 or 2.
pub(crate) fn authentication(out: &mut Vec<u8>, step: u8) {
    out.extend_from_slice(&[0, 0, step, 0, 0, 0]);
}

/// Association request body.
pub(crate) fn association_request(out: &mut Vec<u8>, bss: &Bss, station: &Station) {
    out.extend_from_slice(&capability(bss).to_le_bytes());
    out.extend_from_slice(&3u16.to_le_bytes());
    ssid(out, bss);
    rates(out);
    extended_rates(out);
    if bss.protected {
        rsn(out);
    }
    if station.ht {
        ht_capabilities(out);
    }
    if station.qos {
        wmm_information(out);
    }
}

/// Association response body (success).
pub(crate) fn association_response(out: &mut Vec<u8>, bss: &Bss, station: &Station, channel: u8, aid: u16) {
    out.extend_from_slice(&capability(bss).to_le_bytes());
    out.extend_from_slice(&0u16.to_le_bytes());
    out.extend_from_slice(&(aid | 0xc000).to_le_bytes());
    rates(out);
    extended_rates(out);
    if bss.ht && station.ht {
        ht_capabilities(out);
        ht_operation(out, channel);
    }
    if station.qos {
        wmm_parameters(out);
    }
}

/// LLC/SNAP and one of the four EAPOL-Key frames of the 4-way handshake. Nonces and keys are arbitrary bytes.
pub(crate) fn eapol_key(out: &mut Vec<u8>, message: u8, filler: &[u8]) {
    let (information, replay, nonce, mic): (u16, u8, bool, bool) = match message {
        1 => (0x008a, 1, true, false),
        2 => (0x010a, 1, true, true),
        3 => (0x13ca, 2, true, true),
        _ => (0x030a, 2, false, true),
    };
    let key_data: Vec<u8> = match message {
        2 => [&[48, RSN.len() as u8][..], &RSN].concat(),
        3 => filler.iter().copied().cycle().skip(5).take(56).collect(),
        _ => Vec::new(),
    };
    let random = |n: usize| filler.iter().copied().cycle().skip(usize::from(message)).take(n);
    out.extend_from_slice(&[0xaa, 0xaa, 0x03, 0, 0, 0, 0x88, 0x8e]);
    out.extend_from_slice(&[2, 3]);
    out.extend_from_slice(&(95 + key_data.len() as u16).to_be_bytes());
    out.push(2);
    out.extend_from_slice(&information.to_be_bytes());
    out.extend_from_slice(&(if message % 2 == 1 { 16u16 } else { 0 }).to_be_bytes());
    out.extend_from_slice(&u64::from(replay).to_be_bytes());
    if nonce {
        out.extend(random(32));
    } else {
        out.extend_from_slice(&[0; 32]);
    }
    out.extend_from_slice(&[0; 32]);
    if mic {
        out.extend(random(16));
    } else {
        out.extend_from_slice(&[0; 16]);
    }
    out.extend_from_slice(&(key_data.len() as u16).to_be_bytes());
    out.extend_from_slice(&key_data);
}

/// ADDBA request: immediate Block Ack, A-MSDU allowed.
pub(crate) fn addba_request(out: &mut Vec<u8>, token: u8, tid: u8, window: u16, first_seq: u16) {
    out.extend_from_slice(&[3, 0, token]);
    out.extend_from_slice(&(0x0003 | u16::from(tid & 15) << 2 | (window & 0x3ff) << 6).to_le_bytes());
    out.extend_from_slice(&[0, 0]);
    out.extend_from_slice(&(first_seq << 4).to_le_bytes());
}

/// ADDBA response: accepted, without A-MSDU.
pub(crate) fn addba_response(out: &mut Vec<u8>, token: u8, tid: u8, window: u16) {
    out.extend_from_slice(&[3, 1, token, 0, 0]);
    out.extend_from_slice(&(0x0002 | u16::from(tid & 15) << 2 | (window & 0x3ff) << 6).to_le_bytes());
    out.extend_from_slice(&[0, 0]);
}

/// DELBA by the originator, reason 37 (the station no longer wants the mechanism).
pub(crate) fn delba(out: &mut Vec<u8>, tid: u8) {
    out.extend_from_slice(&[3, 2]);
    out.extend_from_slice(&(0x0800 | u16::from(tid & 15) << 12).to_le_bytes());
    out.extend_from_slice(&37u16.to_le_bytes());
}
