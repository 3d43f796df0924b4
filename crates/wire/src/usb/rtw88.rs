//! Frames as Realtek's 802.11ac generation of RTL8822B and RTL8821C puts them on USB. Little endian. The fields are those of
//! Linux drivers/net/wireless/realtek/rtw88: tx.h (RTW_TX_DESC_*), rx.h (RTW_RX_DESC_*), rtw8822b.h (GET_PHY_STAT_*), fw.h
//! (struct rtw_c2h_cmd).
//!
//! Towards the device: a descriptor of 48 bytes, of which the first 32 have a checksum that makes the XOR of their halfwords
//! zero; then a frame, a page for the packet buffer or a command to the firmware. Several share a transfer, each at a multiple of
//! 8 bytes. Towards the host: a descriptor of 24 bytes, the state of the receiver in units of 8 bytes, and a frame or a report of
//! the firmware.

/// Bytes of a transmit descriptor.
pub const TX_DESCRIPTOR: usize = 48;
/// Bytes of it that its checksum is of (rtw8822b.c, rtw8822b_fill_txdesc_checksum).
const TX_SUMMED: usize = 32;
/// Bytes of a receive descriptor.
pub const RX_DESCRIPTOR: usize = 24;
/// Bytes of the state of the receiver that are defined (struct rtw_rx_desc is followed by `drv_info_sz` units of 8).
pub const PHY_STATUS: usize = 32;
/// Where the next frame of a transfer starts (usb.c, rtw_usb_tx_agg_skb and rtw_usb_rx_handler).
pub const ALIGNMENT: usize = 8;

/// Queues that are not those of user priorities 0 to 7 (tx.h, enum rtw_tx_desc_queue_select).
pub mod queue {
    /// Pages for the packet buffer: firmware, templates.
    pub const BEACON: u8 = 16;
    /// Frames to groups.
    pub const HIGH: u8 = 17;
    /// Management.
    pub const MANAGEMENT: u8 = 18;
    /// Commands to the firmware.
    pub const COMMAND: u8 = 19;
}

/// What a driver asks for one frame.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct TxDescriptor {
    words: [u32; TX_DESCRIPTOR / 4],
}

impl TxDescriptor {
    /// Reads the descriptor at the start of `bytes`; `None`: there are too few.
    pub fn parse(bytes: &[u8]) -> Option<Self> {
        let bytes = bytes.first_chunk::<TX_DESCRIPTOR>()?;
        let mut words = [0; TX_DESCRIPTOR / 4];
        for (word, chunk) in words.iter_mut().zip(bytes.chunks_exact(4)) {
            *word = chunk.first_chunk().map_or(0, |bytes| u32::from_le_bytes(*bytes));
        }
        Some(Self { words })
    }

    /// The descriptor of `frame_len` bytes for a queue; what the chip is to do with them is left out.
    pub fn new(frame_len: u16, queue: u8) -> Self {
        let first = u32::from(frame_len) | (TX_DESCRIPTOR as u32) << 16;
        Self::default().with(0, 0, first).with(1, 8, queue.into())
    }

    /// Puts the bits of `value` into a word from bit `shift` on, beside those that are there.
    #[must_use]
    pub fn with(mut self, word: usize, shift: u32, value: u32) -> Self {
        if let Some(word) = self.words.get_mut(word) {
            *word |= value << shift;
        }
        self
    }

    /// Its bytes, with the right checksum.
    pub fn emit(&self) -> [u8; TX_DESCRIPTOR] {
        let sum = self.sum();
        let mut bytes = [0; TX_DESCRIPTOR];
        for (chunk, word) in bytes.chunks_exact_mut(4).zip(self.words) {
            chunk.copy_from_slice(&word.to_le_bytes());
        }
        bytes[28] ^= sum as u8;
        bytes[29] ^= (sum >> 8) as u8;
        bytes
    }

    fn sum(&self) -> u16 {
        self.words.iter().take(TX_SUMMED / 4).fold(0, |sum, word| sum ^ *word as u16 ^ (word >> 16) as u16)
    }

    fn field(&self, word: usize, shift: u32, width: u32) -> u32 {
        self.words.get(word).copied().unwrap_or(0) >> shift & ((1 << width) - 1)
    }

    fn bit(&self, word: usize, bit: u32) -> bool {
        self.field(word, bit, 1) == 1
    }

    /// Whether the XOR of the halfwords is zero.
    pub fn checksum_is_right(&self) -> bool {
        self.sum() == 0
    }

    /// Bytes of the frame.
    pub fn frame_len(&self) -> usize {
        self.field(0, 0, 16) as usize
    }

