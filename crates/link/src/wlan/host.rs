//! The host and its bus: a server that takes its time for each packet, up or down, one after the other.

use std::collections::VecDeque;

use crate::wlan::settings::Station;

/// Which way a packet goes through the host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    /// To the radio.
    Down,
    /// From the radio.
    Up,
}

#[derive(Clone, Debug)]
struct Job<P> {
    /// The lower, the earlier it came.
    number: u64,
    cost_ns: u64,
    /// The URB that it is in; 0: not yet in any, or there are none.
    urb: u64,
    packet: P,
}

/// What the host is done with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Done<P> {
    pub(crate) way: Way,
    pub(crate) packet: P,
    /// Its URB; 0: there are none.
    pub(crate) urb: u64,
    /// It was the last of its URB, which goes back to the device.
    pub(crate) ends_urb: bool,
}

/// What packets cost.
#[derive(Clone, Copy, Debug, Default)]
struct Costs {
    down_ns: u64,
    up_ns: u64,
    /// Beside `up_ns`, of a packet that begins an IN URB.
    in_urb_ns: u64,
}

/// Packets that wait for the host, and the one in its hands.
#[derive(Clone, Debug)]
pub(crate) struct Host<P> {
    costs: Costs,
    /// Packets in one IN URB at most.
    packets_per_urb: usize,
    /// Packets that wait on the way up at most, where there are no URBs.
    up_limit: usize,
    has_urbs: bool,
    /// IN URBs that wait for something to be received, the first of them next.
    in_urbs: VecDeque<u64>,
    next_out_urb: u64,
    /// The URB of the packet that came last on the way up.
    open_urb: u64,
    /// An OUT URB has been submitted, and [`Self::submitted`] was not asked yet.
    has_submitted: bool,
    /// Packets that the device holds at most.
    device_packets: usize,
    down: VecDeque<Job<P>>,
    up: VecDeque<Job<P>>,
    in_hand: Option<(Way, Job<P>)>,
    done_ns: u64,
    next_number: u64,
}

impl<P> Host<P> {
    pub(crate) fn new(station: &Station) -> Self {
        let usb = station.usb.clone();
        // Interrupts take their share of the time, whatever else there is to do.
        let interrupts = usb.as_ref().map_or(0.0, |usb| usb.interrupts_per_second * usb.interrupt_cost_us / 1e6);
        let ns = |us: f64| (us * 1_000.0 / (1.0 - interrupts)) as u64;
        let packet_us = station.per_packet_cost_us;
        let (tx_us, rx_us) = usb.as_ref().map_or((0.0, 0.0), |usb| (usb.tx_urb_cost_us, usb.rx_urb_cost_us));
        let in_urbs: VecDeque<u64> = (1..=usb.as_ref().map_or(0, |usb| u64::from(usb.rx_urbs))).collect();
        let packets_per_urb = usb.as_ref().map_or(1, |usb| usb.rx_packets_per_urb as usize);
        Self {
            costs: Costs { down_ns: ns(packet_us + tx_us), up_ns: ns(packet_us), in_urb_ns: ns(rx_us) },
            packets_per_urb,
            up_limit: station.queue_packets as usize,
            has_urbs: usb.is_some(),
            next_out_urb: in_urbs.len() as u64 + 1,
            in_urbs,
            open_urb: 0,
            has_submitted: false,
            device_packets: usb.as_ref().map_or(usize::MAX, |usb| usb.device_packets as usize),
            down: VecDeque::new(),
            up: VecDeque::new(),
            in_hand: None,
            done_ns: 0,
            next_number: 0,
        }
    }

    /// Whether packets pass at once.
    pub(crate) const fn is_free(&self) -> bool {
        self.costs.down_ns == 0 && self.costs.up_ns + self.costs.in_urb_ns == 0 && self.device_packets == usize::MAX
    }

    /// Packets waiting on the way to the radio.
    pub(crate) fn waiting_down(&self) -> usize {
        self.down.len() + usize::from(matches!(self.in_hand, Some((Way::Down, _))))
    }

