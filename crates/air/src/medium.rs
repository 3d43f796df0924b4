//! The channel over time: who had the air, and the gaps between.
//!
//! One cursor walks along the timeline. Every nanosecond it passes is given to exactly one cause, so that the
//! causes of any direction sum to the observed time. The rules are in `docs/air-counting.md`, section "Waterfall".

mod report;

use std::ops::AddAssign;

use wire::ieee80211::MacAddr;
use wire::phy::{Band, Bandwidth, Mode};

use crate::exchange::Role;
use crate::link::{LastSent, Link, Links, SpentNs};
use crate::micros::TU_NS;
use crate::ppdu::Ppdu;
use crate::ppdu_time::{longest_ns, payload_bytes, split_data, split_kinds, Unseen};
use crate::series::Series;
use crate::station::{AirtimeKind, AirtimeNs, PpduAirtimeNs, Stations};

pub use report::Totals;

/// Contention window (slots) that a first attempt may draw: CWmin of best effort.
const CW_FIRST: i64 = 15;
/// Window after two doublings: what a retry may draw before a gap counts as idle.
const CW_RETRY: i64 = 63;
/// AIFSN of best effort.
const AIFSN: i64 = 3;
/// First width of the bins of the busy series.
const BUSY_BIN_NS: i64 = 10_000_000;

/// Not even a beacon for this long, where beacons come: the sniffer was not listening.
const SILENCE_NS: i64 = 250_000_000;
/// The same in tenths of the shortest beacon interval, where that makes more.
const SILENCE_TENTHS: i64 = 25;
/// Beacons from which their absence says something.
const MIN_BEACONS: u64 = 10;
/// Data within so long of the first may repeat what was sent before it: a driver gives up sooner.
const BEGINNING_NS: i64 = 500_000_000;
/// Silences kept until there are beacons enough to say what they are.
const MAX_SILENCES: usize = 256;
/// Longer than this no driver sits on an MPDU that it has to repeat; the sender had other reasons.
const MAX_QUEUED_NS: i64 = 50_000_000;

/// One bin of the busy series, ns.
#[derive(Clone, Copy, Debug, Default)]
pub struct BusySum {
    /// Any PPDU.
    pub busy: i64,
    /// First transmissions of data.
    pub data: i64,
    /// Retries.
    pub retry: i64,
    /// PPDUs of the chosen network.
    pub chosen: i64,
    /// Not observed.
    pub blind: i64,
}

impl AddAssign for BusySum {
    fn add_assign(&mut self, other: Self) {
        self.busy += other.busy;
        self.data += other.data;
        self.retry += other.retry;
        self.chosen += other.chosen;
        self.blind += other.blind;
    }
}

/// A CTS-to-self until the frame that it protects.
#[derive(Clone, Copy, Debug)]
struct Held {
    air_ns: i64,
    ifs_ns: i64,
}

/// Signals of one transmitter differ by no more at one receiver. Calibrated from RTS and the frame after their CTS: 269 of 272 pairs.
const MAX_SIGNAL_DIFFERENCE_DB: u8 = 10;
/// Stamps of microseconds and durations of whole symbols are off by less.
const RESERVED_SLACK_NS: i64 = 20_000;

/// A CTS without its RTS, until the next PPDU shows whether its receiver may have sent it.
#[derive(Clone, Copy, Debug)]
struct Protection {
    receiver: MacAddr,
    signal_dbm: Option<i8>,
    /// What it reserves ends here.
    until_ns: i64,
    airtime: PpduAirtimeNs,
}

impl Protection {
    /// Is `ppdu` of the CTS's receiver, within the time that the CTS reserves, and not received at another strength? Then the CTS may be the
    /// receiver's own.
    fn may_be_from_sender_of(&self, ppdu: &Ppdu) -> bool {
        let differ = match (self.signal_dbm, ppdu.signal_dbm) {
            (Some(cts), Some(next)) => cts.abs_diff(next) > MAX_SIGNAL_DIFFERENCE_DB,
            _ => false,
        };
        let slack_ns = if ppdu.exact_start { RESERVED_SLACK_NS } else { MAX_QUEUED_NS };
        ppdu.ta == Some(self.receiver) && !differ && ppdu.start_ns <= self.until_ns + slack_ns
    }
}

