//! QMAP, Qualcomm's multiplexing and aggregation protocol, versions 1, 4 and 5 (Linux Documentation/networking/
//! device_drivers/cellular/qualcomm/rmnet.rst, include/linux/if_rmnet.h). Big endian.
//!
//! A transfer is a chain: a header of four bytes, in version 5 a second one of four, the datagram, padding to four
//! bytes; in version 4 towards the host a checksum trailer of eight bytes after each, and towards the device a checksum header
//! of four in front of each, which the length does not count.

use super::Fault;

/// Bytes of the header.
pub const HEADER: usize = 4;
/// Bytes of the version 5 checksum header.
pub const CHECKSUM_HEADER: usize = 4;
/// Bytes of the version 4 downlink checksum trailer.
pub const CHECKSUM_TRAILER: usize = 8;
/// Bytes of the version 4 uplink checksum header.
pub const UPLINK_CHECKSUM_HEADER: usize = 4;

/// The header of one datagram or command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// A command, not a datagram.
    pub is_command: bool,
    /// Another header follows (version 5).
    pub has_next: bool,
    /// Bytes of padding at the end, 0 to 63, counted in `length`.
    pub padding: u8,
    /// Multiplexed connection.
    pub mux_id: u8,
    /// Bytes of datagram and padding.
    pub length: u16,
}

impl Header {
    /// From the bytes on the wire.
    pub const fn from_bytes(bytes: [u8; HEADER]) -> Self {
        Self {
            is_command: bytes[0] & 0x80 != 0,
            has_next: bytes[0] & 0x40 != 0,
            padding: bytes[0] & 0x3f,
            mux_id: bytes[1],
            length: u16::from_be_bytes([bytes[2], bytes[3]]),
        }
    }

    /// The bytes on the wire.
    pub const fn to_bytes(self) -> [u8; HEADER] {
        let flags = (self.is_command as u8) << 7 | (self.has_next as u8) << 6 | (self.padding & 0x3f);
        let length = self.length.to_be_bytes();
        [flags, self.mux_id, length[0], length[1]]
    }

    /// The header that fits a datagram of `payload` bytes, with padding to four bytes; `None` above 64 KiB.
    pub fn for_datagram(mux_id: u8, payload: usize) -> Option<Self> {
        let padding = (4 - payload % 4) % 4;
        let length = u16::try_from(payload + padding).ok()?;
        Some(Self { is_command: false, has_next: false, padding: padding as u8, mux_id, length })
    }
}

/// The version 5 checksum header (`struct rmnet_map_v5_csum_header` of if_rmnet.h), of type 2, with nothing behind it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChecksumHeader {
    /// Towards the host: the checksum was checked and is right. From the host: it is to be filled in.
    pub is_set: bool,
}

impl ChecksumHeader {
    /// Bytes on the wire.
    pub const LEN: usize = CHECKSUM_HEADER;

    /// From the bytes on the wire; another type of header sets nothing.
    pub const fn from_bytes(bytes: [u8; CHECKSUM_HEADER]) -> Self {
        Self { is_set: bytes[0] >> 1 == 2 && bytes[1] & 0x80 != 0 }
    }

    /// The bytes on the wire.
    pub const fn to_bytes(self) -> [u8; CHECKSUM_HEADER] {
        [2 << 1, (self.is_set as u8) << 7, 0, 0]
    }
}

/// The version 4 checksum header from the host (`struct rmnet_map_ul_csum_header`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UplinkChecksumHeader {
    /// Where the bytes begin that the checksum is of.
    pub start: u16,
    /// The checksum is to be filled in.
    pub is_wanted: bool,
    /// It is one of UDP.
    pub is_udp: bool,
    /// Where it goes, counted from `start`; 14 bits.
    pub insert: u16,
}

impl UplinkChecksumHeader {
    /// From the bytes on the wire.
    pub const fn from_bytes(bytes: [u8; UPLINK_CHECKSUM_HEADER]) -> Self {
        let info = u16::from_be_bytes([bytes[2], bytes[3]]);
        Self {
            start: u16::from_be_bytes([bytes[0], bytes[1]]),
            is_wanted: info & 0x8000 != 0,
            is_udp: info & 0x4000 != 0,
            insert: info & 0x3fff,
        }
    }

    /// The bytes on the wire.
    pub const fn to_bytes(self) -> [u8; UPLINK_CHECKSUM_HEADER] {
        let info = (self.is_wanted as u16) << 15 | (self.is_udp as u16) << 14 | self.insert & 0x3fff;
        let (start, info) = (self.start.to_be_bytes(), info.to_be_bytes());
        [start[0], start[1], info[0], info[1]]
    }
}

