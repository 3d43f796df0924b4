//! A device for other machines: a USB/IP server with one device.

use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpListener};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

use rustix::event::{poll, PollFd, PollFlags, Timespec};
use rustix::io::Errno;
use wire::usb::usbip::{emit_refusal, ExportedDevice, Request, BUS_ID, REQUEST};

use super::{system, ServeError, Signals};

/// A client that has not asked for anything by then is sent away: others cannot connect meanwhile.
const PATIENCE: Duration = Duration::from_secs(5);

/// Where imports come in.
#[derive(Debug)]
pub enum Export {
    /// Any number of clients, one after the other.
    Listener(TcpListener),
    /// One connection that somebody else made.
    Inherited(Option<OwnedFd>),
}

impl Export {
    /// Listens on TCP.
    ///
    /// # Errors
    /// The address is in use, or not of this machine.
    pub fn listen(address: SocketAddr) -> Result<Self, ServeError> {
        let listener = TcpListener::bind(address).and_then(|listener| {
            listener.set_nonblocking(true)?;
            Ok(listener)
        });
        listener.map(Self::Listener).map_err(|source| ServeError::Listen { address: address.to_string(), source })
    }

    /// Answers whoever is there. Gives the connection of one that imports the device; `None`: nobody did.
    ///
    /// # Errors
    /// Those of the sockets of this machine; a client that misbehaves is sent away with a message.
    pub fn greet(&mut self, device: &ExportedDevice, signals: &Signals) -> Result<Option<OwnedFd>, ServeError> {
        match self {
            Self::Inherited(fd) => {
                let Some(fd) = fd.take() else { return Ok(None) };
                match handshake(UnixStream::from(fd), device, signals, None) {
                    Err(error) if error.kind() == io::ErrorKind::Interrupted => Ok(None),
                    result => result.map_err(system("reading the import request")),
                }
            }
            Self::Listener(listener) => {
                let (stream, peer) = match listener.accept() {
                    Ok(accepted) => accepted,
                    // It has gone again, or the machine is short of something; the next one may have better luck.
                    Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(None),
                    Err(error) if error.kind() == io::ErrorKind::ConnectionAborted => return Ok(None),
                    Err(error) => return Err(system("waiting for a client")(error)),
                };
                let imported = stream
                    .set_nonblocking(false)
                    .and_then(|()| stream.set_nodelay(true))
                    .and_then(|()| handshake(stream, device, signals, Some(Instant::now() + PATIENCE)));
                Ok(imported.unwrap_or_else(|error| {
                    eprintln!("txop-vusb: {peer}: {error}");
                    None
                }))
            }
        }
    }
}

/// Answers one request. Gives the connection back if the device was imported.
fn handshake<S: Read + Write + AsFd + Into<OwnedFd>>(
    mut stream: S,
    device: &ExportedDevice,
    signals: &Signals,
    deadline: Option<Instant>,
) -> io::Result<Option<OwnedFd>> {
    let mut bytes = [0; REQUEST + BUS_ID];
    let mut len = 0;
    let mut reply = Vec::new();
    // One byte more than needed must not be taken: what follows an import are URBs.
    let imported = loop {
        let parsed = Request::parse(bytes.get(..len).unwrap_or_default()).map_err(invalid)?;
        match parsed {
            Some((Request::DeviceList, _)) => {
                device.emit_list(&mut reply);
                break false;
            }
            Some((Request::Import(id), _)) => {
                let wanted = id.split(|&byte| byte == 0).next().unwrap_or_default();
                let known = wanted == device.bus_id.as_bytes();
                if known {
                    device.emit_import(&mut reply);
                } else {
                    emit_refusal(&mut reply);
                }
                break known;
            }
            None => {
                let end = if len < REQUEST { REQUEST } else { REQUEST + BUS_ID };
                wait_for_bytes(&stream, signals, deadline)?;
                let got = stream.read(bytes.get_mut(len..end).unwrap_or_default())?;
                if got == 0 {
                    return Err(io::ErrorKind::UnexpectedEof.into());
                }
                len += got;
            }
        }
    };
    stream.write_all(&reply)?;
    Ok(imported.then(|| stream.into()))
}

