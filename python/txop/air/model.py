"""Typed objects for everything in a `txop-air` document (docs/air-json.md).

Null in the document is ``None`` here and means *not available*, never zero.

Made by scripts/contract.py from docs/schema: change the structs in Rust instead.
"""

from __future__ import annotations

from pydantic import Field

from txop.present.document import Model
from txop.present.report_parts import DamageNote, Figure, Sentence, Window


class DhcpMessage(Model):
    """A DHCP message, and how it fared on the air."""

    record: int
    """Record number of its first frame captured."""
    at_us: float
    """When, µs since the first frame."""
    ta: str
    """Transmitter."""
    ra: str
    """Receiver."""
    message: str
    """`DISCOVER`, `OFFER`, `REQUEST`, `ACK`, ... or `type 9`."""
    transaction: str
    """Transaction ID, hexadecimal."""
    client: str
    """Hardware address of the client."""
    address: str | None
    """Address that the server gives; null when the message has none."""
    attempts: int
    """Attempts of its MPDU captured."""
    acknowledged: bool | None
    """An 802.11 acknowledgement was captured; null for group addresses, which are not acknowledged."""


class RateAttempts(Model):
    """Attempts at one rate."""

    label: str
    """`HT20 MCS7`, `54 Mb/s`, ..."""
    attempts: int
    """Attempts."""


class TcpSentAgain(Model):
    """A TCP segment that was sent again, and what happened to the copy before it."""

    record: int
    """Record number of the frame with the segment."""
    at_us: float
    """When, µs since the first frame."""
    ta: str
    """Transmitter."""
    ra: str
    """Receiver."""
    source: str
    """Source address and port."""
    destination: str
    """Destination address and port."""
    tcp_sequence: int
    """TCP sequence number, as it is in the segment."""
    payload_bytes: int
    """Bytes of data."""
    copy_before: str
    """`not-acknowledged`, `acknowledged`, `not-captured`: the copy before it, by its 802.11 acknowledgement."""
    needless: bool
    """The peer had acknowledged all of it before, by an ACK in the capture."""
    after_us: float | None
    """Time from the first attempt of the copy before, µs; null when it was not captured."""
    mpdu_sequence: int | None
    """802.11 sequence number of the MPDU of the copy before."""
    attempts: int | None
    """Attempts of that MPDU on the air, captured with a good or unknown FCS."""
    attempts_missed: bool | None
    """The first attempt captured has the retry bit: there were more before."""
    attempts_span_us: float | None
    """From its first to its last attempt captured, µs."""
    rates: list[RateAttempts]
    """Attempts by rate, in the order of their first ones (4 rates at most; `unknown` has the others)."""
    text: str
    """In words."""
    figures: list[Figure]
    """What the words rest on, in the order of the text."""


class PacketFlow(Model):
    """Packets with the same ends, from one transmitter to one receiver."""

    ta: str
    """Transmitter."""
    ra: str
    """Receiver."""
    protocol: str
    """`TCP`, `UDP`, `ICMP`, `ICMPv6`, `ARP`, `IP protocol 50`, ..."""
    source: str | None
    """Source address; null for ARP."""
    source_port: int | None
    """Source port of TCP and UDP."""
    destination: str | None
    """Destination address; null for ARP."""
    destination_port: int | None
    """Destination port of TCP and UDP."""
    first_us: float
    """First packet, µs since the first frame."""
    last_us: float
    """Last packet."""
    packets: int
    """Packets."""
    bytes: int
    """Their bytes by the lengths in their IP headers (as captured, where a snap length or an 802.11 fragment ends
    before)."""
    mpdus: int
    """MPDUs with a (first) packet of the flow."""
    attempts: int
    """Attempts of these MPDUs on the air, captured with a good or unknown FCS."""
    acknowledged: int | None
    """MPDUs of which an acknowledgement was captured; null for group addresses, which are not acknowledged."""
    airtime_us: float | None
    """Airtime of the attempts with a known duration, µs; null when there are none."""
    tcp_payload_bytes: int | None
    """TCP: bytes of data in the segments, those sent again included."""
    tcp_segments: int | None
    """TCP: segments with data, SYN or FIN, without keep-alives."""
    tcp_sent_again: int | None
    """TCP: segments among them that begin below the highest sequence number before them."""
    tcp_copy_not_acknowledged: int | None
    """TCP: those sent again after a captured copy without a captured acknowledgement of its MPDU."""
    tcp_copy_acknowledged: int | None
    """TCP: those sent again after a copy that 802.11 acknowledged."""
    tcp_copy_not_captured: int | None
    """TCP: those sent again without a copy before in the capture (or one that is no longer remembered)."""
    tcp_not_captured_retries: int | None = None
    """TCP: those of `tcp_copy_not_captured` that came in an 802.11 retry: most likely overtaken while they were
    repeated, and not sent again by TCP."""
    tcp_needless: int | None
    """TCP: those sent again that the peer had acknowledged before, by an ACK in the capture."""
    tcp_keep_alives: int | None
    """TCP: keep-alives."""
    tcp_missing_bytes: int | None
    """TCP: bytes below the highest sequence number that were never captured on this hop."""


class Traffic(Model):
    """Packets joined with the MPDUs that carried them. null in the report when it was not asked for."""

    packets: int
    """Packets: IPv4, IPv6 and ARP, in frames without encryption and in decrypted ones. Attempts after the first do
    not count."""
    packets_left_out: int
    """Those among them that are in no row, because there were too many flows."""
    flows: list[PacketFlow]
    """Per transmitter, receiver and flow, most bytes first (256 at most)."""
    flow_count: int
    """Flows there were."""
    mpdus_left_out: int
    """MPDUs with attempts that are not followed, because there were too many transmitters and receivers."""
    tcp_sent_again: list[TcpSentAgain]
    """TCP segments that were sent again, in capture order (1,000 at most)."""
    tcp_sent_again_left_out: int
    """More of them, without a row."""
    dhcp: list[DhcpMessage]
    """DHCP messages, in capture order (256 at most)."""
    dhcp_left_out: int
    """More of them, without a row."""
    sentences: list[Sentence]
    """In words: what happened to the copies of TCP segments that were sent again."""


class DecryptedGroup(Model):
    """Group-addressed data of one sender."""

    sender: str
    """Sender."""
    ssid: str | None
    """Name of its network, where it was captured."""
    protected: int
    """Protected data MPDUs."""
    decrypted: int
    """Decrypted."""
    no_key: int
    """No key of the pair, or group key of the sender, was known when they came; the `state` of a pair says why."""
    other_key: int
    """Keys were known, and their MIC (WEP: integrity check value) matches under none: of another session or network,
    or damaged."""
    cut: int
    """Cut by the snap length."""


class DecryptedPair(Model):
    """Individually addressed data between two stations."""

    access_point: str
    """Access point: the authenticator of the handshake, else by the DS bits."""
    station: str
    """Station."""
    ssid: str | None
    """Name of the network, where it was captured; bytes that are not text are shown as `\\xNN`."""
    state: str
    """How far it came: `keys`, `no-handshake`, `incomplete-handshake`, `wrong-key`, `no-key-for-network`,
    `pmk-needed`, `unsupported-akm`, `unsupported-cipher`, `no-wep-key`, `too-many-handshakes`."""
    akm: str | None
    """Key management that the station chose; null without message 2."""
    cipher: str | None
    """Pairwise cipher that the station chose; null without message 2."""
    messages: list[int]
    """Messages 1 to 4 of four-way handshakes captured, copies included."""
    handshakes: int
    """Handshakes with keys that a MIC proved."""
    mismatches: int
    """Handshakes that none of the keys given fits."""
    protected: int
    """Protected data MPDUs."""
    decrypted: int
    """Decrypted."""
    no_key: int
    """No key of the pair, or group key of the sender, was known when they came; the `state` of a pair says why."""
    other_key: int
    """Keys were known, and their MIC (WEP: integrity check value) matches under none: of another session or network,
    or damaged."""
    cut: int
    """Cut by the snap length."""


