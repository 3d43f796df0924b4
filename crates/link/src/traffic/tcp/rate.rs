//! The rate at which segments are delivered (draft-cheng-iccrg-delivery-rate-estimation).

use super::scoreboard::{Delivered, SendState};

/// A measurement of the delivery rate.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RateSample {
    /// Segments per second; `None`: the time was too short.
    pub per_second: Option<f64>,
    /// Segments that had been delivered when the one that this sample is of was sent.
    pub prior_delivered: u64,
    /// All segments delivered so far.
    pub delivered: u64,
    /// The application limited the flow meanwhile.
    pub app_limited: bool,
}

/// The estimator.
#[derive(Clone, Debug, Default)]
pub(crate) struct DeliveryRate {
    delivered: u64,
    delivered_ns: u64,
    first_sent_ns: u64,
    /// The flow was limited by its application until this many have been delivered.
    app_limited_until: Option<u64>,
}

impl DeliveryRate {
    /// What to remember with a segment that is sent now.
    pub(crate) fn on_send(&mut self, now_ns: u64, in_flight: u32) -> SendState {
        if in_flight == 0 {
            self.first_sent_ns = now_ns;
            self.delivered_ns = now_ns;
        }
        SendState {
            delivered: self.delivered,
            delivered_ns: self.delivered_ns,
            first_sent_ns: self.first_sent_ns,
            app_limited: self.app_limited_until.is_some(),
        }
    }

    /// There was nothing to send although there was room.
    pub(crate) fn set_app_limited(&mut self, in_flight: u32) {
        self.app_limited_until = Some(self.delivered + u64::from(in_flight.max(1)));
    }

    /// Segments were delivered; `latest` is the one of them that was sent last.
    pub(crate) fn on_ack(
        &mut self,
        now_ns: u64,
        delivered: u32,
        latest: Option<&Delivered>,
        min_rtt_ns: Option<u64>,
    ) -> Option<RateSample> {
        self.delivered += u64::from(delivered);
        if delivered > 0 {
            self.delivered_ns = now_ns;
        }
        if self.app_limited_until.is_some_and(|until| self.delivered > until) {
            self.app_limited_until = None;
        }
        let latest = latest?;
        self.first_sent_ns = latest.sent_ns;
        let send_ns = latest.sent_ns.saturating_sub(latest.state.first_sent_ns);
        let ack_ns = now_ns.saturating_sub(latest.state.delivered_ns);
        let interval_ns = send_ns.max(ack_ns);
        let count = self.delivered - latest.state.delivered;
        // Shorter than any round trip: the ACKs were compressed.
        let usable = interval_ns > 0 && min_rtt_ns.is_none_or(|min| interval_ns >= min);
        Some(RateSample {
            per_second: usable.then(|| count as f64 * 1e9 / interval_ns as f64),
            prior_delivered: latest.state.delivered,
            delivered: self.delivered,
            app_limited: latest.state.app_limited,
        })
    }
}
