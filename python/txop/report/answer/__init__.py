"""The answer of a campaign in little space: a line of verdict per arm, a scorecard, and what goes with the verdict.

Page and mail show the same. Every figure is one of the comparison, in the same words and digits.
"""
