//! Who sends: per-address counters.

use wire::ieee80211::{FrameKind, FrameType, MacAddr};
use wire::phy::Mode;

use crate::frame::{Fcs, Frame};
use crate::histogram::Exact;
use crate::micros::us;
use crate::namer::is_nan;
use crate::rate_range::rates_mbit_s;
use crate::rate_timeline::{RateTimeline, Track};
use crate::report::{self, AirtimeKinds, RateRow, Spread};
use crate::table::{Table, Weight};
use crate::usage::Usage;

/// Addresses kept; a capture with more keeps the busier half.
pub const MAX_STATIONS: usize = 8_192;

/// Rates kept per histogram: 802.11 to ax has about a thousand combinations, a station uses a few dozen.
const MAX_RATES: usize = 96;

/// Frames by rate.
#[derive(Clone, Debug, Default)]
pub struct RateHistogram {
    rows: Vec<RateCount>,
    last: usize,
}

#[derive(Clone, Copy, Debug)]
struct RateCount {
    key: u64,
    frames: u64,
    retries: u64,
    bytes: u64,
}

impl RateHistogram {
    /// Counts a frame; returns the key of its mode.
    #[inline]
    pub fn add(&mut self, mode: &Mode, retry: bool, bytes: u32) -> u64 {
        let key = mode.key();
        let position = match self.rows.get(self.last) {
            Some(row) if row.key == key => self.last,
            _ => match self.rows.iter().position(|row| row.key == key) {
                Some(position) => position,
                None => {
                    // Beyond the bound, impossible combinations of a hostile capture share one row.
                    let key = if self.rows.len() < MAX_RATES { key } else { Mode::Unknown.key() };
                    self.rows.push(RateCount { key, frames: 0, retries: 0, bytes: 0 });
                    if self.rows.len() > MAX_RATES + 1 {
                        self.rows.pop();
                    }
                    self.rows.len() - 1
                }
            },
        };
        self.last = position;
        if let Some(row) = self.rows.get_mut(position) {
            row.frames += 1;
            row.retries += u64::from(retry);
            row.bytes += u64::from(bytes);
        }
        key
    }

    /// Frames in modes for which `test` holds, and frames in modes that the capture records.
    pub fn frames_that(&self, test: impl Fn(&Mode) -> bool) -> (u64, u64) {
        let known = self.rows.iter().filter_map(|row| Some((Mode::from_key(row.key)?, row.frames)));
        known
            .filter(|(mode, _)| *mode != Mode::Unknown)
            .fold((0, 0), |(hits, all), (mode, frames)| (hits + if test(&mode) { frames } else { 0 }, all + frames))
    }

    /// Frames by mode, where the capture records it.
    pub fn modes(&self) -> impl Iterator<Item = (Mode, u64)> + '_ {
        self.rows.iter().filter_map(|row| Some((Mode::from_key(row.key)?, row.frames)))
    }

    /// Rows for the report, most frames first.
    pub fn report(&self) -> Vec<RateRow> {
        let mut rows: Vec<RateRow> = self
            .rows
            .iter()
            .map(|row| {
                let mode = Mode::from_key(row.key).unwrap_or_default();
                let (mbit_s, mbit_s_low, mbit_s_high) = rates_mbit_s(&mode);
                RateRow {
                    label: mode.label(),
                    family: mode.family().to_owned(),
                    mbit_s,
                    mbit_s_low,
                    mbit_s_high,
                    frames: row.frames,
                    retries: row.retries,
                    bytes: row.bytes,
                }
            })
            .collect();
        rows.sort_by(|a, b| b.frames.cmp(&a.frames).then_with(|| a.label.cmp(&b.label)));
        rows
    }
}

/// Signal strengths, dBm.
#[derive(Clone, Debug)]
pub struct Signal(Exact);

impl Default for Signal {
    fn default() -> Self {
        Self(Exact::new(-128, 256))
    }
}

impl Signal {
    /// Counts a frame's signal.
    #[inline]
    pub fn add(&mut self, frame: &Frame) {
        if let Some(dbm) = frame.radio.signal_dbm {
            self.0.add(i32::from(dbm));
        }
    }

