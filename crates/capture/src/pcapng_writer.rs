//! Writing pcapng.

use std::io::Write;

use wire::linktype::LinkType;
use wire::pcap::ByteOrder;
use wire::pcapng::{
    emit_simple_packet, InterfaceDescription, InterfaceStatistics, PacketHeader, SectionHeader, TickRate,
};

use crate::pcap_writer::{checked_len, WriteError};

/// What an interface description says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InterfaceSettings {
    /// Link-layer header type of its packets; 16 bits.
    pub link_type: LinkType,
    /// Largest captured length in bytes, `None` for no limit. Not enforced, except that readers cut simple packets to it.
    pub snap_len: Option<u32>,
    /// Operating-system name.
    pub name: Option<String>,
    /// Free text.
    pub description: Option<String>,
    /// Unit of the times; finer parts are cut off.
    pub tick_rate: TickRate,
    /// Seconds that times are counted from.
    pub offset_s: i64,
    /// Bytes of frame check sequence in each frame, if it is to be announced.
    pub fcs_len: Option<u8>,
}

impl InterfaceSettings {
    /// Nanoseconds, nothing else said.
    pub const fn nanos(link_type: LinkType) -> Self {
        Self {
            link_type,
            snap_len: None,
            name: None,
            description: None,
            tick_rate: TickRate::NANOS,
            offset_s: 0,
            fcs_len: None,
        }
    }
}

/// Writes a pcapng file. Wrap `W` in a `BufWriter` where writes are dear.
#[derive(Debug)]
pub struct PcapngWriter<W> {
    inner: W,
    byte_order: ByteOrder,
    /// Tick rate and offset of the section's interfaces.
    clocks: Vec<(TickRate, i64)>,
    block: Vec<u8>,
}

impl<W> PcapngWriter<W> {
    /// What is written to.
    pub const fn inner(&self) -> &W {
        &self.inner
    }

    /// What is written to.
    pub fn inner_mut(&mut self) -> &mut W {
        &mut self.inner
    }
}

impl<W: Write> PcapngWriter<W> {
    /// Writes the first section header.
    ///
    /// # Errors
    /// Those of `inner`.
    pub fn new(inner: W, byte_order: ByteOrder) -> Result<Self, WriteError> {
        let mut writer = Self { inner, byte_order, clocks: Vec::new(), block: Vec::new() };
        writer.begin_section(byte_order)?;
        Ok(writer)
    }

    /// Begins a new section, which has no interfaces yet.
    ///
    /// # Errors
    /// Those of the writer underneath.
    pub fn begin_section(&mut self, byte_order: ByteOrder) -> Result<(), WriteError> {
        self.byte_order = byte_order;
        self.clocks.clear();
        let application = Some(concat!("txop ", env!("CARGO_PKG_VERSION")).as_bytes());
        let header =
            SectionHeader { byte_order, version: (1, 0), section_len: None, hardware: None, os: None, application };
        header.emit(&mut self.block);
        self.write_block()
    }

    /// Describes an interface and gives its number in the section.
    ///
    /// # Errors
    /// Those of the writer underneath.
    pub fn add_interface(&mut self, settings: &InterfaceSettings) -> Result<u32, WriteError> {
        let description = InterfaceDescription {
            link_type: settings.link_type,
            snap_len: settings.snap_len.unwrap_or(0),
            name: settings.name.as_deref().map(str::as_bytes),
            description: settings.description.as_deref().map(str::as_bytes),
            tick_rate: settings.tick_rate,
            fcs_len: settings.fcs_len,
            offset_s: settings.offset_s,
        };
        description.emit(&mut self.block, self.byte_order);
        self.write_block()?;
        self.clocks.push((settings.tick_rate, settings.offset_s));
        Ok(self.clocks.len() as u32 - 1)
    }

    /// Writes an enhanced packet of `data`, captured `time_ns` after 1970-01-01 UTC, that had `original_len` bytes on
    /// the wire.
    ///
    /// # Errors
    /// An interface not added, a time before the interface's offset, too much data, and those of the writer
    /// underneath. Nothing is written for the first three.
    pub fn write(&mut self, interface: u32, time_ns: i64, original_len: u32, data: &[u8]) -> Result<(), WriteError> {
        let ticks = self.ticks(interface, time_ns)?;
        let captured_len = checked_len(data)?;
        let header = PacketHeader { interface, ticks, captured_len, original_len, drops: None };
        header.emit_enhanced(&mut self.block, self.byte_order, data);
        self.write_block()
    }

    /// Writes a simple packet: no time, the section's first interface.
    ///
    /// # Errors
    /// No interface added yet, too much data, and those of the writer underneath.
    pub fn write_simple(&mut self, original_len: u32, data: &[u8]) -> Result<(), WriteError> {
        if self.clocks.is_empty() {
            return Err(WriteError::NoInterface { interface: 0 });
        }
        checked_len(data)?;
        emit_simple_packet(&mut self.block, self.byte_order, original_len, data);
        self.write_block()
    }

    /// Writes how many packets an interface has received and dropped since the capture began.
    ///
    /// # Errors
    /// As [`Self::write`].
    pub fn write_statistics(
        &mut self,
        interface: u32,
        time_ns: i64,
        received: Option<u64>,
        dropped: Option<u64>,
    ) -> Result<(), WriteError> {
        let ticks = self.ticks(interface, time_ns)?;
        InterfaceStatistics { interface, ticks, received, dropped }.emit(&mut self.block, self.byte_order);
        self.write_block()
    }

    fn ticks(&self, interface: u32, time_ns: i64) -> Result<u64, WriteError> {
        let (rate, offset_s) = self.clocks.get(interface as usize).ok_or(WriteError::NoInterface { interface })?;
        rate.ticks(time_ns, *offset_s).ok_or(WriteError::Time { time_ns })
    }

    fn write_block(&mut self) -> Result<(), WriteError> {
        let written = self.inner.write_all(&self.block);
        self.block.clear();
        Ok(written?)
    }

    /// Flushes the writer underneath.
    ///
    /// # Errors
    /// Its own.
    pub fn flush(&mut self) -> Result<(), WriteError> {
        Ok(self.inner.flush()?)
    }

    /// Gives back what was written to.
    pub fn into_inner(self) -> W {
        self.inner
    }
}
