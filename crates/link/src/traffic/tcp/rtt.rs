//! Round-trip time and retransmission timeout (RFC 6298).

/// Before there is a measurement (RFC 6298, 2.1).
const INITIAL_RTO_NS: u64 = 1_000_000_000;
/// What the variance term amounts to at least: Linux' `TCP_RTO_MIN`, which bounds that term and not the sum
/// (`net/ipv4/tcp_input.c`).
const MIN_VARIANCE_NS: u64 = 200_000_000;
/// Linux' `TCP_RTO_MAX`.
const MAX_RTO_NS: u64 = 120_000_000_000;
/// Linux' `tcp_min_rtt_wlen`: 300 s.
const MIN_RTT_WINDOW_NS: u64 = 300_000_000_000;

/// The estimator.
#[derive(Clone, Debug, Default)]
pub(crate) struct RttEstimator {
    smoothed: Option<f64>,
    variance: f64,
    min: Option<(u64, u64)>,
    backoff: u32,
}

impl RttEstimator {
    /// A segment that was sent once took `rtt_ns`.
    pub(crate) fn sample(&mut self, rtt_ns: u64) {
        let r = rtt_ns as f64;
        match self.smoothed {
            None => {
                self.smoothed = Some(r);
                self.variance = r / 2.0;
            }
            Some(s) => {
                self.variance += ((s - r).abs() - self.variance) / 4.0;
                self.smoothed = Some(s + (r - s) / 8.0);
            }
        }
    }

    /// The same, without the time that the receiver may have kept its ACK.
    pub(crate) fn sample_min(&mut self, now_ns: u64, rtt_ns: u64) {
        if self.min.is_none_or(|(at, min)| rtt_ns <= min || now_ns - at > MIN_RTT_WINDOW_NS) {
            self.min = Some((now_ns, rtt_ns));
        }
    }

    pub(crate) fn smoothed_ns(&self) -> Option<u64> {
        self.smoothed.map(|s| s as u64)
    }

    pub(crate) fn min_ns(&self) -> Option<u64> {
        self.min.map(|m| m.1)
    }

    /// With back-off.
    pub(crate) fn rto_ns(&self) -> u64 {
        let base = match self.smoothed {
            None => INITIAL_RTO_NS,
            Some(s) => s as u64 + ((4.0 * self.variance) as u64).max(MIN_VARIANCE_NS),
        };
        base.saturating_mul(1 << self.backoff.min(16)).min(MAX_RTO_NS)
    }

    /// The timer expired (RFC 6298, 5.5).
    pub(crate) fn back_off(&mut self) {
        self.backoff += 1;
    }

    /// New data was acknowledged.
    pub(crate) fn reset_backoff(&mut self) {
        self.backoff = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rfc_6298_arithmetic() {
        let mut rtt = RttEstimator::default();
        assert_eq!(rtt.rto_ns(), 1_000_000_000);
        rtt.sample(400_000_000);
        // SRTT = R, RTTVAR = R/2: RTO = R + 4 R/2.
        assert_eq!(rtt.rto_ns(), 1_200_000_000);
        rtt.sample(200_000_000);
        // RTTVAR = 3/4 * 200 + 1/4 * 200 = 200, SRTT = 7/8 * 400 + 1/8 * 200 = 375.
        assert_eq!(rtt.smoothed_ns(), Some(375_000_000));
        assert_eq!(rtt.rto_ns(), 1_175_000_000);
        rtt.back_off();
        assert_eq!(rtt.rto_ns(), 2_350_000_000);
        for _ in 0..80 {
            rtt.back_off();
        }
        assert_eq!(rtt.rto_ns(), 120_000_000_000);
        rtt.reset_backoff();
        for _ in 0..100 {
            rtt.sample(10_000_000);
        }
        assert!((210_000_000..211_000_000).contains(&rtt.rto_ns()), "{}", rtt.rto_ns());
    }
}
