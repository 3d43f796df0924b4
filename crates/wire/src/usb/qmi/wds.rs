//! Wireless data: connections, and which multiplexed channel carries them.

use std::net::Ipv4Addr;

use super::tlv::{Tlvs, Value, Writer};
use super::Fields;
use crate::usb::Fault;

/// Begins a connection.
pub const START_NETWORK: u16 = 0x20;
/// Ends one.
pub const STOP_NETWORK: u16 = 0x21;
/// Asks for the [`PacketService`].
pub const GET_PACKET_SERVICE_STATUS: u16 = 0x22;
/// Asks for [`CurrentSettings`].
pub const GET_CURRENT_SETTINGS: u16 = 0x2d;
/// Says which family of addresses the client is about.
pub const SET_IP_FAMILY: u16 = 0x4d;
/// Says which multiplexed channel carries the client's connection.
pub const BIND_MUX_DATA_PORT: u16 = 0xa2;

/// `QMI_WDS_CONNECTION_STATUS_DISCONNECTED`.
pub const DISCONNECTED: u8 = 1;
/// `QMI_WDS_CONNECTION_STATUS_CONNECTED`.
pub const CONNECTED: u8 = 2;
/// IPv4, where a family of addresses is asked for.
pub const FAMILY_IPV4: u8 = 4;

/// Bits of [`RequestedSettings`] (`QmiWdsRequestedSettings`).
pub const WANTS_DNS: u32 = 1 << 4;
/// The address.
pub const WANTS_ADDRESS: u32 = 1 << 8;
/// Gateway and mask.
pub const WANTS_GATEWAY: u32 = 1 << 9;
/// The MTU.
pub const WANTS_MTU: u32 = 1 << 13;
/// The family of addresses.
pub const WANTS_FAMILY: u32 = 1 << 15;

/// Request of [`START_NETWORK`]: what of it is read here.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StartNetwork {
    /// Access point name.
    pub apn: Option<String>,
    /// Family of addresses: 4 or 6.
    pub family: Option<u8>,
    /// Number of a stored profile.
    pub profile: Option<u8>,
}

impl Fields for StartNetwork {
    fn read(tlvs: &Tlvs<'_>) -> Result<Self, Fault> {
        Ok(Self { apn: tlvs.text(0x14)?, family: tlvs.u8(0x19)?, profile: tlvs.u8(0x31)? })
    }

    fn write(&self, tlvs: &mut Writer) {
        tlvs.text(0x14, self.apn.as_deref());
        tlvs.u8(0x19, self.family);
        tlvs.u8(0x31, self.profile);
    }
}

/// A connection's number: answer to [`START_NETWORK`], request of [`STOP_NETWORK`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PacketDataHandle {
    /// The number.
    pub handle: u32,
}

impl Fields for PacketDataHandle {
    fn read(tlvs: &Tlvs<'_>) -> Result<Self, Fault> {
        Ok(Self { handle: tlvs.needed(0x01, Value::u32)? })
    }

    fn write(&self, tlvs: &mut Writer) {
        tlvs.u32(0x01, self.handle);
    }
}

/// Answer to [`GET_PACKET_SERVICE_STATUS`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PacketService {
    /// [`DISCONNECTED`], [`CONNECTED`], or something between.
    pub status: u8,
}

impl Fields for PacketService {
    fn read(tlvs: &Tlvs<'_>) -> Result<Self, Fault> {
        Ok(Self { status: tlvs.needed(0x01, Value::u8)? })
    }

    fn write(&self, tlvs: &mut Writer) {
        tlvs.u8(0x01, self.status);
    }
}

/// Indication 0x22: a connection came or went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PacketServiceChange {
    /// As in [`PacketService`].
    pub status: u8,
    /// 1: the host must ask for the settings again.
    pub reconfigure: u8,
}

