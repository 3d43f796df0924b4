//! The chip as drivers use it, on a channel of its own.

use std::cell::RefCell;
use std::rc::Rc;

use crate::host::Host;
use crate::rtl8188eu;
use proptest::prelude::*;
use vusb::air::{ChannelSettings, Medium, Outcome, Ppdu, Protection, Reception, Response, Station, Tuned};
use vusb::chips::rtl8188cus::registers as reg;
use vusb::chips::rtl8188cus::{Model, Rtl8188cus, Settings};
use vusb::device::Device;
use vusb::peers::silent::Silent;
use vusb::peers::{PeerStatistics, Peers};
use wire::phy::{AccessCategory, Bandwidth, EdcaParameters, Mode};
use wire::usb::realtek::{RxWalk, TX_DESCRIPTOR};
use wire::usb::setup::Setup;
use wire::usb::usbip::Completion;

pub const OWN: [u8; 6] = [0x08, 0xbe, 0xac, 0x0b, 0x14, 0xc4];
pub const AP: [u8; 6] = [2, 2, 2, 2, 2, 2];

/// What the far end has heard, and what it is to send.
#[derive(Default)]
pub struct Air {
    pub heard: Vec<(u64, Vec<u8>, Reception)>,
    pub to_send: Vec<(u64, Ppdu)>,
    pub outcomes: Vec<Vec<bool>>,
    pub deaf: bool,
    /// Where it is; channel 6 in 20 MHz without.
    pub tuned: Option<Tuned>,
}

#[derive(Clone, Default)]
pub struct FarEnd(pub Rc<RefCell<Air>>);

impl Station for FarEnd {
    fn tuned(&self) -> Option<Tuned> {
        self.0.borrow().tuned.or(Tuned::channel(6))
    }
    fn ready_since(&self) -> Option<u64> {
        self.0.borrow().to_send.first().map(|(at, _)| *at)
    }
    fn access(&self) -> EdcaParameters {
        EdcaParameters::default_for(AccessCategory::BestEffort)
    }
    fn begin(&mut self, _now_ns: u64, _function: usize) -> Option<Ppdu> {
        Some(self.0.borrow_mut().to_send.remove(0).1)
    }
    fn ended(&mut self, _now_ns: u64, _ppdu: Ppdu, outcome: &Outcome) {
        self.0.borrow_mut().outcomes.push(outcome.acknowledged.clone());
    }
    fn receive(&mut self, now_ns: u64, mpdu: &[u8], reception: &Reception) -> bool {
        let mut air = self.0.borrow_mut();
        air.heard.push((now_ns, mpdu.to_vec(), *reception));
        !air.deaf
    }
}

impl Peers for FarEnd {
    fn stations(&self) -> Vec<&dyn Station> {
        vec![self]
    }
    fn stations_mut(&mut self) -> Vec<&mut dyn Station> {
        vec![self]
    }
    fn statistics(&self) -> PeerStatistics {
        PeerStatistics::default()
    }
}

pub fn write(host: &mut Host<Rtl8188cus>, register: u16, data: &[u8]) {
    let setup = Setup { request_type: 0x40, request: 5, value: register, index: 0, length: data.len() as u16 };
    assert_eq!(host.control(setup, data).0, 0);
}

pub fn read(host: &mut Host<Rtl8188cus>, register: u16) -> u32 {
    let setup = Setup { request_type: 0xc0, request: 5, value: register, index: 0, length: 4 };
    let (status, mut data) = host.control(setup, &[]);
    assert_eq!(status, 0);
    // Beyond the last register there is nothing: the answer is short.
    data.resize(4, 0);
    u32::from_le_bytes(data.try_into().unwrap())
}

/// A chip that a driver has set up on channel 6, and its far end.
pub fn chip_on_air(channel: ChannelSettings) -> (Host<Rtl8188cus>, FarEnd) {
    let far = FarEnd::default();
    let medium = Medium::new(channel, 1, None);
    let chip = Rtl8188cus::new(Settings::new(Model::Rtl8188cus), medium, Box::new(far.clone()));
    let mut host = Host::new(chip);
    set_up(&mut host);
    (host, far)
}

