//! Counters of one endpoint in one direction.

use std::collections::BTreeMap;

use wire::usb::TransferType;

use crate::event::{direction, Status};
use crate::histogram::Histogram;
use crate::payload::Framing;
use crate::rate::{Rate, Series};
use crate::report::{self, Gap, StatusCount};
use crate::traffic::Traffic;

/// Gaps kept.
const GAPS: usize = 5;
/// Different statuses kept; the rest counts as the last.
const STATUSES_MAX: usize = 64;
/// A gap is at least so long, and so many times the interval that 95 % of completions keep.
const GAP_MIN_US: u64 = 20_000;
const GAP_TIMES: f64 = 10.0;

/// What an endpoint is known by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Key {
    pub bus: u16,
    pub device: u16,
    pub address: u8,
    pub transfer: TransferType,
}

/// See the module.
#[derive(Clone, Debug, Default)]
pub struct Endpoint {
    pub submissions: u64,
    pub completions: u64,
    pub submission_errors: u64,
    pub bytes: u64,
    requested: Option<u64>,
    requested_sizes: Histogram,
    sizes: Histogram,
    turnaround: Histogram,
    intervals: Histogram,
    pub in_flight: u64,
    pub in_flight_max: u64,
    /// Transfers outside the window whose framing was told, by [`Framing`].
    known: [u64; Framing::ALL.len()],
    /// Sum of requests under way times µs.
    in_flight_time: u128,
    first_us: Option<i64>,
    changed_us: Option<i64>,
    rate: Rate,
    series: Series,
    pub statuses: BTreeMap<Status, u64>,
    pub iso_errors: u64,
    last_completion_us: Option<i64>,
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
    /// names the endpoint, three in four of whose transfers must carry datagrams, or a few accidents count others in.
    pub fn foretells(&self, framing: Framing) -> bool {
        let network = Framing::ALL.into_iter().filter(|framing| framing.is_network());
        let network: u64 = network.map(|framing| self.transfers(framing)).sum();
        network * 4 >= self.inspected() * 3 && self.is_steady(framing)
    }

    /// A transfer outside the window has this framing.
    pub fn know(&mut self, framing: Framing) {
        self.known.get_mut(framing as usize).into_iter().for_each(|known| *known += 1);
    }

    /// A request was handed over before the window.
    pub fn submitted_before(&mut self) {
        self.in_flight += 1;
    }

    /// A request from before the window came back before it.
    pub fn taken_back_before(&mut self) {
        self.in_flight = self.in_flight.saturating_sub(1);
    }

    /// Nothing of it lies in the window.
    pub fn is_silent(&self) -> bool {
        self.submissions + self.completions + self.submission_errors == 0
    }

    /// Every framing that was seen.
    pub fn framings(&self) -> impl Iterator<Item = (Framing, &Traffic)> {
        Framing::ALL.into_iter().filter_map(|framing| self.framing(framing).map(|traffic| (framing, traffic)))
    }

    fn advance(&mut self, time: Option<i64>) {
        let Some(now) = time else { return };
        self.first_us.get_or_insert(now);
        self.in_flight_max = self.in_flight_max.max(self.in_flight);
        if let Some(before) = self.changed_us {
            let passed = now.saturating_sub(before).max(0) as u128;
            self.in_flight_time = self.in_flight_time.saturating_add(passed * u128::from(self.in_flight));
        }
        self.changed_us = Some(self.changed_us.map_or(now, |before| before.max(now)));
    }

    /// A request was handed over; `length`: bytes asked for or carried.
    pub fn submit(&mut self, time: Option<i64>, length: Option<u32>) {
        self.advance(time);
        self.submissions += 1;
        self.in_flight += 1;
        self.in_flight_max = self.in_flight_max.max(self.in_flight);
        if let Some(length) = length {
            self.requested = Some(self.requested.unwrap_or(0) + u64::from(length));
            self.requested_sizes.add(u64::from(length));
        }
    }

    /// A request is no longer under way.
    pub fn take_back(&mut self, time: Option<i64>) {
        self.advance(time);
        self.in_flight = self.in_flight.saturating_sub(1);
    }

    /// A request came back; `start_us`: first record of the capture.
    pub fn complete(
        &mut self,
        time: Option<i64>,
        start_us: i64,
        status: Status,
        length: Option<u32>,
        sent: Option<i64>,
    ) {
        self.advance(time);
        self.completions += 1;
        let length = u64::from(length.unwrap_or(0));
        self.bytes += length;
        if status.is_success() {
            self.sizes.add(length);
        }
        let is_new = self.statuses.len() >= STATUSES_MAX && !self.statuses.contains_key(&status);
        *self.statuses.entry(if is_new { Status::Unknown } else { status }).or_default() += 1;
        let Some(now) = time else { return };
        if let Some(sent) = sent {
            self.turnaround.add(now.saturating_sub(sent).max(0) as u64);
        }
        self.rate.add(now);
        self.series.add(now.saturating_sub(start_us).max(0) as u64, length);
        if let Some(last) = self.last_completion_us {
            let interval = now.saturating_sub(last).max(0) as u64;
            self.intervals.add(interval);
            // In flight since before the gap: this one is counted until the caller takes it back.
            if self.in_flight > 0 && interval >= GAP_MIN_US {
                let start_us = last.saturating_sub(start_us).max(0) as u64;
                self.gap(Gap { start_us, length_us: interval, in_flight: self.in_flight });
            }
        }
        self.last_completion_us = Some(now);
    }

    fn gap(&mut self, gap: Gap) {
        self.gaps.push(gap);
        self.gaps.sort_by_key(|gap| std::cmp::Reverse(gap.length_us));
        self.gaps.truncate(GAPS);
    }

    /// Completions that are neither success nor cancelled.
    pub fn errors(&self) -> u64 {
        let failed = self.statuses.iter().filter(|(status, _)| !status.is_success() && !status.is_cancelled());
        failed.map(|(_, count)| *count).sum()
    }

    /// As data. `interface` and `max_packet` come from descriptors.
    pub fn report(&self, key: Key, device: &str, interface: Option<u8>, max_packet: Option<u16>) -> report::Endpoint {
        let span = self.rate.rated_span_s();
        let total = match (self.first_us, self.changed_us) {
            (Some(first), Some(last)) if last > first => Some(last.saturating_sub(first) as f64),
            _ => None,
        };
        let usual = self.intervals.quantile(0.95).unwrap_or(0.0);
        let gaps = self.gaps.iter().filter(|gap| gap.length_us as f64 >= GAP_TIMES * usual).cloned().collect();
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
            bytes: self.bytes,
            requested_bytes: self.requested,
            requested_size_bytes: self.requested_sizes.spread(),
            size_bytes: self.sizes.spread(),
            size_histogram: self.sizes.octaves(),
            turnaround_us: self.turnaround.spread(),
            interval_us: self.intervals.spread(),
            in_flight_max: self.in_flight_max,
            in_flight_mean: total.map(|total| self.in_flight_time as f64 / total),
            per_s: self.rate.mean_per_s(),
            peak_per_s: self.rate.peak_per_s(),
            mbit_s: span.map(|span| self.bytes as f64 * 8.0 / span / 1e6),
            statuses,
            errors: self.errors(),
            iso_errors: self.iso_errors,
            gaps,
            bin_us: self.series.width_us(),
            series: self.series.bins(),
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
