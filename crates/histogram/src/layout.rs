//! Where numbers are among buckets of one relative width: `2^bits` to each power of two, and one for each number below.

/// The numbers that are counted together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bucket {
    /// The least of them.
    pub low: u64,
    /// The least number beyond them; `u64::MAX` where there is none.
    pub next: u64,
}

/// The bucket of a number.
#[inline]
pub(crate) const fn index(bits: u32, value: u64) -> usize {
    if value < (1 << bits) {
        return value as usize;
    }
    let exponent = 63 - value.leading_zeros();
    let mantissa = (value >> (exponent - bits)) as usize & ((1 << bits) - 1);
    (((exponent - bits + 1) as usize) << bits) + mantissa
}

/// The least number of a bucket.
const fn low(bits: u32, index: usize) -> u64 {
    if index < (1 << bits) {
        return index as u64;
    }
    let exponent = (index >> bits) as u32 + bits - 1;
    if exponent > 63 {
        return u64::MAX;
    }
    let mantissa = (index & ((1 << bits) - 1)) as u64;
    (1 << exponent) | (mantissa << (exponent - bits))
}

/// The numbers of a bucket.
pub(crate) const fn bucket(bits: u32, index: usize) -> Bucket {
    Bucket { low: low(bits, index), next: low(bits, index + 1) }
}

/// Where the number is that a share `q` (0 to 1) of all `n` numbers does not exceed.
pub(crate) fn quantile(n: u64, q: f64, mut buckets: impl Iterator<Item = (Bucket, u64)>) -> Option<Bucket> {
    let rank = ((n as f64 * q).ceil() as u64).min(n).max(1);
    let mut seen = 0u64;
    let found = buckets.find(|(_, count)| {
        seen = seen.saturating_add(*count);
        seen >= rank
    })?;
    Some(found.0)
}

/// The number in the middle, or the mean of the two there. `number`: that of a bucket.
pub(crate) fn median(
    n: u64,
    buckets: impl Iterator<Item = (Bucket, u64)>,
    number: impl Fn(Bucket) -> f64,
) -> Option<f64> {
    let (before, behind) = (n.div_ceil(2), n / 2 + 1);
    let mut seen = 0u64;
    let (mut lower, mut upper) = (None, None);
    for (bucket, count) in buckets {
        seen = seen.saturating_add(count);
        lower = lower.or((seen >= before).then(|| number(bucket)));
        upper = upper.or((seen >= behind).then(|| number(bucket)));
        if upper.is_some() {
            break;
        }
    }
    Some((lower? + upper?) / 2.0)
}

/// By powers of two (0, 1, 2 to 3, 4 to 7, ...): the least number of each, and how much is in it.
pub(crate) fn octaves(buckets: impl Iterator<Item = (Bucket, u64)>) -> Vec<(u64, u64)> {
    let mut octaves: Vec<(u64, u64)> = Vec::new();
    for (bucket, count) in buckets {
        let low = bucket.low.checked_ilog2().map_or(0, |exponent| 1 << exponent);
        match octaves.last_mut() {
            Some((known, sum)) if *known == low => *sum += count,
            _ => octaves.push((low, count)),
        }
    }
    octaves
}
