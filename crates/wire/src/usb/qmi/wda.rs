//! Wireless data administration: what transfers carry, and how much of it.

use super::tlv::{Tlvs, Writer};
use super::Fields;
use crate::usb::Fault;

/// Sets the format of the data path; the answer says what it is then.
pub const SET_DATA_FORMAT: u16 = 0x20;
/// Asks for it.
pub const GET_DATA_FORMAT: u16 = 0x21;

/// `QMI_DATA_ENDPOINT_TYPE_HSUSB`.
pub const ENDPOINT_USB: u32 = 2;

/// Link protocol (`QmiWdaLinkLayerProtocol`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct LinkProtocol(pub u32);

impl LinkProtocol {
    /// Ethernet frames.
    pub const ETHERNET: Self = Self(1);
    /// IP packets.
    pub const RAW_IP: Self = Self(2);

    /// In words.
    pub const fn name(self) -> &'static str {
        match self.0 {
            1 => "802.3",
            2 => "raw IP",
            3 => "Ethernet PDU",
            _ => "unknown",
        }
    }
}

/// How datagrams share a transfer (`QmiWdaDataAggregationProtocol`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Aggregation(pub u32);

impl Aggregation {
    /// They do not.
    pub const DISABLED: Self = Self(0);
    /// QMAP, version 1.
    pub const QMAP: Self = Self(5);
    /// QMAP, version 4.
    pub const QMAP_V4: Self = Self(8);
    /// QMAP, version 5.
    pub const QMAP_V5: Self = Self(9);

    /// A version of QMAP.
    pub const fn is_qmap(self) -> bool {
        matches!(self.0, 5..=9)
    }

    /// In words.
    pub const fn name(self) -> &'static str {
        match self.0 {
            0 => "no aggregation",
            1 => "TLP",
            2 => "QC NCM",
            3 => "MBIM",
            4 => "RNDIS",
            5 => "QMAP",
            6 => "QMAPv2",
            7 => "QMAPv3",
            8 => "QMAPv4",
            9 => "QMAPv5",
            _ => "unknown aggregation",
        }
    }
}

/// One direction of the data path.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Direction {
    /// How datagrams share a transfer.
    pub aggregation: Option<Aggregation>,
    /// Datagrams of a transfer, at most.
    pub datagrams: Option<u32>,
    /// Bytes of a transfer, at most.
    pub bytes: Option<u32>,
}

/// The format of the data path. Requests have other numbers than answers for two of the fields: see [`Request`] and [`Answer`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DataFormat {
    /// A header for quality of service stands in front of packets.
    pub qos_header: Option<u8>,
    /// What a datagram is.
    pub link: Option<LinkProtocol>,
    /// From the host.
    pub uplink: Direction,
    /// To the host.
    pub downlink: Direction,
}

impl DataFormat {
    /// Aggregates of `uplink_datagrams` and `uplink_bytes`: the two numbers of TLVs in which requests and answers differ.
    fn read(tlvs: &Tlvs<'_>, uplink_datagrams: u8, uplink_bytes: u8) -> Result<Self, Fault> {
        let aggregation = |kind| tlvs.u32(kind).map(|number| number.map(Aggregation));
        Ok(Self {
            qos_header: tlvs.u8(0x10)?,
            link: tlvs.u32(0x11)?.map(LinkProtocol),
            uplink: Direction {
                aggregation: aggregation(0x12)?,
                datagrams: tlvs.u32(uplink_datagrams)?,
                bytes: tlvs.u32(uplink_bytes)?,
            },
            downlink: Direction { aggregation: aggregation(0x13)?, datagrams: tlvs.u32(0x15)?, bytes: tlvs.u32(0x16)? },
        })
    }

    fn write(&self, tlvs: &mut Writer, uplink_datagrams: u8, uplink_bytes: u8) {
        tlvs.u8(0x10, self.qos_header);
        tlvs.u32(0x11, self.link.map(|link| link.0));
        tlvs.u32(0x12, self.uplink.aggregation.map(|way| way.0));
        tlvs.u32(0x13, self.downlink.aggregation.map(|way| way.0));
        tlvs.u32(0x15, self.downlink.datagrams);
        tlvs.u32(0x16, self.downlink.bytes);
        tlvs.u32(uplink_datagrams, self.uplink.datagrams);
        tlvs.u32(uplink_bytes, self.uplink.bytes);
    }
}

/// Request of [`SET_DATA_FORMAT`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Request {
    /// What is wanted.
    pub format: DataFormat,
    /// The data endpoint that is meant: its kind and the number of its interface.
    pub endpoint: Option<(u32, u32)>,
}

impl Fields for Request {
    fn read(tlvs: &Tlvs<'_>) -> Result<Self, Fault> {
        Ok(Self { format: DataFormat::read(tlvs, 0x1b, 0x1c)?, endpoint: tlvs.pair_of_u32(0x17)? })
    }

    fn write(&self, tlvs: &mut Writer) {
        self.format.write(tlvs, 0x1b, 0x1c);
        tlvs.pair_of_u32(0x17, self.endpoint);
    }
}

/// Answer to [`SET_DATA_FORMAT`] and [`GET_DATA_FORMAT`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Answer {
    /// What the format is from now on.
    pub format: DataFormat,
}

impl Fields for Answer {
    fn read(tlvs: &Tlvs<'_>) -> Result<Self, Fault> {
        Ok(Self { format: DataFormat::read(tlvs, 0x17, 0x18)? })
    }

    fn write(&self, tlvs: &mut Writer) {
        self.format.write(tlvs, 0x17, 0x18);
    }
}
