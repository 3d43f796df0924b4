//! The capture file: one interface, any container the scene asks for.

use std::io::{self, Write};

use capture::{InterfaceSettings, PcapSettings, PcapWriter, PcapngWriter, WriteError};
use wire::linktype::LinkType;
use wire::pcap::ByteOrder;

use crate::scene::{Container, Link, Output};

/// An open file.
pub(crate) enum File<W> {
    Pcap(PcapWriter<W>),
    Pcapng { writer: PcapngWriter<W>, interface: u32 },
}

fn io_error(error: WriteError) -> io::Error {
    match error {
        WriteError::Io(error) => error,
        other => io::Error::new(io::ErrorKind::InvalidInput, other.to_string()),
    }
}

impl<W: Write> File<W> {
    /// Writes the file header. `fcs` is announced where the link header does not give it.
    pub(crate) fn create(inner: W, output: &Output, fcs: bool) -> io::Result<Self> {
        let link_type = LinkType(output.link.number());
        let fcs_len = matches!(output.link, Link::Bare | Link::Prism).then_some(if fcs { 4 } else { 0 });
        let pcap = |inner, settings: PcapSettings| {
            let snap_len = output.snap_len.unwrap_or(settings.snap_len);
            let settings = PcapSettings { snap_len, fcs_len: fcs_len.filter(|&n| n > 0), ..settings };
            PcapWriter::new(inner, settings).map(Self::Pcap).map_err(io_error)
        };
        Ok(match output.container {
            Container::PcapMicros => pcap(inner, PcapSettings::micros(link_type))?,
            Container::PcapNanos => pcap(inner, PcapSettings::nanos(link_type))?,
            Container::Pcapng => {
                let mut writer = PcapngWriter::new(inner, ByteOrder::Little).map_err(io_error)?;
                let settings = InterfaceSettings {
                    snap_len: output.snap_len,
                    name: Some("mon0".to_owned()),
                    description: Some(capture::SIMULATED.to_owned()),
                    fcs_len,
                    ..InterfaceSettings::nanos(link_type)
                };
                let interface = writer.add_interface(&settings).map_err(io_error)?;
                Self::Pcapng { writer, interface }
            }
        })
    }

    /// Writes a record.
    pub(crate) fn write(&mut self, time_ns: u64, original_len: usize, data: &[u8]) -> io::Result<()> {
        let time_ns = i64::try_from(time_ns).unwrap_or(i64::MAX);
        let original_len = u32::try_from(original_len).unwrap_or(u32::MAX);
        match self {
            Self::Pcap(writer) => writer.write(time_ns, original_len, data),
            Self::Pcapng { writer, interface } => writer.write(*interface, time_ns, original_len, data),
        }
        .map_err(io_error)
    }

    pub(crate) fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Pcap(writer) => writer.flush(),
            Self::Pcapng { writer, .. } => writer.flush(),
        }
        .map_err(io_error)
    }
}
