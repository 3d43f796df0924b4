//! Networks and their stations, counted exactly as Wireshark's WLAN Traffic window counts them.
//!
//! The rules (observed behaviour of Wireshark 4's `wlan` tap and dialog) are written out in `docs/air-counting.md`.

use hashbrown::HashMap;
use wire::ieee80211::{FrameKind, FrameType, MacAddr};

use crate::frame::Frame;

/// Network rows kept.
const MAX_NETWORKS: usize = 4_096;
/// (network, station) rows kept.
const MAX_MEMBERS: usize = 32_768;
/// Rows looked at per BSSID or SSID when a frame names an SSID that is new for its BSSID.
const MAX_CANDIDATES: usize = 64;
/// Answers remembered.
const REMEMBERED: usize = 512;

/// SSID bytes, as far as Wireshark compares them (32 at the most).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub struct SsidKey {
    len: u8,
    bytes: [u8; 32],
}

impl SsidKey {
    /// From the element's bytes.
    pub fn new(ssid: &[u8]) -> Self {
        let mut key = Self::default();
        let len = ssid.len().min(32);
        if let (Some(to), Some(from)) = (key.bytes.get_mut(..len), ssid.get(..len)) {
            to.copy_from_slice(from);
        }
        key.len = len as u8;
        key
    }

    /// The bytes.
    pub fn as_bytes(&self) -> &[u8] {
        self.bytes.get(..usize::from(self.len)).unwrap_or_default()
    }

    /// Safe to display: control characters and escapes made visible.
    pub fn display(&self) -> String {
        wire::ieee80211::display_ssid(self.as_bytes())
    }

    /// A number that distinguishes most pairs of BSSID and SSID.
    fn mixed_with(&self, bssid: MacAddr) -> u32 {
        let start = self.bytes.first_chunk().map_or(0, |bytes| u64::from_le_bytes(*bytes));
        let both = bssid.as_u64() ^ start.rotate_left(24) ^ u64::from(self.len);
        (both.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32) as u32
    }

    fn is_named(&self) -> bool {
        self.len > 0 && self.bytes[0] != 0
    }

    fn is_hidden(&self) -> bool {
        self.len == 1 && self.bytes[0] == 0
    }
}

/// One network row.
#[derive(Clone, Debug)]
pub struct Network {
    /// Its BSSID.
    pub bssid: MacAddr,
    /// Its SSID.
    pub ssid: SsidKey,
    /// Counted frames.
    pub packets: u64,
    /// With the retry bit.
    pub retries: u64,
    /// Beacons.
    pub beacons: u64,
    /// Data frames.
    pub data: u64,
    /// Probe requests and responses.
    pub probes: u64,
    /// What the receiver was tuned to, MHz, at the first frame that records it.
    pub frequency_mhz: Option<u16>,
    /// Address and member row of the latest frame's source and destination.
    recent: [Option<(u64, u32)>; 2],
}

/// One station row of a network.
#[derive(Clone, Copy, Debug, Default)]
pub struct Member {
    /// Frames with this SA or DA, without beacons.
    pub packets: u64,
    /// Retries among all of them.
    pub retries: u64,
    /// Data frames with this SA.
    pub sent: u64,
    /// Data frames with this DA and another SA.
    pub received: u64,
}

/// What [`Networks::search`] said of a BSSID with an SSID.
#[derive(Clone, Copy, Debug)]
struct Answer {
    bssid: MacAddr,
    ssid: SsidKey,
    is_probe_request: bool,
    generation: u64,
    row: u32,
}

/// Where a frame was counted, to count one that differs in nothing that matters without looking again.
#[derive(Clone, Copy, Debug, Default)]
pub struct Recall(Option<Counted>);

#[derive(Clone, Copy, Debug)]
struct Counted {
    generation: u64,
    bssid: MacAddr,
    source: Option<MacAddr>,
    destination: Option<MacAddr>,
    row: u32,
    /// Rows of source and destination, where they have one.
    members: [Option<u32>; 2],
}

