//! What a host asks for, and what it gets.

use wire::usb::setup::Setup;

/// A transfer that a host wants.
#[derive(Clone, Copy, Debug)]
pub struct Request {
    /// Names it, for as long as it is pending.
    pub id: u32,
    /// Endpoint number, 0 to 15.
    pub endpoint: u8,
    /// Towards the host.
    pub is_in: bool,
    /// `transfer_flags` of Linux' URB.
    pub flags: u32,
    /// Polling interval of Linux' URB.
    pub interval: u32,
    /// SETUP packet; zeros except on endpoint 0.
    pub setup: Setup,
    /// Bytes of the host's buffer.
    pub length: u32,
}

/// A transfer that goes back to the host.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Finished {
    /// As in its [`Request`].
    pub id: u32,
    /// Towards the host.
    pub is_in: bool,
    /// 0, or a negative Linux error number (Documentation/driver-api/usb/error-codes.rst).
    pub status: i32,
    /// Bytes that were transferred.
    pub actual: u32,
    /// What the device sent.
    pub data: Vec<u8>,
}
