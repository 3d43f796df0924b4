//! The other end of a virtual function or access point: a network interface of this kernel.

use std::collections::VecDeque;
use std::io;
use std::os::fd::{AsRawFd, RawFd};
use std::rc::Rc;

use std::cell::RefCell;

use tun_rs::{DeviceBuilder, Layer, SyncDevice};

use crate::device::Source;

use crate::state::{Reader, State, StateError, Writer};

/// Bytes of the largest datagram that is read.
const DATAGRAM_MAX: usize = 65_536;
/// Datagrams that a function reads before the bus is looked at again.
pub(crate) const READS: usize = 64;

/// Where datagrams of the host go to, and those for the host come from.
pub trait Wired {
    /// Hands on a datagram of the host; `false`: it was not taken.
    fn send(&mut self, datagram: &[u8]) -> bool;

    /// The next datagram for the host.
    fn receive(&mut self) -> Option<Vec<u8>>;

    /// What to wait for; `None`: nothing, or nothing any more.
    fn fd(&self) -> Option<RawFd>;

    /// The same, and whether it would be read now.
    fn source(&self, wanted: bool) -> Option<Source> {
        self.fd().map(|fd| Source { fd, wanted })
    }
}

impl<W: Wired + ?Sized> Wired for Box<W> {
    fn send(&mut self, datagram: &[u8]) -> bool {
        (**self).send(datagram)
    }
    fn receive(&mut self) -> Option<Vec<u8>> {
        (**self).receive()
    }
    fn fd(&self) -> Option<RawFd> {
        (**self).fd()
    }
}

/// What an interface carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Carries {
    /// Ethernet frames: a TAP device.
    Ethernet,
    /// IP packets: a TUN device.
    Ip,
}

/// A TAP or TUN device. It is made down and without addresses; it may be moved to another network namespace, and it may
/// be deleted: then nothing comes from it any more, and nothing is taken.
pub struct WiredInterface {
    name: String,
    device: SyncDevice,
    buffer: Vec<u8>,
    gone: bool,
}

impl WiredInterface {
    /// Makes it.
    ///
    /// # Errors
    /// No tun module, no right to do it, or the name is taken.
    pub fn create(name: &str, carries: Carries) -> io::Result<Self> {
        let layer = match carries {
            Carries::Ethernet => Layer::L2,
            Carries::Ip => Layer::L3,
        };
        let device = DeviceBuilder::new().name(name).layer(layer).offload(false).enable(false).build_sync()?;
        device.set_nonblocking(true)?;
        Ok(Self { name: name.into(), device, buffer: vec![0; DATAGRAM_MAX], gone: false })
    }
}

impl Wired for WiredInterface {
    fn send(&mut self, datagram: &[u8]) -> bool {
        !self.gone && self.device.send(datagram).is_ok()
    }

    fn receive(&mut self) -> Option<Vec<u8>> {
        if self.gone {
            return None;
        }
        match self.device.recv(&mut self.buffer) {
            Ok(len) => self.buffer.get(..len).map(<[u8]>::to_vec),
            Err(error) if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted) => None,
            Err(error) => {
                // Its descriptor would be ready forever (tun.c: EPOLLERR and EBADFD once the interface is unregistered).
                self.gone = true;
                eprintln!("txop-vusb: the interface {} is gone ({error}): what is sent to it is lost", self.name);
                None
            }
        }
    }

    fn fd(&self) -> Option<RawFd> {
        (!self.gone).then(|| self.device.as_raw_fd())
    }
}

/// Two queues instead of an interface: for programs that are the other end themselves, and for tests.
#[derive(Clone, Debug, Default)]
pub struct WiredQueues {
    /// What the host sent.
    pub from_host: Rc<RefCell<Vec<Vec<u8>>>>,
    /// What it is to get.
    pub to_host: Rc<RefCell<VecDeque<Vec<u8>>>>,
}

/// What nobody has taken yet.
impl State for WiredQueues {
    fn save(&self, to: &mut Writer) -> Result<(), StateError> {
        to.put(&*self.from_host.borrow())?;
        to.put(&*self.to_host.borrow())
    }

    fn restore(&mut self, from: &mut Reader<'_>) -> Result<(), StateError> {
        *self.from_host.borrow_mut() = from.take()?;
        *self.to_host.borrow_mut() = from.take()?;
        Ok(())
    }
}

impl Wired for WiredQueues {
    fn send(&mut self, datagram: &[u8]) -> bool {
        self.from_host.borrow_mut().push(datagram.to_vec());
        true
    }

    fn receive(&mut self) -> Option<Vec<u8>> {
        self.to_host.borrow_mut().pop_front()
    }

    fn fd(&self) -> Option<RawFd> {
        None
    }
}
