//! WMM Information and WMM Parameter elements (Wi-Fi Alliance WMM specification; vendor element 00-50-F2, type 2).

use super::elements::{id, u16_at, Element};
use crate::AccessCategory;

/// EDCA parameters of one access category.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct EdcaParameters {
    /// AIFSN: slots after SIFS.
    pub aifsn: u8,
    /// Admission control mandatory.
    pub admission_control: bool,
    /// ECWmin: CWmin is 2^ECWmin - 1.
    pub ecw_min: u8,
    /// ECWmax.
    pub ecw_max: u8,
    /// TXOP limit in units of 32 µs; 0: one frame exchange.
    pub txop_limit_32us: u16,
}

impl EdcaParameters {
    /// The record of a category, as in both elements.
    const fn record(self, category: AccessCategory) -> [u8; 4] {
        let [low, high] = self.txop_limit_32us.to_le_bytes();
        let aci_aifsn = category.index() << 5 | (self.admission_control as u8) << 4 | self.aifsn & 0x0f;
        [aci_aifsn, self.ecw_max << 4 | self.ecw_min & 0x0f, low, high]
    }

    fn read(data: &[u8]) -> Option<Self> {
        let (aci_aifsn, ecw) = (*data.first()?, *data.get(1)?);
        Some(Self {
            aifsn: aci_aifsn & 0x0f,
            admission_control: aci_aifsn & 0x10 != 0,
            ecw_min: ecw & 0x0f,
            ecw_max: ecw >> 4,
            txop_limit_32us: u16_at(data, 2)?,
        })
    }

    /// CWmin, slots.
    pub const fn cw_min(self) -> u16 {
        ((1u32 << self.ecw_min) - 1) as u16
    }

    /// CWmax, slots.
    pub const fn cw_max(self) -> u16 {
        ((1u32 << self.ecw_max) - 1) as u16
    }
}

impl From<crate::phy::EdcaParameters> for EdcaParameters {
    fn from(parameters: crate::phy::EdcaParameters) -> Self {
        let crate::phy::EdcaParameters { aifsn, ecw_min, ecw_max, txop_limit_32us } = parameters;
        Self { aifsn, admission_control: false, ecw_min, ecw_max, txop_limit_32us }
    }
}

/// The records of the four categories. Each names its category; they are sorted only by habit.
fn read_records(data: &[u8]) -> Option<[EdcaParameters; 4]> {
    let mut parameters = [EdcaParameters::default(); 4];
    for record in data.chunks_exact(4) {
        let category = usize::from(*record.first()? >> 5 & 3);
        *parameters.get_mut(category)? = EdcaParameters::read(record)?;
    }
    Some(parameters)
}

/// A WMM element.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Wmm {
    /// QoS Info, as sent: its meaning depends on the sender.
    pub qos_info: u8,
    /// EDCA parameters by ACI (see [`AccessCategory`]); only in a Parameter element.
    pub parameters: Option<[EdcaParameters; 4]>,
}

/// OUI and type of both elements.
const VENDOR_TYPE: [u8; 4] = [0x00, 0x50, 0xf2, 2];
/// The one version of both.
const VERSION: u8 = 1;

impl Wmm {
    /// A Parameter element with the default EDCA parameters (WMM specification, 2.2.2).
    pub fn default_parameters(qos_info: u8) -> Self {
        let of = |category| crate::phy::EdcaParameters::default_for(category).into();
        Self { qos_info, parameters: Some(AccessCategory::ALL.map(of)) }
    }

    /// Reads a vendor element's data; `None` for other vendors and types, other subtypes and cut elements.
    pub fn read_vendor(data: &[u8]) -> Option<Self> {
        data.strip_prefix(&VENDOR_TYPE).and_then(Self::read)
    }

    /// Appends the vendor element: a Parameter element where there are parameters, else an Information element.
    pub fn emit(&self, out: &mut Vec<u8>) {
        Element::emit_with(id::VENDOR, out, |out| {
            out.extend_from_slice(&VENDOR_TYPE);
            out.extend_from_slice(&[u8::from(self.parameters.is_some()), VERSION, self.qos_info]);
            if let Some(parameters) = self.parameters {
                out.push(0);
                for (category, parameters) in AccessCategory::ALL.into_iter().zip(parameters) {
                    out.extend_from_slice(&parameters.record(category));
                }
            }
        });
    }

    /// Reads a vendor element's data after OUI and type: subtype, version, QoS Info, and for subtype 1 the parameters.
    /// `None` for other subtypes and cut elements.
    pub fn read(data: &[u8]) -> Option<Self> {
        let qos_info = *data.get(2)?;
        match data.first()? {
            0 => Some(Self { qos_info, parameters: None }),
            1 => Some(Self { qos_info, parameters: Some(read_records(data.get(4..20)?)?) }),
            _ => None,
        }
    }

    /// Reads an EDCA Parameter Set element's data (9.4.2.28): what 802.11 made of the WMM Parameter element. QoS Info, a
    /// byte of update information, then the same parameters.
    pub fn read_edca(data: &[u8]) -> Option<Self> {
        Some(Self { qos_info: *data.first()?, parameters: Some(read_records(data.get(2..18)?)?) })
    }

    /// Read as an access point's: supports U-APSD (WMM Power Save).
    pub const fn ap_uapsd(self) -> bool {
        self.qos_info & 0x80 != 0
    }

    /// Read as a station's: access categories with U-APSD (WMM Power Save).
    pub const fn station_uapsd(self, category: AccessCategory) -> bool {
        let bit = match category {
            AccessCategory::Voice => 0,
            AccessCategory::Video => 1,
            AccessCategory::Background => 2,
            AccessCategory::BestEffort => 3,
        };
        self.qos_info >> bit & 1 != 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_usual_parameters() {
        let data = [1, 1, 0x85, 0, 0x03, 0xa4, 0, 0, 0x27, 0xa4, 0, 0, 0x42, 0x43, 0x5e, 0, 0x62, 0x32, 0x2f, 0];
        let wmm = Wmm::read(&data).unwrap();
        let edca = wmm.parameters.unwrap();
        let of = |category: AccessCategory| edca[usize::from(category.index())];
        let best_effort = of(AccessCategory::BestEffort);
        assert_eq!((best_effort.aifsn, best_effort.cw_min(), best_effort.cw_max()), (3, 15, 1023));
        assert_eq!(of(AccessCategory::Background).aifsn, 7);
        assert_eq!((of(AccessCategory::Video).txop_limit_32us, of(AccessCategory::Voice).txop_limit_32us), (94, 47));
        assert!(wmm.ap_uapsd());
        assert_eq!(Wmm::read(&data[..19]), None);
        let standard = [&[0x85, 0][..], &data[4..]].concat();
        assert_eq!(Wmm::read_edca(&standard), Some(wmm));
        assert_eq!(EdcaParameters { ecw_max: 15, ..best_effort }.cw_max(), 32767);
    }
}
