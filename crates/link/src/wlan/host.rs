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
    packet: P,
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
    /// Packets that wait on the way up at most.
    up_limit: usize,
    /// Packets that the device holds at most.
    device_packets: usize,
    down: VecDeque<Job<P>>,
    up: VecDeque<Job<P>>,
    in_hand: Option<(Way, P)>,
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
        let packets_per_urb = usb.as_ref().map_or(1, |usb| usb.rx_packets_per_urb as usize);
        Self {
            costs: Costs { down_ns: ns(packet_us + tx_us), up_ns: ns(packet_us), in_urb_ns: ns(rx_us) },
            packets_per_urb,
            up_limit: usb.as_ref().map_or(station.queue_packets as usize, |usb| usb.rx_urbs as usize * packets_per_urb),
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

    /// No more packets are taken on the way up.
    pub(crate) fn is_full_up(&self) -> bool {
        self.up.len() + usize::from(matches!(self.in_hand, Some((Way::Up, _)))) >= self.up_limit
    }

    /// Takes a packet. `of_ppdu`: on the way up, how many packets of the same PPDU came before it.
    pub(crate) fn push(&mut self, way: Way, packet: P, of_ppdu: usize) {
        let Costs { down_ns, up_ns, in_urb_ns } = self.costs;
        let number = self.next_number;
        self.next_number += 1;
        let begins_urb = of_ppdu % self.packets_per_urb == 0;
        match way {
            Way::Down => self.down.push_back(Job { number, cost_ns: down_ns, packet }),
            Way::Up => {
                let cost_ns = up_ns + if begins_urb { in_urb_ns } else { 0 };
                self.up.push_back(Job { number, cost_ns, packet });
            }
        }
    }

    /// Takes the next packet in hand if it may; gives when it is done with it. `in_device`: packets in the device.
    pub(crate) fn start(&mut self, now_ns: u64, in_device: usize) -> Option<u64> {
        if self.in_hand.is_some() {
            return None;
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
        self.in_hand = Some((way, job.packet));
        self.done_ns = now_ns + job.cost_ns;
        Some(self.done_ns)
    }

    /// The packet that it is done with.
    pub(crate) fn finish(&mut self) -> Option<(Way, P)> {
        self.in_hand.take()
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
        (0..3).for_each(|packet| plain.push(Way::Up, packet, packet as usize));
        let mut now_ns = 0;
        let mut done = Vec::new();
        while let Some(ns) = plain.start(now_ns, 0) {
            done.push((ns - now_ns, plain.finish().map(|done| done.0)));
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
        assert_eq!(host.finish(), Some((Way::Up, 2)));
        assert_eq!(host.start(10_000, 1), Some(20_000));
        assert!(!host.is_full_up());
        (0..3).for_each(|packet| host.push(Way::Up, packet, 0));
        assert!(host.is_full_up());
        assert_eq!(host.waiting_down(), 1);
    }
}
