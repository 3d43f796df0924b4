//! What a capture's own per-frame header says about reception, whichever header it is.
//!
//! [`decode`] turns any supported link type's header into one [`RadioInfo`], so that nothing above this module
//! knows radiotap from Prism.

use crate::linktype::LinkType;
pub use crate::radio_info::{AmpduStatus, DeviceStamp, LSig, RadioError, RadioInfo, StampPosition};

/// Decodes the link header at the start of `record` (a captured packet of link type `link`).
///
/// The 802.11 MAC header starts at [`RadioInfo::header_len`], which is never larger than `record.len()`.
pub fn decode(link: LinkType, record: &[u8]) -> Result<RadioInfo, RadioError> {
    match link {
        LinkType::IEEE802_11 => Ok(RadioInfo { tsft_bits: 64, ..RadioInfo::default() }),
        LinkType::IEEE802_11_RADIOTAP => crate::radiotap::decode(record),
        LinkType::IEEE802_11_PRISM => crate::prism::decode(record),
        LinkType::IEEE802_11_AVS => crate::avs::decode(record),
        LinkType::PPI => crate::ppi::decode(record),
        other => Err(RadioError::Unsupported(other)),
    }
}

/// As [`decode`], for the records of one capture: faster, because the headers of a capture repeat each other.
#[derive(Debug, Default)]
pub struct Decoder {
    radiotap: crate::radiotap::Memo,
}

impl Decoder {
    /// Decodes the link header at the start of `record`. See [`decode`].
    #[inline]
    pub fn decode(&mut self, link: LinkType, record: &[u8]) -> Result<RadioInfo, RadioError> {
        match link {
            LinkType::IEEE802_11_RADIOTAP => self.radiotap.decode(record),
            other => decode(other, record),
        }
    }
}
