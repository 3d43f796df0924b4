//! What a virtual device is to its bus: USB, the slot of an SD host controller (behind a USB one), or PCI.

use std::os::fd::RawFd;

use serde::{Serialize, Serializer};
use wire::usb::setup::Setup;
pub use wire::usb::usbip::Speed;

use crate::pci::{PciIdentity, Register};
use crate::state::{Reader, StateError, Writer};

/// What a device says about itself: the bytes of its descriptors (USB 2.0, 9.6).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity {
    /// Device descriptor.
    pub device: [u8; 18],
    /// Configuration descriptor with interfaces and endpoints.
    pub configuration: Vec<u8>,
    /// Strings 1 and up, in US English.
    pub strings: Vec<String>,
    /// How fast it is.
    pub speed: Speed,
}

/// How a device answers a control transfer that is not a standard request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ControlReply {
    /// The data stage of an IN transfer; what exceeds the length asked for is not sent.
    Data(Vec<u8>),
    /// An OUT transfer was taken.
    Accepted,
    /// The request is not understood: STALL.
    Stall,
    /// No answer yet; it will be asked again.
    Nak,
}

/// How a device answers the data of an OUT transfer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OutReply {
    /// Taken.
    Accepted,
    /// No room; it will be offered again.
    Nak,
    /// The endpoint is halted until the host clears it.
    Stall,
}

/// How a device answers when it is asked for data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InReply {
    /// A transfer was put into the buffer. It ends with a short packet, of no bytes where the length is a multiple of the
    /// packet size.
    Transfer,
    /// As [`Self::Transfer`], but nothing follows a full packet at its end: both sides know its length, as with
    /// notifications.
    Unterminated,
    /// Nothing to send now.
    Nak,
    /// The endpoint is halted until the host clears it.
    Stall,
}

impl InReply {
    /// Puts what there is into the buffer.
    pub(crate) fn with(found: Option<impl IntoIterator<Item = u8>>, transfer: &mut Vec<u8>) -> Self {
        let Some(bytes) = found else { return Self::Nak };
        transfer.extend(bytes);
        Self::Transfer
    }
}

/// A file descriptor that a device waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Source {
    /// The descriptor; it stays open as long as the device.
    pub fd: RawFd,
    /// Whether the device would read now. While it is `false` the descriptor is not polled, so a full queue does not spin.
    pub wanted: bool,
}

/// Something that goes wrong inside a device, which no transfer shows by itself.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub enum Effect {
    /// The firmware, or the MAC of a chip without one, does not start any more, until the device was unplugged.
    FirmwareHang,
    /// What the firmware reports to the host gets lost from now on (C2H, and that a mailbox was read), or not any more.
    LostC2h(bool),
    /// Frames get lost on the air with this probability from now on.
    Loss(f64),
    /// The noise at the receivers from now on, dBm in 20 MHz; `None`: as before.
    Noise(Option<i8>),
    /// The signal on the link to the station with this number, from 0, both ways, dBm, from now on.
    Signal(u8, i8),
    /// With this probability a Block Ack of the device comes before it has the MPDU, from now on.
    LateBlockAck(f64),
    /// Pulled out, and plugged in again after this many milliseconds.
    Unplug(u64),
    /// This happens to the next command of an SDIO card.
    Command(CommandFault),
    /// Neither reads nor writes the host's memory from now on, or does again.
    StuckDma(bool),
    /// Interrupts do not reach the host from now on, or do again.
    LostInterrupts(bool),
    /// No fault: what is drawn from now on comes from sources with this seed, and this is the probability with which frames get
    /// lost on top of the noise; `None`: as before. A device that was restored becomes one of many samples so.
    Reseed(u64, Option<f64>),
}

/// What happens to a command of an SDIO card.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum CommandFault {
    /// The card does not get it, and so does not answer.
    NoAnswer,
    /// Its data have a wrong CRC: what the card reads gets lost, what it was to write it does not take. A command without data
    /// gets no valid answer.
    Crc,
    /// The card answers that there was an error, and does nothing.
    Refused,
    /// The data are changed: by `and` and `or` in their first four bytes, by `xor` in each.
    Corrupt {
        /// Little endian.
        and: u32,
        /// Little endian.
        or: u32,
        /// Applied to every byte.
        xor: u8,
    },
}

