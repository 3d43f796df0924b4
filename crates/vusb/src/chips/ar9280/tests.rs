//! A chip as its driver sees it: registers, descriptors in memory, interrupts.

use wire::ieee80211::{MacAddr, Mpdu, Seq};
use wire::phy::Mode;

use super::assumptions::Assumptions;
use super::eeprom::Eeprom;
use super::mac::Mac;
use super::registers as reg;
use super::{address, Model};
use crate::air::{Outcome, Ppdu, Reception, Station, Tuned};
use crate::pci::tests::Ram;
use crate::pci::SharedMemory;

const OWN: [u8; 6] = address(Model::Ar9280, 0);
const PEER: [u8; 6] = [2, 0, 0, 0, 0, 9];
/// Where descriptors of frames to send, frames, and descriptors of received ones are.
const DESCRIPTORS: u32 = 0x1000;
const FRAMES: u32 = 0x10_0000;
const RECEIVED: u32 = 0x8000;
const BUFFERS: u32 = 0x20_0000;
const DESCRIPTOR_LEN: u32 = 0x80;
const FRAME_LEN: u32 = 0x1000;

struct Host {
    ram: Ram,
    mac: Mac,
}

impl Host {
    /// A chip on channel 6 that is awake and receives, as far as a driver's reset goes.
    fn new() -> Self {
        let ram = Ram::new(0x40_0000);
        let memory = SharedMemory::new(ram.clone()).of_function(0);
        let mut mac = Mac::new(Model::Ar9280, Eeprom::new(Model::Ar9280, OWN), Assumptions::default(), memory);
        mac.cold_start(0);
        let [a, b, c, d, e, f] = OWN;
        for (offset, value) in [
            (reg::RTC_RESET, 1),
            (reg::RTC_FORCE_WAKE, reg::WAKE_EN | reg::WAKE_ON_INT),
            (reg::STA_ID0, u32::from_le_bytes([a, b, c, d])),
            (reg::STA_ID1, u32::from(u16::from_le_bytes([e, f]))),
            (reg::BSS_MASK, u32::MAX),
            (reg::BSS_MASK + 4, 0xffff),
            (reg::PHY_SYNTH_CONTROL, 1 << 29 | ((2_437 << 16) / 15)),
            (reg::RX_FILTER, reg::FILTER_UNICAST | reg::FILTER_GROUP | reg::FILTER_MY_BEACON),
            (reg::USEC, 43),
            (reg::RIMT, 700 << 16 | 250),
            (reg::IMR, reg::ISR_TXOK | reg::ISR_TXERR | reg::ISR_TXEOL | reg::ISR_RXINTM | reg::ISR_RXMINTR),
            (reg::IMR_S0, u32::MAX),
            (reg::IMR_S1, u32::MAX),
            (reg::INTR_ASYNC_ENABLE, reg::MAC_IRQ),
            (reg::IER, 1),
        ] {
            mac.write(0, offset, value);
        }
        for queue in 0..reg::QUEUES as u32 {
            mac.write(0, reg::D_LCL_IFS + 4 * queue, 15 | 1_023 << 10 | 3 << 20);
        }
        mac.cycles().set(0, 0, 0);
        Self { ram, mac }
    }

    /// Puts frames of one queue into memory, each behind the one before; gives where the last descriptor is.
    fn queue(&mut self, frames: &[(u16, [u32; 2])], series: [u32; 2]) -> u32 {
        let mut at = DESCRIPTORS;
        for (number, (sequence, aggregate)) in (0u32..).zip(frames) {
            at = DESCRIPTORS + DESCRIPTOR_LEN * number;
            let buffer = FRAMES + FRAME_LEN * number;
            let mut frame = vec![0x88, 0x02, 0, 0];
            frame.extend([PEER, OWN, OWN].concat());
            frame.extend((sequence << 4).to_le_bytes());
            // TID 0, and the padding that the driver puts in.
            frame.extend([0, 0, 0, 0]);
            frame.extend([0x55; 100]);
            let is_last = number as usize + 1 == frames.len();
            let link = if is_last { 0 } else { at + DESCRIPTOR_LEN };
            let len = frame.len() as u32;
            self.ram.set(
                at,
                &[link, buffer, (len + 2) | 1 << 29, len | aggregate[0], series[0], series[1], 0, 0, aggregate[1], 0],
            );
            crate::pci::HostMemory::write(&self.ram, 0, buffer.into(), &frame);
        }
        at
    }

