"""What the machine txop runs on can do, and how to give it what it lacks.

* :mod:`~txop.machine.probe` asks the machine (tools, files, permissions) and decides nothing;
* :mod:`~txop.machine.distribution` knows package managers and nothing about txop;
* :mod:`~txop.machine.capabilities` is the table of what txop needs for what: a new capability is one entry there.
"""
