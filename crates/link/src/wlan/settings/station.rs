//! One radio, and how its driver behaves.

use serde::{Deserialize, Serialize};

use crate::checked::{in_range, ScenarioError};
use crate::queue::Queueing;
use crate::wlan::settings::medium::{legacy_rate, Medium};
use crate::wlan::settings::EdcaTable;

/// What a radio knows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Phy {
    /// 802.11b: 1 to 11 Mbit/s, no QoS.
    Dsss,
    /// 802.11a or g: 6 to 54 Mbit/s, no QoS.
    Ofdm,
    /// 802.11n, with QoS.
    #[default]
    Ht,
}

/// How the rate of data is chosen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum RateControl {
    /// Always `mcs` (or `rate_mbit_s`).
    #[default]
    Fixed,
    /// Among all rates up to `mcs` and of as many streams or fewer, in the manner of Linux's minstrel_ht.
    MinstrelHt,
}

/// Which rates retries are sent with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum RetryRates {
    /// Those that the rate control gives for the attempts at a PPDU. What a Block Ack leaves out begins with the first of
    /// them again.
    #[default]
    Chain,
    /// One rate lower for each time that the oldest MPDU was sent. All MPDUs of its A-MPDU go with it, and the rate control
    /// learns of them as lost at every rate above (Linux mt76x02_mac.c, mt76x02_mac_fill_tx_status).
    Stepwise,
}

/// A radio that is reached over USB: each packet costs time on the bus and of the host.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct Usb {
    /// Packets that the device holds at most before they get a sequence number; OUT URBs for which it has no room wait.
    pub device_packets: u32,
    /// What an OUT URB (one packet) costs the host beside `per_packet_cost_us`, µs.
    pub tx_urb_cost_us: f64,
    /// IN URBs under way at most. What is received while all are filled and none was handled yet is lost.
    pub rx_urbs: u32,
    /// Packets in one IN URB at most (those of one PPDU are put together).
    pub rx_packets_per_urb: u32,
    /// What an IN URB costs the host, µs.
    pub rx_urb_cost_us: f64,
    /// Interrupt-IN URBs that complete in a second, whether something was received or not.
    pub interrupts_per_second: f64,
    /// What each of them costs the host, µs.
    pub interrupt_cost_us: f64,
}

impl Default for Usb {
    fn default() -> Self {
        Self {
            device_packets: 32,
            tx_urb_cost_us: 0.0,
            rx_urbs: 32,
            rx_packets_per_urb: 1,
            rx_urb_cost_us: 0.0,
            interrupts_per_second: 0.0,
            interrupt_cost_us: 0.0,
        }
    }
}

