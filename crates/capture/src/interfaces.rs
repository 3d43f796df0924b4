//! What a capture says about itself beside its records: sections, interfaces and packets lost.

use wire::linktype::LinkType;
use wire::pcap::ByteOrder;
use wire::pcapng::{InterfaceDescription, SectionHeader, TickRate};

/// Longest text kept of an option, in bytes; a hostile capture may hold 64 KiB in each of millions.
const TEXT_LEN_MAX: usize = 256;

/// A part of a capture with its own byte order and interfaces. A pcap file is one section.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Section {
    /// Byte order of everything in the section.
    pub byte_order: ByteOrder,
    /// Format version, major and minor.
    pub version: (u16, u16),
    /// Byte offset of the section header in the decompressed capture.
    pub offset: u64,
    /// Hardware that captured, as the writer describes it.
    pub hardware: Option<String>,
    /// Operating system that captured.
    pub os: Option<String>,
    /// Program that wrote the capture.
    pub application: Option<String>,
}

impl Section {
    pub(crate) fn new(header: &SectionHeader<'_>, offset: u64) -> Self {
        Self {
            byte_order: header.byte_order,
            version: header.version,
            offset,
            hardware: text(header.hardware),
            os: text(header.os),
            application: text(header.application),
        }
    }
}

/// Where records were captured. A pcap file has one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Interface {
    /// Index of its section in [`crate::Reader::sections`].
    pub section: u32,
    /// Number within its section, as pcapng counts.
    pub id: u32,
    /// Link-layer header type of its records.
    pub link_type: LinkType,
    /// Largest captured length in bytes, `None` for no limit. A statement of the writer, not a guarantee.
    pub snap_len: Option<u32>,
    /// Operating-system name ("wlan0mon").
    pub name: Option<String>,
    /// Free text.
    pub description: Option<String>,
    /// Bytes of frame check sequence at the end of every frame, where the writer says.
    pub fcs_len: Option<u8>,
    /// Unit of its timestamps.
    pub tick_rate: TickRate,
    /// Seconds added to its timestamps.
    pub offset_s: i64,
    /// Packets the interface received, by the last statistics block.
    pub received: Option<u64>,
    /// Packets the interface dropped because resources were exhausted, by the last statistics block.
    pub dropped: Option<u64>,
}

impl Interface {
    pub(crate) fn new(description: &InterfaceDescription<'_>, section: u32, id: u32) -> Self {
        Self {
            section,
            id,
            link_type: description.link_type,
            snap_len: (description.snap_len != 0).then_some(description.snap_len),
            name: text(description.name),
            description: text(description.description),
            fcs_len: description.fcs_len,
            tick_rate: description.tick_rate,
            offset_s: description.offset_s,
            received: None,
            dropped: None,
        }
    }
}

/// Where the figures of a capture with these interfaces come from: `emulated`, `simulated`, `guest-exact` or `guest-fast` when
/// one of them says that txop made it ([`crate::EMULATED`] and the like), else `imported`.
pub fn origin(interfaces: &[Interface]) -> &'static str {
    let said = |start: &str| {
        interfaces.iter().any(|i| i.description.as_deref().is_some_and(|description| description.starts_with(start)))
    };
    let marks = [
        (crate::EMULATED, "emulated"),
        (crate::SIMULATED, "simulated"),
        (crate::GUEST_EXACT, "guest-exact"),
        (crate::GUEST_FAST, "guest-fast"),
    ];
    marks.into_iter().find(|(mark, _)| said(mark)).map_or("imported", |(_, origin)| origin)
}

/// Packets that the capturing host lost, `None` where the capture does not say. The two may count the same losses, so
/// they are not added up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Drops {
    /// Sum of [`Interface::dropped`].
    pub by_statistics: Option<u64>,
    /// Sum of the counts that stand in packet blocks.
    pub by_records: Option<u64>,
}

fn text(option: Option<&[u8]>) -> Option<String> {
    let bytes = option?;
    // Some writers end their text with the NUL of a C string.
    let bytes = bytes.split(|&byte| byte == 0).next().unwrap_or_default();
    Some(String::from_utf8_lossy(bytes.get(..TEXT_LEN_MAX).unwrap_or(bytes)).into_owned())
}
