//! Where a device is: what it has of radios and of network interfaces beside its bus.

use crate::peers::relay::{Mailbox, Relay, Transport};
use crate::peers::ApError;
use crate::wired::{Carries, Wired, WiredInterface, WiredQueues};

/// The machine around a device.
#[derive(Clone, Debug, Default)]
pub enum Machine {
    /// The kernel that this program runs on: its simulated radios and TAP devices.
    #[default]
    Kernel,
    /// A computer outside which the device is: its simulated radios and its network interface are reached by messages.
    Outside {
        /// Those of its simulated radios.
        radios: Mailbox,
        /// Those of its network interface.
        wired: WiredQueues,
    },
}

impl Machine {
    /// The way to its simulated radios.
    ///
    /// # Errors
    /// It has none, or another program has them.
    pub(crate) fn radios(&self) -> Result<Box<dyn Transport>, ApError> {
        Ok(match self {
            Self::Kernel => Box::new(Relay::new()?),
            Self::Outside { radios, .. } => Box::new(radios.clone()),
        })
    }

    /// A network interface of it; on the kernel of this program it is made with this name.
    ///
    /// # Errors
    /// Those of [`WiredInterface::create`].
    pub(crate) fn interface(&self, name: &str, carries: Carries) -> std::io::Result<Box<dyn Wired>> {
        Ok(match self {
            Self::Kernel => Box::new(WiredInterface::create(name, carries)?),
            Self::Outside { wired, .. } => Box::new(wired.clone()),
        })
    }
}
