use proptest::prelude::*;
use sdio::Function;
use wire::sdio::libertas::{
    command, emit_ethernet, event, key_info, key_kind, mac_control, Associate, Command, Key, ScanChannel, HEADER,
    RX_DESCRIPTOR,
};

use super::*;
use crate::air::{ChannelSettings, Medium};
use crate::chips::sdio_radio::SdioRadio;
use crate::device::Effect;
use crate::peers::builtin::{Builtin, BuiltinSettings};
use crate::ushc::SdioChip;
use crate::wired::WiredQueues;

const AP: MacAddr = MacAddr([0x02, 0x74, 0x78, 0x6f, 0x70, 0x01]);

/// A driver, as far as it is needed.
struct Host {
    card: SdioRadio<Sd8686>,
    wire: WiredQueues,
    now_ns: u64,
    sequence: u16,
    /// Answers: identifier, result, what follows.
    answers: Vec<(u16, u16, Vec<u8>)>,
    events: Vec<u32>,
    /// Frames with their descriptors.
    frames: Vec<Vec<u8>>,
    /// Packets that the chip said to have taken.
    taken: u32,
}

impl Host {
    fn new(settings: Settings) -> Self {
        let wire = WiredQueues::default();
        let peers = Builtin::with(BuiltinSettings::default(), Vec::new(), Box::new(wire.clone()));
        let medium = Medium::new(ChannelSettings::default(), 1, None);
        let mut card = SdioRadio::new(Sd8686::new(settings), medium, Box::new(peers));
        card.power_on(0);
        let (answers, events, frames) = Default::default();
        Self { card, wire, now_ns: 0, sequence: 0, answers, events, frames, taken: 0 }
    }

    fn byte(&mut self, address: u32) -> u8 {
        let mut byte = [0];
        self.card.read(self.now_ns, address, true, &mut byte);
        byte[0]
    }

    fn word(&mut self, address: u32) -> u16 {
        u16::from_le_bytes([self.byte(address), self.byte(address + 1)])
    }

    fn port(&mut self, bytes: &[u8]) {
        self.card.write(self.now_ns, PORT, false, bytes);
    }

    /// Helper and firmware, as the driver downloads them.
    fn download(&mut self) {
        for len in [60u8, 60, 8, 0] {
            let mut block = [0x11; 64];
            block[..4].copy_from_slice(&u32::from(len).to_le_bytes());
            assert_eq!((self.byte(register::STATUS) & 9, self.word(register::WANTED)), (9, 0));
            self.port(&block);
        }
        let mut left = 3_000usize;
        while left > 0 {
            let wanted = usize::from(self.word(register::WANTED)).min(left);
            assert!(wanted > 0 && wanted % 2 == 0);
            self.port(&vec![0; wanted.next_multiple_of(32)]);
            left -= wanted;
        }
    }

    fn booted_with(settings: Settings) -> Self {
        let mut host = Self::new(settings);
        let port = [0, 1, 2].map(|at| u32::from(host.byte(at)) << (8 * at)).iter().sum::<u32>();
        assert_eq!((port, host.word(register::SCRATCH)), (PORT, 0));
        host.download();
        assert_eq!(host.word(register::SCRATCH), RUNS);
        host.card.write(0, register::INTERRUPT_MASK, true, &[0x0f]);
        host
    }

    fn booted() -> Self {
        Self::booted_with(Settings::default())
    }

    fn send(&mut self, command: &Command) -> u16 {
        let (id, body) = command.emit();
        self.sequence += 1;
        let packet = Header { id, sequence: self.sequence }.emit(&body);
        self.port(&packet);
        self.serve();
        id
    }

    /// The answer to a command that has it at once.
    fn asked(&mut self, command: &Command) -> (u16, Vec<u8>) {
        let id = self.send(command);
        let (answered, result, body) = self.answers.pop().unwrap();
        assert_eq!(answered, id | command::ANSWER);
        (result, body)
    }