impl CommandFault {
    /// Changes data.
    pub fn corrupt(self, data: &mut [u8]) {
        let Self::Corrupt { and, or, xor } = self else { return };
        for (byte, (and, or)) in data.iter_mut().zip(and.to_le_bytes().into_iter().zip(or.to_le_bytes())) {
            *byte = *byte & and | or;
        }
        data.iter_mut().for_each(|byte| *byte ^= xor);
    }
}

/// A fault of a script, which happened or has ended.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct FaultEvent {
    /// Its name in the script.
    pub name: String,
    /// What happened, or what undid it.
    pub what: String,
}

/// A fault of a script.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FaultCounters {
    /// Its name in the script.
    pub name: String,
    /// Transfers of its kind that were answered.
    pub transfers: u64,
    /// How often it struck.
    pub struck: u64,
}

/// What a device has counted: any struct that JSON has as an object. Which structs there are, no device needs to know.
pub trait DeviceCounters {
    /// As JSON.
    ///
    /// # Errors
    /// Those of the struct: a map of it has keys that are no text.
    fn to_json(&self) -> serde_json::Result<serde_json::Value>;
}

impl<T: Serialize> DeviceCounters for T {
    fn to_json(&self) -> serde_json::Result<serde_json::Value> {
        serde_json::to_value(self)
    }
}

impl Serialize for dyn DeviceCounters {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.to_json().map_err(serde::ser::Error::custom)?.serialize(serializer)
    }
}

/// Of a device that is not on USB.
static NO_DESCRIPTORS: Identity =
    Identity { device: [0; 18], configuration: Vec::new(), strings: Vec::new(), speed: Speed::High };

/// A virtual device. Times are nanoseconds of one clock that never goes back.
///
/// A device on USB has the first four methods, one on PCI the next three.
pub trait Device {
    /// Its descriptors.
    fn identity(&self) -> &Identity {
        &NO_DESCRIPTORS
    }

    /// A class or vendor request to endpoint 0; `data` is the data stage of an OUT transfer.
    fn control(&mut self, _now_ns: u64, _setup: Setup, _data: &[u8]) -> ControlReply {
        ControlReply::Stall
    }

    /// A bulk or interrupt OUT transfer.
    fn transfer_out(&mut self, _now_ns: u64, _endpoint: u8, _data: &[u8]) -> OutReply {
        OutReply::Stall
    }

    /// The host asks endpoint `endpoint` for data. `transfer` is empty.
    fn transfer_in(&mut self, _now_ns: u64, _endpoint: u8, _transfer: &mut Vec<u8>) -> InReply {
        InReply::Stall
    }

    /// The functions that it is on PCI, in the order of their numbers.
    fn functions(&self) -> Vec<PciIdentity> {
        Vec::new()
    }

    /// The host reads a register of one of them. What is not there reads as ones; the value has no bits beyond the width.
    fn read_register(&mut self, _now_ns: u64, register: Register) -> u32 {
        register.width.mask()
    }

    /// The host writes one.
    fn write_register(&mut self, _now_ns: u64, _register: Register, _value: u32) {}

    /// The functions that hold their interrupt line, a bit for each.
    fn interrupts(&self) -> u32 {
        0
    }

    /// Lets everything happen that is due by `now_ns`.
    fn advance(&mut self, now_ns: u64);

    /// When something happens next that the host could notice, or that must not be late; `None`: never by itself. What was
    /// due at the last [`Self::advance`] is no longer an event: what waits for the host then waits for it without a time.
    fn next_event(&self) -> Option<u64>;

    /// It was plugged in, or its port was reset.
    fn reset(&mut self, _now_ns: u64) {}

    /// Whether it is plugged in. While it is not, the host sees an empty port.
    fn is_present(&self, _now_ns: u64) -> bool {
        true
    }

    /// Descriptors to wait for.
    fn sources(&self, _sources: &mut Vec<Source>) {}

    /// One of its descriptors can be read.
    fn readable(&mut self, _now_ns: u64, _fd: RawFd) {}

