//! Walks through the events in order and keeps counters of bounded size.

mod conclude;

use std::collections::BTreeMap;

use capture::Place;
use hashbrown::HashMap;
use wire::sdio::log::Record;
use wire::usb::setup::Setup;
use wire::usb::usbmon::EventKind;
use wire::usb::usbpcap;
use wire::usb::TransferType;

use crate::copies::Copies;
use crate::device::Device;
use crate::endpoint::{Endpoint, Key};
use crate::event::{Event, Status};
use crate::payload::{inspect, Framing, Hints};
use crate::qmi;
use crate::requests::Requests;
use crate::sdio::Commands;
use crate::steps_back::StepsBack;
use crate::totals::Totals;
use crate::under_way::Turn;

/// Endpoints and devices followed; a USB bus has 127 devices of at most 31 endpoints.
const ENDPOINTS_MAX: usize = 1024;
const DEVICES_MAX: usize = 512;
/// Requests under way at once.
const PENDING_MAX: usize = 65_536;
/// Transfers of a framing after which a doubtful one is taken for the same.
const SURE_AFTER: u64 = 4;
const EXAMPLES: usize = 5;

/// A request under way. Those that USBPcap injects all have the identifier 0, so device and endpoint are part of the key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Id(u64, u16, u16, u8);

