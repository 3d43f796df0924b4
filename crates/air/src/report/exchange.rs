//! Sections 4 and 5: PPDUs, responses, Block Ack, aggregation.

use serde::Serialize;

use super::station::{Bar, Spread};
use sentence::Sentence;

/// PPDUs of one transmitter to one receiver that solicit an immediate response, and what came.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Exchange {
    /// Transmitter.
    pub ta: String,
    /// Receiver.
    pub ra: String,
    /// PPDUs that solicit an ACK or a Block Ack (good or unknown FCS; unicast data, management, BAR; not RTS), and
    /// are followed by an undamaged frame: where the next one is damaged, it may be the response.
    pub ppdus: u64,
    /// Those of `ppdus` that ask for an ACK; the others ask for a Block Ack, or it is unknown which.
    #[serde(default)] // older documents lack it
    pub asking_for_ack: Option<u64>,
    /// Answered by ACK.
    pub acked: u64,
    /// Answered by Block Ack.
    pub block_acked: u64,
    /// RTS sent.
    pub rts: u64,
    /// RTS answered by CTS.
    pub cts: u64,
    /// `(acked + block_acked) / ppdus`.
    pub answered_share: Option<f64>,
    /// Not answered and sent again: the sender did not get (or did not trust) a response.
    pub missing_resent: u64,
    /// Not answered and not sent again: the response was most likely only not captured.
    pub missing_not_resent: u64,
    /// Answered, and retransmitted anyway.
    pub answered_resent: u64,
    /// Responses that came more than one slot, and more than the interquartile range of all gaps, after SIFS; `None` when no
    /// gap is known.
    pub late_responses: Option<u64>,
    /// Response gaps behind data PPDUs alone, µs; `gap_us` has those behind RTS and management frames as well.
    pub data_gap_us: Option<Spread>,
    /// The late ones among them.
    pub data_late_responses: Option<u64>,
    /// Single MPDUs with a late response and a captured next transmission.
    pub late_answered: u64,
    /// Those of `late_answered` that were sent again, as if no response had come.
    pub late_answered_resent: u64,
    /// The same of those with a response in time.
    pub in_time_answered: u64,
    /// Those of `in_time_answered` that were sent again.
    pub in_time_answered_resent: u64,
    /// Soliciting PPDUs with data.
    pub data: ExchangeKind,
    /// Soliciting PPDUs with a management frame.
    pub management: ExchangeKind,
    /// Responses at a rate other than the rules give.
    pub unexpected_rate: u64,
    /// Denominator of `unexpected_rate`; 0 when control rates cannot be believed.
    pub rate_checked: u64,
    /// Expected response gap (SIFS), µs.
    pub expected_gap_us: Option<f64>,
    /// A response later than `expected_gap_us` by more than this is late: a slot, and the spread of the capture's response gaps.
    #[serde(default)] // older documents lack it
    pub late_after_us: Option<f64>,
    /// Response gap: end of the PPDU to start of the response, µs.
    pub gap_us: Option<Spread>,
    /// Its histogram, 1 µs bars.
    pub gap_histogram: Vec<Bar>,
    /// The same by rate of the soliciting PPDU.
    pub by_rate: Vec<ExchangeRate>,
}

/// [`Exchange`] figures of one kind of frame.
#[derive(Clone, Copy, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ExchangeKind {
    /// Soliciting PPDUs.
    pub ppdus: u64,
    /// Answered.
    pub answered: u64,
    /// Not answered and sent again.
    pub missing_resent: u64,
    /// Not answered and not sent again.
    pub missing_not_resent: u64,
    /// Those of `ppdus` that are Null frames, which carry no data.
    #[serde(default)] // older documents lack it
    pub nulls: Option<u64>,
    /// Single MPDUs with a late response and a captured next transmission; null in older documents, as are the
    /// three below.
    #[serde(default)] // older documents lack it
    pub late_answered: Option<u64>,
    /// Those of `late_answered` that were sent again, as if no response had come.
    #[serde(default)] // older documents lack it
    pub late_answered_resent: Option<u64>,
    /// The same of those with a response in time.
    #[serde(default)] // older documents lack it
    pub in_time_answered: Option<u64>,
    /// Those of `in_time_answered` that were sent again.
    #[serde(default)] // older documents lack it
    pub in_time_answered_resent: Option<u64>,
}

