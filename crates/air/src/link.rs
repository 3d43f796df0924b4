//! Frames from one transmitter to one receiver.

use std::ops::AddAssign;

use wire::ieee80211::{MacAddr, Seq};

use crate::aggregation::Aggregates;
use crate::copies::Copies;
use crate::exchange_stats::ExchangeStats;
use crate::frame::Frame;
use crate::network::is_counted;
use crate::ppdu::Ppdu;
use crate::series::Series;
use crate::station::{AirtimeNs, RateHistogram, Signal};
use crate::table::{Table, Weight};

/// (transmitter, receiver) rows kept.
pub const MAX_LINKS: usize = 2_048;

/// (link, TID) rows of aggregation counters, all links together.
pub const MAX_AGGREGATES: usize = 4_096;

/// Fewest frames of a link that are there twice for a sentence about them.
const MIN_TWICE: u64 = 5;

/// Width of a bin of the steadiness series before it has to grow.
pub const FLOW_BIN_NS: i64 = 100_000_000;

/// Where the microseconds of one direction went, ns.
#[derive(Clone, Copy, Debug, Default)]
pub struct SpentNs {
    /// Payload bits of first captured copies.
    pub payload: i64,
    /// MAC, security and LLC headers, FCS, delimiters, padding, PHY tail bits, frames without payload.
    pub headers: i64,
    /// PHY preambles of PPDUs with a first captured copy.
    pub preamble: i64,
    /// Inter-frame spaces and backoff.
    pub ifs: i64,
    /// ACK, Block Ack, Block Ack requests.
    pub ack: i64,
    /// RTS and CTS.
    pub rts_cts: i64,
    /// Copies of MPDUs captured before, with their share of the preamble.
    pub retries: i64,
}

impl SpentNs {
    /// The same causes of a PPDU of which only `visible` of `duration` ns count; the sum is `visible` exactly.
    pub fn scaled(&self, visible: i64, duration: i64) -> Self {
        if visible >= duration {
            return *self;
        }
        let part = |ns: i64| (ns as f64 * visible as f64 / duration.max(1) as f64) as i64;
        let mut scaled = Self {
            payload: part(self.payload),
            headers: 0,
            preamble: part(self.preamble),
            ifs: part(self.ifs),
            ack: part(self.ack),
            rts_cts: part(self.rts_cts),
            retries: part(self.retries),
        };
        scaled.headers = visible - scaled.total();
        scaled
    }

    /// Sum of all.
    pub fn total(&self) -> i64 {
        self.payload + self.headers + self.preamble + self.ifs + self.ack + self.rts_cts + self.retries
    }
}

impl AddAssign for SpentNs {
    fn add_assign(&mut self, other: Self) {
        self.payload += other.payload;
        self.headers += other.headers;
        self.preamble += other.preamble;
        self.ifs += other.ifs;
        self.ack += other.ack;
        self.rts_cts += other.rts_cts;
        self.retries += other.retries;
    }
}

/// One bin of the steadiness series.
#[derive(Clone, Copy, Debug, Default)]
pub struct FlowSum {
    /// Payload bytes of first captured copies.
    pub payload: u64,
    /// Data MPDUs.
    pub mpdus: u32,
    /// Retries among them.
    pub retries: u32,
    /// Sum of the PHY rates of the MPDUs, kbit/s.
    pub rate_kbps: u64,
    /// MPDUs with a known rate.
    pub rated: u32,
}

impl AddAssign for FlowSum {
    fn add_assign(&mut self, other: Self) {
        self.payload += other.payload;
        self.mpdus += other.mpdus;
        self.retries += other.retries;
        self.rate_kbps += other.rate_kbps;
        self.rated += other.rated;
    }
}

/// Rows of a link's two ends in the table of stations, valid in one generation of it.
#[derive(Clone, Copy, Debug)]
pub struct StationRows {
    /// Generation of the table.
    pub generation: u32,
    /// Transmitter's row.
    pub ta: u32,
    /// Receiver's row.
    pub ra: u32,
}