class Decryption(Model):
    """How far the keys given went. null in the report when there were none."""

    keys: int
    """Keys in the key file."""
    protected: int
    """Protected data MPDUs (with a good or unknown FCS; retries count each)."""
    decrypted: int
    """Those decrypted: their MIC matches (WEP, and TKIP in fragments: their integrity check value)."""
    packet_number_not_above: int
    """Those decrypted with a packet number that is not above all before it, and that are not retries: replays, or a
    file in disorder."""
    pairs: list[DecryptedPair]
    """Per pair of stations, most protected MPDUs first (512 at most)."""
    groups: list[DecryptedGroup]
    """Per sender of group-addressed frames, likewise."""
    sentences: list[Sentence]
    """In words: how many were decrypted, and why the others were not."""


class SteadinessEvent(Model):
    """A remarkable moment, with its likely cause or "unexplained"."""

    start_us: float
    """Start, µs since the first frame."""
    end_us: float
    """End."""
    kind: str
    """`dropout`, `drop`, `rise`, `retry-shift`."""
    text: str
    """In words."""
    figures: list[Figure]
    """What the words rest on, in the order of the text."""


class RetryCount(Model):
    """Retry counts with their denominator."""

    frames: int
    """Denominator."""
    retries: int
    """Those with the retry bit."""
    percent: float | None
    """`100 * retries / frames`; null when there are no frames."""


class FlowBin(Model):
    """A bin of a direction's series."""

    start_us: float
    """Start, µs since the first frame."""
    mbit_s: float | None
    """Payload throughput (each captured data MPDU once), Mbit/s; null where more than half of the bin was not
    observed."""
    retry: RetryCount
    """Retries of this bin."""
    phy_rate_mbit_s: float | None
    """Mean PHY rate of the data MPDUs, Mbit/s."""
    busy_share: float | None
    """Channel busy share."""


class Steadiness(Model):
    """Throughput and retries over time, of one direction."""

    ta: str
    """Transmitter."""
    ra: str
    """Receiver."""
    direction: str
    """`uplink`, `downlink`, `direct`."""
    bin_us: float
    """Width of a bin, µs."""
    series: list[FlowBin]
    """Bins from first to last frame of this direction."""
    events: list[SteadinessEvent]
    """Remarkable moments, in time order."""
    events_sought: bool | None = None
    """Whether events were looked for: at least 10 observed bins beside the first and the last, and a median of 0.1
    Mbit/s."""
    not_sought: Sentence | None = None
    """Why events were not looked for; null where they were."""
    median_bins: int | None = None
    """Observed bins beside the first and the last, which median and variation are of."""
    median_mbit_s: float | None
    """Median payload throughput over these bins, Mbit/s."""
    variation: float | None
    """Coefficient of variation of the bins' throughput."""


class CapabilityRow(Model):
    """One capability of one station."""

    capability: str
    """In the words of a Wi-Fi Alliance certificate."""
    claimed: str
    """Whether it is claimed. `yes`: its frames say so; `no`: its frames say the contrary, or leave out the element
    that would say so; `not_available`: no frame with such a claim was captured, or no element can make it."""
    claimed_detail: str | None
    """What exactly is claimed, or why it is not available."""
    seen: int | None
    """Frames that used it; null when this capture does not show it."""
    seen_detail: str | None
    """Numerator and denominator in words, or why the capture does not show it."""
    note: Sentence | None
    """What a reader should notice: a claim that was not used although there was an occasion, or a use without a
    claim."""


class CapabilityAudit(Model):
    """Claims and use of one station."""

    address: str
    """MAC address."""
    role: str
    """`ap`, `station`, or what else sends beacons: `ibss`, `mesh`."""
    ssid: str | None
    """The SSID it announces or asked to join, made safe for display."""
    claimed_in: str | None
    """Where the claims come from: `beacon or probe response`, `association request`, `probe request`; null when no
    such frame was captured."""
    frames: int
    """Frames it sent that are not known to be damaged."""
    rows: list[CapabilityRow]
    """One per capability."""


class WaterfallStep(Model):
    """One cause with its share of the observed time."""

    cause: str
    """Stable identifier, see `docs/air-json.md`: `payload`, `mac_headers`, `preamble`, `ifs_backoff`, `ack`,
    `rts_cts`, `retries`, `reverse`, `other_stations`, `beacons_management`, `damaged`, `idle_queued`, `idle`,
    `unobserved`."""
    label: str
    """In words."""
    us: float
    """µs of the observed time."""
    share: float
    """Fraction of the observed time; all steps sum to one."""
    mbit_s: float
    """Goodput (Mbit/s) this cause costs: its share of the effective PHY rate."""


class Waterfall(Model):
    """The waterfall of one direction."""

    ta: str
    """Transmitter."""
    ra: str
    """Receiver."""
    direction: str
    """`uplink`, `downlink`, `direct`."""
    observed_us: float
    """Observed time, µs."""
    phy_rate_mbit_s: float | None
    """Effective PHY rate: this direction's payload bits by the µs that they take on the air, Mbit/s; of the MPDUs
    with a duration is known. The padding of symbols is in it, so it is less than the rate of the MCS, of short PPDUs
    by much. Null where no duration is known."""
    payload_mbit_s: float
    """Payload (bytes above LLC/SNAP of data MPDUs, each captured one once) per observed time, Mbit/s."""
    payload_bytes: int
    """Payload bytes counted."""
    mpdus: int
    """Data MPDUs counted."""
    mpdus_timed: int | None = None
    """Those among them with a known duration: what the effective PHY rate and the steps are of."""
    timing: str
    """How time was known: `stamps` (calibrated), `capture-clock` (gaps not separable)."""
    steps: list[WaterfallStep]
    """Causes; shares sum to one."""
    advice: list[Sentence]
    """The two largest losses and what would bring them back."""


class BusyBin(Model):
    """A bin of the busy series."""

    start_us: float
    """Start, µs since the first frame."""
    busy_share: float
    """Busy share in this bin."""
    data_share: float
    """Share of data (first transmissions)."""
    retry_share: float
    """Share of retries."""
    bss_share: float | None = None
    """Share of the chosen network; null when none was chosen."""


class PhyAirtime(Model):
    """Airtime of one PHY."""

    phy: str
    """Label."""
    ppdus: int
    """PPDUs."""
    airtime_us: float
    """Sum of the durations of these PPDUs, µs."""


class AirtimeKinds(Model):
    """Airtime by kind, µs."""

    data_us: float
    """First transmissions of data."""
    retry_us: float
    """Data frames with the retry bit."""
    control_us: float
    """Control frames (ACK, Block Ack, RTS, CTS, BAR, ...)."""
    management_us: float
    """Management frames without beacons."""
    beacon_us: float
    """Beacons."""
    unknown_us: float
    """Damaged frames and reserved types."""


