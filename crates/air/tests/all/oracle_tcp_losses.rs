//! TCP segments that were sent again, against tshark's TCP analysis, where hundreds of them are: connections of our own over an
//! open network that loses, reorders and repeats.

use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap};
use std::path::{Path, PathBuf};
use std::process::Command;

use capture::{PcapSettings, PcapWriter, Reader};
use txop_air::report::Traffic;
use txop_air::{analyze_reader, Options};
use wire::linktype::LinkType;

const MSS: u32 = 1_448;
/// Segments of each connection.
const SEGMENTS: u32 = 1_200;
/// From a TCP acknowledgement on the air to the sender.
const BACK_US: u64 = 5_000;
const TIMEOUT_US: u64 = 220_000;
const ACCESS_POINT: [u8; 6] = [2, 0, 0, 0, 0, 1];
const STATION: [u8; 6] = [2, 0, 0, 0, 0, 2];
const SERVER: [u8; 4] = [192, 0, 2, 1];
const CLIENT: [u8; 4] = [192, 0, 2, 2];
const SYN: u8 = 0x02;
const FIN: u8 = 0x01;
const ACK: u8 = 0x10;

/// Chances in percent, of each segment or acknowledgement.
#[derive(Clone, Copy, Default)]
struct Chances {
    /// Lost before this hop: never captured.
    upstream: u32,
    /// Comes behind the segment after it.
    overtaken: u32,
    /// All attempts of its MPDU fail.
    air: u32,
    /// Acknowledged by 802.11, and lost in the receiver.
    behind: u32,
    /// A TCP acknowledgement that is captured, and never reaches the sender.
    acknowledgement: u32,
    /// Sent again in two pieces.
    split: u32,
}

const CONNECTIONS: [Chances; 5] = [
    Chances { air: 3, behind: 1, upstream: 0, overtaken: 0, acknowledgement: 0, split: 0 },
    Chances { air: 0, behind: 0, upstream: 3, overtaken: 0, acknowledgement: 0, split: 0 },
    Chances { air: 1, behind: 0, upstream: 0, overtaken: 4, acknowledgement: 0, split: 0 },
    Chances { air: 1, behind: 1, upstream: 1, overtaken: 0, acknowledgement: 30, split: 0 },
    Chances { air: 3, behind: 1, upstream: 2, overtaken: 1, acknowledgement: 5, split: 50 },
];

/// The air and what is captured of it.
struct Air {
    writer: PcapWriter<Vec<u8>>,
    random: u64,
    at_us: u64,
    /// 802.11 sequence numbers of both.
    numbers: [u16; 2],
}

impl Air {
    fn chance(&mut self, percent: u32) -> bool {
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        self.random % 100 < u64::from(percent)
    }

    fn write(&mut self, mpdu: &[u8]) {
        // Radiotap: no field but the rate, 54 Mbit/s.
        let mut record = vec![0, 0, 9, 0, 4, 0, 0, 0, 108];
        record.extend_from_slice(mpdu);
        self.writer.write(self.at_us as i64 * 1_000, record.len() as u32, &record).expect("memory");
        self.at_us += 60;
    }

    /// An MPDU with a TCP segment, in as many attempts as it takes; all of them fail when it is lost.
    fn segment(&mut self, down: bool, ip: &[u8], is_lost: bool) {
        let (ta, ra) = if down { (ACCESS_POINT, STATION) } else { (STATION, ACCESS_POINT) };
        let number = self.numbers[usize::from(down)];
        self.numbers[usize::from(down)] = (number + 1) & 0xfff;
        let failures = if is_lost { 4 } else { u32::from(self.chance(8)) + u32::from(self.chance(8)) };
        for attempt in 0..failures + u32::from(!is_lost) {
            let retry = if attempt > 0 { 0x08 } else { 0 };
            let mut mpdu = vec![0x08, retry | if down { 0x02 } else { 0x01 }, 0x2c, 0];
            for address in [ra, ta, if down { ACCESS_POINT } else { ra }] {
                mpdu.extend_from_slice(&address);
            }
            mpdu.extend_from_slice(&(number << 4).to_le_bytes());
            mpdu.extend_from_slice(&[0xaa, 0xaa, 3, 0, 0, 0, 8, 0]);
            mpdu.extend_from_slice(ip);
            self.write(&mpdu);
        }
        if !is_lost {
            let mut ack = vec![0xd4, 0, 0, 0];
            ack.extend_from_slice(&ta);
            self.write(&ack);
        }
    }
}

