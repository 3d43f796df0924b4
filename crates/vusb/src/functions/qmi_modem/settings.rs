//! How a modem is set up.

use random::{Rng, Stream, Walk};
use serde::Serialize;

use super::format::{Framing, Limit};
use crate::functions::range::in_range;
use crate::functions::{Aggregation, SettingsError};

/// A modem that is posed as.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "ModemModel"))]
#[serde(rename_all = "kebab-case")]
pub enum Model {
    /// A Quectel EC25, 2c7c:0125: only the interface that carries data, number 4.
    #[default]
    QuectelEc25,
    /// A Quectel EC21, 2c7c:0121: five interfaces (lsusb -v in raspberrypi/linux issue 1880).
    QuectelEc21,
    /// A SIMCom SIM7600, 1e0e:9001: six interfaces (lsusb -v in espressif/esp-iot-solution issues 121 and 161).
    SimcomSim7600,
    /// A Telit LN940, 1bc7:1900: five interfaces, data on number 1 (usb/devices in 4IceG/luci-app-3ginfo-lite issue 9).
    TelitLn940,
}

/// How a QMI modem is set up.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ModemSettings {
    /// Which modem it poses as.
    #[serde(skip_serializing_if = "is_default")]
    #[cfg_attr(feature = "schema", schemars(extend("default" = "quectel-ec25")))]
    pub model: Model,
    /// What transfers carry.
    pub framing: Framing,
    /// The multiplexed connection that there is, where messages do not decide.
    pub mux_id: u8,
    /// More multiplexed connections.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "schema", schemars(extend("default" = [])))]
    pub more_mux_ids: Vec<u8>,
    /// How long the modem works on one transfer from the host, whatever is in it, us.
    pub transfer_cost_us: u64,
    /// Rate of the radio link from the host, Mbit/s.
    pub uplink_mbit_s: f64,
    /// Rate of the radio link to the host, Mbit/s: the most, where it wanders.
    pub downlink_mbit_s: f64,
    /// The rate to the host wanders between this and `downlink_mbit_s`, Mbit/s; left out: it does not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub downlink_least_mbit_s: Option<f64>,
    /// How far it wanders: the standard deviation of its change in a second, were there no bounds, in percent of `downlink_mbit_s`.
    /// Left out where it is that of Winstein, Sivaraman, Balakrishnan, NSDI 2013: 20.
    #[serde(skip_serializing_if = "is_default_wander")]
    #[cfg_attr(feature = "schema", schemars(extend("default" = 20.0)))]
    pub downlink_wander_percent: f64,
    /// Seeds the stream from which the downlink's rate is drawn.
    #[serde(skip)]
    pub seed: u64,
    /// Delay of the radio link, each way, us.
    pub delay_us: u64,
    /// Datagrams from the host wait for the radio at most so long; while they would wait longer no transfer is taken, us.
    pub uplink_buffer_us: u64,
    /// Datagrams for the host that wait at most, those on their way included; the wired end is not read while this many do.
    pub downlink_queue: usize,
    /// How it packs datagrams for the host, in QMAP.
    pub to_host: Aggregation,
    /// What a transfer from the host may be at most, where that is negotiated: a larger one crashes the modem. Left out where it is
    /// that of no particular modem, 16 datagrams and 8,192 bytes.
    #[serde(skip_serializing_if = "is_default_limit")]
    pub limit_from_host: Limit,
}

fn is_default(model: &Model) -> bool {
    *model == Model::default()
}

fn is_default_limit(limit: &Limit) -> bool {
    *limit == LIMIT_FROM_HOST
}

fn is_default_wander(percent: &f64) -> bool {
    *percent == WANDER_PERCENT
}

/// 200 of 1,000 packets/s: Winstein, Sivaraman, Balakrishnan, "Stochastic Forecasts Achieve High Throughput and Low Delay over
/// Cellular Networks", NSDI 2013, which changes its rate every 20 ms.
const WANDER_PERCENT: f64 = 20.0;
const WANDER_NS: u64 = 20_000_000;

/// What a transfer from the host may be at most unless something else is set: of no particular modem.
const LIMIT_FROM_HOST: Limit = Limit { datagrams: 16, bytes: 8_192 };

