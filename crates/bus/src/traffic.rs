//! What the transfers of one endpoint carry, one row per framing.

use crate::event::direction;
use crate::histogram::Bars;
use crate::payload::{Found, Framing};
use crate::rate::Rate;
use crate::report;

const EXAMPLES: usize = 5;
/// Bytes of the largest datagram on an ordinary link, with its header: Ethernet's MTU and 14 bytes.
const ORDINARY_MAX: u64 = 1514;
/// Bytes of the smallest datagram that anything is behind: an Ethernet header of 14 bytes, and its pointer in a 16-bit NTB.
const LEAST: u64 = 18;
/// Blocks that can be missing between two.
const SEQUENCE_STEP_MAX: u16 = 1024;

/// Pointer tables of blocks that the capture cut; of a Realtek chip, the number of packets in the first descriptor of a transfer.
#[derive(Clone, Debug, Default)]
struct CutTables {
    /// Transfers with all datagrams known, be it by the length of a table.
    counted: u64,
    /// Bytes behind the last datagram seen of those.
    rest: u64,
    /// Datagrams known by the length of a table only.
    unseen: u64,
    /// Most datagrams of a block with these.
    most: u64,
    /// Blocks that are not whole and of which no datagram is known, with and without those known by the length of a table.
    bare: u64,
    without_pointer: u64,
    /// Blocks with a table that ends before its length says: then no length of a table is a count.
    with_room: u64,
}

impl CutTables {
    fn add(&mut self, found: &Found) {
        self.with_room += u64::from(found.has_room);
        self.most = self.most.max(found.datagrams + found.unseen);
        if !found.is_cut() {
            return;
        }
        self.counted += u64::from(found.by_table);
        self.rest += if found.by_table { found.rest } else { 0 };
        self.unseen += found.unseen;
        self.bare += u64::from(found.datagrams + found.unseen == 0);
        self.without_pointer += u64::from(found.datagrams == 0);
    }

    /// The length of a table is how many datagrams it has.
    fn are_full(&self) -> bool {
        self.with_room == 0
    }
}

/// Counters of one framing.
#[derive(Clone, Debug, Default)]
pub struct Traffic {
    pub transfers: u64,
    bytes: u64,
    /// Rate of the records with the data.
    rate: Rate,
    /// Rate of the completions of data to the device.
    back: Rate,
    whole: u64,
    cut: u64,
    /// Bytes of cut transfers behind the last datagram seen.
    rest: u64,
    datagrams: u64,
    most: u64,
    tables: CutTables,
    largest: u64,
    per_transfer: Bars,
    whole_bytes: u64,
    payload: u64,
    headers: u64,
    acks: [u64; 3],
    ack_only: u64,
    judged_transfers: u64,
    commands: u64,
    mux: [u64; 4],
    sequence: Option<u16>,
    sequence_gaps: u64,
    missing: u64,
    same_addresses: u64,
    first_len: u64,
    faulty: u64,
    /// Datagrams seen in those.
    in_faulty: u64,
    examples: Vec<String>,
}

impl Traffic {
    /// Counts a transfer of `len` bytes that stands in record `number`.
    pub fn add(&mut self, number: u64, time_us: Option<i64>, len: u64, found: &Found) {
        if self.transfers == 0 {
            self.first_len = len;
        }
        self.transfers += 1;
        self.bytes += len;
        self.same_addresses += u64::from(found.same_addresses);
        if let Some(time) = time_us {
            self.rate.add(time);
        }
        self.datagrams += found.datagrams;
        self.most = self.most.max(found.datagrams);
        self.tables.add(found);
        self.largest = self.largest.max(found.largest);
        self.commands += found.commands;
        self.acks.iter_mut().zip(found.acks).for_each(|(sum, count)| *sum += count);
        self.mux.iter_mut().zip(found.mux).for_each(|(all, bits)| *all |= bits);
        if found.whole {
            self.whole += 1;
            self.whole_bytes += len;
            self.payload += found.payload;
            self.headers += found.headers;
            self.per_transfer.add(found.datagrams);
            let [pure, other, unknown] = found.acks;
            if unknown == 0 && pure + other > 0 {
                self.judged_transfers += 1;
                self.ack_only += u64::from(other == 0);
            }
        } else if found.is_cut() {
            if !found.by_table {
                self.cut += 1;
                self.rest += found.rest;
            }
        } else {
            self.in_faulty += found.datagrams;
        }
        if let Some(sequence) = found.sequence {
            if let Some(last) = self.sequence {
                let step = sequence.wrapping_sub(last);
                // Larger steps, and none, are a new start and not a loss.
                if (2..=SEQUENCE_STEP_MAX).contains(&step) {
                    self.sequence_gaps += 1;
                    self.missing += u64::from(step - 1);
                }
            }
            self.sequence = Some(sequence);
        }
        if let Some(fault) = found.fault {
            self.faulty += 1;
            if self.examples.len() < EXAMPLES {
                self.examples.push(format!("record {number}, {fault}"));
            }
        }
    }