    fn send(&mut self, now_ns: u64, queue: u32) {
        self.mac.write(now_ns, reg::Q_TXDP + 4 * queue, DESCRIPTORS);
        self.mac.write(now_ns, reg::Q_TXE, 1 << queue);
    }

    fn status(&self, descriptor: u32, word: u32) -> u32 {
        self.ram.word(descriptor + 56 + 4 * word)
    }

    /// What goes on the air first.
    fn begin(&mut self, now_ns: u64) -> Option<Ppdu> {
        (0..5).rev().find_map(|function| self.mac.begin(now_ns, function))
    }

    fn end(&mut self, now_ns: u64, acknowledged: &[bool]) {
        let ppdu = self.begin(now_ns).expect("a frame");
        let outcome = Outcome { acknowledged: acknowledged.to_vec(), sent: true };
        self.mac.ended(now_ns + 1_000_000, ppdu, &outcome);
    }

    fn receive(&mut self, now_ns: u64, frame: &[u8]) -> bool {
        let mode = Mode::from_legacy_rate(12, None).expect("6 Mbit/s");
        let reception =
            Reception { mode, ampdu: None, last: true, tuned: Tuned::channel(6).expect("a channel"), signal_dbm: -50 };
        self.mac.receive(now_ns, frame, &reception)
    }
}

const PART: [u32; 2] = [1 << 30 | 1 << 29, 0];
const LAST: [u32; 2] = [1 << 30, 0];
const ALONE: [u32; 2] = [0, 0];
/// One try at MCS 7; three at MCS 7, then two at MCS 0.
const ONE_TRY: [u32; 2] = [1 << 16, 0x87];
const THREE_AND_TWO: [u32; 2] = [3 << 16 | 2 << 20, 0x8087];

/// The driver puts a frame that no longer fits behind those of a later A-MPDU (xmit.c, ath_tx_form_aggr).
#[test]
fn a_block_ack_counts_from_the_lowest_number_and_not_from_the_first() {
    let mut host = Host::new();
    let last = host.queue(&[(12, PART), (13, PART), (4_095, PART), (11, LAST)], ONE_TRY);
    host.send(0, 1);
    let ppdu = host.begin(0).expect("an A-MPDU");
    assert!(ppdu.aggregated && ppdu.mpdus.len() == 4);
    assert_eq!(ppdu.mpdus[0].len(), 26 + 100, "without the padding");
    host.mac.ended(1, ppdu, &Outcome { acknowledged: vec![true, false, true, true], sent: true });
    let [low, high] = [3, 4].map(|word| host.status(last, word));
    let bitmap = u64::from(high) << 32 | u64::from(low);
    let start = host.status(last, 9) >> 1 & 0xfff;
    assert_eq!((host.status(last, 0) >> 30 & 1, host.status(last, 1) & 3, start), (1, 1, 4_095));
    // As the driver asks: the distance of each number from the start.
    let is_there = |number: u16| bitmap >> Seq::new(number).distance_from(Seq::new(4_095)) & 1 == 1;
    assert_eq!([12, 13, 4_095, 11].map(is_there), [true, false, true, true]);
    assert_eq!(bitmap.count_ones(), 3);
}

