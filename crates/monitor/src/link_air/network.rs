//! The network that is captured: what its beacons say, and the addresses of its radios.

use link::wlan;
pub use link::wlan::address;

/// 6, 12 and 24 Mbit/s basic, and the other OFDM rates, as in the element Supported Rates (IEEE 802.11-2020, 9.4.2.3).
const OFDM_RATES: [u8; 8] = [0x8c, 0x12, 0x98, 0x24, 0xb0, 0x48, 0x60, 0x6c];

/// 1, 2, 5.5 and 11 Mbit/s.
const DSSS_RATES: [u8; 4] = [2, 4, 11, 22];
/// Bit of a rate in the element: every station must support it.
const BASIC: u8 = 0x80;
/// Rates that the element Supported Rates has room for; the others stand in Extended Supported Rates.
pub(super) const RATES_MAX: usize = 8;

/// What a beacon announces of a network.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Network {
    /// Primary channel: 1 to 14, or one of the 5 GHz band.
    pub channel: u16,
    /// 20 or 40 MHz.
    pub width_mhz: u16,
    /// Spatial streams that are in use; `None`: it is not an 802.11n network (nor has it WMM).
    pub streams: Option<u8>,
    /// Rates in 500 kbit/s, bit 7 for basic ones.
    pub rates: Vec<u8>,
    /// Length of a beacon, FCS included, that the link assumes. A shorter one is filled up.
    pub beacon_bytes: usize,
}

impl Default for Network {
    fn default() -> Self {
        Self { channel: 36, width_mhz: 20, streams: Some(1), rates: OFDM_RATES.to_vec(), beacon_bytes: 0 }
    }
}

impl From<&wlan::Scenario> for Network {
    /// All basic rates are in the element, and other supported ones as far as there is room: more would make
    /// the beacon longer than the link assumes.
    fn from(scenario: &wlan::Scenario) -> Self {
        let basic = scenario.basic_rates();
        let dsss: &[u8] = if scenario.medium.is_2_4_ghz() { &DSSS_RATES } else { &[] };
        let ofdm = if scenario.ap.phy == wlan::Phy::Dsss { &[][..] } else { &OFDM_RATES[..] };
        let known = dsss.iter().chain(ofdm).map(|rate| rate & !BASIC).filter(|rate| !basic.contains(rate));
        let mut rates: Vec<u8> = basic.iter().map(|rate| rate | BASIC).chain(known).take(RATES_MAX).collect();
        rates.sort_by_key(|rate| rate & !BASIC);
        let mut radios = scenario.stations.iter().chain([&scenario.dut, &scenario.ap]);
        let highest_mcs = radios.clone().map(|radio| radio.mcs.max(radio.ap_mcs.unwrap_or(0))).max().unwrap_or(0);
        Self {
            channel: scenario.medium.channel,
            width_mhz: scenario.medium.width_mhz,
            streams: radios.any(|radio| radio.phy == wlan::Phy::Ht).then_some(highest_mcs / 8 + 1),
            rates,
            beacon_bytes: wlan::beacon_len(scenario.medium.channel),
        }
    }
}

impl Network {
    /// In 2.4 GHz.
    pub const fn is_2_4_ghz(&self) -> bool {
        self.channel <= 14
    }

    /// Centre of the primary channel, MHz (IEEE 802.11-2020, 17.3.8.4.2 and annex E).
    pub const fn frequency_mhz(&self) -> u16 {
        match self.channel {
            14 => 2_484,
            channel @ 0..=13 => 2_407 + 5 * channel,
            channel => 5_000u16.saturating_add(channel.saturating_mul(5)),
        }
    }
}
