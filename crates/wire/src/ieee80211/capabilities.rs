//! What the elements of one management frame say its sender can do.

use super::eht::reported_links;
use super::elements::{bit_at, id, Element, Elements};
use super::{EdcaParameters, VhtCapabilities, VhtOperation, Wmm};
use super::{EhtCapabilities, EhtOperation, LinkAddresses, LinkIds, MultiLink};
use super::{HeCapabilities, HeOperation, HtCapabilities, HtOperation, OperatingMode, Rsn, Ssid};

/// Supported rates and extended supported rates, in the order sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Rates {
    bytes: [u8; 16],
    len: u8,
    /// There were more than 16; the rest is not kept.
    pub overflowed: bool,
}

impl Rates {
    fn extend(&mut self, data: &[u8]) {
        for byte in data {
            match self.bytes.get_mut(usize::from(self.len)) {
                Some(slot) => {
                    *slot = *byte;
                    self.len += 1;
                }
                None => self.overflowed = true,
            }
        }
    }

    /// The bytes as sent: rate in 500 kb/s units in the low 7 bits, "basic" in the highest; also membership selectors.
    pub fn as_bytes(&self) -> &[u8] {
        self.bytes.get(..usize::from(self.len)).unwrap_or(&self.bytes)
    }

    /// Rates in units of 500 kb/s, with their "basic" bit; membership selectors left out.
    pub fn rates(&self) -> impl Iterator<Item = (u8, bool)> + '_ {
        // 122 to 127 are BSS membership selectors (Table 9-92): they stand for no rate.
        self.as_bytes().iter().filter(|byte| !(0xfa..=0xff).contains(*byte)).map(|byte| (byte & 0x7f, byte & 0x80 != 0))
    }

    /// Has one of 1, 2, 5.5 and 11 Mb/s.
    pub fn has_dsss(&self) -> bool {
        self.rates().any(|(rate, _)| matches!(rate, 2 | 4 | 11 | 22))
    }

    /// Has one of 6, 9, 12, 18, 24, 36, 48 and 54 Mb/s.
    pub fn has_ofdm(&self) -> bool {
        self.rates().any(|(rate, _)| matches!(rate, 12 | 18 | 24 | 36 | 48 | 72 | 96 | 108))
    }
}

/// The ERP element.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Erp(pub u8);

impl Erp {
    /// OFDM frames must be protected (RTS/CTS, CTS-to-self).
    pub const fn use_protection(self) -> bool {
        self.0 & 2 != 0
    }
}

/// The 20/40 BSS Coexistence element.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Coexistence2040(pub u8);

impl Coexistence2040 {
    /// Forty MHz Intolerant.
    pub const fn intolerant_40(self) -> bool {
        self.0 & 2 != 0
    }
}

/// The Extended Capabilities element; of longer ones the first 16 bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct ExtendedCapabilities {
    bytes: [u8; 16],
}

impl ExtendedCapabilities {
    fn read(data: &[u8]) -> Self {
        let mut bytes = [0; 16];
        for (to, from) in bytes.iter_mut().zip(data) {
            *to = *from;
        }
        Self { bytes }
    }

    /// Bit `number` of Table 9-153; bits that were not sent are 0, as the standard has it.
    pub fn bit(self, number: u8) -> bool {
        self.bytes.get(usize::from(number / 8)).is_some_and(|byte| byte >> (number % 8) & 1 != 0)
    }

    /// 20/40 BSS coexistence management.
    pub fn coexistence_2040(self) -> bool {
        self.bit(0)
    }

    /// BSS transition.
    pub fn bss_transition(self) -> bool {
        self.bit(19)
    }

    /// Operating mode notification.
    pub fn operating_mode_notification(self) -> bool {
        self.bit(62)
    }

    /// TWT requester.
    pub fn twt_requester(self) -> bool {
        self.bit(77)
    }

    /// TWT responder.
    pub fn twt_responder(self) -> bool {
        self.bit(78)
    }
}

/// The RM Enabled Capabilities element (9.4.2.44): radio measurement; of longer ones the first 5 bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct RadioMeasurement(pub [u8; 5]);

impl RadioMeasurement {
    fn read(data: &[u8]) -> Self {
        let mut bytes = [0; 5];
        for (to, from) in bytes.iter_mut().zip(data) {
            *to = *from;
        }
        Self(bytes)
    }

    const fn bit(self, number: usize) -> bool {
        bit_at(&self.0, number)
    }

    /// Link measurement.
    pub const fn link_measurement(self) -> bool {
        self.bit(0)
    }

    /// Neighbor report.
    pub const fn neighbor_report(self) -> bool {
        self.bit(1)
    }

    /// Beacon measurement: passive, active, by table.
    pub const fn beacon_measurement(self) -> [bool; 3] {
        [self.bit(4), self.bit(5), self.bit(6)]
    }
}

