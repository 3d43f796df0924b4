"""The figures of mac80211's queues of one peer: ``airtime``, ``aqm`` and ``aql`` in debugfs."""

from __future__ import annotations

from txop.counters.account import Account, percent
from txop.counters.pairing import Pair
from txop.counters.report import Window
from txop.formats.mac80211_debugfs import Airtime, QueueLimits, QueueManagement


def put_airtime(pair: Pair, account: Account) -> None:
    """``airtime``; nothing of a driver that counts none."""
    now = pair.after.value
    assert isinstance(now, Airtime)
    if not now.tx_us and not now.rx_us:
        return
    was = pair.before.value if pair.before is not None else None
    before = was if isinstance(was, Airtime) else None
    if before is not None and before == now:
        account.doubt("identical", pair.subject)
    window: Window = "difference" if before is not None else "since-connected"
    for code, name in (("airtime-tx", "tx_us"), ("airtime-rx", "rx_us")):
        value: int | None = getattr(now, name)
        if before is not None:
            value = account.step(pair.subject, name, getattr(before, name), value, narrow=False)
        account.put(pair.subject, code, None if value is None else value / 1e3, window)
    account.put(pair.subject, "airtime-weight", now.weight, "now")


def put_queues(pair: Pair, account: Account) -> None:
    """``aqm``, over all TIDs; nothing where no queue is listed."""
    now = pair.after.value
    assert isinstance(now, QueueManagement)
    if not now.queues:
        return
    was = pair.before.value if pair.before is not None else None
    before = was if isinstance(was, QueueManagement) and _tids(was) == _tids(now) else None
    if before is not None and before == now and any(queue.tx_packets for queue in now.queues):
        account.doubt("identical", pair.subject)
    window: Window = "difference" if before is not None else "since-connected"
    steps: dict[str, int | None] = {}
    for name in ("tx_packets", "drops", "ecn_marks", "over_limit"):
        values: list[int | None] = []
        for number, queue in enumerate(now.queues):
            value: int | None = getattr(queue, name)
            if before is not None:
                earlier = getattr(before.queues[number], name)
                value = account.step(pair.subject, f"{name} of TID {queue.tid}", earlier, value, narrow=True)
            values.append(value)
        known = [value for value in values if value is not None]
        steps[name] = sum(known) if len(known) == len(values) else None
    packets, drops = steps["tx_packets"], steps["drops"]
    account.put(pair.subject, "queue-packets", packets, window)
    account.put(pair.subject, "queue-drops", drops, window)
    if packets is not None and drops is not None:
        offered = packets + drops
        account.put(pair.subject, "queue-drops-percent", percent(drops, offered), window, n=offered or None)
    account.put(pair.subject, "queue-marks", steps["ecn_marks"], window)
    account.put(pair.subject, "queue-over-limit", steps["over_limit"], window)
    account.put(pair.subject, "queue-backlog", sum(queue.backlog_packets for queue in now.queues), "now")
    if now.target_us is not None:
        account.put(pair.subject, "queue-target", now.target_us / 1e3, "now")


def put_limits(pair: Pair, account: Account) -> None:
    """``aql``, of each access category."""
    now = pair.after.value
    assert isinstance(now, QueueLimits)
    for category, depth_us in now.depth_us.items():
        if depth_us < 0:
            account.doubt("pending-below-zero", pair.subject, category=category, us=depth_us)
        else:
            account.put(pair.subject, "aql-pending", depth_us / 1e3, "now", name=category)
    for category, limit_us in now.limit_high_us.items():
        account.put(pair.subject, "aql-limit", limit_us / 1e3, "now", name=category)


def _tids(managed: QueueManagement) -> list[int]:
    return [queue.tid for queue in managed.queues]
