//! The chip as its driver sees it on SDIO: registers by their addresses, frames to queues, aggregates from one place.

use proptest::prelude::*;
use sdio::Function as _;
use wire::phy::{Bandwidth, Mode};
use wire::usb::rtw88::{queue, RxDescriptor, TxDescriptor, ALIGNMENT, TX_DESCRIPTOR};

use super::super::registers as mac_reg;
use super::super::{Model, Settings};
use super::registers as reg;
use super::{BusCounters, Chip};
use crate::air::{ChannelSettings, Medium, Outcome, Ppdu, Reception, Station, Tuned};
use crate::chips::on_air::OnAir as _;
use crate::chips::sdio_radio::SdioRadio;
use crate::device::Effect;
use crate::peers::silent::Silent;
use crate::ushc::SdioChip as _;

const OWN: [u8; 6] = Model::Rtl8822bs.address();
const PEER: [u8; 6] = [2, 0, 0, 0, 0, 9];
/// Where registers of the MAC are, the queue of commands and pages, that of best effort, and what was received.
const MAC: u32 = 8 << 13;
const HIGH: u32 = 4 << 13;
const LOW: u32 = 6 << 13;
const RECEIVED: u32 = 7 << 13;
/// After this time what was received is ready: the timeout of the driver, 1 unit.
const TIMEOUT_NS: u64 = 32_000;

struct Host {
    card: SdioRadio<Chip>,
    now_ns: u64,
}

impl Host {
    fn new() -> Self {
        let medium = Medium::new(ChannelSettings::default(), 1, None);
        let mut card = SdioRadio::new(Chip::new(Settings::new(Model::Rtl8822bs)), medium, Box::new(Silent));
        card.power_on(0);
        Self { card, now_ns: 0 }
    }

    /// A MAC that is on: channel 36, everything passes; pages for best effort, none for all.
    fn started(pages: u32) -> Self {
        let mut host = Self::new();
        host.write(MAC + 0x0005, &[1]);
        host.word(MAC + u32::from(mac_reg::CR), 0x00ff);
        host.word(MAC + u32::from(mac_reg::FIFOPAGE_INFO_1) + 4, pages);
        // Best effort in the low place, groups in the high one.
        host.write(MAC + u32::from(mac_reg::TXDMA_PQ_MAP), &(1u16 << 8 | 3 << 14).to_le_bytes());
        host.word(MAC + u32::from(mac_reg::RCR), 0xf000_000f);
        host.write(MAC + u32::from(mac_reg::RXFLTMAP2), &[0xff, 0xff]);
        host.write(MAC + u32::from(mac_reg::MACID), &OWN);
        host.word(MAC + u32::from(mac_reg::RF_WRITE[0]), 0x18 << 20 | 0x1_3d24);
        host.word(reg::MASK.into(), reg::RECEIVED | reg::POWER_CONFIRMED);
        host
    }

    /// sdio.c, rtw_sdio_enable_rx_aggregation.
    fn aggregating() -> Self {
        let mut host = Self::started(64);
        host.write(MAC + u32::from(mac_reg::TXDMA_PQ_MAP), &[mac_reg::RX_AGGREGATION]);
        host.write(MAC + u32::from(mac_reg::RXDMA_AGG_PG_TH), &[0xff, 1]);
        host
    }

    fn write(&mut self, address: u32, data: &[u8]) {
        self.card.write(self.now_ns, address, true, data);
    }

    fn word(&mut self, address: u32, value: u32) {
        self.write(address, &value.to_le_bytes());
    }

    fn bytes(&mut self, address: u32, len: usize) -> Vec<u8> {
        let mut bytes = vec![0xaa; len];
        self.card.read(self.now_ns, address, true, &mut bytes);
        bytes
    }

    fn read(&mut self, address: impl Into<u32>) -> u32 {
        let bytes = self.bytes(address.into(), 4);
        u32::from_le_bytes(bytes.try_into().unwrap())
    }

