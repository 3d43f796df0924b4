//! The settings of the queues, with the values that Linux has when nothing is set.

use serde::{Deserialize, Serialize};

use crate::checked::{in_range, ScenarioError};
use crate::queue::codel::{CodelParameters, ControlLaw};

/// Which queues a transmitter has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum QueueKind {
    /// A drop-tail queue above the driver's own queue.
    Fifo,
    /// The `fq_codel` queueing discipline above the driver's own queue.
    FqCodel,
    /// mac80211's queues with FQ-CoDel for each station; the stations take turns, one aggregate each.
    #[default]
    FqMac,
    /// The same, but the stations take turns by the airtime they use.
    Airtime,
}

/// By which rule stations take turns by airtime.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum AirtimeDiscipline {
    /// Linux since 5.1, again since 6.0 (`net/mac80211/tx.c`).
    #[default]
    Mac80211,
    /// ath9k from 4.11 to 5.0, which first had it (commit 63fefa050477).
    Ath9k,
}

/// The queues of a transmitter. Every key may be left out.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct Queueing {
    /// Which there are. Tables of other kinds do nothing.
    pub kind: QueueKind,
    /// Settings of `fifo`.
    pub fifo: FifoSettings,
    /// Settings of `fq_codel`.
    pub fq_codel: FqCodelSettings,
    /// The driver's own queue, below `fifo` and `fq_codel`.
    pub mac_queue: MacQueueSettings,
    /// Settings of `fq_mac` and `airtime`.
    pub fq_mac: FqMacSettings,
    /// Settings of `airtime`.
    pub airtime: AirtimeSettings,
    /// Airtime limits of `fq_mac` and `airtime`.
    pub aql: AqlSettings,
    /// A FIFO of single frames in the device, below `fq_mac` and `airtime`, where `hardware_ppdus` is 0; left out: the hardware
    /// takes whole PPDUs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub device: Option<DeviceQueueSettings>,
}

/// A drop-tail queue.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct FifoSettings {
    /// Packets that wait in each access category at most.
    pub packets: u32,
}

impl Default for FifoSettings {
    /// `DEFAULT_TX_QUEUE_LEN` (`include/net/pkt_sched.h`).
    fn default() -> Self {
        Self { packets: 1000 }
    }
}

/// The `fq_codel` queueing discipline; each access category has one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct FqCodelSettings {
    /// Packets that wait at most.
    pub packets: u32,
    /// Queues that flows are hashed to.
    pub flows: u32,
    /// Bytes of one turn.
    pub quantum_bytes: u32,
    /// CoDel's target, ms.
    pub target_ms: f64,
    /// CoDel's interval, ms.
    pub interval_ms: f64,
    /// Memory of all packets, bytes.
    pub memory_bytes: u64,
    /// Packets dropped at once at most when there are too many.
    pub drop_batch: u32,
    /// Packets that can be are marked and not dropped.
    pub ecn: bool,
    /// CoDel drops nothing while no more than this waits in all queues, bytes.
    pub spared_bytes: u32,
    /// How CoDel computes times and square roots.
    pub law: ControlLaw,
}

impl Default for FqCodelSettings {
    /// `fq_codel_init` (`net/sched/sch_fq_codel.c`) on a device with an MTU of 1500 bytes.
    fn default() -> Self {
        Self {
            packets: 10_240,
            flows: 1024,
            quantum_bytes: 1514,
            target_ms: 5.0,
            interval_ms: 100.0,
            memory_bytes: 32 << 20,
            drop_batch: 64,
            ecn: true,
            spared_bytes: 1514,
            law: ControlLaw::Rfc8289,
        }
    }
}

/// The driver's own queue below a queueing discipline; each access category has one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct MacQueueSettings {
    /// Packets at most.
    pub packets: u32,
    /// Those that were handed to the hardware and are not acknowledged yet count too.
    pub counts_in_flight: bool,
}

