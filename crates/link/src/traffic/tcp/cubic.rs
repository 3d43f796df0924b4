//! CUBIC: RFC 9438.

use super::congestion::{Ack, CongestionControl, Window};
use super::hystart::HyStart;

/// C, segments per cubic second (RFC 9438, 4.1).
const C: f64 = 0.4;
/// Multiplicative decrease (RFC 9438, 4.1).
const BETA: f64 = 0.7;
/// Acknowledged segments for which the window grows by one at least before the first reduction, where that is on (Linux
/// net/ipv4/tcp_cubic.c, bictcp_update: 5 % in a round trip).
const EARLY: f64 = 20.0;

/// CUBIC with HyStart.
#[derive(Clone, Debug)]
pub(crate) struct Cubic {
    hystart: Option<HyStart>,
    early_growth: bool,
    /// W_max, segments.
    max: f64,
    epoch: Option<Epoch>,
    before: Option<(f64, Option<Epoch>)>,
}

/// Since the last reduction.
#[derive(Clone, Copy, Debug)]
struct Epoch {
    began_ns: u64,
    /// K, s.
    k: f64,
    /// The top of the curve, segments.
    origin: f64,
    /// W_est, segments.
    reno: f64,
    /// cwnd_prior, segments.
    prior: f64,
}

impl Cubic {
    pub(crate) fn new(hystart: bool, early_growth: bool) -> Self {
        Self { hystart: hystart.then(HyStart::default), early_growth, max: 0.0, epoch: None, before: None }
    }
}

impl CongestionControl for Cubic {
    fn on_ack(&mut self, ack: &Ack, window: &mut Window) {
        if let (Some(hystart), true) = (&mut self.hystart, window.slow_start()) {
            if hystart.on_ack(ack, window.cwnd) {
                window.ssthresh = window.cwnd;
            }
        }
        if !ack.cwnd_limited {
            return;
        }
        let mut acked = f64::from(ack.acked);
        if window.slow_start() {
            acked = window.grow_slow_start(acked);
        }
        if acked <= 0.0 {
            return;
        }
        let cwnd = window.cwnd;
        let max = self.max;
        let epoch = self.epoch.get_or_insert_with(|| {
            // Without a reduction before (slow start ended by itself) the curve begins at its top.
            let origin = max.max(cwnd);
            Epoch { began_ns: ack.now_ns, k: ((origin - cwnd) / C).cbrt(), origin, reno: cwnd, prior: origin }
        });
        // 4.3: as fast as Reno would.
        let alpha = if epoch.reno < epoch.prior { 3.0 * (1.0 - BETA) / (1.0 + BETA) } else { 1.0 };
        epoch.reno += alpha * acked / cwnd;
        // 4.2: the window a round trip from now.
        let rtt_ns = ack.smoothed_ns.unwrap_or(0);
        let t = (ack.now_ns - epoch.began_ns + rtt_ns) as f64 / 1e9;
        let target = (C * (t - epoch.k).powi(3) + epoch.origin).clamp(cwnd, 1.5 * cwnd);
        // 4.4 and 4.5.
        window.cwnd = (cwnd + (target - cwnd) * acked / cwnd).max(epoch.reno.min(cwnd + acked));
        if self.early_growth && max == 0.0 {
            window.cwnd = window.cwnd.max(cwnd + acked / EARLY);
        }
    }

    fn on_congestion(&mut self, _now_ns: u64, window: &Window) -> f64 {
        self.before = Some((self.max, self.epoch));
        // 4.7: fast convergence.
        self.max = if window.cwnd < self.max { window.cwnd * (1.0 + BETA) / 2.0 } else { window.cwnd };
        self.epoch = None;
        (window.cwnd * BETA).max(2.0)
    }

    /// RFC 9438, 4.8: a new epoch, and slow start from the beginning.
    fn on_timeout(&mut self) {
        self.epoch = None;
        if let Some(hystart) = &mut self.hystart {
            *hystart = HyStart::default();
        }
    }

