"""Stand-ins for the firmware files that drivers ask for.

A virtual chip runs no firmware: it counts and checks what is downloaded. So these files have the header that drivers
read (Linux drivers/net/wireless/realtek/rtl8xxxu, struct rtl8xxxu_firmware_header; mediatek/mt76/mt76x02_mcu.h,
struct mt76x02_fw_header; mediatek/mt7601u/mcu.c, struct mt76_fw_header; mediatek/mt76/mt76_connac_mcu.h,
struct mt76_connac2_patch_hdr and mt76_connac2_fw_trailer; realtek/rtw88/fw.h, struct rtw_fw_hdr;
ath/ath6kl/init.c, ath6kl_fetch_fw_apin; marvell/libertas reads none) and zeros behind it.
The vendors' own files are not free and are never part of txop; give them with ``--file`` if a test needs them.
"""

from __future__ import annotations

import struct

_BODY_BYTES = 8 * 1024
"""Two pages of the chip's memory, so that drivers go through the page switch of their download."""

_SIGNATURE_8188C = 0x88C1
_SIGNATURE_8723A = 0x2302
_SIGNATURE_8188E = 0x88E1
_VERSION = (88, 2)

FOLDER = "usr/lib/firmware/rtlwifi"

_MEDIATEK = "usr/lib/firmware/mediatek"
_MEDIATEK_ILM_BYTES = 4 * 1024
"""Instructions; more than the 64 bytes of interrupt vectors that drivers take off them (mt76x0/usb_mcu.c and
mt7601u/mcu.c)."""
_MEDIATEK_DLM_BYTES = 1024
_MEDIATEK_VERSION = 0x8500


_CONNAC_PATCH_BYTES = 6 * 1024
_CONNAC_REGION_BYTES = 10 * 1024
"""More than one and two of the parts in which the driver sends them (mediatek/mt76/mt76_connac_mcu.c)."""
_CONNAC_PATCH_ADDRESS, _CONNAC_REGION_ADDRESS = 0x0090_0000, 0x0091_5000
"""The driver asks for the patch of an MT7921 by its address (mt76_connac_mcu_init_download)."""
_CONNAC_PATCH_TYPE = 2
_CONNAC_OVERRIDE_ADDRESS, _CONNAC_NOT_DOWNLOADED = 1 << 5, 1 << 6
"""Flags of a region (mt76_connac_mcu.h, FW_FEATURE_OVERRIDE_ADDR and FW_FEATURE_NON_DL)."""
_CONNAC_FEATURES, _CONNAC_CHANNELS = 4, 1 << 7
"""The tag of what a firmware can do, and that it manages channels (mt792x.h, MT792x_FW_TAG_FEATURE and
MT792x_FW_CAP_CNM), as that of linux-firmware does."""


_ATHEROS = "usr/lib/firmware/ath6k"
_AR6003_REVISIONS = ("2.0", "2.1.1")
_AR6004_REVISIONS = ("1.0", "1.1", "1.2", "1.3", "3.0")
"""Those that the driver knows, each with a folder of its own (ath/ath6kl/core.h, AR600x_HW_x_FW_DIR)."""
_ATHEROS_MAGIC = b"QCA-ATH6KL\0"
_ATHEROS_VERSION, _ATHEROS_IMAGE, _ATHEROS_CAPABILITIES = 0, 3, 6
"""Records of a firmware file (ath/ath6kl/core.h, enum ath6kl_fw_ie_type)."""
_ATHEROS_IMAGE_BYTES = 64 * 1024
_ATHEROS_RSN_CAP_OVERRIDE = 1 << 4
"""Without it the driver turns 802.11n off (ath/ath6kl/cfg80211.c, ath6kl_cfg80211_init)."""
_AR6003_BOARD_BYTES = 1024 + 768
_AR6004_BOARD_BYTES = 6144
"""Board data with their extension (ath/ath6kl/target.h, AR600x_BOARD_DATA_SZ and AR600x_BOARD_EXT_DATA_SZ)."""


_RTW88 = "usr/lib/firmware/rtw88"
_RTW88_SIGNATURE_8822B = 0x2200
_RTW88_SIGNATURE_8821C = 0x2100
_RTW88_DATA_BYTES = 8 * 1024
_RTW88_INSTRUCTION_BYTES = 10 * 1024
"""More than one and two of the parts in which the driver sends them (realtek/rtw88/mac.c, download_firmware_to_mem)."""
_RTW88_CHECKSUM_BYTES = 8
"""Behind each of the two (realtek/rtw88/fw.h, FW_HDR_CHKSUM_SIZE)."""
_RTW88_DATA_ADDRESS, _RTW88_INSTRUCTION_ADDRESS = 0x0020_0000, 0x0003_0000
"""Of the chip's processor (realtek/rtw88/mac.h, OCPBASE_DMEM_88XX and OCPBASE_IMEM_88XX)."""


