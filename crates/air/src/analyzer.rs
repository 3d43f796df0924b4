//! Stage two: one pass over the frames, counters of bounded size, a report at any moment.

use std::sync::Arc;

use capture::Place;
use hashbrown::HashSet;
use wire::ieee80211::{FixedFields, FrameKind, MacAddr, Management};

use crate::block_ack::{Flows, Occasion};
use crate::block_ack_log::BlockAckLog;
use crate::calibrate::{calibrate, Calibration, Grouping};
use crate::capability::CapabilityAudit;
use crate::claims::Claims;
use crate::clock::Clock;
use crate::duplicates::Latest;
use crate::events::Events;
use crate::exchange::{Matcher, Role};
use crate::few::Few;
use crate::flood::{is_of_a_flood, Floods};
use crate::frame::{Batch, Detail, Fcs, Frame};
use crate::ghost;
use crate::hearing::Listener;
use crate::limits::{self, limits, untimely, Known};
use crate::link::{Link, Links, StationRows, MAX_AGGREGATES, MAX_LINKS};
use crate::medium::Medium;
use crate::network::Networks;
use crate::ppdu::{Assembler, Control, Ppdu};
use crate::report::{self, Report};
use crate::selection::{NotThere, Selection};
use crate::station::{Station, Stations};
use crate::summary::Counts;
use crate::table::Table;
use crate::traffic::Traffic;
use crate::{access_point, capability, multi_user, steadiness, summary, verdict, waterfall};

/// Frames looked at before the calibration is fixed.
const CALIBRATION_FRAMES: usize = 32_768;

/// Authentication algorithm number of SAE (9.4.1.1).
const SAE: u16 = 3;

/// The same of fast BSS transition.
const FT: u16 = 2;

/// TWT Setup Command of an agreement (9.4.2.199).
const TWT_ACCEPT: u8 = 4;

/// Interfaces whose frames are grouped and matched apart; further ones share the last place.
const MAX_INTERFACES: usize = 64;

/// What the caller may choose.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// The pair whose two directions the waterfall shows; the busiest when `None`.
    pub pair: Option<(MacAddr, MacAddr)>,
    /// The part of the capture that is counted; all of it when `None`.
    pub window: Option<capture::Window>,
    /// The network or channel that is looked at; everything by default.
    pub selection: Selection,
    /// Keys that protected frames are decrypted with. With keys, packets are looked at, too.
    pub keys: Option<Arc<decrypt::Keys>>,
    /// Packets are looked at, in frames without encryption.
    pub packets: bool,
    /// Every Block Ack becomes a row of the report.
    pub lists_block_acks: bool,
}

impl Options {
    /// Packets are looked at.
    pub(crate) fn wants_packets(&self) -> bool {
        self.packets || self.keys.is_some()
    }
}

/// Analyses a capture batch by batch.
///
/// Batches may lie outside a window ([`Batch::place`]). Then the figures are those of the window, and from the rest of the
/// capture comes what does not depend on when it is looked at: the calibration of the stamps, what stations claim, the
/// agreements made before, and the audit of capabilities, whose column of uses is of the whole capture too.
#[derive(Debug)]
pub struct Analyzer {
    options: Options,
    /// Frames that wait for the calibration.
    waiting: Vec<Batch>,
    waiting_frames: usize,
    running: Option<Running>,
    /// Everything, of whatever place: for the audit of capabilities. Only where there is a window.
    whole: Option<Box<Whole>>,
    counts: Counts,
    networks: Box<Networks>,
    /// A record of 802.11 could be read, in the window or outside.
    has_readable: bool,
}

impl Analyzer {
    /// An analyzer without frames.
    pub fn new(options: Options) -> Self {
        Self {
            options,
            waiting: Vec::new(),
            waiting_frames: 0,
            running: None,
            whole: None,
            counts: Counts::default(),
            networks: Box::default(),
            has_readable: false,
        }
    }

    /// Takes the next batch; `done` gets every batch that is no longer needed, for reuse.
    pub fn push(&mut self, mut batch: Batch, mut done: impl FnMut(Batch)) {
        if batch.counts() {
            self.counts.add(&batch.tally);
        }
        self.counts.tally.order = batch.tally.order;
        self.has_readable |= batch.tally.wlan > batch.tally.unreadable;
        if let Some(networks) = batch.networks.take() {
            self.networks = networks;
        }
        match &mut self.running {
            Some(running) => {
                if running.calibration.fcs_is_invented {
                    batch.frames.iter_mut().for_each(Frame::believe_flag);
                }
                running.placed(&batch, &mut self.counts);
                if let Some(whole) = &mut self.whole {
                    whole.running.batch(&batch, &mut whole.counts);
                }
                done(batch);
            }
            // Its tally is counted, and there is nothing to calibrate on.
            None if batch.frames.is_empty() => done(batch),
            None => {
                self.waiting_frames += batch.frames.len();
                self.waiting.push(batch);
                if self.waiting_frames >= CALIBRATION_FRAMES {
                    self.start(done);
                }
            }
        }
    }