/// [`Exchange`] figures of one rate and kind of frame.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ExchangeRate {
    /// What the soliciting PPDUs carry: `data`, `management`, `control`.
    pub frames: String,
    /// Rate label.
    pub label: String,
    /// The capture records the rate.
    pub rate_known: bool,
    /// Soliciting PPDUs.
    pub ppdus: u64,
    /// Answered, by ACK, Block Ack or CTS.
    pub answered: u64,
    /// Share answered.
    pub answered_share: Option<f64>,
    /// Those of `answered` by ACK.
    #[serde(default)] // older documents lack it
    pub acked: Option<u64>,
    /// Those of `ppdus` that ask for an ACK.
    #[serde(default)] // older documents lack it
    pub asking_for_ack: Option<u64>,
    /// Those of `ppdus` without the retry bit.
    #[serde(default)] // older documents lack it
    pub first_attempts: Option<u64>,
    /// Not answered and sent again.
    pub missing_resent: u64,
    /// Median response gap, µs.
    pub median_gap_us: Option<f64>,
    /// Most frequent response rate.
    pub response_rate: Option<String>,
    /// What the rules give.
    pub expected_rate: Option<String>,
}

/// Block Ack accounting of one (originator, recipient, TID).
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BlockAckFlow {
    /// Who sends the data.
    pub originator: String,
    /// Who sends the Block Acks.
    pub recipient: String,
    /// Traffic identifier.
    pub tid: u8,
    /// Block Acks with a good or unknown FCS.
    pub block_acks: u64,
    /// Block Ack requests.
    pub requests: u64,
    /// Bits in the bitmaps, e.g. 64.
    pub bitmap_bits: Vec<u16>,
    /// Sessions set up: ADDBA requests.
    pub addba_requests: u64,
    /// ADDBA responses that accept.
    pub addba_accepted: u64,
    /// ADDBA responses that refuse.
    pub addba_refused: u64,
    /// DELBA frames, either way.
    pub delba: u64,
    /// Buffer size of the last accepted response (else of the last request).
    pub window: Option<u16>,
    /// A-MSDU in A-MPDU permitted by the last ADDBA.
    pub amsdu_permitted: Option<bool>,
    /// MPDUs captured (transmissions, retries included).
    pub transmissions: u64,
    /// Distinct sequence numbers captured.
    pub mpdus: u64,
    /// Retry transmissions.
    pub retransmissions: u64,
    /// Retransmissions of MPDUs that a captured Block Ack or ACK had acknowledged already.
    pub resent_although_acked: u64,
    /// Bits that acknowledge a captured MPDU for the first time.
    pub newly_acked: u64,
    /// Bits that acknowledge an MPDU that was not captured (first Block Ack of a flow not counted).
    pub acked_not_captured: u64,
    /// Bits that repeat an acknowledgement.
    pub stale_bits: u64,
    /// MPDUs sent since the previous Block Ack, inside the bitmap, with a bit of 0.
    pub left_out: u64,
    /// MPDUs sent since the Block Ack before that its bitmap does not speak of (before its start or beyond its end).
    pub outside_bitmap: u64,
    /// Block Ack holes that were acknowledged later by the Block Ack of a PPDU that was captured whole and does not carry them: proof that
    /// they had arrived.
    pub left_out_late: u64,
    /// Block Ack holes that were acknowledged later without a captured retransmission by a Block Ack of a PPDU that was not captured, or
    /// perhaps not whole: they may have been sent again in it.
    #[serde(default)] // older documents lack it
    pub left_out_acked_unseen: Option<u64>,
    /// Block Ack holes that were sent again, then acknowledged.
    pub left_out_resent_acked: u64,
    /// Block Ack holes that were sent again and never seen acknowledged.
    pub left_out_resent_lost: u64,
    /// Block Ack holes that were never sent again and never acknowledged.
    pub left_out_abandoned: u64,
    /// Retransmissions that follow an omission.
    pub left_out_retransmissions: u64,
    /// Block Ack holes in the last quarter of their A-MPDU (MPDU position from the end).
    pub left_out_in_tail: u64,
    /// Denominator of the tail test: Block Ack holes in A-MPDUs with at least 4 MPDUs that were acknowledged in part. Of one left
    /// out whole, a quarter of the omissions is in its last quarter whatever the cause.
    pub left_out_positioned: u64,
    /// Block Acks that left them out: how many events `left_out_positioned` is of.
    #[serde(default)] // older documents lack it
    pub left_out_positioned_block_acks: Option<u64>,
    /// All answered MPDUs of A-MPDUs with at least 4 MPDUs, of which one at least was acknowledged: what chance alone is computed
    /// from.
    pub positioned: u64,
    /// MPDUs of `positioned` in the last quarter of their A-MPDU.
    pub positioned_in_tail: u64,
    /// Left-out MPDUs by position counted from the end of their A-MPDU (0: last), with all MPDUs beside it.
    pub by_position_from_end: Vec<PositionRow>,
    /// Age of an MPDU (its end on the air to the start of the Block Ack), µs, for Block Ack holes.
    pub age_left_out_us: Option<Spread>,
    /// The same for MPDUs acknowledged at once.
    pub age_acked_us: Option<Spread>,
    /// The first Block Acks that leave MPDUs out, to be looked up in the capture.
    pub examples: Vec<BlockAckExample>,
    /// Block Acks for which nothing of the data was captured.
    pub without_data: u64,
    /// Those of `block_acks` that follow the captured PPDU or request that they answer.
    #[serde(default)] // older documents lack it
    pub block_acks_answering: Option<u64>,
    /// Those of `block_acks` that answer a PPDU of which all MPDUs were captured, as its length and times show.
    #[serde(default)] // older documents lack it
    pub block_acks_of_whole: Option<u64>,
}

