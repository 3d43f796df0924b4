//! A device for other machines: a USB/IP server with one device.

use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::time::Duration;

use wire::usb::usbip::{emit_refusal, ExportedDevice, Request, BUS_ID, REQUEST};

use super::{system, ServeError};

/// A client that says nothing for so long is sent away.
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
        let listener = TcpListener::bind(address);
        listener.map(Self::Listener).map_err(|source| ServeError::Listen { address: address.to_string(), source })
    }

    /// Waits for a client that imports the device, and answers lists meanwhile. `None`: there will be no other.
    ///
    /// # Errors
    /// Those of the sockets of this machine; a client that misbehaves is sent away.
    pub fn wait(&mut self, device: &ExportedDevice) -> Result<Option<OwnedFd>, ServeError> {
        match self {
            Self::Inherited(fd) => {
                let Some(fd) = fd.take() else { return Ok(None) };
                let mut stream = UnixStream::from(fd);
                match handshake(&mut stream, device).map_err(system("reading the import request"))? {
                    true => Ok(Some(stream.into())),
                    false => Ok(None),
                }
            }
            Self::Listener(listener) => loop {
                let (mut stream, peer) = listener.accept().map_err(system("waiting for a client"))?;
                match greet(&mut stream, device) {
                    Ok(true) => return Ok(Some(stream.into())),
                    Ok(false) => {}
                    Err(error) => eprintln!("txop-vusb: {peer}: {error}"),
                }
            },
        }
    }
}

fn greet(stream: &mut TcpStream, device: &ExportedDevice) -> io::Result<bool> {
    stream.set_nodelay(true)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    let imported = handshake(stream, device)?;
    stream.set_read_timeout(None)?;
    Ok(imported)
}

/// Answers one request; `true`: the device was imported.
fn handshake(stream: &mut (impl Read + Write), device: &ExportedDevice) -> io::Result<bool> {
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
                let got = stream.read(bytes.get_mut(len..end).unwrap_or_default())?;
                if got == 0 {
                    return Err(io::ErrorKind::UnexpectedEof.into());
                }
                len += got;
            }
        }
    };
    stream.write_all(&reply)?;
    Ok(imported)
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
        let (mut ours, mut theirs) = UnixStream::pair().unwrap();
        theirs.write_all(request).unwrap();
        theirs.shutdown(std::net::Shutdown::Write).unwrap();
        let result = handshake(&mut ours, &device());
        drop(ours);
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
}