    /// Calibrates on what is waiting and goes through it.
    fn start(&mut self, mut done: impl FnMut(Batch)) {
        if self.running.is_some() {
            return;
        }
        let selection = self.options.selection;
        let main_interface = busiest_interface(first(&self.waiting), selection);
        let is_main = |frame: &&Frame| frame.interface == main_interface;
        let mut calibration = calibrate(first(&self.waiting).filter(is_main));
        if calibration.fcs_is_invented {
            // Damaged frames do not take part in the calibration: once more with those that are none.
            self.waiting.iter_mut().flat_map(|batch| &mut batch.frames).for_each(Frame::believe_flag);
            calibration = calibrate(first(&self.waiting).filter(is_main));
        }
        if self.options.window.is_some() {
            let running = Running::new(calibration.clone(), main_interface, selection, false);
            self.whole = Some(Box::new(Whole { running, counts: Counts::default() }));
        }
        let mut running = Running::new(calibration, main_interface, selection, self.options.wants_packets());
        running.accounts.block_acks = self.options.lists_block_acks.then(Box::default);
        for batch in self.waiting.drain(..) {
            running.placed(&batch, &mut self.counts);
            if let Some(whole) = &mut self.whole {
                whole.running.batch(&batch, &mut whole.counts);
            }
            done(batch);
        }
        self.waiting = Vec::new();
        self.running = Some(running);
    }

    /// What was chosen and is not there; to be asked when all frames are in.
    pub fn not_there(&self) -> Option<NotThere> {
        let Selection { bssid, channel } = self.options.selection;
        let tally = &self.counts.tally;
        channel
            .and_then(|channel| NotThere::channel(channel, &self.counts.heard_on(), tally.without_channel))
            .or_else(|| bssid.filter(|_| tally.wlan > 0).and_then(|bssid| NotThere::bssid(bssid, &self.networks)))
    }

    /// Records of 802.11, when none could be read, and what is wrong with the first.
    pub fn unreadable(&self) -> Option<(u64, String)> {
        let tally = &self.counts.tally;
        let example = tally.examples.first().filter(|_| !self.has_readable)?;
        Some((tally.wlan, example.clone()))
    }

    /// The report of everything so far. Ends the calibration phase.
    pub fn report(&mut self, source: &summary::Source) -> Report {
        self.start(drop);
        let audit = self.whole.as_mut().map(|whole| whole.audit(&self.options.selection));
        match &mut self.running {
            Some(running) => {
                let mut report = running.report(&self.options, &self.counts, &self.networks, source);
                if let Some(audit) = audit {
                    report.capabilities = audit;
                }
                if report.summary.limits.iter().any(|limit| limit.code == "airtime-exceeds-time") {
                    capability::forget_rates(&mut report.capabilities);
                }
                report
            }
            None => unreachable!("start() made it"),
        }
    }
}

/// The capture without regard to the window.
#[derive(Debug)]
struct Whole {
    running: Running,
    counts: Counts,
}

impl Whole {
    /// Claimed and used, of the frames so far.
    fn audit(&mut self, selection: &Selection) -> Vec<CapabilityAudit> {
        self.running.finish();
        let Accounts { stations, claims, links, .. } = &self.running.accounts;
        let ghosts = ghost::find(stations, self.counts.fcs_known());
        let ghosts: HashSet<u64> = ghosts.iter().map(|ghost| ghost.address.as_u64()).collect();
        let ends = selection.ends(links);
        let is_left_out = |address: u64| ghosts.contains(&address) || !has(ends.as_ref(), address);
        capability::audit(claims, stations, links, &is_left_out)
    }
}

/// The machinery behind a calibrated capture.
#[derive(Debug)]
struct Running {
    calibration: Calibration,
    clock: Clock,
    /// The interface whose channel the medium's accounts are of.
    main_interface: u32,
    latest: Latest,
    /// By interface.
    lanes: Vec<Lane>,
    accounts: Accounts,
}

/// What one interface heard, frame after frame.
#[derive(Debug)]
struct Lane {
    assembler: Assembler,
    matcher: Matcher,
}

