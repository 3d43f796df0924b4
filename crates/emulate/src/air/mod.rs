//! The capture of the emulated air: a writer on a thread of its own, which never makes the link wait.

#[cfg(test)]
mod agreement;
mod frame;
mod owned;
mod radiotap;
mod writer;

use std::path::PathBuf;

pub(crate) use writer::AirWriter;

/// A capture of the emulated air.
#[derive(Clone, Debug)]
pub struct AirSettings {
    /// The pcapng file; replaced when it exists.
    pub path: PathBuf,
    /// Bytes of each data frame that are kept, radiotap header included; other frames are whole.
    pub snap_bytes: usize,
    /// The file ends before it gets larger than this.
    pub limit_bytes: Option<u64>,
}