class Airtime(Model):
    """Airtime of all stations."""

    busy_us: float | None
    """null when no frame has its rate recorded."""
    observed_us: float | None
    """Observed time, µs (time the sniffer spent on other channels left out)."""
    busy_share: float | None
    """`busy_us / observed_us`; null where the time observed is that of the frames themselves, as with a single
    frame."""
    busy_share_low: float | None
    """The least that the busy share can be: unknown preambles and symbols counted against it, frames without a known
    duration as nothing."""
    busy_share_high: float | None
    """The most that it can be: frames without a known duration as long as they can have been."""
    kinds: AirtimeKinds | None
    """By kind."""
    bss_us: float | None = None
    """The part of `busy_us` in which the chosen network sends, its stations included; null when none was chosen."""
    bss_share: float | None = None
    """`bss_us / observed_us`."""
    bss_busy_share: float | None = None
    """`bss_us / busy_us`."""
    bss_kinds: AirtimeKinds | None = None
    """Airtime of the chosen network by kind."""
    frames_without_duration: int
    """Frames of unknown duration."""
    uncertainty_us: float | None
    """Half-width of the uncertainty of `busy_us` (unknown preambles, LDPC symbols, ...), µs."""
    by_phy: list[PhyAirtime]
    """Airtime by PHY: DSSS/CCK, OFDM, HT mixed, HT greenfield, VHT, HE, EHT."""
    series: list[BusyBin]
    """Busy share over time."""
    bin_us: float
    """Width of a bin, µs."""


class SigBRate(Model):
    """HE MU PPDUs that sent their HE-SIG-B in the same way."""

    mcs: int
    """MCS: 0 to 5, higher ones are reserved."""
    dcm: bool | None
    """Dual carrier modulation; null where the header does not show it."""
    ppdus: int
    """PPDUs."""


class AllocationCount(Model):
    """PPDUs that share the channel out in the same way."""

    units: str
    """Units as `count x tones`, largest first: `484 + 2 x 242`."""
    users: int
    """User fields of each of these PPDUs."""
    ppdus: int
    """PPDUs."""
    users_captured: int
    """Users captured, all these PPDUs together."""


class AllocatedUnit(Model):
    """Resource units of one size."""

    tones: int
    """Tones: 26 to 996 in HE, to 1992 in EHT, also the whole band (to 3984) where that is shared by MU-MIMO."""
    units: int
    """Units."""


class MultiUserPpdus(Model):
    """HE and EHT PPDUs to several users, as wholes: what their signalling allocates, and which users' frames were
    captured. Parts of one PPDU are known by their equal hardware stamps."""

    ta: str
    """Transmitter."""
    ppdus: int
    """PPDUs of which at least one frame was captured."""
    parts_without_stamp: int
    """Parts of such PPDUs that have no stamp: which of them are one PPDU cannot be determined. In none of the other
    counts."""
    allocation_known: int
    """PPDUs with a header that lists all units and users: HE-MU or EHT with the RU Allocation of both content
    channels (EHT: without units of several parts), or MU-MIMO in the whole band with its number of users."""
    contradictory: int
    """PPDUs with headers that contradict each other, or tell fewer users than were captured. Not in
    `allocation_known`."""
    units: int | None
    """Resource units in `allocation_known`; null when there are none."""
    users: int | None
    """User fields in them. A unit can be allocated and left empty, so this is the most users there can be."""
    users_captured: int | None
    """Users of them with a captured frame that is not known to be damaged."""
    users_not_captured: int | None
    """`users` without `users_captured`: users without a captured frame, and units that were left empty."""
    resource_units: list[AllocatedUnit]
    """Units by their size, smallest first."""
    allocations: list[AllocationCount]
    """The same by allocation, most PPDUs first, 32 at most."""
    sig_timed: int | None = None
    """PPDUs with a known duration (their header has the L-SIG), and how long their HE-SIG-B or EHT-SIG lasted: its
    symbols, or for an HE-SIG-B without a common field (compressed) its MCS and number of users."""
    sig_us: float | None = None
    """Time of HE-SIG-B or EHT-SIG in them, µs: what it costs to say who has which unit. Null when there are none."""
    sig_air_us: float | None = None
    """Sum of the durations of these PPDUs, µs. Null when there are none."""
    sig_share: float | None = None
    """`sig_us / sig_air_us`."""
    sig_b_rates: list[SigBRate] = Field(default_factory=list)
    """HE MU PPDUs by the rate of their HE-SIG-B, where the header states it."""


class ResourceUnit(Model):
    """Frames in resource units of one size."""

    tones: int
    """Tones: 26 to 1992 in HE, to 3984 in EHT."""
    frames: int
    """Frames."""


class MultiUser(Model):
    """HE and EHT data frames of one transmitter to one receiver, by the format of their PPDU and the resource unit
    they were in. Frames are MPDUs; a PPDU to several users is in the capture once for each user with received
    frames."""

    ta: str
    """Transmitter."""
    ra: str
    """Receiver."""
    frames: int
    """HE and EHT data frames, FCS good or unknown."""
    single_user: int
    """In PPDUs to a single user (HE SU, EHT MU with one user)."""
    extended_range: int
    """In extended-range PPDUs (HE ER SU)."""
    multi_user: int
    """In PPDUs to several users (HE MU; EHT OFDMA and MU-MIMO)."""
    trigger_based: int
    """In trigger-based PPDUs (uplink)."""
    format_unknown: int
    """The capture does not say which."""
    unit_known: int
    """Frames with a recorded resource unit: in MU and trigger-based PPDUs only those with its size; in all others
    the whole band."""
    certainly_ofdma: int
    """Frames of `unit_known` in a unit that is smaller than the PPDU's width, or of which the U-SIG says that they
    are OFDMA. Where the capture does not give the width, only units smaller than the narrowest channel (242 tones)
    count."""
    certainly_ofdma_share: float | None
    """`certainly_ofdma / unit_known`."""
    ppdus_timed: int | None = None
    """MU and trigger-based PPDUs with a known duration (their header has the L-SIG), and this user's resource unit
    and the width."""
    ppdus_air_us: float | None = None
    """Sum of the durations of these, µs: each PPDU once, whatever part of it this user had. Null when there are
    none."""
    band_share: float | None = None
    """Mean part of the width that this user's resource unit took in them, weighted with their durations: tones of
    the unit by tones of the width. Null when there are none."""
    ppdus_joint: int | None = None
    """MU and trigger-based PPDUs of which frames of other users were captured, too, by their hardware stamp. Such a
    PPDU's time counts once: airtime and waterfall give each user the part that its unit is of all units captured."""
    resource_units: list[ResourceUnit]
    """Frames by size of their resource unit, where it is known; smallest first."""


class Spread(Model):
    """Five-number view of a sampled quantity."""

    n: int
    """Sample size."""
    min: float
    """Smallest."""
    p5: float
    """5th percentile."""
    median: float
    """Median."""
    p95: float
    """95th percentile."""
    max: float
    """Largest."""
    mean: float
    """Mean."""


class Bar(Model):
    """One bar of a histogram over `[low, high)`."""

    low: float
    """Inclusive lower edge."""
    high: float
    """Exclusive upper edge."""
    count: int
    """Samples."""


class Aggregation(Model):
    """Aggregation of one (transmitter, receiver, TID)."""

    ta: str
    """Transmitter."""
    ra: str
    """Receiver."""
    tid: int | None
    """TID; null for frames without QoS."""
    ppdus: int | None
    """PPDUs with data; null when MPDUs could not be grouped."""
    ampdus: int | None
    """A-MPDUs with more than one MPDU captured; null when MPDUs could not be grouped."""
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
    """Subframes in them; null when encrypted."""


