//! Transmit reports of the RTL8188EU: the fate of the frames to each station since the last report, which the driver adapts
//! rates by (rtl8xxxu 8188e.c, rtl8188e_handle_ra_tx_report2; core.c, the comment in rtl8xxxu_init_device).
//!
//! | what | from |
//! | --- | --- |
//! | bits 0 and 1 of 0x4ec switch them on, 0x4f0 is the time between two of them in 32 us | rtl8xxxu core.c, rtl8xxxu_init_device |
//! | the byte behind 0x4ec is how many stations a report has (2: the driver's comment calls it the largest number) | the same place; `MAX RPT MACID` |
//! | 8 bytes for each: frames that arrived at the first try (two bytes), after one, two, three and four retries, frames given up | 8188e.c, rtl8188e_handle_ra_tx_report2 |
//! | which stations are valid: 64 bits in words 4 and 5 of the receive descriptor; the driver warns when station 0 is not | the same function |
//!
//! What nothing says has a name in [`super::EuAssumptions`], or is assumed without one: more than four retries count as four (the driver's tables give
//! frames of the fifth counter no weight, those given up neither); a report goes out whether or not something was sent (the
//! driver looks whether its sum is 0); each MPDU of an A-MPDU counts by itself; all stations of a report are valid.

use serde::Serialize;

use super::registers as reg;
use crate::chips::realtek::memory::{Memory, Touched};

/// Counters of a station: arrived at once, after one, two, three, and four or more retries.
pub const TRIES: usize = 5;
/// Bytes of a station in a report (8188e.c, TX_RPT2_ITEM_SIZE).
const ITEM: usize = 8;
/// Stations that the descriptor can mark as valid.
const STATIONS: usize = 64;
/// The unit of the report time (comment in rtl8xxxu_init_device).
const UNIT_NS: u64 = 32_000;

/// Which frames are counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Counted {
    /// All frames of the driver that must be acknowledged.
    #[default]
    All,
    /// Only data frames.
    Data,
}

/// What happens to a counter of a report that is full.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Full {
    /// It stays at its largest value.
    #[default]
    Stays,
    /// It starts again from 0.
    Wraps,
}

/// What is assumed of reports.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Assumptions {
    /// Which frames are counted.
    pub counted: Counted,
    /// What happens to a counter that is full.
    pub full: Full,
}

/// The fate of frames.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, serde::Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "ReportTally"))]
pub struct Tally {
    /// Frames that arrived: at once, after one, two, three, and four or more retries.
    pub retries: [u64; TRIES],
    /// Frames that were given up.
    pub given_up: u64,
}

impl Tally {
    fn add(&mut self, other: &Self) {
        for (sum, more) in self.retries.iter_mut().zip(other.retries) {
            *sum += more;
        }
        self.given_up += other.given_up;
    }
}

/// Transmit reports.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, serde::Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ReportCounters {
    /// Reports put into the receive buffer.
    pub sent: u64,
    /// Reports that found no room there, or that the fault `lost_c2h` took: what they counted is lost.
    pub lost: u64,
    /// What the MAC has counted, of all stations.
    pub counted: Tally,
    /// What the reports that were sent say, of all stations. Less than `counted` by lost reports, by what came after
    /// the last report, by stations that are not in reports, by counters that were full, and by what was cleared when the
    /// MAC was switched off.
    pub reported: Tally,
}

/// A report for the driver.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    /// Which stations are valid.
    pub valid: u64,
    /// Its items.
    pub bytes: Vec<u8>,
    said: Tally,
}

/// The counters of the MAC, and when they are reported.
pub(super) struct Reporter {
    assumptions: Assumptions,
    stations: [Tally; STATIONS],
    /// When the last report was due, or reports were switched on; `None`: they are off.
    since_ns: Option<u64>,
    counters: ReportCounters,
}

fn is_enabled(memory: &Memory) -> bool {
    memory.u8(reg::TX_REPORT_CTRL) & reg::TX_REPORT_ON == reg::TX_REPORT_ON
}

/// The time between two reports; `None`: it was not set. (rtl8xxxu switches the timer on before it sets the time.)
fn period_ns(memory: &Memory) -> Option<u64> {
    let units = memory.u16(reg::TX_REPORT_TIME);
    (units > 0).then(|| u64::from(units) * UNIT_NS)
}

impl Reporter {
    pub(super) const fn new(assumptions: Assumptions) -> Self {
        const NOTHING: Tally = Tally { retries: [0; TRIES], given_up: 0 };
        let counters = ReportCounters { sent: 0, lost: 0, counted: NOTHING, reported: NOTHING };
        Self { assumptions, stations: [NOTHING; STATIONS], since_ns: None, counters }
    }

    pub(super) const fn counters(&self) -> &ReportCounters {
        &self.counters
    }

    /// Power was cut, or transmitter and receiver were switched off.
    pub(super) fn clear(&mut self) {
        (self.stations, self.since_ns) = ([Tally::default(); STATIONS], None);
    }

