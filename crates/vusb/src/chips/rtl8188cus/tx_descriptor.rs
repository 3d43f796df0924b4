//! The 32 bytes before each frame towards the chip (rtl8xxxu.h, struct rtl8xxxu_txdesc32 and TXDESC32_*; rtlwifi
//! rtl8192cu/trx.h). Little-endian words 0 to 7. An RTL8188EU's differ in one bit that matters here (core.c,
//! rtl8xxxu_fill_txdesc_v3).

use wire::usb::realtek::TX_DESCRIPTOR;

use super::model::Model;

/// Queue numbers (rtl8xxxu.h, TXDESC_QUEUE_*); 0 to 7 are those of user priorities.
pub const QUEUE_BEACON: u8 = 0x10;

/// What a driver asks for one frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct TxDescriptor {
    words: [u32; 8],
    model: Model,
}

impl TxDescriptor {
    /// Reads the descriptor at the start of `bytes`.
    pub fn parse(bytes: &[u8], model: Model) -> Option<Self> {
        let bytes = bytes.first_chunk::<TX_DESCRIPTOR>()?;
        let mut words = [0; 8];
        for (word, chunk) in words.iter_mut().zip(bytes.chunks_exact(4)) {
            *word = chunk.first_chunk().map_or(0, |b| u32::from_le_bytes(*b));
        }
        Some(Self { words, model })
    }

    /// The descriptor of frames that the MAC makes itself: 24 Mbit/s, no aggregation, protection or encryption.
    pub const fn internal() -> Self {
        let mut words = [0; 8];
        words[4] = 1 << 8;
        // The whole range of fallback, as drivers ask for with data frames.
        words[5] = 8 | 0x0001_ff00;
        Self { words, model: Model::Rtl8188cus }
    }

    #[expect(clippy::indexing_slicing, reason = "const; words are named by the methods below, all of them 0 to 7")]
    const fn bit(&self, word: usize, bit: u32) -> bool {
        self.words[word] >> bit & 1 == 1
    }

    #[expect(clippy::indexing_slicing, reason = "const; words are named by the methods below, all of them 0 to 7")]
    const fn field(&self, word: usize, shift: u32, width: u32) -> u32 {
        self.words[word] >> shift & ((1 << width) - 1)
    }

    /// Bytes of the frame.
    pub const fn frame_len(&self) -> usize {
        (self.words[0] & 0xffff) as usize
    }

    /// Bytes from the start of the descriptor to the frame: its own size and units of 8 bytes of padding.
    pub const fn frame_offset(&self) -> usize {
        self.field(0, 16, 8) as usize + 8 * self.field(1, 26, 5) as usize
    }

    /// The XOR of all halfwords is zero; the chip hangs on anything else (rtl8xxxu_calc_tx_desc_csum).
    pub fn checksum_is_right(&self) -> bool {
        self.words.iter().fold(0, |sum, word| sum ^ (word & 0xffff) ^ (word >> 16)) == 0
    }

    /// Broadcast or multicast.
    pub const fn is_group(&self) -> bool {
        self.bit(0, 24)
    }

    /// Greenfield preamble.
    pub const fn greenfield(&self) -> bool {
        self.bit(0, 30)
    }

    /// Station that rate adaptation keeps apart.
    pub const fn macid(&self) -> u8 {
        self.field(1, 0, 5) as u8
    }

    /// May be part of an A-MPDU.
    pub const fn aggregate(&self) -> bool {
        let (word, bit) = self.model.aggregate_bit();
        self.bit(word, bit)
    }

    /// Queue number.
    pub const fn queue(&self) -> u8 {
        self.field(1, 8, 5) as u8
    }

    /// Which of the rate masks is used.
    pub const fn rate_id(&self) -> u8 {
        self.field(1, 16, 4) as u8
    }

    /// Encryption: 0 none, 1 WEP or TKIP, 3 CCMP.
    pub const fn security(&self) -> u8 {
        self.field(1, 22, 2) as u8
    }

