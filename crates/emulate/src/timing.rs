//! Whether this machine kept up with the link.

use serde::Serialize;

use crate::delays::Delays;

/// A release is late when it comes more than this behind the time that the link had set, ns: about the shortest time that
/// a TCP or a queue discipline reacts to.
pub const LATE_NS: u64 = 1_000_000;
/// More than this share of late releases makes a run invalid.
pub const LATE_SHARE: f64 = 0.01;
/// More than this share of packets lost in the queues of the devices, where the emulator should have fetched them, makes
/// a run invalid.
pub const LOST_SHARE: f64 = 0.001;

/// How well a run kept time.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Timing {
    /// The figures of the run can be used.
    pub valid: bool,
    /// If they cannot: why, in words.
    pub reason: Option<String>,
    /// Packets handed to hosts.
    pub releases: u64,
    /// Packets handed over more than 1 ms late.
    pub late: u64,
    /// `late` of `releases`; `None` without releases.
    pub late_share: Option<f64>,
    /// Packets that overflowed the queues of the devices before the emulator fetched them.
    pub lost_in_devices: u64,
    /// Whether the emulator had real-time scheduling (sched(7)).
    pub real_time: bool,
    /// CPU time of the emulator's process, of one CPU; `None` for a run of no length.
    pub cpu_share: Option<f64>,
    /// How late the releases were.
    #[cfg_attr(feature = "schema", schemars(with = "crate::delays::Summary"))]
    pub late_release: Delays,
}

impl Timing {
    /// `taken`: packets that the emulator has fetched from the devices.
    pub(crate) fn new(
        late_release: Delays,
        late: u64,
        (taken, lost_in_devices): (u64, u64),
        cpu_share: Option<f64>,
    ) -> Self {
        let releases = late_release.packets();
        let share = |part: u64, whole: u64| (whole > 0).then(|| part as f64 / whole as f64);
        let late_share = share(late, releases);
        let lost_share = share(lost_in_devices, taken + lost_in_devices);
        let percent = |share: Option<f64>| share.unwrap_or(0.0) * 100.0;
        let reason = if late_share > Some(LATE_SHARE) {
            let late = percent(late_share);
            Some(format!("the host was too slow: {late:.1} % of the packets were released more than 1 ms late"))
        } else if lost_share > Some(LOST_SHARE) {
            let lost = percent(lost_share);
            Some(format!("the host was too slow: {lost:.1} % of the packets were lost before they came to the link"))
        } else {
            None
        };
        let (valid, real_time) = (reason.is_none(), is_real_time());
        Self { valid, reason, releases, late, late_share, lost_in_devices, real_time, cpu_share, late_release }
    }
}

/// Where the scheduling policy stands behind the name of the program in `/proc/PID/stat` (proc(5): field 41).
const POLICY: usize = 38;

/// Whether this thread is scheduled as `SCHED_FIFO` (1) or `SCHED_RR` (2).
fn is_real_time() -> bool {
    let Ok(text) = std::fs::read_to_string("/proc/thread-self/stat") else { return false };
    let fields = text.rsplit(')').next().unwrap_or_default();
    matches!(fields.split_ascii_whitespace().nth(POLICY), Some("1" | "2"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn timing(late: u64, lost: u64) -> Timing {
        let mut delays = Delays::default();
        (0..1_000).for_each(|n| delays.record(if n < late { LATE_NS + 1 } else { 5_000 }));
        Timing::new(delays, late, (1_000, lost), None)
    }

    #[test]
    fn the_rule() {
        assert!(timing(10, 1).valid);
        assert!(timing(11, 0).reason.is_some_and(|reason| reason.contains("1.1 % of the packets were released")));
        assert!(timing(0, 5).reason.is_some_and(|reason| reason.contains("0.5 % of the packets were lost")));
        let silent = Timing::new(Delays::default(), 0, (0, 0), None);
        assert_eq!((silent.valid, silent.late_share), (true, None));
    }
}
