//! The host controller's end of the bus: the URBs of one host's use of one device.
//!
//! [`Urbs`] keeps every transfer until the device answers it, asks endpoints in a fixed order, and turns answers into URB
//! statuses as a host controller would. How the host's URBs get here (USB/IP, QEMU) is not known.

mod control;
mod counters;
mod endpoint;
mod pending;
mod request;
mod status;

use std::collections::{BTreeMap, VecDeque};

use wire::usb::urb::{self, IN_PROGRESS};
use wire::usb::usbmon::EventKind;
use wire::usb::{EndpointAddress, TransferType};

use crate::device::{ControlReply, Device, InReply, OutReply};
use crate::record::Observer;
use crate::state::{Reader, State, StateError, Writer};
pub use counters::UrbCounters;
pub use endpoint::Endpoint;
use endpoint::Endpoints;
use pending::{InPipe, Urb};
pub use request::{Finished, Request};
pub use status::ECONNRESET as UNLINKED;

/// Device number written down: the one that the USB/IP import gives.
const DEVICE: u8 = 2;
/// URBs that a host may have pending.
pub const PENDING_MAX: usize = 16_384;
/// Bytes of OUT data that a host may have pending.
pub const PENDING_BYTES_MAX: usize = 64 << 20;
/// What a finished URB counts beside its data towards what waits for the host, bytes.
const FINISHED: usize = 48;

/// Too many URBs are pending: how many.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0} URBs are pending: at most {PENDING_MAX} are accepted, with {PENDING_BYTES_MAX} bytes of data")]
pub struct TooManyPendingError(pub usize);

/// One host's use of one device.
pub struct Urbs {
    endpoints: Endpoints,
    /// Finished, in order.
    finished: VecDeque<Finished>,
    /// Bytes of them.
    finished_bytes: usize,
    /// While this many bytes wait for the host, the device is asked for no more.
    waiting_max: usize,
    /// The device was not asked, because too much waits for the host.
    held_back: bool,
    /// Pending on endpoint 0, in order.
    control: VecDeque<Urb>,
    /// Pending OUT transfers by endpoint number.
    out: BTreeMap<u8, VecDeque<Urb>>,
    /// Pending IN transfers by endpoint number, with what the device has begun to send.
    input: BTreeMap<u8, InPipe>,
    pending: usize,
    pending_bytes: usize,
    counters: UrbCounters,
    observer: Option<Box<dyn Observer>>,
}

impl Urbs {
    /// The device is unconfigured. `waiting_max`: while this many bytes wait for the host, the device is asked for no more.
    pub fn new(device: &impl Device, observer: Option<Box<dyn Observer>>, waiting_max: usize) -> Self {
        Self {
            endpoints: Endpoints::new(device.identity()),
            finished: VecDeque::new(),
            finished_bytes: 0,
            waiting_max,
            held_back: false,
            control: VecDeque::new(),
            out: BTreeMap::new(),
            input: BTreeMap::new(),
            pending: 0,
            pending_bytes: 0,
            counters: UrbCounters::default(),
            observer,
        }
    }

    /// What it has done.
    pub const fn counters(&self) -> &UrbCounters {
        &self.counters
    }

    /// Writes what another process needs to continue with them.
    ///
    /// # Errors
    /// The observer cannot be saved.
    pub fn save_state(&self, to: &mut Writer) -> Result<(), StateError> {
        self.save(to)?;
        self.observer.as_ref().map_or(Ok(()), |observer| observer.save_state(to))
    }

    /// Takes it, with an observer where there was one.
    ///
    /// # Errors
    /// It is not their state.
    pub fn restore_state(&mut self, from: &mut Reader<'_>) -> Result<(), StateError> {
        self.restore(from)?;
        self.observer.as_mut().map_or(Ok(()), |observer| observer.restore_state(from))
    }

    /// Gives the observer back, for the next host.
    pub fn take_observer(&mut self) -> Option<Box<dyn Observer>> {
        self.observer.take()
    }

    /// The host has reset the port: the device is unconfigured, and forgets what it had begun to send (USB 2.0, 9.1.2).
    pub fn reset(&mut self, device: &impl Device) {
        self.endpoints = Endpoints::new(device.identity());
        self.input.values_mut().for_each(InPipe::forget);
    }

