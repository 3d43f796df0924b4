//! Who is on the air: the chip, its peers (an access point, or stations), the neighbour.

use medium::Parameters;
use wire::ieee80211::MacAddr;
use wire::phy::{Band, EdcaParameters};

use super::neighbour::Neighbour;
use super::{Contender, Station, Tuned};

/// The chip's side; its peers have the sides behind it, and the neighbour the last one.
pub(super) const CHIP: usize = 0;
/// Channel access functions of a station.
pub(super) const FUNCTIONS: usize = 5;

/// The stations, by side: the chip, its peers, the neighbour.
pub(super) struct Stations<'a, 'b> {
    pub(super) chip: &'a mut dyn Station,
    pub(super) peers: &'a mut [&'b mut dyn Station],
    pub(super) neighbour: Option<&'a mut Neighbour>,
    /// How many sides there are.
    pub(super) sides: usize,
}

impl Stations<'_, '_> {
    pub(super) fn get(&self, side: usize) -> Option<&dyn Station> {
        match side {
            CHIP => Some(self.chip),
            side if side + 1 == self.sides => self.neighbour.as_deref().map(|neighbour| neighbour as &dyn Station),
            side => self.peers.get(side - 1).map(|peer| &**peer),
        }
    }

    pub(super) fn get_mut(&mut self, side: usize) -> Option<&mut dyn Station> {
        match side {
            CHIP => Some(self.chip),
            side if side + 1 == self.sides => {
                self.neighbour.as_deref_mut().map(|neighbour| neighbour as &mut dyn Station)
            }
            side => match self.peers.get_mut(side - 1) {
                Some(peer) => Some(&mut **peer),
                None => None,
            },
        }
    }

    /// The sides that a frame from `side` to `receiver` is for. What goes to the neighbour's access point is for none
    /// here.
    pub(super) fn listeners(&self, side: usize, receiver: MacAddr) -> Vec<usize> {
        match side {
            CHIP => {
                let wants = |(_, peer): &(usize, &&mut dyn Station)| peer.wants(receiver);
                self.peers.iter().enumerate().filter(wants).map(|(number, _)| number + 1).collect()
            }
            side if side + 1 == self.sides => Vec::new(),
            _ => vec![CHIP],
        }
    }

    /// The band of the network: that of the first peer with a known place, else the chip's.
    pub(super) fn band(&self) -> Option<Band> {
        let tuned = self.peers.iter().find_map(|peer| peer.tuned()).or_else(|| self.chip.tuned());
        tuned.map(|tuned| tuned.band())
    }

    /// Where `side` is tuned to, if `listener` is there too.
    pub(super) fn shared(&self, side: usize, listener: usize) -> Option<Tuned> {
        let tuned = |side| self.get(side).and_then(Station::tuned);
        let (from, to) = (tuned(side)?, tuned(listener)?);
        (from.frequency_mhz == to.frequency_mhz).then_some(from)
    }
}

/// Contention parameters in slots.
pub(super) fn parameters(contender: &Contender) -> Parameters {
    let EdcaParameters { aifsn, ecw_min, ecw_max, .. } = contender.access;
    let window = |exponent: u8| (1u32 << exponent.min(15)) - 1;
    let cw_min = window(ecw_min);
    Parameters {
        aifsn: u32::from(aifsn),
        cw_min,
        cw_max: window(ecw_max).max(cw_min),
        retry_limit: contender.retry_limit,
    }
}

/// The functions of a station that have something to send, each with a number below [`FUNCTIONS`].
pub(super) fn contenders(station: &dyn Station, mut visit: impl FnMut(Contender)) {
    station.contenders(&mut |contender| {
        visit(Contender { function: contender.function.min(FUNCTIONS - 1), ..contender });
    });
}
