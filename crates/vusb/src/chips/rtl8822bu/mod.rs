//! RTL8822BU: an 802.11n/ac station with two antennas on USB, in 2.4 and 5 GHz, which Linux' rtw88_8822bu drives from 6.2 on.
//! Its rates are the firmware's: the driver gives masks of rates, and gets to know what was chosen. RTL8821CU: the same with one
//! antenna, which rtw88_8821cu drives; `model.rs` says what is different. RTL8822BE: the same chip on PCI, [`express`]. RTL8822BS:
//! the same on an SDIO card, [`card`].
//!
//! | block | file | driver's side (Linux drivers/net/wireless/realtek/rtw88) |
//! | --- | --- | --- |
//! | turns with the air and its stations | `../on_air.rs`, `../usb_radio.rs` | |
//! | register file | `../realtek/memory.rs`, `registers.rs` | reg.h |
//! | power, efuse's port, registers behind registers | `system.rs` | mac.c, rtw8822b.c (card_enable_flow_8822b) |
//! | which chip | `model.rs` | rtw8821c.c |
//! | efuse | `efuse.rs` | efuse.c, rtw8822b.h, rtw8821c.h |
//! | CPU: download, commands, reports | `firmware.rs`, `packet_buffer.rs` | mac.c, fw.c |
//! | RF, channel, calibration | `radio.rs` | rtw8822b.c |
//! | key memory, ciphers | `../realtek/cam.rs`, `../realtek/crypto.rs` | sec.c |
//! | power save | `../realtek/power.rs` | ps.c |
//! | transmission | `transfer.rs`, `pages.rs`, `../realtek/queues.rs`, `transmit.rs`, `aggregation.rs` | tx.c, usb.c |
//! | rates | `rates.rs` | main.c (rtw_update_sta_info), fw.c (rtw_fw_send_ra_info) |
//! | reception | `receive.rs` | rx.c, usb.c |
//! | what it all means, for traces | `vocabulary.rs`, `../realtek/vocabulary.rs`, `register_names.txt` | reg.h |
//! | what is not known | `assumptions.rs` | |
//!
//! Layouts of frames on USB: [`wire::usb::rtw88`].

mod aggregation;
pub mod assumptions;
pub mod card;
pub mod efuse;
pub mod entry;
pub mod express;
mod firmware;
mod mac;
mod model;
mod packet_buffer;
mod pages;
mod radio;
mod rates;
mod receive;
pub mod registers;
mod statistics;
mod system;
mod transfer;
mod transmit;
mod vocabulary;

use wire::usb::realtek::REGISTER_REQUEST;
use wire::usb::setup::Setup;

use super::on_air::OnAir;
use super::usb_radio::{bulk, dongle, Chip as UsbChip, UsbRadio};
use crate::air::{AirCounters, Medium};
use crate::device::{ControlReply, DeviceCounters, Effect, Identity, InReply, OutReply};
use crate::peers::{PeerStatistics, Peers};
use assumptions::Assumptions;
use efuse::Efuse;
use mac::Mac;
pub use model::Model;
pub use statistics::{ChipCounters, RxCounters, Statistics, TxCounters};
pub use vocabulary::RegisterNames;

/// Vendor requests: read and write registers.
const READ: u8 = 0xc0;
const WRITE: u8 = 0x40;
/// Endpoints, as listings of such dongles have them: the driver takes those of frames in the order of the descriptor, for the
/// high, normal and low place of queues (usb.c, rtw_usb_parse).
const BULK_IN: u8 = 4;
const BULK_OUT: [u8; 3] = [5, 6, 8];
const INTERRUPT_IN: u8 = 7;

/// How a chip is made.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Which chip.
    pub model: Model,
    /// One-time programmable memory.
    pub efuse: Efuse,
    /// What is not known of it.
    pub assumptions: Assumptions,
    /// Seed of what faults leave to chance.
    pub seed: u64,
}

impl Settings {
    /// A chip as it is sold.
    pub fn new(model: Model) -> Self {
        Self { model, efuse: Efuse::new(model), assumptions: Assumptions::default(), seed: 1 }
    }
}

/// What its driver sees of it.
pub struct Chip {
    identity: Identity,
    settings: Settings,
    mac: Mac,
}

/// The chip, its air and its access point.
pub type Rtl8822bu = UsbRadio<Chip>;

fn identity(model: Model) -> Identity {
    let [high, normal, low] = BULK_OUT.map(bulk);
    let endpoints = [bulk(0x80 | BULK_IN), high, normal, (0x80 | INTERRUPT_IN, 3, 64, 3), low];
    dongle((model.vendor(), model.product()), 0x0210, endpoints, ["Realtek", "802.11ac NIC", "123456"])
}

impl Rtl8822bu {
    /// A chip that was just plugged in.
    pub fn new(settings: Settings, medium: Medium, ap: Box<dyn Peers>) -> Self {
        let mac = Mac::new(settings.model, settings.efuse.clone(), settings.assumptions, settings.seed);
        Self::plugged_in(Chip { identity: identity(settings.model), settings, mac }, medium, ap)
    }
}

impl OnAir for Chip {
    type Mac = Mac;

    fn mac(&self) -> &Mac {
        &self.mac
    }

    fn mac_mut(&mut self) -> &mut Mac {
        &mut self.mac
    }

    fn next_event(&self, now_ns: u64) -> Option<u64> {
        // That an endpoint would answer is news once: the host may have taken its transfer back, or be gone.
        self.mac.next_answer().filter(|&at_ns| at_ns > now_ns)
    }

    fn inject(&mut self, _now_ns: u64, effect: &Effect) -> bool {
        self.mac.inject(effect)
    }
}

impl UsbChip for Chip {
    fn identity(&self) -> &Identity {
        &self.identity
    }

    fn control(&mut self, now_ns: u64, setup: Setup, data: &[u8]) -> ControlReply {
        match (setup.request_type, setup.request) {
            (READ, REGISTER_REQUEST) => {
                ControlReply::Data(self.mac.read(now_ns, setup.value, usize::from(setup.length)))
            }
            (WRITE, REGISTER_REQUEST) => {
                self.mac.write(now_ns, setup.value, data);
                ControlReply::Accepted
            }
            _ => ControlReply::Stall,
        }
    }

    fn transfer_out(&mut self, now_ns: u64, endpoint: u8, data: &[u8]) -> OutReply {
        if BULK_OUT.contains(&endpoint) {
            self.mac.transmit(now_ns, data)
        } else {
            OutReply::Stall
        }
    }

    fn transfer_in(&mut self, now_ns: u64, endpoint: u8, transfer: &mut Vec<u8>) -> InReply {
        match endpoint {
            BULK_IN => self.mac.received(now_ns, transfer),
            // rtw88 asks for no transfers of it.
            INTERRUPT_IN => InReply::Nak,
            _ => InReply::Stall,
        }
    }

    fn reset(&mut self, now_ns: u64) {
        self.mac.cold_start(now_ns);
    }

    fn statistics(&self, now_ns: u64, air: AirCounters, ap: PeerStatistics) -> Box<dyn DeviceCounters> {
        Box::new(Statistics {
            chip: self.mac.counters(),
            assumptions: self.settings.assumptions,
            tx: *self.mac.tx_counters(),
            rx: *self.mac.rx_counters(),
            power: self.mac.power_counters(now_ns),
            air,
            ap,
        })
    }
}

crate::state!(Chip { mac } made { identity, settings });