    /// Spread in dBm.
    pub fn spread(&self) -> Option<Spread> {
        self.0.spread()
    }
}

/// Airtime by kind, ns.
#[derive(Clone, Copy, Debug, Default)]
pub struct AirtimeNs {
    /// First transmissions of data.
    pub data: i64,
    /// Retries of data.
    pub retry: i64,
    /// Control.
    pub control: i64,
    /// Management.
    pub management: i64,
    /// Beacons.
    pub beacon: i64,
    /// Damaged or reserved.
    pub unknown: i64,
}

impl AirtimeNs {
    /// All kinds, ns.
    pub fn total(&self) -> i64 {
        self.data + self.retry + self.control + self.management + self.beacon + self.unknown
    }

    /// In µs, by kind.
    pub fn report(&self) -> AirtimeKinds {
        AirtimeKinds {
            data_us: us(self.data),
            retry_us: us(self.retry),
            control_us: us(self.control),
            management_us: us(self.management),
            beacon_us: us(self.beacon),
            unknown_us: us(self.unknown),
        }
    }
}

/// What a PPDU is, as far as its airtime goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AirtimeKind {
    /// Data; part of it may be repeated.
    Data,
    /// Control.
    Control,
    /// Management.
    Management,
    /// Beacon.
    Beacon,
    /// Damaged or reserved.
    Unknown,
}

/// Airtime of one PPDU, ns.
#[derive(Clone, Copy, Debug)]
pub struct PpduAirtimeNs {
    /// What it is.
    pub kind: AirtimeKind,
    /// Without repeated data.
    pub first: i64,
    /// Repeated data.
    pub retry: i64,
}

impl std::ops::AddAssign<PpduAirtimeNs> for AirtimeNs {
    #[inline]
    fn add_assign(&mut self, ppdu: PpduAirtimeNs) {
        let sum = match ppdu.kind {
            AirtimeKind::Data => {
                self.retry += ppdu.retry;
                &mut self.data
            }
            AirtimeKind::Control => &mut self.control,
            AirtimeKind::Management => &mut self.management,
            AirtimeKind::Beacon => &mut self.beacon,
            AirtimeKind::Unknown => &mut self.unknown,
        };
        *sum += ppdu.first;
    }
}

/// Counters of one address.
#[derive(Clone, Debug, Default)]
pub struct Station {
    /// Frames with this TA.
    pub sent: u64,
    /// Sent frames with a bad FCS.
    pub sent_bad: u64,
    /// Sent frames with a good FCS.
    pub sent_good: u64,
    /// MPDU bytes sent.
    pub bytes: u64,
    /// Data frames sent (not Null).
    pub data: u64,
    /// Frames sent with the retry bit.
    pub retries: u64,
    /// Unicast data MPDUs, usable FCS.
    pub mpdus: u64,
    /// Unicast data MPDUs with the retry bit.
    pub mpdu_retries: u64,
    /// Frames with this RA.
    pub received: u64,
    /// Received frames with a bad FCS.
    pub received_bad: u64,
    /// Received frames with a good FCS.
    pub received_good: u64,
    /// Beacons sent with a usable FCS.
    pub beacons: u64,
    /// First and last of them, ns on the timeline.
    pub beacon_span_ns: (i64, i64),
    /// Those of its beacons that the capturing machine sent itself: they show nothing about what it captured.
    pub own_beacons: u64,
    /// Beacons that came through the air to the interface that the accounts of the medium are about.
    pub heard_beacons: u64,
    /// Those with the sequence number of the one before.
    pub same_beacons: u64,
    /// Sequence number of the latest.
    last_beacon: Option<u16>,
    /// Usable frames sent as an AP would (FromDS without ToDS), or beacons, probe and association responses; and association
    /// requests received.
    pub as_ap: u64,
    /// Ends of associations that it sent in its own network's name, and frames that it sent to an access point.
    pub ends_in_own_name: u64,
    pub uplink: u64,
    /// Frames that the capturing machine sent under this address.
    pub sent_by_us: u64,
    /// Undamaged frames of this address that were received at some signal.
    pub from_air: u64,
    /// Data to groups from a distribution system, as access points send it, and mesh stations.
    pub from_ds_group: u64,
    /// Usable frames sent that only a station sends: data, management, PS-Poll. Responses and RTS come from either side.
    pub as_any: u64,
    /// Damaged management frames with this address both as transmitter and as BSSID: damage does not hit two fields alike.
    pub bad_twice: u64,
    /// Responses (ACK, Block Ack, CTS) attributed to this address: a station was there.
    pub responses: u64,
    /// Power management bit.
    pub pm_frames: u64,
    /// Changes of it.
    pub pm_changes: u64,
    /// Its last state.
    pub pm_last: Option<bool>,
    /// First frame sent, ns on the timeline.
    pub first_ns: Option<i64>,
    /// Last frame sent.
    pub last_ns: Option<i64>,
    /// Airtime.
    pub airtime: AirtimeNs,
    /// Rates of frames sent.
    pub rates: RateHistogram,
    /// The same over time.
    pub track: Track,
    /// Signal of frames sent.
    pub signal: Signal,
    /// Use of capabilities.
    pub usage: Usage,
}

