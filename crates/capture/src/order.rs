//! Records in the order of their times, as far as bounded memory reaches.
//!
//! A capture's order is taken as it is while no record is earlier than one before it by more than [`JITTER_NS`]: drivers stamp
//! a frame and the response to it some microseconds out of turn, and there the order of the records is the truth. At the first
//! record that is earlier by more, a regular file is read again from its beginning, through [`Sorter`]. What cannot be read
//! again (a pipe) goes through it from the start, with the same result: it changes nothing until such a record comes.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::fs::File;
use std::io::Seek;
use std::path::Path;

use wire::linktype::LinkType;

use crate::damage::{Damage, OpenError};
use crate::reader::{Options, Reader, Record};

/// Records earlier than one before them by no more than this stay where they are. In 15 real captures with earlier records,
/// none is so by 0.1 to 1 ms.
pub const JITTER_NS: i64 = 1_000_000;
/// Records are put before others that are later by no more than this: 2 s of the capture's clock.
pub const REACH_NS: i64 = 2_000_000_000;
/// Records held at most.
pub const RECORDS_MAX: usize = 1 << 16;
/// Bytes held at most, beside one record: 32 MiB.
pub const BYTES_MAX: usize = 32 << 20;
/// Buffers kept for the next records, and the largest of them in bytes.
const SPARE_MAX: usize = 256;
const SPARE_LEN_MAX: usize = 4 << 10;

/// What the order of the records was, and what was made of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Order {
    /// Records looked at; 0 while no record had to be moved and the file is read as it is.
    pub records: u64,
    /// Records that were put before one that stands before them.
    pub moved: u64,
    /// The most that one of those was earlier than one before it, ns.
    pub farthest_ns: i64,
    /// Records later than the one before them.
    pub forward: u64,
    /// Records earlier than the one before them.
    pub backward: u64,
}

impl Order {
    /// The last record stands first: all but a few are earlier than the one before them.
    pub fn is_reversed(&self) -> bool {
        self.backward >= 3 && self.backward > self.forward.saturating_mul(9)
    }
}

/// Why there is no next record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ending {
    /// The capture breaks off here.
    Damage(Damage),
    /// The next record belongs before some that were lent already: what was made of them is to be forgotten, and
    /// [`InOrder::again`] starts over.
    OutOfOrder,
}

/// A capture's records in the order of their times; see the module.
pub struct InOrder {
    reader: Reader,
    /// The same file, to be read again.
    file: Option<(File, Options)>,
    latest_ns: i64,
    sorter: Option<Box<Sorter>>,
    /// The input is at its end, and what broke it off.
    ended: Option<Option<Damage>>,
}

impl InOrder {
    /// Opens a file, a named pipe, or with `-` the standard input.
    ///
    /// # Errors
    /// See [`Reader::open`].
    pub fn open(path: &Path, options: Options) -> Result<Self, OpenError> {
        if path.as_os_str() == "-" {
            return Ok(Self::once(Reader::open(path, options)?));
        }
        let file = File::open(path)?;
        if !file.metadata()?.is_file() {
            return Ok(Self::once(Reader::from_read(file)?.of_interface(options.interface)));
        }
        match file.try_clone() {
            Ok(same) => {
                let reader = Reader::from_file(file, options.clone())?;
                Ok(Self { reader, file: Some((same, options)), latest_ns: i64::MIN, sorter: None, ended: None })
            }
            Err(_) => Ok(Self::once(Reader::from_file(file, options)?)),
        }
    }

    /// Records of something that can be read only once.
    pub fn once(reader: Reader) -> Self {
        Self { reader, file: None, latest_ns: i64::MIN, sorter: Some(Box::default()), ended: None }
    }

    /// Starts over after [`Ending::OutOfOrder`]; from now on records are held back and sorted.
    ///
    /// # Errors
    /// See [`Reader::open`]: the file may have changed meanwhile.
    pub fn again(self) -> Result<Self, OpenError> {
        let Some((mut file, options)) = self.file else { return Ok(Self { sorter: Some(Box::default()), ..self }) };
        drop(self.reader); // the two share their position in the file
        file.rewind()?;
        Ok(Self::once(Reader::from_file(file, options)?))
    }

