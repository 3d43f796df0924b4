//! What a modem link is made of: the settings, their ranges, and the message about a wrong one.

use serde::{Deserialize, Serialize};

use crate::checked::{in_range, ScenarioError};
use crate::modem::radio::Grant;
use random::{Rng, Stream, Walk};

/// A modem link, whole. Every key may be left out and then has the value that [`Default`] gives; an unknown key is refused.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct ModemSettings {
    /// Seed of the random source of what the cell grants.
    pub seed: u64,
    /// The bus and the host controller.
    pub usb: UsbSettings,
    /// The host's network driver.
    pub driver: DriverSettings,
    /// The modem's own processor.
    pub device: DeviceSettings,
    /// The cell.
    pub radio: RadioSettings,
}

/// USB speed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Speed {
    /// 12 Mbit/s.
    Full,
    /// 480 Mbit/s.
    #[default]
    High,
    /// 5 Gbit/s, each way on its own.
    Super,
}

/// The bus and the host's side of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct UsbSettings {
    /// Speed.
    pub speed: Speed,
    /// `hard_mtu` of usbnet, which decides how many OUT URBs it keeps in flight, bytes.
    pub hard_mtu_bytes: u32,
    /// Length of an IN URB (`rx_urb_size`), which decides how many of them are kept submitted, bytes.
    pub rx_urb_bytes: u32,
    /// OUT URBs in flight at most, in place of usbnet's rule.
    pub tx_urbs: Option<u32>,
    /// IN URBs submitted, in place of usbnet's rule.
    pub rx_urbs: Option<u32>,
    /// What each URB costs the host's CPU, µs: one URB after the other, both ways together.
    pub host_us_per_urb: f64,
}

/// What a USB transfer carries.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Framing {
    /// One IP packet.
    RawIp,
    /// A QMAP chain.
    #[default]
    Qmap,
    /// An NTB of 16 bit with Ethernet frames (CDC NCM).
    Ncm16,
    /// An NTB of 32 bit with Ethernet frames (CDC NCM).
    Ncm32,
    /// An NTB of 16 bit with IP packets (CDC MBIM).
    Mbim16,
}

impl Framing {
    /// Whether transfers are NTBs.
    pub const fn is_ntb(self) -> bool {
        matches!(self, Self::Ncm16 | Self::Ncm32 | Self::Mbim16)
    }
}

/// Who aggregates QMAP towards the modem.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum QmapAggregation {
    /// Not aggregated: one packet in a URB, as in mainline qmi_wwan and in rmnet as it comes.
    #[default]
    None,
    /// rmnet (`ethtool -C tx-aggr-...`, Linux 6.3).
    Rmnet,
    /// qmi_wwan with the patch of 2022-10-19 (`tx_max_datagrams_mux`, `tx_max_size_mux`).
    QmiWwan,
}

/// The network driver of the host.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct DriverSettings {
    /// What a transfer carries.
    pub framing: Framing,
    /// QMAP version: 1, 4 (checksums in headers up and trailers down) or 5 (checksum headers both ways).
    pub qmap_version: u8,
    /// Who aggregates QMAP uplink.
    pub aggregation: QmapAggregation,
    /// Packets of an uplink URB at most, for QMAP aggregation (`tx-aggr-max-frames`) and NTBs.
    pub max_datagrams: u32,
    /// Bytes of an uplink URB at most, for QMAP aggregation (`tx-aggr-max-bytes`) and NTBs (`tx_max`).
    pub max_bytes: u32,
    /// Time after which a URB goes as it is, µs (`tx-aggr-time-usecs`, `tx_timer_usecs`). 0 for NTBs: no aggregation. The
    /// patch of qmi_wwan has 400 and no key for it.
    pub timer_us: u32,
    /// What waits above the URBs at most (the interface's FIFO queue): packets, or aggregates where these are made above it.
    pub queue_packets: u32,
}

