"""The devices that a guest can have, and their drivers."""

from __future__ import annotations

LAST_CHANNEL_2_GHZ = 14
"""What is beyond is in 5 GHz."""

DRIVERS = {
    "rtl8188cus": "rtl8192cu",
    "rtl8723au": "rtl8xxxu",
    "rtl8188eu": "rtl8xxxu",
    "mt7610u": "mt76x0u",
    "mt7601u": "mt7601u",
    "ar6003": "ath6kl_sdio",
    "ar6004": "ath6kl_sdio",
    "sd8686": "libertas_sdio",
    "ncm": "cdc_ncm",
    "mbim": "cdc_mbim",
    "ecm": "cdc_ether",
    "qmi-modem": "qmi_wwan",
}
"""By device: the driver in a stock Debian that knows it."""
