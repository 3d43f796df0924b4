//! One frame, read with the code under test.

use txop_wire::ieee80211::{BlockAck, BlockAckReq, Capabilities, FrameKind, Header, Management};
use txop_wire::linktype::LinkType;
use txop_wire::radio;

use crate::tshark::Row;

/// One frame and what we make of it.
pub struct Frame<'a> {
    /// Captured bytes from Frame Control on.
    pub mpdu: &'a [u8],
    /// MAC header; `None` when we reject it.
    pub header: Option<Header>,
    /// The receiver says, or the FCS shows, that bits are wrong.
    pub damaged: bool,
    /// Bytes after the header, FCS cut off.
    pub body: &'a [u8],
    /// Block Ack.
    pub ack: Option<BlockAck<'a>>,
    /// Block Ack request.
    pub request: Option<BlockAckReq<'a>>,
    /// Management.
    pub management: Option<Management>,
}

impl<'a> Frame<'a> {
    /// `None` for records without an 802.11 frame.
    pub fn read(link: u32, record: &'a [u8], row: &Row<'_>, simulated: bool) -> Option<Self> {
        let link = LinkType(link);
        let info = link.is_wlan().then(|| radio::decode(link, record))?.ok()?;
        let mpdu = record.get(info.header_len..)?;
        if mpdu.is_empty() || info.zero_length_psdu {
            return None;
        }
        let header = Header::parse(mpdu, info.data_pad).ok();
        let fcs_there = !row.extra("wlan.fcs").is_empty();
        let end = mpdu.len() - if fcs_there { 4.min(mpdu.len()) } else { 0 };
        // Simulated captures have four bytes for the FCS, but not its value.
        let damaged =
            info.bad_fcs == Some(true) || (fcs_there && !simulated && txop_wire::fcs::check(mpdu) == Some(false));
        let body = header.and_then(|header| mpdu.get(header.header_len..end)).unwrap_or(&[]);
        let kind = header.map(|header| header.kind());
        Some(Self {
            mpdu,
            header,
            damaged,
            body,
            ack: if kind == Some(FrameKind::BlockAck) { BlockAck::parse(body) } else { None },
            request: if kind == Some(FrameKind::BlockAckReq) { BlockAckReq::parse(body) } else { None },
            management: header.and_then(|header| Management::parse(header.fc, body)),
        })
    }

    /// Elements of a management frame.
    pub fn capabilities(&self) -> Option<&Capabilities> {
        self.management.as_ref().map(|management| &management.capabilities)
    }
}
