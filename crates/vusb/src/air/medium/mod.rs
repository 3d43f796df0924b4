//! The medium between a chip and its peers, and what goes wrong on it.

mod frame_exchange;

use random::{Rng, Stream};

use self::frame_exchange::Air;
use super::channel::{ChannelSettings, LinkSignal};
use super::counters::{AirCounters, StationCounters};
use super::monitor::Monitor;
use super::neighbour::Neighbour;
use super::sides::Stations;
use super::Station;
use crate::device::Effect;
use crate::record::AirFile;

/// The channel between a chip and its peers, and perhaps a neighbour.
pub struct Medium {
    air: Air,
    neighbour: Option<Neighbour>,
}

impl Medium {
    /// A free medium between a chip and an access point.
    pub fn new(settings: ChannelSettings, seed: u64, recorder: Option<AirFile>) -> Self {
        Self { air: Air::new(settings, vec![LinkSignal::both(settings.signal_dbm)], seed, recorder), neighbour: None }
    }

    /// A free medium between a chip and stations, with the signal on the link to each of them; the settings' own does not
    /// count.
    pub fn with_stations(
        settings: ChannelSettings,
        signals: &[LinkSignal],
        seed: u64,
        recorder: Option<AirFile>,
    ) -> Self {
        let mut air = Air::new(settings, signals.to_vec(), seed, recorder);
        air.counters.stations = signals.iter().map(StationCounters::on).collect();
        air.counters.ap = None;
        Self { air, neighbour: None }
    }

    /// The same with access points, all on the channel of the first.
    pub fn with_access_points(
        settings: ChannelSettings,
        signals: &[LinkSignal],
        seed: u64,
        recorder: Option<AirFile>,
    ) -> Self {
        let mut air = Air::new(settings, signals.to_vec(), seed, recorder);
        air.counters.access_points = signals.iter().map(StationCounters::on).collect();
        Self { air, neighbour: None }
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

    /// What goes wrong on the air; `false`: it does not happen there, or to no one who is.
    pub fn inject(&mut self, effect: Effect) -> bool {
        match effect {
            Effect::Loss(probability) => self.set_loss(probability),
            Effect::Noise(dbm) => self.set_noise(dbm),
            Effect::Signal(peer, dbm) => return self.move_station(peer.into(), dbm),
            Effect::Reseed(seed, loss) => self.reseed(seed, loss),
            Effect::FirmwareHang
            | Effect::LostC2h(_)
            | Effect::LateBlockAck(_)
            | Effect::Unplug(_)
            | Effect::Command(_)
            | Effect::StuckDma(_)
            | Effect::LostInterrupts(_) => return false,
        }
        true
    }

    /// The part of all frames that gets lost from now on, on top of what was lost at the beginning.
    fn set_loss(&mut self, loss: f64) {
        self.air.settings.loss = 1.0 - (1.0 - self.air.loss) * (1.0 - loss);
        self.air.forget_losses();
    }

    /// Draws come from other sources from now on. What a fault takes on top of the loss stays.
    fn reseed(&mut self, seed: u64, loss: Option<f64>) {
        let air = &mut self.air;
        air.backoff = Rng::new(seed, Stream::AirBackoff, 0);
        air.loss_draws = Rng::new(seed, Stream::AirLoss, 0);
        if let Some(loss) = loss {
            let kept = if air.loss < 1.0 { (1.0 - air.settings.loss) / (1.0 - air.loss) } else { 1.0 };
            air.loss = loss;
            air.settings.loss = 1.0 - (1.0 - loss) * kept;
            air.forget_losses();
        }
    }

    /// How loud the noise is from now on; `None`: as at the beginning.
    fn set_noise(&mut self, dbm: Option<i8>) {
        self.air.settings.noise_dbm = dbm.unwrap_or(self.air.noise_dbm);
        self.air.forget_losses();
    }

    /// One of several stations or access points has moved: the signal on the link to it, both ways, from now on. `false`:
    /// there is no such one.
    fn move_station(&mut self, number: usize, dbm: i8) -> bool {
        let (Some(link), Some(counters)) =
            (self.air.signals.get_mut(number), self.air.counters.peers_mut().get_mut(number))
        else {
            return false;
        };
        *link = LinkSignal::both(dbm);
        (counters.signal_dbm, counters.signal_up_dbm) = (dbm, None);
        self.air.forget_losses();
        true
    }

    /// Writes the capture out.
    ///
    /// # Errors
    /// Those of its file.
    pub fn finish(&mut self) -> std::io::Result<()> {
        self.air.monitor.as_mut().map_or(Ok(()), Monitor::finish)
    }

    /// When something happens next. The peers in the order of their links.
    pub fn next_event(&self, chip: &dyn Station, peers: &[&dyn Station]) -> Option<u64> {
        let neighbour = self.neighbour.as_ref();
        let contending = std::iter::once(Some(chip)).chain(peers.iter().map(|peer| Some(*peer)));
        let medium = self.air.next_event(contending.chain([neighbour.map(|it| it as &dyn Station)]));
        [medium, neighbour.and_then(Neighbour::next_ns)].into_iter().flatten().min()
    }

    /// Lets everything happen that is due by `now_ns`. The peers in the order of their links.
    pub fn advance(&mut self, now_ns: u64, chip: &mut dyn Station, peers: &mut [&mut dyn Station]) {
        if let Some(neighbour) = &mut self.neighbour {
            neighbour.arrive(now_ns, peers.first().and_then(|peer| peer.tuned()));
        }
        let sides = self.air.sides.len();
        let mut stations = Stations { chip, peers, neighbour: self.neighbour.as_mut(), sides };
        self.air.advance(now_ns, &mut stations);
    }
}
crate::state!(Medium { air } each { neighbour });