/// Everything that is counted.
#[derive(Debug)]
struct Accounts {
    stations: Stations,
    links: Links,
    flows: Flows,
    medium: Medium,
    claims: Claims,
    listener: Listener,
    floods: Floods,
    events: Events,
    traffic: Option<Box<Traffic>>,
    /// Only where it is asked for.
    block_acks: Option<Box<BlockAckLog>>,
    /// Control responses are timed at the rate the rules give, not at the one they claim.
    distrust_control_rates: bool,
    selection: Selection,
    /// Frames that name the chosen network.
    bss_frames: u64,
    /// Rows of aggregation counters that may still be made.
    aggregates_left: usize,
}

impl Running {
    /// `packets`: they are looked at.
    fn new(calibration: Calibration, main_interface: u32, selection: Selection, packets: bool) -> Self {
        let gaps = calibration.gaps_usable();
        Self {
            clock: Clock::new(calibration.source),
            main_interface,
            latest: Latest::default(),
            lanes: Vec::new(),
            accounts: Accounts {
                stations: Stations::new(),
                links: Table::new(MAX_LINKS),
                flows: Flows::new(),
                selection,
                bss_frames: 0,
                distrust_control_rates: calibration.control_rates == Some(false),
                aggregates_left: MAX_AGGREGATES,
                medium: Medium::new(gaps),
                claims: Claims::default(),
                listener: Listener::default(),
                floods: Floods::default(),
                events: Events::default(),
                traffic: packets.then(Box::default),
                block_acks: None,
            },
            calibration,
        }
    }

    /// Counts a batch of the window, and learns from one outside.
    fn placed(&mut self, batch: &Batch, counts: &mut Counts) {
        match batch.place {
            None | Some(Place::Inside) => self.batch(batch, counts),
            Some(place) => batch.frames.iter().for_each(|frame| self.accounts.learn(frame, batch, place)),
        }
    }

    fn batch(&mut self, batch: &Batch, counts: &mut Counts) {
        for frame in &batch.frames {
            if self.accounts.selection.channel.is_some_and(|channel| channel.excludes(frame)) {
                self.elsewhere(frame, batch, counts);
                continue;
            }
            let at = self.clock.position(frame);
            let is_main = frame.interface == self.main_interface;
            let index = (frame.interface as usize).min(MAX_INTERFACES - 1);
            if index >= self.lanes.len() {
                self.open_lanes(index + 1);
            }
            let (Some(lane), accounts) = (self.lanes.get_mut(index), &mut self.accounts) else { continue };
            let Lane { assembler, matcher } = lane;
            assembler.push(frame, batch, at, &mut |ppdu| accounts.ppdu(ppdu, matcher, is_main));
            counts.duplicates += u64::from(self.latest.has(frame) && may_be_a_copy(frame));
            counts.frame(frame);
            if let Some((row, repeats)) = accounts.frame(frame, batch, at.ns, is_main) {
                if is_main {
                    accounts.packets(frame, batch, at.ns, repeats);
                }
                assembler.note_link(frame, row, accounts.links.generation(), repeats);
            }
        }
    }

    /// A frame on a channel that was not chosen.
    #[cold]
    fn elsewhere(&mut self, frame: &Frame, batch: &Batch, counts: &mut Counts) {
        let accounts = &mut self.accounts;
        accounts.learn(frame, batch, Place::After);
        // A frame without a channel was sent by the capturing machine, on whatever channel it is.
        let Some(mhz) = frame.radio.frequency_mhz.filter(|_| frame.interface == self.main_interface) else { return };
        counts.left_for.add(mhz, 1);
        if accounts.medium.is_away() {
            return;
        }
        if let Some(Lane { assembler, matcher }) = self.lanes.get_mut(frame.interface as usize) {
            assembler.finish(&mut |ppdu| accounts.ppdu(ppdu, matcher, true));
            matcher.interrupted(&mut accounts.links);
        }
        accounts.medium.away();
    }

    #[cold]
    fn open_lanes(&mut self, count: usize) {
        let calibration = &self.calibration;
        let gaps = calibration.gaps_usable();
        self.lanes.resize_with(count, || Lane {
            assembler: Assembler::new(calibration.grouping, calibration.meaning, gaps),
            matcher: Matcher::new(
                calibration.spread_ns(),
                gaps && calibration.control_rates == Some(true),
                calibration.grouping != Grouping::None,
            ),
        });
    }
}

