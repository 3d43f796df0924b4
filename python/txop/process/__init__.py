"""Child processes: they end with the process that started them, and the end of their output is kept."""
