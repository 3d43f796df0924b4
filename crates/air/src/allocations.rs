//! MU PPDUs as wholes: what their signalling allocates, and which users' frames were captured.

use std::collections::BTreeMap;

use wire::ieee80211::MacAddr;
use wire::phy::{Allocation, Eht, Mode, SigB};

use crate::micros::us;
use crate::ppdu::Ppdu;
use crate::report::{AllocatedUnit, AllocationCount, MultiUserPpdus, SigBRate};

/// Transmitters kept.
const MAX_SENDERS: usize = 256;
/// Ways to share the channel kept per transmitter.
const MAX_ALLOCATIONS: usize = 256;
/// Ways to share the channel reported per transmitter.
const REPORTED_ALLOCATIONS: usize = 32;
/// Receivers in one PPDU; HE has room for 74 units of 26 tones, and for up to 8 users in larger ones.
const MAX_RECEIVERS: usize = 160;

/// All transmitters of MU PPDUs.
#[derive(Debug, Default)]
pub struct Allocations {
    senders: Vec<(MacAddr, Sender)>,
    open: Option<Open>,
}

/// The latest PPDU, of which further parts may come.
#[derive(Debug)]
struct Open {
    ta: MacAddr,
    stamp_us: u64,
    allocation: Option<Allocation>,
    sig_b: SigB,
    /// Time of HE-SIG-B or EHT-SIG.
    sig_ns: Option<u32>,
    /// Time of the whole, by its L-SIG.
    air_ns: Option<i64>,
    is_contradictory: bool,
    receivers: Vec<MacAddr>,
}

#[derive(Clone, Debug, Default)]
struct Sender {
    ppdus: u64,
    parts_without_stamp: u64,
    contradictory: u64,
    known: Sum,
    by_allocation: Vec<(Allocation, Sum)>,
    sig: Signalling,
    /// By MCS and DCM of HE-SIG-B.
    by_rate: BTreeMap<(u8, Option<bool>), u64>,
}

/// PPDUs with known signalling and a known duration.
#[derive(Clone, Copy, Debug, Default)]
struct Signalling {
    ppdus: u64,
    sig_ns: i64,
    air_ns: i64,
}

/// How long HE-SIG-B or EHT-SIG lasted, ns.
fn sig_ns(ppdu: &Ppdu) -> Option<u32> {
    match ppdu.mode {
        Mode::Eht(Eht { sig_symbols, .. }) => sig_symbols.map(|symbols| u32::from(symbols) * SigB::SYMBOL_NS),
        _ => ppdu.sig_b.duration_ns(),
    }
}

#[derive(Clone, Copy, Debug, Default)]
struct Sum {
    ppdus: u64,
    captured: u64,
}

impl Sum {
    fn add(&mut self, captured: u64) {
        self.ppdus += 1;
        self.captured += captured;
    }
}

impl Allocations {
    /// Takes a user's part of a PPDU; others are ignored.
    #[inline]
    pub fn ppdu(&mut self, ppdu: &Ppdu) {
        if ppdu.mode.is_to_several() && !ppdu.mode.is_trigger_based() && !ppdu.all_bad {
            self.part(ppdu);
        }
    }

    #[cold]
    fn part(&mut self, ppdu: &Ppdu) {
        let Some(ta) = ppdu.ta else { return };
        let Some(stamp_us) = ppdu.stamp_us() else {
            if let Some(sender) = self.sender(ta) {
                sender.parts_without_stamp += 1;
            }
            return;
        };
        if self.open.as_ref().is_none_or(|open| (open.ta, open.stamp_us) != (ta, stamp_us)) {
            self.finish();
        }
        let open = self.open.get_or_insert_with(|| Open {
            ta,
            stamp_us,
            allocation: None,
            sig_b: SigB::default(),
            sig_ns: None,
            air_ns: None,
            is_contradictory: false,
            receivers: Vec::new(),
        });
        if let Some(allocation) = ppdu.allocation {
            open.is_contradictory |= *open.allocation.get_or_insert(allocation) != allocation;
        }
        if ppdu.sig_b != SigB::default() {
            open.is_contradictory |= open.sig_b != SigB::default() && open.sig_b != ppdu.sig_b;
            open.sig_b = ppdu.sig_b;
        }
        open.sig_ns = open.sig_ns.or_else(|| sig_ns(ppdu));
        open.air_ns = open.air_ns.or_else(|| ppdu.air_ns().filter(|_| ppdu.exact_duration));
        if !open.receivers.contains(&ppdu.ra) && open.receivers.len() < MAX_RECEIVERS {
            open.receivers.push(ppdu.ra);
        }
    }