/// What MU and trigger-based PPDUs gave to one direction.
#[derive(Clone, Copy, Debug, Default)]
pub struct UnitTime {
    /// PPDUs of which frames of other users were captured, too.
    pub joint: u64,
    /// PPDUs with a known duration, and this user's part of the width.
    pub ppdus: u64,
    /// Their durations, ns.
    pub air_ns: i64,
    /// The same, each times the part of the width, ns.
    pub unit_ns: f64,
}

impl UnitTime {
    /// Counts a PPDU.
    pub fn add(&mut self, ppdu: &Ppdu) {
        self.joint += u64::from(ppdu.whole.is_some());
        if let (Some(air_ns), Some(share)) = (ppdu.air_ns(), ppdu.mode.unit_share()) {
            self.ppdus += 1;
            self.air_ns += air_ns;
            self.unit_ns += air_ns as f64 * share;
        }
    }
}

/// A data PPDU, remembered until the next one shows whether it comes back.
#[derive(Clone, Copy, Debug)]
pub struct LastSent {
    /// Reading of the channel's idle counter when it began.
    pub idle_ns: i64,
    tid: Option<u8>,
    first_sequence: u16,
    mpdus: u16,
}

impl LastSent {
    /// What is remembered of a PPDU; `None` without sequence numbers.
    pub fn of(ppdu: &Ppdu, idle_ns: i64) -> Option<Self> {
        let first = ppdu.data_mpdus().next()?;
        let mpdus = ppdu.mpdus.len().min(1024) as u16;
        Some(Self { idle_ns, tid: first.tid, first_sequence: first.sequence?, mpdus })
    }

    /// One of its sequence numbers is sent again.
    pub fn comes_back_in(&self, ppdu: &Ppdu) -> bool {
        ppdu.data_mpdus().any(|m| {
            m.fc.retry()
                && m.tid == self.tid
                && m.sequence.is_some_and(|s| Seq::new(s).is_within(Seq::new(self.first_sequence), self.mpdus))
        })
    }
}

/// Time of damaged frames that may have hidden attempts of a link: those since its latest data PPDU, and what is left of those
/// before as long as it sends nothing but what was hidden.
#[derive(Clone, Copy, Debug, Default)]
pub struct Hidden {
    /// Reading of the channel's counter of damaged time at the latest data PPDU, ns.
    pub damaged_ns: i64,
    /// Not used up at that time, ns.
    pub left_ns: i64,
}

