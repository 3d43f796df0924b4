//! The slot of a virtual SD host controller (`virtual_mmc_host`, a module of this project's own).

use std::fs::OpenOptions;
use std::os::fd::OwnedFd;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use rustix::fs::OFlags;

use super::ServeError;

const DEVICE: &str = "/dev/virtual-mmc";

/// Puts a card into a slot; it is pulled out when this is closed.
///
/// # Errors
/// There is no such controller, or no right to use it.
pub fn open_slot() -> Result<OwnedFd, ServeError> {
    let flags = OFlags::NONBLOCK.bits() as i32;
    let opened = OpenOptions::new().read(true).write(true).custom_flags(flags).open(DEVICE);
    opened.map(Into::into).map_err(|source| ServeError::NoSlot { path: Path::new(DEVICE).into(), source })
}