/// The version 4 checksum trailer towards the host (`struct rmnet_map_dl_csum_trailer`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChecksumTrailer {
    /// There is a checksum.
    pub is_valid: bool,
    /// Where the bytes begin that it is of.
    pub start: u16,
    /// How many they are.
    pub len: u16,
    /// The Internet checksum over them.
    pub checksum: u16,
}

impl ChecksumTrailer {
    /// Bytes on the wire.
    pub const LEN: usize = CHECKSUM_TRAILER;

    /// From the bytes on the wire.
    pub const fn from_bytes(bytes: [u8; CHECKSUM_TRAILER]) -> Self {
        Self {
            is_valid: bytes[1] & 1 != 0,
            start: u16::from_be_bytes([bytes[2], bytes[3]]),
            len: u16::from_be_bytes([bytes[4], bytes[5]]),
            checksum: u16::from_be_bytes([bytes[6], bytes[7]]),
        }
    }

    /// The bytes on the wire.
    pub const fn to_bytes(self) -> [u8; CHECKSUM_TRAILER] {
        let (start, len, checksum) = (self.start.to_be_bytes(), self.len.to_be_bytes(), self.checksum.to_be_bytes());
        [0, self.is_valid as u8, start[0], start[1], len[0], len[1], checksum[0], checksum[1]]
    }
}

/// The commands of the protocol (if_rmnet.h, rmnet_map.h).
pub const fn command_name(command: u8) -> Option<&'static str> {
    Some(match command {
        1 => "flow disable",
        2 => "flow enable",
        7 => "DL marker start",
        8 => "DL marker end",
        _ => return None,
    })
}

/// Where version 4 has checksums that the length does not count (`rmnet_map_add_map_header` and
/// `rmnet_map_checksum_downlink_packet` in rmnet_map_data.c).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Checksums {
    /// Nowhere: versions 1 and 5.
    None,
    /// In a header in front of each datagram: version 4 towards the device.
    Before,
    /// In a trailer behind each datagram: version 4 towards the host.
    Behind,
}

/// One link of the chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Item<'a> {
    /// Offset of the header in the transfer.
    pub offset: usize,
    /// The header.
    pub header: Header,
    /// Bytes of all headers and of a trailer.
    pub overhead: usize,
    /// Bytes of the datagram, padding not included, whether captured or not.
    pub payload_len: usize,
    /// What of the datagram was captured.
    pub payload: &'a [u8],
}

/// Walks through a transfer of `transfer_len` bytes of which `captured` are there. Ends at the end of the transfer, where
/// the capture is cut before the next header ([`Walk::next_offset`] is then short of the end), or with one fault.
#[derive(Clone, Debug)]
pub struct Walk<'a> {
    captured: &'a [u8],
    transfer_len: usize,
    checksums: Checksums,
    offset: usize,
    finished: bool,
}

impl<'a> Walk<'a> {
    /// At the start of a transfer.
    pub fn new(captured: &'a [u8], transfer_len: usize, checksums: Checksums) -> Self {
        Self { captured, transfer_len: transfer_len.max(captured.len()), checksums, offset: 0, finished: false }
    }

    /// Where the next header would be: the length of the transfer when the walk saw all of it.
    pub fn next_offset(&self) -> usize {
        self.offset
    }

    fn fault(&mut self, offset: usize, what: &'static str) -> Option<Result<Item<'a>, Fault>> {
        self.finished = true;
        Some(Err(Fault { offset, what }))
    }
}

impl<'a> Iterator for Walk<'a> {
    type Item = Result<Item<'a>, Fault>;

