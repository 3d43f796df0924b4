//! A device for other machines: a USB/IP server with one device.

use std::io;
use std::net::{SocketAddr, TcpListener};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::io::Errno;
use rustix::net::sockopt::set_socket_keepalive;
use rustix::net::{recv, send, RecvFlags, SendFlags};
use wire::usb::usbip::{emit_refusal, ExportedDevice, Request, BUS_ID, REQUEST};

use super::{system, ServeError};

/// A client that has not said by then what it wants is sent away.
const PATIENCE_NS: u64 = 5_000_000_000;
/// Clients that are listened to at the same time; more of them wait in the system's queue.
const CLIENTS_MAX: usize = 8;

/// Where imports come in. Nothing here waits: that is what the event loop does.
#[derive(Debug)]
pub struct Export {
    /// `None`: only the client there is.
    listener: Option<TcpListener>,
    clients: Vec<Client>,
}

/// A client that has not asked for anything yet.
#[derive(Debug)]
struct Client {
    stream: OwnedFd,
    /// Its address; `None`: the connection was made elsewhere.
    peer: Option<SocketAddr>,
    bytes: [u8; REQUEST + BUS_ID],
    len: usize,
    until_ns: u64,
}

/// Who came.
#[derive(Debug)]
pub(super) enum Arrival {
    /// A host that imported the device, which knows it.
    Host(OwnedFd),
    /// No client yet.
    None,
    /// No client, and none will come.
    Never,
}

impl Export {
    /// Listens on TCP: any number of clients, one after the other.
    ///
    /// # Errors
    /// The address is in use, or not of this machine.
    pub fn listen(address: SocketAddr) -> Result<Self, ServeError> {
        let unable = |source| ServeError::Listen { address: address.to_string(), source };
        let listener = TcpListener::bind(address).map_err(unable)?;
        listener.set_nonblocking(true).map_err(unable)?;
        Ok(Self { listener: Some(listener), clients: Vec::new() })
    }

    /// Where it listens; `None`: it does not.
    pub fn address(&self) -> Option<SocketAddr> {
        self.listener.as_ref()?.local_addr().ok()
    }

    /// One connection that was made elsewhere. It has no time limit.
    pub fn inherited(stream: OwnedFd) -> Self {
        Self { listener: None, clients: vec![Client::new(stream, None, u64::MAX)] }
    }

    /// What to wait for.
    pub(super) fn fds(&self) -> impl Iterator<Item = BorrowedFd<'_>> {
        let listener = self.listener.as_ref().filter(|_| self.clients.len() < CLIENTS_MAX);
        listener.map(AsFd::as_fd).into_iter().chain(self.clients.iter().map(|client| client.stream.as_fd()))
    }

    /// When the first client is sent away.
    pub(super) fn next_event(&self) -> Option<u64> {
        self.clients.iter().map(|client| client.until_ns).filter(|&at_ns| at_ns != u64::MAX).min()
    }

    /// Listens to all clients, and answers those that have asked for something. Does not wait.
    ///
    /// # Errors
    /// Those of the sockets of this machine; a client that misbehaves is sent away.
    pub(super) fn look(&mut self, now_ns: u64, device: &ExportedDevice) -> Result<Arrival, ServeError> {
        self.accept(now_ns)?;
        let mut left = Vec::with_capacity(self.clients.len());
        for mut client in std::mem::take(&mut self.clients) {
            match client.hear(device) {
                // The others would have to wait until this host goes: they are let go of.
                Ok(Answer::Imported) => return Ok(Arrival::Host(client.stream)),
                Ok(Answer::Other) => {}
                Ok(Answer::None) if client.until_ns > now_ns => left.push(client),
                Ok(Answer::None) => client.complain(&io::ErrorKind::TimedOut.into()),
                Err(error) if client.peer.is_none() => return Err(system("reading the import request")(error)),
                Err(error) => client.complain(&error),
            }
        }
        self.clients = left;
        let never = self.listener.is_none() && self.clients.is_empty();
        Ok(if never { Arrival::Never } else { Arrival::None })
    }

    fn accept(&mut self, now_ns: u64) -> Result<(), ServeError> {
        let Some(listener) = &self.listener else { return Ok(()) };
        while self.clients.len() < CLIENTS_MAX {
            match listener.accept() {
                Ok((stream, peer)) => {
                    // Without it URBs are only slower.
                    let _ = stream.set_nodelay(true);
                    // A host that vanishes without a word lets go of the device some time.
                    let _ = set_socket_keepalive(&stream, true);
                    let until_ns = now_ns.saturating_add(PATIENCE_NS);
                    self.clients.push(Client::new(stream.into(), Some(peer), until_ns));
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                Err(error) if matches!(error.kind(), io::ErrorKind::Interrupted | io::ErrorKind::ConnectionAborted) => {
                }
                Err(error) => return Err(system("waiting for a client")(error)),
            }
        }
        Ok(())
    }
}

/// What happened to a client.
#[derive(Debug, PartialEq, Eq)]
enum Answer {
    /// It has imported the device.
    Imported,
    /// It got a list, or a refusal.
    Other,
    /// It has not asked yet.
    None,
}

impl Client {
    const fn new(stream: OwnedFd, peer: Option<SocketAddr>, until_ns: u64) -> Self {
        Self { stream, peer, bytes: [0; REQUEST + BUS_ID], len: 0, until_ns }
    }

    fn complain(&self, error: &io::Error) {
        if let Some(peer) = self.peer {
            eprintln!("txop-vusb: {peer}: {error}");
        }
    }

