//! Rate control in the manner of minstrel_ht (Linux 6.12, `net/mac80211/rc80211_minstrel_ht.c`; constants from there and
//! from its header): what got through at each rate is averaged, the rates are ranked by their expected throughput, and a
//! few MPDUs try out others.

use crate::wlan::phy::RateId;
use crate::wlan::rate::chain::Chain;
use random::Rng;

/// Between two updates of the statistics: HZ / 20.
const UPDATE_NS: u64 = 50_000_000;
/// Between two tries of another rate: HZ / 50.
const SAMPLE_NS: u64 = 20_000_000;
/// Length of the packets that rates are ranked with, bytes.
const PACKET_BYTES: f64 = 1_200.0;
/// Weights of the two-pole low-pass filter of probabilities (`MINSTREL_AVG_COEFF2` and `3`, of 4096).
const COEFFICIENTS: [f64; 2] = [0x1499 as f64 / 4_096.0, -(0x92e as f64) / 4_096.0];
/// Share of the old value in the average length of A-MPDUs (`EWMA_LEVEL`, of `EWMA_DIV`).
const LENGTH_KEPT: f64 = 96.0 / 128.0;
/// Time that the attempts at one rate may take, ns (`segment_size`).
const SEGMENT_NS: f64 = 6_000_000.0;
const MAX_TRIES: u8 = 7;

/// What is tried in turn: `MINSTREL_SAMPLE_TYPE_*` in the order of `minstrel_ht_sample_seq`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sample {
    /// The next faster rate.
    Next,
    /// Any faster rate.
    Jump,
    /// Any slower rate.
    Slow,
}

const SEQUENCE: [Sample; 6] = [Sample::Next, Sample::Jump, Sample::Next, Sample::Jump, Sample::Next, Sample::Slow];

/// A rate and how it has fared.
#[derive(Clone, Debug)]
struct Statistics {
    id: RateId,
    /// Time of a packet's bits, ns.
    packet_ns: f64,
    /// Since the last update.
    attempts: u32,
    successes: u32,
    /// The average and the one before; `None`: never tried.
    average: Option<[f64; 2]>,
}

impl Statistics {
    fn update(&mut self) {
        if self.attempts > 0 {
            let share = f64::from(self.successes) / f64::from(self.attempts);
            let [c2, c3] = COEFFICIENTS;
            let next = match self.average {
                None => share,
                Some([last, before]) => ((1.0 - c2 - c3) * share + c2 * last + c3 * before).clamp(0.0, 1.0),
            };
            self.average = Some([next, self.average.map_or(share, |[last, _]| last)]);
        }
        self.attempts = 0;
        self.successes = 0;
    }

    fn probability(&self) -> f64 {
        self.average.map_or(0.0, |[last, _]| last)
    }

    /// Expected packets per ns.
    fn throughput(&self, overhead_ns: f64, ampdu_len: f64) -> f64 {
        let probability = self.probability();
        if probability < 0.1 {
            return 0.0;
        }
        probability.min(0.9) / (overhead_ns / ampdu_len + self.packet_ns)
    }
}

/// The rate control of one direction.
#[derive(Clone, Debug)]
pub(crate) struct Minstrel {
    /// Slowest first.
    rates: Vec<Statistics>,
    /// Time of a PPDU without its data: contention, preamble, answer.
    overhead_ns: f64,
    ampdu_len: f64,
    aggregates: bool,
    mpdus: u32,
    ppdus: u32,
    update_ns: u64,
    sample_ns: u64,
    turn: usize,
    /// The best two by throughput, and the one most likely to get through.
    best: [usize; 2],
    safest: usize,
}

impl Minstrel {
    /// `rates` with what they carry, kbit/s.
    pub(crate) fn new(rates: impl Iterator<Item = (RateId, u32)>, overhead_ns: u64, aggregates: bool) -> Self {
        let mut rates: Vec<Statistics> = rates
            .map(|(id, kbit_s)| Statistics {
                id,
                packet_ns: PACKET_BYTES * 8e6 / f64::from(kbit_s.max(1)),
                attempts: 0,
                successes: 0,
                average: None,
            })
            .collect();
        rates.sort_by(|a, b| b.packet_ns.total_cmp(&a.packet_ns));
        Self {
            rates,
            overhead_ns: overhead_ns as f64,
            ampdu_len: if aggregates { 16.0 } else { 1.0 },
            aggregates,
            mpdus: 0,
            ppdus: 0,
            update_ns: UPDATE_NS,
            sample_ns: SAMPLE_NS,
            turn: 0,
            best: [0, 0],
            safest: 0,
        }
    }

    fn update(&mut self) {
        if self.aggregates && self.ppdus > 0 {
            let length = f64::from(self.mpdus) / f64::from(self.ppdus);
            self.ampdu_len = (LENGTH_KEPT * self.ampdu_len + (1.0 - LENGTH_KEPT) * length).max(1.0);
        }
        self.mpdus = 0;
        self.ppdus = 0;
        self.rates.iter_mut().for_each(Statistics::update);
        let (overhead_ns, ampdu_len) = (self.overhead_ns, self.ampdu_len);
        let expected = |index: &usize| self.rates[*index].throughput(overhead_ns, ampdu_len);
        let mut ranked: Vec<usize> = (0..self.rates.len()).collect();
        // The slower first among equals.
        ranked.sort_by(|a, b| expected(b).total_cmp(&expected(a)).then(a.cmp(b)));
        self.best = [ranked[0], ranked.get(1).copied().unwrap_or(ranked[0])];
        // Above 75 % the fastest counts, below that the likeliest.
        let likely = ranked.iter().find(|&&index| self.rates[index].probability() > 0.75);
        let safest =
            ranked.iter().max_by(|&&a, &&b| self.rates[a].probability().total_cmp(&self.rates[b].probability()));
        self.safest = likely.or(safest).copied().unwrap_or(0);
    }

