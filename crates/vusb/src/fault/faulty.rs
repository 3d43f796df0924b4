//! The layer that carries a fault script out.

use std::os::fd::RawFd;

use wire::usb::setup::Setup;

use super::script::{Action, Direction, Fault, Script};
use crate::device::{
    ControlReply, Device, DeviceCounters, Effect, FaultCounters, FaultEvent, Identity, InReply, OutReply, Source,
};
use crate::pci::{PciIdentity, Register};
use crate::state::{Reader, State, StateError, Writer};

const MS: u64 = 1_000_000;
/// How long a device stays unplugged where the script does not say.
const UNPLUGGED_MS: u64 = 1_000;
/// Faults kept until they are asked for. Who wants them asks after every call; others never do.
const MOST_REPORTED: usize = 64;

/// A fault and how far it is.
#[derive(Clone, Debug)]
pub(super) struct Armed {
    pub(super) fault: Fault,
    /// Transfers of its kind that were answered.
    pub(super) seen: u64,
    /// How often it struck.
    struck: u64,
    /// It has happened: a fault of the whole device happens once.
    done: bool,
    /// An endpoint that does not answer: until when.
    silent_until_ns: Option<u64>,
}

/// Wraps a device and injects scripted faults.
pub struct Faulty<D> {
    pub(super) inner: D,
    pub(super) armed: Vec<Armed>,
    /// When it was plugged in first.
    origin_ns: Option<u64>,
    unplugged_until_ns: Option<u64>,
    /// What ends, and when.
    ends: Vec<Ending>,
    /// The time up to which everything has happened.
    reached_ns: u64,
    /// What happened and was not yet asked for.
    events: Vec<FaultEvent>,
}

/// The end of a fault inside the device.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
struct Ending {
    at_ns: u64,
    undo: Effect,
    /// Name of the fault.
    name: String,
}

/// Where a fault happens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Inside {
    /// To a transfer.
    OfTransfer,
    /// Inside the device, and it did.
    Happened,
    /// Inside a device that has no such fault: nothing happened.
    Unknown,
}

impl Armed {
    pub(super) fn is_due(&self, elapsed_ns: u64) -> bool {
        let ends_ns = self.fault.until_ms.map_or(u64::MAX, |ms| ms.saturating_mul(MS));
        elapsed_ns >= self.fault.from_ms.saturating_mul(MS) && elapsed_ns <= ends_ns
    }

    /// Its time is over, whether it struck or not.
    fn is_over(&self, elapsed_ns: u64) -> bool {
        self.fault.until_ms.is_some_and(|ms| elapsed_ns > ms.saturating_mul(MS))
    }

    fn concerns(&self, endpoint: u8, direction: Direction, register: Option<u16>) -> bool {
        self.fault.endpoint == Some(endpoint)
            && self.fault.direction.is_none_or(|wanted| wanted == direction)
            && (self.fault.register.is_none() || self.fault.register == register)
    }

    /// Whether the next transfer is one that it happens to.
    pub(super) fn strikes_next(&self) -> bool {
        let number = self.seen + 1;
        let end = self.fault.times.map_or(u64::MAX, |times| self.fault.nth.saturating_add(times));
        (self.fault.nth..end).contains(&number)
    }
}

fn corrupt(fault: &Fault, data: &mut [u8]) {
    fault.corruption().corrupt(data);
}

impl<D: Device> Faulty<D> {
    /// A device that behaves, but for what the script says.
    pub fn new(inner: D, script: Script) -> Self {
        let armed = |fault| Armed { fault, seen: 0, struck: 0, done: false, silent_until_ns: None };
        let armed = script.fault.into_iter().map(armed).collect();
        Self {
            inner,
            armed,
            origin_ns: None,
            unplugged_until_ns: None,
            ends: Vec::new(),
            reached_ns: 0,
            events: Vec::new(),
        }
    }

    /// The same for a device that is in use: the script's times, and its counts of transfers, begin at `now_ns`.
    pub fn from_now(inner: D, script: Script, now_ns: u64) -> Self {
        Self { origin_ns: Some(now_ns), reached_ns: now_ns, ..Self::new(inner, script) }
    }

    pub(super) fn elapsed_ns(&self, now_ns: u64) -> u64 {
        now_ns.saturating_sub(self.origin_ns.unwrap_or(now_ns))
    }