/// The modem's own processor.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct DeviceSettings {
    /// What each uplink URB costs the modem, µs, one after the other.
    pub us_per_urb: f64,
    /// What each byte of it costs more, ns.
    pub ns_per_byte: f64,
    /// Uplink transfers that it takes before the first of them is done.
    pub buffers: u32,
    /// Packets in an uplink URB that it can take, as it answers to WDA SET_DATA_FORMAT. More, and it crashes.
    pub uplink_max_datagrams: Option<u32>,
    /// Bytes of an uplink URB that it can take, as it answers to WDA SET_DATA_FORMAT. More, and it crashes.
    pub uplink_max_bytes: Option<u32>,
    /// How long it is away after a crash, ms.
    pub reset_ms: u32,
    /// Packets in a downlink URB at most.
    pub downlink_max_datagrams: u32,
    /// Bytes of a downlink URB at most.
    pub downlink_max_bytes: u32,
    /// How long it waits for more packets before a downlink URB goes, µs.
    pub downlink_hold_us: u32,
    /// Packets that wait for downlink URBs at most.
    pub downlink_buffer_packets: u32,
}

/// The cell: two grants and a delay.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct RadioSettings {
    /// Granted uplink rate, of IP packets, Mbit/s.
    pub uplink_mbit_s: f64,
    /// Granted downlink rate, of IP packets, Mbit/s: the most, where it wanders.
    pub downlink_mbit_s: f64,
    /// The granted downlink rate wanders between this and `downlink_mbit_s`, Mbit/s. Left out: it is always `downlink_mbit_s`.
    pub downlink_least_mbit_s: Option<f64>,
    /// How far it wanders: the standard deviation of its change in a second, were there no bounds, in percent of `downlink_mbit_s`.
    pub downlink_wander_percent: f64,
    /// Delay from the modem to the server beside the transmission itself, µs.
    pub uplink_delay_us: u32,
    /// Delay from the server to the modem beside the transmission itself, µs.
    pub downlink_delay_us: u32,
    /// Packets that wait for the cell downlink at most.
    pub downlink_queue_packets: u32,
    /// What waits for the cell uplink in the modem at most, as time on the air, µs; it takes no URB above that.
    pub uplink_buffer_us: u32,
    /// What the first packet waits for when nothing was waiting to be sent (scheduling request and grant), µs.
    pub scheduling_request_us: u32,
    /// What is sent arrives at multiples of this (a subframe has 1000), µs; 0: at once.
    pub subframe_us: u32,
}

impl Default for UsbSettings {
    fn default() -> Self {
        Self {
            speed: Speed::High,
            hard_mtu_bytes: 1_514,
            rx_urb_bytes: 16_384,
            tx_urbs: None,
            rx_urbs: None,
            host_us_per_urb: 0.0,
        }
    }
}

impl Default for DriverSettings {
    fn default() -> Self {
        Self {
            framing: Framing::Qmap,
            qmap_version: 1,
            aggregation: QmapAggregation::None,
            max_datagrams: 16,
            max_bytes: 16_384,
            timer_us: 800,
            queue_packets: 1_000,
        }
    }
}

impl Default for DeviceSettings {
    fn default() -> Self {
        Self {
            // calibrated from "qmi_wwan qmap tx aggregation patch" (an LTE cat. 4 modem): RX alone is held at about 120 Mbit/s by
            // the pure ACKs of it, one for two segments, one URB each.
            us_per_urb: 190.0,
            ns_per_byte: 0.0,
            buffers: 2,
            uplink_max_datagrams: None,
            uplink_max_bytes: None,
            reset_ms: 10_000,
            downlink_max_datagrams: 32,
            downlink_max_bytes: 16_384,
            downlink_hold_us: 1_000,
            downlink_buffer_packets: 1_000,
        }
    }
}