/// An IPv4 packet with a TCP segment. `sequence` counts from the connection's first byte.
fn packet(down: bool, port: u16, sequence: u32, acknowledgment: u32, flags: u8, payload: u32) -> Vec<u8> {
    let first = |down: bool| if down { 0xffff_0000u32 } else { 7_000 };
    let (from, to) = if down { (SERVER, CLIENT) } else { (CLIENT, SERVER) };
    let ports = if down { (5_201, port) } else { (port, 5_201) };
    let mut ip = vec![0x45, 0];
    ip.extend_from_slice(&(40 + payload as u16).to_be_bytes());
    ip.extend_from_slice(&[0, 0, 0x40, 0, 64, 6, 0, 0]);
    ip.extend_from_slice(&from);
    ip.extend_from_slice(&to);
    ip.extend_from_slice(&ports.0.to_be_bytes());
    ip.extend_from_slice(&ports.1.to_be_bytes());
    ip.extend_from_slice(&first(down).wrapping_add(sequence).to_be_bytes());
    let acknowledged = if flags & ACK == 0 { 0 } else { first(!down).wrapping_add(acknowledgment) };
    ip.extend_from_slice(&acknowledged.to_be_bytes());
    ip.extend_from_slice(&[0x50, flags, 0xff, 0xff, 0, 0, 0, 0]);
    ip.resize(40 + payload as usize, 0x5a);
    ip
}

/// A download: the sender begins again at the first gap after a timeout, and repeats one segment after three duplicates.
struct Connection<'a> {
    air: &'a mut Air,
    port: u16,
    chances: Chances,
    /// First unacknowledged, next, and highest segment sent; in segments of `MSS`.
    first: u32,
    next: u32,
    highest: u32,
    window: u32,
    duplicates: u32,
    recovers_at: Option<u32>,
    timeout_us: u64,
    /// Acknowledgements on their way: when they arrive, and of what.
    back: BinaryHeap<Reverse<(u64, u32)>>,
    /// The receiver's next segment, the halves it has beyond, and the segment that is being overtaken.
    expected: u32,
    beyond: BTreeSet<u32>,
    held: Option<u32>,
}

impl Connection<'_> {
    fn emit(&mut self, down: bool, sequence: u32, acknowledgment: u32, flags: u8, payload: u32, is_lost: bool) {
        let ip = packet(down, self.port, sequence, acknowledgment, flags, payload);
        self.air.segment(down, &ip, is_lost);
    }

    fn open(&mut self) {
        // The first SYN gets no answer.
        for _ in 0..2 {
            self.emit(false, 0, 0, SYN, 0, false);
            self.air.at_us += 1_000_000;
        }
        self.emit(true, 0, 1, SYN | ACK, 0, false);
        self.emit(false, 1, 1, ACK, 0, false);
    }

    fn transmit(&mut self, segment: u32) {
        let again = segment < self.highest;
        self.highest = self.highest.max(segment + 1);
        if self.air.chance(self.chances.upstream) {
            return;
        }
        if !again && self.held.is_none() && self.air.chance(self.chances.overtaken) {
            self.held = Some(segment);
            return;
        }
        let in_pieces = again && self.air.chance(self.chances.split);
        self.forward(segment, in_pieces);
        if let Some(held) = self.held.take() {
            self.forward(held, false);
        }
    }

    /// Over the air, and into the receiver.
    fn forward(&mut self, segment: u32, in_pieces: bool) {
        let is_lost = self.air.chance(self.chances.air);
        let start = 1 + segment * MSS;
        if in_pieces {
            self.emit(true, start, 1, ACK, 700, is_lost);
            self.emit(true, start + 700, 1, ACK, MSS - 700, is_lost);
        } else {
            self.emit(true, start, 1, ACK, MSS, is_lost);
        }
        if is_lost || self.air.chance(self.chances.behind) {
            return;
        }
        self.beyond.insert(segment);
        while self.beyond.remove(&self.expected) {
            self.expected += 1;
        }
        self.beyond = self.beyond.split_off(&self.expected);
        let expected = self.expected;
        self.emit(false, 1, 1 + expected * MSS, ACK, 0, false);
        if !self.air.chance(self.chances.acknowledgement) {
            self.back.push(Reverse((self.air.at_us + BACK_US, expected)));
        }
    }

    fn acknowledged(&mut self, up_to: u32) {
        self.timeout_us = self.air.at_us + TIMEOUT_US;
        if up_to > self.first {
            self.first = up_to;
            self.next = self.next.max(up_to);
            self.duplicates = 0;
            self.window = (self.window + 1).min(24);
            match self.recovers_at {
                Some(at) if up_to < at => self.transmit(up_to),
                _ => self.recovers_at = None,
            }
        } else if up_to == self.first {
            self.duplicates += 1;
            if self.duplicates == 3 && self.recovers_at.is_none() {
                self.recovers_at = Some(self.next);
                self.window = (self.window / 2).max(2);
                self.transmit(up_to);
            }
        }
    }

    fn run(&mut self) {
        self.open();
        self.timeout_us = self.air.at_us + TIMEOUT_US;
        while self.first < SEGMENTS {
            self.air.at_us += 200;
            while let Some(Reverse((_, up_to))) =
                self.back.peek().copied().filter(|Reverse((at, _))| *at <= self.air.at_us)
            {
                self.back.pop();
                self.acknowledged(up_to);
            }
            if self.air.at_us >= self.timeout_us {
                (self.next, self.window, self.recovers_at, self.duplicates) = (self.first, 2, None, 0);
                self.timeout_us = self.air.at_us + 2 * TIMEOUT_US;
            }
            if self.next < SEGMENTS && self.next < self.first + self.window {
                self.transmit(self.next);
                self.next += 1;
            }
        }
        let end = 1 + SEGMENTS * MSS;
        for _ in 0..3 {
            self.air.at_us += 10_000_000;
            self.emit(true, end - 1, 1, ACK, 0, false); // a keep-alive
            self.emit(false, 1, end, ACK, 0, false);
        }
        for _ in 0..2 {
            self.air.at_us += 300_000;
            self.emit(true, end, 1, FIN | ACK, 0, false);
        }
        self.emit(false, 1, end + 1, FIN | ACK, 0, false);
        self.emit(true, end + 1, 2, ACK, 0, false);
        self.air.at_us += 1_000_000;
    }
}

