//! The 24 bytes and the PHY status before each received frame (rtl8xxxu.h, struct rtl8xxxu_rxdesc16 and struct
//! rtl8723au_phy_stats; rtlwifi rtl8192cu/trx.h and mac.c).

use wire::phy::{Bandwidth, Mode};

use super::model::Model;
use crate::air::rates::{mode, Modulation, LEGACY_RATES, MCS0};

/// Bytes of PHY status that this chip has, in the driver information.
const PHY_STATUS: usize = 32;

/// What the chip says about a received frame.
#[derive(Clone, Copy, Debug, serde::Serialize, serde::Deserialize)]
pub struct Received {
    /// How it was modulated.
    pub mode: Mode,
    /// Signal strength.
    pub signal_dbm: i8,
    /// Encryption that it came with (0 none, 1 and 5 WEP, 2 TKIP, 4 CCMP), and whether the chip decrypted it.
    pub security: u8,
    /// See `security`.
    pub decrypted: bool,
    /// The integrity check of the encryption failed.
    pub integrity_error: bool,
    /// Part of an A-MPDU; the first of it.
    pub ampdu: Option<bool>,
    /// TSF when it came, lower half, us.
    pub tsf_us: u32,
    /// QoS data: the TID.
    pub tid: Option<u8>,
    /// Sequence control.
    pub sequence_control: u16,
    /// Address 1 is a group address; the broadcast address.
    pub multicast: bool,
    /// See `multicast`.
    pub broadcast: bool,
}

/// Appends descriptor, driver information and frame. `packets` is how many frames the whole transfer has, said in the
/// first; `units` is RX_DRVINFO_SZ.
pub fn emit(
    model: Model,
    received: &Received,
    frame: &[u8],
    packets: u8,
    units: u8,
    phy_status: bool,
    out: &mut Vec<u8>,
) {
    let units = u32::from(units & 0x0f);
    let (rate, ht) = rate_number(received.mode);
    let bit = |condition: bool, bit: u32| u32::from(condition) << bit;
    let wide = matches!(received.mode, Mode::Ht(ht) if ht.bandwidth == Bandwidth::Mhz40);
    let short_gi = matches!(received.mode, Mode::Ht(ht) if ht.short_gi == Some(true));
    let greenfield = matches!(received.mode, Mode::Ht(ht) if ht.greenfield == Some(true));
    let words = [
        frame.len() as u32 & 0x3fff
            | bit(received.integrity_error, 15)
            | units << 16
            | u32::from(received.security & 7) << 20
            | bit(received.tid.is_some(), 23)
            | bit(phy_status, 26)
            | bit(!received.decrypted, 27)
            | 3 << 28,
        u32::from(received.tid.unwrap_or(0) & 15) << 5
            | bit(received.ampdu.is_some(), 14)
            | bit(received.ampdu == Some(true), 15)
            | bit(received.multicast && !received.broadcast, 30)
            | bit(received.broadcast, 31),
        u32::from(received.sequence_control >> 4)
            | u32::from(received.sequence_control & 15) << 12
            | u32::from(packets) << 16,
        u32::from(rate) | bit(ht, 6) | bit(greenfield, 7) | bit(short_gi, 8) | bit(wide, 9),
        0,
        received.tsf_us,
    ];
    out.extend(words.iter().flat_map(|word| word.to_le_bytes()));
    let start = out.len();
    out.resize(start + 8 * units as usize, 0);
    if let Some(status) = out.get_mut(start..start + PHY_STATUS.min(8 * units as usize)).filter(|_| phy_status) {
        phy(model, received, short_gi, status);
    }
    out.extend_from_slice(frame);
}

/// `rpt_sel` of a report over a time (rtl8xxxu core.c, rtl8188e_c2hcmd_callback).
const REPORT_2: u32 = 2;

/// Appends descriptor and transmit report (8188e.c, rtl8188e_handle_ra_tx_report2: `valid` is in words 4 and 5).
pub fn emit_report(valid: u64, report: &[u8], packets: u8, out: &mut Vec<u8>) {
    let words = [
        report.len() as u32 & 0x3ff | 3 << 28,
        0,
        u32::from(packets) << 16,
        REPORT_2 << 14,
        valid as u32,
        (valid >> 32) as u32,
    ];
    out.extend(words.iter().flat_map(|word| word.to_le_bytes()));
    out.extend_from_slice(report);
}

/// Descriptor number of the rate, and whether it is HT.
fn rate_number(mode: Mode) -> (u8, bool) {
    match mode {
        Mode::Dsss { rate_500kbps, .. } | Mode::Ofdm { rate_500kbps, .. } => {
            (LEGACY_RATES.iter().position(|&rate| rate == rate_500kbps).unwrap_or(0) as u8, false)
        }
        Mode::Ht(ht) => (MCS0 + ht.mcs.min(15), true),
        _ => (0, false),
    }
}

/// How the frame was modulated, by word 3 of the descriptor.
pub fn mode_of(word: u32) -> Mode {
    let bit = |at: u32| word >> at & 1 == 1;
    let modulation = Modulation { wide: bit(9), short_gi: bit(8), greenfield: bit(7), ..Modulation::default() };
    mode((word & 0x3f) as u8, modulation)
}

