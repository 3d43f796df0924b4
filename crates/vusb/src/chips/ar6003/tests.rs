use proptest::prelude::*;
use sdio::Function;
use wire::sdio::htc::{credits, TRAILER};
use wire::sdio::wmi::{self, Command, Connect, DataHeader, DATA_HEADER};

use super::*;
use crate::air::{ChannelSettings, Medium};
use crate::chips::sdio_radio::SdioRadio;
use crate::device::Effect;
use crate::peers::builtin::{Builtin, BuiltinSettings};
use crate::ushc::SdioChip;
use crate::wired::WiredQueues;

const MAILBOX_END: u32 = 0x1000;

/// A driver, as far as it is needed.
struct Host {
    card: SdioRadio<Ar6003>,
    wire: WiredQueues,
    now_ns: u64,
    /// Messages that were fetched: endpoint, payload without its trailer.
    messages: Vec<(u8, Vec<u8>)>,
    /// Credits that came back, by endpoint.
    credits: [u32; 9],
    bundles: usize,
}

impl Host {
    fn new() -> Self {
        Self::with(Settings::default())
    }

    fn with(settings: Settings) -> Self {
        let wire = WiredQueues::default();
        let peers = Builtin::with(BuiltinSettings::default(), Vec::new(), Box::new(wire.clone()));
        let medium = Medium::new(ChannelSettings::default(), 1, None);
        let mut card = SdioRadio::new(Ar6003::new(settings), medium, Box::new(peers));
        card.power_on(0);
        card.write(0, register::INTERRUPT_ENABLE, true, &[0xd1, 0xff, 3, 0xff]);
        Self { card, wire, now_ns: 0, messages: Vec::new(), credits: [0; 9], bundles: 0 }
    }

    /// What BMI says of the chip: version and type.
    fn target(&mut self) -> [u32; 2] {
        let mut info = [0; 16];
        self.put(&Bmi::TargetInfo.emit());
        self.card.read(0, 0x800, false, &mut info);
        [8, 12].map(|at| u32::from_le_bytes(info[at..at + 4].try_into().unwrap()))
    }

    fn booted() -> Self {
        let mut host = Self::new();
        assert_eq!(host.target(), [0x3000_0582, 3]);
        host.put(&Bmi::Done.emit());
        for service in WMI_CONTROL..=WMI_VOICE {
            host.message(CONTROL, 0, &FromHost::Connect { service }.emit());
        }
        host.message(CONTROL, 0, &FromHost::SetUp { bundle: 8 }.emit());
        host.fetch();
        let replies: Vec<Vec<u8>> = host.messages.drain(..).map(|(_, payload)| payload).collect();
        assert_eq!(replies.len(), 7);
        assert_eq!((replies[0][0], replies[0][2], replies[5][5]), (1, 20, 5));
        assert_eq!(replies[6][..2], [1, 0x10]);
        host
    }

    fn put(&mut self, bytes: &[u8]) {
        self.card.write(self.now_ns, MAILBOX_END - bytes.len() as u32, true, bytes);
    }

    fn message(&mut self, endpoint: u8, flags: u8, payload: &[u8]) {
        let header = Header { endpoint, flags, payload_len: payload.len() as u16, control: [0; 2] };
        let mut bytes = [&header.emit()[..], payload].concat();
        bytes.resize(bytes.len().next_multiple_of(htc::BLOCK_BYTES), 0);
        self.put(&bytes);
    }

    fn command(&mut self, command: Command) {
        self.message(CONTROL_ENDPOINT, 0, &command.emit());
    }

