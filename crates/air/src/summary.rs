//! Sections 1 to 3 of the report: what the capture is, its limits, and the rows of its addresses.

use capture::report::Window;
use capture::Placed;
use hashbrown::{HashMap, HashSet};
use wire::ieee80211::{FrameType, MacAddr};
use wire::linktype::LinkType;
use wire::phy::{Band, Mode};

use crate::access_point::suites;
use crate::claims::Claims;
use crate::decode::{Channels, Tally, MAX_CHANNELS, MAX_EXAMPLES};
use crate::few::Few;
use crate::frame::{is_real, Frame};
use crate::ghost;
use crate::link::{Link, Links};
use crate::micros::us;
use crate::network::{Member, Networks};
use crate::report::{
    Bss, BssMember, Channel, DamageNote, FcsState, GhostEffect, Limit, LinkTypeCount, Report, RetryCount, Selection,
    Station as StationRow, Summary, WiresharkStation,
};
use crate::station::{Station, Stations};
use sentence::{sentence, Figure};

/// Records earlier than one before them by more than this are out of order, where sorting left any.
pub const DISORDER_NS: i64 = 10_000_000;
/// Interfaces with a capture clock of their own; further ones share the last.
const MAX_CLOCKS: usize = 64;
/// Interfaces distinguished.
pub const MAX_INTERFACES: usize = 1_024;
/// A channel with less than one frame in this many is a neighbour's.
const CHANNEL_SHARE: u64 = 50;

/// What the reader knows of the file.
#[derive(Clone, Debug, Default)]
pub struct Source {
    /// As named by the caller.
    pub path: String,
    /// Where the frames come from: `imported`, or `emulated` or `simulated` when the file says that txop made it.
    pub origin: &'static str,
    /// `pcap`, `pcapng`.
    pub container: String,
    /// `none`, `gzip`, `zstd`.
    pub compression: String,
    /// Snap lengths of the interfaces.
    pub snap_lengths: Vec<u32>,
    /// Names of the interfaces; empty for one without.
    pub interfaces: Vec<String>,
    /// Interfaces described.
    pub described: u64,
    /// Records of interfaces that were not chosen.
    pub on_other_interfaces: u64,
    /// Drops reported by the file.
    pub dropped: Option<u64>,
    /// Where reading stopped early.
    pub damage: Option<(u64, String)>,
    /// The window that the figures are of, and what lay outside.
    pub window: Option<Placed>,
    /// What the keys given made of protected frames.
    pub decryption: Option<crate::report::Decryption>,
}

/// Counters of the capture, or of its window.
#[derive(Clone, Debug, Default)]
pub struct Counts {
    /// Records by outcome.
    pub tally: Tally,
    /// Frames that are in the file twice: same header, length and time.
    pub duplicates: u64,
    /// First attempts with data that were captured again soon after, without the retry bit.
    pub copies: u64,
    /// First frames that are in the file again, at the same time, behind others.
    pub begins_again: u64,
    /// Frames that another interface had captured as well.
    pub heard_twice: u64,
    /// Frames as a program handed them over, which are in the file again as they were sent.
    pub handed_over: u64,
    /// Frames with a good FCS.
    pub fcs_good: u64,
    /// Bad.
    pub fcs_bad: u64,
    /// Not known.
    pub fcs_unknown: u64,
    /// Those of them that the capturing machine sent.
    pub own_unchecked: u64,
    /// Good, by the receiver's flag alone: the capture holds no whole FCS of them, or one that is wrong.
    pub fcs_flagged: u64,
    first_time_ns: Option<i64>,
    last_time_ns: Option<i64>,
    /// Latest capture time of each interface, ns.
    latest_ns: Vec<i64>,
    disordered: u64,
    farthest_back_ns: i64,
    /// Frames by interface and channel, MHz.
    channels: Few<(u32, u16), MAX_CHANNELS>,
    /// Frames on channels that were not chosen, on the interface of the chosen one.
    pub left_for: Channels,
    own: u64,
    /// Frames with a known modulation.
    rated: u64,
    aggregatable: u64,
    with_ampdu_status: u64,
    stamped: u64,
    frames: u64,
    data: u64,
    data_retries: u64,
    good_data: u64,
    good_data_retries: u64,
    /// Frames by interface.
    interfaces: Few<u32, MAX_INTERFACES>,
}

