//! Counters of one endpoint in one direction.

use std::collections::BTreeMap;

use wire::usb::TransferType;

use crate::event::{direction, Event, Status};
use crate::histogram::Histogram;
use crate::payload::Framing;
use crate::rate::{Rate, Series};
use crate::report::{self, Gap, StatusCount};
use crate::traffic::Traffic;
use crate::under_way::{Turn, UnderWay};

/// Gaps kept.
const GAPS: usize = 5;
/// Different statuses kept; the rest counts as the last.
const STATUSES_MAX: usize = 64;
/// Least length of a gap, and its least multiple of the interval that 95 % of completions keep.
const GAP_MIN_US: u64 = 20_000;
const GAP_TIMES: f64 = 10.0;

/// There is a throughput while at most one completion in this many lacks its length.
const FEW_UNKNOWN: u64 = 100;

/// What an endpoint is known by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Key {
    pub bus: u16,
    pub device: u16,
    pub address: u8,
    pub transfer: TransferType,
}

/// What the times of the capture allow.
#[derive(Clone, Copy, Debug)]
pub struct Timeline {
    /// Time does not step back.
    pub is_one: bool,
    /// Requests come back in it.
    pub has_completions: bool,
    /// Requests have identifiers, so that it is known which are under way.
    pub has_ids: bool,
    /// Records were dropped while capturing, by the capture's own count.
    pub has_drops: bool,
}

/// See the module.
#[derive(Clone, Debug, Default)]
pub struct Endpoint {
    pub submissions: u64,
    pub completions: u64,
    pub submission_errors: u64,
    /// Sum over the completions with a known length; how many those are, and of how many it is not.
    pub bytes: u64,
    known_lengths: u64,
    pub unknown_lengths: u64,
    requested: Option<u64>,
    requested_sizes: Histogram,
    sizes: Histogram,
    turnaround: Histogram,
    intervals: Histogram,
    pub under_way: UnderWay,
    /// Transfers outside the window with a framing that was known, by [`Framing`].
    known: [u64; Framing::ALL.len()],
    rate: Rate,
    /// Rate of the completions with data to the device.
    sent: Rate,
    series: Series,
    pub statuses: BTreeMap<Status, u64>,
    pub iso_errors: u64,
    last_completion_us: Option<i64>,
    /// Requests that have been under way since the last completion, and since when others are.
    left: u64,
    busy_since_us: Option<i64>,
    gaps: Vec<Gap>,
    /// Indexed by [`Framing`].
    framings: [Option<Box<Traffic>>; Framing::ALL.len()],
}

impl Endpoint {
    /// Counters of one framing, if it was seen.
    pub fn framing(&self, framing: Framing) -> Option<&Traffic> {
        self.framings.get(framing as usize)?.as_deref()
    }

    /// Counters of one framing.
    pub fn framing_mut(&mut self, framing: Framing) -> Option<&mut Traffic> {
        self.framings.get_mut(framing as usize).map(|slot| &mut **slot.get_or_insert_default())
    }

    /// Transfers of a framing in the whole capture, also outside the window.
    pub fn transfers(&self, framing: Framing) -> u64 {
        let known = self.known.get(framing as usize).copied().unwrap_or(0);
        known + self.framing(framing).map_or(0, |traffic| traffic.transfers)
    }

    /// Transfers with data that were looked into in the whole capture.
    pub fn inspected(&self) -> u64 {
        Framing::ALL.into_iter().map(|framing| self.transfers(framing)).sum()
    }

    /// Whether half of its transfers or more carry network datagrams, in whatever framing: a modem may change it.
    pub fn carries_datagrams(&self) -> bool {
        let network = Framing::ALL.into_iter().filter(|framing| framing.is_network());
        network.map(|framing| self.transfers(framing)).sum::<u64>() * 2 >= self.inspected()
    }

    /// Whether a framing is what the endpoint carries, and not what single transfers look like by accident: the endpoint
    /// carries datagrams, and at most one in four transfers of this framing breaks its rules.
    pub fn is_steady(&self, framing: Framing) -> bool {
        let traffic = self.framing(framing);
        let (faulty, counted) = traffic.map_or((0, 0), |traffic| (traffic.faulty(), traffic.transfers));
        self.carries_datagrams() && faulty * 4 <= counted
    }

    /// Whether the next transfer may be taken for this framing though it does not look like it: that takes more than what
    /// names the endpoint, and three in four of its transfers must carry datagrams, or a few accidents count others in.
    pub fn foretells(&self, framing: Framing) -> bool {
        let network = Framing::ALL.into_iter().filter(|framing| framing.is_network());
        let network: u64 = network.map(|framing| self.transfers(framing)).sum();
        network * 4 >= self.inspected() * 3 && self.is_steady(framing)
    }

    /// A transfer outside the window has this framing.
    pub fn know(&mut self, framing: Framing) {
        self.known.get_mut(framing as usize).into_iter().for_each(|known| *known += 1);
    }

