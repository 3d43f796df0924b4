//! What the two formats have in common: a record found in the input, or the reason why none was.

use wire::linktype::LinkType;

use crate::damage::Bytes;
use crate::input::{Range, Short};

/// No record may be longer: 16 MiB, several times the longest A-MPDU or URB.
pub(crate) const RECORD_LEN_MAX: u32 = 16 << 20;
/// No 802.11 record may be longer: the longest MPDU has 11,454 bytes; this is libpcap's own bound.
pub(crate) const WLAN_RECORD_LEN_MAX: u32 = 256 << 10;

/// A record found; its bytes are in the input until the next one is asked for.
#[derive(Debug)]
pub(crate) struct Located {
    pub offset: u64,
    pub time_ns: Option<i64>,
    pub interface: u32,
    pub link_type: LinkType,
    pub original_len: u32,
    pub data: Range,
}

/// Why reading cannot go on.
#[derive(Debug)]
pub(crate) struct Broken {
    /// Offset of the record or block that is broken.
    pub offset: u64,
    pub message: String,
    /// The input ended too early, which is not damage when it was stopped on purpose.
    pub cut_off: bool,
}

impl Broken {
    pub(crate) fn contradiction(offset: u64, message: String) -> Self {
        Self { offset, message, cut_off: false }
    }

    /// `claim` is the beginning of the sentence: "record 7 at byte 1,234 claims 99 bytes".
    pub(crate) fn cut_off(offset: u64, claim: impl std::fmt::Display, short: &Short) -> Self {
        let available = Bytes(short.available as u64);
        let message = match &short.failure {
            None => format!("{claim}, the file ends after {available}"),
            Some(failure) => format!("{claim}, only {available} could be read: {failure}"),
        };
        Self { offset, message, cut_off: true }
    }
}

/// The largest believable captured length for a link type.
#[inline]
pub(crate) const fn record_len_max(link_type: LinkType) -> u32 {
    if link_type.is_wlan() {
        WLAN_RECORD_LEN_MAX
    } else {
        RECORD_LEN_MAX
    }
}
