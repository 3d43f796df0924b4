"""``iw reg get``: the regulatory rules in force, world-wide and per radio."""

from __future__ import annotations

import re
from dataclasses import dataclass

from txop.formats.iw_failure import not_iw
from txop.formats.reading import lines_of, real, text_of, whole

_WHAT = "iw reg get"
_SCOPE = re.compile(r"(?:(?P<world>global)|phy#(?P<phy>[0-9]{1,5}))(?P<self> \(self-managed\))?")
_COUNTRY = re.compile(r"country (?P<code>[A-Z0-9]{2}): (?P<region>DFS-[A-Z]{2,8})")
_RULE = re.compile(
    r"\((?P<start>[0-9.]{1,9}) - (?P<end>[0-9.]{1,9}) @ (?P<width>[0-9.]{1,6})\), "
    r"\((?P<gain>N/A|-?[0-9.]{1,6}), (?P<eirp>N/A|-?[0-9.]{1,6})\)(?:, \((?P<cac>N/A|[0-9]{1,8} ms)\))?"
    r"(?P<flags>[^\n]{0,200})"
)


@dataclass(frozen=True, slots=True)
class Rule:
    """One range of frequencies."""

    start_mhz: float
    end_mhz: float
    max_width_mhz: float
    antenna_gain_dbi: float | None
    max_eirp_dbm: float | None
    dfs_channel_check_ms: int | None
    flags: tuple[str, ...]
    """``DFS``, ``NO-OUTDOOR``, ``PASSIVE-SCAN``, ``AUTO-BW``, ..."""


@dataclass(frozen=True, slots=True)
class RegulatoryDomain:
    """The rules for one radio, or for all that have none of their own."""

    phy: int | None
    """``None``: global."""

    self_managed: bool
    country: str
    """ISO 3166 alpha-2; ``00`` world, ``98``/``99`` intersections and custom rules."""

    dfs_region: str
    rules: tuple[Rule, ...]


def parse(data: str | bytes) -> tuple[RegulatoryDomain, ...]:
    """Every domain that iw prints. Raises FormatError when there is none."""
    text = text_of(data, _WHAT)
    domains: list[tuple[int | None, bool, str, str, list[Rule]]] = []
    phy, self_managed = None, False
    for _, line in lines_of(text):
        stripped = line.strip()[:400]
        if (scope := _SCOPE.fullmatch(stripped)) is not None:
            phy, self_managed = whole(scope["phy"]), scope["self"] is not None
        elif (country := _COUNTRY.fullmatch(stripped)) is not None:
            domains.append((phy, self_managed, country["code"], country["region"], []))
        elif domains and (rule := _RULE.fullmatch(stripped)) is not None:
            start, end, width = real(rule["start"]), real(rule["end"]), real(rule["width"])
            if start is None or end is None or width is None:
                continue
            domains[-1][4].append(
                Rule(
                    start,
                    end,
                    width,
                    real(rule["gain"], least=-100, most=100),
                    real(rule["eirp"], least=-100, most=200),
                    whole((rule["cac"] or "").removesuffix(" ms")),
                    tuple(flag for flag in rule["flags"].replace(",", " ").split()),
                )
            )
    if not domains:
        raise not_iw(_WHAT, text)
    return tuple(RegulatoryDomain(*domain[:4], tuple(domain[4])) for domain in domains)
