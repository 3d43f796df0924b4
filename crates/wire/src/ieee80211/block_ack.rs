//! BlockAck and BlockAckReq frames (9.3.1.7, 9.3.1.8).

use super::elements::u16_at;
use super::{MacAddr, Seq};

/// Which variant a BlockAck or BlockAckReq is (Tables 9-27 and 9-28; Multi-STA: IEEE Std 802.11ax-2021).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BlockAckType {
    /// 0: one bit for each of 16 fragments of each of 64 MSDUs (obsolete).
    Basic,
    /// 1: as Compressed, with a receive buffer count.
    ExtendedCompressed,
    /// 2: one bit for each MSDU or A-MSDU.
    Compressed,
    /// 3: several TIDs.
    MultiTid,
    /// 6: groupcast with retries.
    Gcr,
    /// 10: general link, groupcast with retries.
    GlkGcr,
    /// 11: several stations, or several TIDs of one.
    MultiSta,
    /// Reserved.
    Unknown(u8),
}

/// The BA Control or BAR Control field; both have one layout.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct BlockAckControl(pub u16);

impl BlockAckControl {
    /// Bit 0: the sender wants no acknowledgement of this frame (delayed Block Ack).
    #[inline]
    pub const fn no_ack(self) -> bool {
        self.0 & 1 != 0
    }

    /// Bits 1 to 4: the variant.
    #[inline]
    pub const fn block_ack_type(self) -> BlockAckType {
        match (self.0 >> 1) & 0xf {
            0 => BlockAckType::Basic,
            1 => BlockAckType::ExtendedCompressed,
            2 => BlockAckType::Compressed,
            3 => BlockAckType::MultiTid,
            6 => BlockAckType::Gcr,
            10 => BlockAckType::GlkGcr,
            11 => BlockAckType::MultiSta,
            other => BlockAckType::Unknown(other as u8),
        }
    }

    /// Bits 12 to 15: the TID, or in Multi-TID variants the number of TIDs less one.
    #[inline]
    pub const fn tid_info(self) -> u8 {
        (self.0 >> 12) as u8
    }

    /// The TID, for the variants that name exactly one here.
    #[inline]
    pub const fn tid(self) -> Option<u8> {
        match self.block_ack_type() {
            BlockAckType::Basic | BlockAckType::ExtendedCompressed | BlockAckType::Compressed => Some(self.tid_info()),
            _ => None,
        }
    }
}

/// A Block Ack bitmap of up to 1024 bits; bit 0 is the first bit received.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bitmap {
    /// The bits, 64 to a word, lowest first. Bits at and above `len` are 0.
    pub bits: [u64; 16],
    /// How many bits the frame carries: 32, 64, 128, 256, 512 or 1024.
    pub len: u16,
}

impl Bitmap {
    /// No bits.
    pub const EMPTY: Self = Self { bits: [0; 16], len: 0 };

    /// Reads `bytes` (at most 128) as they stand in the frame.
    #[inline]
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        if bytes.len() > 128 {
            return None;
        }
        let mut bits = [0; 16];
        let whole = bytes.chunks_exact(8);
        let odd = whole.remainder();
        let mut words = bits.iter_mut();
        for (octets, word) in whole.filter_map(|chunk| chunk.first_chunk()).zip(&mut words) {
            *word = u64::from_le_bytes(*octets);
        }
        if let Some(word) = words.next() {
            *word = odd.iter().rev().fold(0, |word, octet| word << 8 | u64::from(*octet));
        }
        Some(Self { bits, len: (bytes.len() * 8) as u16 })
    }

    /// The bytes as they stand in the frame, `len / 8` of them.
    pub fn bytes(&self) -> impl Iterator<Item = u8> + '_ {
        self.bits.iter().flat_map(|word| word.to_le_bytes()).take(usize::from(self.len / 8))
    }

    /// Bit `index`; `false` beyond the end.
    #[inline]
    #[expect(clippy::indexing_slicing, reason = "const and in a hot loop, so without get(); & 15 keeps it below 16")]
    pub const fn get(&self, index: u16) -> bool {
        index < self.len && self.bits[(index >> 6) as usize & 15] >> (index & 63) & 1 != 0
    }

    /// How many bits are set.
    #[inline]
    pub fn count_ones(&self) -> u32 {
        self.bits.iter().take(usize::from(self.len.div_ceil(64))).map(|word| word.count_ones()).sum()
    }
}

/// A bitmap of 64 bits.
impl From<u64> for Bitmap {
    #[inline]
    fn from(bits: u64) -> Self {
        let mut bitmap = Self { len: 64, ..Self::EMPTY };
        bitmap.bits[0] = bits;
        bitmap
    }
}

