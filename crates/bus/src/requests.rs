//! Control requests by device, request type and request.

use hashbrown::HashMap;
use wire::usb::setup::Setup;

use crate::event::direction;
use crate::report;

/// Kinds of requests that are distinguished.
const MAX: usize = 1024;

/// Counters of one kind of request.
#[derive(Clone, Copy, Debug)]
struct Row {
    example: Setup,
    same_name: bool,
    count: u64,
    /// Completions of which it is known how they ended, those of which it is not, and those that failed.
    ended: u64,
    unknown: u64,
    failed: u64,
    bytes: u64,
    /// Completions of which the bytes are not known, or not all.
    unknown_bytes: u64,
}

/// See the module.
#[derive(Debug, Default)]
pub struct Requests {
    rows: HashMap<(u16, u16, u8, u8), Row>,
}

impl Requests {
    /// Counts a submission.
    pub fn submit(&mut self, bus: u16, device: u16, setup: Setup) {
        let key = (bus, device, setup.request_type, setup.request);
        if self.rows.len() >= MAX && !self.rows.contains_key(&key) {
            return;
        }
        let new = Row {
            example: setup,
            same_name: true,
            count: 0,
            ended: 0,
            unknown: 0,
            failed: 0,
            bytes: 0,
            unknown_bytes: 0,
        };
        let row = self.rows.entry(key).or_insert(new);
        row.count += 1;
        row.same_name &= row.example.name() == setup.name();
    }

    /// Counts how it ended; `failed`: `None` where that is not recorded, `bytes`: those that are known, and whether they are all.
    pub fn complete(
        &mut self,
        bus: u16,
        device: u16,
        setup: Setup,
        failed: Option<bool>,
        (bytes, are_all): (u64, bool),
    ) {
        if let Some(row) = self.rows.get_mut(&(bus, device, setup.request_type, setup.request)) {
            row.ended += u64::from(failed.is_some());
            row.unknown += u64::from(failed.is_none());
            row.failed += u64::from(failed == Some(true));
            row.bytes += bytes;
            row.unknown_bytes += u64::from(!are_all);
        }
    }

    /// As data, the most frequent first.
    pub fn report(&self) -> Vec<report::Request> {
        let mut rows: Vec<_> = self.rows.iter().collect();
        rows.sort_by_key(|(key, row)| (std::cmp::Reverse(row.count), **key));
        let named = rows.into_iter().map(|((bus, device, request_type, request), row)| report::Request {
            device: format!("{bus}.{device}"),
            code: format!("{request_type:02x} {request:02x}"),
            direction: direction(*request_type).to_owned(),
            kind: row.example.kind().to_owned(),
            name: row.example.name().filter(|_| row.same_name).map(str::to_owned),
            count: row.count,
            failed: (row.ended > 0 || row.unknown == 0).then_some(row.failed),
            bytes: row.bytes,
            bytes_unknown: Some(row.unknown_bytes),
        });
        named.collect()
    }
}
