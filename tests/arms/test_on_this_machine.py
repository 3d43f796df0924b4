"""Steps on real targets: a queue discipline in a network namespace, firmware in a folder, commands through BusyBox."""

from __future__ import annotations

import asyncio
import os
import subprocess
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest

from fake_kernel import plan_of
from txop.arms.arm_loader import LoadedArm
from txop.arms.bring_up import LinkUp
from txop.arms.firmware import PutFirmware
from txop.arms.qdisc import parse_root
from txop.arms.steps import Session, StepError
from txop.plan.target import SshTarget as SshTable
from txop.targets.contract import Silence, Targets
from txop.targets.factory import make_targets
from txop.targets.local import LocalTarget
from txop.targets.namespace import NamespaceTarget

needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="network namespaces need root")


@pytest.fixture
def namespace() -> Iterator[str]:
    name = f"txop-arms-{uuid.uuid4().hex[:8]}"
    made = subprocess.run(["ip", "netns", "add", name], capture_output=True, text=True)
    if made.returncode:
        pytest.skip(f"NO NETWORK NAMESPACE: it cannot be made here: {made.stderr.strip()}")
    try:
        # To work in one, ip(8) mounts, which it cannot in a chroot: the root folder is not a mount point there.
        entered = subprocess.run(["ip", "-n", name, "link"], capture_output=True, text=True)
        if entered.returncode:
            pytest.skip(f"NO NETWORK NAMESPACE: it can be made here but not entered: {entered.stderr.strip()}")
        for command in (
            ["link", "add", "veth0", "type", "veth", "peer", "name", "veth1"],
            ["addr", "add", "10.99.0.1/24", "dev", "veth0"],
            ["link", "set", "dev", "veth1", "up"],
            ["link", "set", "dev", "lo", "up"],
        ):
            subprocess.run(["ip", "-n", name, *command], check=True)
        yield name
    finally:
        subprocess.run(["ip", "netns", "del", name], check=False)


def qdisc(namespace: str, device: str = "veth0") -> str:
    shown = subprocess.run(["tc", "-n", namespace, "qdisc", "show", "dev", device], capture_output=True, text=True)
    return shown.stdout


def targets_in(namespace: str, interface: str = "veth0") -> Targets:
    return Targets({"dut": NamespaceTarget("dut", namespace=namespace, interface=interface)})


@needs_root
def test_a_queue_discipline_is_set_verified_and_taken_off(namespace, tmp_path):
    plan = plan_of(
        '[[arm]]\nname = "a"\nqdisc = { discipline = "tbf rate 1mbit burst 16kb latency 50ms", interface = "veth0" }\n'
    )
    before = qdisc(namespace)

    async def story() -> None:
        targets = targets_in(namespace)
        await targets.dut.connect()
        try:
            loaded = LoadedArm(tmp_path)
            record = await loaded.load(targets, plan.arm[0], plan)
            assert record.warnings == ()
            found = parse_root(qdisc(namespace))
            assert found is not None
            assert found.kind == "tbf"
            verified = await loaded.verify(targets, plan.arm[0], plan)
            assert (verified.found["qdisc"], verified.problems) == ("tbf", [])
            subprocess.run(["tc", "-n", namespace, "qdisc", "del", "dev", "veth0", "root"], check=True)
            verified = await loaded.verify(targets, plan.arm[0], plan)
            assert len(verified.problems) == 1
            assert await loaded.unload() == []
            assert await loaded.unload() == []
        finally:
            await targets.dut.close()

    asyncio.run(story())
    assert qdisc(namespace) == before


@needs_root
def test_a_wrong_discipline_is_told_with_the_words_of_tc(namespace, tmp_path):
    plan = plan_of('[[arm]]\nname = "a"\nqdisc = { discipline = "nosuchqdisc", interface = "veth0" }\n')

    async def story() -> None:
        targets = targets_in(namespace)
        await targets.dut.connect()
        try:
            loaded = LoadedArm(tmp_path)
            with pytest.raises(StepError, match=r"could not set nosuchqdisc on veth0: `tc qdisc replace .* ended with"):
                await loaded.load(targets, plan.arm[0], plan)
            assert await loaded.unload() == []
        finally:
            await targets.dut.close()

    asyncio.run(story())


