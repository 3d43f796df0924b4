//! Rate adaptation, which this chip's firmware does: drivers only give masks of rates.
//!
//! Which algorithm the real firmware has is not known. This one goes down one rate when fewer than half of 32 MPDUs got
//! through, up one when more than nine in ten did, and down one rate for every second retry of a frame.

use super::tx_descriptor::{TxDescriptor, MCS0};

/// MPDUs of one decision.
const SAMPLE: u32 = 32;
/// 6 Mbit/s.
const OFDM_6: u8 = 4;

/// What is known of the way to one station.
#[derive(Clone, Copy, Debug, Default)]
struct Way {
    /// Bit n: descriptor rate n may be used; 0: the driver has not said.
    mask: u32,
    /// Steps below the highest.
    below: u8,
    sent: u32,
    acknowledged: u32,
}

/// Rate adaptation of all stations.
#[derive(Clone, Debug, Default)]
pub struct RateAdaptation {
    ways: [Way; 32],
}

impl RateAdaptation {
    /// The driver's mask for a station.
    pub fn set_mask(&mut self, macid: u8, mask: u32) {
        if let Some(way) = self.ways.get_mut(usize::from(macid & 31)) {
            *way = Way { mask: mask & 0x000f_ffff, ..Way::default() };
        }
    }

    fn way(&self, descriptor: &TxDescriptor) -> Way {
        let way = self.ways.get(usize::from(descriptor.macid() & 31)).copied().unwrap_or_default();
        // rtl8xxxu gives the mask of its network to station 0, before it knows the number of the station.
        if way.mask == 0 {
            Way { mask: self.ways[0].mask, ..way }
        } else {
            way
        }
    }

    /// The rate of a frame that was sent `attempts` times before.
    pub fn choose(&self, descriptor: &TxDescriptor, attempts: u8) -> u8 {
        let fallback = if descriptor.no_fallback() { 0 } else { attempts / 2 };
        if descriptor.use_driver_rate() || descriptor.is_group() {
            let floor = if descriptor.rate() >= MCS0 {
                MCS0
            } else if descriptor.rate() >= OFDM_6 {
                OFDM_6
            } else {
                0
            };
            return descriptor.rate().saturating_sub(fallback).max(floor);
        }
        let way = self.way(descriptor);
        // Without a mask: what the descriptor begins with.
        let mask = if way.mask == 0 { 1 << (descriptor.rate() & 31) } else { way.mask };
        let down = usize::from(way.below) + usize::from(fallback);
        let mut rates = (0..20u8).rev().filter(|rate| mask >> rate & 1 == 1);
        let highest = rates.next().unwrap_or(0);
        // Not below 6 Mbit/s, or MCS 0: control responses of CCK would cost more than the retries.
        let floor = if highest >= OFDM_6 { OFDM_6 } else { 0 };
        let class = if highest >= MCS0 { MCS0 } else { floor };
        std::iter::once(highest).chain(rates.filter(|&rate| rate >= class)).take(down + 1).last().unwrap_or(highest)
    }

    /// Whether an MPDU was acknowledged.
    pub fn report(&mut self, descriptor: &TxDescriptor, acknowledged: bool) {
        if descriptor.use_driver_rate() {
            return;
        }
        let Some(way) = self.ways.get_mut(usize::from(descriptor.macid() & 31)) else { return };
        way.sent += 1;
        way.acknowledged += u32::from(acknowledged);
        if way.sent < SAMPLE {
            return;
        }
        if way.acknowledged * 2 < way.sent {
            way.below = (way.below + 1).min(7);
        } else if way.acknowledged * 10 > way.sent * 9 {
            way.below = way.below.saturating_sub(1);
        }
        (way.sent, way.acknowledged) = (0, 0);
    }
}
