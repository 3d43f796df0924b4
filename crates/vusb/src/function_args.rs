//! The part of the command line that is about network functions.

use std::io;

use clap::{Args, ValueEnum};
use vusb::device::Device;
use vusb::functions::ecm::Ecm;
use vusb::functions::mbim::{Connect, Mbim, MbimSettings};
use vusb::functions::ncm::{Ncm, NcmSettings, Posing};
use vusb::functions::qmi_modem::{Framing, Limit, Model, ModemSettings, QmiModem};
use vusb::functions::tx_aggregation::TxAggregation;
use vusb::functions::{Aggregation, SettingsError};
use vusb::wired::{Carries, WiredInterface};

/// Why a function is not available.
#[derive(Debug, thiserror::Error)]
pub enum FunctionError {
    /// A setting.
    #[error("{0}")]
    Setting(#[from] SettingsError),
    /// Its other end.
    #[error("cannot make the network interface {name}: {source} (it takes the tun module and CAP_NET_ADMIN)")]
    Wired {
        /// Its name.
        name: String,
        /// What the system said.
        source: io::Error,
    },
    /// Aggregation by the host.
    #[error("cannot set the aggregation of {interface}: {source}")]
    TxAggregation {
        /// The interface.
        interface: String,
        /// What the system said.
        source: io::Error,
    },
}

impl FunctionError {
    /// The exit code: 2 for wrong input, 3 for what the machine lacks.
    pub const fn code(&self) -> u8 {
        match self {
            Self::Setting(_) => 2,
            Self::Wired { .. } | Self::TxAggregation { .. } => 3,
        }
    }
}

/// Which driver binds to the NCM function.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum PosingArg {
    /// cdc_ncm: 16-bit blocks.
    Standard,
    /// huawei_cdc_ncm: 32-bit blocks, with --ntb32.
    Huawei,
}

/// How sessions of the MBIM function begin to carry packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ConnectArg {
    /// Session 0 carries packets without messages.
    Fixed,
    /// The host connects sessions with MBIM messages.
    Negotiated,
}

/// What the modem's transfers carry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum FramingArg {
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
pub enum ModelArg {
    /// 2c7c:0125, its data interface alone.
    QuectelEc25,
    /// 2c7c:0121, five interfaces.
    QuectelEc21,
    /// 1e0e:9001, six interfaces.
    SimcomSim7600,
    /// 1bc7:1900, five interfaces.
    TelitLn940,
}

/// Settings of network functions.
#[derive(Debug, Args)]
#[command(next_help_heading = "Network functions")]
pub struct FunctionArgs {
    /// Name of the network interface at the other end (TAP for ncm and ecm, TUN for mbim and qmi-modem).
    #[arg(long, value_name = "NAME", default_value = "wired0")]
    pub wired: String,
    /// Datagrams of a transfer to the host, at most [default: ncm and mbim 40, qmi-modem 32].
    #[arg(long, value_name = "N")]
    pub aggregate_datagrams: Option<usize>,
    /// Bytes of a transfer to the host, at most [default: ncm and mbim 16384, qmi-modem 15872].
    #[arg(long, value_name = "BYTES")]
    pub aggregate_bytes: Option<usize>,
    /// How long a datagram for the host waits for more [default: ncm and mbim 0, qmi-modem 1000].
    #[arg(long, value_name = "US")]
    pub hold_us: Option<u64>,
    /// ncm: what it looks like.
    #[arg(long, value_enum, default_value = "standard")]
    pub posing: PosingArg,
    /// ncm, mbim: offer 32-bit blocks.
    #[arg(long)]
    pub ntb32: bool,
    /// ncm, mbim: dwNtbInMaxSize.
    #[arg(long, value_name = "BYTES", default_value_t = NcmSettings::default().in_max)]
    pub ntb_in_max: u32,
    /// ncm, mbim: dwNtbOutMaxSize.
    #[arg(long, value_name = "BYTES", default_value_t = NcmSettings::default().out_max)]
    pub ntb_out_max: u32,
    /// ncm, mbim: wNtbOutMaxDatagrams; 0 is unlimited.
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub ntb_out_datagrams: u16,
    /// mbim: how sessions begin to carry packets.
    #[arg(long, value_enum, default_value = "fixed")]
    pub connect: ConnectArg,
    /// qmi-modem: what transfers carry.
    #[arg(long, value_enum, default_value = "qmap")]
    pub framing: FramingArg,
    /// qmi-modem: which modem it poses as.
    #[arg(long, value_enum, default_value = "quectel-ec25")]
    pub model: ModelArg,
    /// qmi-modem: the multiplexed connection, or several with commas between them.
    #[arg(long, value_name = "N", value_delimiter = ',', default_values_t = [ModemSettings::default().mux_id])]
    pub mux_id: Vec<u8>,
    /// qmi-modem, negotiated: datagrams of a transfer from the host, at most; more crash it.
    #[arg(long, value_name = "N", default_value_t = ModemSettings::default().limit_from_host.datagrams)]
    pub uplink_datagrams: u32,
    /// qmi-modem, negotiated: bytes of a transfer from the host, at most; more crash it.
    #[arg(long, value_name = "BYTES", default_value_t = ModemSettings::default().limit_from_host.bytes)]
    pub uplink_bytes: u32,
    /// qmi-modem: how long it works on a transfer from the host.
    #[arg(long, value_name = "US", default_value_t = ModemSettings::default().transfer_cost_us)]
    pub transfer_cost_us: u64,
    /// qmi-modem: rate of the uplink.
    #[arg(long, value_name = "MBIT_S", default_value_t = ModemSettings::default().uplink_mbit_s)]
    pub uplink_mbit_s: f64,
    /// qmi-modem: rate of the downlink; the most, where it wanders.
    #[arg(long, value_name = "MBIT_S", default_value_t = ModemSettings::default().downlink_mbit_s)]
    pub downlink_mbit_s: f64,
    /// qmi-modem: the rate of the downlink wanders, between this and the most [default: it does not].
    #[arg(long, value_name = "MBIT_S")]
    pub downlink_least_mbit_s: Option<f64>,
    /// qmi-modem: how far it wanders: standard deviation of its change in a second, in percent of the most.
    #[arg(long, value_name = "PERCENT", default_value_t = ModemSettings::default().downlink_wander_percent)]
    pub downlink_wander_percent: f64,
    /// qmi-modem: delay of the radio link each way.
    #[arg(long, value_name = "US", default_value_t = ModemSettings::default().delay_us)]
    pub delay_us: u64,
    /// qmi-modem: datagrams for the host that wait at most.
    #[arg(long, value_name = "N", default_value_t = ModemSettings::default().downlink_queue)]
    pub downlink_queue: usize,
}

