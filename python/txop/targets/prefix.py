"""A target behind a program that enters it: ``nsenter``, ``ip netns exec``, ``chroot``, ``lxc-attach``..."""

from __future__ import annotations

from txop.targets.process import ProcessTarget


class PrefixTarget(ProcessTarget):
    """Puts arguments in front of every command, as in
    ``PrefixTarget("dut", prefix=["nsenter", "-t", "4711", "-n"], interface="tun0")``.

    Everything, reads and writes of files included, happens behind the prefix. When the prefix itself fails (what it
    enters is gone), that is :class:`~txop.targets.contract.TargetLostError`.
    """
