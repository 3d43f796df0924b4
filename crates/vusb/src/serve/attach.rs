//! Plugging into this machine's own virtual host controller (vhci-hcd), without a network in between.

use std::fs;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::path::PathBuf;

use rustix::net::sockopt::set_socket_send_buffer_size;
use rustix::net::{socketpair, AddressFamily, SocketFlags, SocketType};
use wire::usb::usbip::Speed;

use super::{system, ServeError};

const FOLDER: &str = "/sys/devices/platform/vhci_hcd.0";
/// `VDEV_ST_NULL`: nothing plugged in (drivers/usb/usbip/usbip_common.h).
const FREE: &str = "004";
/// Bytes that either end may have under way: more than a driver's URBs together.
const BUFFER: usize = 4 << 20;

/// The virtual host controller of this machine.
#[derive(Debug)]
pub struct Vhci {
    folder: PathBuf,
    device_id: u32,
    speed: Speed,
}

impl Vhci {
    /// The first controller. `device_id` is what the device is called in headers.
    pub fn new(device_id: u32, speed: Speed) -> Self {
        Self { folder: PathBuf::from(FOLDER), device_id, speed }
    }

    /// Plugs a device in: gives the device's end of the connection, and the port.
    ///
    /// # Errors
    /// No vhci-hcd, no free port, no right to do it.
    pub fn plug(&self) -> Result<(OwnedFd, u32), ServeError> {
        let status = self.folder.join("status");
        let ports = fs::read_to_string(&status).map_err(|source| ServeError::NoVhci { path: status, source })?;
        let port = free_port(&ports, self.speed).ok_or(ServeError::NoFreePort)?;
        let (device, host) = socketpair(AddressFamily::UNIX, SocketType::STREAM, SocketFlags::CLOEXEC, None)
            .map_err(|errno| system("making a pair of sockets")(errno.into()))?;
        for end in [&device, &host] {
            // Larger than the system's limit is cut to it.
            let _ = set_socket_send_buffer_size(end, BUFFER);
        }
        let request = format!("{port} {} {} {}", host.as_raw_fd(), self.device_id, self.speed as u32);
        let path = self.folder.join("attach");
        // The kernel takes its own reference to the socket.
        fs::write(&path, &request).map_err(|source: io::Error| ServeError::Attach { path, request, source })?;
        Ok((device, port))
    }
}

/// The first port that is free and of the right kind, in vhci's `status` (Documentation/ABI/testing/sysfs-platform-vhci;
/// one line per port: hub port status speed device sockfd local_busid).
fn free_port(status: &str, speed: Speed) -> Option<u32> {
    let hub = if speed == Speed::Super { "ss" } else { "hs" };
    status.lines().find_map(|line| {
        let mut fields = line.split_whitespace();
        let is_free = fields.next() == Some(hub);
        let port = fields.next()?.parse().ok()?;
        (is_free && fields.next() == Some(FREE)).then_some(port)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn free_ports() {
        // As Linux 6.12 prints it.
        let status = "hub port sta spd dev      sockfd local_busid\n\
                      hs  0000 006 003 00010002 000003 1-1\n\
                      hs  0001 004 000 00000000 000000 0-0\n\
                      ss  0008 004 000 00000000 000000 0-0\n";
        assert_eq!(free_port(status, Speed::High), Some(1));
        assert_eq!(free_port(status, Speed::Super), Some(8));
        assert_eq!(free_port("hub port\n", Speed::High), None);
    }
}