    /// The fault that happens to the next transfer of this kind. One that the device does not have hides none behind it.
    fn strike(&mut self, now_ns: u64, endpoint: u8, direction: Direction, register: Option<u16>) -> Option<Fault> {
        let elapsed_ns = self.elapsed_ns(now_ns);
        for at in 0..self.armed.len() {
            let Some(armed) = self.armed.get_mut(at) else { continue };
            if !armed.concerns(endpoint, direction, register) || !armed.is_due(elapsed_ns) || !armed.strikes_next() {
                continue;
            }
            let fault = armed.fault.clone();
            if fault.action == Action::Nak {
                return self.stays_silent(now_ns, at, &fault).then_some(fault);
            }
            let inside = self.happens_inside(now_ns, &fault);
            if inside == Inside::Unknown {
                continue;
            }
            self.struck_at(at, &fault);
            if inside == Inside::Happened {
                return None;
            }
            if fault.action == Action::Disconnect {
                self.unplug(now_ns, fault.for_ms);
                // Once is enough: the transfer is lost with the connection.
                self.answered(now_ns, endpoint, direction, register);
            }
            return Some(fault);
        }
        None
    }

    /// Whether an endpoint that does not answer does not do so yet. Its first transfer begins the silence.
    fn stays_silent(&mut self, now_ns: u64, at: usize, fault: &Fault) -> bool {
        let Some(armed) = self.armed.get_mut(at) else { return false };
        let silent_ns = fault.for_ms.map_or(u64::MAX, |ms| ms.saturating_mul(MS));
        let begins = armed.silent_until_ns.is_none();
        let until_ns = *armed.silent_until_ns.get_or_insert_with(|| now_ns.saturating_add(silent_ns));
        if now_ns >= until_ns {
            // It answers again: this transfer counts as one that it happened to.
            armed.silent_until_ns = None;
        }
        if begins {
            self.struck_at(at, fault);
        }
        now_ns < until_ns
    }

    /// Counts that the fault with this number struck, and reports it.
    pub(super) fn struck_at(&mut self, at: usize, fault: &Fault) {
        if let Some(armed) = self.armed.get_mut(at) {
            armed.struck += 1;
        }
        let what = match fault.effects() {
            Some((effect, _)) => format!("{effect:?}"),
            None => format!("{:?}", fault.action),
        };
        self.keep(FaultEvent { name: fault.name.clone(), what });
    }

    fn keep(&mut self, event: FaultEvent) {
        if self.events.len() < MOST_REPORTED {
            self.events.push(event);
        }
    }

    /// Lets a fault happen that does not concern a transfer.
    fn happens_inside(&mut self, now_ns: u64, fault: &Fault) -> Inside {
        let Some((effect, undo)) = fault.effects() else { return Inside::OfTransfer };
        if !self.inner.inject(now_ns, effect) {
            return Inside::Unknown;
        }
        if let Some(undo) = undo {
            // The last one counts: it ends when its own time is over, or never.
            self.ends.retain(|other| std::mem::discriminant(&other.undo) != std::mem::discriminant(&undo));
            if let Some(for_ms) = fault.for_ms {
                let at_ns = now_ns.saturating_add(for_ms.saturating_mul(MS));
                self.ends.push(Ending { at_ns, undo, name: fault.name.clone() });
            }
        }
        Inside::Happened
    }

    fn unplug(&mut self, now_ns: u64, for_ms: Option<u64>) {
        let for_ms = for_ms.unwrap_or(UNPLUGGED_MS);
        self.unplugged_until_ns = Some(now_ns.saturating_add(for_ms.saturating_mul(MS)));
        // It has no power any more.
        self.inner.inject(now_ns, Effect::Unplug(for_ms));
    }

    /// A command for an SDIO card begins: lets happen to it what is due.
    fn command_begins(&mut self, now_ns: u64, command: sdio::Command) {
        let elapsed_ns = self.elapsed_ns(now_ns);
        let mut happened = false;
        for at in 0..self.armed.len() {
            let Some(armed) = self.armed.get_mut(at) else { continue };
            if !armed.fault.is_about(command) || !armed.is_due(elapsed_ns) {
                continue;
            }
            let strikes = (!happened && armed.strikes_next()).then(|| armed.fault.clone());
            armed.seen += 1;
            happened |= strikes.is_some_and(|fault| self.happens(now_ns, at, &fault));
        }
    }

    /// Lets a fault happen that is not about a USB transfer. `false`: the device does not have it, so it did not strike.
    pub(super) fn happens(&mut self, now_ns: u64, at: usize, fault: &Fault) -> bool {
        if fault.action == Action::Disconnect {
            self.struck_at(at, fault);
            self.unplug(now_ns, fault.for_ms);
        } else if self.happens_inside(now_ns, fault) != Inside::Unknown {
            self.struck_at(at, fault);
        } else {
            return false;
        }
        true
    }

