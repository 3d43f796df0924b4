//! Descriptors in the host's memory: 24 words of 32 bits, little endian (Linux ath9k/mac.h, struct ar5416_desc; ar9002_mac.c,
//! ar9002_set_txdesc and ar9002_hw_proc_txdesc; mac.c, ath9k_hw_rxprocdesc).

use crate::pci::FunctionMemory;

/// Words of a descriptor.
pub const WORDS: usize = 24;
/// Bytes at which the status of a sent frame begins, and that of a received one.
const TX_STATUS: u32 = 56;
const RX_STATUS: u32 = 16;
/// Rate series of a frame.
pub const SERIES: usize = 4;
/// An antenna that is not there.
const NO_ANTENNA: u32 = 0x80;

/// What kind of frame it is (mac.h, enum ath9k_pkt_type), where the chip does something with that.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Frames that are sent as they are.
    Other,
    /// A beacon or a probe response: the chip puts its TSF in.
    Timestamped,
}

/// What is tried with a frame.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Series {
    /// Times.
    pub tries: u8,
    /// Rate code.
    pub code: u8,
    /// 40 MHz.
    pub wide: bool,
    /// Short guard interval.
    pub short_gi: bool,
    /// RTS, or CTS to itself, goes before it, if the frame asks for one of them.
    pub protected: bool,
}

/// What goes before those of its series that are protected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Protection {
    /// Nothing.
    None,
    /// RTS.
    Rts,
    /// CTS to itself.
    CtsToSelf,
}

/// A descriptor of a frame, or of a part of one, that is to be sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct TxDescriptor([u32; WORDS]);

const fn bits(word: u32, shift: u32, mask: u32) -> u32 {
    word >> shift & mask
}

impl TxDescriptor {
    /// Reads one.
    pub fn read(memory: &FunctionMemory, address: u32) -> Self {
        let mut bytes = [0; 4 * WORDS];
        memory.read(address, &mut bytes);
        let mut words = [0; WORDS];
        for (word, bytes) in words.iter_mut().zip(bytes.chunks_exact(4)) {
            *word = bytes.iter().rev().fold(0, |word, &byte| word << 8 | u32::from(byte));
        }
        Self(words)
    }

    #[cfg(test)]
    pub fn of(words: [u32; WORDS]) -> Self {
        Self(words)
    }

    /// The next descriptor; 0: none.
    pub const fn link(&self) -> u32 {
        self.0[0]
    }

    /// Where the frame is.
    pub const fn buffer(&self) -> u32 {
        self.0[1]
    }

    /// Bytes there.
    pub const fn buffer_len(&self) -> usize {
        bits(self.0[3], 0, 0xfff) as usize
    }

    /// Bytes of the frame on the air, with its integrity code and its FCS.
    pub const fn frame_len(&self) -> usize {
        bits(self.0[2], 0, 0xfff) as usize
    }

    /// The frame goes on in the next descriptor.
    pub const fn has_more(&self) -> bool {
        bits(self.0[3], 12, 1) != 0
    }

    /// An interrupt is asked for when it is done.
    pub const fn wants_interrupt(&self) -> bool {
        bits(self.0[2], 29, 1) != 0
    }

    /// Its station may be sent frames again.
    pub const fn clears_filter(&self) -> bool {
        bits(self.0[2], 24, 1) != 0
    }

    /// The entry of the key cache of the station that it is for.
    pub const fn key(&self) -> Option<usize> {
        if bits(self.0[2], 30, 1) != 0 {
            Some(bits(self.0[3], 13, 0x7f) as usize)
        } else {
            None
        }
    }

    /// It is to be encrypted.
    pub const fn is_encrypted(&self) -> bool {
        bits(self.0[8], 26, 3) != 0
    }

    /// What kind of frame it is.
    pub const fn kind(&self) -> Kind {
        match bits(self.0[3], 20, 0xf) {
            3 | 4 => Kind::Timestamped,
            _ => Kind::Other,
        }
    }

    /// No acknowledgement is waited for.
    pub const fn has_no_ack(&self) -> bool {
        bits(self.0[3], 24, 1) != 0
    }

    /// It is part of an A-MPDU, and others of it follow.
    pub const fn aggregate(&self) -> (bool, bool) {
        (bits(self.0[3], 30, 1) != 0, bits(self.0[3], 29, 1) != 0)
    }