    /// Bytes from the start of the descriptor to the frame: what it says, its own size where it says nothing (usb.c,
    /// rtw_usb_write_data_h2c), and units of 8 bytes of padding.
    pub fn frame_offset(&self) -> usize {
        let own = match self.field(0, 16, 8) as usize {
            0 => TX_DESCRIPTOR,
            offset => offset,
        };
        own + 8 * self.field(1, 24, 5) as usize
    }

    /// Broadcast or multicast.
    pub fn is_group(&self) -> bool {
        self.bit(0, 24)
    }

    /// Station that rate control keeps apart.
    pub fn station(&self) -> u8 {
        self.field(1, 0, 8) as u8
    }

    /// Queue: a user priority, or one of [`queue`].
    pub fn queue(&self) -> u8 {
        self.field(1, 8, 5) as u8
    }

    /// Encryption: 0 none, 1 WEP or TKIP, 3 CCMP.
    pub fn security(&self) -> u8 {
        self.field(1, 22, 2) as u8
    }

    /// May be part of an A-MPDU.
    pub fn aggregate(&self) -> bool {
        self.bit(2, 12)
    }

    /// The firmware is to report what happened to it.
    pub fn report(&self) -> bool {
        self.bit(2, 19)
    }

    /// The rate is the one of the descriptor, not the firmware's choice.
    pub fn use_rate(&self) -> bool {
        self.bit(3, 8)
    }

    /// No lower rate on retries.
    pub fn no_fallback(&self) -> bool {
        self.bit(3, 10)
    }

    /// RTS first.
    pub fn rts(&self) -> bool {
        self.bit(3, 12)
    }

    /// Half the MPDUs that an A-MPDU has at most (tx.c, get_tx_ampdu_factor); 0: not said.
    pub fn max_aggregate(&self) -> u8 {
        self.field(3, 17, 5) as u8
    }

    /// Rate, or what rate control may begin with.
    pub fn rate(&self) -> u8 {
        self.field(4, 0, 7) as u8
    }

    /// Rate of RTS.
    pub fn rts_rate(&self) -> u8 {
        self.field(4, 24, 5) as u8
    }

    /// Short guard interval, or short DSSS preamble.
    pub fn short(&self) -> bool {
        self.bit(5, 4)
    }

    /// Bandwidth: 0, 1, 2 are 20, 40, 80 MHz.
    pub fn bandwidth(&self) -> u8 {
        self.field(5, 5, 2) as u8
    }

    /// A number of the driver's, which its report has.
    pub fn mark(&self) -> u16 {
        self.field(6, 0, 12) as u16
    }

    /// Frames in the transfer, where the driver puts several into one; 0 or 1: one.
    pub fn frames_in_transfer(&self) -> u8 {
        self.field(7, 24, 8) as u8
    }

    /// The chip numbers the frame.
    pub fn hardware_sequence(&self) -> bool {
        self.bit(8, 15)
    }
}

/// What precedes a frame or a report of the firmware on its way to the host.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct RxDescriptor {
    /// Bytes of the frame, or of the report.
    pub frame_len: u16,
    /// The integrity check of the encryption failed.
    pub integrity_error: bool,
    /// Units of 8 bytes between descriptor and frame.
    pub info_units: u8,
    /// Encryption that it came with: 0 none, 1 and 5 WEP, 2 TKIP, 4 CCMP.
    pub security: u8,
    /// The state of the receiver is there.
    pub has_status: bool,
    /// The host has to decrypt it.
    pub not_decrypted: bool,
    /// Sequence Control.
    pub sequence_control: u16,
    /// It is a report of the firmware.
    pub is_report: bool,
    /// Rate.
    pub rate: u8,
    /// Bandwidth: 0, 1, 2 are 20, 40, 80 MHz.
    pub bandwidth: u8,
    /// TSF when it came, lower half, us.
    pub tsf_us: u32,
}

impl RxDescriptor {
    /// Appends its bytes.
    pub fn emit(&self, out: &mut Vec<u8>) {
        let bit = |condition: bool, bit: u32| u32::from(condition) << bit;
        let words = [
            u32::from(self.frame_len) & 0x3fff
                | bit(self.integrity_error, 15)
                | u32::from(self.info_units & 0x0f) << 16
                | u32::from(self.security & 7) << 20
                | bit(self.has_status, 26)
                | bit(self.not_decrypted, 27),
            0,
            u32::from(self.sequence_control >> 4)
                | u32::from(self.sequence_control & 15) << 12
                | bit(self.is_report, 28),
            u32::from(self.rate & 0x7f),
            u32::from(self.bandwidth & 3) << 4,
            self.tsf_us,
        ];
        out.extend(words.iter().flat_map(|word| word.to_le_bytes()));
    }