class AckVerdict(Model):
    """Not received, or just too slow to acknowledge? The answer for one direction."""

    originator: str
    """Who sends the data."""
    recipient: str
    """Who should acknowledge."""
    question: str
    """`block-ack` (the seed's ACK #1) or `ack` (ACK #2)."""
    answer: str
    """`in-order` (nothing missing worth a word), `late`, `probably-late`, `not-received`, `rate-dependent`,
    `unanswered` (the sender got no response and sent again; why is not known), `mixed`, `not-determined`."""
    reason: str | None = None
    """Why it is not determined: `no-data`, `too-few`, `data-missing`, `frames-missing`, `no-acks`, `no-block-acks`,
    `no-control-frames`, `no-responses`, `own-receiver`, `retries-unexplained`, `positions-unknown`, `duplicates`,
    `disorder`, ... (codes of limits); null where it is determined."""
    because: str | None = None
    """The same in words, without the beginning that all such sentences have."""
    text: str
    """In words."""
    figures: list[Figure]
    """What the words rest on, in the order of the text."""
    evidence: list[Sentence]
    """The evidence, one sentence each."""


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
    """Those that are Block Ack holes."""


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
    """Retransmissions of MPDUs that a captured Block Ack or ACK had acknowledged already."""
    newly_acked: int
    """Bits that acknowledge a captured MPDU for the first time."""
    acked_not_captured: int
    """Bits that acknowledge an MPDU that was not captured (first Block Ack of a flow not counted)."""
    stale_bits: int
    """Bits that repeat an acknowledgement."""
    left_out: int
    """MPDUs sent since the previous Block Ack, inside the bitmap, with a bit of 0."""
    outside_bitmap: int
    """MPDUs sent since the Block Ack before that its bitmap does not speak of (before its start or beyond its end)."""
    left_out_late: int
    """Block Ack holes that were acknowledged later by the Block Ack of a PPDU that was captured whole and does not
    carry them: proof that they had arrived."""
    left_out_acked_unseen: int | None = None
    """Block Ack holes that were acknowledged later without a captured retransmission by a Block Ack of a PPDU that
    was not captured, or perhaps not whole: they may have been sent again in it."""
    left_out_resent_acked: int
    """Block Ack holes that were sent again, then acknowledged."""
    left_out_resent_lost: int
    """Block Ack holes that were sent again and never seen acknowledged."""
    left_out_abandoned: int
    """Block Ack holes that were never sent again and never acknowledged."""
    left_out_retransmissions: int
    """Retransmissions that follow an omission."""
    left_out_in_tail: int
    """Block Ack holes in the last quarter of their A-MPDU (MPDU position from the end)."""
    left_out_positioned: int
    """Denominator of the tail test: Block Ack holes in A-MPDUs with at least 4 MPDUs that were acknowledged in part.
    Of one left out whole, a quarter of the omissions is in its last quarter whatever the cause."""
    left_out_positioned_block_acks: int | None = None
    """Block Acks that left them out: how many events `left_out_positioned` is of."""
    positioned: int
    """All answered MPDUs of A-MPDUs with at least 4 MPDUs, of which one at least was acknowledged: what chance alone
    is computed from."""
    positioned_in_tail: int
    """MPDUs of `positioned` in the last quarter of their A-MPDU."""
    by_position_from_end: list[PositionRow]
    """Left-out MPDUs by position counted from the end of their A-MPDU (0: last), with all MPDUs beside it."""
    age_left_out_us: Spread | None
    """Age of an MPDU (its end on the air to the start of the Block Ack), µs, for Block Ack holes."""
    age_acked_us: Spread | None
    """The same for MPDUs acknowledged at once."""
    examples: list[BlockAckExample]
    """The first Block Acks that leave MPDUs out, to be looked up in the capture."""
    without_data: int
    """Block Acks for which nothing of the data was captured."""
    block_acks_answering: int | None = None
    """Those of `block_acks` that follow the captured PPDU or request that they answer."""
    block_acks_of_whole: int | None = None
    """Those of `block_acks` that answer a PPDU of which all MPDUs were captured, as its length and times show."""


class ExchangeRate(Model):
    """`Exchange` figures of one rate and kind of frame."""

    frames: str
    """What the soliciting PPDUs carry: `data`, `management`, `control`."""
    label: str
    """Rate label."""
    rate_known: bool
    """The capture records the rate."""
    ppdus: int
    """Soliciting PPDUs."""
    answered: int
    """Answered, by ACK, Block Ack or CTS."""
    answered_share: float | None
    """Share answered."""
    acked: int | None = None
    """Those of `answered` by ACK."""
    asking_for_ack: int | None = None
    """Those of `ppdus` that ask for an ACK."""
    first_attempts: int | None = None
    """Those of `ppdus` without the retry bit."""
    missing_resent: int
    """Not answered and sent again."""
    median_gap_us: float | None
    """Median response gap, µs."""
    response_rate: str | None
    """Most frequent response rate."""
    expected_rate: str | None
    """What the rules give."""


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
    nulls: int | None = None
    """Those of `ppdus` that are Null frames, which carry no data."""
    late_answered: int | None = None
    """Single MPDUs with a late response and a captured next transmission; null in older documents, as are the three
    below."""
    late_answered_resent: int | None = None
    """Those of `late_answered` that were sent again, as if no response had come."""
    in_time_answered: int | None = None
    """The same of those with a response in time."""
    in_time_answered_resent: int | None = None
    """Those of `in_time_answered` that were sent again."""


class Exchange(Model):
    """PPDUs of one transmitter to one receiver that solicit an immediate response, and what came."""

    ta: str
    """Transmitter."""
    ra: str
    """Receiver."""
    ppdus: int
    """PPDUs that solicit an ACK or a Block Ack (good or unknown FCS; unicast data, management, BAR; not RTS), and
    are followed by an undamaged frame: where the next one is damaged, it may be the response."""
    asking_for_ack: int | None = None
    """Those of `ppdus` that ask for an ACK; the others ask for a Block Ack, or it is unknown which."""
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
    """Answered, and retransmitted anyway."""
    late_responses: int | None
    """Responses that came more than one slot, and more than the interquartile range of all gaps, after SIFS; null
    when no gap is known."""
    data_gap_us: Spread | None
    """Response gaps behind data PPDUs alone, µs; `gap_us` has those behind RTS and management frames as well."""
    data_late_responses: int | None
    """The late ones among them."""
    late_answered: int
    """Single MPDUs with a late response and a captured next transmission."""
    late_answered_resent: int
    """Those of `late_answered` that were sent again, as if no response had come."""
    in_time_answered: int
    """The same of those with a response in time."""
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
    late_after_us: float | None = None
    """A response later than `expected_gap_us` by more than this is late: a slot, and the spread of the capture's
    response gaps."""
    gap_us: Spread | None
    """Response gap: end of the PPDU to start of the response, µs."""
    gap_histogram: list[Bar]
    """Its histogram, 1 µs bars."""
    by_rate: list[ExchangeRate]
    """The same by rate of the soliciting PPDU."""


class GhostEffect(Model):
    """What ghosts do to the statistics."""

    addresses: int
    """Unicast addresses seen anywhere."""
    addresses_good: int
    """Addresses seen in at least one frame with a good FCS."""
    ghosts: int
    """Ghosts."""
    ghost_frames: int
    """Frames sent or received by ghosts."""
    retry_all: RetryCount
    """Retry % of data frames, all frames."""
    retry_good: RetryCount
    """Retry % of data frames, bad FCS left out."""
    addresses_evicted: int
    """Addresses not kept because the table was full (their frames are in every total)."""