    /// Writes a frame, page or command as the driver does: the address has its words, the transfer fills blocks.
    fn send(&mut self, place: u32, descriptor: TxDescriptor, body: &[u8]) {
        let mut data = [&descriptor.emit()[..], body].concat();
        let words = data.len().div_ceil(4) as u32;
        data.resize(data.len().next_multiple_of(512), 0xee);
        self.write(place + words, &data);
    }

    fn frame(&mut self, sequence: u16) {
        let mut frame = vec![0x88, 0x01, 0, 0];
        frame.extend([PEER, OWN, PEER].concat());
        frame.extend((sequence << 4).to_le_bytes());
        frame.resize(300, 0x55);
        // The driver's rate, 6 Mbit/s.
        let descriptor = TxDescriptor::new(frame.len() as u16, 0).with(3, 8, 1).with(4, 0, 4);
        self.send(LOW, descriptor, &frame);
    }

    /// What goes on the air next, which arrives.
    fn sent(&mut self) -> Option<Ppdu> {
        let mac = self.card.chip.mac_mut();
        let ppdu = mac.begin(self.now_ns, 0)?;
        let outcome = Outcome { acknowledged: vec![true; ppdu.mpdus.len()], sent: true };
        mac.ended(self.now_ns, ppdu.clone(), &outcome);
        self.card.chip.after_air(self.now_ns);
        Some(ppdu)
    }

    fn receive(&mut self, sequence: u16, len: usize) {
        let mut frame = vec![0x08, 0x02, 0, 0];
        frame.extend([OWN, PEER, PEER].concat());
        frame.extend((sequence << 4).to_le_bytes());
        frame.resize(len, 0x66);
        let mode = Mode::from_legacy_rate(12, None).unwrap();
        let tuned = Tuned { frequency_mhz: 5_180, width: Bandwidth::Mhz20 };
        let reception = Reception { mode, ampdu: None, last: true, tuned, signal_dbm: -50 };
        self.card.chip.mac_mut().receive(self.now_ns, &frame, &reception);
        self.card.chip.after_air(self.now_ns);
    }

    /// Lets time pass.
    fn wait(&mut self, ns: u64) {
        self.now_ns += ns;
        self.card.advance(self.now_ns);
    }

    /// What the host reads in one transfer, filled up to blocks: sequence numbers (sdio.c, rtw_sdio_rxfifo_recv).
    fn fetch(&mut self) -> Vec<u16> {
        let len = self.read(reg::RECEIVED_LEN) as usize;
        let bytes = self.bytes(RECEIVED, len.next_multiple_of(512));
        assert!(bytes[len..].iter().all(|&byte| byte == 0), "beyond what there is");
        let (mut at, mut found) = (0, Vec::new());
        while at < len {
            let descriptor = RxDescriptor::parse(&bytes[at..]).unwrap();
            let start = at + descriptor.frame_offset();
            found.push(u16::from_le_bytes([bytes[start + 22], bytes[start + 23]]) >> 4);
            at = (start + usize::from(descriptor.frame_len)).next_multiple_of(ALIGNMENT);
        }
        found
    }

    fn counted(&self) -> BusCounters {
        self.card.chip.bus.counters()
    }
}

fn sequence(ppdu: &Ppdu) -> u16 {
    u16::from_le_bytes([ppdu.mpdus[0][22], ppdu.mpdus[0][23]]) >> 4
}

#[test]
fn it_is_what_the_driver_looks_for() {
    let mut host = Host::new();
    let identity = host.card.identity();
    assert_eq!((identity.vendor, identity.device, identity.block_bytes_max), (0x024c, 0xb822, 512));
    assert_eq!(host.read(MAC + u32::from(mac_reg::SYS_CFG1)) >> 12 & 15, 3, "version D");
    // Byte by byte, as before power is on (sdio.c, rtw_sdio_readl).
    let byte = host.bytes(MAC + u32::from(mac_reg::CR), 1);
    assert_eq!(byte, [mac_reg::CR_OFF]);
}

