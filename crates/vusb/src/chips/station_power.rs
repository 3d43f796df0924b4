//! What a station that sleeps between beacons reads and sends (IEEE 802.11-2020, 11.2.3).

use wire::ieee80211::{FrameControl, FrameKind, Header, MacAddr, ManagementBody, Mpdu, Seq};

/// A data frame without data, which carries the power management bit.
pub(super) const NULL: FrameKind = FrameKind::Data { qos: false, null: true };

/// Whether the TIM element has the bit of this station, and that of group frames (9.4.2.5).
pub(super) fn buffered(beacon: &Mpdu<&[u8]>, aid: u16) -> (bool, bool) {
    let body = beacon.frame_control().and_then(|fc| ManagementBody::parse(fc, beacon.management_body()));
    let Some(tim) = body.and_then(|body| body.elements.tim) else { return (false, false) };
    (tim.has(aid), tim.group_traffic())
}

/// A PS-Poll of the station with this number, which takes the place of the duration, with its two highest bits set.
pub(super) fn poll(aid: u16, network: MacAddr, own: MacAddr) -> Vec<u8> {
    let mut frame = Vec::new();
    let duration_id = aid & 0x3fff | 0xc000;
    Header { duration_id, ..Header::control(FrameKind::PsPoll, network, Some(own)) }.emit(&mut frame);
    frame
}

/// A Null frame which says whether the station sleeps.
pub(super) fn null(network: MacAddr, own: MacAddr, sequence: Seq, sleeps: bool) -> Vec<u8> {
    let fc = FrameControl::new(NULL).with_to_ds(true).with_power_management(sleeps);
    let header = Header::data(fc, [network, own, network], sequence, None);
    let mut frame = Vec::new();
    Header { fc, ..header }.emit(&mut frame);
    frame
}