    fn next(&mut self) -> Option<Self::Item> {
        let start = self.offset;
        if self.finished || start >= self.transfer_len {
            return None;
        }
        if self.transfer_len - start < HEADER {
            return self.fault(start, "fewer than four bytes are left for a QMAP header");
        }
        let Some(&bytes) = self.captured.get(start..).and_then(<[u8]>::first_chunk::<HEADER>) else {
            self.finished = true;
            return None;
        };
        let header = Header::from_bytes(bytes);
        let first = match self.checksums {
            _ if header.has_next => HEADER + CHECKSUM_HEADER,
            Checksums::Before if !header.is_command => HEADER + UPLINK_CHECKSUM_HEADER,
            _ => HEADER,
        };
        let trailer = match self.checksums {
            Checksums::Behind if !header.is_command => CHECKSUM_TRAILER,
            _ => 0,
        };
        let length = usize::from(header.length);
        let end = start + first + length + trailer;
        if length == 0 && !header.is_command {
            return self.fault(start + 2, "QMAP length of zero");
        }
        if end > self.transfer_len {
            return self.fault(start + 2, "QMAP length goes past the end of the transfer");
        }
        if usize::from(header.padding) > length {
            return self.fault(start, "QMAP padding is longer than its packet");
        }
        let payload_len = length - usize::from(header.padding);
        let from = (start + first).min(self.captured.len());
        let to = (from + payload_len).min(self.captured.len());
        self.offset = end;
        Some(Ok(Item {
            offset: start,
            header,
            overhead: first + trailer,
            payload_len,
            payload: self.captured.get(from..to).unwrap_or_default(),
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn transfer(lengths: &[usize], version_5: bool) -> Vec<u8> {
        let mut out = Vec::new();
        for &len in lengths {
            let mut header = Header::for_datagram(3, len).unwrap();
            header.has_next = version_5;
            out.extend(header.to_bytes());
            if version_5 {
                out.extend([2 << 1, 0x80, 0, 0]);
            }
            out.extend(std::iter::repeat_n(0x45, len));
            out.extend(std::iter::repeat_n(0, usize::from(header.padding)));
        }
        out
    }

    #[test]
    fn a_length_past_the_end_is_a_fault_with_its_offset() {
        let mut bytes = transfer(&[52, 53], false);
        let at = 4 + 52 + 2;
        bytes[at] = 0x40;
        let found: Vec<_> = Walk::new(&bytes, bytes.len(), Checksums::None).collect();
        assert_eq!(found.len(), 2);
        assert_eq!(found[1].unwrap_err().offset, at);
    }

    #[test]
    fn a_cut_transfer_ends_without_a_fault() {
        let bytes = transfer(&[1500, 1500, 1500], false);
        let mut walk = Walk::new(&bytes[..136], bytes.len(), Checksums::None);
        assert_eq!(walk.next().unwrap().unwrap().payload_len, 1500);
        assert!(walk.next().is_none());
        assert_eq!(walk.next_offset(), 1504);
    }

    #[test]
    fn version_4_downlink_has_trailers() {
        let mut bytes = Vec::new();
        for _ in 0..3 {
            bytes.extend(transfer(&[41], false));
            bytes.extend([0u8, 1, 0, 0, 0, 40, 0xab, 0xcd]);
        }
        let found: Result<Vec<_>, _> = Walk::new(&bytes, bytes.len(), Checksums::Behind).collect();
        assert_eq!(found.unwrap().iter().map(|item| item.payload_len).collect::<Vec<_>>(), [41, 41, 41]);
    }

    proptest::proptest! {
        #[test]
        fn checksum_fields_come_back(is_set: bool, is_udp: bool, start: u16, len: u16, checksum: u16) {
            assert_eq!(ChecksumHeader::from_bytes(ChecksumHeader { is_set }.to_bytes()), ChecksumHeader { is_set });
            let header = UplinkChecksumHeader { start, is_wanted: is_set, is_udp, insert: len & 0x3fff };
            assert_eq!(UplinkChecksumHeader::from_bytes(header.to_bytes()), header);
            let trailer = ChecksumTrailer { is_valid: is_set, start, len, checksum };
            assert_eq!(ChecksumTrailer::from_bytes(trailer.to_bytes()), trailer);
        }

        #[test]
        fn what_is_written_is_read(lengths in proptest::collection::vec(1usize..2_000, 1..40), version_5: bool) {
            let bytes = transfer(&lengths, version_5);
            let found: Result<Vec<_>, _> = Walk::new(&bytes, bytes.len(), Checksums::None).collect();
            let found = found.unwrap();
            assert_eq!(found.iter().map(|item| item.payload_len).collect::<Vec<_>>(), lengths);
            assert_eq!(found.last().map(|i| i.offset + i.overhead + usize::from(i.header.length)), Some(bytes.len()));
        }

        #[test]
        fn any_bytes_end(bytes: Vec<u8>, longer in 0usize..70_000, checksum in 0usize..3) {
            let trailer = [Checksums::None, Checksums::Before, Checksums::Behind][checksum];
            let transfer_len = bytes.len() + longer;
            assert!(Walk::new(&bytes, transfer_len, trailer).count() <= transfer_len / HEADER + 1);
        }
    }
}