    /// Injects an internal fault; `false`: this device has no such fault.
    fn inject(&mut self, _now_ns: u64, _effect: Effect) -> bool {
        false
    }

    /// The command for an SDIO card that a transfer to the device would begin; `None`: none.
    fn command(&self, _endpoint: u8, _data: &[u8]) -> Option<sdio::Command> {
        None
    }

    /// Moves out the faults of its script that happened or ended since the last call, in order.
    fn fault_events(&mut self, _events: &mut Vec<FaultEvent>) {}

    /// What it has counted; `None`: it counts nothing.
    fn statistics(&self) -> Option<Box<dyn DeviceCounters>> {
        None
    }

    /// What is counted of the faults of its script; `None`: no script is around it.
    fn fault_counters(&self) -> Option<Vec<FaultCounters>> {
        None
    }

    /// The run ends: what is buffered goes to its files.
    ///
    /// # Errors
    /// Those of the files.
    fn finish(&mut self) -> std::io::Result<()> {
        Ok(())
    }

    /// Writes what another process needs to continue with it, made again from the same options ([`crate::state::State::save`]).
    ///
    /// # Errors
    /// It cannot be saved: the default.
    fn save_state(&self, _to: &mut Writer) -> Result<(), StateError> {
        Err(StateError::NotSaved)
    }

    /// Takes it ([`crate::state::State::restore`]).
    ///
    /// # Errors
    /// It is not the state of such a device.
    fn restore_state(&mut self, _from: &mut Reader<'_>) -> Result<(), StateError> {
        Err(StateError::NotSaved)
    }
}

impl<D: Device + ?Sized> Device for Box<D> {
    fn identity(&self) -> &Identity {
        (**self).identity()
    }
    fn control(&mut self, now_ns: u64, setup: Setup, data: &[u8]) -> ControlReply {
        (**self).control(now_ns, setup, data)
    }
    fn transfer_out(&mut self, now_ns: u64, endpoint: u8, data: &[u8]) -> OutReply {
        (**self).transfer_out(now_ns, endpoint, data)
    }
    fn transfer_in(&mut self, now_ns: u64, endpoint: u8, transfer: &mut Vec<u8>) -> InReply {
        (**self).transfer_in(now_ns, endpoint, transfer)
    }
    fn functions(&self) -> Vec<PciIdentity> {
        (**self).functions()
    }
    fn read_register(&mut self, now_ns: u64, register: Register) -> u32 {
        (**self).read_register(now_ns, register)
    }
    fn write_register(&mut self, now_ns: u64, register: Register, value: u32) {
        (**self).write_register(now_ns, register, value);
    }
    fn interrupts(&self) -> u32 {
        (**self).interrupts()
    }
    fn advance(&mut self, now_ns: u64) {
        (**self).advance(now_ns);
    }
    fn next_event(&self) -> Option<u64> {
        (**self).next_event()
    }
    fn reset(&mut self, now_ns: u64) {
        (**self).reset(now_ns);
    }
    fn is_present(&self, now_ns: u64) -> bool {
        (**self).is_present(now_ns)
    }
    fn sources(&self, sources: &mut Vec<Source>) {
        (**self).sources(sources);
    }
    fn readable(&mut self, now_ns: u64, fd: RawFd) {
        (**self).readable(now_ns, fd);
    }
    fn inject(&mut self, now_ns: u64, effect: Effect) -> bool {
        (**self).inject(now_ns, effect)
    }
    fn command(&self, endpoint: u8, data: &[u8]) -> Option<sdio::Command> {
        (**self).command(endpoint, data)
    }
    fn fault_events(&mut self, events: &mut Vec<FaultEvent>) {
        (**self).fault_events(events);
    }
    fn statistics(&self) -> Option<Box<dyn DeviceCounters>> {
        (**self).statistics()
    }
    fn fault_counters(&self) -> Option<Vec<FaultCounters>> {
        (**self).fault_counters()
    }
    fn finish(&mut self) -> std::io::Result<()> {
        (**self).finish()
    }
    fn save_state(&self, to: &mut Writer) -> Result<(), StateError> {
        (**self).save_state(to)
    }
    fn restore_state(&mut self, from: &mut Reader<'_>) -> Result<(), StateError> {
        (**self).restore_state(from)
    }
}
