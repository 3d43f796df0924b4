//! Which station's turn it is: one after the other, or by the airtime they use.

use std::collections::VecDeque;

use crate::queue::settings::{AirtimeDiscipline, AirtimeSettings};
use crate::queue::turns::Turns;

/// No station is deeper in debt than this, µs, so that a turn is found in bounded time.
const DEEPEST_DEBT_US: i64 = 1_000_000;

/// mac80211 charges a station that was scheduled in this time (`AIRTIME_ACTIVE_DURATION`, a tenth of a second), ns.
const ACTIVE_NS: u64 = 100_000_000;

/// What is known of stations from elsewhere.
pub(crate) trait Stations {
    /// Something waits for it.
    fn waits(&self, peer: usize) -> bool;

    /// Its share of the hardware's queue is not full.
    fn may_send(&self, peer: usize) -> bool;

    /// What of it waits in the hardware, µs.
    fn pending_us(&self, peer: usize) -> u64;
}

/// The turns of one access category.
#[derive(Clone, Debug)]
pub(crate) enum Rota {
    /// One aggregate each.
    RoundRobin(RoundRobin),
    /// ath9k's rule.
    Ath9k(Ath9k),
    /// mac80211's rule.
    Mac80211(Mac80211),
}

impl Rota {
    pub(crate) fn round_robin(peers: usize) -> Self {
        Self::RoundRobin(RoundRobin { order: VecDeque::new(), listed: vec![false; peers], served: false })
    }

    pub(crate) fn by_airtime(settings: &AirtimeSettings, peers: usize) -> Self {
        let listed = vec![false; peers];
        match settings.discipline {
            AirtimeDiscipline::Ath9k => Self::Ath9k(Ath9k {
                turns: Turns::default(),
                listed,
                deficits_us: vec![i64::from(settings.quantum_us); peers],
                quantum_us: i64::from(settings.quantum_us),
                sparse_stations: settings.sparse_stations,
            }),
            AirtimeDiscipline::Mac80211 => {
                let weight = |peer| i64::from(*settings.weights.get(peer).unwrap_or(&settings.weight));
                Self::Mac80211(Mac80211 {
                    order: VecDeque::new(),
                    listed,
                    deficits_us: (0..peers).map(weight).collect(),
                    weights: (0..peers).map(weight).collect(),
                    active_ns: vec![None; peers],
                    served_ns: None,
                })
            }
        }
    }

    /// Something came for a station, which there must be.
    pub(crate) fn arrived(&mut self, now_ns: u64, peer: usize) {
        match self {
            Self::RoundRobin(rota) => rota.arrived(peer),
            Self::Ath9k(rota) => rota.arrived(peer),
            Self::Mac80211(rota) => rota.arrived(now_ns, peer),
        }
    }

    /// Who has the turn.
    pub(crate) fn next(&mut self, stations: &impl Stations) -> Option<usize> {
        match self {
            Self::RoundRobin(rota) => rota.next(stations),
            Self::Ath9k(rota) => rota.next(stations),
            Self::Mac80211(rota) => rota.next(stations),
        }
    }

    /// Something was taken of a station.
    pub(crate) fn served(&mut self, now_ns: u64, peer: usize) {
        match self {
            Self::RoundRobin(rota) => rota.served |= rota.order.front() == Some(&(peer as u32)),
            Self::Ath9k(_) => {}
            Self::Mac80211(rota) if rota.order.front() == Some(&(peer as u32)) => rota.served_ns = Some(now_ns),
            Self::Mac80211(_) => {}
        }
    }

    /// A turn has ended, if one had begun: before anything comes, is charged, or is asked for.
    pub(crate) fn end_turn(&mut self, stations: &impl Stations) {
        if let Self::Mac80211(rota) = self {
            rota.put_back(stations);
        }
    }

    /// A station has used airtime.
    pub(crate) fn charge(&mut self, now_ns: u64, peer: usize, airtime_us: u32) {
        match self {
            Self::RoundRobin(_) => {}
            Self::Ath9k(rota) => charge(rota.deficits_us.get_mut(peer), airtime_us),
            Self::Mac80211(rota) if rota.is_active(now_ns, peer) => charge(rota.deficits_us.get_mut(peer), airtime_us),
            Self::Mac80211(_) => {}
        }
    }