impl Accounts {
    /// Per-frame counting; the row of the frame's link, when it names a transmitter, and whether it repeats an MPDU that
    /// was captured before.
    fn frame(&mut self, frame: &Frame, batch: &Batch, at_ns: i64, is_main: bool) -> Option<(u32, bool)> {
        if frame.is_foreign() {
            return None;
        }
        let receiver = frame.header.receiver();
        let link = match frame.ta() {
            Some(ta) => Some(self.frame_on_link(frame, ta, receiver, at_ns, is_main)),
            None => {
                let row = self.stations.row(receiver);
                self.stations.received(row, frame);
                None
            }
        };
        let detail = batch.details.get(frame.detail as usize);
        if let (Some(detail), true) = (detail, frame.usable()) {
            let ta = frame.ta().unwrap_or(MacAddr::ZERO);
            if self.selection.takes(ta, receiver, frame.header.bssid()) {
                self.events.frame(frame, detail, at_ns);
                if let (Some(log), Detail::BlockAck(tids)) = (&mut self.block_acks, detail) {
                    log.frame(frame, tids, at_ns);
                }
            }
        }
        let management = match detail {
            Some(Detail::Management(management)) => Some(management),
            _ => None,
        };
        if let (Some(management), true) = (management, frame.usable()) {
            self.claims.management(frame, management);
            self.floods.frame(frame, at_ns);
            self.usage(frame, management);
            self.agreement(frame, management);
        }
        link
    }

    /// Joins the packets of a frame with its MPDU, where they are looked at. `repeats`: that MPDU was captured before.
    fn packets(&mut self, frame: &Frame, batch: &Batch, at_ns: i64, repeats: bool) {
        let Some(traffic) = &mut self.traffic else { return };
        let (ta, ra) = (frame.ta(), frame.header.receiver());
        if ta.is_some_and(|ta| self.selection.takes(ta, ra, frame.header.bssid())) {
            traffic.frame(frame, batch.packets(frame), at_ns, repeats);
        }
    }

    /// Takes from a frame outside the window what is true inside it as well.
    fn learn(&mut self, frame: &Frame, batch: &Batch, place: Place) {
        use wire::ieee80211::{Action, StatusCode};
        let Some(Detail::Management(management)) = batch.details.get(frame.detail as usize) else { return };
        if !frame.usable() {
            return;
        }
        self.claims.management(frame, management);
        if let (Place::Before, Some(ta), FixedFields::Action(Action::AddbaResponse(response))) =
            (place, frame.ta(), &management.fixed)
        {
            if response.status == StatusCode::Success {
                let p = response.parameters;
                self.flows.agreed_before(frame.header.receiver(), ta, p.tid, p.buffer_size, p.amsdu_supported);
            }
        }
    }

    /// Counts a frame for its two ends and the link between them.
    fn frame_on_link(&mut self, frame: &Frame, ta: MacAddr, ra: MacAddr, at_ns: i64, is_main: bool) -> (u32, bool) {
        let Self { stations, links, .. } = self;
        let key = (ta.as_u64(), ra.as_u64());
        let row = links.row(key, || Link::new(ta, ra, at_ns));
        let Some(link) = links.get_mut(row) else { return (row, frame.header.fc.retry()) };
        if self.selection.bssid.is_some() && frame.usable() {
            let bssid = frame.header.bssid();
            link.is_chosen |= self.selection.takes(ta, ra, bssid);
            self.bss_frames += u64::from(bssid == self.selection.bssid);
        }
        let repeats = link.frame(frame, at_ns, is_main);
        match link.station_rows.filter(|rows| rows.generation == stations.table.generation()) {
            Some(rows) => {
                stations.received(rows.ra, frame);
                stations.sent(rows.ta, frame, at_ns);
            }
            None => {
                let ra = stations.row(ra);
                stations.received(ra, frame);
                let generation = stations.table.generation();
                let ta = stations.row(ta);
                stations.sent(ta, frame, at_ns);
                link.station_rows =
                    (generation == stations.table.generation()).then_some(StationRows { generation, ta, ra });
            }
        }
        (row, repeats)
    }

    /// What a station uses that only the body of a management frame tells.
    fn usage(&mut self, frame: &Frame, management: &Management) {
        let Some(ta) = frame.ta() else { return };
        if !matches!(management.fixed, FixedFields::Authentication { .. } | FixedFields::Action(_)) {
            return;
        }
        let row = self.stations.row(ta);
        let Some(station) = self.stations.table.get_mut(row) else { return };
        match &management.fixed {
            // By which algorithm it proves who it is.
            FixedFields::Authentication { algorithm, .. } => {
                station.usage.authentications += 1;
                station.usage.sae_authentications += u64::from(*algorithm == SAE);
                station.usage.ft_authentications += u64::from(*algorithm == FT);
            }
            FixedFields::Action(action) => {
                station.usage.action(frame, action);
                if let wire::ieee80211::Action::TwtSetup(setup) = action {
                    self.twt(ta, frame.header.receiver(), *setup);
                }
            }
            _ => {}
        }
    }

