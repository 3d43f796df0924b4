//! Who tried to join which network, how far they came, and what stopped them.

mod attempt;
mod pair;
mod part;
mod words;

use hashbrown::HashMap;
use wire::ieee80211::MacAddr;

use super::context::Context;
use crate::frame::{Detail, Frame};
use crate::report::Happening;

use attempt::Step;
use pair::Pair;
use part::{read, Part};

/// Pairs of station and access point that are followed.
const MAX_PAIRS: usize = 1_024;
/// Roams kept.
const MAX_ROAMS: usize = 256;

/// A station that changed its access point.
#[derive(Clone, Copy, Debug)]
struct Roam {
    station: MacAddr,
    from: MacAddr,
    to: MacAddr,
    first_ns: i64,
    last_ns: i64,
    times: u64,
}

/// All pairs.
#[derive(Debug, Default)]
pub struct Joins {
    pairs: HashMap<(u64, u64), Pair>,
    joined: HashMap<u64, MacAddr>,
    roams: Vec<Roam>,
    /// The latest pair with message 3 and without message 4.
    awaits_key: Option<(u64, u64)>,
}

impl Joins {
    /// Records a management frame or EAPOL packet that is not known to be damaged.
    pub fn frame(&mut self, frame: &Frame, detail: &Detail, at_ns: i64) {
        let Some((station, ap, part)) = read(frame, detail) else { return };
        if station == ap || station.is_group() || ap.is_group() {
            return;
        }
        if let Part::Answer { step: Step::Association, status: 0 } = part {
            self.associated(station, ap, at_ns);
        }
        let key = (station.as_u64(), ap.as_u64());
        if self.pairs.len() >= MAX_PAIRS && !self.pairs.contains_key(&key) {
            return;
        }
        if matches!(part, Part::End(_) | Part::Left(_)) && !self.pairs.contains_key(&key) {
            return;
        }
        let pair = self.pairs.entry(key).or_insert_with(|| Pair { first_ns: at_ns, ..Pair::default() });
        pair.take(&part, at_ns, frame.header.fc.retry());
        match part {
            Part::Message(2) => self.awaits_key = Some(key),
            Part::Message(3) => self.awaits_key = None,
            _ => {}
        }
    }

    /// Records any frame that is not known to be damaged. Behind message 3, encrypted data of the station shows that it has the key.
    #[inline]
    pub fn data(&mut self, frame: &Frame) {
        let Some(key) = self.awaits_key else { return };
        let (fc, ta) = (frame.header.fc, frame.header.addr2);
        if fc.to_ds() && fc.protected() && fc.carries_data() && ta.is_some_and(|ta| ta.as_u64() == key.0) {
            self.awaits_key = None;
            if let Some(attempt) = self.pairs.get_mut(&key).and_then(|pair| pair.current.as_mut()) {
                attempt.has_key = true;
            }
        }
    }

    fn associated(&mut self, station: MacAddr, ap: MacAddr, at_ns: i64) {
        if self.joined.len() >= MAX_PAIRS && !self.joined.contains_key(&station.as_u64()) {
            return;
        }
        let Some(from) = self.joined.insert(station.as_u64(), ap).filter(|from| *from != ap) else { return };
        let same = |roam: &&mut Roam| (roam.station, roam.from, roam.to) == (station, from, ap);
        if let Some(roam) = self.roams.iter_mut().find(same) {
            (roam.times, roam.last_ns) = (roam.times + 1, at_ns);
        } else if self.roams.len() < MAX_ROAMS {
            self.roams.push(Roam { station, from, to: ap, first_ns: at_ns, last_ns: at_ns, times: 1 });
        }
    }

    /// Attempts of a station to join this access point, whatever became of them.
    pub fn attempts(&self, station: MacAddr, ap: MacAddr) -> u64 {
        self.pairs.get(&(station.as_u64(), ap.as_u64())).map_or(0, |pair| pair.attempts)
    }

    /// What happened.
    pub fn report(&self, context: &Context<'_>) -> Vec<Happening> {
        let mut keys: Vec<&(u64, u64)> = self.pairs.keys().collect();
        keys.sort();
        let pairs = keys.into_iter().filter_map(|key| Some((key, self.pairs.get(key)?)));
        let mut all: Vec<Happening> = pairs
            .filter_map(|((station, ap), pair)| {
                let (station, ap) = (MacAddr::from_u64(*station), MacAddr::from_u64(*ap));
                let mut pair = pair.clone();
                pair.close();
                pair.failures.retain(|failure| failure.is_shown(station, ap, context));
                pair.happening(station, ap, context)
            })
            .collect();
        all.extend(self.roams.iter().map(|roam| roam.happening(context)));
        all
    }
}
