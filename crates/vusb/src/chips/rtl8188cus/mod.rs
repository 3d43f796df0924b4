//! RTL8188CUS: an 802.11n station with one antenna on USB, of Realtek's first generation (gen1), which Linux' rtl8xxxu
//! (with RTL8XXXU_UNTESTED) and rtl8192cu drive. It can also pose as an RTL8723AU, which differs in its identity and
//! efuse only as far as those drivers look, and be an RTL8188EU (rtl8xxxu from Linux 6.3 on), which shares power-on,
//! descriptors and buffers. Its rates are the driver's: `reports.rs` is what that goes by.
//!
//! | block | file | drivers' side |
//! | --- | --- | --- |
//! | turns with the air and its stations | `../on_air.rs`, `../usb_radio.rs` | |
//! | register file | `../realtek/memory.rs`, `registers.rs` | regs.h |
//! | power, link table, DMA | `system.rs` | 8192c.c, rtl8xxxu_llt_write |
//! | efuse | `efuse.rs` | rtl8xxxu_read_efuse |
//! | 8051: download, mailboxes | `firmware.rs` | rtl8xxxu_download_firmware, rtl8xxxu_gen1_h2c_cmd |
//! | RF, I/Q calibration | `radio.rs` | rtl8xxxu_read_rfreg, rtl8xxxu_iqk_path_a |
//! | key memory, ciphers | `../realtek/cam.rs`, `../realtek/crypto.rs`, `../ccmp.rs`, `../tkip.rs`, `../wep.rs` | rtl8xxxu_cam_write |
//! | power save | `../realtek/power.rs` | rtl92c_set_fw_pwrmode_cmd |
//! | transmission | `tx_descriptor.rs`, `../realtek/queues.rs`, `transmit.rs`, `tx_counters.rs`, `aggregation.rs`, `rates.rs`, `fallback.rs` | rtl8xxxu_fill_txdesc_v1 |
//! | what it all means, for traces | `vocabulary.rs`, `../realtek/vocabulary.rs`, `register_names.txt` | regs.h |
//! | reception | `rx_descriptor.rs`, `receive.rs` | rtl8xxxu_parse_rxdesc16 |
//! | transmit reports (RTL8188EU) | `reports.rs` | rtl8188e_handle_ra_tx_report2 |

mod aggregation;
mod assumed;
pub mod assumptions;
pub mod efuse;
pub mod entry;
mod eu_assumptions;
mod fallback;
mod firmware;
mod mac;
mod model;
mod radio;
mod rates;
mod receive;
pub mod registers;
mod reports;
mod rx_descriptor;
mod statistics;
mod system;
mod transmit;
pub mod tx_descriptor;
mod vocabulary;

use wire::usb::realtek::REGISTER_REQUEST;
use wire::usb::setup::Setup;

use super::on_air::OnAir;
use super::usb_radio::{bulk, dongle, Chip as UsbChip, UsbRadio};
use crate::air::{AirCounters, Medium};
use crate::device::{ControlReply, DeviceCounters, Effect, Identity, InReply, OutReply};
use crate::peers::{PeerStatistics, Peers};
use assumed::Assumed;
use assumptions::Assumptions;
use efuse::Efuse;
pub use eu_assumptions::{AggregateLimit, EuAssumptions};
use mac::Mac;
pub use model::Model;
pub use reports::{Counted, Full, ReportCounters, Tally};
pub use statistics::{ChipCounters, EuStatistics, RxCounters, Statistics, TxCounters};
pub use vocabulary::RegisterNames;

/// Vendor requests: read and write registers.
const READ: u8 = 0xc0;
const WRITE: u8 = 0x40;
/// Endpoints (as an EW-7811Un's descriptors have them).
const BULK_IN: u8 = 1;
const BULK_OUT: [u8; 2] = [2, 3];
const INTERRUPT_IN: u8 = 4;
/// Bytes of an interrupt transfer (rtl8xxxu.h, USB_INTR_CONTENT_LENGTH).
const INTERRUPT_LEN: usize = 56;

/// How a chip is made.
pub struct Settings {
    /// What it says it is.
    pub model: Model,
    /// One-time programmable memory.
    pub efuse: Efuse,
    /// Shortest time between two answers of the interrupt endpoint; its descriptor says 125 us.
    pub interrupt_ns: u64,
    /// What is not known of an RTL8188CUS.
    pub assumptions: Assumptions,
    /// What is not known of an RTL8188EU.
    pub eu_assumptions: EuAssumptions,
    /// Seed of what faults leave to chance.
    pub seed: u64,
}

impl Settings {
    /// A chip as it comes.
    pub fn new(model: Model) -> Self {
        let efuse = match model {
            Model::Rtl8188cus => Efuse::rtl8188cus(),
            Model::Rtl8723au => Efuse::rtl8723au(),
            Model::Rtl8188eu => Efuse::rtl8188eu(),
        };
        let (assumptions, eu_assumptions) = Default::default();
        Self { model, efuse, interrupt_ns: 125_000, assumptions, eu_assumptions, seed: 1 }
    }

