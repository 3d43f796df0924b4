//! USB/IP: the host's bytes, and the device's.

mod slot;

use wire::usb::usbip::{Command, Completion, Submit, UsbipError, HEADER, ISO_DESCRIPTOR};

use crate::device::Device;
use crate::record::Observer;
use crate::urbs::{Request, TooManyPendingError, UrbCounters, Urbs, UNLINKED};
pub use slot::{Slot, SlotError};

/// Largest buffer of one URB: twice what usbfs allows by default (16 MB) is far more than any driver uses.
const URB_LENGTH_MAX: u32 = 1 << 24;
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
    #[error("{0}")]
    TooMuchPending(#[from] TooManyPendingError),
}

impl From<UsbipError> for SessionError {
    fn from(error: UsbipError) -> Self {
        Self::Protocol(error)
    }
}

/// One host's use of one device.
pub struct Session {
    urbs: Urbs,
    received: Vec<u8>,
    output: Vec<u8>,
}

impl Session {
    /// A session that begins with the device unconfigured.
    pub fn new(device: &impl Device, observer: Option<Box<dyn Observer>>) -> Self {
        Self { urbs: Urbs::new(device, observer, OUTPUT_MAX), received: Vec::new(), output: Vec::new() }
    }

    /// What it has done.
    pub const fn counters(&self) -> &UrbCounters {
        self.urbs.counters()
    }

    /// Gives the observer back, for the next session.
    pub fn into_observer(mut self) -> Option<Box<dyn Observer>> {
        self.urbs.take_observer()
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
        self.urbs.is_held_back()
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
        let data_len = payload.len() - (submit.iso_packets as usize * ISO_DESCRIPTOR).min(payload.len());
        let Submit { sequence: id, endpoint, is_in, flags, interval, setup, length, .. } = submit;
        let request = Request { id, endpoint, is_in, flags, interval, setup, length };
        self.urbs.submit(now_ns, request, payload.get(..data_len).unwrap_or_default())?;
        self.emit();
        Ok(())
    }

    fn unlink(&mut self, now_ns: u64, sequence: u32, victim: u32) {
        let status = if self.urbs.unlink(now_ns, victim) { UNLINKED } else { 0 };
        self.output.extend_from_slice(&Completion::Unlink { sequence, status }.emit());
    }

    /// Lets the device answer what is pending, until it has nothing more to say, or too much waits for the host.
    pub fn pump(&mut self, now_ns: u64, device: &mut impl Device) {
        self.urbs.pump(now_ns, device, self.output.len());
        self.emit();
    }

    fn emit(&mut self) {
        while let Some(done) = self.urbs.finished() {
            let (sequence, status, actual) = (done.id, done.status, done.actual);
            self.output.extend_from_slice(&Completion::Submit { sequence, status, actual }.emit());
            self.output.extend_from_slice(&done.data);
        }
    }
}
