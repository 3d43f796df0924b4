//! 802.11 data and control frames, without their FCS (IEEE 802.11-2020, 9.3.1 and 9.3.2).

use link::engine::{AccessCategory, HostId, Packet};
use link::ppdu::{Contents, DataMpdu, Ppdu};
use wire::ieee80211::MacAddr;

use crate::network::address;

pub(crate) const FCS_LEN: usize = 4;
pub(crate) const BROADCAST: MacAddr = MacAddr([0xff; 6]);
/// LLC and SNAP header up to the EtherType (RFC 1042).
const LLC_SNAP: [u8; 6] = [0xaa, 0xaa, 0x03, 0, 0, 0];
const DATA: u8 = 0x08;
const QOS_DATA: u8 = 0x88;
const TO_DS: u8 = 0x01;
const FROM_DS: u8 = 0x02;
const RETRY: u8 = 0x08;
/// Compressed, in the control field of a Block Ack and of its request.
const COMPRESSED: u16 = 0x0004;

/// The TID of an access category: the user priority of that name, as mac80211 and 802.1D have it (table 10-1).
const fn tid(category: AccessCategory) -> u8 {
    match category {
        AccessCategory::Background => 1,
        AccessCategory::BestEffort => 0,
        AccessCategory::Video => 5,
        AccessCategory::Voice => 6,
    }
}

fn receiver(to: Option<HostId>) -> MacAddr {
    to.map_or(BROADCAST, address)
}

/// How a data frame is to be written.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DataFrame {
    pub(crate) category: AccessCategory,
    pub(crate) qos: bool,
    /// `out` is not to become longer than this; the frame is cut.
    pub(crate) limit: usize,
}

/// Appends a data frame; gives the length that it has when it is not cut. The far ends of the traffic are the radios
/// themselves.
pub(crate) fn data<P: Packet>(
    ppdu: &Ppdu<'_, P>,
    frame: DataFrame,
    mpdu: &DataMpdu<'_, P>,
    out: &mut Vec<u8>,
) -> usize {
    let start = out.len();
    let down = ppdu.from == HostId::SERVER;
    let retry = if mpdu.retry { RETRY } else { 0 };
    out.extend_from_slice(&[if frame.qos { QOS_DATA } else { DATA }, if down { FROM_DS } else { TO_DS } | retry]);
    out.extend_from_slice(&ppdu.duration_us.to_le_bytes());
    let (to, from, bssid) = (receiver(ppdu.to), address(ppdu.from), address(HostId::SERVER));
    // Downlink: destination, BSSID, source. Uplink: BSSID, source, destination.
    let addresses = if down { [to, bssid, from] } else { [bssid, from, to] };
    for address in addresses {
        out.extend_from_slice(&address.0);
    }
    out.extend_from_slice(&(mpdu.sequence << 4).to_le_bytes());
    if frame.qos {
        out.extend_from_slice(&[tid(frame.category), 0]);
    }
    out.extend_from_slice(&LLC_SNAP);
    let type_at = out.len();
    out.extend_from_slice(&[0x08, 0x00]);
    let body = out.len();
    let size = mpdu.packet.size_bytes();
    let room = frame.limit.saturating_sub(body).min(size);
    mpdu.packet.write_bytes(out, room);
    // Whatever the packet made of it: as long as it says.
    out.resize(body + room, 0);
    if out.get(body).is_some_and(|byte| byte >> 4 == 6) {
        out[type_at..body].copy_from_slice(&[0x86, 0xdd]);
    }
    body - start + size
}

fn header(first: u8, duration_us: u16, to: MacAddr, out: &mut Vec<u8>) {
    out.extend_from_slice(&[first, 0]);
    out.extend_from_slice(&duration_us.to_le_bytes());
    out.extend_from_slice(&to.0);
}

/// Appends a control frame; nothing for what is none.
pub(crate) fn control<P>(ppdu: &Ppdu<'_, P>, out: &mut Vec<u8>) {
    let (to, from, duration_us) = (receiver(ppdu.to), address(ppdu.from), ppdu.duration_us);
    let block_ack_control = |category| COMPRESSED | u16::from(tid(category)) << 12;
    match ppdu.contents {
        Contents::Data { .. } | Contents::Beacon => {}
        Contents::Ack => header(0xd4, duration_us, to, out),
        Contents::Cts => header(0xc4, duration_us, to, out),
        Contents::Rts => {
            header(0xb4, duration_us, to, out);
            out.extend_from_slice(&from.0);
        }
        Contents::BlockAck { category, start_sequence, bitmap } => {
            header(0x94, duration_us, to, out);
            out.extend_from_slice(&from.0);
            out.extend_from_slice(&block_ack_control(category).to_le_bytes());
            out.extend_from_slice(&(start_sequence << 4).to_le_bytes());
            out.extend_from_slice(&bitmap.to_le_bytes());
        }
        Contents::BlockAckRequest { category, start_sequence } => {
            header(0x84, duration_us, to, out);
            out.extend_from_slice(&from.0);
            out.extend_from_slice(&block_ack_control(category).to_le_bytes());
            out.extend_from_slice(&(start_sequence << 4).to_le_bytes());
        }
    }
}
