//! MPDUs that carried packets: how often each was on the air, at which rates, and whether it was acknowledged.

use std::collections::VecDeque;

use hashbrown::HashMap;
use wire::ip::TcpSegment;
use wire::phy::Mode;

/// (Transmitter, receiver, TID); a frame without QoS has [`NO_TID`].
pub type LaneKey = (u64, u64, u8);

/// Stands for "no QoS".
pub const NO_TID: u8 = 0xff;

/// Lanes kept.
const MAX_LANES: usize = 256;
/// MPDUs kept of a lane, and of all lanes.
const MAX_IN_LANE: usize = 16_384;
const MAX_MPDUS: usize = 131_072;
/// Sequence numbers there are.
const SEQUENCES: usize = 4_096;
/// An attempt that comes later than this is another MPDU's: no driver keeps one so long.
const LONGEST_LIFE_NS: i64 = 10_000_000_000;
/// Rates kept of one MPDU.
const MAX_RATES: usize = 4;

/// Attempts at one rate.
#[derive(Clone, Copy, Debug, Default)]
pub struct AtRate {
    /// [`Mode::key`].
    pub mode: u64,
    /// Attempts.
    pub attempts: u16,
}

/// One MPDU.
#[derive(Clone, Copy, Debug)]
pub struct Mpdu {
    /// Sequence number.
    pub sequence: u16,
    /// Row of the flow of its first packet.
    pub flow: Option<u32>,
    /// The TCP segment in its first packet.
    pub tcp: Option<TcpSegment>,
    /// Row of the DHCP message in it.
    pub dhcp: Option<u16>,
    /// Last attempt captured.
    pub last_ns: i64,
    /// Attempts captured.
    pub attempts: u16,
    /// The first attempt captured has the retry bit: those before it were missed.
    pub begins_with_retry: bool,
    /// An acknowledgement of it was captured.
    pub acknowledged: bool,
    rates: [AtRate; MAX_RATES],
}

impl Mpdu {
    /// At its first attempt captured.
    pub fn new(sequence: u16, at_ns: i64, mode: &Mode, is_retry: bool) -> Self {
        let mut mpdu = Self {
            sequence,
            flow: None,
            tcp: None,
            dhcp: None,
            last_ns: at_ns,
            attempts: 0,
            begins_with_retry: is_retry,
            acknowledged: false,
            rates: [AtRate::default(); MAX_RATES],
        };
        mpdu.attempt(at_ns, mode);
        mpdu
    }

    /// Another attempt.
    pub fn attempt(&mut self, at_ns: i64, mode: &Mode) {
        self.last_ns = at_ns;
        self.attempts = self.attempts.saturating_add(1);
        let key = mode.key();
        // Beyond the bound, the last row takes what comes: it then counts as a rate that is not known.
        let place = self.rates.iter().position(|row| row.attempts == 0 || row.mode == key).unwrap_or(MAX_RATES - 1);
        if let Some(row) = self.rates.get_mut(place) {
            row.mode = if row.attempts == 0 || row.mode == key { key } else { Mode::Unknown.key() };
            row.attempts = row.attempts.saturating_add(1);
        }
    }

    /// Attempts by rate, in the order of their first ones.
    pub fn rates(&self) -> impl Iterator<Item = AtRate> + '_ {
        self.rates.iter().copied().filter(|row| row.attempts > 0)
    }
}

/// Where an MPDU is: lane and running number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    lane: u32,
    number: u64,
}

/// MPDUs from one transmitter to one receiver under one TID.
#[derive(Debug)]
struct Lane {
    mpdus: VecDeque<Mpdu>,
    /// Running number of the first one kept.
    first: u64,
    /// Running number plus one of the latest MPDU with each sequence number.
    latest: Vec<u64>,
}

/// All lanes.
#[derive(Debug, Default)]
pub struct Lanes {
    by_key: HashMap<LaneKey, u32>,
    lanes: Vec<Lane>,
    kept: usize,
    refused: u64,
}

impl Lane {
    fn number(&self, sequence: u16) -> Option<u64> {
        self.latest.get(usize::from(sequence)).and_then(|number| number.checked_sub(1))
    }

    fn get(&self, number: u64) -> Option<&Mpdu> {
        self.mpdus.get(usize::try_from(number.checked_sub(self.first)?).ok()?)
    }

    fn get_mut(&mut self, number: u64) -> Option<&mut Mpdu> {
        self.mpdus.get_mut(usize::try_from(number.checked_sub(self.first)?).ok()?)
    }
}

impl Lanes {
    /// There is such a lane.
    pub fn knows(&self, key: &LaneKey) -> bool {
        self.by_key.contains_key(key)
    }

    /// The MPDU that has a sequence number now.
    pub fn current(&mut self, key: &LaneKey, sequence: u16, at_ns: i64) -> Option<&mut Mpdu> {
        let lane = self.lanes.get_mut(*self.by_key.get(key)? as usize)?;
        let number = lane.number(sequence)?;
        lane.get_mut(number).filter(|mpdu| at_ns.saturating_sub(mpdu.last_ns) < LONGEST_LIFE_NS)
    }

