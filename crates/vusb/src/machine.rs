//! Where a device is: what it has of radios and of network interfaces beside its bus.

use monitor::Origin;

use crate::pci::SharedMemory;
use crate::peers::relay::{Mailbox, Relay, Transport};
use crate::peers::ApError;
use crate::wired::{Carries, Wired, WiredInterface, WiredQueues};

/// The machine around a device.
#[derive(Clone, Debug, Default)]
pub enum Machine {
    /// The kernel that this program runs on: its simulated radios and TAP devices.
    #[default]
    Kernel,
    /// A computer outside which the device is: its simulated radios and its network interface are reached by messages.
    Outside {
        /// What figures of it come from.
        origin: Origin,
        /// Those of its simulated radios.
        radios: Mailbox,
        /// Those of its network interface.
        wired: WiredQueues,
        /// Its memory, for devices on PCI.
        memory: SharedMemory,
    },
}

impl Machine {
    /// Where captures come from. On the kernel of this program the time of devices is real, as that of emulated links.
    pub const fn origin(&self) -> Origin {
        match self {
            Self::Kernel => Origin::Emulated,
            Self::Outside { origin, .. } => *origin,
        }
    }

    /// The way to its simulated radios.
    ///
    /// # Errors
    /// It has none, or another program has them.
    pub(crate) fn radios(&self) -> Result<Box<dyn Transport>, ApError> {
        Ok(match self {
            Self::Kernel => Box::new(Relay::new()?),
            Self::Outside { radios, .. } => Box::new(radios.clone()),
        })
    }

    /// Its memory; `None`: devices of it are not on PCI.
    pub(crate) fn memory(&self) -> Option<SharedMemory> {
        match self {
            Self::Kernel => None,
            Self::Outside { memory, .. } => Some(memory.clone()),
        }
    }

    /// A network interface of it; on the kernel of this program it is made with this name.
    ///
    /// # Errors
    /// Those of [`WiredInterface::create`].
    pub(crate) fn interface(&self, name: &str, carries: Carries) -> std::io::Result<Box<dyn Wired>> {
        Ok(match self {
            Self::Kernel => Box::new(WiredInterface::create(name, carries)?),
            Self::Outside { wired, .. } => match carries {
                Carries::Ethernet => Box::new(wired.clone()),
                Carries::Ip => Box::new(IpOverEthernet(wired.clone())),
            },
        })
    }
}

/// The address of the guest's interface at the far end: QEMU gives it that.
pub const FAR_END: [u8; 6] = [0x02, 0x74, 0x78, 0x6f, 0x70, 0x01];
/// The address that IP packets come from.
const SENDER: [u8; 6] = [0x02, 0x74, 0x78, 0x6f, 0x70, 0x02];
/// Bytes of an Ethernet header.
const HEADER: usize = 14;
const IPV4: [u8; 2] = [0x08, 0x00];
const IPV6: [u8; 2] = [0x86, 0xdd];

/// IP packets in Ethernet frames, to and from an interface that asks for no addresses (`arp off`).
struct IpOverEthernet(WiredQueues);

impl Wired for IpOverEthernet {
    fn send(&mut self, datagram: &[u8]) -> bool {
        let kind = if datagram.first().is_some_and(|first| first >> 4 == 6) { IPV6 } else { IPV4 };
        self.0.send(&[&FAR_END[..], &SENDER, &kind, datagram].concat())
    }

    fn receive(&mut self) -> Option<Vec<u8>> {
        loop {
            let frame = self.0.receive()?;
            let kind = frame.get(HEADER - 2..HEADER);
            if kind == Some(&IPV4) || kind == Some(&IPV6) {
                return frame.get(HEADER..).map(<[u8]>::to_vec);
            }
        }
    }

    fn fd(&self) -> Option<std::os::fd::RawFd> {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packets_are_framed_and_other_frames_are_left_out() {
        let queues = WiredQueues::default();
        let mut ip = IpOverEthernet(queues.clone());
        assert!(ip.send(&[0x60, 1, 2]));
        assert_eq!(queues.from_host.borrow()[0], [&FAR_END[..], &SENDER, &[0x86, 0xdd, 0x60, 1, 2]].concat());
        queues.to_host.borrow_mut().extend([vec![0; 60], vec![0; 3], [&[0; 12][..], &[8, 0, 0x45, 9]].concat()]);
        assert_eq!((ip.receive(), ip.receive()), (Some(vec![0x45, 9]), None));
    }
}
