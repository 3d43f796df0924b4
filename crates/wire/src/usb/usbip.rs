//! USB/IP: USB over a byte stream (layouts and numbers as in Linux Documentation/usb/usbip_protocol.rst and
//! drivers/usb/usbip/usbip_common.h). Big endian, except for the SETUP packet, which stands as it would on the bus.
//!
//! A connection begins with one request for the device list or for one device ([`Request`]). After an import it carries
//! headers of [`HEADER`] bytes ([`Command`] from the host, [`Completion`] from the device), each followed by its data.

use super::setup::Setup;

/// The version of the protocol that Linux uses: 1.1.1.
pub const VERSION: u16 = 0x0111;
/// TCP port registered for it.
pub const PORT: u16 = 3240;
/// Bytes of a request's fixed part.
pub const REQUEST: usize = 8;
/// Bytes of a bus identifier, padded with zeros.
pub const BUS_ID: usize = 32;
/// Bytes of a device's path, padded with zeros.
pub const PATH: usize = 256;
/// Bytes of what describes a device in replies.
pub const DEVICE: usize = 312;
/// Bytes of a header, in both directions.
pub const HEADER: usize = 48;
/// Bytes of an isochronous packet descriptor.
pub const ISO_DESCRIPTOR: usize = 16;

/// The driver calls a transfer that ends early an error (`URB_SHORT_NOT_OK` of `transfer_flags`).
pub const SHORT_NOT_OK: u32 = 0x0001;

const OP_REQ_DEVLIST: u16 = 0x8005;
const OP_REP_DEVLIST: u16 = 0x0005;
const OP_REQ_IMPORT: u16 = 0x8003;
const OP_REP_IMPORT: u16 = 0x0003;
const CMD_SUBMIT: u32 = 1;
const CMD_UNLINK: u32 = 2;
const RET_SUBMIT: u32 = 3;
const RET_UNLINK: u32 = 4;

/// How fast a device is; the numbers are those of Linux' `enum usb_device_speed`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Speed {
    /// 1.5 Mbit/s.
    Low = 1,
    /// 12 Mbit/s.
    Full = 2,
    /// 480 Mbit/s.
    High = 3,
    /// 5 Gbit/s.
    Super = 5,
}

/// What is wrong with bytes from the other end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum UsbipError {
    /// A request of another version of the protocol.
    Version(u16),
    /// Neither a device list nor an import was asked for.
    Request(u16),
    /// A header that is neither CMD_SUBMIT nor CMD_UNLINK.
    Command(u32),
    /// A direction that is neither 0 (OUT) nor 1 (IN).
    Direction(u32),
    /// An endpoint above 15.
    Endpoint(u32),
}

impl core::fmt::Display for UsbipError {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::Version(version) => write!(f, "USB/IP version 0x{version:04x} is not 0x{VERSION:04x}"),
            Self::Request(code) => write!(f, "USB/IP request 0x{code:04x} is neither a device list nor an import"),
            Self::Command(command) => write!(f, "USB/IP command {command} is neither SUBMIT (1) nor UNLINK (2)"),
            Self::Direction(direction) => write!(f, "USB/IP direction {direction} is neither 0 nor 1"),
            Self::Endpoint(number) => write!(f, "endpoint {number} does not exist: they go from 0 to 15"),
        }
    }
}

fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    bytes.get(at..)?.first_chunk().map(|b| u16::from_be_bytes(*b))
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    bytes.get(at..)?.first_chunk().map(|b| u32::from_be_bytes(*b))
}

/// A header: ten big-endian words and the bytes of a SETUP packet.
fn header(words: [u32; 10], setup: [u8; 8]) -> [u8; HEADER] {
    let mut header = [0; HEADER];
    for (slot, word) in header.chunks_exact_mut(4).zip(words) {
        slot.copy_from_slice(&word.to_be_bytes());
    }
    header[40..].copy_from_slice(&setup);
    header
}

/// What a connection begins with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Request {
    /// OP_REQ_DEVLIST.
    DeviceList,
    /// OP_REQ_IMPORT of the device with this bus identifier.
    Import([u8; BUS_ID]),
}

impl Request {
    /// Reads a request and says how long it was; `None`: more bytes are needed.
    ///
    /// # Errors
    /// Another version, another request.
    pub fn parse(bytes: &[u8]) -> Result<Option<(Self, usize)>, UsbipError> {
        let (Some(version), Some(code)) = (u16_at(bytes, 0), u16_at(bytes, 2)) else { return Ok(None) };
        if version != VERSION {
            return Err(UsbipError::Version(version));
        }
        match code {
            OP_REQ_DEVLIST => Ok((bytes.len() >= REQUEST).then_some((Self::DeviceList, REQUEST))),
            OP_REQ_IMPORT => {
                let id = bytes.get(REQUEST..).and_then(<[u8]>::first_chunk::<BUS_ID>);
                Ok(id.map(|id| (Self::Import(*id), REQUEST + BUS_ID)))
            }
            code => Err(UsbipError::Request(code)),
        }
    }
}

