//! Walks through the events in order and keeps counters of bounded size.

use std::collections::BTreeMap;

use capture::report::Window;
use capture::Place;
use hashbrown::HashMap;
use wire::sdio::log::Record;
use wire::usb::setup::Setup;
use wire::usb::usbmon::EventKind;
use wire::usb::TransferType;

use crate::class::{classify, Class};
use crate::conclusion::figure;
use crate::copies::Copies;
use crate::device::Device;
use crate::endpoint::{Endpoint, Key};
use crate::event::{Event, Status};
use crate::limits;
use crate::payload::{inspect, Framing, Hints};
use crate::qmi;
use crate::report::{self, Report, Summary};
use crate::requests::Requests;
use crate::sdio::{self, Commands};
use crate::totals::{Source, Totals};
use crate::verdict;

/// Endpoints and devices followed; a USB bus has 127 devices of at most 31 endpoints.
const ENDPOINTS_MAX: usize = 1024;
const DEVICES_MAX: usize = 512;
/// Requests under way at once.
const PENDING_MAX: usize = 65_536;
/// Register requests after which bulk transfers are read as Realtek's.
const REALTEK_AFTER: u64 = 16;
/// Transfers of a framing after which a doubtful one is taken for the same.
const SURE_AFTER: u64 = 4;
const EXAMPLES: usize = 5;

/// A request under way. USBPcap's injected requests all have the identifier 0, hence device and endpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Id(u64, u16, u16, u8);

#[derive(Clone, Copy, Debug)]
struct Pending {
    /// In `Analyzer::endpoints`; `None` when the endpoint is not followed.
    endpoint: Option<u32>,
    time_us: Option<i64>,
    length: Option<u32>,
    setup: Option<Setup>,
    /// Counts submissions: the oldest go first when there are too many.
    order: u64,
    /// Handed over after the window.
    is_after: bool,
}

/// See the module.
///
/// Events may lie outside a window ([`Analyzer::push_outside`]). Then the figures are those of the window, and from the rest
/// of the capture comes what a device is, how its transfers are framed, and which requests were under way when the window
/// began.
#[derive(Debug, Default)]
pub struct Analyzer {
    pub(crate) summary: Totals,
    /// Of a command log.
    commands: Commands,
    /// Submissions seen, of whatever place.
    order: u64,
    /// Requests of the window that came back after it.
    back_after: u64,
    has_window: bool,
    pending: HashMap<Id, Pending>,
    endpoints: Vec<(Key, Endpoint)>,
    places: HashMap<Key, u32>,
    devices: BTreeMap<(u16, u16), Device>,
    /// Descriptors read at address 0, by bus.
    unaddressed: BTreeMap<u16, wire::usb::descriptors::Device>,
    requests: Requests,
    copies: Copies,
}

impl Analyzer {
    /// Counts a record that could not be read.
    pub(crate) fn unreadable(&mut self, what: impl FnOnce() -> String) {
        self.summary.unreadable += 1;
        if self.summary.unreadable_examples.len() < EXAMPLES {
            self.summary.unreadable_examples.push(what());
        }
    }

    /// Takes the next event.
    pub fn push(&mut self, event: &Event<'_>) {
        self.time(event.time_us);
        self.summary.records += 1;
        if self.copies.is_copy(event) {
            self.summary.copies += 1;
            return;
        }
        if let Some(layer) = self.summary.layers.get_mut(match event.status {
            Status::Usbd(_) => 1,
            _ => 0,
        }) {
            *layer += 1;
        }
        let key =
            Key { bus: event.bus, device: event.device, address: event.endpoint.0 & 0x8f, transfer: event.transfer };
        self.summary.isochronous += u64::from(event.transfer == TransferType::Isochronous);
        match event.kind {
            EventKind::Submission => self.submit(event, key),
            EventKind::Completion => self.complete(event, key),
            EventKind::SubmissionError => self.refuse(event, key),
        }
    }

    /// Takes the next record of a command log.
    pub(crate) fn push_command(&mut self, time_ns: Option<i64>, record: &Record, data: &[u8], place: Place) {
        if place == Place::Inside {
            self.time(time_ns.map(|ns| ns.div_euclid(1_000)));
        }
        self.commands.push(time_ns, record, data, place);
    }

    /// Records that this is about: requests, and those of a command log.
    pub(crate) fn records(&self) -> u64 {
        self.summary.records + self.commands.records
    }

