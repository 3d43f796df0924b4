//! From a chip that a driver has set up: what its descriptors ask for stays below what the PHY allows, too.

use proptest::prelude::*;
use wire::usb::realtek::{REGISTER_REQUEST, TX_DESCRIPTOR};
use wire::usb::setup::Setup;

use super::station::{data_up, management, OWN};
use crate::air::rates::{mode, Modulation, MCS0};
use crate::air::{ChannelSettings, Medium};
use crate::chips::rtl8188cus::registers as reg;
use crate::chips::rtl8188cus::{Model, Rtl8188cus, Settings};
use crate::device::{Device, OutReply};
use crate::peers::builtin::{Builtin, BuiltinSettings};
use crate::wired::WiredQueues;

/// Bits of a descriptor's words.
const AGGREGATE: (usize, u32) = (1, 1 << 5);
const DRIVER_RATE: (usize, u32) = (4, 1 << 8);
const RTS: (usize, u32) = (4, 8 | 1 << 12 | 1 << 13);
const WIDE: (usize, u32) = (4, 1 << 25);
const SHORT_GI: (usize, u32) = (5, 1 << 6);

struct Dongle {
    chip: Rtl8188cus,
    wire: WiredQueues,
    now_ns: u64,
}

impl Dongle {
    fn write(&mut self, register: u16, data: &[u8]) {
        let length = data.len() as u16;
        let setup = Setup { request_type: 0x40, request: REGISTER_REQUEST, value: register, index: 0, length };
        self.chip.control(self.now_ns, setup, data);
    }

    fn associated() -> Self {
        let wire = WiredQueues::default();
        let settings = BuiltinSettings { wide: true, short_gi: true, ..BuiltinSettings::default() };
        let ap = Builtin::with(settings, Vec::new(), Box::new(wire.clone()));
        let medium = Medium::new(ChannelSettings::default(), 1, None);
        let chip = Rtl8188cus::new(Settings::new(Model::Rtl8188cus), medium, Box::new(ap));
        let mut dongle = Self { chip, wire, now_ns: 0 };
        dongle.write(reg::CR, &[0xff]);
        dongle.write(reg::MACID, &OWN);
        dongle.write(reg::RCR, &0x7000_280eu32.to_le_bytes());
        // 40 MHz around channel 8, with the primary channel, 6, below.
        dongle.write(reg::FPGA0_RF_MODE, &[reg::FPGA0_RF_MODE_40MHZ]);
        dongle.write(reg::OFDM1_LSTF, &reg::OFDM1_LSTF_PRIMARY_LOW.to_le_bytes());
        dongle.write(reg::FPGA0_XA_LSSI_PARM, &(0x18u32 << 20 | 8).to_le_bytes());
        let mut association = vec![0x21, 0x04, 10, 0, 0, 4];
        association.extend(b"txop");
        association.extend([45, 26, 0xfe, 0x01]);
        association.extend([0; 24]);
        for (kind, body) in
            [(0xb0, &[0, 0, 1, 0, 0, 0][..]), (0x00, &association), (0xd0, &[3, 0, 9, 0x03, 0x10, 0, 0, 0, 0])]
        {
            assert!(dongle.send(&management(kind, body), &[DRIVER_RATE]));
            dongle.run(20_000_000);
        }
        let statistics = serde_json::to_value(dongle.chip.statistics()).unwrap();
        assert_eq!(statistics["ap"]["associated"], true);
        dongle
    }

    /// `false`: the chip's buffer is full.
    fn send(&mut self, frame: &[u8], bits: &[(usize, u32)]) -> bool {
        let mut words = [0u32; TX_DESCRIPTOR / 4];
        words[0] = frame.len() as u32 | (TX_DESCRIPTOR as u32) << 16 | 0x8c << 24;
        for &(at, value) in bits {
            words[at] |= value;
        }
        words[7] |= words.iter().fold(0u32, |sum, word| sum ^ word & 0xffff ^ word >> 16);
        let descriptor: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        self.chip.transfer_out(self.now_ns, 2, &[&descriptor, frame].concat()) == OutReply::Accepted
    }

    fn run(&mut self, for_ns: u64) {
        let end_ns = self.now_ns + for_ns;
        self.chip.advance(self.now_ns);
        while let Some(at_ns) = self.chip.next_event().filter(|&at_ns| at_ns <= end_ns) {
            self.now_ns = at_ns.max(self.now_ns);
            self.chip.advance(self.now_ns);
        }
        self.now_ns = end_ns;
    }

    /// Mbit/s of Ethernet frames that come out of the wire while the chip always has something to send.
    fn saturated(&mut self, len: usize, bits: &[(usize, u32)]) -> f64 {
        let (start_ns, mut number) = (self.now_ns, 0u16);
        while self.now_ns < start_ns + 200_000_000 {
            let mut frame = data_up(number, 0);
            frame.resize(frame.len().max(len + 20), 0);
            while self.send(&frame, bits) {
                number = (number + 1) & 0x0fff;
                frame[22..24].copy_from_slice(&(number << 4).to_le_bytes());
            }
            self.run(500_000);
        }
        let bytes: usize = self.wire.from_host.borrow().iter().map(Vec::len).sum();
        (bytes * 8) as f64 / (self.now_ns - start_ns) as f64 * 1_000.0
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 16, ..ProptestConfig::default() })]

    #[test]
    fn what_the_chip_sends_stays_below_what_the_phy_allows(
        mcs in 0u8..8,
        (wide, short_gi, aggregate, rts) in any::<(bool, bool, bool, bool)>(),
        len in prop_oneof![Just(1514usize), 64usize..1514],
    ) {
        let mut bits = vec![DRIVER_RATE, (5, u32::from(MCS0 + mcs))];
        for (wanted, bit) in [(wide, WIDE), (short_gi, SHORT_GI), (aggregate, AGGREGATE), (rts, RTS)] {
            bits.extend(wanted.then_some(bit));
        }
        let mbit_s = Dongle::associated().saturated(len, &bits);
        let modulation = Modulation { wide, short_gi, ..Modulation::default() };
        let phy_mbit_s = f64::from(mode(MCS0 + mcs, modulation).rate_kbps().unwrap()) / 1_000.0;
        prop_assert!(mbit_s > 0.01 * phy_mbit_s && mbit_s < phy_mbit_s, "{} of {}", mbit_s, phy_mbit_s);
    }
}

#[test]
fn aggregation_and_width_pay_for_the_chip_too() {
    let speed = |bits: &[(usize, u32)]| {
        let bits = [&[DRIVER_RATE, (5, u32::from(MCS0) + 7)], bits].concat();
        Dongle::associated().saturated(1_514, &bits)
    };
    let (single, ampdu) = (speed(&[]), speed(&[AGGREGATE]));
    let wide = speed(&[AGGREGATE, WIDE, SHORT_GI]);
    assert!((26.0..36.0).contains(&single) && (48.0..63.0).contains(&ampdu), "{single} {ampdu}");
    assert!(wide > 1.6 * ampdu && speed(&[AGGREGATE, RTS]) < ampdu, "{wide} {ampdu}");
}