class Ghost(Model):
    """An address that is most likely a damaged copy of another."""

    address: str
    """The address."""
    of: str | None
    """Its most likely origin; null when none is near enough."""
    distance: int | None
    """Bits in which they differ; null without an origin."""
    frames_sent: int
    """Frames that carry it as transmitter."""
    frames_received: int
    """Frames that carry it as receiver."""
    bad_fcs: int
    """Frames with a bad FCS, sent and received."""
    reason: str
    """Why it is taken to be a ghost."""


class UnclearLink(Model):
    """An address that is claimed for more than one multi-link device: it is in none of them."""

    address: str
    """The address."""
    mlds: list[str]
    """The devices that it is claimed for: all of them, or four where there are more, and `text` says "at least"."""
    text: Sentence
    """Why it can't be determined."""


class DeviceLink(Model):
    """One link of a multi-link device."""

    address: str
    """Its address, under which it is in `stations`."""
    link_id: int | None
    """Its number in the device, where a frame states it."""
    channel: int | None
    """Its primary channel, where it or its access point names one."""
    own_claims: int
    """Frames with a Multi-Link element that this address sent itself; beacons that repeat the last one count once."""
    named_by_others: int
    """Frames in which another link of the device names it, likewise: profiles of the Multi-Link element, neighbour
    reports."""
    frames_sent: int
    """Frames sent."""
    mpdu_retry: RetryCount
    """Unicast data MPDUs, and the retries among them."""
    airtime_us: float | None
    """Airtime of what it sent, µs; null where it is not available."""


class MultiLinkDevice(Model):
    """Stations that are links of one device by what they say themselves (IEEE 802.11be: multi-link device, MLD).
    What each link does is in `stations` and `links`, under its own address."""

    mld: str
    """Address of the device."""
    kind: str
    """`ap` or `station`."""
    links: list[DeviceLink]
    """Its links, those with most frames first."""
    links_captured: int
    """Links of which frames were captured."""
    frames_sent: int
    """Frames of all links."""
    data_frames_sent: int
    """Data frames (not Null) of all links."""
    bytes_sent: int
    """MPDU bytes of all links."""
    mpdu_retry: RetryCount
    """Unicast data MPDUs of all links, and the retries among them."""
    airtime_us: float | None
    """Airtime of all links together, µs: on several channels they send at the same time. Null where that of a link
    is not available."""


class RateRow(Model):
    """Frames of one station at one rate."""

    label: str
    """`HT40 MCS7 SGI`, `54 Mb/s`, ..."""
    family: str
    """`dsss`, `ofdm`, `ht`, `vht`, `he`, `eht`, `unknown`."""
    mbit_s: float | None
    """PHY rate, Mbit/s; null where the capture does not give it."""
    mbit_s_low: float | None
    """Lowest PHY rate that it may be, Mbit/s, where the capture gives all but the guard interval; else null."""
    mbit_s_high: float | None
    """Highest PHY rate that it may be, likewise."""
    frames: int
    """Frames (MPDUs) of any kind."""
    retries: int
    """Those with the retry bit."""
    bytes: int
    """MPDU bytes, FCS included."""


class Link(Model):
    """Frames from one transmitter to one receiver."""

    bssid: str | None
    """BSSID, where the frames tell."""
    station: str
    """The non-AP end (or the receiver, when neither end is known to be an AP)."""
    direction: str
    """`uplink` (station to AP), `downlink`, `direct`, `group`; `unknown` where neither a data frame nor a role shows
    it."""
    ta: str
    """Transmitter address."""
    ra: str
    """Receiver address."""
    frames: int
    """Frames."""
    bytes: int
    """MPDU bytes, FCS included."""
    data_frames: int
    """Data frames (not Null)."""
    wireshark_retry: RetryCount
    """Wireshark's counting on this link: data and management, bad FCS included."""
    mpdu_retry: RetryCount
    """Unicast data MPDUs with good or unknown FCS."""
    byte_retry_percent: float | None
    """Same, weighted with bytes."""
    retries_without_attempt: int | None = None
    """Retries of `mpdu_retry` of which no undamaged earlier attempt was captured, on the interface that the
    waterfall is of."""
    airtime_us: float | None
    """Airtime, µs."""
    rates: list[RateRow]
    """Data rates used, most frames first."""
    signal_dbm: Spread | None
    """Signal, dBm."""
    first_seen_us: float | None
    """First frame, µs since the start."""
    last_seen_us: float | None
    """Last frame, µs since the start."""


class AccessPoint(Model):
    """Something that sends beacons or probe responses, as its latest ones describe it."""

    bssid: str
    """BSSID."""
    kind: str | None
    """`ap`, or what else sends beacons: `ibss`, `mesh`; null when the frame that says so was cut."""
    ssids: list[str]
    """The names it gave (8 at most), made safe for display; empty when no frame names it."""
    hidden: bool | None
    """Its latest beacon names no SSID; null without a beacon."""
    channel: int | None
    """Primary channel that its elements name, else the one that the receiver was tuned to."""
    frequency_mhz: int | None
    """Centre of the primary channel, MHz: of the channel named, in the band that the receiver was in."""
    width_mhz: int | None
    """Channel width by its operation elements, MHz; 80+80 MHz are 160. 20 for one without such elements."""
    punctured_mhz: int | None = None
    """The part of it that its EHT Operation element says is punctured (not used), MHz; null where no element says."""
    standards: list[str]
    """Amendments to 802.11 that its rates and capability elements claim: `b`, `a` or `g`, `n`, `ac`, `ax`, `be`."""
    security: str | None
    """How it is secured, in words: `open`, `WEP`, `WPA2 Personal`, `WPA2/WPA3 Personal`, ...; null when the elements
    that say so were not captured."""
    key_managements: list[str]
    """Key management suites of its RSN element, then those of its WPA element."""
    pairwise_ciphers: list[str]
    """Pairwise ciphers of both elements."""
    group_ciphers: list[str]
    """Group ciphers of both elements."""
    pmf: str | None
    """Protected Management Frames: `required`, `capable`, `no`; null without an RSN element."""
    wps: bool
    """It offers WPS."""
    country: str | None
    """Country, made safe for display."""
    mld: str | None
    """Address of the multi-link device that it is a link of."""
    beacons: int
    """Beacons with a good or unknown FCS."""
    signal_dbm: Spread | None
    """Signal of its frames, dBm."""
    stations: int
    """Stations that it exchanged unicast data frames with; ghosts are not counted."""
    first_seen_us: float | None
    """First frame it sent, µs since the start of the capture."""
    last_seen_us: float | None
    """Last frame it sent, µs since the start of the capture."""


class BssMember(Model):
    """A station row of a network in Wireshark's WLAN Traffic window."""

    address: str
    """Source or destination address (SA or DA)."""
    packets: int
    """Packets: management, data (without Null) and extension frames with this SA or DA, without beacons."""
    retries: int
    """Retries among them (beacons included, as Wireshark does)."""
    retry_percent: float | None
    """`100 * retries / packets`."""
    sent: int
    """Data frames with this SA."""
    received: int
    """Data frames with this DA."""


class Bss(Model):
    """A network row of Wireshark's WLAN Traffic window, and what txop adds."""

    bssid: str
    """BSSID."""
    ssid: str | None
    """SSID, made safe for display; null when no frame named it."""
    channel: int | None
    """Channel by DS parameter set, HT operation or (in 6 GHz) HE operation, else the one that the receiver was tuned
    to."""
    packets: int
    """All frames of the row (Wireshark's definition, beacons included)."""
    retries: int
    """Those with the retry bit."""
    retry_percent: float | None
    """`100 * retries / packets`."""
    beacons: int
    """Beacons."""
    data_packets: int
    """Data packets."""
    probes: int
    """Probe requests and responses."""
    stations: int
    """Stations (addresses that sent or received data in it, ghosts not counted)."""
    members: list[BssMember]
    """The station rows that Wireshark's window shows under this network."""


