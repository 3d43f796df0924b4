"""A recorded run under gdb: symbols of its kernel and modules, places in it, and what gdb is started with."""
