//! What a link is made of: the settings, their ranges, and what is said about a wrong one.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::checked::{in_range, ScenarioError};

/// A link, whole. Every key may be left out and then has the value that [`Default`] gives; an unknown key is refused.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Scenario {
    /// Of the random source.
    pub seed: u64,
    /// What both ends share.
    pub medium: Medium,
    /// The station: the device under test.
    pub dut: Station,
    /// The access point, and the host behind it.
    pub ap: Station,
}

/// The channel.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Medium {
    /// Primary channel: 1 to 14 (2.4 GHz), or one of the 20 MHz channels from 36 to 177 (5 GHz).
    pub channel: u16,
    /// 20 or 40 MHz.
    pub width_mhz: u16,
    /// The access point sends beacons, one in 102.4 ms.
    pub beacons: bool,
}

/// One end: its radio, and how its driver behaves.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Station {
    /// HT MCS that it sends data with, 0 to 31 (one to four streams of the same modulation).
    pub mcs: u8,
    /// With the short guard interval.
    pub short_gi: bool,
    /// It sends A-MPDUs, under a Block Ack session. Otherwise one MPDU at a time, each with its ACK.
    pub tx_ampdu: bool,
    /// MPDUs in one A-MPDU at most, 1 to 64.
    pub ampdu_max_subframes: u8,
    /// Bytes in one A-MPDU at most, 1 to 65535.
    pub ampdu_max_bytes: u32,
    /// Time on the air of one A-MPDU at most, µs. A single MPDU is sent even when it takes longer.
    pub ampdu_max_us: u32,
    /// How often an MPDU is sent again before it is given up.
    pub retry_limit: u8,
    /// It sends RTS before data.
    pub rts: bool,
    /// Probability that an MPDU it sends is lost on the way, each on its own.
    pub mpdu_error_rate: f64,
    /// As a receiver: MPDUs whose last bit came less than this before the Block Ack are left out of its bitmap, although
    /// they were received, µs.
    pub late_block_ack_us: u32,
    /// As a receiver: probability that it does not answer a PPDU from which it received something.
    pub missing_ack_rate: f64,
    /// What each packet, sent or received, costs its host and bus, µs. One packet after the other, so 1/cost is the most
    /// packets per second that it can move, both ways together.
    pub per_packet_cost_us: f64,
    /// Packets that wait in the driver at most (those under way in the Block Ack window not counted); more are dropped.
    /// As many wait at most for the host on the way up.
    pub queue_packets: u32,
}

impl Default for Medium {
    fn default() -> Self {
        Self { channel: 36, width_mhz: 20, beacons: true }
    }
}

impl Default for Station {
    fn default() -> Self {
        Self {
            mcs: 7,
            short_gi: true,
            tx_ampdu: true,
            ampdu_max_subframes: 64,
            ampdu_max_bytes: 65_535,
            ampdu_max_us: 5_484,
            retry_limit: 7,
            rts: false,
            mpdu_error_rate: 0.0,
            late_block_ack_us: 0,
            missing_ack_rate: 0.0,
            per_packet_cost_us: 0.0,
            queue_packets: 256,
        }
    }
}

/// The 20 MHz channels of the 5 GHz band (IEEE 802.11-2020 annex E).
const fn is_5_ghz_channel(channel: u16) -> bool {
    matches!(channel, 36..=64 | 100..=144 if channel % 4 == 0) || matches!(channel, 149..=177 if channel % 4 == 1)
}

impl Scenario {
    /// Reads and checks the JSON form.
    ///
    /// # Errors
    /// Not JSON, an unknown key, a value of the wrong type or out of range.
    pub fn from_json(text: &str) -> Result<Self, ScenarioError> {
        let value: Value =
            serde_json::from_str(text).map_err(|error| ScenarioError::new("scenario", error.to_string()))?;
        // A list would be taken as the values of the keys in their order.
        for (key, table) in [
            ("scenario", Some(&value)),
            ("medium", value.get("medium")),
            ("dut", value.get("dut")),
            ("ap", value.get("ap")),
        ] {
            if table.is_some_and(|table| !table.is_object()) {
                return Err(ScenarioError::new(key, "is not a table of keys and values"));
            }
        }
        let scenario: Self = serde_path_to_error::deserialize(&value).map_err(|error| {
            // An unknown key at the top is not on the path.
            let path = error.path().to_string();
            let key = if path == "." { "scenario".to_owned() } else { path };
            ScenarioError::new(key, error.inner().to_string())
        })?;
        scenario.check()?;
        Ok(scenario)
    }

