"""What libqmi 1.32's qmicli prints of a data format that it set, as it came from a guest."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from txop.formats.qmicli import parse_data_format

SAID = """\
[/dev/cdc-wdm0] Successfully set data format
                        QoS flow header: no
                    Link layer protocol: 'raw-ip'
       Uplink data aggregation protocol: 'qmap'
     Downlink data aggregation protocol: 'qmap'
                          NDP signature: '0'
Downlink data aggregation max datagrams: '20'
     Downlink data aggregation max size: '15872'
  Uplink data aggregation max datagrams: '16'
       Uplink data aggregation max size: '8192'
"""


def test_the_limits_of_both_directions_are_read() -> None:
    assert parse_data_format(SAID) == {
        "link": "raw-ip",
        "uplink": "qmap",
        "downlink": "qmap",
        "uplink_datagrams": 16,
        "uplink_bytes": 8192,
        "downlink_datagrams": 20,
        "downlink_bytes": 15872,
    }


def test_what_is_not_said_is_not_there() -> None:
    assert parse_data_format("error: couldn't set data format: QMI protocol error (48): 'MissingArgument'\n") == {}
    assert parse_data_format(SAID.replace("'8192'", "'many'").replace("'16'", "'" + "9" * 40 + "'")).keys() == {
        "link",
        "uplink",
        "downlink",
        "downlink_datagrams",
        "downlink_bytes",
    }


@given(st.text())
def test_text_of_any_kind_is_no_trouble(text: str) -> None:
    assert isinstance(parse_data_format(text), dict)