impl Counts {
    /// Adds a batch's tally.
    pub fn add(&mut self, tally: &Tally) {
        let sum = &mut self.tally;
        sum.wlan += tally.wlan;
        sum.not_wlan += tally.not_wlan;
        sum.unreadable += tally.unreadable;
        sum.empty_psdus += tally.empty_psdus;
        sum.cut += tally.cut;
        sum.captured_bytes += tally.captured_bytes;
        sum.fcs_disagreements += tally.fcs_disagreements;
        sum.fcs_inferred += tally.fcs_inferred;
        sum.fcs_unsaid += tally.fcs_unsaid;
        sum.relabelled += tally.relabelled;
        tally.named.iter().for_each(|(name, frames)| sum.named.add(name, frames));
        let room = MAX_EXAMPLES.saturating_sub(sum.examples.len());
        sum.examples.extend(tally.examples.iter().take(room).cloned());
        for (link, count) in tally.link_types.iter() {
            sum.link_types.add(link, count);
        }
        for (mhz, count) in tally.elsewhere.iter() {
            sum.elsewhere.add(mhz, count);
        }
        sum.without_channel += tally.without_channel;
    }

    /// Is this record earlier than one before it on its interface?
    #[inline]
    fn order(&mut self, interface: u32, ns: i64) {
        let index = (interface as usize).min(MAX_CLOCKS - 1);
        match self.latest_ns.get_mut(index) {
            Some(latest) if ns >= *latest => *latest = ns,
            Some(latest) => {
                let back = latest.saturating_sub(ns);
                self.disordered += u64::from(back > DISORDER_NS);
                self.farthest_back_ns = self.farthest_back_ns.max(back);
            }
            None => {
                self.latest_ns.resize(index, i64::MIN); // interfaces without a record so far
                self.latest_ns.push(ns);
            }
        }
    }

    /// Frames.
    pub fn frames(&self) -> u64 {
        self.frames
    }

    /// Frames with a hardware time stamp.
    pub fn stamped(&self) -> u64 {
        self.stamped
    }

    /// Frames with a known modulation.
    pub fn rated(&self) -> u64 {
        self.rated
    }

    /// Frames in a format that can carry an A-MPDU.
    pub fn aggregatable(&self) -> u64 {
        self.aggregatable
    }

    /// The formats of all frames are known, and none can carry an A-MPDU.
    pub fn none_may_aggregate(&self) -> bool {
        self.aggregatable == 0 && self.rated == self.frames
    }

    /// Frames with an A-MPDU status.
    pub fn with_ampdu_status(&self) -> u64 {
        self.with_ampdu_status
    }

    /// Frames with data.
    pub fn data(&self) -> u64 {
        self.data
    }

    /// Channels that the frames of an interface were captured on, counted or not; one where all but a few are on the same one: a
    /// strong neighbour is no hop. `main`: that interface, the one which frames of other channels than the chosen one are counted of, too.
    pub fn channels(&self, main: u32) -> u64 {
        let heard = self.heard_by(main);
        let total: u64 = heard.iter().map(|(_, frames)| frames).sum();
        let most = heard.iter().filter(|(_, frames)| frames * CHANNEL_SHARE >= total).count() as u64;
        match most {
            0 => u64::from(heard.len() > 0),
            1 => 1,
            // Of a sniffer that goes from one to the next, all that it was on.
            _ => heard.len() as u64,
        }
    }

