//! Which addresses are links of one multi-link device, by the elements of their management frames.

use hashbrown::HashMap;
use wire::ieee80211::{FrameKind, MacAddr, Management};

use crate::claims::Claims;
use crate::few::Few;
use crate::frame::Frame;
use crate::micros::us;
use crate::report::{DeviceLink, MultiLinkDevice, RetryCount, UnclearLink};
use crate::station::Stations;
use sentence::{one_or, sentence, Figure};

/// Link addresses kept.
const MAX_ADDRESSES: usize = 4_096;
/// Devices kept that one address is claimed for: with a second one it is not known which is right.
const MAX_DEVICES: usize = 4;

/// What is reported of link addresses.
#[derive(Debug, Default)]
pub struct Devices {
    addresses: HashMap<u64, Membership>,
}

/// What is reported of one address.
#[derive(Debug, Default)]
struct Membership {
    /// Frames by the device that they name.
    devices: Few<MacAddr, MAX_DEVICES>,
    link_id: Option<u8>,
    own: u64,
    by_others: u64,
}

impl Devices {
    /// Takes a management frame that is not known to be damaged.
    pub fn management(&mut self, frame: &Frame, facts: &Management) {
        let capabilities = &facts.capabilities;
        let (Some(link), Some(ta)) = (capabilities.multi_link, frame.ta()) else { return };
        // A probe request goes out before there is anything to be a part of.
        if ta.is_group() || link.mld.is_group() || frame.header.fc.kind() == FrameKind::ProbeRequest {
            return;
        }
        if let Some(member) = self.member(ta) {
            member.devices.add(link.mld, 1);
            member.own += 1;
            member.link_id = member.link_id.or(link.link_id);
        }
        for (id, address) in link.addresses.iter().chain(capabilities.reported_addresses.iter()) {
            if address == ta || address.is_group() {
                continue;
            }
            if let Some(member) = self.member(address) {
                member.devices.add(link.mld, 1);
                member.by_others += 1;
                member.link_id = member.link_id.or(Some(id));
            }
        }
    }

    fn member(&mut self, address: MacAddr) -> Option<&mut Membership> {
        let key = address.as_u64();
        let has_room = self.addresses.len() < MAX_ADDRESSES || self.addresses.contains_key(&key);
        has_room.then(|| self.addresses.entry(key).or_default())
    }

    /// One row per device, most frames first, and the addresses that are claimed for several. `rated`: airtime is available.
    pub fn report(
        &self,
        stations: &Stations,
        claims: &Claims,
        is_left_out: &dyn Fn(u64) -> bool,
        rated: bool,
    ) -> (Vec<MultiLinkDevice>, Vec<UnclearLink>) {
        let mut devices: HashMap<MacAddr, Vec<DeviceLink>> = HashMap::new();
        let mut unclear = Vec::new();
        let mut addresses: Vec<(MacAddr, &Membership)> = self
            .addresses
            .iter()
            .filter(|(address, _)| !is_left_out(**address))
            .map(|(address, member)| (MacAddr::from_u64(*address), member))
            .collect();
        addresses.sort_by_key(|(address, _)| *address);
        let mut access_points = HashMap::new();
        for (address, member) in addresses {
            let Some(mld) = member.devices.most().filter(|_| member.devices.len() == 1) else {
                unclear.push(member.unclear(address));
                continue;
            };
            if claims.ap(address).is_some() {
                access_points.insert(mld, ());
            }
            devices.entry(mld).or_default().push(member.link(address, stations, claims, rated));
        }
        let mut rows: Vec<MultiLinkDevice> = devices
            .into_iter()
            .map(|(mld, links)| device(mld, links, access_points.contains_key(&mld), stations))
            .collect();
        rows.sort_by(|a, b| b.frames_sent.cmp(&a.frames_sent).then_with(|| a.mld.cmp(&b.mld)));
        (rows, unclear)
    }
}

impl Membership {
    fn unclear(&self, address: MacAddr) -> UnclearLink {
        let mut devices: Vec<(MacAddr, u64)> = self.devices.iter().collect();
        devices.sort_by_key(|(mld, frames)| (std::cmp::Reverse(*frames), *mld));
        let all = self.own + self.by_others;
        let first = devices.first().map_or(0, |(_, frames)| *frames);
        let has_more = devices.iter().map(|(_, frames)| frames).sum::<u64>() < all;
        let count = devices.len() as u64 + u64::from(has_more);
        let least = if has_more { "at least " } else { "" };
        UnclearLink {
            address: address.to_string(),
            text: sentence!(
                "{all} {claim} {address} for {least}{count} multi-link devices, {first} of them for one and {others} for \
                 others: which one it is a link of can't be determined",
                all = Figure::all(all, "frame"),
                count = Figure::total(count),
                first = Figure::count(first, all),
                others = Figure::count(all - first, all);
                address = address,
                least = least,
                claim = one_or(all, "claims", "claim")
            ),
            mlds: devices.into_iter().map(|(mld, _)| mld.to_string()).collect(),
        }
    }

    fn link(&self, address: MacAddr, stations: &Stations, claims: &Claims, rated: bool) -> DeviceLink {
        let station = stations.table.by_key(&address.as_u64());
        let (frames, mpdus, retries) =
            station.map_or((0, 0, 0), |station| (station.sent, station.mpdus, station.mpdu_retries));
        DeviceLink {
            address: address.to_string(),
            link_id: self.link_id,
            channel: claims.channel(address).or_else(|| claims.channel(claims.asked(address)?)),
            own_claims: self.own,
            named_by_others: self.by_others,
            frames_sent: frames,
            mpdu_retry: RetryCount::new(mpdus, retries),
            airtime_us: station.filter(|_| rated).map(|station| us(station.airtime.total())),
        }
    }
}

fn device(mld: MacAddr, mut links: Vec<DeviceLink>, is_ap: bool, stations: &Stations) -> MultiLinkDevice {
    links.sort_by(|a, b| b.frames_sent.cmp(&a.frames_sent).then_with(|| a.address.cmp(&b.address)));
    let of = |link: &DeviceLink| {
        link.address.parse::<MacAddr>().ok().and_then(|address| stations.table.by_key(&address.as_u64()))
    };
    let captured: Vec<&DeviceLink> = links.iter().filter(|link| link.frames_sent > 0).collect();
    let airtimes: Option<Vec<f64>> = captured.iter().map(|link| link.airtime_us).collect();
    MultiLinkDevice {
        mld: mld.to_string(),
        kind: if is_ap { "ap" } else { "station" },
        links_captured: captured.len() as u64,
        frames_sent: captured.iter().map(|link| link.frames_sent).sum(),
        data_frames_sent: links.iter().filter_map(of).map(|station| station.data).sum(),
        bytes_sent: links.iter().filter_map(of).map(|station| station.bytes).sum(),
        mpdu_retry: RetryCount::new(
            links.iter().map(|link| link.mpdu_retry.frames).sum(),
            links.iter().map(|link| link.mpdu_retry.retries).sum(),
        ),
        airtime_us: airtimes.filter(|all| !all.is_empty()).map(|all| all.iter().sum()),
        links,
    }
}
