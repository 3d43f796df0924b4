//! What the host's driver makes of packets before they become URBs: one transfer for one packet, or for many.

use std::collections::VecDeque;

use serde::Serialize;

use crate::engine::{DropCause, Packet};
use crate::modem::encoding::Encoding;
use crate::modem::settings::{DriverSettings, Framing, ModemSettings, QmapAggregation};

/// rmnet sends a packet on its own when the one before it came longer ago than this (`RMNET_AGG_BYPASS_TIME_NSEC`).
const RMNET_BYPASS_NS: u64 = 10_000_000;
/// Timer of the qmi_wwan patch.
const QMI_WWAN_TIMER_NS: u64 = 400_000;
/// How often qmi_wwan's patch and cdc_ncm let their timer expire before they act (`CDC_NCM_TIMER_PENDING_CNT`).
const TIMER_PENDING: u8 = 2;
/// cdc_ncm restarts that count as long as a block has fewer datagrams than this (`CDC_NCM_RESTART_TIMER_DATAGRAM_CNT`).
const NCM_RESTART_DATAGRAMS: usize = 3;

/// Why a transfer was sent as it was.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum TxReason {
    /// Nothing is aggregated.
    Single,
    /// rmnet: the traffic was too sparse.
    Bypass,
    /// The next packet did not fit, or nothing more would (cdc_ncm's `tx_reason_ntb_full`).
    Full,
    /// It had as many packets as it may have (`tx_reason_max_datagram`).
    MaxDatagrams,
    /// The timer expired (`tx_reason_timeout`).
    Timeout,
}

/// A packet on its way.
#[derive(Clone, Debug)]
pub(crate) struct Slot<P> {
    pub(crate) packet: P,
    /// The driver copied it, so its buffer was freed before the URB completes.
    pub(crate) is_copied: bool,
}

/// What becomes a URB.
#[derive(Clone, Debug)]
pub(crate) struct Frame<P> {
    pub(crate) slots: Vec<Slot<P>>,
    pub(crate) len: usize,
    /// Bytes behind the last packet.
    pub(crate) padding: usize,
    pub(crate) reason: TxReason,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Rule {
    None,
    Rmnet,
    QmiWwan,
    Ncm,
}

/// The transfer that is being filled, and the rule by which it goes.
#[derive(Clone, Debug)]
pub(crate) struct Aggregator<P> {
    rule: Rule,
    encoding: Encoding,
    max_datagrams: usize,
    max_bytes: usize,
    time_ns: u64,
    max_packet: usize,
    slots: Vec<Slot<P>>,
    len: usize,
    /// When its first packet came.
    since_ns: u64,
    /// When the packet before came.
    last_ns: Option<u64>,
    timer_ns: Option<u64>,
    pending: u8,
}

impl<P: Packet> Aggregator<P> {
    pub(crate) fn new(settings: &ModemSettings) -> Self {
        let driver = &settings.driver;
        let rule = rule(driver);
        let time_ns = if rule == Rule::QmiWwan { QMI_WWAN_TIMER_NS } else { u64::from(driver.timer_us) * 1_000 };
        let encoding = Encoding::uplink(settings);
        Self {
            rule,
            encoding,
            max_datagrams: driver.max_datagrams as usize,
            max_bytes: driver.max_bytes as usize,
            time_ns,
            max_packet: settings.usb.max_packet_bytes() as usize,
            slots: Vec::new(),
            len: encoding.empty_len(),
            since_ns: 0,
            last_ns: None,
            timer_ns: None,
            pending: 0,
        }
    }

    /// Whether it sits below the interface's queue, and so takes packets only while URBs are free.
    pub(crate) fn is_below_queue(&self) -> bool {
        self.rule == Rule::Ncm
    }

    /// Packets in the transfer that is being filled.
    pub(crate) fn slots(&self) -> &[Slot<P>] {
        &self.slots
    }

    /// When it wants [`Self::expire`] to be called.
    pub(crate) fn timer_ns(&self) -> Option<u64> {
        self.timer_ns
    }

    /// Gives all packets up.
    pub(crate) fn clear(&mut self) -> Vec<Slot<P>> {
        (self.timer_ns, self.pending, self.last_ns) = (None, 0, None);
        self.len = self.encoding.empty_len();
        std::mem::take(&mut self.slots)
    }

