//! Bodies of the access point's management frames (9.3.3).

use wire::ieee80211::{
    CapabilityInfo, ChannelSwitch, Erp, FixedFields, HtCapabilities, HtOperation, ManagementBody, ManagementElements,
    SecondaryChannel, StatusCode, TimElement, Wmm,
};

use super::settings::BuiltinSettings;

/// Beacon interval, TU of 1024 us.
pub(super) const BEACON_INTERVAL_TU: u16 = 100;
/// ESS, short preamble, short slot.
const CAPABILITY: CapabilityInfo = CapabilityInfo(0x0421);
/// 1, 2, 5.5, 11 basic; 6 to 54 not.
pub(super) const RATES: [u8; 12] = [0x82, 0x84, 0x8b, 0x96, 0x0c, 0x12, 0x18, 0x24, 0x30, 0x48, 0x60, 0x6c];
/// The station's association ID.
const AID: u16 = 1;

/// What beacons say of the moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Moment {
    /// Beacons until group frames follow one.
    pub(super) dtim_count: u8,
    /// Group frames follow this one.
    pub(super) group_kept: bool,
    /// Frames for the station, AID 1, are kept.
    pub(super) kept: bool,
    /// The channel that the network goes to, and after how many beacons.
    pub(super) switch: Option<(u8, u8)>,
}

/// What all its frames say.
fn elements<'a>(settings: &BuiltinSettings) -> ManagementElements<'a> {
    let channel = settings.channel;
    let mut mcs_set = [0; 16];
    mcs_set[0] = 0xff;
    // 65535 bytes, no minimum spacing; MCS 0 to 7.
    let capabilities = HtCapabilities { info: settings.ht_information(), ampdu_parameters: 0x03, mcs_set, extended: 0 };
    let secondary = if settings.wide { secondary(channel) } else { SecondaryChannel::None };
    let ht = settings.more.ht;
    let elements = ManagementElements {
        // No stations to protect from.
        erp: Some(Erp(0)),
        ht: ht.then_some(capabilities),
        ht_operation: ht.then(|| HtOperation::new(channel, secondary)),
        wmm: ht.then(|| Wmm::default_parameters(0)),
        ..ManagementElements::default()
    };
    elements.with_rates(&RATES)
}

/// Above, as long as there are channels above, else below.
const fn secondary(channel: u8) -> SecondaryChannel {
    if channel <= 7 {
        SecondaryChannel::Above
    } else {
        SecondaryChannel::Below
    }
}

fn emitted(fixed: FixedFields, elements: ManagementElements<'_>) -> Vec<u8> {
    let mut body = Vec::with_capacity(256);
    ManagementBody { fixed, elements }.emit(&mut body);
    body
}

/// A probe response, or a beacon with what it says of the moment.
pub(super) fn beacon(settings: &BuiltinSettings, now_ns: u64, moment: Option<Moment>) -> Vec<u8> {
    let nameless = settings.more.hidden && moment.is_some();
    let bitmap = [u8::from(moment.is_some_and(|moment| moment.kept)) << AID];
    let switch = moment.and_then(|moment| moment.switch);
    let elements = ManagementElements {
        ssid: Some(if nameless { &[] } else { settings.ssid.as_bytes() }),
        dsss_channel: Some(settings.channel),
        tim: moment.map(|Moment { dtim_count, group_kept, .. }| TimElement {
            dtim_count,
            dtim_period: settings.more.dtim_period.max(1),
            bitmap_control: u8::from(group_kept),
            bitmap: &bitmap,
        }),
        // Stations may go on sending.
        channel_switch: switch.map(|(channel, count)| ChannelSwitch {
            quiet: false,
            operating_class: None,
            channel,
            count,
        }),
        secondary_channel: switch.filter(|_| settings.wide).map(|(channel, _)| secondary(channel)),
        ..elements(settings)
    };
    let timestamp_us = now_ns / 1_000;
    emitted(FixedFields::Beacon { timestamp_us, interval_tu: BEACON_INTERVAL_TU, capability: CAPABILITY }, elements)
}

/// An association or reassociation response; with an association ID where it is granted.
pub(super) fn association(settings: &BuiltinSettings, status: StatusCode) -> Vec<u8> {
    let aid = if status == StatusCode::Success { AID } else { 0 };
    emitted(FixedFields::AssociationResponse { capability: CAPABILITY, status, aid }, elements(settings))
}

#[cfg(test)]
mod tests {
    use super::*;
    use wire::ieee80211::{Capabilities, Elements};

    #[test]
    fn beacons_say_what_is_so() {
        let mut settings = BuiltinSettings { wide: true, ..BuiltinSettings::default() };
        settings.more.rx_stbc = true;
        let moment = Moment { dtim_count: 1, kept: true, switch: Some((11, 3)), ..Moment::default() };
        let body = beacon(&settings, 5_000_000, Some(moment));
        assert_eq!(&body[..12], [0x88, 0x13, 0, 0, 0, 0, 0, 0, 100, 0, 0x21, 0x04]);
        let read = Capabilities::read(Elements::new(&body[12..]));
        let tim = read.tim.unwrap();
        assert_eq!((tim.dtim_count, tim.dtim_period), (1, 2));
        let switch = read.channel_switch.unwrap();
        assert_eq!((switch.channel, switch.count), (11, 3));
        let ht = read.ht.unwrap();
        assert!(ht.width_40() && ht.rx_stbc_streams() == 1 && !ht.tx_stbc() && !ht.greenfield());
        assert_eq!(Elements::new(&body[12..]).find(0), Some(&b"txop"[..]));

        let elements = |body: &[u8], id| Elements::new(&body[12..]).find(id).map(<[u8]>::to_vec);
        assert_eq!((elements(&body, 61).unwrap()[..2].to_vec(), elements(&body, 62)), (vec![6, 5], Some(vec![3])));

        settings.more.hidden = true;
        let name = |body: &[u8]| Elements::new(&body[12..]).find(0).unwrap().to_vec();
        assert!(name(&beacon(&settings, 0, Some(moment))).is_empty());
        assert_eq!(name(&beacon(&settings, 0, None)), b"txop");
        settings.more.ht = false;
        assert!(Capabilities::read(Elements::new(&beacon(&settings, 0, None)[12..])).ht.is_none());
    }

    #[test]
    fn refusals_have_no_association_id() {
        let settings = BuiltinSettings::default();
        assert_eq!(&association(&settings, StatusCode::DeniedNoMoreStas)[..6], [0x21, 0x04, 17, 0, 0, 0]);
        assert_eq!(&association(&settings, StatusCode::Success)[..6], [0x21, 0x04, 0, 0, 0x01, 0xc0]);
    }
}