/// What replies say about a device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExportedDevice {
    /// Path in sysfs; cut at 255 bytes.
    pub path: String,
    /// Bus identifier (`1-1`); cut at 31 bytes.
    pub bus_id: String,
    /// Bus number.
    pub bus: u32,
    /// Device number; with the bus number it makes [`Self::device_id`].
    pub device: u32,
    /// How fast it is.
    pub speed: Speed,
    /// Vendor, product, version.
    pub ids: (u16, u16, u16),
    /// Class, subclass, protocol of the device.
    pub class: (u8, u8, u8),
    /// Active configuration.
    pub configuration: u8,
    /// How many configurations there are.
    pub configurations: u8,
    /// Class, subclass and protocol of each interface.
    pub interfaces: Vec<(u8, u8, u8)>,
}

fn padded(text: &str, len: usize, out: &mut Vec<u8>) {
    let end = out.len() + len;
    out.extend(text.bytes().take(len - 1));
    out.resize(end, 0);
}

impl ExportedDevice {
    /// What names the device in headers and in vhci's `attach`.
    pub const fn device_id(&self) -> u32 {
        self.bus << 16 | self.device
    }

    fn emit(&self, out: &mut Vec<u8>) {
        padded(&self.path, PATH, out);
        padded(&self.bus_id, BUS_ID, out);
        for word in [self.bus, self.device, self.speed as u32] {
            out.extend(word.to_be_bytes());
        }
        for half in [self.ids.0, self.ids.1, self.ids.2] {
            out.extend(half.to_be_bytes());
        }
        out.extend([self.class.0, self.class.1, self.class.2, self.configuration, self.configurations]);
        out.push(self.interfaces.len().min(255) as u8);
    }

    /// Appends OP_REP_DEVLIST with this one device.
    pub fn emit_list(&self, out: &mut Vec<u8>) {
        reply(OP_REP_DEVLIST, 0, out);
        out.extend(1u32.to_be_bytes());
        self.emit(out);
        for &(class, subclass, protocol) in self.interfaces.iter().take(255) {
            out.extend([class, subclass, protocol, 0]);
        }
    }

    /// Appends OP_REP_IMPORT that grants the import.
    pub fn emit_import(&self, out: &mut Vec<u8>) {
        reply(OP_REP_IMPORT, 0, out);
        self.emit(out);
    }
}

/// Appends OP_REP_IMPORT that refuses (ST_NODEV, 4: no such device).
pub fn emit_refusal(out: &mut Vec<u8>) {
    reply(OP_REP_IMPORT, 4, out);
}

fn reply(code: u16, status: u32, out: &mut Vec<u8>) {
    out.extend(VERSION.to_be_bytes());
    out.extend(code.to_be_bytes());
    out.extend(status.to_be_bytes());
}

/// A transfer that the host wants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Submit {
    /// Names it in completions and unlinks.
    pub sequence: u32,
    /// Towards the host.
    pub is_in: bool,
    /// Endpoint number, 0 to 15.
    pub endpoint: u8,
    /// `transfer_flags` of the URB.
    pub flags: u32,
    /// Bytes of its buffer.
    pub length: u32,
    /// Isochronous packets; 0 for other transfers (which some senders write as 0xffffffff).
    pub iso_packets: u32,
    /// Polling interval of the URB.
    pub interval: u32,
    /// SETUP packet; zeros except on endpoint 0.
    pub setup: Setup,
}

impl Submit {
    /// Bytes that follow the header: the data of an OUT transfer and the descriptors of isochronous packets.
    pub const fn payload_len(&self) -> usize {
        let data = if self.is_in { 0 } else { self.length as usize };
        data.saturating_add((self.iso_packets as usize).saturating_mul(ISO_DESCRIPTOR))
    }
}

/// A header from the host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Command {
    /// CMD_SUBMIT.
    Submit(Submit),
    /// CMD_UNLINK: the host takes a transfer back.
    Unlink {
        /// Names the unlink itself.
        sequence: u32,
        /// The transfer's name.
        victim: u32,
    },
}

impl Command {
    /// Reads a header.
    ///
    /// # Errors
    /// Another command, an impossible direction or endpoint.
    pub fn parse(header: &[u8; HEADER]) -> Result<Self, UsbipError> {
        let word = |at| u32_at(header, at).unwrap_or(0);
        let sequence = word(4);
        match word(0) {
            CMD_SUBMIT => {
                let (direction, endpoint) = (word(12), word(16));
                if direction > 1 {
                    return Err(UsbipError::Direction(direction));
                }
                let endpoint = u8::try_from(endpoint).ok().filter(|&e| e < 16).ok_or(UsbipError::Endpoint(endpoint))?;
                let setup = header.last_chunk::<8>().map_or([0; 8], |b| *b);
                Ok(Self::Submit(Submit {
                    sequence,
                    is_in: direction == 1,
                    endpoint,
                    flags: word(20),
                    length: word(24),
                    iso_packets: if word(32) == u32::MAX { 0 } else { word(32) },
                    interval: word(36),
                    setup: Setup::from_bytes(setup),
                }))
            }
            CMD_UNLINK => Ok(Self::Unlink { sequence, victim: word(20) }),
            command => Err(UsbipError::Command(command)),
        }
    }

