"""The name and the layout version of the document that the analyzer writes."""

FORMAT = "txop-bus"
VERSION = 1
