"""Stand-ins for the firmware files that drivers ask for.

A virtual chip runs no firmware: it counts and checks what is downloaded. So these files have the header that drivers
read (Linux drivers/net/wireless/realtek/rtl8xxxu, struct rtl8xxxu_firmware_header; mediatek/mt76/mt76x02_mcu.h,
struct mt76x02_fw_header) and zeros behind it. The vendors' own files are not free and are never part of txop; give them
with ``--file`` if a test needs them.
"""

from __future__ import annotations

import struct

_BODY_BYTES = 8 * 1024
"""Two pages of the chip's memory, so that drivers go through the page switch of their download."""

_SIGNATURE_8188C = 0x88C1
_SIGNATURE_8723A = 0x2302
_VERSION = (88, 2)

FOLDER = "usr/lib/firmware/rtlwifi"

_MEDIATEK = "usr/lib/firmware/mediatek"
_MEDIATEK_ILM_BYTES = 4 * 1024
"""Instructions; more than the 64 bytes of interrupt vectors that drivers take off them (mt76x0/usb_mcu.c)."""
_MEDIATEK_DLM_BYTES = 1024
_MEDIATEK_VERSION = 0x8500


def firmware_files() -> dict[str, bytes]:
    """By name in an image."""
    names = {
        "rtl8192cufw.bin": _SIGNATURE_8188C,
        "rtl8192cufw_A.bin": _SIGNATURE_8188C,
        "rtl8192cufw_B.bin": _SIGNATURE_8188C,
        "rtl8192cufw_TMSC.bin": _SIGNATURE_8188C,
        "rtl8723aufw_A.bin": _SIGNATURE_8723A,
        "rtl8723aufw_B.bin": _SIGNATURE_8723A,
        "rtl8723aufw_B_NoBT.bin": _SIGNATURE_8723A,
    }
    realtek = {f"{FOLDER}/{name}": _file(signature) for name, signature in names.items()}
    return realtek | {f"{_MEDIATEK}/mt7610u.bin": _mediatek()}


def _file(signature: int) -> bytes:
    version, subversion = _VERSION
    # signature, category, function, version, subversion, then date, size and reserved words that nobody reads
    header = struct.pack("<HBBHBB24x", signature, 0, 0, version, subversion, 0)
    return header + bytes(_BODY_BYTES)


def _mediatek() -> bytes:
    # lengths of instructions and data, build, version, four bytes that nobody reads, when it was made
    ilm, dlm = _MEDIATEK_ILM_BYTES, _MEDIATEK_DLM_BYTES
    header = struct.pack("<IIHH4x16s", ilm, dlm, 1, _MEDIATEK_VERSION, b"202601010000____")
    return header + bytes(ilm + dlm)
