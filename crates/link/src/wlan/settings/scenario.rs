//! A link, whole: its settings, their ranges, and the message about a wrong one.

use serde::{Deserialize, Serialize};

use crate::checked::ScenarioError;
use crate::wlan::settings::{legacy_rate, Medium, Phy, Station};

/// Stations at most.
const MAX_STATIONS: usize = 1_000;

/// A link, whole. Every key may be left out and then has the value that [`Default`] gives; an unknown key is refused.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(from = "Keys", into = "Keys")]
pub struct Scenario {
    /// Seed of the random source.
    pub seed: u64,
    /// What all radios share.
    pub medium: Medium,
    /// The station, the device under test, when `stations` is empty.
    pub dut: Station,
    /// The access point, and the host behind it.
    pub ap: Station,
    /// The stations, when there are several kinds. Hosts are numbered from 1 in this order.
    pub stations: Vec<Station>,
}

/// A link, whole, as it is written: either `dut` or `stations`.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
struct Keys {
    /// Seed of the random source.
    seed: u64,
    /// What all radios share.
    medium: Medium,
    /// The station, the device under test, when `stations` is empty.
    #[serde(skip_serializing_if = "Option::is_none")]
    dut: Option<Station>,
    /// The access point, and the host behind it.
    ap: Station,
    /// The stations, when there are several kinds. Hosts are numbered from 1 in this order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    stations: Vec<Station>,
}

impl From<Keys> for Scenario {
    fn from(keys: Keys) -> Self {
        let Keys { seed, medium, dut, ap, stations } = keys;
        Self { seed, medium, dut: dut.unwrap_or_default(), ap, stations }
    }
}

impl From<Scenario> for Keys {
    fn from(scenario: Scenario) -> Self {
        let Scenario { seed, medium, dut, ap, stations } = scenario;
        Self { seed, medium, dut: stations.is_empty().then_some(dut), ap, stations }
    }
}

impl Scenario {
    /// The first value that is out of range, if any. `key`: that of the whole; empty when it is the top.
    ///
    /// # Errors
    /// That value, with what it may be.
    pub fn check(&self, key: &str) -> Result<(), ScenarioError> {
        let under = |name: &str| if key.is_empty() { name.to_owned() } else { format!("{key}.{name}") };
        self.medium.check(&under("medium"))?;
        self.ap.check(&under("ap"), &self.medium)?;
        let Station { name, count, ap_mcs, ap_short_gi, ap_rate_mbit_s, ap_snr_db, ap_mpdu_error_rate, .. } = &self.ap;
        for (name, is_set) in [
            ("name", !name.is_empty()),
            ("count", *count != 1),
            ("ap_mcs", ap_mcs.is_some()),
            ("ap_short_gi", ap_short_gi.is_some()),
            ("ap_rate_mbit_s", ap_rate_mbit_s.is_some()),
            ("ap_snr_db", ap_snr_db.is_some()),
            ("ap_mpdu_error_rate", ap_mpdu_error_rate.is_some()),
        ] {
            if is_set {
                return Err(ScenarioError::new(format!("{}.{name}", under("ap")), "is a key of stations only"));
            }
        }
        let one = [&self.dut];
        let groups: Vec<(String, &Station)> = if self.stations.is_empty() {
            one.into_iter().map(|station| (under("dut"), station)).collect()
        } else {
            let numbered = self.stations.iter().enumerate();
            numbered.map(|(index, station)| (under(&format!("stations[{index}]")), station)).collect()
        };
        let mut stations = 0;
        for (key, station) in groups {
            station.check(&key, &self.medium)?;
            if station.phy > self.ap.phy {
                let what = "it knows more than the access point does; the access point's phy must be the same or newer";
                return Err(ScenarioError::new(format!("{key}.phy"), what));
            }
            stations += usize::from(station.count);
            if stations > MAX_STATIONS {
                let what = format!("there are more than {MAX_STATIONS} stations");
                return Err(ScenarioError::new(format!("{key}.count"), what));
            }
        }
        Ok(())
    }

