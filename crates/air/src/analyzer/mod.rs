//! Stage two: one pass over the frames, counters of bounded size, a report at any moment.

mod accounts;
mod conclude;
mod pair;

use std::sync::Arc;

use capture::Place;
use hashbrown::HashSet;
use wire::ieee80211::MacAddr;

use crate::allocations::Allocations;
use crate::block_ack::Flows;
use crate::block_ack_log::BlockAckLog;
use crate::calibrate::{calibrate, Calibration, ClockSource, Grouping};
use crate::capability;
use crate::claims::Claims;
use crate::clock::Clock;
use crate::contents::Contents;
use crate::decode::Batch;
use crate::devices::Devices;
use crate::duplicates::{Beginning, Copies, Echoes, Latest};
use crate::events::Events;
use crate::exchange::Matcher;
use crate::few::Few;
use crate::flood::{is_of_a_flood, Floods};
use crate::frame::{Fcs, Frame};
use crate::ghost;
use crate::handed_over;
use crate::happenings::Happenings;
use crate::hearing::Listener;
use crate::limits::is_limited;
use crate::link::{Links, MAX_AGGREGATES, MAX_LINKS};
use crate::medium::Medium;
use crate::network::Networks;
use crate::ppdu::Assembler;
use crate::report::CapabilityAudit;
use crate::report::Report;
use crate::selection::{NotThere, Selection};
use crate::station::Stations;
use crate::summary::{self, Counts};
use crate::table::Table;
use crate::traffic::Traffic;

/// Frames looked at before the calibration is fixed.
const CALIBRATION_FRAMES: usize = 32_768;

/// Interfaces with their own grouping and matching of frames; further ones share the last place.
const MAX_INTERFACES: usize = 64;

/// What the caller may choose.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// The pair with its two directions in the waterfall; the busiest when `None`.
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
/// agreements made before, and the audit of capabilities, where the column of uses is of the whole capture too.
#[derive(Debug)]
pub struct Analyzer {
    options: Options,
    /// Frames that wait for the calibration.
    waiting: Vec<Batch>,
    /// Frames so far.
    frames: usize,
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
            frames: 0,
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
        self.frames += batch.frames.len();
        self.has_readable |= batch.tally.wlan > batch.tally.unreadable;
        if let Some(networks) = batch.networks.take() {
            self.networks = networks;
        }
        match &mut self.running {
            Some(running) => {
                if running.calibration.fcs_is_invented {
                    batch.frames.iter_mut().for_each(Frame::believe_flag);
                }
                if running.calibration.greenfield_is_invented {
                    batch.frames.iter_mut().for_each(Frame::forget_greenfield);
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
                self.waiting.push(batch);
                if self.frames >= CALIBRATION_FRAMES {
                    self.running = Some(self.started(done));
                }
            }
        }
    }

    /// Calibrates on what is waiting and goes through it.
    fn started(&mut self, mut done: impl FnMut(Batch)) -> Running {
        let selection = self.options.selection;
        let main_interface = busiest_interface(first(&self.waiting), selection);
        let is_main = |frame: &&Frame| frame.interface == main_interface;
        let mut calibration = calibrate(first(&self.waiting).filter(is_main));
        if calibration.fcs_is_invented {
            // Damaged frames do not take part in the calibration: once more without them.
            self.waiting.iter_mut().flat_map(|batch| &mut batch.frames).for_each(Frame::believe_flag);
            calibration = calibrate(first(&self.waiting).filter(is_main));
        }
        let chosen = |frame: &&Frame| selection.channel.is_none_or(|channel| !channel.excludes(frame));
        if calibration.several_radios.is_some() && first(&self.waiting).filter(is_main).any(|frame| chosen(&frame)) {
            // The frames of one radio follow each other; those between them are another's.
            let several_radios = calibration.several_radios;
            calibration = calibrate(first(&self.waiting).filter(is_main).filter(chosen));
            calibration.several_radios = several_radios;
        }
        if calibration.greenfield_is_invented {
            self.waiting.iter_mut().flat_map(|batch| &mut batch.frames).for_each(Frame::forget_greenfield);
        }
        let come_back = handed_over::come_back(first(&self.waiting));
        if self.options.window.is_some() {
            let mut running = Running::new(calibration.clone(), main_interface, selection, false);
            running.handed_over_come_back = come_back;
            self.whole = Some(Box::new(Whole { running, counts: Counts::default() }));
        }
        let mut running = Running::new(calibration, main_interface, selection, self.options.wants_packets());
        running.handed_over_come_back = come_back;
        running.accounts.block_acks = self.options.lists_block_acks.then(Box::default);
        for batch in self.waiting.drain(..) {
            running.placed(&batch, &mut self.counts);
            if let Some(whole) = &mut self.whole {
                whole.running.batch(&batch, &mut whole.counts);
            }
            done(batch);
        }
        self.waiting = Vec::new();
        running
    }

