//! Whether what a capture claims of its frames can be true: preambles, rates, and that one radio received them.

use std::collections::VecDeque;

use hashbrown::hash_map::{Entry, HashMap};
use sentence::grouped;
use wire::ieee80211::{FrameType, MacAddr};
use wire::phy::Mode;

use super::merged::{SeveralRadios, Steps};
use super::{median, shortest_us, stamp_us, Calibration};
use crate::duplicates::mark;
use crate::frame::{is_real, Frame};

/// Neighbours in a PPDU with different marks of its preamble, from which on the marks count as wrong.
const MIN_DIFFERENT: u64 = 3;
/// No driver tunes a radio to another channel in less: its synthesizer is programmed by many register writes, and settles.
const TUNED_US: u64 = 500;
/// Changes of the channel that no single radio makes, below which nothing is made of them, and their share of all.
const MIN_CHANGES: u64 = 20;
const MERGED: f64 = 0.05;
/// Hardware clocks are further apart by the capture's clock, and each of them keeps its distance from one visit to the next.
const CLOCKS_APART_US: u64 = 1_000_000;
const STEADY_US: u64 = 10_000;
/// Clocks remembered.
const MAX_CLOCKS: usize = 16;
/// Frames that a station sent before it had ended the one before, from which rates or stamps are taken to be wrong, and their share of
/// those checked. In 150 captures, simulated radios have 2 to 24 %, and real ones at most 0.3 %, where addresses or stamps are damaged.
const MIN_OVERRUNS: u64 = 3;
const OVERRUNS: f64 = 0.01;
/// The same of any two frames that were received whole. In real captures at most 0.2 % overlap, in those of simulated radios 11 to 46 %.
const OVERLAPS: f64 = 0.03;
/// Frames that their sender repeats while they last, without the retry bit, from which captures of one air were merged, and their share.
const MIN_COPIES: u64 = 20;
const COPIES: f64 = 0.05;
/// Senders looked at.
const MAX_SENDERS: usize = 256;
/// Stamps are off by less.
const OVERRUN_US: f64 = 20.0;

impl Calibration {
    /// A PPDU has one preamble: a mark that differs between MPDUs with one stamp is not the preamble's.
    pub(super) fn check_greenfield<'a>(&mut self, frames: impl Iterator<Item = &'a Frame> + Clone) {
        let mark = |frame: &Frame| match frame.radio.mode {
            Mode::Ht(ht) => ht.greenfield,
            _ => None,
        };
        let (mut differ, mut checked) = (0u64, 0u64);
        for (one, other) in frames.clone().zip(frames.skip(1)) {
            let stamp = one.radio.tsft_us.filter(|us| is_real(*us));
            let is_one_ppdu = stamp.is_some() && stamp == other.radio.tsft_us && one.ta() == other.ta();
            if let (true, Some(one), Some(other)) = (is_one_ppdu, mark(one), mark(other)) {
                checked += 1;
                differ += u64::from(one != other);
            }
        }
        if differ >= MIN_DIFFERENT {
            self.greenfield_is_invented = true;
            self.text.push(format!(
            "the receiver marks greenfield preambles, and {differ} of {checked} times differently for two MPDUs of one PPDU, which has one \
             preamble: the mark is not used",
            differ = grouped(differ),
            checked = grouped(checked)
        ));
        }
    }

    /// Frames on different channels that follow each other faster than a radio can be tuned, and all that do, where these are many.
    pub(super) fn check_radios<'a>(&mut self, frames: impl Iterator<Item = &'a Frame> + Clone) {
        let (mut fast, mut changes) = (0u64, 0u64);
        let mut before: Option<&Frame> = None;
        let frames = frames.filter(|frame| frame.radio.frequency_mhz.is_some() && !frame.radio.own_transmission);
        for frame in frames.clone() {
            let Some(last) = before.replace(frame) else { continue };
            if last.radio.frequency_mhz == frame.radio.frequency_mhz {
                continue;
            }
            changes += 1;
            // The capture's clock is read after reception, and frames are handed over in bunches.
            let stamps = |frame: &Frame| frame.radio.tsft_us.filter(|us| is_real(*us));
            let passed_us = stamps(last).zip(stamps(frame)).map(|(from, to)| to.abs_diff(from));
            fast += u64::from(passed_us.is_some_and(|us| us < TUNED_US));
        }
        self.several_radios = if fast >= MIN_CHANGES && fast as f64 > MERGED * changes as f64 {
            Some(SeveralRadios::Fast { fast, changes })
        } else {
            let neighbours = frames.clone().zip(frames.clone().skip(1));
            let at_changes = neighbours.filter(|(from, to)| from.radio.frequency_mhz != to.radio.frequency_mhz);
            several_clocks(at_changes).map(SeveralRadios::Clocks)
        };
        if self.several_radios.is_none() {
            self.several_clocks = several_clocks(frames.clone().zip(frames.skip(1)));
        }
    }

    /// At the rates that the capture claims, a station would still be sending when it begins its next frame, or two whole frames would have
    /// been on the air at once, whatever stamps mark; and frames that their sender repeats while they last are copies.
    pub(super) fn check_rates<'a>(&mut self, frames: impl Iterator<Item = &'a Frame>) {
        let source = self.source;
        let (mut own, mut own_checked, mut of_two, mut two_checked, mut copies, mut numbered) =
            (0u64, 0, 0u64, 0, 0u64, 0);
        let mut latest: HashMap<(u32, MacAddr), Sent> = HashMap::new();
        let mut last: Option<(u32, Sent)> = None;
        // One that may be part of an A-MPDU may have the stamp of another part; responses may claim rates that they were not sent at.
        let is_judged = |frame: &&Frame| {
            let is_control = frame.header.fc.frame_type() == FrameType::Control;
            frame.usable() && !frame.radio.own_transmission && !is_control && !frame.radio.mode.can_aggregate()
        };
        for frame in frames.filter(is_judged) {
            let Some(sender) = frame.ta() else { continue };
            let Some((at_us, lasts_us)) = stamp_us(frame, source).zip(shortest_us(frame)) else { continue };
            let sent = Sent { at_us, lasts_us, mark: mark(frame), frequency_mhz: frame.radio.frequency_mhz };
            if let Some((_, before)) =
                last.replace((frame.interface, sent)).filter(|(other, _)| *other == frame.interface)
            {
                two_checked += 1;
                of_two += u64::from(before.overlaps(&sent));
            }
            let has_room = latest.len() < MAX_SENDERS;
            let before = match latest.entry((frame.interface, sender)) {
                Entry::Occupied(mut entry) => entry.insert(sent),
                Entry::Vacant(entry) => {
                    if has_room {
                        entry.insert(sent);
                    }
                    continue;
                }
            };
            numbered += 1;
            let is_same = sent.mark.is_some() && sent.mark == before.mark && !frame.header.fc.retry();
            if is_same {
                copies += u64::from(before.overlaps(&sent));
            } else {
                own_checked += 1;
                own += u64::from(before.overlaps(&sent));
            }
        }
        if copies >= MIN_COPIES && copies as f64 > COPIES * numbered as f64 {
            self.copies = Some((copies, numbered));
        } else if own >= MIN_OVERRUNS && own as f64 > OVERRUNS * own_checked as f64 {
            self.rates_not_true = Some((own, own_checked));
        } else if of_two >= MIN_OVERRUNS && of_two as f64 > OVERLAPS * two_checked as f64 {
            self.rates_not_true = Some((of_two, two_checked));
        }
    }
}