/// mac.c, rtw_mac_pre_system_cfg; rtw8822b.c, trans_cardemu_to_carddis_8822b.
#[test]
fn the_bus_is_suspended_and_resumed() {
    let mut host = Host::new();
    let at = u32::from(reg::SUSPEND);
    assert_eq!(host.bytes(at, 1), [reg::RESUMED]);
    host.write(at, &[reg::SUSPEND_REQUEST | reg::RESUMED]);
    assert_eq!(host.bytes(at, 1), [reg::SUSPEND_REQUEST]);
    host.write(at, &[0]);
    assert_eq!(host.bytes(at, 1), [reg::RESUMED]);
    // The last register before it is off is behind two of the bus.
    host.word(MAC + 0x0090, 0xffff_ffff);
    for (register, value) in [(0x44, 0), (0x40, 0x90), (0x41, 0), (0x42, reg::INDIRECT_WRITE)] {
        host.write(register, &[value]);
    }
    assert_eq!((host.read(MAC + 0x0090), host.counted().indirect), (0xffff_ff00, 1));
}

/// sdio.c, rtw_sdio_indirect_reg_cfg and what uses it: cards with UHS-I.
#[test]
fn registers_of_the_mac_are_behind_two_of_the_bus() {
    let mut host = Host::started(64);
    let how = |bits: u8| u32::from(bits | reg::INDIRECT_DONE) << 16;
    let (data, at) = (u32::from(reg::INDIRECT_DATA), u32::from(reg::INDIRECT));
    for (bits, expected) in [(0, 0x78), (reg::INDIRECT_WORD, 0x5678), (reg::INDIRECT_DOUBLE, 0x1234_5678)] {
        host.word(MAC + 0x06c0, 0);
        host.word(data, 0x1234_5678);
        host.word(at, 0x06c0 | how(reg::INDIRECT_WRITE | bits));
        assert_eq!(host.read(MAC + 0x06c0), expected);
    }
    host.word(data, 0);
    host.word(at, 0x06c0 | how(reg::INDIRECT_READ));
    assert_eq!((host.read(data), host.bytes(at + 2, 1)[0] & reg::INDIRECT_DONE), (0x1234_5678, reg::INDIRECT_DONE));
    assert_eq!(host.counted().indirect, 4);
}

/// mac.c, download_firmware_to_mem; sdio.c, rtw_sdio_write_data_rsvd_page.
#[test]
fn parts_of_the_firmware_come_by_the_beacon_queue() {
    let mut host = Host::started(64);
    host.write(MAC + u32::from(mac_reg::FIFOPAGE_CTRL_2), &[0, 0x80]);
    host.send(HIGH, TxDescriptor::new(4_096, queue::BEACON), &[0x5a; 4_096]);
    assert_eq!(host.read(MAC + u32::from(mac_reg::FIFOPAGE_CTRL_2)) & 0x8000, 0x8000, "the page is there");
    host.word(MAC + u32::from(mac_reg::DDMA_CH0SA), 0x1878_0000 + TX_DESCRIPTOR as u32);
    host.word(MAC + u32::from(mac_reg::DDMA_CH0DA), 0x0020_0000);
    let control = MAC + u32::from(mac_reg::DDMA_CH0CTRL);
    host.word(control, mac_reg::DDMA_OWN | mac_reg::DDMA_RESET_CHECKSUM | 4_096);
    assert_eq!(host.read(control) & (mac_reg::DDMA_OWN | mac_reg::DDMA_CHECKSUM_WRONG), 0);
    assert_eq!((host.counted().taken, host.card.chip.mac.counters().firmware_bytes), (1, 4_096));
}