    /// Fetches everything as the driver does: by the header that it sees ahead, a bundle at once.
    fn fetch(&mut self) {
        loop {
            let mut registers = [0; 24];
            self.card.read(self.now_ns, register::INTERRUPT_STATUS, true, &mut registers);
            assert_eq!(registers[0] & MAILBOX_DATA != 0, self.card.interrupts());
            if registers[0] & MAILBOX_DATA == 0 {
                return;
            }
            let len = HEADER + usize::from(u16::from_le_bytes([registers[10], registers[11]]));
            let count = 1 + usize::from(registers[9] >> 4);
            self.bundles += usize::from(count > 1);
            let padded = len.next_multiple_of(htc::BLOCK_BYTES);
            let mut bytes = vec![0; count * padded];
            self.card.read(self.now_ns, 0x4000, false, &mut bytes);
            for message in bytes.chunks(padded) {
                let header = Header::parse(message).unwrap();
                let payload = &message[HEADER..HEADER + usize::from(header.payload_len)];
                let trailer = if header.flags & TRAILER != 0 { usize::from(header.control[0]) } else { 0 };
                let (payload, trailer) = payload.split_at(payload.len() - trailer);
                for pair in trailer.get(2..).unwrap_or_default().chunks(2) {
                    self.credits[usize::from(pair[0])] += u32::from(pair[1]);
                }
                if !payload.is_empty() {
                    self.messages.push((header.endpoint, payload.to_vec()));
                }
            }
        }
    }

    fn run(&mut self, for_ns: u64) {
        let until_ns = self.now_ns + for_ns;
        while let Some(at_ns) = self.card.next_event().filter(|&at_ns| at_ns <= until_ns) {
            self.now_ns = at_ns.max(self.now_ns);
            self.card.advance(self.now_ns);
            self.fetch();
        }
        self.now_ns = until_ns;
        self.card.advance(until_ns);
        self.fetch();
    }

    /// Events of WMI with this identifier, without their header.
    fn events(&mut self, id: u16) -> Vec<Vec<u8>> {
        let is_it =
            |(endpoint, payload): &(u8, Vec<u8>)| *endpoint == CONTROL_ENDPOINT && payload[..2] == id.to_le_bytes();
        self.messages.extract(is_it).map(|(_, payload)| payload[wmi::HEADER..].to_vec()).collect()
    }

    fn joined() -> Self {
        let mut host = Self::booted();
        host.command(Command::Scan { frequencies_mhz: vec![2437] });
        host.run(200_000_000);
        let seen = host.events(0x1004);
        assert!(!seen.is_empty() && seen.iter().all(|event| event[..2] == 2437u16.to_le_bytes()));
        assert_eq!((seen[0][3], host.events(0x100a).len()), (50, 1), "-45 dBm are 50 dB above -95");
        let connect = Connect { network: 1, dot11_authentication: 1, ssid: b"txop".to_vec(), ..Connect::default() };
        host.command(Command::Connect(Connect { pairwise: 1, group: 1, authentication: 1, ..connect }));
        host.run(100_000_000);
        let connected = host.events(0x1002);
        assert_eq!((connected.len(), host.card.chip.firmware.chip.associations), (1, 1));
        host
    }

    fn send(&mut self, payload: usize) {
        let mut frame = DataHeader::default().emit().to_vec();
        frame.extend([2, 0x74, 0x78, 0x6f, 0x70, 9]);
        frame.extend(ADDRESS.0);
        frame.extend(((8 + payload) as u16).to_be_bytes());
        frame.extend([0xaa, 0xaa, 3, 0, 0, 0, 8, 0]);
        frame.resize(DATA_HEADER + 14 + 8 + payload, 0x5a);
        self.message(2, 0, &frame);
    }
}

/// `Vec::extract_if`, which the minimum Rust does not have.
trait Extract<T> {
    fn extract(&mut self, is_it: impl Fn(&T) -> bool) -> std::vec::IntoIter<T>;
}

impl<T> Extract<T> for Vec<T> {
    fn extract(&mut self, is_it: impl Fn(&T) -> bool) -> std::vec::IntoIter<T> {
        let (taken, kept) = self.drain(..).partition(|item| is_it(item));
        *self = kept;
        let taken: Vec<T> = taken;
        taken.into_iter()
    }
}