    /// After a write to registers.
    pub(super) fn written(&mut self, now_ns: u64, memory: &Memory, touched: Touched) {
        if touched.has(reg::TX_REPORT_CTRL) {
            self.since_ns = is_enabled(memory).then(|| self.since_ns.unwrap_or(now_ns));
        }
    }

    /// A frame to a station ended after so many retries.
    pub(super) fn ended(&mut self, station: u8, is_data: bool, retries: u8, arrived: bool) {
        if self.assumptions.counted == Counted::Data && !is_data {
            return;
        }
        let mut one = Tally::default();
        match one.retries.get_mut(usize::from(retries).min(TRIES - 1)).filter(|_| arrived) {
            Some(count) => *count = 1,
            None => one.given_up = 1,
        }
        self.counters.counted.add(&one);
        if let Some(tally) = self.stations.get_mut(usize::from(station)) {
            tally.add(&one);
        }
    }

    /// When the next report is due.
    pub(super) fn due_ns(&self, memory: &Memory) -> Option<u64> {
        Some(self.since_ns?.saturating_add(period_ns(memory)?))
    }

    /// The report that is due by now. One that comes late is not made up for.
    pub(super) fn take(&mut self, now_ns: u64, memory: &Memory) -> Option<Report> {
        let due_ns = self.due_ns(memory).filter(|&due_ns| due_ns <= now_ns)?;
        let in_time = period_ns(memory).is_some_and(|period_ns| now_ns - due_ns < period_ns);
        self.since_ns = Some(if in_time { due_ns } else { now_ns });
        let count = usize::from(memory.u8(reg::TX_REPORT_CTRL + 1)).min(STATIONS);
        let mut report = Report { valid: 0, bytes: Vec::with_capacity(count * ITEM), said: Tally::default() };
        for (number, tally) in self.stations.iter_mut().enumerate() {
            let tally = std::mem::take(tally);
            if number < count {
                report.valid |= 1 << number;
                self.assumptions.item(&tally, &mut report);
            }
        }
        (count > 0).then_some(report)
    }

    /// Whether the receive buffer has taken a report.
    pub(super) fn handed_over(&mut self, report: &Report, taken: bool) {
        if taken {
            self.counters.sent += 1;
            self.counters.reported.add(&report.said);
        } else {
            self.counters.lost += 1;
        }
    }
}

impl Assumptions {
    fn counter(self, value: u64, largest: u64) -> u64 {
        match self.full {
            Full::Stays => value.min(largest),
            Full::Wraps => value & largest,
        }
    }

    /// Adds a station to a report.
    fn item(self, tally: &Tally, report: &mut Report) {
        let [at_once, later @ ..] = tally.retries;
        let at_once = self.counter(at_once, u64::from(u16::MAX));
        let [later @ .., given_up] =
            [later[0], later[1], later[2], later[3], tally.given_up].map(|n| self.counter(n, u64::from(u8::MAX)));
        report.bytes.extend((at_once as u16).to_le_bytes());
        report.bytes.extend(later.map(|count| count as u8));
        report.bytes.extend([given_up as u8, 0]);
        let [one, two, three, more] = later;
        report.said.add(&Tally { retries: [at_once, one, two, three, more], given_up });
    }
}

/// What a report says, in words: `station 0: 40 at once, 3 after 1 retry, 1 after 2, 0 after 3, 2 after more, 0 given up`.
pub(super) fn described(valid: u64, bytes: &[u8]) -> String {
    let items = bytes.chunks_exact(ITEM).take(STATIONS).enumerate().filter(|(number, _)| valid >> number & 1 == 1);
    let texts = items.map(|(number, item)| match item {
        [low, high, one, two, three, more, given_up, _] => format!(
            "station {number}: {} at once, {one} after 1 retry, {two} after 2, {three} after 3, {more} after more, \
             {given_up} given up",
            u16::from_le_bytes([*low, *high])
        ),
        _ => String::new(),
    });
    format!("transmit report: {}", texts.collect::<Vec<_>>().join("; "))
}

