//! Network access: where the modem is registered, and how strong its signal is.

use super::tlv::{Tlvs, Writer};
use super::Fields;
use crate::usb::Fault;

/// Asks for the [`ServingSystem`].
pub const GET_SERVING_SYSTEM: u16 = 0x24;
/// Asks for [`SignalInfo`].
pub const GET_SIGNAL_INFO: u16 = 0x4f;

/// `QMI_NAS_RADIO_INTERFACE_LTE`.
pub const RADIO_LTE: u8 = 8;

/// A public land mobile network.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plmn {
    /// Country.
    pub mcc: u16,
    /// Network.
    pub mnc: u16,
    /// Its name, at most 255 bytes.
    pub name: String,
}

/// Where the modem is registered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServingSystem {
    /// 1: registered.
    pub registration: u8,
    /// Circuit switched; 1: attached.
    pub circuit: u8,
    /// Packet switched; 1: attached.
    pub packet: u8,
    /// 2: 3GPP.
    pub network: u8,
    /// Radios in use, at most 255.
    pub radios: Vec<u8>,
    /// 0: roaming, 1: at home.
    pub roaming: Option<u8>,
    /// The network.
    pub plmn: Option<Plmn>,
}

impl Fields for ServingSystem {
    fn read(tlvs: &Tlvs<'_>) -> Result<Self, Fault> {
        let mut found = tlvs.needed(0x01, |value| {
            let (registration, circuit, packet, network) = (value.u8()?, value.u8()?, value.u8()?, value.u8()?);
            let count = usize::from(value.u8()?);
            let radios = value.take(count)?.to_vec();
            Some(Self { registration, circuit, packet, network, radios, roaming: None, plmn: None })
        })?;
        found.roaming = tlvs.u8(0x10)?;
        found.plmn = tlvs.field(0x12, |value| {
            let (mcc, mnc) = (value.u16()?, value.u16()?);
            let len = usize::from(value.u8()?);
            Some(Plmn { mcc, mnc, name: super::tlv::text_of(value.take(len)?) })
        })?;
        Ok(found)
    }

    fn write(&self, tlvs: &mut Writer) {
        let radios = self.radios.get(..255).unwrap_or(&self.radios);
        let mut value = vec![self.registration, self.circuit, self.packet, self.network, radios.len() as u8];
        value.extend(radios);
        tlvs.put(0x01, &value);
        tlvs.u8(0x10, self.roaming);
        if let Some(Plmn { mcc, mnc, name }) = &self.plmn {
            let name = name.as_bytes();
            let name = name.get(..255).unwrap_or(name);
            let mut value = [mcc.to_le_bytes(), mnc.to_le_bytes()].concat();
            value.push(name.len() as u8);
            value.extend(name);
            tlvs.put(0x12, &value);
        }
    }
}

/// How an LTE cell is heard.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LteSignal {
    /// Received power, dBm.
    pub rssi_dbm: i8,
    /// Quality of the reference signal, dB.
    pub rsrq_db: i8,
    /// Power of the reference signal, dBm.
    pub rsrp_dbm: i16,
    /// Signal to noise, tenths of a dB.
    pub snr_tenth_db: i16,
}

/// How strong the modem's signal is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SignalInfo {
    /// LTE, where it is in use.
    pub lte: Option<LteSignal>,
}

impl Fields for SignalInfo {
    fn read(tlvs: &Tlvs<'_>) -> Result<Self, Fault> {
        let lte = tlvs.field(0x14, |value| {
            Some(LteSignal {
                rssi_dbm: value.u8()? as i8,
                rsrq_db: value.u8()? as i8,
                rsrp_dbm: value.u16()? as i16,
                snr_tenth_db: value.u16()? as i16,
            })
        })?;
        Ok(Self { lte })
    }

    fn write(&self, tlvs: &mut Writer) {
        if let Some(lte) = self.lte {
            let mut value = vec![lte.rssi_dbm as u8, lte.rsrq_db as u8];
            value.extend([lte.rsrp_dbm.to_le_bytes(), lte.snr_tenth_db.to_le_bytes()].concat());
            tlvs.put(0x14, &value);
        }
    }
}