    /// Takes the next event, which lies outside the window.
    pub fn push_outside(&mut self, event: &Event<'_>, place: Place) {
        self.has_window = true;
        if self.copies.is_copy(event) {
            return;
        }
        let key =
            Key { bus: event.bus, device: event.device, address: event.endpoint.0 & 0x8f, transfer: event.transfer };
        let is_after = place != Place::Before;
        let id = Self::id(event);
        let endpoint = self.place(key);
        if event.kind == EventKind::Submission {
            self.order += 1;
            if self.pending.len() >= PENDING_MAX && !self.pending.contains_key(&id) {
                self.forget(self.order);
            }
            let order = self.order;
            let (time_us, length, setup) = (event.time_us, event.length, event.setup);
            let new = Pending { endpoint, time_us, length, setup, order, is_after };
            if let Some(old) = self.pending.insert(id, new) {
                self.returned_outside(old, is_after);
            }
            if let Some(endpoint) = self.at(endpoint).filter(|_| !is_after) {
                endpoint.submitted_before();
            }
            if let (Some(setup), Some(device)) = (setup, self.device(event.bus, event.device)) {
                device.requested(
                    setup,
                    place_of(event, place == Place::After),
                    event.data,
                    event.length.unwrap_or(0) as usize,
                );
            }
        } else if let Some(pending) = self.pending.remove(&id) {
            self.returned_outside(pending, is_after);
            if let Some(setup) = pending.setup.filter(|_| event.status.is_success()) {
                self.control(event, setup, place == Place::After);
            }
        }
        let carries = event.endpoint.is_in() == (event.kind == EventKind::Completion);
        let len = event.length.unwrap_or(0);
        if carries && len > 0 && event.transfer == TransferType::Bulk && !event.data.is_empty() {
            let hints = self.hints(event, endpoint);
            let (framing, _) = inspect(event.data, len as usize, event.endpoint.is_in(), hints);
            if let Some(endpoint) = self.at(endpoint) {
                endpoint.know(framing);
            }
            self.realtek(event, framing);
        }
    }

    /// A request is no longer under way, outside the window.
    fn returned_outside(&mut self, pending: Pending, is_after: bool) {
        if is_after {
            self.back_after += u64::from(!pending.is_after);
        } else if let Some(endpoint) = self.at(pending.endpoint) {
            endpoint.taken_back_before();
        }
    }

    fn time(&mut self, time_us: Option<i64>) {
        let Some(now) = time_us else { return };
        let totals = &mut self.summary;
        if totals.first_us.is_none() {
            totals.first_us = Some(now);
            totals.last_us = now;
            totals.latest_us = now;
        }
        totals.backward_steps += u64::from(now < totals.last_us);
        totals.last_us = now;
        totals.latest_us = totals.latest_us.max(now);
    }

    /// The place of an endpoint, which is made when it is new; `None` when there are too many.
    fn place(&mut self, key: Key) -> Option<u32> {
        if let Some(place) = self.places.get(&key) {
            return Some(*place);
        }
        if self.endpoints.len() >= ENDPOINTS_MAX {
            self.summary.not_followed += 1;
            return None;
        }
        let place = self.endpoints.len() as u32;
        self.endpoints.push((key, Endpoint::default()));
        self.places.insert(key, place);
        Some(place)
    }

    fn at(&mut self, place: Option<u32>) -> Option<&mut Endpoint> {
        self.endpoints.get_mut(place? as usize).map(|(_, endpoint)| endpoint)
    }

    fn found(&self, key: &Key) -> Option<&Endpoint> {
        self.endpoints.get(*self.places.get(key)? as usize).map(|(_, endpoint)| endpoint)
    }

    fn device(&mut self, bus: u16, address: u16) -> Option<&mut Device> {
        let key = (bus, address);
        if self.devices.len() >= DEVICES_MAX && !self.devices.contains_key(&key) {
            return None;
        }
        Some(self.devices.entry(key).or_default())
    }

    fn id(event: &Event<'_>) -> Id {
        if event.id == 0 {
            Id(0, event.bus, event.device, event.endpoint.0)
        } else {
            Id(event.id, 0, 0, 0)
        }
    }