/// One end: its radio, and how its driver behaves.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct Station {
    /// What the radio supports. An access point that supports more transmits to each station as that station supports.
    pub phy: Phy,
    /// HT MCS that it sends data with, 0 to 31 (one to four streams of the same modulation).
    pub mcs: u8,
    /// With the short guard interval.
    pub short_gi: bool,
    /// Channel width that it sends data with, MHz; left out: that of the medium.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub width_mhz: Option<u16>,
    /// Rate that a radio without 802.11n sends data with (and that it is sent data with), Mbit/s; left out: 54 or 11.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate_mbit_s: Option<f64>,
    /// 802.11b with the short preamble.
    pub short_preamble: bool,
    /// How the rate of data is chosen.
    pub rate_control: RateControl,
    /// Rates of retries.
    pub retry_rates: RetryRates,
    /// It sends A-MPDUs, under a Block Ack session. Otherwise one MPDU at a time, each with its ACK. (Voice is never
    /// aggregated, as in Linux.)
    pub tx_ampdu: bool,
    /// MPDUs in one A-MPDU at most, 1 to 64.
    pub ampdu_max_subframes: u8,
    /// Bytes in one A-MPDU at most, 1 to 65535.
    pub ampdu_max_bytes: u32,
    /// Time on the air of one A-MPDU at most, µs. A single MPDU is sent even when it takes longer.
    pub ampdu_max_us: u32,
    /// How often an MPDU is sent again before it is given up, and how many failures in a row double the contention window.
    pub retry_limit: u8,
    /// An MPDU of an A-MPDU that was not answered at all counts against the retry limit too. (IEEE 802.11-2020 10.23.2.12.1
    /// does not count it.)
    pub count_unanswered: bool,
    /// After an A-MPDU that was not answered at all it asks with a Block Ack request what had arrived, before it sends
    /// again (as ns-3 does; ath9k sends again at once).
    pub request_unanswered: bool,
    /// PPDUs that the driver makes and hands to the hardware before they are sent, of each category (ath9k: 2). 0: a PPDU
    /// is made when it goes on the air.
    pub hardware_ppdus: u8,
    /// It sends RTS before data.
    pub rts: bool,
    /// Probability that an MPDU it sends is lost on the way, each on its own.
    pub mpdu_error_rate: f64,
    /// Signal-to-noise ratio at the receiver of what it sends, dB, for each stream in the width used. Then what is lost
    /// depends on the rate and on the length (additive white Gaussian noise); `mpdu_error_rate` is lost besides.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub snr_db: Option<f64>,
    /// As a receiver: MPDUs with a last bit that came less than this before the Block Ack are left out of its bitmap, although
    /// they were received, µs.
    pub late_block_ack_us: u32,
    /// As a receiver: probability that it does not answer a PPDU from which it received something.
    pub missing_ack_rate: f64,
    /// `missing_ack_rate` is that of PPDUs with these MCS; empty: of all.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub missing_ack_mcs: Vec<u8>,
    /// What each packet, sent or received, costs its host and bus, µs. One packet after the other, so 1/cost is the most
    /// packets per second that it can move, both ways together.
    pub per_packet_cost_us: f64,
    /// The bus, where that is USB.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub usb: Option<Usb>,
    /// Packets that wait in the driver at most (those under way in the Block Ack window not counted); more are dropped.
    /// As many wait at most for the host on the way up.
    pub queue_packets: u32,
    /// The queues above the hardware, instead of one drop-tail queue of `queue_packets`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub queueing: Option<Queueing>,
    /// Contention parameters.
    pub edca: EdcaTable,
    /// Stations only: what reports call it; empty: `station`. Numbered when there are several.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// Stations only: how many of this kind there are.
    pub count: u16,
    /// Stations only: MCS of the access point's data for it; left out: the access point's `mcs`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ap_mcs: Option<u8>,
    /// Stations only: the access point's guard interval for it; left out: the access point's `short_gi`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ap_short_gi: Option<bool>,
    /// Stations without 802.11n only: rate of the access point's data for it, Mbit/s; left out: `rate_mbit_s`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ap_rate_mbit_s: Option<f64>,
    /// Stations only: signal-to-noise ratio of what the access point sends, at this station, dB; left out: the access
    /// point's `snr_db`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ap_snr_db: Option<f64>,
    /// Stations only: probability that an MPDU from the access point is lost on the way; left out: the access point's
    /// `mpdu_error_rate`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ap_mpdu_error_rate: Option<f64>,
}

impl Default for Station {
    fn default() -> Self {
        Self {
            phy: Phy::Ht,
            mcs: 7,
            short_gi: true,
            width_mhz: None,
            rate_mbit_s: None,
            short_preamble: false,
            rate_control: RateControl::Fixed,
            retry_rates: RetryRates::Chain,
            tx_ampdu: true,
            ampdu_max_subframes: 64,
            ampdu_max_bytes: 65_535,
            ampdu_max_us: 5_484,
            retry_limit: 7,
            count_unanswered: false,
            request_unanswered: false,
            hardware_ppdus: 0,
            rts: false,
            mpdu_error_rate: 0.0,
            snr_db: None,
            late_block_ack_us: 0,
            missing_ack_rate: 0.0,
            missing_ack_mcs: Vec::new(),
            per_packet_cost_us: 0.0,
            usb: None,
            queue_packets: 256,
            queueing: None,
            edca: EdcaTable::default(),
            name: String::new(),
            count: 1,
            ap_mcs: None,
            ap_short_gi: None,
            ap_rate_mbit_s: None,
            ap_snr_db: None,
            ap_mpdu_error_rate: None,
        }
    }
}

impl Station {
    /// Rate of a radio without 802.11n, 500 kbit/s units.
    pub(crate) fn legacy_rate(&self) -> u8 {
        let fastest = if self.phy == Phy::Dsss { 22 } else { 108 };
        self.rate_mbit_s.map_or(fastest, |mbit_s| legacy_rate(mbit_s).unwrap_or(fastest))
    }

