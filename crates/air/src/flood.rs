//! Floods: management and control frames that come faster than any protocol has use for.

use std::collections::VecDeque;

use wire::ieee80211::{FixedFields, FrameKind, MacAddr, Management};

use crate::few::Few;
use crate::frame::Frame;
use crate::micros::us;
use crate::report::Flood;
use sentence::{sentence, Figure};

const SECOND_NS: i64 = 1_000_000_000;
/// Frames of a kind in one second from which it is a flood: a roaming station sends a handful, a busy access point that
/// drops all of its stations some dozens.
const PER_SECOND: u64 = 64;
/// Frames of a kind below which nothing is called a flood.
const MIN_FRAMES: u64 = 100;
/// Frames of one second that are counted; more count as at least this many.
const MAX_LATELY: usize = 65_536;
/// Addresses distinguished.
const MAX_ADDRESSES: usize = 64;
/// Frames of one address up to which they may be stations that come or leave, with attempts sent again.
const FEW: u64 = 8;

const KINDS: [(FrameKind, &str); 4] = [
    (FrameKind::Deauthentication, "deauthentication"),
    (FrameKind::Disassociation, "disassociation"),
    (FrameKind::Authentication, "authentication"),
    (FrameKind::AssociationRequest, "association request"),
];

#[derive(Debug, Default)]
struct Kind {
    frames: u64,
    first_ns: i64,
    last_ns: i64,
    /// When the frames of the last second came, ns; bounded.
    lately_ns: VecDeque<i64>,
    most_in_a_second: u64,
    senders: Few<u64, MAX_ADDRESSES>,
    receivers: Few<u64, MAX_ADDRESSES>,
}

/// Counters of the kinds that floods are made of.
#[derive(Debug, Default)]
pub struct Floods([Kind; KINDS.len()]);

/// Is a frame of a kind that floods are made of? The same one comes again and again then, also within one clock tick.
pub fn is_of_a_flood(kind: FrameKind) -> bool {
    KINDS.iter().any(|(known, _)| *known == kind)
}

/// Is an Authentication frame an access point's answer? The second and fourth of an authentication are, and all its frames of SAE
/// (802.11-2020, 9.3.3.11). One that begins an authentication is none, whoever sends it.
pub fn is_answer(frame: &Frame, management: &Management) -> bool {
    frame.ta() == frame.header.bssid()
        && matches!(
            management.fixed,
            FixedFields::Authentication { algorithm: 3, .. } | FixedFields::Authentication { transaction: 2 | 4, .. }
        )
}

impl Floods {
    /// Records a management frame that is not known to be damaged.
    pub fn frame(&mut self, frame: &Frame, management: &Management, at_ns: i64) {
        let kind = frame.header.fc.kind();
        let Some(place) = KINDS.iter().position(|(known, _)| *known == kind) else { return };
        if kind == FrameKind::Authentication && is_answer(frame, management) {
            return;
        }
        let Some(counts) = self.0.get_mut(place) else { return };
        if counts.frames == 0 {
            counts.first_ns = at_ns;
        }
        counts.frames += 1;
        counts.last_ns = counts.last_ns.max(at_ns);
        while counts.lately_ns.front().is_some_and(|first| at_ns.saturating_sub(*first) >= SECOND_NS) {
            counts.lately_ns.pop_front();
        }
        if counts.lately_ns.len() < MAX_LATELY {
            counts.lately_ns.push_back(at_ns);
        }
        counts.most_in_a_second = counts.most_in_a_second.max(counts.lately_ns.len() as u64);
        if let Some(ta) = frame.ta() {
            counts.senders.add(ta.as_u64(), 1);
        }
        counts.receivers.add(frame.header.receiver().as_u64(), 1);
    }

    /// The floods, largest first. `has_copies`: frames are in the file more than once. `is_one`: of this kind there are frames that
    /// nobody has a reason to send.
    pub fn report(&self, has_copies: bool, is_one: &dyn Fn(&str) -> bool) -> Vec<Flood> {
        let of = |addresses: &Few<u64, MAX_ADDRESSES>| {
            let most = addresses.iter().max_by_key(|(address, frames)| (*frames, std::cmp::Reverse(*address)));
            most.map(|(address, frames)| (MacAddr::from_u64(address), frames))
        };
        let mut floods: Vec<Flood> = KINDS
            .iter()
            .zip(&self.0)
            .filter(|((_, name), kind)| {
                kind.frames >= MIN_FRAMES && kind.most_in_a_second >= PER_SECOND && is_one(name)
            })
            .filter_map(|((_, name), kind)| {
                let ((sender, sent), (receiver, received)) = of(&kind.senders).zip(of(&kind.receivers))?;
                // Stations that come or leave have an address each.
                let addresses = kind.senders.len().max(kind.receivers.len());
                let may_be_many = addresses >= MAX_ADDRESSES || addresses as u64 * FEW >= kind.frames;
                let seconds = (kind.last_ns - kind.first_ns).max(0) as f64 / 1e9;
                Some(Flood {
                    kind: (*name).to_owned(),
                    frames: kind.frames,
                    most_in_a_second: kind.most_in_a_second,
                    first_us: us(kind.first_ns),
                    last_us: us(kind.last_ns),
                    sender: sender.to_string(),
                    receiver: receiver.to_string(),
                    sentence: sentence!(
                        "{kind} flood: {frames} in {seconds} s, up to {most} in one second; {sent} in the name of {sender}, \
                         {received} to {receiver}: an attack, a test tool, or a device out of control{unless}{copies}",
                        frames = Figure::all(kind.frames, "frame"),
                        seconds = Figure::of(seconds, "s", kind.frames, 1),
                        most = Figure::count(kind.most_in_a_second, kind.frames),
                        sent = Figure::count(sent, kind.frames),
                        received = Figure::count(received, kind.frames);
                        kind = name,
                        sender = sender,
                        receiver = receiver,
                        unless = if may_be_many { ", unless as many stations came or left at once" } else { "" },
                        copies = if has_copies { "; frames that are in the file twice count twice" } else { "" }
                    ),
                })
            })
            .collect();
        floods.sort_by_key(|flood| std::cmp::Reverse(flood.frames));
        floods
    }
}
