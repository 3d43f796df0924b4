//! The settings of a flow.

use serde::{Deserialize, Serialize};

use super::tcp::TcpSettings;
use crate::checked::{in_range, ScenarioError};
use crate::engine::AccessCategory;

/// A flow from one host to another.
///
/// As one table, with the settings of its kind beside the common ones:
/// `{ kind = "tcp", from = 0, to = 1, congestion = "bbr" }`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FlowSettings {
    /// What it is called in results; left out: made from its kind and hosts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Host that sends; 0 is the server.
    pub from: u16,
    /// Host that receives (and answers).
    pub to: u16,
    /// When it begins, s from the start of the simulation.
    #[serde(default)]
    pub start_s: f64,
    /// When it stops sending, s; left out: at the end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stop_s: Option<f64>,
    /// Access category: `background`, `best_effort`, `video` or `voice`.
    #[serde(default, with = "CategoryName")]
    pub category: AccessCategory,
    /// What it sends. An unknown key of the table is refused here.
    #[serde(flatten)]
    pub traffic: Traffic,
}

/// The names of the access categories.
#[derive(Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(remote = "AccessCategory", rename_all = "snake_case")]
pub(crate) enum CategoryName {
    Background,
    BestEffort,
    Video,
    Voice,
}

/// What a flow sends.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Traffic {
    /// Bulk data.
    Tcp(TcpSettings),
    /// Datagrams, at a rate or as many as can be.
    Udp(UdpSettings),
    /// Echo requests, as of ping(8); the other host answers.
    Echo(EchoSettings),
}

/// A UDP stream.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct UdpSettings {
    /// Bytes of payload in a datagram. 1472 fills 1500 bytes; 172 every 20 ms (68.8 kbit/s) is a G.711 call.
    pub payload_bytes: u16,
    /// Mbit/s of payload; left out: as many as the socket takes.
    pub rate_mbit_s: Option<f64>,
    /// Datagrams below the socket at most: the sender waits for room. 92 of 1500 bytes fit Linux' default send buffer
    /// (`net.core.wmem_default`, 212992; each counts 2304).
    pub socket_packets: u32,
    /// It sends for so long, s ...
    pub on_s: Option<f64>,
    /// ... and then pauses for so long, s.
    pub off_s: f64,
}

impl Default for UdpSettings {
    fn default() -> Self {
        Self { payload_bytes: 1472, rate_mbit_s: None, socket_packets: 92, on_s: None, off_s: 0.0 }
    }
}

/// Echo requests.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct EchoSettings {
    /// From one request to the next, ms.
    pub interval_ms: f64,
    /// Bytes of payload. ping(8) has 56.
    pub payload_bytes: u16,
}

impl Default for EchoSettings {
    fn default() -> Self {
        Self { interval_ms: 100.0, payload_bytes: 56 }
    }
}

impl FlowSettings {
    /// A flow over the whole time, best effort.
    pub fn new(from: u16, to: u16, traffic: Traffic) -> Self {
        let category = AccessCategory::BestEffort;
        Self { name: None, from, to, start_s: 0.0, stop_s: None, category, traffic }
    }

    /// Its name in results.
    pub fn label(&self) -> String {
        let kind = match self.traffic {
            Traffic::Tcp(_) => "tcp",
            Traffic::Udp(_) => "udp",
            Traffic::Echo(_) => "echo",
        };
        self.name.clone().unwrap_or_else(|| format!("{kind} {}>{}", self.from, self.to))
    }

    /// Checks it for a link with this many hosts.
    ///
    /// # Errors
    /// Names the key (`key.name`) of a setting that is out of its range.
    pub fn check(&self, key: &str, hosts: usize) -> Result<(), ScenarioError> {
        let last = u16::try_from(hosts.saturating_sub(1)).unwrap_or(u16::MAX);
        in_range(key, "from", self.from, 0..=last, "")?;
        in_range(key, "to", self.to, 0..=last, "")?;
        if self.from == self.to {
            let what = format!("{} is the host that it comes from; it must be another", self.to);
            return Err(ScenarioError::new(format!("{key}.to"), what));
        }
        in_range(key, "start_s", self.start_s, 0.0..=1e6, " s")?;
        if let Some(stop_s) = self.stop_s {
            in_range(key, "stop_s", stop_s, self.start_s..=1e6, " s")?;
        }
        match &self.traffic {
            Traffic::Tcp(tcp) => tcp.check(key),
            Traffic::Udp(udp) => udp.check(key),
            Traffic::Echo(echo) => {
                in_range(key, "interval_ms", echo.interval_ms, 0.01..=1e6, " ms")?;
                in_range(key, "payload_bytes", echo.payload_bytes, 0..=8972, " bytes")
            }
        }
    }
}

