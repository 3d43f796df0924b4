//! Reports of transmission: a queue that the driver reads from two registers (Linux mt76x02_mac.c,
//! mt76x02_mac_load_tx_status).

use std::collections::VecDeque;

use wire::usb::mediatek::Rate;

use super::model::Model;

/// What happened to a frame.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub(super) struct Report {
    pub(super) acknowledged: bool,
    pub(super) aggregated: bool,
    pub(super) ack: bool,
    pub(super) wcid: u8,
    /// The rate of the last try.
    pub(super) rate: Rate,
    pub(super) retries: u8,
    pub(super) packet_id: u8,
}

/// The queue.
#[derive(Debug, Default, serde::Serialize, serde::Deserialize)]
pub(super) struct Reports {
    waiting: VecDeque<Report>,
    /// The register with the mark was read while there was none: the main one shows none either, once. The driver reads
    /// the two one after the other, and would take a report that came in between for one without a mark.
    shown_empty: bool,
}

impl Reports {
    /// Adds a report; `false`: there is no room, and it is lost.
    pub(super) fn push(&mut self, report: Report, room: usize) -> bool {
        let fits = self.waiting.len() < room;
        if fits {
            self.waiting.push_back(report);
        }
        fits
    }

    /// What the register with retries and mark shows: of the first report, which stays.
    pub(super) fn extension(&mut self) -> u32 {
        self.shown_empty = self.waiting.is_empty();
        self.waiting.front().map_or(0, |it| u32::from(it.retries) | u32::from(it.packet_id) << 8)
    }

    /// What the main register shows; the report is gone then.
    pub(super) fn take(&mut self, model: Model) -> u32 {
        if std::mem::take(&mut self.shown_empty) {
            return 0;
        }
        self.waiting.pop_front().map_or(0, |it| {
            1 | u32::from(model.report_mark(it.packet_id)) << 1
                | u32::from(it.acknowledged) << 5
                | u32::from(it.aggregated) << 6
                | u32::from(it.ack) << 7
                | u32::from(it.wcid) << 8
                | u32::from(model.report_rate(it.rate)) << 16
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn are_read_one_by_one() {
        let mut reports = Reports::default();
        let report = Report {
            acknowledged: true,
            ack: true,
            wcid: 3,
            rate: Rate(0x4007),
            retries: 2,
            packet_id: 0x87,
            ..Report::default()
        };
        assert!(reports.push(report, 1) && !reports.push(report, 1));
        assert_eq!(reports.extension(), 0x8702);
        assert_eq!(
            (reports.take(Model::Mt7610u), reports.take(Model::Mt7610u), reports.extension()),
            (0x4007_03a1, 0, 0)
        );
    }

    /// mt7601u/mac.c, mt7601u_mac_fetch_tx_status.
    #[test]
    fn an_mt7601u_has_all_in_one_register() {
        let mut reports = Reports::default();
        let report =
            Report { acknowledged: true, ack: true, wcid: 1, rate: Rate(0x4206), packet_id: 8, ..Report::default() };
        assert!(reports.push(report, 1));
        // HT with the short guard interval, MCS 6; mark 8.
        assert_eq!(reports.take(Model::Mt7601u), 0x8106_01b1);
        assert_eq!(reports.take(Model::Mt7601u), 0);
    }

    #[test]
    fn a_report_that_comes_between_two_reads_waits_for_the_next_two() {
        let mut reports = Reports::default();
        assert_eq!(reports.extension(), 0);
        assert!(reports.push(Report { packet_id: 5, ..Report::default() }, 1));
        assert_eq!(reports.take(Model::Mt7610u), 0);
        assert_eq!((reports.extension(), reports.take(Model::Mt7610u)), (0x0500, 1));
    }
}