    /// The IN URBs that wait for something to be received.
    pub(crate) fn in_urbs(&self) -> impl Iterator<Item = u64> + '_ {
        self.in_urbs.iter().copied()
    }

    /// Begins an IN URB with the packet that comes after `of_ppdu` others of its PPDU.
    fn begins_urb(&self, of_ppdu: usize) -> bool {
        of_ppdu % self.packets_per_urb == 0
    }

    /// The packet that comes after `of_ppdu` others of its PPDU is not taken on the way up.
    pub(crate) fn is_full_up(&self, of_ppdu: usize) -> bool {
        if self.has_urbs {
            return self.begins_urb(of_ppdu) && self.in_urbs.is_empty();
        }
        self.up.len() + usize::from(matches!(self.in_hand, Some((Way::Up, _)))) >= self.up_limit
    }

    /// Takes a packet. `of_ppdu`: on the way up, how many packets of the same PPDU came before it. Gives its IN URB.
    pub(crate) fn push(&mut self, way: Way, packet: P, of_ppdu: usize) -> u64 {
        let Costs { down_ns, up_ns, in_urb_ns } = self.costs;
        let number = self.next_number;
        self.next_number += 1;
        match way {
            Way::Down => {
                self.down.push_back(Job { number, cost_ns: down_ns, urb: 0, packet });
                0
            }
            Way::Up => {
                let begins_urb = self.begins_urb(of_ppdu);
                if begins_urb {
                    self.open_urb = self.in_urbs.pop_front().unwrap_or(0);
                }
                let cost_ns = up_ns + if begins_urb { in_urb_ns } else { 0 };
                self.up.push_back(Job { number, cost_ns, urb: self.open_urb, packet });
                self.open_urb
            }
        }
    }

    /// Takes the next packet in hand if it may; gives when it is done with it. `in_device`: packets in the device.
    pub(crate) fn start(&mut self, now_ns: u64, in_device: usize) -> Option<u64> {
        if self.in_hand.is_some() {
            return None;
        }
        // The URB of the first packet is the device's, whether it has room or not.
        if let Some(job) = self.down.front_mut().filter(|job| self.has_urbs && job.urb == 0) {
            job.urb = self.next_out_urb;
            self.next_out_urb += 1;
            self.has_submitted = true;
        }
        let down = self.down.front().filter(|_| in_device < self.device_packets).map(|job| job.number);
        let up = self.up.front().map(|job| job.number);
        let way = match (down, up) {
            (Some(down), Some(up)) => {
                if down < up {
                    Way::Down
                } else {
                    Way::Up
                }
            }
            (Some(_), None) => Way::Down,
            (None, Some(_)) => Way::Up,
            (None, None) => return None,
        };
        let job = match way {
            Way::Down => self.down.pop_front(),
            Way::Up => self.up.pop_front(),
        }?;
        self.done_ns = now_ns + job.cost_ns;
        self.in_hand = Some((way, job));
        Some(self.done_ns)
    }

    /// The OUT URB that [`Self::start`] has just submitted, if any.
    pub(crate) fn submitted(&mut self) -> Option<(u64, &P)> {
        if !std::mem::take(&mut self.has_submitted) {
            return None;
        }
        match &self.in_hand {
            Some((Way::Down, job)) => Some((job.urb, &job.packet)),
            _ => self.down.front().map(|job| (job.urb, &job.packet)),
        }
    }

    /// The packet that it is done with.
    pub(crate) fn finish(&mut self) -> Option<Done<P>> {
        let (way, Job { urb, packet, .. }) = self.in_hand.take()?;
        // All packets of an IN URB come at once.
        let ends_urb = urb != 0 && (way == Way::Down || self.up.front().is_none_or(|next| next.urb != urb));
        if ends_urb && way == Way::Up {
            self.in_urbs.push_back(urb);
        }
        Some(Done { way, packet, urb, ends_urb })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wlan::settings::Usb;

    fn host(usb: Usb) -> Host<u32> {
        Host::new(&Station { per_packet_cost_us: 10.0, usb: Some(usb), ..Station::default() })
    }

    #[test]
    fn urbs_and_interrupts_cost_time() {
        let usb = Usb { tx_urb_cost_us: 20.0, rx_urb_cost_us: 50.0, rx_packets_per_urb: 2, ..Usb::default() };
        let mut plain = host(usb.clone());
        plain.push(Way::Down, 1, 0);
        (0..3).for_each(|packet| {
            plain.push(Way::Up, packet, packet as usize);
        });
        let mut now_ns = 0;
        let mut done = Vec::new();
        while let Some(ns) = plain.start(now_ns, 0) {
            done.push((ns - now_ns, plain.finish().map(|done| done.way)));
            now_ns = ns;
        }
        // Two packets in the first IN URB, one in the second.
        let up = Some(Way::Up);
        assert_eq!(done, [(30_000, Some(Way::Down)), (60_000, up), (10_000, up), (60_000, up)]);
        let mut busy = host(Usb { interrupts_per_second: 1_000.0, interrupt_cost_us: 500.0, ..usb });
        busy.push(Way::Down, 1, 0);
        assert_eq!(busy.start(0, 0), Some(60_000));
    }

    #[test]
    fn a_full_device_makes_packets_wait_and_full_urbs_lose_them() {
        let mut host = host(Usb { device_packets: 2, rx_urbs: 3, rx_packets_per_urb: 1, ..Usb::default() });
        host.push(Way::Down, 1, 0);
        assert_eq!(host.start(0, 2), None);
        host.push(Way::Up, 2, 0);
        assert_eq!(host.start(0, 2), Some(10_000));
        assert_eq!(host.finish(), Some(Done { way: Way::Up, packet: 2, urb: 1, ends_urb: true }));
        assert_eq!(host.start(10_000, 1), Some(20_000));
        assert!(!host.is_full_up(0));
        (0..3).for_each(|packet| {
            host.push(Way::Up, packet, 0);
        });
        assert!(host.is_full_up(0));
        assert_eq!(host.waiting_down(), 1);
    }
}
