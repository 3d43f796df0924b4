//! Making PPDUs: who has the turn, and what fits.

use crate::engine::{AccessCategory, Packet};
use crate::queue::estimated_airtime_us;
use crate::wlan::carried::{overhead, Carried};
use crate::wlan::link::WlanLink;
use crate::wlan::originator::psdu_with;
use crate::wlan::phy::{Phy, RateId};
use crate::wlan::radio::Made;
use crate::wlan::rate::Chain;
use crate::wlan::settings::RetryRates;

/// How much fits into a PPDU.
struct Room {
    max_mpdus: usize,
    max_psdu: usize,
    overhead: usize,
    /// The first MPDU goes however long it is.
    first_goes: bool,
    mpdus: usize,
    psdu: usize,
}

impl Room {
    /// The largest packet that can be added; `None`: none at all.
    fn left(&self) -> Option<usize> {
        if self.mpdus >= self.max_mpdus {
            return None;
        }
        if self.mpdus == 0 {
            let alone = self.max_psdu.saturating_sub(self.overhead);
            return Some(if self.first_goes { usize::MAX } else { alone });
        }
        self.max_psdu.checked_sub(psdu_with(self.psdu, self.overhead))
    }

    fn add(&mut self, packet_len: usize) {
        self.mpdus += 1;
        self.psdu = psdu_with(self.psdu, packet_len + self.overhead);
    }
}

