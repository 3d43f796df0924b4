//! From the command line to a device that is being served.

use std::io::{self, Write};
use std::os::fd::{FromRawFd, OwnedFd};
use std::path::{Path, PathBuf};

use monitor::CaptureSettings;
use sdio::BusAbility;
use vusb::air::{ChannelSettings, LinkSignal, Medium, Neighbour};
use vusb::chips::ar6003::{self, Ar6003};
use vusb::chips::mt7610u::{self, Mt7610u};
use vusb::chips::rtl8188cus::efuse::EfuseError;
use vusb::chips::rtl8188cus::{self, Model, RegisterNames, Rtl8188cus, Settings};
use vusb::chips::sd8686::{self, Sd8686};
use vusb::device::Device;
use vusb::fault::{Faulty, Script, ScriptError};
use vusb::peers::builtin::{Builtin, BuiltinSettings, More};
use vusb::peers::hostapd::Hostapd;
use vusb::peers::radios::{Radios, Role};
use vusb::peers::silent::Silent;
use vusb::peers::{ApError, Peers};
use vusb::record::{self, AirFile, CommandFile, Observer, UsbFile};
use vusb::serve::{
    open_slot, write_statistics, Clock, Connection, Ended, Export, Host, ServeError, Served, Signals, Until, Vhci,
};
use vusb::session::UrbCounters;
use vusb::trace::{Plain, Traced, Vocabulary};
use vusb::ushc::{self, SdioChip, Ushc};
use wire::usb::usbip::ExportedDevice;
use wire::usb::usbmon::LONG_HEADER;

use crate::cli::{ApKind, Cli, Command, DeviceArgs, DeviceKind, HostKind, ServeArgs};
use crate::function_args::FunctionError;

/// Bus and device number that this program gives its device.
const BUS: u32 = 1;
const DEVICE: u32 = 2;

/// Stations of an access point, or access points, at most. The chip's table has room for 128 (Linux mt76x02.h,
/// MT76x02_N_WCIDS); a processor of a guest has not.
const STATIONS_MAX: usize = 16;

/// How often an interrupt of an SDIO card that lasts is reported, us: more often costs the processor, more seldom the latency.
const CARD_INTERRUPT_US: u64 = 500;

/// A day.
const NEVER_US: u64 = 86_400_000_000;