    /// Rate of RTS or CTS.
    pub const fn rts_rate(&self) -> u8 {
        self.field(4, 0, 6) as u8
    }

    /// The chip numbers the frame.
    pub const fn hardware_sequence(&self) -> bool {
        self.bit(4, 7)
    }

    /// The rate is the one below, not the chip's choice.
    pub const fn use_driver_rate(&self) -> bool {
        self.bit(4, 8)
    }

    /// No lower rate on retries.
    pub const fn no_fallback(&self) -> bool {
        self.bit(4, 10)
    }

    /// CTS to oneself first.
    pub const fn cts_to_self(&self) -> bool {
        self.bit(4, 11)
    }

    /// RTS first.
    pub const fn rts(&self) -> bool {
        self.bit(4, 12)
    }

    /// The MAC sends RTS or CTS itself. Without it the two bits above have no effect.
    pub const fn hardware_rts(&self) -> bool {
        self.bit(4, 13)
    }

    /// Space-time block coding: streams beyond one (rtlwifi: bits 23:22).
    pub const fn stbc(&self) -> u8 {
        self.field(4, 22, 2) as u8
    }

    /// Short DSSS preamble.
    pub const fn short_preamble(&self) -> bool {
        self.bit(4, 24)
    }

    /// 40 MHz.
    pub const fn wide(&self) -> bool {
        self.bit(4, 25)
    }

    /// Short DSSS preamble of RTS and CTS.
    pub const fn rts_short_preamble(&self) -> bool {
        self.bit(4, 26)
    }

    /// Rate, or first rate.
    pub const fn rate(&self) -> u8 {
        self.field(5, 0, 6) as u8
    }

    /// Short guard interval.
    pub const fn short_gi(&self) -> bool {
        self.bit(5, 6)
    }

    /// Rates that retries may fall at most (DATA_RATE_FB_LIMIT).
    pub const fn data_fallback_limit(&self) -> u8 {
        self.field(5, 8, 5) as u8
    }

    /// Rates that repeated RTS may fall at most (RTS_RATE_FB_LIMIT).
    pub const fn rts_fallback_limit(&self) -> u8 {
        self.field(5, 13, 4) as u8
    }

    /// Retry limit of its own.
    pub const fn retry_limit(&self) -> Option<u8> {
        if self.bit(5, 17) {
            Some(self.field(5, 18, 6) as u8)
        } else {
            None
        }
    }

    /// Frames in the transfer, where the driver puts several into one; 0 or 1: one.
    pub const fn frames_in_transfer(&self) -> u8 {
        self.field(5, 24, 8) as u8
    }

    /// Most MPDUs of an A-MPDU; 0: as the chip likes.
    pub const fn max_aggregate(&self) -> u8 {
        self.field(6, 11, 5) as u8
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wire::usb::rtw88::queue;

    /// A probe request as Linux 6.12's rtl8xxxu sent it to a virtual chip; the checksum was made right.
    #[test]
    fn a_probe_request() {
        let mut bytes = [
            0x49, 0, 0x20, 0x8d, 0x40, 0x12, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0x1a, 0, 0, 0, 0, 0, 0, 0, 0,
            0, 0,
        ];
        let sum = bytes.chunks_exact(2).fold(0u16, |sum, h| sum ^ u16::from_le_bytes([h[0], h[1]]));
        bytes[28..30].copy_from_slice(&sum.to_le_bytes());
        let descriptor = TxDescriptor::parse(&bytes, Model::Rtl8188cus).unwrap();
        assert!(descriptor.checksum_is_right());
        assert_eq!((descriptor.frame_len(), descriptor.frame_offset()), (73, 32));
        assert_eq!((descriptor.queue(), descriptor.is_group()), (queue::MANAGEMENT, true));
        assert_eq!((descriptor.aggregate(), descriptor.rate(), descriptor.rts_rate()), (false, 0, 1));
        assert_eq!(TxDescriptor::parse(&bytes[..31], Model::Rtl8188cus), None);
    }
}
