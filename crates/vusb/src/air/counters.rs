//! What happened on the air, counted by those who did it.

use serde::Serialize;
use wire::ieee80211::{FrameKind, Mpdu};

use super::channel::LinkSignal;
use super::sides::CHIP;
use super::{Ppdu, Protection, Response};
use crate::air::exchange::FCS_LEN;

/// Frames that were sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, serde::Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Frames {
    /// PPDUs, control frames not counted (but Block Ack requests are PPDUs like others).
    pub ppdus: u64,
    /// PPDUs that ask for an ACK or a Block Ack.
    pub soliciting: u64,
    /// PPDUs with data for one receiver.
    pub data_ppdus: u64,
    /// A-MPDUs.
    pub ampdus: u64,
    /// A-MPDUs of one MPDU only.
    pub single_ampdus: u64,
    /// MPDUs in all PPDUs.
    pub mpdus: u64,
    /// MPDUs with the retry bit.
    pub retries: u64,
    /// Bytes of all MPDUs, frame check sequences included.
    pub sent_bytes: u64,
    /// MPDUs with data (Null has none).
    pub data: u64,
    /// MPDUs with data for one receiver, not for a group.
    pub unicast_data: u64,
    /// Those for one receiver with the retry bit.
    pub data_retries: u64,
    /// Block Ack requests.
    pub block_ack_requests: u64,
    /// RTS frames.
    pub rts: u64,
    /// CTS to itself.
    pub cts_to_self: u64,
}

/// What was sent from one side.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SideCounters {
    /// Everything that it sent and that asks for or begins an exchange.
    #[serde(flatten)]
    pub sent: Frames,
    /// What of this collided: a monitor has at most one PPDU of a collision, damaged.
    pub collided: Frames,
    /// MPDUs that were acknowledged.
    pub acknowledged: u64,
    /// Bytes of MPDUs that were acknowledged or needed no acknowledgement, without frame check sequence.
    pub bytes: u64,
    /// CTS frames that answer RTS.
    pub cts: u64,
    /// ACKs.
    pub acks: u64,
    /// Block Acks.
    pub block_acks: u64,
    /// Its ACKs and Block Acks that got lost on the way.
    pub answers_lost: u64,
    /// Its MPDUs that noise or the given loss destroyed at the receiver.
    pub lost: u64,
    /// Time that its exchanges took, from the first preamble to the end of what was sent last, ns. A collision counts for each
    /// of those who sent: see [`AirCounters::busy_ns`].
    pub airtime_ns: u64,
}

/// What went between the chip and one of several peers: stations, or access points.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct StationCounters {
    /// Signal of what the chip sends, at the peer, dBm; after a move that of the last place.
    pub signal_dbm: i8,
    /// Signal of what the peer sends, at the chip, dBm, where it is another.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub signal_up_dbm: Option<i8>,
    /// From the chip to this peer alone; it is in the chip's counters too.
    pub down: SideCounters,
    /// From the peer.
    pub up: SideCounters,
}

/// What happened on the air.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AirCounters {
    /// From the chip.
    pub chip: SideCounters,
    /// From the access point, or all access points, where these are the chip's peers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ap: Option<SideCounters>,
    /// What went to and from each station, where stations are the chip's peers.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "schema", schemars(extend("default" = [])))]
    pub stations: Vec<StationCounters>,
    /// What went to and from each access point, where there are several.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "schema", schemars(extend("default" = [])))]
    pub access_points: Vec<StationCounters>,
    /// From the neighbour, and its own access point's answers to it.
    #[serde(skip_serializing_if = "is_silent")]
    pub neighbour: SideCounters,
    /// Times that two or more began in the same slot.
    pub collisions: u64,
    /// MPDUs that noise or the given loss destroyed.
    pub lost: u64,
    /// Time that the medium was taken by exchanges and collisions, each counted once, ns.
    pub busy_ns: u64,
}

fn is_silent(side: &SideCounters) -> bool {
    *side == SideCounters::default()
}

impl Frames {
    /// A PPDU, and what went before it; of an exchange without data (`data_sent`) only that.
    fn of(ppdu: &Ppdu, data_sent: bool) -> Self {
        let mut frames = Self::default();
        match ppdu.protection {
            Protection::None => {}
            Protection::Rts(_) => frames.rts = 1,
            Protection::CtsToSelf(_) => frames.cts_to_self = 1,
        }
        if !data_sent {
            return frames;
        }
        frames.ppdus = 1;
        frames.soliciting = u64::from(ppdu.response != Response::None);
        frames.ampdus = u64::from(ppdu.aggregated);
        frames.single_ampdus = u64::from(ppdu.aggregated && ppdu.mpdus.len() == 1);
        for mpdu in &ppdu.mpdus {
            let frame = Mpdu::new(mpdu);
            let retry = u64::from(frame.retry());
            let data = u64::from(frame.carries_data());
            let unicast_data = data & u64::from(!frame.is_group());
            frames.mpdus += 1;
            frames.retries += retry;
            frames.data += data;
            frames.unicast_data += unicast_data;
            frames.data_retries += unicast_data & retry;
            frames.block_ack_requests += u64::from(frame.kind() == Some(FrameKind::BlockAckReq));
            frames.sent_bytes += (mpdu.len() + FCS_LEN) as u64;
        }
        frames.data_ppdus = u64::from(frames.unicast_data > 0);
        frames
    }