    /// What goes before it.
    pub const fn protection(&self) -> Protection {
        if bits(self.0[2], 22, 1) != 0 {
            Protection::Rts
        } else if bits(self.0[2], 31, 1) != 0 {
            Protection::CtsToSelf
        } else {
            Protection::None
        }
    }

    /// Rate code of that.
    pub const fn protection_code(&self) -> u8 {
        bits(self.0[9], 20, 0xff) as u8
    }

    /// What is tried, one after the other.
    pub fn series(&self) -> [Series; SERIES] {
        let [_, _, _, _, tries, codes, qualifiers_01, qualifiers_23, _, flags, ..] = self.0;
        let protected = [
            bits(qualifiers_01, 15, 1),
            bits(qualifiers_01, 31, 1),
            bits(qualifiers_23, 15, 1),
            bits(qualifiers_23, 31, 1),
        ];
        let mut series = [Series::default(); SERIES];
        for (at, (series, protected)) in (0..).zip(series.iter_mut().zip(protected)) {
            *series = Series {
                tries: bits(tries, 16 + 4 * at, 0xf) as u8,
                code: bits(codes, 8 * at, 0xff) as u8,
                wide: bits(flags, 5 * at, 1) != 0,
                short_gi: bits(flags, 5 * at + 1, 1) != 0,
                protected: protected != 0,
            };
        }
        series
    }
}

/// The result of a frame or an A-MPDU.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TxStatus {
    /// It was acknowledged, at least in part, or needed no acknowledgement.
    pub done_well: bool,
    /// It was not sent, as its station sleeps.
    pub filtered: bool,
    /// The Block Ack that came: its starting sequence number and its bitmap.
    pub block_ack: Option<(u16, u64)>,
    /// TID of that.
    pub tid: u8,
    /// The series that was tried last, and how often it failed, with data and with RTS.
    pub series: usize,
    pub data_failures: u8,
    pub rts_failures: u8,
    /// Signal of the acknowledgement over the noise floor, dB.
    pub rssi: u8,
    /// The TSF when it was sent, µs.
    pub tsf: u32,
}

impl TxStatus {
    /// Writes it to the last descriptor of its frame.
    pub fn write(&self, memory: &FunctionMemory, descriptor: u32) {
        let rssi = u32::from(self.rssi);
        let (start, bitmap) = self.block_ack.unwrap_or_default();
        let result = match (self.filtered, self.done_well) {
            (true, _) => 1 << 3,
            (_, true) => 1,
            (_, false) => 1 << 1,
        };
        let failures = u32::from(self.rts_failures.min(15)) << 4 | u32::from(self.data_failures.min(15)) << 8;
        let words = [
            u32::from(self.block_ack.is_some()) << 30 | NO_ANTENNA << 16 | rssi << 8 | rssi,
            result | failures,
            self.tsf,
            bitmap as u32,
            (bitmap >> 32) as u32,
            rssi << 24 | NO_ANTENNA << 16 | NO_ANTENNA << 8 | NO_ANTENNA,
            0,
            0,
            0,
            1 | u32::from(start & 0xfff) << 1 | (self.series as u32 & 3) << 21 | u32::from(self.tid & 0xf) << 28,
        ];
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        memory.write(descriptor.wrapping_add(TX_STATUS), &bytes);
    }
}

/// A descriptor of a place for a received frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RxDescriptor {
    /// The next one; 0: none.
    pub link: u32,
    /// Where the frame is to go.
    pub buffer: u32,
    /// Bytes there.
    pub len: usize,
}

impl RxDescriptor {
    /// Reads one.
    pub fn read(memory: &FunctionMemory, address: u32) -> Self {
        let word = |at: u32| memory.word(address.wrapping_add(4 * at));
        Self { link: word(0), buffer: word(1), len: (word(3) & 0xfff) as usize }
    }
}

/// How a frame was received.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RxStatus {
    /// Bytes in its buffer, with padding and FCS.
    pub len: usize,
    /// The frame goes on in the next descriptor; only the status of the last one counts.
    pub more: bool,
    /// Rate code.
    pub code: u8,
    /// 40 MHz; short guard interval.
    pub wide: bool,
    pub short_gi: bool,
    /// Signal over the noise floor, dB.
    pub rssi: u8,
    /// The TSF when it came, µs.
    pub tsf: u32,
    /// Part of an A-MPDU: whether it is the first, and whether it is the last.
    pub ampdu: Option<(bool, bool)>,
    /// The entry of the key cache that it was decrypted with.
    pub key: Option<usize>,
    /// Its integrity code was wrong; its Michael code was.
    pub decryption_failed: bool,
    pub michael_failed: bool,
}

