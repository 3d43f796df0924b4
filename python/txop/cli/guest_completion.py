"""What a shell completes in the options of ``txop guest``. The lists are read when it asks, not before."""

from __future__ import annotations

from txop.cli.name_completion import beginning


def kernels(incomplete: str) -> list[str]:
    """Kernel series that txop has a lock for."""
    from txop.guest_image.recipe import KERNELS

    return beginning(KERNELS, incomplete)


def devices(incomplete: str) -> list[str]:
    """Virtual chips and network functions."""
    from txop.plan.devices import CHIPS, FUNCTIONS

    return beginning((*CHIPS, *FUNCTIONS), incomplete)


def wireless_chips(incomplete: str) -> list[str]:
    """Virtual chips."""
    from txop.plan.devices import CHIPS

    return beginning(CHIPS, incomplete)


def extra_programs(incomplete: str) -> list[str]:
    """Programs of the distribution that a guest gets on request."""
    from txop.guest_image.extra_programs import extra_program_names

    return beginning(extra_program_names(), incomplete)


def fault_scripts(incomplete: str) -> list[str]:
    """Fault scripts that come with txop; where none begins so, the shell completes files."""
    from txop.guest.shipped_faults import every_shipped_script

    return beginning(every_shipped_script(), incomplete)


def drivers(incomplete: str) -> list[str]:
    """Drivers that know one of the virtual chips."""
    from txop.plan.devices import DRIVERS, NEEDS_BUILD

    return beginning(sorted({*DRIVERS.values(), *(driver for _, driver in NEEDS_BUILD)}), incomplete)
