//! Who sends when, and what comes of it.

use medium::{mpdu_end_ns, Access, Collider, Parameters, Rates, Spaces, Unanswered};
use random::{Rng, Stream};
use wire::phy::{RateSet, ACK_LEN, BLOCK_ACK_64_LEN, RTS_LEN};

use super::channel::{ChannelSettings, Losses, Tuned};
use super::counters::AirCounters;
use super::exchange::{self, BAND, FCS_LEN};
use super::monitor::{set_durations, Heard, Monitor};
use super::neighbour::Neighbour;
use super::sides::{answering, function_of, parameters, Stations, AP, CHIP, FUNCTIONS, SIDES};
use super::transmission::{Busy, Transmission};
use super::{Outcome, Protection, Reception, Response, Station};
use crate::record::AirFile;

/// What is kept of a side.
struct Side {
    rates: Rates,
    losses: Losses,
    /// The function that has something to send.
    head: Option<usize>,
}

/// The channel between a chip and an access point, and perhaps a neighbour.
pub struct Medium {
    air: Air,
    neighbour: Option<Neighbour>,
}

impl Medium {
    /// A free medium.
    pub fn new(settings: ChannelSettings, seed: u64, recorder: Option<AirFile>) -> Self {
        Self { air: Air::new(settings, seed, recorder), neighbour: None }
    }

    /// A third station contends on the channel of the access point.
    #[must_use]
    pub fn with_neighbour(self, neighbour: Option<Neighbour>) -> Self {
        Self { neighbour, ..self }
    }

    /// What happened so far.
    pub const fn counters(&self) -> &AirCounters {
        &self.air.counters
    }

    /// The part of all frames that gets lost from now on, on top of what was lost at the beginning.
    pub fn set_loss(&mut self, loss: f64) {
        self.air.settings.loss = 1.0 - (1.0 - self.air.loss) * (1.0 - loss);
        self.air.forget_losses();
    }

    /// How loud the noise is from now on; `None`: as at the beginning.
    pub fn set_noise(&mut self, dbm: Option<i8>) {
        self.air.settings.noise_dbm = dbm.unwrap_or(self.air.noise_dbm);
        self.air.forget_losses();
    }

    /// Writes the capture out.
    ///
    /// # Errors
    /// Those of its file.
    pub fn finish(&mut self) -> std::io::Result<()> {
        self.air.monitor.as_mut().map_or(Ok(()), Monitor::finish)
    }

    /// When something happens next.
    pub fn next_event(&self, chip: &dyn Station, ap: &dyn Station) -> Option<u64> {
        let neighbour = self.neighbour.as_ref();
        let medium = self.air.next_event([Some(chip), Some(ap), neighbour.map(|it| it as &dyn Station)]);
        [medium, neighbour.and_then(Neighbour::next_ns)].into_iter().flatten().min()
    }

    /// Lets everything happen that is due by `now_ns`.
    pub fn advance(&mut self, now_ns: u64, chip: &mut dyn Station, ap: &mut dyn Station) {
        if let Some(neighbour) = &mut self.neighbour {
            neighbour.arrive(now_ns, ap.tuned());
        }
        let mut stations = Stations { chip, ap, neighbour: self.neighbour.as_mut() };
        self.air.advance(now_ns, &mut stations);
    }
}

/// The medium without its stations.
struct Air {
    settings: ChannelSettings,
    /// Noise and loss at the beginning.
    noise_dbm: i8,
    loss: f64,
    /// Backoffs, and losses.
    backoff: Rng,
    loss_draws: Rng,
    access: Access,
    sides: [Side; SIDES],
    busy: Option<Busy>,
    winners: Vec<u32>,
    counters: AirCounters,
    monitor: Option<Monitor>,
}