    /// Every station by itself, in the order of their hosts, with its name.
    pub(crate) fn each_station(&self) -> impl Iterator<Item = (String, &Station)> {
        let groups = if self.stations.is_empty() { std::slice::from_ref(&self.dut) } else { &self.stations };
        groups.iter().flat_map(|station| {
            let name = if station.name.is_empty() { "station" } else { &station.name };
            (1..=station.count).map(move |number| {
                let name = if station.count == 1 { name.to_owned() } else { format!("{name}-{number}") };
                (name, station)
            })
        })
    }

    /// Whether a radio knows only 802.11b.
    pub(crate) fn has_dsss_only(&self) -> bool {
        self.ap.phy == Phy::Dsss || self.each_station().any(|(_, station)| station.phy == Phy::Dsss)
    }

    /// Whether a radio is reached over USB.
    pub fn has_usb(&self) -> bool {
        self.ap.usb.is_some() || self.each_station().any(|(_, station)| station.usb.is_some())
    }

    /// The basic rates of the network, in units of 500 kbit/s: those of [`Medium`], or what stands for them.
    pub fn basic_rates(&self) -> Vec<u8> {
        match self.medium.basic_rates_mbit_s.as_slice() {
            [] if self.ap.phy == Phy::Dsss => vec![2, 4],
            [] if self.has_dsss_only() => vec![2, 4, 11, 22, 12, 24, 48],
            // 6, 12 and 24 Mbit/s: the basic rates of a network without DSSS stations.
            [] => vec![12, 24, 48],
            given => given.iter().filter_map(|&mbit_s| legacy_rate(mbit_s)).collect(),
        }
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

#[cfg(test)]
mod tests {
    use serde_json::{json, Value};

    use super::*;
    use crate::scenario::{Draft, Problem};

    /// The `[wlan]` of a scenario file.
    fn read(json: &str) -> Result<Scenario, Problem> {
        let wlan = serde_json::from_str::<Value>(json).expect("JSON");
        let draft = Draft::from_json("a test", &json!({ "wlan": wlan }), &mut |_| Err("no files".to_owned()))?;
        Ok(draft.check_link()?.wlan.expect("an 802.11 link"))
    }

    fn error(json: &str) -> String {
        let problem = read(json).expect_err(json);
        format!("{}: {}", problem.key.unwrap_or_default(), problem.what)
    }

    #[test]
    fn a_wrong_value_is_named_with_its_range() {
        assert_eq!(error(r#"{"dut": {"mcs": 32}}"#), "wlan.dut.mcs: 32 is not in the range from 0 to 31");
        let most = "wlan.ap.retry_limit: -1 is not a whole number from 0 to 255";
        assert_eq!(error(r#"{"ap": {"retry_limit": -1}}"#), most);
        assert!(error(r#"{"ap": {"mpdu_error_rate": 1.5}}"#).starts_with("wlan.ap.mpdu_error_rate: 1.5 is not in the"));
        let asked = "wlan.dut.qeue_packets: there is no such key here; did you mean queue_packets?";
        assert_eq!(error(r#"{"dut": {"qeue_packets": 5}}"#), asked);
        let known = "wlan.bus: there is no such key here; the keys are seed, medium, dut, ap, stations";
        assert_eq!(error(r#"{"bus": {}}"#), known);
        assert_eq!(error(r#"{"medium": {"width_mhz": 80}}"#), "wlan.medium.width_mhz: 80 is neither 20 nor 40");
        assert!(error(r#"{"medium": {"channel": 37}}"#).starts_with("wlan.medium.channel: 37 is not a 20 MHz channel"));
        assert!(error(r#"{"medium": {"channel": 14, "width_mhz": 40}}"#).contains("no second channel"));
        let table = "is not a table of keys and values";
        for (json, key) in [
            ("[1]", "wlan"),
            (r#"{"ap": [1]}"#, "wlan.ap"),
            (r#"{"dut": []}"#, "wlan.dut"),
            (r#"{"stations": [[]]}"#, "wlan.stations.0"),
            (r#"{"stations": [[15]]}"#, "wlan.stations.0"),
            (r#"{"dut": {"queueing": ["fifo"]}}"#, "wlan.dut.queueing"),
        ] {
            assert_eq!(error(json), format!("{key}: {table}"), "{json}");
        }
        assert_eq!(
            error(r#"{"stations": [{}, {"mcs": 40}]}"#),
            "wlan.stations.1.mcs: 40 is not in the range from 0 to 31"
        );
        assert!(error(r#"{"stations": [{"qeue": 1}]}"#).starts_with("wlan.stations.0.qeue: there is no such key"));
        assert!(error(r#"{"dut": {}, "stations": []}"#).starts_with("wlan.dut: is the only station"));
        assert_eq!(error(r#"{"ap": {"phy": "ofdm"}}"#).split(':').next(), Some("wlan.dut.phy"));
        assert_eq!(
            error(r#"{"dut": {"phy": "dsss"}}"#),
            "wlan.dut.phy: there is no dsss on channel 36: only on 1 to 14"
        );
        let rate = r#"{"dut": {"phy": "ofdm", "rate_mbit_s": 11}}"#;
        assert!(error(rate).starts_with("wlan.dut.rate_mbit_s: 11 is not 6, 9"));
        let width = "wlan.dut.width_mhz: 40 is not 20, the width of the medium";
        assert_eq!(error(r#"{"dut": {"width_mhz": 40}}"#), width);
        assert_eq!(error(r#"{"ap": {"count": 2}}"#), "wlan.ap.count: is a key of stations only");
        let many = r#"{"stations": [{"count": 900}, {"name": "more", "count": 900}]}"#;
        assert!(error(many).starts_with("wlan.stations.1.count: there are"));
        let edca = r#"{"ap": {"edca": {"video": {"cw_min": 8}}}}"#;
        assert!(error(edca).starts_with("wlan.ap.edca.video.cw_min: 8 is not"));
        assert!(error(r#"{"dut": {"per_packet_cost_us": "x"}}"#)
            .starts_with("wlan.dut.per_packet_cost_us: \"x\" is not a number"));
    }

    #[test]
    fn what_is_left_out_has_its_default() {
        let scenario = read(r#"{"dut": {"rts": true}}"#).expect("a scenario");
        let dut = Station { rts: true, ..Station::default() };
        assert_eq!(scenario, Scenario { dut, ..Scenario::default() });
        let json = serde_json::to_string(&scenario).expect("JSON");
        assert_eq!(read(&json), Ok(scenario));
    }

    #[test]
    fn stations_are_numbered_in_their_order() {
        let json = r#"{"stations": [{"name": "fast", "count": 2, "mcs": 15}, {"mcs": 0}]}"#;
        let scenario = read(json).expect("a scenario");
        let names: Vec<(String, u8)> = scenario.each_station().map(|(name, station)| (name, station.mcs)).collect();
        assert_eq!(names, [("fast-1".to_owned(), 15), ("fast-2".to_owned(), 15), ("station".to_owned(), 0)]);
        let json = serde_json::to_value(&scenario).expect("JSON");
        assert!(json.get("dut").is_none());
        assert_eq!(read(&json.to_string()), Ok(scenario));
    }

    #[test]
    fn frequencies() {
        for (channel, mhz) in [(1, 2412), (13, 2472), (14, 2484), (36, 5180), (165, 5825), (177, 5885)] {
            let scenario = Scenario { medium: Medium { channel, ..Medium::default() }, ..Scenario::default() };
            assert_eq!((scenario.check(""), scenario.frequency_mhz()), (Ok(()), mhz));
        }
        let not_a_number = Station { mpdu_error_rate: f64::NAN, ..Station::default() };
        assert!(Scenario { dut: not_a_number, ..Scenario::default() }.check("").is_err());
    }
}