impl Fields for PacketServiceChange {
    fn read(tlvs: &Tlvs<'_>) -> Result<Self, Fault> {
        tlvs.needed(0x01, |value| Some(Self { status: value.u8()?, reconfigure: value.u8()? }))
    }

    fn write(&self, tlvs: &mut Writer) {
        tlvs.put(0x01, &[self.status, self.reconfigure]);
    }
}

/// Request of [`GET_CURRENT_SETTINGS`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RequestedSettings {
    /// What is asked for, a bit each.
    pub mask: Option<u32>,
}

impl Fields for RequestedSettings {
    fn read(tlvs: &Tlvs<'_>) -> Result<Self, Fault> {
        Ok(Self { mask: tlvs.u32(0x10)? })
    }

    fn write(&self, tlvs: &mut Writer) {
        tlvs.u32(0x10, self.mask);
    }
}

/// Answer to [`GET_CURRENT_SETTINGS`]: what of it is read here.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CurrentSettings {
    /// Name servers.
    pub dns: [Option<Ipv4Addr>; 2],
    /// The host's address.
    pub address: Option<Ipv4Addr>,
    /// The other end.
    pub gateway: Option<Ipv4Addr>,
    /// Mask of the network between them.
    pub mask: Option<Ipv4Addr>,
    /// Bytes of the largest packet.
    pub mtu: Option<u32>,
    /// 4 or 6.
    pub family: Option<u8>,
}

/// Numbers of the TLVs with IPv4 addresses; an address is a number, lowest byte first.
const DNS: [u8; 2] = [0x15, 0x16];
const ADDRESS: u8 = 0x1e;
const GATEWAY: u8 = 0x20;
const MASK: u8 = 0x21;

impl Fields for CurrentSettings {
    fn read(tlvs: &Tlvs<'_>) -> Result<Self, Fault> {
        let address = |kind| tlvs.u32(kind).map(|number| number.map(Ipv4Addr::from));
        Ok(Self {
            dns: [address(DNS[0])?, address(DNS[1])?],
            address: address(ADDRESS)?,
            gateway: address(GATEWAY)?,
            mask: address(MASK)?,
            mtu: tlvs.u32(0x29)?,
            family: tlvs.u8(0x2b)?,
        })
    }

    fn write(&self, tlvs: &mut Writer) {
        let addresses = DNS.into_iter().zip(self.dns);
        for (kind, address) in addresses.chain([(ADDRESS, self.address), (GATEWAY, self.gateway), (MASK, self.mask)]) {
            tlvs.u32(kind, address.map(u32::from));
        }
        tlvs.u32(0x29, self.mtu);
        tlvs.u8(0x2b, self.family);
    }
}

/// Request of [`SET_IP_FAMILY`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IpFamily {
    /// 4 or 6.
    pub family: u8,
}

impl Fields for IpFamily {
    fn read(tlvs: &Tlvs<'_>) -> Result<Self, Fault> {
        Ok(Self { family: tlvs.needed(0x01, Value::u8)? })
    }

    fn write(&self, tlvs: &mut Writer) {
        tlvs.u8(0x01, self.family);
    }
}

/// Request of [`BIND_MUX_DATA_PORT`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BindMux {
    /// Kind of the data endpoint (2: USB) and number of its interface.
    pub endpoint: Option<(u32, u32)>,
    /// The multiplexed channel.
    pub mux_id: Option<u8>,
    /// 1: the client carries the data of a tethered host.
    pub client_type: Option<u32>,
}

impl Fields for BindMux {
    fn read(tlvs: &Tlvs<'_>) -> Result<Self, Fault> {
        Ok(Self { endpoint: tlvs.pair_of_u32(0x10)?, mux_id: tlvs.u8(0x11)?, client_type: tlvs.u32(0x13)? })
    }

    fn write(&self, tlvs: &mut Writer) {
        tlvs.pair_of_u32(0x10, self.endpoint);
        tlvs.u8(0x11, self.mux_id);
        tlvs.u32(0x13, self.client_type);
    }
}
