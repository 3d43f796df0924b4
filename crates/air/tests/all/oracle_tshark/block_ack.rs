//! Block Ack accounting a second time: hash maps over tshark's fields, following the definitions of
//! `docs/air-counting.md`, and nothing shared with the analyzer.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;

use super::captures;
use super::outcome::Outcome;
use super::tshark::{self, Row};

/// Captures with Block Acks.
pub const CAPTURES: [&str; 11] = [
    "SIM_ns3_ht_ampdu.pcap",
    "SIM_ns3_ht_ampdu_full_snap120.pcap",
    "SIM_ns3_vht_ampdu.pcap",
    "SIM_ns3_vht_ampdu_full_snap120.pcap",
    "SIM_ns3_he_ampdu.pcap",
    "SIM_ns3_he_ampdu_full_snap120.pcap",
    "u61w_vm_init_socket-01.cap",
    "airhound_sample_capture_wo_handshake.cap",
    "ossrecon_captures_capture-01.cap",
    "trac_813_20170802-135432_007-hs-01.cap",
    "trac_1263_20131220-123720_383-suhod-01.cap",
];

const DATA_QOS: i64 = 0x28;
const BLOCK_ACK: i64 = 0x19;
const ACK: i64 = 0x1d;
const MODULUS: i64 = 4096;
/// Sequence numbers a flow remembers; bitmaps of more than 64 bits need more.
const MEMORY: i64 = 256;
const LONG_MEMORY: i64 = 1024;

type Key = (String, String, i64);

#[derive(Clone, Default)]
struct Mpdu {
    acked: bool,
    waiting: bool,
}

#[derive(Default)]
struct Flow {
    mpdus: HashMap<i64, Mpdu>,
    /// Sent since the last Block Ack, in order.
    waiting: Vec<i64>,
    long: bool,
    block_acks: u64,
    transmissions: u64,
    retransmissions: u64,
    newly_acked: u64,
    stale: u64,
    not_captured: u64,
    left_out: u64,
    ones: u64,
}

impl Flow {
    /// Forgets whatever shares its place with `sequence`: only the last 256 (1024) numbers are remembered.
    fn make_room(&mut self, sequence: i64) {
        let memory = if self.long { LONG_MEMORY } else { MEMORY };
        for cycle in 1..MODULUS / memory {
            self.mpdus.remove(&((sequence + cycle * memory) % MODULUS));
        }
    }

    /// `marked`: the receiver distinguishes PPDUs; without it, a number that does not rise is of another one.
    fn sent(&mut self, sequence: i64, retry: bool, marked: bool) {
        let rises = |last: &i64| (1..MODULUS / 2).contains(&(sequence - last).rem_euclid(MODULUS));
        if !marked && !self.waiting.last().is_none_or(rises) {
            self.waiting.clear();
        }
        self.transmissions += 1;
        self.retransmissions += u64::from(retry);
        let repeats = self.mpdus.get(&sequence).is_some_and(|mpdu| retry || (mpdu.waiting && !mpdu.acked));
        if !repeats {
            self.make_room(sequence);
            self.mpdus.insert(sequence, Mpdu::default());
        }
        if let Some(mpdu) = self.mpdus.get_mut(&sequence) {
            mpdu.waiting = true;
        }
        self.waiting.push(sequence);
    }

    fn block_ack(&mut self, start: i64, bitmap: &[u8], marked: bool) {
        let bits = bitmap.len() as i64 * 8;
        let is_first = self.block_acks == 0;
        self.block_acks += 1;
        self.long |= bits > 64;
        let is_set = |offset: i64| bitmap.get((offset / 8) as usize).is_some_and(|byte| byte >> (offset % 8) & 1 == 1);
        for offset in (0..bits).filter(|offset| is_set(*offset)) {
            self.ones += 1;
            let sequence = (start + offset) % MODULUS;
            match self.mpdus.get_mut(&sequence) {
                Some(mpdu) if mpdu.acked => self.stale += 1,
                Some(mpdu) => {
                    mpdu.acked = true;
                    self.newly_acked += 1;
                }
                None => {
                    self.make_room(sequence);
                    self.mpdus.insert(sequence, Mpdu { acked: true, waiting: false });
                    *(if is_first { &mut self.stale } else { &mut self.not_captured }) += 1;
                }
            }
        }
        let waiting = std::mem::take(&mut self.waiting);
        let of = |sequence: i64| (sequence - start).rem_euclid(MODULUS);
        if !marked && !waiting.iter().any(|sequence| of(*sequence) < bits && is_set(of(*sequence))) {
            return; // it answers something that was not captured
        }
        for sequence in waiting {
            let offset = (sequence - start).rem_euclid(MODULUS);
            let Some(mpdu) = self.mpdus.get_mut(&sequence) else { continue };
            if std::mem::take(&mut mpdu.waiting) && !mpdu.acked && offset < bits {
                self.left_out += 1;
            }
        }
    }

