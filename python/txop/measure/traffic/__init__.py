"""What drives traffic through the device under test: each tool one module, and
:mod:`txop.measure.traffic.flows` saying which flows a test has."""
