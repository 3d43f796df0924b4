//! Wireless links with the behaviour of their drivers, as discrete-event models.
//!
//! [`Link`] does no input and output and has no clock. Whoever drives it says what time it is: a simulation jumps from
//! one [`Link::next_event`] to the next, an emulator waits for the real clock to get there. So both run the same code.
//! All times are nanoseconds since an origin that the driver chooses. The same [`Scenario`] (its seed is part of it)
//! and the same offered packets at the same times give the same link, event by event.
//!
//! ```
//! use txop_link::{HostId, Link, Packet, Scenario, Sink, WlanLink};
//!
//! #[derive(Clone)]
//! struct Datagram(usize);
//! impl Packet for Datagram {
//!     fn size_bytes(&self) -> usize {
//!         self.0
//!     }
//!     fn write_bytes(&self, out: &mut Vec<u8>, limit: usize) {
//!         out.resize(out.len() + self.0.min(limit), 0);
//!     }
//! }
//! struct Count(u64);
//! impl Sink<Datagram> for Count {
//!     fn deliver(&mut self, _at_ns: u64, _to: HostId, packet: Datagram) {
//!         self.0 += packet.size_bytes() as u64;
//!     }
//! }
//!
//! let mut link = WlanLink::new(Scenario::from_json(r#"{"dut": {"mcs": 7, "tx_ampdu": false}}"#)?)?;
//! link.offer(0, HostId(1), HostId::SERVER, Datagram(1500));
//! let mut count = Count(0);
//! while link.next_event().is_some_and(|ns| ns < 1_000_000) {
//!     link.advance(link.next_event().unwrap_or(0), &mut count);
//! }
//! assert_eq!(count.0, 1500);
//! # Ok::<(), txop_link::ScenarioError>(())
//! ```
//!
//! # What is modelled of 802.11
//!
//! One access point and any number of stations: 802.11b, a, g and n (HT20, HT40, one to four streams); EDCA with four access
//! categories for each radio, internal collisions and TXOPs, or the DCF for radios without QoS; binary exponential backoff,
//! collisions among any number, EIFS, NAV; A-MPDU under immediate Block Ack with a window of 64 and a reorder buffer for each
//! station and category, Block Ack requests; single MPDUs with ACK; RTS/CTS; control response rates; beacons; the queues of
//! [`queue`] above the hardware, PPDUs that wait in the hardware; losses at a given rate or by noise; fixed rates or rate
//! control in the manner of minstrel_ht; a host cost per packet, USB URBs and interrupts; acknowledgements that are late or
//! missing. Airtime is computed by [`wire::phy`].
//!
//! # What is not
//!
//! Hidden nodes, capture effect, power save, A-MSDU, encryption, protection of OFDM from 802.11b stations, propagation.

mod checked;
pub mod closed_form;
pub mod engine;
pub mod medium;
pub mod modem;
mod path;
mod pipe;
pub mod ppdu;
pub mod queue;
pub mod scenario;
pub mod sdio;
pub mod simulation;
pub mod traffic;
mod transmitter;
pub mod urb;
pub mod wlan;

pub use checked::ScenarioError;
pub use engine::{AccessCategory, DropCause, HostId, Link, Offer, Packet, Sink};
pub use path::{Path, PathSettings, PathStep};
pub use pipe::{Pipe, PipeSettings, PipeUp};
pub use ppdu::{Contents, DataMpdu, Ppdu, DATA_OVERHEAD};
pub use simulation::{Simulation, SimulationSettings};
pub use wlan::{
    beacon_len, Categories, CategoryCounters, Counters, DirectionCounters, Drops, Edca, EdcaTable, Medium, Phy,
    RateControl, Scenario, SideCounters, Sizes, Station, StationCounters, Usb, WlanLink,
};
