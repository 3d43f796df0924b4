//! The guest's clocks by QEMU's.

/// What the guest's clocks showed at one moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GuestClocks {
    /// CLOCK_REALTIME, ns since 1970.
    pub realtime_ns: u64,
    /// CLOCK_MONOTONIC, ns.
    pub monotonic_ns: u64,
}

/// From QEMU's virtual clock to the guest's CLOCK_MONOTONIC. Both run at the same rate: the guest's is made of QEMU's.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Clock {
    /// CLOCK_MONOTONIC minus QEMU's clock, ns.
    offset_ns: i64,
    /// CLOCK_REALTIME minus CLOCK_MONOTONIC, ns.
    epoch_ns: i64,
}

fn difference(a: u64, b: u64) -> i64 {
    i64::try_from(i128::from(a) - i128::from(b)).unwrap_or(0)
}

impl Clock {
    /// As the guest's clocks were when QEMU's showed `virtual_ns`.
    pub fn new(virtual_ns: u64, guest: GuestClocks) -> Self {
        Self {
            offset_ns: difference(guest.monotonic_ns, virtual_ns),
            epoch_ns: difference(guest.realtime_ns, guest.monotonic_ns),
        }
    }

    /// The guest's time at one of QEMU's, ns.
    pub fn guest_ns(self, virtual_ns: u64) -> u64 {
        virtual_ns.saturating_add_signed(self.offset_ns)
    }

    /// QEMU's time at one of the guest's, ns.
    pub fn virtual_ns(self, guest_ns: u64) -> u64 {
        guest_ns.saturating_add_signed(self.offset_ns.saturating_neg())
    }

    /// What has to be added to the guest's CLOCK_MONOTONIC for the time since 1970, ns.
    pub fn epoch_ns(self) -> i64 {
        self.epoch_ns
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_go_both_ways() {
        let guest = GuestClocks { realtime_ns: 1_767_225_600_700_000_000, monotonic_ns: 700_000_000 };
        let clock = Clock::new(1_250_000_000, guest);
        assert_eq!(clock.guest_ns(1_250_000_010), 700_000_010);
        assert_eq!(clock.virtual_ns(clock.guest_ns(3_000_000_000)), 3_000_000_000);
        assert_eq!(clock.epoch_ns(), 1_767_225_600_000_000_000);
    }
}
