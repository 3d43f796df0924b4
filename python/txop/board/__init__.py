"""A board of tasks: what is claimed of each, and what evidence shows."""
