//! TUN devices in network namespaces.

use std::fs::File;
use std::io;
use std::net::IpAddr;
use std::os::fd::AsFd;
use std::os::unix::fs::FileExt;
use std::path::PathBuf;
use std::thread;

use rustix::thread::{move_into_link_name_space, LinkNameSpaceType};
use serde::Deserialize;
use tun_rs::{DeviceBuilder, SyncDevice};

use crate::EmulateError;

/// The interfaces of the namespace of the thread that opens it, with their counters (proc(5)).
const COUNTERS: &str = "/proc/thread-self/net/dev";
/// Longest text of counters that is read.
const COUNTERS_BYTES: usize = 1 << 16;
/// Where packets that were dropped on transmission stand behind the name of the interface.
const TRANSMIT_DROP: usize = 11;

/// A host of the link: one TUN device. (The length of its queue is left to `ip link`: the ioctl for it asks for rights over
/// the whole machine, which the root of a user namespace has not.)
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HostSettings {
    /// What it is called.
    pub name: String,
    /// The network namespace that its device is made in (`/proc/PID/ns/net`); `None`: that of the caller.
    #[serde(default)]
    pub namespace: Option<PathBuf>,
    /// Name of the device, at most 15 bytes.
    pub device: String,
    /// Largest packet, bytes.
    pub mtu: u16,
    /// Packets to these addresses are for this host.
    pub addresses: Vec<IpAddr>,
}

/// An open device.
pub(crate) struct Device {
    pub(crate) tun: SyncDevice,
    name: String,
    counters: Option<File>,
}

impl HostSettings {
    /// Makes the device. It is down and has no address.
    pub(crate) fn open(&self) -> Result<Device, EmulateError> {
        // A thread of its own: the namespace of the calling thread stays what it is.
        let opened = thread::scope(|scope| scope.spawn(|| self.open_here()).join());
        opened.unwrap_or_else(|_| {
            let source = io::Error::other("its thread broke off");
            Err(EmulateError::Device { name: self.device.clone(), source })
        })
    }

    fn open_here(&self) -> Result<Device, EmulateError> {
        if let Some(path) = &self.namespace {
            let entered = File::open(path).and_then(|file| {
                move_into_link_name_space(file.as_fd(), Some(LinkNameSpaceType::Network)).map_err(io::Error::from)
            });
            entered.map_err(|source| EmulateError::Namespace { path: path.clone(), source })?;
        }
        let tun = DeviceBuilder::new()
            .name(self.device.clone())
            .mtu(self.mtu)
            .offload(false)
            .enable(false)
            .build_sync()
            .and_then(|tun| tun.set_nonblocking(true).map(|()| tun))
            .map_err(|source| EmulateError::Device { name: self.device.clone(), source })?;
        Ok(Device { tun, name: self.device.clone(), counters: File::open(COUNTERS).ok() })
    }
}

impl Device {
    /// Packets that overflowed its queue, by the kernel's count.
    pub(crate) fn lost(&self) -> Option<u64> {
        let mut text = vec![0; COUNTERS_BYTES];
        let len = self.counters.as_ref()?.read_at(&mut text, 0).ok()?;
        lost_of(&String::from_utf8_lossy(text.get(..len)?), &self.name)
    }
}

fn lost_of(text: &str, name: &str) -> Option<u64> {
    let row = text.lines().find_map(|line| line.trim_start().strip_prefix(name)?.strip_prefix(':'))?;
    row.split_ascii_whitespace().nth(TRANSMIT_DROP)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_column_of_drops() {
        let text = "Inter-|   Receive                                                |  Transmit\n \
             face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs drop fifo colls \
             carrier compressed\n    lo:       0       0    0    9    0     0          0         0        0       0    \
             0    8    0     0       0          0\n  air0:     1       2    3    4    5     6          7         8        \
             9       10    11    12    13     14       15          16\n";
        assert_eq!((lost_of(text, "air0"), lost_of(text, "lo"), lost_of(text, "air")), (Some(12), Some(8), None));
    }

    #[test]
    fn the_kernel_has_these_counters() {
        let text = std::fs::read_to_string(COUNTERS).expect("proc");
        assert!(lost_of(&text, "lo").is_some());
    }
}
