//! Transmitters that no station can be: group addresses, the address of the receiver; and encrypted ARP requests that are replayed.

use hashbrown::HashMap;
use wire::ieee80211::{FrameType, MacAddr};

use crate::frame::Frame;
use crate::report::Happening;
use sentence::{sentence, Figure};

/// Fewest frames for a sentence about them: damage that went unnoticed makes a few.
const MIN_FRAMES: u64 = 10;
/// Share of the management and data frames, one in so many, below which group addresses may be damage that went unnoticed.
const RARE: u64 = 20;
/// Stations with encrypted broadcasts that are followed.
const MAX_STATIONS: usize = 256;
/// Bytes of the FCS, which an MPDU's length includes.
const FCS_BYTES: f64 = 4.0;
/// Frames of one length in one second from which they are replayed.
const REPLAYED: u64 = 30;
/// Lengths of an ARP request encrypted with WEP: header with QoS or without, IV, LLC, ARP, padding of Ethernet or none, ICV, FCS.
const ARP_LENGTHS: [u32; 4] = [72, 74, 90, 92];
const SECOND_NS: i64 = 1_000_000_000;

/// Frames of one kind of odd transmitter.
#[derive(Clone, Copy, Debug, Default)]
struct Odd {
    frames: u64,
    first_ns: i64,
    last_ns: i64,
    example: Option<MacAddr>,
}

impl Odd {
    fn add(&mut self, address: MacAddr, at_ns: i64) {
        if self.frames == 0 {
            (self.first_ns, self.example) = (at_ns, Some(address));
        }
        self.frames += 1;
        self.last_ns = at_ns;
    }
}

/// Encrypted broadcasts of one station and one length.
#[derive(Clone, Copy, Debug, Default)]
struct Broadcasts {
    odd: Odd,
    second_ns: i64,
    in_second: u64,
    most: u64,
}

/// Counters of odd transmitters.
#[derive(Debug, Default)]
pub struct Sources {
    frames: u64,
    group: Odd,
    own: Odd,
    /// By source, length, and whether an access point relays them.
    broadcasts: HashMap<(u64, u32, bool), Broadcasts>,
}

impl Sources {
    /// Records a frame that is not known to be damaged.
    #[inline]
    pub fn frame(&mut self, frame: &Frame, at_ns: i64) {
        let fc = frame.header.fc;
        let Some(ta) = frame.header.addr2.filter(|_| fc.frame_type() != FrameType::Control) else { return };
        self.frames += 1;
        if ta.is_group() {
            self.group.add(ta, at_ns);
        }
        if ta == frame.header.addr1 {
            self.own.add(ta, at_ns);
        }
        if frame.is_wep && fc.to_ds() != fc.from_ds() {
            let (to, from) = if fc.to_ds() {
                (frame.header.addr3, Some(ta))
            } else {
                (Some(frame.header.addr1), frame.header.addr3)
            };
            if let (Some(MacAddr::BROADCAST), Some(from)) = (to, from) {
                self.broadcast((from.as_u64(), frame.mpdu_len, fc.from_ds()), at_ns);
            }
        }
    }

    #[cold]
    fn broadcast(&mut self, key: (u64, u32, bool), at_ns: i64) {
        if !ARP_LENGTHS.contains(&key.1)
            || (self.broadcasts.len() >= MAX_STATIONS && !self.broadcasts.contains_key(&key))
        {
            return;
        }
        let known = self.broadcasts.entry(key).or_default();
        known.odd.add(MacAddr::from_u64(key.0), at_ns);
        if known.in_second == 0 || at_ns.saturating_sub(known.second_ns) >= SECOND_NS {
            (known.second_ns, known.in_second) = (at_ns, 0);
        }
        known.in_second += 1;
        known.most = known.most.max(known.in_second);
    }

    /// What was found. `fcs_known`: damage does not go unnoticed.
    pub fn report(&self, fcs_known: bool) -> Vec<Happening> {
        let mut all = Vec::new();
        let is_damage = !fcs_known && self.group.frames * RARE < self.frames;
        if let (Some(example), true, false) = (self.group.example, self.group.frames >= MIN_FRAMES, is_damage) {
            let said = sentence!(
                "{frames} of {all} management and data frames have a group address as transmitter (the first: {example}), which no station \
                 has: a program made them up",
                frames = Figure::count(self.group.frames, self.frames),
                all = Figure::total(self.frames);
                example = example
            );
            let span_ns = (self.group.first_ns, self.group.last_ns);
            all.push(Happening {
                marks: vec!["group-sources"],
                ..Happening::new("group-sources", "attack", span_ns, self.group.frames, said)
            });
        }
        if let (Some(example), true) = (self.own.example, self.own.frames >= MIN_FRAMES) {
            let said = sentence!(
                "{frames} of {all} management and data frames are addressed to their own transmitter (the first: {example}): a program made \
                 them up, or a driver in power save tests its own address",
                frames = Figure::count(self.own.frames, self.frames),
                all = Figure::total(self.frames);
                example = example
            );
            let span_ns = (self.own.first_ns, self.own.last_ns);
            all.push(Happening {
                bssid: Some(example.to_string()),
                marks: vec!["own-addressee"],
                ..Happening::new("own-addressee", "attack", span_ns, self.own.frames, said)
            });
        }
        let mut replays: Vec<_> = self.broadcasts.iter().filter(|(_, known)| known.most >= REPLAYED).collect();
        replays.sort_by_key(|(key, _)| **key);
        let sent: Vec<u64> =
            replays.iter().filter(|((.., relayed), _)| !relayed).map(|((from, ..), _)| *from).collect();
        replays.retain(|((from, _, relayed), _)| !relayed || !sent.contains(from));
        all.extend(replays.into_iter().map(|((from, len, relayed), known)| {
            let from = MacAddr::from_u64(*from);
            let said = sentence!(
                "ARP replay: {frames} of {len} bytes without FCS, encrypted with WEP, of {from} to all{relayed}, up to {most} in one second, as when a \
                 captured ARP request is sent again and again to find the key",
                frames = Figure::all(known.odd.frames, "frame"),
                len = Figure::of(f64::from(*len) - FCS_BYTES, "bytes", known.odd.frames, 0),
                most = Figure::count(known.most, known.odd.frames);
                from = from,
                relayed = if *relayed { ", relayed by its access point" } else { "" }
            );
            let span_ns = (known.odd.first_ns, known.odd.last_ns);
            Happening {
                station: Some(from.to_string()),
                ..Happening::new("arp-replay", "attack", span_ns, known.odd.frames, said)
            }
        }));
        all
    }
}
