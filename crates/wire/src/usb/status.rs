//! How transfers end: Linux error numbers (Documentation/driver-api/usb/error-codes.rst) and Windows USBD_STATUS.

/// The name of a URB status and what it means, for a negative error number as usbmon reports it.
pub const fn errno(status: i32) -> Option<(&'static str, &'static str)> {
    Some(match status {
        0 => ("success", "completed"),
        -2 => ("ENOENT", "unlinked by the driver (killed)"),
        -6 => ("ENXIO", "host controller cannot queue it"),
        -12 => ("ENOMEM", "out of memory"),
        -16 => ("EBUSY", "busy"),
        -18 => ("EXDEV", "isochronous transfer only partly completed"),
        -19 => ("ENODEV", "device was removed"),
        -22 => ("EINVAL", "invalid request"),
        -32 => ("EPIPE", "endpoint stalled"),
        -62 => ("ETIME", "no answer from the device within the bus turnaround time"),
        -63 => ("ENOSR", "buffer error: host could not keep up writing"),
        -70 => ("ECOMM", "buffer error: host could not keep up reading"),
        -71 => ("EPROTO", "bus error: bit stuffing, no answer, or an unknown protocol error"),
        -75 => ("EOVERFLOW", "babble: device sent more than the buffer holds"),
        -84 => ("EILSEQ", "CRC mismatch or no answer"),
        -90 => ("EMSGSIZE", "transfer too large"),
        -103 => ("ECONNABORTED", "aborted"),
        -104 => ("ECONNRESET", "unlinked by the driver (asynchronously)"),
        -108 => ("ESHUTDOWN", "device or host controller was disabled"),
        -110 => ("ETIMEDOUT", "timed out"),
        -115 => ("EINPROGRESS", "in progress"),
        -121 => ("EREMOTEIO", "short packet where the driver forbade it"),
        _ => return None,
    })
}

/// The driver took the URB back, or the device went away: how a transfer ends when nothing went wrong on the bus.
pub const fn is_unlinked(status: i32) -> bool {
    matches!(status, -2 | -104)
}

/// The name of a USBD_STATUS and what it means (Microsoft, usb.h).
pub const fn usbd(status: u32) -> Option<(&'static str, &'static str)> {
    Some(match status {
        0 => ("USBD_STATUS_SUCCESS", "completed"),
        0x4000_0000 => ("USBD_STATUS_PENDING", "in progress"),
        0xc000_0001 => ("USBD_STATUS_CRC", "CRC mismatch"),
        0xc000_0002 => ("USBD_STATUS_BTSTUFF", "bit stuffing error"),
        0xc000_0003 => ("USBD_STATUS_DATA_TOGGLE_MISMATCH", "data toggle mismatch"),
        0xc000_0004 => ("USBD_STATUS_STALL_PID", "endpoint stalled"),
        0xc000_0005 => ("USBD_STATUS_DEV_NOT_RESPONDING", "no answer from the device"),
        0xc000_0006 => ("USBD_STATUS_PID_CHECK_FAILURE", "packet identifier damaged"),
        0xc000_0007 => ("USBD_STATUS_UNEXPECTED_PID", "unexpected packet identifier"),
        0xc000_0008 => ("USBD_STATUS_DATA_OVERRUN", "babble: device sent more than the buffer holds"),
        0xc000_0009 => ("USBD_STATUS_DATA_UNDERRUN", "short packet where the driver forbade it"),
        0xc000_000c => ("USBD_STATUS_BUFFER_OVERRUN", "host could not keep up writing"),
        0xc000_000d => ("USBD_STATUS_BUFFER_UNDERRUN", "host could not keep up reading"),
        0xc000_0011 => ("USBD_STATUS_XACT_ERROR", "transaction error: no valid answer"),
        0xc000_0012 => ("USBD_STATUS_BABBLE_DETECTED", "babble"),
        0xc000_0030 => ("USBD_STATUS_ENDPOINT_HALTED", "endpoint is halted"),
        0x8000_0200 => ("USBD_STATUS_INVALID_URB_FUNCTION", "invalid URB function"),
        0x8000_0300 => ("USBD_STATUS_INVALID_PARAMETER", "invalid parameter"),
        0xc000_6000 => ("USBD_STATUS_TIMEOUT", "timed out"),
        0xc000_7000 => ("USBD_STATUS_DEVICE_GONE", "device was removed"),
        0xc001_0000 => ("USBD_STATUS_CANCELED", "cancelled by the driver"),
        _ => return None,
    })
}

/// [`is_unlinked`] for Windows.
pub const fn is_cancelled(status: u32) -> bool {
    status == 0xc001_0000
}