    /// Frames that an interface captured by channel, counted or not.
    fn heard_by(&self, main: u32) -> Channels {
        let mut heard = self.left_for.clone();
        let own = self.channels.iter().filter(|((interface, _), _)| *interface == main);
        own.for_each(|((_, mhz), frames)| heard.add(mhz, frames));
        heard
    }

    /// Frames that an interface captured on the channel of most of them, and on any.
    pub fn on_main_channel(&self, main: u32) -> (u64, u64) {
        let heard = self.heard_by(main);
        let frames = || heard.iter().map(|(_, frames)| frames);
        (frames().max().unwrap_or(0), frames().sum())
    }

    /// Counted frames by channel, of all interfaces.
    fn counted_on(&self) -> Channels {
        let mut all = Channels::default();
        self.channels.iter().for_each(|((_, mhz), frames)| all.add(mhz, frames));
        all
    }

    /// Frames by channel, counted or not.
    pub fn heard_on(&self) -> Channels {
        let mut all = self.counted_on();
        self.tally.elsewhere.iter().for_each(|(mhz, frames)| all.add(mhz, frames));
        all
    }

    /// The channel of most counted frames, MHz.
    pub fn main_channel(&self) -> Option<u16> {
        self.counted_on().most()
    }

    /// Interfaces that frames were captured by.
    pub fn interfaces(&self) -> u64 {
        self.interfaces.len() as u64
    }

    /// Frames captured by one of them.
    pub fn captured_by(&self, interface: u32) -> u64 {
        self.interfaces.iter().find(|(other, _)| *other == interface).map_or(0, |(_, frames)| frames)
    }

    /// Frames that the capturing machine sent.
    pub fn own(&self) -> u64 {
        self.own
    }

    /// First to last frame by the capture's clock, ns.
    pub fn span_ns(&self) -> Option<i64> {
        self.first_time_ns.zip(self.last_time_ns).map(|(first, last)| last.saturating_sub(first))
    }

    /// Records earlier than one before them on their interface by more than [`DISORDER_NS`].
    pub fn disordered(&self) -> u64 {
        self.disordered
    }

    /// The most that a record is earlier than one before it, ns.
    pub fn farthest_back_ns(&self) -> i64 {
        self.farthest_back_ns
    }

    /// Adds a frame.
    pub fn note(&mut self, frame: &Frame) {
        self.frames += 1;
        if let Some(ns) = frame.time_ns {
            self.first_time_ns = Some(self.first_time_ns.map_or(ns, |first| first.min(ns)));
            self.last_time_ns = self.last_time_ns.max(Some(ns));
            self.order(frame.interface, ns);
        }
        self.own += u64::from(frame.radio.own_transmission);
        self.rated += u64::from(!matches!(frame.radio.mode, Mode::Unknown));
        self.aggregatable += u64::from(frame.radio.mode.can_aggregate());
        self.with_ampdu_status += u64::from(frame.radio.ampdu.is_some());
        self.stamped += u64::from(frame.radio.tsft_us.is_some_and(is_real) || frame.radio.stamp.is_some());
        self.interfaces.add(frame.interface, 1);
        if frame.header.fc.frame_type() == FrameType::Data && !frame.is_foreign() {
            let retry = u64::from(frame.header.fc.retry());
            self.data += 1;
            self.data_retries += retry;
            if frame.usable() {
                self.good_data += 1;
                self.good_data_retries += retry;
            }
        }
        if let Some(mhz) = frame.radio.frequency_mhz {
            self.channels.add((frame.interface, mhz), 1);
        }
    }
}

fn band_name(band: Band) -> &'static str {
    match band {
        Band::Ghz2_4 => "2.4 GHz",
        Band::Ghz5 => "5 GHz",
        Band::Ghz6 => "6 GHz",
        Band::Ghz60 => "60 GHz",
    }
}

