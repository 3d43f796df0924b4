"""Figures of old documents as data, and what they let anybody conclude today.

`model` is a document as TOML, `documents` those that come with txop, `judge` weighs what a document says against its
figures, `contradictions` finds where its figures disagree with each other.
"""
