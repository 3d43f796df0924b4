//! The ways to radios of mac80211_hwsim, with frames that are relayed here: in this kernel, or in one that is elsewhere.
//!
//! mac80211_hwsim gives every frame that its radios send to the one program that has registered, and takes frames and
//! transmit statuses from it (drivers/net/wireless/virtual/mac80211_hwsim.c; the interface of wmediumd). Encryption is
//! done by mac80211, so the frames are as they would be on the air.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::io;
use std::os::fd::AsRawFd;
use std::rc::Rc;

use netlink_sys::{protocols::NETLINK_GENERIC, Socket, SocketAddr};

use super::hwsim::{Incoming, Incomings, Message, FRAME, REGISTER};
use super::ApError;
use crate::device::Source;
use crate::state::{Reader, State, StateError, Writer};

/// Bytes that may wait in the socket.
const RECEIVE_BUFFER: usize = 4 << 20;

/// Messages that wait for a kernel at most: it gives buffers as fast as it runs.
const WAITING_MAX: usize = 512;
/// The number of the family over virtio: the kernel does not look at it (hwsim_virtio_handle_cmd).
const ANY_FAMILY: u16 = 0x1d;

/// The transport of frames of mac80211_hwsim: netlink or virtio.
pub(crate) trait Transport {
    /// What to wait for; `None`: what has come is there without.
    fn source(&self) -> Option<Source>;

    /// Reads all that has come: the frames of radios.
    fn read(&mut self, each: &mut dyn FnMut(&Incoming<'_>));

    /// A message to the kernel.
    fn message(&self, command: u8) -> Message;

    /// Sends it; `false`: the kernel did not take it. The frame is lost, as on a real radio.
    fn send(&self, message: Message) -> bool;
}

/// Messages to and from the radios of another kernel, as its virtio transport has them: one in each buffer.
#[derive(Clone, Debug, Default)]
pub struct Mailbox(Rc<RefCell<Letters>>);

#[derive(Debug, Default, serde::Serialize, serde::Deserialize)]
struct Letters {
    from_kernel: VecDeque<Vec<u8>>,
    to_kernel: VecDeque<Vec<u8>>,
}

impl Mailbox {
    /// A message from the kernel. What follows it in the buffer is memory that nothing was written to.
    pub fn put(&self, message: Vec<u8>) {
        self.0.borrow_mut().from_kernel.push_back(message);
    }

    /// The next message for the kernel.
    pub fn take(&self) -> Option<Vec<u8>> {
        self.0.borrow_mut().to_kernel.pop_front()
    }

    /// Drops what nobody has read.
    pub fn clear(&self) {
        self.0.borrow_mut().from_kernel.clear();
    }
}

/// What nobody has taken yet.
impl State for Mailbox {
    fn save(&self, to: &mut Writer) -> Result<(), StateError> {
        to.put(&*self.0.borrow())
    }

    fn restore(&mut self, from: &mut Reader<'_>) -> Result<(), StateError> {
        *self.0.borrow_mut() = from.take()?;
        Ok(())
    }
}

impl Transport for Mailbox {
    fn source(&self) -> Option<Source> {
        None
    }

    fn read(&mut self, each: &mut dyn FnMut(&Incoming<'_>)) {
        loop {
            let Some(bytes) = self.0.borrow_mut().from_kernel.pop_front() else { return };
            if let Some(message) = Incomings(&bytes).next().filter(|message| message.command == FRAME) {
                each(&message);
            }
        }
    }

    fn message(&self, command: u8) -> Message {
        Message::new(ANY_FAMILY, command, false)
    }

    fn send(&self, message: Message) -> bool {
        let waiting = &mut self.0.borrow_mut().to_kernel;
        let fits = waiting.len() < WAITING_MAX;
        if fits {
            waiting.push_back(message.finish());
        }
        fits
    }
}

/// The way to this kernel.
pub(crate) struct Relay {
    socket: Socket,
    family: u16,
    buffer: Vec<u8>,
}

impl Relay {
    /// Registers with mac80211_hwsim.
    pub(crate) fn new() -> Result<Self, ApError> {
        let no_hwsim = |source| ApError::NoHwsim { source };
        let mut socket = Socket::new(NETLINK_GENERIC).map_err(no_hwsim)?;
        socket.bind(&SocketAddr::new(0, 0)).map_err(no_hwsim)?;
        socket.connect(&SocketAddr::new(0, 0)).map_err(no_hwsim)?;
        // Root may have more than the system's limit; without it, that limit must do.
        let _ = socket.set_rx_buf_sz(RECEIVE_BUFFER as u32);
        let family = ask(&socket, &Message::family("MAC80211_HWSIM").finish(), |message| message.family_id().map(Ok))
            .map_err(no_hwsim)?;
        ask(&socket, &Message::new(family, REGISTER, true).finish(), |message| match message.error() {
            Some(0) => Some(Ok(())),
            Some(error) => Some(Err(io::Error::from_raw_os_error(-error))),
            None => None,
        })
        .map_err(|source| ApError::NotRelayed { source })?;
        socket.set_non_blocking(true).map_err(no_hwsim)?;
        Ok(Self { socket, family, buffer: vec![0; 65_536] })
    }
}

impl Transport for Relay {
    /// Statuses must go back before the kernel sends more than 100 frames: it is always read.
    fn source(&self) -> Option<Source> {
        Some(Source { fd: self.socket.as_raw_fd(), wanted: true })
    }

    fn read(&mut self, each: &mut dyn FnMut(&Incoming<'_>)) {
        while let Ok(len) = self.socket.recv(&mut &mut self.buffer[..], 0) {
            for message in Incomings(self.buffer.get(..len).unwrap_or_default()) {
                if message.family == self.family && message.command == FRAME {
                    each(&message);
                }
            }
        }
    }

    fn message(&self, command: u8) -> Message {
        Message::new(self.family, command, false)
    }

    /// A full socket is the kernel not keeping up.
    fn send(&self, message: Message) -> bool {
        self.socket.send(&message.finish(), 0).is_ok()
    }
}

/// Sends a request and waits for the message that answers it.
fn ask<T>(
    socket: &Socket,
    request: &[u8],
    mut read: impl FnMut(&Incoming<'_>) -> Option<io::Result<T>>,
) -> io::Result<T> {
    socket.send(request, 0)?;
    let mut buffer = vec![0; 16_384];
    for _ in 0..64 {
        let len = socket.recv(&mut &mut buffer[..], 0)?;
        for message in Incomings(buffer.get(..len).unwrap_or_default()) {
            if let Some(error) = message.error().filter(|&error| error != 0) {
                return Err(io::Error::from_raw_os_error(-error));
            }
            if let Some(result) = read(&message) {
                return result;
            }
        }
    }
    Err(io::ErrorKind::TimedOut.into())
}