    /// Reads the descriptor at the start of `bytes`; `None`: there are too few.
    pub fn parse(bytes: &[u8]) -> Option<Self> {
        let bytes = bytes.first_chunk::<RX_DESCRIPTOR>()?;
        let mut words = [0u32; RX_DESCRIPTOR / 4];
        for (word, chunk) in words.iter_mut().zip(bytes.chunks_exact(4)) {
            *word = chunk.first_chunk().map_or(0, |bytes| u32::from_le_bytes(*bytes));
        }
        let [first, _, third, fourth, fifth, tsf_us] = words;
        Some(Self {
            frame_len: (first & 0x3fff) as u16,
            integrity_error: first >> 15 & 1 == 1,
            info_units: (first >> 16 & 0x0f) as u8,
            security: (first >> 20 & 7) as u8,
            has_status: first >> 26 & 1 == 1,
            not_decrypted: first >> 27 & 1 == 1,
            sequence_control: ((third & 0x0fff) << 4 | third >> 12 & 15) as u16,
            is_report: third >> 28 & 1 == 1,
            rate: (fourth & 0x7f) as u8,
            bandwidth: (fifth >> 4 & 3) as u8,
            tsf_us,
        })
    }

    /// Bytes from its start to the frame.
    pub const fn frame_offset(&self) -> usize {
        RX_DESCRIPTOR + 8 * self.info_units as usize
    }
}

/// The state of the receiver for a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PhyStatus {
    /// The frame was DSSS or CCK, which one antenna receives (page 0); else OFDM and what followed (page 1).
    pub dsss: bool,
    /// Strength at each of two antennas, dBm.
    pub signal_dbm: [i8; 2],
    /// Bandwidth that the receiver was set to: 0, 1, 2 are 20, 40, 80 MHz.
    pub receiver_bandwidth: u8,
    /// Where in it the frame was: 0 all of it, 1 to 8 a 20 MHz channel, 9 to 12 one of 40 MHz.
    pub part: u8,
    /// Signal-to-noise ratio, half dB.
    pub snr_half_db: u8,
    /// Of a DSSS frame: gain of the amplifier by its number, and steps behind it (rtw8821c.h, GET_PHY_STAT_P0_LNA_L, LNA_H and VGA).
    pub gain: (u8, u8),
}

/// Strengths are counted from here, dBm (rtw8822b.c, query_phy_status_page0 and query_phy_status_page1).
const STRENGTH_ZERO_DBM: i16 = -110;

impl PhyStatus {
    /// Its bytes.
    pub fn emit(&self) -> [u8; PHY_STATUS] {
        let [a, b] = self.signal_dbm.map(|dbm| (i16::from(dbm) - STRENGTH_ZERO_DBM).clamp(0, 255) as u8);
        let mut bytes = [0; PHY_STATUS];
        if self.dsss {
            let (amplifier, steps) = self.gain;
            bytes[1] = a;
            bytes[13] = steps & 0x1f | (amplifier & 7) << 5;
            bytes[14] = (amplifier >> 3 & 1) << 7;
        } else {
            (bytes[0], bytes[1], bytes[2]) = (1, a, b);
            bytes[5] = self.part << 4 | self.part & 15;
            bytes[15] = (self.receiver_bandwidth & 3) << 4;
            (bytes[24], bytes[25]) = (self.snr_half_db, self.snr_half_db);
        }
        bytes
    }

    /// Reads what [`Self::emit`] writes; `None`: too few bytes, or a page that no driver knows.
    pub fn parse(bytes: &[u8]) -> Option<Self> {
        let bytes = bytes.first_chunk::<PHY_STATUS>()?;
        let dsss = match bytes[0] & 0x0f {
            0 => true,
            1 => false,
            _ => return None,
        };
        let dbm = |byte: u8| (i16::from(byte) + STRENGTH_ZERO_DBM).clamp(-128, 127) as i8;
        let second = if dsss { bytes[1] } else { bytes[2] };
        Some(Self {
            dsss,
            signal_dbm: [dbm(bytes[1]), dbm(second)],
            receiver_bandwidth: bytes[15] >> 4 & 3,
            part: bytes[5] >> 4,
            snr_half_db: bytes[24],
            gain: if dsss { (bytes[13] >> 5 | bytes[14] >> 7 << 3, bytes[13] & 0x1f) } else { (0, 0) },
        })
    }
}

