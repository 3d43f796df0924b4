//! 12-bit sequence numbers and their arithmetic modulo 4096 (10.3.2.14, 10.25).

/// A sequence number, 0..=4095.
///
/// There is no `Ord`: on a circle "less" depends on where one stands; see [`Seq::is_before`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub struct Seq(u16);

impl Seq {
    /// How many sequence numbers there are.
    pub const MODULUS: u16 = 4096;

    /// The low 12 bits of `value`.
    #[inline]
    pub const fn new(value: u16) -> Self {
        Self(value & 0x0fff)
    }

    /// The number, 0..=4095.
    #[inline]
    pub const fn value(self) -> u16 {
        self.0
    }

    /// `steps` later.
    #[inline]
    #[must_use]
    pub const fn add(self, steps: u16) -> Self {
        Self::new(self.0.wrapping_add(steps))
    }

    /// `steps` earlier.
    #[inline]
    #[must_use]
    pub const fn sub(self, steps: u16) -> Self {
        Self::new(self.0.wrapping_sub(steps))
    }

    /// How many steps after `earlier` this number comes, going forward: 0..=4095.
    #[inline]
    pub const fn distance_from(self, earlier: Self) -> u16 {
        self.0.wrapping_sub(earlier.0) & 0x0fff
    }

    /// The shortest signed way from `reference`: -2048..=2047.
    #[inline]
    pub const fn offset_from(self, reference: Self) -> i16 {
        let forward = self.distance_from(reference) as i16;
        if forward < 2048 {
            forward
        } else {
            forward - 4096
        }
    }

    /// This number precedes `other` by 1 to 2048 steps: the half of the number space a receiver calls "old" (10.25.6.6).
    #[inline]
    pub const fn is_before(self, other: Self) -> bool {
        self.offset_from(other) < 0
    }

    /// This number is one of the `window` numbers that begin with `start`.
    #[inline]
    pub const fn is_within(self, start: Self, window: u16) -> bool {
        self.distance_from(start) < window
    }
}

impl From<Seq> for u16 {
    fn from(seq: Seq) -> Self {
        seq.0
    }
}

impl core::fmt::Display for Seq {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        core::fmt::Display::fmt(&self.0, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn wraps_at_4096() {
        assert_eq!(Seq::new(4095).add(1), Seq::new(0));
        assert_eq!(Seq::new(0).sub(1), Seq::new(4095));
        assert_eq!(Seq::new(3).distance_from(Seq::new(4094)), 5);
        assert!(Seq::new(4090).is_before(Seq::new(2)));
        assert!(!Seq::new(2).is_before(Seq::new(4090)));
        assert!(Seq::new(0).is_before(Seq::new(2048)), "exactly half the space back is old");
        assert!(Seq::new(63).is_within(Seq::new(0), 64));
        assert!(!Seq::new(64).is_within(Seq::new(0), 64));
    }

    proptest! {
        #[test]
        fn add_and_distance_agree(start: u16, steps: u16) {
            let start = Seq::new(start);
            prop_assert_eq!(start.add(steps).distance_from(start), steps % Seq::MODULUS);
            prop_assert_eq!(start.add(steps).sub(steps), start);
        }

        #[test]
        fn before_is_what_modular_subtraction_says(a in 0u32..4096, b in 0u32..4096) {
            let expected = (4096 + b - a) % 4096;
            prop_assert_eq!(Seq::new(a as u16).is_before(Seq::new(b as u16)), (1..=2048).contains(&expected));
        }
    }
}