/// What a driver writes until the chip is on channel 6.
pub fn set_up(host: &mut Host<Rtl8188cus>) {
    write(host, reg::CR, &[0xff]);
    write(host, reg::MACID, &OWN);
    write(host, reg::RX_DRVINFO_SZ, &[4]);
    write(host, reg::RCR, &0x7000_280eu32.to_le_bytes());
    write(host, reg::FPGA0_XA_LSSI_PARM, &(0x18u32 << 20 | 0xc06).to_le_bytes());
}

/// A QoS data frame behind its descriptor. `words` are put over the descriptor's.
pub fn transmission(sequence: u16, len: usize, words: &[(usize, u32)]) -> Vec<u8> {
    let mut frame = vec![0x88, 0x01, 0, 0];
    frame.extend(AP);
    frame.extend(OWN);
    frame.extend(AP);
    frame.extend((sequence << 4).to_le_bytes());
    frame.extend([0, 0]);
    frame.resize(len, 0x55);
    let mut descriptor = [0u32; 8];
    descriptor[0] = len as u32 | (TX_DESCRIPTOR as u32) << 16 | 0x8c << 24;
    for &(at, value) in words {
        descriptor[at] |= value;
    }
    let sum = descriptor.iter().fold(0u32, |sum, word| sum ^ word & 0xffff ^ word >> 16);
    descriptor[7] |= sum;
    [descriptor.iter().flat_map(|word| word.to_le_bytes()).collect(), frame].concat()
}

pub fn run<D: Device>(host: &mut Host<D>, for_ns: u64) -> Vec<(Completion, Vec<u8>)> {
    let end_ns = host.now_ns + for_ns;
    let mut all = host.completions();
    while let Some(at_ns) = host.device.next_event().filter(|&at_ns| at_ns <= end_ns) {
        host.now_ns = at_ns.max(host.now_ns);
        all.extend(host.completions());
    }
    host.now_ns = end_ns;
    all.extend(host.completions());
    all
}

#[test]
fn efuse_is_read_byte_by_byte() {
    let medium = Medium::new(ChannelSettings::default(), 1, None);
    let chip = Rtl8188cus::new(Settings::new(Model::Rtl8188cus), medium, Box::new(Silent));
    let mut host = Host::new(chip);
    let mut bytes = Vec::new();
    for address in 0..4u8 {
        write(&mut host, reg::EFUSE_CTRL + 1, &[address]);
        write(&mut host, reg::EFUSE_CTRL + 2, &[0]);
        write(&mut host, reg::EFUSE_CTRL + 3, &[0x72]);
        let value = read(&mut host, reg::EFUSE_CTRL);
        assert_eq!(value >> 31, 1);
        bytes.push(value as u8);
    }
    // Section 0 with all its words: 29 81 00.
    assert_eq!(bytes, [0x00, 0x29, 0x81, 0x00]);
}

#[test]
fn firmware_starts_when_it_was_loaded() {
    let (mut host, _) = chip_on_air(ChannelSettings::default());
    let ready = |host: &mut Host<Rtl8188cus>| read(host, reg::MCU_FW_DL) & 0x40 != 0;
    // READY without a download starts nothing.
    write(&mut host, reg::MCU_FW_DL, &[2]);
    assert!(!ready(&mut host));
    write(&mut host, reg::MCU_FW_DL, &[1]);
    write(&mut host, reg::MCU_FW_DL, &[5]);
    assert_eq!(read(&mut host, reg::MCU_FW_DL) & 4, 0);
    write(&mut host, reg::FW_START, &[0xaa; 128]);
    write(&mut host, reg::MCU_FW_DL, &[0]);
    assert_eq!(read(&mut host, reg::MCU_FW_DL) & 4, 4);
    write(&mut host, reg::MCU_FW_DL, &[2]);
    assert!(ready(&mut host));
}