@needs_root
def test_a_discipline_that_was_there_is_warned_about_and_an_interface_that_went_is_no_error(namespace, tmp_path):
    subprocess.run(["tc", "-n", namespace, "qdisc", "add", "dev", "veth0", "root", "pfifo", "limit", "7"], check=True)
    plan = plan_of('[[arm]]\nname = "a"\nqdisc = { discipline = ["pfifo", "limit", "9"], interface = "veth0" }\n')

    async def story() -> None:
        targets = targets_in(namespace)
        await targets.dut.connect()
        try:
            loaded = LoadedArm(tmp_path)
            record = await loaded.load(targets, plan.arm[0], plan)
            assert "had a queue discipline of its own (pfifo)" in record.warnings[0]
            subprocess.run(["ip", "-n", namespace, "link", "del", "veth0"], check=True)
            assert await loaded.unload() == []
        finally:
            await targets.dut.close()

    asyncio.run(story())


@needs_root
def test_the_link_comes_up_is_checked_and_goes_down_again(namespace, tmp_path):
    def plan(ready: str):
        return plan_of(
            '[[arm]]\nname = "a"\n[bring_up]\ntimeout_s = 3\ncommands = ["ip addr add 10.99.0.7/24 dev veth0"]\n'
            f'{ready}down = ["ip addr del 10.99.0.7/24 dev veth0"]\n'
        )

    def state() -> str:
        return subprocess.run(
            ["ip", "-n", namespace, "addr", "show", "dev", "veth0"], capture_output=True, text=True
        ).stdout

    async def story() -> None:
        targets = targets_in(namespace)
        await targets.dut.connect()
        try:
            for address, works in (("10.99.0.1", True), ("10.99.0.200", False)):
                link = LinkUp(tmp_path, tmp_path)
                check = plan(f'ready = ["ping", "-c", "1", "-W", "1", "{address}"]\n')
                if works:
                    record = await link.up(targets, check)
                    assert record.ready_s < record.seconds
                else:
                    with pytest.raises(StepError, match=r"it was not ready within 3 s: `ping .* 10\.99\.0\.200`"):
                        await link.up(targets, check)
                assert "10.99.0.7/24" in state()
                assert ",UP" in state()
                assert await link.down() == []
                assert "10.99.0.7/24" not in state()
                assert ",UP" not in state()
        finally:
            await targets.dut.close()

    asyncio.run(story())


def test_firmware_in_a_real_folder_comes_back_as_it_was(tmp_path):
    root = tmp_path / "firmware"
    (root / "vendor").mkdir(parents=True)
    (root / "real.bin").write_bytes(b"old")
    (root / "vendor" / "fw.bin").symlink_to("../real.bin")
    new = tmp_path / "new.bin"
    new.write_bytes(b"new")

    async def story(name: str, check) -> None:
        target = LocalTarget("dut")
        await target.connect()
        try:
            session = Session(Targets({"dut": target}), tmp_path)
            step = PutFirmware("dut", "new.bin", name, root=str(root))
            await step.do(session)
            assert (root / name).read_bytes() == b"new"
            await PutFirmware("dut", "new.bin", name, root=str(root)).do(session)  # after a kill
            await step.undo(session)
            check()
            await step.undo(session)
            check()
        finally:
            await target.close()

    def link_is_back() -> None:
        assert (root / "vendor" / "fw.bin").readlink() == Path("../real.bin")
        assert (root / "real.bin").read_bytes() == b"old"

    def nothing_is_there() -> None:
        assert not (root / "other" / "fw.bin").exists()

    asyncio.run(story("vendor/fw.bin", link_is_back))
    asyncio.run(story("other/fw.bin", nothing_is_there))
    assert not list(root.rglob("*txop*"))


@needs_root
def test_arms_work_on_a_busybox_only_machine_over_ssh(busybox_sshd, tmp_path):
    server = busybox_sshd()
    plan = plan_of(
        '[[arm]]\nname = "a"\nload = [["sh", "-c", "echo $0 > /tmp/arm", "it\'s; $(in) place"]]\n'
        'unload = ["rm /tmp/arm"]\nverify = { commands = ["test -f /tmp/arm"] }\n'
    )

    async def story() -> None:
        table = SshTable.model_validate(server.table(tmp_path / "known_hosts"))
        target = make_targets(plan.model_copy(update={"target": {"dut": table}}), Silence()).dut
        await target.connect()
        try:
            targets = Targets({"dut": target})
            loaded = LoadedArm(tmp_path)
            await loaded.load(targets, plan.arm[0], plan)
            assert await target.read("/tmp/arm") == b"it's; $(in) place\n"  # noqa: S108
            assert (await loaded.verify(targets, plan.arm[0], plan)).problems == []
            session = Session(targets, tmp_path, tag="t")
            folder = await session.temporary("dut")
            assert (await target.run(["stat", "-c", "%a", folder])).stdout.strip() == "700"
            assert await session.discard() == []
            assert await loaded.unload() == []
            assert await target.read("/tmp/arm") is None  # noqa: S108
        finally:
            await target.close()

    asyncio.run(story())
