//! MT7921U: an 802.11ax station with two antennas on USB, in 2.4 and 5 GHz, which Linux' mt7921u drives. Nearly everything is the
//! firmware's: scans, rates, power save, the connection's monitoring, keys, sequence numbers, and with the driver's offloads also
//! the 802.11 headers.
//!
//! | block | file | driver's side (Linux drivers/net/wireless/mediatek/mt76) |
//! | --- | --- | --- |
//! | turns with the air and its stations | `../on_air.rs`, `../usb_radio.rs` | |
//! | registers | `registers.rs` | mt792x_regs.h, mt792x_usb.c, mt792x_mac.c |
//! | processor: power, download | `firmware.rs` | mt76_connac_mcu.c |
//! | commands and answers | `commands.rs`, `answers.rs` | mt76_connac_mcu.c, mt7921/mcu.c |
//! | channels | `channel.rs` | mt76_connac_mcu.c (mt76_connac_mcu_uni_set_chctx) |
//! | scans | `scan.rs` | mt76_connac_mcu.c (mt76_connac_mcu_hw_scan) |
//! | stations, keys, ciphers | `stations.rs`, `keys.rs` | mt76_connac_mcu.c (STA_REC_*) |
//! | power save | `../dynamic_power.rs` | mt7921/mcu.c (mt7921_mcu_uni_bss_ps) |
//! | transmission | `transmit.rs`, `ethernet.rs` | mt76_connac_mac.c (mt76_connac2_mac_write_txwi) |
//! | rates | `rates.rs`, `../rate_steps.rs` | mt76_connac_mcu.c (mt76_connac_mcu_sta_tlv) |
//! | reception | `receive.rs` | mt7921/mac.c (mt7921_mac_fill_rx) |
//! | what it all means, for traces | `vocabulary.rs`, `register_names.txt` | mt792x_regs.h |
//! | what is not known | `assumptions.rs` | |
//!
//! Layouts of packets on USB: [`wire::usb::connac2`].

mod answers;
pub mod assumptions;
mod channel;
mod commands;
pub mod entry;
mod ethernet;
mod firmware;
mod keys;
mod mac;
mod rates;
mod receive;
pub mod registers;
mod scan;
mod stations;
mod statistics;
mod transmit;
mod vocabulary;

use wire::usb::setup::Setup;

use super::on_air::OnAir;
use super::usb_radio::{bulk, dongle, Chip as UsbChip, UsbRadio};
use crate::air::{AirCounters, Medium};
use crate::device::{ControlReply, DeviceCounters, Effect, Identity, InReply, OutReply};
use crate::peers::{PeerStatistics, Peers};
use assumptions::Assumptions;
use mac::Mac;
pub use statistics::{ChipCounters, RxCounters, Statistics, TxCounters};
pub use vocabulary::RegisterNames;

/// Vendor requests (mt76.h, MT_VEND_*): registers, those of another bus, power.
pub const READ_EXT: u8 = 0x63;
/// See [`READ_EXT`].
pub const WRITE_EXT: u8 = 0x66;
/// See [`READ_EXT`].
pub const READ_OTHER: u8 = 0x01;
/// See [`READ_EXT`].
pub const WRITE_OTHER: u8 = 0x02;
/// See [`READ_EXT`].
pub const POWER_ON: u8 = 0x04;
/// Types of these requests (mt792x.h, MT_USB_TYPE_VENDOR and MT_USB_TYPE_UHW_VENDOR).
const VENDOR_IN: u8 = 0xdf;
const VENDOR_OUT: u8 = 0x5f;
const OTHER_IN: u8 = 0xde;
const OTHER_OUT: u8 = 0x5e;
/// Endpoints, as listings of such dongles have them: received frames and events; commands; frames of BE, BK, VI, VO and another.
/// The driver takes them in the order of the descriptor (usb.c, mt76u_set_endpoints).
pub const FRAMES_IN: u8 = 4;
/// See [`FRAMES_IN`].
pub const EVENTS_IN: u8 = 5;
/// See [`FRAMES_IN`].
pub const COMMANDS_OUT: u8 = 8;
/// See [`FRAMES_IN`].
pub const FRAMES_OUT: [u8; 5] = [4, 5, 6, 7, 9];
/// MediaTek, and the reference design of an MT7921U.
const IDS: (u16, u16) = (0x0e8d, 0x7961);
/// Its address: one of MediaTek's.
pub const OWN_ADDRESS: [u8; 6] = [0x00, 0x0c, 0xe7, 0x79, 0x61, 0x01];