    /// The endpoints of the device but endpoint 0: number, whether it is IN, and what it is.
    pub fn endpoints(&self) -> impl Iterator<Item = (u8, bool, Endpoint)> + '_ {
        (1..16)
            .flat_map(|number| [false, true].map(|is_in| (number, is_in)))
            .filter_map(|(number, is_in)| self.endpoints.find(number, is_in).map(|endpoint| (number, is_in, endpoint)))
    }

    /// Whether [`Self::pump`] left something, because too much waits for the host.
    pub const fn is_held_back(&self) -> bool {
        self.held_back
    }

    /// The next transfer that goes back to the host.
    pub fn finished(&mut self) -> Option<Finished> {
        let finished = self.finished.pop_front()?;
        self.finished_bytes -= FINISHED + finished.data.len();
        Some(finished)
    }

    /// Takes a transfer from the host; `data` is that of an OUT transfer. What the device makes of it is seen after
    /// [`Self::pump`].
    ///
    /// # Errors
    /// Too many are pending; this one is not taken.
    pub fn submit(&mut self, now_ns: u64, request: Request, data: &[u8]) -> Result<(), TooManyPendingError> {
        self.counters.submitted += 1;
        let endpoint = self.endpoints.find(request.endpoint, request.is_in);
        let transfer = endpoint.map_or(TransferType::Bulk, |e| e.transfer);
        let urb = Urb::new(&request, transfer, data);
        self.observe(now_ns, &urb, None, data);
        if endpoint.is_none() || transfer == TransferType::Isochronous {
            // No such endpoint in the active configuration, or a kind that no device here has.
            let status = if endpoint.is_none() { status::ENOENT } else { status::EINVAL };
            self.complete(now_ns, &urb, status, &[], 0);
            return Ok(());
        }
        if self.pending >= PENDING_MAX || self.pending_bytes + data.len() > PENDING_BYTES_MAX {
            return Err(TooManyPendingError(self.pending));
        }
        self.pending += 1;
        self.pending_bytes += urb.data.len();
        match (request.endpoint, request.is_in) {
            (0, _) => self.control.push_back(urb),
            (number, true) => self.input.entry(number).or_default().pending.push_back(urb),
            (number, false) => self.out.entry(number).or_default().push_back(urb),
        }
        Ok(())
    }

    /// The host takes a transfer back; `false`: it is not pending.
    pub fn unlink(&mut self, now_ns: u64, id: u32) -> bool {
        let queues = std::iter::once(&mut self.control)
            .chain(self.out.values_mut())
            .chain(self.input.values_mut().map(|pipe| &mut pipe.pending));
        let mut taken = None;
        for queue in queues {
            if let Some(at) = queue.iter().position(|urb| urb.id == id) {
                taken = queue.remove(at);
                break;
            }
        }
        let Some(urb) = taken else { return false };
        self.pending -= 1;
        self.pending_bytes -= urb.data.len();
        self.counters.unlinked += 1;
        // What has already arrived in the buffer is reported, and lost to later URBs, as on hardware.
        self.observe(now_ns, &urb, Some((status::ECONNRESET, urb.filled.len() as u32)), &urb.filled);
        true
    }

    /// Lets the device answer what is pending, until it has nothing more to say, or too much waits for the host: `waiting`
    /// bytes beside what is [`Self::finished`] here.
    pub fn pump(&mut self, now_ns: u64, device: &mut impl Device, waiting: usize) {
        self.held_back = false;
        loop {
            let mut progress = self.pump_control(now_ns, device, waiting);
            let numbers: [u8; 15] = std::array::from_fn(|i| i as u8 + 1);
            for number in numbers {
                progress |= self.pump_out(now_ns, device, number);
            }
            for number in numbers {
                progress |= self.pump_in(now_ns, device, number, waiting);
            }
            if !progress {
                return;
            }
        }
    }

    fn pump_control(&mut self, now_ns: u64, device: &mut impl Device, waiting: usize) -> bool {
        let mut progress = false;
        while let Some(urb) = self.control.front() {
            if waiting + self.finished_bytes >= self.waiting_max {
                self.held_back = true;
                return progress;
            }
            let setup = urb.setup;
            let standard = self.endpoints.standard(device.identity(), setup);
            let reply = match standard {
                Some(reply) => reply,
                None => device.control(now_ns, setup, &urb.data),
            };
            if reply == ControlReply::Nak {
                return progress;
            }
            let Some(urb) = self.take_control() else { return progress };
            progress = true;
            for number in self.endpoints.take_cleared() {
                // A cleared or reconfigured endpoint forgets what it had begun to send.
                if let Some(pipe) = self.input.get_mut(&number) {
                    pipe.forget();
                }
            }
            match reply {
                ControlReply::Data(bytes) => self.complete_control_in(now_ns, &urb, &bytes),
                ControlReply::Accepted => self.complete(now_ns, &urb, 0, &[], urb.data.len() as u32),
                _ => self.complete(now_ns, &urb, status::EPIPE, &[], 0),
            }
        }
        progress
    }

    fn take_control(&mut self) -> Option<Urb> {
        let urb = self.control.pop_front()?;
        self.pending -= 1;
        self.pending_bytes -= urb.data.len();
        Some(urb)
    }

    /// The device sends at most what the SETUP packet asks for; the buffer can be smaller than that.
    fn complete_control_in(&mut self, now_ns: u64, urb: &Urb, bytes: &[u8]) {
        let sent = bytes.get(..usize::from(urb.setup.length)).unwrap_or(bytes);
        let fits = sent.get(..urb.length as usize).unwrap_or(sent);
        let status = if fits.len() < sent.len() { status::EOVERFLOW } else { urb.short_status(fits.len()) };
        self.complete(now_ns, urb, status, fits, fits.len() as u32);
    }

    fn pump_out(&mut self, now_ns: u64, device: &mut impl Device, number: u8) -> bool {
        let Some(queue) = self.out.get_mut(&number) else { return false };
        let mut done = Vec::new();
        while let Some(urb) = queue.front() {
            let halted = self.endpoints.is_halted(number, false);
            let reply = if halted { OutReply::Stall } else { device.transfer_out(now_ns, number, &urb.data) };
            if reply == OutReply::Nak {
                break;
            }
            if reply == OutReply::Stall {
                self.endpoints.halt(number, false);
            }
            let Some(urb) = queue.pop_front() else { break };
            self.pending -= 1;
            self.pending_bytes -= urb.data.len();
            done.push((urb, reply == OutReply::Accepted));
        }
        let progress = !done.is_empty();
        for (urb, accepted) in done {
            let len = urb.data.len() as u32;
            if accepted {
                self.counters.out_bytes += u64::from(len);
                self.complete(now_ns, &urb, 0, &[], len);
            } else {
                self.complete(now_ns, &urb, status::EPIPE, &[], 0);
            }
        }
        progress
    }

    fn pump_in(&mut self, now_ns: u64, device: &mut impl Device, number: u8, waiting: usize) -> bool {
        let Some(pipe) = self.input.get_mut(&number) else { return false };
        if pipe.pending.is_empty() {
            return false;
        }
        let packet = self.endpoints.find(number, true).map_or(512, |e| usize::from(e.max_packet));
        let mut done = Vec::new();
        let mut waiting = waiting + self.finished_bytes;
        while !pipe.pending.is_empty() {
            if waiting >= self.waiting_max {
                self.held_back = true;
                break;
            }
            if self.endpoints.is_halted(number, true) {
                if let Some(urb) = pipe.pending.pop_front() {
                    done.push((urb, status::EPIPE));
                }
                continue;
            }
            if !pipe.has_staged() {
                match device.transfer_in(now_ns, number, pipe.stage()) {
                    InReply::Transfer => pipe.staged(true),
                    InReply::Unterminated => pipe.staged(false),
                    InReply::Nak => break,
                    InReply::Stall => {
                        self.endpoints.halt(number, true);
                        continue;
                    }
                }
            }
            if let Some(ended) = pipe.fill(packet) {
                waiting += FINISHED + ended.0.filled.len();
                done.push(ended);
            }
        }
        let progress = !done.is_empty();
        for (urb, status) in done {
            self.pending -= 1;
            self.counters.in_bytes += urb.filled.len() as u64;
            self.complete(now_ns, &urb, status, &urb.filled, urb.filled.len() as u32);
        }
        progress
    }

    fn complete(&mut self, now_ns: u64, urb: &Urb, status: i32, data: &[u8], actual: u32) {
        match status {
            0 => self.counters.succeeded += 1,
            status::EPIPE => self.counters.stalled += 1,
            status::EOVERFLOW => self.counters.babbled += 1,
            _ => self.counters.failed += 1,
        }
        let sent = if urb.is_in { data.to_vec() } else { Vec::new() };
        self.finished_bytes += FINISHED + sent.len();
        self.finished.push_back(Finished { id: urb.id, is_in: urb.is_in, status, actual, data: sent });
        self.observe(now_ns, urb, Some((status, actual)), data);
    }

    fn observe(&mut self, now_ns: u64, urb: &Urb, completion: Option<(i32, u32)>, data: &[u8]) {
        if let Some(observer) = &mut self.observer {
            let direction = if urb.is_in { 0x80 } else { 0 };
            let (event, status, length) = match completion {
                None => (EventKind::Submission, IN_PROGRESS, urb.length),
                Some((status, actual)) => (EventKind::Completion, status, actual),
            };
            observer.urb(&urb::Urb {
                at_ns: now_ns,
                event,
                id: u64::from(urb.id),
                device: DEVICE,
                endpoint: EndpointAddress(urb.endpoint | direction),
                transfer: urb.transfer,
                setup: (urb.endpoint == 0).then_some(urb.setup),
                transfer_flags: urb.flags,
                interval: urb.interval,
                status,
                length,
                data,
            });
        }
    }
}

crate::state!(Urbs {
    endpoints, finished, finished_bytes, held_back, control, out, input, pending, pending_bytes, counters,
} made { waiting_max, observer });
