"""Packets, and what decryption made of protected frames. Mirrors ``report/traffic.rs``."""

from __future__ import annotations

from txop.present.document import Model
from txop.present.sentence import Figure, Sentence


class Decryption(Model):
    """How far the keys given went. Null in the report when there were none."""

    keys: int
    """Keys in the key file."""
    protected: int
    """Protected data MPDUs (with a good or unknown FCS; retries count each)."""
    decrypted: int
    """Those decrypted: their MIC matches."""
    packet_number_not_above: int
    """Those decrypted whose packet number is not above all before it, and that are no retries: replays, or a file in
    disorder."""
    pairs: list[DecryptedPair]
    """Per pair of stations, most protected MPDUs first (512 at most)."""
    groups: list[DecryptedGroup]
    """Per sender of group-addressed frames, likewise."""
    sentences: list[Sentence]
    """In words: how many were decrypted, and why the others were not."""


class DecryptedPair(Model):
    """Individually addressed data between two stations."""

    access_point: str
    """Access point: the authenticator of the handshake, else by the DS bits."""
    station: str
    """Station."""
    ssid: str | None
    """Name of the network, where it was heard; bytes that are no text are shown as `\\xNN`."""
    state: str
    """How far it came: `keys`, `no-handshake`, `incomplete-handshake`, `wrong-key`, `no-key-for-network`, `pmk-
    needed`, `unsupported-akm`, `unsupported-cipher`, `too-many-handshakes`."""
    akm: str | None
    """Key management that the station chose; null without message 2."""
    cipher: str | None
    """Pairwise cipher that the station chose; null without message 2."""
    messages: list[int]
    """Messages 1 to 4 of four-way handshakes captured, copies included."""
    handshakes: int
    """Handshakes whose keys a MIC proved."""
    mismatches: int
    """Handshakes that none of the keys given fits."""
    protected: int
    """Protected data MPDUs."""
    decrypted: int
    """Decrypted."""
    no_key: int
    """No key was known when they came; `state` says why."""
    other_key: int
    """Keys were known, and their MIC matches under none: of another session, or damaged."""
    cipher_not_supported: int
    """TKIP or WEP."""
    cut: int
    """Cut by the snap length."""


class DecryptedGroup(Model):
    """Group-addressed data of one sender."""

    sender: str
    """Sender."""
    ssid: str | None
    """Name of its network, where it was heard."""
    protected: int
    """Protected data MPDUs."""
    decrypted: int
    """Decrypted."""
    no_key: int
    """No group key of the sender was known when they came."""
    other_key: int
    """Group keys were known, and their MIC matches under none."""
    cipher_not_supported: int
    """TKIP or WEP."""
    cut: int
    """Cut by the snap length."""


class Traffic(Model):
    """Packets joined with the MPDUs that carried them. Null in the report when nobody asked."""

    packets: int
    """Packets: IPv4, IPv6 and ARP, in frames without encryption and in decrypted ones. Attempts after the first do not
    count."""
    packets_left_out: int
    """Those among them that are in no row, because there were too many flows."""
    flows: list[PacketFlow]
    """Per transmitter, receiver and flow, most bytes first (256 at most)."""
    flow_count: int
    """Flows there were."""
    mpdus_left_out: int
    """MPDUs whose attempts are not followed, because there were too many transmitters and receivers."""
    tcp_sent_again: list[TcpSentAgain]
    """TCP segments that were sent again, in capture order (1,000 at most)."""
    tcp_sent_again_left_out: int
    """More of them, without a row."""
    dhcp: list[DhcpMessage]
    """DHCP messages, in capture order (256 at most)."""
    dhcp_left_out: int
    """More of them, without a row."""
    sentences: list[Sentence]
    """In words: what became of the copies of TCP segments that were sent again."""


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
    """Their bytes, IP headers included (as captured, where a snap length cut them)."""
    mpdus: int
    """MPDUs whose (first) packet is of the flow."""
    attempts: int
    """Attempts of these MPDUs on the air, captured with a good or unknown FCS."""
    acknowledged: int | None
    """MPDUs of which an acknowledgement was captured; null for group addresses, which nobody acknowledges."""
    airtime_us: float | None
    """Airtime of the attempts whose duration is known, µs; null when there are none."""
    tcp_payload_bytes: int | None
    """TCP: bytes of data in the segments, those sent again included."""
    tcp_segments: int | None
    """TCP: segments with data, SYN or FIN, without keep-alives."""
    tcp_sent_again: int | None
    """TCP: segments among them that begin below the highest sequence number before them."""
    tcp_copy_not_acknowledged: int | None
    """TCP: those sent again whose copy before was captured, and no acknowledgement of its MPDU."""
    tcp_copy_acknowledged: int | None
    """TCP: those sent again whose copy before was acknowledged by 802.11."""
    tcp_copy_not_captured: int | None
    """TCP: those sent again without a copy before in the capture (or one that is no longer remembered)."""
    tcp_not_captured_retries: int | None = None
    """TCP: those of `tcp_copy_not_captured` that came in an 802.11 retry: most likely overtaken while they were
    repeated, and not sent again by TCP; null in older documents."""
    tcp_needless: int | None
    """TCP: those sent again that the peer had acknowledged before, by an ACK in the capture."""
    tcp_keep_alives: int | None
    """TCP: keep-alives."""
    tcp_missing_bytes: int | None
    """TCP: bytes below the highest sequence number that were never captured on this hop."""


class TcpSentAgain(Model):
    """A TCP segment that was sent again, and what became of the copy before it."""

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
    """What the words rest on."""


class RateAttempts(Model):
    """Attempts at one rate."""

    label: str
    """`HT20 MCS7`, `54 Mb/s`, ..."""
    attempts: int
    """Attempts."""


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
    """An 802.11 acknowledgement was captured; null for group addresses, which nobody acknowledges."""
