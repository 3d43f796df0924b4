"""Fault scripts made by mutation, run in guests, and kept where they show something new."""
