//! Interrupt status, masks, and the line (Linux ath9k/ar9002_mac.c, ar9002_hw_get_isr; mac.c, ath9k_hw_enable_interrupts).
//!
//! TXOK, TXDESC, TXERR, TXEOL, BCNMISC and GENTMR of the primary status are made of the secondary ones under their masks. The
//! chip has no copies that are clear after they were read: the driver writes back what it has read.

use super::registers as reg;

/// What happened and was not acknowledged.
#[derive(Clone, Copy, Debug, Default, serde::Serialize, serde::Deserialize)]
pub(super) struct Interrupts {
    primary: u32,
    s0: u32,
    s1: u32,
    s2: u32,
    s5: u32,
}

/// The masks, as the driver has set them.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Masks {
    pub(super) primary: u32,
    pub(super) s0: u32,
    pub(super) s1: u32,
    pub(super) s2: u32,
    pub(super) s5: u32,
}

impl Interrupts {
    /// Bits of the primary status.
    pub(super) fn raise(&mut self, bits: u32) {
        self.primary |= bits;
    }

    /// A frame of this queue is done.
    pub(super) fn sent(&mut self, queue: usize, well: bool, asked: bool) {
        self.s0 |= 1 << queue | u32::from(asked) << (16 + queue);
        self.s1 |= u32::from(!well) << queue;
    }

    /// A queue has no more descriptors.
    pub(super) fn ended(&mut self, queue: usize) {
        self.s1 |= 1 << (16 + queue);
    }

    /// Bits of the status that beacons have.
    pub(super) fn beacon(&mut self, bits: u32) {
        self.s2 |= bits;
    }

    /// A timer has fired.
    pub(super) fn timer(&mut self, number: usize) {
        self.s5 |= 1 << number;
    }

    /// A status register.
    pub(super) fn read(&self, offset: u32, masks: &Masks) -> u32 {
        match offset {
            reg::ISR => self.status(masks),
            reg::ISR_S0 => self.s0,
            reg::ISR_S1 => self.s1,
            reg::ISR_S2 => self.s2,
            reg::ISR_S5 => self.s5,
            _ => 0,
        }
    }

    /// The primary status.
    fn status(&self, masks: &Masks) -> u32 {
        let (s0, s1) = (self.s0 & masks.s0, self.s1 & masks.s1);
        let made = [
            (s0 & reg::LOW_QUEUES, reg::ISR_TXOK),
            (s0 & reg::HIGH_QUEUES, reg::ISR_TXDESC),
            (s1 & reg::LOW_QUEUES, reg::ISR_TXERR),
            (s1 & reg::HIGH_QUEUES, reg::ISR_TXEOL),
            (self.s2 & masks.s2, reg::ISR_BCNMISC),
            (self.s5 & masks.s5, reg::ISR_GENTMR),
        ];
        made.into_iter().filter(|&(secondary, _)| secondary != 0).fold(self.primary, |status, (_, bit)| status | bit)
    }

    /// The driver has seen these bits.
    pub(super) fn acknowledge(&mut self, offset: u32, bits: u32) {
        match offset {
            reg::ISR => {
                self.primary &= !bits;
                let cleared = |bit: u32, of: u32| if bits & bit != 0 { of } else { 0 };
                self.s0 &= !(cleared(reg::ISR_TXOK, reg::LOW_QUEUES) | cleared(reg::ISR_TXDESC, reg::HIGH_QUEUES));
                self.s1 &= !(cleared(reg::ISR_TXERR, reg::LOW_QUEUES) | cleared(reg::ISR_TXEOL, reg::HIGH_QUEUES));
                self.s2 &= !cleared(reg::ISR_BCNMISC, u32::MAX);
                self.s5 &= !cleared(reg::ISR_GENTMR, u32::MAX);
            }
            reg::ISR_S0 => self.s0 &= !bits,
            reg::ISR_S1 => self.s1 &= !bits,
            reg::ISR_S2 => self.s2 &= !bits,
            reg::ISR_S5 => self.s5 &= !bits,
            _ => {}
        }
    }

    /// Whether something happened that the masks let through.
    pub(super) fn is_pending(&self, masks: &Masks) -> bool {
        self.status(masks) & masks.primary != 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_driver_has_read_back_is_gone() {
        let masks = Masks { primary: reg::ISR_TXOK | reg::ISR_TXEOL, s0: u32::MAX, s1: u32::MAX, ..Masks::default() };
        let mut interrupts = Interrupts::default();
        interrupts.sent(1, true, true);
        interrupts.ended(1);
        assert_eq!(interrupts.read(reg::ISR, &masks), reg::ISR_TXOK | reg::ISR_TXDESC | reg::ISR_TXEOL);
        assert!(interrupts.is_pending(&masks) && !interrupts.is_pending(&Masks::default()));
        interrupts.acknowledge(reg::ISR_S0, interrupts.read(reg::ISR_S0, &masks));
        assert_eq!(interrupts.read(reg::ISR, &masks), reg::ISR_TXEOL);
        interrupts.acknowledge(reg::ISR, reg::ISR_TXEOL);
        assert!(!interrupts.is_pending(&masks));
    }
}