    /// How many stations take part.
    pub(crate) fn stations(&self) -> usize {
        match self {
            Self::RoundRobin(rota) => rota.order.len(),
            Self::Ath9k(rota) => rota.turns.iter().count(),
            Self::Mac80211(rota) => rota.order.len(),
        }
    }
}

fn charge(deficit_us: Option<&mut i64>, airtime_us: u32) {
    if let Some(deficit_us) = deficit_us {
        *deficit_us = (*deficit_us - i64::from(airtime_us)).max(-DEEPEST_DEBT_US);
    }
}

fn can_serve_one(mut peers: impl Iterator<Item = u32>, stations: &impl Stations) -> bool {
    peers.any(|peer| stations.waits(peer as usize) && stations.may_send(peer as usize))
}

/// One aggregate each.
#[derive(Clone, Debug)]
pub(crate) struct RoundRobin {
    order: VecDeque<u32>,
    listed: Vec<bool>,
    /// The first in the order has been given something.
    served: bool,
}

impl RoundRobin {
    fn arrived(&mut self, peer: usize) {
        if !std::mem::replace(&mut self.listed[peer], true) {
            self.order.push_back(peer as u32);
        }
    }

    fn next(&mut self, stations: &impl Stations) -> Option<usize> {
        if !can_serve_one(self.order.iter().copied(), stations) {
            return None;
        }
        loop {
            let peer = *self.order.front()? as usize;
            let served = std::mem::take(&mut self.served);
            if !stations.waits(peer) {
                self.order.pop_front();
                self.listed[peer] = false;
            } else if served || !stations.may_send(peer) {
                self.order.rotate_left(1);
            } else {
                return Some(peer);
            }
        }
    }
}

/// Deficit round robin over airtime as ath9k had it (Linux 4.11 to 5.0): a station sends while its deficit is positive, and
/// gets a quantum when its turn comes; one that has just become busy comes before those that have been.
#[derive(Clone, Debug)]
pub(crate) struct Ath9k {
    turns: Turns,
    listed: Vec<bool>,
    /// It stays as it is while a station has nothing to send.
    deficits_us: Vec<i64>,
    quantum_us: i64,
    sparse_stations: bool,
}

impl Ath9k {
    fn arrived(&mut self, peer: usize) {
        if std::mem::replace(&mut self.listed[peer], true) {
            return;
        }
        if self.sparse_stations {
            self.turns.join(peer as u32);
        } else {
            self.turns.join_at_back(peer as u32);
        }
    }

    fn next(&mut self, stations: &impl Stations) -> Option<usize> {
        if !can_serve_one(self.turns.iter(), stations) {
            return None;
        }
        loop {
            let peer = self.turns.head()? as usize;
            if self.deficits_us[peer] <= 0 {
                self.deficits_us[peer] += self.quantum_us;
                self.turns.rotate();
            } else if !stations.waits(peer) {
                self.listed[peer] = !self.turns.emptied();
            } else if !stations.may_send(peer) {
                self.turns.rotate();
            } else {
                return Some(peer);
            }
        }
    }
}

/// Deficit round robin over airtime as mac80211 has it (Linux 5.1 and later): a station sends while its deficit, less what
/// waits in the hardware, is not negative, and gets its weight in µs when its turn comes. One that becomes busy comes first,
/// unless it is in debt.
#[derive(Clone, Debug)]
pub(crate) struct Mac80211 {
    order: VecDeque<u32>,
    listed: Vec<bool>,
    deficits_us: Vec<i64>,
    weights: Vec<i64>,
    /// When it last had something to send as it was put into the order.
    active_ns: Vec<Option<u64>>,
    /// When the first in the order was given something in its turn.
    served_ns: Option<u64>,
}