fn capture_of(connections: &[Chances]) -> PathBuf {
    let settings = PcapSettings::nanos(LinkType::IEEE802_11_RADIOTAP);
    let writer = PcapWriter::new(Vec::new(), settings).expect("a file header");
    let mut air = Air { writer, random: 88_172_645_463_325_252, at_us: 1_000_000, numbers: [0; 2] };
    for (port, chances) in (40_000..).zip(connections) {
        Connection {
            air: &mut air,
            port,
            chances: *chances,
            first: 0,
            next: 0,
            highest: 0,
            window: 4,
            duplicates: 0,
            recovers_at: None,
            timeout_us: 0,
            back: BinaryHeap::new(),
            expected: 0,
            beyond: BTreeSet::new(),
            held: None,
        }
        .run();
    }
    let path = std::env::temp_dir().join(format!("txop-tcp-losses-{}.pcap", std::process::id()));
    std::fs::write(&path, air.writer.into_inner()).expect("a temporary file");
    path
}

fn ours(path: &Path) -> Traffic {
    let options = Options { packets: true, ..Options::default() };
    let reader = Reader::open(path, capture::Options::default()).expect("a capture");
    analyze_reader(reader, "made up".to_owned(), options, &mut ()).expect("a report").traffic.expect("packets")
}

const KINDS: [&str; 4] = ["retransmission", "fast_retransmission", "spurious_retransmission", "out_of_order"];

/// The frames that tshark's TCP analysis calls by each of the four names; `None` without tshark.
fn theirs(path: &Path) -> Option<[BTreeSet<u64>; 4]> {
    let mut command = Command::new("tshark");
    command.args(["-o", "wlan.retransmitted:FALSE", "-r"]).arg(path).args(["-T", "fields", "-e", "frame.number"]);
    for kind in KINDS {
        command.args(["-e", &format!("tcp.analysis.{kind}")]);
    }
    let output = command.args(["-Y", "tcp"]).output().ok()?;
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let mut sets: [BTreeSet<u64>; 4] = Default::default();
    for line in String::from_utf8_lossy(&output.stdout).lines() {
        let mut columns = line.split('\t');
        let number: u64 = columns.next().and_then(|text| text.parse().ok()).expect("a number");
        for (set, column) in sets.iter_mut().zip(columns) {
            set.extend((!column.is_empty()).then_some(number));
        }
    }
    Some(sets)
}

#[test]
fn hundreds_of_repeated_segments_are_those_of_tshark() {
    let path = capture_of(&CONNECTIONS);
    let (traffic, theirs) = (ours(&path), theirs(&path));
    std::fs::remove_file(&path).expect("the temporary file");
    let Some(theirs) = theirs else {
        eprintln!("SKIPPED: no tshark");
        return;
    };
    let again: BTreeSet<u64> = traffic.tcp_sent_again.iter().map(|again| again.record).collect();
    let total: u64 = traffic.flows.iter().filter_map(|flow| flow.tcp_sent_again).sum();
    let counts: Vec<usize> = theirs.iter().map(BTreeSet::len).collect();
    println!("{total} here ({} as rows); tshark: {KINDS:?} {counts:?}", again.len());
    assert_eq!((traffic.tcp_sent_again_left_out, total), (0, again.len() as u64), "every one is a row");
    assert!(again.len() >= 300 && counts.iter().all(|count| *count >= 20), "{} {counts:?}", again.len());
    let all: BTreeSet<u64> = theirs.iter().flatten().copied().collect();
    assert_eq!(again, all, "the same segments");

    // tshark looks for dup ACKs and for what came shortly before first: only of the rest does it say that it was needless.
    let [_, fast, spurious, out_of_order] = theirs;
    let needless: BTreeSet<u64> =
        traffic.tcp_sent_again.iter().filter(|again| again.needless).map(|again| again.record).collect();
    assert!(spurious.is_subset(&needless), "{:?}", spurious.difference(&needless).collect::<Vec<_>>());
    let other: Vec<_> = needless.iter().filter(|record| !spurious.contains(record)).collect();
    assert!(other.iter().all(|record| fast.contains(record) || out_of_order.contains(record)), "{other:?}");
}
