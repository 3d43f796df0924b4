"""Many captures as one Parquet data set: a row per capture, per station and capture, per link and capture."""

from txop.air.dataset.build import Built, Settings, build

__all__ = ["Built", "Settings", "build"]