/// The PPDU that has the air, until the next one shows when it ended at the latest.
#[derive(Clone, Copy, Debug)]
struct Turn {
    role: Role,
    owner: Option<u32>,
    generation: u32,
    start_ns: i64,
    end_ns: i64,
    /// Space before it that is its own.
    ifs: i64,
    duration: i64,
    /// First transmissions and retries of data in it, ns.
    data: i64,
    retry: i64,
    is_chosen: bool,
    /// The CTS before it seems to be its sender's.
    has_own_cts: bool,
    /// May have subframes that were not captured, which its duration lacks.
    may_lack_subframes: bool,
}

/// Airtime of one PHY.
#[derive(Clone, Copy, Debug, Default)]
struct Phy {
    ppdus: u64,
    ns: i64,
}

/// Where a PHY is among the accounts.
fn phy_index(mode: &Mode) -> usize {
    match mode {
        Mode::Dsss { .. } => 0,
        Mode::Ofdm { .. } => 1,
        Mode::Ht(ht) if ht.greenfield == Some(true) => 3,
        Mode::Ht(_) => 2,
        Mode::Vht(_) => 4,
        Mode::He(_) => 5,
        Mode::Eht(_) => 6,
        Mode::Unknown => 7,
    }
}

/// The accounts of the channel.
#[derive(Debug)]
pub struct Medium {
    gaps_usable: bool,
    cursor_ns: Option<i64>,
    /// The first PPDU with data.
    first_ns: Option<i64>,
    frequency_mhz: Option<u16>,
    /// Frames on a channel that is not analysed were heard since the latest PPDU.
    was_away: bool,
    /// A PPDU of unknown duration was heard since the latest one: no silence, whatever the cursor says.
    was_heard: bool,
    observed_ns: i64,
    unobserved_ns: i64,
    /// The part of `unobserved_ns` across a change of the channel.
    hopped_ns: i64,
    /// The longest pause in it on one channel.
    longest_pause_ns: i64,
    /// A CTS without its RTS, until the next PPDU shows whether its receiver sent it.
    cts: Option<Protection>,
    idle_ns: i64,
    /// The part of `idle_ns` in long silences before there were beacons enough to say that their absence says something.
    early_silence_ns: i64,
    /// Where they are.
    early_silences: Vec<(i64, i64)>,
    all: SpentNs,
    management_ns: i64,
    damaged_ns: i64,
    stray_ns: i64,
    unseen: Unseen,
    kinds: AirtimeNs,
    busy_ns: i64,
    chosen_ns: i64,
    chosen_kinds: AirtimeNs,
    uncertainty_ns: i64,
    with_duration: u64,
    without_duration: u64,
    /// Longest that the frames without a known duration can have taken, ns.
    untimed_ns: i64,
    /// Start of the latest of them, ns, and whether the receiver changed its channel since the PPDU before it.
    last_untimed: Option<(i64, bool)>,
    phys: [Phy; 8],
    busy: Series<BusySum>,
    beacons: u64,
    /// The shortest interval of beacons heard, ns.
    interval_ns: Option<i64>,
    held: Option<Held>,
    turn: Option<Turn>,
    /// Causes of the whole duration of the turn, when it carries data.
    full: SpentNs,
    /// The part of it that its damaged MPDUs took.
    full_damaged_ns: i64,
}

impl Medium {
    /// An unused channel; `gaps_usable` when stamps are calibrated.
    pub fn new(gaps_usable: bool) -> Self {
        Self {
            gaps_usable,
            cursor_ns: None,
            first_ns: None,
            frequency_mhz: None,
            was_away: false,
            was_heard: false,
            observed_ns: 0,
            unobserved_ns: 0,
            hopped_ns: 0,
            longest_pause_ns: 0,
            cts: None,
            idle_ns: 0,
            early_silence_ns: 0,
            early_silences: Vec::new(),
            all: SpentNs::default(),
            management_ns: 0,
            damaged_ns: 0,
            stray_ns: 0,
            unseen: Unseen::default(),
            kinds: AirtimeNs::default(),
            busy_ns: 0,
            chosen_ns: 0,
            chosen_kinds: AirtimeNs::default(),
            uncertainty_ns: 0,
            with_duration: 0,
            without_duration: 0,
            untimed_ns: 0,
            last_untimed: None,
            phys: Default::default(),
            busy: Series::new(BUSY_BIN_NS),
            beacons: 0,
            interval_ns: None,
            held: None,
            turn: None,
            full: SpentNs::default(),
            full_damaged_ns: 0,
        }
    }

