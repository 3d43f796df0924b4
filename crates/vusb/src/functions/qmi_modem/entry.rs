//! What is listed of the QMI modem.

use clap::{Args, ValueEnum};

use super::{Framing, Limit, Model, ModemSettings, QmiModem, QmiModemStatistics};
use crate::entry::{CountersOf, Driver, Entry, Function, Kind, Options, Plug};
use crate::functions::options::{AggregationOptions, WiredOptions, AGGREGATION, WIRED};
use crate::trace::Plain;
use crate::wired::Carries;

/// QMI modem.
pub static QMI_MODEM: Entry = Entry {
    name: "qmi-modem",
    label: "QMI modem",
    about: "Data path of a QMI modem, 2c7c:0125 (qmi_wwan)",
    plug: Plug::Usb(|| ModemSettings::default().model.posing().identity),
    kind: Kind::Function(Function { interface: "wwan0" }),
    drivers: &[Driver::stock("qmi_wwan")],
    options: &[WIRED, AGGREGATION, Options::of::<ModemOptions>("modem")],
    make: |making| {
        let to_host = making.own::<AggregationOptions>()?;
        let settings = making.own::<ModemOptions>()?.settings(making.surroundings.seed, &to_host);
        Ok(Box::new(QmiModem::new(settings, making.own::<WiredOptions>()?.create(making.machine, Carries::Ip)?)?))
    },
    vocabulary: || Box::new(Plain),
    counters: CountersOf::device::<QmiModemStatistics>("QmiModemStatistics"),
};

/// What the modem's transfers carry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum FramingArg {
    /// One IP packet each.
    RawIp,
    /// QMAP, version 1.
    Qmap,
    /// QMAP, version 4.
    QmapV4,
    /// QMAP, version 5.
    QmapV5,
    /// What the host asks for in QMI messages, with limits.
    Negotiated,
}

/// Which modem it poses as.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum ModelArg {
    /// 2c7c:0125, its data interface alone.
    QuectelEc25,
    /// 2c7c:0121, five interfaces.
    QuectelEc21,
    /// 1e0e:9001, six interfaces.
    SimcomSim7600,
    /// 1bc7:1900, five interfaces.
    TelitLn940,
}

/// Only the modem has these.
#[derive(Debug, Args)]
#[command(next_help_heading = "Network functions")]
struct ModemOptions {
    /// qmi-modem: what transfers carry.
    #[arg(long, value_enum, default_value = "qmap")]
    framing: FramingArg,
    /// qmi-modem: which modem it poses as.
    #[arg(long, value_enum, default_value = "quectel-ec25")]
    model: ModelArg,
    /// qmi-modem: the multiplexed connection, or several with commas between them.
    #[arg(long, value_name = "N", value_delimiter = ',', default_values_t = [ModemSettings::default().mux_id])]
    mux_id: Vec<u8>,
    /// qmi-modem, negotiated: datagrams of a transfer from the host, at most; more crash it.
    #[arg(long, value_name = "N", default_value_t = ModemSettings::default().limit_from_host.datagrams)]
    uplink_datagrams: u32,
    /// qmi-modem, negotiated: bytes of a transfer from the host, at most; more crash it.
    #[arg(long, value_name = "BYTES", default_value_t = ModemSettings::default().limit_from_host.bytes)]
    uplink_bytes: u32,
    /// qmi-modem: how long it works on a transfer from the host.
    #[arg(long, value_name = "US", default_value_t = ModemSettings::default().transfer_cost_us)]
    transfer_cost_us: u64,
    /// qmi-modem: rate of the uplink.
    #[arg(long, value_name = "MBIT_S", default_value_t = ModemSettings::default().uplink_mbit_s)]
    uplink_mbit_s: f64,
    /// qmi-modem: rate of the downlink; the most, where it wanders.
    #[arg(long, value_name = "MBIT_S", default_value_t = ModemSettings::default().downlink_mbit_s)]
    downlink_mbit_s: f64,
    /// qmi-modem: the rate of the downlink wanders, between this and the most [default: it does not].
    #[arg(long, value_name = "MBIT_S")]
    downlink_least_mbit_s: Option<f64>,
    /// qmi-modem: how far it wanders: standard deviation of its change in a second, in percent of the most.
    #[arg(long, value_name = "PERCENT", default_value_t = ModemSettings::default().downlink_wander_percent)]
    downlink_wander_percent: f64,
    /// qmi-modem: delay of the radio link each way.
    #[arg(long, value_name = "US", default_value_t = ModemSettings::default().delay_us)]
    delay_us: u64,
    /// qmi-modem: datagrams for the host that wait at most.
    #[arg(long, value_name = "N", default_value_t = ModemSettings::default().downlink_queue)]
    downlink_queue: usize,
}

impl ModemOptions {
    /// `seed`: of what its radio draws.
    fn settings(&self, seed: u64, to_host: &AggregationOptions) -> ModemSettings {
        let default = ModemSettings::default();
        ModemSettings {
            framing: match self.framing {
                FramingArg::RawIp => Framing::RawIp,
                FramingArg::Qmap => Framing::Qmap,
                FramingArg::QmapV4 => Framing::QmapV4,
                FramingArg::QmapV5 => Framing::QmapV5,
                FramingArg::Negotiated => Framing::Negotiated,
            },
            model: match self.model {
                ModelArg::QuectelEc25 => Model::QuectelEc25,
                ModelArg::QuectelEc21 => Model::QuectelEc21,
                ModelArg::SimcomSim7600 => Model::SimcomSim7600,
                ModelArg::TelitLn940 => Model::TelitLn940,
            },
            mux_id: self.mux_id.first().copied().unwrap_or(default.mux_id),
            more_mux_ids: self.mux_id.get(1..).unwrap_or_default().to_vec(),
            limit_from_host: Limit { datagrams: self.uplink_datagrams, bytes: self.uplink_bytes },
            transfer_cost_us: self.transfer_cost_us,
            uplink_mbit_s: self.uplink_mbit_s,
            downlink_mbit_s: self.downlink_mbit_s,
            downlink_least_mbit_s: self.downlink_least_mbit_s,
            downlink_wander_percent: self.downlink_wander_percent,
            seed,
            delay_us: self.delay_us,
            downlink_queue: self.downlink_queue,
            to_host: to_host.over(default.to_host),
            ..default
        }
    }
}