    /// What the driver does while the card interrupts (if_sdio.c, if_sdio_interrupt and if_sdio_card_to_host).
    fn serve(&mut self) {
        while self.card.interrupts() {
            let cause = self.byte(register::INTERRUPT_STATUS);
            self.card.write(self.now_ns, register::INTERRUPT_STATUS, true, &[!cause]);
            self.taken += u32::from(cause & DOWNLOADED != 0);
            if cause & UPLOAD == 0 {
                continue;
            }
            let len = usize::from(self.word(register::SCRATCH));
            let mut bytes = vec![0xee; len.next_multiple_of(256)];
            self.card.read(self.now_ns, PORT, false, &mut bytes);
            let packet = Packet::parse(&bytes).unwrap();
            assert_eq!(packet.body.len() + 4, len);
            match packet.kind {
                kind::COMMAND => {
                    let (header, body) = Header::parse(packet.body).unwrap();
                    let result = u16::from_le_bytes([packet.body[6], packet.body[7]]);
                    assert_eq!(header.sequence, self.sequence);
                    self.answers.push((header.id, result, body.to_vec()));
                }
                kind::EVENT => self.events.push(u32::from_le_bytes(packet.body.try_into().unwrap())),
                _ => self.frames.push(packet.body.to_vec()),
            }
        }
    }

    fn run(&mut self, for_ns: u64) {
        let until_ns = self.now_ns + for_ns;
        while let Some(at_ns) = self.card.next_event().filter(|&at_ns| at_ns <= until_ns) {
            self.now_ns = at_ns.max(self.now_ns);
            self.card.advance(self.now_ns);
            self.serve();
        }
        self.now_ns = until_ns;
        self.card.advance(until_ns);
        self.serve();
    }

    fn scan(&mut self, channels: &[u8]) -> Vec<u8> {
        let channels = channels.iter().map(|&number| ScanChannel { number, passive: false, dwell_ms: 40 }).collect();
        self.send(&Command::Scan { ssid: b"txop".to_vec(), channels });
        self.run(200_000_000);
        let (id, result, body) = self.answers.pop().unwrap();
        assert_eq!((id, result), (command::SCAN | command::ANSWER, 0));
        body
    }

    /// The network that is there.
    fn network(&mut self) -> Associate {
        let found = self.scan(&[1, 6, 11]);
        let bssid = MacAddr::read(&found, 5).unwrap();
        let rates = vec![0x82, 0x84, 0x8b, 0x96, 12, 18, 24, 36];
        let ssid = b"txop".to_vec();
        Associate { bssid, capability: 0x0421, listen_interval: 10, ssid, channel: 6, rates, ..Associate::default() }
    }

    fn joined_with(settings: Settings) -> (Self, Associate) {
        let mut host = Self::booted_with(settings);
        assert_eq!(host.asked(&Command::MacControl(mac_control::RX | mac_control::TX)).0, 0);
        let network = host.network();
        host.send(&Command::Associate(network.clone()));
        host.run(100_000_000);
        let (id, result, body) = host.answers.pop().unwrap();
        assert_eq!((id, result, &body[2..4]), (command::ASSOCIATED, 0, &[0, 0][..]));
        assert_eq!(host.card.chip.firmware.chip.associations, 1);
        (host, network)
    }

    fn joined() -> Self {
        Self::joined_with(Settings::default()).0
    }

    fn transmit(&mut self, payload: usize) {
        let mut frame = [&AP.0[..5], &[9][..], &ADDRESS.0, &[8, 0]].concat();
        frame.resize(14 + payload, 0x5a);
        self.port(&emit_ethernet(&frame));
        self.serve();
    }

    fn receive(&mut self, destination: MacAddr, count: usize) {
        for _ in 0..count {
            let frame = [&destination.0[..], &AP.0, &[8, 0], &[0xa5; 100]].concat();
            self.wire.to_host.borrow_mut().push_back(frame);
        }
        self.card.readable(self.now_ns, 0);
    }
}

