//! What a scenario file may say.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::flow::{element, Flow, FlowSettings, KindSettings};
use super::key::{Key, Part};
use super::words;
use crate::checked::ScenarioError;
use crate::modem::ModemSettings;
use crate::path::PathSettings;
use crate::pipe::PipeSettings;
use crate::sdio::SdioSettings;
use crate::simulation::SimulationSettings;
use crate::traffic::Traffic;
use crate::wlan;

/// Name of host 0.
const SERVER: &str = "server";
/// What mac80211 sets for the sockets of its own host (net/mac80211/main.c: `tx_sk_pacing_shift`, since Linux 4.20).
const MAC80211_PACING_SHIFT: u8 = 7;
/// Bytes of a title at most.
const MOST_TITLE: usize = 200;
/// Keys with values that are lists.
const LISTS: &[&str] = &["stations", "missing_ack_mcs", "basic_rates_mbit_s", "weights"];
/// Least delay there and back that is enough to hold TCP back where sending takes no time, ms.
const LEAST_ROUND_TRIP_MS: f64 = 0.1;
/// Flows at most.
const MOST_FLOWS: usize = 10_000;
/// Intervals of all flows' time series at most.
const MOST_INTERVALS: f64 = 2_000_000.0;

/// A scenario file: one link, the traffic over it, and how long to watch.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ScenarioFile {
    /// What it is, and everything but the traffic.
    #[serde(flatten)]
    pub head: Head,
    /// Who sends what to whom.
    pub traffic: Vec<FlowSettings>,
}

/// Everything in a scenario file but the traffic.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Head {
    /// One line.
    #[serde(default)]
    pub title: String,
    /// What it is about, in sentences.
    #[serde(default)]
    pub description: String,
    /// Where its figures were measured, when its parameters were fitted to measurements.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub calibrated_from: Option<String>,
    /// An 802.11 link. A scenario has exactly one link.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wlan: Option<wlan::Scenario>,
    /// A machine with an LTE USB modem.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub modem: Option<ModemSettings>,
    /// A small machine with an SDIO WLAN card.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sdio: Option<SdioSettings>,
    /// A link with a rate, a delay and a queue, and nothing else.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pipe: Option<PipeSettings>,
    /// The wire between the server and the access point (or modem network). Left out: the server is the access point itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<PathSettings>,
    /// How long, and with which seed.
    #[serde(default)]
    pub run: SimulationSettings,
}

/// The link of a scenario.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum LinkSettings<'a> {
    /// 802.11.
    Wlan(&'a wlan::Scenario),
    /// An LTE USB modem.
    Modem(&'a ModemSettings),
    /// An SDIO WLAN card.
    Sdio(&'a SdioSettings),
    /// A pipe.
    Pipe(&'a PipeSettings),
}

impl LinkSettings<'_> {
    /// The name of its table.
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::Wlan(_) => "wlan",
            Self::Modem(_) => "modem",
            Self::Sdio(_) => "sdio",
            Self::Pipe(_) => "pipe",
        }
    }
}

impl Head {
    /// As JSON, every default filled in.
    pub fn to_json(&self) -> Value {
        serde_json::to_value(self).unwrap_or(Value::Null)
    }