    /// The receiver was on another channel: the time until the next PPDU is not observed.
    pub fn away(&mut self) {
        self.was_away = true;
    }

    /// Not even a beacon for longer than this: the sniffer was not listening.
    fn silence_ns(&self) -> i64 {
        self.interval_ns.map_or(SILENCE_NS, |interval_ns| SILENCE_NS.max(interval_ns * SILENCE_TENTHS / 10))
    }

    /// Records the interval of a beacon, in TU.
    pub fn beacon_interval(&mut self, tu: u16) {
        let interval_ns = i64::from(tu) * TU_NS;
        self.interval_ns = Some(self.interval_ns.map_or(interval_ns, |shortest| shortest.min(interval_ns)));
    }

    /// Is it known already that the receiver went away?
    pub fn is_away(&self) -> bool {
        self.was_away
    }

    /// Accounts for the next PPDU. `link` is the row of its (TA, RA), where it has a TA.
    pub fn ppdu(
        &mut self,
        ppdu: &Ppdu,
        role: Role,
        link: Option<u32>,
        is_chosen: bool,
        links: &mut Links,
        stations: &mut Stations,
    ) {
        let Some(duration) = ppdu.duration_ns else {
            self.note_untimed(ppdu);
            return;
        };
        self.with_duration += ppdu.mpdus.len() as u64;
        let kinds = split_kinds(ppdu, role, duration);
        let has_own_cts = self.claim_cts(ppdu, role, stations);
        self.count_airtime(ppdu, role, link, kinds, links, stations);
        if is_chosen {
            self.chosen_kinds += kinds;
        }

        // A hardware stamp says when this PPDU began, so the one before it had ended by then, whatever its claimed rate
        // and length make of its duration. By the capture clock only the order is sure: PPDUs queue up instead.
        let may_lack_subframes = self.turn.is_some_and(|turn| turn.may_lack_subframes);
        self.settle(ppdu.exact_start.then_some(ppdu.start_ns), links);
        let hopped = self.retune(ppdu);
        let cursor = *self.cursor_ns.get_or_insert(ppdu.start_ns);
        let start_ns = ppdu.start_ns.max(cursor);
        let end_ns = if ppdu.exact_start { ppdu.end_ns().max(start_ns) } else { start_ns + duration };
        self.count_beacon(ppdu, role);
        let ifs = self.spend_gap(cursor, start_ns, hopped, may_lack_subframes, ppdu, role);
        self.cursor_ns = Some(start_ns);
        let owner = match role {
            Role::Response { link, .. } | Role::CtsResponse { link } => Some(link),
            Role::Data | Role::Rts | Role::Request => link,
            _ => None,
        };
        if role == Role::Data {
            self.count_data(ppdu, start_ns, duration, owner.and_then(|row| links.get_mut(row)));
        }
        let generation = links.generation();
        let data = if kinds.kind == AirtimeKind::Data { kinds.first } else { 0 };
        self.turn = Some(Turn {
            role,
            owner,
            generation,
            start_ns,
            end_ns,
            ifs,
            duration,
            data,
            retry: kinds.retry,
            is_chosen,
            has_own_cts,
            may_lack_subframes: role == Role::Data && ppdu.mode.can_aggregate() && !ppdu.exact_duration,
        });
    }

    /// Takes the CTS before this PPDU, where it may be its sender's: whether it is.
    fn claim_cts(&mut self, ppdu: &Ppdu, role: Role, stations: &mut Stations) -> bool {
        let own_cts =
            self.cts.take().filter(|cts| !matches!(role, Role::Damaged | Role::Rts) && cts.may_be_from_sender_of(ppdu));
        let Some(cts) = own_cts else { return false };
        let row = stations.row(cts.receiver);
        if let Some(station) = stations.table.get_mut(row) {
            station.airtime += cts.airtime;
        }
        true
    }

