//! `[[traffic]]`: who sends what to whom. Hosts are named here; flows of the simulation have their numbers.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::key::{Key, Part};
use super::words::{self, nearest};
use crate::checked::{in_range, ScenarioError};
use crate::engine::{AccessCategory, HostId};
use crate::traffic::{self, CategoryName, EchoSettings, TcpSettings, Traffic, UdpSettings};

/// What kind of traffic a table is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum FlowKind {
    /// Bulk data over TCP.
    Tcp,
    /// Datagrams, at a rate or as many as can be.
    Udp,
    /// Echo requests, as of ping(8).
    Ping,
}

/// What every `[[traffic]]` table may have.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct FlowHead {
    /// `tcp`, `udp` or `ping`.
    pub kind: FlowKind,
    /// Host that sends: `server`, the name of a station, or a name that ends with `*` for all stations that begin so (each
    /// then has a flow of its own).
    pub from: String,
    /// Host that receives, likewise.
    pub to: String,
    /// How it is called in results; its kind and its hosts by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// When it begins, s after the beginning of the warm-up: 0 and up.
    #[serde(default)]
    pub start_s: f64,
    /// When it stops, s after the beginning of the warm-up; the end of the run by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stop_s: Option<f64>,
    /// Access category: `background`, `best_effort`, `video` or `voice`.
    #[serde(default, with = "CategoryName")]
    pub category: AccessCategory,
    /// How many flows of this kind there are.
    #[serde(default = "one")]
    pub count: u16,
}

const fn one() -> u16 {
    1
}

/// Flows from one `[[traffic]]` table at most.
const MOST_COUNT: u16 = 1_000;

/// One `[[traffic]]` table.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FlowSettings {
    /// What is common to all kinds.
    #[serde(flatten)]
    pub head: FlowHead,
    /// What its kind has besides. Its `kind` is that of the head.
    #[serde(flatten)]
    pub kind: KindSettings,
}

/// The settings of a kind of traffic.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(untagged)]
pub enum KindSettings {
    /// `tcp`.
    Tcp(TcpSettings),
    /// `udp`.
    Udp(UdpSettings),
    /// `ping`.
    Ping(EchoSettings),
}

/// What is wrong with a value, and its key.
type Wrong = (Key, String);

/// A flow of the simulation.
#[derive(Clone, Debug, PartialEq)]
pub struct Flow {
    /// As the simulation takes it.
    pub settings: traffic::FlowSettings,
    /// What kind of traffic.
    pub kind: FlowKind,
}

const HEAD: [&str; 8] = ["kind", "from", "to", "name", "start_s", "stop_s", "category", "count"];

impl FlowSettings {
    /// Reads the table `key`.
    pub(super) fn read(value: &Value, key: &Key) -> Result<Self, Wrong> {
        let Value::Object(table) = value else {
            return Err((key.clone(), "is not a table of keys and values".to_owned()));
        };
        let (head, rest): (Map<_, _>, Map<_, _>) =
            table.clone().into_iter().partition(|(name, _)| HEAD.contains(&name.as_str()));
        let head: FlowHead = typed(&Value::Object(head), key, &[])?;
        let rest = Value::Object(rest);
        let kind = match head.kind {
            FlowKind::Tcp => KindSettings::Tcp(typed(&rest, key, &HEAD)?),
            FlowKind::Udp => KindSettings::Udp(typed(&rest, key, &HEAD)?),
            FlowKind::Ping => KindSettings::Ping(typed(&rest, key, &HEAD)?),
        };
        Ok(Self { head, kind })
    }