    /// A transfer was answered, by the device or by a fault.
    fn answered(&mut self, now_ns: u64, endpoint: u8, direction: Direction, register: Option<u16>) {
        let elapsed_ns = self.elapsed_ns(now_ns);
        let counts = |armed: &&mut Armed| armed.concerns(endpoint, direction, register) && armed.is_due(elapsed_ns);
        self.armed.iter_mut().filter(counts).for_each(|armed| armed.seen += 1);
    }
}

impl<D: Device> Device for Faulty<D> {
    fn identity(&self) -> &Identity {
        self.inner.identity()
    }

    fn functions(&self) -> Vec<PciIdentity> {
        self.inner.functions()
    }

    fn read_register(&mut self, now_ns: u64, register: Register) -> u32 {
        self.reads(now_ns, register)
    }

    fn write_register(&mut self, now_ns: u64, register: Register, value: u32) {
        self.writes(now_ns, register, value);
    }

    fn interrupts(&self) -> u32 {
        self.inner.interrupts()
    }

    fn control(&mut self, now_ns: u64, setup: Setup, data: &[u8]) -> ControlReply {
        let direction = if setup.is_in() { Direction::In } else { Direction::Out };
        let register = Some(setup.value);
        let fault = self.strike(now_ns, 0, direction, register);
        let reply = match &fault {
            Some(fault) => match fault.action {
                Action::Nak | Action::Disconnect => return ControlReply::Nak,
                Action::Stall => ControlReply::Stall,
                Action::Short => {
                    let len = fault.length.unwrap_or(0);
                    let reply = self.inner.control(now_ns, setup, data.get(..len).unwrap_or(data));
                    match reply {
                        ControlReply::Data(mut bytes) => {
                            bytes.truncate(len);
                            ControlReply::Data(bytes)
                        }
                        other => other,
                    }
                }
                _ => {
                    let mut changed = data.to_vec();
                    corrupt(fault, &mut changed);
                    let reply = self.inner.control(now_ns, setup, &changed);
                    match reply {
                        ControlReply::Data(mut bytes) => {
                            corrupt(fault, &mut bytes);
                            ControlReply::Data(bytes)
                        }
                        other => other,
                    }
                }
            },
            None => self.inner.control(now_ns, setup, data),
        };
        if reply != ControlReply::Nak {
            self.answered(now_ns, 0, direction, register);
        }
        reply
    }

    fn transfer_out(&mut self, now_ns: u64, endpoint: u8, data: &[u8]) -> OutReply {
        if let Some(command) = self.inner.command(endpoint, data) {
            self.command_begins(now_ns, command);
        }
        let fault = self.strike(now_ns, endpoint, Direction::Out, None);
        let reply = match &fault {
            Some(fault) => match fault.action {
                Action::Nak | Action::Disconnect => return OutReply::Nak,
                Action::Stall => OutReply::Stall,
                Action::Short => {
                    let short = data.get(..fault.length.unwrap_or(0)).unwrap_or(data);
                    self.inner.transfer_out(now_ns, endpoint, short)
                }
                _ => {
                    let mut changed = data.to_vec();
                    corrupt(fault, &mut changed);
                    self.inner.transfer_out(now_ns, endpoint, &changed)
                }
            },
            None => self.inner.transfer_out(now_ns, endpoint, data),
        };
        if reply != OutReply::Nak {
            self.answered(now_ns, endpoint, Direction::Out, None);
        }
        reply
    }

    fn transfer_in(&mut self, now_ns: u64, endpoint: u8, transfer: &mut Vec<u8>) -> InReply {
        let strikes = |armed: &Armed, elapsed_ns| {
            armed.concerns(endpoint, Direction::In, None) && armed.is_due(elapsed_ns) && armed.strikes_next()
        };
        let elapsed_ns = self.elapsed_ns(now_ns);
        let Some(at) = self.armed.iter().position(|armed| strikes(armed, elapsed_ns)) else {
            let reply = self.inner.transfer_in(now_ns, endpoint, transfer);
            if reply != InReply::Nak {
                self.answered(now_ns, endpoint, Direction::In, None);
            }
            return reply;
        };
        let changes = self.armed.get(at).is_some_and(|a| matches!(a.fault.action, Action::Short | Action::Corrupt));
        if changes {
            // What is to be changed must be there first.
            let reply = self.inner.transfer_in(now_ns, endpoint, transfer);
            if !matches!(reply, InReply::Transfer | InReply::Unterminated) {
                return reply;
            }
        }
        let fault = self.strike(now_ns, endpoint, Direction::In, None);
        let reply = match &fault {
            Some(fault) => match fault.action {
                Action::Nak | Action::Disconnect => return InReply::Nak,
                Action::Stall => InReply::Stall,
                Action::Short => {
                    transfer.truncate(fault.length.unwrap_or(0));
                    InReply::Transfer
                }
                _ => {
                    corrupt(fault, transfer);
                    InReply::Transfer
                }
            },
            None => self.inner.transfer_in(now_ns, endpoint, transfer),
        };
        if reply != InReply::Nak {
            self.answered(now_ns, endpoint, Direction::In, None);
        }
        reply
    }