impl Default for RadioSettings {
    fn default() -> Self {
        Self {
            // LTE category 4: 3GPP TS 36.306, table 4.1-1.
            uplink_mbit_s: 50.0,
            downlink_mbit_s: 150.0,
            downlink_least_mbit_s: None,
            // 200 of 1,000 packets/s: Winstein, Sivaraman, Balakrishnan, "Stochastic Forecasts Achieve High Throughput and Low Delay
            // over Cellular Networks", NSDI 2013.
            downlink_wander_percent: 20.0,
            uplink_delay_us: 5_000,
            downlink_delay_us: 5_000,
            downlink_queue_packets: 300,
            uplink_buffer_us: 10_000,
            scheduling_request_us: 0,
            subframe_us: 0,
        }
    }
}

/// Memory that usbnet gives to the URBs of each direction at high speed, bytes; five times that at super speed
/// (drivers/net/usb/usbnet.c).
const USBNET_QUEUE_BYTES: u32 = 60 * 1_518;

impl UsbSettings {
    /// OUT URBs in flight at most.
    pub fn tx_urbs(&self) -> usize {
        self.tx_urbs.unwrap_or_else(|| self.by_memory(self.hard_mtu_bytes)) as usize
    }

    /// IN URBs submitted.
    pub fn rx_urbs(&self) -> usize {
        self.rx_urbs.unwrap_or_else(|| self.by_memory(self.rx_urb_bytes)) as usize
    }

    /// usbnet's rule. At least one, so that a URB larger than the memory still moves.
    fn by_memory(&self, urb_bytes: u32) -> u32 {
        match self.speed {
            Speed::Full => 4,
            Speed::High => (USBNET_QUEUE_BYTES / urb_bytes.max(1)).max(1),
            Speed::Super => (5 * USBNET_QUEUE_BYTES / urb_bytes.max(1)).max(1),
        }
    }

    /// `wMaxPacketSize` of the bulk endpoints.
    pub const fn max_packet_bytes(&self) -> u32 {
        match self.speed {
            Speed::Full => 64,
            Speed::High => 512,
            Speed::Super => 1_024,
        }
    }

    /// Time that a transfer of `bytes` occupies the bus, ns: whole packets, at as many as fit into a (micro)frame. A packet
    /// less than full ends a transfer, and an empty one when the last is full.
    pub fn bus_ns(&self, bytes: u32) -> u64 {
        let packets = u64::from(bytes / self.max_packet_bytes() + 1);
        match self.speed {
            // 19 packets of 64 bytes in a frame of 1 ms, 13 of 512 bytes in a microframe of 125 µs (USB 2.0, tables 5-9, 5-10).
            Speed::Full => packets * 1_000_000 / 19,
            Speed::High => packets * 125_000 / 13,
            // 1024 bytes, 20 of header and 12 of framing and acknowledgement at 500 bytes/µs (USB 3.0, 7.2).
            Speed::Super => packets * 1_056 * 2,
        }
    }
}

impl ModemSettings {
    /// The first value that is out of range, if any. `key` is the table that these settings are in (`modem`).
    ///
    /// # Errors
    /// That value, with what it may be.
    pub fn check(&self, key: &str) -> Result<(), ScenarioError> {
        self.usb.check(&format!("{key}.usb"))?;
        self.driver.check(&format!("{key}.driver"))?;
        self.device.check(&format!("{key}.device"))?;
        self.radio.check(&format!("{key}.radio"))?;
        if self.device.downlink_max_bytes > self.usb.rx_urb_bytes {
            let what = format!(
                "{} is more than an IN URB holds ({key}.usb.rx_urb_bytes is {})",
                self.device.downlink_max_bytes, self.usb.rx_urb_bytes
            );
            return Err(ScenarioError::new(format!("{key}.device.downlink_max_bytes"), what));
        }
        Ok(())
    }
}

impl UsbSettings {
    fn check(&self, key: &str) -> Result<(), ScenarioError> {
        in_range(key, "hard_mtu_bytes", self.hard_mtu_bytes, 576..=65_536, " bytes")?;
        in_range(key, "rx_urb_bytes", self.rx_urb_bytes, 2_048..=65_536, " bytes")?;
        in_range(key, "tx_urbs", self.tx_urbs.unwrap_or(1), 1..=1_000, " URBs")?;
        in_range(key, "rx_urbs", self.rx_urbs.unwrap_or(1), 1..=1_000, " URBs")?;
        in_range(key, "host_us_per_urb", self.host_us_per_urb, 0.0..=100_000.0, " µs")
    }
}

