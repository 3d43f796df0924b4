//! How the access point's network is.

use serde::Deserialize;
use wire::ieee80211::HtCapabilities;
use wire::phy::{Bandwidth, Ht, Mode};

/// How it is set up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BuiltinSettings {
    /// Name of its network, 32 bytes at most.
    pub ssid: String,
    /// Channel, 1 to 13.
    pub channel: u8,
    /// 40 MHz, secondary channel above, from channel 8 on below.
    pub wide: bool,
    /// MCS that it sends data at.
    pub mcs: u8,
    /// Short guard interval.
    pub short_gi: bool,
    /// Name of its TAP device.
    pub tap: String,
    /// What only a script can change.
    pub more: More,
}

/// What only a script can change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct More {
    /// 802.11n; without it an 802.11g network without QoS.
    pub ht: bool,
    /// Beacons have no name, and probe requests without it are not answered.
    pub hidden: bool,
    /// Sends with space-time block coding.
    pub tx_stbc: bool,
    /// Says that it receives space-time block coding.
    pub rx_stbc: bool,
    /// Greenfield preamble.
    pub greenfield: bool,
    /// Sends so even if the station has not said that it can receive it.
    pub forced: bool,
    /// Asks for Block Ack agreements.
    pub ampdu: bool,
    /// Does not answer A-MPDUs for which there is no agreement. Real access points have been seen to answer them.
    pub strict_agreements: bool,
    /// MSDUs in an A-MSDU at most; 1: none.
    pub amsdu_frames: u8,
    /// Says that it receives A-MSDUs of 7935 bytes, not 3839.
    pub amsdu_7935: bool,
    /// RTS before every data frame.
    pub rts: bool,
    /// Group frames for a network with sleeping stations follow every n-th beacon.
    pub dtim_period: u8,
}

impl Default for More {
    fn default() -> Self {
        Self {
            ht: true,
            hidden: false,
            tx_stbc: false,
            rx_stbc: false,
            greenfield: false,
            forced: false,
            ampdu: true,
            strict_agreements: false,
            amsdu_frames: 1,
            amsdu_7935: false,
            rts: false,
            dtim_period: 2,
        }
    }
}

impl Default for BuiltinSettings {
    fn default() -> Self {
        Self {
            ssid: "txop".into(),
            channel: 6,
            wide: false,
            mcs: 7,
            short_gi: false,
            tap: "vap0".into(),
            more: More::default(),
        }
    }
}

/// The table `[network]` of a script: what is there counts in place of the options.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Network {
    channel: Option<u8>,
    wide: Option<bool>,
    mcs: Option<u8>,
    short_gi: Option<bool>,
    ht: Option<bool>,
    hidden: Option<bool>,
    tx_stbc: Option<bool>,
    rx_stbc: Option<bool>,
    greenfield: Option<bool>,
    forced: Option<bool>,
    ampdu: Option<bool>,
    strict_agreements: Option<bool>,
    amsdu_frames: Option<u8>,
    amsdu_7935: Option<bool>,
    rts: Option<bool>,
    dtim_period: Option<u8>,
}

impl Network {
    /// Whether all values are possible.
    ///
    /// # Errors
    /// Which is not.
    pub fn check(&self) -> Result<(), &'static str> {
        let within = |value: Option<u8>, least: u8, most: u8| value.is_none_or(|value| (least..=most).contains(&value));
        match () {
            () if !within(self.channel, 1, 13) => Err("channel is not 1 to 13"),
            () if !within(self.mcs, 0, 7) => Err("mcs is not 0 to 7"),
            () if !within(self.amsdu_frames, 1, 16) => Err("amsdu_frames is not 1 (no A-MSDUs) to 16"),
            () if !within(self.dtim_period, 1, 10) => Err("dtim_period is not 1 to 10"),
            () => Ok(()),
        }
    }

    /// Lays it over settings.
    pub fn apply(&self, settings: &mut BuiltinSettings) {
        fn set<T: Copy>(field: &mut T, value: Option<T>) {
            if let Some(value) = value {
                *field = value;
            }
        }
        let BuiltinSettings { channel, wide, mcs, short_gi, more, .. } = settings;
        set(channel, self.channel);
        set(mcs, self.mcs);
        set(&mut more.amsdu_frames, self.amsdu_frames);
        set(&mut more.dtim_period, self.dtim_period);
        for (field, value) in [
            (wide, self.wide),
            (short_gi, self.short_gi),
            (&mut more.ht, self.ht),
            (&mut more.hidden, self.hidden),
            (&mut more.tx_stbc, self.tx_stbc),
            (&mut more.rx_stbc, self.rx_stbc),
            (&mut more.greenfield, self.greenfield),
            (&mut more.forced, self.forced),
            (&mut more.ampdu, self.ampdu),
            (&mut more.strict_agreements, self.strict_agreements),
            (&mut more.amsdu_7935, self.amsdu_7935),
            (&mut more.rts, self.rts),
        ] {
            set(field, value);
        }
    }
}

