"""Answers of the first screen: links that are alike have one, and none is lost."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from txop.air import AirReport
from txop.air.model import AckVerdict, Exchange
from txop.air.view.answers import answers
from txop.cli.terminal_report import fitting
from txop.present.blocks import Cell, Column

DATA = Path(__file__).parent.parent / "data"
STATIONS = [f"02:00:00:00:00:0{number}" for number in range(5)]
KINDS = (("ack", "unanswered"), ("ack", "in-order"), ("block-ack", "late"))


def with_verdicts(report: AirReport, rows: list[tuple[str, str, tuple[str, str], int]]) -> AirReport:
    """The report with these verdicts alone: sender, receiver, question and answer, PPDUs without a response."""
    verdict, exchange = report.ack_verdicts[0], report.exchanges[0]
    verdicts: list[AckVerdict] = []
    exchanges: list[Exchange] = []
    for originator, recipient, (question, answer), resent in rows:
        told = {"originator": originator, "recipient": recipient, "question": question, "answer": answer}
        verdicts.append(verdict.model_copy(update={**told, "because": f"from {originator} to {recipient}"}))
        data = exchange.data.model_copy(update={"ppdus": 100, "answered": 7, "missing_resent": resent})
        exchanges.append(exchange.model_copy(update={"ta": originator, "ra": recipient, "data": data}))
    return report.model_copy(update={"ack_verdicts": verdicts, "exchanges": exchanges})


@pytest.mark.parametrize("is_sender", [True, False])
def test_links_of_one_station_without_acks_have_one_answer_with_their_sums(report: AirReport, is_sender: bool) -> None:
    ends = [(STATIONS[0], other) for other in STATIONS[1:4]]
    rows = [(*(pair if is_sender else reversed(pair)), KINDS[0], n) for n, pair in enumerate(ends, 30)]
    made = with_verdicts(report, [*rows, (STATIONS[4], STATIONS[3], KINDS[0], 20)])  # type: ignore[list-item]
    together, alone = answers(made, made.ack_verdicts)
    assert (together.verdicts, alone.verdicts) == (3, 1)
    for figure in ("93 of 300", "31.0 %", "21 of the 300", f"32 of 100, {STATIONS[3]}"):
        assert figure in together.text
    assert "3 stations" in together.title
    assert STATIONS[0] in together.title
    assert len(together.evidence) == 3


links = st.tuples(st.sampled_from(STATIONS), st.sampled_from(STATIONS)).filter(lambda ends: ends[0] != ends[1])


@given(st.dictionaries(links, st.tuples(st.sampled_from(KINDS), st.integers(0, 100)), max_size=12))
def test_every_verdict_is_in_one_answer(rows: dict[tuple[str, str], tuple[tuple[str, str], int]]) -> None:
    report = AirReport.parse((DATA / "air-v2.json").read_bytes())
    made = with_verdicts(report, [(*ends, kind, resent) for ends, (kind, resent) in rows.items()])
    found = answers(made, made.ack_verdicts)
    assert sum(each.verdicts for each in found) == len(rows)
    told = [text for each in found for text in (each.text, *each.evidence)]
    for originator, recipient in rows:
        assert sum(f"rom {originator} to {recipient}" in text for text in told) == 1


def test_the_link_that_loses_most_comes_first_and_what_is_normal_last(report: AirReport) -> None:
    rows = [
        (STATIONS[0], STATIONS[1], KINDS[1], 0),
        (STATIONS[1], STATIONS[2], KINDS[0], 30),
        (STATIONS[2], STATIONS[3], KINDS[0], 98),
    ]
    made = with_verdicts(report, rows)
    found = answers(made, made.ack_verdicts)
    assert [each.tone for each in found] == ["bad", "bad", "good"]
    assert [each.lost for each in found[:2]] == [0.98, 0.3]


@given(width=st.integers(20, 200))
def test_a_count_stands_only_beside_the_figure_that_it_is_of(width: int) -> None:
    columns = [
        Column("Address"),
        Column("Retry % Wireshark", "retry", 3),
        Column("n", "retry", 3),
        Column("Data", rank=2),
    ]
    rows = [[Cell("02:00:00:00:00:01"), Cell("12.5 %"), Cell("4,000"), Cell("77")]]
    kept = fitting(columns, rows, width)
    assert 2 not in kept or 1 in kept
    assert 0 in kept
