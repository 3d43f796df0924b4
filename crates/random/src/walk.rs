//! A value that wanders between two bounds.

use crate::Rng;

/// Steps that one look goes forward at most: a longer gap counts as this long.
const MOST_STEPS: u64 = 100_000;

/// A random walk: in equal steps of time the value goes up or down by one length, each as likely, and is reflected at its
/// bounds. With short steps that is Brownian motion. It begins anywhere between the bounds, all values as likely, as it is found
/// later.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub struct Walk {
    rng: Rng,
    least: f64,
    most: f64,
    value: f64,
    step: f64,
    every_ns: u64,
    /// When its next step is; `None`: not read yet.
    next_ns: Option<u64>,
}

impl Walk {
    /// Between `least` and `most`, a step every `every_ns`. Without bounds its value would change by a standard deviation of
    /// `change` in a second.
    pub fn new(mut rng: Rng, least: f64, most: f64, change: f64, every_ns: u64) -> Self {
        let every_ns = every_ns.max(1);
        let (least, most) = (least.min(most), least.max(most));
        let step = change.abs() * (every_ns as f64 / 1e9).sqrt();
        let value = least + rng.unit() * (most - least);
        Self { rng, least, most, value, step, every_ns, next_ns: None }
    }

    /// Its value at a time, which does not go back: asked for an earlier one than before, it answers with its latest.
    pub fn at(&mut self, now_ns: u64) -> f64 {
        let mut next_ns = *self.next_ns.get_or_insert(now_ns.saturating_add(self.every_ns));
        if next_ns <= now_ns {
            let steps = (now_ns - next_ns) / self.every_ns + 1;
            (0..steps.min(MOST_STEPS)).for_each(|_| self.go());
            next_ns = next_ns.saturating_add(steps.saturating_mul(self.every_ns));
            self.next_ns = Some(next_ns);
        }
        self.value
    }

    /// Its further steps come from another source.
    pub fn reseed(&mut self, rng: Rng) {
        self.rng = rng;
    }

    fn go(&mut self) {
        let up = self.rng.chance(0.5);
        let moved = if up { self.value + self.step } else { self.value - self.step };
        let reflected = if moved > self.most {
            self.most - (moved - self.most)
        } else if moved < self.least {
            self.least + (self.least - moved)
        } else {
            moved
        };
        // A step longer than the room between the bounds.
        self.value = reflected.clamp(self.least, self.most);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Stream;

    const TICK_NS: u64 = 20_000_000;

    fn walk(seed: u64, least: f64, most: f64, change: f64) -> Walk {
        Walk::new(Rng::new(seed, Stream::CellGrant, 0), least, most, change, TICK_NS)
    }

    fn standard_deviation(values: &[f64]) -> f64 {
        let mean = values.iter().sum::<f64>() / values.len() as f64;
        (values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / values.len() as f64).sqrt()
    }

    /// Far from its bounds: within a second by a standard deviation of what it was given (400 walks, 3.5 standard errors).
    #[test]
    fn it_changes_as_fast_as_configured() {
        let changes: Vec<f64> = (0..400)
            .map(|seed| {
                let mut walk = walk(seed, -1e9, 1e9, 30.0);
                let begun = walk.at(0);
                walk.at(1_000_000_000) - begun
            })
            .collect();
        let found = standard_deviation(&changes);
        assert!((found - 30.0).abs() < 3.5 * 30.0 / 800f64.sqrt(), "{found}");
    }

    /// Within its bounds all values are as likely, at the beginning and later: mean and standard deviation of an even
    /// distribution (2,000 walks).
    #[test]
    fn it_is_anywhere_between_its_bounds() {
        for at_ns in [0, 10_000_000_000] {
            let values: Vec<f64> = (0..2_000)
                .map(|seed| {
                    let mut walk = walk(seed, 90.0, 150.0, 30.0);
                    walk.at(0);
                    walk.at(at_ns)
                })
                .collect();
            let mean = values.iter().sum::<f64>() / values.len() as f64;
            let even = 60.0 / 12f64.sqrt();
            assert!((mean - 120.0).abs() < 3.5 * even / 2_000f64.sqrt(), "{mean}");
            assert!((standard_deviation(&values) - even).abs() < 1.0, "{}", standard_deviation(&values));
        }
    }

    #[test]
    fn it_stays_within_its_bounds_whatever_it_is_given() {
        for (least, most, change) in [(1.0, 1.0, 5.0), (1.0, 2.0, 1e9), (2.0, 1.0, 3.0), (0.0, 1e9, 0.0)] {
            let mut walk = walk(1, least, most, change);
            for at in [0, 5, TICK_NS, 7, 3 * TICK_NS, u64::MAX, 0] {
                let value = walk.at(at);
                assert!((f64::min(least, most)..=f64::max(least, most)).contains(&value), "{value}");
            }
        }
    }

    /// Looked at often or seldom, it is the same walk.
    #[test]
    fn looking_does_not_move_it() {
        let (mut often, mut seldom) = (walk(7, 10.0, 100.0, 50.0), walk(7, 10.0, 100.0, 50.0));
        seldom.at(0);
        let last = (0..=5_000).map(|ms| often.at(ms * 1_000_000)).last();
        assert_eq!(last, Some(seldom.at(5_000_000_000)));
        assert_ne!(last, Some(walk(8, 10.0, 100.0, 50.0).at(0)));
    }
}
