//! A small deterministic random source: SplitMix64 (Steele, Lea, Flood, OOPSLA 2014).
//!
//! Its sequence is part of the crate's promise that a seed always gives the same bytes, so it is not left to a
//! dependency whose stream may change between versions.

/// SplitMix64.
#[derive(Clone, Debug)]
pub(crate) struct Rng(u64);

impl Rng {
    /// A source of its own for each (`seed`, `stream`): what the sniffer draws does not change what the air draws.
    pub(crate) fn new(seed: u64, stream: u64) -> Self {
        let mut rng = Self(seed ^ stream.wrapping_mul(0xd1b5_4a32_d192_ed03));
        rng.next();
        rng
    }

    /// 64 random bits.
    #[inline]
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        mix(self.0)
    }

    /// A number below `bound` (0 when `bound` is 0). The bias of the multiplication is below 2^-32 for small bounds.
    #[inline]
    pub(crate) fn below(&mut self, bound: u32) -> u32 {
        ((u64::from((self.next() >> 32) as u32) * u64::from(bound)) >> 32) as u32
    }

    /// True with this probability. Certainty and impossibility draw nothing.
    #[inline]
    pub(crate) fn chance(&mut self, probability: f64) -> bool {
        if probability <= 0.0 {
            return false;
        }
        if probability >= 1.0 {
            return true;
        }
        ((self.next() >> 11) as f64) < probability * (1u64 << 53) as f64
    }

    /// Random bytes.
    pub(crate) fn fill(&mut self, out: &mut [u8]) {
        for chunk in out.chunks_mut(8) {
            let bytes = self.next().to_le_bytes();
            chunk.copy_from_slice(&bytes[..chunk.len()]);
        }
    }
}

/// The output function of SplitMix64: a bijection that scatters neighbouring numbers.
#[inline]
pub(crate) const fn mix(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn first_outputs_of_the_published_generator() {
        // Reference values of splitmix64 with state 1234567.
        let mut rng = Rng(1_234_567);
        assert_eq!(rng.next(), 6_457_827_717_110_365_317);
        assert_eq!(rng.next(), 3_203_168_211_198_807_973);
    }

    #[test]
    fn chance_is_fair_and_below_is_in_range() {
        let mut rng = Rng::new(1, 2);
        let hits = (0..100_000).filter(|_| rng.chance(0.25)).count();
        assert!((24_500..25_500).contains(&hits), "{hits}");
        assert!((0..1000).all(|_| rng.below(7) < 7));
    }
}
