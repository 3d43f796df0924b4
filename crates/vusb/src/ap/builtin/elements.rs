//! Bodies of the access point's management frames (9.3.3), as elements (9.4.2).

use super::settings::BuiltinSettings;

/// Beacon interval, TU of 1024 us.
pub(super) const BEACON_INTERVAL_TU: u16 = 100;
/// Capability information: ESS, short preamble, short slot.
pub(super) const CAPABILITY: [u8; 2] = [0x21, 0x04];
/// 1, 2, 5.5, 11 basic; 6, 9, 12, 18; the rest as extended rates.
pub(super) const RATES: [u8; 8] = [0x82, 0x84, 0x8b, 0x96, 0x0c, 0x12, 0x18, 0x24];
const EXTENDED_RATES: [u8; 4] = [0x30, 0x48, 0x60, 0x6c];
/// WMM parameters with the default EDCA parameters (WMM specification 2.2.2).
const WMM: [u8; 24] =
    [0x00, 0x50, 0xf2, 2, 1, 1, 0, 0, 0x03, 0xa4, 0, 0, 0x27, 0xa4, 0, 0, 0x42, 0x43, 0x5e, 0, 0x62, 0x32, 0x2f, 0];

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

fn element(id: u8, body: &[u8], out: &mut Vec<u8>) {
    let body = body.get(..255).unwrap_or(body);
    out.extend([id, body.len() as u8]);
    out.extend_from_slice(body);
}

fn after_rates(settings: &BuiltinSettings, out: &mut Vec<u8>) {
    // ERP: nobody to protect from.
    element(42, &[0], out);
    element(50, &EXTENDED_RATES, out);
    if !settings.more.ht {
        return;
    }
    let mut capabilities = [0; 26];
    capabilities[..2].copy_from_slice(&settings.ht_information().to_le_bytes());
    // 65535 bytes, no minimum spacing; MCS 0 to 7.
    (capabilities[2], capabilities[3]) = (0x03, 0xff);
    element(45, &capabilities, out);
    let mut operation = [0; 22];
    // Primary channel; secondary channel, any width.
    (operation[0], operation[1]) =
        (settings.channel, if settings.wide { 0x04 | secondary(settings.channel) } else { 0 });
    element(61, &operation, out);
    element(221, &WMM, out);
}

/// Secondary channel offset (9.4.2.56): above, as long as there are channels above, else below.
const fn secondary(channel: u8) -> u8 {
    if channel <= 7 {
        1
    } else {
        3
    }
}

/// A probe response, or a beacon with what it says of the moment.
pub(super) fn beacon(settings: &BuiltinSettings, now_ns: u64, moment: Option<Moment>) -> Vec<u8> {
    let mut body = (now_ns / 1_000).to_le_bytes().to_vec();
    body.extend(BEACON_INTERVAL_TU.to_le_bytes());
    body.extend(CAPABILITY);
    let nameless = settings.more.hidden && moment.is_some();
    let name = settings.ssid.as_bytes();
    element(0, if nameless { &[] } else { name.get(..32).unwrap_or(name) }, &mut body);
    element(1, &RATES, &mut body);
    element(3, &[settings.channel], &mut body);
    if let Some(Moment { dtim_count, group_kept, kept, .. }) = moment {
        let bitmap = u8::from(kept) << 1;
        element(5, &[dtim_count, settings.more.dtim_period.max(1), u8::from(group_kept), bitmap], &mut body);
    }
    if let Some((channel, count)) = moment.and_then(|moment| moment.switch) {
        // Stations may go on sending.
        element(37, &[0, channel, count], &mut body);
        if settings.wide {
            element(62, &[secondary(channel)], &mut body);
        }
    }
    after_rates(settings, &mut body);
    body
}

/// An association or reassociation response; AID 1 where it is granted.
pub(super) fn association(settings: &BuiltinSettings, status: u16) -> Vec<u8> {
    let mut body = CAPABILITY.to_vec();
    body.extend(status.to_le_bytes());
    body.extend(if status == 0 { 0xc001u16 } else { 0 }.to_le_bytes());
    element(1, &RATES, &mut body);
    after_rates(settings, &mut body);
    body
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
        assert_eq!(&association(&settings, 17)[..6], [0x21, 0x04, 17, 0, 0, 0]);
        assert_eq!(&association(&settings, 0)[..6], [0x21, 0x04, 0, 0, 0x01, 0xc0]);
    }
}
