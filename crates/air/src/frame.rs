//! A frame as later stages need it: a fixed-size value, and what its body says beside it.

use std::sync::Arc;

use wire::ieee80211::{self as mac, Bitmap, Header, MacAddr};
use wire::phy::Mode;
use wire::radio::RadioInfo;

use crate::eapol::Eapol;

/// What is known of the frame check sequence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fcs {
    /// Computed here and right, or vouched for by the receiver.
    Good,
    /// Flagged bad by the receiver, or computed wrong.
    Bad,
    /// Cannot be determined.
    Unknown,
}

/// Marks a [`Frame`] without a decoded body.
pub const NO_DETAIL: u32 = u32::MAX;

/// One 802.11 frame of the capture.
#[derive(Clone, Copy, Debug)]
pub struct Frame {
    /// Record number in the file, from 1.
    pub number: u64,
    /// Capture clock, Unix ns.
    pub time_ns: Option<i64>,
    /// Capture interface (pcapng), 0 for pcap.
    pub interface: u32,
    /// MAC header.
    pub header: Header,
    /// Link header.
    pub radio: RadioInfo,
    /// FCS state.
    pub fcs: Fcs,
    /// The FCS was there, whole, and right (`true`) or wrong.
    pub computed_fcs: Option<bool>,
    /// MPDU length on the air, bytes, FCS included.
    pub mpdu_len: u32,
    /// Bytes above LLC/SNAP; 0 for frames without data.
    pub payload_len: u32,
    /// The snap length cut it: what is not there may have been left out.
    pub is_cut: bool,
    /// Data encrypted with WEP.
    pub is_wep: bool,
    /// EAPOL in the clear.
    pub is_eapol: bool,
    /// A-MSDU subframes: 0 no A-MSDU, `u16::MAX` when encrypted.
    pub amsdu_subframes: u16,
    /// Index into [`Batch::details`](crate::decode::Batch::details), or [`NO_DETAIL`].
    pub detail: u32,
}

impl Frame {
    /// The TA where the frame carries one.
    pub fn ta(&self) -> Option<MacAddr> {
        if self.is_foreign() {
            return None;
        }
        self.header.transmitter()
    }

    /// Its protocol version is not 0: a layout that nothing here knows, most often two flipped bits. Such a frame has
    /// an FCS state and airtime, but no addresses.
    pub fn is_foreign(&self) -> bool {
        self.header.fc.version() != 0
    }

    /// Takes the receiver's word instead of the four bytes at the end, which are not an FCS.
    pub fn believe_flag(&mut self) {
        if self.radio.bad_fcs == Some(false) {
            self.fcs = vouched(&self.radio);
        }
    }

    /// Forgets the receiver's mark of a greenfield preamble.
    pub fn forget_greenfield(&mut self) {
        if let Mode::Ht(ht) = &mut self.radio.mode {
            ht.greenfield = None;
        }
    }

    /// Not known to be damaged, and of a known layout.
    pub fn usable(&self) -> bool {
        self.fcs != Fcs::Bad && !self.is_foreign()
    }
}

/// Without the four bytes only the receiver's word remains; a frame it sent itself was never checked.
pub(crate) fn vouched(radio: &RadioInfo) -> Fcs {
    match radio.bad_fcs {
        Some(true) => Fcs::Bad,
        Some(false) if !radio.own_transmission => Fcs::Good,
        _ => Fcs::Unknown,
    }
}

/// What a Block Ack says of one TID.
#[derive(Clone, Copy, Debug)]
pub struct AckedTid {
    /// TID.
    pub tid: u8,
    /// AID11 of the station that this part of a Multi-STA Block Ack is for; other Block Acks have none.
    pub aid: Option<u16>,
    /// Sequence number of the first bit.
    pub start: u16,
    /// One bit per MPDU.
    pub bitmap: Bitmap,
}

/// A decoded frame body.
#[derive(Clone, Debug)]
pub enum Detail {
    /// Block Ack: one entry per TID.
    BlockAck(Vec<AckedTid>),
    /// Block Ack request: its TIDs.
    BlockAckReq(Vec<u8>),
    /// Management frame: elements and fixed fields. A beacon or probe response that repeats what its sender said last
    /// has none; one that repeats something earlier shares its contents, so that timestamp and TIM are those of then.
    Management(Arc<mac::Management>),
    /// EAPOL in the clear.
    Eapol(Eapol),
    /// TDLS in the clear, or decrypted.
    Tdls(mac::Tdls),
    /// Data with packets that could be read: how many, and the first one's index into [`Batch::packets`](crate::decode::Batch).
    Packets {
        /// Index of the first.
        first: u32,
        /// Packets.
        count: u16,
    },
}

/// 0 and all ones stand for "no stamp", inside an A-MPDU or altogether.
pub fn is_real(tsft_us: u64) -> bool {
    tsft_us != 0 && tsft_us != u64::MAX
}
