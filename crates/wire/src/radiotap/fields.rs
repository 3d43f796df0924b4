//! The radiotap fields: their sizes, and what each one adds to a [`RadioInfo`].

use super::bytes::{byte, le16, le32, le64};
use super::modulation::Modulation;
use crate::radio_info::{AmpduStatus, DeviceStamp, LSig, RadioInfo, StampPosition};

/// Alignment and size of a field in bytes.
pub(super) struct Layout {
    pub(super) align: u8,
    pub(super) size: u8,
}

const fn bytes(align: u8, size: u8) -> Layout {
    Layout { align, size }
}

/// Fields 0 to 27, by number. Bit 28 and above are not fields of fixed size.
pub(super) const LAYOUT: [Layout; 28] = [
    bytes(8, 8),  // 0 TSFT
    bytes(1, 1),  // 1 flags
    bytes(1, 1),  // 2 rate
    bytes(2, 4),  // 3 channel
    bytes(2, 2),  // 4 FHSS
    bytes(1, 1),  // 5 antenna signal, dBm
    bytes(1, 1),  // 6 antenna noise, dBm
    bytes(2, 2),  // 7 lock quality
    bytes(2, 2),  // 8 TX attenuation
    bytes(2, 2),  // 9 TX attenuation, dB
    bytes(1, 1),  // 10 TX power, dBm
    bytes(1, 1),  // 11 antenna
    bytes(1, 1),  // 12 antenna signal, dB
    bytes(1, 1),  // 13 antenna noise, dB
    bytes(2, 2),  // 14 RX flags
    bytes(2, 2),  // 15 TX flags
    bytes(1, 1),  // 16 RTS retries
    bytes(1, 1),  // 17 data retries
    bytes(4, 8),  // 18 XChannel
    bytes(1, 3),  // 19 MCS
    bytes(4, 8),  // 20 A-MPDU status
    bytes(2, 12), // 21 VHT
    bytes(8, 12), // 22 timestamp
    bytes(2, 12), // 23 HE
    bytes(2, 12), // 24 HE-MU
    bytes(2, 6),  // 25 HE-MU other user
    bytes(1, 1),  // 26 zero-length PSDU
    bytes(2, 4),  // 27 L-SIG
];

/// Fields 0 to 14.
pub(super) const LOW: u32 = 0x7fff;

/// Those of them that most headers are made of.
pub(super) const USUAL: u32 = 1 << TSFT
    | 1 << FLAGS
    | 1 << RATE
    | 1 << CHANNEL
    | 1 << ANTENNA_SIGNAL
    | 1 << ANTENNA_NOISE
    | 1 << ANTENNA
    | 1 << RX_FLAGS;

/// Fields with a counter: headers with one of them never repeat each other.
pub(super) const EVER_NEW: u32 = 1 << AMPDU_STATUS | 1 << TIMESTAMP;

/// The next multiple of `to` (a power of two).
pub(super) const fn align(offset: usize, to: usize) -> usize {
    (offset + to - 1) & !(to - 1)
}

/// Where the field after those of numbers 1 to 4 would begin in a header with the presence word `word`, when field 1
/// would begin at `at`.
#[inline]
pub(super) fn after_channel(word: u32, mut at: usize) -> usize {
    for (field, layout) in LAYOUT.iter().enumerate().take(5).skip(1) {
        if word >> field & 1 == 1 {
            at = align(at, usize::from(layout.align)) + usize::from(layout.size);
        }
    }
    at
}

const TSFT: u32 = 0;
const FLAGS: u32 = 1;
const RATE: u32 = 2;
const CHANNEL: u32 = 3;
const ANTENNA_SIGNAL: u32 = 5;
const ANTENNA_NOISE: u32 = 6;
const ANTENNA: u32 = 11;
const RX_FLAGS: u32 = 14;
const TX_FLAGS: u32 = 15;
const RTS_RETRIES: u32 = 16;
const DATA_RETRIES: u32 = 17;
const XCHANNEL: u32 = 18;
const MCS: u32 = 19;
const AMPDU_STATUS: u32 = 20;
const VHT: u32 = 21;
const TIMESTAMP: u32 = 22;
const HE: u32 = 23;
const HE_MU: u32 = 24;
const ZERO_LENGTH_PSDU: u32 = 26;
const L_SIG: u32 = 27;
const U_SIG: u32 = 33;
const EHT: u32 = 34;

/// Flags (1): the bits used here.
const FLAG_SHORT_PREAMBLE: u8 = 0x02;
const FLAG_FCS: u8 = 0x10;
const FLAG_DATA_PAD: u8 = 0x20;
const FLAG_BAD_FCS: u8 = 0x40;

/// RX flags (14): the PLCP header failed its check.
const RX_FLAG_BAD_PLCP: u16 = 0x0002;

/// What has been read of a header so far. The [`RadioInfo`] is filled in place: moving it costs as much as decoding.
pub(super) struct Fields<'a> {
    info: &'a mut RadioInfo,
    flags: Option<u8>,
    modulation: Modulation,
}

impl<'a> Fields<'a> {
    pub(super) fn new(info: &'a mut RadioInfo) -> Self {
        Self { info, flags: None, modulation: Modulation::default() }
    }

