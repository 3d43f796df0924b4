"""Machines txop works on: one contract (:mod:`txop.targets.contract`), one thin module per kind of machine."""
