"""A kernel from a tree of one's own: what is asked of it, by which hash it is kept, and what is said when it fails."""

from __future__ import annotations

import asyncio
import os
import shutil
from pathlib import Path
from typing import Any

import pytest

from txop.cli.app import main
from txop.guest_image import own_kernel
from txop.guest_image.error import GuestError, MissingGuestToolError
from txop.guest_image.locks import find_lock
from txop.guest_image.own_kernel import CHECKERS, KernelRecipe, check_programs, lost_lines
from txop.guest_image.recipe import MODULES
from txop.guest_image.tree_digest import tree_digest


def build_kernel(*given, **named):
    return asyncio.run(own_kernel.build_kernel(*given, **named))


def test_the_last_line_of_a_symbol_counts(tmp_path):
    (tmp_path / "mine").write_text("CONFIG_NR_CPUS=2\n\n# a remark\n# CONFIG_IPV6 is not set\n")
    lines = KernelRecipe(tmp_path, ("kasan",), (tmp_path / "mine",)).lines()
    assert lines[-2:] == ["CONFIG_NR_CPUS=2", "# CONFIG_IPV6 is not set"]
    assert not {"CONFIG_NR_CPUS=8", "CONFIG_IPV6=y"} & set(lines)
    assert "CONFIG_KASAN=y" in lines
    assert "CONFIG_RTL8XXXU=m" in lines


def test_what_a_tree_did_not_take():
    asked = ["CONFIG_A=y", "CONFIG_B=m", "CONFIG_C=y", "CONFIG_D=n", "# CONFIG_E is not set", "CONFIG_F=8"]
    configured = "CONFIG_A=y\nCONFIG_B=y\n# CONFIG_C is not set\nCONFIG_E=y\nCONFIG_F=8\n"
    assert lost_lines(asked, configured) == ("CONFIG_B=m", "CONFIG_C=y", "# CONFIG_E is not set")


def test_a_digest_follows_names_contents_and_modes(tmp_path):
    tree, known = tmp_path / "tree", tmp_path / "known"
    (tree / "a").mkdir(parents=True)
    (tree / "a" / "one.c").write_text("one\n")
    (tree / "link").symlink_to("a")
    seen = [tree_digest(tree, known)]

    def differs() -> None:
        found = tree_digest(tree, known)
        assert found == tree_digest(tree), "what is remembered is what is there"
        assert found not in seen
        seen.append(found)

    (tree / "a" / "one.c").write_text("two\n")  # as long, and written at once
    differs()
    (tree / "a" / "one.c").chmod(0o755)
    differs()
    (tree / "a" / "one.c").rename(tree / "a" / "two.c")
    differs()
    (tree / "link").unlink()
    (tree / "link").symlink_to("b")
    differs()
    (tree / ".git").mkdir()
    (tree / ".git" / "index").write_text("not of the kernel")
    assert tree_digest(tree, known) == seen[-1]


def test_only_changed_files_are_read_again(tmp_path, monkeypatch):
    tree, known = tmp_path / "tree", tmp_path / "known"
    tree.mkdir()
    for number in range(5):
        (tree / f"{number}.c").write_text(str(number))
        os.utime(tree / f"{number}.c", (1e9, 1e9))
    monkeypatch.setattr("txop.guest_image.tree_digest._RACY_NS", -1)  # their other time is now
    first = tree_digest(tree, known)
    opened: list[str] = []
    real = Path.open

    def noted(self: Path, *how: Any, **more: Any) -> Any:
        opened.append(self.name)
        return real(self, *how, **more)

    monkeypatch.setattr(Path, "open", noted)
    assert tree_digest(tree, known) == first
    assert not [name for name in opened if name.endswith(".c")]
    (tree / "3.c").write_text("other")
    assert tree_digest(tree, known) != first
    assert [name for name in opened if name.endswith(".c")] == ["3.c"] or opened.count("3.c") == 2
    known.write_text("{not json")
    assert tree_digest(tree, known) == tree_digest(tree)


@pytest.mark.parametrize(
    ("prepare", "message"),
    [
        (lambda tree: (tree / "Kconfig").unlink(), "not a kernel source tree"),
        (lambda tree: (tree / ".config").write_text(""), "was built in"),
    ],
)
def test_what_is_no_clean_tree(tmp_path, prepare, message):
    tree = tmp_path / "linux"
    (tree / "arch" / "x86").mkdir(parents=True)
    (tree / "Kconfig").write_text("")
    prepare(tree)
    with pytest.raises(GuestError, match=message):
        build_kernel(KernelRecipe(tree), find_lock("6.12"), cache=tmp_path / "cache")
    assert not (tmp_path / "cache").exists()


