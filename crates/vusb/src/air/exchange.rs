//! What an exchange costs, frame by frame.

use wire::phy::{
    ampdu_psdu_len, control_response_rate, response_gap_ns, Band, Mode, RateSet, ACK_LEN, BLOCK_ACK_64_LEN, CTS_LEN,
    RTS_LEN,
};

use super::{Ppdu, Protection, Response};

/// Bytes of a frame check sequence.
pub const FCS_LEN: usize = 4;
const BAND: Band = Band::Ghz2_4;

/// A frame's place in time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slice {
    /// First sample of its preamble, ns after the exchange began.
    pub start_ns: u64,
    /// Its end.
    pub end_ns: u64,
    /// How it is modulated.
    pub mode: Mode,
}

/// When which frame of an exchange is on the air. Times are ns after its beginning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timeline {
    /// RTS, or CTS to oneself.
    pub protection: Option<Slice>,
    /// CTS that answers RTS.
    pub cts: Option<Slice>,
    /// The PPDU.
    pub data: Slice,
    /// What answers it.
    pub response: Option<Slice>,
    /// When the medium is free again, if all goes well: the end of the last frame and its signal extension.
    pub end_ns: u64,
}

/// Bytes of the PSDU.
pub fn psdu_len(ppdu: &Ppdu) -> usize {
    let lens = ppdu.mpdus.iter().map(|mpdu| mpdu.len() + FCS_LEN);
    if ppdu.aggregated {
        ampdu_psdu_len(lens)
    } else {
        lens.sum()
    }
}

/// Time on the air. A mode that [`wire::phy`] cannot price does not come out of a chip; it would last a second.
pub fn duration_ns(mode: &Mode, len: usize) -> u64 {
    mode.duration(len, Some(BAND)).map_or(1_000_000_000, |duration| duration.ns)
}

/// Silence between a PPDU and its response.
pub fn gap_ns(mode: &Mode) -> u64 {
    u64::from(response_gap_ns(BAND, mode).unwrap_or(16_000))
}

/// Silence that a PPDU ends with, which belongs to it: 6 us after OFDM in 2.4 GHz.
pub fn signal_extension_ns(mode: &Mode) -> u64 {
    if matches!(mode, Mode::Dsss { .. }) {
        0
    } else {
        6_000
    }
}

/// The mode of a control frame that answers `mode`.
pub fn response_mode(mode: &Mode, basic: Option<&RateSet>) -> Mode {
    control_response_rate(mode, basic, BAND).unwrap_or(Mode::Dsss { rate_500kbps: 2, short_preamble: Some(false) })
}

/// Places the frames of an exchange.
pub fn timeline(ppdu: &Ppdu, basic: Option<&RateSet>) -> Timeline {
    let mut at = 0;
    let mut place = |mode: Mode, len: usize, gap: bool| {
        let slice = Slice { start_ns: at, end_ns: at + duration_ns(&mode, len), mode };
        at = slice.end_ns + if gap { gap_ns(&mode) } else { signal_extension_ns(&mode) };
        slice
    };
    let (protection, cts) = match ppdu.protection {
        Protection::None => (None, None),
        Protection::CtsToSelf(mode) => (Some(place(mode, CTS_LEN, true)), None),
        Protection::Rts(mode) => {
            let rts = place(mode, RTS_LEN, true);
            (Some(rts), Some(place(response_mode(&mode, basic), CTS_LEN, true)))
        }
    };
    let response_len = match ppdu.response {
        Response::None => None,
        Response::Ack => Some(ACK_LEN),
        Response::BlockAck => Some(BLOCK_ACK_64_LEN),
    };
    let data = place(ppdu.mode, psdu_len(ppdu), response_len.is_some());
    let response = response_len.map(|len| place(response_mode(&ppdu.mode, basic), len, false));
    Timeline { protection, cts, data, response, end_ns: at }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wire::phy::Bandwidth;

    fn ofdm(rate_500kbps: u8) -> Mode {
        Mode::Ofdm { rate_500kbps, bandwidth: Bandwidth::Mhz20 }
    }

    /// 1500 bytes at 54 Mbit/s: 244 us with ACK at 24 Mbit/s 28 us after 16 us, and 6 us of signal extension.
    #[test]
    fn a_frame_and_its_acknowledgement() {
        let ppdu = Ppdu {
            mode: ofdm(108),
            mpdus: vec![vec![0; 1496]],
            aggregated: false,
            protection: Protection::None,
            response: Response::Ack,
        };
        let line = timeline(&ppdu, None);
        assert_eq!((line.data.end_ns, line.response.unwrap().start_ns), (244_000, 260_000));
        assert_eq!(line.end_ns, 294_000);

        // RTS at 24 Mbit/s: 28 us, CTS 28 us, each followed by 16 us.
        let protected = timeline(&Ppdu { protection: Protection::Rts(ofdm(48)), ..ppdu.clone() }, None);
        assert_eq!(protected.end_ns - line.end_ns, 28_000 + 16_000 + 28_000 + 16_000);

        // RTS at 1 Mbit/s with the long preamble: 352 us, CTS 304 us, each followed by 10 us.
        let one = Mode::Dsss { rate_500kbps: 2, short_preamble: Some(false) };
        let slow = timeline(&Ppdu { protection: Protection::Rts(one), ..ppdu }, None);
        assert_eq!(slow.end_ns - line.end_ns, 352_000 + 10_000 + 304_000 + 10_000);
    }
}
