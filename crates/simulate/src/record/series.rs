//! Figures over time.

use link::{HostId, Packet, Ppdu};

/// One flow in one interval.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Sample {
    pub(crate) bytes: u64,
    pub(crate) packets: u64,
    pub(crate) delay_ns: u64,
}

/// Sums over intervals of the same length, from time 0.
#[derive(Clone, Debug)]
pub(crate) struct Series {
    sample_ns: u64,
    /// By flow, then by interval.
    pub(crate) flows: Vec<Vec<Sample>>,
    /// By station, then by interval: time on the air between it and the access point, ns.
    pub(crate) stations: Vec<Vec<u64>>,
}

impl Series {
    pub(crate) fn new(flows: usize, stations: usize, end_ns: u64, sample_ns: u64) -> Self {
        let sample_ns = sample_ns.max(1);
        let count = usize::try_from(end_ns.div_ceil(sample_ns)).unwrap_or(0);
        Self { sample_ns, flows: vec![vec![Sample::default(); count]; flows], stations: vec![vec![0; count]; stations] }
    }

    fn interval(&self, at_ns: u64) -> usize {
        usize::try_from(at_ns / self.sample_ns).unwrap_or(usize::MAX)
    }

    pub(crate) fn deliver(&mut self, flow: usize, at_ns: u64, bytes: u32, delay_ns: u64) {
        let interval = self.interval(at_ns);
        if let Some(sample) = self.flows.get_mut(flow).and_then(|samples| samples.get_mut(interval)) {
            sample.bytes += u64::from(bytes);
            sample.packets += 1;
            sample.delay_ns += delay_ns;
        }
    }

    pub(crate) fn air<P: Packet>(&mut self, ppdu: &Ppdu<'_, P>) {
        let Some(to) = ppdu.to else { return };
        let station = if ppdu.from == HostId::SERVER { to } else { ppdu.from };
        let interval = self.interval(ppdu.start_ns);
        let row = station.index().checked_sub(1).and_then(|number| self.stations.get_mut(number));
        if let Some(time_ns) = row.and_then(|row| row.get_mut(interval)) {
            *time_ns += ppdu.end_ns.saturating_sub(ppdu.start_ns);
        }
    }
}