/// How a chip is made.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// What is not known of it.
    pub assumptions: Assumptions,
    /// Seed of what faults leave to chance.
    pub seed: u64,
}

impl Default for Settings {
    fn default() -> Self {
        Self { assumptions: Assumptions::default(), seed: 1 }
    }
}

/// What its driver sees of it.
pub struct Chip {
    identity: Identity,
    settings: Settings,
    mac: Mac,
}

/// The chip, its air and its access point.
pub type Mt7921u = UsbRadio<Chip>;

fn identity() -> Identity {
    let bulk_in = [FRAMES_IN, EVENTS_IN].map(|number| 0x80 | number);
    let bulk_out = [COMMANDS_OUT].into_iter().chain(FRAMES_OUT);
    let endpoints = bulk_in.into_iter().chain(bulk_out).map(bulk);
    dongle(IDS, 0x0100, endpoints, ["MediaTek Inc.", "Wireless_Device", "000000000"])
}

impl Mt7921u {
    /// A chip that was just plugged in.
    pub fn new(settings: Settings, medium: Medium, ap: Box<dyn Peers>) -> Self {
        let mac = Mac::new(OWN_ADDRESS, settings.assumptions, settings.seed);
        Self::plugged_in(Chip { identity: identity(), settings, mac }, medium, ap)
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

    fn before_air(&mut self, now_ns: u64) {
        self.mac.advance(now_ns);
    }

    fn next_event(&self, _now_ns: u64) -> Option<u64> {
        self.mac.next_event()
    }

    fn inject(&mut self, _now_ns: u64, effect: &Effect) -> bool {
        match *effect {
            Effect::FirmwareHang => self.mac.hang_firmware(),
            Effect::LostC2h(lost) => self.mac.lose_events(lost),
            Effect::LateBlockAck(probability) => self.mac.acknowledge_late(probability),
            Effect::Reseed(seed, _) => {
                self.mac.reseed(seed);
                return false; // The air draws, too.
            }
            _ => return false,
        }
        true
    }
}

impl UsbChip for Chip {
    fn identity(&self) -> &Identity {
        &self.identity
    }

    fn control(&mut self, now_ns: u64, setup: Setup, data: &[u8]) -> ControlReply {
        let address = u32::from(setup.value) << 16 | u32::from(setup.index);
        match (setup.request_type, setup.request) {
            (VENDOR_IN, READ_EXT) | (OTHER_IN, READ_OTHER) => {
                ControlReply::Data(self.mac.read(now_ns, address, usize::from(setup.length)))
            }
            (VENDOR_OUT, WRITE_EXT) | (OTHER_OUT, WRITE_OTHER) => {
                self.mac.write(now_ns, address, data);
                ControlReply::Accepted
            }
            (VENDOR_OUT, POWER_ON) => {
                self.mac.power_on();
                ControlReply::Accepted
            }
            _ => ControlReply::Stall,
        }
    }

    fn transfer_out(&mut self, now_ns: u64, endpoint: u8, data: &[u8]) -> OutReply {
        match endpoint {
            COMMANDS_OUT => {
                self.mac.command(now_ns, data);
                OutReply::Accepted
            }
            endpoint if FRAMES_OUT.contains(&endpoint) => self.mac.transmit(now_ns, data),
            _ => OutReply::Stall,
        }
    }

    fn transfer_in(&mut self, _now_ns: u64, endpoint: u8, transfer: &mut Vec<u8>) -> InReply {
        match endpoint {
            FRAMES_IN => self.mac.received(transfer),
            EVENTS_IN => self.mac.reported(transfer),
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
