//! Beacons of a link's network (IEEE 802.11-2020, 9.3.3.2).

use link::engine::HostId;
use wire::ieee80211::elements::{id, Element};
use wire::ieee80211::{
    CapabilityInfo, Country, Erp, FixedFields, FrameKind, Header, HtCapabilities, HtOperation, MacAddr, ManagementBody,
    ManagementElements, SecondaryChannel, Seq, TimElement, Wmm,
};

use super::network::{address, Network};
use crate::air::FCS_LEN;

const SSID: &[u8] = b"txop";
/// 100 TU, as everywhere.
const INTERVAL_TU: u16 = 100;
/// ESS and short slot.
const CAPABILITY: CapabilityInfo = CapabilityInfo(0x0401);
/// Nothing is buffered for anybody.
const TIM: TimElement<'_> = TimElement { dtim_count: 0, dtim_period: 1, bitmap_control: 0, bitmap: &[0] };

/// Appends a beacon of an open network, without its FCS.
pub(super) fn beacon(network: &Network, tsf_us: u64, sequence: u16, out: &mut Vec<u8>) {
    let start = out.len();
    let ap = address(HostId::SERVER);
    Header::management(FrameKind::Beacon, MacAddr::BROADCAST, ap, ap, Seq::new(sequence)).emit(out);
    let channel = network.channel as u8;
    let wide = network.width_mhz == 40;
    let secondary = if wide { SecondaryChannel::Above } else { SecondaryChannel::None };
    let (first_channel, channels) = if network.is_2_4_ghz() { (1, 13) } else { (36, 4) };
    let ht = network.streams.map(|streams| ht_capabilities(wide, streams));
    let elements = ManagementElements {
        ssid: Some(SSID),
        dsss_channel: network.is_2_4_ghz().then_some(channel),
        tim: Some(TIM),
        country: Some(Country { text: *b"XX ", first_channel, channels, max_power_dbm: 20 }),
        erp: network.is_2_4_ghz().then_some(Erp(0)),
        ht,
        ht_operation: ht.map(|_| HtOperation::new(channel, secondary)),
        extended_capabilities: ht.map(|_| &[0; 8][..]),
        wmm: ht.map(|_| Wmm::default_parameters(0)),
        ..ManagementElements::default()
    };
    let elements = elements.with_rates(&network.rates);
    let fixed = FixedFields::Beacon { timestamp_us: tsf_us, interval_tu: INTERVAL_TU, capability: CAPABILITY };
    ManagementBody { fixed, elements }.emit(out);
    fill(start, network.beacon_bytes.saturating_sub(FCS_LEN), out);
}

/// Fills up with vendor elements of zeros (an unassigned OUI) to `len` bytes, if there is room for one.
fn fill(start: usize, len: usize, out: &mut Vec<u8>) {
    let nothing = [0; 255];
    while let Some(missing @ 5..) = len.checked_sub(out.len() - start) {
        // Two elements where one would leave fewer bytes than an element has at least.
        let data = if (258..262).contains(&missing) { 200 } else { (missing - 2).min(255) };
        Element::new(id::VENDOR, nothing.get(..data).unwrap_or_default()).emit(out);
    }
}

/// SM power save disabled; short guard interval at 20 MHz, and 40 MHz with its own; A-MPDUs of 65535 bytes without minimum
/// spacing; as many streams each way.
fn ht_capabilities(wide: bool, streams: u8) -> HtCapabilities {
    let mut mcs_set = [0; 16];
    mcs_set[..4].iter_mut().take(usize::from(streams)).for_each(|rates| *rates = 0xff);
    mcs_set[12] = 0x01;
    let info = 0x000c | 0x0020 | if wide { 0x0002 | 0x0040 } else { 0 };
    HtCapabilities { info, ampdu_parameters: 0x03, mcs_set, extended: 0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn beacons_are_as_long_as_the_link_computes() {
        for channel in [1, 14, 36, 165] {
            for width_mhz in [20, 40] {
                let beacon_bytes = link::beacon_len(channel);
                let network = Network { channel, width_mhz, beacon_bytes, ..Network::default() };
                let mut out = Vec::new();
                beacon(&network, 7, 9, &mut out);
                assert_eq!(out.len() + FCS_LEN, beacon_bytes);
            }
        }
    }

    #[test]
    fn short_beacons_are_filled_up() {
        for beacon_bytes in (90..700).filter(|bytes| !(90..110).contains(bytes)) {
            let network = Network { streams: None, beacon_bytes, ..Network::default() };
            let mut out = Vec::new();
            beacon(&network, 7, 9, &mut out);
            assert_eq!(out.len() + FCS_LEN, beacon_bytes);
        }
    }
}