impl RxStatus {
    /// Writes it to a descriptor.
    pub fn write(&self, memory: &FunctionMemory, descriptor: u32) {
        let rssi = u32::from(self.rssi);
        let flag = |is: bool, bit: u32| u32::from(is) << bit;
        let wrong = self.decryption_failed || self.michael_failed;
        let key = self.key.filter(|_| !wrong).map_or(0, |key| 1 << 8 | (key as u32 & 0x7f) << 9);
        let last = 1
            | flag(!wrong, 1)
            | flag(self.decryption_failed, 3)
            | flag(self.michael_failed, 5)
            | key
            | flag(self.ampdu.is_some(), 17)
            | flag(self.ampdu.is_some_and(|(_, last)| !last), 16)
            | flag(self.ampdu.is_some_and(|(first, _)| first), 29);
        let words = [
            u32::from(self.code) << 24 | NO_ANTENNA << 16 | rssi << 8 | rssi,
            self.len as u32 & 0xfff | flag(self.more, 12),
            self.tsf,
            flag(self.short_gi, 0) | flag(self.wide, 1) | 1 << 8,
            rssi << 24 | NO_ANTENNA << 16 | NO_ANTENNA << 8 | NO_ANTENNA,
            0,
            0,
            0,
            last,
        ];
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        memory.write(descriptor.wrapping_add(RX_STATUS), &bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pci::tests::Ram;
    use crate::pci::SharedMemory;

    #[test]
    fn series_are_where_the_driver_puts_them() {
        let mut words = [0; WORDS];
        words[2] = 1_538 | 1 << 22 | 1 << 29 | 1 << 30;
        words[3] = 1_532 | 9 << 13 | 3 << 20 | 1 << 29 | 1 << 30;
        words[4] = 2 << 16 | 1 << 20 | 3 << 24 | 4 << 28;
        words[5] = 0x1b0c_838f;
        words[6] = 1 << 31;
        words[7] = 1 << 15;
        words[9] = 1 | 1 << 6 | 0x0b << 20;
        let descriptor = TxDescriptor::of(words);
        let [first, second, third, fourth] = descriptor.series();
        assert_eq!(first, Series { tries: 2, code: 0x8f, wide: true, short_gi: false, protected: false });
        assert_eq!(second, Series { tries: 1, code: 0x83, wide: false, short_gi: true, protected: true });
        assert_eq!((third.code, third.protected, fourth.tries), (0x0c, true, 4));
        assert_eq!((descriptor.frame_len(), descriptor.buffer_len(), descriptor.key()), (1_538, 1_532, Some(9)));
        assert_eq!((descriptor.kind(), descriptor.aggregate()), (Kind::Timestamped, (true, true)));
        assert_eq!((descriptor.protection(), descriptor.protection_code()), (Protection::Rts, 0x0b));
        assert!(descriptor.wants_interrupt() && !descriptor.has_more() && !descriptor.has_no_ack());
    }

    #[test]
    fn status_goes_where_the_driver_reads_it() {
        let ram = Ram::new(0x200);
        let memory = SharedMemory::new(ram.clone()).of_function(0);
        let status = TxStatus {
            done_well: true,
            block_ack: Some((0x123, 0x8000_0000_0000_0005)),
            tid: 6,
            series: 2,
            data_failures: 3,
            tsf: 77,
            ..TxStatus::default()
        };
        status.write(&memory, 0);
        assert_eq!(
            [14, 15, 16, 17, 18].map(|word| ram.word(4 * word) & 0xc000_ffff),
            [0x4000_0000, 0x301, 77, 5, 0x8000_0000]
        );
        assert_eq!(ram.word(4 * 23), 1 | 0x123 << 1 | 2 << 21 | 6 << 28);
        RxStatus { len: 104, code: 0x87, ampdu: Some((true, true)), key: Some(5), ..RxStatus::default() }
            .write(&memory, 0x100);
        assert_eq!(ram.word(0x100 + 16) >> 24, 0x87);
        assert_eq!(ram.word(0x100 + 16 + 32), 3 | 1 << 8 | 5 << 9 | 1 << 17 | 1 << 29);
        RxStatus { len: 9, more: true, ampdu: Some((false, false)), ..RxStatus::default() }.write(&memory, 0x100);
        assert_eq!((ram.word(0x100 + 16 + 4), ram.word(0x100 + 16 + 32)), (9 | 1 << 12, 3 | 1 << 16 | 1 << 17));
    }
}