    fn ack(&mut self, sequence: i64) {
        if let Some(mpdu) = self.mpdus.get_mut(&sequence) {
            mpdu.acked = true;
            mpdu.waiting = false;
        }
        self.waiting.retain(|other| *other != sequence);
    }
}

/// A QoS data frame that a normal ACK right after it would acknowledge.
struct Single {
    key: Key,
    sequence: i64,
}

fn bytes(hex: &str) -> Vec<u8> {
    let digits: Vec<u32> = hex.chars().filter_map(|digit| digit.to_digit(16)).collect();
    digits.chunks_exact(2).map(|pair| (pair[0] * 16 + pair[1]) as u8).collect()
}

fn flows(rows: &[Row], invented: bool) -> BTreeMap<Key, Flow> {
    let mut flows: BTreeMap<Key, Flow> = BTreeMap::new();
    let mut single: Option<Single> = None;
    let mut group = String::new();
    let marked = rows.iter().any(|row| !row.get("radiotap.ampdu.reference").is_empty());
    for row in rows {
        let damaged = if invented { row.flag("radiotap.flags.badfcs") } else { row.bad() };
        let kind = row.kind().unwrap_or(-1);
        let ra = row.get("wlan.ra").to_owned();
        if damaged {
            single = None;
            continue;
        }
        let before = single.take();
        match (kind, row.ta()) {
            (ACK, _) => {
                if let Some(single) = before.filter(|single| single.key.0 == ra) {
                    flows.entry(single.key).or_default().ack(single.sequence);
                }
            }
            // Without its transmitter it is some other row's.
            (BLOCK_ACK, Some(ta)) if ta != "00:00:00:00:00:00" => {
                let (tid, start) = (row.number("wlan.ba.basic.tidinfo"), row.number("wlan.fixed.ssc.sequence"));
                if let (Some(tid), Some(start), bitmap @ [_, ..]) = (tid, start, &bytes(row.get("wlan.ba.bm"))[..]) {
                    flows.entry((ra, ta, tid)).or_default().block_ack(start, bitmap, marked);
                }
            }
            (kind, Some(ta)) if kind & !3 == DATA_QOS => {
                let is_group = u8::from_str_radix(&ra[..2], 16).is_ok_and(|first| first & 1 == 1);
                let (tid, sequence) = (row.number("wlan.qos.tid"), row.number("wlan.seq"));
                if let (false, Some(tid), Some(sequence)) = (is_group, tid, sequence) {
                    let key = (ta, ra, tid);
                    flows.entry(key.clone()).or_default().sent(sequence, row.flag("wlan.fc.retry"), marked);
                    let reference = row.get("radiotap.ampdu.reference").to_owned();
                    // The second frame of an A-MPDU is not a single frame.
                    let alone = reference.is_empty() || reference != group;
                    group.clone_from(&reference);
                    single = alone.then_some(Single { key, sequence });
                }
            }
            _ => {}
        }
    }
    flows
}

/// Compares one capture.
pub fn compare(path: &Path, outcome: &mut Outcome) {
    let name = captures::name(path);
    let theirs = flows(&tshark::rows(path), captures::fcs_is_invented(&name));
    let report = captures::report(path).expect("a report");
    let figures = |flow: &Flow| {
        [
            flow.block_acks,
            flow.transmissions,
            flow.retransmissions,
            flow.newly_acked,
            flow.stale,
            flow.not_captured,
            flow.left_out,
        ]
    };
    let theirs_seen = theirs.iter().filter(|(_, flow)| flow.block_acks > 0);
    let ones: u64 = theirs_seen.clone().map(|(_, flow)| flow.ones).sum();
    let theirs: BTreeMap<Key, _> = theirs_seen.map(|(key, flow)| (key.clone(), figures(flow))).collect();
    let ours: BTreeMap<Key, _> = report
        .block_acks
        .iter()
        .filter(|flow| flow.block_acks > 0)
        .map(|f| {
            let key = (f.originator.clone(), f.recipient.clone(), i64::from(f.tid));
            let figures = [
                f.block_acks,
                f.transmissions,
                f.retransmissions,
                f.newly_acked,
                f.stale_bits,
                f.acked_not_captured,
                f.left_out,
            ];
            (key, figures)
        })
        .collect();
    outcome.tables("Block Ack accounting", &name, &theirs, &ours);
    let sum: u64 = ours.values().map(|f| f[3] + f[4] + f[5]).sum();
    outcome.same("set bits", &name, ones, sum);
    let total = |at: usize| ours.values().map(|f| f[at]).sum::<u64>();
    println!(
        "{name}: {} flows, {} Block Acks, {} newly acknowledged, {} stale, {} not captured, {} left out",
        ours.len(),
        total(0),
        total(3),
        total(4),
        total(5),
        total(6)
    );
}