    /// Follows the receiver's channel: whether it changed since the PPDU before.
    fn retune(&mut self, ppdu: &Ppdu) -> bool {
        let is_other = self.frequency_mhz != ppdu.frequency_mhz && ppdu.frequency_mhz.is_some();
        // Between frames without a recorded channel and one with it, no change of channel is known.
        let tuned = is_other && self.frequency_mhz.is_some();
        if is_other {
            self.frequency_mhz = ppdu.frequency_mhz;
        }
        std::mem::take(&mut self.was_away) || tuned
    }

    /// Counts beacons until their absence says something: then the silences before were not observed.
    fn count_beacon(&mut self, ppdu: &Ppdu, role: Role) {
        self.beacons += u64::from(role == Role::Beacon && !ppdu.own);
        if self.beacons == MIN_BEACONS {
            let silence = std::mem::take(&mut self.early_silence_ns);
            self.idle_ns -= silence;
            self.observed_ns -= silence;
            self.unobserved_ns += silence;
            for (from, to) in std::mem::take(&mut self.early_silences) {
                self.busy.add_interval(from, to, |ns| BusySum { blind: ns, ..BusySum::default() });
            }
        }
    }

    /// Accounts for the gap before a PPDU: the part of it that is its own inter-frame space.
    fn spend_gap(
        &mut self,
        cursor: i64,
        start_ns: i64,
        hopped: bool,
        may_lack_subframes: bool,
        ppdu: &Ppdu,
        role: Role,
    ) -> i64 {
        let gap = start_ns - cursor;
        let is_silence = !std::mem::take(&mut self.was_heard) && gap > self.silence_ns();
        if hopped || (is_silence && self.beacons >= MIN_BEACONS) {
            self.unobserved_ns += gap;
            match hopped {
                true => self.hopped_ns += gap,
                false => self.longest_pause_ns = self.longest_pause_ns.max(gap),
            }
            self.busy.add_interval(cursor, start_ns, |ns| BusySum { blind: ns, ..BusySum::default() });
            return 0;
        }
        if gap <= 0 {
            return 0;
        }
        self.observed_ns += gap;
        let ifs = self.split_gap(gap, ppdu, role);
        let separable = self.gaps_usable && ppdu.exact_start;
        if separable && may_lack_subframes && matches!(role, Role::Response { .. }) {
            // Beyond SIFS lies a subframe of the A-MPDU that was not captured.
            self.damaged_ns += gap - ifs;
        } else {
            self.idle_ns += gap - ifs;
            if is_silence && self.early_silences.len() < MAX_SILENCES {
                self.early_silence_ns += gap - ifs;
                self.early_silences.push((cursor, start_ns));
            }
        }
        ifs
    }

    /// Counts a PPDU with data for its link.
    fn count_data(&mut self, ppdu: &Ppdu, start_ns: i64, duration: i64, link: Option<&mut Link>) {
        (self.full, self.full_damaged_ns) = split_data(ppdu, duration);
        let Some(link) = link else { return };
        if let Some(last) = link.last_sent.filter(|last| last.comes_back_in(ppdu)) {
            link.idle_queued_ns += (self.idle_ns - last.idle_ns).clamp(0, MAX_QUEUED_NS);
        }
        link.last_sent = LastSent::of(ppdu, self.idle_ns);
        // What the first of them repeat may have been sent before the part that is looked at.
        if start_ns - *self.first_ns.get_or_insert(start_ns) > BEGINNING_NS {
            self.unseen.add(ppdu, duration, &mut link.hidden, self.damaged_ns);
        }
        if ppdu.mode.is_to_several() {
            link.units.add(ppdu);
        }
        link.timed_payload_ns += self.full.payload;
        link.timed_payload_bytes += payload_bytes(ppdu);
        link.timed_mpdus += ppdu.data_mpdus().count() as u64;
    }

