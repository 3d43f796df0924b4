"""Arms: what a plan says of a driver build, turned into steps on targets and undone in reverse order.

:mod:`.arm_loader` loads, verifies and unloads; :mod:`.bring_up` makes the link; each other module is one kind of step.
Nothing here knows emulated links: their variants are set by the emulator, and what remains of such an arm (queue
discipline, free commands) works here as everywhere.
"""
