//! The bus and the host controller's end of it, over USB/IP.
//!
//! [`Session`] takes the host's bytes and gives the device's: it keeps every transfer until the device answers it, asks
//! endpoints in a fixed order, and turns answers into URB statuses as a host controller would.

mod control;
mod counters;
mod endpoint;
mod pending;
mod slot;
mod status;

use std::collections::BTreeMap;

use wire::usb::urb::{self, IN_PROGRESS};
use wire::usb::usbip::{Command, Completion, Submit, UsbipError, HEADER, ISO_DESCRIPTOR};
use wire::usb::usbmon::EventKind;
use wire::usb::{EndpointAddress, TransferType};

use crate::device::{ControlReply, Device, InReply, OutReply};
use crate::record::Observer;
pub use counters::UrbCounters;
use endpoint::Endpoints;
use pending::{InPipe, Urb};
pub use slot::{Slot, SlotError};

/// Device number written down: the one that the USB/IP import gives.
const DEVICE: u8 = 2;
/// Largest buffer of one URB: twice what usbfs allows by default (16 MB) is far more than any driver uses.
const URB_LENGTH_MAX: u32 = 1 << 24;
/// URBs that a host may have pending.
const PENDING_MAX: usize = 16_384;
/// Bytes of OUT data that a host may have pending.
const PENDING_BYTES_MAX: usize = 64 << 20;
/// While this many bytes wait for the host, the device is asked for no more.
const OUTPUT_MAX: usize = 8 << 20;
/// Isochronous packets of one URB, as in the kernel's usbip_common.h (USBIP_MAX_ISO_PACKETS).
const ISO_PACKETS_MAX: u32 = 1024;

/// Why a session with a host ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SessionError {
    /// Bytes that are no USB/IP.
    #[error("{0}")]
    Protocol(UsbipError),
    /// A transfer of more bytes than any driver uses.
    #[error("a URB of {0} bytes: at most {URB_LENGTH_MAX} are accepted")]
    TooLong(u32),
    /// More isochronous packets than the protocol allows.
    #[error("a URB of {0} isochronous packets: at most {ISO_PACKETS_MAX} are allowed")]
    TooManyIsoPackets(u32),
    /// The host queues without bound.
    #[error("{0} URBs are pending: at most {PENDING_MAX} are accepted, with {PENDING_BYTES_MAX} bytes of data")]
    TooMuchPending(usize),
}

impl From<UsbipError> for SessionError {
    fn from(error: UsbipError) -> Self {
        Self::Protocol(error)
    }
}

/// One host's use of one device.
pub struct Session {
    endpoints: Endpoints,
    received: Vec<u8>,
    output: Vec<u8>,
    /// The device was not asked, because too much waits for the host.
    held_back: bool,
    /// Pending on endpoint 0, in order.
    control: std::collections::VecDeque<Urb>,
    /// Pending OUT transfers by endpoint number.
    out: BTreeMap<u8, std::collections::VecDeque<Urb>>,
    /// Pending IN transfers by endpoint number, with what the device has begun to send.
    input: BTreeMap<u8, InPipe>,
    pending: usize,
    pending_bytes: usize,
    counters: UrbCounters,
    observer: Option<Box<dyn Observer>>,
}