    /// Nothing of it lies in the window.
    pub fn is_silent(&self) -> bool {
        self.submissions + self.completions + self.submission_errors == 0
    }

    /// Every framing that was seen.
    pub fn framings(&self) -> impl Iterator<Item = (Framing, &Traffic)> {
        Framing::ALL.into_iter().filter_map(|framing| self.framing(framing).map(|traffic| (framing, traffic)))
    }

    /// A request is handed over; `length`: bytes asked for or carried. Its turn among those of the endpoint.
    pub fn submit(&mut self, time: Option<i64>, length: Option<u32>) -> Turn {
        self.under_way.advance(time);
        self.submissions += 1;
        if let Some(length) = length {
            self.requested = Some(self.requested.unwrap_or(0) + u64::from(length));
            self.requested_sizes.add(u64::from(length));
        }
        if self.under_way.now() == 0 {
            self.busy_since_us = time;
        }
        self.under_way.hand_over(true)
    }

    /// The identifier of a request is used again: when it came back is not known.
    pub fn abandon(&mut self, turn: Turn, time: Option<i64>) {
        self.under_way.advance(time);
        self.under_way.abandon(turn, true);
        // One of them has just been handed over.
        self.left = self.left.min(self.under_way.now().saturating_sub(1));
        if self.left == 0 {
            self.busy_since_us = time.filter(|_| self.under_way.now() > 0);
        }
    }

    /// A completion has been counted, and what it completed taken back.
    pub fn rest(&mut self) {
        self.left = self.under_way.now();
        self.busy_since_us = None;
    }

    /// A request came back; `start_us`: first record of the capture, `length`: of the bytes it moved, where they are known, `framing`:
    /// of what it carried to the device.
    pub fn complete(&mut self, event: &Event<'_>, start_us: i64, length: Option<u32>, framing: Option<Framing>) {
        let (time, status) = (event.time_us, event.status);
        self.under_way.advance(time);
        self.completions += 1;
        match length.map(u64::from) {
            Some(length) if event.may_be_longer => {
                self.unknown_lengths += 1;
                self.bytes += length;
            }
            Some(length) => {
                self.known_lengths += 1;
                self.bytes += length;
                if status.is_success() {
                    self.sizes.add(length);
                }
            }
            None => self.unknown_lengths += 1,
        }
        let length = u64::from(length.unwrap_or(0));
        let is_new = self.statuses.len() >= STATUSES_MAX && !self.statuses.contains_key(&status);
        *self.statuses.entry(if is_new { Status::Unknown } else { status }).or_default() += 1;
        let Some(now) = time else { return };
        self.rate.add(now);
        if !event.endpoint.is_in() && length > 0 {
            self.sent.add(now);
            if let Some(traffic) = framing.and_then(|framing| self.framing_mut(framing)) {
                traffic.come_back(now);
            }
        }
        self.series.add(now.saturating_sub(start_us).max(0) as u64, length);
        if let Some(last) = self.last_completion_us {
            let interval = now.saturating_sub(last).max(0) as u64;
            self.intervals.add(interval);
            // Some request was under way all the time: since the last completion, or since the first was handed over.
            let start =
                if self.left > 0 { Some((last, self.left)) } else { self.busy_since_us.map(|at| (at.max(last), 1)) };
            if let Some((from, in_flight)) = start {
                let length_us = now.saturating_sub(from).max(0) as u64;
                if length_us >= GAP_MIN_US {
                    let start_us = from.saturating_sub(start_us).max(0) as u64;
                    self.gap(Gap { start_us, length_us, in_flight });
                }
            }
        }
        self.last_completion_us = Some(now);
    }

    fn gap(&mut self, gap: Gap) {
        self.gaps.push(gap);
        self.gaps.sort_by_key(|gap| std::cmp::Reverse(gap.length_us));
        self.gaps.truncate(GAPS);
    }

    /// Completions that are neither success nor cancelled; `None` where it is recorded of none how it ended.
    pub fn errors(&self) -> Option<u64> {
        let mut known = self.statuses.iter().filter(|(status, _)| **status != Status::Unknown).peekable();
        let is_known = known.peek().is_some() || self.completions == 0;
        let failed = known.filter(|(status, _)| !status.is_success() && !status.is_cancelled());
        is_known.then(|| failed.map(|(_, count)| *count).sum())
    }

    /// Bytes of completions, as far as they are known; `None` where none is.
    pub fn known_bytes(&self) -> Option<u64> {
        (self.known_lengths > 0 || self.unknown_lengths == 0 || self.bytes > 0).then_some(self.bytes)
    }