    /// An accepted TWT is an agreement of both stations.
    fn twt(&mut self, responder: MacAddr, requester: MacAddr, setup: wire::ieee80211::TwtSetup) {
        if setup.is_request || setup.is_broadcast || setup.command != TWT_ACCEPT || requester.is_group() {
            return;
        }
        for end in [responder, requester] {
            let row = self.stations.row(end);
            if let Some(station) = self.stations.table.get_mut(row) {
                station.usage.twt_agreements += 1;
            }
        }
    }

    /// ADDBA and DELBA.
    fn agreement(&mut self, frame: &Frame, management: &Management) {
        use wire::ieee80211::{Action, StatusCode};
        let (Some(ta), ra) = (frame.ta(), frame.header.receiver()) else { return };
        let FixedFields::Action(action) = management.fixed else { return };
        match action {
            Action::AddbaRequest(request) => {
                let p = request.parameters;
                self.flows.addba_request(ta, ra, p.tid, p.buffer_size, p.amsdu_supported);
            }
            Action::AddbaResponse(response) => {
                let p = response.parameters;
                let accepted = response.status == StatusCode::Success;
                self.flows.addba_response(ra, ta, p.tid, accepted, p.buffer_size, p.amsdu_supported);
            }
            Action::Delba(delba) => {
                let (originator, recipient) = if delba.initiator { (ta, ra) } else { (ra, ta) };
                self.flows.delba(originator, recipient, delba.tid);
            }
            _ => {}
        }
    }

    /// Per-PPDU counting. `matcher`: of the interface that heard it; `is_main`: the medium's accounts are of that one.
    fn ppdu(&mut self, ppdu: &Ppdu, matcher: &mut Matcher, is_main: bool) {
        let link = match ppdu.link {
            Some((row, generation)) if generation == self.links.generation() => Some(row),
            _ => ppdu.ta.and_then(|ta| self.links.find(&(ta.as_u64(), ppdu.ra.as_u64()))),
        };
        let role = matcher.ppdu(ppdu, link, &mut self.links, &self.claims);
        if let (Some(traffic), Role::Data, true) = (&mut self.traffic, role, is_main) {
            traffic.ppdu(ppdu);
        }
        if is_main {
            self.listener.ppdu(ppdu, role);
        }
        let is_chosen = self.selection.bssid.is_some() && role != Role::Damaged && {
            let of = match role {
                Role::Response { link, .. } | Role::CtsResponse { link } => Some(link),
                _ => link,
            };
            self.selection.has_ppdu(of, ppdu.ra, &self.links)
        };
        match matcher
            .answered
            .as_ref()
            .and_then(|answered| answered.expected_mode)
            .filter(|_| self.distrust_control_rates)
        {
            _ if !is_main => self.response(role),
            Some(mode) => {
                let at_rule = ppdu.at_mode(mode);
                self.medium.ppdu(&at_rule, role, link, is_chosen, &mut self.links, &mut self.stations);
            }
            None => self.medium.ppdu(ppdu, role, link, is_chosen, &mut self.links, &mut self.stations),
        }
        match role {
            Role::Data if !ppdu.ra.is_group() => self.data(ppdu, link),
            Role::Request => {
                if let (Some(ta), Control::Request(tids)) = (ppdu.ta, &ppdu.control) {
                    for tid in tids {
                        self.flows.request(ta, ppdu.ra, *tid);
                    }
                }
            }
            _ => {}
        }
        match &ppdu.control {
            Control::BlockAck(tids) if !ppdu.all_bad => {
                if let Some(recipient) = ppdu.ta {
                    for acked in tids {
                        let by = Occasion { number: ppdu.number, at_ns: ppdu.start_ns, exact: ppdu.exact_start };
                        self.flows.block_ack(ppdu.ra, recipient, acked, by);
                        if let Some(traffic) = &mut self.traffic {
                            traffic.block_ack(ppdu.ra, recipient, acked, ppdu.start_ns);
                        }
                    }
                }
            }
            _ => {}
        }
        if let (FrameKind::Ack, Some(answered)) = (ppdu.kind, &matcher.answered) {
            if let (Some(traffic), 1) = (&mut self.traffic, answered.mpdus) {
                let (ta, ra, first) = (answered.ta, answered.responder, answered.first_sequence);
                traffic.acknowledged(ta, ra, answered.tid, first, ppdu.start_ns);
            }
            if let (Some(tid), 1) = (answered.tid, answered.mpdus) {
                self.flows.ack(answered.ta, answered.responder, tid, answered.first_sequence);
            }
        }
    }

    /// Somebody answered, on a channel whose airtime is not counted.
    fn response(&mut self, role: Role) {
        let (Role::Response { link, .. } | Role::CtsResponse { link }) = role else { return };
        let Some(responder) = self.links.get(link).map(|link| link.ra) else { return };
        let row = self.stations.row(responder);
        if let Some(station) = self.stations.table.get_mut(row) {
            station.responses += 1;
        }
    }