impl Session {
    /// A session that begins with the device unconfigured.
    pub fn new(device: &impl Device, observer: Option<Box<dyn Observer>>) -> Self {
        Self {
            endpoints: Endpoints::new(device.identity()),
            received: Vec::new(),
            output: Vec::new(),
            held_back: false,
            control: std::collections::VecDeque::new(),
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

    /// Gives the observer back, for the next session.
    pub fn into_observer(self) -> Option<Box<dyn Observer>> {
        self.observer
    }

    /// Bytes for the host; drain what was sent.
    pub fn output(&mut self) -> &mut Vec<u8> {
        &mut self.output
    }

    /// Whether the host must take some of the bytes that wait for it before it may say or get more.
    pub fn is_full(&self) -> bool {
        self.output.len() >= OUTPUT_MAX
    }

    /// Whether [`Self::pump`] left something, because of that.
    pub const fn is_held_back(&self) -> bool {
        self.held_back
    }

    /// Takes bytes from the host. What the device makes of them is seen after [`Self::pump`].
    ///
    /// # Errors
    /// See [`SessionError`]; the session cannot go on after one.
    pub fn receive(&mut self, now_ns: u64, bytes: &[u8]) -> Result<(), SessionError> {
        // Whole messages are read where they are; only a cut one is kept.
        let kept = std::mem::take(&mut self.received);
        let mut joined = kept;
        let input: &[u8] = if joined.is_empty() {
            bytes
        } else {
            joined.extend_from_slice(bytes);
            &joined
        };
        let mut rest = input;
        while let Some((header, after)) = rest.split_first_chunk::<HEADER>() {
            match Command::parse(header)? {
                Command::Submit(submit) => {
                    self.check(&submit)?;
                    let Some((payload, next)) = after.split_at_checked(submit.payload_len()) else { break };
                    self.submit(now_ns, submit, payload)?;
                    rest = next;
                }
                Command::Unlink { sequence, victim } => {
                    self.unlink(now_ns, sequence, victim);
                    rest = after;
                }
            }
        }
        let left = rest.len();
        if joined.is_empty() {
            self.received.extend_from_slice(rest);
        } else {
            let start = joined.len() - left;
            joined.drain(..start);
            self.received = joined;
        }
        Ok(())
    }

    fn check(&self, submit: &Submit) -> Result<(), SessionError> {
        if submit.length > URB_LENGTH_MAX {
            return Err(SessionError::TooLong(submit.length));
        }
        if submit.iso_packets > ISO_PACKETS_MAX {
            return Err(SessionError::TooManyIsoPackets(submit.iso_packets));
        }
        Ok(())
    }

    fn submit(&mut self, now_ns: u64, submit: Submit, payload: &[u8]) -> Result<(), SessionError> {
        self.counters.submitted += 1;
        let data_len = payload.len() - (submit.iso_packets as usize * ISO_DESCRIPTOR).min(payload.len());
        let data = payload.get(..data_len).unwrap_or_default();
        let endpoint = self.endpoints.find(submit.endpoint, submit.is_in);
        let transfer = endpoint.map_or(TransferType::Bulk, |e| e.transfer);
        let urb = Urb::new(&submit, transfer, data);
        self.observe(now_ns, &urb, None, data);
        if endpoint.is_none() || transfer == TransferType::Isochronous {
            // No such endpoint in the active configuration, or a kind that no device here has.
            let status = if endpoint.is_none() { status::ENOENT } else { status::EINVAL };
            self.complete(now_ns, &urb, status, &[], 0);
            return Ok(());
        }
        if self.pending >= PENDING_MAX || self.pending_bytes + data.len() > PENDING_BYTES_MAX {
            return Err(SessionError::TooMuchPending(self.pending));
        }
        self.pending += 1;
        self.pending_bytes += urb.data.len();
        match (submit.endpoint, submit.is_in) {
            (0, _) => self.control.push_back(urb),
            (number, true) => self.input.entry(number).or_default().pending.push_back(urb),
            (number, false) => self.out.entry(number).or_default().push_back(urb),
        }
        Ok(())
    }

    fn unlink(&mut self, now_ns: u64, sequence: u32, victim: u32) {
        let queues = std::iter::once(&mut self.control)
            .chain(self.out.values_mut())
            .chain(self.input.values_mut().map(|pipe| &mut pipe.pending));
        let mut taken = None;
        for queue in queues {
            if let Some(at) = queue.iter().position(|urb| urb.sequence == victim) {
                taken = queue.remove(at);
                break;
            }
        }
        let status = if taken.is_some() { status::ECONNRESET } else { 0 };
        if let Some(urb) = taken {
            self.pending -= 1;
            self.pending_bytes -= urb.data.len();
            self.counters.unlinked += 1;
            // What has already arrived in the buffer is reported, and lost to later URBs, as on hardware.
            self.observe(now_ns, &urb, Some((status, urb.filled.len() as u32)), &urb.filled);
        }
        self.output.extend_from_slice(&Completion::Unlink { sequence, status }.emit());
    }

    /// Lets the device answer what is pending, until it has nothing more to say, or too much waits for the host.
    pub fn pump(&mut self, now_ns: u64, device: &mut impl Device) {
        self.held_back = false;
        loop {
            let mut progress = self.pump_control(now_ns, device);
            let numbers: [u8; 15] = std::array::from_fn(|i| i as u8 + 1);
            for number in numbers {
                progress |= self.pump_out(now_ns, device, number);
            }
            for number in numbers {
                progress |= self.pump_in(now_ns, device, number);
            }
            if !progress {
                return;
            }
        }
    }

    fn pump_control(&mut self, now_ns: u64, device: &mut impl Device) -> bool {
        let mut progress = false;
        while let Some(urb) = self.control.front() {
            if self.output.len() >= OUTPUT_MAX {
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

    fn pump_in(&mut self, now_ns: u64, device: &mut impl Device, number: u8) -> bool {
        let Some(pipe) = self.input.get_mut(&number) else { return false };
        if pipe.pending.is_empty() {
            return false;
        }
        let packet = self.endpoints.find(number, true).map_or(512, |e| usize::from(e.max_packet));
        let mut done = Vec::new();
        let mut waiting = self.output.len();
        while !pipe.pending.is_empty() {
            if waiting >= OUTPUT_MAX {
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
                waiting += HEADER + ended.0.filled.len();
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
        self.output.extend_from_slice(&Completion::Submit { sequence: urb.sequence, status, actual }.emit());
        if urb.is_in {
            self.output.extend_from_slice(data);
        }
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
                id: u64::from(urb.sequence),
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