    /// What was chosen and is not there; to be asked when all frames are in.
    pub fn not_there(&self) -> Option<NotThere> {
        let Selection { bssid, channel, .. } = self.options.selection;
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
        let mut running = self.running.take().unwrap_or_else(|| self.started(drop));
        running.calibration.is_sample = self.frames > CALIBRATION_FRAMES;
        let audit = self.whole.as_mut().map(|whole| whole.audit(&self.options.selection));
        let mut report = running.report(&self.options, &self.counts, &self.networks, source);
        self.running = Some(running);
        if let Some(audit) = audit {
            report.capabilities = audit;
        }
        let limits = &report.summary.limits;
        if is_limited(limits, "airtime-exceeds-time") || is_limited(limits, "rates-not-true") {
            capability::forget_rates(&mut report.capabilities);
        }
        report
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
    /// The interface that the accounts of the medium are about.
    main_interface: u32,
    /// Frames that were handed over to be sent are in the capture again when they were.
    handed_over_come_back: bool,
    latest: Latest,
    echoes: Echoes,
    copies: Copies,
    beginning: Beginning,
    /// By interface.
    lanes: Vec<Lane>,
    accounts: Accounts,
}

/// What one interface captured, frame after frame.
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
    devices: Devices,
    listener: Listener,
    floods: Floods,
    events: Events,
    happenings: Happenings,
    contents: Contents,
    allocations: Allocations,
    traffic: Option<Box<Traffic>>,
    /// Only where it is asked for.
    block_acks: Option<Box<BlockAckLog>>,
    /// Control responses are timed at the rate the rules give, not at the one they claim.
    distrust_control_rates: bool,
    /// See [`Calibration::marks_ampdus`].
    marks_ampdus: bool,
    selection: Selection,
    /// Parts of Multi-STA Block Acks for stations with an AID that no association response shows.
    unattributed_acks: u64,
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
            handed_over_come_back: false,
            latest: Latest::new(calibration.source == ClockSource::Tsft),
            echoes: Echoes::default(),
            copies: Copies::default(),
            beginning: Beginning::default(),
            lanes: Vec::new(),
            accounts: Accounts {
                stations: Stations::new(),
                links: Table::new(MAX_LINKS),
                flows: Flows::new(calibration.grouping != Grouping::None),
                selection,
                unattributed_acks: 0,
                bss_frames: 0,
                distrust_control_rates: calibration.control_rates == Some(false),
                marks_ampdus: calibration.marks_ampdus(),
                aggregates_left: MAX_AGGREGATES,
                medium: Medium::new(gaps),
                claims: Claims::default(),
                devices: Devices::default(),
                listener: Listener::default(),
                floods: Floods::default(),
                events: Events::default(),
                happenings: Happenings::default(),
                contents: Contents::default(),
                allocations: Allocations::default(),
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
            let is_of_several = self.lanes.len() > 1;
            let (Some(lane), accounts) = (self.lanes.get_mut(index), &mut self.accounts) else { continue };
            let Lane { assembler, matcher } = lane;
            if self.handed_over_come_back && handed_over::has_the_look(frame) {
                // It was not on the air yet.
                counts.handed_over += 1;
                counts.frame(frame);
                accounts.frame(frame, batch, at.ns, false);
                continue;
            }
            assembler.push(frame, batch, at, &mut |ppdu| accounts.ppdu(ppdu, matcher, is_main));
            let is_duplicate = self.latest.has(frame) && may_be_a_copy(frame);
            let is_copy = self.copies.has(frame);
            counts.duplicates += u64::from(is_duplicate);
            counts.copies += u64::from(is_copy);
            counts.begins_again += u64::from(self.beginning.has(frame));
            if is_of_several {
                counts.heard_twice += u64::from(self.echoes.has(frame) && may_be_a_copy(frame));
            }
            counts.frame(frame);
            if let Some((row, repeats)) = accounts.frame(frame, batch, at.ns, is_main) {
                if is_main {
                    accounts.packets(frame, batch, at.ns, repeats);
                }
                assembler.note_link(frame, row, accounts.links.generation(), repeats);
                if is_duplicate || is_copy {
                    if let Some(link) = accounts.links.get_mut(row) {
                        link.twice += 1;
                    }
                }
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
        // With a radio for each channel, no radio was away.
        if self.calibration.several_radios.is_some() {
            return;
        }
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
        for interface in self.lanes.len()..count {
            // What the stamps of other interfaces mark is not known.
            let is_main = interface == self.main_interface as usize;
            let gaps = calibration.gaps_usable() && is_main;
            self.lanes.push(Lane {
                assembler: Assembler::new(calibration.grouping, calibration.meaning, gaps),
                matcher: Matcher::new(
                    calibration.spread_ns().filter(|_| is_main),
                    gaps && calibration.control_rates == Some(true),
                    calibration.grouping != Grouping::None,
                ),
            });
        }
    }
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
        accounts.allocations.finish();
        accounts.medium.finish(&mut accounts.links);
    }
}

/// Is a frame with the marks of another one a copy of it? Floods repeat themselves, and a retry within a tick of the capture's
/// clock looks like the attempt before.
fn may_be_a_copy(frame: &Frame) -> bool {
    !is_of_a_flood(frame.header.fc.kind()) && (frame.radio.tsft_us.is_some() || !frame.header.fc.retry())
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
                self.fcs_flagged += u64::from(frame.computed_fcs != Some(true));
            }
            Fcs::Bad => self.fcs_bad += 1,
            Fcs::Unknown => {
                self.fcs_unknown += 1;
                self.own_unchecked += u64::from(frame.radio.own_transmission);
            }
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
