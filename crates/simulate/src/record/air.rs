//! What was on the air, by transmitter and by station.

use link::{Contents, HostId, Packet, Ppdu};

/// MPDUs in an A-MPDU at most (the Block Ack window of 802.11n), and one more.
const SIZES: usize = 65;

/// What one radio sent to another: the access point to a station, or a station to the access point.
#[derive(Clone, Debug)]
pub(crate) struct Direction {
    /// Data PPDUs.
    pub(crate) ppdus: u64,
    /// Of these: lost in a collision.
    pub(crate) ppdus_collided: u64,
    /// Data MPDUs.
    pub(crate) mpdus: u64,
    /// Of these: with the retry bit.
    pub(crate) retries: u64,
    /// Data PPDUs by their number of MPDUs.
    pub(crate) sizes: [u64; SIZES],
    /// Time of the data PPDUs, ns.
    pub(crate) data_ns: u64,
    /// Time of control frames, ns.
    pub(crate) control_ns: u64,
}

impl Default for Direction {
    fn default() -> Self {
        Self { ppdus: 0, ppdus_collided: 0, mpdus: 0, retries: 0, sizes: [0; SIZES], data_ns: 0, control_ns: 0 }
    }
}

/// The air of a link.
#[derive(Clone, Debug)]
pub(crate) struct Air {
    /// By station, from 1: what the access point sent to it, what it sent.
    pub(crate) stations: Vec<[Direction; 2]>,
    /// Beacons and other frames for everybody, ns.
    pub(crate) broadcast_ns: u64,
    /// Times that somebody sent while somebody else did.
    pub(crate) collided_ppdus: u64,
    /// Somebody sent, ns: overlaps count once.
    pub(crate) busy_ns: u64,
    busy_until_ns: u64,
}

impl Air {
    pub(crate) fn new(hosts: usize) -> Self {
        Self {
            stations: vec![Default::default(); hosts.saturating_sub(1)],
            broadcast_ns: 0,
            collided_ppdus: 0,
            busy_ns: 0,
            busy_until_ns: 0,
        }
    }

    /// Takes note of a PPDU; returns the station it concerns and its time, ns.
    pub(crate) fn note<P: Packet>(&mut self, ppdu: &Ppdu<'_, P>) -> Option<(usize, u64)> {
        let took_ns = ppdu.end_ns.saturating_sub(ppdu.start_ns);
        self.busy_ns += ppdu.end_ns.saturating_sub(ppdu.start_ns.max(self.busy_until_ns));
        self.busy_until_ns = self.busy_until_ns.max(ppdu.end_ns);
        self.collided_ppdus += u64::from(ppdu.collided);
        let Some(to) = ppdu.to else {
            self.broadcast_ns += took_ns;
            return None;
        };
        let (station, way) = if ppdu.from == HostId::SERVER { (to, 0) } else { (ppdu.from, 1) };
        let number = station.index().checked_sub(1)?;
        let direction = &mut self.stations.get_mut(number)?[way];
        match &ppdu.contents {
            Contents::Data { mpdus, .. } => {
                direction.ppdus += 1;
                direction.ppdus_collided += u64::from(ppdu.collided);
                direction.mpdus += mpdus.len() as u64;
                direction.retries += mpdus.iter().filter(|mpdu| mpdu.retry).count() as u64;
                direction.sizes[mpdus.len().min(SIZES - 1)] += 1;
                direction.data_ns += took_ns;
            }
            _ => direction.control_ns += took_ns,
        }
        Some((number, took_ns))
    }
}
