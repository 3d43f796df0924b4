//! From the command line to a device that is being served.

use std::io::{self, Write};
use std::os::fd::{FromRawFd, OwnedFd};
use std::path::{Path, PathBuf};

use vusb::assembly::{AssemblyError, DeviceArgs};
use vusb::device::Device;
use vusb::fault::{Script, ScriptError};
use vusb::machine::Machine;
use vusb::options::{HostKind, Surroundings};
use vusb::record::Observer;
use vusb::registry::{Table, DEVICES};
use vusb::serve::{write_statistics, Clock, Ended, Export, Host, ServeError, Served, Signals, Until, Vhci};
use vusb::urbs::UrbCounters;
use wire::usb::usbip::ExportedDevice;

use crate::cli::{Cli, Command, ServeArgs};
use crate::kernel_trace::TraceError;
use crate::tx_aggregation::TxAggregationError;

/// Bus and device number that this program gives its device.
const BUS: u32 = 1;
const DEVICE: u32 = 2;

/// Why a run ends early.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The device cannot be made.
    #[error("{0}")]
    Assembly(#[from] AssemblyError),
    /// A fault script.
    #[error("{0}")]
    Script(#[from] ScriptError),
    /// Options that exclude each other.
    #[error("{0}")]
    Option(String),
    /// Aggregation by the host.
    #[error("{0}")]
    TxAggregation(#[from] TxAggregationError),
    /// What the guest asks of its device.
    #[error("control: {0}")]
    Control(io::Error),
    /// A trace of the kernel.
    #[error("{0}")]
    Trace(#[from] TraceError),
    /// A transfer of ttcp.
    #[error("ttcp: {0}")]
    Transfer(io::Error),
    /// The way to the host.
    #[error("{0}")]
    Serve(#[from] ServeError),
    /// A file of the device, with a name that it says.
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
            Self::Assembly(error) => error.code(),
            Self::Script(_) | Self::Option(_) | Self::OfDevice(_) | Self::File { .. } => 2,
            Self::TxAggregation(_) | Self::Serve(_) | Self::Transfer(_) | Self::Control(_) | Self::Trace(_) => 3,
        }
    }
}

fn file(path: &Path) -> impl FnOnce(io::Error) -> RunError + '_ {
    move |source| RunError::File { path: path.into(), source }
}

/// Does what the command line says; gives the exit status.
pub fn run(cli: &Cli) -> Result<u8, RunError> {
    match &cli.command {
        Command::Control(args) => args.run().map_err(RunError::Control),
        _ => without_status(cli).map(|()| 0),
    }
}

fn without_status(cli: &Cli) -> Result<(), RunError> {
    let signals = Signals::install().map_err(|source| ServeError::System { what: "catching signals", source })?;
    match &cli.command {
        Command::Attach(args) => Run::new(args, &signals)?.whole(Run::attach),
        Command::Devices { json } => list_devices(*json).map_err(file(Path::new("standard output"))),
        Command::TxAggregation(args) => Ok(args.apply()?),
        Command::KernelLayout(args) => Ok(args.run()?),
        Command::TracePages(args) => Ok(args.run()?),
        Command::Ttcp(args) => args.run().map_err(RunError::Transfer),
        Command::Control(_) => Ok(()),
        Command::CheckFaults { files } => read_scripts(files),
        Command::CheckOptions(args) => Ok(args.check()?),
        Command::Serve(ServeArgs { device, listen, fd }) => {
            let mut export = match *fd {
                // SAFETY: the number was given to this program for this, and nothing else in it uses it.
                #[expect(unsafe_code, reason = "a descriptor that was handed over is taken")]
                Some(fd) => Export::inherited(unsafe { OwnedFd::from_raw_fd(fd) }),
                None => Export::listen(*listen)?,
            };
            Run::new(device, &signals)?.whole(|run| run.export(&mut export))
        }
    }
}

struct Run<'a> {
    args: &'a DeviceArgs,
    /// The surroundings among them.
    around: &'a Surroundings,
    signals: &'a Signals,
    device: Box<dyn Device>,
    observer: Option<Box<dyn Observer>>,
    urbs: UrbCounters,
}

/// Prints the table of devices.
fn list_devices(json: bool) -> io::Result<()> {
    let mut out = io::stdout().lock();
    if json {
        return write!(out, "{}", Table::of_all().to_json().map_err(io::Error::other)?);
    }
    let width = DEVICES.iter().map(|entry| entry.name.len()).max().unwrap_or_default();
    DEVICES.iter().try_for_each(|entry| writeln!(out, "{:width$}  {}", entry.name, entry.about))
}

impl<'a> Run<'a> {
    fn new(args: &'a DeviceArgs, signals: &'a Signals) -> Result<Self, RunError> {
        if args.surroundings.host == HostKind::Virtual {
            return Err(RunError::Option("--host virtual: only the QEMU of a guest has that controller".into()));
        }
        let epoch_ns = Clock.epoch_ns();
        let device = args.device(&Machine::Kernel, epoch_ns)?;
        let (around, observer) = (&args.surroundings, args.observer(&Machine::Kernel, epoch_ns)?);
        Ok(Self { args, around, signals, device, observer, urbs: UrbCounters::default() })
    }

    /// Serves one connection, or none, until something has come.
    fn serve(&mut self, connection: Option<OwnedFd>, until: Until<'_>) -> Result<Ended, RunError> {
        let (statistics, before) = (self.around.stats.clone(), self.urbs);
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
            let (connection, port) = vhci.plug()?;
            eprintln!("txop-vusb: {} on vhci port {port}", self.args.device.name);
            if !matches!(self.serve(Some(connection), Until::Parted)?, Ended::Unplugged) {
                return Ok(());
            }
            eprintln!("txop-vusb: {} unplugged", self.args.device.name);
            if !matches!(self.serve(None, Until::Present)?, Ended::Present) {
                return Ok(());
            }
        }
    }

    fn export(&mut self, export: &mut Export) -> Result<(), RunError> {
        if let Some(address) = export.address() {
            eprintln!("txop-vusb: {} on {address}", self.args.device.name);
        }
        let exported = exported(self.device.identity());
        while let Ended::Imported(connection) = self.serve(None, Until::Imported(export, &exported))? {
            self.device.reset(Clock.now_ns());
            if matches!(self.serve(Some(connection), Until::Parted)?, Ended::Stopped) {
                break;
            }
        }
        Ok(())
    }

    /// Writes all files, whatever happens to one of them.
    fn finish(mut self) -> Result<(), RunError> {
        let statistics = match &self.around.stats {
            Some(path) => write_statistics(path, &self.device, &self.urbs).map_err(file(path)),
            None => Ok(()),
        };
        let usb = match (&mut self.observer, &self.around.usb) {
            (Some(observer), Some(path)) => observer.finish().map_err(file(path)),
            _ => Ok(()),
        };
        statistics.and(usb).and(self.device.finish().map_err(RunError::OfDevice))
    }
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
