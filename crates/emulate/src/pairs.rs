//! What went from which host to which.

use std::collections::{BTreeMap, HashMap};

use link::{DropCause, HostId};
use serde::Serialize;

use crate::delays::Delays;

/// Packets from one host to another.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Pair {
    /// Number of the sending host.
    pub from: u16,
    /// Number of the receiving host.
    pub to: u16,
    /// Packets that the sending host handed to its device and the emulator took.
    pub packets_offered: u64,
    /// Their bytes, IP headers included.
    pub bytes_offered: u64,
    /// Packets that came out of the link.
    pub packets_delivered: u64,
    /// Their bytes, IP headers included.
    pub bytes_delivered: u64,
    /// From the first to the last delivery, s; `None` before there are two.
    pub delivering_s: Option<f64>,
    /// Goodput of the IP packets in that time, Mbit/s (the first packet is not counted: its own time is not known).
    pub goodput_mbit_s: Option<f64>,
    /// Packets that were dropped, by cause.
    pub drops: BTreeMap<DropCause, u64>,
    /// From the offer to the release that the link set.
    #[cfg_attr(feature = "schema", schemars(with = "crate::delays::Summary"))]
    pub delay: Delays,
    #[serde(skip)]
    first_ns: Option<u64>,
    #[serde(skip)]
    first_bytes: u64,
    #[serde(skip)]
    last_ns: u64,
}

impl Pair {
    fn new(from: HostId, to: HostId) -> Self {
        Self {
            from: from.0,
            to: to.0,
            packets_offered: 0,
            bytes_offered: 0,
            packets_delivered: 0,
            bytes_delivered: 0,
            delivering_s: None,
            goodput_mbit_s: None,
            drops: BTreeMap::new(),
            delay: Delays::default(),
            first_ns: None,
            first_bytes: 0,
            last_ns: 0,
        }
    }

    pub(crate) fn offered(&mut self, bytes: usize) {
        self.packets_offered += 1;
        self.bytes_offered += bytes as u64;
    }

    pub(crate) fn delivered(&mut self, at_ns: u64, offered_ns: u64, bytes: usize) {
        if self.first_ns.is_none() {
            (self.first_ns, self.first_bytes) = (Some(at_ns), bytes as u64);
        }
        self.last_ns = at_ns;
        self.packets_delivered += 1;
        self.bytes_delivered += bytes as u64;
        self.delay.record(at_ns.saturating_sub(offered_ns));
    }

    pub(crate) fn dropped(&mut self, cause: DropCause) {
        *self.drops.entry(cause).or_default() += 1;
    }

    fn finish(mut self) -> Self {
        let ns = self.first_ns.map_or(0, |first_ns| self.last_ns.saturating_sub(first_ns));
        if ns > 0 {
            self.delivering_s = Some(ns as f64 / 1e9);
            self.goodput_mbit_s = Some((self.bytes_delivered - self.first_bytes) as f64 * 8e3 / ns as f64);
        }
        self
    }
}

/// All of them. A row is made when its first packet comes.
#[derive(Debug, Default)]
pub(crate) struct Pairs {
    rows: Vec<Pair>,
    index: HashMap<(HostId, HostId), u32>,
}

impl Pairs {
    /// The row of a pair.
    pub(crate) fn row(&mut self, from: HostId, to: HostId) -> u32 {
        *self.index.entry((from, to)).or_insert_with(|| {
            self.rows.push(Pair::new(from, to));
            self.rows.len() as u32 - 1
        })
    }

    pub(crate) fn get(&mut self, row: u32) -> Option<&mut Pair> {
        self.rows.get_mut(row as usize)
    }

    /// In the order of the hosts.
    pub(crate) fn finish(self) -> Vec<Pair> {
        let mut rows: Vec<Pair> = self.rows.into_iter().map(Pair::finish).collect();
        rows.sort_by_key(|row| (row.from, row.to));
        rows
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn goodput_is_that_of_the_time_in_which_packets_came() {
        let mut pairs = Pairs::default();
        let row = pairs.row(HostId(3), HostId(0));
        assert_eq!(pairs.row(HostId(0), HostId(3)), 1);
        assert_eq!(pairs.row(HostId(3), HostId(0)), row);
        let pair = pairs.get(row).expect("a row");
        for n in 0..=100 {
            pair.offered(1_250);
            pair.delivered(5_000_000_000 + n * 1_000_000, 4_999_000_000 + n * 1_000_000, 1_250);
        }
        pair.dropped(DropCause::Codel);
        let rows = pairs.finish();
        assert_eq!((rows[0].from, rows[0].packets_delivered, rows[0].packets_offered), (0, 0, 0));
        assert_eq!((rows[0].goodput_mbit_s, rows[1].goodput_mbit_s), (None, Some(10.0)));
        assert_eq!((rows[1].delivering_s, rows[1].drops[&DropCause::Codel]), (Some(0.1), 1));
        assert!(rows[1].delay.quantile_us(0.5).is_some_and(|us| (1_000.0..1_130.0).contains(&us)));
    }
}
