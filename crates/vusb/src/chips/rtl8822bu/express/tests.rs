//! The chip as its driver sees it on PCI: registers of any width, rings in memory, interrupts.

use proptest::prelude::*;
use wire::phy::{Bandwidth, Mode};
use wire::usb::rtw88::{queue, RxDescriptor, TxDescriptor, TX_DESCRIPTOR};

use super::super::registers as mac_reg;
use super::super::{Model, Settings};
use super::registers as reg;
use super::{BusCounters, Rtl8822be};
use crate::air::{ChannelSettings, Medium, Outcome, Ppdu, Reception, Station, Tuned};
use crate::device::{Device, Effect};
use crate::pci::tests::Ram;
use crate::pci::{Base, HostMemory, Register, SharedMemory, Width};
use crate::peers::silent::Silent;

const OWN: [u8; 6] = Model::Rtl8822be.address();
const PEER: [u8; 6] = [2, 0, 0, 0, 0, 9];
/// Where descriptors of rings, the beacon queue's one, frames, descriptors of buffers and buffers are.
const DESCRIPTORS: u32 = 0x1000;
const BEACON: u32 = 0x800;
const FRAMES: u32 = 0x10_0000;
const FREE: u32 = 0x8000;
const BUFFERS: u32 = 0x20_0000;
const PLACE: u32 = 0x1000;
/// Descriptors of a ring, and of buffers.
const RING: u32 = 8;
const FREE_BUFFERS: u32 = 4;
/// Best effort.
const BEST_EFFORT: reg::Ring = reg::RINGS[2];
const READ: u32 = 1 << BEST_EFFORT.done.1;
const MASK: u32 = 0x00b0;
const STATUS: u32 = 0x00b4;

struct Host {
    ram: Ram,
    device: Rtl8822be,
}

impl Host {
    fn new() -> Self {
        let ram = Ram::new(0x40_0000);
        let medium = Medium::new(ChannelSettings::default(), 1, None);
        let memory = SharedMemory::new(ram.clone());
        let device = Rtl8822be::new(Settings::new(Model::Rtl8822be), medium, Box::new(Silent), &memory);
        Self { ram, device }
    }

    /// Rings and a MAC that is on: channel 36, everything passes.
    fn started(pages: u16) -> Self {
        let mut host = Self::new();
        host.write(0x0005, 1, 1);
        host.write(mac_reg::CR.into(), 2, 0x00ff);
        host.write(BEST_EFFORT.base.into(), 4, DESCRIPTORS);
        host.write(BEST_EFFORT.count.into(), 2, RING);
        host.write(reg::RX_BASE.into(), 4, FREE);
        host.write(reg::RX_COUNT.into(), 2, FREE_BUFFERS);
        for at in 0..FREE_BUFFERS {
            host.ram.set(FREE + 8 * at, &[0x2018, BUFFERS + PLACE * at]);
        }
        host.write(u32::from(mac_reg::FIFOPAGE_INFO_1) + 16, 2, pages.into());
        host.write(mac_reg::RCR.into(), 4, 0xf000_000f);
        host.write(mac_reg::RXFLTMAP2.into(), 2, 0xffff);
        let [a, b, c, d, e, f] = OWN;
        host.write(mac_reg::MACID.into(), 4, u32::from_le_bytes([a, b, c, d]));
        host.write(u32::from(mac_reg::MACID) + 4, 2, u16::from_le_bytes([e, f]).into());
        host.write(mac_reg::RF_WRITE[0].into(), 4, 0x18 << 20 | 0x1_3d24);
        host.write(MASK, 4, READ | reg::RECEIVED);
        host
    }

    fn write(&mut self, offset: u32, bytes: u32, value: u32) {
        self.device.write_register(0, Register { function: 0, offset, width: Width::of(bytes) }, value);
    }

    fn read(&mut self, offset: impl Into<u32>) -> u32 {
        self.device.read_register(0, Register::word(0, offset.into()))
    }

