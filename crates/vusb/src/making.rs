//! What a device is made of: its surroundings, as the command line has them.

use std::io;
use std::path::{Path, PathBuf};

use clap::ArgMatches;
use monitor::CaptureSettings;
use sdio::BusAbility;

use crate::air::{ChannelSettings, LinkSignal, Medium, Neighbour};
use crate::device::Device;
use crate::fault::Script;
use crate::machine::Machine;
use crate::options::{AccessPointOptions, ApKind, HostKind, Surroundings};
use crate::peers::builtin::{Builtin, BuiltinSettings, More};
use crate::peers::hostapd::Hostapd;
use crate::peers::radios::{Radios, Role};
use crate::peers::silent::Silent;
use crate::peers::{ApError, Peers};
use crate::record::{self, AirFile, CommandFile};
use crate::ushc::{self, SdioChip, Ushc};
use crate::wired::Carries;

/// How often an interrupt of an SDIO card that lasts is reported, us: more often costs the processor, more seldom the latency.
const CARD_INTERRUPT_US: u64 = 500;

/// A day.
const NEVER_US: u64 = 86_400_000_000;

/// Why a device cannot be made.
#[derive(Debug, thiserror::Error)]
pub enum MakeError {
    /// An assumption about it.
    #[error("--assume: {0}")]
    Assumption(String),
    /// One of its settings, or a file with them.
    #[error("{0}")]
    Setting(String),
    /// The access point.
    #[error("{0}")]
    Ap(#[from] ApError),
    /// Its wired end.
    #[error("cannot make the network interface {name}: {source} (it takes the tun module and CAP_NET_ADMIN)")]
    Wired {
        /// Its name.
        name: String,
        /// What the system said.
        source: io::Error,
    },
    /// A file that is written.
    #[error("{path}: {source}")]
    File {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
}

impl MakeError {
    /// The exit code: 2 for wrong input, 3 for what the machine lacks.
    pub const fn code(&self) -> u8 {
        match self {
            Self::Assumption(_) | Self::Setting(_) | Self::File { .. } => 2,
            Self::Ap(_) | Self::Wired { .. } => 3,
        }
    }
}

fn file(path: &Path) -> impl FnOnce(io::Error) -> MakeError + '_ {
    move |source| MakeError::File { path: path.into(), source }
}

/// What a device is made of.
#[derive(Clone, Copy)]
pub struct Making<'a> {
    /// Its surroundings.
    pub surroundings: &'a Surroundings,
    /// What is assumed of it: `NAME=VALUE`.
    pub assumptions: &'a [String],
    /// What access points do.
    pub access_point: &'a AccessPointOptions,
    /// The options that it has itself.
    pub own: &'a ArgMatches,
    /// The script, also of what the built-in access point does.
    pub script: Option<&'a Script>,
    /// The machine around it.
    pub machine: &'a Machine,
    /// What has to be added to the run's clock for the time since 1970, ns.
    pub epoch_ns: i64,
}