    fn data(&mut self, ppdu: &Ppdu, link: Option<u32>) {
        let Some(first) = ppdu.data_mpdus().next() else { return };
        let tid = first.tid;
        if tid.is_some() {
            self.flows.data(ppdu);
        }
        if let Some(link) = link.and_then(|row| self.links.get_mut(row)) {
            if let Some(aggregates) = link.aggregates(tid, &mut self.aggregates_left) {
                aggregates.ppdu(ppdu);
            }
        }
        if ppdu.mpdus.len() > 1 || ppdu.is_ampdu {
            if let Some(ta) = ppdu.ta {
                let known = link.and_then(|row| self.links.get(row)).and_then(|link| link.station_rows);
                let row = match known.filter(|rows| rows.generation == self.stations.table.generation()) {
                    Some(rows) => rows.ta,
                    None => self.stations.row(ta),
                };
                if let Some(station) = self.stations.table.get_mut(row) {
                    station.usage.aggregate(ppdu.mpdus.len());
                }
            }
        }
    }
}

/// Is a frame with the marks of another one a copy of it? Floods repeat themselves, and a retry within a tick of the capture's
/// clock looks like the attempt before.
fn may_be_a_copy(frame: &Frame) -> bool {
    !is_of_a_flood(frame.header.fc.kind()) && (frame.radio.tsft_us.is_some() || !frame.header.fc.retry())
}

fn acts_as_ap(address: &MacAddr, stations: &Stations) -> bool {
    stations.table.by_key(&address.as_u64()).is_some_and(|station| station.as_ap > 0)
}

impl Running {
    /// Closes what is open.
    fn finish(&mut self) {
        let accounts = &mut self.accounts;
        for (index, Lane { assembler, matcher }) in self.lanes.iter_mut().enumerate() {
            let is_main = index == self.main_interface as usize;
            assembler.finish(&mut |ppdu| accounts.ppdu(ppdu, matcher, is_main));
            matcher.interrupted(&mut accounts.links);
        }
        accounts.medium.finish(&mut accounts.links);
    }

    /// What was chosen, for the head of the report. `bss`: the rows of the network.
    fn selection(&self, selection: &Selection, counts: &Counts, bss: &[report::Bss]) -> Option<report::Selection> {
        let Selection { bssid, channel } = selection;
        if bssid.is_none() && channel.is_none() {
            return None;
        }
        let frequency_mhz = channel.and_then(|_| counts.main_channel());
        Some(report::Selection {
            bssid: bssid.map(|bssid| bssid.to_string()),
            ssid: bssid.and_then(|_| bss.iter().find_map(|row| row.ssid.clone())),
            bss_frames: bssid.map(|_| self.accounts.bss_frames),
            channel: frequency_mhz.and_then(wire::phy::Band::channel_number),
            frequency_mhz,
            frames: counts.tally.wlan,
            frames_elsewhere: counts.tally.elsewhere.iter().map(|(_, frames)| frames).sum(),
            frames_without_channel: counts.tally.without_channel,
        })
    }

