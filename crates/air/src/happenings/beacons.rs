//! Beacon floods: networks that somebody invents.

use hashbrown::HashMap;
use wire::ieee80211::{FixedFields, MacAddr, Management, Seq};

use super::context::words;
use crate::frame::Frame;
use crate::report::Happening;
use sentence::{sentence, Figure};

/// Senders of beacons that are followed.
const MAX_SENDERS: usize = 16_384;
/// Beacons up to which a network may be an invented one.
const FEW: u32 = 3;
/// Fewest networks with few beacons for a sentence about them.
const MIN_NETWORKS: u64 = 40;
/// A transmitter that sends other frames between its beacons goes on by this much at the most.
const CHAIN: u16 = 16;
/// Marks that the sentence has figures of.
const SAID: [&str; 2] = ["group-sources", "one-sequence-counter"];

/// What is known of a sender of beacons.
#[derive(Clone, Copy, Debug)]
struct Sender {
    beacons: u32,
    first_ns: i64,
    last_ns: i64,
    is_chained: bool,
    has_zero_time: bool,
    own: bool,
}

/// Senders of beacons.
#[derive(Debug, Default)]
pub struct BeaconFlood {
    senders: HashMap<u64, Sender>,
    /// Beacons of senders for which there was no room.
    others: u64,
    /// Sequence number and address of the latest beacon of a sender with few of them.
    latest: Option<(u16, u64)>,
}

impl BeaconFlood {
    /// Records a beacon that is not known to be damaged. `management`: its contents, where they are new.
    pub fn frame(&mut self, frame: &Frame, management: Option<&Management>, at_ns: i64) {
        let (Some(ta), Some(sequence)) = (frame.header.addr2, frame.header.sequence) else { return };
        let key = ta.as_u64();
        if self.senders.len() >= MAX_SENDERS && !self.senders.contains_key(&key) {
            self.others += 1;
            return;
        }
        let sender = self.senders.entry(key).or_insert(Sender {
            beacons: 0,
            first_ns: at_ns,
            last_ns: at_ns,
            is_chained: false,
            has_zero_time: false,
            own: frame.radio.own_transmission,
        });
        sender.beacons = sender.beacons.saturating_add(1);
        sender.last_ns = at_ns;
        if sender.beacons > FEW {
            return;
        }
        if let Some(Management { fixed: FixedFields::Beacon { timestamp_us, .. }, .. }) = management {
            sender.has_zero_time |= *timestamp_us < 1_000;
        }
        let goes_on = |(latest, from): (u16, u64)| {
            from != key && (1..=CHAIN).contains(&Seq::new(sequence).distance_from(Seq::new(latest)))
        };
        sender.is_chained |= self.latest.is_some_and(goes_on);
        self.latest = Some((sequence, key));
    }

    /// The flood, if there is one.
    pub fn report(&self) -> Option<Happening> {
        let few = || self.senders.iter().filter(|(_, sender)| sender.beacons <= FEW);
        let count = |is: &dyn Fn(u64, &Sender) -> bool| few().filter(|(key, sender)| is(**key, sender)).count() as u64;
        let networks = few().count() as u64;
        let groups = count(&|key, _| MacAddr::from_u64(key).is_group());
        let chained = count(&|_, sender| sender.is_chained);
        let timeless = count(&|_, sender| sender.has_zero_time);
        let own = count(&|_, sender| sender.own);
        let is_flood = groups * 5 >= networks || chained * 2 >= networks || timeless * 2 >= networks;
        if networks < MIN_NETWORKS || !is_flood {
            return None;
        }
        let beacons = few().map(|(_, sender)| u64::from(sender.beacons)).sum::<u64>() + self.others;
        let first_ns = few().map(|(_, sender)| sender.first_ns).min().unwrap_or(0);
        let last_ns = few().map(|(_, sender)| sender.last_ns).max().unwrap_or(0);
        let marks: Vec<&'static str> = [
            (groups * 10 >= networks, "group-sources"),
            (chained * 2 >= networks, "one-sequence-counter"),
            (timeless * 2 >= networks, "same-timestamps"),
            (own * 2 >= networks, "sent-by-this-machine"),
        ]
        .into_iter()
        .filter_map(|(is, mark)| is.then_some(mark))
        .collect();
        let said = sentence!(
            "beacon flood: {beacons} announce {networks} in {seconds} s, each with at most {few} beacons",
            beacons = Figure::all(beacons, "beacon"),
            networks = Figure::counted(networks, beacons, "network"),
            seconds = Figure::of((last_ns - first_ns).max(0) as f64 / 1e9, "s", beacons, 1),
            few = Figure::total(u64::from(FEW))
        );
        let marked = [
            (groups > 0)
                .then(|| sentence!("{groups} of these have a group address", groups = Figure::count(groups, networks))),
            (chained > 0).then(|| {
                sentence!(
                    "{chained} continue the sequence number of another one",
                    chained = Figure::count(chained, networks)
                )
            }),
        ];
        let marked = marked.into_iter().flatten().reduce(|all, next| all.and(", ", next));
        let said = match marked {
            Some(marked) => said.and("; ", marked),
            None => said,
        };
        let beside: Vec<&'static str> = marks.iter().copied().filter(|mark| !SAID.contains(mark)).collect();
        let said = said.with(&words(&beside)).with(": invented networks, not access points");
        Some(Happening { marks, ..Happening::new("beacon-flood", "attack", (first_ns, last_ns), beacons, said) })
    }
}