/// Waits until there is something to read; not beyond the deadline, and not when this program is told to end.
fn wait_for_bytes(stream: &impl AsFd, signals: &Signals, deadline: Option<Instant>) -> io::Result<()> {
    loop {
        let mut fds = [PollFd::new(stream, PollFlags::IN), PollFd::new(&signals.stop, PollFlags::IN)];
        let timeout = deadline.map(|deadline| {
            let left = deadline.saturating_duration_since(Instant::now());
            Timespec { tv_sec: left.as_secs() as i64, tv_nsec: i64::from(left.subsec_nanos()) as _ }
        });
        match poll(&mut fds, timeout.as_ref()) {
            Ok(0) => return Err(io::Error::new(io::ErrorKind::TimedOut, "no request in time")),
            Ok(_) if !fds[1].revents().is_empty() => {
                return Err(io::Error::new(io::ErrorKind::Interrupted, "told to end before a request came"));
            }
            Ok(_) => return Ok(()),
            Err(Errno::INTR) => {}
            Err(errno) => return Err(errno.into()),
        }
    }
}

fn invalid(error: impl std::fmt::Display) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use wire::usb::usbip::{Speed, DEVICE};

    fn device() -> ExportedDevice {
        ExportedDevice {
            path: "/sys/devices/virtual/txop".into(),
            bus_id: "1-1".into(),
            bus: 1,
            device: 2,
            speed: Speed::High,
            ids: (1, 2, 3),
            class: (0, 0, 0),
            configuration: 1,
            configurations: 1,
            interfaces: vec![(255, 255, 255)],
        }
    }

    fn import(bus_id: &str) -> Vec<u8> {
        let mut request = vec![0x01, 0x11, 0x80, 0x03, 0, 0, 0, 0];
        request.extend(bus_id.bytes());
        request.resize(REQUEST + BUS_ID, 0);
        request
    }

    fn answer(request: &[u8]) -> (io::Result<bool>, Vec<u8>) {
        let signals = Signals::install().unwrap();
        let (ours, mut theirs) = UnixStream::pair().unwrap();
        theirs.write_all(request).unwrap();
        theirs.shutdown(std::net::Shutdown::Write).unwrap();
        let result = handshake(ours, &device(), &signals, None).map(|imported| imported.is_some());
        let mut reply = Vec::new();
        let _ = theirs.read_to_end(&mut reply);
        (result, reply)
    }

    #[test]
    fn imports_lists_and_refusals() {
        let (result, reply) = answer(&import("1-1"));
        assert_eq!((result.unwrap(), reply.len()), (true, REQUEST + DEVICE));
        let (result, reply) = answer(&import("1-2"));
        assert_eq!((result.unwrap(), reply), (false, vec![0x01, 0x11, 0, 3, 0, 0, 0, 4]));
        let (result, reply) = answer(&[0x01, 0x11, 0x80, 0x05, 0, 0, 0, 0]);
        assert_eq!((result.unwrap(), reply.len()), (false, REQUEST + 4 + DEVICE + 4));
        assert!(answer(b"GET / HTTP/1.1\r\n").0.is_err());
        assert!(answer(&import("1-1")[..20]).0.is_err());
    }

    /// However many bytes it sends before: the time is for the whole request.
    #[test]
    fn a_client_that_takes_its_time_is_sent_away() {
        let signals = Signals::install().unwrap();
        let (ours, mut theirs) = UnixStream::pair().unwrap();
        theirs.write_all(&import("1-1")[..5]).unwrap();
        let error = handshake(ours, &device(), &signals, Some(Instant::now())).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
    }
}
