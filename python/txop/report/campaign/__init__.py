"""``txop report``: a campaign as one HTML page that can be sent to a mailing list, and its plots as files."""

from txop.report.campaign.document import PAGE_NAME, page, write_page

__all__ = ["PAGE_NAME", "page", "write_page"]