    /// Puts bytes behind a descriptor into memory, and a descriptor of both to `at`.
    fn buffers(&self, at: u32, place: u32, descriptor: TxDescriptor, frame: &[u8]) {
        // No checksum: the driver fills in none.
        let mut words = descriptor.emit();
        words[28..30].fill(0);
        self.ram.write(0, place.into(), &words);
        self.ram.write(0, (place + TX_DESCRIPTOR as u32).into(), frame);
        let pages = (TX_DESCRIPTOR + frame.len()).div_ceil(128) as u32;
        self.ram
            .set(at, &[TX_DESCRIPTOR as u32 | pages << 16, place, frame.len() as u32, place + TX_DESCRIPTOR as u32]);
    }

    /// Frames in the ring of best effort from a descriptor on, and the driver's index behind them.
    fn queue(&mut self, from: u32, sequences: std::ops::Range<u16>) {
        let mut at = from;
        for sequence in sequences {
            let mut frame = vec![0x88, 0x01, 0, 0];
            frame.extend([PEER, OWN, PEER].concat());
            frame.extend((sequence << 4).to_le_bytes());
            frame.resize(300, 0x55);
            // The driver's rate, 6 Mbit/s.
            let descriptor = TxDescriptor::new(frame.len() as u16, 0).with(3, 8, 1).with(4, 0, 4);
            self.buffers(DESCRIPTORS + 16 * at, FRAMES + PLACE * at, descriptor, &frame);
            at = (at + 1) % RING;
        }
        self.write(BEST_EFFORT.index.into(), 2, at);
    }

    /// What goes on the air next, which arrives.
    fn sent(&mut self, now_ns: u64) -> Option<Ppdu> {
        let ppdu = self.device.chip.mac.begin(now_ns, 0)?;
        let outcome = Outcome { acknowledged: vec![true; ppdu.mpdus.len()], sent: true };
        self.device.chip.mac.ended(now_ns, ppdu.clone(), &outcome);
        self.device.chip.pump(now_ns);
        Some(ppdu)
    }

    fn receive(&mut self, sequence: u16, len: usize) -> bool {
        let mut frame = vec![0x08, 0x02, 0, 0];
        frame.extend([OWN, PEER, PEER].concat());
        frame.extend((sequence << 4).to_le_bytes());
        frame.resize(len, 0x66);
        let mode = Mode::from_legacy_rate(12, None).unwrap();
        let tuned = Tuned { frequency_mhz: 5_180, width: Bandwidth::Mhz20 };
        let reception = Reception { mode, ampdu: None, last: true, tuned, signal_dbm: -50 };
        let taken = self.device.chip.mac.receive(0, &frame, &reception);
        self.device.chip.pump(0);
        taken
    }

    /// A buffer: the tag of its descriptor, what the chip says of the frame, and its sequence number.
    fn buffer(&self, at: u32) -> (u32, RxDescriptor, u16) {
        let mut bytes = vec![0; PLACE as usize];
        self.ram.read(0, (BUFFERS + PLACE * at).into(), &mut bytes);
        let descriptor = RxDescriptor::parse(&bytes).unwrap();
        let start = descriptor.frame_offset() + 22;
        let sequence = u16::from_le_bytes([bytes[start], bytes[start + 1]]) >> 4;
        (self.ram.word(FREE + 8 * at) >> 16, descriptor, sequence)
    }

    fn counted(&self) -> BusCounters {
        self.device.chip.bus.counters()
    }
}

fn sequence(ppdu: &Ppdu) -> u16 {
    u16::from_le_bytes([ppdu.mpdus[0][22], ppdu.mpdus[0][23]]) >> 4
}

#[test]
fn it_is_what_the_driver_looks_for_and_where() {
    let mut host = Host::new();
    let found = host.device.functions();
    let [function] = &found[..] else { panic!("{found:?}") };
    assert_eq!((function.vendor, function.device, function.base), (0x10ec, 0xb822, Base::Two));
    assert_eq!(host.read(mac_reg::SYS_CFG1) >> 12 & 15, 3, "version D");
    let other = Register { function: 1, offset: mac_reg::SYS_CFG1.into(), width: Width::Half };
    assert_eq!(host.device.read_register(0, other), 0xffff);
    host.device.write_register(0, Register { offset: mac_reg::CR.into(), ..other }, 0);
    assert_eq!(host.read(mac_reg::CR) & 0xff, u32::from(mac_reg::CR_OFF));
}