#[test]
fn a_frame_goes_through_its_series_and_its_queue_to_the_end() {
    let mut host = Host::new();
    let last = host.queue(&[(1, ALONE), (2, ALONE)], THREE_AND_TWO);
    host.send(0, 1);
    let mut codes = Vec::new();
    for failed in 0..4u64 {
        let ppdu = host.begin(failed).expect("a frame");
        codes.push(ppdu.mode.rate_kbps().expect("a rate"));
        assert_eq!(Mpdu::new(&ppdu.mpdus[0]).retry(), failed > 0);
        host.mac.ended(failed, ppdu, &Outcome { acknowledged: vec![false], sent: true });
    }
    assert_eq!(codes, [65_000, 65_000, 65_000, 6_500]);
    host.end(10, &[true]);
    assert_eq!(host.status(DESCRIPTORS, 1) & 0xf0f, 1 | 1 << 8, "it went well after one failure of the second series");
    assert_eq!(host.status(DESCRIPTORS, 9) >> 21 & 3, 1);
    assert!(host.mac.interrupt());
    for failed in 0..5u64 {
        host.end(100 + failed, &[false]);
    }
    assert_eq!(host.status(last, 1) & 0xf0f, 2 | 1 << 8, "all tries were used");
    assert!(host.begin(200).is_none());
    let status = host.mac.read(200, reg::ISR);
    assert_eq!(
        status & (reg::ISR_TXOK | reg::ISR_TXERR | reg::ISR_TXEOL),
        reg::ISR_TXOK | reg::ISR_TXERR | reg::ISR_TXEOL
    );
    assert_eq!(host.mac.read(200, reg::Q_TXE), 0);
    // The driver adds a frame to the last one, which the chip still holds, and says so.
    host.ram.set(last, &[DESCRIPTORS]);
    host.mac.write(300, reg::Q_TXE, 1 << 1);
    assert_eq!(host.mac.read(300, reg::Q_TXE), 1 << 1);
    assert_eq!(Mpdu::new(&host.begin(300).expect("the first again").mpdus[0]).sequence(), Some(Seq::new(1)));
}

#[test]
fn a_queue_that_was_stopped_loses_what_is_on_the_air() {
    let mut host = Host::new();
    host.queue(&[(1, ALONE)], ONE_TRY);
    host.send(0, 1);
    let ppdu = host.begin(0).expect("a frame");
    assert_eq!(host.mac.read(1, reg::Q_STS + 4), 1);
    host.mac.write(1, reg::Q_TXD, 1 << 1);
    host.mac.ended(2, ppdu, &Outcome { acknowledged: vec![true], sent: true });
    assert_eq!((host.status(DESCRIPTORS, 9), host.mac.read(3, reg::Q_STS + 4), host.mac.interrupt()), (0, 0, false));
}

/// A station with an entry in the key cache that did not answer gets no frames until one clears that.
#[test]
fn frames_to_a_station_that_sleeps_come_back_unsent() {
    let mut host = Host::new();
    let with_key = [9 << 13, 0];
    host.queue(&[(1, with_key), (2, with_key), (3, with_key)], ONE_TRY);
    for number in 0..3 {
        let at = DESCRIPTORS + DESCRIPTOR_LEN * number;
        let clears = if number == 2 { 1 << 24 } else { 0 };
        host.ram.set(at + 8, &[host.ram.word(at + 8) | 1 << 30 | clears]);
    }
    host.send(0, 1);
    host.end(0, &[false]);
    // The second is not sent: the third is what comes.
    let ppdu = host.begin(5).expect("the third");
    assert_eq!(Mpdu::new(&ppdu.mpdus[0]).sequence(), Some(Seq::new(3)));
    assert_eq!([0, 1].map(|number| host.status(DESCRIPTORS + DESCRIPTOR_LEN * number, 1) & 0xf), [2, 8]);
}