    /// The next record, `None` at the end.
    ///
    /// # Errors
    /// [`Ending`] once; after damage the capture is at its end.
    #[inline]
    #[allow(clippy::should_implement_trait)] // lends, which `Iterator` cannot
    pub fn next(&mut self) -> Result<Option<Record<'_>>, Ending> {
        if self.sorter.is_some() {
            return self.sorted();
        }
        let record = self.reader.next().map_err(Ending::Damage)?;
        if let Some(now) = record.as_ref().and_then(|record| record.time_ns) {
            if now < self.latest_ns.saturating_sub(JITTER_NS) {
                return Err(Ending::OutOfOrder);
            }
            self.latest_ns = self.latest_ns.max(now);
        }
        Ok(record)
    }

    fn sorted(&mut self) -> Result<Option<Record<'_>>, Ending> {
        let Some(sorter) = &mut self.sorter else { return Ok(None) };
        while self.ended.is_none() && !sorter.is_due() {
            match self.reader.next() {
                Ok(Some(record)) => sorter.push(&record),
                Ok(None) => self.ended = Some(None),
                Err(damage) => self.ended = Some(Some(damage)),
            }
        }
        if let Some(record) = sorter.pop() {
            return Ok(Some(record));
        }
        match self.ended.as_mut().and_then(Option::take) {
            Some(damage) => Err(Ending::Damage(damage)),
            None => Ok(None),
        }
    }

    /// What reads the capture; it may be ahead of the records lent.
    pub fn reader(&self) -> &Reader {
        &self.reader
    }

    /// What was found of the order so far.
    pub fn order(&self) -> Order {
        self.sorter.as_ref().map(|sorter| sorter.order).unwrap_or_default()
    }
}

/// A record with a copy of its bytes.
#[derive(Debug)]
struct Held {
    /// Where it belongs: its time, or that of the record which it stands behind.
    key_ns: i64,
    number: u64,
    offset: u64,
    time_ns: Option<i64>,
    interface: u32,
    link_type: LinkType,
    original_len: u32,
    data: Vec<u8>,
}

impl Held {
    fn place(&self) -> (i64, u64) {
        (self.key_ns, self.number)
    }

    fn cost(&self) -> usize {
        size_of::<Self>() + self.data.capacity()
    }
}

impl PartialEq for Held {
    fn eq(&self, other: &Self) -> bool {
        self.place() == other.place()
    }
}

impl Eq for Held {}

impl PartialOrd for Held {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Held {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.place().cmp(&other.place())
    }
}

/// Holds records until none can come that belongs before them, or there are too many.
///
/// Where time goes back by more than [`REACH_NS`] (a capture behind another, one wrong time stamp), everything held goes out
/// first and sorting starts over, so that one wrong time moves no other record.
#[derive(Debug, Default)]
struct Sorter {
    /// Records that are not earlier than any before them: in order.
    run: VecDeque<Held>,
    /// The others.
    strays: BinaryHeap<Reverse<Held>>,
    /// The first record after a step back that is too long to be sorted.
    next: Option<Held>,
    /// Latest time since sorting started over.
    latest_ns: Option<i64>,
    /// Where the record before belongs.
    previous_ns: i64,
    /// Where the record that went out last belongs.
    gone_ns: Option<i64>,
    bytes: usize,
    lent: Option<Held>,
    spare: Vec<Vec<u8>>,
    last_time_ns: Option<i64>,
    order: Order,
}

impl Sorter {
    /// Must a record go out before another can be taken?
    fn is_due(&mut self) -> bool {
        if self.held() == 0 {
            self.start_over();
        }
        let Some(first) = self.first() else { return false };
        let reach = self.latest_ns.unwrap_or(first).saturating_sub(first);
        self.next.is_some() || reach > REACH_NS || self.held() > RECORDS_MAX || self.bytes > BYTES_MAX
    }

    fn held(&self) -> usize {
        self.run.len() + self.strays.len()
    }

    /// Where the first record belongs.
    fn first(&self) -> Option<i64> {
        let run = self.run.front().map(|held| held.key_ns);
        let stray = self.strays.peek().map(|Reverse(held)| held.key_ns);
        run.into_iter().chain(stray).min()
    }

    /// Takes a copy of a record.
    fn push(&mut self, record: &Record<'_>) {
        let mut data = self.spare.pop().unwrap_or_default();
        data.extend_from_slice(record.data);
        let &Record { number, offset, time_ns, interface, link_type, original_len, .. } = record;
        let held = Held { key_ns: 0, number, offset, time_ns, interface, link_type, original_len, data };
        self.order.records += 1;
        if let (Some(before), Some(now)) = (self.last_time_ns, time_ns) {
            self.order.forward += u64::from(now > before);
            self.order.backward += u64::from(now < before);
        }
        self.last_time_ns = time_ns.or(self.last_time_ns);
        match (self.latest_ns, time_ns) {
            (Some(latest), Some(now)) if now < latest.saturating_sub(REACH_NS) => self.next = Some(held),
            _ => self.insert(held),
        }
    }