/// A Block Ack that leaves MPDUs out.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BlockAckExample {
    /// Record number of the Block Ack in the file, from 1.
    pub frame: u64,
    /// Start of the Block Ack, µs since the first frame.
    pub at_us: f64,
    /// Sequence number of the bitmap's first bit.
    pub start_sequence: u16,
    /// MPDUs it answers.
    pub answered: u32,
    /// Sequence numbers of those it leaves out (the first 64).
    pub left_out: Vec<u16>,
}

/// One position in an A-MPDU.
#[derive(Clone, Copy, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PositionRow {
    /// 0: the last MPDU, 1: the one before it, ...
    pub from_end: u32,
    /// MPDUs at this position in A-MPDUs that got a Block Ack.
    pub mpdus: u64,
    /// Those that are Block Ack holes.
    pub left_out: u64,
}

/// Not received, or just too slow to acknowledge? The answer for one direction.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AckVerdict {
    /// Who sends the data.
    pub originator: String,
    /// Who should acknowledge.
    pub recipient: String,
    /// `block-ack` (the seed's ACK #1) or `ack` (ACK #2).
    pub question: String,
    /// `in-order` (nothing missing worth a word), `late`, `probably-late`, `not-received`, `rate-dependent`, `unanswered` (the sender
    /// got no response and sent again; why is not known), `mixed`, `not-determined`.
    pub answer: String,
    /// Why it is not determined: `no-data`, `too-few`, `data-missing`, `frames-missing`, `no-acks`, `no-block-acks`,
    /// `no-control-frames`, `no-responses`, `own-receiver`, `retries-unexplained`, `positions-unknown`, `duplicates`, `disorder`, ... (codes of
    /// limits); null where it is determined.
    #[serde(default)] // older documents lack it
    pub reason: Option<String>,
    /// The same in words, without the beginning that all such sentences have.
    #[serde(default)] // older documents lack it
    pub because: Option<String>,
    /// The answer in words, and the figures it rests on.
    #[serde(flatten)]
    pub sentence: Sentence,
    /// The evidence, one sentence each.
    pub evidence: Vec<Sentence>,
}

impl AckVerdict {
    /// Nothing can be determined, for the reason `why` with this code.
    pub fn withhold(&mut self, code: &str, why: &Sentence) {
        self.answer = "not-determined".to_owned();
        self.reason = Some(code.to_owned());
        self.because = Some(why.text().to_owned());
        self.sentence = why.clone().after("unknown: ");
        self.evidence.clear();
    }
}

/// Aggregation of one (transmitter, receiver, TID).
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Aggregation {
    /// Transmitter.
    pub ta: String,
    /// Receiver.
    pub ra: String,
    /// TID; `None` for frames without QoS.
    pub tid: Option<u8>,
    /// PPDUs with data; `None` when MPDUs could not be grouped.
    pub ppdus: Option<u64>,
    /// A-MPDUs with more than one MPDU captured; `None` when MPDUs could not be grouped.
    pub ampdus: Option<u64>,
    /// MPDUs in all PPDUs.
    pub mpdus: u64,
    /// MPDUs per PPDU.
    pub mpdus_per_ppdu: Option<Spread>,
    /// Histogram of MPDUs per PPDU (bars of 1 up to 64, then wider).
    pub histogram: Vec<Bar>,
    /// PSDU bytes per PPDU.
    pub bytes_per_ppdu: Option<Spread>,
    /// PPDU duration, µs.
    pub duration_us: Option<Spread>,
    /// MPDUs that carry an A-MSDU.
    pub amsdu_mpdus: u64,
    /// Subframes in them; `None` when encrypted.
    pub amsdu_subframes: Option<u64>,
}
