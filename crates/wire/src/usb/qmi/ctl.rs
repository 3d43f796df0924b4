//! The control service: versions, and identifiers of clients. It needs no client of its own.

use super::tlv::{Tlvs, Writer};
use super::{Fields, Service};
use crate::usb::Fault;

/// Gives the host's number, which the modem does not use.
pub const SET_INSTANCE_ID: u16 = 0x20;
/// Asks for the services and their versions.
pub const GET_VERSION_INFO: u16 = 0x21;
/// Asks for a client of a service.
pub const ALLOCATE_CID: u16 = 0x22;
/// Gives one back.
pub const RELEASE_CID: u16 = 0x23;
/// Sets the link protocol as modems before WDA have it.
pub const SET_DATA_FORMAT: u16 = 0x26;
/// Resets the state: all clients are released.
pub const SYNC: u16 = 0x27;

/// A service that the modem has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ServiceVersion {
    /// Which.
    pub service: Service,
    /// Major version.
    pub major: u16,
    /// Minor version.
    pub minor: u16,
}

/// Answer to [`GET_VERSION_INFO`]; at most 255 services.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct VersionInfo {
    /// The services.
    pub services: Vec<ServiceVersion>,
}

impl Fields for VersionInfo {
    fn read(tlvs: &Tlvs<'_>) -> Result<Self, Fault> {
        let services = tlvs.needed(0x01, |value| {
            let count = value.u8()?;
            let one =
                |_| Some(ServiceVersion { service: Service(value.u8()?), major: value.u16()?, minor: value.u16()? });
            (0..count).map(one).collect()
        })?;
        Ok(Self { services })
    }

    fn write(&self, tlvs: &mut Writer) {
        let services = self.services.get(..255).unwrap_or(&self.services);
        let mut value = vec![services.len() as u8];
        for ServiceVersion { service, major, minor } in services {
            value.push(service.0);
            value.extend([major.to_le_bytes(), minor.to_le_bytes()].concat());
        }
        tlvs.put(0x01, &value);
    }
}

/// Request of [`ALLOCATE_CID`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Allocate {
    /// For which service.
    pub service: Service,
}

impl Fields for Allocate {
    fn read(tlvs: &Tlvs<'_>) -> Result<Self, Fault> {
        Ok(Self { service: Service(tlvs.needed(0x01, super::tlv::Value::u8)?) })
    }

    fn write(&self, tlvs: &mut Writer) {
        tlvs.u8(0x01, self.service.0);
    }
}

/// A client of a service: answer to [`ALLOCATE_CID`], request and answer of [`RELEASE_CID`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Client {
    /// The service.
    pub service: Service,
    /// The number.
    pub client: u8,
}

impl Fields for Client {
    fn read(tlvs: &Tlvs<'_>) -> Result<Self, Fault> {
        tlvs.needed(0x01, |value| Some(Self { service: Service(value.u8()?), client: value.u8()? }))
    }

    fn write(&self, tlvs: &mut Writer) {
        tlvs.put(0x01, &[self.service.0, self.client]);
    }
}

/// Request and answer of [`SET_DATA_FORMAT`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LinkFormat {
    /// A header for quality of service stands in front of packets (requests only).
    pub qos_header: Option<u8>,
    /// 1: Ethernet, 2: raw IP.
    pub protocol: Option<u16>,
}

impl Fields for LinkFormat {
    fn read(tlvs: &Tlvs<'_>) -> Result<Self, Fault> {
        Ok(Self { qos_header: tlvs.u8(0x01)?, protocol: tlvs.u16(0x10)? })
    }

    fn write(&self, tlvs: &mut Writer) {
        tlvs.u8(0x01, self.qos_header);
        tlvs.u16(0x10, self.protocol);
    }
}

/// Answer to [`SET_INSTANCE_ID`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LinkId {
    /// The number.
    pub link: u16,
}

impl Fields for LinkId {
    fn read(tlvs: &Tlvs<'_>) -> Result<Self, Fault> {
        Ok(Self { link: tlvs.needed(0x01, super::tlv::Value::u16)? })
    }

    fn write(&self, tlvs: &mut Writer) {
        tlvs.u16(0x01, self.link);
    }
}