/// Is it group-addressed data of a mesh station? It comes with FromDS alone, as from an access point, and a Mesh Control field
/// (IEEE Std 802.11-2020, 9.2.4.5.1 and 9.3.2.1). Bit 8 of an access point's own QoS Control field is reserved.
fn is_mesh_group(frame: &Frame) -> bool {
    frame.header.receiver().is_group() && frame.header.qos.is_some_and(|qos| qos.mesh_control_present())
}

impl Weight for Station {
    fn weight(&self) -> u64 {
        // A frame with a good FCS is worth more than any number of damaged ones.
        let good = self.sent_good + self.received_good + self.responses;
        let all = self.sent + self.received;
        good.min(1 << 40).saturating_mul(1024).saturating_add(all.min(1 << 20))
    }
}

/// All addresses.
#[derive(Debug)]
pub struct Stations {
    /// Rows by address.
    pub table: Table<u64, Station>,
    /// What their tracks have in common.
    pub timeline: RateTimeline,
}

impl Station {
    /// It behaves as an access point does. `has_mesh`: mesh stations were captured.
    pub fn acts_as_ap(&self, has_mesh: bool) -> bool {
        self.as_ap > 0 || (self.from_ds_group > 0 && !has_mesh) || (self.ends_in_own_name > 0 && self.uplink == 0)
    }
}

impl Stations {
    /// Only the capturing machine sends under this address: its radio answers by itself, and does not report what it answers. An address with
    /// received frames, too, is a station on the air, and the machine injects frames under its name.
    pub fn is_ours(&self, address: MacAddr) -> bool {
        self.table.by_key(&address.as_u64()).is_some_and(|station| station.sent_by_us > 0 && station.from_air == 0)
    }

    /// Frames of this address were captured.
    pub fn sends(&self, address: MacAddr) -> bool {
        self.table.by_key(&address.as_u64()).is_some_and(|station| station.sent > 0)
    }

    /// An empty table.
    pub fn new() -> Self {
        Self { table: Table::new(MAX_STATIONS), timeline: RateTimeline::default() }
    }

    /// Row of an address.
    pub fn row(&mut self, address: MacAddr) -> u32 {
        self.table.row(address.as_u64(), Station::default)
    }