    /// Sets an assumption of its model by `NAME=VALUE`.
    ///
    /// # Errors
    /// An unknown name or value, with those that there are.
    pub fn assume(&mut self, assignment: &str) -> Result<(), String> {
        match self.model {
            Model::Rtl8188cus | Model::Rtl8723au => self.assumptions.set(assignment),
            Model::Rtl8188eu => self.eu_assumptions.set(assignment),
        }
    }

    fn assumed(&self) -> Assumed {
        match self.model {
            Model::Rtl8188cus | Model::Rtl8723au => self.assumptions.into(),
            Model::Rtl8188eu => self.eu_assumptions.into(),
        }
    }
}

/// What its driver sees of it.
pub struct Chip {
    identity: Identity,
    settings: Settings,
    mac: Mac,
    /// When the interrupt endpoint may answer next, and whether it was asked.
    interrupt_due_ns: u64,
    interrupt_asked: bool,
    counters: ChipCounters,
}

/// The chip, its air and its access point.
pub type Rtl8188cus = UsbRadio<Chip>;

fn identity(settings: &Settings) -> Identity {
    let ids = match settings.model {
        Model::Rtl8188cus | Model::Rtl8188eu => settings.efuse.usb_ids(),
        Model::Rtl8723au => (0x0bda, 0x1724),
    };
    let interrupts = settings.model.has_interrupts().then_some((0x80 | INTERRUPT_IN, 3, 64, 1));
    let endpoints = [0x80 | BULK_IN].into_iter().chain(BULK_OUT).map(bulk).chain(interrupts);
    dongle(ids, 0x0200, endpoints, ["Realtek", "802.11n WLAN Adapter", "00e04c000001"])
}

impl Rtl8188cus {
    /// A chip that was just plugged in.
    pub fn new(settings: Settings, medium: Medium, ap: Box<dyn Peers>) -> Self {
        let identity = identity(&settings);
        let mac = Mac::new(settings.model, settings.efuse.clone(), &settings.assumed(), settings.seed);
        let counters = ChipCounters::default();
        let chip = Chip { identity, settings, mac, interrupt_due_ns: 0, interrupt_asked: false, counters };
        Self::plugged_in(chip, medium, ap)
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

    fn after_air(&mut self, now_ns: u64) {
        self.mac.advance(now_ns);
    }

    fn next_event(&self, now_ns: u64) -> Option<u64> {
        // That an endpoint would answer is news once: the host may have taken its transfer back, or be gone.
        let interrupt = self.interrupt_asked.then_some(self.interrupt_due_ns);
        let answers = [interrupt, self.mac.next_answer(), self.mac.next_report()];
        answers.into_iter().flatten().filter(|&at_ns| at_ns > now_ns).min()
    }

    fn inject(&mut self, _now_ns: u64, effect: &Effect) -> bool {
        match *effect {
            Effect::FirmwareHang => self.mac.hang_firmware(),
            Effect::LostC2h(lost) => self.mac.lose_c2h(lost),
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
        match (setup.request_type, setup.request) {
            (READ, REGISTER_REQUEST) => {
                self.counters.reads += 1;
                ControlReply::Data(self.mac.read(now_ns, setup.value, usize::from(setup.length)))
            }
            (WRITE, REGISTER_REQUEST) => {
                self.counters.writes += 1;
                self.counters.commands += u64::from(self.mac.write(now_ns, setup.value, data));
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
            // C2H messages come this way (rtl8xxxu.h, USB_INTR_CONTENT_C2H_OFFSET).
            INTERRUPT_IN if !self.settings.model.has_interrupts() => InReply::Stall,
            INTERRUPT_IN if self.mac.loses_c2h() => InReply::Nak,
            INTERRUPT_IN if now_ns >= self.interrupt_due_ns => {
                self.interrupt_asked = false;
                // On the grid of the microframes, so that a late answer does not make all later ones late.
                let interval_ns = self.settings.interrupt_ns.max(1);
                self.interrupt_due_ns = (now_ns / interval_ns + 1) * interval_ns;
                self.counters.interrupts += 1;
                transfer.resize(INTERRUPT_LEN, 0);
                InReply::Transfer
            }
            INTERRUPT_IN => {
                self.interrupt_asked = true;
                InReply::Nak
            }
            _ => InReply::Stall,
        }
    }

    fn reset(&mut self, now_ns: u64) {
        self.mac.cold_start(now_ns);
        self.interrupt_asked = false;
    }

    fn statistics(&self, now_ns: u64, air: AirCounters, ap: PeerStatistics) -> Box<dyn DeviceCounters> {
        let (chip, tx, rx) = (self.counters, *self.mac.tx_counters(), *self.mac.rx_counters());
        match self.settings.model {
            Model::Rtl8188cus | Model::Rtl8723au => Box::new(Statistics {
                chip,
                assumptions: self.settings.assumptions,
                tx,
                rx,
                power: self.mac.power_counters(now_ns),
                air,
                ap,
            }),
            Model::Rtl8188eu => Box::new(EuStatistics {
                chip,
                assumptions: self.settings.eu_assumptions,
                tx,
                reports: *self.mac.report_counters(),
                rx,
                air,
                ap,
            }),
        }
    }
}

crate::state!(Chip { mac, interrupt_due_ns, interrupt_asked, counters } made { identity, settings });