/// The Mobility Domain element (9.4.2.46): fast BSS transition.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct MobilityDomain {
    /// The domain.
    pub id: u16,
    /// FT Capability and Policy, as sent.
    pub policy: u8,
}

impl MobilityDomain {
    fn read(data: &[u8]) -> Option<Self> {
        Some(Self { id: super::elements::u16_at(data, 0)?, policy: *data.get(2)? })
    }

    /// Over the distribution system, not only over the air.
    pub const fn over_ds(self) -> bool {
        self.policy & 1 != 0
    }
}

/// The fixed part of the TIM element.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Tim {
    /// Beacons until the next DTIM, this one not counted.
    pub dtim_count: u8,
    /// Beacons from DTIM to DTIM.
    pub dtim_period: u8,
    /// Group traffic is buffered (AID 0's bit).
    pub group_traffic: bool,
    /// Some station has traffic buffered.
    pub any_station: bool,
}

impl Tim {
    fn read(data: &[u8]) -> Option<Self> {
        let control = *data.get(2)?;
        Some(Self {
            dtim_count: *data.first()?,
            dtim_period: *data.get(1)?,
            group_traffic: control & 1 != 0,
            any_station: data.get(3..)?.iter().any(|byte| *byte != 0),
        })
    }
}

/// A channel switch that is announced.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ChannelSwitch {
    /// Stations must not transmit until the switch.
    pub quiet: bool,
    /// Operating class, in the extended form.
    pub operating_class: Option<u8>,
    /// New channel number.
    pub channel: u8,
    /// Beacons until the switch.
    pub count: u8,
}

impl ChannelSwitch {
    /// Reads a Channel Switch Announcement element's data.
    pub fn read(data: &[u8]) -> Option<Self> {
        match data {
            [mode, channel, count, ..] => {
                Some(Self { quiet: *mode == 1, operating_class: None, channel: *channel, count: *count })
            }
            _ => None,
        }
    }

    /// Appends the element: the extended one where there is an operating class.
    pub(super) fn emit_element(&self, out: &mut Vec<u8>) {
        let Self { quiet, operating_class, channel, count } = *self;
        let quiet = u8::from(quiet);
        match operating_class {
            Some(class) => Element::new(id::EXTENDED_CHANNEL_SWITCH, &[quiet, class, channel, count]).emit(out),
            None => Element::new(id::CHANNEL_SWITCH, &[quiet, channel, count]).emit(out),
        }
    }

    /// Reads an Extended Channel Switch Announcement: the element's data, or the Action frame's fixed fields.
    pub fn read_extended(data: &[u8]) -> Option<Self> {
        match data {
            [mode, class, channel, count, ..] => {
                Some(Self { quiet: *mode == 1, operating_class: Some(*class), channel: *channel, count: *count })
            }
            _ => None,
        }
    }
}

/// Everything the elements of one management frame claim. `None`: the element was not there, or too short to read.
///
/// Where an element is there twice, the first one counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Capabilities {
    /// SSID.
    pub ssid: Option<Ssid>,
    /// Supported and extended supported rates.
    pub rates: Option<Rates>,
    /// DSSS Parameter Set: channel number.
    pub dsss_channel: Option<u8>,
    /// TIM.
    pub tim: Option<Tim>,
    /// Country: two letters (or whatever is there) and the environment byte.
    pub country: Option<[u8; 3]>,
    /// ERP.
    pub erp: Option<Erp>,
    /// HT Capabilities.
    pub ht: Option<HtCapabilities>,
    /// HT Operation.
    pub ht_operation: Option<HtOperation>,
    /// 20/40 BSS Coexistence.
    pub coexistence_2040: Option<Coexistence2040>,
    /// Overlapping BSS Scan Parameters are there.
    pub obss_scan_parameters: bool,
    /// Extended Capabilities.
    pub extended: Option<ExtendedCapabilities>,
    /// VHT Capabilities.
    pub vht: Option<VhtCapabilities>,
    /// VHT Operation.
    pub vht_operation: Option<VhtOperation>,
    /// Operating Mode Notification.
    pub operating_mode: Option<OperatingMode>,
    /// HE Capabilities.
    pub he: Option<HeCapabilities>,
    /// HE Operation.
    pub he_operation: Option<HeOperation>,
    /// HE 6 GHz Band Capabilities, as sent.
    pub he_6ghz: Option<u16>,
    /// EHT Capabilities.
    pub eht: Option<EhtCapabilities>,
    /// EHT Operation.
    pub eht_operation: Option<EhtOperation>,
    /// Basic Multi-Link.
    pub multi_link: Option<MultiLink>,
    /// Links of the sender's own multi-link device that a Reduced Neighbor Report names.
    pub reported_links: LinkIds,
    /// Their BSSIDs.
    pub reported_addresses: LinkAddresses,
    /// RSN.
    pub rsn: Option<Rsn>,
    /// RSN Extension: SAE hash-to-element.
    pub sae_h2e: bool,
    /// WPA vendor element.
    pub wpa: Option<Rsn>,
    /// WMM Information or Parameter element.
    pub wmm: Option<Wmm>,
    /// EDCA Parameter Set: the standard's form of the WMM Parameter element, which access points rarely send.
    pub edca: Option<Wmm>,
    /// The WPS vendor element is there.
    pub wps: bool,
    /// Mobility Domain: fast BSS transition.
    pub mobility_domain: Option<MobilityDomain>,
    /// RM Enabled Capabilities.
    pub radio_measurement: Option<RadioMeasurement>,
    /// The OWE Transition Mode vendor element is there: the network has a twin with OWE, or is it.
    pub owe_transition: bool,
    /// A channel switch is announced.
    pub channel_switch: Option<ChannelSwitch>,
    /// Elements seen, vendor and unknown ones included.
    pub elements: u16,
    /// The last element was cut; what stood behind it is not known.
    pub truncated: bool,
}