    fn advance(&mut self, now_ns: u64) {
        let elapsed_ns = self.elapsed_ns(now_ns);
        // Before it was plugged in nothing has a time.
        let armed = if self.origin_ns.is_some() { self.armed.len() } else { 0 };
        for at in 0..armed {
            let Some(armed) = self.armed.get_mut(at) else { continue };
            if !armed.fault.is_of_device() || armed.done {
                continue;
            }
            if !armed.is_due(elapsed_ns) {
                // No time passed while it could have struck: it does not any more.
                armed.done = armed.is_over(elapsed_ns);
                continue;
            }
            armed.done = true;
            let fault = armed.fault.clone();
            self.happens(now_ns, at, &fault);
        }
        while let Some(at) = self.ends.iter().position(|end| end.at_ns <= now_ns) {
            let Ending { undo, name, .. } = self.ends.swap_remove(at);
            self.keep(FaultEvent { name, what: format!("{undo:?}") });
            self.inner.inject(now_ns, undo);
        }
        self.inner.advance(now_ns);
        self.reached_ns = self.reached_ns.max(now_ns);
    }

    fn next_event(&self) -> Option<u64> {
        let waiting = self.armed.iter().filter(|armed| armed.fault.is_of_device() && !armed.done);
        let starts = waiting
            .zip(self.origin_ns.into_iter().cycle())
            .map(|(armed, origin_ns)| origin_ns.saturating_add(armed.fault.from_ms.saturating_mul(MS)));
        // The end of these is news once. The waiting request may be gone by then.
        let silences = self.armed.iter().filter_map(|armed| armed.silent_until_ns).filter(|&ns| ns != u64::MAX);
        let news = silences.chain(self.unplugged_until_ns).filter(|&ns| ns > self.reached_ns);
        let ends = self.ends.iter().map(|end| end.at_ns);
        starts.chain(news).chain(ends).chain(self.inner.next_event()).min()
    }

    fn reset(&mut self, now_ns: u64) {
        self.origin_ns.get_or_insert(now_ns);
        self.unplugged_until_ns = None;
        for armed in &mut self.armed {
            armed.silent_until_ns = None;
        }
        self.inner.reset(now_ns);
    }

    fn is_present(&self, now_ns: u64) -> bool {
        self.unplugged_until_ns.is_none_or(|until_ns| now_ns >= until_ns) && self.inner.is_present(now_ns)
    }

    fn sources(&self, sources: &mut Vec<Source>) {
        self.inner.sources(sources);
    }

    fn readable(&mut self, now_ns: u64, fd: RawFd) {
        self.inner.readable(now_ns, fd);
    }

    fn inject(&mut self, now_ns: u64, effect: Effect) -> bool {
        if let Effect::Unplug(for_ms) = effect {
            self.unplug(now_ns, Some(for_ms));
            return true;
        }
        self.inner.inject(now_ns, effect)
    }

    fn command(&self, endpoint: u8, data: &[u8]) -> Option<sdio::Command> {
        self.inner.command(endpoint, data)
    }

    fn fault_events(&mut self, events: &mut Vec<FaultEvent>) {
        events.append(&mut self.events);
        self.inner.fault_events(events);
    }

    fn statistics(&self) -> Option<Box<dyn DeviceCounters>> {
        self.inner.statistics()
    }

    fn fault_counters(&self) -> Option<Vec<FaultCounters>> {
        let counted = |armed: &Armed| FaultCounters {
            name: armed.fault.name.clone(),
            transfers: armed.seen,
            struck: armed.struck,
        };
        let inside = self.inner.fault_counters().unwrap_or_default();
        Some(self.armed.iter().map(counted).chain(inside).collect())
    }

    fn finish(&mut self) -> std::io::Result<()> {
        self.inner.finish()
    }

    fn save_state(&self, to: &mut Writer) -> Result<(), StateError> {
        self.save(to)
    }

    fn restore_state(&mut self, from: &mut Reader<'_>) -> Result<(), StateError> {
        self.restore(from)
    }
}

crate::state!({D: Device} Faulty<D> { origin_ns, unplugged_until_ns, ends, reached_ns, events } each { armed } within { inner });
crate::state!(Armed { seen, struck, done, silent_until_ns } made { fault });