#[test]
fn frames_take_pages_and_give_them_back() {
    // Each takes three pages: two fit, and with them no page is left.
    let mut host = Host::started(6);
    let low = u32::from(reg::FREE_PAGES) + 4;
    for (sequence, free) in [(0, 3), (1, 0)] {
        host.frame(sequence);
        assert_eq!(host.read(low), free);
    }
    // The driver would not send another one: it is lost.
    host.frame(2);
    assert_eq!((host.counted().taken, host.counted().lost), (2, 1));
    assert_eq!(host.read(reg::STATUS), reg::OVERFLOW);
    host.word(reg::STATUS.into(), reg::OVERFLOW);
    assert_eq!(host.read(reg::STATUS), 0);
    let sent: Vec<_> = std::iter::from_fn(|| host.sent()).map(|ppdu| sequence(&ppdu)).collect();
    assert_eq!((sent, host.read(low)), (vec![0, 1], 6));
    assert_eq!(host.card.chip.mac.tx_counters().bad_checksums, 0);
    // Pages of all are in the upper half, those of the other places in the other words.
    for (place, pages) in [(0, 7), (2, 9), (3, 11), (4, 13)] {
        host.word(MAC + u32::from(mac_reg::FIFOPAGE_INFO_1) + 4 * place, pages);
    }
    let words = [0, 4, 8].map(|at| host.read(u32::from(reg::FREE_PAGES) + at));
    assert_eq!(words, [9 << 16 | 7, 13 << 16 | 6, 11]);
    assert_eq!(host.counted().page_reads, 1, "of the first word");
}

#[test]
fn nothing_is_taken_before_the_driver_lets_dma_run() {
    let mut host = Host::started(64);
    host.write(MAC + u32::from(mac_reg::CR), &[0xfe]);
    host.frame(0);
    assert_eq!((host.counted().lost, host.sent().is_none()), (1, true));
    host.write(MAC + u32::from(mac_reg::CR), &[0xff]);
    host.frame(0);
    assert_eq!((host.counted().taken, host.sent().is_some()), (1, true));
    // What was received waits likewise.
    host.write(MAC + u32::from(mac_reg::CR), &[0xfd & 0xfc]);
    host.receive(0, 100);
    assert_eq!((host.read(reg::RECEIVED_LEN), host.card.interrupts()), (0, false));
}

#[test]
fn what_is_received_interrupts_until_all_of_it_was_read() {
    let mut host = Host::aggregating();
    (0..3).for_each(|number| host.receive(number, 200));
    assert!(!host.card.interrupts(), "it waits for more");
    assert_eq!(host.card.next_event(), Some(TIMEOUT_NS));
    host.wait(TIMEOUT_NS);
    assert!(host.card.interrupts());
    assert_eq!(host.read(reg::STATUS), reg::RECEIVED);
    // Writing does not clear it (sdio.c, rtw_sdio_handle_interrupt does not).
    host.word(reg::STATUS.into(), u32::MAX);
    assert!(host.card.interrupts());
    // What comes meanwhile is in the next one.
    host.receive(3, 200);
    assert_eq!(host.fetch(), [0, 1, 2]);
    assert!(!host.card.interrupts());
    host.wait(TIMEOUT_NS);
    assert_eq!(host.fetch(), [3]);
    assert_eq!((host.read(reg::RECEIVED_LEN), host.card.interrupts(), host.card.next_event()), (0, false, None));
    assert_eq!((host.counted().fetched, host.card.chip.mac.rx_counters().delivered), (2, 4));
    assert_eq!(host.bytes(RECEIVED, 8), [0; 8]);
    assert_eq!(host.counted().empty_reads, 1);
    host.word(reg::MASK.into(), 0);
    host.receive(4, 200);
    host.wait(TIMEOUT_NS);
    assert_eq!((host.read(reg::STATUS), host.card.interrupts()), (reg::RECEIVED, false), "masked");
}

