//! Whether LDPC coding makes a PPDU one symbol longer (IEEE 802.11-2020 19.3.11.7.5, used by VHT in 21.3.10.5.4).

use super::rate::CodeRate;

/// True where the encoder needs one more symbol (two with STBC) than `available_bits` holds.
///
/// `payload_bits` is N_pld (SERVICE and PSDU; in VHT all data bits of the initial symbols), `available_bits` is
/// N_avbits (coded bits of the initial symbols).
pub(super) fn needs_extra_symbol(payload_bits: u64, available_bits: u64, code: CodeRate) -> bool {
    if payload_bits == 0 {
        return false;
    }
    let (num, den) = (u64::from(code.num), u64::from(code.den));
    let parity = den - num;
    let spare = available_bits.saturating_sub(payload_bits);
    // Table 19-16: number of codewords and their length, from how many bits are to spare beyond n * (1 - R).
    let room_for = |n: u64| den * spare >= n * parity;
    let (codewords, length) = match available_bits {
        0..=648 => (1, if room_for(912) { 1296 } else { 648 }),
        649..=1296 => (1, if room_for(1464) { 1944 } else { 1296 }),
        1297..=1944 => (1, 1944),
        1945..=2592 => (2, if room_for(2916) { 1944 } else { 1296 }),
        _ => ((payload_bits * den).div_ceil(1944 * num), 1944),
    };
    let coded = codewords * length;
    let shortened = (coded * num / den).saturating_sub(payload_bits);
    let punctured = coded.saturating_sub(available_bits + shortened);
    let share = |tenths: u64| 10 * den * punctured > tenths * coded * parity;
    (share(1) && 5 * parity * shortened < 6 * punctured * num) || share(3)
}

#[cfg(test)]
mod tests {
    use super::*;

    const R5_6: CodeRate = CodeRate { num: 5, den: 6 };
    const R1_2: CodeRate = CodeRate { num: 1, den: 2 };

    /// Worked by hand from the clause: 64-QAM 5/6 at 20 MHz (312 coded, 260 data bits per symbol), 32 bytes:
    /// 272 payload bits, 2 symbols, 624 available; 272 + 912/6 = 424 <= 624, so one codeword of 1296 bits;
    /// 808 shortened; no bits punctured.
    #[test]
    fn short_payload_needs_none() {
        assert!(!needs_extra_symbol(272, 624, R5_6));
    }

    /// 63 bytes in the same 2 symbols: 520 payload bits, 520 + 152 > 624, so one codeword of 648: 540 - 520 = 20
    /// shortened, 648 - 624 - 20 = 4 punctured, under a tenth of the 108 parity bits.
    /// BPSK 1/2 with 24 bytes: 208 payload bits, 8 symbols of 52, 416 available; 208 + 456 > 416: one of 648;
    /// 116 shortened, 116 punctured, over three tenths of 324.
    #[test]
    fn puncturing_decides() {
        assert!(!needs_extra_symbol(520, 624, R5_6));
        assert!(needs_extra_symbol(208, 416, R1_2));
    }
}
