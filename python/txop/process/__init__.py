"""Processes that are held: they end with what started them, and their last words are kept."""
