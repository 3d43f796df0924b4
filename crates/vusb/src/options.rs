//! The options of the command line that are about the surroundings of a device.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

/// Where an SDIO card is plugged in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum HostKind {
    /// A USB host controller of this program's own, which the stock driver ushc drives.
    Ushc,
    /// One of a guest's QEMU, for the module virtual_mmc_host, which is not a stock one.
    Virtual,
}

/// Which access point.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ApKind {
    /// hostapd on a radio of mac80211_hwsim in this kernel.
    Hostapd,
    /// One of this program's own: open, with a TAP device behind it.
    Builtin,
    /// No peer: for tests of probing and of the bus.
    None,
}

/// The surroundings of a device.
#[derive(Debug, Args)]
pub struct Surroundings {
    /// Files are there, and are continued.
    #[arg(skip)]
    pub continued: bool,
    /// The access point.
    #[arg(long, value_enum, default_value = "hostapd")]
    pub ap: ApKind,
    /// The chip is the access point of this many stations: the signal in dBm on the link to each, which are radios 0, 1, ... of
    /// mac80211_hwsim in this kernel. MT7610U only; in place of --ap and --signal.
    #[arg(
        long,
        value_name = "DBM,...",
        value_delimiter = ',',
        allow_negative_numbers = true,
        conflicts_with_all = ["ap", "signal"]
    )]
    pub stations: Vec<i8>,
    /// With --stations: the signal in dBm of what each sends, at the chip; default: as the other way.
    #[arg(long, value_name = "DBM,...", value_delimiter = ',', allow_negative_numbers = true, requires = "stations")]
    pub stations_up: Vec<i8>,
    /// Several access points of one network, in place of --ap and --signal: the signal in dBm on the link to each, which are
    /// radios 0, 1, ... of mac80211_hwsim in this kernel, all on one channel.
    #[arg(
        long,
        value_name = "DBM,...",
        value_delimiter = ',',
        allow_negative_numbers = true,
        conflicts_with_all = ["ap", "signal", "stations"]
    )]
    pub access_points: Vec<i8>,
    /// Efuse map: raw, or as a kernel log dumps it.
    #[arg(long, value_name = "FILE")]
    pub efuse: Option<PathBuf>,
    /// Script of faults, and of what the built-in access point does.
    #[arg(long, value_name = "FILE")]
    pub faults: Option<PathBuf>,
    /// USB devices: recorded replies (probe.json of `txop guest probe`) in place of the model; only its descriptors stay.
    #[arg(long, value_name = "FILE")]
    pub replies: Option<PathBuf>,
    /// Record all URBs (pcapng, link type 220).
    #[arg(long, value_name = "FILE")]
    pub usb: Option<PathBuf>,
    /// Bytes of data kept per URB.
    #[arg(long, value_name = "BYTES", default_value_t = 65_536)]
    pub usb_snap: usize,
    /// SDIO cards: record every command with its data, and the interrupt line (pcapng, link type 147; docs/virtual-sdio.md).
    #[arg(long, value_name = "FILE")]
    pub command_log: Option<PathBuf>,
    /// SDIO cards: commands take the time that they need on the wires, at the clock and width that the host sets.
    #[arg(long)]
    pub bus_time: bool,
    /// SDIO cards: the host controller.
    #[arg(long, value_enum, default_value = "ushc")]
    pub host: HostKind,
    /// SDIO cards: lines of the data bus that the card has, 1 or 4 (default).
    #[arg(long, value_name = "N", value_parser = one_or_four)]
    pub card_lines: Option<u8>,
    /// SDIO cards: the fastest clock that the card takes, 25 or 50 (default) MHz.
    #[arg(long, value_name = "MHZ", value_parser = clock)]
    pub card_mhz: Option<u8>,
    /// Write down what the driver does: registers by name, firmware commands, descriptors (JSON lines).
    #[arg(long, value_name = "FILE")]
    pub trace: Option<PathBuf>,
    /// Record all frames on the air (pcapng, radiotap).
    #[arg(long, value_name = "FILE")]
    pub air: Option<PathBuf>,
    /// Largest size of each capture: what comes later is left out, and stderr says from when on.
    #[arg(long, value_name = "BYTES", value_parser = clap::value_parser!(u64).range(65_536..))]
    pub capture_limit: Option<u64>,
    /// Write the counters here at the end and on SIGUSR1 (JSON).
    #[arg(long, value_name = "FILE")]
    pub stats: Option<PathBuf>,
    /// Seed of backoffs and losses.
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// Signal strength at both receivers.
    #[arg(long, value_name = "DBM", default_value_t = -45, allow_negative_numbers = true)]
    pub signal: i8,
    /// Noise at both receivers.
    #[arg(long, value_name = "DBM", default_value_t = -95, allow_negative_numbers = true)]
    pub noise: i8,
    /// Probability that an MPDU gets lost, on top of the noise.
    #[arg(long, value_name = "0..1", default_value_t = 0.0, value_parser = probability)]
    pub loss: f64,
    /// A third station on the channel sends this many Mbit/s of 1500-byte packets at 54 Mbit/s to an access point of its own.
    #[arg(long, value_name = "MBIT_S", value_parser = neighbour)]
    pub neighbour: Option<f64>,
    /// Shortest time between two answers of the interrupt endpoint, us (RTL8188CUS and RTL8723AU; default: 125; SDIO cards:
    /// between two reports of an interrupt that lasts; default: 500).
    #[arg(long, value_name = "US", value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    pub interrupt_us: Option<u64>,
}

/// What access points do.
#[derive(Debug, Args)]
pub struct AccessPointOptions {
    /// Access point: does not answer A-MPDUs for which there is no Block Ack agreement. Real ones have been seen to.
    #[arg(long)]
    pub strict_agreements: bool,
    /// Built-in access point: name of the network, 32 bytes at most.
    #[arg(long, default_value = "txop", value_parser = ssid)]
    pub ssid: String,
    /// Built-in access point: channel.
    #[arg(long, default_value_t = 6, value_parser = clap::value_parser!(u8).range(1..=13))]
    pub channel: u8,
    /// Built-in access point: 40 MHz.
    #[arg(long)]
    pub wide: bool,
    /// Built-in access point: MCS that it sends at.
    #[arg(long, default_value_t = 7, value_parser = clap::value_parser!(u8).range(0..=7))]
    pub mcs: u8,
    /// Built-in access point: send with the short guard interval.
    #[arg(long)]
    pub short_gi: bool,
    /// Built-in access point: name of its TAP device.
    #[arg(long, value_name = "NAME", default_value = "vap0")]
    pub tap: String,
}

fn one_or_four(text: &str) -> Result<u8, String> {
    match text {
        "1" => Ok(1),
        "4" => Ok(4),
        _ => Err("give 1 or 4".into()),
    }
}

fn clock(text: &str) -> Result<u8, String> {
    match text {
        "25" => Ok(25),
        "50" => Ok(50),
        _ => Err("give 25 or 50".into()),
    }
}

fn ssid(text: &str) -> Result<String, String> {
    if (1..=32).contains(&text.len()) {
        Ok(text.into())
    } else {
        Err("give 1 to 32 bytes".into())
    }
}

fn neighbour(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(value) if (0.01..=54.0).contains(&value) => Ok(value),
        _ => Err("give a number from 0.01 to 54".into()),
    }
}

fn probability(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(value) if (0.0..=1.0).contains(&value) => Ok(value),
        _ => Err("give a number from 0 to 1".into()),
    }
}
