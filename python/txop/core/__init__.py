"""The lowest layer: every other layer may use it, and it uses nothing of txop."""