/// Why a run ends early.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The efuse file.
    #[error("{0}")]
    Efuse(#[from] EfuseError),
    /// An assumption about the chip.
    #[error("--assume: {0}")]
    Assumption(String),
    /// The fault script.
    #[error("{0}")]
    Script(#[from] ScriptError),
    /// A script for an access point that is another one.
    #[error("{path}: [network] and [[ap]] are for the built-in access point: --ap builtin")]
    NotBuiltin {
        /// The script.
        path: PathBuf,
    },
    /// Too many stations or access points.
    #[error("{0}: {1} of them; {STATIONS_MAX} at most")]
    TooMany(&'static str, usize),
    /// Options of another chip.
    #[error("{0}")]
    Option(&'static str),
    /// The access point.
    #[error("{0}")]
    Ap(#[from] ApError),
    /// A network function, or the interface behind it.
    #[error("{0}")]
    Function(#[from] FunctionError),
    /// A transfer of ttcp.
    #[error("ttcp: {0}")]
    Transfer(io::Error),
    /// The way to the host.
    #[error("{0}")]
    Serve(#[from] ServeError),
    /// A file of the device, whose name it says.
    #[error("{0}")]
    OfDevice(io::Error),
    /// A file that is written.
    #[error("{path}: {source}")]
    File {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
}

impl RunError {
    /// The exit code: 2 for wrong input, 3 for what the machine lacks.
    pub const fn code(&self) -> u8 {
        match self {
            Self::Function(error) => error.code(),
            Self::Efuse(_)
            | Self::Assumption(_)
            | Self::Script(_)
            | Self::NotBuiltin { .. }
            | Self::TooMany(..)
            | Self::Option(_)
            | Self::OfDevice(_)
            | Self::File { .. } => 2,
            Self::Ap(_) | Self::Serve(_) | Self::Transfer(_) => 3,
        }
    }
}

fn file(path: &Path) -> impl FnOnce(io::Error) -> RunError + '_ {
    move |source| RunError::File { path: path.into(), source }
}

/// Does what the command line says.
pub fn run(cli: &Cli) -> Result<(), RunError> {
    let signals = Signals::install().map_err(|source| ServeError::System { what: "catching signals", source })?;
    match &cli.command {
        Command::Attach(args) => Run::new(args, &signals)?.whole(Run::attach),
        Command::TxAggregation(args) => Ok(args.apply()?),
        Command::Ttcp(args) => args.run().map_err(RunError::Transfer),
        Command::CheckFaults { files } => read_scripts(files),
        Command::CheckOptions(args) => check_options(args),
        Command::Serve(ServeArgs { device: DeviceArgs { host: HostKind::Virtual, .. }, .. }) => {
            Err(RunError::Option("--host virtual: that controller is in this kernel: attach"))
        }
        Command::Serve(args) => {
            let mut export = match args.fd {
                // SAFETY: the number was given to this program for this, and nothing else in it uses it.
                #[expect(unsafe_code, reason = "a descriptor that was handed over is taken")]
                Some(fd) => Export::inherited(unsafe { OwnedFd::from_raw_fd(fd) }),
                None => Export::listen(args.listen)?,
            };
            Run::new(&args.device, &signals)?.whole(|run| run.export(&mut export))
        }
    }
}

struct Run<'a> {
    args: &'a DeviceArgs,
    signals: &'a Signals,
    device: Box<dyn Device>,
    observer: Option<Box<dyn Observer>>,
    urbs: UrbCounters,
}

fn device(args: &DeviceArgs) -> Result<Box<dyn Device>, RunError> {
    let script = args.faults.as_deref().map(Script::open).transpose()?;
    if let (true, Some(path)) = (args.ap != ApKind::Builtin, &args.faults) {
        if script.as_ref().is_some_and(Script::is_about_ap) {
            return Err(RunError::NotBuiltin { path: path.clone() });
        }
    }
    if let Some(error) = unfitting(args) {
        return Err(error);
    }
    let device = match args.device {
        DeviceKind::Rtl8188cus => chip(args, Model::Rtl8188cus, script.as_ref())?,
        DeviceKind::Rtl8723au => chip(args, Model::Rtl8723au, script.as_ref())?,
        DeviceKind::Rtl8188eu => chip(args, Model::Rtl8188eu, script.as_ref())?,
        DeviceKind::Mt7610u => mt7610u(args, mt7610u::Model::Mt7610u, script.as_ref())?,
        DeviceKind::Mt7601u => mt7610u(args, mt7610u::Model::Mt7601u, script.as_ref())?,
        DeviceKind::Ar6003 => ar6003(args, ar6003::Model::Ar6003, script.as_ref())?,
        DeviceKind::Ar6004 => ar6003(args, ar6003::Model::Ar6004, script.as_ref())?,
        DeviceKind::Sd8686 => sd8686(args, script.as_ref())?,
        DeviceKind::Ncm => args.function.ncm()?,
        DeviceKind::Mbim => args.function.mbim()?,
        DeviceKind::Ecm => args.function.ecm()?,
        DeviceKind::QmiModem => args.function.qmi_modem(args.seed)?,
    };
    // Also without faults: it is what can be unplugged.
    let device = Box::new(Faulty::new(device, script.unwrap_or_default()));
    Ok(match &args.trace {
        Some(path) => {
            let vocabulary: Box<dyn Vocabulary> = match args.device {
                DeviceKind::Rtl8188cus | DeviceKind::Rtl8723au => Box::new(RegisterNames::new(Model::Rtl8188cus)),
                DeviceKind::Rtl8188eu => Box::new(RegisterNames::new(Model::Rtl8188eu)),
                DeviceKind::Mt7610u => Box::new(mt7610u::RegisterNames::new(mt7610u::Model::Mt7610u)),
                DeviceKind::Mt7601u => Box::new(mt7610u::RegisterNames::new(mt7610u::Model::Mt7601u)),
                DeviceKind::Ar6003
                | DeviceKind::Ar6004
                | DeviceKind::Sd8686
                | DeviceKind::Ncm
                | DeviceKind::Mbim
                | DeviceKind::Ecm
                | DeviceKind::QmiModem => Box::new(Plain),
            };
            Box::new(Traced::create(device, vocabulary, path).map_err(file(path))?)
        }
        None => device,
    })
}

/// Options that are another device's, or more than there may be.
fn unfitting(args: &DeviceArgs) -> Option<RunError> {
    for (option, peers) in [("--stations", &args.stations), ("--access-points", &args.access_points)] {
        if peers.len() > STATIONS_MAX {
            return Some(RunError::TooMany(option, peers.len()));
        }
    }
    let is_mt7610u = args.device == DeviceKind::Mt7610u;
    let is_card = matches!(args.device, DeviceKind::Ar6003 | DeviceKind::Ar6004 | DeviceKind::Sd8686);
    if !args.stations.is_empty() && !is_mt7610u {
        return Some(RunError::Option("--stations: only an MT7610U is an access point (--device mt7610u)"));
    }
    if !args.stations_up.is_empty() && args.stations_up.len() != args.stations.len() {
        return Some(RunError::Option("--stations-up: as many signals as --stations has"));
    }
    let has_radio = !matches!(args.device, DeviceKind::Ncm | DeviceKind::Mbim | DeviceKind::Ecm | DeviceKind::QmiModem);
    if !args.access_points.is_empty() && !has_radio {
        return Some(RunError::Option("--access-points: a network function has no radio"));
    }
    if args.efuse.is_some() && (is_mt7610u || args.device == DeviceKind::Mt7601u) {
        return Some(RunError::Option("--efuse: an MT7610U's or MT7601U's is not given"));
    }
    if args.efuse.is_some() && is_card {
        return Some(RunError::Option("--efuse: these cards have none that their drivers read"));
    }
    let about_card = args.bus_time || args.card_lines.is_some() || args.card_mhz.is_some();
    if about_card && !is_card {
        return Some(RunError::Option("--bus-time, --card-lines and --card-mhz: only an SDIO card has such a bus"));
    }
    if args.command_log.is_some() && !is_card {
        return Some(RunError::Option("--command-log: only an SDIO card gets commands"));
    }
    if args.host == HostKind::Virtual {
        if !is_card {
            return Some(RunError::Option("--host: only an SDIO card has a host controller of its own"));
        }
        if args.bus_time || args.interrupt_us.is_some() {
            return Some(RunError::Option(
                "--host virtual: --bus-time and --interrupt-us are the controller's (parameters of virtual_mmc_host)",
            ));
        }
        if args.usb.is_some() {
            return Some(RunError::Option("--host virtual: there is no USB, so --usb has nothing to record"));
        }
    }
    let times_interrupts = is_card || matches!(args.device, DeviceKind::Rtl8188cus | DeviceKind::Rtl8723au);
    if args.interrupt_us.is_some() && !times_interrupts {
        return Some(RunError::Option(
            "--interrupt-us: only an RTL8188CUS, an RTL8723AU or an SDIO card times its interrupt endpoint",
        ));
    }
    None
}

fn chip(args: &DeviceArgs, model: Model, script: Option<&Script>) -> Result<Box<dyn Device>, RunError> {
    let mut settings = Settings::new(model);
    settings.interrupt_ns = args.interrupt_us.map_or(settings.interrupt_ns, |us| us * 1_000);
    settings.seed = args.seed;
    for assumption in &args.assume {
        settings.assume(assumption).map_err(RunError::Assumption)?;
    }
    if let Some(path) = &args.efuse {
        settings.efuse = settings.efuse.replaced_by(path)?;
    }
    Ok(Box::new(Rtl8188cus::new(settings, medium(args)?, access_point(args, script)?)))
}

fn mt7610u(args: &DeviceArgs, model: mt7610u::Model, script: Option<&Script>) -> Result<Box<dyn Device>, RunError> {
    let mut settings = mt7610u::Settings::new(model);
    for assumption in &args.assume {
        settings.assumptions.set(assumption).map_err(RunError::Assumption)?;
    }
    let peers: Box<dyn Peers> = if args.stations.is_empty() {
        access_point(args, script)?
    } else {
        Box::new(Radios::new(Role::Stations, &link_signals(args), args.strict_agreements)?)
    };
    Ok(Box::new(Mt7610u::new(settings, medium(args)?, peers)))
}

fn ar6003(args: &DeviceArgs, model: ar6003::Model, script: Option<&Script>) -> Result<Box<dyn Device>, RunError> {
    let mut settings = ar6003::Settings::new(model);
    for assumption in &args.assume {
        settings.assumptions.set_fitting(assumption).map_err(RunError::Assumption)?;
    }
    in_slot(args, Ar6003::new(settings, medium(args)?, access_point(args, script)?))
}

fn sd8686(args: &DeviceArgs, script: Option<&Script>) -> Result<Box<dyn Device>, RunError> {
    let mut settings = sd8686::Settings::default();
    for assumption in &args.assume {
        settings.assumptions.set(assumption).map_err(RunError::Assumption)?;
    }
    in_slot(args, Sd8686::new(settings, medium(args)?, access_point(args, script)?))
}

/// A card in the slot of a host controller.
fn in_slot(args: &DeviceArgs, chip: impl SdioChip + 'static) -> Result<Box<dyn Device>, RunError> {
    let log = match &args.command_log {
        Some(path) => Some(CommandFile::create(path, &captured(args)).map_err(file(path))?),
        None => None,
    };
    // The controller in the kernel keeps the state of the line: a change is enough.
    let repeat_us = if args.host == HostKind::Virtual { NEVER_US } else { CARD_INTERRUPT_US };
    let settings = ushc::Settings {
        repeat_ns: args.interrupt_us.unwrap_or(repeat_us) * 1_000,
        bus_time: args.bus_time,
        card: BusAbility { four_lines: args.card_lines != Some(1), high_speed: args.card_mhz != Some(25) },
    };
    Ok(Box::new(Ushc::new(chip, settings).with_log(log)))
}

fn medium(args: &DeviceArgs) -> Result<Medium, RunError> {
    let recorder = match &args.air {
        Some(path) => Some(AirFile::create(path, &captured(args)).map_err(file(path))?),
        None => None,
    };
    let channel = ChannelSettings { signal_dbm: args.signal, noise_dbm: args.noise, loss: args.loss };
    let medium = match (args.stations.is_empty(), args.access_points.is_empty()) {
        (false, _) => Medium::with_stations(channel, &link_signals(args), args.seed, recorder),
        (_, false) => Medium::with_access_points(channel, &link_signals(args), args.seed, recorder),
        _ => Medium::new(channel, args.seed, recorder),
    };
    Ok(medium.with_neighbour(args.neighbour.map(Neighbour::new)))
}

/// Signal on the link to each station, or each of several access points.
fn link_signals(args: &DeviceArgs) -> Vec<LinkSignal> {
    let up = args.stations_up.iter().copied().map(Some).chain(std::iter::repeat(None));
    let link = |(&down_dbm, up): (&i8, Option<i8>)| LinkSignal { down_dbm, up_dbm: up.unwrap_or(down_dbm) };
    args.stations.iter().chain(&args.access_points).zip(up).map(link).collect()
}

fn access_point(args: &DeviceArgs, script: Option<&Script>) -> Result<Box<dyn Peers>, RunError> {
    if !args.access_points.is_empty() {
        return Ok(Box::new(Radios::new(Role::AccessPoints, &link_signals(args), args.strict_agreements)?));
    }
    Ok(match args.ap {
        ApKind::Hostapd => Box::new(Hostapd::new(args.signal, args.strict_agreements)?),
        ApKind::None => Box::new(Silent),
        ApKind::Builtin => Box::new(builtin(args, script)?),
    })
}

/// How captures are made.
fn captured(args: &DeviceArgs) -> CaptureSettings {
    record::settings(Clock.epoch_ns(), args.capture_limit)
}

fn builtin(args: &DeviceArgs, script: Option<&Script>) -> Result<Builtin, ApError> {
    let mut settings = BuiltinSettings {
        ssid: args.ssid.clone(),
        channel: args.channel,
        wide: args.wide,
        mcs: args.mcs,
        short_gi: args.short_gi,
        tap: args.tap.clone(),
        more: More { strict_agreements: args.strict_agreements, ..More::default() },
    };
    if let Some(network) = script.and_then(|script| script.network.as_ref()) {
        network.apply(&mut settings);
    }
    Builtin::new(settings, script.map(|script| script.ap.clone()).unwrap_or_default())
}

impl<'a> Run<'a> {
    fn new(args: &'a DeviceArgs, signals: &'a Signals) -> Result<Self, RunError> {
        let device = device(args)?;
        let observer = match &args.usb {
            Some(path) => {
                let snap_bytes = args.usb_snap.saturating_add(LONG_HEADER);
                let settings = CaptureSettings { snap_bytes, ..captured(args) };
                let recorder = UsbFile::create(path, &settings).map_err(file(path))?;
                Some(Box::new(recorder) as Box<dyn Observer>)
            }
            None => None,
        };
        Ok(Self { args, signals, device, observer, urbs: UrbCounters::default() })
    }

    /// Serves one connection, or none, until something has come.
    fn serve(&mut self, connection: Option<Connection>, until: Until<'_>) -> Result<Ended, RunError> {
        let (statistics, before) = (self.args.stats.clone(), self.urbs);
        let host = Host { connection, signals: self.signals, statistics, before };
        let Served { ended, urbs, observer } = host.serve(&mut self.device, self.observer.take(), until)?;
        self.observer = observer;
        self.urbs.add(&urbs);
        Ok(ended)
    }

    /// Runs, and writes all files, also if the run ends with an error.
    fn whole(mut self, run: impl FnOnce(&mut Self) -> Result<(), RunError>) -> Result<(), RunError> {
        let done = run(&mut self);
        done.and(self.finish())
    }

    fn attach(&mut self) -> Result<(), RunError> {
        let vhci = Vhci::new(BUS << 16 | DEVICE, self.device.identity().speed);
        loop {
            self.device.reset(Clock.now_ns());
            let connection = if self.args.host == HostKind::Virtual {
                let slot = open_slot()?;
                eprintln!("txop-vusb: {:?} in a slot of virtual_mmc_host", self.args.device);
                Connection::Slot(slot)
            } else {
                let (connection, port) = vhci.plug()?;
                eprintln!("txop-vusb: {:?} on vhci port {port}", self.args.device);
                Connection::Usb(connection)
            };
            if !matches!(self.serve(Some(connection), Until::Parted)?, Ended::Unplugged) {
                return Ok(());
            }
            eprintln!("txop-vusb: {:?} unplugged", self.args.device);
            if !matches!(self.serve(None, Until::Present)?, Ended::Present) {
                return Ok(());
            }
        }
    }

    fn export(&mut self, export: &mut Export) -> Result<(), RunError> {
        if let Some(address) = export.address() {
            eprintln!("txop-vusb: {:?} on {address}", self.args.device);
        }
        let exported = exported(self.device.identity());
        while let Ended::Imported(connection) = self.serve(None, Until::Imported(export, &exported))? {
            self.device.reset(Clock.now_ns());
            if matches!(self.serve(Some(Connection::Usb(connection)), Until::Parted)?, Ended::Stopped) {
                break;
            }
        }
        Ok(())
    }

    /// Writes all files, whatever happens to one of them.
    fn finish(mut self) -> Result<(), RunError> {
        let statistics = match &self.args.stats {
            Some(path) => write_statistics(path, &self.device, &self.urbs).map_err(file(path)),
            None => Ok(()),
        };
        let usb = match (&mut self.observer, &self.args.usb) {
            (Some(observer), Some(path)) => observer.finish().map_err(file(path)),
            _ => Ok(()),
        };
        statistics.and(usb).and(self.device.finish().map_err(RunError::OfDevice))
    }
}

/// Whether options fit each other; that they can be read is known already.
fn check_options(args: &DeviceArgs) -> Result<(), RunError> {
    for assumption in &args.assume {
        let set = match args.device {
            DeviceKind::Rtl8188eu => rtl8188cus::EuAssumptions::default().set(assumption),
            DeviceKind::Mt7610u | DeviceKind::Mt7601u => mt7610u::assumptions::Assumptions::default().set(assumption),
            DeviceKind::Ar6003 => ar6003::Settings::new(ar6003::Model::Ar6003).assumptions.set_fitting(assumption),
            DeviceKind::Ar6004 => ar6003::Settings::new(ar6003::Model::Ar6004).assumptions.set_fitting(assumption),
            DeviceKind::Sd8686 => sd8686::assumptions::Assumptions::default().set(assumption),
            _ => rtl8188cus::assumptions::Assumptions::default().set(assumption),
        };
        set.map_err(RunError::Assumption)?;
    }
    unfitting(args).map_or(Ok(()), Err)
}

/// Reads scripts, and says what is in each: one line of JSON.
fn read_scripts(paths: &[PathBuf]) -> Result<(), RunError> {
    for path in paths {
        let script = Script::open(path)?;
        let names: Vec<&str> = script.fault.iter().map(|fault| fault.name.as_str()).collect();
        let line = serde_json::json!({ "faults": names, "access_point": script.is_about_ap() });
        writeln!(io::stdout(), "{line}").map_err(file(Path::new("standard output")))?;
    }
    Ok(())
}

fn exported(identity: &vusb::device::Identity) -> ExportedDevice {
    let d = &identity.device;
    let half = |low, high| u16::from_le_bytes([low, high]);
    let mut interfaces = Vec::new();
    for part in wire::usb::descriptors::configuration(&identity.configuration).into_iter().flatten() {
        if let wire::usb::descriptors::Part::Interface { alternate: 0, class, .. } = part {
            interfaces.push(class);
        }
    }
    ExportedDevice {
        path: "/sys/devices/virtual/txop-vusb".into(),
        bus_id: "1-1".into(),
        bus: BUS,
        device: DEVICE,
        speed: identity.speed,
        ids: (half(d[8], d[9]), half(d[10], d[11]), half(d[12], d[13])),
        class: (d[4], d[5], d[6]),
        configuration: 1,
        configurations: d[17],
        interfaces,
    }
}
