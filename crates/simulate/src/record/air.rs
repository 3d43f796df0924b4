//! What was on the air, by transmitter and by station.

use link::{Contents, HostId, Packet, Ppdu};

/// MPDUs in an A-MPDU at most (the Block Ack window of 802.11n), and one more.
const SIZES: usize = 65;

/// What one radio sent to another: the access point to a station, or a station to the access point.
#[derive(Clone, Debug)]
pub(crate) struct Direction {
    /// Data PPDUs.
    pub(crate) ppdus: u64,
    /// Data PPDUs lost in a collision.
    pub(crate) ppdus_collided: u64,
    /// Data MPDUs.
    pub(crate) mpdus: u64,
    /// MPDUs in PPDUs lost in a collision.
    pub(crate) mpdus_collided: u64,
    /// MPDUs with the retry bit.
    pub(crate) retries: u64,
    /// MPDUs with the retry bit in PPDUs lost in a collision.
    pub(crate) retries_collided: u64,
    /// Data PPDUs by their number of MPDUs.
    pub(crate) sizes: [u64; SIZES],
    /// Time of the data PPDUs, ns.
    pub(crate) data_ns: u64,
    /// Time of control frames, ns.
    pub(crate) control_ns: u64,
}

impl Default for Direction {
    fn default() -> Self {
        Self {
            ppdus: 0,
            ppdus_collided: 0,
            mpdus: 0,
            mpdus_collided: 0,
            retries: 0,
            retries_collided: 0,
            sizes: [0; SIZES],
            data_ns: 0,
            control_ns: 0,
        }
    }
}

/// The air of a link.
#[derive(Clone, Debug)]
pub(crate) struct Air {
    /// By station, from 1: what the access point sent to it, what it sent.
    pub(crate) stations: Vec<[Direction; 2]>,
    /// Beacons and other group-addressed frames, ns.
    pub(crate) broadcast_ns: u64,
    /// Times that a station sent while another did.
    pub(crate) collided_ppdus: u64,
    /// The medium was busy, ns: overlaps count once.
    pub(crate) busy_ns: u64,
    busy_until_ns: u64,
    /// Frames collided, ns: overlaps count once.
    pub(crate) collided_ns: u64,
    collided_until_ns: u64,
    interval_ns: u64,
    /// By station, then by interval from time 0: time between it and the access point, ns.
    pub(crate) series: Vec<Vec<u64>>,
}

impl Air {
    /// For this many stations; the time series goes to `end_ns`.
    pub(crate) fn new(stations: usize, end_ns: u64, interval_ns: u64) -> Self {
        let interval_ns = interval_ns.max(1);
        let intervals = usize::try_from(end_ns.div_ceil(interval_ns)).unwrap_or(0);
        Self {
            interval_ns,
            series: vec![vec![0; intervals]; stations],
            stations: vec![Default::default(); stations],
            broadcast_ns: 0,
            collided_ppdus: 0,
            busy_ns: 0,
            busy_until_ns: 0,
            collided_ns: 0,
            collided_until_ns: 0,
        }
    }

    /// Records a PPDU for the time series.
    pub(crate) fn note_time<P: Packet>(&mut self, ppdu: &Ppdu<'_, P>) {
        let interval = usize::try_from(ppdu.start_ns / self.interval_ns).unwrap_or(usize::MAX);
        let row = station(ppdu).and_then(|(number, _)| self.series.get_mut(number));
        if let Some(time_ns) = row.and_then(|row| row.get_mut(interval)) {
            *time_ns += ppdu.end_ns.saturating_sub(ppdu.start_ns);
        }
    }

    /// Records a PPDU of the time that counts.
    pub(crate) fn note<P: Packet>(&mut self, ppdu: &Ppdu<'_, P>) {
        let took_ns = ppdu.end_ns.saturating_sub(ppdu.start_ns);
        self.busy_ns += ppdu.end_ns.saturating_sub(ppdu.start_ns.max(self.busy_until_ns));
        self.busy_until_ns = self.busy_until_ns.max(ppdu.end_ns);
        if ppdu.collided {
            self.collided_ppdus += 1;
            self.collided_ns += ppdu.end_ns.saturating_sub(ppdu.start_ns.max(self.collided_until_ns));
            self.collided_until_ns = self.collided_until_ns.max(ppdu.end_ns);
        }
        let Some((number, way)) = station(ppdu) else {
            self.broadcast_ns += took_ns;
            return;
        };
        let Some(direction) = self.stations.get_mut(number).and_then(|ways| ways.get_mut(way)) else { return };
        match &ppdu.contents {
            Contents::Data { mpdus, .. } => {
                direction.ppdus += 1;
                direction.ppdus_collided += u64::from(ppdu.collided);
                direction.mpdus += mpdus.len() as u64;
                direction.mpdus_collided += if ppdu.collided { mpdus.len() as u64 } else { 0 };
                let retries = mpdus.iter().filter(|mpdu| mpdu.retry).count() as u64;
                direction.retries += retries;
                direction.retries_collided += if ppdu.collided { retries } else { 0 };
                if let Some(size) = direction.sizes.get_mut(mpdus.len().min(SIZES - 1)) {
                    *size += 1;
                }
                direction.data_ns += took_ns;
            }
            _ => direction.control_ns += took_ns,
        }
    }
}

/// The station that a PPDU is for or from, counted from 0, and 0 for down or 1 for up; `None`: broadcast.
fn station<P>(ppdu: &Ppdu<'_, P>) -> Option<(usize, usize)> {
    let to = ppdu.to?;
    let (host, way) = if ppdu.from == HostId::SERVER { (to, 0) } else { (ppdu.from, 1) };
    Some((host.index().checked_sub(1)?, way))
}