    fn submit(&mut self, event: &Event<'_>, key: Key) {
        self.summary.submissions += 1;
        self.order += 1;
        let order = self.order;
        let id = Self::id(event);
        if self.pending.len() >= PENDING_MAX && !self.pending.contains_key(&id) {
            self.forget(order);
        }
        let place = self.place(key);
        let new = Pending {
            endpoint: place,
            time_us: event.time_us,
            length: event.length,
            setup: event.setup,
            order,
            is_after: false,
        };
        if let Some(old) = self.pending.insert(id, new) {
            self.summary.lost_completions += 1;
            if let Some(endpoint) = self.at(old.endpoint) {
                endpoint.take_back(event.time_us);
            }
        }
        if let Some(endpoint) = self.at(place) {
            endpoint.submit(event.time_us, event.length);
        }
        if let Some(setup) = event.setup {
            self.requests.submit(event.bus, event.device, setup);
            if let Some(device) = self.device(event.bus, event.device) {
                device.requested(setup, place_of(event, false), event.data, event.length.unwrap_or(0) as usize);
            }
        }
        if !event.endpoint.is_in() {
            self.carry(event, place);
        }
    }

    /// Too much is under way: the older half will not come back any more.
    #[cold]
    fn forget(&mut self, order: u64) {
        let mut orders: Vec<u64> = self.pending.values().map(|pending| pending.order).collect();
        let middle = orders.len() / 2;
        let (_, median, _) = orders.select_nth_unstable(middle);
        let oldest = (*median).min(order);
        let endpoints = &mut self.endpoints;
        let before = self.pending.len();
        self.pending.retain(|_, pending| {
            let keep = pending.order > oldest;
            if !keep {
                if let Some((_, endpoint)) = pending.endpoint.and_then(|place| endpoints.get_mut(place as usize)) {
                    endpoint.take_back(None);
                }
            }
            keep
        });
        self.summary.forgotten += (before - self.pending.len()) as u64;
    }

    fn complete(&mut self, event: &Event<'_>, key: Key) {
        self.summary.completions += 1;
        let pending = self.pending.remove(&Self::id(event));
        let start = self.summary.first_us.unwrap_or(0);
        self.summary.unmatched += u64::from(pending.is_none());
        // USBPcap tells the length of OUT transfers with their submission only.
        let length = event.length.or(pending.and_then(|pending| pending.length));
        let sent = pending.and_then(|pending| pending.time_us);
        let place = self.place(key);
        if let Some(endpoint) = self.at(place) {
            endpoint.iso_errors += u64::from(event.iso_errors);
            endpoint.complete(event.time_us, start, event.status, length, sent);
        }
        if let Some(endpoint) = self.at(pending.and_then(|pending| pending.endpoint)) {
            endpoint.take_back(event.time_us);
        }
        if let Some(setup) = pending.and_then(|pending| pending.setup) {
            let ok = event.status.is_success();
            let bytes = u64::from(length.unwrap_or(0));
            self.requests.complete(event.bus, event.device, setup, !ok && !event.status.is_cancelled(), bytes);
            if ok {
                self.control(event, setup, false);
            }
        }
        if event.endpoint.is_in() {
            self.carry(event, place);
        }
    }

    fn refuse(&mut self, event: &Event<'_>, key: Key) {
        self.summary.submission_errors += 1;
        // The kernel writes E instead of C for a request whose S it has written already.
        let pending = self.pending.remove(&Self::id(event));
        if let Some(endpoint) = self.at(pending.and_then(|pending| pending.endpoint)) {
            endpoint.take_back(event.time_us);
        }
        let place = self.place(key);
        if let Some(endpoint) = self.at(place) {
            endpoint.submission_errors += 1;
        }
    }

    /// `is_after`: the event came after the window.
    fn control(&mut self, event: &Event<'_>, setup: Setup, is_after: bool) {
        if let Some(address) = setup.new_address().filter(|address| *address != 0) {
            let descriptor = self.unaddressed.remove(&event.bus);
            if let Some(device) = self.device(event.bus, address) {
                device.renew();
                device.enumerations += 1;
                device.descriptor = descriptor;
            }
            return;
        }
        if event.device == 0 && self.unaddressed.len() < DEVICES_MAX {
            if let Some(found) = wire::usb::descriptors::Device::parse(event.data) {
                self.unaddressed.insert(event.bus, found);
            }
        }
        if let Some(device) = self.device(event.bus, event.device) {
            device.answered(setup, place_of(event, is_after), event.data, event.length.unwrap_or(0) as usize);
        }
    }