impl Mac80211 {
    fn arrived(&mut self, now_ns: u64, peer: usize) {
        if !std::mem::replace(&mut self.listed[peer], true) {
            self.order.push_front(peer as u32);
            self.active_ns[peer] = Some(now_ns);
        }
    }

    fn is_active(&self, now_ns: u64, peer: usize) -> bool {
        self.active_ns.get(peer).copied().flatten().is_some_and(|at| now_ns.saturating_sub(at) <= ACTIVE_NS)
    }

    /// Debt, with what waits in the hardware, µs; negative in debt.
    fn deficit_us(&self, peer: usize, stations: &impl Stations) -> i64 {
        self.deficits_us[peer].saturating_sub_unsigned(stations.pending_us(peer))
    }

    /// A station that was served goes to where it is scheduled again: first if it has more, last if it is in debt.
    fn put_back(&mut self, stations: &impl Stations) {
        let Some(served_ns) = self.served_ns.take() else { return };
        let Some(&first) = self.order.front() else { return };
        let peer = first as usize;
        if stations.waits(peer) {
            self.active_ns[peer] = Some(served_ns);
        } else if self.deficit_us(peer, stations) < 0 && self.is_active(served_ns, peer) {
            self.order.rotate_left(1);
        } else {
            self.order.pop_front();
            self.listed[peer] = false;
        }
    }

    fn next(&mut self, stations: &impl Stations) -> Option<usize> {
        self.put_back(stations);
        loop {
            let peer = self.first_out_of_debt(stations)?;
            if stations.waits(peer) {
                return Some(peer);
            }
            self.order.pop_front();
            self.listed[peer] = false;
        }
    }