/// Appends a report of the firmware (C2H): what it is, a number that counts up, what it says.
pub fn emit_report(id: u8, number: u8, payload: &[u8], out: &mut Vec<u8>) {
    let frame_len = (2 + payload.len()) as u16;
    RxDescriptor { frame_len, is_report: true, ..RxDescriptor::default() }.emit(out);
    out.extend([id, number]);
    out.extend_from_slice(payload);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A probe request as tx.c, rtw_tx_mgmt_pkt_info_update, asks for: 1 Mbit/s, no fallback, numbered by the chip.
    fn probe_request() -> TxDescriptor {
        TxDescriptor::new(73, queue::MANAGEMENT).with(0, 24, 1).with(3, 8, 1).with(3, 10, 1).with(8, 15, 1)
    }

    #[test]
    fn fields_are_where_the_driver_has_them() {
        let bytes = probe_request().emit();
        assert_eq!(bytes[..4], [73, 0, 48, 1]);
        assert_eq!((bytes[5], bytes[13], bytes[33]), (18, 0x05, 0x80));
        let read = TxDescriptor::parse(&bytes).unwrap();
        assert!(read.checksum_is_right() && read.is_group() && read.use_rate() && read.no_fallback());
        assert!(read.hardware_sequence() && !read.aggregate() && !read.report() && !read.rts());
        assert_eq!((read.frame_len(), read.frame_offset(), read.queue(), read.rate()), (73, 48, 18, 0));
        let data = TxDescriptor::new(1_538, 0).with(2, 12, 1).with(2, 19, 1).with(3, 17, 31).with(4, 0, 0x3f);
        let data = data.with(5, 5, 2).with(6, 0, 0x1c).with(7, 24, 3).with(1, 22, 3).with(1, 0, 5).with(1, 24, 1);
        let read = TxDescriptor::parse(&data.emit()).unwrap();
        assert!(read.aggregate() && read.report() && read.checksum_is_right());
        assert_eq!((read.max_aggregate(), read.rate(), read.bandwidth(), read.mark()), (31, 63, 2, 0x1c));
        assert_eq!((read.frames_in_transfer(), read.security(), read.station()), (3, 3, 5));
        assert_eq!(read.frame_offset(), 56);
        let command = TxDescriptor::default().with(0, 0, 32).with(1, 8, queue::COMMAND.into());
        assert_eq!(command.frame_offset(), 48);
    }

    #[test]
    fn one_bit_spoils_the_checksum_of_the_first_32_bytes() {
        let right = probe_request().emit();
        for bit in 0..8 * TX_DESCRIPTOR {
            let mut wrong = right;
            wrong[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(TxDescriptor::parse(&wrong).unwrap().checksum_is_right(), bit >= 8 * 32, "bit {bit}");
        }
    }

    #[test]
    fn reports_are_marked() {
        let mut bytes = Vec::new();
        emit_report(0x0c, 7, &[1, 2, 3], &mut bytes);
        let read = RxDescriptor::parse(&bytes).unwrap();
        assert!(read.is_report && !read.has_status);
        assert_eq!((read.frame_len, read.frame_offset(), &bytes[24..]), (5, 24, &[0x0c, 7, 1, 2, 3][..]));
        assert_eq!(bytes[11] & 0x10, 0x10, "bit 28 of the third word");
    }

    proptest::proptest! {
        #[test]
        fn what_is_written_is_read(
            lens in (0u16..0x4000, 0u8..16),
            numbers in (0u8..8, 0u16.., 0u8..128, 0u8..4, 0u32..),
            bits: [bool; 4],
        ) {
            let ((frame_len, info_units), (security, sequence_control, rate, bandwidth, tsf_us)) = (lens, numbers);
            let [integrity_error, has_status, not_decrypted, is_report] = bits;
            let written = RxDescriptor {
                frame_len, integrity_error, info_units, security, has_status, not_decrypted, sequence_control, is_report,
                rate, bandwidth, tsf_us,
            };
            let mut bytes = Vec::new();
            written.emit(&mut bytes);
            proptest::prop_assert_eq!(RxDescriptor::parse(&bytes), Some(written));
        }

        #[test]
        fn strengths_are_read_back(
            dsss: bool,
            signal_dbm in [-110i8..=20, -110i8..=20],
            (part, receiver_bandwidth) in (0u8..13, 0u8..3),
            gain in (0u8..16, 0u8..32),
        ) {
            let gain = if dsss { gain } else { (0, 0) };
            let status = PhyStatus { dsss, signal_dbm, receiver_bandwidth, part, snr_half_db: 60, gain };
            let read = PhyStatus::parse(&status.emit()).unwrap();
            if dsss {
                proptest::prop_assert_eq!((read.dsss, read.signal_dbm, read.gain), (true, [signal_dbm[0]; 2], gain));
            } else {
                proptest::prop_assert_eq!(read, status);
            }
        }

        #[test]
        fn any_bytes_end(bytes: Vec<u8>) {
            let _ = TxDescriptor::parse(&bytes).map(|it| (it.frame_offset(), it.frame_len()));
            let _ = (RxDescriptor::parse(&bytes), PhyStatus::parse(&bytes));
        }
    }
}
