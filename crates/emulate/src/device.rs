//! TUN devices in network namespaces.

use std::fs::File;
use std::io;
use std::os::fd::AsFd;
use std::path::PathBuf;
use std::thread;

use rustix::thread::{move_into_link_name_space, LinkNameSpaceType};
use tun_rs::{DeviceBuilder, SyncDevice};

use crate::EmulateError;

/// One TUN device. (The length of its queue is left to `ip link`: the ioctl for it asks for rights over the whole machine,
/// which the root of a user namespace has not.)
#[derive(Clone, Debug)]
pub struct DeviceSettings {
    /// The network namespace that it is made in (`/proc/PID/ns/net`); `None`: that of the caller.
    pub namespace: Option<PathBuf>,
    /// Name, at most 15 bytes.
    pub name: String,
    /// Largest packet, bytes.
    pub mtu: u16,
}

impl DeviceSettings {
    /// Makes the device. It is down and has no address.
    pub(crate) fn open(&self) -> Result<SyncDevice, EmulateError> {
        // A thread of its own: the namespace of the calling thread stays what it is.
        let opened = thread::scope(|scope| scope.spawn(|| self.open_here()).join());
        opened.unwrap_or_else(|_| {
            let source = io::Error::other("its thread broke off");
            Err(EmulateError::Device { name: self.name.clone(), source })
        })
    }

    fn open_here(&self) -> Result<SyncDevice, EmulateError> {
        if let Some(path) = &self.namespace {
            let entered = File::open(path).and_then(|file| {
                move_into_link_name_space(file.as_fd(), Some(LinkNameSpaceType::Network)).map_err(io::Error::from)
            });
            entered.map_err(|source| EmulateError::Namespace { path: path.clone(), source })?;
        }
        DeviceBuilder::new()
            .name(self.name.clone())
            .mtu(self.mtu)
            .offload(false)
            .enable(false)
            .build_sync()
            .and_then(|device| device.set_nonblocking(true).map(|()| device))
            .map_err(|source| EmulateError::Device { name: self.name.clone(), source })
    }
}
