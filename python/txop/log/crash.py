"""Reports of several lines (WARNING, Oops, stalls): the function at fault and the first frames of the call trace."""

from __future__ import annotations

import re

from txop.log.record import Record

MAX_FRAMES = 8
"""Frames that are kept."""

_MAX_LINES = 250
"""A report that has not ended after this many lines is taken as ended."""

_MAX_SECONDS = 20.0

_SYMBOL = (
    r"(?P<symbol>[A-Za-z_.$][\w.$]{0,127})\+0x[0-9a-f]{1,8}/0x[0-9a-f]{1,8}(?: \[(?P<module>[\w-]{1,64})[^\]]{0,80}\])?"
)
_FRAME = re.compile(rf" {{0,8}}(?:\[<[0-9a-f]{{8,16}}>\] ?)?\(?(?P<unsure>\? )?{_SYMBOL}")
_ARM_FRAME = re.compile(
    r" {0,8}(?:\[<[0-9a-f]{8}>\] )?\(?(?P<symbol>[A-Za-z_][\w.]{0,127})(?:\+0x[0-9a-f]{1,8}/0x[0-9a-f]{1,8})?"
    r"(?: \[(?P<module>[\w-]{1,64})\])?\)? from [\[(\w]"
)
"""``[<c010c0f0>] (show_stack) from [<c05f7708>] (dump_stack+0x80/0xa0)``
(arch/arm/kernel/traps.c, dump_backtrace_entry)."""

_COUNTER = re.compile(
    r"(?:RIP: [0-9a-f]{4}:|EIP: |pc : |epc {0,3}: (?:[0-9a-f]{8,16} )?|PC is at |NIP \[[0-9a-f]{8,16}\] )" + _SYMBOL
)
_ENDS = ("---[ end ", "cut here ]", "8<--- cut here")
_TRACE = re.compile(r"(?:Call [Tt]race:|Backtrace:|Stack backtrace:)")

_NO_TEXT = re.compile(
    r"(?:Modules linked in|CPU:? ?\d|Hardware name|Call [Tt]race|RIP|EIP|PC is|LR is|pc :|Stack|Workqueue|Tainted"
    r"|Not tainted|\s|Mem abort|pgd =|\[|Oops|Internal error|Backtrace|Process |Kernel panic|irq event|\$)"
)
"""What follows the first line of a report where no text of its author does."""

_HELPERS = re.compile(
    r"dump_stack(?:_lvl|_print_info)?|show_stack|unwind_backtrace|dump_backtrace|__warn|warn_slowpath_\w+|report_bug|handle_bug"
    r"|exc_\w+|asm_exc_\w+|do_(?:error_)?trap\w*|__die\w*|die\w*|show_regs\w*|oops_\w+|page_fault_oops|__do_kernel_fault|bug_handler"
    r"|call_break_hook|brk_handler|do_debug_exception|el1h?_\w+|show_free_areas|warn_alloc|__schedule_bug|_?printk|check_\w+_stall\w*"
    r"|print_\w+_stall\w*|arch_trigger_\w+|nmi_\w+|rcu_dump_\w+|sched_show_task|__schedule|schedule(?:_timeout|_preempt_disabled)?"
    r"|__mutex_lock(?:_slowpath)?(?:\.\w+)*|mutex_lock(?:_nested)?"
)
"""Functions that print the report, or wait; they are not where it went wrong."""


class OpenReport:
    """Collects one report until it ends."""

    def __init__(self, record: Record, text: str | None = None) -> None:
        self.text = text
        """What the author of the WARN wrote; it stands before the first line, or, in older kernels, behind it."""
        self.function: str | None = None
        self.module: str | None = None
        self.frames: list[str] = []
        self.symbols: set[str] = set()
        """All functions of the call trace, those that are not kept as frames included."""
        self.in_trace = False
        self.ended = False
        self._lines = 0
        self._started_s = record.time_s

    def feed(self, record: Record, *, may_be_text: bool = True) -> None:
        """Take what belongs to the report out of ``record``. ``may_be_text``: no rule names the message."""
        message = record.message
        self._lines += 1
        if self._lines == 1 and may_be_text and self.text is None and not _NO_TEXT.match(message):
            self.text = message
        if self.in_trace and (frame := _FRAME.match(message)) is not None and not frame["unsure"]:
            self.symbols.add(frame["symbol"])
        if any(mark in message for mark in _ENDS) or self._lines > _MAX_LINES or self._is_late(record):
            self.ended = True
        elif _TRACE.search(message[:64]):
            self.in_trace = not self.frames
        elif "</TASK>" in message or "</IRQ>" in message:
            self.in_trace = self.in_trace and "</IRQ>" in message
        elif counter := _COUNTER.match(message):
            if self.function is None:
                self.function, self.module = counter["symbol"], counter["module"]
        elif len(self.frames) < MAX_FRAMES and (self.in_trace or (" from " in message and _ARM_FRAME.match(message))):
            self._frame(message)

    def _is_late(self, record: Record) -> bool:
        return (
            record.time_s is not None and self._started_s is not None and record.time_s > self._started_s + _MAX_SECONDS
        )

    def _frame(self, message: str) -> None:
        arm = _ARM_FRAME.match(message) if " from " in message else None
        found = arm or _FRAME.match(message)
        if found is None:
            self.in_trace = not self.frames or message.lstrip().startswith(("<", "[<"))
            return
        self.in_trace = True
        if (arm or not found["unsure"]) and not _HELPERS.fullmatch(found["symbol"]):
            module = f" [{found['module']}]" if found["module"] else ""
            self.frames.append(f"{found['symbol']}{module}")