#[test]
fn frames_go_both_ways_and_credits_come_back() {
    let mut host = Host::joined();
    for _ in 0..10 {
        host.send(100);
    }
    host.run(100_000_000);
    let sent = host.wire.from_host.borrow().clone();
    assert_eq!(sent.len(), 10);
    assert_eq!(sent[0][..14], [2, 0x74, 0x78, 0x6f, 0x70, 9, 0, 3, 0x7f, 0x60, 3, 1, 8, 0]);
    assert_eq!((sent[0].len(), host.credits[2]), (114, 10));

    for _ in 0..20 {
        let frame = [&ADDRESS.0[..], &[2, 0x74, 0x78, 0x6f, 0x70, 9, 8, 0], &[0xa5; 100]].concat();
        host.wire.to_host.borrow_mut().push_back(frame);
    }
    host.card.readable(host.now_ns, 0);
    host.run(100_000_000);
    host.run(200_000_000);
    let frames = host.messages.extract(|(endpoint, _)| *endpoint == 2).collect::<Vec<_>>();
    assert_eq!((frames.len(), host.card.chip.firmware.rx.delivered), (20, 20));
    let (header, ethernet) = DataHeader::parse(&frames[0].1).unwrap();
    assert_eq!((header.rssi, header.kind), (50, 0));
    assert_eq!(
        ethernet[..22],
        [&ADDRESS.0[..], &[2, 0x74, 0x78, 0x6f, 0x70, 9, 0, 108, 0xaa, 0xaa, 3, 0, 0, 0, 8, 0]].concat()
    );
    assert_eq!(host.events(0x1020).len(), 1, "the access point has asked for Block Ack");
    assert!(host.bundles > 0);
}

/// Versions, types and addresses of Linux ath6kl/core.h, bmi.h and target.h; IDs of sdio.c.
#[test]
fn an_ar6004_is_known_by_its_numbers() {
    for (revision, version, id) in [
        ("1.0", 0x3000_0623, "0400"),
        ("1.1", 0x3000_0001, "0401"),
        ("1.2", 0x3000_07e8, "0402"),
        ("1.3", 0x31c8_088a, "0418"),
        ("3.0", 0x31c8_09f8, "0419"),
    ] {
        let mut settings = Settings::new(Model::Ar6004);
        for assignment in [format!("revision={revision}"), format!("device-id={id}")] {
            settings.assumptions.set_fitting(&assignment).unwrap();
        }
        let mut host = Host::with(settings);
        assert_eq!(host.target(), [version, 5]);
        let identity = host.card.identity();
        assert_eq!((identity.vendor, format!("{:04x}", identity.device)), (0x0271, id.to_owned()));
        // The driver says where its board data go.
        let mut word = [0xff; 4];
        host.put(&Bmi::ReadMemory { address: 0x0040_0854, len: 4 }.emit());
        host.card.read(0, 0x800, false, &mut word);
        assert_eq!(word, [0; 4]);
        // hi_app_host_interest, once the firmware runs.
        host.put(&Bmi::Done.emit());
        host.card.write(0, register::WINDOW_READ, true, &0x0040_0800u32.to_le_bytes());
        assert_eq!(host.card.chip.memory.window_read(0x0040_0800), [0, 0x10, 0x40, 0]);
        assert_eq!(host.card.chip.register(register::WINDOW + 1), 0x10);
    }
    assert_eq!(Settings::new(Model::Ar6004).assumptions.revision.name(), "1.3");
}

#[test]
fn the_host_leaves_and_joins_again() {
    let mut host = Host::joined();
    host.command(Command::Disconnect);
    host.run(50_000_000);
    let ended = host.events(0x1003);
    assert_eq!((ended.len(), ended[0][8]), (1, 3));
    host.send(100);
    host.run(10_000_000);
    assert_eq!((host.card.chip.firmware.tx.dropped, host.credits[2]), (1, 1), "a dropped frame gives its credit back");
    host.command(Command::Reconnect);
    host.run(100_000_000);
    assert_eq!(host.events(0x1002).len(), 1);
}

