"""What ``import txop`` offers to Python programs (``docs/python.md``); :mod:`txop` loads it on first use."""

from __future__ import annotations

from txop.api.campaign import Campaign, Comparison, read_archive

__all__ = ["Campaign", "Comparison", "read_archive"]
