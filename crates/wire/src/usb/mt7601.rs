//! Where an MT7601U puts the fields of [`super::mediatek`] that the later chips of the family have elsewhere (fields as in
//! Linux' mt7601u: mac.h, dma.h, phy.c). Little endian.
//!
//! Rates have one bit for the width and the format in bits 15:14, the mark of a report is in bits 15:12 of a frame's length,
//! and the descriptor of a received frame (RXWI) has 28 bytes, with the gain of the receiver in place of a signal.

use super::mediatek::{Rate, Rxwi, Txwi, TXWI};

/// Bytes of the descriptor of a received frame (mac.h, struct mt7601u_rxwi).
pub const RXWI: usize = 28;
/// Bits of a frame's length (mac.h, MT_TXWI_LEN_BYTE_CNT); the mark of the report is above them.
const LEN_BITS: u16 = 0x0fff;
const MARK_SHIFT: u32 = 12;
/// Gain of the low-noise amplifier by its number in a report, less one where it is not 0, in 20 and in 40 MHz (phy.c,
/// mt7601u_phy_get_rssi, main LNA).
const LNA_DB: [[i16; 3]; 2] = [[-2, 15, 33], [0, 16, 34]];
/// Numbers of the three gains (a comment there: "LNA id can be 0, 2, 3").
const LNA_NUMBERS: [u8; 3] = [0, 2, 3];
/// What the driver starts from.
const REFERENCE_DBM: i16 = 8;
/// Largest value of the rest (mac.h, MT_RXWI_GAIN_RSSI_VAL).
const GAIN_MAX: i16 = 0x3f;

/// A rate from its 16 bits (mac.h, MT_TXWI_RATE_* and MT_RXWI_RATE_*).
pub const fn rate(bits: u16) -> Rate {
    // Index 63 is no rate either, in both layouts.
    let index = if bits & 0x7f < 0x3f { bits & 0x7f } else { 0x3f };
    let stbc = if bits >> 9 & 3 == 0 { 0 } else { 1 << 10 };
    Rate(index | bits & 1 << 7 | (bits >> 8 & 1) << 9 | stbc | bits >> 14 << 13)
}

/// Its 16 bits.
pub const fn rate_bits(rate: Rate) -> u16 {
    let Rate(bits) = rate;
    let wide = if bits >> 7 & 3 == 0 { 0 } else { 1 << 7 };
    bits & 0x3f | wide | (bits >> 9 & 1) << 8 | (bits >> 10 & 1) << 9 | (bits >> 13 & 3) << 14
}

/// Reads what a driver says of a frame to be sent (mac.h, struct mt76_txwi), and what is behind it. `None`: too short.
pub fn split_txwi(bytes: &[u8]) -> Option<(Txwi, &[u8])> {
    let (mut txwi, rest) = Txwi::split(bytes)?;
    txwi.rate = rate(u16::from_le_bytes([*bytes.get(2)?, *bytes.get(3)?]));
    txwi.packet_id = *bytes.get(7)? >> (MARK_SHIFT - 8);
    Some((txwi, rest))
}

/// Writes it.
pub fn emit_txwi(txwi: &Txwi) -> [u8; TXWI] {
    let mut bytes = Txwi { packet_id: 0, ..*txwi }.emit();
    bytes[2..4].copy_from_slice(&rate_bits(txwi.rate).to_le_bytes());
    let length = txwi.frame_len as u16 & LEN_BITS | u16::from(txwi.packet_id) << MARK_SHIFT;
    bytes[6..8].copy_from_slice(&length.to_le_bytes());
    bytes
}

fn lna_db(rate: Rate, number: usize) -> i16 {
    let wide = usize::from(rate_bits(rate) >> 7 & 1);
    LNA_DB.get(wide).and_then(|gains| gains.get(number)).copied().unwrap_or(0)
}

/// The report of the gain for a signal, on a device with an EEPROM that has this gain of the LNA: the smallest amplification at
/// which the rest fits.
fn gain(rate: Rate, signal_dbm: i8, lna_gain: i8) -> u8 {
    let rest = |number: usize| REFERENCE_DBM - lna_db(rate, number) - i16::from(lna_gain) - i16::from(signal_dbm);
    let number = (0..LNA_NUMBERS.len()).find(|&number| rest(number) <= GAIN_MAX).unwrap_or(LNA_NUMBERS.len() - 1);
    let lna = LNA_NUMBERS.get(number).copied().unwrap_or(0);
    lna << 6 | rest(number).clamp(0, GAIN_MAX) as u8
}

/// What a driver makes of that report.
fn signal_dbm(rate: Rate, gain: u8, lna_gain: i8) -> i8 {
    let number = usize::from((gain >> 6).saturating_sub(1));
    let signal = REFERENCE_DBM - lna_db(rate, number) - i16::from(gain & 0x3f) - i16::from(lna_gain);
    signal.clamp(i16::from(i8::MIN), i16::from(i8::MAX)) as i8
}

/// Writes what a chip says of a received frame. `lna_gain` is that of its EEPROM.
pub fn emit_rxwi(rxwi: &Rxwi, lna_gain: i8) -> [u8; RXWI] {
    let common = rxwi.emit();
    let mut bytes = [0; RXWI];
    bytes[..8].copy_from_slice(&common[..8]);
    // The length has 12 bits, the TID is above them; bits 3:0 of the sequence number are a fragment's.
    bytes[7] = common[7] & 0x0f | (rxwi.tid_sequence as u8 & 0x0f) << 4;
    bytes[8..10].copy_from_slice(&(rxwi.tid_sequence & !0x0f).to_le_bytes());
    bytes[10..12].copy_from_slice(&rate_bits(rxwi.rate).to_le_bytes());
    bytes[18] = gain(rxwi.rate, rxwi.signal_dbm, lna_gain);
    bytes
}

