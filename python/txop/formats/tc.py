"""``tc -s qdisc``, as text and as JSON (``-j``): queueing disciplines and what they counted.

Without ``dev X`` the text names the device; with it, it does not. iproute2 6.15 colours the name on a terminal.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from txop.formats.error import FormatError, quoted_start
from txop.formats.reading import items, json_documents, lines_of, mapping, string, text_of, whole

_WHAT = "tc -s qdisc"
_COLOUR = re.compile(r"\x1b\[[0-9;]{0,12}m")
_HEAD = re.compile(
    r"qdisc (?P<kind>[a-z0-9_]{1,32}) (?P<handle>[0-9a-f]{1,4}:)(?: \[offloaded\])?(?: dev (?P<device>[^ ]{1,32}))?"
    r"(?: (?:(?P<root>root)|parent (?P<parent>[0-9a-f]{0,4}:[0-9a-f]{0,4})|ingress|clsact))?(?P<options>.*)"
)
_SENT = re.compile(
    r" Sent (?P<bytes>[0-9]{1,20}) bytes (?P<packets>[0-9]{1,20}) pkt "
    r"\(dropped (?P<drops>[0-9]{1,20}), overlimits (?P<overlimits>[0-9]{1,20}) requeues (?P<requeues>[0-9]{1,20})\)"
)
_BACKLOG = re.compile(r"\bbacklog (?P<bytes>[0-9]{1,12})(?P<prefix>[KMG]?)b (?P<packets>[0-9]{1,20})p")
_PAIR = re.compile(r"(?:^|[ (])(?P<name>[a-z][a-z_0-9]{1,40}) (?P<value>[0-9]{1,20})(?=[ ,)]|$)")
_PREFIX = {"": 1, "K": 2**10, "M": 2**20, "G": 2**30}
_COMMON = frozenset({"refcnt", "bytes", "packets", "drops", "overlimits", "requeues", "backlog", "qlen"})


@dataclass(frozen=True, slots=True)
class Qdisc:
    """One queueing discipline. ``None``: not printed (no ``-s``)."""

    kind: str
    handle: str
    device: str | None
    parent: str | None
    """``None`` for the root."""

    is_root: bool
    options: str
    """As printed; from JSON, ``name=value`` pairs."""

    bytes: int | None
    packets: int | None
    drops: int | None
    overlimits: int | None
    requeues: int | None
    backlog_bytes: int | None
    backlog_packets: int | None
    own: Mapping[str, int]
    """The discipline's own whole-number figures: ``ecn_mark``, ``drop_overlimit``, ``new_flow_count``,
    ``memory_used``, ...
    """

    tins: tuple[Mapping[str, int], ...]
    """Cake's, from JSON only."""


def parse(data: str | bytes) -> tuple[Qdisc, ...]:
    """Every discipline, text or JSON, in the order printed; none for an interface without one. Raises FormatError."""
    text = text_of(data, _WHAT)
    if not text.strip():
        return ()
    if text.lstrip().startswith("["):
        for document in json_documents(text, _WHAT, opening="["):
            return tuple(_from_json(mapping(entry)) for entry in items(document) if mapping(entry).get("kind"))
    blocks: list[_Block] = []
    for _, coloured in lines_of(text):
        line = _COLOUR.sub("", coloured[:4000])
        if (head := _HEAD.fullmatch(line)) is not None:
            blocks.append(_Block(head))
        elif blocks:
            blocks[-1].take(line)
    if not blocks:
        raise FormatError(f"{_WHAT} expected; {quoted_start(text)}")
    return tuple(block.qdisc() for block in blocks)


@dataclass
class _Block:
    head: re.Match[str]
    sent: re.Match[str] | None = None
    backlog: re.Match[str] | None = None
    own: dict[str, int] = field(default_factory=dict)
    in_table: bool = False

    def take(self, line: str) -> None:
        """One line below the head."""
        if (sent := _SENT.match(line)) is not None:
            self.sent = sent
        elif line.startswith((" backlog", " rate")) and (backlog := _BACKLOG.search(line)) is not None:
            self.backlog = backlog
        elif not line.strip():
            self.in_table = True  # Cake's tins follow
        elif not self.in_table:
            if (memory := re.match(r" memory used: ([0-9]{1,12})b", line)) is not None:
                self.own["memory_used"] = int(memory[1])
                return
            for pair in _PAIR.finditer(line):
                self.own.setdefault(pair["name"], int(pair["value"]))

    def qdisc(self) -> Qdisc:
        head, sent, backlog = self.head, self.sent, self.backlog
        return Qdisc(
            kind=head["kind"],
            handle=head["handle"],
            device=head["device"],
            parent=head["parent"],
            is_root=head["root"] is not None,
            options=head["options"].strip(),
            bytes=whole(sent["bytes"]) if sent is not None else None,
            packets=whole(sent["packets"]) if sent is not None else None,
            drops=whole(sent["drops"]) if sent is not None else None,
            overlimits=whole(sent["overlimits"]) if sent is not None else None,
            requeues=whole(sent["requeues"]) if sent is not None else None,
            backlog_bytes=int(backlog["bytes"]) * _PREFIX[backlog["prefix"]] if backlog is not None else None,
            backlog_packets=whole(backlog["packets"]) if backlog is not None else None,
            own=self.own,
            tins=(),
        )


def _numbers(said: Mapping[str, Any]) -> dict[str, int]:
    numbers = {}
    for name, value in said.items():
        number = whole(value, least=-(2**63))
        if number is not None and not isinstance(value, str):
            numbers[name] = number
    return numbers


def _from_json(said: Mapping[str, Any]) -> Qdisc:
    options = mapping(said.get("options"))
    return Qdisc(
        kind=string(said.get("kind"), longest=32) or "",
        handle=string(said.get("handle"), longest=16) or "",
        device=string(said.get("dev"), longest=32),
        parent=string(said.get("parent"), longest=16),
        is_root=said.get("root") is True,
        options=" ".join(f"{name}={value}" for name, value in options.items())[:4000],
        bytes=whole(said.get("bytes")),
        packets=whole(said.get("packets")),
        drops=whole(said.get("drops")),
        overlimits=whole(said.get("overlimits")),
        requeues=whole(said.get("requeues")),
        backlog_bytes=whole(said.get("backlog")),
        backlog_packets=whole(said.get("qlen")),
        own={name: number for name, number in _numbers(said).items() if name not in _COMMON},
        tins=tuple(_numbers(mapping(tin)) for tin in items(said.get("tins"))),
    )
