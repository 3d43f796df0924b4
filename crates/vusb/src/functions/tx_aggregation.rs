//! Sets uplink aggregation of a network interface (`tx-aggr-*` of ethtool's coalescing, Linux 6.2; rmnet has it).
//! ethtool before 6.2 cannot. Linux uapi ethtool_netlink.h.

use std::io;

use netlink_sys::{protocols::NETLINK_GENERIC, Socket, SocketAddr};

use crate::peers::hwsim::{Incoming, Incomings, Message};

const ETHTOOL_MSG_COALESCE_SET: u8 = 20;
const ETHTOOL_A_COALESCE_HEADER: u16 = 1;
const ETHTOOL_A_HEADER_DEV_NAME: u16 = 2;
const TX_AGGR_MAX_BYTES: u16 = 26;
const TX_AGGR_MAX_FRAMES: u16 = 27;
const TX_AGGR_TIME_USECS: u16 = 28;
const NLA_F_NESTED: u16 = 0x8000;

/// The limits of a transfer to the device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TxAggregation {
    /// Bytes at most.
    pub bytes: u32,
    /// Datagrams at most; 1 turns it off.
    pub datagrams: u32,
    /// How long the first waits for more, us.
    pub hold_us: u32,
}

fn ask<T>(socket: &Socket, message: &[u8], answer: impl Fn(&Incoming<'_>) -> Option<io::Result<T>>) -> io::Result<T> {
    socket.send(message, 0)?;
    loop {
        let (bytes, _) = socket.recv_from_full()?;
        for message in Incomings(&bytes) {
            if let Some(error) = message.error().filter(|&error| error != 0) {
                return Err(io::Error::from_raw_os_error(-error));
            }
            if let Some(result) = answer(&message) {
                return result;
            }
        }
    }
}

impl TxAggregation {
    /// The attribute that names the interface.
    fn header(interface: &str) -> Vec<u8> {
        let name = [interface.as_bytes(), &[0]].concat();
        let mut bytes = ((4 + name.len()) as u16).to_le_bytes().to_vec();
        bytes.extend(ETHTOOL_A_HEADER_DEV_NAME.to_le_bytes());
        bytes.extend(name);
        bytes.resize(bytes.len().next_multiple_of(4), 0);
        bytes
    }

    /// Sets it.
    ///
    /// # Errors
    /// No such interface, no right to, or a driver without it (EOPNOTSUPP).
    pub fn apply(&self, interface: &str) -> io::Result<()> {
        // IFNAMSIZ: a name has at most 15 bytes.
        if interface.is_empty() || interface.len() > 15 {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "the name of an interface has 1 to 15 bytes"));
        }
        let mut socket = Socket::new(NETLINK_GENERIC)?;
        socket.bind(&SocketAddr::new(0, 0))?;
        socket.connect(&SocketAddr::new(0, 0))?;
        let family = ask(&socket, &Message::family("ethtool").finish(), |message| message.family_id().map(Ok))?;
        let message = Message::new(family, ETHTOOL_MSG_COALESCE_SET, true)
            .with(ETHTOOL_A_COALESCE_HEADER | NLA_F_NESTED, &Self::header(interface))
            .with(TX_AGGR_MAX_BYTES, &self.bytes.to_le_bytes())
            .with(TX_AGGR_MAX_FRAMES, &self.datagrams.to_le_bytes())
            .with(TX_AGGR_TIME_USECS, &self.hold_us.to_le_bytes());
        ask(&socket, &message.finish(), |message| message.error().map(|_| Ok(())))
    }
}