impl Default for MacQueueSettings {
    /// ath9k before it took its packets from mac80211's queues: `ATH_MAX_QDEPTH`, 512/4 - 5 buffers, counted from when a
    /// packet comes to when it is done with.
    fn default() -> Self {
        Self { packets: 123, counts_in_flight: true }
    }
}

/// mac80211's queues: one pool of flow queues for all stations.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct FqMacSettings {
    /// Packets that wait for all stations together at most.
    pub packets: u32,
    /// Queues that flows are hashed to, for all stations together.
    pub flows: u32,
    /// Bytes of one turn of a flow.
    pub quantum_bytes: u32,
    /// Memory of all packets, bytes: 4 MiB, or 16 MiB for devices with VHT.
    pub memory_bytes: u64,
    /// CoDel's target, ms.
    pub target_ms: f64,
    /// CoDel's interval, ms.
    pub interval_ms: f64,
    /// Packets that can be are marked and not dropped.
    pub ecn: bool,
    /// A station is slow when rate control expects less than this for each station of the transmitter, kbit/s. 0: none is
    /// (Linux since 6.16, and since 6.15.4 and 6.12.35); 6000 in those before.
    pub slow_station_kbit_s: u32,
    /// CoDel's target for slow stations, ms.
    pub slow_target_ms: f64,
    /// CoDel's interval for slow stations, ms. ECN is off for them.
    pub slow_interval_ms: f64,
    /// How CoDel computes times and square roots.
    pub law: ControlLaw,
}

impl Default for FqMacSettings {
    /// `include/net/fq_impl.h` and `net/mac80211/tx.c`, for a device without VHT.
    fn default() -> Self {
        Self {
            packets: 8192,
            flows: 4096,
            quantum_bytes: 300,
            memory_bytes: 4 << 20,
            target_ms: 20.0,
            interval_ms: 100.0,
            ecn: true,
            slow_station_kbit_s: 0,
            slow_target_ms: 50.0,
            slow_interval_ms: 300.0,
            law: ControlLaw::Rfc8289,
        }
    }
}

/// Turns by airtime.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct AirtimeSettings {
    /// By which rule.
    pub discipline: AirtimeDiscipline,
    /// `mac80211`: airtime of one turn of a station, µs. Stations get airtime in proportion to it.
    pub weight: u32,
    /// `mac80211`: weights of single stations, in their order; the rest has `weight`.
    pub weights: Vec<u32>,
    /// `ath9k`: airtime of one turn of a station, µs.
    pub quantum_us: u32,
    /// `ath9k`: stations that have just become busy come first.
    pub sparse_stations: bool,
    /// Airtime that a station uses to send to us counts.
    pub charge_received: bool,
}

impl Default for AirtimeSettings {
    /// `IEEE80211_DEFAULT_AIRTIME_WEIGHT` (`net/mac80211/ieee80211_i.h`) and `ATH_AIRTIME_QUANTUM` (ath9k, Linux 4.10).
    fn default() -> Self {
        Self {
            discipline: AirtimeDiscipline::Mac80211,
            weight: 256,
            weights: Vec::new(),
            quantum_us: 300,
            sparse_stations: true,
            charge_received: true,
        }
    }
}

/// Airtime queue limits: how much may wait in the hardware.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct AqlSettings {
    /// They are kept. ath9k does without, ath10k and mt76 ask for them.
    pub on: bool,
    /// What every station may have waiting in an access category, µs.
    pub low_us: u32,
    /// What a station may have while less than `device_us` wait in all, µs.
    pub high_us: u32,
    /// Where the device counts as busy, µs.
    pub device_us: u32,
}

impl Default for AqlSettings {
    /// `IEEE80211_DEFAULT_AQL_TXQ_LIMIT_L`, `_H` and `IEEE80211_AQL_THRESHOLD` (`include/net/cfg80211.h`).
    fn default() -> Self {
        Self { on: false, low_us: 5_000, high_us: 12_000, device_us: 24_000 }
    }
}

