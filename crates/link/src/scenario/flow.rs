//! `[[traffic]]`: who sends what to whom.

use serde::{Deserialize, Serialize};

use super::words::nearest;
use crate::checked::{in_range, ScenarioError};
use crate::engine::AccessCategory;

/// What kind of traffic.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FlowKind {
    /// A bulk transfer over TCP.
    Tcp,
    /// Datagrams at a constant rate.
    Udp,
    /// Echo requests and their answers.
    Ping,
}

/// Congestion control of TCP.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CongestionControl {
    /// RFC 9438.
    #[default]
    Cubic,
    /// RFC 5681 and RFC 6582.
    Reno,
    /// BBR, version 1.
    Bbr,
}

/// EDCA access category, by name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Category {
    /// AC_BK.
    Background,
    /// AC_BE.
    #[default]
    BestEffort,
    /// AC_VI.
    Video,
    /// AC_VO.
    Voice,
}

impl From<Category> for AccessCategory {
    fn from(category: Category) -> Self {
        match category {
            Category::Background => Self::Background,
            Category::BestEffort => Self::BestEffort,
            Category::Video => Self::Video,
            Category::Voice => Self::Voice,
        }
    }
}

/// One `[[traffic]]` table.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FlowSettings {
    /// `tcp`, `udp` or `ping`.
    pub kind: FlowKind,
    /// Host that sends: `server`, or the name of a station.
    pub from: String,
    /// Host that receives.
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
    #[serde(default)]
    pub category: Category,
    /// `udp`: rate of the IP packets, Mbit/s: 0.001 to 100000. Needed there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate_mbit_s: Option<f64>,
    /// Length of the IP packets, bytes: 64 to 1500; 1500 by default, 84 for `ping`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub packet_bytes: Option<u32>,
    /// `ping`: time between two requests, ms: 0.1 to 60000; 10 by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interval_ms: Option<f64>,
    /// `tcp`: `cubic` (the default), `reno` or `bbr`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub congestion: Option<CongestionControl>,
}

impl FlowSettings {
    /// Checks the table; `table` is its dotted key, `hosts` are the names there are, `end_s` is when the run ends.
    pub(super) fn check(&self, table: &str, hosts: &[String], end_s: f64) -> Result<(), ScenarioError> {
        let refuse = |name: &str, what: String| Err(ScenarioError::new(format!("{table}.{name}"), what));
        for (key, host) in [("from", &self.from), ("to", &self.to)] {
            if !hosts.contains(host) {
                let near = nearest(host, hosts.iter().map(String::as_str));
                let hint =
                    near.map_or_else(|| format!("; the hosts are {}", list(hosts)), |n| format!("; did you mean {n}?"));
                return refuse(key, format!("there is no host \"{host}\"{hint}"));
            }
        }
        if self.from == self.to {
            return refuse("to", "is the host that sends; a flow goes from one host to another".to_owned());
        }
        if self.from != hosts[0] && self.to != hosts[0] {
            return refuse(
                "to",
                format!("one end must be {}: hosts at the near ends do not talk to each other", hosts[0]),
            );
        }
        in_range(table, "start_s", self.start_s, 0.0..=end_s, " s")?;
        if let Some(stop_s) = self.stop_s {
            in_range(table, "stop_s", stop_s, self.start_s..=f64::MAX, " s")?;
        }
        match (self.kind, self.rate_mbit_s) {
            (FlowKind::Udp, None) => return refuse("rate_mbit_s", "is missing: datagrams need a rate".to_owned()),
            (FlowKind::Udp, Some(rate)) => in_range(table, "rate_mbit_s", rate, 0.001..=100_000.0, " Mbit/s")?,
            (_, Some(_)) => return refuse("rate_mbit_s", "only a flow of the kind udp has a rate".to_owned()),
            (_, None) => {}
        }
        if let Some(bytes) = self.packet_bytes {
            in_range(table, "packet_bytes", bytes, 64..=1_500, " bytes")?;
        }
        match (self.kind, self.interval_ms) {
            (FlowKind::Ping, Some(ms)) => in_range(table, "interval_ms", ms, 0.1..=60_000.0, " ms")?,
            (_, Some(_)) => return refuse("interval_ms", "only a flow of the kind ping has an interval".to_owned()),
            (_, None) => {}
        }
        if self.congestion.is_some() && self.kind != FlowKind::Tcp {
            return refuse("congestion", "only a flow of the kind tcp has congestion control".to_owned());
        }
        Ok(())
    }
}

fn list(names: &[String]) -> String {
    let mut shown = names.iter().take(12).cloned().collect::<Vec<_>>().join(", ");
    if names.len() > 12 {
        shown.push_str(", ...");
    }
    shown
}