    /// Counts a frame for its transmitter.
    #[inline]
    pub fn sent(&mut self, row: u32, frame: &Frame, at_ns: i64, is_main: bool) {
        let Self { table, timeline } = self;
        let Some(station) = table.get_mut(row) else { return };
        let fc = frame.header.fc;
        let retry = fc.retry();
        station.sent += 1;
        station.sent_by_us += u64::from(frame.radio.own_transmission);
        station.bytes += u64::from(frame.mpdu_len);
        station.retries += u64::from(retry);
        station.first_ns.get_or_insert(at_ns);
        station.last_ns = Some(at_ns);
        let data = fc.carries_data();
        station.data += u64::from(data);
        match frame.fcs {
            Fcs::Good => station.sent_good += 1,
            Fcs::Bad => {
                station.sent_bad += 1;
                station.bad_twice +=
                    u64::from(fc.frame_type() == FrameType::Management && frame.header.addr3 == frame.header.addr2);
                return;
            }
            Fcs::Unknown => {}
        }
        station.from_air += u64::from(frame.radio.signal_dbm.is_some() && !frame.radio.own_transmission);
        if data && !frame.header.receiver().is_group() {
            station.mpdus += 1;
            station.mpdu_retries += u64::from(retry);
        }
        let kind = fc.kind();
        // The devices of a NAN cluster are no access points.
        let announces_network = !is_nan(&frame.header);
        if announces_network && matches!(kind, FrameKind::Beacon) {
            station.beacons += 1;
            if frame.radio.own_transmission {
                station.own_beacons += 1;
            } else if is_main {
                let first = if station.heard_beacons == 0 { at_ns } else { station.beacon_span_ns.0.min(at_ns) };
                station.beacon_span_ns = (first, station.beacon_span_ns.1.max(at_ns));
                station.heard_beacons += 1;
                let sequence = frame.header.sequence;
                station.same_beacons += u64::from(sequence.is_some() && sequence == station.last_beacon);
                station.last_beacon = sequence;
            }
        }
        let is_of_ap = matches!(
            kind,
            FrameKind::Beacon
                | FrameKind::ProbeResponse
                | FrameKind::AssociationResponse
                | FrameKind::ReassociationResponse
        );
        station.as_ap += u64::from(is_of_ap && announces_network);
        if fc.from_ds() && !fc.to_ds() && (data || fc.is_null()) && !is_mesh_group(frame) {
            // To groups mesh stations send so, too (9.3.2.1), and before the standard they did not mark it.
            let is_group = frame.header.receiver().is_group();
            station.as_ap += u64::from(!is_group);
            station.from_ds_group += u64::from(is_group);
        }
        // Who ends an association in its own network's name is its access point; other frames of that kind leave open what sent them.
        let is_own_bss = frame.header.bssid() == frame.ta();
        station.ends_in_own_name +=
            u64::from(is_own_bss && matches!(kind, FrameKind::Deauthentication | FrameKind::Disassociation));
        station.uplink += u64::from(fc.to_ds() && !fc.from_ds());
        station.as_any += u64::from(
            (fc.frame_type() != FrameType::Control && !(is_own_bss && fc.frame_type() == FrameType::Management))
                || kind == FrameKind::PsPoll,
        );
        let pm = fc.power_management();
        station.pm_frames += u64::from(pm);
        if station.pm_last.is_some_and(|last| last != pm) {
            station.pm_changes += 1;
        }
        station.pm_last = Some(pm);
        station.signal.add(frame);
        station.usage.sent(frame);
        let key = station.rates.add(&frame.radio.mode, retry, frame.mpdu_len);
        if !timeline.add(&mut station.track, at_ns, key, retry) {
            timeline.make_room(|widen| table.each(|station| widen(&mut station.track)));
            if let Some(station) = table.get_mut(row) {
                timeline.add_or_leave_out(&mut station.track, at_ns, key, retry);
            }
        }
    }

    /// The rates over time of those that `is_shown` says, the one with the most frames first.
    pub fn rates_over_time(&self, is_shown: &dyn Fn(u64) -> bool) -> report::RateTimeline {
        let mut shown: Vec<_> = self.table.iter().filter(|(address, _)| is_shown(**address)).collect();
        shown.sort_by_key(|(address, station)| (std::cmp::Reverse(station.sent), **address));
        let tracks = shown.into_iter().map(|(address, station)| (MacAddr::from_u64(*address), &station.track));
        self.timeline.report(tracks)
    }

    /// Counts a frame for its receiver.
    #[inline]
    pub fn received(&mut self, row: u32, frame: &Frame) {
        let Some(station) = self.table.get_mut(row) else { return };
        station.received += 1;
        match frame.fcs {
            Fcs::Good => station.received_good += 1,
            Fcs::Bad => {
                station.received_bad += 1;
                return;
            }
            Fcs::Unknown => {}
        }
        station.as_ap += u64::from(matches!(
            frame.header.fc.kind(),
            FrameKind::AssociationRequest | FrameKind::ReassociationRequest
        ));
        station.usage.received(frame);
    }
}