    /// RFC 9438, 4.9.
    fn undo(&mut self) {
        if let Some((max, epoch)) = self.before.take() {
            (self.max, self.epoch) = (max, epoch);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ack(now_ns: u64, acked: u32) -> Ack {
        Ack {
            now_ns,
            acked,
            delivered: acked,
            lost: 0,
            in_flight_before: 0,
            in_flight: 0,
            rtt_ns: Some(100_000_000),
            smoothed_ns: Some(100_000_000),
            min_rtt_ns: Some(100_000_000),
            una: 0,
            next: 0,
            cwnd_limited: true,
            recovering: false,
            rate: None,
            pacing_rate: None,
        }
    }

    /// RFC 9438, 4.2: after a reduction from 1000 segments the window is C(t-K)^3 + W_max, a round trip ahead.
    #[test]
    fn follows_the_curve() {
        let mut cubic = Cubic::new(false, false);
        let mut window = Window { cwnd: 1000.0, ssthresh: 1000.0 };
        window.ssthresh = cubic.on_congestion(0, &window);
        window.cwnd = window.ssthresh;
        assert_eq!(window.cwnd, 700.0);
        let k = f64::cbrt(300.0 / C);
        let mut now_ns = 0u64;
        while now_ns < 15_000_000_000 {
            cubic.on_ack(&ack(now_ns, 1), &mut window);
            now_ns += (100_000_000.0 / window.cwnd) as u64;
            let curve = C * (now_ns as f64 / 1e9 - k).powi(3) + 1000.0;
            assert!((window.cwnd / curve - 1.0).abs() < 0.015, "{} ns: {} {curve}", now_ns, window.cwnd);
        }
        // Beyond the top: it probes for more.
        assert!(window.cwnd > 1050.0, "{}", window.cwnd);
        // 4.7: a loss below the last top gives room to others.
        cubic.on_congestion(now_ns, &Window { cwnd: 800.0, ..window });
        assert!((cubic.max - 800.0 * 0.85).abs() < 1e-9, "{}", cubic.max);
    }

    /// RFC 9438, 4.3: on a short path the window grows as Reno's would with the same reduction: 9/17 of a segment in a
    /// round trip.
    #[test]
    fn is_no_slower_than_reno() {
        let mut cubic = Cubic::new(false, false);
        let mut window = Window { cwnd: 20.0, ssthresh: 20.0 };
        window.ssthresh = cubic.on_congestion(0, &window);
        window.cwnd = window.ssthresh;
        let mut now_ns = 0;
        for _ in 0..10 {
            for _ in 0..window.cwnd as u32 {
                now_ns += (1_000_000.0 / window.cwnd) as u64;
                cubic.on_ack(&Ack { smoothed_ns: Some(1_000_000), ..ack(now_ns, 1) }, &mut window);
            }
        }
        let grown = window.cwnd - 14.0;
        assert!((4.5..5.5).contains(&grown), "{grown}");
    }

    /// Linux: 5 % in a round trip, as long as nothing was lost.
    #[test]
    fn grows_early_until_the_first_loss() {
        let round_trip = |cubic: &mut Cubic, cwnd: f64| {
            let mut window = Window { cwnd, ssthresh: cwnd };
            for now_ns in 0..1_000 {
                cubic.on_ack(&ack(now_ns, 1), &mut window);
            }
            window.cwnd - cwnd
        };
        assert!(round_trip(&mut Cubic::new(false, false), 1_000.0) < 5.0);
        let mut early = Cubic::new(false, true);
        assert!((round_trip(&mut early, 1_000.0) - 50.0).abs() < 1e-6);
        early.on_congestion(0, &Window { cwnd: 1_050.0, ssthresh: 1_050.0 });
        assert!(round_trip(&mut early, 1_050.0) < 5.0);
    }
}