    /// The first value that is out of range, if any.
    ///
    /// # Errors
    /// That value, with what it may be.
    pub fn check(&self) -> Result<(), ScenarioError> {
        let Medium { channel, width_mhz, .. } = self.medium;
        if !(1..=14).contains(&channel) && !is_5_ghz_channel(channel) {
            let what = format!("{channel} is not a 20 MHz channel: 1 to 14, 36 to 64, 100 to 144 or 149 to 177");
            return Err(ScenarioError::new("medium.channel", what));
        }
        if !matches!(width_mhz, 20 | 40) {
            return Err(ScenarioError::new("medium.width_mhz", format!("{width_mhz} is neither 20 nor 40")));
        }
        if width_mhz == 40 && matches!(channel, 14 | 165 | 177) {
            let what = format!("channel {channel} has no second channel beside it for 40 MHz");
            return Err(ScenarioError::new("medium.width_mhz", what));
        }
        for (key, station) in [("dut", &self.dut), ("ap", &self.ap)] {
            station.check(key)?;
        }
        Ok(())
    }

    /// Centre of the primary channel, MHz.
    pub const fn frequency_mhz(&self) -> u16 {
        match self.medium.channel {
            14 => 2_484,
            channel @ 0..=13 => 2_407 + 5 * channel,
            channel => 5_000 + 5 * channel,
        }
    }
}

impl Station {
    fn check(&self, key: &str) -> Result<(), ScenarioError> {
        in_range(key, "mcs", self.mcs, 0..=31, "")?;
        in_range(key, "ampdu_max_subframes", self.ampdu_max_subframes, 1..=64, "")?;
        in_range(key, "ampdu_max_bytes", self.ampdu_max_bytes, 1..=65_535, " bytes")?;
        in_range(key, "ampdu_max_us", self.ampdu_max_us, 1..=10_000, " µs")?;
        in_range(key, "mpdu_error_rate", self.mpdu_error_rate, 0.0..=1.0, "")?;
        in_range(key, "late_block_ack_us", self.late_block_ack_us, 0..=100_000, " µs")?;
        in_range(key, "missing_ack_rate", self.missing_ack_rate, 0.0..=1.0, "")?;
        in_range(key, "per_packet_cost_us", self.per_packet_cost_us, 0.0..=1_000_000.0, " µs")?;
        in_range(key, "queue_packets", self.queue_packets, 1..=100_000, " packets")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(json: &str) -> String {
        Scenario::from_json(json).expect_err(json).to_string()
    }

    #[test]
    fn a_wrong_value_is_named_with_its_range() {
        assert_eq!(error(r#"{"dut": {"mcs": 32}}"#), "dut.mcs: 32 is not in the range from 0 to 31");
        assert_eq!(error(r#"{"ap": {"retry_limit": -1}}"#), "ap.retry_limit: invalid value: integer `-1`, expected u8");
        assert!(error(r#"{"ap": {"mpdu_error_rate": 1.5}}"#).starts_with("ap.mpdu_error_rate: 1.5 is not in the range"));
        assert!(error(r#"{"dut": {"qeue_packets": 5}}"#).starts_with("dut.qeue_packets: unknown field `qeue_packets`"));
        assert!(error(r#"{"bus": {}}"#).contains("unknown field `bus`, expected one of `seed`, `medium`, `dut`, `ap`"));
        assert_eq!(error(r#"{"medium": {"width_mhz": 80}}"#), "medium.width_mhz: 80 is neither 20 nor 40");
        assert!(error(r#"{"medium": {"channel": 37}}"#).starts_with("medium.channel: 37 is not a 20 MHz channel"));
        assert!(error(r#"{"medium": {"channel": 14, "width_mhz": 40}}"#).contains("no second channel"));
        assert_eq!(error("[1]"), "scenario: is not a table of keys and values");
        assert_eq!(error(r#"{"ap": [1]}"#), "ap: is not a table of keys and values");
        assert!(error("{} {}").starts_with("scenario: "));
        assert!(error("").starts_with("scenario: EOF"));
        assert!(error(r#"{"dut": {"per_packet_cost_us": "x"}}"#).starts_with("dut.per_packet_cost_us: invalid type"));
    }

    #[test]
    fn what_is_left_out_has_its_default() {
        let scenario = Scenario::from_json(r#"{"seed": 5, "dut": {"rts": true}}"#).expect("a scenario");
        let dut = Station { rts: true, ..Station::default() };
        assert_eq!(scenario, Scenario { seed: 5, dut, ..Scenario::default() });
        let json = serde_json::to_string(&scenario).expect("JSON");
        assert_eq!(Scenario::from_json(&json), Ok(scenario));
    }

    #[test]
    fn frequencies() {
        for (channel, mhz) in [(1, 2412), (13, 2472), (14, 2484), (36, 5180), (165, 5825), (177, 5885)] {
            let scenario = Scenario { medium: Medium { channel, ..Medium::default() }, ..Scenario::default() };
            assert_eq!((scenario.check(), scenario.frequency_mhz()), (Ok(()), mhz));
        }
        let not_a_number = Station { mpdu_error_rate: f64::NAN, ..Station::default() };
        assert!(Scenario { dut: not_a_number, ..Scenario::default() }.check().is_err());
    }
}