#[test]
fn rings_stay_while_the_mac_has_no_power() {
    let mut host = Host::new();
    host.write(BEST_EFFORT.base.into(), 4, DESCRIPTORS);
    host.write(0x0005, 1, 1);
    host.write(0x0005, 1, 2);
    assert_eq!(host.read(mac_reg::CR) & 0xff, u32::from(mac_reg::CR_OFF));
    assert_eq!(host.read(BEST_EFFORT.base), DESCRIPTORS);
    host.device.reset(0);
    assert_eq!(host.read(BEST_EFFORT.base), 0, "unplugged");
}

/// mac.c, download_firmware_to_mem; pci.c, rtw_pci_write_data_rsvd_page.
#[test]
fn parts_of_the_firmware_come_by_the_beacon_queue() {
    let mut host = Host::started(64);
    host.write(reg::BEACON_BASE.into(), 4, BEACON);
    host.write(mac_reg::FIFOPAGE_CTRL_2.into(), 2, 0x8000);
    let descriptor = TxDescriptor::new(4_096, queue::BEACON);
    host.buffers(BEACON, FRAMES, descriptor, &[0x5a; 4_096]);
    let work = host.read(reg::RX_COUNT & !3) >> 24;
    host.write(reg::BEACON_WORK.into(), 1, work | u32::from(reg::BEACON_FLAG));
    assert_eq!(host.read(mac_reg::FIFOPAGE_CTRL_2) & 0x8000, 0x8000, "the page is there");
    assert_eq!(host.read(reg::RX_COUNT & !3) >> 16, FREE_BUFFERS, "done, and the number of buffers is what it was");
    host.write(mac_reg::DDMA_CH0SA.into(), 4, 0x1878_0000 + TX_DESCRIPTOR as u32);
    host.write(mac_reg::DDMA_CH0DA.into(), 4, 0x0020_0000);
    host.write(mac_reg::DDMA_CH0CTRL.into(), 4, mac_reg::DDMA_OWN | mac_reg::DDMA_RESET_CHECKSUM | 4_096);
    assert_eq!(host.read(mac_reg::DDMA_CH0CTRL) & (mac_reg::DDMA_OWN | mac_reg::DDMA_CHECKSUM_WRONG), 0);
    assert_eq!((host.counted().pages, host.device.chip.mac.counters().firmware_bytes), (1, 4_096));
}

#[test]
fn frames_are_read_as_there_is_room_and_the_driver_is_told() {
    // Each takes three pages: two fit.
    let mut host = Host::started(6);
    host.queue(0, 0..5);
    assert_eq!(host.read(BEST_EFFORT.index), 2 << 16 | 5);
    assert_eq!((host.read(STATUS), host.device.interrupts()), (READ, 1));
    host.write(STATUS, 4, READ);
    assert_eq!((host.read(STATUS), host.device.interrupts()), (0, 0));
    assert_eq!(host.sent(1_000).map(|ppdu| sequence(&ppdu)), Some(0));
    assert_eq!((host.read(BEST_EFFORT.index), host.device.interrupts()), (3 << 16 | 5, 1), "a place was free");
    let others: Vec<_> = (2..6).map_while(|at| host.sent(at * 1_000)).map(|ppdu| sequence(&ppdu)).collect();
    assert_eq!((others, host.read(BEST_EFFORT.index)), (vec![1, 2, 3, 4], 5 << 16 | 5));
    // Round the end of the ring.
    host.queue(5, 5..10);
    let others: Vec<_> = (6..20).map_while(|at| host.sent(at * 1_000)).map(|ppdu| sequence(&ppdu)).collect();
    assert_eq!((others, host.read(BEST_EFFORT.index)), (vec![5, 6, 7, 8, 9], 2 << 16 | 2));
    assert_eq!((host.counted().fetched, host.device.chip.mac.tx_counters().bad_checksums), (10, 0));
    assert_eq!(host.device.chip.mac.tx_counters().buffer_full, 6, "each of those that did not fit, once");
}