impl Default for ModemSettings {
    /// The rates of LTE category 4 (3GPP TS 36.306, tables 4.1-1 and 4.1-2: 150 and 50 Mbit/s); aggregates that fit
    /// into the buffers that qmi_wwan has with an MTU of 16,000. The cost of a transfer is of no particular modem: 190 us is 5,263 transfers a second, so that
    /// one datagram each is just enough for the data of the uplink and not for acknowledgements beside them.
    fn default() -> Self {
        Self {
            model: Model::default(),
            framing: Framing::Qmap,
            mux_id: 1,
            more_mux_ids: Vec::new(),
            transfer_cost_us: 190,
            uplink_mbit_s: 50.0,
            downlink_mbit_s: 150.0,
            downlink_least_mbit_s: None,
            downlink_wander_percent: WANDER_PERCENT,
            seed: 1,
            delay_us: 5_000,
            uplink_buffer_us: 10_000,
            downlink_queue: 300,
            to_host: Aggregation { datagrams: 32, bytes: 15_872, hold_ns: 1_000_000 },
            limit_from_host: LIMIT_FROM_HOST,
        }
    }
}

/// Time of `bytes` at `mbit_s`.
pub(super) fn nanoseconds(bytes: usize, mbit_s: f64) -> u64 {
    (bytes as f64 * 8_000.0 / mbit_s) as u64
}

impl ModemSettings {
    /// Whether all are in their ranges.
    ///
    /// # Errors
    /// The first that is not.
    pub fn check(&self) -> Result<(), SettingsError> {
        in_range("cost of a transfer in us", self.transfer_cost_us, 0, 1_000_000)?;
        for (name, rate) in
            [("uplink rate in Mbit/s", self.uplink_mbit_s), ("downlink rate in Mbit/s", self.downlink_mbit_s)]
        {
            if !(0.01..=100_000.0).contains(&rate) {
                // The ranges are given in whole numbers.
                return Err(SettingsError { name, value: rate as u64, least: 1, most: 100_000 });
            }
        }
        if let Some(least) = self.downlink_least_mbit_s {
            if !(0.01..=self.downlink_mbit_s).contains(&least) {
                let most = self.downlink_mbit_s as u64;
                return Err(SettingsError {
                    name: "least downlink rate in Mbit/s",
                    value: least as u64,
                    least: 1,
                    most,
                });
            }
        }
        if !(0.0..=10_000.0).contains(&self.downlink_wander_percent) {
            let value = self.downlink_wander_percent as u64;
            return Err(SettingsError {
                name: "wandering of the downlink rate in percent",
                value,
                least: 0,
                most: 10_000,
            });
        }
        in_range("delay in us", self.delay_us, 0, 10_000_000)?;
        in_range("uplink buffer in us", self.uplink_buffer_us, 0, 10_000_000)?;
        in_range("downlink queue", self.downlink_queue as u64, 1, 100_000)?;
        in_range("datagrams per transfer from the host", self.limit_from_host.datagrams.into(), 1, 1_000)?;
        in_range("bytes per transfer from the host", self.limit_from_host.bytes.into(), 1_600, 1 << 20)?;
        self.to_host.check()
    }

    /// The multiplexed connections that there are, each once.
    pub(super) fn mux_ids(&self) -> Vec<u8> {
        let mut found = vec![self.mux_id];
        for &mux_id in &self.more_mux_ids {
            if !found.contains(&mux_id) {
                found.push(mux_id);
            }
        }
        found
    }

    /// What a transfer to the host is at most.
    pub(super) fn limit_to_host(&self) -> Limit {
        // Both are checked to be small.
        Limit { datagrams: self.to_host.datagrams as u32, bytes: self.to_host.bytes as u32 }
    }

    pub(super) fn uplink_ns(&self, bytes: usize) -> u64 {
        nanoseconds(bytes, self.uplink_mbit_s)
    }

    /// What the rate to the host is, where it wanders.
    pub(super) fn downlink_walk(&self) -> Option<Walk> {
        let (least, most) = (self.downlink_least_mbit_s?, self.downlink_mbit_s);
        let change = most * self.downlink_wander_percent / 100.0;
        Some(Walk::new(Rng::new(self.seed, Stream::CellGrant, 0), least, most, change, WANDER_NS))
    }
}