    fn report(&mut self, options: &Options, counts: &Counts, networks: &Networks, source: &summary::Source) -> Report {
        self.finish();
        let accounts = &self.accounts;
        let Accounts { stations, links, flows, medium, claims, .. } = accounts;
        let is_ap =
            |address: &MacAddr| acts_as_ap(address, stations) && claims.kind(*address).is_none_or(|kind| kind == "ap");
        let grouped = self.calibration.grouping != Grouping::None;

        let ghosts = ghost::find(stations, counts.fcs_known());
        let ghost_addresses: HashSet<u64> = ghosts.iter().map(|ghost| ghost.address.as_u64()).collect();
        let is_ghost = |address: u64| ghost_addresses.contains(&address);

        let selection = &options.selection;
        let mut rows: Vec<&Link> =
            links.iter().map(|(_, link)| link).filter(|link| selection.has(link, links)).collect();
        rows.sort_by(|a, b| (b.mpdus, b.frames).cmp(&(a.mpdus, a.frames)).then((a.ta, a.ra).cmp(&(b.ta, b.ra))));
        let pair = options.pair.or_else(|| busiest(&rows));
        let totals = medium.totals();
        let chosen: Vec<&Link> = match pair {
            Some((a, b)) => {
                rows.iter().copied().filter(|l| (l.ta == a && l.ra == b) || (l.ta == b && l.ra == a)).collect()
            }
            None => Vec::new(),
        };
        let mut block_acks = flows.report();
        let mut hearing = accounts.listener.report(stations, claims, links, &block_acks, pair);
        let disorder = limits::disorder(counts);
        if let Some(limit) = &disorder {
            // Nothing can be told of who answered what.
            hearing.silence_is_evidence = false;
            hearing.doubts = vec![limit.sentence.clone()];
        }
        let known = Known {
            counts,
            source,
            calibration: &self.calibration,
            jumps: self.clock.jumps(),
            main_interface: self.main_interface,
            links,
            medium,
            span_ns: accounts.listener.span_ns(),
            hearing: &hearing,
            disorder: disorder.as_ref(),
        };
        if selection.bssid.is_some() {
            let chosen: HashSet<(String, String)> =
                rows.iter().map(|link| (link.ta.to_string(), link.ra.to_string())).collect();
            block_acks.retain(|flow| chosen.contains(&(flow.originator.clone(), flow.recipient.clone())));
        }
        let untimely = untimely(&known);
        let timely = untimely.is_none();
        let rated = timely && medium.duration_known_share().is_some_and(|share| share > 0.5);
        let bss = summary::networks(networks, claims, &is_ghost)
            .into_iter()
            .filter(|row| selection.bssid.is_none_or(|chosen| row.bssid == chosen.to_string()))
            .collect::<Vec<_>>();
        let chosen_part = self.selection(selection, counts, &bss);
        let summary = summary::build(counts, source, chosen_part, limits(&known, untimely));
        let grounds = waterfall::Grounds {
            grouped,
            stamped: counts.stamped() > 0,
            channels: counts.channels(),
            untimed: (medium.untimed(), medium.untimed() + medium.timed()),
            hearing: &hearing,
            limits: &summary.limits,
        };
        let mut waterfalls: Vec<report::Waterfall> = chosen
            .iter()
            .filter(|_| rated)
            .filter_map(|link| {
                let reverse = links.by_key(&(link.ra.as_u64(), link.ta.as_u64()));
                let direction = link.direction(is_ap(&link.ta), is_ap(&link.ra));
                waterfall::build(link, reverse, &totals, direction, &grounds)
            })
            .collect();
        // A pair that was asked for comes in the order asked; else the direction with more payload comes first.
        let asked = options.pair.map(|(ta, _)| ta.to_string());
        waterfalls.sort_by_key(|waterfall| {
            (asked.as_ref().is_some_and(|ta| *ta != waterfall.ta), std::cmp::Reverse(waterfall.payload_bytes))
        });

        let exchanges: Vec<report::Exchange> = rows
            .iter()
            .filter_map(|link| {
                let stats = link.exchange.as_ref().filter(|stats| stats.ppdus() > 0)?;
                Some(stats.report(link.ta.to_string(), link.ra.to_string()))
            })
            .collect();
        let link_rows: Vec<report::Link> = rows
            .iter()
            .map(|link| summary::link(link, link.direction(is_ap(&link.ta), is_ap(&link.ra)), rated))
            .collect();
        let retries = verdict::RetriesOf::links(&link_rows);
        let mut ack_verdicts = verdict::block_ack(&block_acks, &retries);
        ack_verdicts.extend(verdict::ack(&exchanges, &retries, hearing.control_frames));
        if let Some(limit) = &disorder {
            ack_verdicts.iter_mut().for_each(|verdict| verdict.withhold(&limit.sentence));
        }

        let mut station_rows: Vec<(u64, &Station)> = stations.table.iter().map(|(a, s)| (*a, s)).collect();
        station_rows.sort_by(|(a, x), (b, y)| {
            (y.airtime.total(), y.sent, y.received).cmp(&(x.airtime.total(), x.sent, x.received)).then(a.cmp(b))
        });
        let ends = selection.ends(links);
        station_rows.retain(|(address, _)| has(ends.as_ref(), *address));
        let is_left_out = |address: u64| is_ghost(address) || !has(ends.as_ref(), address);
        let members = summary::members(networks);

        let mut report = Report {
            format: "txop-air",
            version: report::FORMAT_VERSION,
            tool: concat!("txop ", env!("CARGO_PKG_VERSION")).to_owned(),
            origin: source.origin.to_owned(),
            path: source.path.clone(),
            frames: counts.tally.wlan,
            bad_fcs: counts.fcs_bad,
            summary,
            timing: self.calibration.report(self.clock.jumps()),
            stations: station_rows
                .iter()
                .map(|(address, station)| {
                    summary::station(MacAddr::from_u64(*address), station, is_ghost(*address), claims, &members, rated)
                })
                .collect(),
            bss,
            access_points: access_point::access_points(claims, stations, links, &is_left_out)
                .into_iter()
                .filter(|row| selection.bssid.is_none_or(|chosen| row.bssid == chosen.to_string()))
                .collect(),
            links: link_rows,
            ghost_effect: summary::ghost_effect(counts, stations, &ghosts),
            ghosts: ghost::report(&ghosts, stations),
            exchanges,
            block_acks,
            ack_verdicts,
            aggregation: rows
                .iter()
                .flat_map(|link| {
                    link.aggregates.iter().map(move |(tid, aggregates)| {
                        aggregates.report(link.ta.to_string(), link.ra.to_string(), *tid, grouped)
                    })
                })
                .collect(),
            multi_user: multi_user::multi_user(rows.iter().copied()),
            airtime: medium.report(timely, selection.bssid.is_some()),
            waterfall: waterfalls.first().map(|w| w.steps.clone()).unwrap_or_default(),
            waterfalls,
            capabilities: capability::audit(claims, stations, links, &is_left_out),
            steadiness: chosen
                .iter()
                .filter(|link| timely && link.mpdus > 0)
                .filter_map(|link| {
                    let direction = link.direction(is_ap(&link.ta), is_ap(&link.ra));
                    steadiness::build(link, direction, medium, hearing.silence_is_evidence)
                })
                .collect(),
            floods: accounts.floods.report(),
            events: accounts.events.report(),
            decryption: source.decryption.clone(),
            traffic: accounts.traffic.as_ref().map(|traffic| traffic.report()),
            rate_timeline: stations.timeline.report(stations, &|address| has(ends.as_ref(), address)),
            block_ack_log: accounts.block_acks.as_ref().map(|log| log.report()),
            hearing,
        };
        summary::cut_rows(&mut report, claims.aps_not_kept);
        report
    }
}

