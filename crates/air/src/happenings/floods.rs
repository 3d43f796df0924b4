//! Floods of deauthentication, disassociation, authentication, association: who sends how many to whom, and whether an access
//! point or a station that has reason to sends them.

use std::collections::VecDeque;

use hashbrown::{HashMap, HashSet};
use wire::ieee80211::{FixedFields, FrameKind, MacAddr, Management};

use super::context::{words, Context};
use super::joins::Joins;
use crate::few::Few;
use crate::flood::is_answer;
use crate::frame::Frame;
use crate::report::Happening;
use sentence::{sentence, Figure};

/// Pairs of addresses that are followed in each kind.
const MAX_PAIRS: usize = 512;
/// Senders distinguished.
const MAX_SENDERS: usize = 4_096;
/// First attempts to one receiver within [`WINDOW_NS`] from which they are too many.
const MANY: usize = 10;
const WINDOW_NS: i64 = 60_000_000_000;
/// Senders that do nothing but authenticate or associate, from which they are not stations that join.
const MANY_SENDERS: usize = 20;
/// Requests of one sender in [`BURST_NS`] from which it is not a station that joins.
const BURST: usize = 20;
const BURST_NS: i64 = 10_000_000_000;
/// Reasons with which an access point answers frames of a station that is not authenticated or associated (9.4.1.7).
const NOT_ASSOCIATED: [u16; 2] = [6, 7];
const SECOND_NS: i64 = 1_000_000_000;

/// Frames of one kind from one address to another.
#[derive(Debug, Default)]
struct Pair {
    frames: u64,
    /// Those without the retry bit.
    firsts: u64,
    /// Those of `firsts` with the sequence number of the one before.
    same_sequence: u64,
    own: u64,
    reasons: Few<u16, 4>,
    first_ns: i64,
    last_ns: i64,
    latest_sequence: Option<u16>,
    /// When the latest first attempts were sent.
    latest_ns: VecDeque<i64>,
    /// [`MANY`] of them came within [`WINDOW_NS`], [`BURST`] within [`BURST_NS`].
    is_many: bool,
    is_burst: bool,
    commits: u64,
    confirms: u64,
}

impl Pair {
    fn take(&mut self, frame: &Frame, management: &Management, at_ns: i64) {
        if self.frames == 0 {
            self.first_ns = at_ns;
        }
        self.frames += 1;
        self.last_ns = self.last_ns.max(at_ns);
        self.own += u64::from(frame.radio.own_transmission);
        match management.fixed {
            FixedFields::Deauthentication(reason) | FixedFields::Disassociation(reason) => {
                self.reasons.add(reason.number(), 1);
            }
            FixedFields::Authentication { algorithm: 3, transaction, .. } => {
                self.commits += u64::from(transaction == 1);
                self.confirms += u64::from(transaction == 2);
            }
            _ => {}
        }
        if frame.header.fc.retry() {
            return;
        }
        self.firsts += 1;
        self.same_sequence +=
            u64::from(frame.header.sequence.is_some() && frame.header.sequence == self.latest_sequence);
        self.latest_sequence = frame.header.sequence;
        if self.latest_ns.len() >= BURST {
            self.latest_ns.pop_front();
        }
        self.latest_ns.push_back(at_ns);
        let within = |back: usize, ns: i64| {
            let earlier = self.latest_ns.len().checked_sub(back).and_then(|index| self.latest_ns.get(index));
            earlier.is_some_and(|earlier| at_ns.saturating_sub(*earlier) <= ns)
        };
        self.is_many |= within(MANY, WINDOW_NS);
        self.is_burst |= within(BURST, BURST_NS);
    }

    /// All but a few have a reason with which an access point answers frames of a station that is not associated.
    fn says_not_associated(&self) -> bool {
        let answers: u64 =
            self.reasons.iter().filter(|(reason, _)| NOT_ASSOCIATED.contains(reason)).map(|(_, count)| count).sum();
        answers * 10 >= self.frames * 9
    }
}