#[test]
fn a_network_that_is_not_there_is_not_joined() {
    let mut host = Host::booted();
    let connect =
        Connect { network: 1, ssid: b"other".to_vec(), frequency_mhz: 2437, pairwise: 1, ..Connect::default() };
    host.command(Command::Connect(connect.clone()));
    host.run(300_000_000);
    assert_eq!(host.events(0x1003)[0][8], 1);
    host.command(Command::Connect(Connect { pairwise: wmi::cipher::WEP, ..connect }));
    host.run(1_000_000);
    assert_eq!(host.events(0x1003)[0][8], 6, "WEP is not modelled");
}

#[test]
fn the_firmware_dies_and_starts_again() {
    let mut host = Host::joined();
    assert!(host.card.inject(host.now_ns, Effect::FirmwareHang));
    assert!(host.card.interrupts());
    assert_eq!(
        (host.card.chip.register(register::COUNTER_STATUS), host.card.chip.register(register::DEBUG_COUNTER)),
        (1, 1)
    );
    assert!(!host.card.interrupts());
    // A cold reset through the window does not help.
    host.card.write(0, register::WINDOW, true, &COLD_RESET.to_le_bytes());
    host.card.write(0, register::WINDOW_WRITE, true, &RESET_CONTROL.to_le_bytes());
    assert_eq!((host.card.chip.firmware.chip.cold_resets, host.card.chip.register(register::BMI_COUNTER)), (1, 1));
    host.put(&Bmi::Done.emit());
    assert_eq!(host.card.chip.firmware.chip.boots, 1);
    host.card.power_on(0);
    host.put(&Bmi::Done.emit());
    assert_eq!(host.card.chip.firmware.chip.boots, 2);
}

#[test]
fn ccmp_and_tkip_have_keys_of_their_length() {
    let mut host = Host::joined();
    let key = wmi::AddKey { index: 0, cipher: wmi::cipher::CCMP, group: false, len: 16, key: [7; 32] };
    for (cipher, len, has_key) in [
        (wmi::cipher::CCMP, 16, true),
        (wmi::cipher::TKIP, 16, false),
        (wmi::cipher::TKIP, 32, true),
        (wmi::cipher::WEP, 13, false),
    ] {
        host.command(Command::AddKey(wmi::AddKey { cipher, len, ..key }));
        assert_eq!(host.card.chip.firmware.keys.has_pairwise(), has_key, "{cipher} {len}");
    }
}

#[test]
fn the_suites_of_a_network_are_in_the_association_request() {
    use wire::ieee80211::{rsn, FrameControl, FrameKind, ManagementBody, Rsn, SuiteSet};
    use wmi::{authentication, cipher};
    for (authentication, pairwise, group, in_rsn, has_ht) in [
        (authentication::WPA_PSK, cipher::TKIP, cipher::TKIP, false, false),
        (authentication::WPA2_PSK, cipher::TKIP, cipher::TKIP, true, false),
        (authentication::WPA2_PSK, cipher::CCMP, cipher::TKIP, true, true),
    ] {
        let mut host = Host::joined();
        let connect = Connect { network: 1, dot11_authentication: 1, ssid: b"txop".to_vec(), ..Connect::default() };
        host.command(Command::Connect(Connect { pairwise, group, authentication, ..connect }));
        host.run(100_000_000);
        let request = host.card.chip.firmware.network.as_ref().unwrap().request.clone();
        let parsed = ManagementBody::parse(FrameControl::new(FrameKind::AssociationRequest), &request).unwrap();
        let suite =
            |wanted| SuiteSet::of(if wanted == cipher::TKIP { rsn::cipher::TKIP } else { rsn::cipher::CCMP128 });
        let wpa = request.windows(6).position(|at| at == [0xdd, 22, 0, 0x50, 0xf2, 1]);
        let found = parsed.elements.rsn.or_else(|| wpa.and_then(|at| Rsn::read_wpa(&request[at + 6..at + 24])));
        let found = found.unwrap();
        assert_eq!((parsed.elements.rsn.is_some(), wpa.is_none()), (in_rsn, in_rsn));
        assert_eq!((found.pairwise, found.group), (suite(pairwise), suite(group)));
        assert!(found.psk());
        assert_eq!(parsed.elements.ht.is_some(), has_ht, "802.11n has no TKIP");
    }
}