    fn insert(&mut self, mut held: Held) {
        self.bytes += held.cost();
        let latest = self.latest_ns;
        let key_ns = match (latest, held.time_ns) {
            (Some(latest), None) => latest,
            (None, None) => i64::MIN,
            (None, Some(now)) => now,
            (Some(latest), Some(now)) if now >= latest.saturating_sub(JITTER_NS) => now.max(latest),
            (Some(_), Some(now)) => {
                let is_jitter = now < self.previous_ns && now >= self.previous_ns.saturating_sub(JITTER_NS);
                if is_jitter {
                    self.previous_ns
                } else {
                    now
                }
            }
        };
        held.key_ns = key_ns;
        self.previous_ns = key_ns;
        let Some(latest) = latest.filter(|latest| key_ns < *latest) else {
            // A record without a time says nothing about where the clock is.
            self.latest_ns = if held.time_ns.is_some() { Some(key_ns) } else { latest };
            self.run.push_back(held);
            return;
        };
        // Where memory did not suffice, those that it belongs before may be gone.
        if self.gone_ns.is_none_or(|gone| gone <= key_ns) {
            self.order.moved += 1;
            self.order.farthest_ns = self.order.farthest_ns.max(latest.saturating_sub(held.time_ns.unwrap_or(latest)));
        }
        self.strays.push(Reverse(held));
    }

    /// Takes the record that waits for all before it to be gone.
    fn start_over(&mut self) {
        if let Some(next) = self.next.take() {
            (self.latest_ns, self.gone_ns) = (None, None);
            self.insert(next);
        }
    }

    /// The first record of those held.
    fn pop(&mut self) -> Option<Record<'_>> {
        if let Some(lent) = self.lent.take() {
            self.keep(lent.data);
        }
        if self.held() == 0 {
            self.start_over();
        }
        let stray_first = match (self.run.front(), self.strays.peek()) {
            (Some(front), Some(Reverse(stray))) => stray < front,
            (None, stray) => stray.is_some(),
            _ => false,
        };
        let held = if stray_first { self.strays.pop().map(|Reverse(held)| held) } else { self.run.pop_front() }?;
        self.bytes = self.bytes.saturating_sub(held.cost());
        self.gone_ns = Some(held.key_ns);
        let held = self.lent.insert(held);
        let &mut Held { number, offset, time_ns, interface, link_type, original_len, ref data, .. } = held;
        Some(Record { number, offset, time_ns, interface, link_type, original_len, data })
    }

    /// Keeps a buffer for the next record, unless it is large.
    fn keep(&mut self, mut data: Vec<u8>) {
        if self.spare.len() < SPARE_MAX && data.capacity() <= SPARE_LEN_MAX {
            data.clear();
            self.spare.push(data);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn held_at_most(times: impl Iterator<Item = Option<i64>>, data: &[u8]) -> (usize, usize) {
        let mut sorter = Sorter::default();
        let (mut records, mut bytes) = (0, 0);
        for (number, time_ns) in (1..).zip(times) {
            while sorter.is_due() {
                assert!(sorter.pop().is_some());
            }
            let (link_type, original_len) = (LinkType(105), data.len() as u32);
            sorter.push(&Record { number, offset: 0, time_ns, interface: 0, link_type, original_len, data });
            records = records.max(sorter.held());
            let spare = sorter.spare.iter().map(Vec::capacity).sum::<usize>();
            bytes = bytes.max(sorter.bytes + spare);
        }
        (records, bytes)
    }

    /// Times that never release a record do not fill the memory.
    #[test]
    fn what_is_held_is_bounded() {
        let many = 3 * RECORDS_MAX;
        let large = vec![0; 256 << 10];
        let (spare, one) = (SPARE_MAX * SPARE_LEN_MAX, large.len() + size_of::<Held>());
        for (name, time) in [
            ("equal", (|_| Some(5)) as fn(usize) -> Option<i64>),
            ("none", |_| None),
            ("backwards", |i| Some(1_900_000_000 - (i as i64) * 5_000)),
            ("to and fro", |i| Some(if i % 2 == 0 { 0 } else { 1_999_999_999 })),
            ("first and last", |i| Some(if i % 2 == 0 { i64::MIN } else { i64::MAX })),
        ] {
            let (records, bytes) = held_at_most((0..many).map(time), &[1, 2, 3]);
            assert!(records <= RECORDS_MAX + 1 && bytes <= BYTES_MAX + spare, "{name}: {records}, {bytes}");
            let (records, bytes) = held_at_most((0..500).map(time), &large);
            assert!(records <= BYTES_MAX / large.len() + 1, "{name}: {records}");
            assert!(bytes <= BYTES_MAX + spare + one, "{name}: {bytes}");
        }
    }
}
