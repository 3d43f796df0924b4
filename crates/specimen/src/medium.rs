//! Airtime of what is sent, whoever captures it.

use wire::phy::Mode;

use crate::frame::{Class, Mpdu};
use crate::truth::{AirtimeKinds, AirtimeTruth, PhyTruth, StationTruth};

/// Counters by transmitter.
pub(crate) struct Medium {
    stations: Vec<(u64, AirtimeKinds)>,
    by_phy: Vec<PhyTruth>,
    kinds: AirtimeKinds,
    first_ns: Option<u64>,
    last_ns: u64,
}

impl Medium {
    pub(crate) fn new(nodes: usize) -> Self {
        Self {
            stations: vec![(0, AirtimeKinds::default()); nodes],
            by_phy: Vec::new(),
            kinds: AirtimeKinds::default(),
            first_ns: None,
            last_ns: 0,
        }
    }

    /// A PPDU from `start_ns` to `end_ns`; its MPDUs with their lengths.
    pub(crate) fn ppdu(
        &mut self,
        from: usize,
        mode: Mode,
        (start_ns, end_ns): (u64, u64),
        mpdus: impl Iterator<Item = (Mpdu, usize)> + Clone,
    ) {
        let duration_ns = end_ns - start_ns;
        self.first_ns.get_or_insert(start_ns);
        self.last_ns = end_ns;
        let total: u64 = mpdus.clone().map(|(_, len)| len as u64).sum();
        let mut seen = 0;
        let mut kinds = AirtimeKinds::default();
        for (mpdu, len) in mpdus {
            // Shares are taken from the running total, so that they add up to the duration exactly.
            let before = duration_ns * seen / total.max(1);
            seen += len as u64;
            let share = duration_ns * seen / total.max(1) - before;
            *(match (mpdu.content.class(), mpdu.retry) {
                (Class::Data | Class::Null, true) => &mut kinds.retry_ns,
                (Class::Data | Class::Null, false) => &mut kinds.data_ns,
                (Class::Control, _) => &mut kinds.control_ns,
                (Class::Management, _) => &mut kinds.management_ns,
                (Class::Beacon, _) => &mut kinds.beacon_ns,
            }) += share;
        }
        self.stations[from].0 += 1;
        for sum in [&mut self.stations[from].1, &mut self.kinds] {
            sum.data_ns += kinds.data_ns;
            sum.retry_ns += kinds.retry_ns;
            sum.control_ns += kinds.control_ns;
            sum.management_ns += kinds.management_ns;
            sum.beacon_ns += kinds.beacon_ns;
        }
        let phy = mode.family();
        let at = self.by_phy.iter().position(|row| row.phy == phy).unwrap_or_else(|| {
            self.by_phy.push(PhyTruth { phy, ppdus: 0, airtime_ns: 0 });
            self.by_phy.len() - 1
        });
        self.by_phy[at].ppdus += 1;
        self.by_phy[at].airtime_ns += duration_ns;
    }

    pub(crate) fn finish(self, stations: &mut [StationTruth]) -> AirtimeTruth {
        for (station, (ppdus, kinds)) in stations.iter_mut().zip(self.stations) {
            station.ppdus = ppdus;
            station.airtime = kinds;
            station.airtime_ns = kinds.total_ns();
        }
        let busy_ns = self.kinds.total_ns();
        let observed_ns = self.first_ns.map_or(0, |first| self.last_ns - first);
        AirtimeTruth { busy_ns, observed_ns, idle_ns: observed_ns - busy_ns, kinds: self.kinds, by_phy: self.by_phy }
    }
}