    /// Looks into the data of a transfer.
    fn carry(&mut self, event: &Event<'_>, place: Option<u32>) {
        let len = event.length.unwrap_or(0);
        if len == 0 {
            return;
        }
        self.summary.data_transfers += 1;
        self.summary.cut_transfers += u64::from(event.data.len() < len as usize);
        if event.transfer != TransferType::Bulk || event.data.is_empty() {
            return;
        }
        let hints = self.hints(event, place);
        let Some(endpoint) = self.at(place) else { return };
        let (framing, found) = inspect(event.data, len as usize, event.endpoint.is_in(), hints);
        if let Some(traffic) = endpoint.framing_mut(framing) {
            traffic.add(event.number, event.time_us, u64::from(len), &found);
        }
        if let Some(device) = self.devices.get_mut(&(event.bus, event.device)) {
            device.qmi.transfer(event.number, event.endpoint.is_in(), framing, len as usize, &found);
        }
        self.realtek(event, framing);
    }

    /// What earlier transfers of the endpoint tell of the next.
    fn hints(&self, event: &Event<'_>, place: Option<u32>) -> Hints {
        let device = self.devices.get(&(event.bus, event.device));
        let realtek = device
            .is_some_and(|device| device.register_requests >= REALTEK_AFTER || device.realtek_frames >= SURE_AFTER);
        let endpoint = place.and_then(|place| self.endpoints.get(place as usize)).map(|(_, endpoint)| endpoint);
        let seen = |framing| {
            endpoint.is_some_and(|endpoint| endpoint.transfers(framing) >= SURE_AFTER && endpoint.foretells(framing))
        };
        Hints { qmap: seen(Framing::Qmap), rndis: seen(Framing::Rndis), realtek }
    }

    fn realtek(&mut self, event: &Event<'_>, framing: Framing) {
        if framing == Framing::Realtek && !event.endpoint.is_in() {
            self.device(event.bus, event.device).into_iter().for_each(|device| device.realtek_frames += 1);
        }
    }