#[test]
fn a_forged_frame_is_reported_to_the_driver() {
    use crate::chips::station_keys::{Key, Keys};
    use wire::ieee80211::{FrameControl, Header as FrameHeader, Seq};
    let mut host = Host::joined();
    let key = wmi::AddKey { index: 0, cipher: wmi::cipher::TKIP, group: false, len: 32, key: [7; 32] };
    host.command(Command::AddKey(key));
    let bssid = host.card.chip.firmware.network.as_ref().unwrap().bssid;
    let reception = crate::air::Reception {
        mode: wire::phy::Mode::Unknown,
        ampdu: None,
        last: true,
        tuned: crate::air::Tuned::channel(6).unwrap(),
        signal_dbm: -50,
    };
    for (sequence, last) in [(1, 7), (2, 8)] {
        let mut bytes = [7; 32];
        bytes[16] = last;
        let mut sender = Keys::default();
        sender.set_pairwise(Some(Key::Tkip(bytes)));
        let fc = FrameControl::default().with_from_ds(true);
        let header = FrameHeader::data(fc, [ADDRESS, bssid, bssid], Seq::new(sequence), None);
        let (mpdu, _) = sender.mpdu(&header, &[0xaa, 0xaa, 3, 0, 0, 0, 8, 0, 1, 2, 3, 4]);
        assert!(host.card.chip.firmware.data_received(host.now_ns, &mpdu, &reception));
    }
    host.run(1_000_000);
    let rx = host.card.chip.firmware.rx;
    assert_eq!((rx.decrypted, rx.delivered, rx.michael_errors, rx.dropped), (1, 1, 1, 1));
    assert_eq!(host.events(0x1009), [[0, 0]]);
}

/// Frames for the station, from behind the access point.
fn sent_down(host: &mut Host, frames: usize) {
    for _ in 0..frames {
        let frame = [&ADDRESS.0[..], &[2, 0x74, 0x78, 0x6f, 0x70, 9, 8, 0], &[0xa5; 100]].concat();
        host.wire.to_host.borrow_mut().push_back(frame);
    }
    host.card.readable(host.now_ns, 0);
}

#[test]
fn it_sleeps_between_beacons_until_there_are_data() {
    let mut host = Host::joined();
    let counters = |host: &Host| host.card.chip.firmware.power_counters();
    // With the first frame the access point asks for Block Ack.
    sent_down(&mut host, 1);
    host.run(150_000_000);
    assert_eq!((counters(&host).announced, counters(&host).polls), (1, 0));
    let before_ns = host.now_ns;

    // One frame is polled at a beacon, and the station sleeps on.
    sent_down(&mut host, 1);
    host.run(5_000_000);
    assert_eq!(host.card.chip.firmware.rx.delivered, 1, "it waits for the beacon");
    host.run(110_000_000);
    assert_eq!((host.card.chip.firmware.rx.delivered, counters(&host).polls, counters(&host).announced), (2, 1, 1));
    assert_eq!(counters(&host).woken_by_access_point, 0);
    assert!(counters(&host).asleep_ns >= host.now_ns - before_ns);

    // For more it wakes up, and announces again later.
    sent_down(&mut host, 10);
    host.run(120_000_000);
    let power = counters(&host);
    assert_eq!((host.card.chip.firmware.rx.delivered, power.polls, power.woken_by_access_point), (12, 2, 1));
    host.run(150_000_000);
    assert_eq!(counters(&host).announced, 2);

    // The host's frame goes out at once.
    host.send(100);
    host.run(5_000_000);
    assert_eq!((host.wire.from_host.borrow().len(), counters(&host).woken_by_host), (1, 1));
    sent_down(&mut host, 1);
    host.run(5_000_000);
    assert_eq!(host.card.chip.firmware.rx.delivered, 13, "it is awake");
    assert_eq!(counters(&host).missed, 0);
}