/// Section 1.
pub fn build(counts: &Counts, source: &Source, selection: Option<Selection>, limits: Vec<Limit>) -> Summary {
    let mut channels: Vec<(u16, u64)> = counts.counted_on().iter().collect();
    channels.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(&b.0)));
    Summary {
        container: source.container.clone(),
        compression: source.compression.clone(),
        link_types: counts
            .tally
            .link_types
            .iter()
            .map(|(number, frames)| LinkTypeCount {
                number,
                name: LinkType(number).name().unwrap_or("unknown").to_owned(),
                frames,
            })
            .collect(),
        not_wlan: counts.tally.not_wlan,
        unreadable: counts.tally.unreadable,
        unreadable_examples: counts.tally.examples.clone(),
        empty_psdus: counts.tally.empty_psdus,
        first_time_unix_s: counts.first_time_ns.map(|ns| ns as f64 / 1e9),
        span_us: counts.first_time_ns.zip(counts.last_time_ns).map(|(a, b)| us(b.saturating_sub(a))),
        captured_bytes: counts.tally.captured_bytes,
        channels: channels
            .iter()
            .map(|(mhz, frames)| Channel {
                frequency_mhz: *mhz,
                channel: Band::channel_number(*mhz),
                band: Band::from_frequency_mhz(*mhz).map(|band| band_name(band).to_owned()),
                frames: *frames,
            })
            .collect(),
        fcs: FcsState {
            good: counts.fcs_good,
            bad: counts.fcs_bad,
            unknown: counts.fcs_unknown,
            disagreements: counts.tally.fcs_disagreements,
            flagged_good: counts.fcs_flagged,
        },
        snap_lengths: source.snap_lengths.clone(),
        cut_frames: counts.tally.cut,
        own_transmissions: counts.own,
        dropped_by_capture: source.dropped,
        damage: source
            .damage
            .as_ref()
            .map(|(offset, message)| DamageNote { offset: *offset, message: message.clone() }),
        window: source.window.as_ref().map(|placed| Window::new(placed, true)),
        selection,
        limits,
    }
}

/// Rows of one table of the report; the tables themselves are bounded, but a flood of invented addresses fills them.
const MAX_ROWS: usize = 2_000;
/// Station rows of one network.
const MAX_MEMBER_ROWS: usize = 250;

/// Leaves out the rows with the least and says so.
pub fn cut_rows(report: &mut Report, aps_not_kept: u64) {
    if aps_not_kept > 0 {
        let kept = Figure::total(report.access_points.len() as u64);
        let more = sentence!(
            "{kept} access points are listed; {frames} and probe responses of others are not looked at",
            kept = kept,
            frames = Figure::all(aps_not_kept, "beacon")
        );
        report.summary.limits.push(Limit::new(
            "access-points-not-kept",
            more,
            &["access points", "networks", "capabilities"],
        ));
    }
    let mut cut = Vec::new();
    let mut note = |what: &str, rows: usize| {
        if rows > MAX_ROWS {
            cut.push(format!("{rows} {what}"));
        }
    };
    note("addresses", report.stations.len());
    note("networks", report.bss.len());
    note("access points", report.access_points.len());
    note("links", report.links.len());
    note("multi-link devices", report.multi_link_devices.len());
    note("ghosts", report.ghosts.len());
    note("exchanges", report.exchanges.len());
    note("aggregation rows", report.aggregation.len());
    note("multi-user rows", report.multi_user.len());
    report.stations.truncate(MAX_ROWS);
    report.bss.truncate(MAX_ROWS);
    report.access_points.truncate(MAX_ROWS);
    report.links.truncate(MAX_ROWS);
    report.multi_link_devices.truncate(MAX_ROWS);
    report.unclear_links.truncate(MAX_ROWS);
    report.ghosts.truncate(MAX_ROWS);
    report.exchanges.truncate(MAX_ROWS);
    report.aggregation.truncate(MAX_ROWS);
    report.multi_user.truncate(MAX_ROWS);
    let mut longest = 0;
    for network in &mut report.bss {
        longest = longest.max(network.members.len());
        network.members.truncate(MAX_MEMBER_ROWS);
    }
    if longest > MAX_MEMBER_ROWS {
        cut.push(format!("{longest} stations in one network (the first {MAX_MEMBER_ROWS} are listed)"));
    }
    if !cut.is_empty() {
        let listed = sentence!(
            "only the first {listed} of a table are listed; there are {cut}",
            listed = Figure::all(MAX_ROWS as u64, "row");
            cut = cut.join(", ")
        );
        report.summary.limits.push(Limit::new("rows-cut", listed, &["stations", "networks", "links"]));
    }
}

