//! Proportional rate reduction: how the window comes down while losses are being repaired (RFC 6937, with the reduction
//! bound that RFC 9937 recommends and Linux uses).

/// State of one reduction.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Prr {
    /// Window at its beginning, segments.
    prior_cwnd: f64,
    delivered: f64,
    sent: f64,
}

impl Prr {
    pub(crate) fn begin(cwnd: f64) -> Self {
        Self { prior_cwnd: cwnd.max(1.0), delivered: 0.0, sent: 0.0 }
    }

    pub(crate) fn on_sent(&mut self) {
        self.sent += 1.0;
    }

    /// Gives the window. `progress`: this ACK is cumulative and reports no new loss. `retransmit`: a loss is to be repaired.
    pub(crate) fn on_ack(
        &mut self,
        delivered: u32,
        in_flight: u32,
        ssthresh: f64,
        progress: bool,
        retransmit: bool,
    ) -> f64 {
        let (delivered, in_flight) = (f64::from(delivered), f64::from(in_flight));
        self.delivered += delivered;
        let room = ssthresh - in_flight;
        let send = if room < 0.0 {
            (ssthresh * self.delivered / self.prior_cwnd).ceil() - self.sent
        } else {
            let bound = (self.delivered - self.sent).max(delivered) + f64::from(u8::from(progress));
            bound.min(room)
        };
        let least = if retransmit && self.sent == 0.0 { 1.0 } else { 0.0 };
        in_flight + send.floor().max(least)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RFC 6937, 3: over a recovery as many segments are sent as the threshold says, spread evenly.
    #[test]
    fn reduces_in_proportion() {
        let mut prr = Prr::begin(20.0);
        // The first of 20 is lost; 19 ACKs with SACK follow. The threshold is 10.
        let (mut in_flight, mut sent) = (19u32, 0);
        for i in 0..19 {
            in_flight -= 1;
            let cwnd = prr.on_ack(1, in_flight, 10.0, false, i == 0);
            while f64::from(in_flight) < cwnd.floor() {
                in_flight += 1;
                sent += 1;
                prr.on_sent();
            }
        }
        assert_eq!((in_flight, sent), (10, 10));
    }
}