    /// Another MPDU has the sequence number now, one that carries no packet known here.
    pub fn forget(&mut self, key: &LaneKey, sequence: u16) {
        let lane = self.by_key.get(key).and_then(|row| self.lanes.get_mut(*row as usize));
        if let Some(place) = lane.and_then(|lane| lane.latest.get_mut(usize::from(sequence))) {
            *place = 0;
        }
    }

    /// Takes in a new MPDU; `None` when there is no room for its lane.
    pub fn add(&mut self, key: LaneKey, mpdu: Mpdu) -> Option<Place> {
        let row = match self.by_key.get(&key) {
            Some(row) => *row,
            None if self.lanes.len() < MAX_LANES => {
                let row = self.lanes.len() as u32;
                self.lanes.push(Lane { mpdus: VecDeque::new(), first: 0, latest: vec![0; SEQUENCES] });
                self.by_key.insert(key, row);
                row
            }
            None => {
                self.refused += 1;
                return None;
            }
        };
        let lane = self.lanes.get_mut(row as usize)?;
        if lane.mpdus.len() >= MAX_IN_LANE || self.kept >= MAX_MPDUS {
            lane.mpdus.pop_front()?;
            lane.first += 1;
            self.kept -= 1;
        }
        let number = lane.first + lane.mpdus.len() as u64;
        if let Some(latest) = lane.latest.get_mut(usize::from(mpdu.sequence)) {
            *latest = number + 1;
        }
        lane.mpdus.push_back(mpdu);
        self.kept += 1;
        Some(Place { lane: row, number })
    }

    /// An MPDU that was taken in before; `None` when it is no longer kept.
    pub fn get(&self, place: Place) -> Option<&Mpdu> {
        self.lanes.get(place.lane as usize)?.get(place.number)
    }

    /// As [`Lanes::get`].
    pub fn get_mut(&mut self, place: Place) -> Option<&mut Mpdu> {
        self.lanes.get_mut(place.lane as usize)?.get_mut(place.number)
    }

    /// MPDUs without room for their lane.
    pub fn refused(&self) -> u64 {
        self.refused
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attempts_belong_to_the_mpdu_that_has_the_number_now() {
        let (key, mode) = ((1, 2, 0), Mode::Unknown);
        let mut lanes = Lanes::default();
        let first = lanes.add(key, Mpdu::new(7, 0, &mode, false)).unwrap();
        lanes.current(&key, 7, 1_000).unwrap().attempt(1_000, &mode);
        let second = lanes.add(key, Mpdu::new(7, 2_000, &mode, true)).unwrap();
        lanes.current(&key, 7, 3_000).unwrap().acknowledged = true;
        let seen = |place| lanes.get(place).map(|mpdu| (mpdu.attempts, mpdu.acknowledged, mpdu.begins_with_retry));
        assert_eq!((seen(first), seen(second)), (Some((2, false, false)), Some((1, true, true))));
        assert!(lanes.current(&key, 7, LONGEST_LIFE_NS + 2_000).is_none(), "another MPDU's, long after");
        lanes.forget(&key, 7);
        assert!(lanes.current(&key, 7, 3_000).is_none() && lanes.get(second).is_some());
    }

    #[test]
    fn what_is_kept_is_bounded() {
        let mut lanes = Lanes::default();
        let mut places = Vec::new();
        for number in 0..200_000u64 {
            places.extend(lanes.add((number % 9, 0, 0), Mpdu::new((number % 4_096) as u16, 0, &Mode::Unknown, false)));
        }
        assert!(
            lanes.kept <= MAX_MPDUS && lanes.lanes.iter().map(|lane| lane.mpdus.len()).sum::<usize>() == lanes.kept
        );
        assert!(lanes.get(places[0]).is_none() && lanes.get(*places.last().unwrap()).is_some());
        for key in 0..1_000 {
            lanes.add((key, 1, 0), Mpdu::new(1, 0, &Mode::Unknown, false));
        }
        assert_eq!(lanes.lanes.len(), MAX_LANES);
        assert!(lanes.refused() > 700);
    }

    #[test]
    fn rates_beyond_the_bound_are_counted_as_unknown() {
        let mut mpdu = Mpdu::new(1, 0, &Mode::from_legacy_rate(2, None).unwrap(), false);
        for rate in [4, 11, 22, 12, 12] {
            mpdu.attempt(0, &Mode::from_legacy_rate(rate, None).unwrap());
        }
        let rates: Vec<_> = mpdu.rates().map(|row| row.attempts).collect();
        assert_eq!((rates, mpdu.attempts), (vec![1, 1, 1, 3], 6));
        assert_eq!(mpdu.rates().last().map(|row| row.mode), Some(Mode::Unknown.key()));
    }
}