    /// What its transfers carry, as data, one row per framing.
    pub fn traffic(&self, key: Key, device: &str, timeline: Timeline) -> Vec<report::Traffic> {
        let rows = || self.framings().filter(|(_, traffic)| traffic.transfers > 0);
        // Where all data are of one framing, so are those of completions with a submission that is not in the capture.
        let sent = (rows().count() == 1).then_some(&self.sent);
        let all = rows().map(|(framing, traffic)| traffic.report(device, key.address, framing, sent));
        all.map(|row| {
            let of = |rate: Option<f64>| rate.filter(|_| timeline.is_one);
            let (per_s, peak_per_s) = (of(row.per_s), of(row.peak_per_s));
            report::Traffic { per_s, peak_per_s, handed_over_per_s: of(row.handed_over_per_s), ..row }
        })
        .collect()
    }

    /// The request of this turn is no longer under way; `sent_us`: when it was handed over, where it succeeded, and `is_success` as
    /// in [`UnderWay::come_back`].
    pub fn take_back(&mut self, turn: Turn, time: Option<i64>, sent_us: Option<i64>, is_success: bool) {
        self.under_way.advance(time);
        let is_late = self.under_way.come_back(turn, is_success, true);
        self.left = self.left.min(self.under_way.now());
        // Where records are missing, a late completion is of another request.
        let is_another = is_late && self.under_way.keeps_order() && self.under_way.lacks_records();
        if let (Some(now), Some(sent), false) = (time, sent_us, is_another) {
            self.turnaround.add(now.saturating_sub(sent).max(0) as u64);
        }
    }

    /// Time steps back: nothing under way before it is followed.
    pub fn restart(&mut self) {
        self.under_way.restart();
        self.last_completion_us = None;
        self.rest();
        self.rate.restart();
        self.sent.restart();
        self.framings.iter_mut().flatten().for_each(|traffic| traffic.restart());
    }

    /// As data. `interface` and `max_packet` come from descriptors.
    pub fn report(
        &self,
        key: Key,
        device: &str,
        (interface, max_packet): (Option<u8>, Option<u16>),
        timeline: Timeline,
    ) -> report::Endpoint {
        let Timeline { is_one, has_completions, has_ids, has_drops } = timeline;
        let span = self.rate.rated_span_s().filter(|_| is_one);
        // A request with a missing completion would be under way for too long.
        let are_followed = self.under_way.lost_completions() == 0 && (self.under_way.keeps_order() || !has_drops);
        let is_told = is_one && has_completions && has_ids && are_followed;
        let most = self.under_way.most_and_mean(self.completions).filter(|_| is_told);
        let usual = self.intervals.quantile(0.95).unwrap_or(0.0);
        let is_gap = |gap: &&Gap| is_one && are_followed && gap.length_us as f64 >= GAP_TIMES * usual;
        let gaps = self.gaps.iter().filter(is_gap).cloned().collect();
        let mut statuses: Vec<StatusCount> = self.statuses.iter().map(|(status, n)| named(*status, *n)).collect();
        statuses.sort_by_key(|row| std::cmp::Reverse(row.count));
        report::Endpoint {
            device: device.to_owned(),
            address: format!("0x{:02x}", key.address),
            direction: direction(key.address).to_owned(),
            transfer: key.transfer.name().to_owned(),
            interface: interface.map(u32::from),
            max_packet_bytes: max_packet.map(u32::from),
            submissions: self.submissions,
            completions: self.completions,
            submission_errors: self.submission_errors,
            unmatched_completions: Some(self.under_way.unmatched().0),
            lost_submissions: Some(self.under_way.lost_submissions()),
            lost_completions: Some(self.under_way.lost_completions()),
            bytes: self.known_bytes(),
            bytes_unknown: Some(self.unknown_lengths),
            requested_bytes: self.requested,
            requested_size_bytes: self.requested_sizes.spread(),
            size_bytes: self.sizes.spread(),
            size_histogram: self.sizes.octaves(),
            turnaround_us: self.turnaround.spread(),
            interval_us: self.intervals.spread(),
            in_flight_max: most.map(|(most, _)| most),
            in_flight_mean: most.and_then(|(_, mean)| mean),
            per_s: self.rate.mean_per_s().filter(|_| is_one),
            peak_per_s: self.rate.peak_per_s().filter(|_| is_one),
            mbit_s: span
                .filter(|_| self.unknown_lengths * FEW_UNKNOWN <= self.completions)
                .map(|span| self.bytes as f64 * 8.0 / span / 1e6),
            statuses,
            errors: self.errors(),
            iso_errors: self.iso_errors,
            gaps,
            are_gaps_known: Some(is_one && are_followed),
            bin_us: self.series.width_us(),
            series: if is_one { self.series.bins() } else { Vec::new() },
        }
    }
}

fn named(status: Status, count: u64) -> StatusCount {
    let (code, known) = match status {
        Status::Errno(number) => (number.to_string(), wire::usb::status::errno(number)),
        Status::Usbd(number) => (format!("0x{number:08x}"), wire::usb::status::usbd(number)),
        Status::Unknown => ("-".to_owned(), Some(("not recorded", "the log does not say how it ended"))),
    };
    let (name, meaning) = known.unwrap_or(("unknown", "a status without a known name"));
    StatusCount { code, name: name.to_owned(), meaning: meaning.to_owned(), count }
}