#[test]
fn the_driver_asks_who_it_is() {
    let mut host = Host::booted();
    let (result, hardware) = host.asked(&Command::Hardware);
    assert_eq!((result, hardware.len()), (0, 38));
    assert_eq!((hardware[2], &hardware[8..14], hardware[14]), (0x0b, &ADDRESS.0[..], 0x10));
    let other = MacAddr([2, 0, 0, 0, 0, 7]);
    assert_eq!(host.asked(&Command::Address(Some(other))).1[2..], other.0);
    assert_eq!(host.asked(&Command::Address(None)).1[2..], other.0);
    assert_eq!(host.asked(&Command::Channel(Some(11))).1[2..4], [11, 0]);
    assert_eq!(host.asked(&Command::Channel(None)).1[2..4], [11, 0]);
    assert_eq!(host.asked(&Command::TxPower), (0, vec![0, 0, 15, 0, 18, 0]));
    assert_eq!(host.asked(&Command::Signal).0, 1, "no network has been joined");
    assert_eq!(host.asked(&Command::Unknown(0x16)), (0, Vec::new()));
    let chip = host.card.chip.firmware.chip;
    assert_eq!((chip.commands, chip.commands_without_effect, chip.commands_failed, host.taken), (8, 1, 1, 8));
    assert_eq!((chip.helper_blocks, chip.firmware_bytes, chip.boots), (4, 3_008, 1));
}

#[test]
fn a_scan_finds_the_network_on_its_channel() {
    let mut host = Host::booted();
    let found = host.scan(&[1, 6, 11]);
    assert_eq!((found[2], found[11]), (1, 48), "-45 dBm are 3 minus 48");
    assert_eq!(host.scan(&[1, 2, 3, 4]), [0, 0, 0]);
    assert_eq!(host.scan(&[]), [0, 0, 0]);
    assert_eq!(host.card.chip.firmware.chip.scans, 3);
}

#[test]
fn frames_go_both_ways() {
    let mut host = Host::joined();
    for _ in 0..10 {
        host.transmit(100);
        host.run(5_000_000);
    }
    let sent = host.wire.from_host.borrow().clone();
    assert_eq!(sent.len(), 10);
    assert_eq!(sent[0][..14], [&AP.0[..5], &[9][..], &ADDRESS.0, &[8, 0]].concat());
    assert_eq!(sent[0].len(), 114);

    host.receive(ADDRESS, 20);
    host.run(100_000_000);
    assert_eq!((host.frames.len(), host.card.chip.firmware.rx.delivered, host.card.chip.firmware.waiting), (20, 20, 0));
    let frame = &host.frames[0];
    assert_eq!((frame[2], frame[6], frame[7], frame[8]), (50, 95, 12, 20), "54 Mbit/s");
    assert_eq!(
        frame[RX_DESCRIPTOR..RX_DESCRIPTOR + 22],
        [&ADDRESS.0[..], &AP.0, &[0, 108, 0xaa, 0xaa, 3, 0, 0, 0, 8, 0]].concat()
    );
    assert_eq!(host.asked(&Command::Signal), (0, vec![50, 0, 95, 0, 50, 0, 95, 0]));
}

#[test]
fn the_host_waits_while_the_queue_is_full() {
    let assumptions = Assumptions { tx_frames: 1, ..Assumptions::default() };
    let (mut host, _) = Host::joined_with(Settings { assumptions });
    let before = host.taken;
    host.transmit(1_000);
    assert_eq!((host.taken - before, host.card.chip.firmware.chip.held_back), (0, 1));
    host.run(10_000_000);
    assert_eq!((host.taken - before, host.wire.from_host.borrow().len()), (1, 1));
}