/// 24 frames of 1000 bytes at MCS 7: one by one, and as A-MPDUs. The airtime is that of the standard.
#[test]
fn aggregation_saves_what_it_should() {
    let times: Vec<u64> = [0u32, 1 << 5]
        .map(|aggregate| {
            let (mut host, far) = chip_on_air(ChannelSettings::default());
            for sequence in 0..24 {
                // MCS 7 as the driver's choice, in the best effort queue.
                host.write(3, &transmission(sequence, 1_000, &[(1, aggregate), (4, 1 << 8), (5, 19)]));
            }
            run(&mut host, 50_000_000);
            let air = far.0.borrow();
            assert_eq!(air.heard.len(), 24);
            let order: Vec<u16> = air.heard.iter().map(|(_, f, _)| u16::from_le_bytes([f[22], f[23]]) >> 4).collect();
            assert_eq!(order, (0..24).collect::<Vec<_>>());
            host.device.air().chip.airtime_ns
        })
        .to_vec();
    // 1004 bytes at 65 Mbit/s: 36 us of preamble and 31 symbols, 16 us, ACK at 24 Mbit/s 28 us, 6 us.
    assert_eq!(times[0], 24 * (36_000 + 31 * 4_000 + 16_000 + 28_000 + 6_000));
    // At most 20 together: the chip's limit.
    let psdu = |n: u64| n * 1_008;
    let symbols = |bytes: u64| (bytes * 8 + 22).div_ceil(260);
    let ampdu = |n| 36_000 + symbols(psdu(n)) * 4_000 + 16_000 + 32_000 + 6_000;
    assert_eq!(times[1], ampdu(20) + ampdu(4));
}

#[test]
fn rts_costs_what_its_rate_costs() {
    let airtime = |words: &[(usize, u32)]| {
        let (mut host, _) = chip_on_air(ChannelSettings::default());
        let all = [&[(4, 1 << 8), (5, 19)], words].concat();
        host.write(3, &transmission(1, 1_000, &all));
        run(&mut host, 10_000_000);
        host.device.air().chip.airtime_ns
    };
    let plain = airtime(&[]);
    let (rts, hardware) = (1 << 12, 1 << 13);
    // Without HW_RTS_ENABLE the MAC sends none.
    assert_eq!(airtime(&[(4, rts | 8)]), plain);
    assert_eq!(airtime(&[(4, rts | hardware | 8)]) - plain, 28_000 + 16_000 + 28_000 + 16_000);
    assert_eq!(airtime(&[(4, rts | hardware)]) - plain, 352_000 + 10_000 + 304_000 + 10_000);
}

#[test]
fn frames_are_retried_and_given_up() {
    let (mut host, far) = chip_on_air(ChannelSettings::default());
    far.0.borrow_mut().deaf = true;
    // A retry limit of 6 in the descriptor.
    host.write(3, &transmission(1, 100, &[(4, 1 << 8), (5, 19 | 1 << 17 | 6 << 18)]));
    run(&mut host, 500_000_000);
    let air = far.0.borrow();
    let retry: Vec<bool> = air.heard.iter().map(|(_, frame, _)| frame[1] & 8 != 0).collect();
    assert_eq!(retry, [false, true, true, true, true, true, true]);
    assert_eq!(host.statistics()["tx"]["given_up"], 1);
}

