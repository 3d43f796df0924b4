"""Sections 4 and 5: PPDUs, responses, Block Ack, aggregation. Mirrors ``report/exchange.rs``."""

from __future__ import annotations

from txop.air.model.station import Bar, Spread
from txop.present.document import Model
from txop.present.sentence import Figure, Sentence


class Exchange(Model):
    """PPDUs of one transmitter to one receiver that solicit an immediate response, and what came."""

    ta: str
    """Transmitter."""
    ra: str
    """Receiver."""
    ppdus: int
    """PPDUs that solicit an ACK or a Block Ack (good or unknown FCS; unicast data, management, BAR; not RTS)."""
    acked: int
    """Answered by ACK."""
    block_acked: int
    """Answered by Block Ack."""
    rts: int
    """RTS sent."""
    cts: int
    """RTS answered by CTS."""
    answered_share: float | None
    """`(acked + block_acked) / ppdus`."""
    missing_resent: int
    """Not answered and sent again: the sender did not get (or did not trust) a response."""
    missing_not_resent: int
    """Not answered and not sent again: the response was most likely only not captured."""
    answered_resent: int
    """Answered, and sent again all the same."""
    late_responses: int | None
    """Responses that came more than one slot, and more than the interquartile range of all gaps, after SIFS; null when
    no gap is known."""
    data_gap_us: Spread | None
    """Response gaps behind data PPDUs alone, µs; `gap_us` has those behind RTS and management frames as well."""
    data_late_responses: int | None
    """The late ones among them."""
    late_answered: int
    """Single MPDUs whose response came late, and whose next transmission was captured."""
    late_answered_resent: int
    """Those of `late_answered` that were sent again, as if no response had come."""
    in_time_answered: int
    """The same of those whose response came in time."""
    in_time_answered_resent: int
    """Those of `in_time_answered` that were sent again."""
    data: ExchangeKind
    """Soliciting PPDUs with data."""
    management: ExchangeKind
    """Soliciting PPDUs with a management frame."""
    unexpected_rate: int
    """Responses at a rate other than the rules give."""
    rate_checked: int
    """Denominator of `unexpected_rate`; 0 when control rates cannot be believed."""
    expected_gap_us: float | None
    """Expected response gap (SIFS), µs."""
    gap_us: Spread | None
    """Response gap: end of the PPDU to start of the response, µs."""
    gap_histogram: list[Bar]
    """Its histogram, 1 µs bars."""
    by_rate: list[ExchangeRate]
    """The same by rate of the soliciting PPDU."""


class ExchangeKind(Model):
    """`Exchange` figures of one kind of frame."""

    ppdus: int
    """Soliciting PPDUs."""
    answered: int
    """Answered."""
    missing_resent: int
    """Not answered and sent again."""
    missing_not_resent: int
    """Not answered and not sent again."""
    late_answered: int | None = None
    """Single MPDUs whose response came late, and whose next transmission was captured; null in older documents, as
    are the three below."""
    late_answered_resent: int | None = None
    """Those of `late_answered` that were sent again, as if no response had come."""
    in_time_answered: int | None = None
    """The same of those whose response came in time."""
    in_time_answered_resent: int | None = None
    """Those of `in_time_answered` that were sent again."""


class ExchangeRate(Model):
    """`Exchange` figures of one rate and kind of frame."""

    frames: str
    """What the soliciting PPDUs carry: `data`, `management`, `control`."""
    label: str
    """Rate label."""
    rate_known: bool
    """The capture tells the rate."""
    ppdus: int
    """Soliciting PPDUs."""
    answered: int
    """Answered, by ACK, Block Ack or CTS."""
    missing_resent: int
    """Not answered and sent again."""
    answered_share: float | None
    """Share answered."""
    median_gap_us: float | None
    """Median response gap, µs."""
    response_rate: str | None
    """Most frequent response rate."""
    expected_rate: str | None
    """What the rules give."""