    /// The link.
    ///
    /// # Errors
    /// There is none, or more than one.
    pub fn link(&self) -> Result<LinkSettings<'_>, ScenarioError> {
        let Self { wlan, modem, sdio, pipe, .. } = self;
        let links = [
            wlan.as_ref().map(LinkSettings::Wlan),
            modem.as_ref().map(LinkSettings::Modem),
            sdio.as_ref().map(LinkSettings::Sdio),
            pipe.as_ref().map(LinkSettings::Pipe),
        ];
        let found: Vec<LinkSettings<'_>> = links.into_iter().flatten().collect();
        match found[..] {
            [link] => Ok(link),
            [] => Err(ScenarioError::new("scenario", format!("there is no link; write one of {}", tables()))),
            _ => Err(ScenarioError::new("scenario", format!("there is more than one link; write one of {}", tables()))),
        }
    }

    /// Names of the hosts, in the order of their [numbers](crate::engine::HostId).
    pub fn hosts(&self) -> Vec<String> {
        let near: Vec<String> = match self.link() {
            Ok(LinkSettings::Wlan(wlan)) if !wlan.stations.is_empty() => {
                wlan.each_station().map(|(name, _)| name).collect()
            }
            Ok(LinkSettings::Pipe(pipe)) if pipe.stations == 1 => vec!["dut".to_owned()],
            Ok(LinkSettings::Pipe(pipe)) => (1..=pipe.stations).map(|number| format!("station-{number}")).collect(),
            Ok(_) | Err(_) => vec!["dut".to_owned()],
        };
        std::iter::once(SERVER.to_owned()).chain(near).collect()
    }

    /// The first invalid value, if any.
    ///
    /// # Errors
    /// That value, with what it may be.
    pub fn check(&self) -> Result<(), ScenarioError> {
        let Self { title, calibrated_from, path, run, wlan, modem, sdio, pipe, .. } = self;
        for (key, text) in [("title", Some(title)), ("calibrated_from", calibrated_from.as_ref())] {
            if text.is_some_and(|text| text.len() > MOST_TITLE) {
                return Err(ScenarioError::new(key, format!("is longer than {MOST_TITLE} bytes")));
            }
        }
        match self.link()? {
            LinkSettings::Wlan(wlan) => wlan.check("wlan")?,
            LinkSettings::Modem(modem) => modem.check("modem")?,
            LinkSettings::Sdio(sdio) => sdio.check("sdio")?,
            LinkSettings::Pipe(pipe) => pipe.check("pipe")?,
        }
        let seeds = [
            ("wlan", wlan.as_ref().map(|wlan| wlan.seed)),
            ("modem", modem.as_ref().map(|modem| modem.seed)),
            ("sdio", sdio.as_ref().map(|sdio| sdio.seed)),
            ("pipe", pipe.as_ref().map(|pipe| pipe.seed)),
        ];
        if let Some((table, _)) = seeds.into_iter().find(|(_, seed)| seed.is_some_and(|seed| seed != 0)) {
            return Err(ScenarioError::new(format!("{table}.seed"), "is not used in scenario files: write run.seed"));
        }
        if let Some(path) = path {
            path.check("path")?;
        }
        run.check("run")?;
        self.check_hosts()
    }

    fn check_hosts(&self) -> Result<(), ScenarioError> {
        let mut seen = BTreeSet::new();
        for name in self.hosts() {
            if name.len() > 64 || name.ends_with('*') {
                let what = format!("\"{name}\" cannot be the name of a station: 64 bytes at most, no * at the end");
                return Err(ScenarioError::new("wlan.stations", what));
            }
            if let Some(name) = seen.replace(name) {
                return Err(ScenarioError::new("wlan.stations", format!("more than one host is called \"{name}\"")));
            }
        }
        Ok(())
    }
}

