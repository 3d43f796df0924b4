//! What a file is, by its first bytes and never by its name.

use wire::pcap::{self, ByteOrder};

use crate::damage::OpenError;

/// How a capture is compressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Compression {
    /// RFC 1952, any number of members.
    Gzip,
    /// RFC 8878, any number of frames.
    Zstd,
}

/// The capture format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Container {
    /// Classic pcap, either byte order, micro- or nanoseconds.
    Pcap,
    /// pcapng.
    Pcapng,
}

impl Container {
    /// "pcap" or "pcapng".
    pub const fn name(self) -> &'static str {
        match self {
            Self::Pcap => "pcap",
            Self::Pcapng => "pcapng",
        }
    }
}

/// Bytes that decide between compression, capture and neither.
pub(crate) const MAGIC_LEN: usize = 4;
/// Bytes that are looked at to name a format that is refused.
pub(crate) const NAMING_LEN: usize = 512;

pub(crate) fn compression(head: &[u8]) -> Option<Compression> {
    match head {
        [0x1f, 0x8b, 8, ..] => Some(Compression::Gzip),
        // A zstd frame, or a skippable frame before it (parallel compressors write those first).
        [0x28, 0xb5, 0x2f, 0xfd, ..] | [0x50..=0x5f, 0x2a, 0x4d, 0x18, ..] => Some(Compression::Zstd),
        _ => None,
    }
}

pub(crate) fn container(head: &[u8]) -> Option<Container> {
    let magic: [u8; MAGIC_LEN] = *head.first_chunk()?;
    if magic == [0x0a, 0x0d, 0x0d, 0x0a] {
        return Some(Container::Pcapng);
    }
    pcap::recognise(magic).map(|_| Container::Pcap)
}

const EDITCAP: &str = "convert it with: editcap -F pcapng INPUT OUTPUT.pcapng";

/// Formats with a fixed beginning.
const NAMED: &[(&[u8], &str, &str)] = &[
    (b"\x7fver", "an OmniPeek or AiroPeek file (.apc, .pkt, .wpz)", EDITCAP),
    (b"GMBU", "a Microsoft Network Monitor 2 file", EDITCAP),
    (b"RTSS", "a Microsoft Network Monitor 1 file", EDITCAP),
    (b"snoop\0\0\0", "a Solaris snoop file", EDITCAP),
    (b"btsnoop\0", "a Bluetooth HCI log (btsnoop)", "it holds no 802.11 or USB traffic"),
    (b"TRSNIFF data    \x1a", "a Sniffer (DOS) file", EDITCAP),
    (b"XCP\0", "a NetXRay or Sniffer (Windows) file", EDITCAP),
    (b"iptrace ", "an AIX iptrace file", EDITCAP),
    (b"\x05VNF", "a Visual Networks file", EDITCAP),
    (
        b"SQLite format 3\0",
        "an SQLite database (Kismet's log?)",
        "convert it with: kismetdb_to_pcap --in INPUT --out OUTPUT.pcapng",
    ),
    (b"\x34\xcd\xb2\xa1", "a pcap file of an unknown variant", EDITCAP),
    (b"\x1c\x00\x01\xac", "an IXIA hardware capture", EDITCAP),
    (b"\xac\x01\x00\x1c", "an IXIA hardware capture", EDITCAP),
    (b"\x3c\x3c\xb2\xa1", "a Navtel pcap file", EDITCAP),
    (b"\xa1\xb2\x3c\x3c", "a Navtel pcap file", EDITCAP),
    (b"\xfd7zXZ\0", "an xz archive", "unpack it first: xz -d INPUT"),
    (b"BZh", "a bzip2 archive", "unpack it first: bzip2 -d INPUT"),
    (b"\x04\x22\x4d\x18", "an lz4 archive", "unpack it first: lz4 -d INPUT"),
    (b"PK\x03\x04", "a zip archive", "unpack it first: unzip INPUT"),
    (b"7z\xbc\xaf\x27\x1c", "a 7-Zip archive", "unpack it first: 7z x INPUT"),
    (b"\x1f\x8b\x08", "compressed twice (gzip inside)", "unpack it once first"),
    (b"\x28\xb5\x2f\xfd", "compressed twice (zstd inside)", "unpack it once first"),
];