/// Station rows of Wireshark's window summed over networks, by address.
pub fn members(networks: &Networks) -> HashMap<u64, Member> {
    let mut sums: HashMap<u64, Member> = HashMap::new();
    for (_, address, member) in networks.members() {
        let sum = sums.entry(address.as_u64()).or_default();
        sum.packets += member.packets;
        sum.retries += member.retries;
        sum.sent += member.sent;
        sum.received += member.received;
    }
    sums
}

fn wireshark(member: &Member) -> WiresharkStation {
    WiresharkStation {
        packets: member.packets,
        retries: member.retries,
        retry_percent: RetryCount::new(member.packets, member.retries).percent,
        sent: member.sent,
        received: member.received,
    }
}

/// One station row.
pub fn station(
    address: MacAddr,
    station: &Station,
    ghost: bool,
    claims: &Claims,
    members: &HashMap<u64, Member>,
    has_mesh: bool,
    rated: bool,
) -> StationRow {
    let kind = if ghost {
        "ghost"
    } else if address.is_group() {
        "group"
    } else if address == MacAddr::ZERO {
        "unknown"
    } else if let Some(kind) = claims.kind(address) {
        // Also in a part of the capture in which it does not show.
        kind
    } else if station.acts_as_ap(has_mesh) {
        "ap"
    } else if has_mesh && station.from_ds_group > 0 {
        // Group frames of a mesh come from the DS, too (IEEE Std 802.11-2020, table 9-59).
        "mesh"
    } else if station.as_any > 0 {
        "station"
    } else {
        "unknown"
    };
    let (key_managements, pairwise_ciphers) = claims.asked_for(address).map(suites).unwrap_or_default();
    StationRow {
        address: address.to_string(),
        kind: kind.to_owned(),
        ssid: claims.ssid(address),
        key_managements,
        pairwise_ciphers,
        frames_sent: station.sent,
        bad_fcs_sent: station.sent_bad,
        bytes_sent: station.bytes,
        data_frames_sent: station.data,
        frames_received: station.received,
        retries_sent: station.retries,
        retry_percent: RetryCount::new(station.sent, station.retries).percent,
        wireshark: wireshark(members.get(&address.as_u64()).unwrap_or(&Member::default())),
        mpdu_retry: RetryCount::new(station.mpdus, station.mpdu_retries),
        airtime_us: rated.then(|| us(station.airtime.total())),
        airtime: rated.then(|| station.airtime.report()),
        rates: station.rates.report(),
        signal_dbm: station.signal.spread(),
        first_seen_us: station.first_ns.map(us),
        last_seen_us: station.last_ns.map(us),
        power_management_frames: station.pm_frames,
        power_management_changes: station.pm_changes,
    }
}

