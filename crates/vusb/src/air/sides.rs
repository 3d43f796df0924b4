//! Who is on the air: the chip, its access point, the neighbour.

use medium::Parameters;
use wire::phy::EdcaParameters;

use super::neighbour::Neighbour;
use super::Station;

/// The chip, the access point, the neighbour.
pub(super) const SIDES: usize = 3;
pub(super) const CHIP: usize = 0;
pub(super) const AP: usize = 1;
/// Channel access functions of a station.
pub(super) const FUNCTIONS: usize = 5;

/// The stations, by side.
pub(super) struct Stations<'a> {
    pub(super) chip: &'a mut dyn Station,
    pub(super) ap: &'a mut dyn Station,
    pub(super) neighbour: Option<&'a mut Neighbour>,
}

impl Stations<'_> {
    pub(super) fn get(&self, side: usize) -> Option<&dyn Station> {
        match side {
            CHIP => Some(self.chip),
            AP => Some(self.ap),
            _ => self.neighbour.as_deref().map(|neighbour| neighbour as &dyn Station),
        }
    }

    pub(super) fn get_mut(&mut self, side: usize) -> Option<&mut dyn Station> {
        match side {
            CHIP => Some(self.chip),
            AP => Some(self.ap),
            _ => self.neighbour.as_deref_mut().map(|neighbour| neighbour as &mut dyn Station),
        }
    }

    /// Whether what a side sends reaches whom it is for. The neighbour's access point is always there.
    pub(super) fn reached(&self, side: usize) -> bool {
        match (self.chip.tuned(), self.ap.tuned()) {
            _ if side > AP => true,
            (Some(chip), Some(ap)) => chip.frequency_mhz == ap.frequency_mhz,
            _ => false,
        }
    }
}

/// Contention parameters in slots.
pub(super) fn parameters(station: &dyn Station) -> Parameters {
    let EdcaParameters { aifsn, ecw_min, ecw_max, .. } = station.access();
    let window = |exponent: u8| (1u32 << exponent.min(15)) - 1;
    let cw_min = window(ecw_min);
    Parameters {
        aifsn: u32::from(aifsn),
        cw_min,
        cw_max: window(ecw_max).max(cw_min),
        retry_limit: station.retry_limit(),
    }
}

/// The side that answers: the other one. The neighbour's access point is counted with it.
pub(super) const fn answering(side: usize) -> usize {
    match side {
        CHIP => AP,
        AP => CHIP,
        neighbour => neighbour,
    }
}

pub(super) fn function_of(station: &dyn Station) -> usize {
    station.access_function().min(FUNCTIONS - 1)
}