/// Is `address` one of those; `None`: all are.
fn has(addresses: Option<&HashSet<u64>>, address: u64) -> bool {
    addresses.is_none_or(|addresses| addresses.contains(&address))
}

/// The frames that the calibration looks at: the same ones, however the records came in batches.
fn first(batches: &[Batch]) -> impl Iterator<Item = &Frame> + Clone {
    batches.iter().flat_map(|batch| &batch.frames).take(CALIBRATION_FRAMES)
}

/// The interface with the most frames, of those on the chosen channel where there are any.
fn busiest_interface<'a>(frames: impl Iterator<Item = &'a Frame> + Clone, selection: Selection) -> u32 {
    let mut interfaces = Few::<u32, MAX_INTERFACES>::default();
    let chosen = |frame: &&Frame| selection.channel.is_none_or(|channel| !channel.excludes(frame));
    frames.clone().filter(chosen).for_each(|frame| interfaces.add(frame.interface, 1));
    if interfaces.len() == 0 {
        frames.for_each(|frame| interfaces.add(frame.interface, 1));
    }
    interfaces.iter().max_by_key(|(interface, frames)| (*frames, std::cmp::Reverse(*interface))).map_or(0, |(i, _)| i)
}

/// The two ends of the link with most payload.
fn busiest(rows: &[&Link]) -> Option<(MacAddr, MacAddr)> {
    rows.iter()
        .filter(|link| !link.ra.is_group() && link.mpdus > 0)
        .max_by_key(|link| (link.payload_bytes, link.mpdus))
        .map(|link| (link.ta, link.ra))
}

impl Counts {
    /// The FCS of most frames can be checked.
    fn fcs_known(&self) -> bool {
        self.fcs_good + self.fcs_bad > self.fcs_unknown
    }

    /// Counts what the summary needs of a frame.
    fn frame(&mut self, frame: &Frame) {
        match frame.fcs {
            Fcs::Good => {
                self.fcs_good += 1;
                self.fcs_flagged += u64::from(frame.computed_fcs.is_none());
            }
            Fcs::Bad => self.fcs_bad += 1,
            Fcs::Unknown => self.fcs_unknown += 1,
        }
        self.note(frame);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 10 GB of records that cannot be read took 435 MB: a batch waited for each 2,048 of them.
    #[test]
    fn batches_without_frames_do_not_wait() {
        let window = capture::Window::default();
        for options in [Options::default(), Options { window: Some(window), ..Options::default() }] {
            let mut analyzer = Analyzer::new(options);
            let mut back = 0;
            for _ in 0..10_000 {
                let mut batch = Batch::default();
                batch.tally.wlan = 1;
                batch.tally.unreadable = 1;
                batch.tally.examples.push("an example".to_owned());
                analyzer.push(batch, |_| back += 1);
            }
            assert_eq!((back, analyzer.waiting.len(), analyzer.counts.tally.wlan), (10_000, 0, 10_000));
            assert_eq!(analyzer.unreadable(), Some((10_000, "an example".to_owned())));
        }
    }
}
