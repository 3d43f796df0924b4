//! The AVS capture header (link type 163, and inside 119): big-endian u32 fields, 64 bytes in version 1 and 80 in 2.

use crate::channel;
use crate::phy::Mode;
use crate::radio_info::{RadioError, RadioInfo};

const MAGIC_V1: u32 = 0x8021_1001;
const MAGIC_V2: u32 = 0x8021_1002;

/// The fields that both versions have.
const COMMON_BYTES: usize = 64;

/// PHY types: frequency hopping, where "channel" and rate mean other things, and infrared.
const PHY_FREQUENCY_HOPPING: u32 = 1;
const PHY_INFRARED: u32 = 3;

/// Signal strengths are in dBm.
const SSI_DBM: u32 = 2;
/// Noise is not known.
const NO_NOISE: u32 = 0xffff_ffff;

/// Encodings that are neither DSSS/CCK nor OFDM although they share their rates.
const ENCODING_PBCC: u32 = 2;
const ENCODING_DSSS_OFDM: u32 = 4;

/// Whether a header that starts with this big-endian value is an AVS header.
pub(crate) const fn is_avs(magic: u32) -> bool {
    matches!(magic, MAGIC_V1 | MAGIC_V2)
}

/// Decodes the AVS header at the start of `record`.
pub(crate) fn decode(record: &[u8]) -> Result<RadioInfo, RadioError> {
    let Some(fields) = record.first_chunk::<COMMON_BYTES>() else {
        return Err(RadioError::Truncated { needed: COMMON_BYTES, got: record.len() });
    };
    let be32 = |at: usize| {
        fields.get(at..).and_then(|rest| rest.first_chunk::<4>()).map_or(0, |bytes| u32::from_be_bytes(*bytes))
    };
    if !is_avs(be32(0)) {
        return Err(RadioError::Malformed("not an AVS header"));
    }
    let header_len = be32(4) as usize;
    if header_len < COMMON_BYTES {
        return Err(RadioError::Malformed("AVS length is shorter than its fixed part"));
    }
    if header_len > record.len() {
        return Err(RadioError::Truncated { needed: header_len, got: record.len() });
    }

    let mac_time_us = u64::from(be32(8)) << 32 | u64::from(be32(12));
    let phy = be32(24);
    let is_wlan_rate = !matches!(phy, PHY_FREQUENCY_HOPPING | PHY_INFRARED);
    let ssi_is_dbm = be32(44) == SSI_DBM;
    let dbm = |value: u32| i8::try_from(value as i32).ok().filter(|_| ssi_is_dbm);
    Ok(RadioInfo {
        header_len,
        // Zero stands for "not supplied".
        tsft_us: Some(mac_time_us).filter(|&us| us != 0),
        tsft_bits: 64,
        frequency_mhz: if is_wlan_rate { frequency_mhz(be32(28)) } else { None },
        mode: if is_wlan_rate { mode(be32(32), be32(56), be32(60)) } else { Mode::Unknown },
        signal_dbm: dbm(be32(48)),
        noise_dbm: Some(be32(52)).filter(|&noise| noise != NO_NOISE).and_then(dbm),
        ..RadioInfo::default()
    })
}

/// A channel number below 256, MHz below 10 000, else kHz.
fn frequency_mhz(value: u32) -> Option<u16> {
    match value {
        0..=255 => channel::frequency_mhz(value),
        256..=9999 => u16::try_from(value).ok(),
        _ => u16::try_from(value / 1000).ok(),
    }
}

/// `rate` is in units of 100 kbit/s, or in bit/s where it is too large for that.
fn mode(rate: u32, preamble: u32, encoding: u32) -> Mode {
    if matches!(encoding, ENCODING_PBCC | ENCODING_DSSS_OFDM) {
        return Mode::Unknown;
    }
    let per_500kbps = if rate < 100_000 { 5 } else { 500_000 };
    if rate % per_500kbps != 0 {
        return Mode::Unknown;
    }
    let short_preamble = match preamble {
        1 => Some(true),
        2 => Some(false),
        _ => None,
    };
    let rate_500kbps = u8::try_from(rate / per_500kbps).ok();
    rate_500kbps.and_then(|rate| Mode::from_legacy_rate(rate, short_preamble)).unwrap_or(Mode::Unknown)
}