/// Reads one, and what is behind it. `None`: too short.
pub fn split_rxwi(bytes: &[u8], lna_gain: i8) -> Option<(Rxwi, &[u8])> {
    let (b, rest) = bytes.split_first_chunk::<RXWI>()?;
    let mut common = [0; super::mediatek::RXWI];
    common[..8].copy_from_slice(&b[..8]);
    common[7] &= 0x0f;
    let (rxwi, _) = Rxwi::split(&common)?;
    let rate = rate(u16::from_le_bytes([b[10], b[11]]));
    let tid_sequence = u16::from_le_bytes([b[8], b[9]]) & !0x0f | u16::from(b[7] >> 4);
    Some((Rxwi { tid_sequence, rate, signal_dbm: signal_dbm(rate, b[18], lna_gain), ..rxwi }, rest))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// By hand from mac.c, mt76_mac_tx_rate_val, and tx.c, mt7601u_push_txwi.
    #[test]
    fn fields_are_where_the_driver_puts_them() {
        let mut bytes = [0; TXWI + 4];
        bytes[0] = 1 << 4;
        (bytes[2], bytes[3]) = (0x87, 2 << 6 | 1); // HT MCS 7, 40 MHz, short guard interval
        (bytes[4], bytes[5], bytes[6], bytes[7]) = (1 | 63 << 2, 1, 0xf6, 8 << 4 | 5);
        let (txwi, rest) = split_txwi(&bytes).unwrap();
        assert_eq!((txwi.rate.mode().unwrap().rate_kbps(), txwi.rate.0), (Some(150_000), 0x4287));
        assert_eq!((txwi.ampdu, txwi.ack, txwi.number, txwi.window, txwi.wcid), (true, true, false, 63, 1));
        assert_eq!((txwi.frame_len, txwi.packet_id, rest.len()), (0x5f6, 8, 4));
        let kbps = |bits: u16| rate(bits).mode().and_then(|mode| mode.rate_kbps());
        assert_eq!([kbps(0x0000), kbps(0x000b), kbps(0x4007), kbps(0x8007)], [1_000, 11_000, 54_000, 65_000].map(Some));
        assert_eq!([kbps(0x8107), kbps(0xc000), kbps(0x8047), kbps(0x4008)], [Some(72_222), Some(6_500), None, None]);
    }

    /// By hand from phy.c, mt7601u_phy_get_rssi, with a gain of 8 in the EEPROM: 8 - 15 - 30 - 8 = -45.
    #[test]
    fn the_gain_says_the_signal() {
        let rxwi =
            Rxwi { rate: Rate(0x4007), signal_dbm: -45, tid_sequence: 0x0125, frame_len: 100, ..Rxwi::default() };
        let bytes = emit_rxwi(&rxwi, 8);
        // 20 MHz: with the smallest gain 47 would do.
        assert_eq!(bytes[18], 47);
        assert_eq!((signal_dbm(Rate(0x4007), 2 << 6 | 30, 8), signal_dbm(Rate(0x4007), 3 << 6 | 63, 8)), (-45, -96));
        assert_eq!((bytes[6], bytes[7], bytes[8], bytes[9]), (100, 5 << 4, 0x20, 0x01));
        for signal_dbm in -96..=-1 {
            for rate in [Rate(0x4007), Rate(0x4087), Rate(0)] {
                let bytes = emit_rxwi(&Rxwi { rate, signal_dbm, ..Rxwi::default() }, 8);
                assert_eq!(split_rxwi(&bytes, 8).unwrap().0.signal_dbm, signal_dbm, "{rate:?}");
            }
        }
    }

    proptest! {
        #[test]
        fn rates_come_back(bits: u16) {
            let known = rate(bits).mode();
            prop_assert_eq!(rate(rate_bits(rate(bits))).mode(), known);
            if let Some(it) = known.as_ref().and_then(Rate::of) {
                prop_assert_eq!(rate(rate_bits(it)).mode(), it.mode());
            }
        }

        #[test]
        fn what_is_written_is_read(ampdu: bool, bits: u16, ack: bool, number: bool, window in 0u8..64, wcid: u8,
                                   frame_len in 0usize..4_096, packet_id in 0u8..16) {
            let rate = rate(bits);
            let txwi = Txwi { ampdu, rate, ack, number, window, wcid, frame_len, packet_id, ..Txwi::default() };
            let bytes = emit_txwi(&txwi);
            prop_assert_eq!(split_txwi(&bytes), Some((txwi, &[][..])));
        }

        #[test]
        fn what_was_received_is_read(bits: [bool; 9], wcid: u8, frame_len in 0usize..4_096, tid_sequence: u16, mcs in 0u16..8,
                                     signal_dbm in -96i8..0) {
            let [block_ack, data, unicast, multicast, broadcast, own_network, padded, ampdu, decrypted] = bits;
            let rxwi = Rxwi {
                block_ack, data, unicast, multicast, broadcast, own_network, padded, ampdu, decrypted, wcid, frame_len,
                tid_sequence, rate: Rate(0x4000 | mcs), signal_dbm,
            };
            let bytes = emit_rxwi(&rxwi, 8);
            prop_assert_eq!(split_rxwi(&bytes, 8), Some((rxwi, &[][..])));
        }

        #[test]
        fn any_bytes_are_read_without_a_panic(bytes: Vec<u8>, lna_gain: i8) {
            let _ = (split_txwi(&bytes), split_rxwi(&bytes, lna_gain));
        }
    }
}
