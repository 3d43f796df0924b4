"""Plans: what to measure, on what, how often. A plan is a TOML file.

:mod:`.model` says what may be in it, :mod:`.load` reads it and finds every mistake with line and key, :mod:`.noise`
says what it will be able to see. :mod:`txop.plan_check` finds what only the meaning shows, and says how long it takes.
"""