    /// How often a PPDU is tried at a rate.
    fn tries(&self, index: usize) -> u8 {
        let rate = &self.rates[index];
        if rate.average.is_some() && rate.probability() < 0.1 {
            return 1;
        }
        let attempt_ns = self.overhead_ns + rate.packet_ns * self.ampdu_len;
        ((SEGMENT_NS / attempt_ns) as u8).clamp(2, MAX_TRIES)
    }

    /// A rate to be tried out now, if any.
    fn sample(&mut self, now_ns: u64, rng: &mut Rng) -> Option<usize> {
        if now_ns < self.sample_ns {
            return None;
        }
        self.sample_ns = now_ns + SAMPLE_NS;
        let kind = SEQUENCE[self.turn % SEQUENCE.len()];
        self.turn += 1;
        let (best, last) = (self.best[0], self.rates.len() - 1);
        match kind {
            Sample::Next => (best < last).then_some(best + 1),
            Sample::Jump if best < last => Some(best + 1 + rng.up_to((last - best - 1) as u32) as usize),
            // A slower one is of interest only while the best does not do well.
            Sample::Slow if best > 0 && self.rates[best].probability() < 0.95 => {
                Some(rng.up_to(best as u32 - 1) as usize)
            }
            Sample::Jump | Sample::Slow => None,
        }
    }

    /// The rates for a PPDU that is made now. `may_probe`: it may try out a rate.
    pub(crate) fn chain(&mut self, now_ns: u64, may_probe: bool, rng: &mut Rng) -> Chain {
        if now_ns >= self.update_ns {
            self.update_ns = now_ns + UPDATE_NS;
            self.update();
        }
        let stage = |index: usize| (self.rates[index].id, self.tries(index));
        let [best, second] = self.best;
        let safest = stage(self.safest);
        let usual = [stage(best), stage(second), safest];
        let sample = if may_probe { self.sample(now_ns, rng) } else { None };
        match sample {
            Some(index) => {
                let sample = (self.rates[index].id, 1);
                Chain::of(&[sample, usual[0], safest], true)
            }
            None => Chain::of(&usual, false),
        }
    }

    /// The outcome of an attempt.
    pub(crate) fn report(&mut self, rate: RateId, mpdus: u32, acknowledged: u32) {
        self.attempted(rate, mpdus, acknowledged);
        self.mpdus += mpdus;
        self.ppdus += 1;
    }

    /// MPDUs count as lost at a rate, in a PPDU of another.
    pub(crate) fn lost(&mut self, rate: RateId, mpdus: u32) {
        self.attempted(rate, mpdus, 0);
    }

    fn attempted(&mut self, rate: RateId, mpdus: u32, acknowledged: u32) {
        if let Some(rate) = self.rates.iter_mut().find(|statistics| statistics.id == rate) {
            rate.attempts += mpdus;
            rate.successes += acknowledged;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// MCS 0 to 7 of HT20 with the long guard interval.
    const KBIT_S: [u32; 8] = [6_500, 13_000, 19_500, 26_000, 39_000, 52_000, 58_500, 65_000];

    /// Plays 10 s in which each MPDU at rate n gets through with the given probability; gives how often each rate came first.
    fn play(success: [f64; 8]) -> [u32; 8] {
        let rates = KBIT_S.iter().enumerate().map(|(id, &kbit_s)| (id as RateId, kbit_s));
        let mut minstrel = Minstrel::new(rates, 200_000, true);
        let mut rng = Rng::new(1, random::Stream::WlanRate, 0);
        let mut first = [0; 8];
        for ppdu in 0..4_000u64 {
            let chain = minstrel.chain(ppdu * 2_500_000, true, &mut rng);
            let mpdus = if chain.probe { 1 } else { 16 };
            for attempt in 0..chain.attempts() {
                let rate = usize::from(chain.rate(attempt));
                let through = (0..mpdus).filter(|_| rng.chance(success[rate])).count() as u32;
                first[rate] += u32::from(attempt == 0 && ppdu >= 2_000 && !chain.probe);
                minstrel.report(rate as RateId, mpdus, through);
                if through > 0 {
                    break;
                }
            }
        }
        first
    }

    #[test]
    fn it_finds_the_best_rate() {
        let clear = play([1.0; 8]);
        assert!(clear[7] > 1_800, "{clear:?}");
        let cliff = play([1.0, 1.0, 1.0, 1.0, 1.0, 0.1, 0.0, 0.0]);
        assert!(cliff[4] > 1_700, "{cliff:?}");
        // 52 Mbit/s with half of it lost carries less than 39 without loss, with a tenth lost more.
        let slope = play([1.0, 1.0, 1.0, 1.0, 1.0, 0.5, 0.2, 0.0]);
        assert!(slope[4] > 1_300, "{slope:?}");
        let gentle = play([1.0, 1.0, 1.0, 1.0, 1.0, 0.9, 0.2, 0.0]);
        assert!(gentle[5] > 1_500, "{gentle:?}");
    }

    #[test]
    fn the_filter_settles_where_it_should() {
        let mut rate = Statistics { id: 0, packet_ns: 1.0, attempts: 0, successes: 0, average: None };
        for (attempts, successes) in [(10, 10)].into_iter().chain([(10, 5); 60]) {
            (rate.attempts, rate.successes) = (attempts, successes);
            rate.update();
        }
        assert!((rate.probability() - 0.5).abs() < 1e-3, "{}", rate.probability());
    }
}
