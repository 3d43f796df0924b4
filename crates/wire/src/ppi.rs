//! Per-Packet Information (CACE Technologies; link type 192): a little-endian list of typed fields, then a frame of the
//! link type that the header names.

use crate::linktype::LinkType;
use crate::phy::{Bandwidth, Ht, Mode};
use crate::radio_info::{AmpduStatus, RadioError, RadioInfo};
use crate::radiotap;

/// Version u8, flags u8, length u16, link type u32.
const FIXED_BYTES: usize = 8;
/// Type u16, length u16.
const FIELD_HEADER_BYTES: usize = 4;
/// Header flag: each field is padded to a multiple of four bytes.
const FLAG_ALIGNED: u8 = 0x01;

const COMMON: u16 = 2;
const N_MAC: u16 = 3;
const N_MAC_PHY: u16 = 4;

const COMMON_BYTES: usize = 20;
const N_MAC_BYTES: usize = 12;
const N_MAC_PHY_BYTES: usize = 48;

/// Signal and noise: no value.
const NO_DBM: i8 = -128;

/// Decodes the PPI header at the start of `record`.
pub(crate) fn decode(record: &[u8]) -> Result<RadioInfo, RadioError> {
    let Some((&[version, flags, l0, l1, d0, d1, d2, d3], _)) = record.split_first_chunk::<FIXED_BYTES>() else {
        return Err(RadioError::Truncated { needed: FIXED_BYTES, got: record.len() });
    };
    if version != 0 {
        return Err(RadioError::Malformed("PPI version is not 0"));
    }
    let header_len = usize::from(u16::from_le_bytes([l0, l1]));
    if header_len < FIXED_BYTES {
        return Err(RadioError::Malformed("PPI length is shorter than its fixed part"));
    }
    let (Some(list), Some(frame)) = (record.get(FIXED_BYTES..header_len), record.get(header_len..)) else {
        return Err(RadioError::Truncated { needed: header_len, got: record.len() });
    };
    match LinkType(u32::from_le_bytes([d0, d1, d2, d3])) {
        LinkType::IEEE802_11 => {
            let mut info = RadioInfo { header_len, tsft_bits: 64, ..RadioInfo::default() };
            fields(list, flags & FLAG_ALIGNED != 0, &mut info)?;
            Ok(info)
        }
        // The inner header is the fuller one.
        LinkType::IEEE802_11_RADIOTAP => {
            let inner = radiotap::decode(frame)?;
            Ok(RadioInfo { header_len: header_len + inner.header_len, ..inner })
        }
        other => Err(RadioError::Unsupported(other)),
    }
}

/// Visits the fields. Fewer bytes than a field header at the end are padding.
fn fields(mut list: &[u8], is_aligned: bool, info: &mut RadioInfo) -> Result<(), RadioError> {
    let mut legacy = Mode::Unknown;
    let mut high_throughput = None;
    while let Some((&[t0, t1, l0, l1], rest)) = list.split_first_chunk::<FIELD_HEADER_BYTES>() {
        let len = usize::from(u16::from_le_bytes([l0, l1]));
        let Some(data) = rest.get(..len) else {
            return Err(RadioError::Malformed("a PPI field reaches past the end of the header"));
        };
        match u16::from_le_bytes([t0, t1]) {
            COMMON => legacy = common(data, info)?,
            // Without the MCS the modulation stays unknown: 54 Mbit/s is an OFDM rate and an HT rate.
            N_MAC => {
                n_mac(data, info)?;
                high_throughput.get_or_insert(Mode::Unknown);
            }
            N_MAC_PHY => high_throughput = Some(n_mac_phy(data, info)?),
            _ => {}
        }
        let next = if is_aligned { len.next_multiple_of(4) } else { len };
        list = rest.get(next..).unwrap_or_default();
    }
    info.mode = high_throughput.unwrap_or(legacy);
    Ok(())
}