/// One kind of frame.
#[derive(Debug, Default)]
struct Kind {
    pairs: HashMap<(u64, u64), Pair>,
    /// Frames of pairs for which there was no room.
    others: u64,
    senders: HashSet<u64>,
    lately_ns: VecDeque<i64>,
    most_in_a_second: u64,
}

impl Kind {
    fn take(&mut self, frame: &Frame, management: &Management, at_ns: i64) {
        let (Some(ta), ra) = (frame.ta(), frame.header.receiver()) else { return };
        let key = (ta.as_u64(), ra.as_u64());
        if self.senders.len() < MAX_SENDERS {
            self.senders.insert(ta.as_u64());
        }
        if self.pairs.len() < MAX_PAIRS || self.pairs.contains_key(&key) {
            self.pairs.entry(key).or_default().take(frame, management, at_ns);
        } else {
            self.others += 1;
        }
        while self.lately_ns.front().is_some_and(|first| at_ns.saturating_sub(*first) >= SECOND_NS) {
            self.lately_ns.pop_front();
        }
        if self.lately_ns.len() < MAX_SENDERS {
            self.lately_ns.push_back(at_ns);
        }
        self.most_in_a_second = self.most_in_a_second.max(self.lately_ns.len() as u64);
    }

    /// Pairs in a fixed order.
    fn sorted(&self) -> Vec<(MacAddr, MacAddr, &Pair)> {
        let mut pairs: Vec<_> =
            self.pairs.iter().map(|((ta, ra), pair)| (MacAddr::from_u64(*ta), MacAddr::from_u64(*ra), pair)).collect();
        pairs.sort_by(|a, b| b.2.frames.cmp(&a.2.frames).then((a.0, a.1).cmp(&(b.0, b.1))));
        pairs
    }
}

/// Mark of frames with one address as transmitter and receiver.
const OWN_ADDRESSEE: &str = "own-addressee";
/// The kinds that are looked at.
const KINDS: [(FrameKind, &str, &str); 5] = [
    (FrameKind::Deauthentication, "deauthentication-flood", "deauthentication"),
    (FrameKind::Disassociation, "disassociation-flood", "disassociation"),
    (FrameKind::Authentication, "authentication-flood", "authentication"),
    (FrameKind::AssociationRequest, "association-flood", "association request"),
    (FrameKind::ReassociationRequest, "association-flood", "reassociation request"),
];

/// Counters of all kinds.
#[derive(Debug, Default)]
pub struct Floods([Kind; KINDS.len()]);

/// Part of a flood: a kind's pairs that belong to it.
struct Part<'a> {
    pairs: Vec<(MacAddr, MacAddr, &'a Pair)>,
    others: u64,
}

impl Part<'_> {
    fn sum(&self, get: impl Fn(&Pair) -> u64) -> u64 {
        self.pairs.iter().map(|(.., pair)| get(pair)).sum()
    }

    fn frames(&self) -> u64 {
        self.sum(|pair| pair.frames) + self.others
    }

    fn span_ns(&self) -> (i64, i64) {
        let first = self.pairs.iter().map(|(.., pair)| pair.first_ns).min().unwrap_or(0);
        (first, self.pairs.iter().map(|(.., pair)| pair.last_ns).max().unwrap_or(0))
    }

    /// All are addressed to their own transmitter.
    fn is_own_addressed(&self) -> bool {
        self.others == 0 && self.pairs.iter().all(|(ta, ra, _)| ta == ra)
    }

    /// What shows that a program made them.
    fn marks(&self) -> Vec<&'static str> {
        let (frames, firsts) = (self.frames().max(1), self.sum(|pair| pair.firsts).max(1));
        let share = |part: u64, all: u64| part * 2 >= all;
        let of = |is: &dyn Fn(MacAddr, MacAddr) -> bool| -> u64 {
            self.pairs.iter().filter(|(ta, ra, _)| is(*ta, *ra)).map(|(.., pair)| pair.frames).sum()
        };
        let senders: HashSet<MacAddr> = self.pairs.iter().map(|(ta, ..)| *ta).collect();
        [
            (share(self.sum(|pair| pair.own), frames), "sent-by-this-machine"),
            (share(self.sum(|pair| pair.same_sequence), firsts), "same-sequence-numbers"),
            (of(&|ta, ra| ta == ra) * 10 >= frames, OWN_ADDRESSEE),
            (of(&|ta, _| ta.is_group()) * 10 >= frames, "group-sources"),
            (senders.len() >= MANY_SENDERS, "many-senders"),
        ]
        .into_iter()
        .filter_map(|(is, mark)| is.then_some(mark))
        .collect()
    }
}