    /// Reads what there is, and answers one request.
    fn hear(&mut self, device: &ExportedDevice) -> io::Result<Answer> {
        let mut reply = Vec::new();
        let answer = loop {
            match Request::parse(self.bytes.get(..self.len).unwrap_or_default()).map_err(invalid)? {
                Some((Request::DeviceList, _)) => {
                    device.emit_list(&mut reply);
                    break Answer::Other;
                }
                Some((Request::Import(id), _)) => {
                    let wanted = id.split(|&byte| byte == 0).next().unwrap_or_default();
                    if wanted == device.bus_id.as_bytes() {
                        device.emit_import(&mut reply);
                        break Answer::Imported;
                    }
                    emit_refusal(&mut reply);
                    break Answer::Other;
                }
                None => {}
            }
            // One byte more than needed must not be taken: what follows an import are URBs.
            let end = if self.len < REQUEST { REQUEST } else { REQUEST + BUS_ID };
            let room = self.bytes.get_mut(self.len..end).unwrap_or_default();
            match recv(&self.stream, room, RecvFlags::DONTWAIT) {
                Ok((0, _)) => return Err(io::ErrorKind::UnexpectedEof.into()),
                Ok((got, _)) => self.len += got,
                Err(Errno::AGAIN) => return Ok(Answer::None),
                Err(Errno::INTR) => {}
                Err(errno) => return Err(errno.into()),
            }
        };
        // The first bytes of a connection: there is room for them.
        let sent = send(&self.stream, &reply, SendFlags::DONTWAIT | SendFlags::NOSIGNAL)?;
        if sent < reply.len() {
            return Err(io::ErrorKind::WriteZero.into());
        }
        Ok(answer)
    }
}

fn invalid(error: impl std::fmt::Display) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read, Write};
    use std::net::TcpStream;
    use std::os::unix::net::UnixStream;
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

    fn answer(request: &[u8]) -> (io::Result<Answer>, Vec<u8>) {
        let (ours, mut theirs) = UnixStream::pair().unwrap();
        theirs.write_all(request).unwrap();
        theirs.shutdown(std::net::Shutdown::Write).unwrap();
        let result = Client::new(ours.into(), None, 0).hear(&device());
        let mut reply = Vec::new();
        let _ = theirs.read_to_end(&mut reply);
        (result, reply)
    }

    #[test]
    fn imports_lists_and_refusals() {
        let (result, reply) = answer(&import("1-1"));
        assert_eq!((result.unwrap(), reply.len()), (Answer::Imported, REQUEST + DEVICE));
        let (result, reply) = answer(&import("1-2"));
        assert_eq!((result.unwrap(), reply), (Answer::Other, vec![0x01, 0x11, 0, 3, 0, 0, 0, 4]));
        let (result, reply) = answer(&[0x01, 0x11, 0x80, 0x05, 0, 0, 0, 0]);
        assert_eq!((result.unwrap(), reply.len()), (Answer::Other, REQUEST + 4 + DEVICE + 4));
        assert!(answer(b"GET / HTTP/1.1\r\n").0.is_err());
        assert!(answer(&import("1-1")[..20]).0.is_err());
    }

    /// One that says nothing does not keep others out, and is sent away when its time is over.
    #[test]
    fn silent_clients_are_sent_away() {
        let mut export = Export::listen("127.0.0.1:0".parse().unwrap()).unwrap();
        let address = export.address().unwrap();
        let mut silent: Vec<TcpStream> = (0..3).map(|_| TcpStream::connect(address).unwrap()).collect();
        silent[0].write_all(&import("1-1")[..7]).unwrap();
        assert!(matches!(export.look(1_000, &device()).unwrap(), Arrival::None));
        assert_eq!((export.clients.len(), export.next_event()), (3, Some(1_000 + PATIENCE_NS)));
        // Its bytes do not give it more time.
        silent[0].write_all(&import("1-1")[7..8]).unwrap();
        assert!(matches!(export.look(1_000 + PATIENCE_NS, &device()).unwrap(), Arrival::None));
        assert_eq!((export.clients.len(), export.next_event()), (0, None));
        assert!(silent.iter_mut().all(|stream| matches!(stream.read(&mut [0]), Ok(0) | Err(_))));
        let _waits = TcpStream::connect(address).unwrap();
        let mut host = TcpStream::connect(address).unwrap();
        host.write_all(&import("1-1")).unwrap();
        assert!(matches!(export.look(2_000 + PATIENCE_NS, &device()).unwrap(), Arrival::Host(_)));
        assert_eq!(export.clients.len(), 0);
    }

    #[test]
    fn many_clients_wait_outside() {
        let mut export = Export::listen("127.0.0.1:0".parse().unwrap()).unwrap();
        let address = export.address().unwrap();
        let _clients: Vec<TcpStream> = (0..CLIENTS_MAX + 3).map(|_| TcpStream::connect(address).unwrap()).collect();
        export.look(0, &device()).unwrap();
        assert_eq!((export.clients.len(), export.fds().count()), (CLIENTS_MAX, CLIENTS_MAX));
        export.look(PATIENCE_NS, &device()).unwrap();
        export.look(PATIENCE_NS, &device()).unwrap();
        assert_eq!((export.clients.len(), export.fds().count()), (3, 4));
    }

    #[test]
    fn behind_an_inherited_connection_there_is_nobody_else() {
        let (ours, mut theirs) = UnixStream::pair().unwrap();
        let mut export = Export::inherited(ours.into());
        assert!(matches!(export.look(u64::MAX - 1, &device()).unwrap(), Arrival::None));
        assert_eq!((export.next_event(), export.fds().count()), (None, 1));
        theirs.write_all(&import("1-1")).unwrap();
        assert!(matches!(export.look(0, &device()).unwrap(), Arrival::Host(_)));
        assert!(matches!(export.look(0, &device()).unwrap(), Arrival::Never));
    }
}
