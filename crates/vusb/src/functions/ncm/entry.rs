//! What is listed of the NCM function.

use clap::{Args, ValueEnum};

use super::descriptors::identity;
use super::{Ncm, NcmSettings, NcmStatistics, Posing};
use crate::entry::{CountersOf, Driver, Entry, Function, Kind, Options, Plug};
use crate::functions::options::{AggregationOptions, BlockOptions, WiredOptions, AGGREGATION, BLOCKS, WIRED};
use crate::trace::Plain;
use crate::wired::Carries;

/// NCM function.
pub static NCM: Entry = Entry {
    name: "ncm",
    label: "NCM function",
    about: "CDC NCM network function (cdc_ncm, huawei_cdc_ncm)",
    plug: Plug::Usb(|| identity(&NcmSettings::default())),
    kind: Kind::Function(Function { interface: "usb0" }),
    drivers: &[Driver::stock("cdc_ncm"), Driver::stock("huawei_cdc_ncm")],
    options: &[WIRED, AGGREGATION, Options::of::<PosingOptions>("posing"), BLOCKS],
    make: |making| {
        let (default, blocks) = (NcmSettings::default(), making.own::<BlockOptions>()?);
        let settings = NcmSettings {
            posing: match making.own::<PosingOptions>()?.posing {
                PosingArg::Standard => Posing::Standard,
                PosingArg::Huawei => Posing::Huawei,
            },
            wide: blocks.ntb32,
            in_max: blocks.ntb_in_max,
            out_max: blocks.ntb_out_max,
            out_datagrams_max: blocks.ntb_out_datagrams,
            to_host: making.own::<AggregationOptions>()?.over(default.to_host),
            ..default
        };
        Ok(Box::new(Ncm::new(settings, making.own::<WiredOptions>()?.create(making.machine, Carries::Ethernet)?)?))
    },
    vocabulary: || Box::new(Plain),
    counters: CountersOf::device::<NcmStatistics>("NcmStatistics"),
};

/// Which driver binds to the NCM function.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum PosingArg {
    /// cdc_ncm: 16-bit blocks.
    Standard,
    /// huawei_cdc_ncm: 32-bit blocks, with --ntb32.
    Huawei,
}

/// Only the NCM function has these.
#[derive(Debug, Args)]
#[command(next_help_heading = "Network functions")]
struct PosingOptions {
    /// ncm: what it looks like.
    #[arg(long, value_enum, default_value = "standard")]
    posing: PosingArg,
}
