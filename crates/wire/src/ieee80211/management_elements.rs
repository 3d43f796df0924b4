//! The elements of a management frame as a representation: those that this project writes, in the order of the standard
//! (9.3.3, tables 9-32 to 9-39).

use super::capabilities::{ChannelSwitch, Erp};
use super::elements::{id, Element, Elements};
use super::{HtCapabilities, HtOperation, Rsn, SecondaryChannel, Wmm};

/// Rates that the Supported Rates element has room for; the others stand in Extended Supported Rates.
pub const SUPPORTED_RATES_MAX: usize = 8;

/// The TIM element (9.4.2.5).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimElement<'a> {
    /// Beacons until the next DTIM, this one not counted.
    pub dtim_count: u8,
    /// Beacons from DTIM to DTIM.
    pub dtim_period: u8,
    /// Bitmap Control: bit 0 for group traffic, above it the offset of the bitmap in pairs of bytes.
    pub bitmap_control: u8,
    /// Partial Virtual Bitmap.
    pub bitmap: &'a [u8],
}

impl<'a> TimElement<'a> {
    /// Group traffic is buffered.
    pub const fn group_traffic(&self) -> bool {
        self.bitmap_control & 1 != 0
    }

    /// Traffic is buffered for the station with this association ID.
    pub fn has(&self, aid: u16) -> bool {
        let first = usize::from(self.bitmap_control & 0xfe);
        let byte = usize::from(aid / 8).checked_sub(first).and_then(|at| self.bitmap.get(at));
        byte.is_some_and(|byte| byte >> (aid % 8) & 1 == 1)
    }

    fn parse(data: &'a [u8]) -> Option<Self> {
        let [dtim_count, dtim_period, bitmap_control, bitmap @ ..] = data else { return None };
        Some(Self { dtim_count: *dtim_count, dtim_period: *dtim_period, bitmap_control: *bitmap_control, bitmap })
    }

    fn emit(&self, out: &mut Vec<u8>) {
        Element::emit_with(id::TIM, out, |out| {
            out.extend_from_slice(&[self.dtim_count, self.dtim_period, self.bitmap_control]);
            out.extend_from_slice(self.bitmap);
        });
    }
}

/// The Country element (9.4.2.8) with one group of channels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Country {
    /// Two letters, and the environment: a space for any.
    pub text: [u8; 3],
    /// The first channel of the group.
    pub first_channel: u8,
    /// Channels in it.
    pub channels: u8,
    /// Highest transmit power there.
    pub max_power_dbm: u8,
}

impl Country {
    fn parse(data: &[u8]) -> Option<Self> {
        let [a, b, c, first_channel, channels, max_power_dbm, ..] = *data else { return None };
        Some(Self { text: [a, b, c], first_channel, channels, max_power_dbm })
    }

    fn emit(&self, out: &mut Vec<u8>) {
        let [a, b, c] = self.text;
        let data = [a, b, c, self.first_channel, self.channels, self.max_power_dbm];
        Element::new(id::COUNTRY, &data).emit(out);
    }
}

/// The elements of a beacon, a probe request or response, or a frame of association. `None`: the element is not there.
/// [`Capabilities`](super::Capabilities) is what all elements of a frame claim, these and others.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ManagementElements<'a> {
    /// SSID: 32 bytes at most.
    pub ssid: Option<&'a [u8]>,
    /// Supported Rates: in 500 kbit/s, bit 7 for basic ones. Not there when empty.
    pub supported_rates: &'a [u8],
    /// DSSS Parameter Set: channel number.
    pub dsss_channel: Option<u8>,
    /// TIM.
    pub tim: Option<TimElement<'a>>,
    /// Country.
    pub country: Option<Country>,
    /// Channel Switch Announcement; with an operating class, the extended one.
    pub channel_switch: Option<ChannelSwitch>,
    /// Secondary Channel Offset, of a channel switch.
    pub secondary_channel: Option<SecondaryChannel>,
    /// ERP.
    pub erp: Option<Erp>,
    /// Extended Supported Rates. Not there when empty.
    pub extended_rates: &'a [u8],
    /// RSN.
    pub rsn: Option<Rsn>,
    /// HT Capabilities.
    pub ht: Option<HtCapabilities>,
    /// HT Operation.
    pub ht_operation: Option<HtOperation>,
    /// Extended Capabilities, as sent.
    pub extended_capabilities: Option<&'a [u8]>,
    /// WMM Information or Parameter element.
    pub wmm: Option<Wmm>,
}

