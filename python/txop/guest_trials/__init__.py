"""Trials in guests: what a driver does when a device fails, comes, goes, or lasts."""
