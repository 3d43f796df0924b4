//! Link-layer header types of capture files (tcpdump.org's LINKTYPE registry, same numbers as pcap and pcapng store).

/// A LINKTYPE_ number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct LinkType(pub u32);

impl LinkType {
    /// Bare 802.11 frames.
    pub const IEEE802_11: Self = Self(105);
    /// Prism monitor header (or AVS under the same number), then 802.11.
    pub const IEEE802_11_PRISM: Self = Self(119);
    /// Radiotap header, then 802.11.
    pub const IEEE802_11_RADIOTAP: Self = Self(127);
    /// AVS header, then 802.11.
    pub const IEEE802_11_AVS: Self = Self(163);
    /// Per-packet information header, then (for an 802.11 DLT inside) 802.11.
    pub const PPI: Self = Self(192);
    /// usbmon, 48-byte header.
    pub const USB_LINUX: Self = Self(189);
    /// usbmon, 64-byte header.
    pub const USB_LINUX_MMAPPED: Self = Self(220);
    /// USBPcap.
    pub const USBPCAP: Self = Self(249);
    /// A command log of an SDIO bus ([`crate::sdio::log`]). LINKTYPE_USER0: others may mean something else by it.
    pub const SDIO_LOG: Self = Self(147);

    /// The registry's short name, where txop knows it.
    pub const fn name(self) -> Option<&'static str> {
        Some(match self.0 {
            0 => "null",
            1 => "ethernet",
            101 => "raw-ip",
            105 => "ieee802_11",
            113 => "linux-sll",
            119 => "ieee802_11-prism",
            127 => "ieee802_11-radiotap",
            147 => "user0",
            163 => "ieee802_11-avs",
            189 => "usb-linux",
            192 => "ppi",
            220 => "usb-linux-mmapped",
            249 => "usbpcap",
            266 => "usb-darwin",
            276 => "linux-sll2",
            288 => "usb-2.0",
            _ => return None,
        })
    }

    /// Link types with frames that are (or can be) 802.11.
    pub const fn is_wlan(self) -> bool {
        matches!(self.0, 105 | 119 | 127 | 163 | 192)
    }
}

impl core::fmt::Display for LinkType {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self.name() {
            Some(name) => write!(f, "{} ({name})", self.0),
            None => write!(f, "{}", self.0),
        }
    }
}