impl BuiltinSettings {
    /// HT Capability Information (9.4.2.55.2) of the access point.
    pub(super) fn ht_information(&self) -> u16 {
        let More { greenfield, tx_stbc, rx_stbc, amsdu_7935, .. } = self.more;
        // SM power save disabled.
        0x000c
            | u16::from(self.wide) << 1
            | u16::from(greenfield) << 4
            | u16::from(self.short_gi) << 5
            | u16::from(self.short_gi && self.wide) << 6
            | u16::from(tx_stbc) << 7
            | u16::from(rx_stbc) << 8
            | u16::from(amsdu_7935) << 11
    }

    /// How it sends data to a station with these capabilities.
    pub(super) fn ht_mode(&self, station: &HtCapabilities) -> Mode {
        let can = |ours: bool, theirs: bool| ours && (theirs || self.more.forced);
        let wide = can(self.wide, station.width_40());
        let short_gi = if wide { station.short_gi_40() } else { station.short_gi_20() };
        Mode::Ht(Ht {
            mcs: self.mcs.min(7),
            bandwidth: if wide { Bandwidth::Mhz40 } else { Bandwidth::Mhz20 },
            short_gi: Some(can(self.short_gi, short_gi)),
            greenfield: Some(can(self.more.greenfield, station.greenfield())),
            ldpc: Some(false),
            stbc: Some(u8::from(can(self.more.tx_stbc, station.rx_stbc_streams() > 0))),
            ness: 0,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_changes_what_it_names() {
        let network: Network = toml::from_str("mcs = 3\ntx_stbc = true\namsdu_frames = 4\n").unwrap();
        network.check().unwrap();
        let mut settings = BuiltinSettings { short_gi: true, ..BuiltinSettings::default() };
        network.apply(&mut settings);
        assert_eq!((settings.mcs, settings.short_gi, settings.more.tx_stbc), (3, true, true));
        assert_eq!(settings.more.amsdu_frames, 4);
        for text in ["channel = 14", "mcs = 8", "amsdu_frames = 0", "dtim_period = 0"] {
            assert!(toml::from_str::<Network>(text).unwrap().check().is_err(), "{text}");
        }
        assert!(toml::from_str::<Network>("stbc = true").is_err());
    }

    #[test]
    fn only_what_the_station_can_is_used_unless_forced() {
        let mut settings = BuiltinSettings { wide: true, short_gi: true, ..BuiltinSettings::default() };
        (settings.more.tx_stbc, settings.more.greenfield) = (true, true);
        // 20 MHz with short guard interval, RX STBC of one stream.
        let station = HtCapabilities { info: 0x0120, ..HtCapabilities::default() };
        let Mode::Ht(ht) = settings.ht_mode(&station) else { panic!() };
        let got = (ht.bandwidth, ht.short_gi, ht.greenfield, ht.stbc);
        assert_eq!(got, (Bandwidth::Mhz20, Some(true), Some(false), Some(1)));
        settings.more.forced = true;
        let Mode::Ht(ht) = settings.ht_mode(&station) else { panic!() };
        assert_eq!((ht.bandwidth, ht.greenfield), (Bandwidth::Mhz40, Some(true)));
        assert_eq!(settings.ht_information(), 0x00fe);
    }
}
