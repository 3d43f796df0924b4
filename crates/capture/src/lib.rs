//! Capture files and streams to records, and back.
//!
//! [`Reader`] takes pcap and pcapng, plain or in gzip or zstd, from a file, a pipe or a file that still grows, and lends
//! one [`Record`] after the other without copying it. What a file is, its first bytes tell, never its name. A capture
//! that is cut off or damaged gives every record before the damage and then one [`Damage`], which says at which byte
//! it broke and what was expected there.
//!
//! [`PcapWriter`] and [`PcapngWriter`] write the same formats.
//!
//! ```
//! use txop_capture::{PcapSettings, PcapWriter, Reader};
//! use wire::linktype::LinkType;
//!
//! let mut writer = PcapWriter::new(Vec::new(), PcapSettings::nanos(LinkType::IEEE802_11))?;
//! writer.write(1_700_000_000_000_000_001, 10, &[0xd4, 0, 0, 0, 2, 0, 0, 0, 0, 1])?;
//! let mut reader = Reader::from_read(std::io::Cursor::new(writer.into_inner()))?;
//! while let Some(record) = reader.next()? {
//!     assert_eq!((record.number, record.time_ns), (1, Some(1_700_000_000_000_000_001)));
//!     assert_eq!(record.data.len(), 10);
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod damage;
mod decompress;
mod follow;
mod input;
mod interfaces;
mod located;
mod pcap;
mod pcap_writer;
mod pcapng;
mod pcapng_writer;
mod reader;
mod recognise;
mod window;

/// How the interface description begins in captures that txop makes in virtual time instead of receiving.
pub const SIMULATED: &str = "simulated by txop";
/// How it begins in captures that txop makes in real time, of real packets on a modelled link.
pub const EMULATED: &str = "emulated by txop";
/// The same of captures that the virtual chips of a guest wrote whose time is counted instructions.
pub const GUEST_EXACT: &str = "guest-exact by txop";
/// The same of a guest whose time is that of its host.
pub const GUEST_FAST: &str = "guest-fast by txop";

pub use damage::{Damage, OpenError};
pub use follow::Follow;
pub use interfaces::{origin, Drops, Interface, Section};
pub use pcap_writer::{PcapSettings, PcapWriter, WriteError};
pub use pcapng_writer::{InterfaceSettings, PcapngWriter};
pub use reader::{Access, Options, Reader, Record};
pub use recognise::{Compression, Container};
pub use window::{Bound, Place, Placing, Span, Window};
