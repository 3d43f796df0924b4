"""Measuring: the contract of an instrument, the probes that record, the traffic that loads."""