/// The throughput of a saturated channel: below the PHY rate, and what the standard's times give (no collisions with one
/// sender: AIFS 43 us, mean backoff 7.5 slots).
#[test]
fn saturation_throughput() {
    let (mut host, far) = chip_on_air(ChannelSettings::default());
    for sequence in 0..2_000u16 {
        host.write(3, &transmission(sequence & 0xfff, 1_500, &[(4, 1 << 8), (5, 19)]));
    }
    run(&mut host, 200_000_000);
    let heard = far.0.borrow().heard.len() as f64;
    let exchange_us = 36.0 + 47.0 * 4.0 + 16.0 + 28.0 + 6.0;
    let cycle_us = exchange_us + 10.0 + 3.0 * 9.0 + 7.5 * 9.0;
    let expected = 200_000.0 / cycle_us;
    assert!((heard / expected - 1.0).abs() < 0.02, "{heard} frames, expected {expected}");
    assert!(heard * 1_500.0 * 8.0 / 0.2 < 65e6);
}

/// A full packet buffer makes the endpoint NAK: about 31 KB.
#[test]
fn the_packet_buffer_is_finite() {
    let (mut host, far) = chip_on_air(ChannelSettings::default());
    write(&mut host, reg::TXPAUSE, &[0xff]);
    for sequence in 0..100u16 {
        host.write(3, &transmission(sequence, 1_500, &[(4, 1 << 8), (5, 19)]));
    }
    let taken = host.completions().len();
    assert_eq!(taken, 0xf8 / 12);
    write(&mut host, reg::TXPAUSE, &[0]);
    assert_eq!(run(&mut host, 100_000_000).len() + taken, 100);
    assert_eq!(far.0.borrow().heard.len(), 100);
}

pub fn down(sequence: u16, len: usize, to: [u8; 6]) -> Vec<u8> {
    let mut frame = vec![0x88, 0x02, 0, 0];
    frame.extend(to);
    frame.extend(AP);
    frame.extend(AP);
    frame.extend((sequence << 4).to_le_bytes());
    frame.extend([0, 0]);
    frame.resize(len, 0x66);
    frame
}

pub fn ppdu(mpdus: Vec<Vec<u8>>, response: Response) -> Ppdu {
    let aggregated = mpdus.len() > 1;
    let mode = if aggregated {
        vusb::air::rates::mode(19, Default::default())
    } else {
        Mode::Ofdm { rate_500kbps: 108, bandwidth: Bandwidth::Mhz20 }
    };
    Ppdu { mode, mpdus, aggregated, protection: Protection::None, response }
}

#[test]
fn reception_filters_and_overflow() {
    let (mut host, far) = chip_on_air(ChannelSettings::default());
    write(&mut host, reg::RXFLTMAP2, &[0xff, 0xff]);
    for to in [OWN, AP, [0xff; 6]] {
        far.0.borrow_mut().to_send.push((0, ppdu(vec![down(1, 100, to)], Response::Ack)));
    }
    run(&mut host, 10_000_000);
    // Acknowledged is what has the own address only.
    assert_eq!(far.0.borrow().outcomes, [vec![true], vec![false], vec![false]]);
    for _ in 0..3 {
        host.read(1, 4_096, 0);
    }
    let got = host.completions();
    assert_eq!(got.len(), 2);
    let (_, data) = &got[0];
    let packets: Vec<_> = RxWalk::new(data, data.len()).map(Result::unwrap).collect();
    assert_eq!((packets.len(), packets[0].overhead, packets[0].frame_len), (1, 56, 100));
    // The receive buffer has room for six frames of 1500 bytes; the rest of an A-MPDU is not acknowledged.
    let burst = (0..10).map(|sequence| down(sequence, 1_500, OWN)).collect();
    far.0.borrow_mut().to_send.push((host.now_ns, ppdu(burst, Response::BlockAck)));
    let _ = host.unlink(host_last_read(&got));
    run(&mut host, 10_000_000);
    let outcome = far.0.borrow().outcomes.last().cloned().unwrap();
    let arrived = outcome.iter().filter(|&&it| it).count();
    assert!((6..=7).contains(&arrived), "{outcome:?}");
}

/// The third read, which nothing answered.
fn host_last_read(got: &[(Completion, Vec<u8>)]) -> u32 {
    match got.last() {
        Some((Completion::Submit { sequence, .. }, _)) => sequence + 1,
        _ => 0,
    }
}