/// Counters of one (transmitter, receiver).
#[derive(Debug)]
pub struct Link {
    /// Transmitter.
    pub ta: MacAddr,
    /// Receiver.
    pub ra: MacAddr,
    /// BSSID of the latest frame that names one.
    pub bssid: Option<MacAddr>,
    /// Latest data frame's (ToDS, FromDS).
    pub ds: Option<(bool, bool)>,
    /// Frames.
    pub frames: u64,
    /// MPDU bytes.
    pub bytes: u64,
    /// Data frames (not Null).
    pub data: u64,
    /// Null frames.
    pub nulls: u64,
    /// Frames that are in the capture twice, by whatever makes them.
    pub twice: u64,
    /// Frames Wireshark's window counts.
    pub counted: u64,
    /// Retries among `counted`.
    pub counted_retries: u64,
    /// Unicast data MPDUs with usable FCS.
    pub mpdus: u64,
    /// The ones among them that are EAPOL in the clear.
    pub eapol: u64,
    /// Retries among them.
    pub mpdu_retries: u64,
    /// Retries of the main interface of which no undamaged earlier attempt was captured.
    pub unseen_retries: u64,
    /// First and last frame on the main interface, ns, and how many there are.
    pub on_medium: Option<(i64, i64, u64)>,
    /// Bytes of `mpdus`.
    pub mpdu_bytes: u64,
    /// Bytes of `mpdu_retries`.
    pub retry_bytes: u64,
    /// Payload bytes of first captured copies, of those that the waterfall accounts for.
    pub payload_bytes: u64,
    /// Payload time at full duration, and the payload bytes it carried: together the effective PHY rate.
    pub timed_payload_ns: i64,
    /// See `timed_payload_ns`.
    pub timed_payload_bytes: u64,
    /// Those of `mpdus` that were sent on the waterfall's channel.
    pub medium_mpdus: u64,
    /// Retries among them.
    pub medium_retries: u64,
    /// Those of `medium_mpdus` that are in PPDUs with a known duration.
    pub timed_mpdus: u64,
    /// MU and trigger-based PPDUs.
    pub units: UnitTime,
    /// Airtime by kind.
    pub airtime: AirtimeNs,
    /// Rates of data frames.
    pub rates: RateHistogram,
    /// Signal.
    pub signal: Signal,
    /// First frame.
    pub first_ns: i64,
    /// Last frame.
    pub last_ns: i64,
    /// Waterfall.
    pub spent: SpentNs,
    /// Idle time of the channel while this sender had an MPDU to repeat.
    pub idle_queued_ns: i64,
    /// Its latest data PPDU.
    pub last_sent: Option<LastSent>,
    /// What may have hidden attempts.
    pub hidden: Hidden,
    /// Responses.
    pub exchange: Option<Box<ExchangeStats>>,
    /// Aggregation by TID (`None`: no QoS), at most 17.
    pub aggregates: Vec<(Option<u8>, Box<Aggregates>)>,
    /// Throughput over time.
    pub series: Series<FlowSum>,
    /// Sequence numbers captured lately, by TID; at most 17.
    copies: Vec<(Option<u8>, Copies)>,
    /// One of its frames belongs to the chosen network.
    pub is_chosen: bool,
    /// Where its ends are counted, once known.
    pub station_rows: Option<StationRows>,
}

impl Weight for Link {
    fn weight(&self) -> u64 {
        self.mpdus.saturating_mul(1 << 20).saturating_add(self.frames)
    }
}

impl Link {
    /// A link without frames.
    pub fn new(ta: MacAddr, ra: MacAddr, at_ns: i64) -> Self {
        Self {
            ta,
            ra,
            bssid: None,
            ds: None,
            frames: 0,
            bytes: 0,
            data: 0,
            nulls: 0,
            twice: 0,
            counted: 0,
            counted_retries: 0,
            mpdus: 0,
            eapol: 0,
            mpdu_retries: 0,
            unseen_retries: 0,
            on_medium: None,
            mpdu_bytes: 0,
            retry_bytes: 0,
            payload_bytes: 0,
            timed_payload_ns: 0,
            timed_payload_bytes: 0,
            medium_mpdus: 0,
            medium_retries: 0,
            timed_mpdus: 0,
            units: UnitTime::default(),
            airtime: AirtimeNs::default(),
            rates: RateHistogram::default(),
            signal: Signal::default(),
            first_ns: at_ns,
            last_ns: at_ns,
            spent: SpentNs::default(),
            idle_queued_ns: 0,
            last_sent: None,
            hidden: Hidden::default(),
            exchange: None,
            aggregates: Vec::new(),
            series: Series::new(FLOW_BIN_NS),
            copies: Vec::new(),
            is_chosen: false,
            station_rows: None,
        }
    }