#[test]
fn received_frames_go_to_descriptors_and_interrupts_wait() {
    let mut host = Host::new();
    let next = RECEIVED + DESCRIPTOR_LEN;
    host.ram.set(RECEIVED, &[next, BUFFERS, 0, 0xfff]);
    host.ram.set(next, &[0, BUFFERS + FRAME_LEN, 0, 0xfff]);
    let frame = |to: [u8; 6]| [&[0x88, 0x01, 0, 0][..], &to, &PEER, &OWN, &[0x10, 0, 0, 0], &[0x77; 30]].concat();
    assert!(!host.receive(1_000, &frame(OWN)), "the receiver is off");
    host.mac.write(1_000, reg::RXDP, RECEIVED);
    host.mac.write(1_000, reg::CR, reg::CR_RXE);
    assert!(host.receive(1_000, &frame(OWN)));
    assert!(!host.mac.interrupt());
    assert_eq!(host.mac.next_event(1_000), Some(251_000));
    host.mac.advance(251_000);
    assert!(host.mac.interrupt());
    assert_eq!(host.mac.read(251_000, reg::ISR) & reg::ISR_RXINTM, reg::ISR_RXINTM);
    // Status: length with padding and FCS, and that it is whole; the padding is behind the header.
    assert_eq!((host.ram.word(RECEIVED + 20), host.ram.word(RECEIVED + 48) & 3), (26 + 2 + 30 + 4, 3));
    assert_eq!(host.ram.word(BUFFERS + 28), 0x7777_7777);
    // Not its own: neither delivered nor acknowledged. Another, then no room: lost, and not acknowledged.
    assert!(!host.receive(260_000, &frame(PEER)) && host.receive(261_000, &frame(OWN)));
    assert!(!host.receive(262_000, &frame(OWN)));
    let status = host.mac.read(262_000, reg::ISR);
    assert_eq!(status & (reg::ISR_RXEOL | reg::ISR_RXORN), reg::ISR_RXEOL | reg::ISR_RXORN);
    // The driver adds a descriptor to the last one.
    host.ram.set(next, &[RECEIVED]);
    host.mac.write(263_000, reg::CR, reg::CR_RXE);
    assert!(host.receive(264_000, &frame(OWN)));
    assert_eq!(host.mac.counted().rx.overruns, 1);
}

#[test]
fn a_station_takes_the_time_of_its_network() {
    let mut host = Host::new();
    let [a, b, c, d, e, f] = PEER;
    host.mac.write(0, reg::BSS_ID0, u32::from_le_bytes([a, b, c, d]));
    host.mac.write(0, reg::BSS_ID0 + 4, u32::from(u16::from_le_bytes([e, f])));
    host.mac.write(0, reg::CR, reg::CR_RXE);
    let mut beacon = vec![0x80, 0, 0, 0];
    beacon.extend([[0xff; 6], PEER, PEER].concat());
    beacon.extend([0, 0]);
    beacon.extend(5_000_000u64.to_le_bytes());
    beacon.resize(60, 0);
    host.receive(7_000_000, &beacon);
    let lasted_us =
        Mode::from_legacy_rate(12, None).and_then(|mode| mode.duration(64, None)).expect("a time").ns / 1_000;
    assert_eq!(u64::from(host.mac.read(7_000_000, reg::TSF_L32)), 5_000_000 + lasted_us);
}

/// A chip that the driver has not set up yet is no one: its mask is 0.
#[test]
fn a_chip_wants_nothing_before_it_receives() {
    let memory = SharedMemory::new(Ram::new(16)).of_function(0);
    let mac = Mac::new(Model::Ar9287, Eeprom::new(Model::Ar9287, OWN), Assumptions::default(), memory);
    assert!(!mac.wants(MacAddr(PEER)) && !mac.wants(MacAddr::BROADCAST));
    let mut host = Host::new();
    host.mac.write(0, reg::CR, reg::CR_RXE);
    assert!(host.mac.wants(MacAddr(OWN)) && host.mac.wants(MacAddr::BROADCAST) && !host.mac.wants(MacAddr(PEER)));
}

/// An A-MSDU is longer than a buffer (recv.c puts its parts together).
#[test]
fn a_long_frame_goes_on_in_the_next_buffers() {
    let mut host = Host::new();
    let at = |number: u32| RECEIVED + DESCRIPTOR_LEN * number;
    for (number, link) in [(0, at(1)), (1, at(2)), (2, 0)] {
        host.ram.set(at(number), &[link, BUFFERS + FRAME_LEN * number, 0, 100]);
    }
    host.mac.write(0, reg::RXDP, RECEIVED);
    host.mac.write(0, reg::CR, reg::CR_RXE);
    let frame =
        |body: usize| [&[0x88, 0x01, 0, 0][..], &OWN, &PEER, &OWN, &[0x10, 0, 0, 0], &vec![0x77; body]].concat();
    assert!(host.receive(1_000, &frame(120)));
    // With padding and FCS: 152.
    let words = [0, 1].map(|number| (host.ram.word(at(number) + 20), host.ram.word(at(number) + 48) & 1));
    assert_eq!(words, [(100 | 1 << 12, 1), (52, 1)]);
    assert_eq!(host.ram.word(BUFFERS + FRAME_LEN + 44), 0x7777_7777);
    assert!(!host.receive(2_000, &frame(120)), "one buffer is not enough for it");
    assert!(host.receive(3_000, &frame(20)));
    let counted = host.mac.counted().rx;
    assert_eq!((counted.delivered, counted.too_long, host.ram.word(at(2) + 20)), (2, 1, 52));
}