impl Capabilities {
    /// Reads all elements.
    pub fn read(mut elements: Elements<'_>) -> Self {
        let mut capabilities = Self::default();
        for element in elements.by_ref() {
            capabilities.elements = capabilities.elements.saturating_add(1);
            match element.extension {
                Some(extension) => capabilities.read_extension(extension, element.data),
                None => capabilities.read_element(element),
            }
        }
        capabilities.truncated = elements.truncated();
        capabilities
    }

    /// EDCA parameters by ACI, from whichever element has them.
    pub fn edca_parameters(&self) -> Option<[EdcaParameters; 4]> {
        let of = |element: Option<Wmm>| element.and_then(|element| element.parameters);
        of(self.wmm).or(of(self.edca))
    }

    fn read_element(&mut self, element: Element<'_>) {
        let data = element.data;
        match element.id {
            id::SSID => first(&mut self.ssid, || Ssid::new(data)),
            id::SUPPORTED_RATES | id::EXTENDED_SUPPORTED_RATES => self.rates.get_or_insert_default().extend(data),
            id::DSSS_PARAMETER_SET => first(&mut self.dsss_channel, || data.first().copied()),
            id::TIM => first(&mut self.tim, || Tim::read(data)),
            id::COUNTRY => first(&mut self.country, || data.get(..3)?.try_into().ok()),
            12 => first(&mut self.edca, || Wmm::read_edca(data)),
            id::CHANNEL_SWITCH => first(&mut self.channel_switch, || ChannelSwitch::read(data)),
            id::ERP => first(&mut self.erp, || data.first().copied().map(Erp)),
            id::HT_CAPABILITIES => first(&mut self.ht, || HtCapabilities::read(data)),
            id::RSN => first(&mut self.rsn, || Rsn::read(data)),
            54 => first(&mut self.mobility_domain, || MobilityDomain::read(data)),
            id::EXTENDED_CHANNEL_SWITCH => first(&mut self.channel_switch, || ChannelSwitch::read_extended(data)),
            id::HT_OPERATION => first(&mut self.ht_operation, || HtOperation::read(data)),
            70 => first(&mut self.radio_measurement, || Some(RadioMeasurement::read(data))),
            72 => first(&mut self.coexistence_2040, || data.first().copied().map(Coexistence2040)),
            74 => self.obss_scan_parameters = true,
            id::EXTENDED_CAPABILITIES => first(&mut self.extended, || Some(ExtendedCapabilities::read(data))),
            191 => first(&mut self.vht, || VhtCapabilities::read(data)),
            192 => first(&mut self.vht_operation, || VhtOperation::read(data)),
            201 => {
                let (links, addresses) = reported_links(data);
                self.reported_links.0 |= links.0;
                self.reported_addresses.extend(&addresses);
            }
            199 => first(&mut self.operating_mode, || data.first().copied().map(OperatingMode)),
            id::VENDOR => self.read_vendor(data),
            244 => self.sae_h2e |= data.first().is_some_and(|byte| byte & 0x20 != 0),
            _ => {}
        }
    }

    fn read_extension(&mut self, extension: u8, data: &[u8]) {
        match extension {
            35 => first(&mut self.he, || HeCapabilities::read(data)),
            36 => first(&mut self.he_operation, || HeOperation::read(data)),
            59 => first(&mut self.he_6ghz, || super::elements::u16_at(data, 0)),
            106 => first(&mut self.eht_operation, || EhtOperation::read(data)),
            107 => first(&mut self.multi_link, || MultiLink::read(data)),
            108 => first(&mut self.eht, || EhtCapabilities::read(data)),
            _ => {}
        }
    }

