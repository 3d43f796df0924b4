//! A UDP sender: at a rate, or as many datagrams as its socket takes; all the time, or on and off.

use super::segment::{Body, Modelled};
use super::settings::UdpSettings;

/// How long a sender waits with an empty socket and a refused last datagram: until the next tick of a clock of
/// 1000 Hz.
const RETRY_NS: u64 = 1_000_000;

/// The sender of a stream.
#[derive(Clone, Debug)]
pub(crate) struct UdpSender {
    settings: UdpSettings,
    template: Modelled,
    /// Between two datagrams, ns; `None`: as many as the socket takes.
    interval_ns: Option<f64>,
    began_ns: u64,
    next_ns: Option<u64>,
    /// The next one's time, exactly.
    due_ns: f64,
    stopped: bool,
    below: u32,
    sequence: u64,
}

impl UdpSender {
    pub(crate) fn new(settings: UdpSettings, template: Modelled) -> Self {
        let interval_ns = settings.rate_mbit_s.map(|rate| f64::from(settings.payload_bytes) * 8e3 / rate);
        Self {
            settings,
            template,
            interval_ns,
            began_ns: 0,
            next_ns: None,
            due_ns: 0.0,
            stopped: true,
            below: 0,
            sequence: 0,
        }
    }

    pub(crate) fn start(&mut self, now_ns: u64, out: &mut Vec<Modelled>) {
        self.began_ns = now_ns;
        self.due_ns = now_ns as f64;
        self.stopped = false;
        self.send(now_ns, out);
    }

    pub(crate) fn stop(&mut self) {
        self.stopped = true;
        self.next_ns = None;
    }

    /// When [`Self::send`] wants to be called.
    pub(crate) fn timer_ns(&self) -> Option<u64> {
        self.next_ns
    }

    /// It waits for the clock, not for room: nothing is due, and [`Self::send`] would change nothing.
    pub(crate) fn waits_for_clock(&self, now_ns: u64) -> bool {
        let not_yet = self.interval_ns.is_some() && self.next_ns.is_some_and(|next_ns| next_ns > now_ns);
        not_yet && self.below < self.settings.socket_packets && self.settings.on_s.is_none()
    }

    /// A datagram left the host.
    pub(crate) fn on_freed(&mut self) {
        self.below = self.below.saturating_sub(1);
    }

    /// The host's own queue refused a datagram.
    pub(crate) fn on_local_drop(&mut self, now_ns: u64) {
        self.below = self.below.saturating_sub(1);
        // Nothing will be freed: try again by the clock.
        if self.interval_ns.is_none() && self.below == 0 && !self.stopped {
            self.next_ns = Some(now_ns + RETRY_NS);
        }
    }

    /// Sends what is due and has room.
    pub(crate) fn send(&mut self, now_ns: u64, out: &mut Vec<Modelled>) {
        if self.stopped {
            return;
        }
        self.next_ns = None;
        if let Some(on_again_ns) = self.pause(now_ns) {
            self.due_ns = self.due_ns.max(on_again_ns as f64);
            self.next_ns = Some(on_again_ns);
            return;
        }
        while self.below < self.settings.socket_packets {
            if let Some(interval_ns) = self.interval_ns {
                if self.due_ns > now_ns as f64 {
                    break;
                }
                self.due_ns += interval_ns;
            }
            let body = Body::Udp { sequence: self.sequence, payload: self.settings.payload_bytes };
            self.sequence += 1;
            self.below += 1;
            out.push(Modelled { sent_ns: now_ns, body, ..self.template });
        }
        if let Some(interval_ns) = self.interval_ns {
            if self.below >= self.settings.socket_packets {
                // It is blocked in the system call; what it is late is not made up for.
                self.due_ns = self.due_ns.max(now_ns as f64 + interval_ns);
            }
            self.next_ns = Some((self.due_ns as u64).max(now_ns + 1));
        }
    }

    /// When the pause is over that it is in.
    fn pause(&self, now_ns: u64) -> Option<u64> {
        let on_ns = (self.settings.on_s? * 1e9) as u64;
        let cycle_ns = on_ns + (self.settings.off_s * 1e9) as u64;
        let since_ns = (now_ns - self.began_ns) % cycle_ns.max(1);
        (since_ns >= on_ns).then(|| now_ns - since_ns + cycle_ns)
    }
}