#[test]
fn what_power_save_sends_ends_with_the_connection_and_is_no_frame_of_the_host() {
    use crate::air::{Outcome, Station};
    use crate::chips::dynamic_power::Send;
    let unheard = Outcome { acknowledged: vec![false], sent: true };
    for send in [Send::Poll, Send::Null(true), Send::Null(false)] {
        let mut host = Host::joined();
        let firmware = &mut host.card.chip.firmware;
        // It is given up, and counts nowhere.
        firmware.send_for_power(host.now_ns, Some(send));
        for _ in 0..7 {
            let ppdu = firmware.begin(host.now_ns, 0).unwrap();
            firmware.ended(host.now_ns, ppdu, &unheard);
        }
        firmware.flush(host.now_ns);
        assert_eq!((firmware.queue.len(), firmware.tx.given_up, firmware.tx.retries), (0, 0, 0), "{send:?}");
        // One is on the air and one waits while the station leaves: only what says so is sent.
        (0..2).for_each(|_| firmware.send_for_power(host.now_ns, Some(send)));
        let ppdu = firmware.begin(host.now_ns, 0).unwrap();
        firmware.leave(host.now_ns);
        assert_eq!(firmware.queue.len(), 2);
        firmware.ended(host.now_ns, ppdu, &unheard);
        assert_eq!((firmware.queue.len(), firmware.tx.dropped), (1, 0));
        let last = firmware.begin(host.now_ns, 0).unwrap();
        assert_eq!(last.mpdus[0][0], 0xc0, "Deauthentication");
    }
}

#[test]
fn with_full_performance_it_stays_awake() {
    let mut host = Host::joined();
    host.run(150_000_000);
    host.command(Command::PowerMode { mode: 2 });
    host.run(5_000_000);
    let asleep_ns = host.card.chip.firmware.power_counters().asleep_ns;
    host.run(300_000_000);
    sent_down(&mut host, 1);
    host.run(5_000_000);
    let power = host.card.chip.firmware.power_counters();
    assert_eq!((power.announced, power.asleep_ns, host.card.chip.firmware.rx.delivered), (1, asleep_ns, 1));
    host.command(Command::PowerMode { mode: 1 });
    host.run(150_000_000);
    assert_eq!(host.card.chip.firmware.power_counters().announced, 2);
}

#[test]
fn a_report_of_credits_is_one_record() {
    assert_eq!(credits(&[(2, 10)]), [1, 2, 2, 10]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_host_is_survived(
        accesses in prop::collection::vec((0u32..6, any::<u16>(), prop::collection::vec(any::<u8>(), 0..200)), 0..100),
        joined: bool,
    ) {
        let mut host = if joined { Host::joined() } else { Host::new() };
        for (kind, address, mut bytes) in accesses {
            match kind {
                0 => host.card.read(host.now_ns, address.into(), true, &mut bytes),
                1 => host.card.write(host.now_ns, 0x400 + u32::from(address & 0xff), true, &bytes),
                2 if bytes.len() > 6 => {
                    bytes[0] %= 9;
                    let len = bytes.len() - HEADER;
                    (bytes[2], bytes[3]) = (len as u8, 0);
                    bytes[HEADER] %= 0x40;
                    host.put(&bytes);
                }
                3 => host.put(&bytes),
                4 => host.card.read(host.now_ns, 0x800, false, &mut bytes),
                _ => {
                    host.now_ns += u64::from(address) * 1_000;
                    host.card.advance(host.now_ns);
                }
            }
        }
    }
}
