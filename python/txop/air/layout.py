"""The name and the layout version of the document that the analyzer writes."""

FORMAT = "txop-air"
VERSION = 2
