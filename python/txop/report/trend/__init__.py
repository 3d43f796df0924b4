"""Archives of months on one page: how a figure went, and what else changed where it did."""

from txop.report.trend.follow import follow
from txop.report.trend.result import Trend

__all__ = ["Trend", "follow"]