impl UdpSettings {
    fn check(&self, key: &str) -> Result<(), ScenarioError> {
        in_range(key, "payload_bytes", self.payload_bytes, 1..=8972, " bytes")?;
        if let Some(rate) = self.rate_mbit_s {
            in_range(key, "rate_mbit_s", rate, 0.000_1..=100_000.0, " Mbit/s")?;
        }
        in_range(key, "socket_packets", self.socket_packets, 1..=100_000, "")?;
        if let Some(on_s) = self.on_s {
            in_range(key, "on_s", on_s, 0.000_1..=1e6, " s")?;
        }
        in_range(key, "off_s", self.off_s, 0.0..=1e6, " s")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::traffic::Congestion;

    fn parse(json: &str) -> Result<FlowSettings, String> {
        serde_json::from_str(json).map_err(|error| error.to_string())
    }

    #[test]
    fn one_table_for_a_flow() {
        let flow = parse(
            r#"{"kind": "tcp", "from": 0, "to": 2, "category": "voice", "stop_s": 5.5, "congestion": "bbr", "ecn": true}"#,
        );
        let tcp = TcpSettings { congestion: Congestion::Bbr, ecn: true, ..TcpSettings::default() };
        let mut want = FlowSettings::new(0, 2, Traffic::Tcp(tcp));
        (want.category, want.stop_s) = (AccessCategory::Voice, Some(5.5));
        assert_eq!(flow.as_ref(), Ok(&want));
        assert_eq!(want.label(), "tcp 0>2");
        // And back.
        let again = parse(&serde_json::to_string(&want).unwrap());
        assert_eq!(again, Ok(want));
        for kind in ["tcp", "udp", "echo"] {
            let flow = parse(&format!(r#"{{"kind": "{kind}", "from": 1, "to": 0}}"#)).unwrap();
            assert!(flow.check("flows[0]", 2).is_ok());
        }
    }

    #[test]
    fn what_is_unknown_is_refused() {
        for (json, names) in [
            (r#"{"kind": "tcp", "from": 0, "to": 1, "congestoin": "bbr"}"#, "congestoin"),
            (r#"{"kind": "udp", "from": 0, "to": 1, "mss": 1000}"#, "mss"),
            (r#"{"kind": "tpc", "from": 0, "to": 1}"#, "tpc"),
            (r#"{"kind": "tcp", "from": 0, "to": 1, "congestion": "vegas"}"#, "vegas"),
            (r#"{"kind": "tcp", "to": 1}"#, "from"),
            (r#"{"from": 0, "to": 1}"#, "kind"),
        ] {
            let error = parse(json).unwrap_err();
            assert!(error.contains(names), "{error}");
        }
    }

    #[test]
    fn what_cannot_be_is_refused_by_name() {
        let refused = |json: &str| parse(json).unwrap().check("flows[3]", 3).unwrap_err().key;
        assert_eq!(refused(r#"{"kind": "udp", "from": 0, "to": 3}"#), "flows[3].to");
        assert_eq!(refused(r#"{"kind": "udp", "from": 1, "to": 1}"#), "flows[3].to");
        assert_eq!(refused(r#"{"kind": "udp", "from": 0, "to": 1, "start_s": -1}"#), "flows[3].start_s");
        assert_eq!(refused(r#"{"kind": "udp", "from": 0, "to": 1, "start_s": 2, "stop_s": 1}"#), "flows[3].stop_s");
        assert_eq!(refused(r#"{"kind": "udp", "from": 0, "to": 1, "rate_mbit_s": 0}"#), "flows[3].rate_mbit_s");
        assert_eq!(refused(r#"{"kind": "tcp", "from": 0, "to": 1, "mss": 0}"#), "flows[3].mss");
        assert_eq!(refused(r#"{"kind": "tcp", "from": 0, "to": 1, "window_bytes": 1}"#), "flows[3].window_bytes");
        assert_eq!(refused(r#"{"kind": "echo", "from": 0, "to": 1, "interval_ms": 0}"#), "flows[3].interval_ms");
    }
}
