//! The random source: SplitMix64 (Steele, Lea, Flood, OOPSLA 2014).
//!
//! That a seed always gives the same run, and the same bytes, is part of what the crates above promise, so it is not left
//! to a dependency whose stream may change between versions.

/// SplitMix64.
#[derive(Clone, Debug)]
pub struct Rng(u64);

impl Rng {
    /// The stream of `seed`.
    pub const fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// A source of its own for each (`seed`, `stream`): what is drawn from one does not change what is drawn from another.
    pub const fn of_stream(seed: u64, stream: u64) -> Self {
        let mut rng = Self(seed ^ stream.wrapping_mul(0xd1b5_4a32_d192_ed03));
        rng.next();
        rng
    }

    /// 64 random bits.
    #[inline]
    #[allow(clippy::should_implement_trait, reason = "it never ends")]
    pub const fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        mix(self.0)
    }

    /// A number from 0 to `last`, each as likely (to within 2^-32).
    #[inline]
    pub const fn up_to(&mut self, last: u32) -> u32 {
        (((self.next() >> 32) * (last as u64 + 1)) >> 32) as u32
    }

    /// A number below `bound` (0 when `bound` is 0), each as likely (to within 2^-32).
    #[inline]
    pub const fn below(&mut self, bound: u32) -> u32 {
        (((self.next() >> 32) * (bound as u64)) >> 32) as u32
    }

    /// True with this probability. Certainty and impossibility draw nothing.
    #[inline]
    pub fn chance(&mut self, probability: f64) -> bool {
        if probability <= 0.0 {
            return false;
        }
        if probability >= 1.0 {
            return true;
        }
        ((self.next() >> 11) as f64) < probability * (1u64 << 53) as f64
    }

    /// Random bytes.
    pub fn fill(&mut self, out: &mut [u8]) {
        for chunk in out.chunks_mut(8) {
            let bytes = self.next().to_le_bytes();
            chunk.copy_from_slice(&bytes[..chunk.len()]);
        }
    }
}

/// The output function of SplitMix64: a bijection that scatters neighbouring numbers.
#[inline]
pub const fn mix(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The generator's published first outputs for seed 1234567.
    #[test]
    fn published_outputs() {
        let mut rng = Rng::new(1_234_567);
        assert_eq!([rng.next(), rng.next()], [6_457_827_717_110_365_317, 3_203_168_211_198_807_973]);
    }

    #[test]
    fn draws_are_even() {
        let mut rng = Rng::new(1);
        let mut seen = [0u32; 16];
        for _ in 0..160_000 {
            seen[rng.up_to(15) as usize] += 1;
        }
        assert!(seen.iter().all(|n| (9_500..10_500).contains(n)), "{seen:?}");
        let hits = (0..100_000).filter(|_| rng.chance(0.1)).count();
        assert!((9_600..10_400).contains(&hits), "{hits}");
        assert!(!rng.chance(0.0) && rng.chance(1.0));
    }

    #[test]
    fn chance_is_fair_and_below_is_in_range() {
        let mut rng = Rng::of_stream(1, 2);
        let hits = (0..100_000).filter(|_| rng.chance(0.25)).count();
        assert!((24_500..25_500).contains(&hits), "{hits}");
        assert!((0..1000).all(|_| rng.below(7) < 7) && rng.below(0) == 0);
    }

    #[test]
    fn streams_of_a_seed_differ_and_fill_covers_odd_lengths() {
        let draw = |stream| {
            let mut bytes = [0; 13];
            Rng::of_stream(9, stream).fill(&mut bytes);
            bytes
        };
        assert_ne!(draw(0), draw(1));
        assert_eq!(draw(1), draw(1));
        assert!(draw(2)[8..].iter().any(|&byte| byte != 0));
    }
}
