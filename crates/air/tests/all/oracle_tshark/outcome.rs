//! What came out of comparing captures.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Debug;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

/// Values compared, and the differences by class.
#[derive(Default)]
pub struct Outcome {
    /// Values that both sides stated.
    pub compared: BTreeMap<&'static str, u64>,
    /// Differences without an explanation.
    pub differences: Vec<String>,
    /// Explained differences: class and count.
    pub explained: BTreeMap<&'static str, u64>,
}

impl Outcome {
    /// Compares one value.
    pub fn same<T: PartialEq + Debug>(&mut self, what: &'static str, at: &str, tshark: T, ours: T) {
        *self.compared.entry(what).or_default() += 1;
        if tshark != ours {
            self.differ(format!("{at}: {what}: tshark {tshark:?}, ours {ours:?}"));
        }
    }

    /// Compares two tables row by row.
    pub fn tables<K: Ord + Clone + Debug, V: PartialEq + Debug>(
        &mut self,
        what: &'static str,
        at: &str,
        tshark: &BTreeMap<K, V>,
        ours: &BTreeMap<K, V>,
    ) {
        let keys: BTreeSet<&K> = tshark.keys().chain(ours.keys()).collect();
        for key in keys {
            *self.compared.entry(what).or_default() += 1;
            let (a, b) = (tshark.get(key), ours.get(key));
            if a != b {
                self.differ(format!("{at}: {what} of {key:?}: tshark {a:?}, ours {b:?}"));
            }
        }
    }

    /// Counts an explained difference.
    pub fn explain(&mut self, class: &'static str) {
        *self.explained.entry(class).or_default() += 1;
    }

    /// Notes an unexplained difference.
    pub fn differ(&mut self, what: String) {
        self.differences.push(what);
    }

    fn add(mut self, other: Self) -> Self {
        for (what, count) in other.compared {
            *self.compared.entry(what).or_default() += count;
        }
        for (what, count) in other.explained {
            *self.explained.entry(what).or_default() += count;
        }
        self.differences.extend(other.differences);
        self
    }

    /// Fails when something differs, or when nothing was compared.
    pub fn finish(self) {
        println!("compared: {:?}", self.compared);
        for (class, count) in &self.explained {
            println!("{count:7} explained: {class}");
        }
        for difference in &self.differences {
            println!("DIFFERENT {difference}");
        }
        assert!(self.differences.is_empty(), "{} unexplained differences", self.differences.len());
        assert!(!self.compared.is_empty(), "nothing was compared");
    }
}

/// Compares many captures, on every processor. Nothing to compare (no captures) is not a failure.
pub fn over(files: Vec<PathBuf>, compare: impl Fn(&Path, &mut Outcome) + Sync) {
    if files.is_empty() || !super::tshark::is_installed() {
        return;
    }
    let files = Mutex::new(files);
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let outcome = std::thread::scope(|scope| {
        let worker = || {
            let mut outcome = Outcome::default();
            loop {
                let next = files.lock().expect("no panic in a worker").pop();
                let Some(path) = next else { return outcome };
                compare(&path, &mut outcome);
            }
        };
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(worker)).collect();
        workers.into_iter().map(|worker| worker.join().expect("a worker")).fold(Outcome::default(), Outcome::add)
    });
    outcome.finish();
}
