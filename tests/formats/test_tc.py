"""tc: its text and its JSON of the same moment must say the same."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from txop.formats import tc
from txop.formats.error import FormatError

FOLDER = Path(__file__).with_name("captured") / "tc"
PAIRS = sorted(path.stem for path in FOLDER.glob("*.json"))

Read = Callable[[str], str]


def test_there_are_pairs() -> None:
    assert len(PAIRS) >= 14


@pytest.mark.parametrize("name", PAIRS)
def test_text_and_json_agree(name: str, captured: Read) -> None:
    from_text, from_json = (tc.parse(captured(f"tc/{name}{ending}")) for ending in (".txt", ".json"))
    assert len(from_text) == len(from_json) >= 1
    for text, json in zip(from_text, from_json, strict=True):
        if text.packets != json.packets:  # one packet went out between the two commands
            assert name.endswith("sfq")
            assert json.packets == (text.packets or 0) + 1
            continue
        for field in ("kind", "handle", "parent", "is_root", "bytes", "packets", "drops", "overlimits", "requeues",
                      "backlog_bytes", "backlog_packets"):  # fmt: skip
            assert getattr(text, field) == getattr(json, field), field
        shared = set(text.own) & set(json.own)
        assert {key: text.own[key] for key in shared} == {key: json.own[key] for key in shared}
        if text.kind == "fq_codel":
            assert {"maxpacket", "drop_overlimit", "new_flow_count", "ecn_mark"} <= shared


def test_cake(captured: Read) -> None:
    (text,) = tc.parse(captured("tc/iproute2-6.15-cake.txt"))
    (json,) = tc.parse(captured("tc/iproute2-6.15-cake.json"))
    assert text.drops == 61
    assert text.own["memory_used"] == json.own["memory_used"] == 324_864
    assert len(json.tins) == 4
    assert sum(tin["drops"] for tin in json.tins) == 61


def test_names_of_devices_that_are_coloured(captured: Read) -> None:
    text = captured("tc/iproute2-6.15-all.txt")
    assert "\x1b[36m" in text
    assert [qdisc.device for qdisc in tc.parse(text)] == ["lo", "v1", "v0"]


def test_children(captured: Read) -> None:
    root, child = tc.parse(captured("tc/iproute2-6.15-htb.txt"))
    assert (root.kind, root.is_root, root.handle) == ("htb", True, "1:")
    assert (child.kind, child.parent, child.own["maxpacket"]) == ("fq_codel", "1:10", 1442)


def test_nothing_and_something_else() -> None:
    assert tc.parse("") == ()
    assert tc.parse("[]") == ()
    with pytest.raises(FormatError, match="tc -s qdisc expected"):
        tc.parse('Cannot find device "wlan9"\n')