#[test]
fn nothing_is_read_before_the_driver_lets_dma_run() {
    let mut host = Host::started(64);
    host.write(mac_reg::CR.into(), 1, 0xfe);
    host.queue(0, 0..2);
    assert_eq!(host.read(BEST_EFFORT.index), 2);
    host.write(mac_reg::CR.into(), 1, 0xff);
    assert_eq!(host.read(BEST_EFFORT.index), 2 << 16 | 2);
    // More descriptors than there are: an index that is none.
    host.write(BEST_EFFORT.index.into(), 2, RING);
    assert_eq!(host.read(BEST_EFFORT.index), 2 << 16 | RING);
}

#[test]
fn what_is_no_frame_is_counted_and_passed_over() {
    let mut host = Host::started(64);
    host.ram.set(DESCRIPTORS, &[20, FRAMES, 0, 0]);
    host.ram.set(DESCRIPTORS + 16, &[TX_DESCRIPTOR as u32, FRAMES, 0x4000, FRAMES]);
    host.write(BEST_EFFORT.index.into(), 2, 2);
    assert_eq!((host.read(BEST_EFFORT.index), host.device.chip.mac.tx_counters().malformed), (2 << 16 | 2, 2));
    assert!(host.sent(0).is_none());
}

#[test]
fn received_frames_fill_buffers_with_tags_that_count() {
    let mut host = Host::started(64);
    for number in 0..3 {
        assert!(host.receive(number, 200));
    }
    assert_eq!((host.read(reg::RX_INDEX), host.read(STATUS), host.device.interrupts()), (3 << 16, reg::RECEIVED, 1));
    for number in 0..3 {
        let (tag, descriptor, sequence) = host.buffer(number);
        // With its checksum.
        assert_eq!((tag, descriptor.frame_len, u32::from(sequence)), (number, 204, number));
    }
    // One place stays empty: the next one waits in the chip until the driver has read.
    host.write(STATUS, 1, reg::RECEIVED);
    assert!(host.receive(3, 200));
    assert_eq!((host.read(reg::RX_INDEX), host.read(STATUS)), (3 << 16, reg::NO_BUFFER));
    assert_eq!((host.device.interrupts(), host.counted().no_buffer), (0, 1), "that is not asked for");
    host.write(reg::RX_INDEX.into(), 2, 2);
    assert_eq!((host.read(reg::RX_INDEX), host.buffer(3).0, host.buffer(3).2), (2, 3, 3));
    // The driver begins again.
    host.write(reg::CTRL.into(), 4, reg::RESET_DMA);
    host.receive(4, 200);
    assert_eq!((host.buffer(0).0, host.buffer(0).2, host.read(reg::CTRL)), (0, 4, 0));
    assert_eq!((host.counted().filled, host.device.chip.mac.rx_counters().delivered), (5, 5));
}

#[test]
fn a_frame_that_is_longer_than_its_buffer_is_lost() {
    let mut host = Host::started(64);
    host.ram.set(FREE, &[100]);
    host.receive(0, 200);
    assert_eq!((host.read(reg::RX_INDEX), host.counted().too_long), (0, 1));
    host.ram.set(FREE, &[0x2018]);
    host.receive(1, 200);
    assert_eq!((host.read(reg::RX_INDEX), host.buffer(0).2), (1 << 16, 1));
}

