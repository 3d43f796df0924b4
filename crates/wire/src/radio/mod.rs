//! What a capture's own per-frame header says about reception, whichever header it is.
//!
//! [`decode`] turns any supported link type's header into one [`RadioInfo`], so that nothing above this module
//! knows radiotap from Prism.

mod decode;
mod info;

pub use decode::{decode, Decoder};
pub use info::{AmpduStatus, DeviceStamp, LSig, RadioError, RadioInfo, StampPosition};