def test_programs_that_are_not_here_are_named_with_their_packages(monkeypatch):
    monkeypatch.setattr(shutil, "which", lambda name, **_: None if name in ("flex", "bison") else f"/usr/bin/{name}")
    with pytest.raises(MissingGuestToolError, match="flex, bison") as raised:
        check_programs()
    assert "apt-get install flex bison" in str(raised.value.what_to_do)


def small_tree(root: Path) -> Path:
    """A tree whose Makefile only pretends: it needs no compiler, and leaves what a kernel's leaves."""
    (root / "arch" / "x86").mkdir(parents=True)
    (root / "Kconfig").write_text("")
    (root / "drivers.c").write_text("int works;\n")
    (root / "Makefile").write_text(
        "alldefconfig:\n"
        "\tcp $(KCONFIG_ALLCONFIG) $(O)/.config\n"
        "\tsed -i '/CONFIG_MT76x2U/d' $(O)/.config\n"
        "bzImage modules:\n"
        "\t! grep -q broken drivers.c || { echo 'drivers.c:1:1: error: it is broken'; exit 1; }\n"
        "\tmkdir -p $(O)/arch/x86/boot $(O)/include/config\n"
        "\techo 6.99.0 >$(O)/include/config/kernel.release\n"
        "\tcat drivers.c >$(O)/arch/x86/boot/bzImage\n"
        "\techo symbols >$(O)/vmlinux\n"
        "modules_install:\n"
        "\tmkdir -p $(INSTALL_MOD_PATH)/lib/modules/6.99.0\n"
        "\tln -sfn $(O) $(INSTALL_MOD_PATH)/lib/modules/6.99.0/build\n"
    )
    return root


@pytest.fixture
def no_compiler(monkeypatch):
    monkeypatch.setattr(own_kernel, "check_programs", lambda: None)
    monkeypatch.setattr(own_kernel, "compiler_folder", lambda *_, **__: None)


def test_a_kernel_is_kept_by_what_went_in(tmp_path, no_compiler):
    tree, cache, lock = small_tree(tmp_path / "linux"), tmp_path / "cache", find_lock("6.12")
    said: list[str] = []
    first = build_kernel(KernelRecipe(tree), lock, cache=cache, progress=said.append)
    assert (first.release, first.cached, first.lost) == ("6.99.0", False, ("CONFIG_MT76x2U=m",))
    assert any("does not take CONFIG_MT76x2U=m" in row for row in said)
    assert first.kernel.read_text() == "int works;\n"
    assert first.modules.is_dir()
    assert (first.build / "arch/x86/boot/bzImage").read_bytes() == first.kernel.read_bytes()
    assert not (first.modules / "build").is_symlink(), "it names a folder of this machine"
    assert build_kernel(KernelRecipe(tree), lock, cache=cache).cached
    checked = build_kernel(KernelRecipe(tree, ("lockdep",)), lock, cache=cache)
    assert not checked.cached
    assert set(CHECKERS["lockdep"]) <= set((checked.folder / "config").read_text().splitlines())
    (tree / "drivers.c").write_text("int still_works;\n")
    second = build_kernel(KernelRecipe(tree), lock, cache=cache)
    assert second.key != first.key
    assert second.kernel.read_text() == "int still_works;\n"
    assert first.kernel.read_text() == "int works;\n"


def test_a_kernel_that_does_not_build_leaves_nothing_but_its_log(tmp_path, no_compiler):
    tree, cache = small_tree(tmp_path / "linux"), tmp_path / "cache"
    (tree / "drivers.c").write_text("broken\n")
    with pytest.raises(GuestError, match=r"drivers\.c:1:1: error: it is broken.*build\.log"):
        build_kernel(KernelRecipe(tree), find_lock("6.12"), cache=cache)
    assert not list((cache / "own-kernels").glob("*")) if (cache / "own-kernels").exists() else True
    (tree / "drivers.c").write_text("int works;\n")
    assert build_kernel(KernelRecipe(tree), find_lock("6.12"), cache=cache).release == "6.99.0"