class WiresharkStation(Model):
    """A station row of Wireshark's WLAN Traffic window."""

    packets: int
    """Packets: management, data (without Null) and extension frames with this SA or DA, without beacons."""
    retries: int
    """Retries among them (beacons included, as Wireshark does)."""
    retry_percent: float | None
    """`100 * retries / packets`."""
    sent: int
    """Data frames with this SA."""
    received: int
    """Data frames with this DA."""


class Station(Model):
    """One address."""

    address: str
    """MAC address."""
    kind: str
    """`ap`, `ibss` or `mesh` (it sends beacons as such), `station`, `group`, `unknown`, `ghost`."""
    ssid: str | None
    """SSID(s) when it is an AP (made safe for display)."""
    key_managements: list[str] = Field(default_factory=list)
    """Key managements that it asked for in its latest association request; empty where that was not captured, or has
    no RSN element."""
    pairwise_ciphers: list[str] = Field(default_factory=list)
    """Pairwise ciphers that it asked for there."""
    frames_sent: int
    """Frames with this transmitter address (TA); ACK and CTS carry none."""
    bad_fcs_sent: int
    """Frames sent with a bad FCS (their address cannot be trusted)."""
    bytes_sent: int
    """MPDU bytes of `frames_sent`, FCS included."""
    data_frames_sent: int
    """Data frames (not Null) among `frames_sent`."""
    frames_received: int
    """Frames with this receiver address (RA)."""
    retries_sent: int
    """`frames_sent` with the retry bit."""
    retry_percent: float | None
    """`100 * retries_sent / frames_sent`."""
    wireshark: WiresharkStation
    """The station row of Wireshark's WLAN Traffic window (frames counted for SA and DA; see `docs/air-counting.md`)."""
    mpdu_retry: RetryCount
    """The figure that matters: unicast data MPDUs with a good (or unknown) FCS sent by this TA."""
    airtime_us: float | None
    """Airtime of all PPDUs sent (ACK and CTS attributed by the exchange they answer), µs."""
    airtime: AirtimeKinds | None
    """The same by kind."""
    rates: list[RateRow]
    """Rates used, most frames first."""
    signal_dbm: Spread | None
    """Signal of its frames, dBm."""
    first_seen_us: float | None
    """First frame sent, µs since the start of the capture."""
    last_seen_us: float | None
    """Last frame sent, µs since the start of the capture."""
    power_management_frames: int
    """Frames sent with the power-management bit."""
    power_management_changes: int
    """Changes of the power-management bit from frame to frame."""


class BlockAckRow(Model):
    """What a Block Ack says of one TID."""

    number: int
    """Record number in the file."""
    at_us: float
    """When, µs since the first frame."""
    recipient: str | None
    """Who sends it: the receiver of the data."""
    originator: str
    """Who gets it: the transmitter of the data."""
    tid: int | None
    """TID; null for a Block Ack of a kind that is not read (bits for fragments, several TIDs of which none is
    whole)."""
    start: int | None
    """Sequence number of the first bit."""
    bits: int | None
    """Bits of the bitmap."""
    acknowledged: int | None
    """Those that are set."""
    bitmap: str | None
    """The bitmap's octets as sent, in hexadecimal; null beyond 256 bits."""


class BlockAckLog(Model):
    """Block Acks one by one."""

    frames: int
    """Block Ack frames with a usable FCS."""
    rows: list[BlockAckRow]
    """The first 50,000 rows, in the order of the file: one for each TID of a frame."""
    rows_left_out: int
    """Rows after those, which are left out."""


class RateCell(Model):
    """Frames that one station sent at one rate in one span of time, without those with a bad FCS."""

    address: str
    """Transmitter."""
    start_us: float
    """Beginning of the span, µs since the first frame."""
    label: str
    """`HT40 MCS7 SGI`, `54 Mb/s`, ..."""
    family: str
    """`dsss`, `ofdm`, `ht`, `vht`, `he`, `eht`, `unknown`."""
    mbit_s: float | None
    """PHY rate, Mbit/s; null where the capture does not give it."""
    mbit_s_low: float | None
    """Lowest PHY rate that it may be, Mbit/s, where the capture gives all but the guard interval; else null."""
    mbit_s_high: float | None
    """Highest PHY rate that it may be, likewise."""
    frames: int
    """Frames (MPDUs) of any kind."""
    retries: int
    """Those with the retry bit."""


class RateTimeline(Model):
    """Which station sent at which rate when."""

    bin_us: float
    """Width of a span, µs: 100 ms, doubled as often as 8,192 rows of all stations need it."""
    rows: list[RateCell]
    """Station by station, those with the most frames first, each in time order."""
    frames_left_out: int
    """Frames without a row: there were too many stations and rates, however wide the spans."""


class Event(Model):
    """Something that one station said to another, once or several times within a second of each other."""

    start_us: float
    """First frame, µs since the first frame of the capture."""
    end_us: float
    """Last frame."""
    kind: str
    """`authentication`, `association-request`, `association-response`, `reassociation-request`,
    `reassociation-response`, `handshake-1` to `handshake-4`, `group-key-1`, `group-key-2`, `key-request`,
    `eap-start`, `eap`, `eap-success`, `eap-failure`, `eap-logoff`, `other-eapol`, `deauthentication`,
    `disassociation`, `channel-switch`."""
    sender: str | None
    """Transmitter; null where too many stations sent the same kind of frame in a second to list them."""
    receiver: str | None
    """Receiver; likewise."""
    bssid: str | None
    """Network; null where several share the row."""
    from_bssid: str | None
    """The network that the station comes from, where it says so or was seen to join it: it roams."""
    frames: int
    """Frames in this row."""
    retries: int
    """Those with the retry bit."""
    code: int | None
    """Status code of an authentication or response, reason code of a deauthentication or disassociation, number of
    the new channel; null where there is none, or it is encrypted."""
    text: str | None
    """What it means."""


class EventFrames(Model):
    """Frames of one kind of event."""

    kind: str
    """See `Event.kind`."""
    frames: int
    """Frames."""


class Events(Model):
    """Events in time order, and how many frames there were of each kind."""

    frames: list[EventFrames]
    """All frames of each kind with a usable FCS, whether or not they have a row."""
    rows: list[Event]
    """The first 1,000 rows and the latest 1,000."""
    rows_left_out: int
    """Rows between those, which are left out."""
    frames_left_out: int
    """Frames of such rows."""


class Flood(Model):
    """Frames of one kind that came faster than any protocol has use for."""

    kind: str
    """`deauthentication`, `disassociation`, `authentication`, `association request`."""
    frames: int
    """Frames of the kind in the whole capture."""
    most_in_a_second: int
    """Most of them in one second."""
    first_us: float
    """First of them, µs since the first frame."""
    last_us: float
    """Last of them, µs since the first frame."""
    sender: str
    """The address that most were sent under."""
    receiver: str
    """The address most were sent to."""
    text: str
    """In words."""
    figures: list[Figure]
    """What the words rest on, in the order of the text."""


class NamedFrames(Model):
    """Frames with a name of their own."""

    name: str
    """What they are."""
    frames: int
    """Frames."""


class FrameKindRow(Model):
    """Frames of one type and subtype."""

    frame_type: str
    """`management`, `control`, `data`, `extension`."""
    subtype: int
    """Number of the subtype."""
    name: str
    """Name of both."""
    frames: int
    """Frames."""
    retries: int
    """Those with the retry bit."""
    bytes: int
    """MPDU bytes."""
    airtime_us: float | None
    """Airtime of the PPDUs that begin with such a frame, of the interface of the airtime accounts, µs; null where
    durations are not known."""