    /// Counts a PPDU of unknown duration. The time up to it was observed, whatever it took of it itself.
    #[cold]
    fn note_untimed(&mut self, ppdu: &Ppdu) {
        self.without_duration += ppdu.mpdus.len() as u64;
        self.cts = None;
        self.was_heard = true;
        self.untimed_ns = self.untimed_ns.saturating_add(longest_ns(ppdu));
        if self.cursor_ns.is_none() {
            self.cursor_ns = Some(ppdu.start_ns);
            self.frequency_mhz = ppdu.frequency_mhz;
        }
        let is_other = ppdu.frequency_mhz.zip(self.frequency_mhz).is_some_and(|(this, before)| this != before);
        let is_elsewhere = self.was_away || is_other;
        self.last_untimed = Some((ppdu.start_ns, is_elsewhere));
    }

    /// Accounts for the PPDU that has the air, which ends by `limit_ns` at the latest.
    fn settle(&mut self, limit_ns: Option<i64>, links: &mut Links) {
        let Some(turn) = self.turn.take() else { return };
        let end = limit_ns.map_or(turn.end_ns, |limit| turn.end_ns.min(limit)).max(turn.start_ns);
        let visible = end - turn.start_ns;
        self.cursor_ns = Some(end);
        self.observed_ns += visible;
        self.spend(&turn, visible, links);
        if visible > 0 {
            let share = |kind: i64, ns: i64| match kind {
                0 => 0,
                // The whole PPDU is of this kind.
                kind if kind == turn.duration => ns,
                kind => (kind as f64 * ns as f64 / turn.duration.max(1) as f64) as i64,
            };
            self.busy_ns += visible;
            self.chosen_ns += if turn.is_chosen { visible } else { 0 };
            self.busy.add_interval(turn.start_ns, end, |ns| BusySum {
                busy: ns,
                data: share(turn.data, ns),
                retry: share(turn.retry, ns),
                chosen: if turn.is_chosen { ns } else { 0 },
                blind: 0,
            });
        }
    }

    /// Accounts for the last PPDU; to be called before the accounts are read.
    pub fn finish(&mut self, links: &mut Links) {
        self.settle(None, links);
        let (Some(cursor), Some((last_ns, is_elsewhere))) = (self.cursor_ns, self.last_untimed) else { return };
        let gap = last_ns - cursor;
        if gap <= 0 {
            return;
        }
        self.cursor_ns = Some(last_ns);
        if is_elsewhere {
            self.unobserved_ns += gap;
            self.hopped_ns += gap;
        } else {
            self.observed_ns += gap;
            self.idle_ns += gap;
        }
    }

    fn count_airtime(
        &mut self,
        ppdu: &Ppdu,
        role: Role,
        link: Option<u32>,
        kinds: PpduAirtimeNs,
        links: &mut Links,
        stations: &mut Stations,
    ) {
        self.kinds += kinds;
        self.uncertainty_ns += ppdu.uncertainty_ns;
        if let Some(phy) = self.phys.get_mut(phy_index(&ppdu.mode)) {
            phy.ppdus += u64::from(ppdu.whole.is_none_or(|whole| whole.is_first));
            phy.ns += ppdu.duration_ns.unwrap_or(0);
        }
        // ACK and CTS carry no transmitter: the exchange identifies their sender.
        let sender = match role {
            Role::Response { link, .. } | Role::CtsResponse { link } => links.get(link).map(|link| link.ra),
            // The next PPDU shows whether its receiver may have sent it; otherwise it answers an RTS that was not captured.
            Role::CtsToSelf => {
                self.cts = Some(Protection {
                    receiver: ppdu.ra,
                    signal_dbm: ppdu.signal_dbm,
                    until_ns: ppdu.end_ns() + i64::from(ppdu.reserved_us.unwrap_or(0)) * 1_000,
                    airtime: kinds,
                });
                None
            }
            Role::Damaged => None,
            _ => ppdu.ta,
        };
        if let Some(sender) = sender.filter(|sender| !sender.is_group()) {
            let known = match role {
                Role::Response { link, .. } | Role::CtsResponse { link } => {
                    links.get(link).and_then(|l| l.station_rows)
                }
                _ => link.and_then(|row| links.get(row)).and_then(|l| l.station_rows),
            };
            let row = match known.filter(|rows| rows.generation == stations.table.generation()) {
                Some(rows) if matches!(role, Role::Response { .. } | Role::CtsResponse { .. }) => rows.ra,
                Some(rows) => rows.ta,
                None => stations.row(sender),
            };
            if let Some(station) = stations.table.get_mut(row) {
                station.airtime += kinds;
                if matches!(role, Role::Response { .. } | Role::CtsResponse { .. }) {
                    station.responses += 1;
                }
            }
        }
        if role != Role::Damaged {
            if let Some(link) = link.and_then(|row| links.get_mut(row)) {
                link.airtime += kinds;
            }
        }
    }