/// All rows.
#[derive(Clone, Debug, Default)]
pub struct Networks {
    rows: Vec<Network>,
    by_bssid: HashMap<u64, Vec<u32>>,
    by_ssid: HashMap<SsidKey, Vec<u32>>,
    members: Vec<(u32, u64, Member)>,
    by_address: HashMap<(u32, u64), u32>,
    /// Raised when a row is renamed, because that may change the answer to any question. A new row comes after all
    /// others and changes none: the first that takes a frame is the answer.
    generation: u64,
    answers: Vec<Option<Answer>>,
    /// Where frames without an SSID were counted, by their two ends.
    pairs: Vec<Recall>,
    /// Frames of networks or members that did not fit.
    pub overflow: u64,
}

/// Whether the window counts this frame at all: management, extension, and data frames that are not Null.
pub fn is_counted(frame: &Frame) -> bool {
    let fc = frame.header.fc;
    match fc.frame_type() {
        _ if frame.is_foreign() => false,
        FrameType::Management | FrameType::Extension => true,
        FrameType::Data => !fc.is_null(),
        FrameType::Control => false,
    }
}

impl Networks {
    /// Counts a frame for which [`is_counted`] holds; `ssid` is the frame's SSID element, if it has one.
    pub fn frame(&mut self, frame: &Frame, ssid: Option<&[u8]>) {
        if ssid.is_some() || matches!(frame.header.fc.kind(), FrameKind::ProbeRequest) {
            self.look_up(frame, ssid);
            return;
        }
        // Without an SSID the kind of the frame does not matter: one place for each pair of stations.
        if self.pairs.is_empty() {
            self.pairs = vec![Recall::default(); REMEMBERED];
        }
        let ta = frame.header.addr2.unwrap_or_default().as_u64();
        let mixed = (ta ^ frame.header.addr1.as_u64().rotate_left(24)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let slot = (mixed >> 32) as usize % REMEMBERED;
        let Some(mut recall) = self.pairs.get(slot).copied() else { return };
        self.repeat(frame, ssid, &mut recall);
        if let Some(place) = self.pairs.get_mut(slot) {
            *place = recall;
        }
    }

    /// As [`Networks::frame`], for a frame of the same kind and SSID as all others with this `recall`.
    #[inline]
    pub fn repeat(&mut self, frame: &Frame, ssid: Option<&[u8]>, recall: &mut Recall) {
        let header = &frame.header;
        let (bssid, source, destination) = match header.fc.frame_type() {
            FrameType::Management => (header.addr3, header.addr2, Some(header.addr1)),
            _ => (header.bssid(), header.source(), header.destination()),
        };
        match &recall.0 {
            Some(known)
                if known.generation == self.generation
                    && known.bssid == bssid.unwrap_or(MacAddr::ZERO)
                    && known.source == source
                    && known.destination == destination =>
            {
                let known = *known;
                self.count(frame, known.row, known.members, known.source);
            }
            _ => recall.0 = self.look_up(frame, ssid),
        }
    }

    /// Counts a frame; returns where, if the next of its kind is sure to be counted there too.
    fn look_up(&mut self, frame: &Frame, ssid: Option<&[u8]>) -> Option<Counted> {
        let bssid = frame.header.bssid().unwrap_or(MacAddr::ZERO);
        let kind = frame.header.fc.kind();
        let ssid = SsidKey::new(match ssid.unwrap_or_default() {
            // A hidden network's beacon has an SSID of zeros, as long as the name or of one: a name that is hidden.
            zeros if !matches!(kind, FrameKind::ProbeRequest) && zeros.iter().all(|byte| *byte == 0) => &[],
            ssid => ssid,
        });
        let before = (self.generation, self.rows.len());
        let Some(row) = self.find(bssid, ssid, kind) else {
            self.overflow += 1;
            return None;
        };
        if let Some(network) = self.rows.get_mut(row as usize) {
            network.frequency_mhz = network.frequency_mhz.or(frame.radio.frequency_mhz);
        }
        let generation = self.generation;
        // Some frames do not match even the row they make (Wireshark makes one for each of them).
        let is_settled = before == (generation, self.rows.len());
        let (source, destination) = (frame.header.source(), frame.header.destination());
        let mut members = [None; 2];
        for (place, address) in members.iter_mut().zip([source, destination]) {
            let Some(address) = address else { continue };
            *place = self.member(row, address, Some(address) != source);
            self.overflow += u64::from(place.is_none());
        }
        self.count(frame, row, members, source);
        let is_whole = members.iter().zip([source, destination]).all(|(at, address)| at.is_some() == address.is_some());
        (is_settled && is_whole).then_some(Counted { generation, bssid, source, destination, row, members })
    }

    #[inline]
    fn count(&mut self, frame: &Frame, row: u32, members: [Option<u32>; 2], source: Option<MacAddr>) {
        let fc = frame.header.fc;
        let kind = fc.kind();
        let retry = u64::from(fc.retry());
        let beacon = matches!(kind, FrameKind::Beacon);
        let data = fc.carries_data();
        if let Some(network) = self.rows.get_mut(row as usize) {
            network.packets += 1;
            network.retries += retry;
            network.beacons += u64::from(beacon);
            network.data += u64::from(data);
            network.probes += u64::from(matches!(kind, FrameKind::ProbeRequest | FrameKind::ProbeResponse));
        }
        for (position, is_receiver) in members.into_iter().zip([false, true]) {
            let Some((_, address, member)) = position.and_then(|at| self.members.get_mut(at as usize)) else {
                continue;
            };
            member.packets += u64::from(!beacon);
            member.retries += retry;
            if data {
                let is_sender = !is_receiver || source.is_some_and(|source| source.as_u64() == *address);
                *(if is_sender { &mut member.sent } else { &mut member.received }) += 1;
            }
        }
    }

    /// The row of a station in a network; a new one while there is room.
    #[inline]
    fn member(&mut self, network: u32, address: MacAddr, is_receiver: bool) -> Option<u32> {
        let address = address.as_u64();
        let recent = self.rows.get_mut(network as usize)?.recent.get_mut(usize::from(is_receiver))?;
        match recent {
            Some((known, position)) if *known == address => return Some(*position),
            _ => {}
        }
        let position = match self.by_address.get(&(network, address)) {
            Some(position) => *position,
            None if self.members.len() >= MAX_MEMBERS => return None,
            None => {
                let position = self.members.len() as u32;
                self.members.push((network, address, Member::default()));
                self.by_address.insert((network, address), position);
                position
            }
        };
        *recent = Some((address, position));
        Some(position)
    }

    /// [`Networks::search`], asked only when the same question has not just been answered.
    #[inline]
    fn find(&mut self, bssid: MacAddr, ssid: SsidKey, kind: FrameKind) -> Option<u32> {
        let is_probe_request = matches!(kind, FrameKind::ProbeRequest);
        let slot = ssid.mixed_with(bssid) as usize % REMEMBERED;
        if let Some(Some(answer)) = self.answers.get(slot) {
            if answer.bssid == bssid
                && answer.generation == self.generation
                && answer.is_probe_request == is_probe_request
                && answer.ssid == ssid
            {
                return Some(answer.row);
            }
        }
        let before = (self.generation, self.rows.len());
        let row = self.search(bssid, ssid, kind)?;
        // Some frames do not match even the row they make (Wireshark makes one for each of them): asked again next time.
        if (self.generation, self.rows.len()) != before {
            return Some(row);
        }
        if self.answers.is_empty() {
            self.answers = vec![None; REMEMBERED];
        }
        if let Some(answer) = self.answers.get_mut(slot) {
            *answer = Some(Answer { bssid, ssid, is_probe_request, generation: self.generation, row });
        }
        Some(row)
    }

    /// The first row, in order of appearance, that takes this frame; a new one when none does.
    fn search(&mut self, bssid: MacAddr, ssid: SsidKey, kind: FrameKind) -> Option<u32> {
        let same_bssid = self.by_bssid.get(&bssid.as_u64()).map_or(&[][..], Vec::as_slice);
        if ssid.len == 0 && !matches!(kind, FrameKind::ProbeRequest) {
            // The common case: without an SSID the first row of the BSSID takes it.
            if let Some(row) = same_bssid.first() {
                return Some(*row);
            }
        } else {
            let same_ssid = self.by_ssid.get(&ssid).map_or(&[][..], Vec::as_slice);
            let mut candidates = [0; 2 * MAX_CANDIDATES];
            let count = merge(same_bssid, same_ssid, &mut candidates);
            for row in candidates.into_iter().take(count) {
                if self.matches(row, bssid, ssid, kind) {
                    return Some(row);
                }
            }
        }
        if self.rows.len() >= MAX_NETWORKS {
            return None;
        }
        let row = self.rows.len() as u32;
        let recent = [None; 2];
        let (packets, retries, beacons, data, probes, frequency_mhz) = (0, 0, 0, 0, 0, None);
        self.rows.push(Network { bssid, ssid, packets, retries, beacons, data, probes, frequency_mhz, recent });
        remember(self.by_bssid.entry(bssid.as_u64()).or_default(), row);
        remember(self.by_ssid.entry(ssid).or_default(), row);
        Some(row)
    }

    /// Does `row` take a frame with this BSSID, SSID and kind? May complete the row's BSSID or SSID.
    fn matches(&mut self, row: u32, bssid: MacAddr, ssid: SsidKey, kind: FrameKind) -> bool {
        let Some(network) = self.rows.get(row as usize) else { return false };
        let (row_bssid, row_ssid) = (network.bssid, network.ssid);
        let row_is_broadcast = row_bssid == MacAddr::BROADCAST;
        let mut same_bssid = row_bssid == bssid;
        let mut same_ssid = ssid.is_named() && row_ssid == ssid;
        if same_bssid && same_ssid {
            return true;
        }
        let (mut take_bssid, mut take_ssid) = (false, false);
        if matches!(kind, FrameKind::ProbeRequest) {
            if same_ssid {
                take_bssid = row_is_broadcast && bssid != MacAddr::BROADCAST;
            } else if ssid.is_hidden() {
                take_ssid = !row_is_broadcast && same_bssid;
            } else if row_ssid.len == 0 && ssid.len == 0 && row_is_broadcast && bssid == MacAddr::BROADCAST {
                return true;
            }
        } else {
            if same_ssid {
                take_bssid = row_is_broadcast && bssid != MacAddr::BROADCAST;
            } else if ssid.len == 0 {
                same_ssid = true;
            }
            take_ssid = same_bssid && !row_ssid.is_named() && ssid.is_named();
        }
        if take_bssid {
            same_bssid = true;
            self.rename(row, Some(bssid), None);
        }
        if take_ssid {
            same_ssid = true;
            self.rename(row, None, Some(ssid));
        }
        same_bssid && same_ssid
    }

    fn rename(&mut self, row: u32, bssid: Option<MacAddr>, ssid: Option<SsidKey>) {
        let Some(network) = self.rows.get_mut(row as usize) else { return };
        self.generation += 1;
        if let Some(bssid) = bssid {
            forget(self.by_bssid.get_mut(&network.bssid.as_u64()), row);
            network.bssid = bssid;
            network.frequency_mhz = None; // it was that of a station that looked for any network
            remember(self.by_bssid.entry(bssid.as_u64()).or_default(), row);
        }
        if let Some(ssid) = ssid {
            forget(self.by_ssid.get_mut(&network.ssid), row);
            network.ssid = ssid;
            remember(self.by_ssid.entry(ssid).or_default(), row);
        }
    }

    /// Network rows in order of appearance.
    pub fn rows(&self) -> &[Network] {
        &self.rows
    }

    /// Station rows as (network row, address, counts).
    pub fn members(&self) -> impl Iterator<Item = (u32, MacAddr, &Member)> {
        self.members.iter().map(|(row, address, member)| (*row, MacAddr::from_u64(*address), member))
    }
}

/// Keeps a list of rows in order of appearance, bounded.
fn remember(rows: &mut Vec<u32>, row: u32) {
    if rows.len() < MAX_CANDIDATES {
        let at = rows.partition_point(|other| *other < row);
        rows.insert(at, row);
    }
}

/// Both sorted lists in one, sorted; how many there are of them.
fn merge<'a>(mut a: &'a [u32], mut b: &'a [u32], out: &mut [u32]) -> usize {
    let mut count = 0;
    for slot in out {
        let from = match (a.first(), b.first()) {
            (Some(x), Some(y)) if x > y => &mut b,
            (Some(_), _) => &mut a,
            (None, Some(_)) => &mut b,
            (None, None) => break,
        };
        if let Some((first, rest)) = from.split_first() {
            *slot = *first;
            *from = rest;
            count += 1;
        }
    }
    count
}

fn forget(rows: Option<&mut Vec<u32>>, row: u32) {
    if let Some(rows) = rows {
        rows.retain(|other| *other != row);
    }
}
