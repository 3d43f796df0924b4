"""What each figure of the report means: its definition, and what it is a share of.

Tables name a definition by its key; the HTML page prints them all at its end.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Definition:
    """One figure."""

    term: str
    text: str
    denominator: str | None = None

    @property
    def sentence(self) -> str:
        """Definition and denominator on one line."""
        return f"{self.text} Share of: {self.denominator}." if self.denominator else self.text


DEFINITIONS: dict[str, Definition] = {
    "frames": Definition("Frames", "Records of the capture that are 802.11 frames, with a good, bad or unknown FCS."),
    "fcs": Definition(
        "FCS state",
        "The frame check sequence as computed here, or as flagged by the receiver when it is not in the capture.",
        "all frames",
    ),
    "sent": Definition("Sent", "Frames with this address as transmitter (TA). ACK and CTS carry no TA."),
    "received": Definition("Received", "Frames with this address as receiver (RA)."),
    "bytes": Definition("Bytes", "MPDU bytes, FCS included, radiotap and other receiver headers not."),
    "data": Definition("Data", "Data frames with a frame body (no Null, no QoS Null)."),
    "retry_all": Definition("Retry % of all", "Frames with the retry bit.", "all frames with this TA"),
    "retry_wireshark": Definition(
        "Retry % (Wireshark)",
        "The station row of Wireshark's WLAN Traffic window: management, data (no Null) and extension frames, damaged "
        "ones too, counted for both source (SA) and destination (DA), so both directions and relayed hops are mixed.",
        "its packets without beacons",
    ),
    "retry_bss": Definition(
        "Retry % (Wireshark)",
        "The network row of Wireshark's WLAN Traffic window: management, data (no Null) and extension frames, "
        "damaged ones too.",
        "its packets, beacons included",
    ),
    "retry_mpdu": Definition(
        "Retry % (MPDU)",
        "Unicast data MPDUs with the retry bit. The figure that matters: what the sender had to send again.",
        "unicast data MPDUs with a good or unknown FCS, by transmitter",
    ),
    "retry_bytes": Definition("Retry % (bytes)", "The MPDU retry %, weighted with bytes.", "bytes of the same MPDUs"),
    "signal": Definition(
        "Signal", "Median of the signal level that the capturing receiver reports for frames of this TA."
    ),
    "rate": Definition(
        "Rate", "PHY rate, modulation and coding, width and guard interval as the receiver reports them."
    ),
    "power": Definition("PM", "Frames with the power-management bit, and how often that bit changed."),
    "seen": Definition("Seen", "First and last frame with this TA, since the first frame of the capture."),
    "ghost": Definition(
        "Ghost",
        "An address that exists only in damaged frames, none of which is a management frame that names it twice; where "
        "no FCS can be checked, one of a few frames that differs from a busy address in a few bits.",
    ),
    "distance": Definition("Distance", "Bits in which the ghost differs from its likely origin."),
    "ghost_frames": Definition(
        "From ghosts", "Frames of ghosts that this station probably sent; not counted in its row."
    ),
    "answered": Definition(
        "Answered",
        "PPDUs followed by an ACK or Block Ack from the addressed station within the response window; RTS and CTS are "
        "counted apart.",
        "PPDUs that solicit an ACK or Block Ack",
    ),
    "resent": Definition(
        "Retransmitted, no ACK", "No response, and the same sequence number again: the sender got no response."
    ),
    "not_captured": Definition(
        "No ACK, not retransmitted",
        "No response and no retransmission in this capture: the sniffer missed the response, or the sender dropped it.",
    ),
    "answered_resent": Definition(
        "ACK, retransmitted", "A response, and yet a retransmission: the sender did not get the response."
    ),
    "gap": Definition(
        "Response delay",
        "End of the PPDU to start of the response, by the calibrated time stamps; SIFS is 10 µs in 2.4 GHz (plus 6 µs "
        "signal extension after OFDM) and 16 µs in 5 and 6 GHz.",
    ),
    "expected_gap": Definition(
        "Expected",
        "SIFS; in 2.4 GHz behind OFDM with the 6 µs of signal extension. Where PPDUs of both kinds were answered: "
        "that of most.",
    ),
    "late": Definition(
        "Late",
        "Responses that come later than expected by more than a slot and the spread (interquartile range) of all gaps.",
        "responses with a known delay",
    ),
    "response_rate": Definition(
        "Unexpected rate",
        "Responses at another rate than the rules give: the highest basic rate not above the rate of what they answer.",
        "responses with a plausible rate",
    ),
    "newly_acked": Definition(
        "Newly acked",
        "Block Ack bits that acknowledge an MPDU for the first time; bits repeated in later bitmaps do not count.",
    ),
    "left_out": Definition(
        "Block Ack holes",
        "MPDUs of the PPDU just answered that the Block Ack does not acknowledge. Bits of sequence numbers never "
        "sent do not count.",
        "captured MPDUs that Block Acks acknowledge for the first time, and holes",
    ),
    "left_out_late": Definition(
        "Acked later",
        "Block Ack holes that were acknowledged later without a retransmission in this capture: they had "
        "arrived in time, unless one was missed.",
        "Block Ack holes",
    ),
    "left_out_resent": Definition("Retransmitted", "Block Ack holes that were retransmitted.", "Block Ack holes"),
    "in_tail": Definition(
        "In the last quarter",
        "Block Ack holes in the last quarter of their A-MPDU; by chance would be the share of all answered MPDUs "
        "there; loss on "
        "a steady channel spreads evenly, late processing hits the end.",
        "Block Ack holes of A-MPDUs with at least 4 MPDUs that were acknowledged in part",
    ),
    "acked_not_captured": Definition("Acked, not captured", "Acknowledged MPDUs that are not in the capture."),
    "age": Definition("Age", "End of an MPDU on the air to the start of the Block Ack that answers its PPDU."),
    "window": Definition("Window", "Buffer size of the last accepted ADDBA, in MPDUs."),
    "ppdus": Definition("PPDUs", "Transmissions with one preamble; the MPDUs of an A-MPDU are one PPDU."),
    "soliciting": Definition(
        "PPDUs",
        "Those that ask for a response and are followed by an undamaged frame; a damaged one may be the response.",
    ),
    "ampdu": Definition(
        "MPDUs per PPDU", "MPDUs captured of each PPDU with data; a single MPDU counts as 1.", "PPDUs with data"
    ),
    "amsdu": Definition("A-MSDU", "MPDUs that carry more than one MSDU.", "data MPDUs"),
    "ppdu_duration": Definition(
        "PPDU duration", "Preamble to the end of the last symbol, computed from rate and length."
    ),
    "airtime": Definition(
        "Airtime",
        "Sum of the durations of the PPDUs sent; ACK and CTS belong to the station that, as the exchange shows, "
        "sent them, a CTS without its RTS to its receiver if a frame of that follows within the time that the CTS "
        "reserves, at a signal within 10 dB.",
    ),
    "airtime_share": Definition("Airtime share", "Airtime of the station.", "observed time"),
    "busy": Definition("Busy", "Time in which at least one captured PPDU is on the air.", "observed time"),
    "wireshark_addresses": Definition(
        "Addresses",
        "Individual addresses in frames of the network, as Wireshark lists them: its stations, and hosts behind the "
        "access point.",
    ),
    "phy_rate": Definition(
        "Effective PHY rate",
        "Payload bits per µs that they take on the air: the goodput if nothing else took time. A PPDU's last symbol is "
        "sent whole, so short PPDUs make it less than the rate of their MCS.",
    ),
    "goodput": Definition(
        "Goodput",
        "Payload bytes above LLC/SNAP of data MPDUs, each captured one once, however often it was sent; per observed "
        "time.",
    ),
    "waterfall": Definition(
        "Waterfall",
        "Every µs of the observed time is given to one cause; the shares sum to 100 %. Mbit/s is the share times "
        "the effective PHY rate: "
        "the goodput that the cause costs.",
        "observed time",
    ),
    "claimed": Definition("Advertised", "In the device's own beacon, probe or association frames."),
    "used": Definition("Frames", "In the traffic of this capture; not seen is not proof of not able."),
    "bin_throughput": Definition(
        "Throughput over time", "Payload of data MPDUs per time bin, each captured one once, however often it was sent."
    ),
    "variation": Definition("Variation", "Standard deviation of the bins' throughput divided by their mean."),
    "stamp": Definition(
        "Time stamp meaning",
        "What the receiver's time stamp marks, inferred from the gaps between frames and their responses: under "
        "the right "
        "meaning they are SIFS.",
        "solicited responses",
    ),
}
"""Every definition by its key."""