class BlockAckFlow(Model):
    """Block Ack accounting of one (originator, recipient, TID)."""

    originator: str
    """Who sends the data."""
    recipient: str
    """Who sends the Block Acks."""
    tid: int
    """Traffic identifier."""
    block_acks: int
    """Block Acks with a good or unknown FCS."""
    requests: int
    """Block Ack requests."""
    bitmap_bits: list[int]
    """Bits in the bitmaps, e.g. 64."""
    addba_requests: int
    """Sessions set up: ADDBA requests."""
    addba_accepted: int
    """ADDBA responses that accept."""
    addba_refused: int
    """ADDBA responses that refuse."""
    delba: int
    """DELBA frames, either way."""
    window: int | None
    """Buffer size of the last accepted response (else of the last request)."""
    amsdu_permitted: bool | None
    """A-MSDU in A-MPDU permitted by the last ADDBA."""
    transmissions: int
    """MPDUs captured (transmissions, retries included)."""
    mpdus: int
    """Distinct sequence numbers captured."""
    retransmissions: int
    """Retry transmissions."""
    resent_although_acked: int
    """Of these: of MPDUs that a captured Block Ack or ACK had acknowledged already."""
    newly_acked: int
    """Bits that acknowledge an MPDU for the first time, and whose transmission was captured."""
    acked_not_captured: int
    """Bits that acknowledge an MPDU whose transmission was not captured (first Block Ack of a flow not counted)."""
    stale_bits: int
    """Bits that repeat an acknowledgement."""
    left_out: int
    """MPDUs sent since the Block Ack before, inside the bitmap, whose bit is not set."""
    outside_bitmap: int
    """MPDUs sent since the Block Ack before that its bitmap does not speak of (before its start or beyond its end)."""
    left_out_late: int
    """Of those left out: acknowledged later without having been sent again: proof that they had arrived."""
    left_out_resent_acked: int
    """Of these: sent again, then acknowledged."""
    left_out_resent_lost: int
    """Of these: sent again, never seen acknowledged."""
    left_out_abandoned: int
    """Of these: never sent again, never acknowledged."""
    left_out_retransmissions: int
    """Retransmissions that follow an omission."""
    left_out_in_tail: int
    """Of the left out: in the last quarter of their A-MPDU (MPDU position from the end)."""
    left_out_positioned: int
    """Denominator of the tail test: left-out MPDUs of A-MPDUs with at least 4 MPDUs."""
    positioned: int
    """All answered MPDUs of A-MPDUs with at least 4 MPDUs: what chance alone is computed from."""
    positioned_in_tail: int
    """Of these: in the last quarter of their A-MPDU."""
    by_position_from_end: list[PositionRow]
    """Left-out MPDUs by position counted from the end of their A-MPDU (0: last), with all MPDUs beside it."""
    age_left_out_us: Spread | None
    """Age of an MPDU (its end on the air to the start of the Block Ack), µs, for MPDUs left out."""
    age_acked_us: Spread | None
    """The same for MPDUs acknowledged at once."""
    examples: list[BlockAckExample]
    """The first Block Acks that leave MPDUs out, to be looked up in the capture."""
    without_data: int
    """Block Acks for which nothing of the data was captured."""


class BlockAckExample(Model):
    """A Block Ack that leaves MPDUs out."""

    frame: int
    """Record number of the Block Ack in the file, from 1."""
    at_us: float
    """Start of the Block Ack, µs since the first frame."""
    start_sequence: int
    """Sequence number of the bitmap's first bit."""
    answered: int
    """MPDUs it answers."""
    left_out: list[int]
    """Sequence numbers of those it leaves out (the first 64)."""


class PositionRow(Model):
    """One position in an A-MPDU."""

    from_end: int
    """0: the last MPDU, 1: the one before it, ..."""
    mpdus: int
    """MPDUs at this position in A-MPDUs that got a Block Ack."""
    left_out: int
    """Of these: left out."""


class AckVerdict(Model):
    """Not received, or just too slow to acknowledge? The answer for one direction."""

    originator: str
    """Who sends the data."""
    recipient: str
    """Who should acknowledge."""
    question: str
    """`block-ack` (the seed's ACK #1) or `ack` (ACK #2)."""
    answer: str
    """`in-order` (nothing missing worth a word), `late`, `probably-late`, `not-received`, `rate-dependent`, `mixed`,
    `cannot-be-told`."""
    text: str
    """The answer in words."""
    figures: list[Figure]
    """What the words rest on."""
    evidence: list[Sentence]
    """The evidence, one sentence each."""


class Aggregation(Model):
    """Aggregation of one (transmitter, receiver, TID)."""

    ta: str
    """Transmitter."""
    ra: str
    """Receiver."""
    tid: int | None
    """TID; `None` for frames without QoS."""
    ppdus: int
    """PPDUs with data."""
    ampdus: int | None
    """Of these: A-MPDUs with more than one MPDU captured; `None` when MPDUs could not be grouped."""
    mpdus: int
    """MPDUs in all PPDUs."""
    mpdus_per_ppdu: Spread | None
    """MPDUs per PPDU."""
    histogram: list[Bar]
    """Histogram of MPDUs per PPDU (bars of 1 up to 64, then wider)."""
    bytes_per_ppdu: Spread | None
    """PSDU bytes per PPDU."""
    duration_us: Spread | None
    """PPDU duration, µs."""
    amsdu_mpdus: int
    """MPDUs that carry an A-MSDU."""
    amsdu_subframes: int | None
    """Subframes in them; `None` when encrypted."""