impl Floods {
    /// Records a management frame that is not known to be damaged.
    pub fn frame(&mut self, frame: &Frame, management: &Management, at_ns: i64) {
        let kind = frame.header.fc.kind();
        let Some(place) = KINDS.iter().position(|(known, ..)| *known == kind) else { return };
        let is_answer = kind == FrameKind::Authentication && is_answer(frame, management);
        if let (Some(counts), false) = (self.0.get_mut(place), is_answer) {
            counts.take(frame, management, at_ns);
        }
    }

    /// Floods, and access points that throw out stations again and again.
    pub fn report(&self, joins: &Joins, context: &Context<'_>) -> Vec<Happening> {
        let mut all = Vec::new();
        for ((kind, code, name), counts) in KINDS.iter().zip(&self.0) {
            let is_end = matches!(kind, FrameKind::Deauthentication | FrameKind::Disassociation);
            let part = if is_end {
                all.extend(answers(counts, *kind == FrameKind::Deauthentication, context));
                ends(counts, joins, context)
            } else {
                requests(counts, context)
            };
            all.extend(part.and_then(|part| flood(code, name, counts, &part, context)));
        }
        all
    }
}

/// Does a station send data or Null frames to this access point, which has none for it? Then it may be told that it is not
/// associated.
fn tells_why(kind: &Kind, pair: &Pair, ta: MacAddr, ra: MacAddr, context: &Context<'_>) -> bool {
    let (up, down) = (context.data_frames(ra, ta), context.data_frames(ta, ra));
    // Who is thrown out does not throw out at the same time: somebody sends in the names of both.
    let is_mutual = kind.pairs.get(&(ra.as_u64(), ta.as_u64())).is_some_and(|other| other.is_many);
    let is_told = ta != ra && !is_mutual && pair.says_not_associated();
    is_told && up * 3 >= pair.firsts && down * 10 <= up
}

/// Access points that tell a station again and again that it is not associated.
fn answers(kind: &Kind, is_deauthentication: bool, context: &Context<'_>) -> Vec<Happening> {
    let pairs = kind.sorted();
    let told = pairs.into_iter().filter(|(ta, ra, pair)| pair.is_many && tells_why(kind, pair, *ta, *ra, context));
    told.map(|(ta, ra, pair)| {
        let reason = pair.reasons.most();
        let (sent, nulls) = (context.data_frames(ra, ta), context.null_frames(ra, ta));
        let said = sentence!(
            "{ap} sent {station} {frames} because it is not associated (reason {reason}); the station kept sending: {sent}{nulls}",
            frames = Figure::all(pair.frames, if is_deauthentication { "Deauthentication" } else { "Disassociation" }),
            reason = Figure::of(f64::from(reason.unwrap_or(0)), "count", pair.frames, 0),
            sent = Figure::all(sent, if nulls == sent { "Null frame" } else { "data frame" }),
            nulls = Figure::said(
                nulls as f64,
                "count",
                sent,
                &if nulls > 0 && nulls < sent { format!(", {nulls} of them Null frames") } else { String::new() }
            );
            ap = context.network(ta),
            station = ra
        );
        Happening {
            station: Some(ra.to_string()),
            bssid: Some(ta.to_string()),
            reason,
            ..Happening::new("not-associated", "fault", (pair.first_ns, pair.last_ns), pair.frames, said)
        }
    })
    .collect()
}