    /// How much of the gap before this PPDU is inter-frame space and backoff.
    fn split_gap(&self, gap: i64, ppdu: &Ppdu, role: Role) -> i64 {
        if !self.gaps_usable || !ppdu.exact_start {
            return 0;
        }
        let timing = wire::phy::Timing::new(ppdu.band().unwrap_or(Band::Ghz2_4), Bandwidth::Mhz20, true);
        let (sifs, slot) = (i64::from(timing.sifs_ns), i64::from(timing.slot_ns));
        // In 2.4 GHz an OFDM PPDU is followed by 6 µs of signal extension, in which no station may send.
        let extension = i64::from(timing.signal_extension_ns);
        if matches!(role, Role::Response { .. } | Role::CtsResponse { .. }) {
            return gap.min(sifs + extension + slot);
        }
        let retry = ppdu.mpdus.iter().any(|m| m.fc.retry());
        let aifs = sifs + extension + AIFSN * slot;
        let window = if retry { CW_RETRY } else { CW_FIRST };
        if gap <= aifs + window * slot {
            gap
        } else {
            aifs
        }
    }

    /// Gives the visible time of a turn and the space before it to their causes.
    fn spend(&mut self, turn: &Turn, visible: i64, links: &mut Links) {
        let held = self.held.take();
        let mut spent = SpentNs { ifs: turn.ifs, ..SpentNs::default() };
        match turn.role {
            Role::Data => {
                let damaged_ns = match turn.duration {
                    duration if visible >= duration => self.full_damaged_ns,
                    duration => (self.full_damaged_ns as f64 * visible as f64 / duration.max(1) as f64) as i64,
                };
                self.damaged_ns += damaged_ns;
                spent += self.full.scaled(visible - damaged_ns, turn.duration - self.full_damaged_ns);
                if let Some(held) = held.filter(|_| turn.has_own_cts) {
                    spent.rts_cts += held.air_ns;
                    spent.ifs += held.ifs_ns;
                } else {
                    self.release(held);
                }
            }
            Role::CtsToSelf => {
                self.release(held);
                self.held = Some(Held { air_ns: visible, ifs_ns: turn.ifs });
                return;
            }
            Role::Response { management: false, .. } | Role::Request => spent.ack += visible,
            Role::Rts | Role::CtsResponse { .. } => spent.rts_cts += visible,
            Role::Management | Role::Beacon | Role::Response { .. } => self.management_ns += visible + turn.ifs,
            Role::Damaged => self.damaged_ns += visible + turn.ifs,
            Role::JointResponse | Role::Stray => self.stray_ns += visible + turn.ifs,
        }
        if turn.role != Role::Data {
            self.release(held);
        }
        let owned = matches!(
            turn.role,
            Role::Data
                | Role::Response { management: false, .. }
                | Role::Request
                | Role::Rts
                | Role::CtsResponse { .. }
        );
        if !owned {
            return;
        }
        match turn.owner.filter(|_| turn.generation == links.generation()).and_then(|row| links.get_mut(row)) {
            Some(link) => {
                link.spent += spent;
                self.all += spent;
            }
            None => self.stray_ns += spent.total(),
        }
    }

    fn release(&mut self, held: Option<Held>) {
        if let Some(held) = held {
            self.stray_ns += held.air_ns + held.ifs_ns;
        }
    }
}
