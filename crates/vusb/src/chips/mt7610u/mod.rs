//! MT7610U: an 802.11n/ac station and access point with one antenna on USB, which Linux' mt76x0u drives, in 2.4 and 5 GHz.
//! MT7601U: an 802.11n station of the generation before, which Linux' mt7601u drives; `model.rs` says what
//! is different.
//!
//! | block | file | driver's side (Linux drivers/net/wireless/mediatek/mt76) |
//! | --- | --- | --- |
//! | turns with the air and its stations | `../on_air.rs`, `../usb_radio.rs` | |
//! | register file | `memory.rs`, `registers.rs`, `mac.rs` | mt76x02_regs.h |
//! | efuse | `efuse.rs` | mt76x02_eeprom.c, mt76x02_efuse_read |
//! | MCU: download, commands | `mcu.rs` | mt76x0/usb_mcu.c, mt76x02_usb_mcu.c |
//! | which chip | `model.rs` | mt7601u/* |
//! | baseband of an MT7601U | `baseband.rs` | mt7601u/phy.c, mt7601u_bbp_wr |
//! | RF, channel | `radio.rs` | mt76x0/phy.c, mt76x0_phy_set_chan_rf_params |
//! | stations, keys | `stations.rs`, `../ccmp.rs` | mt76x02_mac.c, mt76x02_mac_wcid_set_key |
//! | beacons | `beacons.rs` | mt76x02_beacon.c |
//! | transmission | `transmit.rs`, `rates.rs`, `reports.rs` | mt76x02_mac.c, mt76x02_mac_write_txwi, mt76x02_send_tx_status |
//! | reception | `receive.rs` | mt76x02_mac.c, mt76x02_mac_process_rx |
//! | what it all means, for traces | `vocabulary.rs`, `register_names.txt` | mt76x02_regs.h |
//! | what is not known | `assumptions.rs` | |
//!
//! Layouts of frames on USB: [`wire::usb::mediatek`] and [`wire::usb::mt7601`].

pub mod assumptions;
pub mod baseband;
mod beacons;
pub mod efuse;
pub mod entry;
mod mac;
mod mcu;
pub mod memory;
mod model;
mod radio;
mod rates;
mod receive;
pub mod registers;
mod reports;
mod stations;
mod statistics;
mod transmit;
mod vocabulary;

use wire::usb::setup::Setup;

use super::on_air::{inject_hang, OnAir};
use super::usb_radio::{bulk, dongle, Chip as UsbChip, UsbRadio};
use crate::air::{AirCounters, Medium};
use crate::device::{ControlReply, DeviceCounters, Effect, Identity, InReply, OutReply};
use crate::peers::{PeerStatistics, Peers};
use assumptions::Assumptions;
use efuse::Efuse;
use mac::Mac;
pub use model::Model;
pub use statistics::{ChipCounters, McuCounters, RxCounters, Statistics, TxCounters};
pub use vocabulary::RegisterNames;

/// Vendor requests: read and write.
const READ: u8 = 0xc0;
const WRITE: u8 = 0x40;
/// Endpoints of frames and of answers to commands, and of commands. Both drivers take endpoints in the order of the descriptor
/// (mt76.h, enum mt76u_in_ep and mt76u_out_ep: commands, four of frames, HCCA; mt7601u's usb.h). The numbers are those of the
/// first chip's sticks; for an MT7601U they are assumed.
const FRAMES_IN: u8 = 4;
const ANSWERS_IN: u8 = 5;
const COMMANDS_OUT: u8 = 8;
/// 148f, Ralink.
const VENDOR: u16 = 0x148f;

/// How a chip is made.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Which chip.
    pub model: Model,
    /// One-time programmable memory.
    pub efuse: Efuse,
    /// What is not known of it.
    pub assumptions: Assumptions,
}

impl Settings {
    /// A chip as it is sold.
    pub fn new(model: Model) -> Self {
        let [high, low] = model.product().to_be_bytes();
        let efuse = Efuse::new(model, [0x00, 0x0c, 0x43, high, low, 0x01]);
        Self { model, efuse, assumptions: Assumptions::default() }
    }
}