    /// Takes a packet; what is ready to be sent is appended to `out`.
    ///
    /// # Errors
    /// It can never be sent.
    pub(crate) fn push(&mut self, now_ns: u64, packet: P, out: &mut VecDeque<Frame<P>>) -> Result<(), (P, DropCause)> {
        let size = packet.size_bytes();
        let last_ns = self.last_ns.replace(now_ns);
        let alone = self.encoding.single(size);
        // QMAP lengths have 16 bits.
        let most = if self.rule == Rule::None { usize::from(u16::MAX) } else { self.max_bytes };
        if alone > most {
            return Err((packet, DropCause::Oversize));
        }
        if self.rule == Rule::None || self.max_datagrams < 2 {
            out.push_back(self.single(packet, TxReason::Single));
            return Ok(());
        }
        if !self.slots.is_empty() && self.encoding.grown(self.len, size) > self.max_bytes {
            out.push_back(self.flush(TxReason::Full));
            if self.rule == Rule::Rmnet {
                self.timer_ns = None;
            }
        }
        let bypassed = last_ns.is_none_or(|last| now_ns.saturating_sub(last) > RMNET_BYPASS_NS) || alone == most;
        if self.rule == Rule::Rmnet && self.slots.is_empty() && bypassed {
            out.push_back(self.single(packet, TxReason::Bypass));
            return Ok(());
        }
        if self.slots.is_empty() {
            self.since_ns = now_ns;
        }
        // rmnet copies the first packet into the buffer and chains the others to it; the other two copy every packet.
        let is_copied = self.rule != Rule::Rmnet || self.slots.is_empty();
        self.len = self.encoding.grown(self.len, size);
        self.slots.push(Slot { packet, is_copied });
        self.settle_push(now_ns, out);
        Ok(())
    }

    /// After a packet has been added: the transfer goes, or the timer runs.
    fn settle_push(&mut self, now_ns: u64, out: &mut VecDeque<Frame<P>>) {
        let reason = if self.slots.len() >= self.max_datagrams {
            Some(TxReason::MaxDatagrams)
        } else if self.rule == Rule::Rmnet && self.len == self.max_bytes {
            Some(TxReason::Full)
        } else if self.rule == Rule::Rmnet && now_ns - self.since_ns > self.time_ns
            || self.rule == Rule::Ncm && self.time_ns == 0
        {
            Some(TxReason::Timeout)
        } else {
            None
        };
        if let Some(reason) = reason {
            out.push_back(self.flush(reason));
            if self.rule == Rule::Rmnet {
                self.timer_ns = None;
            }
            return;
        }
        if self.rule == Rule::QmiWwan || self.rule == Rule::Ncm && self.slots.len() < NCM_RESTART_DATAGRAMS {
            self.pending = TIMER_PENDING;
        }
        self.timer_ns.get_or_insert(now_ns + self.time_ns);
    }

    /// The timer has expired; what is ready to be sent is appended to `out`.
    pub(crate) fn expire(&mut self, now_ns: u64, out: &mut VecDeque<Frame<P>>) {
        self.timer_ns = None;
        if self.rule != Rule::Rmnet && self.pending > 0 {
            self.pending -= 1;
            self.timer_ns = Some(now_ns + self.time_ns);
        } else if !self.slots.is_empty() {
            out.push_back(self.flush(TxReason::Timeout));
        }
    }

    fn single(&self, packet: P, reason: TxReason) -> Frame<P> {
        let len = self.encoding.single(packet.size_bytes());
        let is_copied = self.rule == Rule::Ncm;
        self.padded(Frame { slots: vec![Slot { packet, is_copied }], len, padding: 0, reason })
    }

    fn flush(&mut self, reason: TxReason) -> Frame<P> {
        let slots = std::mem::take(&mut self.slots);
        let len = std::mem::replace(&mut self.len, self.encoding.empty_len());
        self.padded(Frame { slots, len, padding: 0, reason })
    }

    /// cdc_ncm fills a block that is nearly full, and avoids an empty packet at the end of others.
    fn padded(&self, mut frame: Frame<P>) -> Frame<P> {
        if self.rule != Rule::Ncm {
            return frame;
        }
        let len = frame.len;
        if len + 3 * self.max_packet > self.max_bytes {
            frame.len = self.max_bytes;
        } else if len % self.max_packet == 0 {
            frame.len += 1;
        }
        frame.padding = frame.len - len;
        frame
    }
}

fn rule(driver: &DriverSettings) -> Rule {
    match (driver.framing, driver.aggregation) {
        (Framing::Ncm16 | Framing::Ncm32 | Framing::Mbim16, _) => Rule::Ncm,
        (Framing::Qmap, QmapAggregation::Rmnet) => Rule::Rmnet,
        (Framing::Qmap, QmapAggregation::QmiWwan) => Rule::QmiWwan,
        _ => Rule::None,
    }
}

#[cfg(test)]
#[path = "aggregate_tests.rs"]
mod tests;