impl Making<'_> {
    /// Options of its own ([`crate::entry::Entry::options`]).
    ///
    /// # Errors
    /// They are not of the device.
    pub fn own<T: clap::Args>(&self) -> Result<T, MakeError> {
        T::from_arg_matches(self.own).map_err(|error| MakeError::Setting(error.to_string()))
    }

    /// Sets what is assumed.
    ///
    /// # Errors
    /// The first that `set` refuses.
    pub fn assume(&self, mut set: impl FnMut(&str) -> Result<(), String>) -> Result<(), MakeError> {
        self.assumptions.iter().try_for_each(|assumption| set(assumption)).map_err(MakeError::Assumption)
    }

    /// The air.
    ///
    /// # Errors
    /// Those of its capture.
    pub fn medium(&self) -> Result<Medium, MakeError> {
        let around = self.surroundings;
        let recorder = match &around.air {
            Some(path) => Some(AirFile::open(path, &self.captured(), around.continued).map_err(file(path))?),
            None => None,
        };
        let channel = ChannelSettings { signal_dbm: around.signal, noise_dbm: around.noise, loss: around.loss };
        let medium = match (around.stations.is_empty(), around.access_points.is_empty()) {
            (false, _) => Medium::with_stations(channel, &self.link_signals(), around.seed, recorder),
            (_, false) => Medium::with_access_points(channel, &self.link_signals(), around.seed, recorder),
            _ => Medium::new(channel, around.seed, recorder),
        };
        Ok(medium.with_neighbour(around.neighbour.map(Neighbour::new)))
    }

    /// Who is on the air with it: its stations, or access points.
    ///
    /// # Errors
    /// What they need is not there.
    pub fn peers(&self) -> Result<Box<dyn Peers>, MakeError> {
        let (around, strict) = (self.surroundings, self.access_point.strict_agreements);
        let role = match (around.stations.is_empty(), around.access_points.is_empty()) {
            (false, _) => Some(Role::Stations),
            (_, false) => Some(Role::AccessPoints),
            _ => None,
        };
        if let Some(role) = role {
            return Ok(Box::new(Radios::new(self.machine.radios()?, role, &self.link_signals(), strict)));
        }
        Ok(match around.ap {
            ApKind::Hostapd => Box::new(Hostapd::new(self.machine.radios()?, around.signal, strict)),
            ApKind::None => Box::new(Silent),
            ApKind::Builtin => Box::new(self.builtin()?),
        })
    }

    fn builtin(&self) -> Result<Builtin, ApError> {
        let options = self.access_point;
        let mut settings = BuiltinSettings {
            ssid: options.ssid.clone(),
            channel: options.channel,
            wide: options.wide,
            mcs: options.mcs,
            short_gi: options.short_gi,
            tap: options.tap.clone(),
            more: More { strict_agreements: options.strict_agreements, ..More::default() },
        };
        if let Some(network) = self.script.and_then(|script| script.network.as_ref()) {
            network.apply(&mut settings);
        }
        let wired = self
            .machine
            .interface(&settings.tap, Carries::Ethernet)
            .map_err(|source| ApError::Tap { name: settings.tap.clone(), source })?;
        Ok(Builtin::with(settings, self.script.map(|script| script.ap.clone()).unwrap_or_default(), wired))
    }

    /// A card in the slot of a host controller.
    ///
    /// # Errors
    /// Those of its command log.
    pub fn in_slot(&self, chip: impl SdioChip + 'static) -> Result<Box<dyn Device>, MakeError> {
        let around = self.surroundings;
        let log = match &around.command_log {
            Some(path) => Some(CommandFile::open(path, &self.captured(), around.continued).map_err(file(path))?),
            None => None,
        };
        // The controller in the kernel keeps the state of the line: a change is enough.
        let repeat_us = if around.host == HostKind::Virtual { NEVER_US } else { CARD_INTERRUPT_US };
        let settings = ushc::Settings {
            repeat_ns: around.interrupt_us.unwrap_or(repeat_us) * 1_000,
            bus_time: around.bus_time,
            card: BusAbility { four_lines: around.card_lines != Some(1), high_speed: around.card_mhz != Some(25) },
        };
        Ok(Box::new(Ushc::new(chip, settings).with_log(log)))
    }

    /// Signal on the link to each station, or each of several access points.
    fn link_signals(&self) -> Vec<LinkSignal> {
        let around = self.surroundings;
        let up = around.stations_up.iter().copied().map(Some).chain(std::iter::repeat(None));
        let link = |(&down_dbm, up): (&i8, Option<i8>)| LinkSignal { down_dbm, up_dbm: up.unwrap_or(down_dbm) };
        around.stations.iter().chain(&around.access_points).zip(up).map(link).collect()
    }

    /// How captures are made.
    pub fn captured(&self) -> CaptureSettings {
        record::settings(self.machine.origin(), self.epoch_ns, self.surroundings.capture_limit)
    }
}