/// What the Fragment Number of a Starting Sequence Control says about the bitmap after it (Table 9-30 of
/// IEEE Std 802.11ax-2021, extended by 802.11be): bytes, and whether each bit is a fragment.
const fn bitmap_layout(fragment: u8, multi_sta: bool) -> Option<(usize, bool)> {
    let fragments = fragment & 1 != 0;
    let bytes = match (fragment >> 1, multi_sta) {
        (0, _) => 8,
        (1, true) => 16,
        (2, _) => 32,
        (3, true) => 4,
        (4, _) => 64,
        (5, _) => 128,
        _ => return None,
    };
    Some((bytes, fragments))
}

/// A BlockAck frame: everything after the MAC header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlockAck<'a> {
    /// BA Control.
    pub control: BlockAckControl,
    /// Variant.
    pub kind: BlockAckType,
    /// The TID; `None` in the variants that name several or none (see [`BlockAck::records`]).
    pub tid: Option<u8>,
    /// The sequence number of the first bit; `None` in the variants with several.
    pub start: Option<Seq>,
    /// Fragment Number of the Starting Sequence Control, which encodes the bitmap's size in Compressed variants.
    pub fragment: u8,
    /// The bitmap; `None` in the variants with several.
    pub bitmap: Option<Bitmap>,
    /// Bitmap bits for each sequence number: 1, but 16 in a Basic bitmap and 4 at HE fragmentation level 3.
    pub bits_per_msdu: u8,
    /// The group address of a GCR Block Ack.
    pub group: Option<MacAddr>,
    /// RBUFCAP of an Extended Compressed Block Ack: MPDU buffers free at the recipient.
    pub receive_buffers: Option<u8>,
    rest: &'a [u8],
}

impl<'a> BlockAck<'a> {
    /// Parses what follows the 16-byte MAC header. The FCS may be included, except in a Multi-STA
    /// Block Ack, where [`records`](Self::records) would take it for one more record.
    ///
    /// `None` when the frame is cut inside its bitmap, and for reserved variants and bitmap sizes: their content cannot
    /// be known.
    #[inline]
    pub fn parse(body: &'a [u8]) -> Option<Self> {
        let control = BlockAckControl(u16_at(body, 0)?);
        let kind = control.block_ack_type();
        let mut ack = Self {
            control,
            kind,
            tid: control.tid(),
            start: None,
            fragment: 0,
            bitmap: None,
            bits_per_msdu: 1,
            group: None,
            receive_buffers: None,
            rest: body.get(2..)?,
        };
        if matches!(kind, BlockAckType::MultiTid | BlockAckType::MultiSta) {
            return Some(ack);
        }
        let start = u16_at(body, 2)?;
        ack.start = Some(Seq::new(start >> 4));
        ack.fragment = (start & 0xf) as u8;
        let (offset, bytes) = match kind {
            BlockAckType::Basic => {
                ack.bits_per_msdu = 16;
                (4, 128)
            }
            BlockAckType::Compressed | BlockAckType::ExtendedCompressed => {
                let (bytes, fragments) = bitmap_layout(ack.fragment, false)?;
                ack.bits_per_msdu = if fragments { 4 } else { 1 };
                (4, bytes)
            }
            BlockAckType::Gcr | BlockAckType::GlkGcr => {
                ack.group = Some(MacAddr::read(body, 4)?);
                (10, 8)
            }
            _ => return None,
        };
        ack.bitmap = Some(Bitmap::from_bytes(body.get(offset..offset + bytes)?)?);
        if kind == BlockAckType::ExtendedCompressed {
            ack.receive_buffers = Some(*body.get(offset + bytes)?);
        }
        ack.rest = &[];
        Some(ack)
    }

    /// How many sequence numbers, from `start`, the bitmap covers; `None` without a bitmap of its own.
    #[inline]
    pub fn window(&self) -> Option<u16> {
        self.bitmap.map(|bitmap| bitmap.len / u16::from(self.bits_per_msdu))
    }

    /// Whether the bitmap acknowledges `seq` (where bits stand for fragments: its first fragment). `None` if the
    /// bitmap does not cover it.
    #[inline]
    pub fn acknowledges(&self, seq: Seq) -> Option<bool> {
        let distance = seq.distance_from(self.start?);
        let bitmap = self.bitmap?;
        if distance >= self.window()? {
            return None;
        }
        Some(bitmap.get(distance * u16::from(self.bits_per_msdu)))
    }

