//! One frame exchange after the other: who begins, what arrives, and how it ends.

use medium::{mpdu_end_ns, Access, Collider, Parameters, Rates, Spaces, Timeline, Unanswered};
use random::{Rng, Stream};
use wire::ieee80211::Mpdu;
use wire::phy::{Band, ACK_LEN, BLOCK_ACK_64_LEN, RTS_LEN};

use crate::air::channel::{ChannelSettings, LinkSignal, Losses, Tuned};
use crate::air::counters::{AirCounters, SideCounters};
use crate::air::exchange::{self, FCS_LEN};
use crate::air::monitor::{set_durations, Heard, Monitor};
use crate::air::sides::{contenders, parameters, Stations, CHIP, FUNCTIONS};
use crate::air::transmission::{Busy, Transmission};
use crate::air::{Outcome, Ppdu, Protection, Reception, Response, Station};
use crate::record::AirFile;

/// The band before any station has a channel.
const BAND: Band = Band::Ghz2_4;

/// What is kept of a side.
#[derive(serde::Serialize, serde::Deserialize)]
pub(super) struct Side {
    pub(super) rates: Rates,
    /// On each of its links: of the chip those to its peers, of others the one to the chip.
    pub(super) losses: Vec<Losses>,
    /// Losses of the answers to what it sent, which go the other way, on each of its links.
    pub(super) answer_losses: Vec<Losses>,
    /// The functions that have something to send.
    pub(super) ready: [bool; FUNCTIONS],
}

/// The medium without its stations.
pub(super) struct Air {
    pub(super) settings: ChannelSettings,
    /// Signal on the link to each peer.
    pub(super) signals: Vec<LinkSignal>,
    /// Noise and loss at the beginning.
    pub(super) noise_dbm: i8,
    pub(super) loss: f64,
    /// Backoffs, and losses.
    pub(super) backoff: Rng,
    pub(super) loss_draws: Rng,
    pub(super) access: Access,
    pub(super) sides: Vec<Side>,
    pub(super) busy: Option<Busy>,
    pub(super) winners: Vec<u32>,
    pub(super) counters: AirCounters,
    pub(super) monitor: Option<Monitor>,
}

impl Air {
    pub(super) fn new(
        settings: ChannelSettings,
        signals: Vec<LinkSignal>,
        seed: u64,
        recorder: Option<AirFile>,
    ) -> Self {
        // The chip, its peers, the neighbour.
        let sides = signals.len() + 2;
        // Every function gets its own before it is used.
        let unset = Parameters { aifsn: 2, cw_min: 15, cw_max: 1_023, retry_limit: 7 };
        let fresh = || Side {
            rates: Rates::new(BAND, None),
            losses: Vec::new(),
            answer_losses: Vec::new(),
            ready: [false; FUNCTIONS],
        };
        let mut air = Self {
            settings,
            signals,
            noise_dbm: settings.noise_dbm,
            loss: settings.loss,
            backoff: Rng::new(seed, Stream::AirBackoff, 0),
            loss_draws: Rng::new(seed, Stream::AirLoss, 0),
            access: Access::new(spaces(BAND), FUNCTIONS, std::iter::repeat_n(unset, sides * FUNCTIONS)),
            sides: std::iter::repeat_with(fresh).take(sides).collect(),
            busy: None,
            winners: Vec::new(),
            counters: AirCounters { ap: Some(SideCounters::default()), ..AirCounters::default() },
            monitor: recorder.map(Monitor::new),
        };
        air.forget_losses();
        air
    }

    pub(super) fn forget_losses(&mut self) {
        for side in 0..self.sides.len() {
            let losses = self.losses_of(side);
            if let Some(side) = self.sides.get_mut(side) {
                (side.losses, side.answer_losses) = losses;
            }
        }
    }