impl<P: Packet + 'static> WlanLink<P> {
    /// Makes the next PPDU of a category, if there is something to send. `first_goes`: the first MPDU goes even when it
    /// takes longer than `limit_ns`.
    pub(crate) fn make(
        &mut self,
        now_ns: u64,
        radio: usize,
        category: AccessCategory,
        limit_ns: u64,
        first_goes: bool,
    ) -> bool {
        loop {
            let own = &mut self.radios[radio];
            let lane = &own.lanes[category.priority()];
            let backlog = lane.backlog;
            let any = backlog > 0 || lane.again > 0;
            let Some(peer) = any.then(|| own.queue.next(now_ns, category)).flatten() else {
                own.lanes[category.priority()].starved = first_goes;
                return false;
            };
            let made = self.fill(now_ns, radio, peer, category, (limit_ns, first_goes));
            self.radios[radio].tell_again(now_ns, peer, category);
            let own = &mut self.radios[radio];
            let lane = &mut own.lanes[category.priority()];
            if let Some(made) = made {
                own.hardware_us += u64::from(made.estimated_us);
                let count = &mut self.counts[radio];
                count.hardware_max_us = count.hardware_max_us.max(own.hardware_us);
                lane.made.push_back(made);
                // The device has room again.
                self.start_host(radio, now_ns);
                return true;
            }
            if !own.peers[peer].originator(category, &own.settings).has_room() {
                own.queue.pass(peer, category);
            } else if lane.backlog == backlog {
                lane.starved = first_goes;
                return false;
            }
            // Or CoDel has dropped all that this peer had; another may have something.
        }
    }

    fn fill(
        &mut self,
        now_ns: u64,
        radio: usize,
        to: usize,
        category: AccessCategory,
        (limit_ns, first_goes): (u64, bool),
    ) -> Option<Made> {
        let own = &mut self.radios[radio];
        let peer = &mut own.peers[to];
        let qos = peer.qos;
        if let Some(start) = peer.originator(category, &own.settings).take_request() {
            let chain = Chain::one(self.phy.basic);
            return Some(Made {
                peer: to,
                request: Some(start),
                sequences: Vec::new(),
                psdu_len: 0,
                ampdu: false,
                chain,
                given: self.phy.basic,
                attempts: 0,
                estimated_us: 0,
            });
        }
        let stepwise = own.settings.retry_rates == RetryRates::Stepwise;
        let steps = if stepwise { peer.originator(category, &own.settings).oldest_again() } else { 0 };
        let chain = peer.rates.chain(now_ns, steps == 0, &mut self.draws.rate);
        let given = chain.rate(0);
        let chain = if stepwise { stepped(&self.phy, &chain, steps, peer.session(category)) } else { chain };
        let aggregates = peer.session(category) && !chain.probe;
        let max_bytes = own.settings.ampdu_max_bytes as usize;
        let max_ns = limit_ns.min(u64::from(own.settings.ampdu_max_us) * 1_000);
        // What takes too long at any of the rates is not put in.
        let within = chain.rates().map(|rate| self.phy.rates.psdu_within(rate, max_bytes, max_ns)).min();
        let mut room = Room {
            max_mpdus: if aggregates { usize::from(own.settings.ampdu_max_subframes) } else { 1 },
            max_psdu: within.unwrap_or(0),
            overhead: overhead(qos),
            first_goes,
            mpdus: 0,
            psdu: 0,
        };
        let mut sequences = self.spare.pop().unwrap_or_default();
        let originator = peer.originator(category, &own.settings);
        let fits = |packet: &Carried<P>| {
            let fits = room.left().is_some_and(|left| packet.size_bytes() <= left);
            if fits {
                room.add(packet.size_bytes());
            }
            fits
        };
        originator.take_again(fits, &mut sequences);
        // The queues get what mac80211 would estimate, packet by packet.
        let first = self.phy.rate(chain.rate(0));
        let (reference_us, streams) = (1_024.0 * 8_000.0 / f64::from(first.kbit_s), first.streams);
        let mut estimated_us = 0;
        while originator.has_room() && own.lanes[category.priority()].backlog > 0 {
            let Some(left) = room.left() else { break };
            let packet = own.queue.dequeue(now_ns, to, category, left, &mut self.gone_packets);
            let lane = &mut own.lanes[category.priority()];
            if !self.gone_packets.is_empty() {
                lane.backlog -= self.gone_packets.len();
                self.gone.extend(self.gone_packets.drain(..).map(|(packet, cause)| (radio, packet, cause)));
            }
            let Some(packet) = packet else { break };
            lane.backlog -= 1;
            room.add(packet.size_bytes());
            let packet_us = estimated_airtime_us(packet.size_bytes(), reference_us, streams, aggregates);
            own.queue.put_on_air_queue(to, category, packet_us);
            estimated_us += packet_us;
            sequences.push(originator.take_new(now_ns, packet));
        }
        if sequences.is_empty() {
            self.spare.push(sequences);
            return None;
        }
        let ampdu = sequences.len() > 1;
        let psdu_len = psdu_len(&sequences, |sequence| originator.mpdu(sequence).packet.size_bytes() + overhead(qos));
        Some(Made { peer: to, request: None, sequences, psdu_len, ampdu, chain, given, attempts: 0, estimated_us })
    }

    /// Keeps as many PPDUs in the hardware as it holds.
    #[inline]
    pub(crate) fn fill_hardware(&mut self, now_ns: u64, radio: usize, category: AccessCategory) {
        let own = &self.radios[radio];
        let depth = usize::from(own.settings.hardware_ppdus);
        if own.lanes[category.priority()].made.len() >= depth {
            return;
        }
        let txop_ns = own.txop_ns[category.priority()];
        let limit_ns = if txop_ns == 0 { u64::MAX } else { txop_ns };
        while self.radios[radio].lanes[category.priority()].made.len() < depth {
            if !self.make(now_ns, radio, category, limit_ns, true) {
                break;
            }
        }
    }
}

/// The rates of a PPDU with an oldest MPDU that was sent so often before. Under a session there is one: what is lost goes back to
/// the queue.
fn stepped(phy: &Phy, chain: &Chain, steps: u32, session: bool) -> Chain {
    let down = |rate: RateId| phy.below(rate).unwrap_or(rate);
    let first =
        (0..steps).try_fold(chain.rate(0), |rate, _| phy.below(rate).ok_or(rate)).unwrap_or_else(|lowest| lowest);
    let [second, third] = [down(first), down(down(first))];
    let rates = [(first, 1), (second, 1), (third, 1), (down(third), 1)];
    Chain::of(if session { &rates[..1] } else { &rates }, chain.probe)
}

/// Length of the PSDU of these MPDUs. A single MPDU goes without a delimiter, and is answered by an ACK.
pub(crate) fn psdu_len(sequences: &[u16], len_of: impl Fn(u16) -> usize) -> usize {
    match sequences {
        [only] => len_of(*only),
        many => many.iter().fold(0, |psdu, &sequence| psdu_with(psdu, len_of(sequence))),
    }
}
