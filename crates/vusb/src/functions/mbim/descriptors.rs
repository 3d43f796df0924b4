//! What an MBIM function says of itself (USB CDC 1.2, 5; MBIM 1.0, 6).

use crate::descriptors::{device, function, CONTROL_INTERFACE, DATA_INTERFACE};
use crate::device::{Identity, Speed};

/// wMaxControlMessage: bytes of the largest control message.
pub(super) const CONTROL_MAX: u16 = 4_096;
/// wMaxSegmentSize: bytes of the largest datagram; 2,048 at least (6.4).
const SEGMENT_MAX: u16 = 2_048;
/// wMTU of the extended descriptor (6.5).
pub(super) const MTU: u16 = 1_500;

pub(super) fn identity() -> Identity {
    let (control, data) = ((2, 0x0e, 0), (0x0a, 0, 2));
    let ([c0, c1], [s0, s1], [m0, m1]) = (CONTROL_MAX.to_le_bytes(), SEGMENT_MAX.to_le_bytes(), MTU.to_le_bytes());
    let functional = [
        vec![5, 0x24, 0, 0x20, 1],
        vec![5, 0x24, 6, CONTROL_INTERFACE, DATA_INTERFACE],
        // Version 1.0; no filters, no capabilities beyond what is required.
        vec![12, 0x24, 0x1b, 0, 1, c0, c1, 0, 0, s0, s1, 0],
        // One command at once.
        vec![8, 0x24, 0x1c, 0, 1, 1, m0, m1],
    ];
    Identity {
        device: device((2, 0, 0), 0x1d6b, 0x0104, 0x0100),
        configuration: function(control, &functional, data),
        strings: vec!["txop".into(), "virtual MBIM function".into(), "0001".into()],
        speed: Speed::High,
    }
}
