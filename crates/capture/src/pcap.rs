//! Records of a classic pcap file.

use wire::linktype::LinkType;
use wire::pcap::{FileHeader, Fraction, LengthOrder, RecordHeader, FILE_HEADER_LEN};
use wire::pcapng::TickRate;

use crate::damage::{Bytes, Grouped};
use crate::input::{Input, Short};
use crate::interfaces::{Interface, Section};
use crate::located::{record_len_max, Broken, Located};

/// What every record header needs to be read.
pub(crate) struct Pcap {
    header: FileHeader,
    fraction: Fraction,
    lengths: LengthOrder,
    header_len: usize,
    record_len_max: u32,
    link_type: LinkType,
}

impl Pcap {
    /// Reads the file header, which `input` stands at.
    pub(crate) fn open(input: &mut Input) -> Result<Self, Broken> {
        let bytes = input
            .peek_array::<FILE_HEADER_LEN>()
            .map_err(|short| Broken::cut_off(0, "the pcap file header takes 24 bytes", &short))?;
        let header = FileHeader::parse(&bytes)
            .ok_or_else(|| Broken::contradiction(0, "the pcap file header has no magic number".to_owned()))?;
        let lengths = header.length_order().ok_or_else(|| {
            let (major, minor) = header.version;
            Broken::contradiction(
                0,
                format!("the pcap file header claims version {major}.{minor}, known are 2.0 to 2.4"),
            )
        })?;
        input.take(FILE_HEADER_LEN, 0, 0);
        Ok(Self {
            fraction: header.fraction(),
            lengths,
            header_len: header.record_header_len(),
            record_len_max: record_len_max(header.link_type),
            link_type: header.link_type,
            header,
        })
    }

    pub(crate) fn section(&self) -> Section {
        Section {
            byte_order: self.header.byte_order,
            version: self.header.version,
            offset: 0,
            hardware: None,
            os: None,
            application: None,
        }
    }

    pub(crate) fn interface(&self) -> Interface {
        Interface {
            section: 0,
            id: 0,
            link_type: self.link_type,
            snap_len: (self.header.snap_len != 0).then_some(self.header.snap_len),
            name: None,
            description: None,
            fcs_len: self.header.fcs_len,
            tick_rate: match self.fraction {
                Fraction::Micros => TickRate::MICROS,
                Fraction::Nanos => TickRate::NANOS,
            },
            offset_s: 0,
            received: None,
            dropped: None,
        }
    }

    /// Finds the next record. `number` is the one it will have, for messages.
    #[inline]
    pub(crate) fn locate(&self, input: &mut Input, number: u64) -> Result<Option<Located>, Broken> {
        let offset = input.offset();
        let bytes = match input.peek_array::<{ RecordHeader::LEN }>() {
            Ok(bytes) => bytes,
            Err(Short { available: 0, failure: None }) => return Ok(None),
            Err(short) => return Err(self.header_cut_off(offset, number, &short)),
        };
        let header = RecordHeader::parse(&bytes, self.header.byte_order, self.lengths);
        if header.captured_len > self.record_len_max {
            return Err(self.too_long(input, &header, number));
        }
        let data_len = header.captured_len as usize;
        let len = self.header_len + data_len;
        if let Err(short) = input.peek(len) {
            return Err(self.record_cut_off(offset, number, data_len, short));
        }
        Ok(Some(Located {
            offset,
            time_ns: Some(header.time_ns(self.fraction)),
            interface: 0,
            link_type: self.link_type,
            original_len: header.original_len,
            data: input.take(len, self.header_len, data_len),
        }))
    }

    #[cold]
    fn header_cut_off(&self, offset: u64, number: u64, short: &Short) -> Broken {
        let at = Grouped(offset);
        Broken::cut_off(
            offset,
            format!("record {number} at byte {at} begins with a header of {} bytes", self.header_len),
            short,
        )
    }

    #[cold]
    fn record_cut_off(&self, offset: u64, number: u64, data_len: usize, short: Short) -> Broken {
        let short = match short.available.checked_sub(self.header_len) {
            Some(available) => Short { available, ..short },
            None => return self.header_cut_off(offset, number, &short),
        };
        let (at, claimed) = (Grouped(offset), Bytes(data_len as u64));
        Broken::cut_off(offset, format!("record {number} at byte {at} claims {claimed}"), &short)
    }

    /// An implausible length: reported as cut off where even the rest of the file is shorter.
    #[cold]
    fn too_long(&self, input: &mut Input, header: &RecordHeader, number: u64) -> Broken {
        let offset = input.offset();
        let claim =
            format!("record {number} at byte {} claims {}", Grouped(offset), Bytes(u64::from(header.captured_len)));
        let longest = Bytes(u64::from(self.record_len_max));
        let message = match input.peek(self.header_len + self.record_len_max as usize) {
            Err(short) => {
                let short = Short { available: short.available.saturating_sub(self.header_len), ..short };
                return Broken { cut_off: false, ..Broken::cut_off(offset, claim, &short) };
            }
            Ok(_) => format!("{claim}, but a record of link type {} has at most {longest}", self.link_type),
        };
        Broken::contradiction(offset, message)
    }
}