    /// The first value that is out of range, if any. `key`: that of the station; `medium`: its channel.
    ///
    /// # Errors
    /// That value, with what it may be.
    pub fn check(&self, key: &str, medium: &Medium) -> Result<(), ScenarioError> {
        let wrong = |name: &str, what: String| Err(ScenarioError::new(format!("{key}.{name}"), what));
        if self.phy == Phy::Dsss && !medium.is_2_4_ghz() {
            return wrong("phy", format!("there is no dsss on channel {}: only on 1 to 14", medium.channel));
        }
        in_range(key, "mcs", self.mcs, 0..=31, "")?;
        match (self.width_mhz, medium.width_mhz) {
            (None | Some(20), _) | (Some(40), 40) => {}
            (Some(wide), medium) => {
                let allowed = if medium == 40 { "20 or 40" } else { "20, the width of the medium" };
                return wrong("width_mhz", format!("{wide} is not {allowed}"));
            }
        }
        for (name, rate) in [("rate_mbit_s", self.rate_mbit_s), ("ap_rate_mbit_s", self.ap_rate_mbit_s)] {
            let Some(rate) = rate else { continue };
            let (fits, rates) = match self.phy {
                Phy::Dsss => (matches!(legacy_rate(rate), Some(2 | 4 | 11 | 22)), "1, 2, 5.5 or 11"),
                Phy::Ofdm => (
                    legacy_rate(rate).is_some_and(|rate| !matches!(rate, 2 | 4 | 11 | 22)),
                    "6, 9, 12, 18, 24, 36, 48 or 54",
                ),
                Phy::Ht => (false, "used with 802.11n: its rate is mcs"),
            };
            if !fits {
                return wrong(name, format!("{rate} is not {rates}"));
            }
        }
        in_range(key, "ampdu_max_subframes", self.ampdu_max_subframes, 1..=64, "")?;
        in_range(key, "ampdu_max_bytes", self.ampdu_max_bytes, 1..=65_535, " bytes")?;
        in_range(key, "ampdu_max_us", self.ampdu_max_us, 1..=10_000, " µs")?;
        in_range(key, "hardware_ppdus", self.hardware_ppdus, 0..=64, " PPDUs")?;
        in_range(key, "mpdu_error_rate", self.mpdu_error_rate, 0.0..=1.0, "")?;
        in_range(key, "snr_db", self.snr_db.unwrap_or(0.0), -20.0..=80.0, " dB")?;
        in_range(key, "late_block_ack_us", self.late_block_ack_us, 0..=100_000, " µs")?;
        in_range(key, "missing_ack_rate", self.missing_ack_rate, 0.0..=1.0, "")?;
        if self.missing_ack_mcs.len() > 32 || self.missing_ack_mcs.iter().any(|&mcs| mcs > 31) {
            return wrong("missing_ack_mcs", "is not a list of MCS from 0 to 31".to_owned());
        }
        in_range(key, "per_packet_cost_us", self.per_packet_cost_us, 0.0..=1_000_000.0, " µs")?;
        in_range(key, "queue_packets", self.queue_packets, 1..=100_000, " packets")?;
        in_range(key, "count", self.count, 1..=1_000, " stations")?;
        in_range(key, "ap_mcs", self.ap_mcs.unwrap_or(0), 0..=31, "")?;
        in_range(key, "ap_snr_db", self.ap_snr_db.unwrap_or(0.0), -20.0..=80.0, " dB")?;
        in_range(key, "ap_mpdu_error_rate", self.ap_mpdu_error_rate.unwrap_or(0.0), 0.0..=1.0, "")?;
        if self.name.chars().count() > 64 || self.name.chars().any(char::is_control) {
            return wrong("name", "is longer than 64 characters or has control characters".to_owned());
        }
        if let Some(queueing) = &self.queueing {
            queueing.check(&format!("{key}.queueing"))?;
            if queueing.device.is_some() && self.hardware_ppdus > 0 {
                let what =
                    format!("{} are made ahead, and queueing.device makes none before it sends", self.hardware_ppdus);
                return wrong("hardware_ppdus", what);
            }
        }
        if let Some(usb) = &self.usb {
            usb.check(&format!("{key}.usb"))?;
        }
        self.edca.check(&format!("{key}.edca"))
    }
}

impl Usb {
    fn check(&self, key: &str) -> Result<(), ScenarioError> {
        in_range(key, "device_packets", self.device_packets, 1..=10_000, " packets")?;
        in_range(key, "tx_urb_cost_us", self.tx_urb_cost_us, 0.0..=1_000_000.0, " µs")?;
        in_range(key, "rx_urbs", self.rx_urbs, 1..=10_000, " URBs")?;
        in_range(key, "rx_packets_per_urb", self.rx_packets_per_urb, 1..=64, " packets")?;
        in_range(key, "rx_urb_cost_us", self.rx_urb_cost_us, 0.0..=1_000_000.0, " µs")?;
        in_range(key, "interrupts_per_second", self.interrupts_per_second, 0.0..=100_000.0, " per second")?;
        in_range(key, "interrupt_cost_us", self.interrupt_cost_us, 0.0..=1_000_000.0, " µs")?;
        let share = self.interrupts_per_second * self.interrupt_cost_us / 1e6;
        if share > 0.99 {
            let what = format!("interrupts take {:.0} % of the host's time, 99 % is the most", share * 100.0);
            return Err(ScenarioError::new(format!("{key}.interrupt_cost_us"), what));
        }
        Ok(())
    }
}
