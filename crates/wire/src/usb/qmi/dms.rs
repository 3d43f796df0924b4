//! Device management: who the modem is.

use super::tlv::{Tlvs, Value, Writer};
use super::Fields;
use crate::usb::Fault;

/// Asks for [`Capabilities`].
pub const GET_CAPABILITIES: u16 = 0x20;
/// Asks for the manufacturer, a [`Text`].
pub const GET_MANUFACTURER: u16 = 0x21;
/// Asks for the model, a [`Text`].
pub const GET_MODEL: u16 = 0x22;
/// Asks for the firmware's revision, a [`Text`].
pub const GET_REVISION: u16 = 0x23;
/// Asks for [`Ids`].
pub const GET_IDS: u16 = 0x25;
/// Asks for the [`OperatingMode`].
pub const GET_OPERATING_MODE: u16 = 0x2d;

/// `QMI_DMS_RADIO_INTERFACE_LTE`.
pub const RADIO_LTE: u8 = 8;
/// `QMI_DMS_RADIO_INTERFACE_UMTS`.
pub const RADIO_UMTS: u8 = 5;

/// What the modem can do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Capabilities {
    /// Rate of the uplink at most, as the modem counts it.
    pub uplink_rate: u32,
    /// Rate of the downlink at most.
    pub downlink_rate: u32,
    /// Circuit and packet switched: 2 is packets only, 3 both at once.
    pub data_service: u8,
    /// 2: it has a SIM.
    pub sim: u8,
    /// Radios, at most 255.
    pub radios: Vec<u8>,
}

impl Fields for Capabilities {
    fn read(tlvs: &Tlvs<'_>) -> Result<Self, Fault> {
        tlvs.needed(0x01, |value| {
            let (uplink_rate, downlink_rate) = (value.u32()?, value.u32()?);
            let (data_service, sim) = (value.u8()?, value.u8()?);
            let count = usize::from(value.u8()?);
            Some(Self { uplink_rate, downlink_rate, data_service, sim, radios: value.take(count)?.to_vec() })
        })
    }

    fn write(&self, tlvs: &mut Writer) {
        let mut value = [self.uplink_rate.to_le_bytes(), self.downlink_rate.to_le_bytes()].concat();
        let radios = self.radios.get(..255).unwrap_or(&self.radios);
        value.extend([self.data_service, self.sim, radios.len() as u8]);
        value.extend(radios);
        tlvs.put(0x01, &value);
    }
}

/// An answer that is one text: manufacturer, model, revision.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Text {
    /// The text.
    pub text: String,
}

impl Fields for Text {
    fn read(tlvs: &Tlvs<'_>) -> Result<Self, Fault> {
        Ok(Self { text: tlvs.needed(0x01, |value| Some(super::tlv::text_of(value.rest())))? })
    }

    fn write(&self, tlvs: &mut Writer) {
        tlvs.text(0x01, Some(&self.text));
    }
}

/// Serial numbers of the modem.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ids {
    /// ESN; modems without CDMA give 0.
    pub esn: Option<String>,
    /// IMEI.
    pub imei: Option<String>,
    /// MEID.
    pub meid: Option<String>,
}

impl Fields for Ids {
    fn read(tlvs: &Tlvs<'_>) -> Result<Self, Fault> {
        Ok(Self { esn: tlvs.text(0x10)?, imei: tlvs.text(0x11)?, meid: tlvs.text(0x12)? })
    }

    fn write(&self, tlvs: &mut Writer) {
        tlvs.text(0x10, self.esn.as_deref());
        tlvs.text(0x11, self.imei.as_deref());
        tlvs.text(0x12, self.meid.as_deref());
    }
}

/// Whether the radio is on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OperatingMode {
    /// 0: online.
    pub mode: u8,
}

impl Fields for OperatingMode {
    fn read(tlvs: &Tlvs<'_>) -> Result<Self, Fault> {
        Ok(Self { mode: tlvs.needed(0x01, Value::u8)? })
    }

    fn write(&self, tlvs: &mut Writer) {
        tlvs.u8(0x01, self.mode);
    }
}
