//! What a USB monitor would see: every URB, when it is submitted and when it completes.

/// Which of its two records this is (usbmon's `S` and `C`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UrbEvent {
    /// The driver hands it to the host controller.
    Submit,
    /// The host controller gives it back.
    Complete,
}

/// USB transfer type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transfer {
    /// Bulk.
    Bulk,
    /// Interrupt.
    Interrupt,
}

/// One record of a USB capture.
#[derive(Clone, Copy, Debug)]
pub struct Urb<'a> {
    /// When.
    pub at_ns: u64,
    /// Submission or completion.
    pub event: UrbEvent,
    /// The same for both records of one URB.
    pub id: u64,
    /// Device address on its bus.
    pub device: u8,
    /// Endpoint address, direction in bit 7.
    pub endpoint: u8,
    /// Transfer type.
    pub transfer: Transfer,
    /// 0, or a negative errno; `-EINPROGRESS` (-115) when submitted.
    pub status: i32,
    /// Length asked for (submission) or transferred (completion), bytes.
    pub len: u32,
    /// The bytes that a monitor sees: at the submission of an OUT, at the completion of an IN. May be fewer than `len`.
    pub data: &'a [u8],
}
