"""What happened when: how stations come, prove who they are, move and go. Mirrors ``report/events.rs``."""

from __future__ import annotations

from txop.present.document import Model


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


class EventFrames(Model):
    """Frames of one kind of event."""

    kind: str
    """See `Event.kind`."""
    frames: int
    """Frames."""


class Event(Model):
    """Something that one station said to another, once or several times within a second of each other."""

    start_us: float
    """First frame, from the first frame of the capture on."""
    end_us: float
    """Last frame."""
    kind: str
    """`authentication`, `association-request`, `association-response`, `reassociation-request`,
    `reassociation-response`, `handshake-1` to `handshake-4`, `group-key-1`, `group-key-2`, `key-request`, `eap-start`,
    `eap`, `eap-success`, `eap-failure`, `eap-logoff`, `other-eapol`, `deauthentication`, `disassociation`,
    `channel-switch`."""
    sender: str | None
    """Transmitter; Null where too many stations sent the same kind of frame in a second to list them."""
    receiver: str | None
    """Receiver; likewise."""
    bssid: str | None
    """Network; Null where several share the row."""
    from_bssid: str | None
    """The network that the station comes from, where it says so or was seen to join it: it roams."""
    frames: int
    """Frames in this row."""
    retries: int
    """Those with the retry bit."""
    code: int | None
    """Status code of an authentication or response, reason code of a deauthentication or disassociation, number of the
    new channel; Null where there is none, or it is encrypted."""
    text: str | None
    """What it means."""
