#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]
#![deny(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic, clippy::unreachable)]

mod stream;
mod walk;

pub use stream::Stream;
pub use walk::Walk;

use chacha20::rand_core::{Rng as _, SeedableRng};
use chacha20::ChaCha8Rng;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A source of random numbers.
#[derive(Debug)]
pub struct Rng(ChaCha8Rng);

impl Clone for Rng {
    fn clone(&self) -> Self {
        Self(ChaCha8Rng::deserialize_state(&self.0.serialize_state()))
    }
}

/// Saved with its place in the stream.
impl Serialize for Rng {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize_state().as_slice().serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Rng {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let bytes = Vec::<u8>::deserialize(deserializer)?;
        let state = bytes.as_slice().try_into().map_err(|_| D::Error::invalid_length(bytes.len(), &"a state"))?;
        Ok(Self(ChaCha8Rng::deserialize_state(state)))
    }
}

impl Rng {
    /// What a consumer (the `index`-th of its kind) draws in the run of this seed.
    pub fn new(seed: u64, stream: Stream, index: u32) -> Self {
        Self::keyed(seed, u64::from(stream as u32) << 32 | u64::from(index))
    }

    fn keyed(seed: u64, nonce: u64) -> Self {
        let mut key = [0; 32];
        key[..8].copy_from_slice(&seed.to_le_bytes());
        let mut cipher = ChaCha8Rng::from_seed(key);
        cipher.set_stream(nonce);
        Self(cipher)
    }

    /// 64 random bits.
    #[inline]
    #[allow(clippy::should_implement_trait, reason = "it never ends")]
    pub fn next(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// A number from 0 to `last`, each as likely (to within 2^-32).
    #[inline]
    pub fn up_to(&mut self, last: u32) -> u32 {
        ((u64::from(self.0.next_u32()) * (u64::from(last) + 1)) >> 32) as u32
    }

    /// A number below `bound` (0 when `bound` is 0), each as likely (to within 2^-32).
    #[inline]
    pub fn below(&mut self, bound: u32) -> u32 {
        ((u64::from(self.0.next_u32()) * u64::from(bound)) >> 32) as u32
    }

    /// A number from 0 to 1, 1 excluded.
    #[inline]
    pub fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 53) as f64
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
        self.unit() < probability
    }

    /// Random bytes.
    pub fn fill(&mut self, out: &mut [u8]) {
        self.0.fill_bytes(out);
    }
}

/// Scatters neighbouring numbers: a bijection (the output function of SplitMix64; Steele, Lea, Flood, OOPSLA 2014). For what
/// must depend on a number and on nothing that was drawn before.
#[inline]
pub const fn mix(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests;