/// Aggregation by the host.
#[derive(Debug, Args)]
pub struct TxAggregationArgs {
    /// The interface.
    pub interface: String,
    /// Bytes of a transfer at most.
    #[arg(long, default_value_t = 16_384)]
    pub bytes: u32,
    /// Datagrams of a transfer at most; 1 turns it off.
    #[arg(long, default_value_t = 16)]
    pub datagrams: u32,
    /// How long a datagram waits for more.
    #[arg(long, value_name = "US", default_value_t = 800)]
    pub hold_us: u32,
}

impl TxAggregationArgs {
    /// Sets it.
    pub fn apply(&self) -> Result<(), FunctionError> {
        let limits = TxAggregation { bytes: self.bytes, datagrams: self.datagrams, hold_us: self.hold_us };
        limits
            .apply(&self.interface)
            .map_err(|source| FunctionError::TxAggregation { interface: self.interface.clone(), source })
    }
}

impl FunctionArgs {
    fn wired(&self, carries: Carries) -> Result<WiredInterface, FunctionError> {
        WiredInterface::create(&self.wired, carries)
            .map_err(|source| FunctionError::Wired { name: self.wired.clone(), source })
    }

    fn aggregation(&self, default: Aggregation) -> Aggregation {
        Aggregation {
            datagrams: self.aggregate_datagrams.unwrap_or(default.datagrams),
            bytes: self.aggregate_bytes.unwrap_or(default.bytes),
            hold_ns: self.hold_us.map_or(default.hold_ns, |us| us.saturating_mul(1_000)),
        }
    }

    /// The NCM function.
    pub fn ncm(&self) -> Result<Box<dyn Device>, FunctionError> {
        let default = NcmSettings::default();
        let settings = NcmSettings {
            posing: match self.posing {
                PosingArg::Standard => Posing::Standard,
                PosingArg::Huawei => Posing::Huawei,
            },
            wide: self.ntb32,
            in_max: self.ntb_in_max,
            out_max: self.ntb_out_max,
            out_datagrams_max: self.ntb_out_datagrams,
            to_host: self.aggregation(default.to_host),
            ..default
        };
        Ok(Box::new(Ncm::new(settings, self.wired(Carries::Ethernet)?)?))
    }

    /// The MBIM function.
    pub fn mbim(&self) -> Result<Box<dyn Device>, FunctionError> {
        let settings = MbimSettings {
            connect: match self.connect {
                ConnectArg::Fixed => Connect::Fixed,
                ConnectArg::Negotiated => Connect::Negotiated,
            },
            wide: self.ntb32,
            in_max: self.ntb_in_max,
            out_max: self.ntb_out_max,
            out_datagrams_max: self.ntb_out_datagrams,
            to_host: self.aggregation(MbimSettings::default().to_host),
        };
        Ok(Box::new(Mbim::new(settings, self.wired(Carries::Ip)?)?))
    }

    /// The ECM function.
    pub fn ecm(&self) -> Result<Box<dyn Device>, FunctionError> {
        Ok(Box::new(Ecm::new(self.wired(Carries::Ethernet)?)))
    }

    /// The modem. `seed`: of what its radio draws.
    pub fn qmi_modem(&self, seed: u64) -> Result<Box<dyn Device>, FunctionError> {
        let default = ModemSettings::default();
        let settings = ModemSettings {
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
            to_host: self.aggregation(default.to_host),
            ..default
        };
        Ok(Box::new(QmiModem::new(settings, self.wired(Carries::Ip)?)?))
    }
}