#[test]
fn only_groups_that_the_host_wants_are_handed_on() {
    let mut host = Host::joined();
    let group = MacAddr([1, 0, 0x5e, 0, 0, 1]);
    let heard = |host: &mut Host, destination: MacAddr| {
        let before = host.frames.len();
        host.receive(destination, 1);
        host.run(300_000_000);
        host.frames.len() - before
    };
    assert_eq!((heard(&mut host, MacAddr::BROADCAST), heard(&mut host, group)), (1, 0));
    host.asked(&Command::Multicast(vec![group]));
    assert_eq!(heard(&mut host, group), 0);
    host.asked(&Command::MacControl(mac_control::RX | mac_control::TX | mac_control::MULTICAST));
    assert_eq!((heard(&mut host, group), heard(&mut host, MacAddr([1, 0, 0x5e, 0, 0, 2]))), (1, 0));
    assert_eq!(host.card.chip.firmware.filtered, 3);
    host.asked(&Command::MacControl(0));
    assert_eq!(heard(&mut host, MacAddr::BROADCAST), 0, "the receiver is off");
    host.transmit(100);
    assert_eq!(host.card.chip.firmware.tx.dropped, 1, "and so is the transmitter");
}

#[test]
fn the_host_leaves_and_joins_again() {
    let (mut host, network) = Host::joined_with(Settings::default());
    let leave = Command::Deauthenticate { bssid: network.bssid, reason: 3 };
    assert_eq!(host.asked(&leave).0, 0);
    host.run(50_000_000);
    host.transmit(100);
    assert_eq!((host.card.chip.firmware.tx.dropped, &host.events), (1, &vec![]));
    host.send(&Command::Associate(network));
    host.run(100_000_000);
    assert_eq!((host.answers.len(), host.card.chip.firmware.chip.associations), (1, 2));
}

#[test]
fn a_network_that_does_not_answer_is_not_joined() {
    let mut host = Host::booted();
    let network = host.network();
    let elsewhere = Associate { channel: 11, ..network.clone() };
    host.send(&Command::Associate(elsewhere));
    host.send(&Command::Associate(network.clone()));
    assert_eq!(host.answers.pop().unwrap(), (command::ASSOCIATED, 1, Vec::new()), "one after the other");
    host.sequence -= 1;
    host.run(1_000_000_000);
    assert_eq!(host.answers.pop().unwrap(), (command::ASSOCIATED, 0, vec![0, 0, 16, 0, 0, 0]));
    for wrong in [
        Associate { wpa: true, ..network.clone() },
        Associate { rsn: Some(vec![0; 256]), ..network.clone() },
        Associate { authentication: 1, ..network.clone() },
        Associate { channel: 0, ..network },
    ] {
        host.send(&Command::Associate(wrong));
        assert_eq!(host.answers.pop().unwrap(), (command::ASSOCIATED, 1, Vec::new()));
    }
}

#[test]
fn frames_are_encrypted_while_there_is_a_key() {
    let mut host = Host::joined();
    let key = Key { kind: key_kind::CCMP, info: key_info::ENABLED | key_info::PAIRWISE, len: 16, key: [7; 32] };
    assert_eq!(host.asked(&Command::Keys(vec![key])).0, 0);
    host.transmit(100);
    let tx = host.card.chip.firmware.tx;
    assert_eq!((tx.frames, tx.encrypted), (1, 1));
    // The driver takes keys away by one without bytes, of a cipher that does not matter (cfg.c, lbs_cfg_connect).
    host.asked(&Command::Keys(vec![Key { kind: 0, info: key_info::PAIRWISE, len: 0, key: [0; 32] }]));
    host.transmit(100);
    assert_eq!((host.card.chip.firmware.tx.frames, host.card.chip.firmware.tx.encrypted), (2, 1));
}

/// The driver sends a command that waits before a frame that waits (main.c, lbs_thread), and so the key before message 4 of the
/// handshake that it comes from, which the access point needs to have it, too.
#[test]
fn message_4_is_not_encrypted_by_the_key_that_overtakes_it() {
    for (eapol_by_key, encrypted) in [(false, 1), (true, 2)] {
        let assumptions = Assumptions { eapol_by_key: Some(eapol_by_key), ..Assumptions::default() };
        let (mut host, _) = Host::joined_with(Settings { assumptions });
        host.wire.to_host.borrow_mut().push_back([&ADDRESS.0[..], &AP.0, &[0x88, 0x8e], &[0xa5; 100]].concat());
        host.card.readable(host.now_ns, 0);
        host.run(100_000_000);
        assert_eq!(host.frames.len(), 1, "message 3");
        let key = Key { kind: key_kind::CCMP, info: key_info::ENABLED | key_info::PAIRWISE, len: 16, key: [7; 32] };
        host.asked(&Command::Keys(vec![key]));
        host.port(&emit_ethernet(&[&AP.0[..], &ADDRESS.0, &[0x88, 0x8e], &[0x5a; 99]].concat()));
        host.serve();
        host.transmit(100);
        let tx = host.card.chip.firmware.tx;
        assert_eq!((tx.frames, tx.encrypted), (2, encrypted), "by key: {eapol_by_key}");
    }
}