impl DriverSettings {
    fn check(&self, key: &str) -> Result<(), ScenarioError> {
        if !matches!(self.qmap_version, 1 | 4 | 5) {
            let what = format!("{} is not 1, 4 or 5", self.qmap_version);
            return Err(ScenarioError::new(format!("{key}.qmap_version"), what));
        }
        if self.aggregation != QmapAggregation::None && self.framing != Framing::Qmap {
            let what = "is for `framing = \"qmap\"` only; NTBs aggregate by themselves and raw IP cannot";
            return Err(ScenarioError::new(format!("{key}.aggregation"), what));
        }
        let most = match self.framing {
            // CDC_NCM_DPT_DATAGRAMS_MAX of cdc_ncm.
            Framing::Ncm16 | Framing::Ncm32 | Framing::Mbim16 => 40,
            // DEFAULT_MAX_... of rmnet's ethtool range; a byte in the patch of qmi_wwan.
            _ if self.aggregation == QmapAggregation::QmiWwan => 255,
            _ => 64,
        };
        in_range(key, "max_datagrams", self.max_datagrams, 1..=most, " packets")?;
        let most = match self.framing {
            Framing::Ncm16 | Framing::Mbim16 => 65_535,
            Framing::Ncm32 => 65_536,
            _ => 32_768,
        };
        in_range(key, "max_bytes", self.max_bytes, 2_048..=most, " bytes")?;
        let least = if self.framing.is_ntb() { 0 } else { 1 };
        in_range(key, "timer_us", self.timer_us, least..=1_000_000, " µs")?;
        in_range(key, "queue_packets", self.queue_packets, 1..=100_000, " packets")
    }
}

impl DeviceSettings {
    fn check(&self, key: &str) -> Result<(), ScenarioError> {
        in_range(key, "us_per_urb", self.us_per_urb, 0.0..=100_000.0, " µs")?;
        in_range(key, "ns_per_byte", self.ns_per_byte, 0.0..=1_000_000.0, " ns")?;
        in_range(key, "buffers", self.buffers, 1..=1_000, " transfers")?;
        in_range(key, "uplink_max_datagrams", self.uplink_max_datagrams.unwrap_or(1), 1..=1_000, " packets")?;
        in_range(key, "uplink_max_bytes", self.uplink_max_bytes.unwrap_or(2_048), 576..=65_536, " bytes")?;
        in_range(key, "reset_ms", self.reset_ms, 1..=3_600_000, " ms")?;
        in_range(key, "downlink_max_datagrams", self.downlink_max_datagrams, 1..=1_000, " packets")?;
        in_range(key, "downlink_max_bytes", self.downlink_max_bytes, 2_048..=65_535, " bytes")?;
        in_range(key, "downlink_hold_us", self.downlink_hold_us, 0..=1_000_000, " µs")?;
        in_range(key, "downlink_buffer_packets", self.downlink_buffer_packets, 1..=100_000, " packets")
    }
}

/// Time between two changes of a grant that wanders, ns: that of the model the default is from.
const GRANT_NS: u64 = 20_000_000;

impl RadioSettings {
    /// What the cell grants downlink, in the run of this seed.
    pub(crate) fn downlink_grant(&self, seed: u64) -> Grant {
        let most = self.downlink_mbit_s;
        let Some(least) = self.downlink_least_mbit_s else { return Grant::Steady(most) };
        let change = most * self.downlink_wander_percent / 100.0;
        let walk = Walk::new(Rng::new(seed, Stream::CellGrant, 0), least, most, change, GRANT_NS);
        Grant::Wandering(Box::new(walk))
    }

