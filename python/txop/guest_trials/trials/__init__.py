"""What a driver goes through in a guest: shell scripts that cause trouble and write down what they see.

``survey.sh`` does one case of the fault survey, ``cycle.sh`` takes the driver or the dongle away again and again; both
stand on ``lib.sh``. They write lines to ``/txop/out/facts``; what those mean is decided on this side
(:mod:`txop.guest_trials.facts`).
"""