impl<'a> ManagementElements<'a> {
    /// The first rates in one element, the rest in the other (9.4.2.3, 9.4.2.12).
    #[must_use]
    pub fn with_rates(self, rates: &'a [u8]) -> Self {
        let (supported_rates, extended_rates) = rates.split_at(rates.len().min(SUPPORTED_RATES_MAX));
        Self { supported_rates, extended_rates, ..self }
    }

    /// Parses what follows the fixed fields; `None` when the last element is cut. Elements that have no field here are
    /// passed over; where one is there twice, the first counts.
    pub fn parse(bytes: &'a [u8]) -> Option<Self> {
        let mut walk = Elements::new(bytes);
        let mut found = Self::default();
        for Element { id, extension, data } in walk.by_ref() {
            match (id, extension) {
                (id::SSID, _) => found.ssid = found.ssid.or(Some(data)),
                (id::SUPPORTED_RATES, _) if found.supported_rates.is_empty() => found.supported_rates = data,
                (id::DSSS_PARAMETER_SET, _) => found.dsss_channel = found.dsss_channel.or(data.first().copied()),
                (id::TIM, _) => found.tim = found.tim.or_else(|| TimElement::parse(data)),
                (id::COUNTRY, _) => found.country = found.country.or_else(|| Country::parse(data)),
                (id::CHANNEL_SWITCH, _) => {
                    found.channel_switch = found.channel_switch.or_else(|| ChannelSwitch::read(data));
                }
                (id::EXTENDED_CHANNEL_SWITCH, _) => {
                    found.channel_switch = found.channel_switch.or_else(|| ChannelSwitch::read_extended(data));
                }
                (id::SECONDARY_CHANNEL_OFFSET, _) => {
                    let offset = data.first().map(|number| SecondaryChannel::from_number(*number));
                    found.secondary_channel = found.secondary_channel.or(offset);
                }
                (id::ERP, _) => found.erp = found.erp.or(data.first().copied().map(Erp)),
                (id::EXTENDED_SUPPORTED_RATES, _) if found.extended_rates.is_empty() => found.extended_rates = data,
                (id::RSN, _) => found.rsn = found.rsn.or_else(|| Rsn::read(data)),
                (id::HT_CAPABILITIES, _) => found.ht = found.ht.or_else(|| HtCapabilities::read(data)),
                (id::HT_OPERATION, _) => found.ht_operation = found.ht_operation.or_else(|| HtOperation::read(data)),
                (id::EXTENDED_CAPABILITIES, _) => {
                    found.extended_capabilities = found.extended_capabilities.or(Some(data));
                }
                (id::VENDOR, _) => found.wmm = found.wmm.or_else(|| Wmm::read_vendor(data)),
                _ => {}
            }
        }
        (!walk.truncated()).then_some(found)
    }

    /// Bytes that [`Self::emit`] appends.
    pub fn buffer_len(&self) -> usize {
        let mut out = Vec::with_capacity(256);
        self.emit(&mut out);
        out.len()
    }