    /// Counts a frame; whether it repeats an MPDU that was captured before (for other frames: the retry bit). `is_main`: throughput is counted too, because
    /// it is from the interface of the waterfall's channel.
    pub fn frame(&mut self, frame: &Frame, at_ns: i64, is_main: bool) -> bool {
        let fc = frame.header.fc;
        let retry = fc.retry();
        self.frames += 1;
        self.bytes += u64::from(frame.mpdu_len);
        self.last_ns = at_ns;
        if is_main {
            let (first_ns, _, frames) = self.on_medium.unwrap_or((at_ns, at_ns, 0));
            self.on_medium = Some((first_ns, at_ns, frames + 1));
        }
        if is_counted(frame) {
            self.counted += 1;
            self.counted_retries += u64::from(retry);
        }
        let data = fc.carries_data();
        self.data += u64::from(data);
        self.nulls += u64::from(fc.is_null());
        if !frame.usable() {
            return retry;
        }
        if let Some(bssid) = frame.header.bssid() {
            self.bssid = Some(bssid);
        }
        self.signal.add(frame);
        if !data {
            return retry;
        }
        self.ds = Some((fc.to_ds(), fc.from_ds()));
        self.rates.add(&frame.radio.mode, retry, frame.mpdu_len);
        if self.ra.is_group() {
            return retry;
        }
        self.mpdus += 1;
        self.eapol += u64::from(frame.is_eapol);
        self.mpdu_bytes += u64::from(frame.mpdu_len);
        if retry {
            self.mpdu_retries += 1;
            self.retry_bytes += u64::from(frame.mpdu_len);
        }
        if !is_main {
            return retry;
        }
        self.medium_mpdus += 1;
        self.medium_retries += u64::from(retry);
        let repeats = !self.is_first_copy(frame, retry, at_ns);
        self.unseen_retries += u64::from(retry && !repeats);
        if !repeats {
            self.payload_bytes += u64::from(frame.payload_len);
        }
        let rate = frame.radio.mode.rate_kbps();
        self.series.add(
            at_ns,
            FlowSum {
                payload: if repeats { 0 } else { u64::from(frame.payload_len) },
                mpdus: 1,
                retries: u32::from(retry),
                rate_kbps: u64::from(rate.unwrap_or(0)),
                rated: u32::from(rate.is_some()),
            },
        );
        repeats
    }

    fn is_first_copy(&mut self, frame: &Frame, retry: bool, at_ns: i64) -> bool {
        let (Some(sequence), Some(fragment)) = (frame.header.sequence, frame.header.fragment) else { return !retry };
        let tid = frame.header.qos.map(|qos| qos.tid());
        let row = match self.copies.iter().position(|(other, _)| *other == tid) {
            Some(row) => row,
            None => {
                self.copies.push((tid, Copies::default()));
                self.copies.len() - 1
            }
        };
        self.copies.get_mut(row).is_none_or(|(_, copies)| copies.is_first(sequence, fragment, retry, at_ns))
    }

    /// Aggregation counters of a TID; a new row takes one from `budget`, and there is none when that is used up.
    pub fn aggregates(&mut self, tid: Option<u8>, budget: &mut usize) -> Option<&mut Aggregates> {
        if let Some(position) = self.aggregates.iter().position(|(other, _)| *other == tid) {
            return self.aggregates.get_mut(position).map(|(_, row)| &mut **row);
        }
        *budget = budget.checked_sub(1)?;
        self.aggregates.push((tid, Box::default()));
        self.aggregates.last_mut().map(|(_, row)| &mut **row)
    }

    /// So many of its frames are there twice that its responses cannot be assessed.
    pub fn is_doubled(&self) -> bool {
        self.twice >= MIN_TWICE && self.twice * 20 > self.frames
    }

    /// `uplink`, `downlink`, `direct` or `group`, by the DS bits of its data, else by what the ends are; `unknown` without either.
    pub fn direction(&self, ta_is_ap: bool, ra_is_ap: bool) -> &'static str {
        if self.ra.is_group() {
            return "group";
        }
        match self.ds {
            Some((true, false)) => "uplink",
            Some((false, true)) => "downlink",
            Some(_) => "direct",
            None if ta_is_ap && !ra_is_ap => "downlink",
            None if ra_is_ap && !ta_is_ap => "uplink",
            None => "unknown",
        }
    }
}

/// All links.
pub type Links = Table<(u64, u64), Link>;