    fn check(&self, key: &str) -> Result<(), ScenarioError> {
        in_range(key, "uplink_mbit_s", self.uplink_mbit_s, 0.001..=100_000.0, " Mbit/s")?;
        in_range(key, "downlink_mbit_s", self.downlink_mbit_s, 0.001..=100_000.0, " Mbit/s")?;
        let least = self.downlink_least_mbit_s.unwrap_or(self.downlink_mbit_s);
        in_range(key, "downlink_least_mbit_s", least, 0.001..=self.downlink_mbit_s, " Mbit/s")?;
        in_range(key, "downlink_wander_percent", self.downlink_wander_percent, 0.0..=10_000.0, " %")?;
        in_range(key, "uplink_delay_us", self.uplink_delay_us, 0..=10_000_000, " µs")?;
        in_range(key, "downlink_delay_us", self.downlink_delay_us, 0..=10_000_000, " µs")?;
        in_range(key, "downlink_queue_packets", self.downlink_queue_packets, 1..=1_000_000, " packets")?;
        in_range(key, "uplink_buffer_us", self.uplink_buffer_us, 0..=10_000_000, " µs")?;
        in_range(key, "scheduling_request_us", self.scheduling_request_us, 0..=10_000_000, " µs")?;
        in_range(key, "subframe_us", self.subframe_us, 0..=100_000, " µs")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(json: &str) -> String {
        let settings: ModemSettings = serde_json::from_str(json).expect(json);
        settings.check("modem").expect_err(json).to_string()
    }

    #[test]
    fn a_wrong_value_is_named_with_its_range() {
        assert_eq!(ModemSettings::default().check("modem"), Ok(()));
        assert_eq!(
            error(r#"{"radio": {"uplink_mbit_s": 0}}"#),
            "modem.radio.uplink_mbit_s: 0 is not in the range from 0.001 to 100000 Mbit/s"
        );
        assert_eq!(error(r#"{"driver": {"qmap_version": 2}}"#), "modem.driver.qmap_version: 2 is not 1, 4 or 5");
        assert!(error(r#"{"driver": {"framing": "ncm16", "max_datagrams": 41}}"#).contains("from 1 to 40 packets"));
        assert!(error(r#"{"driver": {"framing": "raw_ip", "aggregation": "rmnet"}}"#).contains("`framing = \"qmap\"`"));
        assert!(error(r#"{"device": {"downlink_max_bytes": 32768}}"#).contains("rx_urb_bytes is 16384"));
        assert_eq!(
            error(r#"{"radio": {"downlink_least_mbit_s": 151}}"#),
            "modem.radio.downlink_least_mbit_s: 151 is not in the range from 0.001 to 150 Mbit/s"
        );
        assert!(error(r#"{"usb": {"tx_urbs": 0}}"#).starts_with("modem.usb.tx_urbs: 0"));
        assert!(serde_json::from_str::<ModemSettings>(r#"{"usb": {"sped": "high"}}"#).is_err());
    }

    /// usbnet_update_max_qlen.
    #[test]
    fn urbs_by_usbnets_rule() {
        let usb = UsbSettings { hard_mtu_bytes: 1_514, ..UsbSettings::default() };
        assert_eq!((usb.tx_urbs(), usb.rx_urbs()), (60, 5));
        let usb = UsbSettings { hard_mtu_bytes: 16_000, speed: Speed::Super, ..usb };
        assert_eq!(usb.tx_urbs(), 28);
        assert_eq!(UsbSettings { speed: Speed::Full, ..usb }.rx_urbs(), 4);
    }

    /// The ceilings of USB 2.0, tables 5-9 and 5-10: 53.248 and 1.216 Mbyte/s.
    #[test]
    fn the_bus_is_as_fast_as_the_standard_says() {
        let high = UsbSettings::default();
        let mbyte_s = |usb: &UsbSettings, bytes: u32| f64::from(bytes) * 1e3 / usb.bus_ns(bytes) as f64;
        assert!((mbyte_s(&high, 512 * 10_000) - 53.248).abs() < 0.01);
        let full = UsbSettings { speed: Speed::Full, ..high };
        assert!((mbyte_s(&full, 64 * 10_000) - 1.216).abs() < 0.001);
    }
}
