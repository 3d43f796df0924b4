//! Frames that a station with firmware that joins networks makes itself.

use wire::ieee80211::{FixedFields, FrameKind, Header, MacAddr, Seq};
use wire::phy::Mode;

use crate::air::Protection;
use crate::peers::queue::Queued;

/// 1 Mbit/s, for management frames.
const SLOWEST: Mode = Mode::Dsss { rate_500kbps: 2, short_preamble: Some(false) };

/// A management frame of a station to an access point, or to all.
pub(super) fn management(
    now_ns: u64,
    kind: FrameKind,
    (from, to): (MacAddr, MacAddr),
    sequence: Seq,
    body: &[u8],
) -> Queued {
    let mut mpdu = Vec::with_capacity(64 + body.len());
    Header::management(kind, to, from, to, sequence).emit(&mut mpdu);
    mpdu.extend_from_slice(body);
    at_lowest_rate(now_ns, mpdu)
}

/// A frame that is made already.
pub(super) fn at_lowest_rate(now_ns: u64, mpdu: Vec<u8>) -> Queued {
    let modes = vec![(SLOWEST, 7)];
    Queued { mpdu, modes, protection: Protection::None, cookie: 0, since_ns: now_ns, attempts: 0 }
}

/// A probe request has no answer that would be waited for: it is sent once.
pub(super) fn once(mut probe: Queued) -> Queued {
    probe.modes.iter_mut().for_each(|(_, times)| *times = 1);
    probe
}

/// A body of fixed fields and nothing else.
pub(super) fn body(fixed: FixedFields) -> Vec<u8> {
    let mut body = Vec::new();
    fixed.emit(&mut body);
    body
}

/// A data frame that an access point sent to stations: its header, and who sent it. `None`: it is another frame.
pub(super) fn from_access_point(mpdu: &[u8]) -> Option<(Header, MacAddr)> {
    let header = Header::parse(mpdu, false).ok()?;
    let from = header.transmitter()?;
    (header.fc.from_ds() && !header.fc.to_ds()).then_some((header, from))
}