/// Bytes: AGC of each path, channel correlation, power or signal quality, AGC report, ...; the last byte has the guard
/// interval.
fn phy(model: Model, received: &Received, short_gi: bool, status: &mut [u8]) {
    let mut put = |at: usize, value: u8| {
        if let Some(byte) = status.get_mut(at) {
            *byte = value;
        }
    };
    let dbm = received.signal_dbm;
    if let Mode::Dsss { .. } = received.mode {
        put(5, cck_strength(model, dbm));
        put(4, 20);
    } else {
        let power = (i16::from(dbm) + 110).clamp(0, 127) as u8;
        // Gain of the path, in 2 dB over -110; power in half dB over -110.
        put(0, power / 2);
        put(4, power << 1);
        put(14, 60);
    }
    put(PHY_STATUS - 1, u8::from(short_gi) << 1);
}

/// The AGC report of a DSSS frame, from which drivers work out its strength.
fn cck_strength(model: Model, dbm: i8) -> u8 {
    let dbm = i16::from(dbm);
    match model {
        // rtl8723a_cck_rssi: bits 7:6 choose the offset, bits 5:1 are taken from it.
        Model::Rtl8188cus | Model::Rtl8723au => {
            let steps = [(0xc0u8, -46i16), (0x80, -26), (0x40, -12), (0x00, 16)];
            let fits = steps.iter().find(|(_, top)| *top >= dbm).unwrap_or(&(0x00, 16));
            fits.0 | ((fits.1 - dbm).clamp(0, 0x3e) as u8 & 0x3e)
        }
        // rtl8188e_cck_rssi: bits 7:5 choose the gain of the amplifier, of which a chip by TSMC uses 3 and 7; bits 4:0 are
        // taken from it in 2 dB.
        Model::Rtl8188eu => {
            let (amplifier, gain) = if dbm <= -33 { (7u8, -33) } else { (3, 3) };
            amplifier << 5 | ((gain - dbm) / 2).clamp(0, 31) as u8
        }
    }
}

#[cfg(test)]
mod tests {
    use wire::usb::realtek::RxWalk;

    use super::*;

    fn received(mode: Mode, signal_dbm: i8) -> Received {
        Received {
            mode,
            signal_dbm,
            security: 0,
            decrypted: false,
            integrity_error: false,
            ampdu: None,
            tsf_us: 0,
            tid: None,
            sequence_control: 0,
            multicast: false,
            broadcast: false,
        }
    }

    #[test]
    fn descriptors_are_read_back() {
        let mode = crate::air::rates::mode(19, Default::default());
        let mut bytes = Vec::new();
        emit(Model::Rtl8188cus, &received(mode, -45), &[7; 100], 1, 4, true, &mut bytes);
        let walk: Vec<_> = RxWalk::new(&bytes, bytes.len()).collect();
        assert_eq!(walk.len(), 1);
        let packet = walk[0].unwrap();
        assert_eq!((packet.overhead, packet.frame_len), (56, 100));
        assert_eq!((bytes[12] & 0x3f, bytes[12] >> 6 & 1), (19, 1));
        assert_eq!(mode_of(u32::from_le_bytes(bytes[12..16].try_into().unwrap())).rate_kbps(), mode.rate_kbps());
        // (pwdb >> 1) - 110, as rtl8723au_rx_parse_phystats reads it.
        assert_eq!(i16::from(bytes[24 + 4] >> 1) - 110, -45);
    }

    /// As rtl8188e_cck_rssi reads it, to the 2 dB that it has.
    #[test]
    fn cck_strengths_of_an_rtl8188eu() {
        for dbm in -95..=3i8 {
            let mode = Mode::Dsss { rate_500kbps: 2, short_preamble: None };
            let mut bytes = Vec::new();
            emit(Model::Rtl8188eu, &received(mode, dbm), &[], 1, 4, true, &mut bytes);
            let report = bytes[24 + 5];
            let gain = [29, 20, 12, 3, -6, -15, -24, -33][usize::from(report >> 5)];
            let read = gain - 2 * i16::from(report & 31);
            assert!((read - i16::from(dbm)).abs() <= 1, "{dbm}: {read}");
        }
    }

    #[test]
    fn reports_are_read_back() {
        let mut bytes = Vec::new();
        emit_report(1 << 40 | 3, &[9; 16], 1, &mut bytes);
        let packet = RxWalk::new(&bytes, bytes.len()).next().unwrap().unwrap();
        assert_eq!((packet.overhead, packet.frame_len, packet.report), (24, 16, 2));
        assert_eq!(bytes[16..24], [3, 0, 0, 0, 0, 1, 0, 0]);
    }

    /// The driver's formula gives the strength back, to the 2 dB that it has.
    #[test]
    fn cck_strengths() {
        for dbm in -100..10i8 {
            let mode = Mode::Dsss { rate_500kbps: 2, short_preamble: None };
            let mut bytes = Vec::new();
            emit(Model::Rtl8188cus, &received(mode, dbm), &[], 1, 4, true, &mut bytes);
            let report = bytes[24 + 5];
            let top = [16, -12, -26, -46][usize::from(report >> 6)];
            let read = top - i16::from(report & 0x3e);
            assert!((read - i16::from(dbm)).abs() <= 1, "{dbm}: {read}");
        }
    }
}
