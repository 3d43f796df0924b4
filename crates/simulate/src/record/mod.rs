//! Notes of a run, taken while it happens.

mod air;
mod bus;
mod flow;
mod series;

use link::urb::Urb;
use link::{DropCause, HostId, Ppdu, Sink};

pub(crate) use self::air::{Air, Direction};
pub(crate) use self::bus::Bus;
pub(crate) use self::flow::{Flow, CAUSES};
pub(crate) use self::series::Series;
use crate::packet::Datagram;

/// A sink that counts, from the end of the warm-up to the end of the run.
#[derive(Clone, Debug)]
pub(crate) struct Record {
    begin_ns: u64,
    end_ns: u64,
    pub(crate) flows: Vec<Flow>,
    pub(crate) air: Air,
    pub(crate) bus: Bus,
    pub(crate) series: Series,
    /// Arrived and not yet taken by [`Self::arrived`].
    arrived: Vec<(u64, Datagram)>,
}

impl Record {
    /// For so many hosts and flows. `begin_ns` to `end_ns` counts; the time series begins at 0.
    pub(crate) fn new(hosts: usize, flows: usize, begin_ns: u64, end_ns: u64, sample_ns: u64) -> Self {
        Self {
            begin_ns,
            end_ns,
            flows: (0..flows).map(|_| Flow::new()).collect(),
            air: Air::new(hosts),
            bus: Bus::default(),
            series: Series::new(flows, hosts.saturating_sub(1), end_ns, sample_ns),
            arrived: Vec::new(),
        }
    }

    pub(crate) fn counts(&self, at_ns: u64) -> bool {
        (self.begin_ns..self.end_ns).contains(&at_ns)
    }

    /// A packet was handed to the first queue on its way.
    pub(crate) fn offered(&mut self, at_ns: u64, packet: &Datagram, dropped: Option<DropCause>) {
        if !self.counts(at_ns) {
            return;
        }
        if let Some(flow) = self.flows.get_mut(packet.flow as usize) {
            flow.offered_packets += 1;
            if let Some(cause) = dropped {
                flow.drop(cause);
            }
        }
    }

    /// A packet reached the host it was for.
    pub(crate) fn reached(&mut self, at_ns: u64, packet: &Datagram, delay_ns: u64) {
        let counts = self.counts(at_ns);
        let Some(flow) = self.flows.get_mut(packet.flow as usize) else { return };
        self.series.deliver(packet.flow as usize, at_ns, packet.payload_bytes, delay_ns);
        if counts {
            flow.delivered_packets += 1;
            flow.payload_bytes += u64::from(packet.payload_bytes);
            flow.delay_ns.saturating_record(delay_ns.max(1));
        }
    }

    /// What has come out of the link.
    pub(crate) fn arrived(&mut self) -> Vec<(u64, Datagram)> {
        std::mem::take(&mut self.arrived)
    }
}

impl Sink<Datagram> for Record {
    fn deliver(&mut self, at_ns: u64, _to: HostId, packet: Datagram) {
        self.arrived.push((at_ns, packet));
    }

    fn dropped(&mut self, at_ns: u64, _from: HostId, packet: &Datagram, cause: DropCause) {
        if self.counts(at_ns) {
            if let Some(flow) = self.flows.get_mut(packet.flow as usize) {
                flow.drop(cause);
            }
        }
    }

    fn wants_air(&self) -> bool {
        true
    }

    fn air(&mut self, ppdu: &Ppdu<'_, Datagram>) {
        if self.counts(ppdu.start_ns) {
            self.air.note(ppdu);
        }
        self.series.air(ppdu);
    }

    fn wants_bus(&self) -> bool {
        true
    }

    fn bus(&mut self, urb: &Urb<'_>) {
        let counts = self.counts(urb.at_ns);
        self.bus.note(urb, counts);
    }
}
