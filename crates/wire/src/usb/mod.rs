//! USB as capture files record it: transfer requests (URBs, IRPs), descriptors, and what network devices put into them.
//!
//! | module | format | source of the layout |
//! | --- | --- | --- |
//! | [`usbmon`] | link types 189 and 220 | Linux Documentation/usb/usbmon.rst, tcpdump.org's LINKTYPE registry |
//! | [`urb`] | an event of a URB, before it is a record | Linux Documentation/usb/usbmon.rst |
//! | [`usbmon_text`] | `cat /sys/kernel/debug/usb/usbmon/1u` | Linux Documentation/usb/usbmon.rst |
//! | [`usbpcap`] | link type 249 | desowin.org/usbpcap, capture format specification |
//! | [`descriptors`] | device and configuration descriptors | USB 2.0, 9.6 |
//! | [`setup`] | SETUP packets | USB 2.0, 9.3 |
//! | [`status`] | Linux errno and Windows USBD_STATUS | Linux error-codes.rst, Microsoft usb.h |
//! | [`qmap`] | Qualcomm multiplexing and aggregation | Linux rmnet.rst and if_rmnet.h |
//! | [`qmi`] | Qualcomm's control messages in QMUX | libqmi's `data/*.json`, Linux cdc-wdm.c and qmi_wwan.c |
//! | [`mbim`] | MBIM control messages | USB CDC MBIM 1.0, 9 and 10; libmbim's `data/*.json` |
//! | [`ntb`], [`ntb_layout`] | NTB16 and NTB32 | USB CDC NCM 1.0, 3; USB CDC MBIM 1.0, 7 |
//! | [`rndis`] | Remote NDIS | Microsoft MS-RNDIS, 2.2 |
//! | [`mediatek`] | descriptors of the MT76x0 family | Linux mt76, mt76x02_mac.h and mt76x02_dma.h |
//! | [`mt7601`] | what an MT7601U has elsewhere in them | Linux mt7601u, mac.h and dma.h |
//! | [`realtek`] | descriptors of the RTL8188C and RTL8192C families | Linux rtl8xxxu.h |
//! | [`rtw88`] | descriptors of the RTL8822B and RTL8821C | Linux rtw88, tx.h, rx.h and rtw8822b.h |
//! | [`connac2`] | packets of the MT7921 | Linux mt76, mt76_connac2_mac.h and mt76_connac_mcu.h |
//! | [`ushc`] | an SD host controller on USB | Linux drivers/mmc/host/ushc.c |
//! | [`usbip`] | USB over a byte stream | Linux usbip_protocol.rst and usbip_common.h |

pub mod connac2;
pub mod descriptors;
pub mod mbim;
pub mod mediatek;
pub mod mt7601;
pub mod ntb;
pub mod ntb_layout;
pub mod qmap;
pub mod qmi;
pub mod realtek;
pub mod rndis;
pub mod rtw88;
pub mod setup;
pub mod status;
pub mod urb;
pub mod usbip;
pub mod usbmon;
pub mod usbmon_text;
pub mod usbpcap;
pub mod ushc;

/// How an endpoint transfers. The discriminants are those of Linux' usbmon and of USBPcap.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
pub enum TransferType {
    /// At fixed times, without retries.
    Isochronous = 0,
    /// Polled.
    Interrupt = 1,
    /// SETUP, data, status.
    Control = 2,
    /// Whenever there is room.
    Bulk = 3,
}

impl TransferType {
    /// From the number in usbmon and USBPcap headers.
    #[inline]
    pub const fn from_capture(number: u8) -> Option<Self> {
        Some(match number {
            0 => Self::Isochronous,
            1 => Self::Interrupt,
            2 => Self::Control,
            3 => Self::Bulk,
            _ => return None,
        })
    }

    /// From `bmAttributes` of an endpoint descriptor (USB 2.0, table 9-13).
    pub const fn from_attributes(attributes: u8) -> Self {
        match attributes & 3 {
            0 => Self::Control,
            1 => Self::Isochronous,
            2 => Self::Bulk,
            _ => Self::Interrupt,
        }
    }

    /// In lower-case words.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Isochronous => "isochronous",
            Self::Interrupt => "interrupt",
            Self::Control => "control",
            Self::Bulk => "bulk",
        }
    }
}

/// An endpoint address: bit 7 is set for IN.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct EndpointAddress(pub u8);

impl EndpointAddress {
    /// Towards the host.
    pub const fn is_in(self) -> bool {
        self.0 & 0x80 != 0
    }

    /// 0 to 15.
    pub const fn number(self) -> u8 {
        self.0 & 0x0f
    }
}

/// Where and how a layout is broken: an offset in the bytes that were given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fault {
    /// Byte offset.
    pub offset: usize,
    /// What is wrong there.
    pub what: &'static str,
}

impl core::fmt::Display for Fault {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "at offset {}: {}", self.offset, self.what)
    }
}