    /// Appends the elements.
    pub fn emit(&self, out: &mut Vec<u8>) {
        if let Some(ssid) = self.ssid {
            Element::new(id::SSID, ssid.get(..32).unwrap_or(ssid)).emit(out);
        }
        if !self.supported_rates.is_empty() {
            Element::new(id::SUPPORTED_RATES, self.supported_rates).emit(out);
        }
        if let Some(channel) = self.dsss_channel {
            Element::new(id::DSSS_PARAMETER_SET, &[channel]).emit(out);
        }
        if let Some(tim) = &self.tim {
            tim.emit(out);
        }
        if let Some(country) = &self.country {
            country.emit(out);
        }
        if let Some(switch) = &self.channel_switch {
            switch.emit_element(out);
        }
        if let Some(offset) = self.secondary_channel {
            Element::new(id::SECONDARY_CHANNEL_OFFSET, &[offset.number()]).emit(out);
        }
        if let Some(Erp(bits)) = self.erp {
            Element::new(id::ERP, &[bits]).emit(out);
        }
        if !self.extended_rates.is_empty() {
            Element::new(id::EXTENDED_SUPPORTED_RATES, self.extended_rates).emit(out);
        }
        if let Some(rsn) = &self.rsn {
            rsn.emit(out);
        }
        if let Some(ht) = &self.ht {
            ht.emit(out);
        }
        if let Some(operation) = &self.ht_operation {
            operation.emit(out);
        }
        if let Some(bits) = self.extended_capabilities {
            Element::new(id::EXTENDED_CAPABILITIES, bits).emit(out);
        }
        if let Some(wmm) = &self.wmm {
            wmm.emit(out);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::rsn::SuiteSet;
    use super::super::{Capabilities, EdcaParameters};
    use super::*;
    use proptest::collection::vec;
    use proptest::option::of;
    use proptest::prelude::*;

    prop_compose! {
        fn suites()(bits in 1u32..) -> SuiteSet {
            SuiteSet { bits, unknown: false }
        }
    }

    prop_compose! {
        /// An RSN element that is as long as its fields say.
        fn rsn()(
            group in 0u32..32, pairwise in suites(), akm in suites(), capabilities: u16, management in of(0u32..32),
        ) -> Rsn {
            let group_management = management.map_or(SuiteSet::default(), |kind| SuiteSet { bits: 1 << kind, unknown: false });
            let group = SuiteSet { bits: 1 << group, unknown: false };
            Rsn { version: 1, group, pairwise, akm, capabilities: Some(capabilities), group_management, truncated: false }
        }
    }

    prop_compose! {
        fn edca()(aifsn in 0u8..16, admission_control: bool, ecw_min in 0u8..16, ecw_max in 0u8..16, txop_limit_32us: u16)
            -> EdcaParameters
        {
            EdcaParameters { aifsn, admission_control, ecw_min, ecw_max, txop_limit_32us }
        }
    }

    prop_compose! {
        fn wmm()(qos_info: u8, parameters in of([edca(), edca(), edca(), edca()])) -> Wmm {
            Wmm { qos_info, parameters }
        }
    }

    prop_compose! {
        fn switch()(quiet: bool, operating_class in of(any::<u8>()), channel: u8, count: u8) -> ChannelSwitch {
            ChannelSwitch { quiet, operating_class, channel, count }
        }
    }

    prop_compose! {
        fn ht()(info: u16, ampdu_parameters: u8, mcs_set: [u8; 16], extended: u16) -> HtCapabilities {
            HtCapabilities { info, ampdu_parameters, mcs_set, extended }
        }
    }

    prop_compose! {
        fn operation()(primary_channel: u8, info: [u8; 5], basic_mcs_set: [u8; 16]) -> HtOperation {
            HtOperation { primary_channel, info, basic_mcs_set }
        }
    }

    proptest! {
        #[test]
        fn all_elements_come_back(
            ssid in of(vec(any::<u8>(), 0..=32)), rates in vec(any::<u8>(), 0..=30), dsss_channel: Option<u8>,
            tim in of((any::<[u8; 3]>(), vec(any::<u8>(), 0..252))), country in of(any::<[u8; 6]>()),
            channel_switch in of(switch()), secondary in of(0u8..4), erp: Option<u8>, rsn in of(rsn()), ht in of(ht()),
            ht_operation in of(operation()), extended in of(vec(any::<u8>(), 0..20)), wmm in of(wmm()),
        ) {
            let elements = ManagementElements {
                ssid: ssid.as_deref(),
                dsss_channel,
                tim: tim.as_ref().map(|([dtim_count, dtim_period, bitmap_control], bitmap)| TimElement {
                    dtim_count: *dtim_count, dtim_period: *dtim_period, bitmap_control: *bitmap_control, bitmap,
                }),
                country: country.and_then(|bytes| Country::parse(&bytes)),
                channel_switch,
                secondary_channel: secondary.map(SecondaryChannel::from_number),
                erp: erp.map(Erp),
                rsn, ht, ht_operation,
                extended_capabilities: extended.as_deref(),
                wmm,
                ..ManagementElements::default()
            };
            let elements = elements.with_rates(&rates);
            let mut out = Vec::new();
            elements.emit(&mut out);
            prop_assert_eq!(elements.buffer_len(), out.len());
            prop_assert_eq!(ManagementElements::parse(&out), Some(elements));
            // The analyzers' reading agrees.
            let read = Capabilities::read(Elements::new(&out));
            prop_assert_eq!((read.rsn, read.ht, read.ht_operation, read.wmm), (rsn, ht, ht_operation, wmm));
            prop_assert_eq!((read.channel_switch, read.dsss_channel), (channel_switch, dsss_channel));
            prop_assert!(!read.truncated);
        }

        #[test]
        fn any_bytes_do_no_harm(bytes in vec(any::<u8>(), 0..400)) {
            if let Some(elements) = ManagementElements::parse(&bytes) {
                let mut out = Vec::new();
                elements.emit(&mut out);
                prop_assert!(ManagementElements::parse(&out).is_some());
            }
        }
    }
}