#[test]
fn receive_aggregation_packs_and_times_out() {
    let (mut host, far) = chip_on_air(ChannelSettings::default());
    write(&mut host, reg::RXFLTMAP2, &[0xff, 0xff]);
    // Threshold 31 pages of 128 bytes, timeout 34 ms / 2^4.
    write(&mut host, reg::RXDMA_AGG_PG_TH, &[31, 4]);
    write(&mut host, reg::TRXDMA_CTRL, &[4]);
    for sequence in 0..5 {
        far.0.borrow_mut().to_send.push((0, ppdu(vec![down(sequence, 1_000, OWN)], Response::Ack)));
    }
    for _ in 0..3 {
        host.read(1, 16_384, 0);
    }
    let got = run(&mut host, 50_000_000);
    let counts: Vec<usize> = got.iter().map(|(_, data)| RxWalk::new(data, data.len()).count()).collect();
    assert_eq!(counts, [4, 1]);
    // The first descriptor says how many there are.
    assert_eq!(got[0].1[10], 4);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Whatever a driver writes and sends, the chip answers every control transfer and breaks nothing.
    #[test]
    fn any_driver_is_survived(
        writes in prop::collection::vec((any::<u16>(), prop::collection::vec(any::<u8>(), 1..9)), 0..60),
        frames in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..200), 0..20),
        right in any::<bool>(),
        eu in any::<bool>(),
    ) {
        let channel = ChannelSettings { loss: 0.3, ..ChannelSettings::default() };
        let (mut host, far) = if eu { rtl8188eu::chip_on_air(channel) } else { chip_on_air(channel) };
        far.0.borrow_mut().to_send.push((0, ppdu(vec![down(1, 60, OWN)], Response::Ack)));
        for (register, data) in &writes {
            write(&mut host, *register, data);
            read(&mut host, *register);
        }
        for (at, mut bytes) in frames.into_iter().enumerate() {
            if right && bytes.len() > 64 {
                // A descriptor that fits, with any flags.
                let len = (bytes.len() - 32) as u16;
                bytes[..2].copy_from_slice(&len.to_le_bytes());
                bytes[2] = 32;
                bytes[7] &= 3;
                bytes[28..30].fill(0);
                let sum = bytes[..32].chunks(2).fold(0u16, |sum, h| sum ^ u16::from_le_bytes([h[0], h[1]]));
                bytes[28..30].copy_from_slice(&sum.to_le_bytes());
            }
            host.write(2 + at as u8 % 2, &bytes);
        }
        host.read(1, 2_048, 0);
        run(&mut host, 1_000_000_000);
    }

    /// With noise, no frame arrives twice as new, and what was acknowledged has arrived.
    #[test]
    fn what_is_acknowledged_has_arrived(loss in 0.0f64..0.6, count in 1u16..60, aggregate: bool) {
        let (mut host, far) = chip_on_air(ChannelSettings { loss, ..ChannelSettings::default() });
        let words = [(1, u32::from(aggregate) << 5), (4, 1u32 << 8), (5, 19)];
        for sequence in 0..count {
            host.write(3, &transmission(sequence, 300, &words));
        }
        run(&mut host, 3_000_000_000);
        let statistics = host.statistics();
        let given_up = statistics["tx"]["given_up"].as_u64().unwrap();
        let mut sequences: Vec<u16> = far.0.borrow().heard.iter()
            .filter(|(_, frame, _)| frame[0] == 0x88)
            .map(|(_, frame, _)| u16::from_le_bytes([frame[22], frame[23]]) >> 4).collect();
        sequences.sort_unstable();
        sequences.dedup();
        prop_assert!(sequences.len() as u64 + given_up >= u64::from(count));
        prop_assert_eq!(statistics["air"]["chip"]["acknowledged"].as_u64().unwrap()
            >= u64::from(count) - given_up, true);
    }
}