impl ScenarioFile {
    /// Keys at the top of a document.
    pub(super) const KEYS: &'static [&'static str] =
        &["title", "description", "calibrated_from", "base", "wlan", "modem", "sdio", "pipe", "path", "traffic", "run"];
    /// Those of them that are links.
    pub(super) const LINKS: &'static [&'static str] = &["wlan", "modem", "sdio", "pipe"];

    /// Reads the JSON form of a document; does not [check](Self::check) what was read.
    pub(super) fn read(mut document: Value) -> Result<Self, (Key, String)> {
        let tables = match document.as_object_mut().and_then(|table| table.remove("traffic")) {
            None => Vec::new(),
            Some(Value::Array(tables)) => tables,
            Some(_) => {
                let key = Key::parse("traffic").unwrap_or_default();
                return Err((key, "is not an array of tables: write [[traffic]]".to_owned()));
            }
        };
        if document.pointer("/wlan/dut").is_some() && document.pointer("/wlan/stations").is_some() {
            let key = Key::parse("wlan.dut").unwrap_or_default();
            return Err((key, "is the only station: there can be no [[wlan.stations]] beside it".to_owned()));
        }
        let head: Head = serde_path_to_error::deserialize(&document).map_err(|error| {
            let key = words::key_of(error.path());
            if let Some(list) = list_as_table(&key) {
                return (list, words::NOT_A_TABLE.to_owned());
            }
            let beside: &[&str] = if key.0.len() < 2 { &["traffic", "base"] } else { &[] };
            words::locate(key, &error.inner().to_string(), beside)
        })?;
        if let Some(list) = taken_as_table(&document, &head.to_json()) {
            return Err((list, words::NOT_A_TABLE.to_owned()));
        }
        let read = |(index, table): (usize, &Value)| {
            let mut flow = FlowSettings::read(table, &element("traffic", index))?;
            let has_own = table.get("pacing_shift").is_some();
            let is_on_wlan = head.wlan.is_some() && (head.path.is_none() || flow.head.from != SERVER);
            if let (KindSettings::Tcp(tcp), false, true) = (&mut flow.kind, has_own, is_on_wlan) {
                tcp.pacing_shift = MAC80211_PACING_SHIFT;
            }
            Ok(flow)
        };
        let traffic = tables.iter().enumerate().map(read).collect::<Result<_, (Key, String)>>()?;
        Ok(Self { head, traffic })
    }

    /// See [`Head::link`].
    ///
    /// # Errors
    /// There is none, or more than one.
    pub fn link(&self) -> Result<LinkSettings<'_>, ScenarioError> {
        self.head.link()
    }

    /// See [`Head::hosts`].
    pub fn hosts(&self) -> Vec<String> {
        self.head.hosts()
    }

    /// The first invalid value, if any.
    ///
    /// # Errors
    /// That value, with what it may be.
    pub fn check(&self) -> Result<(), ScenarioError> {
        self.head.check()?;
        self.flows().map(drop)
    }

    /// The flows that the traffic tables stand for.
    ///
    /// # Errors
    /// The first invalid value of a table.
    pub fn flows(&self) -> Result<Vec<Flow>, ScenarioError> {
        let run = &self.head.run;
        if self.traffic.is_empty() {
            return Err(ScenarioError::new("traffic", "there is none: at least one [[traffic]] table is needed"));
        }
        let hosts = self.hosts();
        let end_s = run.warm_up_s + run.duration_s;
        let mut found = Vec::new();
        for (index, table) in self.traffic.iter().enumerate() {
            found.extend(table.flows(&element("traffic", index).to_string(), &hosts, end_s)?);
            self.check_pace(&found)?;
            if found.len() > MOST_FLOWS {
                return Err(ScenarioError::new("traffic", format!("there are more than {MOST_FLOWS} flows")));
            }
        }
        if found.len() as f64 * end_s / run.interval_s > MOST_INTERVALS {
            let what = format!("{} s makes more than {MOST_INTERVALS} intervals of all flows", run.interval_s);
            return Err(ScenarioError::new("run.interval_s", what));
        }
        let mut names = BTreeSet::new();
        for flow in &mut found {
            // Flows are distinguished by their names.
            let name = flow.settings.label();
            let mut candidate = name.clone();
            let mut number = 1;
            while !names.insert(candidate.clone()) {
                number += 1;
                candidate = format!("{name} ({number})");
            }
            flow.settings.name = Some(candidate);
        }
        Ok(found)
    }

    /// Refuses senders that would send forever in no time: over a pipe without a rate, when nothing else holds them back.
    fn check_pace(&self, flows: &[Flow]) -> Result<(), ScenarioError> {
        let Ok(LinkSettings::Pipe(pipe)) = self.link() else { return Ok(()) };
        let has_path = self.head.path.is_some();
        let endless = |flow: &Flow| {
            let is_server = flow.settings.from == 0;
            match flow.settings.traffic {
                Traffic::Udp(udp) => {
                    udp.rate_mbit_s.is_none() && pipe.sends_at_once(is_server) && !(is_server && has_path)
                }
                Traffic::Tcp(tcp) => {
                    let at_once = pipe.sends_at_once(true) && pipe.sends_at_once(false);
                    tcp.bytes.is_none() && at_once && !has_path && pipe.round_trip_ms() < LEAST_ROUND_TRIP_MS
                }
                Traffic::Echo(_) => false,
            }
        };
        if flows.iter().any(endless) {
            let what = "must be given: traffic without a limit of its own would never end in no time";
            return Err(ScenarioError::new("pipe.rate_mbit_s", what));
        }
        Ok(())
    }

    /// As JSON, every default filled in.
    pub fn to_json(&self) -> Value {
        serde_json::to_value(self).unwrap_or(Value::Null)
    }
}

/// The list that `key` is an element of, when there must be a table in its place: serde takes the elements of a list for the
/// values of a table's keys in their order.
fn list_as_table(key: &Key) -> Option<Key> {
    let is_list = |name: &Part| matches!(name, Part::Name(name) if LISTS.contains(&name.as_str()));
    let found = key.0.windows(2).position(|pair| matches!(pair[1], Part::Index(_)) && !is_list(&pair[0]))?;
    Some(Key(key.0[..=found].to_vec()))
}

/// The first list in `given` that was `taken` for a table.
fn taken_as_table(given: &Value, taken: &Value) -> Option<Key> {
    let below = |part: Part, given: &Value, taken: &Value| {
        let inner = taken_as_table(given, taken)?;
        Some(Key(vec![part]).join(&inner))
    };
    match (given, taken) {
        (Value::Array(_), Value::Object(_)) => Some(Key::default()),
        (Value::Array(given), Value::Array(taken)) => {
            let mut pairs = given.iter().zip(taken).enumerate();
            pairs.find_map(|(index, (given, taken))| below(Part::Index(index), given, taken))
        }
        (Value::Object(given), Value::Object(taken)) => {
            given.iter().find_map(|(name, given)| below(Part::Name(name.clone()), given, taken.get(name)?))
        }
        _ => None,
    }
}

fn tables() -> String {
    let names: Vec<String> = ScenarioFile::LINKS.iter().map(|name| format!("[{name}]")).collect();
    names.join(", ")
}
