//! WMM Information and WMM Parameter elements (Wi-Fi Alliance WMM specification; vendor element 00-50-F2, type 2).

use super::elements::u16_at;

/// An access category, in the order of its index (ACI).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum AccessCategory {
    /// AC_BE.
    BestEffort,
    /// AC_BK.
    Background,
    /// AC_VI.
    Video,
    /// AC_VO.
    Voice,
}

impl AccessCategory {
    /// All four, by ACI.
    pub const ALL: [Self; 4] = [Self::BestEffort, Self::Background, Self::Video, Self::Voice];

    /// The category a TID of 0..=7 (a user priority, Table 10-1) belongs to; `None` for a traffic stream.
    #[inline]
    pub const fn of_tid(tid: u8) -> Option<Self> {
        match tid {
            0 | 3 => Some(Self::BestEffort),
            1 | 2 => Some(Self::Background),
            4 | 5 => Some(Self::Video),
            6 | 7 => Some(Self::Voice),
            _ => None,
        }
    }

    /// ACI, 0..=3.
    #[inline]
    pub const fn index(self) -> u8 {
        self as u8
    }

    /// `BE`, `BK`, `VI` or `VO`.
    pub const fn short_name(self) -> &'static str {
        match self {
            Self::BestEffort => "BE",
            Self::Background => "BK",
            Self::Video => "VI",
            Self::Voice => "VO",
        }
    }
}

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

/// The records of the four categories. Each names its category; they are in order only by habit.
fn read_records(data: &[u8]) -> Option<[EdcaParameters; 4]> {
    let mut parameters = [EdcaParameters::default(); 4];
    for record in data.chunks_exact(4) {
        let index = usize::from(*record.first()? >> 5 & 3);
        parameters[index] = EdcaParameters::read(record)?;
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

impl Wmm {
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

    #[test]
    fn tids_map_to_categories() {
        let names: Vec<_> = (0..9).map(|tid| AccessCategory::of_tid(tid).map(AccessCategory::short_name)).collect();
        let expected = ["BE", "BK", "BK", "BE", "VI", "VI", "VO", "VO"];
        assert_eq!(names[..8], expected.map(Some));
        assert_eq!(names[8], None);
    }
}
