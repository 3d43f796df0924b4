//! How the frames of an exchange follow each other.

use wire::phy::{Mode, CTS_LEN, RTS_LEN};

use super::rates::Rates;

/// What goes before a PPDU to protect it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum Protection {
    /// Nothing.
    None,
    /// RTS, answered by CTS.
    Rts(Mode),
    /// CTS to oneself.
    CtsToSelf(Mode),
}

/// What must answer a PPDU.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum Response {
    /// Nothing: group addresses, No Ack policy, responses themselves.
    None,
    /// An acknowledgement of the one MPDU.
    Ack,
    /// A compressed Block Ack.
    BlockAck,
}

/// An exchange to come.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    /// What goes before the PPDU.
    pub protection: Protection,
    /// How the PPDU is modulated.
    pub mode: Mode,
    /// Bytes of its PSDU.
    pub psdu_len: usize,
    /// What must answer it.
    pub response: Response,
}

/// A frame's place in time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Slice {
    /// First sample of its preamble, ns after the exchange began.
    pub start_ns: u64,
    /// Its end, signal extension not included.
    pub end_ns: u64,
    /// How it is modulated.
    pub mode: Mode,
    /// From its end to what follows it in the exchange.
    pub gap_ns: u64,
    /// Its signal extension.
    pub silence_ns: u64,
}

/// When which frame of an exchange is on the air. Times are ns after its beginning.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Timeline {
    /// RTS, or CTS to oneself.
    pub protection: Option<Slice>,
    /// CTS that answers RTS.
    pub cts: Option<Slice>,
    /// The PPDU.
    pub data: Slice,
    /// What answers it.
    pub response: Option<Slice>,
}

impl Timeline {
    /// Places the frames of an exchange; `None` where the medium does not have one of the modes.
    pub fn new(rates: &mut Rates, plan: &Plan) -> Option<Self> {
        let mut at_ns = 0;
        let mut place = |rates: &mut Rates, mode: Mode, ns: u64| {
            let rate = rates.rate_id(mode).map(|id| rates.rate(id))?;
            let (start_ns, end_ns) = (at_ns, at_ns + ns);
            at_ns = end_ns + rate.gap_ns;
            Some(Slice { start_ns, end_ns, mode, gap_ns: rate.gap_ns, silence_ns: rate.silence_ns })
        };
        let (protection, cts) = match plan.protection {
            Protection::None => (None, None),
            Protection::CtsToSelf(mode) => {
                let ns = rates.duration_ns(&mode, CTS_LEN);
                (Some(place(rates, mode, ns)?), None)
            }
            Protection::Rts(mode) => {
                let id = rates.rate_id(mode)?;
                let (response, cts_ns) = (rates.rate(id).response, rates.rate(id).cts_ns);
                let ns = rates.duration_ns(&mode, RTS_LEN);
                (Some(place(rates, mode, ns)?), Some(place(rates, response, cts_ns)?))
            }
        };
        let id = rates.rate_id(plan.mode)?;
        let data_ns = rates.data_ns(id, plan.psdu_len);
        let data = place(rates, plan.mode, data_ns)?;
        let (answer, ack_ns, block_ack_ns) = {
            let rate = rates.rate(id);
            (rate.response, rate.ack_ns, rate.block_ack_ns)
        };
        let response = match plan.response {
            Response::None => None,
            Response::Ack => Some(place(rates, answer, ack_ns)?),
            Response::BlockAck => Some(place(rates, answer, block_ack_ns)?),
        };
        Some(Self { protection, cts, data, response })
    }

    /// The last frame.
    pub fn last(&self) -> &Slice {
        self.response.as_ref().unwrap_or(&self.data)
    }

    /// When the medium is free again, if all goes well: the end of the last frame and its signal extension.
    pub fn end_ns(&self) -> u64 {
        self.last().end_ns + self.last().silence_ns
    }

    /// The first frame.
    pub fn first(&self) -> &Slice {
        self.protection.as_ref().unwrap_or(&self.data)
    }
}

/// When an MPDU has arrived of a PPDU that is on the air from `start_ns` to `end_ns`, of which `preamble_ns` are its preamble:
/// its last bit is as far into the data as its last byte (`bytes`) is into the PSDU.
pub fn mpdu_end_ns((start_ns, end_ns): (u64, u64), preamble_ns: u64, bytes: usize, psdu_len: usize) -> u64 {
    let data_start_ns = start_ns + preamble_ns;
    let bytes = (bytes as u64).min(psdu_len as u64);
    data_start_ns + end_ns.saturating_sub(data_start_ns) * bytes / (psdu_len as u64).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use wire::phy::{Band, Bandwidth};

    fn ofdm(rate_500kbps: u8) -> Mode {
        Mode::Ofdm { rate_500kbps, bandwidth: Bandwidth::Mhz20 }
    }

    /// 1500 bytes at 54 Mbit/s: 244 us with ACK at 24 Mbit/s 28 us after 16 us, and 6 us of signal extension.
    #[test]
    fn a_frame_and_its_acknowledgement() {
        let mut rates = Rates::new(Band::Ghz2_4, None);
        let plan = Plan { protection: Protection::None, mode: ofdm(108), psdu_len: 1_500, response: Response::Ack };
        let line = Timeline::new(&mut rates, &plan).expect("modes");
        assert_eq!((line.data.end_ns, line.last().start_ns), (244_000, 260_000));
        assert_eq!(line.end_ns(), 294_000);

        // RTS at 24 Mbit/s: 28 us, CTS 28 us, each followed by 16 us.
        let protected =
            Timeline::new(&mut rates, &Plan { protection: Protection::Rts(ofdm(48)), ..plan }).expect("modes");
        assert_eq!(protected.end_ns() - line.end_ns(), 28_000 + 16_000 + 28_000 + 16_000);

        // RTS at 1 Mbit/s with the long preamble: 352 us, CTS 304 us, each followed by 10 us.
        let one = Mode::Dsss { rate_500kbps: 2, short_preamble: Some(false) };
        let slow = Timeline::new(&mut rates, &Plan { protection: Protection::Rts(one), ..plan }).expect("modes");
        assert_eq!(slow.end_ns() - line.end_ns(), 352_000 + 10_000 + 304_000 + 10_000);
        assert_eq!(Timeline::new(&mut rates, &Plan { mode: Mode::Unknown, ..plan }), None);
    }

    #[test]
    fn mpdus_arrive_one_after_the_other() {
        let at = |bytes| mpdu_end_ns((1_000, 101_000), 40_000, bytes, 600);
        assert_eq!([at(0), at(300), at(600), at(900)], [41_000, 71_000, 101_000, 101_000]);
    }
}