#[test]
fn what_is_not_read_at_once_is_read_later() {
    let mut host = Host::started(64);
    host.receive(7, 200);
    let len = host.read(reg::RECEIVED_LEN);
    let whole = [host.bytes(RECEIVED, 100), host.bytes(RECEIVED + 1, len as usize - 100)].concat();
    assert_eq!(host.read(reg::RECEIVED_LEN), 0);
    let descriptor = RxDescriptor::parse(&whole).unwrap();
    assert_eq!(descriptor.frame_offset() + usize::from(descriptor.frame_len), len as usize);
    // A host that reads on where it was, while more has come.
    host.receive(8, 200);
    let half = host.bytes(RECEIVED, 100);
    host.receive(9, 200);
    assert_eq!(host.read(reg::RECEIVED_LEN), len - 100);
    host.bytes(RECEIVED, len as usize);
    assert_eq!((half.len(), host.fetch()), (100, vec![9]));
}

#[test]
fn what_was_announced_goes_with_the_mac() {
    let mut host = Host::started(64);
    host.receive(0, 200);
    assert!(host.card.interrupts());
    host.write(MAC + 0x0005, &[2]);
    assert_eq!((host.read(reg::RECEIVED_LEN), host.card.interrupts()), (0, false));
    assert_eq!(host.card.chip.mac.rx_counters().delivered, 0);
}

#[test]
fn what_the_host_has_left_goes_with_the_mac() {
    let mut host = Host::started(64);
    host.receive(0, 200);
    let waiting = host.read(reg::RECEIVED_LEN);
    let _ = host.bytes(0xe000, 100);
    assert_eq!(host.read(reg::RECEIVED_LEN), waiting - 100);
    host.write(MAC + 0x0005, &[2]);
    assert_eq!((host.read(reg::RECEIVED_LEN), host.card.interrupts()), (0, false));
}

#[test]
fn power_states_are_confirmed_by_the_firmware_only() {
    let mut host = Host::started(64);
    host.write(reg::POWER_REQUEST.into(), &[0x80]);
    assert_eq!((host.bytes(reg::POWER_STATE.into(), 1), host.card.interrupts()), (vec![0], false));
    assert!(host.card.inject(0, Effect::FirmwareHang));
    assert!(!host.card.inject(0, Effect::StuckDma(true)), "there is none");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// Whatever a host reads and writes, wherever, of whatever length.
    #[test]
    fn any_host_is_survived(
        accesses in prop::collection::vec(
            (0u32..6, any::<u32>(), any::<bool>(), prop::collection::vec(any::<u8>(), 0..700)), 0..80,
        ),
        started: bool,
    ) {
        let mut host = if started { Host::started(64) } else { Host::new() };
        for (what, address, incrementing, mut bytes) in accesses {
            let address = address & 0x1_ffff;
            match what {
                0 => host.card.read(host.now_ns, address, incrementing, &mut bytes),
                1 => host.card.write(host.now_ns, address, incrementing, &bytes),
                2 => host.card.write(host.now_ns, address & 0x0ff, incrementing, &bytes),
                3 => host.card.write(host.now_ns, HIGH + (address & 0x7fff), incrementing, &bytes),
                4 => host.receive(address as u16 & 0xfff, 30 + bytes.len()),
                _ => {
                    host.wait(u64::from(address));
                    host.fetch_any();
                }
            }
            prop_assert!(host.card.next_event().is_none_or(|at_ns| at_ns > host.now_ns));
        }
    }

    /// A transfer as long as the bus carries one, and beyond the last address.
    #[test]
    fn long_transfers_end(address in 0u32..0x2_0000, incrementing: bool, writes: bool) {
        let mut host = Host::started(64);
        let mut bytes = vec![0x5a; 511 * 2_048];
        match writes {
            true => host.card.write(0, address, incrementing, &bytes),
            false => host.card.read(0, address, incrementing, &mut bytes),
        }
    }
}

impl Host {
    /// Reads what there is, whatever it is.
    fn fetch_any(&mut self) {
        let len = self.read(reg::RECEIVED_LEN) as usize;
        assert!(len <= 24_576, "{len}: what the receive buffer holds");
        self.bytes(RECEIVED, len);
    }
}