/// One link row.
pub fn link(link: &Link, direction: &str, rated: bool) -> crate::report::Link {
    let station = if direction == "uplink" { link.ta } else { link.ra };
    crate::report::Link {
        bssid: link.bssid.map(|bssid| bssid.to_string()),
        station: station.to_string(),
        direction: direction.to_owned(),
        ta: link.ta.to_string(),
        ra: link.ra.to_string(),
        frames: link.frames,
        bytes: link.bytes,
        data_frames: link.data,
        wireshark_retry: RetryCount::new(link.counted, link.counted_retries),
        mpdu_retry: RetryCount::new(link.mpdus, link.mpdu_retries),
        retries_without_attempt: Some(link.unseen_retries),
        byte_retry_percent: (link.mpdu_bytes > 0).then(|| 100.0 * link.retry_bytes as f64 / link.mpdu_bytes as f64),
        airtime_us: rated.then(|| us(link.airtime.total())),
        rates: link.rates.report(),
        signal_dbm: link.signal.spread(),
        first_seen_us: Some(us(link.first_ns)),
        last_seen_us: Some(us(link.last_ns)),
    }
}

/// Network rows with their stations, most packets first.
pub fn networks(networks: &Networks, claims: &Claims, is_ghost: &dyn Fn(u64) -> bool) -> Vec<Bss> {
    let mut members: Vec<Vec<BssMember>> = vec![Vec::new(); networks.rows().len()];
    for (row, address, member) in networks.members() {
        if let Some(list) = members.get_mut(row as usize) {
            list.push(BssMember { address: address.to_string(), counts: wireshark(member) });
        }
    }
    let mut rows: Vec<Bss> = networks
        .rows()
        .iter()
        .zip(members)
        .map(|(network, mut members)| {
            members.sort_by(|a, b| b.counts.packets.cmp(&a.counts.packets).then_with(|| a.address.cmp(&b.address)));
            let real = members
                .iter()
                .filter_map(|m| m.address.parse::<MacAddr>().ok())
                .filter(|a| !a.is_group() && *a != network.bssid && !is_ghost(a.as_u64()))
                .count();
            Bss {
                bssid: network.bssid.to_string(),
                ssid: (!network.ssid.as_bytes().is_empty()).then(|| network.ssid.display()),
                channel: claims.channel(network.bssid).or_else(|| {
                    // Who probes for any network names no channel of one.
                    let heard_mhz = network.frequency_mhz.filter(|_| !network.bssid.is_group())?;
                    Band::channel_number(heard_mhz)
                }),
                packets: network.packets,
                retries: network.retries,
                retry_percent: RetryCount::new(network.packets, network.retries).percent,
                beacons: network.beacons,
                data_packets: network.data,
                probes: network.probes,
                stations: real as u64,
                members,
            }
        })
        .collect();
    rows.sort_by(|a, b| b.packets.cmp(&a.packets).then_with(|| a.bssid.cmp(&b.bssid)));
    rows
}

/// Section 3: what the ghosts do.
pub fn ghost_effect(counts: &Counts, stations: &Stations, links: &Links, ghosts: &[ghost::Verdict]) -> GhostEffect {
    let unicast = stations.table.iter().filter(|(address, _)| !MacAddr::from_u64(**address).is_group());
    let (mut addresses, mut good) = (0, 0);
    for (_, station) in unicast {
        addresses += 1;
        let bad = station.sent_bad + station.received_bad;
        good += u64::from(station.sent + station.received > bad);
    }
    let rows = ghosts.iter().filter_map(|ghost| stations.table.by_key(&ghost.address.as_u64()));
    let named: u64 = rows.map(|station| station.sent + station.received).sum();
    // A damaged frame mostly has two addresses that no station has, and is one frame all the same.
    let ghosts_at: HashSet<MacAddr> = ghosts.iter().map(|ghost| ghost.address).collect();
    let between = links.iter().filter(|(_, link)| ghosts_at.contains(&link.ta) && ghosts_at.contains(&link.ra));
    let named_twice: u64 = between.map(|(_, link)| link.frames).sum();
    GhostEffect {
        addresses,
        addresses_good: good,
        ghosts: ghosts.len() as u64,
        ghost_frames: named.saturating_sub(named_twice),
        retry_all: RetryCount::new(counts.data, counts.data_retries),
        retry_good: RetryCount::new(counts.good_data, counts.good_data_retries),
        addresses_evicted: stations.table.evicted(),
    }
}