    /// Counts the PPDU that is open.
    pub fn finish(&mut self) {
        let Some(open) = self.open.take() else { return };
        let Some(sender) = self.sender(open.ta) else { return };
        sender.ppdus += 1;
        if !open.is_contradictory {
            sender.signalling(&open);
        }
        let Some(allocation) = open.allocation else { return };
        let captured = open.receivers.len() as u64;
        if open.is_contradictory || captured > u64::from(allocation.users) {
            sender.contradictory += 1;
            return;
        }
        let row = match sender.by_allocation.iter().position(|(other, _)| *other == allocation) {
            Some(row) => row,
            None if sender.by_allocation.len() < MAX_ALLOCATIONS => {
                sender.by_allocation.push((allocation, Sum::default()));
                sender.by_allocation.len() - 1
            }
            // Without a row it is as good as not known.
            None => return,
        };
        if let Some((_, sum)) = sender.by_allocation.get_mut(row) {
            sum.add(captured);
            sender.known.add(captured);
        }
    }

    fn sender(&mut self, ta: MacAddr) -> Option<&mut Sender> {
        let row = match self.senders.iter().position(|(other, _)| *other == ta) {
            Some(row) => row,
            None if self.senders.len() < MAX_SENDERS => {
                self.senders.push((ta, Sender::default()));
                self.senders.len() - 1
            }
            None => return None,
        };
        self.senders.get_mut(row).map(|(_, sender)| sender)
    }

    /// One row per transmitter that `wants` takes, most PPDUs first.
    pub fn report(&self, wants: &dyn Fn(MacAddr) -> bool) -> Vec<MultiUserPpdus> {
        let mut rows: Vec<MultiUserPpdus> =
            self.senders.iter().filter(|(ta, _)| wants(*ta)).map(|(ta, sender)| sender.report(*ta)).collect();
        rows.sort_by(|a, b| {
            (b.ppdus, b.parts_without_stamp).cmp(&(a.ppdus, a.parts_without_stamp)).then(a.ta.cmp(&b.ta))
        });
        rows
    }
}

impl Sender {
    fn signalling(&mut self, open: &Open) {
        if let Some(mcs) = open.sig_b.mcs {
            *self.by_rate.entry((mcs, open.sig_b.dcm)).or_default() += 1;
        }
        // A signalling that does not fit into its PPDU is not true.
        if let Some((sig_ns, air_ns)) = open.sig_ns.map(i64::from).zip(open.air_ns).filter(|(sig, air)| sig < air) {
            self.sig.ppdus += 1;
            self.sig.sig_ns += sig_ns;
            self.sig.air_ns += air_ns;
        }
    }

    fn report(&self, ta: MacAddr) -> MultiUserPpdus {
        let mut units: BTreeMap<u16, u64> = BTreeMap::new();
        let mut users = 0;
        for (allocation, sum) in &self.by_allocation {
            users += u64::from(allocation.users) * sum.ppdus;
            for (tones, count) in allocation.units() {
                *units.entry(tones).or_default() += u64::from(count) * sum.ppdus;
            }
        }
        let if_known = |count: u64| (self.known.ppdus > 0).then_some(count);
        let mut allocations: Vec<AllocationCount> = self
            .by_allocation
            .iter()
            .map(|(allocation, sum)| AllocationCount {
                units: spelled(allocation),
                users: allocation.users,
                ppdus: sum.ppdus,
                users_captured: sum.captured,
            })
            .collect();
        allocations.sort_by(|a, b| b.ppdus.cmp(&a.ppdus).then_with(|| (&a.units, a.users).cmp(&(&b.units, b.users))));
        allocations.truncate(REPORTED_ALLOCATIONS);
        MultiUserPpdus {
            ta: ta.to_string(),
            ppdus: self.ppdus,
            parts_without_stamp: self.parts_without_stamp,
            allocation_known: self.known.ppdus,
            contradictory: self.contradictory,
            units: if_known(units.values().sum()),
            users: if_known(users),
            users_captured: if_known(self.known.captured),
            users_not_captured: if_known(users - self.known.captured),
            resource_units: units.into_iter().map(|(tones, units)| AllocatedUnit { tones, units }).collect(),
            allocations,
            sig_timed: Some(self.sig.ppdus),
            sig_us: (self.sig.ppdus > 0).then(|| us(self.sig.sig_ns)),
            sig_air_us: (self.sig.ppdus > 0).then(|| us(self.sig.air_ns)),
            sig_share: (self.sig.ppdus > 0).then(|| self.sig.sig_ns as f64 / self.sig.air_ns as f64),
            sig_b_rates: self.by_rate.iter().map(|(&(mcs, dcm), &ppdus)| SigBRate { mcs, dcm, ppdus }).collect(),
        }
    }
}

/// `484 + 2 x 242`.
fn spelled(allocation: &Allocation) -> String {
    let mut units: Vec<(u16, u8)> = allocation.units().collect();
    units.reverse();
    let name = |(tones, count): (u16, u8)| if count == 1 { tones.to_string() } else { format!("{count} x {tones}") };
    units.into_iter().map(name).collect::<Vec<_>>().join(" + ")
}
