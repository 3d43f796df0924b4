"""The driver that an interface has, and whether it is the one that the plan names."""

from __future__ import annotations

from dataclasses import dataclass

from txop.arms.module import normal


@dataclass(frozen=True)
class BoundDriver:
    """As sysfs names it."""

    name: str
    """As the driver registered itself with its bus: ``.../drivers/rtl8xxxu``."""
    module: str | None
    """The module it is in (``.../module/rtl8xxxu_git``), which may have another name; ``None``: not known."""

    @classmethod
    def of_links(cls, text: str) -> BoundDriver | None:
        """From what readlink(1) wrote: the link to the driver, and a line below the one to its module."""
        names = [line.strip().rpartition("/")[2] for line in text.splitlines()]
        if not names or not names[0]:
            return None
        return cls(names[0], names[1] if len(names) > 1 and names[1] else None)

    def is_of(self, module: str) -> bool:
        """Whether it is the driver of this module."""
        return normal(self.module or self.name) == normal(module)

    def __str__(self) -> str:
        if self.module is None or normal(self.module) == normal(self.name):
            return self.name
        return f"{self.name} (module {self.module})"

    def verified(self) -> dict[str, str]:
        """For ``verified`` of ``run.json``."""
        return {"driver": self.name, **({"driver_module": self.module} if self.module else {})}