    /// What is lost of what a side sends on its links, and of the answers to it; the neighbour's link is as good as the
    /// settings say.
    fn losses_of(&self, side: usize) -> (Vec<Losses>, Vec<Losses>) {
        let losses = |signal_dbm: i8| Losses::new(&ChannelSettings { signal_dbm, ..self.settings });
        let down = |link: &LinkSignal| losses(link.down_dbm);
        let up = |link: &LinkSignal| losses(link.up_dbm);
        match side {
            CHIP => (self.signals.iter().map(down).collect(), self.signals.iter().map(up).collect()),
            side => {
                let link = self.link_signal(side);
                (vec![up(&link)], vec![down(&link)])
            }
        }
    }

    /// Signal on the link between the chip and the other side.
    fn link_signal(&self, other: usize) -> LinkSignal {
        let link = other.checked_sub(1).and_then(|link| self.signals.get(link));
        link.copied().unwrap_or(LinkSignal::both(self.settings.signal_dbm))
    }

    /// Signal of what one side sends at another; one of them is the chip.
    fn signal_dbm(&self, from: usize, to: usize) -> i8 {
        let link = self.link_signal(from.max(to));
        if from == CHIP {
            link.down_dbm
        } else {
            link.up_dbm
        }
    }

    pub(super) fn next_event<'a>(&self, stations: impl Iterator<Item = Option<&'a dyn Station>>) -> Option<u64> {
        if let Some(busy) = &self.busy {
            let mpdu = busy.transmissions.iter().filter_map(Transmission::next_mpdu_ns).min();
            return mpdu.filter(|_| !busy.answering).or(Some(busy.end_ns));
        }
        // What came since `advance` is not in the contention yet.
        let mut first_ns = None;
        for (side, station) in stations.enumerate() {
            let Some(station) = station else { continue };
            contenders(station, |contender| {
                let function = self.access.function(side, contender.function);
                let turn_ns = self.access.would_send_ns(function, parameters(&contender), contender.since_ns);
                first_ns = first_ns.into_iter().chain(turn_ns).min();
            });
        }
        first_ns
    }

    pub(super) fn advance(&mut self, now_ns: u64, stations: &mut Stations<'_, '_>) {
        self.access.set_spaces(spaces(stations.band().unwrap_or(BAND)));
        loop {
            self.look_at_queues(stations);
            if self.deliver(now_ns, stations) {
                continue;
            }
            if let Some(busy) = self.busy.take_if(|busy| busy.end_ns <= now_ns) {
                self.stage_ended(busy, stations);
                continue;
            }
            if self.busy.is_some() {
                return;
            }
            let Some(start_ns) = self.access.next_ns().filter(|&at_ns| at_ns <= now_ns) else { return };
            self.begin(start_ns, stations);
        }
    }

    /// Tells the contention who has something to send.
    fn look_at_queues(&mut self, stations: &Stations<'_, '_>) {
        for (number, side) in self.sides.iter_mut().enumerate() {
            let Some(station) = stations.get(number) else { continue };
            let mut found = [None; FUNCTIONS];
            contenders(station, |contender| {
                if let Some(place) = found.get_mut(contender.function) {
                    *place = Some(contender);
                }
            });
            for ((function, ready), now) in side.ready.iter_mut().enumerate().zip(found) {
                if *ready && now.is_none() {
                    self.access.set_ready(self.access.function(number, function), 0, false, &mut self.backoff);
                }
                *ready = now.is_some();
            }
            for contender in found.into_iter().flatten() {
                let function = self.access.function(number, contender.function);
                self.access.set_parameters(function, parameters(&contender));
                self.access.set_ready(function, contender.since_ns, true, &mut self.backoff);
            }
        }
    }

    /// Those that have the turn begin to send.
    fn begin(&mut self, start_ns: u64, stations: &mut Stations<'_, '_>) {
        let mut winners = std::mem::take(&mut self.winners);
        self.access.winners(&mut winners);
        self.access.take(start_ns);
        let mut transmissions = Vec::new();
        for (at, &function) in winners.iter().enumerate() {
            // Functions of a station follow each other, and the last of them sends.
            let side = |function| self.access.owner(function).0;
            if winners.get(at + 1).is_some_and(|&next| side(next) == side(function)) {
                self.access.internal_collision(function, &mut self.backoff);
            } else {
                transmissions.extend(self.transmission(start_ns, function, stations));
            }
        }
        self.winners = winners;
        let collided = transmissions.len() > 1;
        self.counters.collisions += u64::from(collided);
        for transmission in &mut transmissions {
            transmission.collided = collided;
            self.protect(transmission, stations);
        }
        match transmissions.iter().map(Transmission::sent_until_ns).max() {
            Some(end_ns) => {
                let limit_ns = transmissions.first().and_then(|only| self.txop_limit_ns(only.function, stations));
                let txop_ends_ns = limit_ns.map(|limit_ns| start_ns + limit_ns);
                self.busy = Some(Busy { end_ns, answering: false, txop_ends_ns, transmissions });
            }
            // Nothing to send after all.
            None => self.access.silent(start_ns + self.access.spaces().slot_ns),
        }
    }

    /// Whether RTS is answered, where there is one.
    fn protect(&mut self, transmission: &mut Transmission, stations: &Stations<'_, '_>) {
        let protected = matches!(transmission.ppdu.protection, Protection::Rts(_));
        let (side, to) = (transmission.side, transmission.to);
        let rts = transmission.timeline.first().mode;
        transmission.data_sent =
            !protected || !transmission.collided && reached(stations, side, to) && !self.loses(side, to, &rts, RTS_LEN);
    }

    /// How long a function may go on sending once it has the turn; `None`: one exchange.
    fn txop_limit_ns(&self, function: u32, stations: &Stations<'_, '_>) -> Option<u64> {
        let (side, number) = self.access.owner(function);
        stations.get(side)?.txop_limit_ns(number).filter(|&limit_ns| limit_ns > 0)
    }

    fn transmission(&mut self, start_ns: u64, function: u32, stations: &mut Stations<'_, '_>) -> Option<Transmission> {
        let (side, number) = self.access.owner(function);
        let station = stations.get_mut(side)?;
        let ppdu = station.begin(start_ns, number).filter(|ppdu| !ppdu.mpdus.is_empty())?;
        let Some(timeline) = exchange::timeline(self.rates_of(side, station), &ppdu) else {
            // It could not be received: it counts as lost.
            let acknowledged = vec![false; ppdu.mpdus.len()];
            station.ended(start_ns, ppdu, &Outcome { acknowledged, sent: true });
            return None;
        };
        Some(self.transmission_of(start_ns, function, ppdu, timeline, stations))
    }

    /// A PPDU with its place in time.
    fn transmission_of(
        &self,
        start_ns: u64,
        function: u32,
        mut ppdu: Ppdu,
        timeline: Timeline,
        stations: &Stations<'_, '_>,
    ) -> Transmission {
        let (side, _) = self.access.owner(function);
        let receiver = ppdu.mpdus.first().and_then(|mpdu| Mpdu::new(mpdu).receiver()).unwrap_or_default();
        let to = if side + 1 == self.sides.len() {
            Some(side)
        } else {
            match stations.listeners(side, receiver)[..] {
                [only] => Some(only),
                _ => None,
            }
        };
        set_durations(&mut ppdu, &timeline);
        let span_ns = (start_ns + timeline.data.start_ns, start_ns + timeline.data.end_ns);
        let preamble_ns = timeline.data.mode.preamble_ns().map_or(0, u64::from);
        let psdu_len = exchange::psdu_len(&ppdu, ppdu.mpdus.len());
        let end_of = |count| mpdu_end_ns(span_ns, preamble_ns, exchange::psdu_len(&ppdu, count), psdu_len);
        let mpdu_ends_ns = (1..=ppdu.mpdus.len()).map(end_of).collect();
        Transmission {
            side,
            to,
            function,
            start_ns,
            ppdu,
            timeline,
            mpdu_ends_ns,
            collided: false,
            data_sent: true,
            lost: Vec::new(),
            accepted: Vec::new(),
            answer_lost: false,
        }
    }

    #[expect(clippy::indexing_slicing, reason = "a side is what Access::owner named: one of those that there are")]
    fn rates_of(&mut self, side: usize, station: &dyn Station) -> &mut Rates {
        let (band, basic) = (station.tuned().map_or(BAND, |tuned| tuned.band()), station.basic_rates());
        let rates = &self.sides[side].rates;
        if rates.basic() != basic || rates.band() != band {
            self.sides[side].rates = Rates::new(band, basic);
            (self.sides[side].losses, self.sides[side].answer_losses) = self.losses_of(side);
        }
        &mut self.sides[side].rates
    }

    /// Whether a frame gets lost between a side and another; it does where there is no link.
    #[expect(clippy::indexing_slicing, reason = "a side is what Access::owner named: one of those that there are")]
    fn loses(&mut self, side: usize, to: Option<usize>, mode: &wire::phy::Mode, len: usize) -> bool {
        let Side { rates, losses, .. } = &mut self.sides[side];
        let losses = link_of(side, to).and_then(|link| losses.get_mut(link));
        losses.is_none_or(|losses| losses.loses(&mut self.loss_draws, rates, mode, len))
    }

    /// Whether the answer to what a side sent gets lost on its way back.
    #[expect(clippy::indexing_slicing, reason = "a side is what Access::owner named: one of those that there are")]
    fn loses_answer(&mut self, side: usize, from: Option<usize>, mode: &wire::phy::Mode, len: usize) -> bool {
        let Side { rates, answer_losses, .. } = &mut self.sides[side];
        let losses = link_of(side, from).and_then(|link| answer_losses.get_mut(link));
        losses.is_none_or(|losses| losses.loses(&mut self.loss_draws, rates, mode, len))
    }

    /// Lets the next MPDU arrive, if it has ended by now.
    fn deliver(&mut self, now_ns: u64, stations: &mut Stations<'_, '_>) -> bool {
        let Some(mut busy) = self.busy.take() else { return false };
        let delivered = match busy.transmissions.first_mut() {
            Some(transmission) if !busy.answering => self.deliver_next(now_ns, transmission, stations),
            _ => false,
        };
        self.busy = Some(busy);
        delivered
    }

    fn deliver_next(&mut self, now_ns: u64, transmission: &mut Transmission, stations: &mut Stations<'_, '_>) -> bool {
        let Some(at_ns) = transmission.next_mpdu_ns().filter(|&at_ns| at_ns <= now_ns) else { return false };
        let (side, next) = (transmission.side, transmission.lost.len());
        let Some(mpdu) = transmission.ppdu.mpdus.get(next) else { return false };
        let mode = transmission.ppdu.mode;
        let receiver = Mpdu::new(mpdu).receiver().unwrap_or_default();
        let is_neighbour = side + 1 == self.sides.len();
        let listeners = if is_neighbour { vec![side] } else { stations.listeners(side, receiver) };
        let (mut losses, mut accepted) = (0, false);
        for &listener in &listeners {
            if self.loses(side, Some(listener), &mode, mpdu.len() + FCS_LEN) {
                losses += 1;
                continue;
            }
            if is_neighbour {
                // Its access point.
                accepted = true;
                continue;
            }
            let Some(tuned) = stations.shared(side, listener) else { continue };
            let signal_dbm = self.signal_dbm(side, listener);
            let ampdu = transmission.ppdu.aggregated.then_some(next == 0);
            let last = next + 1 == transmission.ppdu.mpdus.len();
            let reception = Reception { mode, ampdu, last, tuned, signal_dbm };
            let station = stations.get_mut(listener);
            accepted |= station.is_some_and(|station| station.receive(at_ns, mpdu, &reception));
        }
        let lost = losses > 0 && losses == listeners.len();
        let of = if listeners.len() == 1 { transmission.to } else { None };
        self.counters.each(side, of, |counters| counters.lost += losses as u64);
        self.counters.lost += losses as u64;
        transmission.lost.push(lost);
        transmission.accepted.push(accepted);
        true
    }

    /// What was sent has ended, or the answer to it.
    fn stage_ended(&mut self, mut busy: Busy, stations: &mut Stations<'_, '_>) {
        let end_ns = busy.end_ns;
        if busy.transmissions.len() > 1 {
            return self.collision_ended(busy, stations);
        }
        let Some(mut transmission) = busy.transmissions.pop() else { return };
        let (side, to, function) = (transmission.side, transmission.to, transmission.function);
        let response = transmission.ppdu.response;
        let answered = transmission.accepted.iter().any(|&it| it) && response != Response::None;
        if busy.answering || transmission.data_sent && response == Response::None {
            let idle_ns = end_ns + transmission.timeline.last().silence_ns;
            let acknowledged = match response {
                Response::None => vec![true; transmission.ppdu.mpdus.len()],
                _ => transmission.accepted.clone(),
            };
            self.conclude(transmission, end_ns, acknowledged, stations);
            self.busy = self.go_on(function, busy.txop_ends_ns, idle_ns, stations);
            if self.busy.is_some() {
                self.access.goes_on(function);
            } else {
                self.access.succeeded(function, idle_ns, &mut self.backoff);
            }
            return;
        }
        let answer = transmission.timeline.response.filter(|_| answered);
        if let Some(slice) = answer {
            let len = if response == Response::BlockAck { BLOCK_ACK_64_LEN } else { ACK_LEN };
            let lost = self.loses_answer(side, to, &slice.mode, len);
            transmission.answer_lost = lost;
            if !lost {
                let end_ns = transmission.start_ns + slice.end_ns;
                let txop_ends_ns = busy.txop_ends_ns;
                self.busy = Some(Busy { end_ns, answering: true, txop_ends_ns, transmissions: vec![transmission] });
                return;
            }
        }
        let nothing_read = transmission.data_sent && transmission.lost.iter().all(|&it| it);
        let unanswered = Unanswered {
            function,
            end_ns,
            silence_ns: transmission.silence_ns(),
            answer_ns: transmission.answer_ns(),
            dcf: false,
            unread_by: to.filter(|&other| nothing_read && other != side),
        };
        let acknowledged = vec![false; transmission.ppdu.mpdus.len()];
        self.conclude(transmission, end_ns, acknowledged, stations);
        self.access.unanswered(&unanswered, &mut self.backoff);
    }

    /// The next exchange of a TXOP, SIFS behind the last one (IEEE 802.11-2020 10.23.2.8); `None`: the TXOP is over.
    fn go_on(
        &mut self,
        function: u32,
        txop_ends_ns: Option<u64>,
        idle_ns: u64,
        stations: &mut Stations<'_, '_>,
    ) -> Option<Busy> {
        let ends_ns = txop_ends_ns?;
        let start_ns = idle_ns + self.access.spaces().sifs_ns;
        let (side, number) = self.access.owner(function);
        let station = stations.get_mut(side).filter(|_| start_ns < ends_ns)?;
        let rates = self.rates_of(side, station);
        let mut timeline = None;
        let ppdu = station.go_on(start_ns, number, &mut |ppdu| {
            timeline = exchange::timeline(rates, ppdu).filter(|found| start_ns + found.last().end_ns <= ends_ns);
            timeline.is_some()
        })?;
        let mut transmission = self.transmission_of(start_ns, function, ppdu, timeline?, stations);
        self.protect(&mut transmission, stations);
        let end_ns = transmission.sent_until_ns();
        Some(Busy { end_ns, answering: false, txop_ends_ns, transmissions: vec![transmission] })
    }

    fn collision_ended(&mut self, busy: Busy, stations: &mut Stations<'_, '_>) {
        let mut colliders = Vec::with_capacity(busy.transmissions.len());
        let mut idle_ns = busy.end_ns;
        let begun_ns = busy.transmissions.first().map_or(idle_ns, |transmission| transmission.start_ns);
        for transmission in busy.transmissions {
            let end_ns = transmission.sent_until_ns();
            idle_ns = idle_ns.max(end_ns + transmission.silence_ns());
            // Who expects no answer does not know that it could not be received.
            let awaits_answer = transmission.ppdu.response != Response::None;
            let function = transmission.function;
            colliders.push(Collider { function, end_ns, dcf: false, awaits_answer });
            let acknowledged = vec![!awaits_answer; transmission.ppdu.mpdus.len()];
            self.conclude(transmission, busy.end_ns, acknowledged, stations);
        }
        self.counters.busy_ns += idle_ns.saturating_sub(begun_ns);
        self.access.collided(colliders.into_iter(), idle_ns, &mut self.backoff);
    }

    /// The sender learns what happened to its PPDU; everything is counted and written down.
    fn conclude(
        &mut self,
        transmission: Transmission,
        end_ns: u64,
        acknowledged: Vec<bool>,
        stations: &mut Stations<'_, '_>,
    ) {
        let Transmission { side, to, start_ns, ref timeline, collided, data_sent, .. } = transmission;
        let answer_heard = transmission.timeline.response.filter(|_| transmission.accepted.iter().any(|&it| it));
        let sent_ns = answer_heard.map_or(transmission.sent_until_ns() - start_ns, |slice| slice.end_ns);
        let airtime_ns = sent_ns + answer_heard.map_or(transmission.silence_ns(), |slice| slice.silence_ns);
        let back = (to.unwrap_or(side), Some(side).filter(|_| side != CHIP));
        if answer_heard.is_some() {
            let (response, lost) = (transmission.ppdu.response, transmission.answer_lost);
            self.counters.each(back.0, back.1, |counters| counters.answered(response, lost));
        }
        let cts = u64::from(timeline.cts.is_some() && data_sent);
        self.counters.each(back.0, back.1, |counters| counters.cts += cts);
        if !collided {
            self.counters.busy_ns += airtime_ns;
        }
        self.counters.each(side, to, |counters| {
            counters.airtime_ns += airtime_ns;
            counters.sent(&transmission.ppdu, data_sent, collided, &acknowledged);
        });
        let tuned = stations.get(side).and_then(Station::tuned);
        let link_signal_dbm = self.signal_dbm(side, to.unwrap_or(side));
        if let (Some(monitor), Some(first)) = (&mut self.monitor, Tuned::channel(1)) {
            let tuned = tuned.unwrap_or(first);
            let accepted = transmission.accepted.as_slice();
            let heard = Heard { start_ns, timeline, tuned, collided, data_sent, accepted };
            let signal_dbm = link_signal_dbm;
            monitor.hear(&ChannelSettings { signal_dbm, ..self.settings }, &transmission.ppdu, &heard);
        }
        if let Some(station) = stations.get_mut(side) {
            station.ended(end_ns, transmission.ppdu, &Outcome { acknowledged, sent: data_sent });
        }
        // While the medium still counts as busy: what waits behind this draws its backoff now.
        self.look_at_queues(stations);
    }
}

/// Short slots; no station here is 802.11b only.
fn spaces(band: Band) -> Spaces {
    Spaces::new(band, true, false)
}

/// The number of the link from a side to another among those of the side.
fn link_of(side: usize, to: Option<usize>) -> Option<usize> {
    if side == CHIP {
        to.and_then(|to| to.checked_sub(1))
    } else {
        Some(0)
    }
}

/// Whether what a side sends reaches whom it is for. The neighbour's access point is always there.
fn reached(stations: &Stations<'_, '_>, side: usize, to: Option<usize>) -> bool {
    to.is_some_and(|to| to == side || stations.shared(side, to).is_some())
}

crate::state!(Air {
    settings, signals, noise_dbm, loss, backoff, loss_draws, access, sides, busy, winners, counters,
} each { monitor });
