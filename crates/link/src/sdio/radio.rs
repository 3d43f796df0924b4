//! The air between the card and the access point: one turn at a time, either way, and a station that may sleep.

use std::collections::VecDeque;

use crate::engine::Packet;
use crate::sdio::settings::{AirSettings, PowerSave};
use random::{Rng, Stream};

/// Which way a frame goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    /// To the access point.
    Up,
    /// To the card.
    Down,
}

/// See the module.
#[derive(Clone, Debug)]
pub(crate) struct Radio<P> {
    settings: AirSettings,
    rng: Rng,
    /// In the access point.
    pub(crate) down: VecDeque<P>,
    /// In the card.
    pub(crate) up: VecDeque<P>,
    on_air: Option<(u64, Way, Vec<P>)>,
    last: Way,
    awake_ns: u64,
    /// The last frame to the station said that there are more for it.
    more_data: bool,
    /// The next beacon that may wake the station.
    beacon: u64,
    pub(crate) busy_ns: u64,
    pub(crate) missed_beacons: u64,
}

impl<P: Packet> Radio<P> {
    pub(crate) fn new(settings: &AirSettings, seed: u64) -> Self {
        Self {
            settings: settings.clone(),
            rng: Rng::new(seed, Stream::SdioBeacon, 0),
            down: VecDeque::new(),
            up: VecDeque::new(),
            on_air: None,
            last: Way::Up,
            awake_ns: 0,
            more_data: false,
            beacon: 1,
            busy_ns: 0,
            missed_beacons: 0,
        }
    }

    /// Packets in it.
    pub(crate) fn packets(&self, way: Way) -> usize {
        let waiting = if way == Way::Up { self.up.len() } else { self.down.len() };
        let on_air = self.on_air.as_ref().filter(|(_, on_air, _)| *on_air == way);
        waiting + on_air.map_or(0, |(_, _, frames)| frames.len())
    }

    /// When something happens in it next. `room`: frames that the card can take.
    pub(crate) fn next_ns(&self, now_ns: u64, room: usize) -> Option<u64> {
        if let Some((end_ns, _, _)) = &self.on_air {
            return Some(*end_ns);
        }
        if !self.up.is_empty() {
            return Some(now_ns);
        }
        (!self.down.is_empty() && room > 0).then(|| self.awake_from_ns(now_ns))
    }

    /// When the station is awake, or may be woken.
    fn awake_from_ns(&self, now_ns: u64) -> u64 {
        match &self.settings.power_save {
            Some(power_save) if now_ns >= self.awake_ns && !self.more_data => {
                self.next_beacon(power_save, now_ns) * beacon_ns(power_save)
            }
            _ => now_ns,
        }
    }

    fn next_beacon(&self, power_save: &PowerSave, now_ns: u64) -> u64 {
        now_ns.div_ceil(beacon_ns(power_save)).max(self.beacon)
    }

    /// Lets happen what is due; what has arrived.
    pub(crate) fn step(&mut self, now_ns: u64, room: usize) -> Option<(Way, Vec<P>)> {
        if let Some((_, way, frames)) = self.on_air.take_if(|(end_ns, _, _)| *end_ns <= now_ns) {
            self.last = way;
            if let (Way::Down, Some(power_save)) = (way, &self.settings.power_save) {
                self.awake_ns = self.awake_ns.max(now_ns + u64::from(power_save.awake_us) * 1_000);
                self.more_data = !self.down.is_empty();
            }
            return Some((way, frames));
        }
        if self.on_air.is_some() {
            return None;
        }
        let can_down = !self.down.is_empty() && room > 0 && self.is_awake(now_ns);
        let can_up = !self.up.is_empty();
        let way = match (can_up, can_down) {
            (false, false) => return None,
            (true, true) if self.last == Way::Up => Way::Down,
            (true, _) => Way::Up,
            (false, true) => Way::Down,
        };
        let most = self.settings.frames_per_turn as usize;
        let (queue, overhead_us, most) = match way {
            Way::Up => (&mut self.up, self.settings.uplink_overhead_us, most),
            Way::Down => (&mut self.down, self.settings.downlink_overhead_us, most.min(room)),
        };
        let frames: Vec<P> = queue.drain(..most.min(queue.len())).collect();
        let bytes: usize = frames.iter().map(Packet::size_bytes).sum();
        let air_ns = (overhead_us * 1_000.0 + bytes as f64 * 8_000.0 / self.settings.mbit_s) as u64;
        self.busy_ns += air_ns;
        self.on_air = Some((now_ns + air_ns, way, frames));
        None
    }

    /// Whether the station is awake; at a beacon that it receives it wakes, for something waits for it.
    fn is_awake(&mut self, now_ns: u64) -> bool {
        let Some(power_save) = self.settings.power_save.clone() else { return true };
        if now_ns < self.awake_ns || self.more_data {
            return true;
        }
        let beacon = self.next_beacon(&power_save, now_ns);
        if beacon * beacon_ns(&power_save) > now_ns {
            return false;
        }
        self.beacon = beacon + 1;
        if self.rng.chance(power_save.missed_beacon_rate) {
            self.missed_beacons += 1;
            return false;
        }
        // Awake until the frame has come at least: the end of it counts from there on.
        self.awake_ns = now_ns + 1 + u64::from(power_save.awake_us) * 1_000;
        true
    }
}

fn beacon_ns(power_save: &PowerSave) -> u64 {
    u64::from(power_save.beacon_us) * 1_000
}