    fn add(&mut self, other: &Self) {
        self.ppdus += other.ppdus;
        self.soliciting += other.soliciting;
        self.data_ppdus += other.data_ppdus;
        self.ampdus += other.ampdus;
        self.single_ampdus += other.single_ampdus;
        self.mpdus += other.mpdus;
        self.retries += other.retries;
        self.sent_bytes += other.sent_bytes;
        self.data += other.data;
        self.unicast_data += other.unicast_data;
        self.data_retries += other.data_retries;
        self.block_ack_requests += other.block_ack_requests;
        self.rts += other.rts;
        self.cts_to_self += other.cts_to_self;
    }
}

impl StationCounters {
    /// Nothing yet, on this link.
    pub(super) fn on(link: &LinkSignal) -> Self {
        Self {
            signal_dbm: link.down_dbm,
            signal_up_dbm: Some(link.up_dbm).filter(|&up_dbm| up_dbm != link.down_dbm),
            ..Self::default()
        }
    }
}

impl SideCounters {
    /// Counts an exchange that this side began.
    pub(super) fn sent(&mut self, ppdu: &Ppdu, data_sent: bool, collided: bool, acknowledged: &[bool]) {
        let frames = Frames::of(ppdu, data_sent);
        self.sent.add(&frames);
        if collided {
            self.collided.add(&frames);
        }
        for (mpdu, _) in ppdu.mpdus.iter().zip(acknowledged).filter(|(_, &acknowledged)| acknowledged) {
            self.acknowledged += u64::from(ppdu.response != Response::None);
            self.bytes += mpdu.len() as u64;
        }
    }

    /// Counts the answer that this side gave.
    pub(super) fn answered(&mut self, response: Response, lost: bool) {
        self.acks += u64::from(response == Response::Ack);
        self.block_acks += u64::from(response == Response::BlockAck);
        self.answers_lost += u64::from(lost);
    }
}

impl AirCounters {
    /// Each of several peers.
    pub(super) fn peers_mut(&mut self) -> &mut [StationCounters] {
        if self.stations.is_empty() {
            &mut self.access_points
        } else {
            &mut self.stations
        }
    }

    /// Counts for all that a side's exchange with another one belongs to: the sender, and the peer that it is for.
    pub(super) fn each(&mut self, side: usize, to: Option<usize>, mut count: impl FnMut(&mut SideCounters)) {
        let peers = self.peers_mut().len().max(1);
        match side {
            CHIP => {
                count(&mut self.chip);
                let peer = to.and_then(|to| to.checked_sub(1)).and_then(|number| self.peers_mut().get_mut(number));
                if let Some(peer) = peer {
                    count(&mut peer.down);
                }
            }
            side if side > peers => count(&mut self.neighbour),
            side => {
                if let Some(peer) = self.peers_mut().get_mut(side - 1) {
                    count(&mut peer.up);
                }
                // None where stations are the peers.
                self.ap.iter_mut().for_each(count);
            }
        }
    }
}

crate::state!(SideCounters {
    sent,
    collided,
    acknowledged,
    bytes,
    cts,
    acks,
    block_acks,
    answers_lost,
    lost,
    airtime_ns,
});
crate::state!(StationCounters { signal_dbm, signal_up_dbm, down, up });
crate::state!(AirCounters { chip, neighbour, collisions, lost, busy_ns } each { ap, stations, access_points });

#[cfg(test)]
mod tests {
    use super::*;

    /// Sides: the chip, two access points, a neighbour.
    #[test]
    fn several_access_points_count_for_each_and_for_all() {
        let mut counters = AirCounters {
            ap: Some(SideCounters::default()),
            access_points: vec![StationCounters::default(); 2],
            ..AirCounters::default()
        };
        counters.each(CHIP, Some(2), |side| side.lost += 1);
        counters.each(1, Some(CHIP), |side| side.lost += 10);
        counters.each(2, Some(CHIP), |side| side.lost += 100);
        counters.each(3, None, |side| side.lost += 1_000);
        let of = |number: usize| {
            let point: &StationCounters = &counters.access_points[number];
            (point.down.lost, point.up.lost)
        };
        assert_eq!((of(0), of(1)), ((0, 10), (1, 100)));
        assert_eq!(
            (counters.chip.lost, counters.ap.map(|all| all.lost), counters.neighbour.lost),
            (1, Some(110), 1_000)
        );
    }

    #[test]
    fn stations_are_no_access_points() {
        let mut counters = AirCounters { stations: vec![StationCounters::default()], ..AirCounters::default() };
        counters.each(1, None, |side| side.lost += 1);
        counters.each(2, None, |side| side.lost += 1);
        assert_eq!((counters.stations[0].up.lost, counters.ap, counters.neighbour.lost), (1, None, 1));
    }
}