def test_the_command_copies_it_and_says_how_to_boot_it(tmp_path, no_compiler, monkeypatch, capsys):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("COLUMNS", "400")
    tree, out = small_tree(tmp_path / "linux"), tmp_path / "mine"
    with pytest.raises(SystemExit) as left:
        main(["guest", "kernel", "--source", str(tree), "-o", str(out)])
    assert left.value.code == 0
    said = capsys.readouterr()
    booted = " ".join(said.out.split())  # lines are as wide as the terminal
    assert f"--kernel-file {out}/bzImage --modules-dir {out}/lib/modules/6.99.0" in booted
    build = Path(" ".join(said.err.split()).rpartition("--build-dir ")[2])
    assert build.parent == tmp_path / "cache/txop/guest/kernel-builds"
    assert (out / "config").is_file()
    assert (out / "vmlinux").read_text() == "symbols\n", "what gdb takes"
    with pytest.raises(SystemExit) as left:
        main(["guest", "kernel", "--source", str(tree), "-o", str(out)])
    assert left.value.code == 2
    assert "is not empty" in capsys.readouterr().err


def test_every_module_of_the_recipe_is_asked_for():
    """The names of modules and of configuration symbols differ, so the pairs stand here."""
    symbols = {
        "virtio_pci": "VIRTIO_PCI", "virtio_console": "VIRTIO_CONSOLE", "virtio_rng": "HW_RANDOM_VIRTIO",
        "i6300esb": "I6300ESB_WDT", "xhci_pci": "USB_XHCI_PCI", "virtio_net": "VIRTIO_NET",
        "usbmon": "USB_MON", "ushc": "MMC_USHC", "ath6kl_sdio": "ATH6KL_SDIO",
        "libertas_sdio": "LIBERTAS_SDIO", "rtl8xxxu": "RTL8XXXU", "rtl8192cu": "RTL8192CU",
        "rtw88_8822bu": "RTW88_8822BU", "rtw88_8822be": "RTW88_8822BE", "rtw88_8822bs": "RTW88_8822BS",
        "rtw88_8821cu": "RTW88_8821CU",
        "mt76x0u": "MT76x0U", "mt76x2u": "MT76x2U", "ath9k": "ATH9K", "mt7601u": "MT7601U", "mt7921u": "MT7921U",
        "qmi_wwan": "USB_NET_QMI_WWAN", "cdc_ncm": "USB_NET_CDC_NCM",
        "cdc_mbim": "USB_NET_CDC_MBIM", "cdc_ether": "USB_NET_CDCETHER", "mac80211_hwsim": "MAC80211_HWSIM",
        "ccm": "CRYPTO_CCM", "gcm": "CRYPTO_GCM", "cmac": "CRYPTO_CMAC", "ctr": "CRYPTO_CTR",
        "aesni_intel": "CRYPTO_AES_NI_INTEL", "af_packet": "PACKET", "veth": "VETH", "tun": "TUN", "bridge": "BRIDGE",
        "sch_netem": "NET_SCH_NETEM", "sch_fq_codel": "NET_SCH_FQ_CODEL", "sch_fq": "NET_SCH_FQ",
        "tcp_bbr": "TCP_CONG_BBR",
    }  # fmt: skip
    lines = KernelRecipe(Path()).lines()
    missing = [name for name in MODULES if not {f"CONFIG_{symbols[name]}={way}" for way in "ym"} & set(lines)]
    assert not missing


def test_make_is_called_with_nothing_of_this_machine(tmp_path, no_compiler, monkeypatch):
    monkeypatch.setenv("MAKEFLAGS", "-n")
    monkeypatch.setenv("KCFLAGS", "-O0")
    seen = []
    real = own_kernel.run_here

    async def run_here(command, **how):
        seen.append(how["variables"])
        return await real(command, **how)

    monkeypatch.setattr(own_kernel, "run_here", run_here)
    build_kernel(KernelRecipe(small_tree(tmp_path / "linux")), find_lock("6.12"), cache=tmp_path / "cache")
    assert len(seen) == 3
    assert all("MAKEFLAGS" not in each and "KCFLAGS" not in each for each in seen)
    assert all(each["KBUILD_BUILD_USER"] == "txop" for each in seen)


def test_nothing_is_built_on_when_it_is_given_up(tmp_path, no_compiler):
    tree = small_tree(tmp_path / "linux")
    text = (tree / "Makefile").read_text()
    (tree / "Makefile").write_text(
        text.replace("\t! grep", "\ttouch $(O)/begun; sleep 2; touch $(O)/went-on\n\t! grep")
    )

    async def given_up():
        building = asyncio.ensure_future(
            own_kernel.build_kernel(KernelRecipe(tree), find_lock("6.12"), cache=tmp_path / "cache")
        )
        while not list((tmp_path / "cache").glob("kernel-builds/*/begun")):
            await asyncio.sleep(0.05)
        building.cancel()
        with pytest.raises(asyncio.CancelledError):
            await building
        await asyncio.sleep(3)

    asyncio.run(given_up())
    assert not list((tmp_path / "cache").glob("kernel-builds/*/went-on"))