    /// All of it, as data.
    pub(crate) fn report(&self, source: &Source) -> Report {
        let totals = &self.summary;
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
            devices.push((self.device_report(place, device, &keys), place));
        }
        devices.sort_by_key(|(row, _)| std::cmp::Reverse((row.bytes_in + row.bytes_out, row.completions)));
        let (mut endpoints, mut traffic) = (Vec::new(), Vec::new());
        for (row, place) in &devices {
            for key in keys.iter().filter(|key| (key.bus, key.device) == *place) {
                let Some(endpoint) = self.found(key) else { continue };
                let (interface, max_packet) = self.devices.get(place).unwrap_or(&blank).endpoint(key.address);
                endpoints.push(endpoint.report(*key, &row.name, interface, max_packet));
                for (framing, counted) in endpoint.framings() {
                    traffic.push(counted.report(&row.name, key.address, framing));
                }
            }
        }
        let (mut qmi_messages, mut data_formats) = (Vec::new(), Vec::new());
        for (row, place) in &devices {
            let Some(device) = self.devices.get(place) else { continue };
            qmi_messages.extend(device.qmi.messages(&row.name));
            data_formats.extend(device.qmi.formats(&row.name, totals.first_us));
        }
        let cut_messages = self.devices.values().map(|device| device.qmi.cut()).sum();
        let layer = match totals.layers {
            [0, 0, 0] if self.commands.records > 0 => "sdio",
            [0, 0, 0] => "none",
            [_, 0, 0] => "urb",
            [0, _, 0] => "irp",
            [0, 0, _] => "urb-log",
            _ => "mixed",
        };
        let absolute = totals.first_us.filter(|_| source.clock_is_absolute);
        let mut report = Report {
            format: report::FORMAT,
            version: report::FORMAT_VERSION,
            tool: format!("txop {}", env!("CARGO_PKG_VERSION")),
            origin: source.origin.to_owned(),
            path: source.path.clone(),
            records: self.records(),
            summary: Summary {
                container: source.container.clone(),
                compression: source.compression.to_owned(),
                layer: layer.to_owned(),
                link_types: source
                    .link_types
                    .iter()
                    .map(|((number, name), n)| report::LinkTypeCount {
                        number: *number,
                        name: name.clone(),
                        records: *n,
                    })
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
                    .filter(|_| source.has_clock)
                    .map(|first| totals.latest_us.saturating_sub(first).max(0) as u64),
                clock_wraps: totals.clock_wraps,
                backward_steps: totals.backward_steps,
                copies: Some(totals.copies),
                submissions: totals.submissions,
                completions: totals.completions,
                submission_errors: totals.submission_errors,
                unmatched_completions: totals.unmatched,
                unfinished: self.pending.values().filter(|pending| !pending.is_after).count() as u64
                    + self.back_after
                    + totals.forgotten,
                lost_completions: totals.lost_completions,
                other_requests: totals.other_requests,
                not_followed: totals.not_followed,
                damage: source.damage.clone().map(|(offset, message)| report::DamageNote { offset, message }),
                window: source.window.as_ref().map(|placed| Window::new(placed, source.clock_is_absolute)),
                limits: Vec::new(),
            },
            verdicts: Vec::new(),
            devices: devices.into_iter().map(|(row, _)| row).collect(),
            endpoints,
            traffic,
            requests: self.requests.report(),
            qmi_messages,
            data_formats,
            sdio: self.commands.report(),
        };
        report.summary.limits = limits::limits(&report, totals, source, cut_messages);
        report.summary.limits.extend(sdio::limits(&report));
        report.verdicts = verdict::verdicts(&report);
        report
    }

    fn device_report(&self, place: (u16, u16), device: &Device, keys: &[Key]) -> report::Device {
        let mut carried: BTreeMap<(Framing, bool), u64> = BTreeMap::new();
        let mut doubtful = Vec::new();
        let (mut completions, mut bytes_out, mut bytes_in) = (0, 0, 0);
        for key in keys.iter().filter(|key| (key.bus, key.device) == place) {
            let Some(endpoint) = self.found(key) else { continue };
            let is_in = key.address & 0x80 != 0;
            completions += endpoint.completions;
            if is_in {
                bytes_in += endpoint.bytes;
            } else {
                bytes_out += endpoint.bytes;
            }
        }
        // What a device is does not depend on the window.
        for (key, endpoint) in self.endpoints.iter().filter(|(key, _)| (key.bus, key.device) == place) {
            for framing in Framing::ALL.into_iter().filter(|framing| endpoint.transfers(*framing) > 0) {
                let (is_in, n) = (key.address & 0x80 != 0, endpoint.transfers(framing));
                if framing.has_signature() || endpoint.is_steady(framing) {
                    *carried.entry((framing, is_in)).or_default() += n;
                } else {
                    let why = if endpoint.carries_datagrams() {
                        "too many of them break its rules"
                    } else {
                        "too few to tell"
                    };
                    let (name, of) = (framing.name(), endpoint.inspected());
                    let address = key.address;
                    doubtful.push(format!(
                        "{} of {} transfers on endpoint 0x{address:02x} look like {name}: {why}",
                        figure(n),
                        figure(of)
                    ));
                }
            }
        }
        let carried: Vec<_> = carried.into_iter().map(|((framing, is_in), n)| (framing, is_in, n)).collect();
        let Class { kind, name, by, mut evidence } = classify(device, &carried);
        evidence.append(&mut doubtful);
        let bcd = |value: u16| format!("{:x}.{:02x}", value >> 8, value & 0xff);
        let d = device.descriptor;
        report::Device {
            name: format!("{}.{}", place.0, place.1),
            bus: u32::from(place.0),
            address: u32::from(place.1),
            vendor_id: d.map(|d| format!("{:04x}", d.vendor)),
            product_id: d.map(|d| format!("{:04x}", d.product)),
            manufacturer: device.string(d.map(|d| d.manufacturer_string)),
            product: device.string(d.map(|d| d.product_string)),
            usb_version: d.map(|d| bcd(d.usb)),
            device_version: d.map(|d| bcd(d.version)),
            speed: device.speed().map(str::to_owned),
            kind: kind.to_owned(),
            kind_name: name.to_owned(),
            kind_by: by.to_owned(),
            evidence,
            interfaces: device.interfaces.iter().map(interface_report).collect(),
            completions,
            bytes_out,
            bytes_in,
            enumerations: device.enumerations,
        }
    }
}

/// Where an event stands in the capture.
fn place_of(event: &Event<'_>, is_after: bool) -> qmi::Place {
    qmi::Place { record: event.number, time_us: event.time_us, is_after }
}

fn interface_report(interface: &crate::device::Interface) -> report::Interface {
    let (class, subclass, protocol) = interface.class;
    let endpoint = |(address, transfer, max): &(wire::usb::EndpointAddress, TransferType, u16)| {
        format!("0x{:02x} {} {max} B", address.0, transfer.name())
    };
    report::Interface {
        number: u32::from(interface.number),
        alternate: u32::from(interface.alternate),
        class_codes: format!("{class:02x}/{subclass:02x}/{protocol:02x}"),
        class_name: wire::usb::descriptors::class_name(interface.class).to_owned(),
        endpoints: interface.endpoints.iter().map(endpoint).collect(),
    }
}