/// The refusal of something that is neither pcap nor pcapng, with the format's name where it is known. `head` holds up to
/// [`NAMING_LEN`] bytes.
pub(crate) fn refusal(head: &[u8]) -> OpenError {
    let unsupported = |name, advice| OpenError::Unsupported { name, advice };
    if head.is_empty() {
        return OpenError::Empty;
    }
    if let Some(&(_, name, advice)) = NAMED.iter().find(|(magic, ..)| head.starts_with(magic)) {
        return unsupported(name, advice);
    }
    if is_usbmon_text(head) {
        return unsupported(
            "text of Linux usbmon, not a capture file",
            "record the binary form instead: tcpdump -i usbmonN -w OUTPUT.pcap",
        );
    }
    if is_text(head) {
        return unsupported(
            "plain text, not a capture file",
            "a hex dump can be converted with: text2pcap INPUT OUTPUT.pcapng",
        );
    }
    if is_peek_classic(head) {
        return unsupported("an EtherPeek or AiroPeek file of version 5, 6 or 7 (.apc, .pkt)", EDITCAP);
    }
    if is_erf(head) {
        return unsupported("an Endace ERF file", EDITCAP);
    }
    OpenError::Unknown { first: head.iter().take(8).map(|byte| format!("{byte:02x}")).collect() }
}

fn is_text(head: &[u8]) -> bool {
    let printable = match std::str::from_utf8(head) {
        Ok(text) => text,
        // The cut at the end may split a character.
        Err(error) if error.error_len().is_none() => {
            std::str::from_utf8(head.get(..error.valid_up_to()).unwrap_or_default()).unwrap_or_default()
        }
        Err(_) => return false,
    };
    !printable.is_empty() && printable.chars().all(|c| !c.is_control() || matches!(c, '\n' | '\r' | '\t' | '\x0c'))
}

/// Linux Documentation/usb/usbmon.rst: URB tag (hexadecimal), microseconds, event letter, address ("Bo:1:005:2").
fn is_usbmon_text(head: &[u8]) -> bool {
    let line = head.split(|&byte| byte == b'\n').next().unwrap_or_default();
    let Ok(line) = std::str::from_utf8(line) else { return false };
    let mut words = line.split_ascii_whitespace();
    let (Some(tag), Some(time), Some(event), Some(address)) = (words.next(), words.next(), words.next(), words.next())
    else {
        return false;
    };
    matches!(tag.len(), 8 | 16)
        && tag.bytes().all(|byte| byte.is_ascii_hexdigit())
        && time.bytes().all(|byte| byte.is_ascii_digit())
        && matches!(event, "S" | "C" | "E")
        && matches!(address.as_bytes(), [b'B' | b'C' | b'I' | b'Z', b'i' | b'o', b':', ..])
}

/// Peek files of version 5 to 7 have no magic number. Version and a clear status byte, then (big endian) file length,
/// packet count, three times, medium type, physical medium, program version, link speed and three words of zero
/// (layout: Wireshark wiretap/peekclassic.c).
fn is_peek_classic(head: &[u8]) -> bool {
    let word = |at: usize| ByteOrder::Big.u32_at(head, at);
    matches!(head, [5..=7, 0, ..])
        && word(2).is_some_and(|file_len| file_len >= 50)
        && matches!((word(22), word(26)), (Some(0 | 1), Some(0..=2)))
        && [38, 42, 46].into_iter().all(|at| word(at) == Some(0))
}

/// ERF has no magic number: a first record of a known type, long enough, stamped between 1995 and 2050.
fn is_erf(head: &[u8]) -> bool {
    let (Some(&kind), Some(record_len)) = (head.get(8), ByteOrder::Big.u16_at(head, 10)) else { return false };
    let years_since_1970 = ByteOrder::Little.u32_at(head, 4).map(|seconds| seconds / 31_556_952);
    matches!(kind & 0x7f, 1..=48) && record_len >= 16 && years_since_1970.is_some_and(|y| (25..=80).contains(&y))
}
