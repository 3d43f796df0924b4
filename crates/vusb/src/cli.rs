//! The command line.

use std::net::SocketAddr;
use std::os::fd::RawFd;
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};

use vusb::assembly::DeviceArgs;

use crate::control::ControlArgs;
use crate::kernel_trace::{LayoutArgs, PagesArgs};
use crate::ttcp::TtcpArgs;
use crate::tx_aggregation::TxAggregationArgs;

/// A virtual USB device that unmodified Linux drivers drive.
#[derive(Debug, Parser)]
#[command(
    name = "txop-vusb",
    version,
    after_help = "\
Examples:
  txop-vusb attach --device rtl8188cus --stats stats.json     in a guest: hostapd on mac80211_hwsim is the access point
  txop-vusb attach --device rtl8188cus --ap builtin           an open network \"txop\"; its wired end is TAP device vap0
  txop-vusb attach --device ncm --wired wired0                a wired network function; its other end is TAP device wired0
  txop-vusb check-faults noise.toml                           one line of JSON, or what is wrong with it (exit code 2)
  txop-vusb serve --device rtl8723au --ap builtin             for usbip attach -r THIS_MACHINE -b 1-1 elsewhere
SIGUSR1 writes the counters; SIGUSR2 unplugs the device for a second; SIGTERM writes all files and ends the run."
)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Plug the device into this machine's vhci-hcd.
    Attach(DeviceArgs),
    /// Serve the device over USB/IP.
    Serve(ServeArgs),
    /// List the devices, and what each takes.
    Devices {
        /// As JSON.
        #[arg(long)]
        json: bool,
    },
    /// Set how a network interface packs datagrams for its device (ethtool's tx-aggr-*; rmnet).
    TxAggregation(TxAggregationArgs),
    /// In a guest: ask for something of the device that QEMU has; exit status 0, or why not.
    Control(ControlArgs),
    /// Print where members of the running kernel's structures are, in bytes.
    KernelLayout(LayoutArgs),
    /// Copy what a trace pipe of the kernel holds now to standard output.
    TracePages(PagesArgs),
    /// Send or receive so many buffers over TCP, and print what it took, as ttcp does.
    Ttcp(TtcpArgs),
    /// Read the options of a device, and say whether they can be; needs nothing of the machine.
    CheckOptions(DeviceArgs),
    /// Read fault scripts, and say whether a device could carry them out; needs nothing of the machine.
    CheckFaults {
        /// Scripts, as for --faults.
        #[arg(required = true, value_name = "FILE")]
        files: Vec<PathBuf>,
    },
}

/// Serving.
#[derive(Debug, Args)]
pub struct ServeArgs {
    /// The device.
    #[command(flatten)]
    pub device: DeviceArgs,
    /// Where to listen; with port 0 at a free one, which is printed to stderr.
    #[arg(long, default_value = "127.0.0.1:3240", value_name = "ADDRESS:PORT", conflicts_with = "fd")]
    pub listen: SocketAddr,
    /// A connected stream socket that was inherited, instead.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(RawFd).range(0..))]
    pub fd: Option<RawFd>,
}
