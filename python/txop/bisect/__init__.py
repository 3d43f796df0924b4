"""Which commit, or which patch of a series, made a figure worse: bisected by the verdict of `txop compare`.

:mod:`~txop.bisect.search` is pure: what is known so far in, what to do next out. :mod:`~txop.bisect.engine` does it in
exact guests and writes a journal, from which a bisection goes on after anything.
"""
