//! From options to a device, with its script of faults and its trace around it.

use std::io;
use std::path::{Path, PathBuf};

use clap::Args;
use wire::usb::usbmon::LONG_HEADER;

use crate::device::Device;
use crate::entry::{Entry, Plug};
use crate::fault::{Faulty, Script, ScriptError};
use crate::machine::Machine;
use crate::making::{MakeError, Making};
use crate::options::{AccessPointOptions, ApKind, Surroundings};
use crate::record::{Observer, UsbFile};
use crate::registry::{assumption, default_device, incompatible, named, OwnOptions};
use crate::replies::Replayed;
use crate::trace::Traced;
use monitor::CaptureSettings;

/// The device and its surroundings.
#[derive(Debug, Args)]
pub struct DeviceArgs {
    /// The chip or function.
    #[arg(long, default_value = default_device(), value_parser = named())]
    pub device: &'static Entry,
    /// Its surroundings.
    #[command(flatten)]
    pub surroundings: Surroundings,
    /// What is assumed of the chip where nothing says what it does, by name (docs/virtual-chips.md); several times.
    #[arg(long, value_name = "NAME=VALUE", value_parser = assumption)]
    pub assume: Vec<String>,
    /// What access points do.
    #[command(flatten)]
    pub access_point: AccessPointOptions,
    /// What the device has itself.
    #[command(flatten)]
    pub own: OwnOptions,
}

/// Why there is no device.
#[derive(Debug, thiserror::Error)]
pub enum AssemblyError {
    /// The device cannot be made.
    #[error("{0}")]
    Make(#[from] MakeError),
    /// The fault script.
    #[error("{0}")]
    Script(#[from] ScriptError),
    /// A script for an access point that is another one.
    #[error("{path}: [network] and [[ap]] are for the built-in access point: --ap builtin")]
    NotBuiltin {
        /// The script.
        path: PathBuf,
    },
    /// Options of another device, or more than there may be.
    #[error("{0}")]
    Option(String),
    /// A file that is written.
    #[error("{path}: {source}")]
    File {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
}

impl AssemblyError {
    /// The exit code: 2 for wrong input, 3 for what the machine lacks.
    pub const fn code(&self) -> u8 {
        match self {
            Self::Make(error) => error.code(),
            Self::Script(_) | Self::NotBuiltin { .. } | Self::Option(_) | Self::File { .. } => 2,
        }
    }
}

fn file(path: &Path) -> impl FnOnce(io::Error) -> AssemblyError + '_ {
    move |source| AssemblyError::File { path: path.into(), source }
}

impl DeviceArgs {
    fn making<'a>(&'a self, script: Option<&'a Script>, machine: &'a Machine, epoch_ns: i64) -> Making<'a> {
        let Self { surroundings, assume, access_point, own, .. } = self;
        Making { surroundings, assumptions: assume, access_point, own: &own.0, script, machine, epoch_ns }
    }

    /// Makes the device. `epoch_ns`: what has to be added to the run's clock for the time since 1970.
    ///
    /// # Errors
    /// See [`AssemblyError`].
    pub fn device(&self, machine: &Machine, epoch_ns: i64) -> Result<Box<dyn Device>, AssemblyError> {
        let around = &self.surroundings;
        let script = around.faults.as_deref().map(Script::open).transpose()?;
        if let (true, Some(path)) = (around.ap != ApKind::Builtin, &around.faults) {
            if script.as_ref().is_some_and(Script::is_about_ap) {
                return Err(AssemblyError::NotBuiltin { path: path.clone() });
            }
        }
        if let Some(what) = incompatible(self.device, around) {
            return Err(AssemblyError::Option(what));
        }
        let making = self.making(script.as_ref(), machine, epoch_ns);
        making.assume(|assumption| self.device.check_assumption(assumption))?;
        let device: Box<dyn Device> = match (&around.replies, self.device.plug) {
            (Some(path), Plug::Usb(identity)) => {
                Box::new(Replayed::open(identity(), path).map_err(AssemblyError::Option)?)
            }
            _ => (self.device.make)(&making)?,
        };
        // Also without faults: it is what can be unplugged.
        let device = Box::new(Faulty::new(device, script.unwrap_or_default()));
        Ok(match &around.trace {
            Some(path) => Box::new(
                Traced::create(device, (self.device.vocabulary)(), path, around.continued).map_err(file(path))?,
            ),
            None => device,
        })
    }

    /// What records the bus; `None`: nothing does.
    ///
    /// # Errors
    /// Those of the file.
    pub fn observer(&self, machine: &Machine, epoch_ns: i64) -> Result<Option<Box<dyn Observer>>, AssemblyError> {
        let around = &self.surroundings;
        let Some(path) = &around.usb else { return Ok(None) };
        let snap_bytes = around.usb_snap.saturating_add(LONG_HEADER);
        let captured = self.making(None, machine, epoch_ns).captured();
        let recorder = UsbFile::open(path, &CaptureSettings { snap_bytes, ..captured }, self.surroundings.continued)
            .map_err(file(path))?;
        Ok(Some(Box::new(recorder)))
    }

    /// Whether options fit each other; that they can be read is known already.
    ///
    /// # Errors
    /// Those that do not.
    pub fn check(&self) -> Result<(), AssemblyError> {
        self.making(None, &Machine::default(), 0).assume(|assumption| self.device.check_assumption(assumption))?;
        incompatible(self.device, &self.surroundings).map_or(Ok(()), |what| Err(AssemblyError::Option(what)))
    }
}
