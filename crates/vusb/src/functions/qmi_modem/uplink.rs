//! From the host to the wired end: the engine that takes transfers, then the radio.

use std::collections::VecDeque;

use super::settings::ModemSettings;

/// Datagrams under way at most: far more than the radio's buffer lets in.
const UNDER_WAY: usize = 16_384;

#[derive(Debug, serde::Serialize, serde::Deserialize)]
struct UnderWay {
    arrives_ns: u64,
    packet: Vec<u8>,
}

#[derive(Debug)]
pub(super) struct Uplink {
    settings: ModemSettings,
    /// When the engine is done with the transfer that it works on; `None`: it is idle.
    done_ns: Option<u64>,
    /// When the radio has sent all that waits.
    radio_free_ns: u64,
    under_way: VecDeque<UnderWay>,
}

impl Uplink {
    pub(super) fn new(settings: &ModemSettings) -> Self {
        Self { settings: settings.clone(), done_ns: None, radio_free_ns: 0, under_way: VecDeque::new() }
    }

    /// When there is room for a transfer in the radio's buffer.
    const fn room_ns(&self) -> u64 {
        self.radio_free_ns.saturating_sub(self.settings.uplink_buffer_us * 1_000)
    }

    /// The host offers a transfer at `now_ns`: whether the engine is done with it. It begins when it is idle, and keeps the
    /// transfer while the radio's buffer is full.
    pub(super) fn engine(&mut self, now_ns: u64) -> bool {
        let done_ns = *self.done_ns.get_or_insert(now_ns + self.settings.transfer_cost_us * 1_000);
        let done = now_ns >= done_ns && now_ns >= self.room_ns();
        if done {
            self.done_ns = None;
        }
        done
    }

    /// A datagram for the radio; `false`: no room.
    pub(super) fn push(&mut self, now_ns: u64, packet: &[u8]) -> bool {
        if self.under_way.len() >= UNDER_WAY {
            return false;
        }
        self.radio_free_ns = self.radio_free_ns.max(now_ns) + self.settings.uplink_ns(packet.len());
        let arrives_ns = self.radio_free_ns + self.settings.delay_us * 1_000;
        self.under_way.push_back(UnderWay { arrives_ns, packet: packet.to_vec() });
        true
    }

    /// The next datagram that has arrived by `now_ns`.
    pub(super) fn arrived(&mut self, now_ns: u64) -> Option<Vec<u8>> {
        self.under_way.front().filter(|first| first.arrives_ns <= now_ns)?;
        self.under_way.pop_front().map(|first| first.packet)
    }

    /// What happens next after `now_ns`.
    pub(super) fn next_event(&self, now_ns: u64) -> Option<u64> {
        let engine = self.done_ns.map(|done_ns| done_ns.max(self.room_ns()));
        let arrival = self.under_way.front().map(|first| first.arrives_ns);
        engine.into_iter().chain(arrival).filter(|&at_ns| at_ns > now_ns).min()
    }
}

crate::state!(Uplink { done_ns, radio_free_ns, under_way } made { settings });