/// 802.11-Common: TSF timer u64, flags u16, rate u16, frequency u16, channel flags u16, hop set u8, hop pattern u8,
/// signal i8, noise i8. Zero is "no value" for the first, the rate and the frequency.
///
/// Returns the modulation that the rate means if the frame is not an 802.11n one.
fn common(data: &[u8], info: &mut RadioInfo) -> Result<Mode, RadioError> {
    const FLAG_FCS: u16 = 0x01;
    const FLAG_TSF_IN_MS: u16 = 0x02;
    const FLAG_BAD_FCS: u16 = 0x04;
    const FLAG_PHY_ERROR: u16 = 0x08;

    let Some(data) = data.first_chunk::<COMMON_BYTES>() else {
        return Err(RadioError::Malformed("PPI 802.11-Common field is shorter than 20 bytes"));
    };
    let &[t0, t1, t2, t3, t4, t5, t6, t7, f0, f1, r0, r1, q0, q1, c0, c1, _, _, signal, noise] = data;
    let tsf = u64::from_le_bytes([t0, t1, t2, t3, t4, t5, t6, t7]);
    let flags = u16::from_le_bytes([f0, f1]);
    let us_per_unit = if flags & FLAG_TSF_IN_MS != 0 { 1000 } else { 1 };
    info.tsft_us = Some(tsf.wrapping_mul(us_per_unit)).filter(|_| tsf != 0);
    info.fcs_included = Some(flags & FLAG_FCS != 0);
    info.bad_fcs = Some(flags & FLAG_BAD_FCS != 0);
    info.bad_plcp = flags & FLAG_PHY_ERROR != 0;
    info.frequency_mhz = Some(u16::from_le_bytes([q0, q1])).filter(|&mhz| mhz != 0);
    info.signal_dbm = dbm(signal).or(info.signal_dbm);
    info.noise_dbm = dbm(noise);
    let rate = u8::try_from(u16::from_le_bytes([r0, r1])).ok();
    let channel_flags = u16::from_le_bytes([c0, c1]);
    Ok(rate.and_then(|rate| radiotap::legacy(rate, channel_flags, None)).unwrap_or(Mode::Unknown))
}

/// 802.11n MAC extensions: flags u32, A-MPDU id u32, number of delimiters u8, three reserved bytes.
fn n_mac(data: &[u8], info: &mut RadioInfo) -> Result<(), RadioError> {
    let Some(data) = data.first_chunk::<N_MAC_BYTES>() else {
        return Err(RadioError::Malformed("PPI 802.11n MAC field is shorter than 12 bytes"));
    };
    let &[f0, f1, f2, f3, a0, a1, a2, a3, ..] = data;
    info.ampdu = ampdu(u32::from_le_bytes([f0, f1, f2, f3]), u32::from_le_bytes([a0, a1, a2, a3]));
    Ok(())
}

/// 802.11n MAC+PHY extensions: the first nine bytes of the MAC field, MCS u8, streams u8, RSSI [u8; 9], extension
/// channel u16 and flags u16, then signal and noise i8 of four antennas, and EVM [u32; 4].
fn n_mac_phy(data: &[u8], info: &mut RadioInfo) -> Result<Mode, RadioError> {
    const FLAG_GREENFIELD: u32 = 0x01;
    const FLAG_40_MHZ: u32 = 0x02;
    const FLAG_SHORT_GI: u32 = 0x04;
    const ANTENNAS: core::ops::Range<usize> = 24..32;
    const HIGHEST_MCS: u8 = 76;

    let Some(data) = data.first_chunk::<N_MAC_PHY_BYTES>() else {
        return Err(RadioError::Malformed("PPI 802.11n MAC+PHY field is shorter than 48 bytes"));
    };
    let &[f0, f1, f2, f3, a0, a1, a2, a3, _, mcs, ..] = data;
    let flags = u32::from_le_bytes([f0, f1, f2, f3]);
    info.ampdu = ampdu(flags, u32::from_le_bytes([a0, a1, a2, a3]));
    let signals = data[ANTENNAS].iter().step_by(2).filter_map(|&signal| dbm(signal));
    info.antennas = signals.clone().count() as u8;
    info.signal_dbm = info.signal_dbm.or(signals.max());
    if mcs > HIGHEST_MCS {
        return Ok(Mode::Unknown);
    }
    Ok(Mode::Ht(Ht {
        mcs,
        bandwidth: if flags & FLAG_40_MHZ != 0 { Bandwidth::Mhz40 } else { Bandwidth::Mhz20 },
        short_gi: Some(flags & FLAG_SHORT_GI != 0),
        greenfield: Some(flags & FLAG_GREENFIELD != 0),
        ldpc: None,
        stbc: None,
        ness: 0,
    }))
}

/// A-MPDU status from the flags of either 802.11n field; `None` for a frame that was not part of one.
///
/// With a broken delimiter after the frame it is not known whether more subframes followed.
fn ampdu(flags: u32, reference: u32) -> Option<AmpduStatus> {
    const FLAG_AGGREGATE: u32 = 0x10;
    const FLAG_MORE_AGGREGATES: u32 = 0x20;
    const FLAG_DELIMITER_CRC_ERROR: u32 = 0x40;

    let delimiter_crc_error = flags & FLAG_DELIMITER_CRC_ERROR != 0;
    (flags & FLAG_AGGREGATE != 0).then_some(AmpduStatus {
        reference,
        is_last: if delimiter_crc_error { None } else { Some(flags & FLAG_MORE_AGGREGATES == 0) },
        delimiter_crc_error,
        eof: None,
    })
}

fn dbm(value: u8) -> Option<i8> {
    Some(value as i8).filter(|&dbm| dbm != NO_DBM)
}
