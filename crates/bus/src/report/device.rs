//! Devices and what they were asked by control requests.

use serde::Serialize;

/// What [`Device::kind`] is at address 0, where no device stays.
pub const DEFAULT_ADDRESS: &str = "default-address";

/// One device at one address.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Device {
    /// Bus and address, `1.2`.
    pub name: String,
    /// Number of the bus.
    pub bus: u32,
    /// Address on it.
    pub address: u32,
    /// Vendor, hexadecimal; `None` when its descriptor was not seen.
    pub vendor_id: Option<String>,
    /// Product, hexadecimal.
    pub product_id: Option<String>,
    /// Manufacturer by its string descriptor.
    pub manufacturer: Option<String>,
    /// Product by its string descriptor.
    pub product: Option<String>,
    /// USB version it claims, for example `2.00`.
    pub usb_version: Option<String>,
    /// Version of the device, for example `3.18`.
    pub device_version: Option<String>,
    /// `low`, `full`, `high` or `super`, as far as packet sizes show.
    pub speed: Option<String>,
    /// What it is: `qmi`, `ncm`, `mbim`, `ecm`, `rndis`, `raw-ip`, `realtek-wifi`, `atheros-wifi`, `mass-storage`, `hid`,
    /// `hub`, `bluetooth`, `serial`, `other` or `unknown`; `default-address` is not a device, but address 0, where devices are asked
    /// before they are given an address.
    pub kind: String,
    /// The same in words.
    pub kind_name: String,
    /// `descriptor`, `content`, `both` or `none`.
    pub kind_by: String,
    /// Why.
    pub evidence: Vec<String>,
    /// Interfaces of its configuration; empty when it was not seen.
    pub interfaces: Vec<Interface>,
    /// Completed requests.
    pub completions: u64,
    /// Bytes from the host, as far as they are known; `None` where they are of no request.
    pub bytes_out: Option<u64>,
    /// Completions from the host with bytes that are not known.
    #[serde(default)] // older documents lack it
    pub bytes_out_unknown: Option<u64>,
    /// Bytes to the host; a lower bound where more may have come than is shown (`bytes_in_unknown`).
    pub bytes_in: u64,
    /// Completions to the host of which more bytes may have come than a log shows (UsbSnoop).
    #[serde(default)] // older documents lack it
    pub bytes_in_unknown: Option<u64>,
    /// Times it was given this address.
    pub enumerations: u64,
    /// Vendor and product of the devices that had this address before, as far as they are known and differ; its figures are of all.
    #[serde(default)] // older documents lack it
    pub earlier_ids: Vec<String>,
}

/// An interface, or an alternate setting of one.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Interface {
    /// Its number.
    pub number: u32,
    /// Alternate setting.
    pub alternate: u32,
    /// Class, subclass and protocol, hexadecimal: `02/0d/00`.
    pub class_codes: String,
    /// In words.
    pub class_name: String,
    /// Its endpoints: address, type and largest packet.
    pub endpoints: Vec<String>,
}

/// Control requests with the same request type and number.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Request {
    /// Device, as in [`Device::name`].
    pub device: String,
    /// bmRequestType and bRequest, hexadecimal: `80 06`.
    pub code: String,
    /// `in` or `out`.
    pub direction: String,
    /// `standard`, `class`, `vendor` or `reserved`.
    pub kind: String,
    /// Its name, where the numbers alone give it.
    pub name: Option<String>,
    /// How often it was submitted.
    pub count: u64,
    /// Completions of it that failed; `None` where no status is recorded.
    pub failed: Option<u64>,
    /// Bytes of its data stages, as far as they are known.
    pub bytes: u64,
    /// Completions of it with bytes that the capture does not show, or not all.
    #[serde(default)] // older documents lack it
    pub bytes_unknown: Option<u64>,
}