/// The deauthentications that nobody has a reason to send so often.
fn ends<'a>(kind: &'a Kind, joins: &Joins, context: &Context<'_>) -> Option<Part<'a>> {
    let is_flood = |(ta, ra, pair): &(MacAddr, MacAddr, &Pair)| {
        let attempts = joins.attempts(*ra, *ta) + joins.attempts(*ta, *ra);
        pair.is_many && !tells_why(kind, pair, *ta, *ra, context) && pair.firsts > 2 * attempts + MANY as u64 / 2
    };
    let pairs: Vec<_> = kind.sorted().into_iter().filter(is_flood).collect();
    (!pairs.is_empty()).then_some(Part { pairs, others: kind.others })
}

/// Requests of senders that do nothing else, or that come faster than a station joins.
fn requests<'a>(kind: &'a Kind, context: &Context<'_>) -> Option<Part<'a>> {
    let lone = |(ta, ..): &&(MacAddr, MacAddr, &Pair)| context.does_nothing_else(*ta);
    let pairs = kind.sorted();
    let lonely: HashSet<MacAddr> = pairs.iter().filter(lone).map(|(ta, ..)| *ta).collect();
    let crowd = lonely.len() >= MANY_SENDERS && lonely.len() * 10 >= kind.senders.len() * 7;
    let is_repeated = |pair: &Pair| pair.is_burst && pair.confirms * 10 <= pair.commits;
    let of_flood: Vec<_> =
        pairs.into_iter().filter(|(ta, _, pair)| (crowd && lonely.contains(ta)) || is_repeated(pair)).collect();
    (!of_flood.is_empty()).then_some(Part { pairs: of_flood, others: if crowd { kind.others } else { 0 } })
}

fn flood(code: &str, name: &str, kind: &Kind, part: &Part<'_>, context: &Context<'_>) -> Option<Happening> {
    let (ta, ra, largest) = part.pairs.first()?;
    let (frames, span_ns, marks) = (part.frames(), part.span_ns(), part.marks());
    let seconds = (span_ns.1 - span_ns.0).max(0) as f64 / 1e9;
    let senders: HashSet<MacAddr> = part.pairs.iter().map(|(ta, ..)| *ta).collect();
    let others = sentence!(
        "in the name of {senders}, {largest} of them ",
        senders = Figure::counted(senders.len() as u64, frames, "sender"),
        largest = Figure::count(largest.frames, frames)
    );
    let said = sentence!(
        "{name} flood: {frames} in {seconds} s, up to {most} in one second, ",
        frames = Figure::all(frames, "frame"),
        seconds = Figure::of(seconds, "s", frames, 1),
        most = Figure::count(kind.most_in_a_second.min(frames), frames);
        name = name
    );
    let said = if largest.frames == frames { said.with("all ") } else { said.and("", others) };
    let to = if part.is_own_addressed() { "the same address".to_owned() } else { ra.to_string() };
    let shown: Vec<_> =
        marks.iter().copied().filter(|mark| *mark != OWN_ADDRESSEE || !part.is_own_addressed()).collect();
    let said = said.with(&format!(
        "in the name of {ta} to {to}{looks}: an attack, a test tool, or a device out of control",
        looks = words(&shown)
    ));
    Some(Happening {
        station: Some(ra.to_string()),
        bssid: Some(context.network_address(*ta, *ra).to_string()),
        reason: largest.reasons.most(),
        marks,
        ..Happening::new(code, "attack", span_ns, frames, said)
    })
}
