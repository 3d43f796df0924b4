//! The report of what has been counted.

use std::cmp::Reverse;

use capture::report::Window;

use super::{Analyzer, Pending};
use crate::agreement;
use crate::device::Device;
use crate::device_row;
use crate::endpoint::{Key, Timeline};
use crate::limits;
use crate::report::{self, Report, Summary};
use crate::sdio;
use crate::totals::Source;
use crate::verdict;

impl Analyzer {
    /// All of it, as data.
    pub(crate) fn report(&self, source: &Source) -> Report {
        let totals = &self.summary;
        // A window may have no record.
        let layers = if totals.layers == [0; 3] { self.layers_outside } else { totals.layers };
        let layer = match layers {
            [0, 0, 0] if self.commands.seen > 0 => "sdio",
            [0, 0, 0] => "none",
            [_, 0, 0] => "urb",
            [0, _, 0] => "irp",
            [0, 0, _] => "urb-log",
            _ => "mixed",
        };
        let timeline = Timeline {
            is_one: self.steps_back.inside.are_few(totals.span_us()),
            has_completions: self.has_completions,
            has_ids: layer != "urb-log",
            has_drops: source.dropped.is_some_and(|dropped| dropped > 0),
        };
        let mut names: Vec<(u16, u16)> = self.devices.keys().copied().collect();
        names.extend(self.endpoints.iter().map(|(key, _)| (key.bus, key.device)));
        names.sort_unstable();
        names.dedup();
        // A window may lack endpoints that the rest of the capture has.
        let mut keys: Vec<Key> = self
            .endpoints
            .iter()
            .filter(|(_, endpoint)| !self.has_window || !endpoint.is_silent())
            .map(|(key, _)| *key)
            .collect();
        keys.sort_unstable();
        let mut devices: Vec<(report::Device, (u16, u16))> = Vec::new();
        let blank = Device::default();
        for place in names {
            let device = self.devices.get(&place).unwrap_or(&blank);
            let mut row = device_row::row(place, device, &self.endpoints);
            // A log without addresses has all requests at 0.
            if place.1 == 0 && layer != "urb-log" {
                row = device_row::default_address(row);
            }
            devices.push((row, place));
        }
        devices.sort_by_key(|(row, _)| Reverse((row.bytes_in + row.bytes_out.unwrap_or(0), row.completions)));
        let (mut endpoints, mut traffic) = (Vec::new(), Vec::new());
        for (row, place) in &devices {
            for key in keys.iter().filter(|key| (key.bus, key.device) == *place) {
                let Some(endpoint) = self.found(key) else { continue };
                let described = self.devices.get(place).unwrap_or(&blank).endpoint(key.address);
                endpoints.push(endpoint.report(*key, &row.name, described, timeline));
                traffic.extend(endpoint.traffic(*key, &row.name, timeline));
            }
        }
        let (mut qmi_messages, mut data_formats) = (Vec::new(), Vec::new());
        for (row, place) in &devices {
            let Some(device) = self.devices.get(place) else { continue };
            qmi_messages.extend(device.qmi.messages(&row.name));
            data_formats.extend(device.qmi.formats(&row.name, totals.first_us));
        }
        let of_messages = agreement::OfMessages {
            cut: self.devices.values().map(|device| device.qmi.cut()).sum(),
            unjudged: self.devices.values().map(|device| device.qmi.unjudged()).sum(),
        };
        let followed = || self.endpoints.iter().map(|(_, endpoint)| endpoint);
        let mut report = Report {
            format: report::FORMAT,
            version: report::FORMAT_VERSION,
            tool: format!("txop {}", env!("CARGO_PKG_VERSION")),
            origin: source.origin.to_owned(),
            path: source.path.clone(),
            records: self.records(),
            summary: self.summary_of(source, layer, timeline),
            verdicts: Vec::new(),
            devices: devices.into_iter().map(|(row, _)| row).collect(),
            endpoints,
            traffic,
            requests: self.requests.report(),
            qmi_messages,
            data_formats,
            sdio: self.commands.report(timeline.is_one),
        };
        let from_before = followed().map(|endpoint| endpoint.under_way.unmatched().1).sum();
        report.summary.limits = limits::limits(&report, totals, source, of_messages, from_before);
        report.summary.limits.extend(sdio::limits(&report));
        report.verdicts = verdict::verdicts(&report);
        report
    }

    /// What the capture is; what it cannot show comes when all else is known.
    fn summary_of(&self, source: &Source, layer: &str, timeline: Timeline) -> Summary {
        let totals = &self.summary;
        let steps = self.steps_back.inside;
        let absolute = totals.first_us.filter(|_| source.clock_is_absolute);
        let followed = || self.endpoints.iter().map(|(_, endpoint)| endpoint);
        let is_waiting = |pending: &&Pending| !pending.is_after && !self.is_overtaken(pending);
        Summary {
            container: source.container.clone(),
            compression: source.compression.to_owned(),
            layer: layer.to_owned(),
            link_types: source
                .link_types
                .iter()
                .map(|((number, name), n)| report::LinkTypeCount { number: *number, name: name.clone(), records: *n })
                .collect(),
            not_usb: totals.not_usb,
            unreadable: totals.unreadable,
            unreadable_examples: totals.unreadable_examples.clone(),
            snap_lengths: source.snap_lengths.clone(),
            cut_transfers: totals.cut_transfers,
            data_transfers: totals.data_transfers,
            dropped_by_capture: source.dropped,
            first_time_unix_s: absolute.map(|first| first as f64 / 1e6),
            span_us: totals
                .first_us
                .filter(|_| source.has_clock == Some(true) && timeline.is_one)
                .map(|_| totals.span_us()),
            has_clock: source.has_clock,
            clock_step_us: totals.coarse_step_us().filter(|_| layer != "sdio"),
            clock_wraps: totals.clock_wraps,
            backward_steps: totals.backward_steps,
            backward_most_us: Some(totals.backward_most_us),
            steps_back: Some(steps.count),
            steps_back_us: Some(steps.sum_us),
            step_back_most_us: Some(steps.largest_us).filter(|_| steps.count > 0),
            copies: Some(totals.copies),
            submissions: totals.submissions,
            completions: totals.completions,
            submission_errors: totals.submission_errors,
            unmatched_completions: totals.unmatched,
            lost_submissions: Some(followed().map(|endpoint| endpoint.under_way.lost_submissions()).sum()),
            unfinished: self.pending.values().filter(is_waiting).count() as u64
                + self.back_after
                + totals.forgotten
                + totals.cut_off,
            lost_completions: totals.lost_completions
                + followed().map(|endpoint| endpoint.under_way.lost_completions()).sum::<u64>(),
            other_requests: totals.other_requests,
            other_submissions: Some(totals.other_submissions),
            pipe_resets: Some(totals.pipe_resets),
            pipe_aborts: Some(totals.pipe_aborts),
            injected_requests: Some(totals.injected),
            not_followed: totals.not_followed,
            damage: source.damage.clone().map(|(offset, message)| report::DamageNote { offset, message }),
            window: source.window.as_ref().map(|placed| Window::new(placed, source.clock_is_absolute)),
            limits: Vec::new(),
        }
    }
}