crate::state!(Reporter { since_ns, counters } each { stations } made { assumptions });

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    fn switched_on(period: u16, stations: u8) -> (Reporter, Memory) {
        let mut memory = Memory::default();
        memory.write(reg::TX_REPORT_TIME, &period.to_le_bytes());
        memory.write(reg::TX_REPORT_CTRL, &[reg::TX_REPORT_ON, stations]);
        let mut reporter = Reporter::new(Assumptions::default());
        reporter.written(5 * MS, &memory, Touched { start: reg::TX_REPORT_CTRL, len: 2 });
        (reporter, memory)
    }

    #[test]
    fn a_report_says_what_was_counted_since_the_last() {
        // 200 ms: the shortest time that rtl8xxxu sets.
        let (mut reporter, memory) = switched_on(0x186a, 2);
        for (retries, times) in [(0, 300), (1, 20), (2, 3), (3, 2), (4, 1), (40, 1)] {
            (0..times).for_each(|_| reporter.ended(0, true, retries, true));
        }
        reporter.ended(0, true, 48, false);
        reporter.ended(1, true, 0, true);
        reporter.ended(9, true, 0, true);
        assert_eq!(reporter.due_ns(&memory), Some(205 * MS));
        assert_eq!(reporter.take(205 * MS - 1, &memory), None);
        let report = reporter.take(205 * MS, &memory).unwrap();
        assert_eq!(
            (report.valid, &report.bytes[..8], &report.bytes[8..]),
            (3, &[44, 1, 20, 3, 2, 2, 1, 0][..], &[1, 0, 0, 0, 0, 0, 0, 0][..])
        );
        reporter.handed_over(&report, true);
        let counters = *reporter.counters();
        assert_eq!(counters.counted, Tally { retries: [302, 20, 3, 2, 2], given_up: 1 });
        assert_eq!(counters.reported, Tally { retries: [301, 20, 3, 2, 2], given_up: 1 }, "station 9 is in no report");
        assert_eq!(reporter.due_ns(&memory), Some(405 * MS));
        let empty = reporter.take(405 * MS, &memory).unwrap();
        assert_eq!((empty.valid, empty.bytes), (3, vec![0; 16]));
    }

    #[test]
    fn counters_have_a_byte() {
        for (full, said) in [(Full::Stays, 255), (Full::Wraps, 44)] {
            let (mut reporter, memory) = switched_on(0x186a, 1);
            reporter.assumptions.full = full;
            (0..300).for_each(|_| reporter.ended(0, true, 1, true));
            let report = reporter.take(205 * MS, &memory).unwrap();
            assert_eq!(report.bytes, [0, 0, said, 0, 0, 0, 0, 0]);
            assert_eq!(report.said.retries[1], u64::from(said));
        }
    }

    #[test]
    fn only_data_may_count() {
        let (mut reporter, _) = switched_on(1, 1);
        reporter.ended(0, false, 0, true);
        assert_eq!(reporter.counters().counted.retries[0], 1);
        reporter.assumptions.counted = Counted::Data;
        reporter.ended(0, false, 0, true);
        reporter.ended(0, true, 0, true);
        assert_eq!(reporter.counters().counted.retries[0], 2);
    }

    #[test]
    fn reports_that_are_late_are_not_made_up_for() {
        let (mut reporter, memory) = switched_on(0x186a, 2);
        assert!(reporter.take(5_000 * MS, &memory).is_some());
        assert_eq!(reporter.due_ns(&memory), Some(5_200 * MS));
    }

    #[test]
    fn without_a_time_there_are_none() {
        let (reporter, _) = switched_on(0, 2);
        let mut memory = Memory::default();
        assert_eq!(reporter.due_ns(&memory), None);
        memory.write(reg::TX_REPORT_TIME, &0xcdf0u16.to_le_bytes());
        assert_eq!(reporter.due_ns(&memory), Some(5 * MS + 1_687_040_000));
    }

    #[test]
    fn they_are_switched_off_and_on() {
        let (mut reporter, mut memory) = switched_on(0x186a, 2);
        memory.set_u8(reg::TX_REPORT_CTRL, 1);
        reporter.written(6 * MS, &memory, Touched { start: reg::TX_REPORT_CTRL, len: 1 });
        assert_eq!(reporter.due_ns(&memory), None);
        memory.set_u8(reg::TX_REPORT_CTRL, 3);
        reporter.written(10 * MS, &memory, Touched { start: reg::TX_REPORT_CTRL, len: 1 });
        assert_eq!(reporter.due_ns(&memory), Some(210 * MS));
        reporter.written(50 * MS, &memory, Touched { start: reg::TX_REPORT_CTRL, len: 1 });
        assert_eq!(reporter.due_ns(&memory), Some(210 * MS), "written again while on");
        reporter.clear();
        assert_eq!(reporter.due_ns(&memory), None);
    }

    #[test]
    fn they_are_put_into_words() {
        let text = described(1, &[44, 1, 20, 3, 2, 2, 1, 0, 9, 9, 9, 9, 9, 9, 9, 9]);
        assert_eq!(
            text,
            "transmit report: station 0: 300 at once, 20 after 1 retry, 3 after 2, 2 after 3, 2 after more, 1 given up"
        );
    }

    proptest::proptest! {
        #[test]
        fn any_registers_give_a_report_of_no_more_than_they_say(control: u8, stations: u8, period: u16, late: u32) {
            let (mut reporter, mut memory) = switched_on(period, stations);
            memory.set_u8(reg::TX_REPORT_CTRL, control);
            reporter.written(0, &memory, Touched { start: reg::TX_REPORT_CTRL, len: 1 });
            reporter.ended(stations, true, control, control & 4 == 0);
            let now_ns = u64::from(late) * 1_000;
            if let Some(report) = reporter.take(now_ns, &memory) {
                proptest::prop_assert!(report.bytes.len() <= 512 && report.bytes.len() == 8 * usize::from(stations).min(64));
                proptest::prop_assert_eq!(report.valid.count_ones() as usize, report.bytes.len() / 8);
            }
            proptest::prop_assert!(reporter.due_ns(&memory).is_none_or(|due_ns| due_ns > now_ns));
        }
    }
}
