//! What is listed of the MBIM function.

use clap::{Args, ValueEnum};

use super::descriptors::identity;
use super::{Connect, Mbim, MbimSettings, MbimStatistics};
use crate::entry::{CountersOf, Driver, Entry, Function, Kind, Options, Plug};
use crate::functions::options::{AggregationOptions, BlockOptions, WiredOptions, AGGREGATION, BLOCKS, WIRED};
use crate::trace::Plain;
use crate::wired::Carries;

/// MBIM function.
pub static MBIM: Entry = Entry {
    name: "mbim",
    label: "MBIM function",
    about: "MBIM network function (cdc_mbim)",
    plug: Plug::Usb(identity),
    kind: Kind::Function(Function { interface: "wwan0" }),
    drivers: &[Driver::stock("cdc_mbim")],
    options: &[WIRED, AGGREGATION, BLOCKS, Options::of::<ConnectOptions>("connect")],
    make: |making| {
        let blocks = making.own::<BlockOptions>()?;
        let settings = MbimSettings {
            connect: match making.own::<ConnectOptions>()?.connect {
                ConnectArg::Fixed => Connect::Fixed,
                ConnectArg::Negotiated => Connect::Negotiated,
            },
            wide: blocks.ntb32,
            in_max: blocks.ntb_in_max,
            out_max: blocks.ntb_out_max,
            out_datagrams_max: blocks.ntb_out_datagrams,
            to_host: making.own::<AggregationOptions>()?.over(MbimSettings::default().to_host),
        };
        Ok(Box::new(Mbim::new(settings, making.own::<WiredOptions>()?.create(making.machine, Carries::Ip)?)?))
    },
    vocabulary: || Box::new(Plain),
    counters: CountersOf::device::<MbimStatistics>("MbimStatistics"),
};

/// How sessions of the MBIM function begin to carry packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum ConnectArg {
    /// Session 0 carries packets without messages.
    Fixed,
    /// The host connects sessions with MBIM messages.
    Negotiated,
}

/// Only the MBIM function has these.
#[derive(Debug, Args)]
#[command(next_help_heading = "Network functions")]
struct ConnectOptions {
    /// mbim: how sessions begin to carry packets.
    #[arg(long, value_enum, default_value = "fixed")]
    connect: ConnectArg,
}