    /// The flows that the table stands for. `table` is its dotted key, `hosts` are the names there are, `end_s` is when the
    /// run ends.
    pub(super) fn flows(&self, table: &str, hosts: &[String], end_s: f64) -> Result<Vec<Flow>, ScenarioError> {
        let head = &self.head;
        in_range(table, "start_s", head.start_s, 0.0..=end_s, " s")?;
        if let Some(stop_s) = head.stop_s {
            in_range(table, "stop_s", stop_s, head.start_s..=1e6, " s")?;
        }
        in_range(table, "count", head.count, 1..=MOST_COUNT, " flows")?;
        let (senders, receivers) = (named(&head.from, table, "from", hosts)?, named(&head.to, table, "to", hosts)?);
        let mut found = Vec::new();
        for &from in &senders {
            for &to in &receivers {
                self.between(from, to, senders.len() * receivers.len() > 1, hosts, &mut found);
            }
        }
        let Some(first) = found.first() else {
            return Err(ScenarioError::new(
                format!("{table}.to"),
                "is the host that sends; a flow goes from one host to another",
            ));
        };
        if found.iter().any(|flow| flow.settings.from != 0 && flow.settings.to != 0) {
            let what = format!("one end must be {}: hosts at the near ends do not talk to each other", hosts[0]);
            return Err(ScenarioError::new(format!("{table}.to"), what));
        }
        first.settings.check(table, hosts.len())?;
        Ok(found)
    }

    fn between(&self, from: HostId, to: HostId, several: bool, hosts: &[String], found: &mut Vec<Flow>) {
        if from == to {
            return;
        }
        let head = &self.head;
        let (sender, receiver) = (&hosts[from.index()], &hosts[to.index()]);
        for number in 1..=head.count {
            let mut name = match &head.name {
                Some(name) if several => {
                    format!("{name} {}", if from == HostId::SERVER { receiver } else { sender })
                }
                Some(name) => name.clone(),
                None => {
                    let kind = match head.kind {
                        FlowKind::Tcp => "tcp",
                        FlowKind::Udp => "udp",
                        FlowKind::Ping => "ping",
                    };
                    format!("{kind} {sender} to {receiver}")
                }
            };
            if head.count > 1 {
                name = format!("{name} {number}");
            }
            let traffic = match self.kind {
                KindSettings::Tcp(tcp) => Traffic::Tcp(tcp),
                KindSettings::Udp(udp) => Traffic::Udp(udp),
                KindSettings::Ping(echo) => Traffic::Echo(echo),
            };
            let settings = traffic::FlowSettings {
                name: Some(name),
                from: from.0,
                to: to.0,
                start_s: head.start_s,
                stop_s: head.stop_s,
                category: head.category,
                traffic,
            };
            found.push(Flow { settings, kind: head.kind });
        }
    }
}

/// Reads settings of one type; `beside` are other keys of the same table, for "did you mean".
fn typed<T: serde::de::DeserializeOwned>(value: &Value, key: &Key, beside: &[&str]) -> Result<T, Wrong> {
    serde_path_to_error::deserialize(value).map_err(|error| {
        let inner = words::key_of(error.path());
        words::locate(key.join(&inner), &error.inner().to_string(), beside)
    })
}

/// The hosts that a name stands for.
fn named(name: &str, table: &str, key: &str, hosts: &[String]) -> Result<Vec<HostId>, ScenarioError> {
    let number = |index: usize| HostId(u16::try_from(index).unwrap_or(u16::MAX));
    if let Some(beginning) = name.strip_suffix('*') {
        let found: Vec<HostId> =
            (1..hosts.len()).filter(|&index| hosts[index].starts_with(beginning)).map(number).collect();
        if found.is_empty() {
            let what = format!("no station's name begins with \"{beginning}\"");
            return Err(ScenarioError::new(format!("{table}.{key}"), what));
        }
        return Ok(found);
    }
    let index = hosts.iter().position(|host| host == name).ok_or_else(|| {
        let near = nearest(name, hosts.iter().map(String::as_str));
        let hint =
            near.map_or_else(|| format!("the hosts are {}", list(hosts)), |near| format!("did you mean {near}?"));
        ScenarioError::new(format!("{table}.{key}"), format!("there is no host \"{name}\"; {hint}"))
    })?;
    Ok(vec![number(index)])
}

fn list(names: &[String]) -> String {
    let mut shown = names.iter().take(12).cloned().collect::<Vec<_>>().join(", ");
    if names.len() > 12 {
        shown.push_str(", ...");
    }
    shown
}

/// The part of a key for the element of an array.
pub(super) fn element(array: &str, index: usize) -> Key {
    Key(vec![Part::Name(array.to_owned()), Part::Index(index)])
}