#[test]
fn a_network_without_beacons_is_lost() {
    let mut host = Host::joined();
    assert!(host.card.inject(0, Effect::Loss(1.0)));
    host.run(3_000_000_000);
    assert_eq!(host.events, [event::LINK_LOST]);
}

#[test]
fn the_firmware_dies_and_starts_again_with_power() {
    let mut host = Host::joined();
    assert!(host.card.inject(host.now_ns, Effect::FirmwareHang));
    host.send(&Command::Hardware);
    assert!(host.answers.is_empty());
    host.card.power_on(0);
    host.card.write(0, register::INTERRUPT_MASK, true, &[0x0f]);
    host.download();
    assert_eq!((host.word(register::SCRATCH), host.card.chip.firmware.chip.boots), (RUNS, 2));
    assert_eq!(host.asked(&Command::Hardware).0, 0);
}

#[test]
fn malformed_packets_are_counted_and_taken() {
    let mut host = Host::booted();
    for packet in [&[][..], &[4], &[200, 0, 1, 0, 3, 0], &[10, 0, 1, 0, 3, 0, 8, 0, 0, 0], &[8, 0, 9, 0, 1, 2, 3, 4]] {
        host.port(packet);
        host.serve();
    }
    let chip = host.card.chip.firmware.chip;
    assert_eq!((chip.malformed, host.taken, host.answers.len()), (5, 5, 0));
    // A command that is too short for what it is has an answer.
    let packet = Header { id: command::DEAUTHENTICATE, sequence: 0 }.emit(&[1, 2, 3]);
    host.port(&packet);
    host.serve();
    assert_eq!(host.answers, [(command::DEAUTHENTICATE | command::ANSWER, 1, Vec::new())]);
    host.card.read(0, PORT, false, &mut [0; 8]);
    assert_eq!(host.card.chip.firmware.chip.empty_reads, 1);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_host_is_survived(
        accesses in prop::collection::vec((0u32..7, any::<u16>(), prop::collection::vec(any::<u8>(), 0..200)), 0..100),
        joined: bool,
    ) {
        let mut host = if joined { Host::joined() } else { Host::new(Settings::default()) };
        for (what, address, mut bytes) in accesses {
            match what {
                0 => host.card.read(host.now_ns, u32::from(address & 0x3f), true, &mut bytes),
                1 => host.card.write(host.now_ns, u32::from(address & 0x3f), true, &bytes),
                2 | 3 if bytes.len() > HEADER + 4 => {
                    let len = bytes.len() as u16;
                    bytes[..2].copy_from_slice(&len.to_le_bytes());
                    let (kind, id) = if what == 2 { (kind::COMMAND, bytes[4] & 0x7f) } else { (kind::DATA, bytes[4]) };
                    bytes[2..4].copy_from_slice(&kind.to_le_bytes());
                    (bytes[4], bytes[5]) = (id, 0);
                    bytes[6..8].copy_from_slice(&(len - 4).to_le_bytes());
                    host.port(&bytes);
                }
                4 => host.port(&bytes),
                5 => host.card.read(host.now_ns, PORT, false, &mut bytes),
                _ => {
                    host.now_ns += u64::from(address) * 1_000;
                    host.card.advance(host.now_ns);
                }
            }
            prop_assert!(host.card.chip.firmware.waiting <= host.card.chip.waiting.len());
        }
    }
}
