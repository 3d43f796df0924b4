"""Compare the arms of a campaign: one method, four verdicts, and everything that goes with them."""