    fn read_vendor(&mut self, data: &[u8]) {
        match data {
            [0x00, 0x50, 0xf2, 1, rest @ ..] => first(&mut self.wpa, || Rsn::read_wpa(rest)),
            [0x00, 0x50, 0xf2, 2, rest @ ..] => first(&mut self.wmm, || Wmm::read(rest)),
            [0x00, 0x50, 0xf2, 4, ..] => self.wps = true,
            [0x50, 0x6f, 0x9a, 0x1c, ..] => self.owe_transition = true,
            _ => {}
        }
    }
}

/// Fills an empty slot.
fn first<T>(slot: &mut Option<T>, read: impl FnOnce() -> Option<T>) {
    if slot.is_none() {
        *slot = read();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn read(bytes: &[u8]) -> Capabilities {
        Capabilities::read(Elements::new(bytes))
    }

    #[test]
    fn a_small_beacon() {
        let bytes = [
            0, 3, b'l', b'a', b'b', 1, 8, 0x82, 0x84, 0x8b, 0x96, 12, 18, 24, 36, 3, 1, 6, 5, 4, 0, 2, 1, 0x10, 7, 3,
            b'D', b'E', b' ', 42, 1, 2, 50, 5, 48, 72, 96, 108, 0xff, 127, 3, 1, 0, 8, 221, 4, 0x00, 0x50, 0xf2, 4,
            221, 3, 1, 2, 3,
        ];
        let seen = read(&bytes);
        assert_eq!(seen.ssid.unwrap().as_bytes(), b"lab");
        let rates = seen.rates.unwrap();
        assert_eq!(rates.rates().count(), 12, "the membership selector is not a rate");
        assert_eq!(rates.rates().filter(|(_, basic)| *basic).count(), 4);
        assert!(rates.has_dsss() && rates.has_ofdm());
        assert_eq!((seen.dsss_channel, seen.country), (Some(6), Some(*b"DE ")));
        assert_eq!(seen.tim, Some(Tim { dtim_count: 0, dtim_period: 2, group_traffic: true, any_station: true }));
        assert!(seen.erp.unwrap().use_protection() && seen.wps && !seen.truncated);
        let extended = seen.extended.unwrap();
        assert!(extended.coexistence_2040() && extended.bss_transition() && !extended.operating_mode_notification());
        assert_eq!(seen.elements, 10);
        assert_eq!((seen.ht, seen.rsn, seen.eht), (None, None, None));
    }

    #[test]
    fn radio_measurement_mobility_and_twt() {
        let bytes = [
            70, 5, 0x73, 0, 0, 0, 0, 54, 3, 0x34, 0x12, 1, 127, 10, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x40, 221, 4, 0x50,
            0x6f, 0x9a, 0x1c,
        ];
        let seen = read(&bytes);
        let measurement = seen.radio_measurement.unwrap();
        assert!(measurement.link_measurement() && measurement.neighbor_report());
        assert_eq!(measurement.beacon_measurement(), [true, true, true]);
        let domain = seen.mobility_domain.unwrap();
        assert_eq!((domain.id, domain.over_ds()), (0x1234, true));
        let extended = seen.extended.unwrap();
        assert!(extended.twt_responder() && !extended.twt_requester() && seen.owe_transition);
        let short = read(&[70, 1, 2, 54, 2, 0, 0]);
        assert!(short.radio_measurement.is_some_and(RadioMeasurement::neighbor_report));
        assert_eq!(short.mobility_domain, None);
    }

    #[test]
    fn short_and_long_elements_do_no_harm() {
        let mut bytes = vec![45, 3, 1, 2, 3, 0, 40];
        bytes.extend([b'x'; 40]);
        bytes.extend([1, 20]);
        bytes.extend([2; 20]);
        bytes.extend([48, 200, 1]);
        let seen = read(&bytes);
        assert_eq!((seen.ht, seen.ssid, seen.rsn), (None, None, None));
        assert!(seen.rates.unwrap().overflowed && seen.truncated);
    }

    proptest! {
        #[test]
        fn never_panics(bytes in proptest::collection::vec(any::<u8>(), 0..600)) {
            let _ = read(&bytes);
        }

        #[test]
        fn never_panics_on_plausible_elements(
            parts in proptest::collection::vec((any::<u8>(), proptest::collection::vec(any::<u8>(), 0..40)), 0..20),
        ) {
            let bytes: Vec<u8> =
                parts.iter().flat_map(|(id, data)| [&[*id, data.len() as u8][..], data].concat()).collect();
            let seen = read(&bytes);
            prop_assert!(!seen.truncated);
            prop_assert_eq!(usize::from(seen.elements), parts.len());
            let _ = seen.ssid.map(|ssid| ssid.to_string());
        }
    }
}
