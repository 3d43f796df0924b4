"""Compare the arms of a campaign: one method, four verdicts, and everything that must be said with them."""