class Contents(Model):
    """Frames that are not known to be damaged, by what they are."""

    kinds: list[FrameKindRow]
    """By type and subtype."""
    named: list[NamedFrames]
    """Frames of special protocols and action frames by category, those of most frames first: NAN, FTM, TDLS,
    beamforming feedback, remote identification of unmanned aircraft, mesh, ..."""


class Happening(Model):
    """Something that happened in the capture: an attack or flood, a fault, an event. Attacks come first, then
    faults, then events; in each kind, those of most frames first."""

    code: str
    """`beacon-flood`, `deauthentication-flood`, `disassociation-flood`, `authentication-flood`, `association-flood`,
    `arp-replay`, `own-addressee` (frames with the same transmitter and receiver), `group-sources` (frames with a
    group address as transmitter); `join-failed`, `not-associated` (an access point tells a station again and again
    that it is not associated); `joined`, `roamed`, `channel-switch`, `direct-link`."""
    kind: str
    """`attack`, `fault`, `event`."""
    first_us: float
    """First frame of it, µs since the first frame of the capture."""
    last_us: float
    """Last frame of it."""
    frames: int
    """Frames that it consists of."""
    station: str | None
    """The station that it happens to, or that does it."""
    bssid: str | None
    """The network, or the access point in the name of which it is done."""
    from_bssid: str | None
    """The network that a station comes from."""
    step: str | None
    """The step at which joining fails: `authentication`, `association`, `eap`, `handshake-1` to `handshake-4`."""
    cause: str | None
    """Why joining fails there: `refused`, `deauthenticated`, `no-answer`, `not-accepted`, `eap-failure`."""
    attempts: int | None
    """Attempts to join."""
    failures: int | None
    """Those that failed in this capture."""
    reason: int | None
    """Reason code, where one is given (most often)."""
    status: int | None
    """Status code, where one is given."""
    channel: int | None
    """Number of the new channel."""
    marks: list[str]
    """What shows that frames are made by a program and not by the stations with these addresses:
    `same-sequence-numbers`, `one-sequence-counter` (of senders with different addresses), `group-sources`,
    `own-addressee`, `sent-by-this-machine`, `same-timestamps`, `many-senders`."""
    text: str
    """In words."""
    figures: list[Figure]
    """What the words rest on, in the order of the text."""


class BeaconRaster(Model):
    """Beacons of one access point."""

    address: str
    """MAC address."""
    interval_tu: int | None
    """Beacon interval that it names, in units of 1,024 µs; null when it names none (100 is assumed then)."""
    heard: int
    """Beacons captured with a good or unknown FCS."""
    due: int
    """Beacons due from the first to the last one captured."""
    heard_share: float
    """`heard / due`, 1 at most."""


class BlindSpot(Model):
    """A kind of response that is missing altogether, where other control frames are in the capture: nothing can be
    concluded from its absence."""

    code: str
    """`no-acks`, `no-block-acks`, `no-cts`."""
    asked: int
    """PPDUs that ask for such a response, to stations of which frames were captured."""
    text: str
    """In words."""
    figures: list[Figure]
    """What the words rest on, in the order of the text."""


class Hearing(Model):
    """Whether the silence of a capture is evidence of silence on the air."""

    silence_is_evidence: bool
    """The sniffer was listening, and neither responses nor Block Acks show that it missed many frames: while it
    captured nothing, most likely no station near it sent."""
    proof: Sentence | None
    """The beacons that show that it was listening; null when no access point was captured in nearly all of its
    raster."""
    no_proof: Sentence | None = None
    """Why silence is not evidence, doubts aside; null where there are beacons and enough other frames."""
    doubts: list[Sentence]
    """What shows that frames are missing."""
    missing_attempts: Sentence | None = None
    """Data MPDUs that were sent again and of which no undamaged earlier attempt is there, if these are many."""
    control_frames: int
    """Control frames with a good or unknown FCS."""
    acks: int = 0
    """ACKs."""
    block_acks: int = 0
    """Block Acks."""
    clears_to_send: int = 0
    """CTS."""
    blind_spots: list[BlindSpot] = Field(default_factory=list)
    """Kinds of responses that the sniffer does not deliver, although frames that ask for them are in the capture."""
    responses: int
    """ACKs and Block Acks."""
    responses_without_frame: int
    """Those of `responses` without their frame in the capture."""
    beacon_senders: int = 0
    """Stations that sent beacons which were received."""
    beacons: list[BeaconRaster]
    """Beacons captured and due, per access point, most beacons first (64 at most)."""


class StampHypothesis(Model):
    """Response gaps under one meaning of the time stamp."""

    meaning: str
    """`mpdu-first-bit`, `ppdu-start`, `ppdu-end`."""
    pairs: int
    """Solicited responses looked at."""
    median_gap_us: float | None
    """Median gap, µs."""
    iqr_us: float | None
    """Interquartile range of the gap, µs."""
    in_window: float | None
    """Share of gaps within SIFS -4/+10 µs."""


class Timing(Model):
    """How the time stamps were calibrated (see `docs/air-counting.md`)."""

    frames: int | None = None
    """Frames that this was inferred from: the first of the capture's, of the interface with most of them (32,768 at
    most)."""
    clock: str
    """`tsft`, `timestamp-field` or `capture-clock`."""
    stamp_meaning: str | None
    """`mpdu-first-bit`, `ppdu-start`, `ppdu-end`; null when it could not be inferred."""
    ambiguous_with: str | None
    """Another meaning that the evidence does not distinguish from it; the confidence is halved then."""
    confidence: float | None
    """0 to 1: share of solicited responses that fall into the SIFS window under the chosen meaning, times the
    evidence (pairs / (pairs + 10))."""
    hypotheses: list[StampHypothesis]
    """The evidence, one row per meaning tried."""
    ampdu_reference: str
    """`ppdu-id`, `not-a-ppdu-id` (with the reason in `text`), `absent`."""
    grouping: str
    """How MPDUs were grouped to PPDUs: `ampdu-reference`, `equal-tsft`, `none`."""
    control_rates_believable: bool | None
    """Whether the rates that control frames claim can be true; null when not enough pairs."""
    control_rate_overlaps: int
    """Control responses that would overlap the next frame at their claimed rate, and all that were checked."""
    control_rate_checked: int
    """Denominator of `control_rate_overlaps`."""
    clock_jumps: int
    """Times the clock jumped (reset, wrap, several radios) and was re-anchored."""
    text: list[str]
    """All of this in words."""


class Limit(Model):
    """Something that the capture does not show."""

    code: str
    """Stable identifier: `no-tsft`, `no-rate`, `no-ampdu-status`, `no-fcs`, `one-direction`, `hopping`, `cut`, ..."""
    text: str
    """In words."""
    figures: list[Figure]
    """What the words rest on, in the order of the text."""
    affects: list[str]
    """Sections with figures that are therefore not available or weaker."""