    /// Takes the data of one field.
    ///
    /// In a TLV item the data may be shorter than the field (bytes that are not there are zero) or longer. Fields
    /// that occur again keep their first value, but for the signal, which is that of the strongest antenna.
    #[inline(always)]
    pub(super) fn take(&mut self, field: u32, data: &[u8]) {
        let info = &mut *self.info;
        match field {
            TSFT => {
                info.tsft_us.get_or_insert(le64(data, 0));
            }
            FLAGS => {
                self.flags.get_or_insert(byte(data, 0));
            }
            RATE => self.modulation.rate(byte(data, 0)),
            CHANNEL => {
                info.frequency_mhz = info.frequency_mhz.or(Some(le16(data, 0)).filter(|&mhz| mhz != 0));
                self.modulation.channel_flags(le16(data, 2));
            }
            ANTENNA_SIGNAL => {
                let dbm = byte(data, 0) as i8;
                info.signal_dbm = Some(info.signal_dbm.map_or(dbm, |strongest| strongest.max(dbm)));
            }
            ANTENNA_NOISE => {
                info.noise_dbm.get_or_insert(byte(data, 0) as i8);
            }
            RX_FLAGS => info.bad_plcp |= le16(data, 0) & RX_FLAG_BAD_PLCP != 0,
            TX_FLAGS | RTS_RETRIES | DATA_RETRIES => info.own_transmission = true,
            XCHANNEL => {
                info.frequency_mhz = info.frequency_mhz.or(Some(le16(data, 4)).filter(|&mhz| mhz != 0));
                self.modulation.channel_flags(le16(data, 0));
            }
            MCS => self.modulation.mcs(byte(data, 0), byte(data, 1), byte(data, 2)),
            AMPDU_STATUS => {
                info.ampdu.get_or_insert_with(|| ampdu_status(data));
            }
            VHT => self.modulation.vht(data),
            TIMESTAMP => info.stamp = info.stamp.or_else(|| timestamp(data)),
            HE => self.modulation.he(data),
            HE_MU => self.modulation.he_mu(data),
            ZERO_LENGTH_PSDU => info.zero_length_psdu = true,
            L_SIG => {
                info.l_sig.get_or_insert_with(|| l_sig(data));
            }
            U_SIG => self.modulation.u_sig(data),
            EHT => self.modulation.eht(data),
            _ => {}
        }
    }

    /// Called when all fields of one presence word of the radiotap namespace have been taken.
    ///
    /// A word with both a signal and an antenna number describes one antenna. Linux puts the combined signal, without
    /// an antenna number, in the first word when words for the antennas follow.
    pub(super) fn end_of_word(&mut self, present: u32) {
        const ONE_ANTENNA: u32 = 1 << ANTENNA_SIGNAL | 1 << ANTENNA;
        if present & ONE_ANTENNA == ONE_ANTENNA {
            self.info.antennas = self.info.antennas.saturating_add(1);
        }
    }

    /// Adds what needed several fields: call when all have been taken.
    pub(super) fn finish(self) {
        let info = self.info;
        if let Some(flags) = self.flags {
            info.fcs_included = Some(flags & FLAG_FCS != 0);
            info.bad_fcs = Some(flags & FLAG_BAD_FCS != 0);
            info.data_pad = flags & FLAG_DATA_PAD != 0;
        }
        info.allocation = self.modulation.allocation();
        info.sig_b = self.modulation.sig_b();
        info.mode = self.modulation.mode(self.flags.map(|flags| flags & FLAG_SHORT_PREAMBLE != 0));
    }
}

/// Field 20: reference u32, flags u16, delimiter CRC u8, reserved u8.
fn ampdu_status(data: &[u8]) -> AmpduStatus {
    const LAST_KNOWN: u16 = 0x0004;
    const LAST: u16 = 0x0008;
    const DELIMITER_CRC_ERROR: u16 = 0x0010;
    const EOF: u16 = 0x0040;
    const EOF_KNOWN: u16 = 0x0080;

    let flags = le16(data, 4);
    AmpduStatus {
        reference: le32(data, 0),
        is_last: (flags & LAST_KNOWN != 0).then_some(flags & LAST != 0),
        delimiter_crc_error: flags & DELIMITER_CRC_ERROR != 0,
        eof: (flags & EOF_KNOWN != 0).then_some(flags & EOF != 0),
    }
}

/// Field 22: time u64, accuracy u16, unit and position u8, flags u8. `None` for a unit that is not defined.
///
/// Multiplication wraps, so that differences between two stamps stay right.
fn timestamp(data: &[u8]) -> Option<DeviceStamp> {
    const COUNTER_32_BIT: u8 = 0x01;
    const ACCURACY_KNOWN: u8 = 0x02;

    let unit_and_position = byte(data, 10);
    let ns_per_unit: u32 = match unit_and_position & 0x0f {
        0 => 1_000_000,
        1 => 1_000,
        2 => 1,
        _ => return None,
    };
    let flags = byte(data, 11);
    let is_32bit = flags & COUNTER_32_BIT != 0;
    let units = if is_32bit { u64::from(le32(data, 0)) } else { le64(data, 0) };
    let accuracy_ns = u32::from(le16(data, 8)).checked_mul(ns_per_unit).filter(|_| flags & ACCURACY_KNOWN != 0);
    let position = match unit_and_position >> 4 {
        0 => StampPosition::FirstMpduBit,
        1 => StampPosition::PpduStart,
        2 => StampPosition::PpduEnd,
        3 => StampPosition::MpduEnd,
        _ => StampPosition::Unknown,
    };
    Some(DeviceStamp {
        ns: units.wrapping_mul(u64::from(ns_per_unit)),
        position,
        is_32bit,
        wraps_after_ns: is_32bit.then(|| u64::from(ns_per_unit) << 32),
        accuracy_ns,
    })
}

/// Field 27: known u16, then the rate code (bits 0 to 3) and the length (bits 4 to 15).
fn l_sig(data: &[u8]) -> LSig {
    let (known, value) = (le16(data, 0), le16(data, 2));
    LSig { length: (known & 2 != 0).then_some(value >> 4), rate: (known & 1 != 0).then_some((value & 0x0f) as u8) }
}