    /// Goes round until a station comes first that may send; it gives weights to those in debt on the way. `None`: a round in
    /// which no share of the hardware's queue had room.
    fn first_out_of_debt(&mut self, stations: &impl Stations) -> Option<usize> {
        let begin = *self.order.front()?;
        let mut room = None;
        loop {
            let first = *self.order.front()?;
            if first == begin && room.replace(false) == Some(false) {
                return None;
            }
            let peer = first as usize;
            let may_send = stations.may_send(peer);
            if may_send {
                room = Some(true);
            }
            let in_debt = self.deficit_us(peer, stations) < 0;
            if in_debt {
                self.deficits_us[peer] += self.weights[peer];
            }
            if !in_debt && may_send {
                return Some(peer);
            }
            self.order.rotate_left(1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Stations of which those always have something that are in the list.
    struct Busy(Vec<bool>);

    impl Stations for Busy {
        fn waits(&self, peer: usize) -> bool {
            self.0[peer]
        }

        fn may_send(&self, _peer: usize) -> bool {
            true
        }

        fn pending_us(&self, _peer: usize) -> u64 {
            0
        }
    }

    /// Serves stations with aggregates that take that long, and gives the airtime of each and how often each was served.
    fn serve(rota: &mut Rota, airtimes_us: &[u32], turns: usize) -> (Vec<f64>, Vec<u32>) {
        let stations = Busy(vec![true; airtimes_us.len()]);
        let (mut used, mut served, mut now_ns) = (vec![0.0; airtimes_us.len()], vec![0; airtimes_us.len()], 0);
        (0..airtimes_us.len()).for_each(|peer| rota.arrived(0, peer));
        for _ in 0..turns {
            let peer = rota.next(&stations).expect("a busy station");
            rota.served(now_ns, peer);
            now_ns += u64::from(airtimes_us[peer]) * 1_000;
            rota.end_turn(&stations);
            rota.charge(now_ns, peer, airtimes_us[peer]);
            used[peer] += f64::from(airtimes_us[peer]);
            served[peer] += 1;
            let deficits = match rota {
                Rota::RoundRobin(_) => &[][..],
                Rota::Ath9k(rota) => &rota.deficits_us,
                Rota::Mac80211(rota) => &rota.deficits_us,
            };
            // Never above a turn's worth, never below what one aggregate costs.
            assert!(deficits.iter().all(|deficit| (-5_000..=3 * 256 + 300).contains(deficit)), "{deficits:?}");
        }
        (used, served)
    }

    fn rota(discipline: AirtimeDiscipline, weights: &[u32], sparse_stations: bool, peers: usize) -> Rota {
        let weights = weights.to_vec();
        Rota::by_airtime(&AirtimeSettings { discipline, weights, sparse_stations, ..AirtimeSettings::default() }, peers)
    }

    const BOTH: [AirtimeDiscipline; 2] = [AirtimeDiscipline::Ath9k, AirtimeDiscipline::Mac80211];

    #[test]
    fn one_after_the_other_gives_as_many_turns_and_by_airtime_as_much_air() {
        let airtimes_us = [4_000, 1_500, 60, 4_000];
        let (_, served) = serve(&mut Rota::round_robin(4), &airtimes_us, 4_000);
        assert_eq!(served, [1_000; 4]);
        for discipline in BOTH {
            let (used, _) = serve(&mut rota(discipline, &[], true, 4), &airtimes_us, 50_000);
            let mean = used.iter().sum::<f64>() / 4.0;
            assert!(used.iter().all(|used| (used / mean - 1.0).abs() < 0.01), "{discipline:?}: {used:?}");
        }
    }

    #[test]
    fn airtime_goes_by_weight() {
        let mut rota = rota(AirtimeDiscipline::Mac80211, &[256, 768], true, 3);
        let (used, _) = serve(&mut rota, &[4_000, 1_500, 300], 50_000);
        assert!((used[1] / used[0] - 3.0).abs() < 0.03 && (used[2] / used[0] - 1.0).abs() < 0.01, "{used:?}");
    }

    #[test]
    fn a_sparse_station_comes_first_unless_that_is_off() {
        for (discipline, sparse, first) in [
            (AirtimeDiscipline::Ath9k, true, true),
            (AirtimeDiscipline::Ath9k, false, false),
            (AirtimeDiscipline::Mac80211, true, true),
        ] {
            let mut rota = rota(discipline, &[], sparse, 3);
            let mut stations = Busy(vec![true, true, false]);
            [0, 1].into_iter().for_each(|peer| rota.arrived(0, peer));
            for now_ns in 0..20 {
                let peer = rota.next(&stations).expect("a busy station");
                rota.served(now_ns, peer);
                rota.end_turn(&stations);
                rota.charge(now_ns, peer, 2_000);
            }
            // The one that has the turn now has some of it left.
            assert!(rota.next(&stations).is_some());
            stations.0[2] = true;
            rota.arrived(20, 2);
            assert_eq!(rota.next(&stations) == Some(2), first, "{discipline:?} {sparse}");
        }
    }

    #[test]
    fn a_station_in_debt_does_not_shed_it_by_pausing_for_a_moment() {
        for discipline in BOTH {
            let mut rota = rota(discipline, &[], true, 2);
            let mut stations = Busy(vec![true, true]);
            [0, 1].into_iter().for_each(|peer| rota.arrived(0, peer));
            let heavy = rota.next(&stations).expect("a busy station");
            rota.served(0, heavy);
            rota.charge(1_000, heavy, 50_000);
            stations.0[heavy] = false;
            assert_eq!(rota.next(&stations), Some(1 - heavy));
            stations.0[heavy] = true;
            rota.arrived(3_000, heavy);
            for now_ns in 3_000..3_020 {
                let peer = rota.next(&stations).expect("a busy station");
                assert_eq!(peer, 1 - heavy, "{discipline:?}: it has 50 ms to make up for");
                rota.served(now_ns, peer);
                rota.end_turn(&stations);
                rota.charge(now_ns, peer, 1_000);
            }
        }
    }

    #[test]
    fn nobody_is_named_when_nothing_waits() {
        for mut rota in [Rota::round_robin(2), rota(BOTH[0], &[], true, 2), rota(BOTH[1], &[], true, 2)] {
            rota.arrived(0, 1);
            assert_eq!(rota.next(&Busy(vec![false; 2])), None);
            rota.arrived(0, 1);
            assert_eq!(rota.next(&Busy(vec![true; 2])), Some(1));
        }
    }
}
