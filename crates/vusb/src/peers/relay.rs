//! The radios of mac80211_hwsim in this kernel, whose frames are relayed here.
//!
//! mac80211_hwsim gives every frame that its radios send to the one program that has registered, and takes frames and
//! transmit statuses from it (drivers/net/wireless/virtual/mac80211_hwsim.c; the interface of wmediumd). Encryption is
//! done by mac80211, so the frames are as they would be on the air.

use std::io;
use std::os::fd::AsRawFd;

use netlink_sys::{protocols::NETLINK_GENERIC, Socket, SocketAddr};

use super::hwsim::{Incoming, Incomings, Message, FRAME, REGISTER};
use super::ApError;
use crate::device::Source;

/// Bytes that may wait in the socket.
const RECEIVE_BUFFER: usize = 4 << 20;

/// The way to the kernel.
pub(super) struct Relay {
    socket: Socket,
    family: u16,
    buffer: Vec<u8>,
}

impl Relay {
    /// Registers with mac80211_hwsim.
    pub(super) fn new() -> Result<Self, ApError> {
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

    /// What to wait for. Statuses must go back before the kernel sends more than 100 frames: it is always read.
    pub(super) fn source(&self) -> Source {
        Source { fd: self.socket.as_raw_fd(), wanted: true }
    }

    /// Reads all that has come: the frames of radios.
    pub(super) fn read(&mut self, mut each: impl FnMut(&Incoming<'_>)) {
        while let Ok(len) = self.socket.recv(&mut &mut self.buffer[..], 0) {
            for message in Incomings(self.buffer.get(..len).unwrap_or_default()) {
                if message.family == self.family && message.command == FRAME {
                    each(&message);
                }
            }
        }
    }

    /// A message to the kernel.
    pub(super) fn message(&self, command: u8) -> Message {
        Message::new(self.family, command, false)
    }

    /// Sends it; `false`: the kernel did not take it. A full socket is the kernel not keeping up: the frame is lost, as on a
    /// real radio.
    pub(super) fn send(&self, message: Message) -> bool {
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
