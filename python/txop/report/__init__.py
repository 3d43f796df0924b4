"""What all reports share: how numbers are written, the page around an HTML report, and its plots."""