    /// A transfer to the device is complete.
    pub fn come_back(&mut self, time_us: i64) {
        self.back.add(time_us);
    }

    /// Time steps back.
    pub fn restart(&mut self) {
        self.rate.restart();
        self.back.restart();
    }

    /// Transfers that break the rules of the framing.
    pub fn faulty(&self) -> u64 {
        self.faulty
    }

    /// Transfers of which not all datagrams are known.
    fn cut(&self) -> u64 {
        self.cut + if self.tables.are_full() { 0 } else { self.tables.counted }
    }

    /// Datagrams that are known.
    fn known(&self) -> u64 {
        self.datagrams + if self.tables.are_full() { self.tables.unseen } else { 0 }
    }

    /// Datagrams there must be: those known, and for each cut transfer at least one more, or as many as the bytes behind
    /// the cut take if none of them is larger than the largest seen or an ordinary Ethernet frame. The bytes behind the cut of a
    /// block may be padding: it has one datagram where none is known.
    fn at_least(&self, is_blocks: bool) -> u64 {
        let more = match (is_blocks, self.tables.are_full()) {
            (true, true) => self.tables.bare,
            (true, false) => self.tables.without_pointer,
            (false, is_full) => {
                let rest = self.rest + if is_full { 0 } else { self.tables.rest };
                rest.div_ceil(self.largest.max(ORDINARY_MAX)).max(self.cut())
            }
        };
        self.known() + more
    }

    /// Datagrams there can be.
    fn at_most(&self, is_blocks: bool) -> u64 {
        if is_blocks || self.tables.are_full() {
            return self.datagrams + self.tables.unseen + self.rest / LEAST;
        }
        self.datagrams + (self.rest + self.tables.rest) / LEAST
    }

    /// As data; `sent`: the completions with data to the device, where all of them are of this framing.
    pub fn report(&self, device: &str, endpoint: u8, framing: Framing, sent: Option<&Rate>) -> report::Traffic {
        let is_in = endpoint & 0x80 != 0;
        let back = if is_in { &self.rate } else { sent.unwrap_or(&self.back) };
        let framed = framing.is_network() && self.transfers > 0;
        let blocks = matches!(framing, Framing::Ntb16 | Framing::Ntb32);
        let padding = self.whole_bytes.saturating_sub(self.payload + self.headers);
        // What breaks the rules shows nothing about how many datagrams go into a transfer.
        let kept = self.transfers - self.faulty;
        let per_transfer =
            |count: u64| (framed && kept > 0).then(|| count.saturating_sub(self.in_faulty) as f64 / kept as f64);
        let ratio = |part: u64, whole: u64| (whole > 0).then(|| part as f64 / whole as f64);
        let [pure, other, _] = self.acks;
        let mux = self.mux.iter().zip([0u32, 64, 128, 192]);
        report::Traffic {
            device: device.to_owned(),
            endpoint: format!("0x{endpoint:02x}"),
            direction: direction(endpoint).to_owned(),
            framing: framing.name().to_owned(),
            transfers: self.transfers,
            bytes: self.bytes,
            per_s: back.mean_per_s(),
            peak_per_s: back.peak_per_s(),
            handed_over_per_s: self.rate.mean_per_s().filter(|_| !is_in),
            whole_transfers: self.whole,
            cut_transfers: framed.then(|| self.cut()),
            counted_by_table: (blocks || framing == Framing::Realtek && is_in)
                .then_some(self.tables.counted)
                .filter(|_| self.tables.are_full()),
            datagrams: self.known(),
            datagrams_at_least: self.at_least(blocks),
            datagrams_at_most: Some(self.at_most(blocks)),
            datagrams_per_transfer: per_transfer(self.known()).filter(|_| self.cut() == 0),
            at_least_per_transfer: per_transfer(self.at_least(blocks)),
            at_most_per_transfer: per_transfer(self.at_most(blocks)),
            most_datagrams: if self.tables.are_full() { self.tables.most } else { self.most },
            datagram_histogram: if framed { self.per_transfer.bars() } else { Vec::new() },
            payload_bytes: self.payload,
            header_bytes: self.headers,
            padding_bytes: if framed { padding } else { 0 },
            padding_share: ratio(padding, self.whole_bytes).filter(|_| framed),
            pure_acks: pure,
            judged_datagrams: pure + other,
            ack_only_transfers: self.ack_only,
            judged_transfers: self.judged_transfers,
            ack_only_share: ratio(self.ack_only, self.judged_transfers),
            commands: self.commands,
            mux_ids: mux
                .flat_map(|(bits, base)| (0..64).filter(move |n| bits >> n & 1 == 1).map(move |n| base + n))
                .collect(),
            sequence_gaps: blocks.then_some(self.sequence_gaps),
            missing_blocks: blocks.then_some(self.missing),
            same_address_transfers: self.same_addresses,
            first_transfer_bytes: self.first_len,
            faulty_transfers: self.faulty,
            fault_examples: self.examples.clone(),
        }
    }
}