impl Air {
    fn new(settings: ChannelSettings, seed: u64, recorder: Option<AirFile>) -> Self {
        // Every function gets its own before it is used.
        let unset = Parameters { aifsn: 2, cw_min: 15, cw_max: 1_023, retry_limit: 7 };
        // Short slots; nobody here knows only 802.11b.
        let spaces = Spaces::new(BAND, true, false);
        let side = || Side { rates: Rates::new(BAND, None), losses: Losses::new(&settings), head: None };
        Self {
            settings,
            noise_dbm: settings.noise_dbm,
            loss: settings.loss,
            backoff: Rng::new(seed, Stream::AirBackoff, 0),
            loss_draws: Rng::new(seed, Stream::AirLoss, 0),
            access: Access::new(spaces, FUNCTIONS, [unset; SIDES * FUNCTIONS].into_iter()),
            sides: [side(), side(), side()],
            busy: None,
            winners: Vec::new(),
            counters: AirCounters::default(),
            monitor: recorder.map(Monitor::new),
        }
    }

    fn forget_losses(&mut self) {
        for side in &mut self.sides {
            side.losses = Losses::new(&self.settings);
        }
    }

    fn next_event(&self, stations: [Option<&dyn Station>; SIDES]) -> Option<u64> {
        if let Some(busy) = &self.busy {
            let mpdu = busy.transmissions.iter().filter_map(Transmission::next_mpdu_ns).min();
            return mpdu.filter(|_| !busy.answering).or(Some(busy.end_ns));
        }
        // What came since `advance` is not in the contention yet.
        let turn = |(side, station): (usize, Option<&dyn Station>)| {
            let station = station?;
            let ready_ns = station.ready_since()?;
            let function = self.access.function(side, function_of(station));
            self.access.would_send_ns(function, parameters(station), ready_ns)
        };
        stations.into_iter().enumerate().filter_map(turn).min()
    }

