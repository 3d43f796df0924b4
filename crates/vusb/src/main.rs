//! `txop-vusb`: a virtual USB device for this machine, or for another one.

#![deny(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic, clippy::unreachable)]

mod cli;
mod control;
mod kernel_trace;
mod run;
mod ttcp;
mod tx_aggregation;

use std::process::ExitCode;

use clap::Parser;

fn main() -> ExitCode {
    let cli = cli::Cli::parse();
    match run::run(&cli) {
        Ok(status) => ExitCode::from(status),
        Err(error) => {
            eprintln!("txop-vusb: {error}");
            ExitCode::from(error.code())
        }
    }
}