#[test]
fn interrupts_are_masked_and_cleared_bit_by_bit() {
    let mut host = Host::started(64);
    host.queue(0, 0..1);
    host.receive(0, 100);
    assert_eq!((host.read(STATUS), host.device.interrupts()), (READ | reg::RECEIVED, 1));
    host.write(MASK, 4, 0);
    assert_eq!(host.device.interrupts(), 0);
    host.write(STATUS + 1, 1, 0xff);
    assert_eq!(host.read(STATUS), READ | reg::RECEIVED, "another byte");
    host.write(STATUS, 2, READ);
    assert_eq!(host.read(STATUS), reg::RECEIVED);
    host.write(MASK, 4, READ | reg::RECEIVED);
    assert_eq!((host.device.interrupts(), host.counted().interrupts), (1, 2));
    // That commands were read is in the fourth register.
    host.write(reg::COMMANDS.base.into(), 4, DESCRIPTORS + 0x100);
    host.write(reg::COMMANDS.count.into(), 2, RING);
    host.write(reg::COMMANDS.index.into(), 2, 1);
    assert_eq!(host.read(0x10bc_u32), 1 << 16);
}

/// pci.c, rtw_pci_reset_buf_desc.
#[test]
fn indices_are_cleared() {
    let mut host = Host::started(64);
    host.write(reg::COMMANDS.base.into(), 4, DESCRIPTORS + 0x100);
    host.write(reg::COMMANDS.count.into(), 2, RING);
    host.write(reg::COMMANDS.index.into(), 2, 3);
    host.queue(0, 0..2);
    host.receive(0, 100);
    // The chip's part of an index is not the driver's to write.
    host.write(BEST_EFFORT.index.into(), 4, 0x0007_0002);
    assert_eq!(host.read(BEST_EFFORT.index), 2 << 16 | 2);
    host.write(reg::CLEAR_INDICES.into(), 4, u32::MAX);
    let indices = [BEST_EFFORT.index, reg::RX_INDEX, reg::CLEAR_INDICES, reg::COMMANDS.index];
    assert_eq!(indices.map(|index| host.read(index)), [0, 0, 0, 3 << 16 | 3]);
    host.write(reg::COMMANDS_CONTROL.into(), 4, reg::CLEAR_DRIVERS | reg::CLEAR_CHIPS);
    assert_eq!([reg::COMMANDS.index, reg::COMMANDS_CONTROL].map(|index| host.read(index)), [0, 0]);
}

#[test]
fn faults_of_the_bus() {
    let mut host = Host::started(64);
    assert!(host.device.inject(0, Effect::StuckDma(true)));
    host.queue(0, 0..1);
    host.receive(0, 100);
    assert_eq!((host.read(BEST_EFFORT.index), host.read(reg::RX_INDEX)), (1, 0));
    assert!(host.device.inject(0, Effect::StuckDma(false)));
    assert_eq!((host.read(BEST_EFFORT.index), host.read(reg::RX_INDEX)), (1 << 16 | 1, 1 << 16));
    assert!(host.device.inject(0, Effect::LostInterrupts(true)));
    assert_eq!(host.device.interrupts(), 0);
    assert!(host.device.inject(0, Effect::LostInterrupts(false)));
    assert_eq!(host.device.interrupts(), 1);
    assert!(host.device.inject(0, Effect::Unplug(5)));
    assert_eq!((host.device.interrupts(), host.read(BEST_EFFORT.base)), (0, 0));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    /// Whatever a driver writes, and whatever is in the memory that it points to.
    #[test]
    fn any_write_is_taken(
        fill: u8,
        writes in prop::collection::vec((0u32..0x1400, 0u32..3, any::<u32>()), 0..60),
        counts in prop::collection::vec((0usize..7, 0u16..32, 0u16..64), 0..10),
    ) {
        let mut host = Host::started(64);
        host.ram.0.borrow_mut().fill(fill);
        for (ring, count, index) in counts {
            host.write(reg::RINGS[ring].count.into(), 2, count.into());
            host.write(reg::RINGS[ring].index.into(), 2, index.into());
        }
        for (at, width, value) in writes {
            let bytes = 1 << width;
            host.write(at / bytes * bytes, bytes, value);
            host.receive(0, 100);
            host.device.advance(0);
            host.read(at / 4 * 4);
        }
    }
}