/// Clocks that are read in turn: most steps between neighbours of `pairs` return to a distance from the capture's clock that was there
/// before. A clock that is set, or starts over, does not.
fn several_clocks<'a>(pairs: impl Iterator<Item = (&'a Frame, &'a Frame)>) -> Option<Steps> {
    let distance_us = |frame: &Frame| {
        let stamp = frame.radio.tsft_us.filter(|us| is_real(*us))?;
        i64::try_from(stamp).ok()?.checked_sub(frame.time_ns? / 1_000)
    };
    let (mut back, mut known_us, mut steps_us) = (0u64, VecDeque::new(), Vec::new());
    // Each distance is the latest one of its clock: clocks drift.
    let mut is_known = |us: i64| match known_us.iter_mut().find(|known: &&mut i64| (**known).abs_diff(us) < STEADY_US) {
        Some(known) => {
            *known = us;
            true
        }
        None => {
            known_us.push_back(us);
            if known_us.len() > MAX_CLOCKS {
                known_us.pop_front();
            }
            false
        }
    };
    let mut stamped = 0u64;
    for (from, to) in pairs {
        let Some((from_us, to_us)) = distance_us(from).zip(distance_us(to)) else { continue };
        stamped += 1;
        if from_us.abs_diff(to_us) < CLOCKS_APART_US {
            continue;
        }
        is_known(from_us);
        back += u64::from(is_known(to_us));
        steps_us.push(from_us.abs_diff(to_us) as f64);
    }
    let all = steps_us.len() as u64;
    steps_us.sort_unstable_by(f64::total_cmp);
    let median_s = median(&steps_us)? / 1e6;
    // Single stamps that are damaged step away and back, too: in real captures at up to 1.3 % of the frames.
    let is_often = all as f64 > MERGED * stamped as f64;
    (is_often && back >= MIN_CHANGES && back * 2 > all).then_some(Steps { back, all, median_s })
}

/// A frame on the air.
#[derive(Clone, Copy)]
struct Sent {
    at_us: i64,
    lasts_us: f64,
    /// The frame's mark, the same whenever it is sent.
    mark: Option<u32>,
    frequency_mhz: Option<u16>,
}

impl Sent {
    /// Would this frame still be on the air when `next` begins? Between two beginnings lies the first, between two ends the second. Equal
    /// stamps are those of copies.
    fn overlaps(&self, next: &Self) -> bool {
        let passed_us = next.at_us.wrapping_sub(self.at_us) as f64;
        let is_one_channel = self.frequency_mhz == next.frequency_mhz;
        is_one_channel && passed_us > 0.0 && passed_us < self.lasts_us.min(next.lasts_us) - OVERRUN_US
    }
}