_MARVELL = "usr/lib/firmware/libertas"
_MARVELL_HELPER_BYTES = 2 * 1024
_MARVELL_IMAGE_BYTES = 64 * 1024


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
        "rtl8188eufw.bin": _SIGNATURE_8188E,
    }
    realtek = {f"{FOLDER}/{name}": _file(signature) for name, signature in names.items()}
    folders = {f"{_ATHEROS}/AR6003/hw{revision}": _AR6003_BOARD_BYTES for revision in _AR6003_REVISIONS}
    folders |= {f"{_ATHEROS}/AR6004/hw{revision}": _AR6004_BOARD_BYTES for revision in _AR6004_REVISIONS}
    atheros = {f"{folder}/fw-5.bin": _atheros() for folder in folders}
    atheros |= {f"{folder}/bdata.bin": bytes(board_bytes) for folder, board_bytes in folders.items()}
    marvell = {
        f"{_MARVELL}/sd8686_v9_helper.bin": bytes(_MARVELL_HELPER_BYTES),
        f"{_MARVELL}/sd8686_v9.bin": bytes(_MARVELL_IMAGE_BYTES),
    }
    rtw88 = {
        f"{_RTW88}/rtw8822b_fw.bin": _rtw88(_RTW88_SIGNATURE_8822B),
        f"{_RTW88}/rtw8821c_fw.bin": _rtw88(_RTW88_SIGNATURE_8821C),
    }
    mediatek = {
        f"{_MEDIATEK}/mt7610u.bin": _mediatek(),
        "usr/lib/firmware/mt7601u.bin": _mediatek(),
        f"{_MEDIATEK}/WIFI_MT7961_patch_mcu_1_2_hdr.bin": _connac_patch(),
        f"{_MEDIATEK}/WIFI_RAM_CODE_MT7961_1.bin": _connac_firmware(),
    }
    return realtek | mediatek | atheros | marvell | rtw88


def _file(signature: int) -> bytes:
    version, subversion = _VERSION
    # signature, category, function, version, subversion, then date, size and reserved words that are not read
    header = struct.pack("<HBBHBB24x", signature, 0, 0, version, subversion, 0)
    return header + bytes(_BODY_BYTES)


def _rtw88(signature: int) -> bytes:
    version, subversion = _VERSION
    # signature, category, function, version, subversion, index, features (none that the driver asks for), which
    # memories there are, format of commands; then where and how long data and instructions are, without checksums
    header = struct.pack("<HBBHBB4xI8xB3xH2x", signature, 0, 0, version, subversion, 0, 0, 0, 0)
    header += struct.pack("<II8x", _RTW88_DATA_ADDRESS, _RTW88_DATA_BYTES)
    header += struct.pack("<IIII", _RTW88_INSTRUCTION_BYTES, 0, 0, _RTW88_INSTRUCTION_ADDRESS)
    return header + bytes(_RTW88_DATA_BYTES + _RTW88_INSTRUCTION_BYTES + 2 * _RTW88_CHECKSUM_BYTES)


def _mediatek() -> bytes:
    # lengths of instructions and data, build, version, four bytes that are not read, when it was made
    ilm, dlm = _MEDIATEK_ILM_BYTES, _MEDIATEK_DLM_BYTES
    header = struct.pack("<IIHH4x16s", ilm, dlm, 1, _MEDIATEK_VERSION, b"202601010000____")
    return header + bytes(ilm + dlm)


def _connac_patch() -> bytes:
    # when it was made, platform, versions, checksum; then version, subsystem, features, one section, checksum
    header = struct.pack(">16s4sIIHH", b"20260101000000a", b"ALPS", 0x8A10, 1, 0, 0)
    header += struct.pack(">IIIII44x", 1, 0, 0, 1, 0)
    section_bytes = 64
    start = len(header) + section_bytes
    # type, where it is and how long; address, length, no encryption, length
    section = struct.pack(">III", _CONNAC_PATCH_TYPE, start, _CONNAC_PATCH_BYTES)
    section += struct.pack(">IIII36x", _CONNAC_PATCH_ADDRESS, _CONNAC_PATCH_BYTES, 0, _CONNAC_PATCH_BYTES)
    return header + section + bytes(_CONNAC_PATCH_BYTES)


def _connac_firmware() -> bytes:
    # a region that is downloaded: address, length, flags, type
    region = struct.pack("<16xIIBB14x", _CONNAC_REGION_ADDRESS, _CONNAC_REGION_BYTES, _CONNAC_OVERRIDE_ADDRESS, 0)
    # what it can do, behind 16 bytes: length of all, padding, tag; length of one, padding, tag; the features themselves
    features = struct.pack("<BB14x", 0, _CONNAC_CHANNELS)
    release = struct.pack("<HBB", 4 + len(features), 0, 0)
    release += struct.pack("<HBB", len(features), 0, _CONNAC_FEATURES) + features
    # chip, revision, regions, format, version, when it was made, checksum
    trailer = struct.pack("<BBBBB2x10s15sI", 0, 0, 1, 2, 0, b"____txop__", b"20260101000000", 0)
    return bytes(_CONNAC_REGION_BYTES) + bytes(16) + release + region + trailer


def _atheros() -> bytes:
    records = {
        _ATHEROS_VERSION: b"txop stand-in\0",
        _ATHEROS_IMAGE: bytes(_ATHEROS_IMAGE_BYTES),
        _ATHEROS_CAPABILITIES: struct.pack("<I", _ATHEROS_RSN_CAP_OVERRIDE),
    }
    packed = (struct.pack("<II", number, len(data)) + data for number, data in records.items())
    return _ATHEROS_MAGIC + b"".join(packed)