#[derive(Clone, Copy, Debug)]
struct Pending {
    /// In `Analyzer::endpoints`; `None` when the endpoint is not followed.
    endpoint: Option<u32>,
    time_us: Option<i64>,
    length: Option<u32>,
    setup: Option<Setup>,
    /// What the data that went with it to the device carries.
    framing: Option<Framing>,
    /// Its turn among those of its endpoint.
    turn: Turn,
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
    /// Commands of a command log.
    commands: Commands,
    /// Submissions seen, of whatever place.
    order: u64,
    /// Requests of the window that came back after it.
    back_after: u64,
    has_window: bool,
    /// Something came back, in the window or outside.
    has_completions: bool,
    pending: HashMap<Id, Pending>,
    /// Injected requests with a completion that is to come.
    injected: HashMap<Id, Setup>,
    /// Records outside the window by layer, as [`Totals::layers`].
    layers_outside: [u64; 3],
    endpoints: Vec<(Key, Endpoint)>,
    places: HashMap<Key, u32>,
    devices: BTreeMap<(u16, u16), Device>,
    /// Descriptors read at address 0, by bus.
    unaddressed: BTreeMap<u16, wire::usb::descriptors::Device>,
    requests: Requests,
    copies: Copies,
    steps_back: StepsBack,
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
        if self.steps_back.look(event.bus, event.time_us, true) {
            self.part(event.bus);
        }
        if self.copies.is_copy(event) {
            self.summary.copies += 1;
            return;
        }
        count_layer(&mut self.summary.layers, event);
        if Self::is_injected(event) {
            self.inject(event, true, false);
            return;
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
        let time_us = time_ns.map(|ns| ns.div_euclid(1_000));
        if place == Place::Inside {
            self.time(time_us);
        }
        if self.steps_back.look(0, time_us, place == Place::Inside) {
            self.commands.restart();
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
        event.time_us.into_iter().for_each(|now| self.summary.stamp(now));
        if self.steps_back.look(event.bus, event.time_us, false) {
            self.part(event.bus);
        }
        if self.copies.is_copy(event) {
            return;
        }
        count_layer(&mut self.layers_outside, event);
        if Self::is_injected(event) {
            self.inject(event, false, place == Place::After);
            return;
        }
        let key =
            Key { bus: event.bus, device: event.device, address: event.endpoint.0 & 0x8f, transfer: event.transfer };
        let is_after = place != Place::Before;
        self.has_completions |= event.kind == EventKind::Completion;
        let id = Self::id(event);
        let endpoint = self.place(key);
        let framing = self.know(event, endpoint);
        if event.kind == EventKind::Submission {
            self.order += 1;
            if self.pending.len() >= PENDING_MAX && !self.pending.contains_key(&id) {
                self.forget(self.order);
            }
            let order = self.order;
            let (time_us, length, setup) = (event.time_us, event.length, event.setup);
            let turn = self.at(endpoint).map_or(Turn::default(), |endpoint| endpoint.under_way.hand_over(false));
            let new = Pending { endpoint, time_us, length, setup, framing, turn, order, is_after };
            if let Some(old) = self.pending.insert(id, new) {
                self.count_after(old, is_after);
                if let Some(endpoint) = self.at(old.endpoint) {
                    endpoint.under_way.abandon(old.turn, false);
                }
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
            self.count_after(pending, is_after);
            if let Some(endpoint) = self.at(pending.endpoint) {
                endpoint.under_way.come_back(pending.turn, is_in_turn(event), false);
            }
            if let Some(setup) = pending.setup.filter(|_| event.status.is_success()) {
                self.control(event, setup, place == Place::After);
            }
        }
    }

    /// Remembers the framing of a transfer outside the window.
    fn know(&mut self, event: &Event<'_>, place: Option<u32>) -> Option<Framing> {
        let carries = event.endpoint.is_in() == (event.kind == EventKind::Completion);
        let len = event.length.unwrap_or(0);
        if !carries || len == 0 || event.transfer != TransferType::Bulk || event.data.is_empty() {
            return None;
        }
        let hints = self.hints(event, place);
        let (framing, _) = inspect(event.data, len as usize, event.endpoint.is_in(), hints);
        if let Some(endpoint) = self.at(place) {
            endpoint.know(framing);
        }
        self.realtek(event, framing);
        Some(framing)
    }

    /// A request of the window is no longer under way after it.
    fn count_after(&mut self, pending: Pending, is_after: bool) {
        self.back_after += u64::from(is_after && !pending.is_after && !self.is_overtaken(&pending));
    }

    /// Whether the order of its endpoint shows that a request has come back.
    fn is_overtaken(&self, pending: &Pending) -> bool {
        let endpoint = pending.endpoint.and_then(|place| self.endpoints.get(place as usize));
        endpoint.is_some_and(|(_, endpoint)| endpoint.under_way.is_overtaken(pending.turn))
    }

    /// Takes the stamp of the next record.
    pub(crate) fn time(&mut self, time_us: Option<i64>) {
        if let Some(now) = time_us {
            self.summary.time(now);
        }
    }

    /// Takes a request that moves no data (USBPcap).
    pub(crate) fn push_other(&mut self, time_us: Option<i64>, function: u16, is_completion: bool) {
        self.time(time_us);
        self.summary.other_requests += 1;
        if !is_completion {
            self.summary.other_submissions += 1;
            self.summary.pipe_resets += u64::from(usbpcap::RESETS_PIPE.contains(&function));
            self.summary.pipe_aborts += u64::from(function == usbpcap::ABORTS_PIPE);
        }
        let [_, irps, _] = &mut self.summary.layers;
        *irps += 1;
    }

    /// There are IRPs outside the window.
    pub(crate) fn saw_irps(&mut self) {
        let [_, irps, _] = &mut self.layers_outside;
        *irps += 1;
    }

    /// Whether USBPcap wrote a request down for itself, as it does when it starts: descriptors, and the configuration that was
    /// set. None of these was on the bus then, and they have no identifier.
    fn is_injected(event: &Event<'_>) -> bool {
        event.id == 0 && matches!(event.status, Status::Usbd(_))
    }

    /// Takes what an injected request shows of its device.
    fn inject(&mut self, event: &Event<'_>, is_inside: bool, is_after: bool) {
        let id = Self::id(event);
        if event.kind == EventKind::Submission {
            self.summary.injected += u64::from(is_inside);
            if let Some(setup) = event.setup.filter(|_| self.injected.len() < DEVICES_MAX) {
                self.injected.insert(id, setup);
            }
        } else if let Some(setup) = self.injected.remove(&id).filter(|_| event.status.is_success()) {
            self.control(event, setup, is_after);
        }
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
        let framing = if event.endpoint.is_in() { None } else { self.carry(event, place) };
        let turn = self.at(place).map_or(Turn::default(), |endpoint| endpoint.submit(event.time_us, event.length));
        let (time_us, length, setup) = (event.time_us, event.length, event.setup);
        let new = Pending { endpoint: place, time_us, length, setup, framing, turn, order, is_after: false };
        if let Some(old) = self.pending.insert(id, new) {
            match self.at(old.endpoint) {
                Some(endpoint) => endpoint.abandon(old.turn, event.time_us),
                None => self.summary.lost_completions += 1,
            }
        }
        if let Some(setup) = event.setup {
            self.requests.submit(event.bus, event.device, setup);
            if let Some(device) = self.device(event.bus, event.device) {
                device.requested(setup, place_of(event, false), event.data, event.length.unwrap_or(0) as usize);
            }
        }
    }

    /// Time steps back on a bus: what is under way there is not paired with what follows.
    #[cold]
    fn part(&mut self, bus: u16) {
        let has_begun = self.summary.records > 0;
        let endpoints = &mut self.endpoints;
        let cut_off = &mut self.summary.cut_off;
        self.pending.retain(|id, pending| {
            let endpoint = pending.endpoint.and_then(|place| endpoints.get(place as usize));
            let keep = endpoint.map_or(id.1, |(key, _)| key.bus) != bus;
            let is_overtaken = endpoint.is_some_and(|(_, endpoint)| endpoint.under_way.is_overtaken(pending.turn));
            *cut_off += u64::from(!keep && has_begun && !pending.is_after && !is_overtaken);
            keep
        });
        endpoints.iter_mut().filter(|(key, _)| key.bus == bus).for_each(|(_, endpoint)| endpoint.restart());
    }

    /// Too much is under way: the older half will not come back any more.
    #[cold]
    fn forget(&mut self, order: u64) {
        let mut orders: Vec<u64> = self.pending.values().map(|pending| pending.order).collect();
        let middle = orders.len() / 2;
        let (_, median, _) = orders.select_nth_unstable(middle);
        let oldest = (*median).min(order);
        let (endpoints, forgotten) = (&mut self.endpoints, &mut self.summary.forgotten);
        self.pending.retain(|_, pending| {
            let keep = pending.order > oldest;
            if !keep {
                let endpoint = pending.endpoint.and_then(|place| endpoints.get_mut(place as usize));
                let is_overtaken = endpoint.is_some_and(|(_, endpoint)| {
                    let is_overtaken = endpoint.under_way.is_overtaken(pending.turn);
                    endpoint.under_way.abandon(pending.turn, false);
                    is_overtaken
                });
                *forgotten += u64::from(!is_overtaken);
            }
            keep
        });
    }

    fn complete(&mut self, event: &Event<'_>, key: Key) {
        self.summary.completions += 1;
        self.has_completions = true;
        let pending = self.pending.remove(&Self::id(event));
        let start = self.summary.first_us.unwrap_or(0);
        // USBPcap records the length of OUT transfers with their submission only: what was handed over, of which one that failed may
        // have moved less.
        let handed_over = || pending.and_then(|pending| pending.length);
        let is_known = event.status.is_success() || handed_over() == Some(0);
        let length = event.length.or_else(|| handed_over().filter(|_| is_known));
        self.summary.failed_lengths += u64::from(length.is_none() && handed_over().is_some());
        let framing = pending.and_then(|pending| pending.framing);
        let place = self.place(key);
        if let Some(endpoint) = self.at(place) {
            endpoint.iso_errors += u64::from(event.iso_errors);
            endpoint.complete(event, start, length, framing);
        }
        match pending {
            Some(pending) => self.come_back(event, pending),
            None => {
                self.summary.unmatched += 1;
                self.at(place).into_iter().for_each(|endpoint| endpoint.under_way.come_unmatched());
            }
        }
        self.at(place).into_iter().for_each(Endpoint::rest);
        if let Some(setup) = pending.and_then(|pending| pending.setup) {
            let ok = event.status.is_success();
            let failed = (event.status != Status::Unknown).then_some(!ok && !event.status.is_cancelled());
            let bytes = (u64::from(length.unwrap_or(0)), length.is_some() && !event.may_be_longer);
            self.requests.complete(event.bus, event.device, setup, failed, bytes);
            if ok {
                self.control(event, setup, false);
            }
        }
        if event.endpoint.is_in() {
            self.carry(event, place);
        }
    }

    /// A request is no longer under way.
    fn come_back(&mut self, event: &Event<'_>, pending: Pending) {
        if let Some(endpoint) = self.at(pending.endpoint) {
            let sent_us = pending.time_us.filter(|_| is_in_turn(event));
            endpoint.take_back(pending.turn, event.time_us, sent_us, is_in_turn(event));
        }
    }

    fn refuse(&mut self, event: &Event<'_>, key: Key) {
        self.summary.submission_errors += 1;
        // The kernel writes E instead of C for a request with S that it has written already.
        if let Some(pending) = self.pending.remove(&Self::id(event)) {
            self.come_back(event, pending);
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
                if let Some(descriptor) = descriptor {
                    device.describe(descriptor);
                }
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

    /// Looks into the data of a transfer; its framing, where it was looked into.
    fn carry(&mut self, event: &Event<'_>, place: Option<u32>) -> Option<Framing> {
        let len = event.length.unwrap_or(0);
        if len == 0 {
            return None;
        }
        self.summary.data_transfers += 1;
        if event.data.len() < len as usize || event.may_be_longer {
            self.summary.cut_transfers += 1;
            if let Some(at) = event.cut_at {
                self.summary.cut_records += 1;
                let (least, most) = self.summary.cut_at.unwrap_or((at, at));
                self.summary.cut_at = Some((least.min(at), most.max(at)));
            }
        }
        if event.transfer != TransferType::Bulk || event.data.is_empty() {
            return None;
        }
        let hints = self.hints(event, place);
        let endpoint = self.at(place)?;
        let (framing, found) = inspect(event.data, len as usize, event.endpoint.is_in(), hints);
        if let Some(traffic) = endpoint.framing_mut(framing) {
            traffic.add(event.number, event.time_us, u64::from(len), &found);
        }
        if let Some(device) = self.devices.get_mut(&(event.bus, event.device)) {
            device.qmi.transfer(event.number, event.endpoint.is_in(), framing, len as usize, &found);
        }
        self.realtek(event, framing);
        Some(framing)
    }

    /// What earlier transfers of the endpoint show about the next.
    fn hints(&self, event: &Event<'_>, place: Option<u32>) -> Hints {
        let device = self.devices.get(&(event.bus, event.device));
        let realtek = device.is_some_and(Device::is_realtek);
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
}

/// Whether the end of a request shows that those before it on the endpoint have ended, too.
fn is_in_turn(event: &Event<'_>) -> bool {
    event.kind == EventKind::Completion && event.status.is_success()
}

/// Counts a record in [`Totals::layers`].
fn count_layer([urbs, irps, _]: &mut [u64; 3], event: &Event<'_>) {
    let layer = if matches!(event.status, Status::Usbd(_)) { irps } else { urbs };
    *layer += 1;
}

/// Where an event stands in the capture.
fn place_of(event: &Event<'_>, is_after: bool) -> qmi::Place {
    qmi::Place { record: event.number, time_us: event.time_us, is_after }
}