    /// The records of a Multi-TID or Multi-STA Block Ack; empty for the others.
    #[inline]
    pub const fn records(&self) -> AckRecords<'a> {
        let multi_sta = matches!(self.kind, BlockAckType::MultiSta);
        let left = if multi_sta { u16::MAX } else { self.control.tid_info() as u16 + 1 };
        AckRecords { multi_sta, left, rest: self.rest }
    }
}

/// One AID or TID of a Multi-STA or Multi-TID Block Ack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AckRecord {
    /// AID11 of a Multi-STA record; `None` in a Multi-TID Block Ack.
    pub aid: Option<u16>,
    /// TID, 0..=15 (14: everything in the A-MPDU; 15: management frame or PS-Poll).
    pub tid: u8,
    /// Acknowledged without a bitmap: the Ack Type bit of a Multi-STA record.
    pub plain_ack: bool,
    /// Starting sequence number and bitmap.
    pub bitmap: Option<(Seq, Bitmap)>,
    /// Bitmap bits for each sequence number: 1, or 4 at HE fragmentation level 3.
    pub bits_per_msdu: u8,
    /// The station that has no AID yet (AID11 2045).
    pub receiver: Option<MacAddr>,
}

/// Iterator over [`AckRecord`]s; ends at the first one that is cut or reserved.
#[derive(Clone, Copy, Debug)]
pub struct AckRecords<'a> {
    multi_sta: bool,
    left: u16,
    rest: &'a [u8],
}

impl AckRecords<'_> {
    #[inline]
    fn take_record(&mut self) -> Option<AckRecord> {
        self.left = self.left.checked_sub(1)?;
        let info = u16_at(self.rest, 0)?;
        let mut record = AckRecord {
            aid: self.multi_sta.then_some(info & 0x07ff),
            tid: (info >> 12) as u8,
            plain_ack: self.multi_sta && info & 0x0800 != 0,
            bitmap: None,
            bits_per_msdu: 1,
            receiver: None,
        };
        let mut used = 2;
        if record.aid == Some(2045) {
            // Reserved (4 bytes), then RA.
            record.receiver = Some(MacAddr::read(self.rest, 6)?);
            used = 12;
        } else if !record.plain_ack {
            let start = u16_at(self.rest, 2)?;
            let (bytes, fragments) = match self.multi_sta {
                true => bitmap_layout((start & 0xf) as u8, true)?,
                false => (8, false),
            };
            used = 4 + bytes;
            record.bits_per_msdu = if fragments { 4 } else { 1 };
            record.bitmap = Some((Seq::new(start >> 4), Bitmap::from_bytes(self.rest.get(4..used)?)?));
        }
        self.rest = self.rest.get(used..)?;
        Some(record)
    }
}

impl Iterator for AckRecords<'_> {
    type Item = AckRecord;

    #[inline]
    fn next(&mut self) -> Option<AckRecord> {
        let record = self.take_record();
        if record.is_none() {
            self.rest = &[];
        }
        record
    }
}

/// A BlockAckReq frame: everything after the MAC header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlockAckReq<'a> {
    /// BAR Control.
    pub control: BlockAckControl,
    /// Variant.
    pub kind: BlockAckType,
    /// The TID; `None` in the Multi-TID variant (see [`BlockAckReq::records`]) and in GCR.
    pub tid: Option<u8>,
    /// Starting sequence number: the recipient's window moves here. `None` in the Multi-TID variant.
    pub start: Option<Seq>,
    /// Fragment Number of the Starting Sequence Control.
    pub fragment: u8,
    /// The group address of a GCR request.
    pub group: Option<MacAddr>,
    rest: &'a [u8],
}

impl<'a> BlockAckReq<'a> {
    /// Parses what follows the 16-byte MAC header; an FCS may be included. `None` when it is cut or the
    /// variant is reserved.
    #[inline]
    pub fn parse(body: &'a [u8]) -> Option<Self> {
        let control = BlockAckControl(u16_at(body, 0)?);
        let kind = control.block_ack_type();
        let mut request =
            Self { control, kind, tid: control.tid(), start: None, fragment: 0, group: None, rest: body.get(2..)? };
        match kind {
            BlockAckType::MultiTid => return Some(request),
            BlockAckType::MultiSta | BlockAckType::Unknown(_) => return None,
            BlockAckType::Gcr | BlockAckType::GlkGcr => request.group = Some(MacAddr::read(body, 4)?),
            BlockAckType::Basic | BlockAckType::ExtendedCompressed | BlockAckType::Compressed => {}
        }
        let start = u16_at(body, 2)?;
        request.start = Some(Seq::new(start >> 4));
        request.fragment = (start & 0xf) as u8;
        request.rest = &[];
        Some(request)
    }