/// A device that takes frames one by one and aggregates them itself; each access category has its own. What it has taken is
/// outside the airtime limits. It needs `hardware_ppdus = 0`: a PPDU is made of what it has when it goes on the air.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct DeviceQueueSettings {
    /// Frames that it holds, those on the air and those to be sent again among them.
    pub frames: u32,
    /// Transfers to it that may wait at most, a frame each.
    pub transfers: u32,
}

impl Default for DeviceQueueSettings {
    /// The virtual MT7610U (docs/virtual-chips.md, an assumption), and `MT_NUM_TX_ENTRIES` (Linux mt76.h).
    fn default() -> Self {
        Self { frames: 32, transfers: 256 }
    }
}

const LARGEST_QUEUE: u32 = 1_000_000;

fn ns(ms: f64) -> u64 {
    (ms * 1e6).round() as u64
}

fn check_codel(table: &str, prefix: &str, target_ms: f64, interval_ms: f64) -> Result<(), ScenarioError> {
    in_range(table, &format!("{prefix}target_ms"), target_ms, 0.001..=10_000.0, " ms")?;
    in_range(table, &format!("{prefix}interval_ms"), interval_ms, 0.001..=10_000.0, " ms")
}

impl Queueing {
    /// The first value that is out of range, if any; `key` is where these settings stand.
    ///
    /// # Errors
    /// That value, with what it may be.
    pub fn check(&self, key: &str) -> Result<(), ScenarioError> {
        let table = |name: &str| format!("{key}.{name}");
        in_range(&table("fifo"), "packets", self.fifo.packets, 1..=LARGEST_QUEUE, " packets")?;
        self.fq_codel.check(&table("fq_codel"))?;
        in_range(&table("mac_queue"), "packets", self.mac_queue.packets, 1..=LARGEST_QUEUE, " packets")?;
        self.fq_mac.check(&table("fq_mac"))?;
        self.airtime.check(&table("airtime"))?;
        self.aql.check(&table("aql"))?;
        let Some(device) = &self.device else { return Ok(()) };
        in_range(&table("device"), "frames", device.frames, 1..=LARGEST_QUEUE, " frames")?;
        in_range(&table("device"), "transfers", device.transfers, 1..=LARGEST_QUEUE, " transfers")
    }
}

impl FqCodelSettings {
    fn check(&self, table: &str) -> Result<(), ScenarioError> {
        in_range(table, "packets", self.packets, 1..=LARGEST_QUEUE, " packets")?;
        in_range(table, "flows", self.flows, 1..=65_536, "")?;
        in_range(table, "quantum_bytes", self.quantum_bytes, 256..=1 << 20, " bytes")?;
        check_codel(table, "", self.target_ms, self.interval_ms)?;
        in_range(table, "memory_bytes", self.memory_bytes, 1..=1 << 31, " bytes")?;
        in_range(table, "drop_batch", self.drop_batch, 1..=LARGEST_QUEUE, " packets")
    }

    /// Parameters of each of its queues.
    pub(crate) fn codel(&self) -> CodelParameters {
        CodelParameters {
            target_ns: ns(self.target_ms),
            interval_ns: ns(self.interval_ms),
            spared_bytes: u64::from(self.spared_bytes),
            ecn: self.ecn,
            law: self.law,
        }
    }
}

impl FqMacSettings {
    fn check(&self, table: &str) -> Result<(), ScenarioError> {
        in_range(table, "packets", self.packets, 1..=LARGEST_QUEUE, " packets")?;
        in_range(table, "flows", self.flows, 1..=65_536, "")?;
        in_range(table, "quantum_bytes", self.quantum_bytes, 64..=1 << 20, " bytes")?;
        in_range(table, "memory_bytes", self.memory_bytes, 1..=1 << 31, " bytes")?;
        check_codel(table, "", self.target_ms, self.interval_ms)?;
        in_range(table, "slow_station_kbit_s", self.slow_station_kbit_s, 0..=10_000_000, " kbit/s")?;
        check_codel(table, "slow_", self.slow_target_ms, self.slow_interval_ms)
    }