    /// The bytes on the wire; `device` is what the import said.
    pub fn emit(&self, device: u32) -> [u8; HEADER] {
        match *self {
            Self::Submit(Submit { sequence, is_in, endpoint, flags, length, iso_packets, interval, setup }) => {
                let (is_in, endpoint) = (u32::from(is_in), u32::from(endpoint));
                let words = [CMD_SUBMIT, sequence, device, is_in, endpoint, flags, length, 0, iso_packets, interval];
                header(words, setup.to_bytes())
            }
            Self::Unlink { sequence, victim } => {
                header([CMD_UNLINK, sequence, device, 0, 0, victim, 0, 0, 0, 0], [0; 8])
            }
        }
    }
}

/// A header from the device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Completion {
    /// RET_SUBMIT: a transfer has ended. The data of an IN transfer follow.
    Submit {
        /// The transfer's name.
        sequence: u32,
        /// 0 or a negative Linux error number.
        status: i32,
        /// Bytes transferred.
        actual: u32,
    },
    /// RET_UNLINK.
    Unlink {
        /// The name of the unlink.
        sequence: u32,
        /// -104 (ECONNRESET): the transfer was taken back and does not complete; 0: it had completed before.
        status: i32,
    },
}

impl Completion {
    /// The bytes on the wire. The fields that only a host may fill in (device, direction, endpoint) are zero.
    pub fn emit(&self) -> [u8; HEADER] {
        let words = match *self {
            Self::Submit { sequence, status, actual } => {
                [RET_SUBMIT, sequence, 0, 0, 0, status as u32, actual, 0, 0, 0]
            }
            Self::Unlink { sequence, status } => [RET_UNLINK, sequence, 0, 0, 0, status as u32, 0, 0, 0, 0],
        };
        header(words, [0; 8])
    }

    /// Reads a header; `None`: neither RET_SUBMIT nor RET_UNLINK.
    pub fn parse(header: &[u8; HEADER]) -> Option<Self> {
        let word = |at| u32_at(header, at).unwrap_or(0);
        let (sequence, status) = (word(4), word(20) as i32);
        match word(0) {
            RET_SUBMIT => Some(Self::Submit { sequence, status, actual: word(24) }),
            RET_UNLINK => Some(Self::Unlink { sequence, status }),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_import_is_read_when_all_of_it_is_there() {
        let mut bytes = vec![0x01, 0x11, 0x80, 0x03, 0, 0, 0, 0, b'1', b'-', b'1'];
        assert_eq!(Request::parse(&bytes), Ok(None));
        bytes.resize(REQUEST + BUS_ID, 0);
        let Ok(Some((Request::Import(id), len))) = Request::parse(&bytes) else { panic!() };
        assert_eq!((&id[..4], len), (&b"1-1\0"[..], 40));
        bytes[1] = 0x06;
        assert_eq!(Request::parse(&bytes), Err(UsbipError::Version(0x0106)));
    }

    #[test]
    fn replies_have_the_documented_lengths() {
        let device = ExportedDevice {
            path: "/sys/devices/virtual".into(),
            bus_id: "1-1".into(),
            bus: 1,
            device: 2,
            speed: Speed::High,
            ids: (0x7392, 0x7811, 0x0200),
            class: (0, 0, 0),
            configuration: 1,
            configurations: 1,
            interfaces: vec![(0xff, 0xff, 0xff)],
        };
        let (mut import, mut list) = (Vec::new(), Vec::new());
        device.emit_import(&mut import);
        device.emit_list(&mut list);
        assert_eq!((import.len(), list.len()), (REQUEST + DEVICE, REQUEST + 4 + DEVICE + 4));
        // idVendor at 300 of the device's description, in the protocol's table.
        assert_eq!(import[REQUEST + 300..][..2], [0x73, 0x92]);
        assert_eq!(device.device_id(), 0x0001_0002);
    }

    proptest::proptest! {
        #[test]
        fn submissions_come_back(sequence: u32, is_in: bool, endpoint in 0u8..16, flags: u32, length: u32, setup: [u8; 8],
                                 iso_packets in 0u32..u32::MAX, interval: u32) {
            let setup = Setup::from_bytes(setup);
            let command = Command::Submit(Submit { sequence, is_in, endpoint, flags, length, iso_packets, interval, setup });
            assert_eq!(Command::parse(&command.emit(7)), Ok(command));
        }

        #[test]
        fn any_header_is_read_without_a_panic(bytes: Vec<u8>) {
            let mut header = [0; HEADER];
            for (slot, byte) in header.iter_mut().zip(&bytes) { *slot = *byte; }
            if let Ok(Command::Submit(submit)) = Command::parse(&header) {
                assert!(submit.endpoint < 16);
                let _ = submit.payload_len();
            }
            let _ = (Completion::parse(&header), Request::parse(&bytes));
        }
    }
}
