//! What transfers carry, each way, and how much of it.

use serde::Serialize;
use wire::usb::qmap::Checksums;
use wire::usb::qmi::wda;

/// What transfers carry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Framing {
    /// One IP packet each.
    RawIp,
    /// QMAP, version 1.
    Qmap,
    /// QMAP, version 4: checksums beside the datagrams.
    QmapV4,
    /// QMAP, version 5: checksum headers in front of the datagrams.
    QmapV5,
    /// What the host asks for with WDA_SET_DATA_FORMAT, over the connections that it starts with WDS_START_NETWORK.
    Negotiated,
}

/// How datagrams stand in transfers of one direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, serde::Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Packing {
    /// One IP packet, nothing around it.
    RawIp,
    /// QMAP, version 1.
    Qmap,
    /// With checksums beside the datagrams.
    QmapV4,
    /// With checksum headers in front of the datagrams.
    QmapV5,
}

impl Packing {
    /// What the modem makes of a protocol that it was asked for: those that it does not know mean no aggregation.
    pub(super) const fn of(protocol: wda::Aggregation) -> Self {
        match protocol {
            wda::Aggregation::QMAP => Self::Qmap,
            wda::Aggregation::QMAP_V4 => Self::QmapV4,
            wda::Aggregation::QMAP_V5 => Self::QmapV5,
            _ => Self::RawIp,
        }
    }

    pub(super) const fn protocol(self) -> wda::Aggregation {
        match self {
            Self::RawIp => wda::Aggregation::DISABLED,
            Self::Qmap => wda::Aggregation::QMAP,
            Self::QmapV4 => wda::Aggregation::QMAP_V4,
            Self::QmapV5 => wda::Aggregation::QMAP_V5,
        }
    }

    /// Where version 4 has its checksums in transfers from the host.
    pub(super) const fn checksums_from_host(self) -> Checksums {
        match self {
            Self::QmapV4 => Checksums::Before,
            _ => Checksums::None,
        }
    }
}

/// What one transfer may be at most.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, serde::Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "TransferLimit"))]
pub struct Limit {
    /// Datagrams.
    pub datagrams: u32,
    /// Bytes with all headers.
    pub bytes: u32,
}

impl Limit {
    /// Whether a transfer keeps to it.
    pub(super) const fn allows(self, datagrams: usize, bytes: usize) -> bool {
        datagrams as u64 <= self.datagrams as u64 && bytes as u64 <= self.bytes as u64
    }

    /// What both sides can do; nothing or 0 asks for nothing.
    fn at_most(self, asked: &wda::Direction) -> Self {
        let least = |own: u32, asked: Option<u32>| asked.filter(|&asked| asked > 0).map_or(own, |asked| asked.min(own));
        Self { datagrams: least(self.datagrams, asked.datagrams), bytes: least(self.bytes, asked.bytes) }
    }
}

/// The format of the data path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, serde::Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DataFormat {
    /// Transfers from the host.
    pub from_host: Packing,
    /// Transfers to the host.
    pub to_host: Packing,
    /// A host that goes past this crashes the modem; `None`: nothing was agreed on.
    pub limit_from_host: Option<Limit>,
    /// What a transfer to the host is at most.
    pub limit_to_host: Limit,
}

impl DataFormat {
    /// As the modem begins.
    pub(super) const fn at_power_on(framing: Framing, limit_to_host: Limit) -> Self {
        let packing = match framing {
            Framing::RawIp | Framing::Negotiated => Packing::RawIp,
            Framing::Qmap => Packing::Qmap,
            Framing::QmapV4 => Packing::QmapV4,
            Framing::QmapV5 => Packing::QmapV5,
        };
        Self { from_host: packing, to_host: packing, limit_from_host: None, limit_to_host }
    }

    /// What happens to it when the host asks for another one, where the modem can do `own` at most.
    pub(super) fn asked(self, asked: &wda::DataFormat, own_from_host: Limit, own_to_host: Limit) -> Self {
        let packing = |asked: Option<wda::Aggregation>, now| asked.map_or(now, Packing::of);
        Self {
            from_host: packing(asked.uplink.aggregation, self.from_host),
            to_host: packing(asked.downlink.aggregation, self.to_host),
            limit_from_host: Some(own_from_host.at_most(&asked.uplink)),
            limit_to_host: own_to_host.at_most(&asked.downlink),
        }
    }

    /// As an answer says it.
    pub(super) fn answer(&self) -> wda::Answer {
        let way = |packing: Packing, limit: Option<Limit>| {
            // Without aggregation there is nothing to limit.
            let limit = limit.filter(|_| packing != Packing::RawIp);
            wda::Direction {
                aggregation: Some(packing.protocol()),
                datagrams: Some(limit.map_or(0, |limit| limit.datagrams)),
                bytes: Some(limit.map_or(0, |limit| limit.bytes)),
            }
        };
        wda::Answer {
            format: wda::DataFormat {
                qos_header: Some(0),
                link: Some(wda::LinkProtocol::RAW_IP),
                uplink: way(self.from_host, self.limit_from_host),
                downlink: way(self.to_host, Some(self.limit_to_host)),
            },
        }
    }
}