class Selection(Model):
    """The network or the channel that the figures are of. A network has the tables that name stations (`stations` to
    `aggregation`, without `ghosts`), `waterfalls`, `capabilities` and `steadiness` to itself; a station that was in
    several is counted in all of them. `frames`, `summary`, `hearing`, `floods`, the ghosts and what `airtime` says
    of the channel still cover all stations on it, and the `bss_...` fields of `airtime` are the network's part. A
    channel has everything to itself but the calibration of the time stamps and what stations claim."""

    bssid: str | None
    """The network."""
    ssid: str | None
    """The name that it gives itself most often; safe to print."""
    bss_frames: int | None
    """Frames that name this network and are not known to be damaged (data, management, PS-Poll, CF-End)."""
    channel: int | None
    """Number of the channel."""
    frequency_mhz: int | None
    """Centre of the chosen channel, MHz."""
    frames: int
    """Frames counted: those of the channel, where one was chosen, else all."""
    frames_elsewhere: int
    """Frames on other channels, which are left out."""
    frames_without_channel: int
    """Frames that do not carry their channel, which are left out where one was chosen."""
    interface: int | None = None
    """Index of the chosen interface in the capture."""
    interface_name: str | None = None
    """What the operating system called it, where the capture records it; safe to print."""
    records_on_other_interfaces: int = 0
    """Records of other interfaces, which are left out."""


class FcsState(Model):
    """What is known of frame check sequences. The first three sum to `frames` of the report without the unreadable
    records."""

    good: int
    """FCS computed here, or vouched for by the receiver's flag on a cut frame: good."""
    bad: int
    """Bad."""
    unknown: int
    """Not in the capture or frame cut, and no flag: cannot be determined."""
    disagreements: int
    """The receiver's flag and our computation disagree (counted in `bad` when either says bad)."""
    flagged_good: int
    """Good by the receiver's flag alone: the capture holds no whole FCS of them, or one that is wrong."""


class Channel(Model):
    """A channel that frames were captured on."""

    frequency_mhz: int
    """Centre of the primary channel, MHz."""
    channel: int | None
    """Channel number."""
    band: str | None
    """`2.4 GHz`, `5 GHz`, `6 GHz`."""
    frames: int
    """Frames."""


class LinkTypeCount(Model):
    """Records of one link type."""

    number: int
    """LINKTYPE number."""
    name: str
    """Its registry name."""
    frames: int
    """Records."""


class Summary(Model):
    """1. What the capture is, and its limits."""

    container: str
    """`pcap` or `pcapng`."""
    compression: str
    """`none`, `gzip` or `zstd`."""
    link_types: list[LinkTypeCount]
    """Link types with their record counts."""
    not_wlan: int
    """Records that are not 802.11."""
    unreadable: int
    """Records with a link header or MAC header that could not be read (cut short or malformed)."""
    unreadable_examples: list[str]
    """First few causes of `unreadable`, with record number and file offset."""
    empty_psdus: int
    """Records that end with their link header: a PPDU without a PSDU (radiotap 0-length PSDU)."""
    first_time_unix_s: float | None
    """Capture time of the first record, Unix seconds; null when the file has no times."""
    span_us: float | None
    """First to last record by the capture clock, µs."""
    captured_bytes: int
    """Captured bytes of all 802.11 records, link headers included."""
    channels: list[Channel]
    """Channels with frames and the time spent there."""
    fcs: FcsState
    """FCS state."""
    snap_lengths: list[int]
    """Declared snap lengths of the interfaces (0: unlimited)."""
    cut_frames: int
    """Frames cut by the snap length."""
    own_transmissions: int
    """Frames the capturing machine sent itself."""
    dropped_by_capture: int | None
    """Drops that the capture file reports (pcapng interface statistics)."""
    damage: DamageNote | None
    """Where reading stopped early, and why."""
    window: Window | None = None
    """The window that the figures are of; null when they are of the whole capture. Always taken from the whole
    capture are the calibration of the time stamps, what stations claim, Block Ack agreements made before, and
    `capabilities` with all it says of use."""
    selection: Selection | None = None
    """The network or channel that was chosen; null when the figures are of all."""
    limits: list[Limit]
    """Limits of this capture."""


class Report(Model):
    """Everything `txop air` knows about one capture."""

    format: str
    """Always `"txop-air"`."""
    version: int
    """Layout version: 2. Raised when a field changes its meaning or goes."""
    tool: str
    """Program and version that wrote this."""
    origin: str
    """Where the figures come from: `emulated`, `simulated`, `guest-exact` or `guest-fast` for a capture that says
    that txop made it, `imported` for any other."""
    path: str
    """The file as named by the caller."""
    frames: int
    """Records read (frames of link types without 802.11 are counted in `summary.not_wlan`, not here)."""
    bad_fcs: int
    """Frames with a bad FCS (flagged by the receiver, or computed wrong)."""
    summary: Summary
    """1. Summary."""
    timing: Timing
    """How time stamps, A-MPDU references and control rates were calibrated."""
    hearing: Hearing
    """What the sniffer captured of what must have been there."""
    happenings: list[Happening] = Field(default_factory=list)
    """What happened, most serious first (200 at most)."""
    contents: Contents | None = None
    """What the capture contains: frames by type and subtype, and special ones by name."""
    floods: list[Flood]
    """The same kind of frame between two addresses, faster than any protocol sends it. Slower floods, and of many
    addresses, are among `happenings`, which count them by other rules."""
    events: Events
    """What happened when: authentication, association, key exchange, deauthentication, channel switch."""
    rate_timeline: RateTimeline
    """Which station sent at which rate when."""
    block_ack_log: BlockAckLog | None = None
    """Every Block Ack; null unless asked for."""
    stations: list[Station]
    """2. Transmitters and receivers, most airtime (else most frames) first."""
    bss: list[Bss]
    """2. Networks, as Wireshark's WLAN Traffic window lists them (one row per BSSID and SSID)."""
    access_points: list[AccessPoint] = Field(default_factory=list)
    """2. Access points with their security, most beacons first."""
    links: list[Link]
    """2. Per (transmitter, receiver)."""
    multi_link_devices: list[MultiLinkDevice] = Field(default_factory=list)
    """2. Stations that are links of one device, most frames first."""
    unclear_links: list[UnclearLink] = Field(default_factory=list)
    """2. Addresses that are claimed for several multi-link devices."""
    ghosts: list[Ghost]
    """3. Addresses that exist only because of damage."""
    ghost_effect: GhostEffect
    """3. What the ghosts do to the statistics."""
    exchanges: list[Exchange]
    """4. PPDUs and their responses, per (transmitter, receiver)."""
    block_acks: list[BlockAckFlow]
    """4. Block Ack accounting, per (originator, recipient, TID)."""
    ack_verdicts: list[AckVerdict]
    """4. The answer to "not received, or too slow to acknowledge?", per (originator, recipient)."""
    aggregation: list[Aggregation]
    """5. Aggregation, per (transmitter, receiver, TID)."""
    multi_user: list[MultiUser] = Field(default_factory=list)
    """5. MU and trigger-based PPDUs and resource units, per (transmitter, receiver) with HE or EHT data frames."""
    multi_user_ppdus: list[MultiUserPpdus] = Field(default_factory=list)
    """5. PPDUs to several users as wholes: what they allocate, and which users' frames were captured; per
    transmitter."""
    airtime: Airtime
    """6. Airtime of all stations."""
    waterfall: list[WaterfallStep]
    """7. Goodput waterfall of the chosen direction; shares sum to one. Empty when not available."""
    waterfalls: list[Waterfall]
    """7. Both directions of the chosen pair (and what they are, why not available, in words)."""
    capabilities: list[CapabilityAudit]
    """8. Capabilities claimed and used."""
    steadiness: list[Steadiness]
    """9. Throughput and retry % over time, and what was remarkable."""
    decryption: Decryption | None = None
    """10. What the keys given made of protected frames; null when there were none."""
    traffic: Traffic | None = None
    """10. Packets joined with the MPDUs that carried them; null when not requested."""
