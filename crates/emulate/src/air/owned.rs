//! A PPDU that can leave the link's thread.

use link::{Contents, Ppdu, Side};
use wire::phy::Mode;

use crate::run::Datagram;

/// See [`Ppdu`].
#[derive(Clone, Debug)]
pub(crate) struct OwnedPpdu {
    pub(crate) start_ns: u64,
    pub(crate) end_ns: u64,
    pub(crate) duration_us: u16,
    pub(crate) mode: Mode,
    pub(crate) from: Side,
    pub(crate) contents: OwnedContents,
}

#[derive(Clone, Debug)]
pub(crate) enum OwnedContents {
    Data(Vec<OwnedMpdu>),
    Ack,
    BlockAck { start_sequence: u16, bitmap: u64 },
    BlockAckRequest { start_sequence: u16 },
    Rts,
    Cts,
    Beacon,
}

#[derive(Clone, Debug)]
pub(crate) struct OwnedMpdu {
    pub(crate) sequence: u16,
    pub(crate) retry: bool,
    pub(crate) packet: Datagram,
}

impl OwnedPpdu {
    pub(crate) fn frames(&self) -> u64 {
        match &self.contents {
            OwnedContents::Data(mpdus) => mpdus.len() as u64,
            _ => 1,
        }
    }
}

/// Frames in a PPDU.
pub(crate) fn frames_of(ppdu: &Ppdu<'_, Datagram>) -> u64 {
    match ppdu.contents {
        Contents::Data { mpdus, .. } => mpdus.len() as u64,
        _ => 1,
    }
}

impl From<&Ppdu<'_, Datagram>> for OwnedPpdu {
    fn from(ppdu: &Ppdu<'_, Datagram>) -> Self {
        let contents = match ppdu.contents {
            Contents::Data { mpdus, .. } => OwnedContents::Data(
                mpdus
                    .iter()
                    .map(|mpdu| OwnedMpdu { sequence: mpdu.sequence, retry: mpdu.retry, packet: mpdu.packet.clone() })
                    .collect(),
            ),
            Contents::Ack => OwnedContents::Ack,
            Contents::BlockAck { start_sequence, bitmap, .. } => OwnedContents::BlockAck { start_sequence, bitmap },
            Contents::BlockAckRequest { start_sequence, .. } => OwnedContents::BlockAckRequest { start_sequence },
            Contents::Rts => OwnedContents::Rts,
            Contents::Cts => OwnedContents::Cts,
            Contents::Beacon => OwnedContents::Beacon,
        };
        Self {
            start_ns: ppdu.start_ns,
            end_ns: ppdu.end_ns,
            duration_us: ppdu.duration_us,
            mode: ppdu.mode,
            from: Side::of(ppdu.from),
            contents,
        }
    }
}