#[test]
fn queues_contend_each_with_its_own_parameters() {
    let mut host = Host::new();
    host.mac.write(0, reg::D_LCL_IFS + 4 * 3, 3 | 7 << 10 | 2 << 20);
    host.queue(&[(1, ALONE)], [1 << 16, 0x0b]);
    host.send(10, 1);
    host.send(20, 3);
    let mut found = Vec::new();
    host.mac.contenders(&mut |each| found.push((each.function, each.since_ns, each.access.aifsn, each.access.ecw_min)));
    assert_eq!(found, [(1, 10, 3, 4), (3, 20, 2, 2)]);
    assert!(host.mac.begin(30, 2).is_none() && host.mac.begin(30, 1).is_some());
}

/// Behind an exchange the next frame follows only as far as the channel time goes.
#[test]
fn a_queue_goes_on_while_its_channel_time_lasts() {
    let mut host = Host::new();
    let last = host.queue(&[(1, ALONE), (2, ALONE), (3, ALONE)], [1 << 16, 0x0b]);
    host.send(0, 1);
    assert_eq!(host.mac.txop_limit_ns(1), Some(0));
    host.mac.write(0, reg::D_CHNTIME + 4, reg::CHNTIME_EN | 1_504);
    assert_eq!(host.mac.txop_limit_ns(1), Some(1_504_000));
    let well = || Outcome { acknowledged: vec![true], sent: true };
    let ppdu = host.begin(10).expect("the first");
    host.mac.ended(20, ppdu, &well());
    assert!(host.mac.go_on(30, 1, &mut |_| false).is_none(), "it does not fit");
    let ppdu = host.mac.go_on(30, 1, &mut |_| true).expect("the second");
    assert_eq!(Mpdu::new(&ppdu.mpdus[0]).sequence(), Some(Seq::new(2)));
    host.mac.ended(40, ppdu, &well());
    let ppdu = host.begin(50).expect("the third, which contends");
    host.mac.ended(60, ppdu, &well());
    assert_eq!(host.status(last, 1) & 0xf, 1, "all went well");
    assert!(host.mac.go_on(70, 1, &mut |_| true).is_none());
}

proptest::proptest! {
    /// Whatever a driver writes, and whatever its memory has.
    #[test]
    fn any_register_and_any_memory(
        writes in proptest::collection::vec((0u32..0x4000, proptest::prelude::any::<u32>()), 0..64),
        words in proptest::collection::vec(proptest::prelude::any::<u32>(), 256),
        frame: Vec<u8>,
    ) {
        let mut host = Host::new();
        host.ram.set(0, &words);
        for (at, (word, value)) in (0u64..).zip(writes) {
            host.mac.write(at, word * 4, value);
            host.mac.read(at, word * 4);
            host.mac.advance(at);
            host.receive(at, &frame);
            if let Some(ppdu) = host.begin(at) {
                let acknowledged = vec![at % 2 == 0; ppdu.mpdus.len()];
                host.mac.ended(at, ppdu, &Outcome { acknowledged, sent: at % 3 != 0 });
            }
        }
        for function in 0..5 {
            let _ = (host.mac.txop_limit_ns(function), host.mac.go_on(100, function, &mut |_| false));
        }
        host.mac.contenders(&mut |contender| assert!(contender.function < 5));
        let _ = (host.mac.tuned(), host.mac.ready_since(), host.mac.access());
    }
}
