//! What QEMU is to do.

use vusb::pci::PciIdentity;
use vusb::urbs::Finished;

/// What QEMU is to do, in this order.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum Action {
    /// A transfer goes back to the host.
    Finished(Finished),
    /// The device is in the port now; its speed is a number of Linux' `enum usb_device_speed`.
    Attach(u32),
    /// It is not any more.
    Detach,
    /// The card is in the slot of the SD host controller.
    Insert,
    /// It is not any more.
    PullOut,
    /// The functions of the device are on PCI now, in this order.
    Appear(Vec<PciIdentity>),
    /// They are not any more.
    Vanish,
    /// A line for the control port.
    Reply(Vec<u8>),
    /// The guest stops, to be saved.
    Stop,
}