    /// Parameters of each of its queues, for fast stations and for slow ones. They spare the last packet of a
    /// flow (`mtu` is 0 in mac80211).
    pub(crate) fn codel(&self) -> [CodelParameters; 2] {
        let fast = CodelParameters {
            target_ns: ns(self.target_ms),
            interval_ns: ns(self.interval_ms),
            spared_bytes: 0,
            ecn: self.ecn,
            law: self.law,
        };
        let slow = CodelParameters {
            target_ns: ns(self.slow_target_ms),
            interval_ns: ns(self.slow_interval_ms),
            ecn: false,
            ..fast
        };
        [fast, slow]
    }
}

impl AirtimeSettings {
    fn check(&self, table: &str) -> Result<(), ScenarioError> {
        in_range(table, "weight", self.weight, 16..=65_535, "")?;
        for (index, &weight) in self.weights.iter().enumerate() {
            in_range(table, &format!("weights[{index}]"), weight, 16..=65_535, "")?;
        }
        in_range(table, "quantum_us", self.quantum_us, 16..=1_000_000, " µs")
    }
}

impl AqlSettings {
    fn check(&self, table: &str) -> Result<(), ScenarioError> {
        in_range(table, "low_us", self.low_us, 1..=1_000_000, " µs")?;
        in_range(table, "high_us", self.high_us, self.low_us..=1_000_000, " µs")?;
        in_range(table, "device_us", self.device_us, 0..=10_000_000, " µs")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(json: &str) -> String {
        match serde_json::from_str::<Queueing>(json) {
            Ok(queueing) => queueing.check("wlan.ap.queueing").expect_err(json).to_string(),
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn what_is_left_out_is_as_in_linux() {
        let queueing: Queueing = serde_json::from_str("{}").expect("settings");
        assert_eq!((queueing.check("queueing"), queueing.kind), (Ok(()), QueueKind::FqMac));
        let fq_codel = FqCodelSettings::default();
        assert_eq!((fq_codel.packets, fq_codel.flows, fq_codel.quantum_bytes), (10_240, 1024, 1514));
        assert_eq!((fq_codel.codel().target_ns, fq_codel.codel().interval_ns), (5_000_000, 100_000_000));
        let [fast, slow] = FqMacSettings::default().codel();
        assert_eq!((fast.target_ns, fast.interval_ns, fast.ecn), (20_000_000, 100_000_000, true));
        assert_eq!((slow.target_ns, slow.interval_ns, slow.ecn), (50_000_000, 300_000_000, false));
        let text = serde_json::to_string(&queueing).expect("JSON");
        assert_eq!(serde_json::from_str::<Queueing>(&text).expect("settings"), queueing);
    }

    #[test]
    fn a_wrong_value_is_named_with_its_range() {
        assert_eq!(
            error(r#"{"fq_codel": {"flows": 0}}"#),
            "wlan.ap.queueing.fq_codel.flows: 0 is not in the range from 1 to 65536"
        );
        assert_eq!(
            error(r#"{"airtime": {"weights": [256, 3]}}"#),
            "wlan.ap.queueing.airtime.weights[1]: 3 is not in the range from 16 to 65535"
        );
        assert!(error(r#"{"aql": {"high_us": 4000}}"#).contains("high_us: 4000 is not in the range from 5000"));
        assert!(error(r#"{"fq_mac": {"slow_target_ms": 0}}"#).contains("fq_mac.slow_target_ms: 0 is not"));
        assert!(error(r#"{"kind": "red"}"#).contains("expected one of `fifo`, `fq_codel`, `fq_mac`, `airtime`"));
        assert!(error(r#"{"fq_codel": {"quantum": 300}}"#).contains("unknown field `quantum`"));
        assert!(error(r#"{"fq_mac": {"interval_ms": -1}}"#).contains("fq_mac.interval_ms: -1 is not in the range"));
    }
}
