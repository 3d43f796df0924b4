"""The pages of USB captures in a real browser: nothing is wider than its window, on a desktop and on a phone."""

from __future__ import annotations

from pathlib import Path

import pytest

from page_in_frame import BROWSER, seen
from txop.bus import BusReport
from txop.bus.page import comparison_page, page

pytestmark = [pytest.mark.browser, pytest.mark.skipif(BROWSER is None, reason="no chromium on this machine")]


@pytest.mark.parametrize("width", [390, 1280])
def test_nothing_is_wider_than_the_window(report: BusReport, tmp_path: Path, width: int) -> None:
    found = seen(page(report), tmp_path, width)
    assert (found["wide"], found["broad"]) == ("", "")
    assert found["plots"] == "2"
    if width == 1280:
        assert found["clipped"] == "", "tables have room on a desktop"


def test_two_captures_fit_a_phone(report: BusReport, aggregated: BusReport, tmp_path: Path) -> None:
    found = seen(comparison_page([report, aggregated]), tmp_path, 390)
    assert found["wide"] == ""
