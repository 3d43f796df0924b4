use std::collections::HashSet;

use super::*;

/// The key stream of ChaCha8 for a key and a nonce of zeros (draft-strombergson-chacha-test-vectors-01, test case 1).
#[test]
fn the_published_key_stream() {
    let expected = [
        0x3e, 0x00, 0xef, 0x2f, 0x89, 0x5f, 0x40, 0xd6, 0x7f, 0x5b, 0xb8, 0xe8, 0x1f, 0x09, 0xa5, 0xa1, 0x2c, 0x84,
        0x0e, 0xc3, 0xce, 0x9a, 0x7f, 0x3b, 0x18, 0x1b, 0xe1, 0x88, 0xef, 0x71, 0x1a, 0x1e,
    ];
    let mut bytes = [0; 32];
    Rng::keyed(0, 0).fill(&mut bytes);
    assert_eq!(bytes, expected);
}

/// Across versions: what a seed stands for. (Made by another implementation of the cipher, in Python.)
#[test]
fn a_seed_stands_for_the_same_numbers_for_ever() {
    let first = |seed, stream, index| Rng::new(seed, stream, index).next();
    assert_eq!(first(1, Stream::FlowStart, 0), 0x7b25_09f7_2b8f_4646);
    assert_eq!(first(u64::MAX, Stream::SpecimenContents, u32::MAX), 0x743d_9393_50cc_e8ab);
    let mut rng = Rng::new(7, Stream::Pipe, 3);
    let drawn = (rng.up_to(99), rng.below(1_000), rng.unit(), rng.chance(0.0), rng.chance(1.0), rng.next());
    assert_eq!(drawn, (30, 738, 0.673_268_835_879_039_5, false, true, 0xc368_1ab8_ba6a_4e49));
}

#[test]
fn draws_are_even() {
    let mut rng = Rng::new(1, Stream::WlanBackoff, 0);
    let mut seen = [0u32; 16];
    for _ in 0..160_000 {
        seen[rng.up_to(15) as usize] += 1;
    }
    assert!(seen.iter().all(|n| (9_500..10_500).contains(n)), "{seen:?}");
    let hits = (0..100_000).filter(|_| rng.chance(0.1)).count();
    assert!((9_600..10_400).contains(&hits), "{hits}");
    assert!((0..1000).all(|_| rng.below(7) < 7) && rng.below(0) == 0);
}

fn units(seed: u64, stream: u32, index: u32, n: usize) -> Vec<f64> {
    let mut rng = Rng::keyed(seed, u64::from(stream) << 32 | u64::from(index));
    (0..n).map(|_| rng.unit()).collect()
}

/// Pearson's, of numbers that are even from 0 to 1: for independent ones normal about 0 with a variance of 1/n.
fn correlation(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - 0.5) * (b - 0.5)).sum::<f64>() * 12.0 / a.len() as f64
}

const SEEDS: [u64; 8] = [0, 1, 2, 3, 4, 1 << 32, 0x9e37_79b9_7f4a_7c15, u64::MAX];

/// Neighbouring seeds, consumers and indices: 8 x 18 x 2 sources of 128 draws, every pair of them, at two lags either way.
/// The squares of all correlations together are what chance gives.
#[test]
fn sources_have_nothing_to_do_with_each_other() {
    const N: usize = 128;
    let mut sources = Vec::new();
    for seed in SEEDS {
        for stream in 1..=Stream::LAST {
            sources.extend([0, 1].map(|index| units(seed, stream, index, N)));
        }
    }
    let (mut pairs, mut squares, mut largest) = (0u32, 0.0, 0.0f64);
    for (number, one) in sources.iter().enumerate() {
        for other in &sources[number + 1..] {
            for lag in 0..=2 {
                for (one, other) in [(one, other), (other, one)].iter().take(1 + usize::from(lag > 0)) {
                    let correlation = correlation(&one[lag..], &other[..N - lag]);
                    let z = correlation * ((N - lag) as f64).sqrt();
                    (pairs, squares, largest) = (pairs + 1, squares + z * z, largest.max(z.abs()));
                }
            }
        }
    }
    // The mean square of this many normal numbers is 1 +- sqrt(2 / pairs); none of a million is beyond 6.5.
    let mean = squares / f64::from(pairs);
    assert!((mean - 1.0).abs() < 5.0 * (2.0 / f64::from(pairs)).sqrt(), "{mean} of {pairs}");
    assert!(largest < 6.5, "{largest} of {pairs}");
}

/// No source is another one, shifted: of 64-bit numbers none comes twice.
#[test]
fn no_source_is_another_one_shifted() {
    let mut seen = HashSet::new();
    for seed in (0..300).chain(SEEDS.map(|seed| seed.wrapping_sub(1_000))) {
        for stream in 1..=Stream::LAST {
            let mut rng = Rng::keyed(seed, u64::from(stream) << 32);
            assert!((0..32).all(|_| seen.insert(rng.next())), "seed {seed}, stream {stream}");
        }
    }
}

/// Runs with seeds that count up spread as much as runs with seeds far apart, and as much as they must: losses of 200
/// packets at 10 %, 400 runs each, variance 18 +- 5 standard errors.
#[test]
fn neighbouring_seeds_spread_as_distant_ones_do() {
    const RUNS: u64 = 400;
    let losses = |seed| {
        let mut rng = Rng::new(seed, Stream::PathDown, 0);
        (0..200).filter(|_| rng.chance(0.1)).count() as f64
    };
    let variance = |seeds: &mut dyn Iterator<Item = u64>| {
        let found: Vec<f64> = seeds.map(losses).collect();
        let mean = found.iter().sum::<f64>() / found.len() as f64;
        assert!((mean - 20.0).abs() < 5.0 * (18.0 / RUNS as f64).sqrt(), "{mean}");
        found.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / (RUNS - 1) as f64
    };
    let near = variance(&mut (1..=RUNS));
    let far = variance(&mut (1..=RUNS).map(mix));
    let allowed = 5.0 * 18.0 * (2.0 / RUNS as f64).sqrt();
    assert!((near - 18.0).abs() < allowed && (far - 18.0).abs() < allowed, "{near}, {far}");
}

#[test]
fn a_copy_goes_on_where_the_original_was() {
    for drawn in [0, 1, 5, 31, 32, 33, 200] {
        let mut rng = Rng::new(3, Stream::Congestion, 1);
        (0..drawn).for_each(|_| assert!(rng.next() != 0));
        rng.up_to(9);
        let mut copy = rng.clone();
        assert!((0..100).all(|_| rng.next() == copy.next()), "after {drawn}");
    }
}

#[test]
fn fill_covers_odd_lengths() {
    let draw = |index| {
        let mut bytes = [0; 13];
        Rng::new(9, Stream::SpecimenContents, index).fill(&mut bytes);
        bytes
    };
    assert_ne!(draw(0), draw(1));
    assert_eq!(draw(1), draw(1));
    assert!(draw(2)[8..].iter().any(|&byte| byte != 0));
}