/// What its driver sees of it.
pub struct Chip {
    identity: Identity,
    settings: Settings,
    mac: Mac,
    counters: ChipCounters,
    /// A vendor request that is under way, and when it is answered.
    request: Option<(Setup, u64)>,
}

/// The chip, its air and who else is on it.
pub type Mt7610u = UsbRadio<Chip>;

fn identity(model: Model) -> Identity {
    let endpoints = [0x80 | FRAMES_IN, 0x80 | ANSWERS_IN, COMMANDS_OUT].into_iter().chain(transmit::OUT).map(bulk);
    dongle((VENDOR, model.product()), 0x0100, endpoints, ["MediaTek", model.name(), "1.0"])
}

impl Mt7610u {
    /// A chip that was just plugged in.
    pub fn new(settings: Settings, medium: Medium, peers: Box<dyn Peers>) -> Self {
        let mac = Mac::new(settings.model, settings.efuse.clone(), settings.assumptions);
        let counters = ChipCounters::default();
        let identity = identity(settings.model);
        Self::plugged_in(Chip { identity, settings, mac, counters, request: None }, medium, peers)
    }
}

impl Chip {
    /// Whether a vendor request has taken its time.
    fn is_over(&mut self, now_ns: u64, setup: Setup) -> bool {
        let takes_ns = u64::from(self.settings.assumptions.vendor_request_us) * 1_000;
        let due_ns = match self.request {
            Some((asked, due_ns)) if asked == setup => due_ns,
            _ => now_ns + takes_ns,
        };
        self.request = (now_ns < due_ns).then_some((setup, due_ns));
        self.request.is_none()
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

    fn next_event(&self, now_ns: u64) -> Option<u64> {
        // What was due is not an event any more: the host may have taken its request back.
        let request = self.request.map(|(_, due_ns)| due_ns).filter(|&due_ns| due_ns > now_ns);
        [request, self.mac.next_event()].into_iter().flatten().min()
    }

    fn inject(&mut self, _now_ns: u64, effect: &Effect) -> bool {
        inject_hang(effect, || self.mac.hang_firmware())
    }
}

impl UsbChip for Chip {
    fn identity(&self) -> &Identity {
        &self.identity
    }

    fn control(&mut self, now_ns: u64, setup: Setup, data: &[u8]) -> ControlReply {
        if !self.is_over(now_ns, setup) {
            return ControlReply::Nak;
        }
        match setup.request_type {
            READ => {
                self.counters.reads += 1;
                let address = u32::from(setup.value) << 16 | u32::from(setup.index);
                let read = self.mac.read(now_ns, setup.request, address, usize::from(setup.length));
                read.map_or(ControlReply::Stall, ControlReply::Data)
            }
            WRITE => {
                self.counters.writes += 1;
                if self.mac.write(now_ns, setup.request, (setup.value, setup.index), data) {
                    ControlReply::Accepted
                } else {
                    ControlReply::Stall
                }
            }
            _ => ControlReply::Stall,
        }
    }

    fn transfer_out(&mut self, now_ns: u64, endpoint: u8, data: &[u8]) -> OutReply {
        match endpoint {
            COMMANDS_OUT => self.mac.command(now_ns, data),
            _ => self.mac.transmit(now_ns, endpoint, data),
        }
    }

    fn transfer_in(&mut self, _now_ns: u64, endpoint: u8, transfer: &mut Vec<u8>) -> InReply {
        match endpoint {
            FRAMES_IN => self.mac.received(transfer),
            ANSWERS_IN => self.mac.answer(transfer),
            _ => InReply::Stall,
        }
    }

    fn reset(&mut self, now_ns: u64) {
        self.mac.cold_start(now_ns);
        self.request = None;
    }

    fn statistics(&self, _now_ns: u64, air: AirCounters, peers: PeerStatistics) -> Box<dyn DeviceCounters> {
        Box::new(Statistics {
            chip: self.counters,
            assumptions: self.settings.assumptions,
            mcu: self.mac.mcu_counters(),
            tx: *self.mac.tx_counters(),
            rx: *self.mac.rx_counters(),
            air,
            peers,
        })
    }
}

crate::state!(Chip { mac, counters, request } made { identity, settings });
