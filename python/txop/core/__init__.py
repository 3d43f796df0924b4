"""The ground floor: what every layer may use, and what uses nothing of txop."""
