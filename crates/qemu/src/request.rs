//! What the guest asks for on its control port: one line of JSON, answered by one.

use clap::{Args, Parser, Subcommand};
use serde::{Deserialize, Serialize};

use vusb::assembly::DeviceArgs;

use crate::clock::GuestClocks;

/// Bytes of a line at most.
pub const LINE_MAX: usize = 65_536;

/// A line of the guest's.
#[derive(Clone, Debug, Deserialize)]
pub struct Line {
    /// CLOCK_REALTIME of the guest when it wrote it, ns.
    pub realtime_ns: u64,
    /// CLOCK_MONOTONIC, ns.
    pub monotonic_ns: u64,
    /// What it wants: a [`Command`].
    pub words: Vec<String>,
}

impl Line {
    /// The clocks of the guest.
    pub const fn clocks(&self) -> GuestClocks {
        GuestClocks { realtime_ns: self.realtime_ns, monotonic_ns: self.monotonic_ns }
    }
}

/// The answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Reply {
    /// Exit status of the program that asks: 0, 2 for wrong input, 3 for what the machine lacks.
    pub status: u8,
    /// For its output, or for its errors where the status is not 0.
    pub text: String,
}

impl Reply {
    /// It was done.
    pub fn done(text: impl Into<String>) -> Self {
        Self { status: 0, text: text.into() }
    }

    /// It was not.
    pub fn failed(status: u8, text: impl Into<String>) -> Self {
        Self { status, text: text.into() }
    }
}

/// The words of a line.
#[derive(Debug, Parser)]
#[command(name = "txop-vusb control", disable_help_flag = true, disable_version_flag = true)]
pub struct Request {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// What the guest may ask for.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Plug the device in.
    Attach(Box<DeviceArgs>),
    /// Write the counters to a file of results.
    Counters(FileArgs),
    /// Print how often the faults of the script have struck.
    Struck,
    /// Unplug the device for a second.
    Replug,
    /// Whether the device is there still.
    Alive,
    /// Unplug the device for good, and end its files.
    Detach,
    /// Print one moment by QEMU's clock and by the device's, as JSON; the line carries the guest's clocks.
    Clock,
    /// Stop the guest, to be saved; it continues here, or where it is restored.
    Checkpoint,
    /// Print the script of the run that the guest was restored for; what the device draws comes from the run's seed from now on.
    Run,
}

/// A file of results.
#[derive(Debug, Args)]
pub struct FileArgs {
    /// Its name in the guest.
    pub file: std::path::PathBuf,
}
