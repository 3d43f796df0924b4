"""Where the time on the air went, by arm, from the captures of the runs."""

from __future__ import annotations

from collections.abc import Sequence

import altair as alt

from txop.air.page.causes import INK_OF_CAUSE, ink
from txop.air.view.glyphs import SOLID, glyph
from txop.present.chapters import Drawing
from txop.present.plot import INK, plain
from txop.report.answer.air_digest import LABELS, Digest
from txop.report.campaign.plots.drawing import FULL, Rows, Tables, unchecked

_MAX_CAUSES = 40

_ALWAYS_LIGHT = ("nine", "three", "five", "ten", "eleven")
"""Inks that are light in both themes: letters on them are dark."""
_OF_THE_THEME = ("shade", "grid", "six")
"""Inks that are light in the light theme and dark in the dark one: letters on them have the colour of text."""
_DARK_LETTERS, _LIGHT_LETTERS = "#111111", "#ffffff"


@unchecked
def waterfalls(test: str, digests: Sequence[Digest]) -> Drawing | None:
    """A stacked bar for each arm: shares of the observed time by cause."""
    arms = [each for each in digests if each.shares]
    if not arms:
        return None
    known = [cause for cause in LABELS if any(each.shares.get(cause, 0) >= 0.002 for each in arms)]
    other = sorted({c for each in arms for c, share in each.shares.items() if c not in LABELS and share >= 0.002})
    causes = (known + other)[:_MAX_CAUSES]
    unsure = next((each for each in arms if not each.gaps_are_idle), arms[0])
    rows: Rows = []
    for each in arms:
        start = 0.0
        for cause in causes:
            share = each.shares.get(cause, 0.0)
            rows.append(
                {
                    "arm": each.arm,
                    "cause": _name(cause, unsure),
                    "from": round(start, 5),
                    "to": round(start + share, 5),
                    "share": f"{100 * share:.1f} %",
                    "text": _inside(cause, share),
                    "letters": _letters(ink(cause)),
                    "middle": round(start + share / 2, 5),
                }
            )
            start += share
    labels = [row["n"] for row in plain([{"n": _name(cause, unsure)} for cause in causes])]
    inks = [INK[ink(cause) if cause in INK_OF_CAUSE else "three"] for cause in causes]
    x = alt.X(
        "from:Q",
        title="share of the observed time",
        scale=alt.Scale(domain=[0, 1]),
        axis=alt.Axis(format="%", grid=False),
    )
    tables = Tables()
    base = alt.Chart(tables.add(rows)).encode(
        y=alt.Y("arm:N", sort=[each.arm for each in arms], title=None, axis=alt.Axis(domain=False, ticks=False))
    )
    bars = base.mark_bar(height=22).encode(
        x=x,
        x2=alt.X2("to:Q"),
        color=alt.Color("cause:N", scale=alt.Scale(domain=labels, range=inks),
                        legend=alt.Legend(title=None, columns=6, symbolType="square")),
        tooltip=[alt.Tooltip(name) for name in ("arm:N", "cause:N", "share:N")],
    )  # fmt: skip
    text = [
        base.transform_filter(f"datum.letters == '{color}'")
        .mark_text(fontSize=10, color=color, aria=False)
        .encode(x=alt.X("middle:Q"), text=alt.Text("text:N"))
        for color in (_LIGHT_LETTERS, _DARK_LETTERS, INK["text"])
    ]
    caption = (
        f"{test}: where the time on the air went in the measured window, mean of the runs with a capture; definitions"
        " as in txop air --from --to; the command for each run is in its run.json."
    )
    return Drawing(
        tables.layered([bars, *text], width=FULL, height=32 * len(arms)),
        caption,
        wide=True,
        name=f"air-{test}",
    )


def _letters(ground: str) -> str:
    """The colour of letters that can be read on an ink in both themes."""
    if ground in _OF_THE_THEME:
        return INK["text"]
    return _DARK_LETTERS if ground in _ALWAYS_LIGHT else _LIGHT_LETTERS


def _name(cause: str, of: Digest) -> str:
    """A cause in the legend, with the glyph that marks it in the bars; ``of``: a digest that lacks frames, if any."""
    label = of.label(cause)
    return label if glyph(cause) == SOLID else f"{glyph(cause)}  {label}"


def _inside(cause: str, share: float) -> str:
    """What stands in a bar: the glyph of the cause from 1 % on, and its share where there is room."""
    sign = "" if glyph(cause) == SOLID else glyph(cause)
    part = f"{100 * share:.0f} %" if share >= 0.045 else ""
    return f"{sign} {part}".strip() if share >= 0.01 else ""
