//! When beacons are sent, and where their templates are.

use super::memory::Memory;
use super::registers as reg;

/// Templates there are (the mask has 16 bits, the driver for USB uses 5: Linux mt76x02_usb_core.c, N_BCN_SLOTS).
const TEMPLATES: u32 = 8;
/// Unit of their offsets (mt76x02_beacon.c, mt76x02_set_beacon_offsets).
const OFFSET_UNIT: u32 = 64;
/// Unit of the interval: 1/16 TU (mt76x02_beacon.c, mt76x02_resync_beacon_timer).
const INTERVAL_UNIT_NS: u64 = 64_000;
/// "Beacon timer drifts by 1us every tick" (the same function, which makes up for it).
const DRIFT_NS: u64 = 1_000;
/// Unit of the time left (mt76x02_usb_core.c, mt76x02u_start_pre_tbtt_timer).
const LEFT_UNIT_NS: u64 = 32_000;

/// The timer of beacons.
#[derive(Clone, Copy, Debug, Default, serde::Serialize, serde::Deserialize)]
pub(super) struct Beacons {
    next_ns: Option<u64>,
}

fn interval_ns(memory: &Memory) -> Option<u64> {
    let value = memory.word(reg::BEACON_TIME_CFG);
    let units = u64::from(value & 0xffff);
    (value & reg::BEACONS == reg::BEACONS && units > 0).then(|| units * INTERVAL_UNIT_NS + DRIFT_NS)
}

impl Beacons {
    /// After a write of the timer's register.
    pub(super) fn configured(&mut self, now_ns: u64, memory: &Memory) {
        self.next_ns = interval_ns(memory).map(|interval_ns| self.next_ns.unwrap_or(now_ns + interval_ns));
    }

    /// When the next beacon is due.
    pub(super) const fn next_ns(&self) -> Option<u64> {
        self.next_ns
    }

    /// What the register of the time left shows.
    pub(super) fn left(&self, now_ns: u64) -> u32 {
        self.next_ns.map_or(0, |next_ns| (next_ns.saturating_sub(now_ns) / LEFT_UNIT_NS) as u32)
    }

    /// Whether a beacon is due; the next one is an interval later.
    pub(super) fn is_due(&mut self, now_ns: u64, memory: &Memory) -> bool {
        let Some(due_ns) = self.next_ns.filter(|&due_ns| due_ns <= now_ns) else { return false };
        // A clock that jumped does not send all that it has missed.
        self.next_ns =
            interval_ns(memory).map(|interval_ns| due_ns + interval_ns * ((now_ns - due_ns) / interval_ns + 1));
        true
    }
}

/// Templates that are to be sent, in their order.
pub(super) fn templates(memory: &Memory) -> Vec<Vec<u8>> {
    let bypassed = memory.word(reg::BCN_BYPASS_MASK);
    let offset = |number: u32| memory.word(reg::BCN_OFFSET + (number & !3)) >> (8 * (number & 3)) & 0xff;
    let sent = (0..TEMPLATES).filter(|number| bypassed >> number & 1 == 0);
    sent.map(|number| (offset(number) * OFFSET_UNIT).min(reg::BEACON_LEN))
        .map(|at| memory.bytes(reg::BEACON + at, reg::BEACON_LEN - at))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn come_at_the_interval_that_the_driver_sets() {
        let (mut beacons, mut memory) = (Beacons::default(), Memory::new(0x1_0000));
        memory.set(reg::BEACON_TIME_CFG, reg::BEACONS | 1_600);
        beacons.configured(0, &memory);
        assert_eq!((beacons.next_ns(), beacons.left(2_400_000)), (Some(102_401_000), 3_125));
        assert!(!beacons.is_due(102_400_999, &memory) && beacons.is_due(102_401_000, &memory));
        assert_eq!(beacons.next_ns(), Some(204_802_000));
        assert!(beacons.is_due(100_000_000_000, &memory));
        assert!(beacons.next_ns().is_some_and(|at_ns| (100_000_000_000..100_102_401_000).contains(&at_ns)));
        memory.set(reg::BEACON_TIME_CFG, 1_600);
        beacons.configured(0, &memory);
        assert_eq!((beacons.next_ns(), beacons.left(0)), (None, 0));
    }

    #[test]
    fn templates_are_where_their_offsets_say() {
        let mut memory = Memory::new(0x1_0000);
        memory.set(reg::BCN_BYPASS_MASK, 0xff00 | !0b101);
        memory.set(reg::BCN_OFFSET, 50 << 16);
        memory.set(reg::BEACON + 3_200, 0xabcd);
        let templates = templates(&memory);
        assert_eq!((templates.len(), templates[0].len(), templates[1].len()), (2, 8_192, 4_992));
        assert_eq!(templates[1][..2], [0xcd, 0xab]);
    }
}