    /// TID and starting sequence number of each record of a Multi-TID request; empty for the others.
    #[inline]
    pub const fn records(&self) -> ReqRecords<'a> {
        ReqRecords { left: self.control.tid_info() + 1, rest: self.rest }
    }
}

/// One TID of a Multi-TID BlockAckReq.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReqRecord {
    /// TID.
    pub tid: u8,
    /// Starting sequence number.
    pub start: Seq,
}

/// Iterator over [`ReqRecord`]s; ends at the first one that is cut.
#[derive(Clone, Copy, Debug)]
pub struct ReqRecords<'a> {
    left: u8,
    rest: &'a [u8],
}

impl Iterator for ReqRecords<'_> {
    type Item = ReqRecord;

    #[inline]
    fn next(&mut self) -> Option<ReqRecord> {
        self.left = self.left.checked_sub(1)?;
        let tid = (u16_at(self.rest, 0)? >> 12) as u8;
        let start = Seq::new(u16_at(self.rest, 2)? >> 4);
        self.rest = self.rest.get(4..)?;
        Some(ReqRecord { tid, start })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn compressed_64() {
        // BA Control 0x5004: Compressed, TID 5. SSC 0xffe0: sequence 4094. Bits 0, 2 and 63.
        let body = [0x04, 0x50, 0xe0, 0xff, 0x05, 0, 0, 0, 0, 0, 0, 0x80];
        let ack = BlockAck::parse(&body).unwrap();
        assert_eq!((ack.kind, ack.tid, ack.start), (BlockAckType::Compressed, Some(5), Some(Seq::new(4094))));
        assert_eq!(ack.window(), Some(64));
        assert_eq!(ack.bitmap.unwrap().count_ones(), 3);
        assert_eq!(ack.acknowledges(Seq::new(4094)), Some(true));
        assert_eq!(ack.acknowledges(Seq::new(4095)), Some(false));
        assert_eq!(ack.acknowledges(Seq::new(0)), Some(true), "across the wrap");
        assert_eq!(ack.acknowledges(Seq::new(61)), Some(true), "the last bit");
        assert_eq!(ack.acknowledges(Seq::new(62)), None, "beyond the bitmap");
        assert_eq!(ack.acknowledges(Seq::new(4093)), None, "before the bitmap");
        assert_eq!(ack.records().count(), 0);
        assert_eq!(BlockAck::parse(&body[..11]), None, "cut in the bitmap");
    }

    #[test]
    fn the_fragment_number_gives_the_size() {
        for (fragment, bits, per_msdu) in
            [(0u8, 64, 1), (4, 256, 1), (8, 512, 1), (10, 1024, 1), (1, 64, 4), (5, 256, 4)]
        {
            let mut body = vec![0x04, 0x00, 0x10 | fragment, 0x00];
            body.resize(4 + usize::from(bits / 8u16), 0xff);
            let ack = BlockAck::parse(&body).unwrap();
            assert_eq!(ack.bitmap.unwrap().len, bits);
            assert_eq!(ack.bitmap.unwrap().count_ones(), u32::from(bits));
            assert_eq!(ack.window(), Some(bits / per_msdu));
            assert_eq!(ack.start, Some(Seq::new(1)));
        }
        // Sizes 16 and 4 bytes exist only in Multi-STA Block Acks; 12 and above are reserved.
        for fragment in [2, 6, 12, 15] {
            assert_eq!(
                BlockAck::parse(&[&[0x04, 0x00, fragment, 0x00][..], &[0xff; 128]].concat()),
                None,
                "{fragment}"
            );
        }
    }

    #[test]
    fn basic_has_sixteen_bits_for_each_msdu() {
        let mut body = vec![0x00, 0x10, 0x00, 0x00];
        body.resize(4 + 128, 0);
        body[4 + 2] = 0x01; // MSDU 1, fragment 0
        let ack = BlockAck::parse(&body).unwrap();
        assert_eq!((ack.window(), ack.tid), (Some(64), Some(1)));
        assert_eq!(ack.acknowledges(Seq::new(0)), Some(false));
        assert_eq!(ack.acknowledges(Seq::new(1)), Some(true));
    }

    #[test]
    fn extended_and_groupcast_variants_have_their_extra_fields() {
        let extended = [&[0x02, 0x00, 0, 0][..], &[0xff; 8], &[33]].concat();
        assert_eq!(BlockAck::parse(&extended).unwrap().receive_buffers, Some(33));
        let groupcast = [&[0x0c, 0x00, 0, 0][..], &[1, 0, 0x5e, 0, 0, 1], &[0x01, 0, 0, 0, 0, 0, 0, 0]].concat();
        let ack = BlockAck::parse(&groupcast).unwrap();
        assert_eq!(ack.group, Some(MacAddr([1, 0, 0x5e, 0, 0, 1])));
        assert_eq!(ack.bitmap.unwrap().count_ones(), 1);
        assert_eq!(BlockAckReq::parse(&groupcast).unwrap().group, ack.group);
    }

    #[test]
    fn multi_sta_records_are_walked() {
        let mut body = vec![0x16, 0x00];
        body.extend([0x05, 0x08]); // AID 5, Ack, TID 0
        body.extend([0x06, 0x30, 0x06, 0x01, 1, 2, 3, 4]); // AID 6, TID 3, SSN 16, 4-byte bitmap
        body.extend([0xfd, 0xf7, 0, 0, 0, 0, 2, 0, 0, 0, 0, 9]); // AID 2045, RA
        body.extend([0x07, 0x00, 0x00]); // cut
        let ack = BlockAck::parse(&body).unwrap();
        assert_eq!((ack.kind, ack.tid, ack.bitmap), (BlockAckType::MultiSta, None, None));
        let records: Vec<_> = ack.records().collect();
        assert_eq!(records.len(), 3);
        assert_eq!((records[0].aid, records[0].plain_ack, records[0].bitmap), (Some(5), true, None));
        let (start, bitmap) = records[1].bitmap.unwrap();
        assert_eq!((records[1].aid, records[1].tid, start, bitmap.len), (Some(6), 3, Seq::new(16), 32));
        assert_eq!(bitmap.bits[0], 0x0403_0201);
        assert_eq!(records[2].receiver, Some(MacAddr([2, 0, 0, 0, 0, 9])));
    }

    #[test]
    fn multi_tid_records_stop_at_their_count() {
        // TID_INFO 1: two TIDs. What follows (an FCS) is not a record.
        let mut body = vec![0x06, 0x10];
        for tid in [0x20u8, 0x60] {
            body.extend([0, tid, 0x30, 0x00]);
            body.extend([0x0f, 0, 0, 0, 0, 0, 0, 0]);
        }
        body.extend([0xff; 16]);
        let ack = BlockAck::parse(&body).unwrap();
        let tids: Vec<_> = ack.records().map(|record| (record.tid, record.bitmap.unwrap().1.count_ones())).collect();
        assert_eq!(tids, [(2, 4), (6, 4)]);
        let request = BlockAckReq::parse(&[0x06, 0x10, 0, 0x20, 0x30, 0, 0, 0x60, 0x40, 0, 9, 9, 9, 9]).unwrap();
        let records: Vec<_> = request.records().map(|record| (record.tid, record.start.value())).collect();
        assert_eq!(records, [(2, 3), (6, 4)]);
    }

    proptest! {
        #[test]
        fn bitmaps_round_trip(bytes in proptest::collection::vec(any::<u8>(), 0..=128), index in 0u16..1100) {
            let bitmap = Bitmap::from_bytes(&bytes).unwrap();
            prop_assert_eq!(bitmap.bytes().collect::<Vec<_>>(), bytes.clone());
            prop_assert_eq!(bitmap.count_ones(), bytes.iter().map(|byte| byte.count_ones()).sum::<u32>());
            let expected = bytes.get(usize::from(index / 8)).is_some_and(|byte| byte >> (index % 8) & 1 == 1);
            prop_assert_eq!(bitmap.get(index), expected);
        }

        #[test]
        fn never_panics(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
            if let Some(ack) = BlockAck::parse(&bytes) {
                prop_assert!(ack.records().count() <= bytes.len());
                for seq in (0..4096).step_by(13) {
                    let _ = ack.acknowledges(Seq::new(seq));
                }
            }
            if let Some(request) = BlockAckReq::parse(&bytes) {
                prop_assert!(request.records().count() <= 16);
            }
        }

        #[test]
        fn what_is_acknowledged_is_what_was_put_in(start in 0u16..4096, bits: u64, tid in 0u8..16) {
            let mut body = vec![0x04, tid << 4];
            body.extend((start << 4).to_le_bytes());
            body.extend(bits.to_le_bytes());
            let ack = BlockAck::parse(&body).unwrap();
            prop_assert_eq!(ack.tid, Some(tid));
            for step in 0..64 {
                prop_assert_eq!(ack.acknowledges(Seq::new(start).add(step)), Some(bits >> step & 1 == 1));
            }
        }
    }
}