    fn advance(&mut self, now_ns: u64, stations: &mut Stations<'_>) {
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
    fn look_at_queues(&mut self, stations: &Stations<'_>) {
        for (number, side) in self.sides.iter_mut().enumerate() {
            let Some(station) = stations.get(number) else { continue };
            let ready = station.ready_since().map(|since_ns| (function_of(station), since_ns));
            if let Some(before) = side.head.filter(|&before| ready.is_none_or(|(function, _)| function != before)) {
                self.access.set_ready(self.access.function(number, before), 0, false, &mut self.backoff);
            }
            side.head = ready.map(|(function, _)| function);
            if let Some((function, since_ns)) = ready {
                let function = self.access.function(number, function);
                self.access.set_parameters(function, parameters(station));
                self.access.set_ready(function, since_ns, true, &mut self.backoff);
            }
        }
    }

    /// Those whose turn it is begin to send.
    fn begin(&mut self, start_ns: u64, stations: &mut Stations<'_>) {
        let mut winners = std::mem::take(&mut self.winners);
        self.access.winners(&mut winners);
        self.access.take(start_ns);
        let begun = winners.iter().filter_map(|&function| self.transmission(start_ns, function, stations));
        let mut transmissions: Vec<Transmission> = begun.collect();
        self.winners = winners;
        let collided = transmissions.len() > 1;
        self.counters.collisions += u64::from(collided);
        for transmission in &mut transmissions {
            let protected = matches!(transmission.ppdu.protection, Protection::Rts(_));
            transmission.collided = collided;
            let side = transmission.side;
            let rts = transmission.timeline.first().mode;
            transmission.data_sent =
                !protected || !collided && stations.reached(side) && !self.loses(side, &rts, RTS_LEN);
        }
        match transmissions.iter().map(Transmission::sent_until_ns).max() {
            Some(end_ns) => self.busy = Some(Busy { end_ns, answering: false, transmissions }),
            // Nothing to send after all.
            None => self.access.silent(start_ns + self.access.spaces().slot_ns),
        }
    }

    fn transmission(&mut self, start_ns: u64, function: u32, stations: &mut Stations<'_>) -> Option<Transmission> {
        let (side, _) = self.access.owner(function);
        let station = stations.get_mut(side)?;
        let mut ppdu = station.begin(start_ns).filter(|ppdu| !ppdu.mpdus.is_empty())?;
        let rates = self.rates_of(side, station.basic_rates());
        let Some(timeline) = exchange::timeline(rates, &ppdu) else {
            // Nobody could receive it: it is as if it had been lost.
            let acknowledged = vec![false; ppdu.mpdus.len()];
            station.ended(start_ns, ppdu, &Outcome { acknowledged, sent: true });
            return None;
        };
        set_durations(&mut ppdu, &timeline);
        let span_ns = (start_ns + timeline.data.start_ns, start_ns + timeline.data.end_ns);
        let preamble_ns = timeline.data.mode.preamble_ns().map_or(0, u64::from);
        let psdu_len = exchange::psdu_len(&ppdu, ppdu.mpdus.len());
        let end_of = |count| mpdu_end_ns(span_ns, preamble_ns, exchange::psdu_len(&ppdu, count), psdu_len);
        let mpdu_ends_ns = (1..=ppdu.mpdus.len()).map(end_of).collect();
        Some(Transmission {
            side,
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
        })
    }

    fn rates_of(&mut self, side: usize, basic: Option<RateSet>) -> &mut Rates {
        let side = &mut self.sides[side];
        if side.rates.basic() != basic {
            side.rates = Rates::new(BAND, basic);
            side.losses = Losses::new(&self.settings);
        }
        &mut side.rates
    }

    fn loses(&mut self, side: usize, mode: &wire::phy::Mode, len: usize) -> bool {
        let Side { rates, losses, .. } = &mut self.sides[side];
        losses.loses(&mut self.loss_draws, rates, mode, len)
    }

    /// Lets the next MPDU arrive, if it has ended by now.
    fn deliver(&mut self, now_ns: u64, stations: &mut Stations<'_>) -> bool {
        let Some(mut busy) = self.busy.take() else { return false };
        let delivered = match busy.transmissions.first_mut() {
            Some(transmission) if !busy.answering => self.deliver_next(now_ns, transmission, stations),
            _ => false,
        };
        self.busy = Some(busy);
        delivered
    }

    fn deliver_next(&mut self, now_ns: u64, transmission: &mut Transmission, stations: &mut Stations<'_>) -> bool {
        let Some(at_ns) = transmission.next_mpdu_ns().filter(|&at_ns| at_ns <= now_ns) else { return false };
        let (side, next) = (transmission.side, transmission.lost.len());
        let Some(mpdu) = transmission.ppdu.mpdus.get(next) else { return false };
        let mode = transmission.ppdu.mode;
        let lost = self.loses(side, &mode, mpdu.len() + FCS_LEN);
        self.counters.side(side).lost += u64::from(lost);
        self.counters.lost += u64::from(lost);
        let tuned = stations.get(side).and_then(Station::tuned).filter(|_| !lost && stations.reached(side));
        let accepted = tuned.is_some_and(|tuned| {
            let ampdu = transmission.ppdu.aggregated.then_some(next == 0);
            let reception = Reception { mode, ampdu, tuned, signal_dbm: self.settings.signal_dbm };
            match side {
                CHIP => stations.ap.receive(at_ns, mpdu, &reception),
                AP => stations.chip.receive(at_ns, mpdu, &reception),
                // The neighbour's access point.
                _ => true,
            }
        });
        transmission.lost.push(lost);
        transmission.accepted.push(accepted);
        true
    }

    /// What was sent has ended, or the answer to it.
    fn stage_ended(&mut self, mut busy: Busy, stations: &mut Stations<'_>) {
        let end_ns = busy.end_ns;
        if busy.transmissions.len() > 1 {
            return self.collision_ended(busy, stations);
        }
        let Some(mut transmission) = busy.transmissions.pop() else { return };
        let (side, function) = (transmission.side, transmission.function);
        let response = transmission.ppdu.response;
        let answered = transmission.accepted.iter().any(|&it| it) && response != Response::None;
        if busy.answering || transmission.data_sent && response == Response::None {
            let silence_ns = transmission.timeline.last().silence_ns;
            let acknowledged = match response {
                Response::None => vec![true; transmission.ppdu.mpdus.len()],
                _ => transmission.accepted.clone(),
            };
            self.conclude(transmission, end_ns, acknowledged, stations);
            return self.access.succeeded(function, end_ns + silence_ns, &mut self.backoff);
        }
        let answer = transmission.timeline.response.filter(|_| answered);
        if let Some(slice) = answer {
            let len = if response == Response::BlockAck { BLOCK_ACK_64_LEN } else { ACK_LEN };
            let lost = self.loses(side, &slice.mode, len);
            transmission.answer_lost = lost;
            if !lost {
                let end_ns = transmission.start_ns + slice.end_ns;
                self.busy = Some(Busy { end_ns, answering: true, transmissions: vec![transmission] });
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
            unread_by: Some(answering(side)).filter(|&other| nothing_read && other != side),
        };
        let acknowledged = vec![false; transmission.ppdu.mpdus.len()];
        self.conclude(transmission, end_ns, acknowledged, stations);
        self.access.unanswered(&unanswered, &mut self.backoff);
    }

    fn collision_ended(&mut self, busy: Busy, stations: &mut Stations<'_>) {
        let mut colliders = Vec::with_capacity(busy.transmissions.len());
        let mut idle_ns = busy.end_ns;
        let begun_ns = busy.transmissions.first().map_or(idle_ns, |transmission| transmission.start_ns);
        for transmission in busy.transmissions {
            let end_ns = transmission.sent_until_ns();
            idle_ns = idle_ns.max(end_ns + transmission.silence_ns());
            // Who expects no answer does not know that nobody could read it.
            let awaits_answer = transmission.ppdu.response != Response::None;
            let function = transmission.function;
            colliders.push(Collider { function, end_ns, dcf: false, awaits_answer });
            let acknowledged = vec![!awaits_answer; transmission.ppdu.mpdus.len()];
            self.conclude(transmission, busy.end_ns, acknowledged, stations);
        }
        self.counters.busy_ns += idle_ns.saturating_sub(begun_ns);
        self.access.collided(colliders.into_iter(), idle_ns, &mut self.backoff);
    }

    /// The sender learns what became of its PPDU; everything is counted and written down.
    fn conclude(
        &mut self,
        transmission: Transmission,
        end_ns: u64,
        acknowledged: Vec<bool>,
        stations: &mut Stations<'_>,
    ) {
        let Transmission { side, start_ns, ref timeline, collided, data_sent, .. } = transmission;
        let answer_heard = transmission.timeline.response.filter(|_| transmission.accepted.iter().any(|&it| it));
        let sent_ns = answer_heard.map_or(transmission.sent_until_ns() - start_ns, |slice| slice.end_ns);
        let airtime_ns = sent_ns + answer_heard.map_or(transmission.silence_ns(), |slice| slice.silence_ns);
        if answer_heard.is_some() {
            self.counters.side(answering(side)).answered(transmission.ppdu.response, transmission.answer_lost);
        }
        self.counters.side(answering(side)).cts += u64::from(timeline.cts.is_some() && data_sent);
        let counters = self.counters.side(side);
        counters.airtime_ns += airtime_ns;
        if !collided {
            self.counters.busy_ns += airtime_ns;
        }
        let counters = self.counters.side(side);
        counters.sent(&transmission.ppdu, data_sent, collided, &acknowledged);
        let tuned = stations.get(side).and_then(Station::tuned);
        if let (Some(monitor), Some(first)) = (&mut self.monitor, Tuned::channel(1)) {
            let tuned = tuned.unwrap_or(first);
            let accepted = transmission.accepted.as_slice();
            let heard = Heard { start_ns, timeline, tuned, collided, data_sent, accepted };
            monitor.hear(&self.settings, &transmission.ppdu, &heard);
        }
        if let Some(station) = stations.get_mut(side) {
            station.ended(end_ns, transmission.ppdu, &Outcome { acknowledged, sent: data_sent });
        }
        // While the medium still counts as busy: what waits behind this draws its backoff now.
        self.look_at_queues(stations);
    }
}
